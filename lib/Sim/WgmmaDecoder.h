//===- WgmmaDecoder.h - The form of a decoded wgmma --------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_WGMMADECODER_H
#define ATTN_LIB_SIM_WGMMADECODER_H

#include "Program.h"
#include "WgmmaTile.h"

namespace attn::sim {

class Builder;

/// What a decoded wgmma.mma_async computes. Its destinations are D; its
/// sources are A (four registers or a descriptor), the descriptor of B and, if
/// it is not constant, the predicate scale-d.
WgmmaForm wgmmaForm(const Inst &inst);

/// Consumes the type of A or B of a matrix multiply.
Element takeElement(Builder &builder);
/// Refuses types that do not go together.
void checkMultiplyTypes(const Builder &builder, Element a, Element b,
                        Accumulator d);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_WGMMADECODER_H
