//===- MaskTerms.cpp - A mask as a union of conjunctions ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskTerms.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

static MaskLiteral literalOf(AffineForm form) {
  MaskLiteral literal;
  literal.form = std::move(form);
  return literal;
}

MaskTermBuilder::MaskTermBuilder(ir::KernelOp kernel, ir::MaskOp mask)
    : affine(kernel, mask) {
  auto fact = [&](int64_t q, int64_t k, int64_t constant,
                  ArrayRef<std::pair<const char *, int64_t>> lengths) {
    AffineForm form;
    form.q = q;
    form.k = k;
    form.constant = constant;
    for (auto [name, coefficient] : lengths)
      form.terms.push_back({mask.getArgument(name), coefficient});
    facts.push_back(literalOf(form));
  };
  fact(0, -1, 0, {});             // k >= 0
  fact(0, 1, 1, {{"k_len", -1}}); // k <= k_len - 1
  if (kernel.getAlign() == ir::Align::TopLeft) {
    fact(-1, 0, 0, {});             // q >= 0
    fact(1, 0, 1, {{"q_len", -1}}); // q <= q_len - 1
  } else {
    fact(-1, 0, 0, {{"q_len", -1}, {"k_len", 1}}); // q >= k_len - q_len
    fact(1, 0, 1, {{"k_len", -1}});                // q <= k_len - 1
  }
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

MaskTerms MaskTermBuilder::get(Value condition, bool isNegated) {
  auto found = known[isNegated].find(condition);
  if (found != known[isNegated].end())
    return found->second;
  // A legal rule may chain more conditions than a stack holds frames of.
  constexpr unsigned deepest = 128;
  if (depth == deepest)
    return unknown();
  ++depth;
  MaskTerms terms = getNew(condition, isNegated);
  --depth;
  known[isNegated][condition] = terms;
  return terms;
}

MaskTerms MaskTermBuilder::getNew(Value condition, bool isNegated) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)))
    return constant.isOne() != isNegated ? MaskTerms{MaskTerm()} : MaskTerms();
  if (budget == 0)
    return unknown();
  Operation *op = condition.getDefiningOp();
  if (auto negation = dyn_cast_or_null<arith::XOrIOp>(op))
    if (matchPattern(negation.getRhs(), m_One()))
      return get(negation.getLhs(), !isNegated);
  if (affine.isInvariant(condition)) {
    MaskLiteral literal;
    literal.condition = condition;
    literal.isNegated = isNegated;
    return {MaskTerm{literal}};
  }
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    MaskTerms lhs = get(op->getOperand(0), isNegated);
    MaskTerms rhs = get(op->getOperand(1), isNegated);
    return isa<arith::AndIOp>(op) != isNegated ? intersect(lhs, rhs)
                                               : unite(lhs, rhs);
  }
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return getSelect(select.getCondition(), select.getTrueValue(),
                     select.getFalseValue(), isNegated);
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    return getComparison(compare, isNegated);
  return unknown();
}

/// c ? x : y is (c && x) || (!c && y), and so is its negation with !x and !y.
MaskTerms MaskTermBuilder::getSelect(Value condition, Value lhs, Value rhs,
                                     bool isNegated) {
  return unite(intersect(get(condition, false), get(lhs, isNegated)),
               intersect(get(condition, true), get(rhs, isNegated)));
}

MaskTerms MaskTermBuilder::getComparison(arith::CmpIOp compare,
                                         bool isNegated) {
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  if (lhs.getType().isInteger(1)) {
    CmpIPredicate predicate = compare.getPredicate();
    if (predicate != CmpIPredicate::eq && predicate != CmpIPredicate::ne)
      return unknown();
    // x == y is x ? y : !y.
    bool isDifferent = (predicate == CmpIPredicate::ne) != isNegated;
    return unite(intersect(get(lhs, false), get(rhs, isDifferent)),
                 intersect(get(lhs, true), get(rhs, !isDifferent)));
  }
  std::optional<AffineComparison> comparison = affine.get(compare);
  if (comparison && isNegated)
    comparison = negated(*comparison);
  if (!comparison || comparison->form.k < -1 || comparison->form.k > 1)
    return unknown();
  return getAffineTerms(*comparison);
}

MaskTerms MaskTermBuilder::getAffineTerms(const AffineComparison &comparison) {
  // form <= 0 and -form <= 0, the latter below 0 where they must differ.
  AffineForm atMost = comparison.form, atLeast;
  bool fits = addScaled(atLeast, comparison.form, -1);
  bool isDifferent = comparison.predicate == CmpIPredicate::ne;
  if (isDifferent)
    fits &= !llvm::AddOverflow<int64_t>(atMost.constant, 1, atMost.constant) &&
            !llvm::AddOverflow<int64_t>(atLeast.constant, 1, atLeast.constant);
  if (!fits)
    return unknown();
  MaskTerm upper{literalOf(atMost)}, lower{literalOf(atLeast)};
  MaskTerms terms;
  switch (comparison.predicate) {
  case CmpIPredicate::sle:
    terms = {upper};
    break;
  case CmpIPredicate::sge:
    terms = {lower};
    break;
  case CmpIPredicate::ne:
    terms = {upper, lower};
    break;
  default: // eq
    terms = {MaskTerm{upper.front(), lower.front()}};
  }
  simplify(terms);
  return terms;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// Of lhs + factor * rhs, where k cancels out.
std::optional<Interval> MaskTermBuilder::rangeOfSum(const MaskLiteral &lhs,
                                                    const MaskLiteral &rhs,
                                                    int64_t factor) {
  if (lhs.condition || rhs.condition || budget == 0)
    return std::nullopt;
  --budget;
  AffineForm sum = lhs.form;
  if (!addScaled(sum, rhs.form, factor) || sum.k != 0)
    return std::nullopt;
  RuleRanges &ranges = affine.getRanges();
  return rangeOfForm(sum, ranges.ofArgument("q"), ranges);
}

/// lhs <= 0 gives rhs <= 0 where rhs <= lhs.
bool MaskTermBuilder::implies(const MaskLiteral &lhs, const MaskLiteral &rhs) {
  if (lhs == rhs)
    return true;
  std::optional<Interval> difference = rangeOfSum(rhs, lhs, -1);
  return difference && difference->high <= 0;
}

bool MaskTermBuilder::implies(const MaskTerm &lhs, const MaskTerm &rhs) {
  return llvm::all_of(rhs, [&](const MaskLiteral &right) {
    return llvm::any_of(
        lhs, [&](const MaskLiteral &left) { return implies(left, right); });
  });
}

static bool areOpposite(const MaskLiteral &lhs, const MaskLiteral &rhs) {
  return lhs.condition && lhs.condition == rhs.condition &&
         lhs.isNegated != rhs.isNegated;
}

/// Never both: lhs + rhs > 0.
bool MaskTermBuilder::exclude(const MaskLiteral &lhs, const MaskLiteral &rhs) {
  std::optional<Interval> sum = rangeOfSum(lhs, rhs, 1);
  return areOpposite(lhs, rhs) || (sum && sum->low > 0);
}

/// Always one: lhs >= 1 gives rhs <= 0 where lhs + rhs <= 1.
bool MaskTermBuilder::cover(const MaskLiteral &lhs, const MaskLiteral &rhs) {
  std::optional<Interval> sum = rangeOfSum(lhs, rhs, 1);
  return areOpposite(lhs, rhs) || (sum && sum->high <= 1);
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

bool MaskTermBuilder::simplify(MaskTerm &term) {
  for (size_t i = 0; i < term.size(); ++i) {
    auto excluded = [&](const MaskLiteral &other) {
      return exclude(term[i], other);
    };
    if (llvm::any_of(ArrayRef(term).drop_front(i + 1), excluded) ||
        llvm::any_of(facts, excluded))
      return false;
  }
  for (size_t i = 0; i < term.size();) {
    auto follows = [&](const MaskLiteral &other) {
      return &other != &term[i] && implies(other, term[i]);
    };
    if (llvm::any_of(facts, follows) || llvm::any_of(term, follows))
      term.erase(term.begin() + i);
    else
      ++i;
  }
  if (term.size() > maxLiterals) {
    term.truncate(maxLiterals);
    exact = false;
  }
  return true;
}

/// Two terms that differ in one literal each, of which one always holds, are
/// one without it.
bool MaskTermBuilder::mergeTouching(MaskTerms &terms) {
  auto restOf = [](const MaskTerm &term, const MaskTerm &other) {
    SmallVector<unsigned, 2> rest;
    for (auto [index, literal] : llvm::enumerate(term))
      if (!llvm::is_contained(other, literal))
        rest.push_back(index);
    return rest;
  };
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t j = i + 1; j < terms.size(); ++j) {
      auto first = restOf(terms[i], terms[j]);
      auto second = restOf(terms[j], terms[i]);
      if (first.size() != 1 || second.size() != 1 ||
          !cover(terms[i][first[0]], terms[j][second[0]]))
        continue;
      terms[i].erase(terms[i].begin() + first[0]);
      terms.erase(terms.begin() + j);
      return true;
    }
  return false;
}

void MaskTermBuilder::simplify(MaskTerms &terms) {
  do {
    llvm::erase_if(terms, [&](MaskTerm &term) { return !simplify(term); });
    // Of equal terms the first stays.
    for (size_t i = 0; i < terms.size();) {
      bool isInside = false;
      for (size_t j = 0; j < terms.size() && !isInside; ++j)
        isInside = i != j && implies(terms[i], terms[j]) &&
                   (j < i || !implies(terms[j], terms[i]));
      if (isInside)
        terms.erase(terms.begin() + i);
      else
        ++i;
    }
  } while (mergeTouching(terms));
  // What two terms have in common holds for both.
  while (terms.size() > maxTerms) {
    exact = false;
    MaskTerm last = terms.pop_back_val();
    llvm::erase_if(terms.back(), [&](const MaskLiteral &literal) {
      return !llvm::is_contained(last, literal);
    });
  }
}

MaskTerms MaskTermBuilder::unite(MaskTerms lhs, const MaskTerms &rhs) {
  llvm::append_range(lhs, rhs);
  simplify(lhs);
  return lhs;
}

MaskTerms MaskTermBuilder::intersect(const MaskTerms &lhs,
                                     const MaskTerms &rhs) {
  MaskTerms terms;
  for (const MaskTerm &left : lhs)
    for (const MaskTerm &right : rhs) {
      MaskTerm both = left;
      llvm::append_range(both, right);
      terms.push_back(std::move(both));
    }
  simplify(terms);
  return terms;
}
