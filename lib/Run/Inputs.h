//===- Inputs.h - What one run is given -------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the options to numbers in host memory: lengths, layouts, Q, K, V,
// params and tensors. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_INPUTS_H
#define ATTN_TOOLS_RUN_INPUTS_H

#include "FillSpec.h"
#include "Lengths.h"
#include "attn/Reference/Oracle.h"
#include "attn/Runtime/Launch.h"

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace attn::run {

/// Bad input: exit code 2.
class InputError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Order of the axes in memory and in .npy files.
enum class TensorLayout {
  Bshd, ///< batch, position, head, dim
  Bhsd  ///< batch, head, position, dim
};

/// A Q, K or V of the command line: a file, or a fill.
struct OperandSource {
  std::string file; ///< empty: none
  std::optional<FillSpec> fill;
};

/// name=value, as written.
struct NamedValue {
  std::string name, value;
};

struct InputOptions {
  LengthOptions lengths;
  TensorLayout layout = TensorLayout::Bshd;
  OperandSource q, k, v;
  std::vector<NamedValue> params, tensors;
  uint64_t seed = 0;
  /// Rows of poison after the positions of every batch entry (Bshd) or head
  /// (Bhsd) of Q, K, V and O.
  bool tails = false;
  /// Elements of gap after every position (Bshd) or row (Bhsd) of Q, K, V and
  /// O: slices of wider tensors. A multiple of 16 bytes.
  int64_t rowGap = 0;
  /// K and V have batch stride 0: every batch entry reads the same.
  bool sharedKv = false;
};

/// Where rows [batch, heads, positions, dim] lie in a buffer. Everything else
/// in the buffer is gap. Batch entries may have fewer rows than `positions`,
/// or, packed, begin behind each other.
struct RowGeometry {
  DType type = DType::BF16;
  int64_t batch = 0, heads = 0, positions = 0, dim = 0;
  std::vector<int64_t> lengths, starts; ///< by batch entry; empty: all, 0
  int64_t capacity = 0; ///< positions allocated; those past `positions` are gap
  int64_t strideB = 0, strideH = 0, strideS = 0; ///< in elements

  int64_t elements = 0; ///< of the whole buffer

  int64_t bytes() const { return elements * byteSize(type); }
  int64_t rows(int64_t b) const {
    return lengths.empty() ? positions : lengths[size_t(b)];
  }
  int64_t start(int64_t b) const {
    return starts.empty() ? 0 : starts[size_t(b)];
  }
  int64_t offset(int64_t b, int64_t h, int64_t s) const {
    return b * strideB + h * strideH + (start(b) + s) * strideS;
  }
};

/// Rows with their contents, gaps included.
struct HostRows {
  RowGeometry geometry;
  std::vector<uint8_t> bytes;

  RowView view() const;
  /// The rows of one batch entry.
  RowTarget target(int64_t b);
};

struct HostAuxiliary {
  DType type = DType::F32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

/// Everything a launch and the oracle need, in host memory.
struct Inputs {
  const Problem *problem = nullptr;
  TensorLayout layout = TensorLayout::Bshd;
  Lengths lengths;
  HostRows q, k, v;
  RowGeometry o, lse; ///< lse: dim 1
  std::map<std::string, ParamValue> params;
  std::map<std::string, HostAuxiliary> tensors;
  std::vector<std::string> notes; ///< roundings, for the report

  /// The same launch for the oracle; views of this object's memory.
  Launch launch() const;
  /// Lengths and params for the launcher; no pointers yet.
  LaunchArguments arguments() const;
};

/// A byte that makes a NaN of every floating-point type when repeated.
constexpr uint8_t poisonByte = 0xFF;

/// Throws InputError, or std::runtime_error from reading a file; one line.
Inputs makeInputs(const Problem &problem, const InputOptions &options);

/// The param value a user wrote: a number, true, false, or `unbounded`, which
/// is the largest i32.
ParamValue parseParam(const Param &param, const std::string &text);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_INPUTS_H
