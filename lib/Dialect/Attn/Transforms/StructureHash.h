//===- StructureHash.h - Order by structure ---------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_STRUCTUREHASH_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_STRUCTUREHASH_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace attn::ir {

/// A number for the structure of a value: independent of names, addresses and
/// the order of the code. Only sorts; equal numbers prove nothing.
class StructureHash {
public:
  uint64_t of(mlir::Value value);

private:
  static void mix(uint64_t &hash, uint64_t word);
  static void mix(uint64_t &hash, llvm::StringRef text);

  llvm::DenseMap<mlir::Value, uint64_t> known;
};

} // namespace attn::ir

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_STRUCTUREHASH_H
