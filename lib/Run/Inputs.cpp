//===- Inputs.cpp - What one run is given ---------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Bindings.h"

#include "attn/Reference/Npy.h"
#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <cstring>

using namespace attn;
using namespace attn::run;

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

namespace {
struct Axes {
  int64_t batch, positions, heads, dim;
};
} // namespace

static std::vector<int64_t> inLayout(const Axes &axes, TensorLayout layout) {
  if (layout == TensorLayout::Bshd)
    return {axes.batch, axes.positions, axes.heads, axes.dim};
  return {axes.batch, axes.heads, axes.positions, axes.dim};
}

static const char *layoutName(TensorLayout layout, bool isQuery) {
  if (layout == TensorLayout::Bshd)
    return isQuery ? "[batch, q_len, heads, head_dim]"
                   : "[batch, k_len, kv_heads, head_dim]";
  return isQuery ? "[batch, heads, q_len, head_dim]"
                 : "[batch, kv_heads, k_len, head_dim]";
}

/// Takes a length from the shape of a file where no option gives it; the shape
/// as a whole is checked when the file is converted.
static void lengthFromFile(const NpyArray &array, TensorLayout layout,
                           std::optional<int64_t> &batch,
                           std::optional<int64_t> &length) {
  constexpr size_t rank = 4;
  if (array.shape.size() != rank)
    throw InputError(array.path + ": shape " + spellShape(array.shape) +
                     ", expected four dimensions");
  if (!batch)
    batch = array.shape[0];
  if (!length)
    length = array.shape[layout == TensorLayout::Bshd ? 1 : 2];
}

static int64_t checkedLength(const char *option, int64_t value, int64_t high) {
  if (value < 0 || value > high)
    throw InputError(std::string(option) + " = " + std::to_string(value) +
                     ": allowed 0 .. " + std::to_string(high));
  return value;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

RowView HostRows::view() const {
  return {bytes.data(), geometry.type, geometry.strideB, geometry.strideH,
          geometry.strideS};
}

RowTarget HostRows::target() {
  return {bytes.data(),     geometry.type,      geometry.batch,
          geometry.heads,   geometry.positions, geometry.dim,
          geometry.strideB, geometry.strideH,   geometry.strideS};
}

namespace {
/// What separates rows beyond their own size.
struct Gaps {
  bool tails = false;
  int64_t rowGap = 0;
  bool sharedBatch = false;
};
} // namespace

/// Refuses what 64-bit offsets could not address, before any is computed.
static void checkSize(DType type, const Axes &axes, int64_t stored,
                      int64_t rowGap) {
  // No host maps more than 47 bits of address space to a process.
  constexpr double maxBytes = double(int64_t(1) << 47);
  // A gap may follow every head; a double neither wraps nor needs to be exact.
  double bytes = double(byteSize(type)) * double(stored) *
                 double(axes.positions) * double(axes.heads) *
                 (double(axes.dim) + double(rowGap));
  if (bytes > maxBytes)
    throw InputError("a tensor of batch " + std::to_string(stored) + ", " +
                     std::to_string(axes.positions) + " positions, " +
                     std::to_string(axes.heads) + " heads and " +
                     std::to_string(axes.dim) + " + " + std::to_string(rowGap) +
                     " elements: expected at most 2^47 bytes; give a smaller "
                     "--batch, --q-len, --k-len or --row-gap");
}

static RowGeometry makeGeometry(DType type, const Axes &axes,
                                TensorLayout layout, const Gaps &gaps) {
  // A tile of 128 positions past the end must lie in poison whole; where that
  // would cost much memory, a few rows still catch a bound that is off by some.
  constexpr int64_t tailPositions = 129, shortTail = 8;
  constexpr int64_t maxTailBytes = int64_t(1) << 28;
  RowGeometry rows;
  rows.type = type;
  rows.batch = axes.batch;
  rows.heads = axes.heads;
  rows.positions = axes.positions;
  rows.dim = axes.dim;
  bool bshd = layout == TensorLayout::Bshd;
  int64_t stored = gaps.sharedBatch ? 1 : axes.batch;
  checkSize(type, axes, stored, gaps.rowGap);
  rows.strideS = (bshd ? axes.heads * axes.dim : axes.dim) + gaps.rowGap;
  int64_t bytesPerPosition =
      stored * (bshd ? 1 : axes.heads) * rows.strideS * byteSize(type);
  int64_t tail = bytesPerPosition > maxTailBytes / tailPositions
                     ? shortTail
                     : tailPositions;
  rows.capacity = axes.positions + (gaps.tails ? tail : 0);
  rows.strideH = bshd ? axes.dim : rows.capacity * rows.strideS;
  int64_t perEntry = rows.capacity * rows.strideS * (bshd ? 1 : axes.heads);
  rows.strideB = gaps.sharedBatch ? 0 : perEntry;
  rows.elements = stored * perEntry;
  return rows;
}

/// Copies tight rows of a file (in the same axis order) to the geometry.
static void placeRows(const std::vector<uint8_t> &tight, TensorLayout layout,
                      HostRows &rows) {
  const RowGeometry &to = rows.geometry;
  int64_t rowBytes = to.dim * byteSize(to.type);
  for (int64_t b = 0; b < to.batch; ++b)
    for (int64_t h = 0; h < to.heads; ++h)
      for (int64_t s = 0; s < to.positions; ++s) {
        int64_t row = layout == TensorLayout::Bshd
                          ? (b * to.positions + s) * to.heads + h
                          : (b * to.heads + h) * to.positions + s;
        std::memcpy(rows.bytes.data() + to.offset(b, h, s) * byteSize(to.type),
                    tight.data() + row * rowBytes, size_t(rowBytes));
      }
}

namespace {
/// One of Q, K and V on its way from the options to memory.
struct Operand {
  const OperandSource &source;
  const char *fillOption;
  std::optional<NpyArray> file;
  Stream stream;
  bool isQuery;
};
} // namespace

static HostRows makeRows(const Operand &operand, const RowGeometry &geometry,
                         const InputOptions &options, Inputs &inputs) {
  HostRows rows;
  rows.geometry = geometry;
  rows.bytes.assign(size_t(geometry.bytes()), poisonByte);
  if (operand.file) {
    Axes axes{geometry.batch, geometry.positions, geometry.heads, geometry.dim};
    NpyConversion conversion =
        convertNpy(*operand.file, geometry.type, inLayout(axes, options.layout),
                   layoutName(options.layout, operand.isQuery));
    if (!conversion.note.empty())
      inputs.notes.push_back(conversion.note);
    placeRows(conversion.bytes, options.layout, rows);
    return rows;
  }
  FillSpec fill = operand.source.fill.value_or(FillSpec::random());
  fill.checkFits(operand.fillOption, geometry.positions, geometry.dim,
                 geometry.type);
  fill.fill(rows.target(), options.seed, operand.stream);
  return rows;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

Launch Inputs::launch() const {
  Launch launch;
  launch.problem = problem;
  launch.sequences.assign(size_t(batch), Sequence{qLen, kLen, 0, 0});
  launch.q = q.view();
  launch.k = k.view();
  launch.v = v.view();
  for (const auto &[name, value] : params) {
    if (value.isFloat)
      launch.bindings.params[name] = value.floatValue;
    else
      launch.bindings.params[name] = value.intValue;
  }
  for (const auto &[name, tensor] : tensors)
    launch.bindings.tensors[name] = {tensor.type, tensor.dims,
                                     tensor.bytes.data()};
  return launch;
}

LaunchArguments Inputs::arguments() const {
  LaunchArguments arguments;
  arguments.batch = batch;
  arguments.qLen = qLen;
  arguments.kLen = kLen;
  arguments.params = params;
  return arguments;
}

static void requireSupported(const Problem &problem) {
  if (problem.batch != BatchKind::Dense)
    throw InputError("batch: attn-run makes dense batches; the spec asks for "
                     "padded or varlen. A mask may read the lengths from a "
                     "tensor: k < length[b]");
  if (problem.kv != KvKind::Contiguous)
    throw InputError("kv: attn-run makes contiguous keys and values; the spec "
                     "asks for paged");
}

Inputs run::makeInputs(const Problem &problem, const InputOptions &options) {
  constexpr int64_t defaultBatch = 2, defaultLength = 512;
  requireSupported(problem);
  Operand q{options.q, "--q-fill", std::nullopt, Stream::Q, true};
  Operand k{options.k, "--k-fill", std::nullopt, Stream::K, false};
  Operand v{options.v, "--v-fill", std::nullopt, Stream::V, false};
  std::optional<int64_t> batch = options.batch, qLen = options.qLen,
                         kLen = options.kLen;
  for (Operand *operand : {&q, &k, &v}) {
    if (operand->source.file.empty())
      continue;
    operand->file = readNpy(operand->source.file);
    lengthFromFile(*operand->file, options.layout, batch,
                   operand->isQuery ? qLen : kLen);
  }
  Inputs inputs;
  inputs.problem = &problem;
  inputs.layout = options.layout;
  inputs.batch =
      checkedLength("--batch", batch.value_or(defaultBatch), INT32_MAX);
  inputs.qLen =
      checkedLength("--q-len", qLen.value_or(defaultLength), maxSequenceLength);
  inputs.kLen =
      checkedLength("--k-len", kLen.value_or(inputs.qLen), maxSequenceLength);
  bindParams(options, inputs);
  bindTensors(options, inputs);
  if (options.rowGap < 0 ||
      options.rowGap * byteSize(problem.dtype) % accessAlignmentBytes)
    throw InputError("--row-gap = " + std::to_string(options.rowGap) +
                     ": allowed multiples of 16 bytes");
  auto geometry = [&](DType type, int64_t positions, int64_t heads, int64_t dim,
                      bool shared) {
    return makeGeometry(type, {inputs.batch, positions, heads, dim},
                        options.layout,
                        {options.tails, options.rowGap, shared});
  };
  inputs.q = makeRows(q,
                      geometry(problem.dtype, inputs.qLen, problem.heads,
                               problem.headDimQK, false),
                      options, inputs);
  inputs.k = makeRows(k,
                      geometry(problem.kvDtype, inputs.kLen, problem.kvHeads,
                               problem.headDimQK, options.sharedKv),
                      options, inputs);
  inputs.v = makeRows(v,
                      geometry(problem.kvDtype, inputs.kLen, problem.kvHeads,
                               problem.headDimV, options.sharedKv),
                      options, inputs);
  inputs.o = geometry(problem.out, inputs.qLen, problem.heads, problem.headDimV,
                      false);
  // lse is [batch, heads, q_len] in every layout (C6).
  inputs.lse =
      makeGeometry(DType::F32, {inputs.batch, inputs.qLen, problem.heads, 1},
                   TensorLayout::Bhsd, {options.tails, 0, false});
  return inputs;
}
