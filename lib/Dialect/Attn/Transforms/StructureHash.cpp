//===- StructureHash.cpp - Order by structure -----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructureHash.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn::ir;

// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv).
static constexpr uint64_t fnvBasis = 0xcbf29ce484222325,
                          fnvPrime = 0x100000001b3;

void StructureHash::mix(uint64_t &hash, uint64_t word) {
  constexpr unsigned bitsPerByte = 8;
  for (unsigned byte = 0; byte < sizeof(word); ++byte) {
    hash = (hash ^ (word & 0xff)) * fnvPrime;
    word >>= bitsPerByte;
  }
}

void StructureHash::mix(uint64_t &hash, StringRef text) {
  for (char byte : text)
    hash = (hash ^ static_cast<unsigned char>(byte)) * fnvPrime;
}

uint64_t StructureHash::of(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  uint64_t hash = fnvBasis;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    mix(hash, argument.getArgNumber());
  } else {
    Operation *op = value.getDefiningOp();
    mix(hash, op->getName().getStringRef());
    std::string attributes;
    llvm::raw_string_ostream(attributes)
        << op->getAttrDictionary() << value.getType();
    mix(hash, attributes);
    for (Value operand : op->getOperands())
      mix(hash, of(operand));
  }
  return known[value] = hash;
}
