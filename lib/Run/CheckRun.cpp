//===- CheckRun.cpp - Judging a kernel by the harness rules ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckRun.h"

#include "attn/Reference/Numbers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace attn;
using namespace attn::run;

//===----------------------------------------------------------------------===//
// Closed forms
//===----------------------------------------------------------------------===//

/// Equal infinities agree; a NaN never does, but a closed form that is NaN
/// leaves the place open.
static bool agrees(double got, double expected, double bound) {
  return std::isnan(expected) || got == expected ||
         std::abs(got - expected) <= bound;
}

template <typename Value, typename Bound>
static void compareRows(const char *name, const RowGeometry &rows,
                        const std::vector<uint8_t> &image, Value expectedAt,
                        Bound boundOf, std::vector<std::string> &failures) {
  for (int64_t b = 0; b < rows.batch; ++b)
    for (int64_t h = 0; h < rows.heads; ++h)
      for (int64_t i = 0; i < rows.rows(b); ++i)
        for (int64_t d = 0; d < rows.dim; ++d) {
          double got =
              loadElement(rows.type, image.data(), rows.offset(b, h, i) + d);
          double expected = expectedAt(i, d);
          if (agrees(got, expected, boundOf(expected)))
            continue;
          std::ostringstream text;
          text.precision(9);
          text << name << " at b = " << b << ", h = " << h << ", i = " << i;
          if (rows.dim > 1)
            text << ", d = " << d;
          text << " is " << got << ", the closed form is " << expected
               << " (bound " << boundOf(expected) << ")";
          failures.push_back(text.str());
          return;
        }
}

static void checkExpectation(const Inputs &inputs, const Expectation &expect,
                             const OutputImage &image,
                             std::vector<std::string> &failures) {
  double tolerance =
      expect.tolerance.value_or(weightTolerance(inputs.problem->dtype));
  if (expect.o && !image.o.empty())
    compareRows(
        "o", inputs.o, image.o,
        [&](int64_t i, int64_t d) { return expect.o->at(i, d, inputs.o.dim); },
        [&](double value) {
          return ulp(inputs.o.type, value) / 2 + tolerance * std::abs(value);
        },
        failures);
  if (expect.lse && !image.lse.empty())
    compareRows(
        "lse", inputs.lse, image.lse,
        [&](int64_t i, int64_t d) { return expect.lse->at(i, d, 1); }, lseBound,
        failures);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
/// One data set on the device.
class Checker {
public:
  Checker(Device &device, LoadedPackage &package, const DataSet &set,
          const CheckOptions &options, CheckResult &result)
      : set(set), options(options), result(result),
        execution(device, package, set.inputs, {options.guardBytes}) {
    // Loading comes first: its errors are the machine's, not the kernel's.
    LaunchPlan first =
        planLaunch(package.package(), execution.arguments(options.grid),
                   package.deviceInfo());
    if (!first.kernel)
      return;
    package.module(*first.kernel);
    for (const Kernel *auxiliary : first.auxiliaries)
      package.module(*auxiliary);
  }

  /// Runs twice on the first grid and once on another; judges the first run.
  void judge();

private:
  OutputImage runOnce(std::optional<int64_t> grid);
  void expectSame(const OutputImage &first, const OutputImage &other,
                  const std::string &what);
  static int64_t otherGrid(int64_t grid);

  const DataSet &set;
  const CheckOptions &options;
  CheckResult &result;
  Execution execution;
  LaunchPlan plan;
};
} // namespace

OutputImage Checker::runOnce(std::optional<int64_t> grid) {
  plan = execution.run(grid);
  if (plan.kernel) {
    int64_t blocks = plan.config.grid[0];
    if (std::find(result.grids.begin(), result.grids.end(), blocks) ==
        result.grids.end())
      result.grids.push_back(blocks);
  }
  OutputImage image = execution.outputs();
  for (const std::string &violation :
       execution.violations(image, plan.kernel != nullptr))
    result.failures.push_back(set.name + ": " + violation + " (grid " +
                              std::to_string(plan.config.grid[0]) + ")");
  return image;
}

void Checker::expectSame(const OutputImage &first, const OutputImage &other,
                         const std::string &what) {
  if (auto difference = firstDifference(set.inputs, first, other))
    result.failures.push_back(set.name + ": " + what +
                              " give other bits: " + *difference);
}

int64_t Checker::otherGrid(int64_t grid) {
  // Fewer blocks than work items, so that blocks loop, and not a divisor, so
  // that they end after different counts.
  return grid == 1 ? 2 : std::max<int64_t>(1, grid * 2 / 3);
}

void Checker::judge() {
  OutputImage first = runOnce(options.grid);
  result.kernel = plan.reason;
  if (!plan.kernel)
    return;
  if (!result.plan)
    result.plan = execution.planReport();
  std::vector<uint8_t> built = execution.planImage();
  int64_t grid = plan.config.grid[0], other = otherGrid(grid);
  expectSame(first, runOnce(options.grid),
             "two runs on grid " + std::to_string(grid));
  if (execution.planImage() != built)
    result.failures.push_back(set.name +
                              ": two builds of the plan give other bits");
  expectSame(first, runOnce(other),
             "grids " + std::to_string(grid) + " and " + std::to_string(other));
  RowChoice rows = options.rows;
  if (plan.kernel->tileM > 0)
    rows.tileRows = {plan.kernel->tileM};
  Launch launch = set.inputs.launch();
  RowSelection selection = selectRows(launch, rows);
  Reference reference = computeReference(launch, selection.rows);
  result.dataSets.push_back(
      {set.name,
       compare(launch, selection, reference, viewOutputs(set.inputs, first))});
  if (result.dataSets.size() == 1) {
    checkExpectation(set.inputs, options.expect, first, result.failures);
    result.outputs = std::move(first);
  }
}

CheckResult run::checkRun(Device &device, LoadedPackage &package,
                          const std::vector<DataSet> &dataSets,
                          const CheckOptions &options) {
  CheckResult result;
  for (const DataSet &set : dataSets) {
    Checker checker(device, package, set, options, result);
    try {
      checker.judge();
    } catch (const ModuleError &) {
      throw; // nothing ran that could be judged
    } catch (const DeviceError &error) {
      // A faulted context runs nothing more.
      result.failures.push_back(set.name +
                                ": the kernel faulted: " + error.what());
      break;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

bool CheckResult::passed() const {
  return failures.empty() && std::all_of(dataSets.begin(), dataSets.end(),
                                         [](const DataSetResult &set) {
                                           return set.report.passed;
                                         });
}

std::string CheckResult::text() const {
  std::ostringstream out;
  out << "kernel: " << kernel << "\n";
  if (plan)
    out << "plan: " << plan->text() << "\n";
  for (const DataSetResult &set : dataSets)
    out << "check, " << set.name << ": " << set.report.text() << "\n";
  // The first few say what is wrong; the count says how much.
  constexpr size_t maxShown = 8;
  for (size_t i = 0; i < std::min(failures.size(), maxShown); ++i)
    out << "failed: " << failures[i] << "\n";
  if (failures.size() > maxShown)
    out << "failed: and " << failures.size() - maxShown << " more\n";
  out << "grids:";
  for (int64_t grid : grids)
    out << " " << grid;
  out << (grids.empty() ? " none" : "") << "\n";
  out << (passed() ? "PASS" : "FAIL") << "\n";
  return out.str();
}

std::string CheckResult::json() const {
  nlohmann::ordered_json sets = nlohmann::ordered_json::array();
  for (const DataSetResult &set : dataSets)
    sets.push_back(
        {{"data", set.name},
         {"report", nlohmann::ordered_json::parse(set.report.json())}});
  nlohmann::ordered_json result = {{"passed", passed()},
                                   {"kernel", kernel},
                                   {"grids", grids},
                                   {"failures", failures},
                                   {"data_sets", sets}};
  if (plan)
    result["plan"] = plan->text();
  return result.dump();
}
