//===- Inliner.cpp - From rules as written to typed trees -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inliner.h"

#include "llvm/ADT/ScopeExit.h"

using namespace attn;
using namespace attn::spec;
using llvm::ArrayRef;

ExprPtr Inliner::inlineRule(const ast::Rule &rule) {
  steps = 0;
  Typed value = expand(*rule.body, {});
  if (!value)
    return nullptr;
  bool isMask = rule.keyword.name == "mask";
  if (!isMask)
    value = builder.toFloat(value);
  if (!value || value.type() == (isMask ? ExprType::Bool : ExprType::Float))
    return value.expr;
  uses.error(rule.body->range.Start, rule.body->range,
             "'" + rule.keyword.name + "' expects a " +
                 (isMask ? "bool" : "float") + ", found " +
                 typeName(value.type()));
  return nullptr;
}

Typed Inliner::tooLarge(const ast::Node &node) {
  // Every step above this one fails at once and says nothing.
  steps = ExprBuilder::maxSize + 1;
  uses.error(node.caret, node.range,
             "expression too large after inlining its defs: more than " +
                 (depth > ExprBuilder::maxDepth
                      ? llvm::Twine(ExprBuilder::maxDepth) + " levels"
                      : llvm::Twine(ExprBuilder::maxSize) + " operations"));
  return {};
}

Typed Inliner::expand(const ast::Node &node, ArrayRef<Typed> arguments) {
  llvm::scope_exit leave([&] { --depth; });
  ++depth;
  // Counted here as well as in the tree: defs that call each other in pairs
  // take exponential time before they make a large tree.
  if (steps > ExprBuilder::maxSize)
    return {};
  if (++steps > ExprBuilder::maxSize || depth > ExprBuilder::maxDepth)
    return tooLarge(node);
  if (node.kind == ast::Node::Int || node.kind == ast::Node::Float ||
      node.kind == ast::Node::Bool)
    return builder.literal(node);
  if (node.kind == ast::Node::Name)
    return expandName(node, arguments);
  llvm::SmallVector<Typed> operands;
  for (const ast::NodePtr &operand : node.operands)
    operands.push_back(expand(*operand, arguments));
  return expandOperation(node, operands);
}

Typed Inliner::expandName(const ast::Node &node, ArrayRef<Typed> arguments) {
  const ast::Ref &ref = node.ref;
  switch (ref.kind) {
  case ast::Ref::Argument: {
    Typed value = arguments[ref.argument];
    value.range = node.range;
    return value;
  }
  case ast::Ref::Index:
    return builder.variable(node, ref.index);
  case ast::Ref::Logit:
    return builder.variable(node, IndexVar::S);
  case ast::Ref::Param: {
    used.insert(ref.param);
    const Param *param = params.lookup(ref.param);
    return param ? builder.param(node, *param) : Typed();
  }
  case ast::Ref::Def:
    return expandBareDef(node);
  default:
    // Unresolved: reported by NameChecker.
    return {};
  }
}

Typed Inliner::expandOperation(const ast::Node &node,
                               ArrayRef<Typed> operands) {
  switch (node.kind) {
  case ast::Node::Unary:
    return builder.unary(node, operands[0]);
  case ast::Node::Binary:
    return builder.binary(node, operands[0], operands[1]);
  case ast::Node::Select:
    return builder.select(node, operands[0], operands[1], operands[2]);
  case ast::Node::Read: {
    if (node.ref.kind != ast::Ref::Tensor)
      return {};
    used.insert(node.ref.tensor);
    const Tensor *tensor = tensors.lookup(node.ref.tensor);
    return tensor ? builder.read(node, *tensor, operands) : Typed();
  }
  default:
    if (node.ref.kind == ast::Ref::Function)
      return builder.call(node, *node.ref.function, operands);
    if (node.ref.kind == ast::Ref::Def)
      return expandDef(node, *node.ref.def, operands);
    return {};
  }
}

Typed Inliner::expandDef(const ast::Node &node, const ast::Def &def,
                         ArrayRef<Typed> arguments) {
  if (def.broken || llvm::any_of(arguments, [](const Typed &a) { return !a; }))
    return {};
  uses.push(node);
  Typed value = expand(*def.body, arguments);
  uses.pop();
  value.range = node.range;
  return value;
}

/// S9: `causal` for `causal(q, k)`, wherever a bool is.
Typed Inliner::expandBareDef(const ast::Node &node) {
  const ast::Def &def = *node.ref.def;
  llvm::SmallVector<Typed> arguments;
  for (const ast::Ident &param : def.params) {
    std::optional<IndexVar> index = findIndex(param.name);
    if (!index)
      return {};
    arguments.push_back(builder.variable(node, *index));
  }
  Typed value = expandDef(node, def, arguments);
  if (!value || value.type() == ExprType::Bool)
    return value;
  uses.error(node.caret, node.range,
             "a def without its arguments stands for a bool, and '" +
                 node.name + "' is " + typeName(value.type()) +
                 "; write its arguments");
  return {};
}
