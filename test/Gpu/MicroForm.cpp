//===- MicroForm.cpp - One instruction form as a kernel -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"
#include "SmallFloats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

namespace attn::simtest {
namespace {

std::string elementOf(const std::string &kind) {
  // "tiny e4m3x2 twice": e4m3.
  std::string type = kind.substr(kind.find(' ') + 1);
  size_t pair = type.find("x2");
  return pair == std::string::npos ? type : type.substr(0, pair);
}

bool isPair(const std::string &kind) {
  return kind.find("x2") != std::string::npos;
}

bool isFloatElement(const std::string &type) {
  return type == "f16" || type == "bf16" || type == "f32" || type == "f64" ||
         type == "e4m3" || type == "e5m2";
}

unsigned elementBits(const std::string &type) {
  if (type == "e4m3" || type == "e5m2")
    return 8;
  size_t digit = type.find_first_of("123468");
  return digit == std::string::npos ? 32
                                    : unsigned(std::atoi(type.c_str() + digit));
}

double decodeAny(const std::string &type, uint64_t bits) {
  if (type != "f64")
    return decodeFloat(type, static_cast<uint32_t>(bits));
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace

unsigned bitsOfKind(const std::string &kind) {
  unsigned count = kind.find(" twice") != kind.npos ? 4 : isPair(kind) ? 2 : 1;
  return elementBits(elementOf(kind)) * count;
}

std::string inputRegister(const std::string &kind, size_t index) {
  unsigned bits = bitsOfKind(kind);
  const char *prefix = bits == 64 ? "%i" : bits == 16 ? "%h" : "%r";
  return prefix + std::to_string(index);
}

MicroForm plainForm(const std::string &op, const std::string &type,
                    const std::vector<std::string> &inputs,
                    Tolerance tolerance) {
  MicroForm form;
  form.name = op;
  unsigned bits = bitsOfKind(type);
  std::string to = type == "pred" ? "%p0"
                   : bits == 64   ? "%y0"
                   : bits == 16   ? "%z0"
                                  : "%x0";
  form.body = op + " " + to;
  for (size_t i = 0; i < inputs.size(); ++i)
    form.body += ", " + inputRegister(inputs[i], i);
  form.body += ";";
  form.inputs = inputs;
  form.outputs = {{to, type}};
  form.tolerance = tolerance;
  return form;
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

std::string MicroForm::ptx() const {
  std::string text =
      R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry form(.param .u64 in, .param .u64 out, .param .u64 scratch)" +
      std::string(map ? ",\n    .param .align 64 .b8 map[128]" : "") +
      R"()
.reqntid 128
{
.reg .pred %p<8>; .reg .b16 %h<12>, %z<16>; .reg .b32 %r<12>, %x<32>;
.reg .b64 %i<12>, %y<16>, %o, %in, %out, %g, %offset;
.reg .b32 %t, %item, %a, %w, %lane, %warp;
.shared .align 1024 .b8 own[2048];
.shared .align 1024 .b8 tiles[4096];
.local .align 16 .b8 loc[64];
mov.u32 %t, %tid.x;
mov.u32 %item, %ctaid.x;
mad.lo.u32 %item, %item, 128, %t;
and.b32 %lane, %t, 31;
shr.u32 %warp, %t, 5;
mov.u32 %a, own;
mad.lo.u32 %a, %t, 16, %a;
mov.u32 %w, tiles;
mad.lo.u32 %w, %warp, 1024, %w;
ld.param.u64 %in, [in];
ld.param.u64 %out, [out];
ld.param.u64 %g, [scratch];
mul.wide.u32 %offset, %item, 16;
add.s64 %g, %g, %offset;
)";
  auto perItem = [&](const char *base, size_t count) {
    text += "mul.wide.u32 %offset, %item, " + std::to_string(8 * count) +
            ";\nadd.s64 %" + base + ", %" + base + ", %offset;\n";
  };
  perItem("in", inputs.size());
  perItem("out", outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string n = std::to_string(i);
    std::string from = n + ", [%in+" + std::to_string(8 * i) + "];\n";
    text += "ld.global.b64 %i" + from + "ld.global.b32 %r" + from +
            "ld.global.b16 %h" + from;
  }
  if (map)
    text += "mov.b64 %y6, map;\ncvta.param.u64 %y6, %y6;\n";
  text += body + "\n";
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output &output = outputs[i];
    unsigned bits = bitsOfKind(output.type);
    if (output.type == "pred")
      text += "selp.b64 %o, 1, 0, " + output.reg + ";\n";
    else if (bits == 64)
      text += "mov.b64 %o, " + output.reg + ";\n";
    else
      text += "cvt.u64.u" + std::to_string(bits) + " %o, " + output.reg + ";\n";
    text += "st.global.b64 [%out+" + std::to_string(8 * i) + "], %o;\n";
  }
  return text + "ret;\n}\n";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

class Values {
public:
  explicit Values(unsigned seed) : generator(seed) {}

  uint64_t next(const std::string &kind) {
    std::string element = elementOf(kind);
    if (!isPair(kind))
      return one(kind, element);
    unsigned bits = elementBits(element);
    uint64_t value = 0;
    for (unsigned i = 0; i < (kind.find(" twice") == kind.npos ? 2u : 4u); ++i)
      value |= one(kind, element) << i * bits;
    return value;
  }

private:
  uint64_t one(const std::string &kind, const std::string &element) {
    if (kind == "shift")
      return generator() % 64;
    if (kind == "lane")
      return generator() % 32;
    if (kind == "angle")
      return encodeFloat("f32", (generator() % 4001) / 100.0f - 20.0f);
    if (kind == "positive")
      return encodeFloat("f32", std::ldexp(1 + (generator() % 8191) / 8192.0f,
                                           int(generator() % 200) - 100));
    if (kind == "nonzero32")
      return integer(32) | 1;
    if (kind == "nonzero64")
      return integer(64) | 1;
    if (kind.compare(0, 5, "tiny ") == 0)
      return tiny(element);
    if (kind == "pairs f32") // two ordinary numbers in 64 bits
      return uint64_t(encodeFloat("f32", plain())) << 32 |
             encodeFloat("f32", plain());
    if (kind.compare(0, 7, "number ") == 0) {
      uint64_t bits = floating(element, elementBits(element));
      double value = decodeAny(element, bits);
      return value == value ? bits : encodeFloat(element, 1.0f);
    }
    if (kind.compare(0, 6, "plain ") == 0)
      return encodeFloat(element, plain());
    unsigned bits = elementBits(element);
    return isFloatElement(element) ? floating(element, bits) : integer(bits);
  }

  float plain() { return (generator() % 8193) / 2048.0f - 2.0f; }

  uint64_t tiny(const std::string &element) {
    int value = int(generator() % 7) - 3;
    if (element == "f64") {
      double wide = value;
      uint64_t bits;
      std::memcpy(&bits, &wide, sizeof(bits));
      return bits;
    }
    if (isFloatElement(element))
      return encodeFloat(element, float(value));
    return uint64_t(int64_t(value)) & mask(elementBits(element));
  }

  static uint64_t mask(unsigned bits) {
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }

  uint64_t integer(unsigned bits) {
    uint64_t top = uint64_t(1) << (bits - 1);
    const uint64_t edges[] = {0,   1,       2,       mask(bits),
                              top, top - 1, top + 1, mask(bits) - 1};
    uint64_t random = uint64_t(generator()) << 32 | generator();
    switch (generator() % 4) {
    case 0:
      return edges[random % 8];
    case 1: // few significant bits
      return (random >> generator() % 64) & mask(bits);
    default:
      return random & mask(bits);
    }
  }

  /// Half of the values are of ordinary size, the rest any bits and edges.
  uint64_t floating(const std::string &element, unsigned bits) {
    uint64_t random = uint64_t(generator()) << 32 | generator();
    if (generator() % 8 == 0)
      return random & mask(bits);
    unsigned mantissa = element == "f64"    ? 52
                        : element == "f32"  ? 23
                        : element == "f16"  ? 10
                        : element == "bf16" ? 7
                        : element == "e4m3" ? 3
                                            : 2;
    uint64_t sign = (random >> 63) << (bits - 1);
    uint64_t top = mask(bits - 1) >> mantissa << mantissa; // infinity
    if (generator() % 8 == 0) {
      const uint64_t edges[] = {0,
                                1,
                                uint64_t(1) << mantissa,
                                (uint64_t(1) << mantissa) - 1,
                                top,
                                top - 1,
                                top | 1,
                                top >> 1};
      return edges[random % 8] | sign;
    }
    uint64_t one = (mask(bits - 1) >> mantissa) / 2;
    uint64_t exponent = one + random % 9 - (one > 4 ? 4 : 1);
    return sign | exponent << mantissa | (random >> 8 & mask(mantissa));
  }

  std::mt19937 generator;
};

std::vector<uint64_t> inputsOf(const MicroForm &form, unsigned seed) {
  Values values(seed);
  std::vector<uint64_t> inputs;
  for (unsigned item = 0; item < formItems; ++item)
    for (const std::string &kind : form.inputs)
      inputs.push_back(values.next(kind));
  if (inputs.empty())
    inputs.resize(1);
  return inputs;
}

std::vector<uint8_t> toArgument(uint64_t value) {
  std::vector<uint8_t> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

} // namespace

std::vector<uint64_t> runForm(Device &device, const MicroForm &form,
                              unsigned seed) {
  std::vector<uint64_t> in = inputsOf(form, seed);
  std::vector<uint64_t> out(size_t(formItems) * form.outputs.size());
  DevicePtr from = device.allocate(in.size() * 8);
  DevicePtr to = device.allocate(out.size() * 8);
  DevicePtr scratch = device.allocate(size_t(formItems) * 16);
  device.copyToDevice(from, in.data(), in.size() * 8);
  device.fill32(to, 0, out.size() * 8);
  device.fill32(scratch, 0, size_t(formItems) * 16);
  LaunchConfig config;
  config.grid[0] = formBlocks;
  config.block[0] = formThreads;
  config.arguments = {toArgument(from), toArgument(to), toArgument(scratch)};
  if (form.map) {
    TensorMap map = *form.map;
    map.base = form.mapsScratch ? scratch : from;
    EncodedTensorMap encoded = device.encodeTensorMap(map);
    config.arguments.emplace_back(encoded.begin(), encoded.end());
  }
  std::unique_ptr<DeviceModule> module = device.loadModule(form.ptx());
  module->launch("form", config);
  device.synchronize();
  device.copyFromDevice(out.data(), to, out.size() * 8);
  for (DevicePtr at : {from, to, scratch})
    device.release(at);
  return out;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {

/// Floats as integers in their order.
int64_t ordered(uint64_t bits, unsigned width) {
  uint64_t sign = uint64_t(1) << (width - 1);
  return bits & sign ? -int64_t(bits & ~sign) : int64_t(bits);
}

struct Value {
  uint64_t simulator, gpu;
};

bool within(const MicroForm &form, double ours, double theirs, uint64_t ulps) {
  const Tolerance &tolerance = form.tolerance;
  bool approximate =
      tolerance.ulps || tolerance.absolute > 0 || tolerance.relative > 0;
  if (ours != ours || theirs != theirs)
    return ours != ours && theirs != theirs && (form.anyNan || approximate);
  if (tolerance.ulps && ulps <= tolerance.ulps)
    return true;
  double error = std::fabs(ours - theirs);
  return (tolerance.absolute > 0 || tolerance.relative > 0) &&
         error <= tolerance.absolute + tolerance.relative * std::fabs(theirs);
}

/// True when the value is outside the tolerance.
bool compareValue(const std::string &type, const MicroForm &form, Value value,
                  Comparison &result) {
  ++result.compared;
  if (value.simulator == value.gpu)
    return false;
  ++result.mismatches;
  if (!isFloatElement(type))
    return true;
  double ours = decodeAny(type, value.simulator);
  double theirs = decodeAny(type, value.gpu);
  uint64_t ulps = 0;
  if (ours == ours && theirs == theirs) {
    unsigned width = elementBits(type);
    int64_t distance =
        ordered(value.simulator, width) - ordered(value.gpu, width);
    ulps = uint64_t(distance < 0 ? -distance : distance);
    result.maxUlps = std::max(result.maxUlps, ulps);
  }
  return !within(form, ours, theirs, ulps);
}

} // namespace

Comparison compareForm(const MicroForm &form, unsigned seed,
                       const std::vector<uint64_t> &simulator,
                       const std::vector<uint64_t> &gpu) {
  Comparison result;
  std::vector<uint64_t> in = inputsOf(form, seed);
  size_t outputs = form.outputs.size();
  for (size_t i = 0; i < simulator.size(); ++i) {
    const std::string &kind = form.outputs[i % outputs].type;
    std::string type = elementOf(kind);
    unsigned bits = elementBits(type);
    bool bad = false;
    for (unsigned part = 0; part < (isPair(kind) ? 2u : 1u); ++part) {
      uint64_t low = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
      bad |= compareValue(
          type, form,
          {simulator[i] >> part * bits & low, gpu[i] >> part * bits & low},
          result);
    }
    if (!bad)
      continue;
    if (!result.outside++) {
      char text[64];
      std::snprintf(text, sizeof(text), "item %zu: %llx, GPU %llx; inputs",
                    i / outputs, (unsigned long long)simulator[i],
                    (unsigned long long)gpu[i]);
      result.example = text;
      for (size_t k = 0; k < form.inputs.size(); ++k) {
        std::snprintf(
            text, sizeof(text), " %llx",
            (unsigned long long)in[i / outputs * form.inputs.size() + k]);
        result.example += text;
      }
    }
  }
  return result;
}

std::vector<MicroForm> allForms() {
  std::vector<MicroForm> forms;
  addIntegerForms(forms);
  addCompareForms(forms);
  addFloatForms(forms);
  addConversionForms(forms);
  addWarpForms(forms);
  addMemoryForms(forms);
  addMatrixForms(forms);
  addAsyncForms(forms);
  addTensorForms(forms);
  return forms;
}

} // namespace attn::simtest
