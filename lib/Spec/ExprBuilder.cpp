//===- ExprBuilder.cpp - Typed expressions --------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExprBuilder.h"

#include "llvm/Support/ErrorHandling.h"

using namespace attn;
using namespace attn::spec;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

StringRef attn::spec::typeName(ExprType type) {
  switch (type) {
  case ExprType::Int:
    return "int";
  case ExprType::Float:
    return "float";
  case ExprType::Bool:
    return "bool";
  }
  llvm_unreachable("every type has a name");
}

static ExprType typeOfElements(DType type) {
  switch (type) {
  case DType::I8:
  case DType::U8:
  case DType::I32:
  case DType::I64:
    return ExprType::Int;
  case DType::Bool:
    return ExprType::Bool;
  case DType::BF16:
  case DType::F16:
  case DType::F32:
  case DType::E4M3:
  case DType::E5M2:
    return ExprType::Float;
  }
  llvm_unreachable("every type has a kind");
}

/// How the user wrote a unary or binary operator.
static StringRef symbol(ExprKind kind) {
  switch (kind) {
  case ExprKind::Neg:
  case ExprKind::Sub:
    return "-";
  case ExprKind::Not:
    return "!";
  case ExprKind::Add:
    return "+";
  case ExprKind::Mul:
    return "*";
  case ExprKind::Div:
    return "/";
  case ExprKind::Mod:
    return "%";
  case ExprKind::Eq:
    return "==";
  case ExprKind::Ne:
    return "!=";
  case ExprKind::Lt:
    return "<";
  case ExprKind::Le:
    return "<=";
  case ExprKind::Gt:
    return ">";
  case ExprKind::Ge:
    return ">=";
  case ExprKind::And:
    return "&&";
  case ExprKind::Or:
    return "||";
  default:
    llvm_unreachable("not an operator");
  }
}

Typed ExprBuilder::refuse(llvm::SMRange range, const Twine &message) {
  uses.error(range.Start, range, message);
  return {};
}

bool ExprBuilder::expectBool(StringRef what, const Typed &operand) {
  if (operand.type() == ExprType::Bool)
    return true;
  refuse(operand.range, what + " expects a bool, found " +
                            typeName(operand.type()) +
                            (operand.type() == ExprType::Int
                                 ? "; write '!= 0' if that is meant"
                                 : ""));
  return false;
}

bool ExprBuilder::expectNumber(StringRef what, const Typed &operand) {
  if (operand.type() != ExprType::Bool)
    return true;
  refuse(operand.range,
         what + " expects a number, found bool; write '... ? 1 : 0' if that is "
                "meant");
  return false;
}

/// Makes a node, folds it, and keeps the tree within bounds.
Typed ExprBuilder::make(const ast::Node &node, Expr expr,
                        ArrayRef<Typed> operands) {
  Typed result;
  result.range = node.range;
  result.size = 1;
  result.depth = 1;
  for (const Typed &operand : operands) {
    if (!operand)
      return {};
    result.size += operand.size;
    result.depth = std::max(result.depth, operand.depth + 1);
    expr.operands.push_back(operand.expr);
  }
  if (result.size > maxSize || result.depth > maxDepth)
    return refuse(node.range,
                  "expression too large after inlining its defs: more than " +
                      (result.size > maxSize ? Twine(maxSize) + " operations"
                                             : Twine(maxDepth) + " levels"));
  std::tie(expr.line, expr.column) = uses.locate(node);
  result.expr = std::make_shared<const Expr>(std::move(expr));
  if (!foldConstant(node, result, operands))
    return {};
  return result;
}

static Expr newExpr(ExprKind kind, ExprType type) {
  Expr expr;
  expr.kind = kind;
  expr.type = type;
  return expr;
}

/// False: integer overflow, reported.
bool ExprBuilder::foldConstant(const ast::Node &node, Typed &result,
                               ArrayRef<Typed> operands) {
  llvm::SmallVector<Constant> constants;
  for (const Typed &operand : operands) {
    if (!operand.constant)
      return true;
    constants.push_back(*operand.constant);
  }
  if (constants.empty())
    return true;
  bool overflow;
  result.constant = fold(result.expr->kind, constants, overflow);
  if (overflow)
    refuse(node.range, "this constant does not fit 64 bits");
  return !overflow;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Typed ExprBuilder::literal(const ast::Node &node) {
  Constant value;
  Expr expr;
  switch (node.kind) {
  case ast::Node::Int:
    if (node.intValue > static_cast<uint64_t>(INT64_MAX))
      return refuse(node.range,
                    "integer too large: at most " + Twine(INT64_MAX));
    expr = newExpr(ExprKind::IntConst, ExprType::Int);
    break;
  case ast::Node::Float:
    expr = newExpr(ExprKind::FloatConst, ExprType::Float);
    break;
  case ast::Node::Bool:
    expr = newExpr(ExprKind::BoolConst, ExprType::Bool);
    break;
  default:
    llvm_unreachable("not a literal");
  }
  value.type = expr.type;
  value.intValue = expr.intValue = static_cast<int64_t>(node.intValue);
  value.floatValue = expr.floatValue = node.floatValue;
  Typed result = make(node, expr, {});
  if (expr.type != ExprType::Bool)
    result.constant = value;
  return result;
}

Typed ExprBuilder::variable(const ast::Node &node, IndexVar index) {
  Expr expr = newExpr(ExprKind::Index,
                      index == IndexVar::S ? ExprType::Float : ExprType::Int);
  expr.index = index;
  return make(node, expr, {});
}

Typed ExprBuilder::param(const ast::Node &node, const Param &param) {
  Expr expr = newExpr(ExprKind::Param, typeOfElements(param.type));
  expr.name = param.name;
  return make(node, expr, {});
}

Typed ExprBuilder::toFloat(const Typed &value) {
  if (!value || value.type() != ExprType::Int)
    return value;
  Expr expr = newExpr(ExprKind::ToFloat, ExprType::Float);
  ast::Node node;
  node.range = value.range;
  node.caret = value.range.Start;
  return make(node, expr, value);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// The first of `wanted` that `expr` uses outside nested reads.
static std::optional<IndexVar> usesAny(const Expr &expr,
                                       ArrayRef<IndexVar> wanted) {
  if (expr.kind == ExprKind::Read)
    return std::nullopt;
  if (expr.kind == ExprKind::Index && llvm::is_contained(wanted, expr.index))
    return expr.index;
  for (const ExprPtr &operand : expr.operands)
    if (std::optional<IndexVar> found = usesAny(*operand, wanted))
      return found;
  return std::nullopt;
}

/// S13: rows of the query block are counted by i, positions by q and k.
bool ExprBuilder::checkIndex(const Tensor &tensor, size_t dim,
                             const Typed &index) {
  if (!index)
    return false;
  if (index.type() != ExprType::Int) {
    refuse(index.range, "index " + Twine(dim + 1) + " of tensor '" +
                            tensor.name + "' expects an int, found " +
                            typeName(index.type()));
    return false;
  }
  DimKind kind = tensor.dims[dim].kind;
  bool isQuery = kind == DimKind::QLen || kind == DimKind::TotalQ;
  bool isKey = kind == DimKind::KLen || kind == DimKind::TotalK;
  std::optional<IndexVar> wrong;
  if (isQuery)
    wrong = usesAny(*index.expr, {IndexVar::Q, IndexVar::K});
  else if (isKey)
    wrong = usesAny(*index.expr, IndexVar::I);
  if (!wrong)
    return true;
  refuse(index.range, "a " + dimName(kind) + " dimension is indexed by " +
                          (isQuery ? "'i', the row of the query block"
                                   : "a position, 'k' or 'q'") +
                          ", found '" + indexName(*wrong) + "'");
  return false;
}

Typed ExprBuilder::read(const ast::Node &node, const Tensor &tensor,
                        ArrayRef<Typed> indices) {
  bool ok = true;
  for (size_t dim = 0; dim < indices.size(); ++dim)
    ok &= checkIndex(tensor, dim, indices[dim]);
  if (!ok)
    return {};
  Expr expr = newExpr(ExprKind::Read, typeOfElements(tensor.type));
  expr.name = tensor.name;
  return make(node, expr, indices);
}

//===----------------------------------------------------------------------===//
// Operators and functions
//===----------------------------------------------------------------------===//

Typed ExprBuilder::unary(const ast::Node &node, const Typed &operand) {
  if (!operand)
    return {};
  std::string what = ("'" + symbol(node.op) + "'").str();
  bool ok = node.op == ExprKind::Not ? expectBool(what, operand)
                                     : expectNumber(what, operand);
  return ok ? make(node, newExpr(node.op, operand.type()), operand) : Typed();
}

/// S14: if one is a float, so becomes the other.
void ExprBuilder::unify(Typed &left, Typed &right) {
  if (left.type() == ExprType::Float)
    right = toFloat(right);
  else if (right.type() == ExprType::Float)
    left = toFloat(left);
}

Typed ExprBuilder::binary(const ast::Node &node, const Typed &left,
                          const Typed &right) {
  if (!left || !right)
    return {};
  switch (node.op) {
  case ExprKind::And:
  case ExprKind::Or: {
    std::string what = ("'" + symbol(node.op) + "'").str();
    bool ok = expectBool(what, left);
    ok &= expectBool(what, right);
    return ok ? make(node, newExpr(node.op, ExprType::Bool), {left, right})
              : Typed();
  }
  case ExprKind::Add:
  case ExprKind::Sub:
  case ExprKind::Mul:
  case ExprKind::Div:
  case ExprKind::Mod:
    return arithmetic(node, left, right);
  default:
    return comparison(node, left, right);
  }
}

Typed ExprBuilder::arithmetic(const ast::Node &node, Typed left, Typed right) {
  std::string what = ("'" + symbol(node.op) + "'").str();
  bool ok = expectNumber(what, left);
  ok &= expectNumber(what, right);
  if (!ok)
    return {};
  unify(left, right);
  if (!left || !right)
    return {};
  if (node.op == ExprKind::Mod && left.type() == ExprType::Float) {
    uses.error(node.caret, node.range, "'%' expects ints, found float");
    return {};
  }
  bool divides = node.op == ExprKind::Div || node.op == ExprKind::Mod;
  if (divides && right.constant && right.constant->intValue == 0 &&
      right.constant->floatValue == 0)
    return refuse(right.range, "division by a constant 0");
  return make(node, newExpr(node.op, left.type()), {left, right});
}

/// S15.
Typed ExprBuilder::comparison(const ast::Node &node, Typed left, Typed right) {
  bool leftBool = left.type() == ExprType::Bool;
  bool rightBool = right.type() == ExprType::Bool;
  if (leftBool != rightBool) {
    uses.error(node.caret, node.range,
               "'" + symbol(node.op) + "' cannot compare " +
                   typeName(left.type()) + " with " + typeName(right.type()));
    return {};
  }
  if (leftBool && node.op != ExprKind::Eq && node.op != ExprKind::Ne) {
    uses.error(node.caret, node.range,
               "'" + symbol(node.op) +
                   "' expects numbers, found bool; bools are compared with "
                   "'==' and '!='");
    return {};
  }
  unify(left, right);
  return make(node, newExpr(node.op, ExprType::Bool), {left, right});
}

Typed ExprBuilder::select(const ast::Node &node, const Typed &condition,
                          Typed ifTrue, Typed ifFalse) {
  if (!condition || !ifTrue || !ifFalse)
    return {};
  if (!expectBool("the condition of '?'", condition))
    return {};
  unify(ifTrue, ifFalse);
  if (!ifTrue || !ifFalse)
    return {};
  if (ifTrue.type() != ifFalse.type()) {
    uses.error(node.caret, node.range,
               "both values of '?' need one type, found " +
                   typeName(ifTrue.type()) + " and " +
                   typeName(ifFalse.type()));
    return {};
  }
  return make(node, newExpr(ExprKind::Select, ifTrue.type()),
              {condition, ifTrue, ifFalse});
}

Typed ExprBuilder::call(const ast::Node &node, const Function &function,
                        ArrayRef<Typed> arguments) {
  llvm::SmallVector<Typed> operands(arguments);
  std::string what = ("'" + function.name + "'").str();
  bool anyFloat = !function.onInts;
  bool ok = true;
  for (const Typed &operand : operands) {
    if (!operand)
      return {};
    ok &= expectNumber(what, operand);
    anyFloat |= operand.type() == ExprType::Float;
  }
  if (!ok)
    return {};
  if (anyFloat)
    for (Typed &operand : operands)
      operand = toFloat(operand);
  return make(
      node, newExpr(function.kind, anyFloat ? ExprType::Float : ExprType::Int),
      operands);
}
