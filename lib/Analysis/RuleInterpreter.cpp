//===- RuleInterpreter.cpp - Runs rules of the attn dialect ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/RuleInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace attn;

namespace {
class Interpreter {
public:
  explicit Interpreter(const RuleInputs &inputs) : inputs(inputs) {}

  std::vector<int64_t> run(Block &rule, const std::vector<int64_t> &arguments);

private:
  APInt get(Value value) { return values.lookup(value); }
  APInt evaluate(Operation &op);
  std::optional<APInt> evaluateBinary(Operation &op);
  APInt fold(Operation &op);
  APInt read(ir::ReadOp op);

  const RuleInputs &inputs;
  llvm::DenseMap<Value, APInt> values;
};
} // namespace

/// What must never happen in code that a pass emits; NDEBUG or not.
static void require(bool condition) {
  if (!condition)
    llvm::report_fatal_error("a rule divides by zero, overflows a division, "
                             "reads an unbound tensor or cannot be folded");
}

static unsigned widthOf(Value value) {
  return value.getType().getIntOrFloatBitWidth();
}

static APInt integer(unsigned width, int64_t value) {
  return APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true);
}

static APInt bitsOf(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(value).getValue();
}

static Attribute attributeOf(const APInt &bits, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(floatType.getFloatSemantics(), bits));
  return IntegerAttr::get(type, bits);
}

APInt Interpreter::read(ir::ReadOp op) {
  auto found = inputs.tensors.find(op.getTensor());
  require(found != inputs.tensors.end());
  const TensorValue &tensor = found->second;
  int64_t offset = 0;
  for (auto [dim, index] : llvm::zip(tensor.dims, op.getIndices())) {
    int64_t clamped = std::clamp<int64_t>(get(index).getSExtValue(), 0,
                                          std::max<int64_t>(dim, 1) - 1);
    offset = offset * dim + clamped;
  }
  return integer(widthOf(op.getResult()),
                 tensor.data.empty() ? 0 : tensor.data[offset]);
}

std::optional<APInt> Interpreter::evaluateBinary(Operation &op) {
  if (op.getNumOperands() != 2)
    return std::nullopt;
  APInt lhs = get(op.getOperand(0)), rhs = get(op.getOperand(1));
  return llvm::TypeSwitch<Operation *, std::optional<APInt>>(&op)
      .Case([&](arith::AddIOp) { return lhs + rhs; })
      .Case([&](arith::SubIOp) { return lhs - rhs; })
      .Case([&](arith::MulIOp) { return lhs * rhs; })
      .Case([&](arith::AndIOp) { return lhs & rhs; })
      .Case([&](arith::OrIOp) { return lhs | rhs; })
      .Case([&](arith::XOrIOp) { return lhs ^ rhs; })
      .Case([&](arith::MinSIOp) { return lhs.slt(rhs) ? lhs : rhs; })
      .Case([&](arith::MaxSIOp) { return lhs.sgt(rhs) ? lhs : rhs; })
      .Case([&](arith::ShRSIOp) { return lhs.ashr(rhs); })
      .Case([&](arith::DivSIOp) {
        require(!rhs.isZero());
        require(!(rhs.isAllOnes() && lhs.isMinSignedValue()));
        return lhs.sdiv(rhs);
      })
      .Case([&](arith::DivUIOp) {
        require(!rhs.isZero());
        return lhs.udiv(rhs);
      })
      .Case([&](arith::RemSIOp) {
        require(!rhs.isZero());
        require(!(rhs.isAllOnes() && lhs.isMinSignedValue()));
        return lhs.srem(rhs);
      })
      .Case([&](arith::CmpIOp compare) {
        return integer(
            1, arith::applyCmpPredicate(compare.getPredicate(), lhs, rhs));
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// What is rare, floats above all, is left to the folders of the operations.
APInt Interpreter::fold(Operation &op) {
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands())
    operands.push_back(attributeOf(get(operand), operand.getType()));
  SmallVector<OpFoldResult> results;
  require(succeeded(op.fold(operands, results)) && results.size() == 1);
  if (auto value = dyn_cast<Value>(results[0]))
    return get(value);
  return bitsOf(cast<Attribute>(results[0]));
}

APInt Interpreter::evaluate(Operation &op) {
  unsigned width = widthOf(op.getResult(0));
  return llvm::TypeSwitch<Operation *, APInt>(&op)
      .Case([&](arith::ConstantOp constant) {
        return bitsOf(constant.getValue());
      })
      .Case<arith::ExtSIOp>(
          [&](auto) { return get(op.getOperand(0)).sext(width); })
      .Case<arith::TruncIOp>(
          [&](auto) { return get(op.getOperand(0)).trunc(width); })
      .Case<math::AbsIOp>([&](auto) { return get(op.getOperand(0)).abs(); })
      .Case<arith::SelectOp>([&](auto) {
        return get(op.getOperand(get(op.getOperand(0)).isOne() ? 1 : 2));
      })
      .Case([&](ir::GetParamOp param) {
        return integer(width, inputs.params.lookup(param.getParam()));
      })
      .Case([&](ir::ReadOp readOp) { return read(readOp); })
      .Default([&](Operation *) {
        std::optional<APInt> value = evaluateBinary(op);
        return value ? *value : fold(op);
      });
}

std::vector<int64_t> Interpreter::run(Block &rule,
                                      const std::vector<int64_t> &arguments) {
  for (auto [argument, value] : llvm::zip_equal(rule.getArguments(), arguments))
    values[argument] = integer(widthOf(argument), value);
  for (Operation &op : rule.without_terminator())
    values[op.getResult(0)] = evaluate(op);
  std::vector<int64_t> results;
  for (Value result : rule.getTerminator()->getOperands()) {
    APInt value = get(result);
    results.push_back(value.getBitWidth() == 1 ? value.getZExtValue()
                                               : value.getSExtValue());
  }
  return results;
}

std::vector<int64_t> attn::interpret(Block &rule,
                                     const std::vector<int64_t> &arguments,
                                     const RuleInputs &inputs) {
  return Interpreter(inputs).run(rule, arguments);
}
