//===- Atomics.h - Read-modify-write operations ------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_ATOMICS_H
#define ATTN_LIB_SIM_ATOMICS_H

#include "Types.h"

namespace attn::sim {

enum AtomicOp : uint8_t { Add, Min, Max, And, Or, Xor, Exch, Cas, Inc, Dec };

/// Applies `op` to each of the elements of `bytes` bytes at `host`, as an
/// atomic of its own. f16 and bf16 know add, min and max; f32 and f64 add.
void reduceElements(AtomicOp op, Type type, uint8_t *host,
                    const uint8_t *values, uint32_t bytes);

/// Whether reduceElements knows the operation (PTX ISA, cp.reduce.async.bulk).
bool canReduce(AtomicOp op, Type type);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_ATOMICS_H
