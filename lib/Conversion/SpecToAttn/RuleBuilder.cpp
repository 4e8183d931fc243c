//===- RuleBuilder.cpp - Scalar code of a rule ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleBuilder.h"

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Types, constants, locations
//===----------------------------------------------------------------------===//

Location attn::specLocation(MLIRContext *context, const Problem &problem,
                            unsigned line, unsigned column) {
  if (line == 0)
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, problem.file, line, column);
}

Type attn::storageType(MLIRContext *context, DType type) {
  switch (type) {
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::E4M3:
    return Float8E4M3FNType::get(context);
  case DType::E5M2:
    return Float8E5M2Type::get(context);
  case DType::I8:
    return IntegerType::get(context, 8);
  case DType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::I64:
    return IntegerType::get(context, 64);
  case DType::Bool:
    return IntegerType::get(context, 1);
  }
  llvm_unreachable("all storage types are handled");
}

/// What an integer of a storage type can be.
static Interval storageRange(DType type) {
  switch (type) {
  case DType::I8:
    return Interval::ofSigned(8);
  case DType::U8:
    return Interval::ofUnsigned(8);
  case DType::I32:
    return Interval::ofSigned(32);
  default:
    return Interval::all();
  }
}

Type RuleBuilder::typeFor(Interval range) {
  return builder.getIntegerType(range.fitsI32() ? 32 : 64);
}

Value RuleBuilder::cast(Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  return from < to ? create<arith::ExtSIOp>(type, value)
                   : create<arith::TruncIOp>(type, value);
}

Value RuleBuilder::intConstant(int64_t value, Type type) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

Value RuleBuilder::floatConstant(double value) {
  // Through APFloat so that a value beyond f32 rounds to infinity as in C.
  return arith::ConstantOp::create(
      builder, loc,
      FloatAttr::get(builder.getF32Type(), static_cast<float>(value)));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

RuleValue RuleBuilder::emit(const Expr &expr) {
  auto known = emitted.find(&expr);
  if (known != emitted.end())
    return known->second;
  Location outer = loc;
  if (expr.line)
    loc = specLocation(builder.getContext(), problem, expr.line, expr.column);
  RuleValue value = emitNew(expr);
  loc = outer;
  emitted[&expr] = value;
  return value;
}

RuleValue RuleBuilder::emitNew(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Index:
    return variables.at(expr.index);
  case ExprKind::Param:
    return emitParam(expr);
  case ExprKind::Read:
    return emitRead(expr);
  case ExprKind::Select:
    return emitSelect(expr);
  default:
    break;
  }
  switch (expr.type) {
  case ExprType::Int:
    return emitInt(expr);
  case ExprType::Float:
    return {emitFloat(expr), Interval::all()};
  case ExprType::Bool:
    return {emitBool(expr), Interval::all()};
  }
  llvm_unreachable("all types are handled");
}

RuleValue RuleBuilder::emitParam(const Expr &expr) {
  for (const Param &param : problem.params)
    if (param.name == expr.name)
      return {create<ir::GetParamOp>(
                  storageType(builder.getContext(), param.type), param.name),
              storageRange(param.type)};
  llvm_unreachable("a checked rule names only params that exist");
}

/// How many elements a dimension has where that is known here.
static std::optional<int64_t> extentOf(const Dim &dim, const Problem &problem) {
  switch (dim.kind) {
  case DimKind::Literal:
    return dim.literal;
  case DimKind::Heads:
    return problem.heads;
  case DimKind::KvHeads:
    return problem.kvHeads;
  default:
    return std::nullopt;
  }
}

/// Told, not refused: the read may stand where nothing comes.
void RuleBuilder::checkIndex(const Tensor &tensor, size_t axis,
                             Interval index) {
  std::optional<int64_t> extent = extentOf(tensor.dims[axis], problem);
  if (!extent || (index.low < *extent && index.high >= 0))
    return;
  InFlightDiagnostic warning = emitWarning(loc);
  warning << "every read of '" << tensor.name << "' here is outside of it: "
          << "index " << axis + 1 << ": expected 0 .. " << *extent - 1
          << ", found ";
  if (index.isConstant())
    warning << index.low;
  else if (index.high < 0)
    warning << "at most " << index.high;
  else
    warning << "at least " << index.low;
  warning << "; the kernel reads the nearest element, --check fails";
}

RuleValue RuleBuilder::emitRead(const Expr &expr) {
  SmallVector<RuleValue> values;
  for (const ExprPtr &operand : expr.operands)
    values.push_back(emit(*operand));
  SmallVector<Value> indices;
  for (RuleValue value : values)
    indices.push_back(value.value);
  for (const Tensor &tensor : problem.tensors)
    if (tensor.name == expr.name) {
      for (auto [axis, value] : llvm::enumerate(values))
        checkIndex(tensor, axis, value.range);
      Type element = storageType(builder.getContext(), tensor.type);
      return {create<ir::ReadOp>(ir::TensorOp::getReadType(element),
                                 tensor.name, indices),
              storageRange(tensor.type)};
    }
  llvm_unreachable("a checked rule names only tensors that exist");
}

RuleValue RuleBuilder::emitSelect(const Expr &expr) {
  // Short-circuit needs no branch: clamped reads make every operand harmless.
  RuleValue condition = emit(*expr.operands[0]);
  RuleValue lhs = emit(*expr.operands[1]), rhs = emit(*expr.operands[2]);
  Interval range = lhs.range.hull(rhs.range);
  if (expr.type == ExprType::Int) {
    lhs.value = cast(lhs.value, typeFor(range));
    rhs.value = cast(rhs.value, typeFor(range));
  }
  return {create<arith::SelectOp>(condition.value, lhs.value, rhs.value),
          range};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Interval rangeOf(ExprKind kind, Interval lhs, Interval rhs) {
  switch (kind) {
  case ExprKind::Add:
    return lhs + rhs;
  case ExprKind::Sub:
    return lhs - rhs;
  case ExprKind::Mul:
    return lhs * rhs;
  case ExprKind::Min:
    return min(lhs, rhs);
  case ExprKind::Max:
    return max(lhs, rhs);
  default:
    llvm_unreachable("no integer operation of two operands");
  }
}

RuleValue RuleBuilder::emitInt(const Expr &expr) {
  if (expr.kind == ExprKind::IntConst) {
    Interval range = Interval::of(expr.intValue);
    return {intConstant(expr.intValue, typeFor(range)), range};
  }
  RuleValue lhs = emit(*expr.operands[0]);
  switch (expr.kind) {
  case ExprKind::Neg:
    return emitIntBinary(
        ExprKind::Sub, {intConstant(0, builder.getI32Type()), Interval::of(0)},
        lhs);
  case ExprKind::Abs: {
    Interval range = abs(lhs.range);
    return {create<math::AbsIOp>(cast(lhs.value, typeFor(range))), range};
  }
  case ExprKind::Div:
  case ExprKind::Mod:
    return emitDivision(expr.kind == ExprKind::Mod, lhs,
                        emit(*expr.operands[1]));
  default:
    return emitIntBinary(expr.kind, lhs, emit(*expr.operands[1]));
  }
}

RuleValue RuleBuilder::emitIntBinary(ExprKind kind, RuleValue lhs,
                                     RuleValue rhs) {
  Interval range = rangeOf(kind, lhs.range, rhs.range);
  // min(wide, narrow) may be narrow: computed wide, then truncated.
  Type type = typeFor(range.hull(lhs.range).hull(rhs.range));
  Value l = cast(lhs.value, type), r = cast(rhs.value, type);
  Value result;
  switch (kind) {
  case ExprKind::Add:
    result = create<arith::AddIOp>(l, r);
    break;
  case ExprKind::Sub:
    result = create<arith::SubIOp>(l, r);
    break;
  case ExprKind::Mul:
    result = create<arith::MulIOp>(l, r);
    break;
  case ExprKind::Min:
    result = create<arith::MinSIOp>(l, r);
    break;
  case ExprKind::Max:
    result = create<arith::MaxSIOp>(l, r);
    break;
  default:
    llvm_unreachable("no integer operation of two operands");
  }
  return {cast(result, typeFor(range)), range};
}

RuleValue RuleBuilder::emitDivision(bool isMod, RuleValue lhs, RuleValue rhs) {
  Interval range =
      isMod ? floorMod(lhs.range, rhs.range) : floorDiv(lhs.range, rhs.range);
  Type type = typeFor(range.hull(lhs.range).hull(rhs.range));
  RuleValue l{cast(lhs.value, type), lhs.range};
  RuleValue r{cast(rhs.value, type), rhs.range};
  Value result = rhs.range.isConstant()
                     ? divideByConstant(isMod, l, rhs.range.low, type)
                     : divideByValue(isMod, l, r, type);
  return {cast(result, typeFor(range)), range};
}

Value RuleBuilder::divideByConstant(bool isMod, RuleValue lhs, int64_t divisor,
                                    Type type) {
  if (divisor == 0)
    return intConstant(0, type);
  if (divisor == -1) // not divsi: it overflows for the least integer
    return isMod ? intConstant(0, type)
                 : create<arith::SubIOp>(intConstant(0, type), lhs.value);
  if (divisor > 0 && llvm::isPowerOf2_64(divisor)) {
    if (isMod)
      return create<arith::AndIOp>(lhs.value, intConstant(divisor - 1, type));
    return create<arith::ShRSIOp>(lhs.value,
                                  intConstant(llvm::Log2_64(divisor), type));
  }
  return divideByValue(
      isMod, lhs, {intConstant(divisor, type), Interval::of(divisor)}, type);
}

Value RuleBuilder::divideByValue(bool isMod, RuleValue lhs, RuleValue rhs,
                                 Type type) {
  Value zero = intConstant(0, type), one = intConstant(1, type);
  Value divisor = rhs.value;
  auto guard = [&](CmpIPredicate predicate, Value bound) {
    return create<arith::CmpIOp>(predicate, rhs.value, bound);
  };
  // Division by 0 gives 0; by -1 the least integer would overflow.
  Value isZero, isMinusOne;
  if (rhs.range.contains(0)) {
    isZero = guard(CmpIPredicate::eq, zero);
    divisor = create<arith::SelectOp>(isZero, one, divisor);
  }
  int64_t least = Interval::ofSigned(type.getIntOrFloatBitWidth()).low;
  if (rhs.range.contains(-1) && lhs.range.contains(least)) {
    isMinusOne = guard(CmpIPredicate::eq, intConstant(-1, type));
    divisor = create<arith::SelectOp>(isMinusOne, one, divisor);
  }
  Value remainder = create<arith::RemSIOp>(lhs.value, divisor);
  // Rounding towards zero and floor differ where the remainder is not 0 and
  // has not the divisor's sign.
  Value adjusts;
  if (lhs.range.low < 0 || rhs.range.low < 0) {
    Value inexact = create<arith::CmpIOp>(CmpIPredicate::ne, remainder, zero);
    Value signs = create<arith::XOrIOp>(remainder, divisor);
    Value differ = create<arith::CmpIOp>(CmpIPredicate::slt, signs, zero);
    adjusts = create<arith::AndIOp>(inexact, differ);
  }
  Value result = remainder;
  if (!isMod)
    result = create<arith::DivSIOp>(lhs.value, divisor);
  if (adjusts) {
    Value moved = isMod ? create<arith::AddIOp>(result, divisor)
                        : create<arith::SubIOp>(result, one);
    result = create<arith::SelectOp>(adjusts, moved, result);
  }
  if (isMinusOne && !isMod)
    result = create<arith::SelectOp>(
        isMinusOne, create<arith::SubIOp>(zero, lhs.value), result);
  if (isZero)
    result = create<arith::SelectOp>(isZero, zero, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

Value RuleBuilder::emitFloat(const Expr &expr) {
  if (expr.kind == ExprKind::FloatConst)
    return floatConstant(expr.floatValue);
  Value x = emit(*expr.operands[0]).value;
  Value y = expr.operands.size() > 1 ? emit(*expr.operands[1]).value : Value();
  switch (expr.kind) {
  case ExprKind::ToFloat:
    return create<arith::SIToFPOp>(builder.getF32Type(), x);
  case ExprKind::Neg:
    return create<arith::NegFOp>(x);
  case ExprKind::Add:
    return create<arith::AddFOp>(x, y);
  case ExprKind::Sub:
    return create<arith::SubFOp>(x, y);
  case ExprKind::Mul:
    return create<arith::MulFOp>(x, y);
  case ExprKind::Div:
    return create<arith::DivFOp>(x, y);
  case ExprKind::Min: // of a NaN and a number: the number
    return create<arith::MinNumFOp>(x, y);
  case ExprKind::Max:
    return create<arith::MaxNumFOp>(x, y);
  case ExprKind::Abs:
    return create<math::AbsFOp>(x);
  case ExprKind::Exp:
    return create<math::ExpOp>(x);
  case ExprKind::Exp2:
    return create<math::Exp2Op>(x);
  case ExprKind::Log:
    return create<math::LogOp>(x);
  case ExprKind::Log2:
    return create<math::Log2Op>(x);
  case ExprKind::Tanh:
    return create<math::TanhOp>(x);
  case ExprKind::Sqrt:
    return create<math::SqrtOp>(x);
  case ExprKind::Sigmoid: {
    Value one = floatConstant(1.0);
    Value power = create<math::ExpOp>(create<arith::NegFOp>(x));
    return create<arith::DivFOp>(one, create<arith::AddFOp>(one, power));
  }
  default:
    llvm_unreachable("no float operation");
  }
}

//===----------------------------------------------------------------------===//
// Bools
//===----------------------------------------------------------------------===//

static CmpIPredicate intPredicate(ExprKind kind) {
  switch (kind) {
  case ExprKind::Eq:
    return CmpIPredicate::eq;
  case ExprKind::Ne:
    return CmpIPredicate::ne;
  case ExprKind::Lt:
    return CmpIPredicate::slt;
  case ExprKind::Le:
    return CmpIPredicate::sle;
  case ExprKind::Gt:
    return CmpIPredicate::sgt;
  case ExprKind::Ge:
    return CmpIPredicate::sge;
  default:
    llvm_unreachable("no comparison");
  }
}

/// As in C: every comparison with a NaN is false, except !=.
static CmpFPredicate floatPredicate(ExprKind kind) {
  switch (kind) {
  case ExprKind::Eq:
    return CmpFPredicate::OEQ;
  case ExprKind::Ne:
    return CmpFPredicate::UNE;
  case ExprKind::Lt:
    return CmpFPredicate::OLT;
  case ExprKind::Le:
    return CmpFPredicate::OLE;
  case ExprKind::Gt:
    return CmpFPredicate::OGT;
  case ExprKind::Ge:
    return CmpFPredicate::OGE;
  default:
    llvm_unreachable("no comparison");
  }
}

Value RuleBuilder::emitBool(const Expr &expr) {
  if (expr.kind == ExprKind::BoolConst)
    return arith::ConstantOp::create(builder, loc,
                                     builder.getBoolAttr(expr.intValue != 0));
  RuleValue lhs = emit(*expr.operands[0]);
  if (expr.kind == ExprKind::Not) {
    Value truth =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    return create<arith::XOrIOp>(lhs.value, truth);
  }
  RuleValue rhs = emit(*expr.operands[1]);
  if (expr.kind == ExprKind::And)
    return create<arith::AndIOp>(lhs.value, rhs.value);
  if (expr.kind == ExprKind::Or)
    return create<arith::OrIOp>(lhs.value, rhs.value);
  switch (expr.operands[0]->type) {
  case ExprType::Float:
    return create<arith::CmpFOp>(floatPredicate(expr.kind), lhs.value,
                                 rhs.value);
  case ExprType::Bool:
    return create<arith::CmpIOp>(intPredicate(expr.kind), lhs.value, rhs.value);
  case ExprType::Int: {
    Type type = typeFor(lhs.range.hull(rhs.range));
    return create<arith::CmpIOp>(intPredicate(expr.kind), cast(lhs.value, type),
                                 cast(rhs.value, type));
  }
  }
  llvm_unreachable("all types are handled");
}
