//===- OracleWorker.cpp - The rows of one piece of the oracle ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OracleWorker.h"
#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace attn::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// A logit at or below this counts as -inf (docs/Numerics.md, C2).
constexpr double hiddenLogit = -1e30;

/// Keys whose K or V rows are converted to double at a time: they stay in the
/// second-level cache for all rows of a piece.
constexpr int64_t tileKeys = 64;

double dot(const double *a, const double *b, int64_t count) {
  // Several partial sums, so that the loop vectorizes without reassociation.
  constexpr int64_t width = 8;
  double partial[width] = {};
  int64_t d = 0;
  for (; d + width <= count; d += width)
    for (int64_t lane = 0; lane < width; ++lane)
      partial[lane] += a[d + lane] * b[d + lane];
  double sum = 0;
  for (; d < count; ++d)
    sum += a[d] * b[d];
  for (double lane : partial)
    sum += lane;
  return sum;
}

void addScaled(double *sum, double factor, const double *row, int64_t count) {
  for (int64_t d = 0; d < count; ++d)
    sum[d] += factor * row[d];
}

/// A plain implementation may round P under any factor common to a row (its
/// running maximum decides). With few rows one such rounding can be lucky, so
/// the worst of these factors, 2^0 to 2^(-3/4), is taken; with many rows the
/// first alone is.
constexpr double twinFactors[] = {1.0, 0.8408964152537145, 0.7071067811865476,
                                  0.5946035575013605};
constexpr size_t fewRows = 64;

std::optional<RuleRunner> makeRunner(const std::optional<Rule> &rule) {
  if (!rule)
    return std::nullopt;
  return RuleRunner(*rule);
}

} // namespace

HeadScale::HeadScale(const Launch &launch, const char *name) {
  DType type = launch.problem->kvDtype;
  auto bound = launch.bindings.tensors.find(name);
  if ((type != DType::E4M3 && type != DType::E5M2) ||
      bound == launch.bindings.tensors.end())
    return;
  tensor = &bound->second;
  size_t rank = tensor->dims.size();
  auto batch = int64_t(launch.sequences.size());
  if (rank < 1 || rank > 2 || tensor->dims.back() != launch.problem->kvHeads ||
      (rank == 2 && tensor->dims[0] != batch))
    throw std::runtime_error(std::string(name) +
                             ": expected extents [kv_heads] or [batch, "
                             "kv_heads]");
}

double HeadScale::at(int64_t b, int64_t g) const {
  if (!tensor)
    return 1;
  int64_t index = tensor->dims.size() == 2 ? b * tensor->dims[1] + g : g;
  return loadElement(tensor->type, tensor->data, index);
}

size_t twinCount(size_t rows) {
  return rows <= fewRows ? std::size(twinFactors) : 1;
}

OracleWorker::OracleWorker(const OracleContext &context)
    : context(context), problem(context.problem),
      mask(makeRunner(context.mask)), score(makeRunner(context.score)),
      sink(makeRunner(context.sink)) {}

void OracleWorker::start(const OraclePiece &piece) {
  const Launch &launch = context.launch;
  int64_t group = problem.heads / problem.kvHeads;
  rows.clear();
  for (size_t at = piece.begin; at < piece.end; ++at) {
    const RowId &id = context.rows[context.order[at]];
    b = id.b;
    g = id.h / group;
    sequence = launch.sequences[b];
    Row row;
    row.number = context.order[at];
    row.at = {b,       id.h, g, id.i, absolutePosition(problem, sequence, id.i),
              sequence};
    row.q.resize(problem.headDimQK);
    int64_t offset = id.b * launch.q.strideB + id.h * launch.q.strideH +
                     (sequence.qStart + id.i) * launch.q.strideS;
    loadElements(launch.q.type, launch.q.data, offset, problem.headDimQK,
                 row.q.data());
    row.o.assign(problem.headDimV, 0);
    row.twin.assign(problem.headDimV * context.twins, 0);
    rows.push_back(std::move(row));
  }
  kLen = sequence.kLen;
  logits.assign(rows.size() * kLen, -infinity);
  twinP.resize(rows.size() * kLen * context.twins);
  visible.assign(rows.size() * kLen, 1);
}

void OracleWorker::findVisible() {
  if (!mask)
    return;
  for (size_t r = 0; r < rows.size(); ++r)
    mask->evaluateBool(rows[r].at, 0, kLen, nullptr, visible.data() + r * kLen);
}

bool OracleWorker::anyVisible(int64_t first, int64_t count) const {
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t j = 0; j < count; ++j)
      if (visible[r * kLen + first + j])
        return true;
  return false;
}

void OracleWorker::loadTile(const RowView &view, int64_t first, int64_t count,
                            int64_t dim, double factor) {
  tile.resize(tileKeys * dim);
  for (int64_t j = 0; j < count; ++j) {
    int64_t offset = b * view.strideB + g * view.strideH +
                     (sequence.kStart + first + j) * view.strideS;
    loadElements(view.type, view.data, offset, dim, &tile[j * dim]);
  }
  if (factor != 1)
    for (double &value : tile)
      value *= factor;
}

void OracleWorker::computeLogits() {
  int64_t dim = problem.headDimQK;
  for (int64_t first = 0; first < kLen; first += tileKeys) {
    int64_t count = std::min(tileKeys, kLen - first);
    if (!anyVisible(first, count))
      continue;
    loadTile(context.launch.k, first, count, dim, context.kScale.at(b, g));
    for (size_t r = 0; r < rows.size(); ++r)
      for (int64_t j = 0; j < count; ++j) {
        size_t pair = r * kLen + first + j;
        // The K row of a masked pair may hold anything (C8): it is not read.
        if (visible[pair])
          logits[pair] =
              context.scale * dot(rows[r].q.data(), &tile[j * dim], dim);
      }
  }
}

void OracleWorker::applyScores() {
  if (!score)
    return;
  for (size_t r = 0; r < rows.size(); ++r) {
    double *row = logits.data() + r * kLen;
    score->evaluateFloat(rows[r].at, 0, kLen, row, visible.data() + r * kLen,
                         row);
  }
}

void OracleWorker::softmax(size_t r) {
  Row &row = rows[r];
  RowFacts &fact = facts(row);
  double *p = logits.data() + r * kLen;
  uint8_t *seen = visible.data() + r * kLen;
  double max = -infinity;
  for (int64_t k = 0; k < kLen; ++k) {
    if (!seen[k])
      continue;
    if (std::isnan(p[k]) || p[k] == infinity)
      fact.nan = true;
    if (p[k] <= hiddenLogit) {
      seen[k] = 0;
      continue;
    }
    ++fact.visible;
    max = std::max(max, p[k]);
    fact.maxAbsLogit = std::max(fact.maxAbsLogit, std::fabs(p[k]));
  }
  double sinkLogit = sink ? sink->evaluateAt(row.at, -1) : -infinity;
  if (std::isnan(sinkLogit) || sinkLogit == infinity)
    fact.nan = true;
  if (sinkLogit <= hiddenLogit)
    sinkLogit = -infinity;
  else
    fact.maxAbsLogit = std::max(fact.maxAbsLogit, std::fabs(sinkLogit));
  if (fact.nan)
    return;
  if (fact.visible == 0) {
    fact.lse = sinkLogit;
    return;
  }
  // A plain implementation holds logits in f32.
  double plainMax = float(max);
  double sum = 0, plainSum = 0;
  for (int64_t k = 0; k < kLen; ++k) {
    if (!seen[k])
      continue;
    double plain = std::exp(float(p[k]) - plainMax);
    plainSum += plain; // of P before it is rounded
    for (size_t t = 0; t < context.twins; ++t)
      twinP[(r * kLen + k) * context.twins + t] =
          roundTo(problem.dtype, plain * twinFactors[t]) / twinFactors[t];
    p[k] = std::exp(p[k] - max);
    sum += p[k];
  }
  fact.lse = sinkLogit > max
                 ? sinkLogit + std::log1p(sum * std::exp(max - sinkLogit))
                 : max + std::log(sum + std::exp(sinkLogit - max));
  row.sum = sum + std::exp(sinkLogit - max);
  row.plainSum = plainSum + std::exp(sinkLogit - plainMax);
}

void OracleWorker::accumulate() {
  int64_t dim = problem.headDimV;
  std::vector<double> maxAbs(tileKeys);
  for (int64_t first = 0; first < kLen; first += tileKeys) {
    int64_t count = std::min(tileKeys, kLen - first);
    if (!anyVisible(first, count))
      continue;
    loadTile(context.launch.v, first, count, dim, context.vScale.at(b, g));
    for (int64_t j = 0; j < count; ++j) {
      double largest = 0;
      for (int64_t d = 0; d < dim; ++d) {
        double magnitude = std::fabs(tile[j * dim + d]);
        largest = largest >= magnitude ? largest : magnitude; // keeps a NaN
      }
      maxAbs[j] = largest;
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      Row &row = rows[r];
      RowFacts &fact = facts(row);
      if (fact.nan)
        continue;
      for (int64_t j = 0; j < count; ++j) {
        size_t pair = r * kLen + first + j;
        if (!visible[pair])
          continue;
        if (!(maxAbs[j] <= fact.maxAbsV))
          fact.maxAbsV = maxAbs[j];
        const double *v = &tile[j * dim];
        addScaled(row.o.data(), logits[pair], v, dim);
        for (size_t t = 0; t < context.twins; ++t)
          addScaled(&row.twin[t * dim], twinP[pair * context.twins + t], v,
                    dim);
      }
    }
  }
}

void OracleWorker::finish(Row &row) {
  RowFacts &fact = facts(row);
  int64_t dim = problem.headDimV;
  double *out = &context.reference.o[row.number * dim];
  if (fact.nan) {
    fact.lse = notANumber;
    std::fill_n(out, dim, notANumber);
    return;
  }
  if (fact.visible == 0) { // C5: exactly zero
    std::fill_n(out, dim, 0.0);
    return;
  }
  fact.nan = !std::isfinite(fact.maxAbsV);
  for (int64_t d = 0; d < dim; ++d) {
    out[d] = row.o[d] / row.sum;
    for (size_t t = 0; t < context.twins; ++t) {
      double plain = roundTo(problem.out, row.twin[t * dim + d] / row.plainSum);
      double error = std::fabs(plain - out[d]);
      if (std::isfinite(error))
        fact.plainError = std::max(fact.plainError, error);
    }
  }
}

void OracleWorker::compute(const OraclePiece &piece) {
  start(piece);
  findVisible();
  computeLogits();
  applyScores();
  for (size_t r = 0; r < rows.size(); ++r)
    softmax(r);
  accumulate();
  for (Row &row : rows)
    finish(row);
}

void OracleWorker::mergeFaults(Reference &reference) const {
  auto merge = [](std::optional<Fault> &first,
                  const std::optional<Fault> &other) {
    if (other && (!first || *other < *first))
      first = other;
  };
  for (const std::optional<RuleRunner> *runner : {&mask, &score, &sink})
    if (*runner) {
      merge(reference.outOfRange, (*runner)->outOfRange());
      merge(reference.divisionByZero, (*runner)->divisionByZero());
    }
}

} // namespace attn::detail
