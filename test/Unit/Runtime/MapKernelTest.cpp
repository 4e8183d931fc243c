//===- MapKernelTest.cpp - A kernel that copies by its maps ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies K to O on the simulator: tiles of 16 positions by bulk tensor copies,
// handed out by the work counter. What arrives shows which coordinate is which,
// what the strides are, and that nothing is written past the end.
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include <cstring>

using namespace attn;
using namespace attn::test;

namespace {

constexpr int64_t heads = 3, dim = 64, tileRows = 16;

// Work item = (batch * heads + head) * tiles + tile.
const char *const copyPtx = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .align 64 .b8 k_map[128],
                     .param .align 64 .b8 o_map[128],
                     .param .u64 work_counter, .param .u32 batch,
                     .param .u32 q_len)
{
  .reg .pred %p;
  .reg .b32 %r<20>;
  .reg .b64 %rd<10>;
  .shared .align 128 .b8 tile[2048];
  .shared .align 8 .b64 bar;
  mov.b64 %rd1, k_map;
  cvta.param.u64 %rd1, %rd1;
  mov.b64 %rd2, o_map;
  cvta.param.u64 %rd2, %rd2;
  ld.param.u64 %rd3, [work_counter];
  ld.param.u32 %r1, [batch];
  ld.param.u32 %r2, [q_len];
  add.s32 %r2, %r2, 15;
  shr.u32 %r2, %r2, 4;              // tiles
  mul.lo.s32 %r3, %r1, 3;
  mul.lo.s32 %r3, %r3, %r2;         // items
  mov.b32 %r4, tile;
  mov.b32 %r5, bar;
  mbarrier.init.shared.b64 [%r5], 1;
  fence.proxy.async.shared::cta;
  mov.b32 %r6, 0;                   // parity
NEXT:
  atom.global.add.u32 %r7, [%rd3], 1;
  setp.ge.u32 %p, %r7, %r3;
  @%p bra DONE;
  rem.u32 %r8, %r7, %r2;
  shl.b32 %r8, %r8, 4;              // row
  div.u32 %r9, %r7, %r2;
  rem.u32 %r10, %r9, 3;             // head
  div.u32 %r11, %r9, 3;             // batch
  mov.b32 %r12, 0;                  // column
  mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r5], 2048;
  cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, {%r12, %r8, %r10, %r11}], [%r5];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p, [%r5], %r6;
  @!%p bra WAIT;
  xor.b32 %r6, %r6, 1;
  cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%rd2, {%r12, %r8, %r10, %r11}], [%r4];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  bra NEXT;
DONE:
  cp.async.bulk.wait_group 0;
  mov.u32 %r13, %nctaid.x;
  sub.s32 %r13, %r13, 1;
  fence.acq_rel.gpu;                // all claims before the reset
  atom.global.add.u32 %r14, [%rd3+4], 1;
  fence.acq_rel.gpu;
  setp.ne.u32 %p, %r14, %r13;
  @%p bra END;
  mov.b64 %rd5, 0;
  st.global.u64 [%rd3], %rd5;
END:
  ret;
}
)";

Package copyPackage() {
  Package package;
  package.compiler = "attn test";
  Problem &problem = package.problem;
  problem.name = "copy";
  problem.heads = problem.kvHeads = heads;
  problem.headDimQK = problem.headDimV = dim;
  problem.outputLse = false;
  Kernel kernel;
  kernel.name = "copy";
  kernel.target = "sm_90a";
  kernel.ptx = copyPtx;
  kernel.block = 1;
  TensorBox box = {tileRows, dim, 0};
  kernel.arguments = {{"k_map", ArgumentType::TensorMap, box},
                      {"o_map", ArgumentType::TensorMap, box},
                      {"work_counter", ArgumentType::Ptr},
                      {"batch", ArgumentType::I32},
                      {"q_len", ArgumentType::I32}};
  kernel.workItems = {{"batch", 1}, {"heads", 1}, {"q_len", tileRows}};
  kernel.grid = GridKind::Resident;
  package.kernels = {kernel};
  return packageFromJson(toJson(package));
}

constexpr uint16_t poison = 0xFFFF;

/// [batch, position, head, dim] or [batch, head, position, dim], with rows 16
/// elements apart.
struct Layout {
  bool bshd;
  int64_t length;
  int64_t row() const { return dim + 16; }
  TensorView view(DevicePtr data) const {
    return bshd ? TensorView{data, length * heads * row(), row(), heads * row()}
                : TensorView{data, length * heads * row(), length * row(),
                             row()};
  }
  int64_t elements(int64_t batch) const {
    return batch * length * heads * row();
  }
};

class MapKernel : public ::testing::TestWithParam<bool> {
protected:
  DevicePtr upload(const std::vector<uint16_t> &contents) {
    DevicePtr data = device->allocate(contents.size() * 2);
    device->copyToDevice(data, contents.data(), contents.size() * 2);
    return data;
  }

  std::unique_ptr<Device> device = openSimulator();
};

TEST_P(MapKernel, CopiesKToO) {
  constexpr int64_t batch = 2;
  Layout layout = {GetParam(), 37};
  auto count = size_t(layout.elements(batch));
  std::vector<uint16_t> in(count), out(count, poison);
  for (size_t i = 0; i < count; ++i)
    in[i] = uint16_t(i % 30011);
  LaunchArguments arguments;
  arguments.batch = batch;
  arguments.qLen = arguments.kLen = layout.length;
  DevicePtr k = upload(in), o = upload(out);
  arguments.q = arguments.k = arguments.v = layout.view(k);
  arguments.o = layout.view(o);
  arguments.workspaceBytes = 16;
  arguments.workspace = upload(std::vector<uint16_t>(8, 0));
  Package package = copyPackage();
  LoadedPackage loaded(package, *device);
  for (std::optional<int64_t> grid : {std::optional<int64_t>(), {1}, {5}}) {
    arguments.grid = grid;
    device->copyToDevice(o, out.data(), count * 2);
    loaded.launch(arguments);
    std::vector<uint16_t> got(count);
    device->copyFromDevice(got.data(), o, count * 2);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(got[i], int64_t(i) % layout.row() < dim ? in[i] : poison) << i;
    // Ready for the next launch.
    uint32_t counter[2] = {1, 1};
    device->copyFromDevice(counter, arguments.workspace, sizeof(counter));
    EXPECT_EQ(counter[0], 0u);
    EXPECT_EQ(counter[1], 0u);
  }
}

TEST_P(MapKernel, NoKeysReadAsZero) {
  Layout layout = {GetParam(), 5};
  auto count = size_t(layout.elements(1));
  DevicePtr o = upload(std::vector<uint16_t>(count, poison));
  LaunchArguments arguments;
  arguments.qLen = layout.length;
  arguments.kLen = 0;
  // All ones, of which the map of K sees the first element at most.
  arguments.q = layout.view(upload(std::vector<uint16_t>(count, 1)));
  arguments.o = layout.view(o);
  arguments.workspaceBytes = 16;
  arguments.workspace = upload(std::vector<uint16_t>(8, 0));
  Package package = copyPackage();
  LoadedPackage loaded(package, *device);
  loaded.launch(arguments);
  std::vector<uint16_t> got(count);
  device->copyFromDevice(got.data(), o, count * 2);
  int64_t ones = 0;
  for (size_t i = 0; i < count; ++i) {
    bool isGap = int64_t(i) % layout.row() >= dim;
    ones += got[i] == 1;
    EXPECT_TRUE(isGap ? got[i] == poison : got[i] <= 1) << i;
  }
  EXPECT_LE(ones, 1);
}

INSTANTIATE_TEST_SUITE_P(Layouts, MapKernel, ::testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "bshd" : "bhsd";
                         });

} // namespace
