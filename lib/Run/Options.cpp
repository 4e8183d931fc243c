//===- Options.cpp - attn-run's command line ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "attn/Layout/GpuTarget.h"
#include "attn/Pipelines/CommandLine.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::run;
namespace cl = llvm::cl;

static cl::OptionCategory category("attn-run options");

//===----------------------------------------------------------------------===//
// What to run, and where
//===----------------------------------------------------------------------===//

static cl::opt<std::string> source(cl::Positional, cl::desc("SPEC|PACKAGE"),
                                   cl::cat(category));
static cl::opt<std::string>
    attention("attention", cl::value_desc("NAME"), cl::cat(category),
              cl::desc("the block of a spec that has several"));
static cl::opt<std::string>
    target("target", cl::value_desc("sm_NN"), cl::cat(category),
           cl::desc("what to compile for (default: the device)"));
static cl::opt<std::string> alternative(
    "alternative", cl::value_desc("NAME"), cl::cat(category),
    cl::desc("the only schedule to compile, of those that attn-opt --explain "
             "lists: main, cp_async, ... (default: all; the launch chooses)"));
static cl::opt<DeviceChoice, false, WordParser<DeviceChoice>> device(
    "device", cl::init(DeviceChoice::Auto), cl::cat(category),
    cl::desc("what to run on"),
    cl::values(clEnumValN(DeviceChoice::Auto, "auto",
                          "the first NVIDIA GPU, else the PTX simulator"),
               clEnumValN(DeviceChoice::Gpu, "gpu", "the first NVIDIA GPU"),
               clEnumValN(DeviceChoice::Simulator, "sim",
                          "the PTX simulator")));
static cl::opt<std::string>
    trace("trace", cl::value_desc("BLOCK:WARP[:LINE[-LINE]]"),
          cl::cat(category),
          cl::desc("on the simulator: print what one warp of one block does, "
                   "in a range of PTX lines"));
static cl::opt<std::string> stepLimit(
    "step-limit", cl::value_desc("N"), cl::cat(category),
    cl::desc("on the simulator: instructions that a warp may run before it is "
             "taken to run for ever (default 2^32)"));
static cl::opt<std::string>
    grid("grid", cl::value_desc("N"), cl::cat(category),
         cl::desc("blocks to launch (default: one per work item)"));

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static cl::opt<std::string> batch("batch", cl::value_desc("N"),
                                  cl::cat(category),
                                  cl::desc("batch entries (default 2)"));
static cl::opt<std::string> qLen("q-len", cl::value_desc("N"),
                                 cl::cat(category),
                                 cl::desc("query positions (default 512)"));
static cl::opt<std::string> kLen("k-len", cl::value_desc("N"),
                                 cl::cat(category),
                                 cl::desc("key positions (default: q-len)"));
static cl::opt<std::string>
    qLens("q-lens", cl::value_desc("N,N,..."), cl::cat(category),
          cl::desc("query positions of each sequence (batch varlen, padded)"));
static cl::opt<std::string>
    kLens("k-lens", cl::value_desc("N,N,..."), cl::cat(category),
          cl::desc("key positions of each sequence (default: q-lens)"));
static cl::opt<KvPacking, false, WordParser<KvPacking>>
    kvPacking("kv-packing", cl::init(KvPacking::Packed), cl::cat(category),
              cl::desc("where the keys of a batch varlen lie"),
              cl::values(clEnumValN(KvPacking::Packed, "packed",
                                    "one sequence behind the other (default)"),
                         clEnumValN(KvPacking::Gaps, "gaps",
                                    "so, with unused rows between them"),
                         clEnumValN(KvPacking::Batch, "batch",
                                    "each in a batch entry of its own")));
static cl::opt<TensorLayout, false, WordParser<TensorLayout>>
    axisOrder("layout", cl::init(TensorLayout::Bshd), cl::cat(category),
              cl::desc("order of axes in memory and in .npy files"),
              cl::values(clEnumValN(TensorLayout::Bshd, "bshd",
                                    "batch, position, head, dim (default)"),
                         clEnumValN(TensorLayout::Bhsd, "bhsd",
                                    "batch, head, position, dim")));
static cl::list<std::string>
    params("param", cl::value_desc("name=value"), cl::cat(category),
           cl::desc("value of a param; unbounded is the largest i32"));
static cl::list<std::string>
    tensors("tensor", cl::value_desc("name=value"), cl::cat(category),
            cl::desc("a tensor: file.npy, random, zeros, ones, pattern, a "
                     "number, or a list of numbers"));
static cl::opt<std::string> qFile("q", cl::value_desc("f.npy"),
                                  cl::cat(category), cl::desc("Q from a file"));
static cl::opt<std::string> kFile("k", cl::value_desc("f.npy"),
                                  cl::cat(category), cl::desc("K from a file"));
static cl::opt<std::string> vFile("v", cl::value_desc("f.npy"),
                                  cl::cat(category), cl::desc("V from a file"));
static cl::opt<std::string>
    qFill("q-fill", cl::value_desc("FILL"), cl::cat(category),
          cl::desc("made-up Q: random, normal:F, pattern, mod:N, onehot[:D], "
                   "iota:N, a number; then ,POSITION=NUMBER or "
                   ",FIRST..LAST=NUMBER"));
static cl::opt<std::string> kFill("k-fill", cl::value_desc("FILL"),
                                  cl::cat(category), cl::desc("made-up K"));
static cl::opt<std::string> vFill("v-fill", cl::value_desc("FILL"),
                                  cl::cat(category), cl::desc("made-up V"));
static cl::opt<std::string>
    rowGap("row-gap", cl::value_desc("N"), cl::cat(category),
           cl::desc("elements of gap after every position: slices of wider "
                    "tensors"));
static cl::opt<bool, false, FlagParser>
    sharedKv("shared-kv", cl::cat(category),
             cl::desc("one K and V for all batch entries "
                      "(batch stride 0)"));
static cl::opt<std::string> seed("seed", cl::value_desc("N"), cl::cat(category),
                                 cl::desc("of the random numbers"));

//===----------------------------------------------------------------------===//
// What to do
//===----------------------------------------------------------------------===//

static cl::opt<bool, false, FlagParser>
    check("check", cl::cat(category), cl::desc("compare with the oracle"));
static cl::opt<std::string>
    rows("rows", cl::value_desc("all|auto|N"), cl::init("auto"),
         cl::cat(category),
         cl::desc("rows to compare: all, or tile edges and N random rows for "
                  "each head"));
static cl::opt<std::string>
    expectO("expect-o", cl::value_desc("FILL"), cl::cat(category),
            cl::desc("closed form that o must have, checked too"));
static cl::opt<std::string>
    expectLse("expect-lse", cl::value_desc("FILL"), cl::cat(category),
              cl::desc("closed form that lse must have, checked too"));
static cl::opt<std::string> expectTolerance(
    "expect-tol", cl::value_desc("X"), cl::cat(category),
    cl::desc("relative tolerance of --expect-o (default: by dtype)"));
static cl::opt<bool, false, FlagParser> bench("bench", cl::cat(category),
                                              cl::desc("time the launch"));
static cl::opt<std::string>
    repeats("repeats", cl::value_desc("N"), cl::cat(category),
            cl::desc("samples of --bench (default 20)"));
static cl::opt<bool, false, FlagParser> json("json", cl::cat(category),
                                             cl::desc("print one JSON object"));
static cl::opt<std::string>
    saveO("save-o", cl::value_desc("f.npy"), cl::cat(category),
          cl::desc("write o as f32, axes in --layout order"));
static cl::opt<std::string>
    saveLse("save-lse", cl::value_desc("f.npy"), cl::cat(category),
            cl::desc("write lse as f32 [batch, heads, q_len]"));

//===----------------------------------------------------------------------===//
// To plain values
//===----------------------------------------------------------------------===//

/// Text, so that what is no number is reported like every other bad input.
static std::optional<int64_t> integer(const cl::opt<std::string> &option,
                                      int64_t low, int64_t high) {
  if (!option.getNumOccurrences())
    return std::nullopt;
  std::string field = "--" + option.ArgStr.str() + "=" + option;
  std::string range = std::to_string(low) + " .. " + std::to_string(high);
  std::optional<int64_t> value = parseInteger(option);
  if (!value)
    throw InputError(field + ": expected an integer of " + range + ", found " +
                     (option.empty() ? "nothing" : "'" + option + "'"));
  if (*value < low || *value > high)
    throw InputError(field + ": allowed " + range);
  return value;
}

static std::optional<double> number(const cl::opt<std::string> &option) {
  if (!option.getNumOccurrences())
    return std::nullopt;
  std::optional<double> value = parseNumber(option);
  if (!value || !(*value >= 0) || std::isinf(*value))
    throw InputError("--" + option.ArgStr.str() + "=" + option +
                     ": expected a finite number, 0 and up");
  return value;
}

static std::vector<NamedValue>
namedValues(const char *option, const cl::list<std::string> &entries) {
  std::vector<NamedValue> result;
  for (const std::string &entry : entries) {
    size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError(std::string(option) + " " + entry +
                       ": expected name=value");
    result.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
  }
  return result;
}

static std::optional<FillSpec>
parseFillOption(const char *option, const cl::opt<std::string> &value) {
  if (!value.getNumOccurrences())
    return std::nullopt;
  return FillSpec::parse(option, value);
}

static OperandSource operandSource(const char *fillOption,
                                   const cl::opt<std::string> &file,
                                   const cl::opt<std::string> &fill) {
  if (file.getNumOccurrences() && fill.getNumOccurrences())
    throw InputError(std::string(fillOption) + ": given beside a file");
  return {file, parseFillOption(fillOption, fill)};
}

/// No tensor that fits a host has a longer one.
static constexpr int64_t maxRowGap = int64_t(1) << 47;

static InputOptions inputOptions() {
  InputOptions options;
  options.lengths.batch = integer(batch, 0, INT32_MAX);
  options.lengths.qLen = integer(qLen, 0, maxSequenceLength);
  options.lengths.kLen = integer(kLen, 0, maxSequenceLength);
  if (qLens.getNumOccurrences())
    options.lengths.qLens = parseLengths("--q-lens", qLens);
  if (kLens.getNumOccurrences())
    options.lengths.kLens = parseLengths("--k-lens", kLens);
  options.lengths.packing = kvPacking;
  options.layout = axisOrder;
  options.q = operandSource("--q-fill", qFile, qFill);
  options.k = operandSource("--k-fill", kFile, kFill);
  options.v = operandSource("--v-fill", vFile, vFill);
  options.params = namedValues("--param", params);
  options.tensors = namedValues("--tensor", tensors);
  options.seed = uint64_t(integer(seed, 0, INT64_MAX).value_or(0));
  options.rowGap = integer(rowGap, 0, maxRowGap).value_or(0);
  options.sharedKv = sharedKv;
  return options;
}

/// An option that would do nothing is refused (C9).
static void requireEffect() {
  if (source.empty())
    throw InputError("expected a SPEC or a PACKAGE, found none; see --help");
  for (const cl::opt<std::string> *option :
       {&attention, &target, &alternative, &qFile, &kFile, &vFile, &saveO,
        &saveLse})
    if (option->getNumOccurrences() && option->empty())
      throw InputError("--" + option->ArgStr.str() + "=: expected " +
                       option->ValueStr.str() + ", found nothing");
  if (target.getNumOccurrences() && !layout::findGpuTarget(target))
    throw InputError("--target=" + target + ": expected one of " +
                     layout::gpuTargetNames());
  struct Dependent {
    const cl::Option &option;
    bool hasEffect;
    const char *needs;
  };
  for (const Dependent &entry :
       {Dependent{rows, check, "--check"}, Dependent{expectO, check, "--check"},
        Dependent{expectLse, check, "--check"},
        Dependent{expectTolerance, expectO.getNumOccurrences() > 0,
                  "--expect-o"},
        Dependent{repeats, bench, "--bench"}})
    if (entry.option.getNumOccurrences() && !entry.hasEffect)
      throw InputError("--" + entry.option.ArgStr.str() + ": needs " +
                       entry.needs);
}

static SimTrace traceOption() {
  SimTrace result;
  if (!trace.getNumOccurrences())
    return result;
  llvm::SmallVector<llvm::StringRef, 3> parts;
  llvm::StringRef(trace).split(parts, ':');
  auto fail = [](const llvm::Twine &what) {
    throw InputError("--trace=" + trace + ": " + what.str());
  };
  if (parts.size() != 2 && parts.size() != 3)
    fail("expected BLOCK:WARP, BLOCK:WARP:LINE or BLOCK:WARP:FIRST-LAST");
  auto number = [&](llvm::StringRef text, const char *what) -> unsigned {
    unsigned value = 0;
    if (text.getAsInteger(10, value))
      fail(llvm::Twine("expected the number of a ") + what + " in " +
           trace.ValueStr + ", found '" + text + "'");
    return value;
  };
  result.enabled = true;
  result.block = number(parts[0], "block");
  result.warp = number(parts[1], "warp");
  if (parts.size() == 2)
    return result;
  auto [first, last] = parts[2].split('-');
  result.firstLine = number(first, "PTX line");
  result.lastLine =
      parts[2].contains('-') ? number(last, "PTX line") : result.firstLine;
  if (result.lastLine < result.firstLine)
    fail("the last line comes before the first");
  return result;
}

static CheckOptions checkOptions(uint64_t seed) {
  CheckOptions options;
  options.rows = parseRowChoice(rows);
  options.rows.seed = seed;
  options.grid = integer(grid, 1, maxGrid);
  options.expect.o = parseFillOption("--expect-o", expectO);
  options.expect.lse = parseFillOption("--expect-lse", expectLse);
  options.expect.tolerance = number(expectTolerance);
  for (const auto *form : {&options.expect.o, &options.expect.lse})
    if (*form && (*form)->isRandom())
      throw InputError("--expect-o, --expect-lse: random is not a closed form");
  return options;
}

RunOptions run::parseOptions(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  std::optional<std::string> error = parseCommandLine(
      argc, argv,
      "Runs, checks and times an attention spec or a kernel package.\n"
      "Exit codes: 0 right, 1 the check failed or the kernel did wrong, 2 bad "
      "input, 3 no device.\n",
      category);
  if (error)
    throw InputError(*error);
  requireEffect();
  RunOptions options;
  options.source = source;
  options.attention = attention;
  options.target = target;
  options.alternative = alternative;
  options.device = device;
  options.trace = traceOption();
  options.stepLimit = integer(stepLimit, 1, INT64_MAX);
  if (options.device == DeviceChoice::Gpu)
    for (const cl::opt<std::string> *option : {&trace, &stepLimit})
      if (option->getNumOccurrences())
        throw InputError("--" + option->ArgStr.str() +
                         ": needs --device=sim, found gpu");
  options.inputs = inputOptions();
  options.checkOptions = checkOptions(options.inputs.seed);
  options.saveO = saveO;
  options.saveLse = saveLse;
  options.check = check;
  options.bench = bench;
  options.json = json;
  constexpr int64_t defaultRepeats = 20;
  options.benchRepeats =
      int(integer(repeats, 1, INT32_MAX).value_or(defaultRepeats));
  return options;
}
