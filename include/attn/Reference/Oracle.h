//===- Oracle.h - Attention in double precision, the slow way ----*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of o and lse from the stored inputs, by rules C1-C8 of docs/Numerics.md:
// for each visible key s = scale * q.k, then the score rule; softmax over all
// keys at once (no tiles, no running max); the sink once in the denominator.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_ORACLE_H
#define ATTN_REFERENCE_ORACLE_H

#include "attn/Reference/Evaluate.h"
#include "attn/Reference/Problem.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace attn {

/// Rows of Q, K, V or O in host memory; not owned. Element (b, h, s, d) is at
/// data[b * strideB + h * strideH + s * strideS + d], strides in elements, any
/// value (0 broadcasts). Of packed (varlen) tensors strideB is 0 and the
/// sequence's start is added to s.
struct RowView {
  const void *data = nullptr;
  DType type = DType::BF16;
  int64_t strideB = 0, strideH = 0, strideS = 0;
};

/// One launch: the problem, its lengths, its inputs. Scales of an 8-bit K and V
/// are the bound tensors k_scale and v_scale (f32[kv_heads] or [batch,
/// kv_heads]).
struct Launch {
  const Problem *problem = nullptr;
  std::vector<Sequence> sequences; ///< one per batch entry
  RowView q, k, v;                 ///< heads of k and v are kv heads
  Bindings bindings;
};

/// A row of the output: row i of head h of batch entry b.
struct RowId {
  int64_t b = 0, h = 0, i = 0;
};
inline bool operator==(const RowId &x, const RowId &y) {
  return x.b == y.b && x.h == y.h && x.i == y.i;
}
inline bool operator<(const RowId &x, const RowId &y) {
  return x.b != y.b ? x.b < y.b : x.h != y.h ? x.h < y.h : x.i < y.i;
}

/// What the oracle knows of one row besides its headDimV values of o.
struct RowFacts {
  double lse = 0;
  int64_t visible = 0;    ///< keys of weight above 0 before rounding
  double maxAbsV = 0;     ///< over the visible keys
  double maxAbsLogit = 0; ///< over the visible keys (C13)
  /// Largest |error| of the plain twin: the same row with P = exp(s - max)
  /// rounded once to the spec's dtype, and the result to the output type.
  double plainError = 0;
  bool nan = false; ///< a logit was NaN or +inf, or V or the sink is not finite
};

/// The rows asked for, in that order.
struct Reference {
  std::vector<RowId> rows;
  std::vector<RowFacts> facts;
  std::vector<double> o;                           ///< rows.size() x headDimV
  std::optional<Fault> outOfRange, divisionByZero; ///< the first of each
};

/// Absolute position of row i (C3).
int64_t absolutePosition(const Problem &problem, const Sequence &sequence,
                         int64_t i);

/// The factor applied to q . k at this launch: static, or the bound param.
double launchScale(const Launch &launch);

/// Computes rows on `threads` threads (0: all cores). Throws
/// std::runtime_error on names that are not bound and on rows out of range.
Reference computeReference(const Launch &launch, const std::vector<RowId> &rows,
                           int threads = 0);

} // namespace attn

#endif // ATTN_REFERENCE_ORACLE_H
