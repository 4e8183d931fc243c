//===- Execution.cpp - Inputs on a device, launched and watched -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <algorithm>
#include <cstring>
#include <sstream>

using namespace attn;
using namespace attn::run;

/// fill32 writes whole words.
static constexpr int64_t allocationGranule = 16;
static constexpr uint32_t poisonWord = 0x01010101u * poisonByte;

//===----------------------------------------------------------------------===//
// GuardedBuffer
//===----------------------------------------------------------------------===//

GuardedBuffer::GuardedBuffer(Device &device, std::string name, int64_t bytes,
                             int64_t guardBytes)
    : device(device), name(std::move(name)), bytes(bytes),
      guardBytes(guardBytes) {
  base = device.allocate(size_t(allocated()));
}

GuardedBuffer::~GuardedBuffer() { device.release(base); }

int64_t GuardedBuffer::allocated() const {
  // An empty buffer has none, so that the simulator reports any access to it.
  int64_t rounded =
      (bytes + allocationGranule - 1) / allocationGranule * allocationGranule;
  return rounded + 2 * guardBytes;
}

void GuardedBuffer::poison() {
  device.fill32(base, poisonWord, size_t(allocated()));
}

void GuardedBuffer::upload(const std::vector<uint8_t> &contents) {
  poison();
  if (!contents.empty())
    device.copyToDevice(data(), contents.data(), contents.size());
}

std::vector<uint8_t> GuardedBuffer::download() const {
  std::vector<uint8_t> contents(size_t(bytes), 0);
  if (bytes)
    device.copyFromDevice(contents.data(), data(), contents.size());
  return contents;
}

std::optional<std::string> GuardedBuffer::guardViolation() const {
  auto firstBad = [&](DevicePtr start, int64_t length) -> int64_t {
    std::vector<uint8_t> band(size_t(length), poisonByte);
    if (length)
      device.copyFromDevice(band.data(), start, band.size());
    auto it = std::find_if(band.begin(), band.end(),
                           [](uint8_t byte) { return byte != poisonByte; });
    return it == band.end() ? -1 : it - band.begin();
  };
  int64_t before = firstBad(base, guardBytes);
  if (before >= 0)
    return "wrote " + std::to_string(guardBytes - before) +
           " bytes before the start of " + name;
  int64_t after =
      firstBad(data() + DevicePtr(bytes), allocated() - guardBytes - bytes);
  if (after >= 0)
    return "wrote " + std::to_string(after) + " bytes past the end of " + name;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Execution::Buffer Execution::make(const std::string &name, int64_t bytes) {
  return std::make_unique<GuardedBuffer>(device, name, bytes,
                                         options.guardBytes);
}

Execution::Buffer Execution::makeInput(const std::string &name,
                                       const std::vector<uint8_t> &contents) {
  Buffer buffer = make(name, int64_t(contents.size()));
  buffer->upload(contents);
  return buffer;
}

Execution::Execution(Device &device, LoadedPackage &package,
                     const Inputs &inputs, const ExecutionOptions &options)
    : device(device), package(package), inputs(inputs), options(options) {
  q = makeInput("q", inputs.q.bytes);
  k = makeInput("k", inputs.k.bytes);
  v = makeInput("v", inputs.v.bytes);
  for (const auto &[name, tensor] : inputs.tensors)
    tensors[name] = makeInput("tensor '" + name + "'", tensor.bytes);
  makeLengthArrays();
  if (inputs.problem->outputO)
    o = make("o", inputs.o.bytes());
  if (inputs.problem->outputLse)
    lse = make("lse", inputs.lse.bytes());
  workspaceSize = workspaceBytes(package.package(), arguments(std::nullopt),
                                 package.deviceInfo());
  if (workspaceSize)
    workspace = make("workspace", workspaceSize);
  LaunchArguments launch = arguments(std::nullopt);
  const DeviceInfo &info = package.deviceInfo();
  if (int64_t bytes = auxiliaryBytes(package.package(), launch, info)) {
    planMemory = make("the plan", bytes);
    auxiliary = planAuxiliaries(package.package(), launch, info,
                                planMemory->data(), bytes);
  }
}

static std::vector<uint8_t> toWords(const std::vector<int64_t> &values) {
  std::vector<int32_t> words(values.begin(), values.end());
  std::vector<uint8_t> bytes(words.size() * sizeof(int32_t));
  if (!bytes.empty())
    std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

/// The arrays in which kernels find the lengths of sequences.
void Execution::makeLengthArrays() {
  const Lengths &lengths = inputs.lengths;
  if (lengths.kind == BatchKind::Dense)
    return;
  std::vector<int64_t> qLens, kLens, qStarts, kStarts;
  for (const Sequence &sequence : lengths.sequences) {
    qLens.push_back(sequence.qLen);
    kLens.push_back(sequence.kLen);
    qStarts.push_back(sequence.qStart);
    kStarts.push_back(sequence.kStart);
  }
  qStarts.push_back(lengths.totalQ);
  kStarts.push_back(lengths.totalK);
  auto bind = [&](const char *name, bool isUsed,
                  const std::vector<int64_t> &values) {
    if (isUsed)
      lengthArrays[name] = makeInput(name, toWords(values));
  };
  bind("q_lens", lengths.kind == BatchKind::Padded, qLens);
  bind("k_lens", lengths.hasKLens(), kLens);
  bind("cu_seqlens_q", lengths.packsQ(), qStarts);
  bind("cu_seqlens_k", lengths.packsK(), kStarts);
}

static TensorView deviceView(const RowGeometry &rows, DevicePtr data) {
  return {data, rows.strideB, rows.strideH, rows.strideS};
}

LaunchArguments Execution::arguments(std::optional<int64_t> grid) {
  LaunchArguments arguments = inputs.arguments();
  arguments.q = deviceView(inputs.q.geometry, q->data());
  arguments.k = deviceView(inputs.k.geometry, k->data());
  arguments.v = deviceView(inputs.v.geometry, v->data());
  if (o)
    arguments.o = deviceView(inputs.o, o->data());
  if (lse)
    arguments.lse = deviceView(inputs.lse, lse->data());
  if (workspace) {
    arguments.workspace = workspace->data();
    arguments.workspaceBytes = workspaceSize;
  }
  auto lengthArray = [&](const char *name) -> DevicePtr {
    auto it = lengthArrays.find(name);
    return it == lengthArrays.end() ? 0 : it->second->data();
  };
  arguments.qLens = lengthArray("q_lens");
  arguments.kLens = lengthArray("k_lens");
  arguments.cuSeqlensQ = lengthArray("cu_seqlens_q");
  arguments.cuSeqlensK = lengthArray("cu_seqlens_k");
  for (const auto &[name, tensor] : inputs.tensors)
    arguments.tensors[name] = {tensors[name]->data(),
                               int64_t(tensor.bytes.size()) /
                                   byteSize(tensor.type)};
  arguments.grid = grid;
  arguments.plan = plan();
  return arguments;
}

void Execution::buildPlan() {
  if (!plan())
    return;
  planMemory->poison();
  // Loaded before, so that the time is that of the kernels.
  std::string names;
  for (const AuxiliaryLaunch &launch : auxiliary.launches) {
    package.module(*launch.kernel);
    names += (names.empty() ? "" : ", ") + launch.kernel->name;
  }
  TimedBuild build{package, auxiliary};
  double milliseconds =
      device.timeMilliseconds(nullptr, 1, TimedBuild::run, &build);
  report = PlanReport{auxiliary.bytes, milliseconds, names};
  builtImage = planMemory->download();
}

std::string PlanReport::text() const {
  std::ostringstream out;
  out.precision(3);
  out << bytes << " bytes by " << kernels << ", built in " << milliseconds
      << " ms";
  return out.str();
}

void Execution::clearWorkCounter() {
  std::vector<uint8_t> zeros(size_t(workCounterBytes(package.package())), 0);
  if (workspace && !zeros.empty())
    device.copyToDevice(workspace->data(), zeros.data(), zeros.size());
}

std::optional<std::string> Execution::workCounterViolation() const {
  int32_t counter[2] = {};
  if (workspace && workCounterBytes(package.package()))
    device.copyFromDevice(counter, workspace->data(), sizeof(counter));
  if (counter[0] == 0 && counter[1] == 0)
    return std::nullopt;
  return "the kernel left its work counter at " + std::to_string(counter[0]) +
         ", " + std::to_string(counter[1]) + ", expected 0, 0";
}

LaunchPlan Execution::run(std::optional<int64_t> grid) {
  for (GuardedBuffer *buffer : {o.get(), lse.get(), workspace.get()})
    if (buffer)
      buffer->poison();
  clearWorkCounter();
  buildPlan();
  LaunchPlan launched = package.launch(arguments(grid));
  device.synchronize();
  return launched;
}

OutputImage Execution::outputs() const {
  OutputImage image;
  if (o)
    image.o = o->download();
  if (lse)
    image.lse = lse->download();
  return image;
}

static std::string place(const char *name, int64_t b, int64_t h, int64_t i,
                         int64_t d) {
  std::ostringstream text;
  text << name << " at b = " << b << ", h = " << h << ", i = " << i;
  if (d >= 0)
    text << ", d = " << d;
  return text.str();
}

static bool isPoison(const uint8_t *bytes, int64_t count) {
  return std::all_of(bytes, bytes + count,
                     [](uint8_t byte) { return byte == poisonByte; });
}

/// Elements left unwritten, and gap elements written.
static void checkWritten(const char *name, const RowGeometry &rows,
                         const std::vector<uint8_t> &image, bool launched,
                         std::vector<std::string> &violations) {
  int64_t elementBytes = byteSize(rows.type), missing = 0;
  std::string firstMissing;
  // What is left after the elements have been taken out is gap.
  std::vector<uint8_t> gaps = image;
  for (int64_t b = 0; launched && b < rows.batch; ++b)
    for (int64_t h = 0; h < rows.heads; ++h)
      for (int64_t s = 0; s < rows.rows(b); ++s) {
        int64_t row = rows.offset(b, h, s) * elementBytes;
        std::fill_n(gaps.begin() + row, rows.dim * elementBytes, poisonByte);
        for (int64_t d = 0; d < rows.dim; ++d)
          if (isPoison(image.data() + row + d * elementBytes, elementBytes) &&
              ++missing == 1)
            firstMissing = place(name, b, h, s, rows.dim > 1 ? d : -1);
      }
  if (missing)
    violations.push_back(std::to_string(missing) + " elements of " + name +
                         " were not written, first " + firstMissing);
  auto stray = std::find_if(gaps.begin(), gaps.end(),
                            [](uint8_t byte) { return byte != poisonByte; });
  if (stray != gaps.end())
    violations.push_back(
        std::string("the gaps of ") + name + " were written, first element " +
        std::to_string((stray - gaps.begin()) / elementBytes) +
        " of the buffer (strides b, h, s: " + std::to_string(rows.strideB) +
        ", " + std::to_string(rows.strideH) + ", " +
        std::to_string(rows.strideS) + ")");
}

std::vector<std::string> Execution::violations(const OutputImage &image,
                                               bool launched) const {
  std::vector<std::string> found;
  std::vector<const GuardedBuffer *> buffers = {
      q.get(),   k.get(),         v.get(),         o.get(),
      lse.get(), workspace.get(), planMemory.get()};
  for (const auto *map : {&tensors, &lengthArrays})
    for (const auto &entry : *map)
      buffers.push_back(entry.second.get());
  for (const GuardedBuffer *buffer : buffers)
    if (buffer)
      if (std::optional<std::string> violation = buffer->guardViolation())
        found.push_back(*violation);
  auto unchanged = [&](const char *name, const GuardedBuffer &buffer,
                       const std::vector<uint8_t> &contents) {
    if (buffer.download() != contents)
      found.push_back(std::string("the kernel changed its input ") + name);
  };
  unchanged("q", *q, inputs.q.bytes);
  unchanged("k", *k, inputs.k.bytes);
  unchanged("v", *v, inputs.v.bytes);
  for (const auto &[name, tensor] : inputs.tensors)
    unchanged(name.c_str(), *tensors.at(name), tensor.bytes);
  if (planMemory && planMemory->download() != builtImage)
    found.push_back("the kernel changed the plan that it reads");
  if (std::optional<std::string> violation = workCounterViolation())
    found.push_back(*violation);
  if (o)
    checkWritten("o", inputs.o, image.o, launched, found);
  if (lse)
    checkWritten("lse", inputs.lse, image.lse, launched, found);
  return found;
}

Outputs run::viewOutputs(const Inputs &inputs, const OutputImage &image) {
  Outputs outputs;
  outputs.o = {image.o.empty() ? nullptr : image.o.data(), inputs.o.type,
               inputs.o.strideB, inputs.o.strideH, inputs.o.strideS};
  outputs.lse = image.lse.empty()
                    ? nullptr
                    : reinterpret_cast<const float *>(image.lse.data());
  outputs.lseStrideB = inputs.lse.strideB;
  outputs.lseStrideH = inputs.lse.strideH;
  outputs.lseStrideS = inputs.lse.strideS;
  return outputs;
}

static std::string hexBits(const uint8_t *bytes, int64_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int64_t i = count - 1; i >= 0; --i) {
    text += digits[bytes[i] / 16];
    text += digits[bytes[i] % 16];
  }
  return text;
}

static std::optional<std::string>
firstRowDifference(const char *name, const RowGeometry &rows,
                   const std::vector<uint8_t> &a,
                   const std::vector<uint8_t> &b) {
  if (a == b)
    return std::nullopt;
  int64_t elementBytes = byteSize(rows.type);
  for (int64_t n = 0; n < rows.batch; ++n)
    for (int64_t h = 0; h < rows.heads; ++h)
      for (int64_t s = 0; s < rows.rows(n); ++s)
        for (int64_t d = 0; d < rows.dim; ++d) {
          int64_t at = (rows.offset(n, h, s) + d) * elementBytes;
          const uint8_t *x = a.data() + at, *y = b.data() + at;
          if (std::memcmp(x, y, size_t(elementBytes)) != 0)
            return place(name, n, h, s, rows.dim > 1 ? d : -1) + ": " +
                   hexBits(x, elementBytes) + " and " +
                   hexBits(y, elementBytes);
        }
  return std::string("the gaps of ") + name;
}

std::optional<std::string> run::firstDifference(const Inputs &inputs,
                                                const OutputImage &a,
                                                const OutputImage &b) {
  if (auto difference = firstRowDifference("o", inputs.o, a.o, b.o))
    return difference;
  return firstRowDifference("lse", inputs.lse, a.lse, b.lse);
}
