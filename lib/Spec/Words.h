//===- Words.h - Reserved words and built-in functions ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_WORDS_H
#define ATTN_SPEC_WORDS_H

#include "attn/Reference/Problem.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace attn::spec {

/// A function of the language, all of whose arguments have one type.
struct Function {
  llvm::StringLiteral name;
  ExprKind kind;
  unsigned arity;
  bool onInts; ///< also int -> int; else float only
};

llvm::ArrayRef<Function> functions();
const Function *findFunction(llvm::StringRef name);

/// The fields of a block, without mask, score and sink.
llvm::ArrayRef<llvm::StringRef> fieldNames();
bool isField(llvm::StringRef name);

/// What may start a line of a block: fields, rules, def, param, tensor.
llvm::ArrayRef<llvm::StringRef> statementNames();
bool isStatement(llvm::StringRef name);

/// The index variables b h g i q k q_len k_len; not the logit, which the rule
/// names.
llvm::ArrayRef<llvm::StringRef> indexNames();
std::optional<IndexVar> findIndex(llvm::StringRef name);
llvm::StringRef indexName(IndexVar index);

llvm::ArrayRef<llvm::StringRef> dimNames();
std::optional<DimKind> findDim(llvm::StringRef name);
llvm::StringRef dimName(DimKind kind);

/// Why `name` cannot name a param, tensor, def or block: "an index variable",
/// "a field", ...; nothing if it can.
std::optional<llvm::StringRef> reservedAs(llvm::StringRef name);

/// The element type called `name`, among `allowed`.
std::optional<DType> findType(llvm::StringRef name,
                              llvm::ArrayRef<DType> allowed);
llvm::StringRef typeName(DType type);
/// "bf16, f16 or f32".
std::string listedTypes(llvm::ArrayRef<DType> types);

} // namespace attn::spec

#endif // ATTN_SPEC_WORDS_H
