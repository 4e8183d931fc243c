//===- MaskValues.h - What random masks read --------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_ANALYSIS_MASKVALUES_H
#define ATTN_TEST_UNIT_ANALYSIS_MASKVALUES_H

#include "RandomMask.h"

#include "attn/Analysis/RuleInterpreter.h"
#include "attn/Reference/Evaluate.h"

#include <cstdlib>

namespace attn::test {

constexpr int64_t batch = 2, heads = 4, group = 2;

struct Lengths {
  int64_t q, k;
};

/// The values of params and tensors, for the oracle and for the interpreter.
struct Values {
  std::vector<int32_t> lens;
  std::vector<int8_t> bias;
  std::vector<uint8_t> doc;
  std::vector<int32_t> start;
  Bindings bindings;
  RuleInputs inputs;

  Values(RandomMask &random, Lengths lengths, bool hasNegatives = true) {
    auto bind = [&](const char *name, int64_t value) {
      bindings.params[name] = value;
      inputs.params[name] = value;
    };
    auto width = [&] {
      int64_t value = random.value(false);
      return hasNegatives ? value : std::max<int64_t>(value, 0);
    };
    bind("p", width());
    bind("r", width());
    bind("w", random.value(true));
    bind("on", random.below(2));
    for (int64_t b = 0; b < batch; ++b)
      lens.push_back(static_cast<int32_t>(random.value(false)));
    for (int64_t h = 0; h < heads; ++h)
      bias.push_back(static_cast<int8_t>(random.below(256) - 128));
    for (int64_t e = 0; e < batch * lengths.k; ++e)
      doc.push_back(static_cast<uint8_t>(random.below(4)));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t k = 0, value = random.below(9) - 4; k < lengths.k; ++k)
        start.push_back(
            static_cast<int32_t>(std::min(value += random.below(3), k)));
    bindTensor("lens", DType::I32, {batch}, lens);
    bindTensor("bias", DType::I8, {heads}, bias);
    bindTensor("doc", DType::U8, {batch, lengths.k}, doc);
    bindTensor("start", DType::I32, {batch, lengths.k}, start);
  }

private:
  template <typename T>
  void bindTensor(const char *name, DType type, std::vector<int64_t> dims,
                  const std::vector<T> &data) {
    bindings.tensors[name] = {type, dims, data.data()};
    inputs.tensors[name] = {dims, {data.begin(), data.end()}};
  }
};

/// visible[i][k] for one batch entry and head, by the oracle.
using Table = std::vector<std::vector<uint8_t>>;

inline Table oracleTable(RuleRunner &runner, Lengths lengths, int64_t offset,
                         int64_t b, int64_t h) {
  Table table(lengths.q, std::vector<uint8_t>(lengths.k));
  for (int64_t i = 0; i < lengths.q && lengths.k > 0; ++i) {
    RowPosition row;
    row.b = b;
    row.h = h;
    row.g = h / group;
    row.i = i;
    row.q = i + offset;
    row.sequence.qLen = lengths.q;
    row.sequence.kLen = lengths.k;
    runner.evaluateBool(row, 0, lengths.k, nullptr, table[i].data());
  }
  return table;
}

/// From the environment, or the default.
inline unsigned option(const char *name, unsigned normal) {
  const char *text = std::getenv(name);
  return text ? std::strtoul(text, nullptr, 10) : normal;
}

} // namespace attn::test

#endif // ATTN_TEST_UNIT_ANALYSIS_MASKVALUES_H
