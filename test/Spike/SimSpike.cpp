//===- SimSpike.cpp - Runs a TMA and wgmma attention kernel ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sim_spike KERNEL.ptx [--variant=NAME] [--seq=N] [--heads=N] [--batch=N]
//           [--grid=N] [--scale=N] [--plain] [--gpu]
//
// Runs a kernel of a fixed interface (four tensor maps, lse, lengths, scale,
// maybe a tile counter; d 128, bf16) on the simulator with its sanitizer and
// compares with a plain softmax. The variant, by default the file's name, says
// which tiles and how much shared memory the kernel was made for. It is the
// independent input of the simulator's tests, and takes mutants. Exits with 0
// when right, 1 when numbers are wrong, 2 on findings and errors.
//
//===----------------------------------------------------------------------===//

#include "attn/Sim/Simulator.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

using namespace attn;

namespace {

constexpr int headDim = 128;

struct Variant {
  const char *name;
  int queryRows, keyRows; ///< of the tiles
  int threads;
  unsigned sharedBytes;
  bool causal;
  bool counter; ///< blocks draw their tiles from a counter
};
constexpr Variant variants[] = {{"a128", 128, 128, 384, 163952, false, false},
                                {"e1m1qd", 128, 128, 384, 163952, false, true},
                                {"ce1m1qod", 128, 128, 384, 197632, true, true},
                                {"rbw3s", 192, 80, 512, 131184, false, false}};

struct Options {
  std::string file, variant;
  int seq = 256, heads = 1, batch = 1, grid = 0;
  int scale = 1; ///< of Q
  bool plain = false, gpu = false;
};

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto number = [&](const char *name, int &value) {
      size_t length = std::strlen(name);
      if (argument.compare(0, length, name) != 0)
        return false;
      value = std::atoi(argument.c_str() + length);
      return value > 0;
    };
    if (argument == "--plain")
      options.plain = true;
    else if (argument == "--gpu")
      options.gpu = true;
    else if (argument.compare(0, 10, "--variant=") == 0)
      options.variant = argument.substr(10);
    else if (argument[0] != '-' && options.file.empty())
      options.file = argument;
    else if (!number("--seq=", options.seq) &&
             !number("--heads=", options.heads) &&
             !number("--batch=", options.batch) &&
             !number("--grid=", options.grid) &&
             !number("--scale=", options.scale))
      return false;
  }
  if (options.variant.empty()) {
    size_t slash = options.file.rfind('/');
    std::string name =
        options.file.substr(slash == std::string::npos ? 0 : slash + 1);
    options.variant = name.substr(0, name.find('.'));
  }
  return !options.file.empty();
}

float fromBf16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}
uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <class T> std::vector<uint8_t> argument(const T &value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// Q, K, V and O as [batch * heads][seq][128].
class Attention {
public:
  Attention(const Options &options, const Variant &variant)
      : variant(variant), slices(options.batch * options.heads),
        seq(options.seq), grid(options.grid) {
    std::mt19937 generator(11);
    std::normal_distribution<float> normal;
    for (auto *tensor : {&q, &k, &v}) {
      tensor->resize(size_t(slices) * seq * headDim);
      for (uint16_t &value : *tensor)
        value = toBf16(normal(generator) *
                       (tensor == &q ? float(options.scale) : 1.0f));
    }
  }

  void run(Device &device, const std::string &ptx) {
    LaunchConfig config;
    auto add = [&](const std::vector<uint16_t> &tensor, int rows) {
      DevicePtr at = device.allocate(tensor.size() * 2);
      device.copyToDevice(at, tensor.data(), tensor.size() * 2);
      config.arguments.push_back(argument(encode(device, at, rows)));
      return at;
    };
    constexpr int outputRows = 16;
    o.assign(q.size(), 0x7fc0);
    lse.assign(size_t(slices) * seq, NAN);
    add(q, variant.queryRows);
    add(k, variant.keyRows);
    add(v, variant.keyRows);
    DevicePtr output = add(o, outputRows);
    DevicePtr logs = device.allocate(lse.size() * 4);
    device.copyToDevice(logs, lse.data(), lse.size() * 4);
    config.arguments.push_back(argument(logs));
    config.arguments.push_back(argument(seq));
    config.arguments.push_back(argument(slices));
    config.arguments.push_back(argument(float(scale * 1.4426950408889634)));
    if (variant.counter) {
      DevicePtr counter = device.allocate(16);
      device.fill32(counter, 0, 16);
      config.arguments.push_back(argument(counter));
    }
    int tiles = (seq + variant.queryRows - 1) / variant.queryRows * slices;
    constexpr int multiprocessors = 132;
    config.grid[0] = grid              ? grid
                     : variant.counter ? std::min(tiles, multiprocessors)
                                       : tiles;
    config.block[0] = variant.threads;
    config.sharedBytes = variant.sharedBytes;
    device.loadModule(ptx)->launch("attn", config);
    device.synchronize();
    device.copyFromDevice(o.data(), output, o.size() * 2);
    device.copyFromDevice(lse.data(), logs, lse.size() * 4);
  }

  /// Relative error of O, and the largest of lse, over some rows.
  bool check() const {
    double error = 0, size = 0, logError = 0;
    int step = std::max(1, slices * seq / 200);
    for (int row = 0; row < slices * seq; row += step)
      checkRow(row / seq, row % seq, error, size, logError);
    double relative = std::sqrt(error / size);
    std::printf("relative error of o %.2e, largest of lse %.2e\n", relative,
                logError);
    constexpr double limit = 1e-2;
    return relative < limit && logError < limit;
  }

private:
  EncodedTensorMap encode(Device &device, DevicePtr base, int rows) const {
    TensorMap map;
    constexpr unsigned boxColumns = 64;
    map.base = base;
    map.rank = 3;
    map.dims = {headDim, uint64_t(seq), uint64_t(slices)};
    map.strides = {headDim * 2, uint64_t(seq) * headDim * 2};
    map.box = {boxColumns, uint32_t(rows), 1};
    map.swizzle = TensorMap::Swizzle::Span128;
    map.promotion = TensorMap::L2Promotion::Bytes128;
    return device.encodeTensorMap(map);
  }

  void checkRow(int slice, int row, double &error, double &size,
                double &logError) const {
    const uint16_t *query = &q[(size_t(slice) * seq + row) * headDim];
    int visible = variant.causal ? row + 1 : seq;
    std::vector<double> scores(visible), expected(headDim, 0.0);
    double top = -INFINITY, sum = 0;
    for (int key = 0; key < visible; ++key) {
      const uint16_t *at = &k[(size_t(slice) * seq + key) * headDim];
      for (int i = 0; i < headDim; ++i)
        scores[key] += double(fromBf16(query[i])) * fromBf16(at[i]) * scale;
      top = std::max(top, scores[key]);
    }
    for (int key = 0; key < visible; ++key) {
      double p = std::exp(scores[key] - top);
      sum += p;
      const uint16_t *at = &v[(size_t(slice) * seq + key) * headDim];
      for (int i = 0; i < headDim; ++i)
        expected[i] += p * fromBf16(at[i]);
    }
    for (int i = 0; i < headDim; ++i) {
      double want = expected[i] / sum;
      double got = fromBf16(o[(size_t(slice) * seq + row) * headDim + i]);
      error += (got - want) * (got - want);
      size += want * want;
    }
    double off =
        std::fabs(lse[size_t(slice) * seq + row] - (top + std::log(sum)));
    // A NaN stays one.
    logError = off <= logError ? logError : off;
  }

  static constexpr double scale = 0.08838834764831845;
  const Variant &variant;
  int slices, seq, grid;
  std::vector<uint16_t> q, k, v, o;
  std::vector<float> lse;
};

int runVariant(const Options &options, const Variant &variant) {
  std::ifstream file(options.file);
  std::stringstream ptx;
  ptx << file.rdbuf();
  if (!file) {
    std::fprintf(stderr, "error: cannot read '%s'\n", options.file.c_str());
    return 2;
  }
  try {
    SimulatorOptions simulator;
    simulator.sanitize = !options.plain;
    // ce1m1qod releases its tile number without a bar.warp.sync, and resets its
    // counter without a fence.
    simulator.hardwareOrder = true;
    std::unique_ptr<Device> device =
        options.gpu ? openGpu() : openSimulator(simulator);
    Attention attention(options, variant);
    auto start = std::chrono::steady_clock::now();
    attention.run(*device, ptx.str());
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    std::printf("%.2f s; ", elapsed.count());
    return attention.check() ? 0 : 1;
  } catch (const DeviceError &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: sim_spike KERNEL.ptx [--variant=NAME] [--seq=N] "
                 "[--heads=N] [--batch=N] [--grid=N] [--scale=N] "
                 "[--plain] [--gpu]\n");
    return 2;
  }
  for (const Variant &variant : variants)
    if (options.variant == variant.name)
      return runVariant(options, variant);
  std::fprintf(stderr,
               "error: no variant '%s': expected a128, e1m1qd, "
               "ce1m1qod or rbw3s\n",
               options.variant.c_str());
  return 2;
}
