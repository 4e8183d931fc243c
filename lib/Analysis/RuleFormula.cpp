//===- RuleFormula.cpp - Values of a rule as formulas ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/RuleFormula.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

/// A rule may be a graph that as a tree has no end.
static constexpr int mostOperations = 120;

std::string RuleFormula::in(const Text &text, Precedence least) {
  return text.precedence < least ? "(" + text.text + ")" : text.text;
}

//===----------------------------------------------------------------------===//
// What is not written
//===----------------------------------------------------------------------===//

static bool isArgument(Value value, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto bounds = dyn_cast<ir::BoundsOp>(argument.getOwner()->getParentOp());
  return bounds && bounds.getArgument(name) == argument;
}

static Value stripWidth(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtSIOp, arith::TruncIOp>(op) ||
        op->getOperand(0).getType().isInteger(1))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// min(max(x, 0), k_len), or the other way round, as x.
static Value stripClip(Value value) {
  auto min = value.getDefiningOp<arith::MinSIOp>();
  auto max =
      min ? min.getLhs().getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
  if (max && isArgument(stripWidth(min.getRhs()), "k_len") &&
      matchPattern(max.getRhs(), m_Zero()))
    return max.getLhs();
  return value;
}

Value RuleFormula::strip(Value value) {
  for (Value last; last != value;) {
    last = value;
    value = stripWidth(stripSaturation(value));
    if (isClipped)
      value = stripClip(value);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void RuleFormula::addTo(Linear &sum, Text term, int64_t factor) {
  for (auto &[text, known] : sum.terms)
    if (text.text == term.text) {
      known += factor;
      return;
    }
  sum.terms.push_back({std::move(term), factor});
}

void RuleFormula::addTo(Linear &sum, Value value, int64_t factor) {
  value = strip(value);
  APInt constant;
  int64_t product;
  Operation *op = value.getDefiningOp();
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      !llvm::MulOverflow(constant.getSExtValue(), factor, product) &&
      !llvm::AddOverflow(sum.constant, product, product)) {
    sum.constant = product;
    return;
  }
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) && --budget > 0) {
    addTo(sum, op->getOperand(0), factor);
    addTo(sum, op->getOperand(1), isa<arith::SubIOp>(op) ? -factor : factor);
    return;
  }
  if (isa_and_nonnull<arith::MulIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
      !llvm::MulOverflow(constant.getSExtValue(), factor, product)) {
    addTo(sum, op->getOperand(0), product);
    return;
  }
  addTo(sum, get(value), factor);
}

RuleFormula::Text RuleFormula::write(const Linear &sum) {
  std::string text;
  int parts = 0;
  bool isProduct = false;
  Precedence only = Atom;
  auto addPart = [&](bool isNegative, const std::string &part) {
    text +=
        text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    text += part;
    ++parts;
    isProduct |= isNegative;
  };
  // What is added comes first: `q - left`, not `-left + q`.
  for (bool isNegative : {false, true})
    for (auto &[term, factor] : sum.terms) {
      if (factor == 0 || (factor < 0) != isNegative)
        continue;
      uint64_t size = isNegative ? -uint64_t(factor) : uint64_t(factor);
      std::string part = size == 1
                             ? in(term, isNegative ? Product : Sum)
                             : std::to_string(size) + " * " + in(term, Atom);
      isProduct |= size != 1;
      only = term.precedence;
      addPart(isNegative, part);
    }
  if (sum.constant != 0 || parts == 0)
    addPart(sum.constant < 0,
            std::to_string(sum.constant < 0 ? -uint64_t(sum.constant)
                                            : uint64_t(sum.constant)));
  return {text, parts > 1 ? Sum : isProduct ? Product : only};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

RuleFormula::Text RuleFormula::getBinary(Operation *op, const char *sign,
                                         Precedence precedence) {
  auto inner = static_cast<Precedence>(precedence + 1);
  // The same sign needs no parentheses on its left; && and || on no side.
  Precedence rhs = precedence <= And ? precedence : inner;
  return {in(get(op->getOperand(0)), precedence) + sign +
              in(get(op->getOperand(1)), rhs),
          precedence};
}

RuleFormula::Text RuleFormula::getCall(StringRef name, Operation *op) {
  std::string text = name.str() + "(";
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    text += (index ? ", " : "") + get(operand).text;
  return {text + ")", Atom};
}

static const char *signOf(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::eq:
    return " == ";
  case CmpIPredicate::ne:
    return " != ";
  case CmpIPredicate::slt:
  case CmpIPredicate::ult:
    return " < ";
  case CmpIPredicate::sle:
  case CmpIPredicate::ule:
    return " <= ";
  case CmpIPredicate::sgt:
  case CmpIPredicate::ugt:
    return " > ";
  case CmpIPredicate::sge:
  case CmpIPredicate::uge:
    return " >= ";
  }
  return " ? ";
}

RuleFormula::Text RuleFormula::getCompare(arith::CmpIOp compare) {
  return getBinary(compare, signOf(compare.getPredicate()), Compare);
}

/// y == 0 ? 1 : y, which guards a division, as y.
static Value stripGuard(Value divisor) {
  auto select = divisor.getDefiningOp<arith::SelectOp>();
  auto isZero = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                       : arith::CmpIOp();
  bool isGuard = isZero && isZero.getPredicate() == CmpIPredicate::eq &&
                 isZero.getLhs() == select.getFalseValue() &&
                 matchPattern(isZero.getRhs(), m_Zero()) &&
                 matchPattern(select.getTrueValue(), m_One());
  return isGuard ? select.getFalseValue() : divisor;
}

/// x % y + y where the signs differ, else x % y; 0 where y is 0.
std::optional<RuleFormula::Text>
RuleFormula::getRemainder(arith::SelectOp select) {
  if (matchPattern(select.getTrueValue(), m_Zero()))
    if (auto inner = select.getFalseValue().getDefiningOp<arith::SelectOp>())
      select = inner;
  auto remainder = select.getFalseValue().getDefiningOp<arith::RemSIOp>();
  auto more = select.getTrueValue().getDefiningOp<arith::AddIOp>();
  if (!remainder || !more || more.getLhs() != remainder.getResult() ||
      more.getRhs() != remainder.getRhs())
    return std::nullopt;
  return Text{in(get(remainder.getLhs()), Product) + " % " +
                  in(get(stripGuard(remainder.getRhs())), Atom),
              Product};
}

RuleFormula::Text RuleFormula::getSelect(arith::SelectOp select) {
  if (std::optional<Text> remainder = getRemainder(select))
    return *remainder;
  // An interval of which nothing is left ends at 0.
  return {in(get(select.getCondition()), Or) + " ? " +
              in(get(select.getTrueValue()), Or) + " : " +
              get(select.getFalseValue()).text,
          Select};
}

RuleFormula::Text RuleFormula::getRead(ir::ReadOp read) {
  std::string text = read.getTensor().str() + "[";
  for (auto [index, operand] : llvm::enumerate(read.getIndices()))
    text += (index ? ", " : "") + get(operand).text;
  return {text + "]", Atom};
}

RuleFormula::Text RuleFormula::getOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](ir::GetParamOp param) {
        return Text{param.getParam().str(), Atom};
      })
      .Case([&](ir::ReadOp read) { return getRead(read); })
      .Case([&](arith::ConstantOp constant) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        constant.getValue().print(stream, /*elideType=*/true);
        return Text{text, Atom};
      })
      .Case([&](arith::CmpIOp compare) { return getCompare(compare); })
      .Case([&](arith::SelectOp select) { return getSelect(select); })
      .Case<arith::MulIOp, arith::MulFOp>(
          [&](auto) { return getBinary(op, " * ", Product); })
      .Case([&](arith::DivFOp) { return getBinary(op, " / ", Product); })
      .Case([&](arith::AddFOp) { return getBinary(op, " + ", Sum); })
      .Case([&](arith::SubFOp) { return getBinary(op, " - ", Sum); })
      .Case([&](arith::RemSIOp) { return getBinary(op, " % ", Product); })
      .Case([&](arith::DivSIOp) { return getBinary(op, " / ", Product); })
      .Case<arith::MinSIOp>([&](auto) { return getCall("min", op); })
      .Case<arith::MaxSIOp>([&](auto) { return getCall("max", op); })
      .Case<math::AbsIOp>([&](auto) { return getCall("abs", op); })
      .Case<arith::SIToFPOp>([&](auto) { return get(op->getOperand(0)); })
      .Case([&](arith::AndIOp both) {
        APInt bits;
        bool isBool = both.getType().isInteger(1);
        // x % 2^n, of the language's remainders.
        if (!isBool && matchPattern(both.getRhs(), m_ConstantInt(&bits)) &&
            bits.isMask() && !bits.isSignBitSet())
          return Text{in(get(both.getLhs()), Product) + " % " +
                          std::to_string(bits.getZExtValue() + 1),
                      Product};
        return getBinary(op, isBool ? " && " : " & ", And);
      })
      .Case([&](arith::OrIOp) {
        return getBinary(
            op, op->getResult(0).getType().isInteger(1) ? " || " : " | ", Or);
      })
      .Case([&](arith::XOrIOp bits) {
        if (bits.getType().isInteger(1) && matchPattern(bits.getRhs(), m_One()))
          return Text{"!" + in(get(bits.getLhs()), Atom), Atom};
        return getBinary(op, " != ", Compare);
      })
      .Default([&](Operation *) {
        return getCall(op->getName().stripDialect(), op);
      });
}

static std::string nameOf(BlockArgument argument) {
  Operation *rule = argument.getOwner()->getParentOp();
  ArrayRef<StringLiteral> names =
      llvm::TypeSwitch<Operation *, ArrayRef<StringLiteral>>(rule)
          .Case<ir::MaskOp, ir::BoundsOp, ir::ScoreOp, ir::SinkOp, ir::RampOp>(
              [](auto op) { return decltype(op)::argumentNames(); })
          .Default(ArrayRef<StringLiteral>());
  unsigned number = argument.getArgNumber();
  return number < names.size() ? names[number].str()
                               : "arg" + std::to_string(number);
}

RuleFormula::Text RuleFormula::getNew(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {nameOf(argument), Atom};
  Operation *op = value.getDefiningOp();
  if (std::optional<FloorDivision> division =
          matchFloorDivision(value, ranges)) {
    std::optional<int64_t> constant = division->getConstantDivisor();
    return {in(get(division->dividend), Product) + " / " +
                (constant ? std::to_string(*constant)
                          : in(get(division->divisor), Atom)),
            Product};
  }
  bool isSum = isa<arith::AddIOp, arith::SubIOp>(op) ||
               (isa<arith::ConstantOp, arith::MulIOp>(op) &&
                !value.getType().isInteger(1) && value.getType().isInteger() &&
                (isa<arith::ConstantOp>(op) ||
                 matchPattern(op->getOperand(1), m_Constant())));
  if (!isSum)
    return getOperation(op);
  Linear sum;
  addTo(sum, value, 1);
  return write(sum);
}

RuleFormula::Text RuleFormula::get(Value value) {
  value = strip(value);
  Operation *op = value.getDefiningOp();
  if (op && op->getNumOperands() > 0 && --budget < 0)
    return {"...", Atom};
  return getNew(value);
}

//===----------------------------------------------------------------------===//
// Wholes
//===----------------------------------------------------------------------===//

std::string RuleFormula::of(Value value) {
  budget = mostOperations;
  return get(value).text;
}

std::string RuleFormula::ofKey(Value key) {
  isClipped = true;
  std::string text = of(key);
  isClipped = false;
  return text;
}

RuleFormula::Linear RuleFormula::linear(const AffineForm &form) {
  Linear sum;
  if (form.q)
    sum.terms.push_back({{"q", Atom}, form.q});
  if (form.k)
    sum.terms.push_back({{"k", Atom}, form.k});
  for (const AffineForm::Term &term : form.terms)
    addTo(sum, get(term.first), term.second);
  sum.constant = form.constant;
  return sum;
}

std::string RuleFormula::of(const MaskLiteral &literal) {
  budget = mostOperations;
  if (literal.condition) {
    Text condition = get(literal.condition);
    return literal.isNegated ? "!" + in(condition, Atom) : in(condition, And);
  }
  // x + rest <= 0 is x <= -rest, and -x + rest <= 0 is x >= rest.
  AffineForm rest = literal.form;
  int64_t AffineForm::*side = rest.k ? &AffineForm::k : &AffineForm::q;
  int64_t factor = rest.*side;
  AffineForm bound;
  if (factor == 1 || factor == -1) {
    rest.*side = 0;
    if (addScaled(bound, rest, -factor))
      return std::string(side == &AffineForm::k ? "k" : "q") +
             (factor == 1 ? " <= " : " >= ") + write(linear(bound)).text;
  }
  return write(linear(literal.form)).text + " <= 0";
}

std::string RuleFormula::of(const MaskTerms &terms) {
  if (terms.empty())
    return "false";
  std::string text;
  for (const MaskTerm &term : terms) {
    std::string conjunction;
    for (const MaskLiteral &literal : term)
      conjunction += (conjunction.empty() ? "" : " && ") + of(literal);
    if (term.empty())
      conjunction = "true";
    bool needsParentheses = terms.size() > 1 && term.size() > 1;
    text += text.empty() ? "" : " || ";
    text += needsParentheses ? "(" + conjunction + ")" : conjunction;
  }
  return text;
}
