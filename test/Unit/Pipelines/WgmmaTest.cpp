//===- WgmmaTest.cpp - Kernels with roles, from the warp level, run -------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The modules of test/Conversion/WarpToNVVM that multiply with wgmma, lowered
// to PTX and run on the simulator with all its checks. Inputs are multiples of
// 1/2 below 2, so that all sums are exact and outputs equal to the bit.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Lower.h"
#include "attn/Sim/Simulator.h"
#include "attn/Target/Ptx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <regex>

using namespace mlir;
using namespace attn;

namespace {

constexpr int64_t headDim = 128, queries = 128;

uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits += 0x7FFF + ((bits >> 16) & 1);
  return static_cast<uint16_t>(bits >> 16);
}

float fromBf16(uint16_t value) {
  uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

template <class T> std::vector<uint8_t> argument(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// A matrix of `rows` x 128 in bf16.
struct Matrix {
  int64_t rows;
  std::vector<uint16_t> values;

  Matrix(int64_t rows, std::mt19937 &random) : rows(rows) {
    std::uniform_int_distribution<int> halves(-3, 3);
    for (int64_t i = 0; i < rows * headDim; ++i)
      values.push_back(toBf16(static_cast<float>(halves(random)) / 2));
  }
  float at(int64_t row, int64_t column) const {
    return fromBf16(values[row * headDim + column]);
  }
};

/// O = bf16(Q K^T) V.
std::vector<float> multiply(const Matrix &q, const Matrix &k, const Matrix &v) {
  std::vector<float> o(q.rows * headDim, 0);
  for (int64_t i = 0; i < q.rows; ++i)
    for (int64_t j = 0; j < k.rows; ++j) {
      float s = 0;
      for (int64_t d = 0; d < headDim; ++d)
        s += q.at(i, d) * k.at(j, d);
      float p = fromBf16(toBf16(s));
      for (int64_t d = 0; d < headDim; ++d)
        o[i * headDim + d] += p * v.at(j, d);
    }
  return o;
}

class Wgmma : public ::testing::Test {
protected:
  Wgmma() {
    SimulatorOptions options;
    options.progress = false;
    options.stepLimit = 1 << 24;
    device = openSimulator(options);
  }

  /// The PTX of a module of the lit tests.
  std::string compile(const std::string &name) {
    std::unique_ptr<MLIRContext> context = makeContext();
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
        std::string(ATTN_WARP_MODULES) + "/" + name, context.get());
    if (!module)
      return "";
    return lowerToPtx(*module).value_or("");
  }

  template <class T> DevicePtr upload(const std::vector<T> &values) {
    DevicePtr at = device->allocate(values.size() * sizeof(T));
    device->copyToDevice(at, values.data(), values.size() * sizeof(T));
    return at;
  }

  /// The argument that describes the panels of a matrix's tiles.
  void addMap(const Matrix &matrix, uint32_t tileRows) {
    TensorMap map;
    map.base = upload(matrix.values);
    map.rank = 4;
    map.dims = {headDim, static_cast<uint64_t>(matrix.rows), 1, 1};
    uint64_t bytes = matrix.values.size() * sizeof(uint16_t);
    map.strides = {headDim * sizeof(uint16_t), bytes, bytes};
    map.box = {64, tileRows, 1, 1};
    map.swizzle = TensorMap::Swizzle::Span128;
    EncodedTensorMap encoded = device->encodeTensorMap(map);
    config.arguments.emplace_back(encoded.begin(), encoded.end());
  }

  /// Runs the kernel; the rest of the arguments follow the maps.
  template <class T>
  std::vector<T> run(const std::string &ptx, const std::string &kernel,
                     int64_t rows, std::vector<std::vector<uint8_t>> more,
                     uint32_t sharedBytes) {
    std::vector<T> out(queries * headDim, T(-1));
    DevicePtr at = upload(out);
    config.arguments.push_back(argument(at));
    config.arguments.push_back(argument(headDim));
    config.arguments.push_back(argument(static_cast<int32_t>(rows)));
    for (std::vector<uint8_t> &value : more)
      config.arguments.push_back(std::move(value));
    config.block[0] = 384;
    config.sharedBytes = sharedBytes;
    device->loadModule(ptx)->launch(kernel, config);
    device->copyFromDevice(out.data(), at, out.size() * sizeof(T));
    return out;
  }

  std::unique_ptr<Device> device;
  LaunchConfig config;
  std::mt19937 random{7};
};

/// To the optimiser no text with a barrier in it may change its control flow,
/// which MLIR's inline assembly cannot say.
TEST(WgmmaText, IsConvergent) {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      std::string(ATTN_WARP_MODULES) + "/wgmma-loop.mlir", context.get());
  ASSERT_TRUE(module && succeeded(lowerTo(*module, ir::Level::Llvm)));
  TargetOptions options;
  options.chip = "sm_90a";
  std::string text =
      emitLlvmIr(*module->getOps<gpu::GPUModuleOp>().begin(), options)
          .value_or("");
  static const std::regex call(
      "asm sideeffect \"[^\"]*(wgmma|mbarrier)[^\"]*\".*(#[0-9]+)");
  int calls = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end;
       ++it, ++calls)
    EXPECT_NE(text.find("attributes " + it->str(2) + " = { convergent"),
              std::string::npos)
        << it->str().substr(0, 80);
  EXPECT_GE(calls, 10);
}

TEST_F(Wgmma, OneTile) {
  std::string ptx = compile("wgmma-gemm.mlir");
  ASSERT_NE(ptx, "");
  Matrix q(queries, random), k(128, random), v(128, random);
  addMap(q, 128);
  addMap(k, 128);
  addMap(v, 128);
  std::vector<float> out = run<float>(ptx, "gemm", queries, {}, 98304 + 24);
  EXPECT_EQ(out, multiply(q, k, v));
}

/// Rings that go round more than twice, and with fewer tiles than slots; rows
/// past the end are not written.
class WgmmaLoop : public Wgmma, public ::testing::WithParamInterface<int> {};

TEST_P(WgmmaLoop, Rings) {
  std::string ptx = compile("wgmma-loop.mlir");
  ASSERT_NE(ptx, "");
  int tiles = GetParam();
  constexpr int64_t rows = 125;
  Matrix q(queries, random), k(64 * tiles, random), v(64 * tiles, random);
  addMap(q, 128);
  addMap(k, 64);
  addMap(v, 64);
  std::vector<uint16_t> out =
      run<uint16_t>(ptx, "loop", rows, {argument(tiles)}, 98376);
  std::vector<float> expected = multiply(q, k, v);
  for (int64_t i = 0; i < queries * headDim; ++i)
    ASSERT_EQ(out[i], i < rows * headDim ? toBf16(expected[i]) : 0xFFFF)
        << "row " << i / headDim << ", column " << i % headDim;
}

INSTANTIATE_TEST_SUITE_P(Tiles, WgmmaLoop, ::testing::Values(1, 2, 3, 6));

} // namespace
