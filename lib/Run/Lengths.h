//===- Lengths.h - Lengths of the sequences of a batch ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From --batch, --q-len, --k-len, --q-lens and --k-lens to sequences, and to
// the arrays that a kernel reads them from. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_LENGTHS_H
#define ATTN_TOOLS_RUN_LENGTHS_H

#include "attn/Reference/Evaluate.h"
#include "attn/Reference/Problem.h"

#include <optional>
#include <string>
#include <vector>

namespace attn::run {

/// Where the keys of a `batch varlen` lie.
enum class KvPacking {
  Packed, ///< one sequence behind the other (cu_seqlens_k)
  Gaps,   ///< so, with unused rows between them (cu_seqlens_k and k_lens)
  Batch   ///< each in a batch entry of its own (k_lens)
};

struct LengthOptions {
  std::optional<int64_t> batch, qLen, kLen; ///< unset: from a file, or default
  std::vector<int64_t> qLens, kLens;        ///< empty: all the same
  KvPacking packing = KvPacking::Packed;
};

/// The sequences of a batch.
struct Lengths {
  BatchKind kind = BatchKind::Dense;
  KvPacking packing = KvPacking::Packed;
  int64_t batch = 0;
  /// Empty where the batch is dense, which may have very many entries.
  std::vector<Sequence> sequences;
  /// Of the longest; of all where the batch is dense.
  int64_t qLen = 0, kLen = 0;
  /// Rows of packed tensors; 0 where they are not packed.
  int64_t totalQ = 0, totalK = 0;

  bool packsQ() const { return kind == BatchKind::Varlen; }
  bool packsK() const { return packsQ() && packing != KvPacking::Batch; }
  bool hasKLens() const {
    return kind == BatchKind::Padded ||
           (packsQ() && packing != KvPacking::Packed);
  }
  std::vector<Sequence> all() const;
  /// "batch 2, q_len 512, k_len 512", or with the lengths of each.
  std::string text() const;
};

/// Throws InputError.
Lengths makeLengths(BatchKind kind, const LengthOptions &options);

/// "1,0,513" as lengths. Throws InputError.
std::vector<int64_t> parseLengths(const std::string &option,
                                  const std::string &text);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_LENGTHS_H
