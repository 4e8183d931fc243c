//===- Options.cpp - attn-run's command line ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace attn;
using namespace attn::run;
namespace cl = llvm::cl;

static cl::OptionCategory category("attn-run options");

//===----------------------------------------------------------------------===//
// What to run, and where
//===----------------------------------------------------------------------===//

static cl::opt<std::string> source(cl::Positional, cl::Required,
                                   cl::desc("SPEC|PACKAGE"), cl::cat(category));
static cl::opt<std::string>
    attention("attention", cl::value_desc("NAME"), cl::cat(category),
              cl::desc("the block of a spec that has several"));
static cl::opt<std::string>
    target("target", cl::value_desc("sm_NN"), cl::cat(category),
           cl::desc("what to compile for (default: the device)"));
static cl::opt<DeviceChoice> device(
    "device", cl::init(DeviceChoice::Auto), cl::cat(category),
    cl::desc("what to run on"),
    cl::values(clEnumValN(DeviceChoice::Auto, "auto",
                          "the first NVIDIA GPU, else the PTX simulator"),
               clEnumValN(DeviceChoice::Gpu, "gpu", "the first NVIDIA GPU"),
               clEnumValN(DeviceChoice::Simulator, "sim",
                          "the PTX simulator")));
static cl::opt<int64_t>
    grid("grid", cl::value_desc("N"), cl::cat(category),
         cl::desc("blocks to launch (default: one per work item)"));

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static cl::opt<int64_t> batch("batch", cl::value_desc("N"), cl::cat(category),
                              cl::desc("batch entries (default 2)"));
static cl::opt<int64_t> qLen("q-len", cl::value_desc("N"), cl::cat(category),
                             cl::desc("query positions (default 512)"));
static cl::opt<int64_t> kLen("k-len", cl::value_desc("N"), cl::cat(category),
                             cl::desc("key positions (default: q-len)"));
static cl::opt<TensorLayout>
    layout("layout", cl::init(TensorLayout::Bshd), cl::cat(category),
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
static cl::opt<int64_t>
    rowGap("row-gap", cl::value_desc("N"), cl::init(0), cl::cat(category),
           cl::desc("elements of gap after every position: slices of wider "
                    "tensors"));
static cl::opt<bool> sharedKv("shared-kv", cl::cat(category),
                              cl::desc("one K and V for all batch entries "
                                       "(batch stride 0)"));
static cl::opt<uint64_t> seed("seed", cl::value_desc("N"), cl::init(0),
                              cl::cat(category),
                              cl::desc("of the random numbers"));

//===----------------------------------------------------------------------===//
// What to do
//===----------------------------------------------------------------------===//

static cl::opt<bool> check("check", cl::cat(category),
                           cl::desc("compare with the oracle"));
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
static cl::opt<double> expectTolerance(
    "expect-tol", cl::value_desc("X"), cl::cat(category),
    cl::desc("relative tolerance of --expect-o (default: by dtype)"));
static cl::opt<bool> bench("bench", cl::cat(category),
                           cl::desc("time the launch"));
static cl::opt<int> repeats("repeats", cl::value_desc("N"), cl::init(20),
                            cl::cat(category),
                            cl::desc("samples of --bench (default 20)"));
static cl::opt<bool> json("json", cl::cat(category),
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

template <typename T> static std::optional<T> given(const cl::opt<T> &option) {
  if (!option.getNumOccurrences())
    return std::nullopt;
  return option.getValue();
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

static InputOptions inputOptions() {
  InputOptions options;
  options.batch = given(batch);
  options.qLen = given(qLen);
  options.kLen = given(kLen);
  options.layout = layout;
  options.q = operandSource("--q-fill", qFile, qFill);
  options.k = operandSource("--k-fill", kFile, kFill);
  options.v = operandSource("--v-fill", vFile, vFill);
  options.params = namedValues("--param", params);
  options.tensors = namedValues("--tensor", tensors);
  options.seed = seed;
  options.rowGap = rowGap;
  options.sharedKv = sharedKv;
  return options;
}

/// An option that would do nothing is refused (C9).
static void requireEffect() {
  for (const cl::opt<std::string> *option :
       {&attention, &target, &qFile, &kFile, &vFile, &saveO, &saveLse})
    if (option->getNumOccurrences() && option->empty())
      throw InputError("--" + option->ArgStr.str() + "=: expected " +
                       option->ValueStr.str() + ", found nothing");
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

static CheckOptions checkOptions() {
  CheckOptions options;
  options.rows = parseRowChoice(rows);
  options.rows.seed = seed;
  options.grid = given(grid);
  if (options.grid && (*options.grid < 1 || *options.grid > maxGrid))
    throw InputError("--grid=" + std::to_string(*options.grid) +
                     ": allowed 1 .. " + std::to_string(maxGrid));
  options.expect.o = parseFillOption("--expect-o", expectO);
  options.expect.lse = parseFillOption("--expect-lse", expectLse);
  options.expect.tolerance = given(expectTolerance);
  for (const auto *form : {&options.expect.o, &options.expect.lse})
    if (*form && (*form)->isRandom())
      throw InputError("--expect-o, --expect-lse: random is not a closed form");
  if (options.expect.tolerance && !(*options.expect.tolerance >= 0))
    throw InputError("--expect-tol: allowed 0 and up");
  return options;
}

std::optional<RunOptions> run::parseOptions(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  bool parsed = cl::ParseCommandLineOptions(
      argc, argv,
      "Runs, checks and times an attention spec or a kernel package.\n"
      "Exit codes: 0 right, 1 the check failed, 2 bad input, 3 no device.\n",
      &errorStream);
  if (!parsed) {
    // A value that does not parse goes to stderr whatever stream is given.
    if (errors.empty())
      return std::nullopt;
    // The first line, without the tool's name, which main puts in front.
    std::string first = errors.substr(0, errors.find('\n'));
    size_t at = first.find(": ");
    throw InputError(at == std::string::npos ? first : first.substr(at + 2));
  }
  requireEffect();
  RunOptions options;
  options.source = source;
  options.attention = attention;
  options.target = target;
  options.device = device;
  options.inputs = inputOptions();
  options.checkOptions = checkOptions();
  options.saveO = saveO;
  options.saveLse = saveLse;
  options.check = check;
  options.bench = bench;
  options.json = json;
  if (repeats < 1)
    throw InputError("--repeats=" + std::to_string(repeats) +
                     ": allowed 1 and up");
  options.benchRepeats = repeats;
  return options;
}
