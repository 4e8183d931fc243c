//===- Session.cpp - One run of the tool ----------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Bench.h"
#include "Source.h"

#include "attn/Reference/Npy.h"
#include "attn/Reference/Numbers.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <sstream>

using namespace attn;
using namespace attn::run;
using nlohmann::ordered_json;

namespace {
struct OpenedDevice {
  std::unique_ptr<Device> device;
  bool isSimulator = false;
  std::string note; ///< why it is not a GPU, if that was a fallback
};
} // namespace

/// An option that a GPU cannot heed, or null.
static const char *simulatorOption(const RunOptions &options) {
  return options.trace.enabled ? "--trace"
         : options.stepLimit   ? "--step-limit"
                               : nullptr;
}

static OpenedDevice openDevice(const RunOptions &options) {
  SimulatorOptions simulator;
  simulator.trace = options.trace;
  if (options.stepLimit)
    simulator.stepLimit = *options.stepLimit;
  if (options.device == DeviceChoice::Gpu)
    return {openGpu(), false, ""};
  if (options.device == DeviceChoice::Simulator)
    return {openSimulator(simulator), true, ""};
  try {
    std::unique_ptr<Device> gpu = openGpu();
    if (const char *option = simulatorOption(options))
      throw InputError(std::string(option) +
                       ": needs --device=sim, and --device=auto found " +
                       gpu->info().name);
    return {std::move(gpu), false, ""};
  } catch (const DeviceError &error) {
    return {openSimulator(simulator), true,
            std::string(error.what()) + ": running on the simulator"};
  }
}

/// The device's own compute capability: "sm_90".
static std::string capability(const DeviceInfo &info) {
  return "sm_" + std::to_string(info.smMajor) + std::to_string(info.smMinor);
}

static std::string describe(const Problem &problem, const Inputs &inputs) {
  std::ostringstream text;
  text << problem.name << " " << spelling(problem.dtype) << ", heads "
       << problem.heads << " / " << problem.kvHeads << ", head_dim "
       << problem.headDimQK << " / " << problem.headDimV << ", "
       << inputs.lengths.text() << ", "
       << (inputs.layout == TensorLayout::Bshd ? "bshd" : "bhsd");
  return text.str();
}

namespace {
/// Extents of a tensor as a whole: packed sequences are one entry.
struct Packed {
  int64_t batch, positions;
};
} // namespace

static Packed packedAxes(const RowGeometry &rows) {
  if (rows.starts.empty())
    return {rows.batch, rows.positions};
  int64_t total = 0;
  for (int64_t b = 0; b < rows.batch; ++b)
    total = std::max(total, rows.start(b) + rows.rows(b));
  return {1, total};
}

/// The written elements of a buffer as f32, in memory order without gaps.
static std::vector<float> toFloats(const RowGeometry &rows, bool bshd,
                                   const std::vector<uint8_t> &image) {
  Packed all = packedAxes(rows);
  // What no sequence has is not a number.
  std::vector<float> values(
      size_t(all.batch * rows.heads * all.positions * rows.dim),
      std::numeric_limits<float>::quiet_NaN());
  for (int64_t b = 0; b < rows.batch; ++b)
    for (int64_t h = 0; h < rows.heads; ++h)
      for (int64_t s = 0; s < rows.rows(b); ++s) {
        int64_t entry = all.batch == rows.batch ? b : 0;
        int64_t position = rows.start(b) + s;
        int64_t row = bshd
                          ? (entry * all.positions + position) * rows.heads + h
                          : (entry * rows.heads + h) * all.positions + position;
        for (int64_t d = 0; d < rows.dim; ++d)
          values[size_t(row * rows.dim + d)] = float(
              loadElement(rows.type, image.data(), rows.offset(b, h, s) + d));
      }
  return values;
}

static void saveOutputs(const RunOptions &options, const Inputs &inputs,
                        const OutputImage &image) {
  bool bshd = inputs.layout == TensorLayout::Bshd;
  const RowGeometry &o = inputs.o, &lse = inputs.lse;
  auto shapeOf = [](const RowGeometry &rows, bool bshd) {
    Packed all = packedAxes(rows);
    std::vector<int64_t> shape = {all.batch, rows.heads, all.positions};
    if (bshd)
      std::swap(shape[1], shape[2]);
    if (!rows.starts.empty())
      shape.erase(shape.begin());
    return shape;
  };
  if (!options.saveO.empty()) {
    std::vector<int64_t> shape = shapeOf(o, bshd);
    shape.push_back(o.dim);
    writeNpy(options.saveO, shape, toFloats(o, bshd, image.o).data());
  }
  if (!options.saveLse.empty())
    writeNpy(options.saveLse, shapeOf(lse, /*bshd=*/false),
             toFloats(lse, /*bshd=*/false, image.lse).data());
}

/// Before anything runs, so that minutes of work do not end in a typing error,
/// nor one output without the other.
static void requireWritable(const std::string &option,
                            const std::string &path) {
  namespace fs = std::filesystem;
  if (path.empty())
    return;
  std::error_code ignored;
  std::string folder = fs::path(path).parent_path().string();
  if (fs::is_directory(path, ignored))
    throw InputError(option + "=" + path + ": expected a file, found a folder");
  if (!fs::is_directory(folder.empty() ? "." : folder, ignored))
    throw InputError(option + "=" + path + ": there is no folder '" + folder +
                     "'");
}

/// Also where the paths are written differently.
static bool isSameFile(const std::string &a, const std::string &b) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  return !a.empty() && !b.empty() &&
         fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

/// An output must not take the place of what was read.
static void requireOtherThanInputs(const RunOptions &options,
                                   const std::string &option,
                                   const std::string &path) {
  std::vector<std::string> read = {options.source, options.inputs.q.file,
                                   options.inputs.k.file,
                                   options.inputs.v.file};
  for (const NamedValue &tensor : options.inputs.tensors)
    read.push_back(tensor.value);
  for (const std::string &input : read)
    if (isSameFile(path, input))
      throw InputError(option + "=" + path +
                       ": expected another file than the inputs");
}

static void requireOutputs(const RunOptions &options, const Problem &problem) {
  requireWritable("--save-o", options.saveO);
  requireWritable("--save-lse", options.saveLse);
  requireOtherThanInputs(options, "--save-o", options.saveO);
  requireOtherThanInputs(options, "--save-lse", options.saveLse);
  if (isSameFile(options.saveO, options.saveLse))
    throw InputError("--save-o, --save-lse: expected two files, found one: " +
                     options.saveO);
  const Expectation &expect = options.checkOptions.expect;
  struct Use {
    const char *option;
    bool used, hasOutput;
    const char *outputs;
  };
  for (const Use &use :
       {Use{"--save-o", !options.saveO.empty(), problem.outputO, "lse"},
        Use{"--save-lse", !options.saveLse.empty(), problem.outputLse, "o"},
        Use{"--expect-o", bool(expect.o), problem.outputO, "lse"},
        Use{"--expect-lse", bool(expect.lse), problem.outputLse, "o"}})
    if (use.used && !use.hasOutput)
      throw InputError(std::string(use.option) + ": attention '" +
                       problem.name + "' outputs " + use.outputs + " only");
}

namespace {
/// What is printed: text as it comes, or one object at the end.
class Report {
public:
  explicit Report(bool asJson) : asJson(asJson) {}
  void line(const std::string &key, const std::string &value) {
    text << key << ": " << value << "\n";
    object[key] = value;
  }
  void note(const std::string &value) {
    text << "note: " << value << "\n";
    object["notes"].push_back(value);
  }
  void section(const std::string &key, const std::string &asText,
               const std::string &json) {
    text << asText;
    object[key] = ordered_json::parse(json);
  }
  void print() const {
    std::cout << (asJson ? object.dump(1) + "\n" : text.str());
  }

private:
  bool asJson;
  std::ostringstream text;
  ordered_json object = ordered_json::object();
};
} // namespace

namespace {
/// What both ways to launch need.
struct Opened {
  Device &device;
  LoadedPackage &package;
};
} // namespace

/// Two data sets: as given, with poison behind every sequence; and without any
/// gap, so that what lies past the end is past the buffer, which the simulator
/// reports whatever is read there. The second has a V that shows which keys
/// were read, unless V was given.
static bool runCheck(const RunOptions &options, Opened opened,
                     const Inputs &inputs, const CheckOptions &checkOptions,
                     Report &report) {
  InputOptions tightOptions = options.inputs;
  bool madeUpV = tightOptions.v.file.empty() && !tightOptions.v.fill;
  if (madeUpV)
    tightOptions.v.fill = FillSpec::pattern();
  Inputs tight = makeInputs(*inputs.problem, tightOptions);
  CheckResult result = checkRun(
      opened.device, opened.package,
      {{"inputs as given", inputs},
       {madeUpV ? "patterned V, no gaps" : "inputs as given, no gaps", tight}},
      checkOptions);
  report.section("check", result.text(), result.json());
  if (!result.outputs.o.empty() || !result.outputs.lse.empty())
    saveOutputs(options, inputs, result.outputs);
  return result.passed();
}

static void runPlain(const RunOptions &options, Opened opened,
                     const Inputs &inputs, const CheckOptions &checkOptions,
                     Report &report) {
  Execution execution(opened.device, opened.package, inputs, {});
  LaunchPlan plan = execution.run(checkOptions.grid);
  report.line("kernel", plan.reason);
  if (execution.planReport())
    report.line("plan", execution.planReport()->text());
  saveOutputs(options, inputs, execution.outputs());
}

/// An option of the compiler says nothing about what is compiled already.
static void requireSpec(const Source &source, const std::string &option,
                        const std::string &value) {
  if (source.package && !value.empty())
    throw InputError(option + "=" + value +
                     ": expected a spec; a package is compiled already, and "
                     "the launch chooses among its kernels");
}

ExitCode run::runSession(const RunOptions &options) {
  Source source = readSource(options.source, options.attention);
  const Problem &problem =
      source.package ? source.package->problem : *source.problem;
  requireOutputs(options, problem);
  InputOptions inputOptions = options.inputs;
  inputOptions.tails = options.check;
  Inputs inputs = makeInputs(problem, inputOptions);
  const Expectation &expect = options.checkOptions.expect;
  if (expect.o)
    expect.o->checkFits("--expect-o", inputs.lengths.qLen, problem.headDimV,
                        problem.out);
  if (expect.lse)
    expect.lse->checkFits("--expect-lse", inputs.lengths.qLen, 1, DType::F32);
  OpenedDevice opened = openDevice(options);
  DeviceInfo info = opened.device->info();
  requireSpec(source, "--target", options.target);
  requireSpec(source, "--alternative", options.alternative);
  Package package = toPackage(
      source, options.target.empty() ? targetFor(info) : options.target,
      options.alternative);
  LoadedPackage loaded(package, *opened.device);
  Report report(options.json);
  if (!opened.note.empty())
    report.note(opened.note);
  if (opened.isSimulator && options.bench)
    report.note("--bench times the simulator on this host, not a GPU");
  report.line("device", info.name + " (" + capability(info) + ")");
  report.line("problem", describe(problem, inputs));
  for (const std::string &note : inputs.notes)
    report.note(note);
  bool right = true;
  CheckOptions checkOptions = options.checkOptions;
  // The simulator knows every buffer's end itself; a guard band would hide
  // what it reports exactly.
  if (opened.isSimulator)
    checkOptions.guardBytes = 0;
  if (options.check)
    right = runCheck(options, {*opened.device, loaded}, inputs, checkOptions,
                     report);
  else if (!options.bench || !options.saveO.empty() || !options.saveLse.empty())
    runPlain(options, {*opened.device, loaded}, inputs, checkOptions, report);
  if (right && options.bench) {
    inputOptions.tails = false;
    BenchResult result =
        benchRun(*opened.device, loaded,
                 options.check ? makeInputs(problem, inputOptions) : inputs,
                 checkOptions.grid, options.benchRepeats);
    report.section("bench", result.text(), result.json());
  }
  report.print();
  return right ? Right : CheckFailed;
}
