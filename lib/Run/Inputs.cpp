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

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

RowView HostRows::view() const {
  return {bytes.data(), geometry.type, geometry.strideB, geometry.strideH,
          geometry.strideS};
}

RowTarget HostRows::target(int64_t b) {
  RowTarget target;
  target.data =
      bytes.data() + geometry.offset(b, 0, 0) * byteSize(geometry.type);
  target.type = geometry.type;
  target.heads = geometry.heads;
  target.rows = geometry.rows(b);
  target.dim = geometry.dim;
  target.strideH = geometry.strideH;
  target.strideS = geometry.strideS;
  target.firstBatch = b;
  target.mostRows = geometry.positions;
  return target;
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

namespace {
/// The positions of a tensor, by batch entry.
struct PositionAxis {
  int64_t batch = 0, positions = 0;
  /// Rows of all entries, one behind the other; unset where each is its own.
  std::optional<int64_t> packed;
  std::vector<int64_t> lengths, starts; ///< empty: all, 0
};
} // namespace

static PositionAxis axisOf(const Lengths &lengths, bool isQuery) {
  PositionAxis axis;
  axis.batch = lengths.batch;
  axis.positions = isQuery ? lengths.qLen : lengths.kLen;
  bool isPacked = isQuery ? lengths.packsQ() : lengths.packsK();
  if (isPacked)
    axis.packed = isQuery ? lengths.totalQ : lengths.totalK;
  if (lengths.kind == BatchKind::Dense)
    return axis;
  for (const Sequence &sequence : lengths.sequences) {
    axis.lengths.push_back(isQuery ? sequence.qLen : sequence.kLen);
    if (isPacked)
      axis.starts.push_back(isQuery ? sequence.qStart : sequence.kStart);
  }
  return axis;
}

static RowGeometry makeGeometry(DType type, int64_t heads, int64_t dim,
                                TensorLayout layout, const Gaps &gaps,
                                const PositionAxis &axis) {
  // A tile of 128 positions past the end must lie in poison whole; where that
  // would cost much memory, a few rows still catch a bound that is off by some.
  constexpr int64_t tailPositions = 129, shortTail = 8;
  constexpr int64_t maxTailBytes = int64_t(1) << 28;
  RowGeometry rows;
  rows.type = type;
  rows.batch = axis.batch;
  rows.heads = heads;
  rows.positions = axis.positions;
  rows.lengths = axis.lengths;
  rows.starts = axis.starts;
  rows.dim = dim;
  bool bshd = layout == TensorLayout::Bshd;
  int64_t stored = gaps.sharedBatch || axis.packed ? 1 : axis.batch;
  int64_t positions = axis.packed.value_or(axis.positions);
  checkSize(type, {axis.batch, positions, heads, dim}, stored, gaps.rowGap);
  rows.strideS = (bshd ? heads * dim : dim) + gaps.rowGap;
  int64_t bytesPerPosition =
      stored * (bshd ? 1 : heads) * rows.strideS * byteSize(type);
  int64_t tail = bytesPerPosition > maxTailBytes / tailPositions
                     ? shortTail
                     : tailPositions;
  rows.capacity = positions + (gaps.tails ? tail : 0);
  rows.strideH = bshd ? dim : rows.capacity * rows.strideS;
  int64_t perEntry = rows.capacity * rows.strideS * (bshd ? 1 : heads);
  rows.strideB = gaps.sharedBatch || axis.packed ? 0 : perEntry;
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
  for (int64_t b = 0; b < geometry.batch; ++b)
    if (geometry.rows(b) && geometry.heads)
      fill.fill(rows.target(b), options.seed, operand.stream);
  return rows;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

Launch Inputs::launch() const {
  Launch launch;
  launch.problem = problem;
  launch.sequences = lengths.all();
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
  arguments.batch = lengths.batch;
  arguments.qLen = lengths.qLen;
  arguments.kLen = lengths.kLen;
  arguments.totalQ = lengths.totalQ;
  arguments.totalK = lengths.totalK;
  arguments.params = params;
  return arguments;
}

static void requireSupported(const Problem &problem) {
  if (problem.kv != KvKind::Contiguous)
    throw InputError("kv: attn-run makes contiguous keys and values; the spec "
                     "asks for paged");
}

Inputs run::makeInputs(const Problem &problem, const InputOptions &options) {
  requireSupported(problem);
  Operand q{options.q, "--q-fill", std::nullopt, Stream::Q, true};
  Operand k{options.k, "--k-fill", std::nullopt, Stream::K, false};
  Operand v{options.v, "--v-fill", std::nullopt, Stream::V, false};
  LengthOptions lengths = options.lengths;
  for (Operand *operand : {&q, &k, &v}) {
    if (operand->source.file.empty())
      continue;
    if (problem.batch != BatchKind::Dense)
      throw InputError(operand->source.file +
                       ": files are read for dense batches, the spec has "
                       "sequences of their own lengths; use " +
                       operand->fillOption);
    operand->file = readNpy(operand->source.file);
    lengthFromFile(*operand->file, options.layout, lengths.batch,
                   operand->isQuery ? lengths.qLen : lengths.kLen);
  }
  Inputs inputs;
  inputs.problem = &problem;
  inputs.layout = options.layout;
  inputs.lengths = makeLengths(problem.batch, lengths);
  bindParams(options, inputs);
  bindTensors(options, inputs);
  if (options.rowGap < 0 ||
      options.rowGap * byteSize(problem.dtype) % accessAlignmentBytes)
    throw InputError("--row-gap = " + std::to_string(options.rowGap) +
                     ": allowed multiples of 16 bytes");
  Gaps gaps{options.tails, options.rowGap, false};
  Gaps keyGaps{options.tails, options.rowGap, options.sharedKv};
  auto queries = [&](DType type, int64_t dim) {
    return makeGeometry(type, problem.heads, dim, options.layout, gaps,
                        axisOf(inputs.lengths, /*isQuery=*/true));
  };
  auto keys = [&](int64_t dim) {
    return makeGeometry(problem.kvDtype, problem.kvHeads, dim, options.layout,
                        keyGaps, axisOf(inputs.lengths, /*isQuery=*/false));
  };
  inputs.q =
      makeRows(q, queries(problem.dtype, problem.headDimQK), options, inputs);
  inputs.k = makeRows(k, keys(problem.headDimQK), options, inputs);
  inputs.v = makeRows(v, keys(problem.headDimV), options, inputs);
  inputs.o = queries(problem.out, problem.headDimV);
  // lse is [batch, heads, q_len] in every layout (C6).
  inputs.lse = makeGeometry(DType::F32, problem.heads, 1, TensorLayout::Bhsd,
                            {options.tails, 0, false},
                            axisOf(inputs.lengths, /*isQuery=*/true));
  return inputs;
}
