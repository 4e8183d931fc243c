//===- ListPackage.h - A package whose kernel reads a list ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two small kernels by hand. "list" writes, for each of the ceil(q_len / 16)
// tiles of each batch entry, the number of the tile + 100 * batch entry + left;
// "fwd" copies them to every row of lse. What arrives there shows which list
// was read, and where it lies.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_LISTPACKAGE_H
#define ATTN_TEST_RUNTIME_LISTPACKAGE_H

#include "Fixtures.h"

namespace attn::test {

constexpr int64_t listTileRows = 16;

inline const char *const listPtx = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry list(.param .u64 block_list, .param .u32 batch,
                     .param .u32 q_len, .param .u32 left)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [block_list];
  ld.param.u32 %r1, [batch];
  ld.param.u32 %r2, [q_len];
  ld.param.u32 %r3, [left];
  add.s32 %r2, %r2, 15;
  shr.u32 %r2, %r2, 4;              // tiles
  mul.lo.s32 %r4, %r1, %r2;         // entries
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %nctaid.x;
NEXT:
  setp.ge.s32 %p, %r5, %r4;
  @%p bra DONE;
  div.u32 %r7, %r5, %r2;            // batch entry
  rem.u32 %r8, %r5, %r2;            // tile
  mad.lo.s32 %r8, %r7, 100, %r8;
  add.s32 %r8, %r8, %r3;
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r8;
  add.s32 %r5, %r5, %r6;
  bra NEXT;
DONE:
  ret;
}
)";

/// One work item for each row of lse, which is contiguous.
inline const char *const readerPtx = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry fwd(.param .u64 lse, .param .u64 block_list,
                    .param .u32 batch, .param .u32 q_len)
{
  .reg .pred %p;
  .reg .b32 %r<16>;
  .reg .f32 %f;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [lse];
  ld.param.u64 %rd2, [block_list];
  ld.param.u32 %r1, [batch];
  ld.param.u32 %r2, [q_len];
  add.s32 %r3, %r2, 15;
  shr.u32 %r3, %r3, 4;              // tiles
  mul.lo.s32 %r4, %r1, %r2;
  shl.b32 %r4, %r4, 2;              // rows: four heads
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %nctaid.x;
NEXT:
  setp.ge.s32 %p, %r5, %r4;
  @%p bra DONE;
  div.u32 %r7, %r5, %r2;            // batch * 4 + head
  rem.u32 %r8, %r5, %r2;            // row
  shr.u32 %r7, %r7, 2;
  shr.u32 %r8, %r8, 4;
  mad.lo.s32 %r9, %r7, %r3, %r8;    // entry
  mul.wide.s32 %rd3, %r9, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r10, [%rd4];
  cvt.rn.f32.s32 %f, %r10;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd1, %rd5;
  st.global.f32 [%rd6], %f;
  add.s32 %r5, %r5, %r6;
  bra NEXT;
DONE:
  ret;
}
)";

/// smallProblem's heads and params, without its tensor.
inline Package listPackage() {
  Package package = smallPackage();
  package.problem.tensors.clear();
  package.problem.outputO = false;
  Kernel &reader = package.kernels[0];
  reader.ptx = readerPtx;
  reader.block = 1;
  reader.sharedBytes = 0;
  reader.arguments = {{"lse", ArgumentType::Ptr},
                      {"block_list", ArgumentType::Ptr},
                      {"batch", ArgumentType::I32},
                      {"q_len", ArgumentType::I32}};
  reader.workItems = {{"batch", 1}, {"heads", 1}, {"q_len", 1}};
  reader.tileM = listTileRows;
  reader.grid = GridKind::Resident;
  reader.auxiliaries = {"list"};
  Kernel list = reader;
  list.name = "list";
  list.role = KernelRole::BlockList;
  list.ptx = listPtx;
  list.arguments = {{"block_list", ArgumentType::Ptr},
                    {"batch", ArgumentType::I32},
                    {"q_len", ArgumentType::I32},
                    {"param:left", ArgumentType::I32}};
  list.workItems = {{"batch", 1}, {"q_len", listTileRows}};
  list.auxiliaries.clear();
  list.bufferBytes = {{4, {{"batch", 1}, {"q_len", listTileRows}}}};
  package.kernels.push_back(list);
  return package;
}

/// What "fwd" writes for row i of batch entry b.
inline float listValue(int64_t b, int64_t i, int64_t left) {
  return float(100 * b + i / listTileRows + left);
}

/// smallArguments without o and the tensor.
inline LaunchArguments listArguments() {
  LaunchArguments arguments = smallArguments();
  arguments.o = {};
  arguments.tensors.clear();
  return arguments;
}

} // namespace attn::test

#endif // ATTN_TEST_RUNTIME_LISTPACKAGE_H
