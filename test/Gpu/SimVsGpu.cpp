//===- SimVsGpu.cpp - The simulator against a GPU -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sim_vs_gpu [--all] [--filter=TEXT] [--seed=N] [--jobs=N] [--json=FILE]
//            [--markdown=FILE] [--emit=FOLDER] [--sim-only]
//
// Runs every instruction form on both and prints
//   form | values compared | mismatches | max ulp | verdict
// with one line per form that fails or has a finding, or per form with
// --all, and a last line that counts them. Exits with 1 when a form fails and
// with 3 when there is no GPU. --json and --markdown write the whole table,
// --emit the kernels, for ptxas; --sim-only runs them on the simulator with its
// sanitizer. A form that faults or hangs on the GPU fails alone.
//
//===----------------------------------------------------------------------===//

#include "FormRunner.h"
#include "WgmmaForms.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

using namespace attn;
using namespace attn::simtest;

namespace {

struct Options {
  bool all = false, simOnly = false;
  std::string filter, emit, json, markdown;
  unsigned seed = 1, jobs = 4;
};

/// The first line of an error.
std::string firstLine(const DeviceError &error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.substr(0, 300);
}

/// Runs `run` on both devices; false when one refuses or faults.
template <typename Run, typename Result>
bool runBoth(Device &simulator, Device *gpu, Run run, Result &ours,
             Result &theirs, Row &row) {
  try {
    ours = run(simulator);
  } catch (const DeviceError &error) {
    row.error = firstLine(error);
    return false;
  }
  try {
    theirs = gpu ? run(*gpu) : ours;
  } catch (const DeviceError &error) {
    row.gpuError = firstLine(error);
    return false;
  }
  return true;
}

/// A form that the simulator must find fault with, and the GPU as well or not.
Row compareFaulty(Device &simulator, Device *gpu, const MicroForm &form,
                  unsigned seed) {
  Row row;
  row.name = form.name;
  try {
    runForm(simulator, form, seed);
    row.error = "expected the finding " + form.finding + ", found none";
  } catch (const DeviceError &error) {
    if (firstLine(error).find(form.finding + ": ") == std::string::npos)
      row.error = firstLine(error);
    row.finding = form.finding;
  }
  try {
    if (gpu)
      runForm(*gpu, form, seed);
    if (gpu && form.faults)
      row.gpuError = "expected a fault, found none";
  } catch (const DeviceError &error) {
    row.faulted = true;
    if (!form.faults)
      row.gpuError = firstLine(error);
  }
  return row;
}

Row compareMicro(Device &simulator, Device *gpu, const MicroForm &form,
                 unsigned seed) {
  Row row;
  row.name = form.name;
  std::vector<uint64_t> ours, theirs;
  auto run = [&](Device &device) { return runForm(device, form, seed); };
  if (runBoth(simulator, gpu, run, ours, theirs, row))
    row.result = compareForm(form, seed, ours, theirs);
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
  WgmmaData data(wgmma, seed);
  std::vector<double> ours, theirs;
  auto run = [&](Device &device) {
    return wgmmaValues(wgmma, runWgmma(device, wgmma, data));
  };
  if (!runBoth(simulator, gpu, run, ours, theirs, row))
    return row;
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
    else if (const char *file = value("--json="))
      options.json = file;
    else if (const char *file = value("--markdown="))
      options.markdown = file;
    else if (const char *jobs = value("--jobs="))
      options.jobs = static_cast<unsigned>(std::strtoul(jobs, nullptr, 10));
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

std::vector<NamedForm> wantedForms(const Options &options) {
  std::vector<NamedForm> forms;
  auto add = [&](const std::string &name, CompareForm compare) {
    if (name.find(options.filter) != std::string::npos)
      forms.push_back({name, std::move(compare)});
  };
  unsigned seed = options.seed;
  for (const MicroForm &form : allForms())
    add(form.name, [form, seed](Device &simulator, Device *gpu) {
      return form.finding.empty() ? compareMicro(simulator, gpu, form, seed)
                                  : compareFaulty(simulator, gpu, form, seed);
    });
  for (const WgmmaCase &wgmma : wgmmaForms())
    add(wgmma.name(), [wgmma, seed](Device &simulator, Device *gpu) {
      return compareWgmma(simulator, gpu, wgmma, seed);
    });
  return forms;
}

/// False when the file cannot be written.
bool writeFile(const std::string &name,
               const std::function<void(std::ostream &)> &write) {
  if (name.empty())
    return true;
  std::ofstream file(name);
  write(file);
  file.flush();
  if (!file)
    std::fprintf(stderr, "error: cannot write to '%s'\n", name.c_str());
  return bool(file);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: sim_vs_gpu [--all] [--filter=TEXT] "
                         "[--seed=N] [--jobs=N] [--json=FILE] "
                         "[--markdown=FILE] [--emit=FOLDER] [--sim-only]\n");
    return 2;
  }
  if (!options.emit.empty())
    return emitAll(options);
  RunnerOptions how;
  how.useGpu = !options.simOnly;
  how.jobs = options.jobs;
  RunnerResult result = runForms(wantedForms(options), how);
  if (!result.noGpu.empty()) {
    std::fprintf(stderr, "no GPU to compare with: %s\n", result.noGpu.c_str());
    return 3;
  }
  if (how.useGpu)
    std::cout << "simulator against " << result.device << "\n\n";
  writeTable(std::cout, result.rows, options.all);
  std::cout << "\n" << summary(result.rows) << std::endl;
  bool written = writeFile(options.json, [&](std::ostream &out) {
    writeJson(out, result.rows, result.device, options.seed);
  });
  written &= writeFile(options.markdown, [&](std::ostream &out) {
    writeTable(out, result.rows, true);
    out << "\n" << summary(result.rows) << "\n";
  });
  return failures(result.rows) || !written ? 1 : 0;
}
