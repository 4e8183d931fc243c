//===- ParallelFor.h - Independent pieces on several threads ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_PARALLELFOR_H
#define ATTN_LIB_REFERENCE_PARALLELFOR_H

#include <cstdint>
#include <functional>

namespace attn::detail {

/// The number of threads that parallelFor uses for `pieces`; `threads` 0 means
/// all cores.
int threadsFor(int64_t pieces, int threads);

/// Calls body(piece, thread) for every piece, handed out in order to whichever
/// thread is free; thread < threadsFor(pieces, threads). The first exception
/// stops the handing out and is thrown again here.
void parallelFor(int64_t pieces, int threads,
                 const std::function<void(int64_t, int)> &body);

} // namespace attn::detail

#endif // ATTN_LIB_REFERENCE_PARALLELFOR_H
