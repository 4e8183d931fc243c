//===- OracleWorker.h - The rows of one piece of the oracle -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_ORACLEWORKER_H
#define ATTN_LIB_REFERENCE_ORACLEWORKER_H

#include "attn/Reference/Oracle.h"

namespace attn::detail {

/// Rows of one kv head that share the conversion, and the number of pairs a
/// piece holds at most, which bounds its memory.
constexpr int64_t maxPieceRows = 16, maxPiecePairs = int64_t(1) << 21;

/// Rows of one batch entry and kv head: a range of the sorted row list.
struct OraclePiece {
  size_t begin, end;
};

/// Factors that belong to an 8-bit K or V: f32[kv_heads] or [batch, kv_heads].
/// 1 where the launch binds no tensor of that name.
class HeadScale {
public:
  HeadScale(const Launch &launch, const char *name);
  double at(int64_t b, int64_t g) const;

private:
  const HostTensor *tensor = nullptr;
};

/// Roundings of P that a reference of so many rows is judged by.
size_t twinCount(size_t rows);

/// What all threads share.
struct OracleContext {
  const Launch &launch;
  const Problem &problem;
  const std::vector<RowId> &rows;
  const std::vector<size_t> &order; ///< rows sorted by batch entry and kv head
  Reference &reference;
  double scale;
  HeadScale kScale, vScale;
  size_t twins;
  std::optional<Rule> mask, score, sink;
};

/// One thread: computes pieces, one after the other.
class OracleWorker {
public:
  explicit OracleWorker(const OracleContext &context);
  void compute(const OraclePiece &piece);
  void mergeFaults(Reference &reference) const;

private:
  /// One row of the piece.
  struct Row {
    size_t number; ///< in the reference
    RowPosition at;
    std::vector<double> q;
    /// Of exp(s - max) and the sink: exact, and as the plain twin has it.
    double sum = 0, plainSum = 0;
    std::vector<double> o;
    std::vector<double> twin; ///< context.twins x headDimV
  };

  void start(const OraclePiece &piece);
  void findVisible();
  void computeLogits();
  void applyScores();
  void softmax(size_t r);
  void accumulate();
  void finish(Row &row);
  void loadTile(const RowView &view, int64_t first, int64_t count, int64_t dim,
                double factor);
  bool anyVisible(int64_t first, int64_t count) const;
  RowFacts &facts(const Row &row) const {
    return context.reference.facts[row.number];
  }

  const OracleContext &context;
  const Problem &problem;
  std::optional<RuleRunner> mask, score, sink;
  std::vector<Row> rows;
  int64_t b = 0, g = 0, kLen = 0;
  Sequence sequence;
  std::vector<double> logits;   ///< rows x kLen; then P
  std::vector<double> twinP;    ///< rows x kLen x twins
  std::vector<uint8_t> visible; ///< rows x kLen
  std::vector<double> tile;     ///< tileKeys x dim
};

} // namespace attn::detail

#endif // ATTN_LIB_REFERENCE_ORACLEWORKER_H
