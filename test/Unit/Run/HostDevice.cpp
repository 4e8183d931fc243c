//===- HostDevice.cpp - A device whose kernel is a C++ loop ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostDevice.h"

#include "attn/Reference/Numbers.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace attn;
using namespace attn::test;

static ExprPtr makeIndex(IndexVar index) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::Index;
  expr->type = ExprType::Int;
  expr->index = index;
  return expr;
}

Package test::hostPackage(int64_t heads, int64_t kvHeads, int64_t headDim) {
  Package package;
  Problem &problem = package.problem;
  problem.name = "host";
  problem.heads = heads;
  problem.kvHeads = kvHeads;
  problem.headDimQK = problem.headDimV = headDim;
  auto causal = std::make_shared<Expr>();
  causal->kind = ExprKind::Le;
  causal->type = ExprType::Bool;
  causal->operands = {makeIndex(IndexVar::K), makeIndex(IndexVar::Q)};
  problem.mask = causal;
  Kernel kernel;
  kernel.name = "host";
  kernel.target = "sm_80";
  kernel.block = 1;
  for (const char *operand : {"q", "k", "v", "o", "lse"}) {
    kernel.arguments.push_back({operand, ArgumentType::Ptr});
    for (const char *axis : {"b", "h", "s"})
      kernel.arguments.push_back(
          {std::string(operand) + "_stride_" + axis, ArgumentType::I64});
  }
  for (const char *length : {"batch", "q_len", "k_len"})
    kernel.arguments.push_back({length, ArgumentType::I32});
  kernel.arguments.push_back({"scale", ArgumentType::F32});
  kernel.arguments.push_back({"work_counter", ArgumentType::Ptr});
  kernel.workItems = {{"batch", 1}, {"heads", 1}, {"q_len", 16}};
  kernel.tileM = 16;
  package.kernels = {kernel};
  return package;
}

Package test::listPackage(int64_t heads, int64_t kvHeads, int64_t headDim) {
  Package package = hostPackage(heads, kvHeads, headDim);
  Kernel &reader = package.kernels[0];
  reader.arguments.push_back({"block_list", ArgumentType::Ptr});
  reader.auxiliaries = {"list"};
  Kernel list = reader;
  list.name = "list";
  list.role = KernelRole::BlockList;
  list.arguments = {{"block_list", ArgumentType::Ptr},
                    {"batch", ArgumentType::I32}};
  list.workItems = {{"batch", 1}};
  list.auxiliaries.clear();
  // A word more, which is nobody's.
  list.bufferBytes = {{4, {{"batch", 1}}}, {4, {}}};
  package.kernels.push_back(list);
  return package;
}

namespace {

struct View {
  uint8_t *data;
  int64_t b, h, s;
};

/// The kernel's parameters, in the order of hostPackage.
struct Parameters {
  View q, k, v, o, lse;
  int32_t batch, qLen, kLen;
  float scale;
  int32_t *workCounter;
  int32_t *list; ///< null in hostPackage
};

template <typename T> T take(const LaunchConfig &config, size_t &next) {
  T value;
  std::memcpy(&value, config.arguments.at(next++).data(), sizeof(T));
  return value;
}

View takeView(const LaunchConfig &config, size_t &next) {
  View view;
  view.data = reinterpret_cast<uint8_t *>(take<uint64_t>(config, next));
  view.b = take<int64_t>(config, next);
  view.h = take<int64_t>(config, next);
  view.s = take<int64_t>(config, next);
  return view;
}

class HostModule : public DeviceModule {
public:
  explicit HostModule(HostDevice &device) : device(device) {}

  void launch(const std::string &kernel, const LaunchConfig &config) override {
    if (kernel == "list")
      return makeList(config);
    ++device.launches;
    size_t next = 0;
    Parameters p;
    for (View *view : {&p.q, &p.k, &p.v, &p.o, &p.lse})
      *view = takeView(config, next);
    for (int32_t *length : {&p.batch, &p.qLen, &p.kLen})
      *length = take<int32_t>(config, next);
    p.scale = take<float>(config, next);
    p.workCounter = reinterpret_cast<int32_t *>(take<uint64_t>(config, next));
    p.list = next < config.arguments.size()
                 ? reinterpret_cast<int32_t *>(take<uint64_t>(config, next))
                 : nullptr;
    if (p.workCounter[0] || p.workCounter[1])
      throw DeviceError("the work counter is not zero");
    if (device.mistake == Mistake::ScalesTwice)
      p.scale *= 1.5f;
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < p.qLen; ++i)
          row(p, b, h, i);
    misbehave(p, config);
  }

  int occupancy(const std::string &, int, int64_t) override { return 3; }

  static constexpr int64_t heads = 4, group = 2, dim = 8;

private:
  static double at(const View &view, int64_t b, int64_t h, int64_t s,
                   int64_t d) {
    return loadElement(DType::BF16, view.data,
                       b * view.b + h * view.h + s * view.s + d);
  }

  void makeList(const LaunchConfig &config) {
    size_t next = 0;
    auto *list = reinterpret_cast<int32_t *>(take<uint64_t>(config, next));
    auto batch = take<int32_t>(config, next);
    ++device.builds;
    for (int32_t b = 0; b < batch; ++b)
      if (device.mistake != Mistake::SkipsList || b + 1 < batch)
        list[b] = 1;
    if (device.mistake == Mistake::PastList)
      list[batch + 1] = 1;
    if (device.mistake == Mistake::ListVaries)
      list[batch] = device.builds;
  }

  void row(const Parameters &p, int64_t b, int64_t h, int64_t i) const {
    int64_t g = h / group, last = i + p.kLen - p.qLen;
    int64_t visible = std::max<int64_t>(0, last + 1);
    if (device.mistake == Mistake::ReadsTail)
      visible = p.kLen + 1;
    std::vector<double> s(static_cast<size_t>(visible));
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t j = 0; j < visible; ++j) {
      for (int64_t d = 0; d < dim; ++d)
        s[size_t(j)] += at(p.q, b, h, i, d) * at(p.k, b, g, j, d);
      s[size_t(j)] *= double(p.scale) * (p.list ? p.list[b] : 1);
      maximum = std::max(maximum, s[size_t(j)]);
    }
    for (double &value : s)
      sum += value = std::exp(value - maximum);
    int64_t shift = device.mistake == Mistake::ShiftsKeys ? 1 : 0;
    for (int64_t d = 0; d < dim; ++d) {
      double o = 0;
      for (int64_t j = 0; j < visible; ++j)
        o += s[size_t(j)] *
             at(p.v, b, g, std::min<int64_t>(j + shift, p.kLen - 1), d);
      bool skipped = device.mistake == Mistake::SkipsLastRow && i == p.qLen - 1;
      if (!skipped)
        storeElement(DType::BF16, p.o.data,
                     b * p.o.b + h * p.o.h + i * p.o.s + d,
                     visible ? o / sum : 0);
    }
    if (device.mistake != Mistake::SkipsLse || i > 0)
      storeElement(DType::F32, p.lse.data,
                   b * p.lse.b + h * p.lse.h + i * p.lse.s,
                   visible ? maximum + std::log(sum) : maximum);
  }

  void misbehave(const Parameters &p, const LaunchConfig &config) const {
    auto *o = reinterpret_cast<uint16_t *>(p.o.data);
    switch (device.mistake) {
    case Mistake::WritesTail:
      o[p.qLen * p.o.s] = 0;
      break;
    case Mistake::WritesBeforeO:
      o[-3] = 0;
      break;
    case Mistake::WritesPastLse:
      // Past the allocation's contents: the whole capacity of every head.
      reinterpret_cast<float *>(p.lse.data)[p.batch * p.lse.b] = 0;
      break;
    case Mistake::ChangesK:
      p.k.data[0] ^= 1;
      break;
    case Mistake::LeavesCounter:
      p.workCounter[0] = 7;
      break;
    case Mistake::ChangesList:
      p.list[0] = 2;
      break;
    case Mistake::DependsOnGrid:
      o[0] ^= config.grid[0] % 2;
      break;
    case Mistake::DependsOnCalls:
      o[0] ^= device.launches % 2;
      break;
    default:
      break;
    }
  }

  HostDevice &device;
};

} // namespace

DeviceInfo HostDevice::info() const {
  DeviceInfo info;
  info.name = "host";
  info.smMajor = 8;
  info.sharedBytesPerBlock = 100000;
  info.peakTensorFlops = 1e9;
  info.peakBytesPerSecond = 1e9;
  return info;
}

DevicePtr HostDevice::allocate(size_t bytes) {
  std::vector<uint8_t> buffer(bytes ? bytes : 1);
  auto address = reinterpret_cast<DevicePtr>(buffer.data());
  buffers[address] = std::move(buffer);
  return address;
}

void HostDevice::release(DevicePtr ptr) { buffers.erase(ptr); }

void HostDevice::copyToDevice(DevicePtr dst, const void *src, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(dst), src, bytes);
}

void HostDevice::copyFromDevice(void *dst, DevicePtr src, size_t bytes) {
  std::memcpy(dst, reinterpret_cast<const void *>(src), bytes);
}

void HostDevice::fill32(DevicePtr dst, uint32_t pattern, size_t bytes) {
  for (size_t at = 0; at + sizeof(pattern) <= bytes; at += sizeof(pattern))
    std::memcpy(reinterpret_cast<uint8_t *>(dst) + at, &pattern,
                sizeof(pattern));
}

std::unique_ptr<DeviceModule> HostDevice::loadModule(const std::string &) {
  return std::make_unique<HostModule>(*this);
}

EncodedTensorMap HostDevice::encodeTensorMap(const TensorMap &) {
  throw DeviceError("the host device has no tensor maps");
}

void HostDevice::synchronize() {
  if (mistake == Mistake::Faults)
    throw DeviceError("running a kernel: an illegal address");
}

double HostDevice::timeMilliseconds(StreamHandle, int repeats,
                                    void (*body)(void *), void *context) {
  for (int i = 0; i < repeats; ++i)
    body(context);
  return 2.0 * repeats;
}
