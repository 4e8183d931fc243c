//===- MicroForm.h - One instruction form as a kernel -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A form is a few PTX instructions between typed inputs and typed results. The
// same text runs on the simulator and on a GPU, for many threads with random
// and edge values, and the results are compared bit for bit or, where the PTX
// ISA gives an error, within it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_GPU_MICROFORM_H
#define ATTN_TEST_GPU_MICROFORM_H

#include "attn/Runtime/Device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn::simtest {

/// How far a result may be from the GPU's. A value passes when any of the
/// bounds holds; all zero means equal bits.
struct Tolerance {
  uint32_t ulps = 0;
  double absolute = 0, relative = 0;
};

struct Output {
  std::string reg;  ///< the register that holds the result
  std::string type; ///< b16 b32 b64 f16 bf16 f32 f64 f16x2 bf16x2 pred
};

/// In `body`, input i is %i<i> (.b64); its low bits are also %r<i> (.b32) and
/// %h<i> (.b16), loaded by themselves: ptxas 13.0 takes the high half of a pair
/// that a shared atomic adds from the wrong register if it was narrowed. Free
/// registers: %x (.b32), %y (.b64), %z (.b16) and %p, from 0; %a holds 16 bytes
/// of shared, %g of global and loc of local memory of the thread's own, %w 1
/// KiB of shared memory of the warp's own (addresses: %a and %w 32 bits, %g
/// 64); %lane is the lane.
struct MicroForm {
  std::string name;
  std::string body;
  /// Kinds of value: a type, or "shift" (0 to 63), "lane" (0 to 31), "angle"
  /// (-20 to 20), "positive", "nonzero32", "nonzero64"; or a type after
  /// "tiny" (integers from -3 to 3), "plain" (-2 to 2) or "number" (no NaN),
  /// and before "twice" (two of them): "tiny e4m3x2 twice".
  std::vector<std::string> inputs;
  std::vector<Output> outputs;
  Tolerance tolerance;
  /// The payload of a NaN result is left open.
  bool anyNan = false;
  /// The finding that the simulator must report, and no results: what it warns
  /// of is a GPU's own. Empty: it must have none.
  std::string finding = {};
  /// With a finding: a GPU must fault.
  bool faults = false;
  /// A tensor over the inputs (or the scratch memory that %g points into); its
  /// map's generic address is %y6.
  std::optional<TensorMap> map = std::nullopt;
  bool mapsScratch = false;

  std::string ptx() const; ///< kernel `form`
};

constexpr unsigned formThreads = 128, formBlocks = 16;
constexpr unsigned formItems = formThreads * formBlocks;

/// The outputs, [item][output], each in 64 bits.
std::vector<uint64_t> runForm(Device &device, const MicroForm &form,
                              unsigned seed);

/// What comparing two runs of a form gave.
struct Comparison {
  uint64_t compared = 0;   ///< values (two in a pair)
  uint64_t mismatches = 0; ///< with different bits
  uint64_t outside = 0;    ///< beyond the tolerance
  uint64_t maxUlps = 0;    ///< of float results; NaNs apart
  std::string example;     ///< the first value outside
};
Comparison compareForm(const MicroForm &form, unsigned seed,
                       const std::vector<uint64_t> &simulator,
                       const std::vector<uint64_t> &gpu);

/// The forms by family.
void addIntegerForms(std::vector<MicroForm> &forms);
void addCompareForms(std::vector<MicroForm> &forms);
void addFloatForms(std::vector<MicroForm> &forms);
void addConversionForms(std::vector<MicroForm> &forms);
void addWarpForms(std::vector<MicroForm> &forms);
void addMemoryForms(std::vector<MicroForm> &forms);
void addMatrixForms(std::vector<MicroForm> &forms);
void addAsyncForms(std::vector<MicroForm> &forms);
void addTensorForms(std::vector<MicroForm> &forms);
std::vector<MicroForm> allForms();

/// `op` of inputs 0, 1, ... with result type `type`: the plain case.
MicroForm plainForm(const std::string &op, const std::string &type,
                    const std::vector<std::string> &inputs,
                    Tolerance tolerance = {});
/// Thread 0 (%p7) initialises the mbarrier %x31 for `count` arrivals, and all
/// threads see it.
std::string barrierFor(const std::string &count);
/// All threads wait for its first phase.
std::string waitForBarrier();
/// The register of input `index` for a kind of value.
std::string inputRegister(const std::string &kind, size_t index);
unsigned bitsOfKind(const std::string &kind);

} // namespace attn::simtest

#endif // ATTN_TEST_GPU_MICROFORM_H
