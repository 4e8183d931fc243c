//===- SelectRows.cpp - Which rows are compared -----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CounterHash.h"
#include "attn/Reference/Check.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace attn {
namespace {

/// Multiply-adds up to which every row is compared, and that a selection from a
/// larger launch aims at: a second or two on one core.
constexpr double allRowsWork = 0x1p31, selectionWork = 0x1p32;

/// Random rows of each head and batch entry that a selection has at least.
constexpr int64_t minRandomRows = 4;

/// The first and last row, and both sides of the first and last tile edge.
std::set<int64_t> edgeRows(int64_t qLen, const std::vector<int64_t> &tileRows) {
  std::set<int64_t> rows = {0, qLen - 1};
  for (int64_t tile : tileRows) {
    if (tile < 1 || tile >= qLen)
      continue;
    int64_t lastTile = (qLen - 1) / tile * tile;
    rows.insert({tile - 1, tile, lastTile - 1, lastTile});
  }
  return rows;
}

/// Adds `count` distinct rows: every other one at a random tile edge, the rest
/// anywhere.
void addRandomRows(std::set<int64_t> &rows, int64_t qLen, int64_t count,
                   const std::vector<int64_t> &tileRows, uint64_t key) {
  size_t wanted = size_t(std::min<int64_t>(qLen, rows.size() + count));
  for (uint64_t counter = 0; rows.size() < wanted; ++counter) {
    uint64_t bits = detail::hash(key, counter);
    int64_t row = int64_t((bits >> 16) % uint64_t(qLen));
    // Edges run out in short launches: only the first tries go there.
    if (counter % 2 == 0 && int64_t(counter) < 2 * count && !tileRows.empty()) {
      int64_t tile = std::max<int64_t>(1, tileRows[bits % tileRows.size()]);
      row = std::max<int64_t>(0, row / tile * tile - int64_t(bits >> 8 & 1));
    }
    rows.insert(row);
  }
}

double workPerRow(const Problem &problem, const Sequence &sequence) {
  // q.k, then P.V for the row and for its plain twin.
  return double(sequence.kLen) *
         double(problem.headDimQK + 2 * problem.headDimV);
}

std::string describe(const RowSelection &selection, const RowChoice &choice) {
  std::string total = std::to_string(selection.total);
  if (int64_t(selection.rows.size()) == selection.total)
    return "all " + total + " rows";
  std::string tiles;
  for (int64_t tile : choice.tileRows)
    tiles += (tiles.empty() ? "" : ", ") + std::to_string(tile);
  return std::to_string(selection.rows.size()) + " of " + total +
         " rows (of every head and batch entry the first, the last, both sides "
         "of tile edges for tiles of " +
         tiles + " rows, and random ones, seed " + std::to_string(choice.seed) +
         ")";
}

} // namespace

RowChoice parseRowChoice(const std::string &text) {
  RowChoice choice;
  if (text == "auto")
    return choice;
  if (text == "all") {
    choice.mode = RowChoice::All;
    return choice;
  }
  constexpr size_t maxDigits = 9;
  if (text.empty() || text.size() > maxDigits ||
      text.find_first_not_of("0123456789") != std::string::npos)
    throw std::runtime_error("--rows: expected all, auto or a number of rows, "
                             "found '" +
                             text + "'");
  choice.mode = RowChoice::Count;
  choice.count = std::stoll(text);
  return choice;
}

RowSelection selectRows(const Launch &launch, const RowChoice &choice) {
  const Problem &problem = *launch.problem;
  RowSelection selection;
  double work = 0;
  for (const Sequence &sequence : launch.sequences) {
    selection.total += problem.heads * sequence.qLen;
    work +=
        double(problem.heads * sequence.qLen) * workPerRow(problem, sequence);
  }
  bool all = choice.mode == RowChoice::All ||
             (choice.mode == RowChoice::Auto && work <= allRowsWork);
  double shares = double(launch.sequences.size()) * double(problem.heads);
  for (int64_t b = 0; b < int64_t(launch.sequences.size()); ++b) {
    const Sequence &sequence = launch.sequences[b];
    if (sequence.qLen == 0)
      continue;
    for (int64_t h = 0; h < problem.heads; ++h) {
      if (all) {
        for (int64_t i = 0; i < sequence.qLen; ++i)
          selection.rows.push_back({b, h, i});
        continue;
      }
      std::set<int64_t> rows = edgeRows(sequence.qLen, choice.tileRows);
      int64_t random = choice.count;
      if (choice.mode == RowChoice::Auto) {
        double affordable = selectionWork / shares /
                            std::max(1.0, workPerRow(problem, sequence));
        random = std::max(minRandomRows,
                          int64_t(std::min(affordable, double(sequence.qLen))) -
                              int64_t(rows.size()));
      }
      addRandomRows(rows, sequence.qLen, random, choice.tileRows,
                    detail::hash(choice.seed, uint64_t(b * problem.heads + h)));
      for (int64_t i : rows)
        selection.rows.push_back({b, h, i});
    }
  }
  selection.description = describe(selection, choice);
  return selection;
}

} // namespace attn
