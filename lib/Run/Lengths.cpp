//===- Lengths.cpp - Lengths of the sequences of a batch ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lengths.h"
#include "Inputs.h"

#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <climits>

using namespace attn;
using namespace attn::run;

static int64_t checked(const std::string &option, int64_t value,
                       int64_t high = maxSequenceLength) {
  if (value < 0 || value > high)
    throw InputError(option + " = " + std::to_string(value) +
                     ": allowed 0 .. " + std::to_string(high));
  return value;
}

std::vector<int64_t> run::parseLengths(const std::string &option,
                                       const std::string &text) {
  std::vector<int64_t> lengths;
  for (const std::string &piece : splitAt(text, ',')) {
    std::optional<int64_t> length = parseInteger(piece);
    if (!length)
      throw InputError(option + "=" + text +
                       ": expected lengths with commas between them, found '" +
                       piece + "'");
    lengths.push_back(checked(option, *length));
  }
  return lengths;
}

/// The options belong to the kind of batch, and to each other.
static void checkOptions(BatchKind kind, const LengthOptions &options) {
  bool ragged = kind != BatchKind::Dense;
  if (!ragged && (!options.qLens.empty() || !options.kLens.empty()))
    throw InputError("--q-lens, --k-lens: the spec has a dense batch, expected "
                     "--q-len, --k-len; or `batch varlen` or `batch padded` in "
                     "the spec");
  if (kind != BatchKind::Varlen && options.packing != KvPacking::Packed)
    throw InputError("--kv-packing: the spec has no `batch varlen`");
  if (!options.qLens.empty() && options.qLen)
    throw InputError("--q-len: given beside --q-lens");
  if (!options.kLens.empty() && options.kLen)
    throw InputError("--k-len: given beside --k-lens");
  for (const auto *lengths : {&options.qLens, &options.kLens})
    if (!lengths->empty() && options.batch &&
        *options.batch != int64_t(lengths->size()))
      throw InputError("--batch = " + std::to_string(*options.batch) +
                       ": expected " + std::to_string(lengths->size()) +
                       ", as many as there are lengths");
  if (!options.qLens.empty() && !options.kLens.empty() &&
      options.qLens.size() != options.kLens.size())
    throw InputError("--k-lens: " + std::to_string(options.kLens.size()) +
                     " lengths, expected " +
                     std::to_string(options.qLens.size()) +
                     ", as many as --q-lens has");
}

Lengths run::makeLengths(BatchKind kind, const LengthOptions &options) {
  constexpr int64_t defaultBatch = 2, defaultLength = 512, gapRows = 3;
  checkOptions(kind, options);
  size_t listed = std::max(options.qLens.size(), options.kLens.size());
  int64_t batch =
      checked("--batch",
              options.batch.value_or(listed ? int64_t(listed) : defaultBatch),
              INT32_MAX);
  int64_t qLen = checked("--q-len", options.qLen.value_or(defaultLength));
  Lengths result;
  result.kind = kind;
  result.packing = options.packing;
  result.batch = batch;
  if (kind == BatchKind::Dense) {
    result.qLen = qLen;
    result.kLen = checked("--k-len", options.kLen.value_or(qLen));
    return result;
  }
  for (int64_t b = 0; b < batch; ++b) {
    Sequence sequence;
    sequence.qLen = options.qLens.empty() ? qLen : options.qLens[size_t(b)];
    sequence.kLen =
        options.kLens.empty()
            ? checked("--k-len", options.kLen.value_or(sequence.qLen))
            : options.kLens[size_t(b)];
    if (result.packsQ())
      sequence.qStart = result.totalQ;
    if (result.packsK())
      sequence.kStart = result.totalK;
    result.totalQ += result.packsQ() ? sequence.qLen : 0;
    result.totalK += result.packsK() ? sequence.kLen : 0;
    if (options.packing == KvPacking::Gaps)
      result.totalK += gapRows;
    result.qLen = std::max(result.qLen, sequence.qLen);
    result.kLen = std::max(result.kLen, sequence.kLen);
    result.sequences.push_back(sequence);
  }
  checked("the sum of --q-lens", result.totalQ);
  checked("the sum of --k-lens", result.totalK);
  return result;
}

std::vector<Sequence> Lengths::all() const {
  if (kind != BatchKind::Dense)
    return sequences;
  return std::vector<Sequence>(size_t(batch), Sequence{qLen, kLen, 0, 0});
}

/// "7, 0, 128", the first few of many.
static std::string listed(const std::vector<Sequence> &sequences,
                          int64_t Sequence::*length) {
  constexpr size_t maxShown = 8;
  std::string text;
  for (size_t b = 0; b < std::min(sequences.size(), maxShown); ++b)
    text += (b ? "," : "") + std::to_string(sequences[b].*length);
  return text + (sequences.size() > maxShown ? ",..." : "");
}

std::string Lengths::text() const {
  std::string entries = "batch " + std::to_string(batch);
  if (kind == BatchKind::Dense)
    return entries + ", q_len " + std::to_string(qLen) + ", k_len " +
           std::to_string(kLen);
  const char *keys = packing == KvPacking::Gaps    ? " with gaps"
                     : packing == KvPacking::Batch ? " in batch entries"
                                                   : "";
  return entries + (kind == BatchKind::Padded ? " padded" : " varlen") +
         ", q_lens " + listed(sequences, &Sequence::qLen) + ", k_lens " +
         listed(sequences, &Sequence::kLen) + keys;
}
