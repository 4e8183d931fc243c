//===- WgmmaCase.cpp - One wgmma as a kernel of its own -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaCase.h"
#include "SmallFloats.h"

#include <cmath>
#include <cstring>
#include <random>

namespace attn::simtest {
namespace {

constexpr unsigned rowsM = 64, threads = 128, depthBytes = 32, chunk = 16;
constexpr unsigned startB = 12288, sharedBytes = startB + 34816;

unsigned bytesOf(const std::string &type) {
  if (type == "tf32")
    return 4;
  return type == "f16" || type == "bf16" ? 2 : 1;
}

bool isInteger(const std::string &type) { return type == "s8" || type == "u8"; }

std::string registers(const std::string &prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

/// Where the elements of one operand are, from its start: PTX ISA
/// 9.7.15.5.1.2, by rows of the pattern instead of bits of the address.
struct Layout {
  Layout(const WgmmaCase &wgmma, bool isB)
      : mnMajor(isB ? wgmma.transposedB : wgmma.transposedA),
        element(bytesOf(isB ? wgmma.b : wgmma.a)), width(wgmma.swizzleBytes),
        step(mnMajor || width == chunk ? 0 : wgmma.step) {
    if (width == chunk) {
      leading = 128;
      stride = 256;
    } else {
      stride = 8 * width;
      leading = mnMajor ? 16 * width : chunk;
    }
  }

  /// Byte offset of element (row or column, k).
  unsigned at(unsigned mn, unsigned k) const {
    unsigned line = mnMajor ? k : mn;
    unsigned along = (mnMajor ? mn : k) * element;
    unsigned inChunk = along % chunk, number = along / chunk;
    if (width == chunk) {
      unsigned group = line / 8;
      return (mnMajor ? number * stride + group * leading
                      : group * stride + number * leading) +
             line % 8 * chunk + inChunk;
    }
    unsigned perRow = width / chunk;
    unsigned panel = number / perRow;
    unsigned within = number % perRow + step * (depthBytes / chunk);
    unsigned row = line % 8;
    // A row of 128 bytes of the pattern holds 128 / width lines.
    unsigned swizzled = within ^ (row * width / 128 % perRow);
    return line / 8 * stride + panel * leading + row * width +
           swizzled * chunk + inChunk;
  }

  uint64_t descriptor(unsigned start, unsigned baseOffset) const {
    uint64_t mode = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
    return uint64_t(start / chunk + step * (depthBytes / chunk)) |
           uint64_t(leading / chunk) << 16 | uint64_t(stride / chunk) << 32 |
           uint64_t(baseOffset) << 49 | mode << 62;
  }

  bool mnMajor;
  unsigned element, width, step, leading, stride;
};

/// A random element: bits and value.
class Elements {
public:
  Elements(std::string type, bool integers, unsigned seed)
      : type(std::move(type)), integers(integers), generator(seed) {}

  uint32_t next(double &value) {
    if (isInteger(type)) {
      uint32_t bits = generator() & 0xff;
      value = type == "s8" ? double(int8_t(bits)) : double(bits);
      return bits;
    }
    float raw = integers ? float(int(generator() % 7) - 3) : normal(generator);
    uint32_t bits = encodeFloat(type, raw);
    value = decodeFloat(type, bits);
    return bits;
  }

private:
  std::string type;
  bool integers;
  std::mt19937 generator;
  std::normal_distribution<float> normal;
};

void putBytes(uint8_t *at, uint32_t bits, unsigned count) {
  std::memcpy(at, &bits, count);
}

} // namespace

//===----------------------------------------------------------------------===//
// WgmmaCase
//===----------------------------------------------------------------------===//

unsigned WgmmaCase::depth() const { return depthBytes / bytesOf(a); }

unsigned WgmmaCase::registersD() const {
  return d == "f16" ? columns / 4 : columns / 2;
}

std::string WgmmaCase::name() const {
  std::string text = "wgmma.m64n" + std::to_string(columns) + "k" +
                     std::to_string(depth()) + "." + d + "." + a + "." + b;
  text += registersA ? " A in registers" : "";
  text += transposedA ? " A M-major" : "";
  text += transposedB ? " B N-major" : "";
  text += scaleA < 0 ? " -A" : "";
  text += scaleB < 0 ? " -B" : "";
  text += accumulates ? "" : " scale-d 0";
  text += predicate ? " by predicate" : "";
  text += saturates ? " .satfinite" : "";
  text += swizzleBytes == chunk ? " no swizzle"
                                : " swizzle " + std::to_string(swizzleBytes);
  text += step ? " step " + std::to_string(step) : "";
  text += shift ? " base offset " + std::to_string(shift / 128) : "";
  return text + (integers ? "" : " random");
}

std::string WgmmaCase::ptx() const {
  unsigned count = registersD();
  bool sixteen = bytesOf(a) == 2;
  std::string multiply =
      "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k" +
      std::to_string(depth()) + "." + d + "." + a + "." + b +
      (saturates ? ".satfinite" : "") + " " + registers("%d", count) + ", " +
      (registersA ? registers("%a", 4) : "%descA") + ", %descB, " +
      (predicate     ? "%scaleD"
       : accumulates ? "1"
                     : "0");
  if (!isInteger(a))
    multiply += ", " + std::to_string(scaleA) + ", " + std::to_string(scaleB);
  if (sixteen && !registersA)
    multiply += transposedA ? ", 1" : ", 0";
  if (sixteen)
    multiply += transposedB ? ", 1" : ", 0";
  std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry wgmma(.param .u64 image, .param .u64 fragments,
    .param .u64 accumulators, .param .u64 descA, .param .u64 descB,
    .param .u32 scaleD)
.reqntid 128
{
.reg .pred %scaleD, %more; .reg .b32 %t, %at, %base, %x<4>;
.reg .b32 %a<4>; .reg .b32 %d<)" +
                     std::to_string(count) +
                     R"(>;
.reg .b64 %descA, %descB, %from, %offset, %start;
.shared .align 1024 .b8 tile[)" +
                     std::to_string(sharedBytes) +
                     R"(];
mov.u32 %t, %tid.x;
ld.param.u64 %from, [image];
mov.u32 %base, tile;
shl.b32 %at, %t, 4;
copy:
cvt.u64.u32 %offset, %at;
add.s64 %offset, %from, %offset;
ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%offset];
{ .reg .b32 %to; add.s32 %to, %base, %at;
st.shared.v4.b32 [%to], {%x0, %x1, %x2, %x3}; }
add.s32 %at, %at, 2048;
setp.lt.u32 %more, %at, )" +
                     std::to_string(sharedBytes) +
                     R"(;
@%more bra copy;
fence.proxy.async;
bar.sync 0;
ld.param.u64 %descA, [descA]; ld.param.u64 %descB, [descB];
shr.u32 %at, %base, 4;
cvt.u64.u32 %start, %at;
add.s64 %descA, %descA, %start;
add.s64 %descB, %descB, %start;
ld.param.u32 %at, [scaleD];
setp.ne.u32 %scaleD, %at, 0;
ld.param.u64 %from, [fragments];
mul.wide.u32 %offset, %t, 16;
add.s64 %offset, %from, %offset;
ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%offset];
ld.param.u64 %from, [accumulators];
mul.wide.u32 %offset, %t, )" +
                     std::to_string(4 * count) +
                     ";\nadd.s64 %offset, %from, "
                     "%offset;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "ld.global.b32 %d" + std::to_string(i) + ", [%offset+" +
            std::to_string(4 * i) + "];\n";
  text += "wgmma.fence.sync.aligned;\n" + multiply +
          ";\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "st.global.b32 [%offset+" + std::to_string(4 * i) + "], %d" +
            std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

WgmmaData::WgmmaData(const WgmmaCase &wgmma, unsigned seed) {
  unsigned depth = wgmma.depth(), columns = wgmma.columns;
  std::mt19937 generator(seed);
  shared.resize(sharedBytes);
  for (uint8_t &byte : shared)
    byte = static_cast<uint8_t>(generator());
  Layout layoutA(wgmma, false), layoutB(wgmma, true);
  unsigned base = wgmma.shift / 128;
  descriptorA = layoutA.descriptor(wgmma.shift, base);
  descriptorB = layoutB.descriptor(startB + wgmma.shift, base);
  std::vector<double> a(rowsM * depth), b(columns * depth);
  fragments.resize(threads * 4);
  unsigned elementA = bytesOf(wgmma.a), elementB = bytesOf(wgmma.b);
  Elements elementsA(wgmma.a, wgmma.integers, seed + 1);
  Elements elementsB(wgmma.b, wgmma.integers, seed + 2);
  for (unsigned m = 0; m < rowsM; ++m)
    for (unsigned k = 0; k < depth; ++k) {
      uint32_t bits = elementsA.next(a[m * depth + k]);
      if (!wgmma.registersA)
        putBytes(&shared[wgmma.shift + layoutA.at(m, k)], bits, elementA);
      // Row m is lane group m % 8 of warp m / 16; 4 bytes of k per lane.
      unsigned byte = k * elementA, row = m % 16;
      unsigned thread = m / 16 * 32 + row % 8 * 4 + byte % 16 / 4;
      unsigned reg = row / 8 + 2 * (byte / 16);
      auto *words = reinterpret_cast<uint8_t *>(&fragments[thread * 4 + reg]);
      putBytes(words + byte % 4, bits, elementA);
    }
  for (unsigned n = 0; n < columns; ++n)
    for (unsigned k = 0; k < depth; ++k)
      putBytes(&shared[startB + wgmma.shift + layoutB.at(n, k)],
               elementsB.next(b[n * depth + k]), elementB);

  unsigned perRegister = wgmma.d == "f16" ? 2 : 1;
  accumulators.resize(size_t(threads) * wgmma.registersD());
  std::normal_distribution<float> normal;
  for (unsigned thread = 0; thread < threads; ++thread)
    for (unsigned i = 0; i < wgmma.registersD() * perRegister; ++i) {
      // Value i of a thread: column pairs, then the row eight further down.
      unsigned row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      double sum = 0, size = 0;
      for (unsigned k = 0; k < depth; ++k) {
        double term = a[row * depth + k] * b[column * depth + k];
        sum += wgmma.scaleA * wgmma.scaleB * term;
        size += std::fabs(term);
      }
      uint32_t &word =
          accumulators[size_t(thread) * wgmma.registersD() + i / perRegister];
      double before;
      if (wgmma.d == "s32") {
        word = wgmma.saturates ? (generator() & 1 ? 0x7ffffff0 : 0x80000010)
                               : generator();
        before = int32_t(word);
      } else {
        float value = wgmma.integers ? float(int(generator() % 9) - 4)
                                     : normal(generator);
        uint32_t bits = encodeFloat(wgmma.d, value);
        before = decodeFloat(wgmma.d, bits);
        if (perRegister == 2)
          word = i % 2 ? word | bits << 16 : bits;
        else
          word = bits;
      }
      double total = sum + (wgmma.accumulates ? before : 0);
      if (wgmma.saturates)
        total = std::fmin(std::fmax(total, INT32_MIN), INT32_MAX);
      else if (wgmma.d == "s32")
        total = int32_t(uint32_t(int64_t(total)));
      expected.push_back(total);
      magnitude.push_back(size + (wgmma.accumulates ? std::fabs(before) : 0));
    }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

template <class T> static std::vector<uint8_t> toArgument(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
static DevicePtr upload(Device &device, const std::vector<T> &values) {
  DevicePtr at = device.allocate(values.size() * sizeof(T));
  device.copyToDevice(at, values.data(), values.size() * sizeof(T));
  return at;
}

std::vector<uint32_t> runWgmma(Device &device, const WgmmaCase &wgmma,
                               const WgmmaData &data) {
  DevicePtr image = upload(device, data.shared);
  DevicePtr fragments = upload(device, data.fragments);
  DevicePtr accumulators = upload(device, data.accumulators);
  LaunchConfig config;
  config.block[0] = threads;
  config.arguments = {toArgument(image),
                      toArgument(fragments),
                      toArgument(accumulators),
                      toArgument(data.descriptorA),
                      toArgument(data.descriptorB),
                      toArgument(uint32_t(wgmma.accumulates))};
  std::unique_ptr<DeviceModule> module = device.loadModule(wgmma.ptx());
  module->launch("wgmma", config);
  device.synchronize();
  std::vector<uint32_t> bits(data.accumulators.size());
  device.copyFromDevice(bits.data(), accumulators, bits.size() * 4);
  for (DevicePtr at : {image, fragments, accumulators})
    device.release(at);
  return bits;
}

std::vector<double> wgmmaValues(const WgmmaCase &wgmma,
                                const std::vector<uint32_t> &bits) {
  std::vector<double> values;
  for (uint32_t word : bits) {
    if (wgmma.d == "s32") {
      values.push_back(int32_t(word));
    } else if (wgmma.d == "f16") {
      values.push_back(decodeFloat("f16", word & 0xffff));
      values.push_back(decodeFloat("f16", word >> 16));
    } else {
      values.push_back(decodeFloat("f32", word));
    }
  }
  return values;
}

} // namespace attn::simtest
