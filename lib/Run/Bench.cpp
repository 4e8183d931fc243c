//===- Bench.cpp - Timing a launch ----------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <sstream>

using namespace attn;
using namespace attn::run;

//===----------------------------------------------------------------------===//
// Visible pairs
//===----------------------------------------------------------------------===//

static bool uses(const ExprPtr &expr,
                 const std::function<bool(const Expr &)> &wanted) {
  if (!expr)
    return false;
  return wanted(*expr) ||
         std::any_of(expr->operands.begin(), expr->operands.end(),
                     [&](const ExprPtr &child) { return uses(child, wanted); });
}

static bool usesIndex(const ExprPtr &expr,
                      std::initializer_list<IndexVar> indices) {
  return uses(expr, [&](const Expr &node) {
    return node.kind == ExprKind::Index &&
           std::find(indices.begin(), indices.end(), node.index) !=
               indices.end();
  });
}

/// Visible keys of row i, by evaluating the mask.
static int64_t visibleKeys(const Launch &launch, RuleRunner &runner, int64_t b,
                           int64_t h, int64_t i) {
  const Problem &problem = *launch.problem;
  RowPosition row;
  row.sequence = launch.sequences[size_t(b)];
  row.b = b;
  row.h = h;
  row.g = h / (problem.heads / problem.kvHeads);
  row.i = i;
  row.q = absolutePosition(problem, row.sequence, i);
  std::vector<uint8_t> visible(size_t(row.sequence.kLen));
  runner.evaluateBool(row, 0, row.sequence.kLen, nullptr, visible.data());
  return std::count_if(visible.begin(), visible.end(),
                       [](uint8_t value) { return value != 0; });
}

/// Whether all batch entries have the same lengths.
static bool areAlike(const std::vector<Sequence> &sequences) {
  return std::all_of(sequences.begin(), sequences.end(),
                     [&](const Sequence &sequence) {
                       return sequence.qLen == sequences[0].qLen &&
                              sequence.kLen == sequences[0].kLen;
                     });
}

PairCount run::countVisiblePairs(const Launch &launch, int64_t maxEvaluations) {
  const Problem &problem = *launch.problem;
  PairCount result;
  if (launch.sequences.empty())
    return result;
  if (!problem.mask) {
    for (const Sequence &sequence : launch.sequences)
      result.pairs +=
          double(problem.heads) * double(sequence.qLen) * double(sequence.kLen);
    return result;
  }
  Rule rule(problem.mask, problem, launch.bindings);
  RuleRunner runner(rule);
  int64_t batch = int64_t(launch.sequences.size());
  bool perEntry =
      usesIndex(problem.mask, {IndexVar::B}) || !areAlike(launch.sequences);
  int64_t entries = perEntry ? batch : 1;
  bool perHead = usesIndex(problem.mask, {IndexVar::H, IndexVar::G});
  int64_t heads = perHead ? problem.heads : 1;
  constexpr int64_t minRows = 16;
  for (int64_t b = 0; b < entries; ++b) {
    int64_t qLen = launch.sequences[size_t(b)].qLen;
    int64_t kLen = launch.sequences[size_t(b)].kLen;
    int64_t affordable =
        maxEvaluations / std::max<int64_t>(1, entries * heads * kLen);
    int64_t rows = std::min(qLen, std::max(minRows, affordable));
    result.exact &= rows == qLen;
    double pairs = 0;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t n = 0; n < rows; ++n) {
        // The middle of the n-th of `rows` equal stretches.
        int64_t i = (2 * n + 1) * qLen / (2 * rows);
        pairs += double(visibleKeys(launch, runner, b, h, i));
      }
    result.pairs += pairs * double(batch) / double(entries) *
                    double(problem.heads) / double(heads) * double(qLen) /
                    double(std::max<int64_t>(rows, 1));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

/// Bytes of the elements, without gaps.
static double elementBytes(const RowGeometry &rows) {
  double count = 0;
  for (int64_t b = 0; b < rows.batch; ++b)
    count += double(rows.rows(b));
  return count * double(rows.heads) * double(rows.dim * byteSize(rows.type));
}

static double trafficBytes(const Inputs &inputs) {
  double bytes = elementBytes(inputs.q.geometry) +
                 elementBytes(inputs.k.geometry) +
                 elementBytes(inputs.v.geometry);
  for (const auto &entry : inputs.tensors)
    bytes += double(entry.second.bytes.size());
  if (inputs.problem->outputO)
    bytes += elementBytes(inputs.o);
  if (inputs.problem->outputLse)
    bytes += elementBytes(inputs.lse);
  return bytes;
}

namespace {
struct TimedLaunch {
  LoadedPackage &package;
  const LaunchPlan &plan;

  static void run(void *context) {
    auto *self = static_cast<TimedLaunch *>(context);
    self->package.launch(self->plan);
  }
};

/// Samples of the milliseconds that one of many calls takes.
struct Samples {
  std::vector<double> sorted;
  int callsPerSample = 0;

  double median() const { return sorted[sorted.size() / 2]; }
};
} // namespace

/// Times calls of `timed` back to back on the default stream.
template <typename Timed>
static Samples sample(Device &device, Timed timed, int repeats) {
  // A sample of some milliseconds hides the resolution of the clock and the
  // gaps between launches.
  constexpr double sampleMilliseconds = 4;
  constexpr int maxLaunches = 200;
  double once = device.timeMilliseconds(nullptr, 1, Timed::run, &timed);
  Samples result;
  result.callsPerSample =
      int(std::clamp(std::ceil(sampleMilliseconds / std::max(once, 1e-3)), 1.0,
                     double(maxLaunches)));
  for (int i = 0; i < repeats; ++i)
    result.sorted.push_back(device.timeMilliseconds(nullptr,
                                                    result.callsPerSample,
                                                    Timed::run, &timed) /
                            result.callsPerSample);
  std::sort(result.sorted.begin(), result.sorted.end());
  return result;
}

BenchResult run::benchRun(Device &device, LoadedPackage &package,
                          const Inputs &inputs, std::optional<int64_t> grid,
                          int repeats) {
  Execution execution(device, package, inputs, {});
  LaunchPlan plan = execution.run(grid); // also the first warm-up
  if (!plan.kernel)
    throw InputError("--bench: " + plan.reason);
  BenchResult result;
  result.kernel = plan.reason;
  const DeviceInfo &info = package.deviceInfo();
  result.device = info.name;
  result.occupancy = package.module(*plan.kernel)
                         .occupancy(plan.kernel->name, int(plan.kernel->block),
                                    plan.kernel->sharedBytes);
  result.repeats = repeats;
  Samples launches = sample(device, TimedLaunch{package, plan}, repeats);
  result.launchesPerRepeat = launches.callsPerSample;
  result.milliseconds = launches.median();
  result.fastest = launches.sorted.front();
  result.slowest = launches.sorted.back();
  result.plan = execution.planReport();
  if (result.plan)
    result.plan->milliseconds =
        sample(device, TimedBuild{package, *execution.plan()}, repeats)
            .median();
  result.pairs = countVisiblePairs(inputs.launch());
  result.flops = 2.0 *
                 double(inputs.problem->headDimQK + inputs.problem->headDimV) *
                 result.pairs.pairs;
  result.bytes = trafficBytes(inputs);
  constexpr double millisecondsPerSecond = 1e3;
  if (info.peakTensorFlops > 0)
    result.computeBound =
        result.flops / info.peakTensorFlops * millisecondsPerSecond;
  if (info.peakBytesPerSecond > 0)
    result.memoryBound =
        result.bytes / info.peakBytesPerSecond * millisecondsPerSecond;
  return result;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// Units per millisecond in units of 10^12 per second.
static constexpr double teraPerMillisecond = 1e-9;

double BenchResult::teraflops() const {
  return flops / milliseconds * teraPerMillisecond;
}

double BenchResult::terabytesPerSecond() const {
  return bytes / milliseconds * teraPerMillisecond;
}

double BenchResult::roofline() const {
  return std::max(computeBound, memoryBound);
}

std::string BenchResult::text() const {
  std::ostringstream out;
  out << std::fixed << "kernel: " << kernel << "\n"
      << std::setprecision(4) << "bench: " << milliseconds << " ms (median of "
      << repeats << " x " << launchesPerRepeat << " launches, " << fastest
      << " .. " << slowest << "), " << std::setprecision(1) << teraflops()
      << " TFLOP/s, " << std::setprecision(3) << terabytesPerSecond()
      << " TB/s, " << occupancy << " blocks per multiprocessor\n";
  if (plan)
    out << "plan: " << plan->text() << " (median; once for many launches)\n";
  out << std::setprecision(0) << "work: " << pairs.pairs << " visible pairs"
      << (pairs.exact ? "" : " (estimated from evenly spaced rows)") << ", "
      << flops << " FLOP (2 (dqk + dv) per pair), " << bytes
      << " bytes (each tensor once)\n";
  if (roofline() > 0)
    out << std::setprecision(4) << "roofline of " << device << ": "
        << roofline() << " ms ("
        << (computeBound >= memoryBound ? "tensor cores" : "memory")
        << " at the maximum clock); reached " << std::setprecision(1)
        << 100 * roofline() / milliseconds << " %\n";
  else
    out << "roofline of " << device << ": not known\n";
  return out.str();
}

std::string BenchResult::json() const {
  nlohmann::ordered_json result = {
      {"kernel", kernel},
      {"device", device},
      {"milliseconds", milliseconds},
      {"fastest", fastest},
      {"slowest", slowest},
      {"repeats", repeats},
      {"launches_per_repeat", launchesPerRepeat},
      {"blocks_per_multiprocessor", occupancy},
      {"visible_pairs", pairs.pairs},
      {"visible_pairs_exact", pairs.exact},
      {"flop", flops},
      {"bytes", bytes},
      {"tflops", teraflops()},
      {"tb_per_s", terabytesPerSecond()},
      {"compute_bound_ms", computeBound},
      {"memory_bound_ms", memoryBound},
      {"roofline_fraction", roofline() / milliseconds}};
  if (plan) {
    result["plan_bytes"] = plan->bytes;
    result["plan_milliseconds"] = plan->milliseconds;
  }
  return result.dump();
}
