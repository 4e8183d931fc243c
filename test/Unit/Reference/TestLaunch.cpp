//===- TestLaunch.cpp - A launch that owns its inputs -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLaunch.h"
#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <stdexcept>

namespace attn {

Problem makeProblem(int64_t heads, int64_t kvHeads, int64_t dim, DType dtype) {
  Problem problem;
  problem.name = "test";
  problem.heads = heads;
  problem.kvHeads = kvHeads;
  problem.headDimQK = problem.headDimV = dim;
  problem.dtype = problem.kvDtype = problem.out = dtype;
  return problem;
}

TestLaunch::TestLaunch(const Problem &given, int64_t batch, int64_t qLen,
                       int64_t kLen, bool bhsd)
    : problem(given) {
  launch.problem = &problem;
  launch.sequences.assign(batch, {qLen, kLen, 0, 0});
  for (Which which : {Q, K, V}) {
    RowTarget target;
    target.type = which == Q ? problem.dtype : problem.kvDtype;
    target.batch = batch;
    target.heads = which == Q ? problem.heads : problem.kvHeads;
    target.rows = which == Q ? qLen : kLen;
    target.dim = which == V ? problem.headDimV : problem.headDimQK;
    target.strideS = bhsd ? target.dim : target.heads * target.dim;
    target.strideH = bhsd ? target.rows * target.dim : target.dim;
    target.strideB = target.heads * target.rows * target.dim;
    buffers[which].bytes.resize(
        size_t(batch * target.strideB * byteSize(target.type)));
    target.data = buffers[which].bytes.data();
    buffers[which].target = target;
    RowView view{target.data, target.type, target.strideB, target.strideH,
                 target.strideS};
    (which == Q ? launch.q : which == K ? launch.k : launch.v) = view;
  }
}

RowTarget TestLaunch::target(Which which) { return buffers[which].target; }

TestLaunch &TestLaunch::set(Which which, const Value &value) {
  const RowTarget &to = buffers[which].target;
  for (int64_t b = 0; b < to.batch; ++b)
    for (int64_t h = 0; h < to.heads; ++h)
      for (int64_t s = 0; s < to.rows; ++s)
        for (int64_t d = 0; d < to.dim; ++d)
          storeElement(to.type, to.data,
                       b * to.strideB + h * to.strideH + s * to.strideS + d,
                       value(b, h, s, d));
  return *this;
}

TestLaunch &TestLaunch::set(Which which, double value) {
  fillConstant(buffers[which].target, value);
  return *this;
}

TestLaunch &TestLaunch::fill(Which which, Fill fill, uint64_t seed) {
  constexpr Stream streams[] = {Stream::Q, Stream::K, Stream::V};
  fillRows(buffers[which].target, fill, seed, streams[which]);
  return *this;
}

TestLaunch &TestLaunch::tensor(const std::string &name, DType type,
                               std::vector<int64_t> dims,
                               const std::vector<double> &values) {
  Tensor declared;
  declared.name = name;
  declared.type = type;
  for (int64_t dim : dims)
    declared.dims.push_back({DimKind::Literal, dim});
  problem.tensors.push_back(declared);
  std::vector<uint8_t> &bytes = tensors[name];
  bytes.resize(values.size() * byteSize(type));
  for (size_t at = 0; at < values.size(); ++at)
    storeElement(type, bytes.data(), int64_t(at), values[at]);
  launch.bindings.tensors[name] = {type, std::move(dims), bytes.data()};
  return *this;
}

double TestLaunch::get(Which which, int64_t b, int64_t h, int64_t s,
                       int64_t d) const {
  const RowTarget &from = buffers[which].target;
  return loadElement(from.type, from.data,
                     b * from.strideB + h * from.strideH + s * from.strideS +
                         d);
}

const Reference &TestLaunch::run() {
  RowChoice all;
  all.mode = RowChoice::All;
  selection = selectRows(launch, all);
  reference = computeReference(launch, selection.rows);
  return reference;
}

size_t TestLaunch::rowOf(int64_t b, int64_t h, int64_t i) const {
  auto found =
      std::find(reference.rows.begin(), reference.rows.end(), RowId{b, h, i});
  if (found == reference.rows.end())
    throw std::runtime_error("no such row");
  return size_t(found - reference.rows.begin());
}

double TestLaunch::o(int64_t b, int64_t h, int64_t i, int64_t d) const {
  return reference.o[rowOf(b, h, i) * problem.headDimV + d];
}

double TestLaunch::lse(int64_t b, int64_t h, int64_t i) const {
  return reference.facts[rowOf(b, h, i)].lse;
}

} // namespace attn
