//===- Words.cpp - Reserved words and built-in functions ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"

using namespace attn;
using namespace attn::spec;
using llvm::ArrayRef;
using llvm::StringRef;

static constexpr Function functionTable[] = {
    {"min", ExprKind::Min, 2, true},
    {"max", ExprKind::Max, 2, true},
    {"abs", ExprKind::Abs, 1, true},
    {"exp", ExprKind::Exp, 1, false},
    {"exp2", ExprKind::Exp2, 1, false},
    {"log", ExprKind::Log, 1, false},
    {"log2", ExprKind::Log2, 1, false},
    {"tanh", ExprKind::Tanh, 1, false},
    {"sigmoid", ExprKind::Sigmoid, 1, false},
    {"sqrt", ExprKind::Sqrt, 1, false},
};

static constexpr StringRef statementTable[] = {
    "dtype", "kv_dtype", "out",  "heads", "head_dim", "scale",
    "align", "batch",    "kv",   "split", "outputs",  "schedule",
    "mask",  "score",    "sink", "param", "tensor",   "def"};
static constexpr size_t fieldCount = 12;

static constexpr StringRef otherWords[] = {"import", "attention", "monotone",
                                           "true",   "false",     "inf",
                                           "auto",   "unbounded"};

static constexpr StringRef indexTable[] = {"b", "h", "g",     "i",
                                           "q", "k", "q_len", "k_len"};
static constexpr IndexVar indexOrder[] = {
    IndexVar::B, IndexVar::H, IndexVar::G,    IndexVar::I,
    IndexVar::Q, IndexVar::K, IndexVar::QLen, IndexVar::KLen};

static constexpr StringRef dimTable[] = {
    "batch", "heads", "kv_heads", "q_len", "k_len", "total_q", "total_k"};
static constexpr DimKind dimOrder[] = {
    DimKind::Batch, DimKind::Heads,  DimKind::KvHeads, DimKind::QLen,
    DimKind::KLen,  DimKind::TotalQ, DimKind::TotalK};

/// The value beside `key` in two tables of the same length.
template <typename Key, typename Value>
static std::optional<Value> lookUp(const Key &key, ArrayRef<Key> keys,
                                   ArrayRef<Value> values) {
  const Key *at = llvm::find(keys, key);
  if (at == keys.end())
    return std::nullopt;
  return values[at - keys.begin()];
}

ArrayRef<Function> attn::spec::functions() { return functionTable; }

const Function *attn::spec::findFunction(StringRef name) {
  for (const Function &function : functionTable)
    if (function.name == name)
      return &function;
  return nullptr;
}

ArrayRef<StringRef> attn::spec::fieldNames() {
  return statementNames().take_front(fieldCount);
}
bool attn::spec::isField(StringRef name) {
  return llvm::is_contained(fieldNames(), name);
}

ArrayRef<StringRef> attn::spec::statementNames() { return statementTable; }
bool attn::spec::isStatement(StringRef name) {
  return llvm::is_contained(statementTable, name);
}

ArrayRef<StringRef> attn::spec::indexNames() { return indexTable; }
std::optional<IndexVar> attn::spec::findIndex(StringRef name) {
  return lookUp<StringRef, IndexVar>(name, indexTable, indexOrder);
}
StringRef attn::spec::indexName(IndexVar index) {
  return *lookUp<IndexVar, StringRef>(index, indexOrder, indexTable);
}

ArrayRef<StringRef> attn::spec::dimNames() { return dimTable; }
std::optional<DimKind> attn::spec::findDim(StringRef name) {
  return lookUp<StringRef, DimKind>(name, dimTable, dimOrder);
}
StringRef attn::spec::dimName(DimKind kind) {
  return *lookUp<DimKind, StringRef>(kind, dimOrder, dimTable);
}

std::optional<StringRef> attn::spec::reservedAs(StringRef name) {
  if (findIndex(name))
    return StringRef("an index variable");
  if (findDim(name))
    return StringRef("a dimension name");
  if (findFunction(name))
    return StringRef("a built-in function");
  if (isStatement(name))
    return StringRef("a field keyword");
  if (llvm::is_contained(otherWords, name))
    return StringRef("a reserved word");
  return std::nullopt;
}

StringRef attn::spec::typeName(DType type) { return spelling(type); }

std::optional<DType> attn::spec::findType(StringRef name,
                                          ArrayRef<DType> allowed) {
  for (DType type : allowed)
    if (typeName(type) == name)
      return type;
  return std::nullopt;
}

std::string attn::spec::listedTypes(ArrayRef<DType> types) {
  llvm::SmallVector<StringRef> names;
  for (DType type : types)
    names.push_back(typeName(type));
  return listed(names);
}
