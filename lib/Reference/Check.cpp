//===- Check.cpp - Judging a kernel's output against the oracle -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Check.h"
#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace attn {

double weightTolerance(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 1e-3;
  case DType::BF16:
    return 4e-3;
  default:
    return 6e-2;
  }
}

double lseBound(double expected) {
  constexpr double absolute = 1e-3, relative = 1e-5, switchAt = 100;
  double magnitude = std::abs(expected);
  return magnitude < switchAt ? absolute : relative * magnitude;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// C13: scaled logits times log2(e) must stay below this.
constexpr double exactLogit2 = 0x1p29;
constexpr double log2e = 1.4426950408889634;

/// A comparison of two numbers, infinities included.
double errorBetween(double got, double expected) {
  if (std::isnan(got) || std::isnan(expected))
    return infinity;
  return got == expected ? 0 : std::fabs(got - expected);
}

/// How bad, relative to the bound; a bound of 0 asks for equality.
double badness(const Difference &difference) {
  if (difference.error == 0)
    return 0;
  return difference.bound > 0 ? difference.error / difference.bound : infinity;
}

bool fails(const Difference &difference) {
  return difference.error > difference.bound;
}

void keepWorst(std::optional<Difference> &worst, const Difference &candidate) {
  if (!worst || badness(candidate) > badness(*worst))
    worst = candidate;
}

/// The state of one comparison.
class Comparison {
public:
  Comparison(const Launch &launch, const Reference &reference,
             const Outputs &outputs, CheckReport &report)
      : problem(*launch.problem), launch(launch), reference(reference),
        outputs(outputs), report(report),
        tolerance(weightTolerance(problem.dtype)) {}

  void compareRow(size_t r) {
    const RowId &id = reference.rows[r];
    const RowFacts &facts = reference.facts[r];
    const Sequence &sequence = launch.sequences[id.b];
    Difference at;
    at.b = id.b;
    at.h = id.h;
    at.i = id.i;
    at.q = absolutePosition(problem, sequence, id.i);
    report.emptyRows += facts.visible == 0;
    report.maxAbsLogit = std::max(report.maxAbsLogit, facts.maxAbsLogit);
    report.plainError = std::max(report.plainError, facts.plainError);
    // f32 arithmetic: of the exponent (C13), the sum and the division.
    constexpr double f32Step = 1.0 / (1 << 23);
    if (std::isfinite(facts.maxAbsLogit) && std::isfinite(facts.maxAbsV))
      f32Residue = std::max(f32Residue,
                            f32Step * (2 + facts.maxAbsLogit) * facts.maxAbsV);
    int64_t row = sequence.qStart + id.i;
    if (problem.outputO && outputs.o.data)
      compareO(at, r,
               id.b * outputs.o.strideB + id.h * outputs.o.strideH +
                   row * outputs.o.strideS);
    if (problem.outputLse && outputs.lse)
      compareLse(
          at, facts.lse,
          outputs.lse[id.b * outputs.lseStrideB + id.h * outputs.lseStrideH +
                      row * outputs.lseStrideS]);
  }

  /// The error of the whole may be twice that of the plain twin, plus one ulp
  /// and what f32 leaves: the twin of a row with one key is exact.
  void applyPlainRule() {
    report.plainLimit = 2 * report.plainError + f32Residue +
                        ulp(problem.out, expectedAtMaxError);
    report.plainRuleFailed = report.maxError > report.plainLimit;
  }

private:
  void compareO(Difference at, size_t r, int64_t offset) {
    const RowFacts &facts = reference.facts[r];
    for (int64_t d = 0; d < problem.headDimV; ++d) {
      at.d = d;
      at.got = loadElement(outputs.o.type, outputs.o.data, offset + d);
      at.expected = reference.o[r * problem.headDimV + d];
      at.error = errorBetween(at.got, at.expected);
      at.bound = tolerance * facts.maxAbsV;
      if (facts.visible == 0)
        at.bound = 0; // C5: exactly zero
      else if (problem.out != DType::F32)
        at.bound += ulp(problem.out, at.expected) / 2;
      // What the output type cannot hold overflows, as rounding says.
      if (std::isinf(at.got) && at.got == roundTo(problem.out, at.expected))
        at.error = 0;
      noteNaN(at);
      ++report.elements;
      report.failures += fails(at);
      keepWorst(report.worst, at);
      noteFirst(at);
      if (std::isfinite(at.expected) && at.error > report.maxError) {
        report.maxError = at.error;
        expectedAtMaxError = at.expected;
      }
    }
  }

  void compareLse(Difference at, double expected, double got) {
    at.d = -1;
    at.got = got;
    at.expected = expected;
    at.error = errorBetween(got, expected);
    double magnitude = std::fabs(expected);
    if (std::isinf(expected))
      at.bound = 0; // C5: exactly -inf
    else
      at.bound = lseBound(magnitude);
    noteNaN(at);
    report.lseFailures += fails(at);
    keepWorst(report.worstLse, at);
    noteFirst(at);
  }

  void noteNaN(Difference &at) {
    report.nanGot += std::isnan(at.got);
    report.nanExpected += std::isnan(at.expected);
    if (std::isnan(at.bound))
      at.bound = 0;
  }

  void noteFirst(const Difference &at) {
    if (!report.first && fails(at))
      report.first = at;
  }

  const Problem &problem;
  const Launch &launch;
  const Reference &reference;
  const Outputs &outputs;
  CheckReport &report;
  double f32Residue = 0;
  double tolerance;
  double expectedAtMaxError = 0;
};

void addWarnings(const Launch &launch, CheckReport &report) {
  double spacing = ulp(DType::F32, report.maxAbsLogit);
  bool differs =
      report.failures || report.lseFailures || report.plainRuleFailed;
  if (report.maxAbsLogit * log2e >= exactLogit2)
    report.warnings.push_back(
        "C13: the largest scaled logit, " + spellNumber(report.maxAbsLogit) +
        ", times log2(e) is 2^29 or more: beyond it exp2(s * c - max * c) "
        "keeps a residue of rounding that matters");
  else if (differs && spacing / 2 > weightTolerance(launch.problem->dtype))
    report.warnings.push_back(
        "C13: logits are f32, which has numbers " + spellNumber(spacing) +
        " apart at the largest scaled logit, " +
        spellNumber(report.maxAbsLogit) +
        ": smaller differences between the keys of a row are lost");
  if (report.divisionByZero)
    report.warnings.push_back("C9: " + report.divisionByZero->message() +
                              "; the result was taken as 0");
  if (report.nanExpected)
    report.warnings.push_back(
        "the reference itself is NaN in " + std::to_string(report.nanExpected) +
        " numbers: a logit is NaN or +inf, or a visible V row or a sink is "
        "not finite");
  if (launch.sequences.empty())
    report.warnings.push_back("the batch is empty: nothing was compared");
}

} // namespace

std::vector<MonotoneFailure> checkMonotone(const Launch &launch) {
  std::vector<MonotoneFailure> failures;
  for (const Tensor &declared : launch.problem->tensors) {
    auto bound = launch.bindings.tensors.find(declared.name);
    if (!declared.monotone || declared.dims.empty() ||
        bound == launch.bindings.tensors.end())
      continue;
    const HostTensor &tensor = bound->second;
    int64_t length = tensor.dims.back(), count = 1;
    for (int64_t dim : tensor.dims)
      count *= dim;
    // Ragged tensors are monotone inside each sequence: a decrease from one
    // sequence to the next is none.
    std::vector<bool> starts(length, false);
    for (const Sequence &sequence : launch.sequences) {
      int64_t start = declared.dims.back().kind == DimKind::TotalQ
                          ? sequence.qStart
                          : sequence.kStart;
      bool ragged = declared.dims.back().kind == DimKind::TotalQ ||
                    declared.dims.back().kind == DimKind::TotalK;
      if (ragged && start >= 0 && start < length)
        starts[start] = true;
    }
    for (int64_t at = 1; at < count; ++at) {
      if (at % length == 0 || starts[at % length])
        continue;
      double before = loadElement(tensor.type, tensor.data, at - 1);
      double after = loadElement(tensor.type, tensor.data, at);
      if (after >= before)
        continue;
      MonotoneFailure failure{declared.name, {}, before, after};
      int64_t rest = at;
      for (size_t dim = tensor.dims.size(); dim-- > 0;) {
        failure.index.insert(failure.index.begin(), rest % tensor.dims[dim]);
        rest /= tensor.dims[dim];
      }
      failures.push_back(std::move(failure));
      break;
    }
  }
  return failures;
}

CheckReport compare(const Launch &launch, const RowSelection &selection,
                    const Reference &reference, const Outputs &outputs) {
  CheckReport report;
  report.selection = selection;
  report.outOfRange = reference.outOfRange;
  report.divisionByZero = reference.divisionByZero;
  report.monotone = checkMonotone(launch);
  Comparison comparison(launch, reference, outputs, report);
  for (size_t r = 0; r < reference.rows.size(); ++r)
    comparison.compareRow(r);
  comparison.applyPlainRule();
  addWarnings(launch, report);
  report.passed = report.failures == 0 && report.lseFailures == 0 &&
                  !report.plainRuleFailed && !report.outOfRange &&
                  report.monotone.empty();
  return report;
}

} // namespace attn
