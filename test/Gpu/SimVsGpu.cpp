//===- SimVsGpu.cpp - The simulator against a GPU -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sim_vs_gpu [--all] [--filter=TEXT] [--seed=N] [--emit=FOLDER] [--sim-only]
//
// Runs every instruction form on both and prints
//   form | values compared | mismatches | max ulp | verdict
// with one line per form that fails, or per form with --all. Exits with 1 when
// a form fails and with 3 when there is no GPU. --emit writes the kernels,
// for ptxas; --sim-only runs them on the simulator with its sanitizer.
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"
#include "WgmmaForms.h"
#include "attn/Sim/Simulator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace attn;
using namespace attn::simtest;

namespace {

struct Options {
  bool all = false, simOnly = false;
  std::string filter, emit;
  unsigned seed = 1;
};

struct Row {
  std::string name, error;
  Comparison result;
  std::string known;

  bool fails() const {
    return !error.empty() || (result.outside && known.empty());
  }
};

class Table {
public:
  explicit Table(bool all) : all(all) {
    std::printf("| form | values compared | mismatches | max ulp | verdict |\n"
                "| --- | --- | --- | --- | --- |\n");
  }
  void add(const Row &row) {
    const Comparison &result = row.result;
    compared += result.compared;
    ++rows;
    failures += row.fails();
    exactRows += row.error.empty() && result.mismatches == 0;
    bool differs = !row.fails() && result.outside;
    known += differs;
    if (!all && !row.fails() && !differs)
      return;
    std::string verdict = !row.error.empty() ? "ERROR: " + row.error
                          : differs
                              ? "known: " + row.known + "; " + result.example
                          : result.outside     ? "FAILED: " + result.example
                          : !result.mismatches ? "equal bits"
                                               : "within the stated error";
    std::printf("| %s | %llu | %llu | %llu | %s |\n", row.name.c_str(),
                (unsigned long long)result.compared,
                (unsigned long long)result.mismatches,
                (unsigned long long)result.maxUlps, verdict.c_str());
    std::fflush(stdout);
  }
  /// The exit status.
  int finish() const {
    std::printf("\n%u forms, %llu values: %u forms with equal bits, %u within "
                "the stated error, %u known differences, %u failed\n",
                rows, (unsigned long long)compared, exactRows,
                rows - exactRows - failures - known, known, failures);
    return failures ? 1 : 0;
  }

private:
  bool all;
  unsigned rows = 0, failures = 0, exactRows = 0, known = 0;
  uint64_t compared = 0;
};

/// The first line of an error.
std::string firstLine(const DeviceError &error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.substr(0, 300);
}

Row compareMicro(Device &simulator, Device *gpu, const MicroForm &form,
                 unsigned seed) {
  Row row;
  row.name = form.name;
  row.known = form.known;
  try {
    std::vector<uint64_t> ours = runForm(simulator, form, seed);
    std::vector<uint64_t> theirs = gpu ? runForm(*gpu, form, seed) : ours;
    row.result = compareForm(form, seed, ours, theirs);
  } catch (const DeviceError &error) {
    row.error = firstLine(error);
  }
  return row;
}

/// How far a sum of products may be from the simulator's: nothing for small
/// integers; else the last places of the accumulator, of which a tensor core
/// keeps about 14 for 8-bit floats, times the sum of the terms' magnitudes.
double wgmmaUnit(const WgmmaCase &wgmma) {
  if (wgmma.integers)
    return 0;
  if (wgmma.d == "f16")
    return 0x1p-9;
  return wgmma.a[0] == 'e' ? 0x1p-12 : 0x1p-20;
}

Row compareWgmma(Device &simulator, Device *gpu, const WgmmaCase &wgmma,
                 unsigned seed) {
  Row row;
  row.name = wgmma.name();
  try {
    WgmmaData data(wgmma, seed);
    std::vector<double> ours =
        wgmmaValues(wgmma, runWgmma(simulator, wgmma, data));
    std::vector<double> theirs =
        gpu ? wgmmaValues(wgmma, runWgmma(*gpu, wgmma, data)) : ours;
    for (size_t i = 0; i < ours.size(); ++i) {
      ++row.result.compared;
      row.result.mismatches += ours[i] != theirs[i];
      double bound = wgmmaUnit(wgmma) * data.magnitude[i];
      if (std::fabs(ours[i] - theirs[i]) <= bound)
        continue;
      if (!row.result.outside++)
        row.result.example = "value " + std::to_string(i) + ": " +
                             std::to_string(ours[i]) + ", GPU " +
                             std::to_string(theirs[i]) + ", exact " +
                             std::to_string(data.expected[i]);
    }
  } catch (const DeviceError &error) {
    row.error = firstLine(error);
  }
  return row;
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto value = [&](const char *name) {
      return argument.compare(0, std::strlen(name), name) == 0
                 ? argument.c_str() + std::strlen(name)
                 : nullptr;
    };
    if (argument == "--all")
      options.all = true;
    else if (argument == "--sim-only")
      options.simOnly = true;
    else if (const char *text = value("--filter="))
      options.filter = text;
    else if (const char *folder = value("--emit="))
      options.emit = folder;
    else if (const char *seed = value("--seed="))
      options.seed = static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
    else
      return false;
  }
  return true;
}

int emitAll(const Options &options) {
  unsigned number = 0;
  auto write = [&](const std::string &name, const std::string &ptx) {
    std::ofstream file(options.emit + "/" + std::to_string(number++) + ".ptx");
    file << "// " << name << "\n" << ptx;
    return bool(file);
  };
  bool good = true;
  for (const MicroForm &form : allForms())
    good &= write(form.name, form.ptx());
  for (const WgmmaCase &wgmma : wgmmaForms())
    good &= write(wgmma.name(), wgmma.ptx());
  if (!good)
    std::fprintf(stderr, "error: cannot write to '%s'\n", options.emit.c_str());
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: sim_vs_gpu [--all] [--filter=TEXT] "
                         "[--seed=N] [--emit=FOLDER] [--sim-only]\n");
    return 2;
  }
  if (!options.emit.empty())
    return emitAll(options);
  std::unique_ptr<Device> gpu, simulator = openSimulator();
  if (!options.simOnly) {
    try {
      gpu = openGpu();
    } catch (const DeviceError &error) {
      std::fprintf(stderr, "no GPU to compare with: %s\n", error.what());
      return 3;
    }
    std::printf("simulator against %s\n\n", gpu->info().name.c_str());
  }
  auto wanted = [&](const std::string &name) {
    return name.find(options.filter) != std::string::npos;
  };
  Table table(options.all);
  for (const MicroForm &form : allForms())
    if (wanted(form.name))
      table.add(compareMicro(*simulator, gpu.get(), form, options.seed));
  for (const WgmmaCase &wgmma : wgmmaForms())
    if (wanted(wgmma.name()))
      table.add(compareWgmma(*simulator, gpu.get(), wgmma, options.seed));
  return table.finish();
}
