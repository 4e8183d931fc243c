//===- ResolveNames.cpp - Names in expressions ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckNames.h"

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Names in expressions
//===----------------------------------------------------------------------===//

bool NameChecker::fail(const Node &node, const Twine &message) {
  diagnostics.error(node.range, message);
  return false;
}

bool NameChecker::resolve(Node &node, const Scope &scope) {
  bool isName = node.kind == Node::Name || node.kind == Node::Call ||
                node.kind == Node::Read;
  bool ok = !isName || (resolveName(node, scope) && checkUse(node, scope));
  if (!ok)
    node.ref = Ref(); // the inliner passes over it
  for (const NodePtr &operand : node.operands)
    ok &= resolve(*operand, scope);
  return ok;
}

/// S8, S10: what the scope sees, innermost first (S7 leaves no ambiguity).
bool NameChecker::resolveName(Node &node, const Scope &scope) {
  if (scope.def) {
    for (const auto &[position, param] : llvm::enumerate(scope.def->params)) {
      if (param.name != node.name)
        continue;
      node.ref.kind = Ref::Argument;
      node.ref.argument = position;
      return true;
    }
  }
  if (scope.rule && node.name == logitName(*scope.rule)) {
    node.ref.kind = Ref::Logit;
    return true;
  }
  if (std::optional<IndexVar> index = findIndex(node.name)) {
    node.ref.kind = Ref::Index;
    node.ref.index = *index;
    if (scope.rule)
      return resolveInRule(node, scope, *index);
    return fail(node, "def '" + scope.def->name.name +
                          "' sees its arguments only; add '" + node.name +
                          "' to them");
  }
  if (const Function *function = findFunction(node.name)) {
    node.ref.kind = Ref::Function;
    node.ref.function = function;
    return true;
  }
  if (const Declared *declared = find(node.name, scope)) {
    node.ref = declared->ref;
    if (declared->def && scope.def)
      scope.def->callees.push_back({declared->def, &node});
    return true;
  }
  return unknown(node, scope);
}

bool NameChecker::resolveInRule(Node &node, const Scope &scope,
                                IndexVar index) {
  const Rule &rule = *scope.rule;
  if (ruleSees(rule, index))
    return true;
  if (rule.keyword.name == "sink" &&
      (!rule.hasList ||
       (index != IndexVar::B && index != IndexVar::H && index != IndexVar::G)))
    return fail(node, "a sink depends on b, h and g only, not on '" +
                          node.name + "'");
  llvm::SmallVector<StringRef> names;
  for (const Ident &ident : rule.list)
    names.push_back(ident.name);
  names.push_back(node.name);
  return fail(node, "'" + node.name + "' is not in the list of this rule; " +
                        "write '" + rule.keyword.name + " (" +
                        listed(names, ", ") + ") = ...'");
}

bool NameChecker::unknown(const Node &node, const Scope &scope) {
  if (std::optional<StringRef> reserved = reservedAs(node.name))
    return fail(node, "'" + node.name + "' is " + *reserved +
                          " and has no value in an expression");
  std::string mend = didYouMean(node.name, visibleNames(node, scope));
  if (scope.rule && node.name == defaultLogit &&
      !logitName(*scope.rule).empty())
    mend =
        ("; this rule calls the logit '" + logitName(*scope.rule) + "'").str();
  if (mend.empty() && node.name == "not")
    mend = "; write '!'";
  if (mend.empty() && !scope.inBlock)
    mend = "; a def outside attention sees its arguments and other defs";
  if (mend.empty() && findShippedSpec("std") &&
      !llvm::any_of(program.main().imports,
                    [](const Import &i) { return i.path == "std"; }) &&
      findShippedSpec("std")->text.contains(("def " + node.name + "(").str()))
    mend = "; write 'import \"std\"' at the top of the file";
  return fail(node, "unknown name '" + node.name + "'" + mend);
}

/// Candidates for "did you mean".
llvm::SmallVector<StringRef>
NameChecker::visibleNames(const Node &node, const Scope &scope) const {
  llvm::SmallVector<StringRef> names;
  if (scope.def)
    for (const Ident &param : scope.def->params)
      names.push_back(param.name);
  if (scope.rule)
    for (StringRef name : indexNames())
      if (ruleSees(*scope.rule, *findIndex(name)))
        names.push_back(name);
  if (scope.rule && !logitName(*scope.rule).empty())
    names.push_back(logitName(*scope.rule));
  if (scope.inBlock)
    for (const auto &entry : blockNames)
      names.push_back(entry.getKey());
  for (const auto &entry : fileNames)
    if (scope.file->visible.contains(entry.second.file))
      names.push_back(entry.getKey());
  if (node.kind == Node::Call)
    for (const Function &function : functions())
      names.push_back(function.name);
  // StringMap's order is not the file's: equally near names in one fixed order.
  llvm::sort(names);
  return names;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// "slope[h]" of a tensor whose one dimension is called heads, else
/// "slope[..]".
static std::string howToRead(const TensorDecl &tensor) {
  llvm::SmallVector<StringRef> indices;
  for (const Token &dim : tensor.dims) {
    std::optional<DimKind> kind = findDim(dim.text);
    indices.push_back(kind == DimKind::Batch     ? "b"
                      : kind == DimKind::Heads   ? "h"
                      : kind == DimKind::KvHeads ? "g"
                      : kind == DimKind::QLen    ? "i"
                      : kind == DimKind::TotalQ  ? "i"
                      : kind == DimKind::KLen    ? "k"
                      : kind == DimKind::TotalK  ? "k"
                                                 : "...");
  }
  return (tensor.name.name + "[" + listed(indices, ", ") + "]").str();
}

static std::string howToCall(const Def &def) {
  llvm::SmallVector<StringRef> params;
  for (const Ident &param : def.params)
    params.push_back(param.name);
  return (def.name.name + "(" + listed(params, ", ") + ")").str();
}

bool NameChecker::checkUse(Node &node, const Scope &scope) {
  const Ref &ref = node.ref;
  switch (ref.kind) {
  case Ref::Def:
    if (node.kind == Node::Name)
      return checkBareDef(node, scope);
    if (node.kind == Node::Call)
      return checkCall(node);
    return fail(node, "'" + node.name + "' is a def; write '" +
                          howToCall(*ref.def) + "'");
  case Ref::Function:
    if (node.kind == Node::Call)
      return checkCall(node);
    return fail(node, "'" + node.name + "' is a built-in function; write '" +
                          node.name + "(" +
                          (ref.function->arity == 1 ? "x" : "x, y") + ")'");
  case Ref::Tensor:
    if (node.kind == Node::Read)
      return checkRead(node);
    return fail(node, "'" + node.name + "' is a tensor; read it as '" +
                          howToRead(*ref.tensor) + "'");
  default:
    return checkValueUse(node);
  }
}

/// A scalar can be neither called nor indexed.
bool NameChecker::checkValueUse(const Node &node) {
  if (node.kind == Node::Name)
    return true;
  StringRef what = node.ref.kind == Ref::Param      ? "a param"
                   : node.ref.kind == Ref::Argument ? "an argument"
                   : node.ref.kind == Ref::Logit    ? "the logit"
                                                    : "an index variable";
  return fail(node, "'" + node.name + "' is " + what + " and cannot be " +
                        (node.kind == Node::Call ? "called" : "indexed"));
}

bool NameChecker::checkCall(const Node &node) {
  const Def *def = node.ref.def;
  size_t expected = def ? def->params.size() : node.ref.function->arity;
  if (node.operands.size() == expected)
    return true;
  fail(node, "'" + node.name + "' takes " + Twine(expected) +
                 (expected == 1 ? " argument" : " arguments") + ", found " +
                 Twine(node.operands.size()));
  if (def)
    diagnostics.note(def->name.range(),
                     "'" + howToCall(*def) + "' is defined here");
  return false;
}

bool NameChecker::checkRead(const Node &node) {
  const TensorDecl &tensor = *node.ref.tensor;
  if (node.operands.size() == tensor.dims.size())
    return true;
  fail(node, "tensor '" + node.name + "' has " + Twine(tensor.dims.size()) +
                 (tensor.dims.size() == 1 ? " dimension" : " dimensions") +
                 ", found " + Twine(node.operands.size()) +
                 (node.operands.size() == 1 ? " index" : " indices"));
  diagnostics.note(tensor.name.range(), "'" + node.name + "' is declared here");
  return false;
}

/// S9: `causal` for `causal(q, k)`.
bool NameChecker::checkBareDef(const Node &node, const Scope &scope) {
  const Def &def = *node.ref.def;
  if (!scope.rule)
    return fail(node, "a def's arguments can be left out in rules only; write "
                      "'" +
                          howToCall(def) + "'");
  for (const Ident &param : def.params) {
    std::optional<IndexVar> index = findIndex(param.name);
    if (index && ruleSees(*scope.rule, *index))
      continue;
    if (index)
      return fail(node, "'" + node.name + "' stands for '" + howToCall(def) +
                            "', and '" + param.name +
                            "' is not in the list of this rule");
    fail(node, "'" + node.name + "' needs its arguments here: '" + param.name +
                   "' of '" + howToCall(def) + "' is not an index variable");
    diagnostics.note(def.name.range(), "'" + node.name + "' is defined here");
    return false;
  }
  return true;
}
