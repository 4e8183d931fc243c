//===- TestLaunch.h - A launch that owns its inputs -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_REFERENCE_TESTLAUNCH_H
#define ATTN_TEST_UNIT_REFERENCE_TESTLAUNCH_H

#include "attn/Reference/Check.h"
#include "attn/Reference/Inputs.h"

#include <array>
#include <functional>
#include <map>

namespace attn {

/// Heads, dims and one element type; everything else has its default.
Problem makeProblem(int64_t heads, int64_t kvHeads, int64_t dim,
                    DType dtype = DType::BF16);

/// A dense launch in bshd (or bhsd) whose Q, K and V are zero at first. Fields
/// of `problem` may be changed until run().
class TestLaunch {
public:
  TestLaunch(const Problem &problem, int64_t batch, int64_t qLen, int64_t kLen,
             bool bhsd = false);
  TestLaunch(const TestLaunch &) = delete;

  enum Which { Q, K, V };
  /// Sets elements from a function of (b, h, s, d).
  using Value =
      std::function<double(int64_t b, int64_t h, int64_t s, int64_t d)>;
  TestLaunch &set(Which which, const Value &value);
  TestLaunch &set(Which which, double value);
  TestLaunch &fill(Which which, Fill fill, uint64_t seed = 1);
  /// Binds an auxiliary tensor and declares it with literal dims.
  TestLaunch &tensor(const std::string &name, DType type,
                     std::vector<int64_t> dims,
                     const std::vector<double> &values);
  double get(Which which, int64_t b, int64_t h, int64_t s, int64_t d) const;
  RowTarget target(Which which);

  /// All rows, and where each is in the result.
  const Reference &run();
  size_t rowOf(int64_t b, int64_t h, int64_t i) const;
  double o(int64_t b, int64_t h, int64_t i, int64_t d) const;
  double lse(int64_t b, int64_t h, int64_t i) const;

  Problem problem;
  Launch launch;
  RowSelection selection;
  Reference reference;

private:
  struct Buffer {
    std::vector<uint8_t> bytes;
    RowTarget target;
  };
  std::array<Buffer, 3> buffers;
  std::map<std::string, std::vector<uint8_t>> tensors;
};

} // namespace attn

#endif // ATTN_TEST_UNIT_REFERENCE_TESTLAUNCH_H
