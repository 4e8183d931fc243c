//===- Oracle.cpp - Attention in double precision, the slow way -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Oracle.h"
#include "OracleWorker.h"
#include "ParallelFor.h"
#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace attn {

using detail::OracleContext;
using detail::OraclePiece;
using detail::OracleWorker;

namespace {

std::optional<Rule> compileRule(const ExprPtr &expr, const Launch &launch) {
  if (!expr)
    return std::nullopt;
  return Rule(expr, *launch.problem, launch.bindings);
}

void checkRows(const Launch &launch, const std::vector<RowId> &rows) {
  auto batch = int64_t(launch.sequences.size());
  for (const RowId &row : rows)
    if (row.b < 0 || row.b >= batch || row.h < 0 ||
        row.h >= launch.problem->heads || row.i < 0 ||
        row.i >= launch.sequences[row.b].qLen)
      throw std::runtime_error("row b = " + std::to_string(row.b) +
                               ", h = " + std::to_string(row.h) +
                               ", i = " + std::to_string(row.i) +
                               " is not a row of this launch");
}

std::vector<OraclePiece> makePieces(const Launch &launch,
                                    const std::vector<RowId> &rows,
                                    const std::vector<size_t> &order) {
  int64_t group = launch.problem->heads / launch.problem->kvHeads;
  auto samePiece = [&](size_t x, size_t y) {
    const RowId &first = rows[order[x]], &second = rows[order[y]];
    return first.b == second.b && first.h / group == second.h / group;
  };
  std::vector<OraclePiece> pieces;
  for (size_t begin = 0; begin < order.size();) {
    int64_t kLen = launch.sequences[rows[order[begin]].b].kLen;
    int64_t most =
        std::clamp<int64_t>(detail::maxPiecePairs / std::max<int64_t>(kLen, 1),
                            1, detail::maxPieceRows);
    size_t end = begin + 1;
    while (end < order.size() && int64_t(end - begin) < most &&
           samePiece(begin, end))
      ++end;
    pieces.push_back({begin, end});
    begin = end;
  }
  return pieces;
}

} // namespace

int64_t absolutePosition(const Problem &problem, const Sequence &sequence,
                         int64_t i) {
  return problem.align == Alignment::TopLeft
             ? i
             : i + (sequence.kLen - sequence.qLen);
}

double launchScale(const Launch &launch) {
  const Problem &problem = *launch.problem;
  if (std::optional<double> known = problem.staticScale())
    return *known;
  double value = 0;
  bool found = false;
  for (const Param &param : problem.params)
    if (param.name == problem.scaleParam) {
      value = param.type == DType::F32 ? param.floatDefault
                                       : double(param.intDefault);
      found = true;
    }
  auto bound = launch.bindings.params.find(problem.scaleParam);
  if (bound != launch.bindings.params.end())
    value =
        std::visit([](auto scalar) { return double(scalar); }, bound->second);
  value = float(value);
  if (!found || !(value > 0) || !std::isfinite(value))
    throw std::runtime_error("scale: expected a param above 0, found '" +
                             problem.scaleParam + "' = " + spellNumber(value));
  return value;
}

Reference computeReference(const Launch &launch, const std::vector<RowId> &rows,
                           int threads) {
  checkRows(launch, rows);
  const Problem &problem = *launch.problem;
  Reference reference;
  reference.rows = rows;
  reference.facts.resize(rows.size());
  reference.o.resize(rows.size() * problem.headDimV);

  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(),
            [&](size_t x, size_t y) { return rows[x] < rows[y]; });
  std::vector<OraclePiece> pieces = makePieces(launch, rows, order);

  OracleContext context{launch,
                        problem,
                        rows,
                        order,
                        reference,
                        launchScale(launch),
                        detail::HeadScale(launch, "k_scale"),
                        detail::HeadScale(launch, "v_scale"),
                        detail::twinCount(rows.size()),
                        compileRule(problem.mask, launch),
                        compileRule(problem.score, launch),
                        compileRule(problem.sink, launch)};
  auto count = int64_t(pieces.size());
  std::vector<OracleWorker> workers;
  for (int thread = 0; thread < detail::threadsFor(count, threads); ++thread)
    workers.emplace_back(context);
  detail::parallelFor(count, threads, [&](int64_t piece, int thread) {
    workers[thread].compute(pieces[piece]);
  });
  for (const OracleWorker &worker : workers)
    worker.mergeFaults(reference);
  return reference;
}

} // namespace attn
