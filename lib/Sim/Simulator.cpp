//===- Simulator.cpp - The attn::Device that runs on the CPU --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Sim/Simulator.h"
#include "Block.h"
#include "Decoder.h"
#include "Launch.h"
#include "TensorMapCode.h"

#include <algorithm>
#include <chrono>

namespace attn {

using namespace sim;

std::string SimFinding::str() const {
  return check + ": line " + std::to_string(line) + ": `" + instruction +
         "`: " + where + ": " + what + "; " + mend;
}

namespace {

constexpr int simulatedMajor = 9, simulatedMinor = 0;
constexpr int64_t sharedPerBlock = 227 * 1024;
constexpr int64_t sharedPerMultiprocessor = 228 * 1024;
/// What the system takes of each resident block's shared memory.
constexpr int64_t sharedReserved = 1024;
constexpr int threadsPerMultiprocessor = 2048;
constexpr int blocksPerMultiprocessor = 32;
constexpr unsigned newestMajor = 9;

class Module : public DeviceModule {
public:
  Module(const std::string &text, std::shared_ptr<DeviceMemory> memory,
         const SimulatorOptions &options)
      : text(text), memory(std::move(memory)), options(options) {
    try {
      load();
    } catch (const PtxError &error) {
      releaseVariables();
      throw ModuleError(std::string("simulator: ") + error.what());
    } catch (...) {
      releaseVariables();
      throw;
    }
  }
  ~Module() override { releaseVariables(); }

  void launch(const std::string &kernel, const LaunchConfig &config) override {
    Launch(find(kernel), config, *memory, options).run();
  }

  int occupancy(const std::string &kernel, int threads,
                int64_t sharedBytes) override {
    const Program &program = find(kernel);
    if (threads <= 0)
      throw DeviceError("simulator: occupancy of a block of " +
                        std::to_string(threads) + " threads");
    int byThreads = threadsPerMultiprocessor /
                    ((threads + warpSize - 1) / warpSize * warpSize);
    int64_t shared = sharedBytes + program.staticSharedBytes + sharedReserved;
    auto byShared = static_cast<int>(sharedPerMultiprocessor / shared);
    return std::min({byThreads, byShared, blocksPerMultiprocessor});
  }

private:
  void load() {
    AstModule module = parsePtx(text);
    if (module.versionMajor > newestMajor)
      throw PtxError(1, "PTX version " + std::to_string(module.versionMajor) +
                            "." + std::to_string(module.versionMinor) +
                            ", expected at most 9.x");
    SymbolAddresses symbols;
    for (const AstVariable &variable : module.variables)
      if (variable.space == Space::Global || variable.space == Space::Const)
        symbols[variable.name] = allocate(variable);
    for (const AstVariable &variable : module.variables)
      resolveReferences(variable, symbols);
    for (const AstKernel &kernel : module.kernels)
      programs.push_back(decodeKernel(module, kernel, symbols));
  }

  uint64_t allocate(const AstVariable &variable) {
    uint64_t base =
        memory->allocate(variable.bytes, std::string(variable.name));
    variables.push_back(base);
    if (!variable.initializer.empty())
      std::copy(variable.initializer.begin(), variable.initializer.end(),
                memory->host(base, variable.initializer.size(), "initialiser"));
    return base;
  }

  void resolveReferences(const AstVariable &variable,
                         const SymbolAddresses &symbols) {
    for (const AstVariable::Reference &reference : variable.references) {
      auto target = symbols.find(reference.symbol);
      if (target == symbols.end())
        throw PtxError(variable.line, "no variable is called '" +
                                          std::string(reference.symbol) + "'");
      uint64_t address =
          target->second + static_cast<uint64_t>(reference.addend);
      uint64_t room = variable.bytes - reference.offset;
      uint8_t *to = memory->host(symbols.at(variable.name) + reference.offset,
                                 std::min<uint64_t>(room, sizeof(address)),
                                 "initialiser");
      std::copy_n(reinterpret_cast<const uint8_t *>(&address),
                  std::min<uint64_t>(room, sizeof(address)), to);
    }
  }

  void releaseVariables() {
    for (uint64_t base : variables)
      memory->release(base);
    variables.clear();
  }

  const Program &find(const std::string &kernel) const {
    std::string names;
    for (const auto &program : programs) {
      if (program->name == kernel)
        return *program;
      names += names.empty() ? "" : ", ";
      names += "'" + program->name + "'";
    }
    throw ModuleError("simulator: no kernel '" + kernel + "', found " +
                      (names.empty() ? "none" : names));
  }

  const std::string text; ///< the AST's names point into it while decoding
  /// Shared with the device, which may be closed first.
  const std::shared_ptr<DeviceMemory> memory;
  const SimulatorOptions options;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<uint64_t> variables;
};

class Simulator : public Device {
public:
  explicit Simulator(const SimulatorOptions &options) : options(options) {}

  DeviceInfo info() const override {
    DeviceInfo info;
    info.name = "simulator";
    info.smMajor = simulatedMajor;
    info.smMinor = simulatedMinor;
    info.multiprocessors = simulatedMultiprocessors;
    info.sharedBytesPerBlock = sharedPerBlock;
    return info;
  }
  DevicePtr allocate(size_t bytes) override { return memory->allocate(bytes); }
  void release(DevicePtr ptr) override { memory->release(ptr); }

  void copyToDevice(DevicePtr dst, const void *src, size_t bytes) override {
    if (bytes)
      std::copy_n(static_cast<const uint8_t *>(src), bytes,
                  memory->host(dst, bytes, "copy to the device"));
  }
  void copyFromDevice(void *dst, DevicePtr src, size_t bytes) override {
    if (bytes)
      std::copy_n(memory->host(src, bytes, "copy from the device"), bytes,
                  static_cast<uint8_t *>(dst));
  }
  void fill32(DevicePtr dst, uint32_t pattern, size_t bytes) override {
    if (bytes % sizeof(pattern) || dst % sizeof(pattern))
      throw DeviceError("simulator: fill32 of " + std::to_string(bytes) +
                        " bytes, expected a multiple of 4");
    if (bytes)
      std::fill_n(
          reinterpret_cast<uint32_t *>(memory->host(dst, bytes, "fill32")),
          bytes / sizeof(pattern), pattern);
  }

  std::unique_ptr<DeviceModule> loadModule(const std::string &ptx) override {
    return std::make_unique<Module>(ptx, memory, options);
  }
  EncodedTensorMap encodeTensorMap(const TensorMap &map) override {
    return sim::encodeTensorMap(map, memory->device);
  }
  void synchronize() override {} // launches return when the grid is done

  double timeMilliseconds(StreamHandle, int repeats, void (*body)(void *),
                          void *context) override {
    using namespace std::chrono;
    auto start = steady_clock::now();
    for (int i = 0; i < repeats; ++i)
      body(context);
    return duration<double, std::milli>(steady_clock::now() - start).count();
  }

private:
  SimulatorOptions options;
  std::shared_ptr<DeviceMemory> memory = std::make_shared<DeviceMemory>();
};

} // namespace

std::unique_ptr<Device> openSimulator(const SimulatorOptions &options) {
  return std::make_unique<Simulator>(options);
}

std::unique_ptr<Device> openSimulator() {
  return openSimulator(SimulatorOptions());
}

} // namespace attn
