//===- TensorCopyTest.cpp - Bulk and tensor copies ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncHarness.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::simtest;

namespace {

const std::string leader = "setp.ne.u32 %p0, %t, 0;\n";
/// What all threads have written to `sh`, by one of them.
const std::string storeTheBox =
    "fence.proxy.async.shared::cta;\nbar.sync 0;\n" + leader +
    "@%p0 ret;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {0, 0}], "
    "[sh];\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";

//===----------------------------------------------------------------------===//
// Tiles of tensors
//===----------------------------------------------------------------------===//

/// A tile of a tensor whose elements count up.
struct Tile {
  unsigned rank;
  std::vector<uint64_t> dims;
  std::vector<uint32_t> box;
  std::vector<int> at;
  TensorMap::Format format;
  TensorMap::Swizzle swizzle;
  TensorMap::Fill fill = TensorMap::Fill::Zero;

  TensorMap map(DevicePtr base) const {
    TensorMap map;
    map.base = base;
    map.format = format;
    map.rank = rank;
    uint64_t bytes = elementBytes(format);
    for (unsigned i = 0; i < rank; ++i) {
      map.dims[i] = dims[i];
      map.box[i] = box[i];
      // Rows are longer than they need be.
      bytes = i == 0 ? dims[0] * bytes + rowGap() : bytes * dims[i];
      if (i + 1 < rank)
        map.strides[i] = bytes;
    }
    map.swizzle = swizzle;
    map.fill = fill;
    return map;
  }
  uint64_t rowGap() const { return 32 - dims[0] * elementBytes(format) % 16; }
  uint32_t elements() const {
    uint32_t count = 1;
    for (uint32_t extent : box)
      count *= extent;
    return count;
  }
  uint32_t bytes() const { return elements() * elementBytes(format); }

  /// Byte offset of the tile's element number `i` in the tensor; none outside.
  std::optional<uint64_t> place(uint32_t i) const {
    TensorMap where = map(0x10000);
    uint64_t offset = 0;
    for (unsigned d = 0; d < rank; ++d) {
      int64_t index = at[d] + int64_t(i % box[d]);
      i /= box[d];
      if (index < 0 || index >= int64_t(dims[d]))
        return std::nullopt;
      offset += uint64_t(index) *
                (d == 0 ? elementBytes(format) : where.strides[d - 1]);
    }
    return offset;
  }
  /// Where it lies in shared memory: the XOR patterns of the programming
  /// guide, on the address's bits 4-6 and 7-9.
  uint32_t sharedPlace(uint32_t i) const {
    uint32_t offset = i * elementBytes(format);
    uint32_t bits =
        (spanBytes(swizzle) / 16 - 1) * (swizzle != TensorMap::Swizzle::None);
    return offset ^ ((offset >> 7 & bits) << 4);
  }
  std::string coordinates() const {
    std::string text = "{";
    for (int c : at)
      text += (text.size() > 1 ? ", " : "") + std::to_string(c);
    return text + "}";
  }
  std::string dimension() const { return std::to_string(rank) + "d"; }
  uint64_t tensorBytes() const {
    uint64_t bytes = dims[0] * elementBytes(format) + rowGap();
    for (unsigned i = 1; i < rank; ++i)
      bytes *= dims[i];
    return bytes;
  }
};

using F = TensorMap::Format;
using S = TensorMap::Swizzle;

const Tile tiles[] = {
    {1, {96}, {64}, {40}, F::U16, S::None},
    {1, {5000}, {256}, {-4}, F::U32, S::None},
    {2, {64, 20}, {64, 16}, {0, 2}, F::BF16, S::Span128},
    {2, {72, 20}, {32, 16}, {56, 9}, F::U16, S::Span64},
    {2, {64, 40}, {16, 33}, {-8, -7}, F::F16, S::Span32},
    {2, {208, 9}, {128, 12}, {96, -2}, F::U8, S::Span128},
    {2, {40, 9}, {24, 4}, {8, 6}, F::BF16, S::None},
    {3, {64, 10, 3}, {64, 8, 2}, {0, 5, 1}, F::BF16, S::Span128},
    {3, {128, 70, 2}, {64, 64, 1}, {64, 64, 1}, F::BF16, S::Span128},
    {3, {16, 10, 3}, {8, 8, 3}, {-4, -1, -1}, F::F32, S::Span32},
    {4, {16, 3, 4, 5}, {16, 2, 3, 2}, {0, 2, 3, -1}, F::U32, S::Span64},
    {5, {8, 3, 2, 4, 2}, {4, 2, 2, 3, 2}, {6, 1, 0, 2, 1}, F::U64, S::Span32},
    {2, {64, 4}, {32, 8}, {40, -1}, F::F32, S::Span128, TensorMap::Fill::NaN},
    {2, {64, 4}, {64, 8}, {40, -1}, F::BF16, S::Span128, TensorMap::Fill::NaN},
};

std::vector<uint8_t> counting(uint64_t bytes) {
  std::vector<uint8_t> values(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    values[i] = static_cast<uint8_t>(i * 37 + i / 251 + 1);
  return values;
}

class TensorTile : public ::testing::TestWithParam<Tile> {};

TEST_P(TensorTile, Loads) {
  const Tile &tile = GetParam();
  AsyncRun run;
  std::vector<uint8_t> data = counting(tile.tensorBytes());
  run.input(data);
  run.setMap(tile.map(run.in));
  run.config.block[0] = 64;
  std::string bytes = std::to_string(tile.bytes());
  ASSERT_EQ(run.run(initBarrier(1) + leader + "@%p0 bra WAIT;\n" +
                        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
                        bytes + ";\ncp.async.bulk.tensor." + tile.dimension() +
                        ".shared::cluster.global.tile.mbarrier::complete_tx::"
                        "bytes [sh], [%map, " +
                        tile.coordinates() + "], [bar];\n" +
                        waitFor("bar", "0", "WAIT") + copyOut(tile.bytes()),
                    tile.bytes()),
            "");
  EXPECT_EQ(run.findings(), "");
  std::vector<uint8_t> out = run.output<uint8_t>(tile.bytes());
  unsigned size = elementBytes(tile.format);
  for (uint32_t i = 0; i < tile.elements(); ++i) {
    const uint8_t *found = &out[tile.sharedPlace(i)];
    auto place = tile.place(i);
    if (!place && tile.fill == TensorMap::Fill::NaN) {
      uint32_t bits = 0;
      std::memcpy(reinterpret_cast<uint8_t *>(&bits) + 4 - size, found, size);
      EXPECT_TRUE(std::isnan(bitsAs<float>(bits))) << i;
      continue;
    }
    uint64_t want = 0, got = 0;
    std::memcpy(&got, found, size);
    if (place)
      std::memcpy(&want, &data[*place], size);
    ASSERT_EQ(got, want) << "element " << i;
  }
}

TEST_P(TensorTile, Stores) {
  Tile tile = GetParam();
  for (int &coordinate : tile.at) // a store may not begin before the tensor
    coordinate = std::max(coordinate, 0);
  AsyncRun run;
  std::vector<uint8_t> data = counting(tile.bytes());
  run.input(data);
  DevicePtr tensor =
      run.harness.upload(std::vector<uint8_t>(tile.tensorBytes(), 0xCD));
  run.setMap(tile.map(tensor));
  run.config.block[0] = 64;
  std::string bytes = std::to_string(tile.bytes());
  // In by a bulk copy, out by the tensor.
  ASSERT_EQ(run.run(initBarrier(1) + leader + "@%p0 ret;\n" +
                        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
                        bytes +
                        ";\ncp.async.bulk.shared::cluster.global.mbarrier::"
                        "complete_tx::bytes [sh], [%in], " +
                        bytes + ", [bar];\n" + waitFor("bar", "0", "WAIT") +
                        "cp.async.bulk.tensor." + tile.dimension() +
                        ".global.shared::cta.tile.bulk_group [%map, " +
                        tile.coordinates() + "], [sh];\n" +
                        "cp.async.bulk.commit_group;\n"
                        "cp.async.bulk.wait_group 0;\n",
                    1),
            "");
  EXPECT_EQ(run.findings(), "");
  std::vector<uint8_t> want(tile.tensorBytes(), 0xCD);
  unsigned size = elementBytes(tile.format);
  for (uint32_t i = 0; i < tile.elements(); ++i)
    if (auto place = tile.place(i))
      std::memcpy(&want[*place], &data[tile.sharedPlace(i)], size);
  EXPECT_EQ(run.harness.download<uint8_t>(tensor, want.size()), want);
}

INSTANTIATE_TEST_SUITE_P(Tiles, TensorTile, ::testing::ValuesIn(tiles),
                         [](const auto &info) {
                           return std::to_string(info.index) + "_rank" +
                                  std::to_string(info.param.rank);
                         });

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Threads fill sh with their number as a float, int or bf16 pair; thread 0
/// stores it twice.
template <class T>
std::vector<T> reduceTwice(AsyncRun &run, const std::string &fill,
                           const std::string &store, size_t count) {
  run.config.block[0] = 32;
  run.out = 0;
  std::string body = fill +
                     "shl.b32 %r1, %t, 2; mov.u32 %r2, sh;\n"
                     "add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], %r0;\n"
                     "fence.proxy.async.shared::cta;\nbar.sync 0;\n" +
                     leader + "@%p0 ret;\n" + store + store +
                     "cp.async.bulk.commit_group;\n"
                     "cp.async.bulk.wait_group.read 0;\n";
  EXPECT_EQ(run.run(body, 1), "");
  EXPECT_EQ(run.findings(), "");
  return run.harness.download<T>(run.in, count);
}

TEST(BulkReduction, Adds) {
  const std::string bulk = "cp.reduce.async.bulk.global.shared::cta.bulk_group";
  {
    AsyncRun run;
    run.input(std::vector<float>(32, 0.5f));
    auto out =
        reduceTwice<float>(run, "cvt.rn.f32.u32 %f0, %t; mov.b32 %r0, %f0;\n",
                           bulk + ".add.f32 [%in], [sh], 128;\n", 32);
    EXPECT_EQ(out[5], 10.5f);
  }
  {
    AsyncRun run;
    run.input(std::vector<int32_t>(32, -7));
    auto out = reduceTwice<int32_t>(run, "mov.b32 %r0, %t;\n",
                                    bulk + ".max.s32 [%in], [sh], 128;\n", 32);
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[31], 31);
  }
  {
    AsyncRun run;
    run.input(std::vector<uint16_t>(64, 0x3f80)); // 1
    auto out = reduceTwice<uint16_t>(
        run,
        "cvt.rn.f32.u32 %f0, %t; cvt.rn.bf16x2.f32 %r0, %f0, 0f3F000000;\n",
        bulk + ".add.noftz.bf16 [%in], [sh], 128;\n", 64);
    EXPECT_EQ(out[6], 0x4000); // 1 + 2 * 0.5
    EXPECT_EQ(out[7], 0x40e0); // 1 + 2 * 3
  }
}

TEST(BulkReduction, IntoATensor) {
  AsyncRun run;
  run.input(std::vector<float>(64, 1.0f));
  TensorMap map;
  map.base = run.in;
  map.format = TensorMap::Format::F32;
  map.rank = 2;
  map.dims = {8, 6};
  map.strides = {32};
  map.box = {8, 4};
  run.setMap(map);
  auto out = reduceTwice<float>(
      run, "cvt.rn.f32.u32 %f0, %t; mov.b32 %r0, %f0;\n",
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
      "[%map, {0, 4}], [sh];\n",
      64);
  EXPECT_EQ(out[31], 1.0f);
  EXPECT_EQ(out[32], 1.0f);
  EXPECT_EQ(out[33], 3.0f);
  EXPECT_EQ(out[47], 31.0f);
  EXPECT_EQ(out[48], 1.0f); // past the tensor
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

TEST(BulkCopy, HintsAndPrefetches) {
  AsyncRun run;
  run.input(std::vector<uint32_t>(64, 9));
  TensorMap map;
  map.base = run.in;
  map.rank = 1;
  map.dims = {128};
  map.box = {64};
  run.setMap(map);
  EXPECT_EQ(
      run.run(initBarrier(1) + leader +
                  "@%p0 ret;\n"
                  "createpolicy.fractional.L2::evict_first.b64 %rd0, 1.0;\n"
                  "prefetch.tensormap [%map];\n"
                  "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%map, "
                  "{0}];\n"
                  "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%in], 64, "
                  "%rd0;\n"
                  "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
                  "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::"
                  "complete_tx::bytes.L2::cache_hint [sh], [%map, {0}], [bar], "
                  "%rd0;\n" +
                  waitFor("bar", "0", "WAIT") +
                  "ld.shared.u32 %r0, [sh+124];\nst.global.u32 [%out], %r0;\n"
                  "discard.global.L2 [%in], 128;\n"
                  "applypriority.global.L2::evict_normal [%in], 128;\n",
              4),
      "");
  EXPECT_EQ(run.findings(), "");
  EXPECT_EQ(run.output<uint32_t>(1)[0], 9u);
}

/// Bytes land when the phase completes, never before.
TEST(BulkCopy, LandsWithItsPhase) {
  AsyncRun run(/*sanitize=*/false);
  run.input(std::vector<uint32_t>(64, 9));
  EXPECT_EQ(run.run(initBarrier(1) + leader +
                        "@%p0 ret;\nst.shared.u32 [sh], 1;\n"
                        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx"
                        "::bytes [sh], [%in], 16, [bar];\n"
                        "ld.shared.u32 %r0, [sh];\nst.global.u32 [%out], %r0;\n"
                        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
                        "ld.shared.u32 %r0, [sh];\n"
                        "st.global.u32 [%out+4], %r0;\n",
                    8),
            "");
  EXPECT_EQ(run.output<uint32_t>(2), (std::vector<uint32_t>{1, 9}));
}

struct Misuse {
  const char *name, *text, *check, *says;
};
class TensorMisuse : public ::testing::TestWithParam<Misuse> {};

TEST_P(TensorMisuse, IsNamed) {
  AsyncRun run;
  run.input(std::vector<uint32_t>(64, 9));
  TensorMap map;
  map.base = run.in;
  map.rank = 2;
  map.dims = {64, 2};
  map.strides = {128};
  map.box = {64, 2};
  run.setMap(map);
  run.run(initBarrier(1) + leader + "@%p0 ret;\n" + GetParam().text, 4);
  ASSERT_FALSE(run.harness.findings.empty());
  EXPECT_EQ(run.harness.findings[0].check, GetParam().check);
  EXPECT_NE(run.findings().find(GetParam().says), std::string::npos)
      << run.findings();
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorMisuse,
    ::testing::Values(
        Misuse{"NoMap",
               "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::"
               "complete_tx::bytes [sh], [%in, {0, 0}], [bar];",
               "tensor-map", "no tensor map of the simulator's"},
        Misuse{"Rank",
               "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::"
               "complete_tx::bytes [sh], [%map, {0, 0, 0}], [bar];",
               "tensor-map", "has rank 2, the instruction 3"},
        Misuse{"Alignment",
               "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::"
               "complete_tx::bytes [sh+64], [%map, {0, 0}], [bar];",
               "misaligned-access", "not a multiple of 128"},
        Misuse{"Size",
               "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
               "[sh], [%in], 24, [bar];",
               "bulk-size", "copies 24 bytes"},
        Misuse{"PastTheEnd",
               "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
               "[sh], [%in], 272, [bar];",
               "out-of-bounds", "the last 16 bytes"},
        Misuse{"Multicast",
               "mov.b16 %h0, 3;\n"
               "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes.multicast::cluster [sh], [%map, {0, 0}], "
               "[bar], %h0;",
               "cluster-rank", "the mask 0x3 of a cluster of 1"},
        Misuse{"FirstCoordinate",
               "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::"
               "complete_tx::bytes [sh], [%map, {-4, 0}], [bar];",
               "tensor-coordinate",
               "begins at element -4 of a row, which is byte -8: not a "
               "multiple of 16; let the first coordinate be a multiple of 8"},
        Misuse{"FirstCoordinateOfAStore",
               "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
               "[%map, {4, 0}], [sh];",
               "tensor-coordinate", "which is byte 8"},
        Misuse{"FirstCoordinateOfAPrefetch",
               "cp.async.bulk.prefetch.tensor.2d.L2.global [%map, {1, 0}];",
               "tensor-coordinate", "which is byte 2"},
        Misuse{"StoreFromBefore",
               "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
               "[%map, {0, -1}], [sh];",
               "tensor-coordinate",
               "stores from before the tensor: coordinate 1 is -1"},
        Misuse{"ReductionFromBefore",
               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add."
               "bulk_group [%map, {-8, 0}], [sh];",
               "tensor-coordinate", "coordinate 0 is -8"},
        Misuse{"Reduction",
               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.tile."
               "bulk_group [%map, {0, 0}], [sh];",
               "uninitialized-shared", "without this operation"}),
    [](const auto &info) { return info.param.name; });

/// Of a box of 64 x 8 bytes of shared memory, what nobody wrote is read where
/// the tensor has a place for it, and only there.
TEST(TensorMisuse, WhatIsCutOffIsNotRead) {
  for (uint64_t rows : {4, 5}) {
    AsyncRun run;
    run.input(std::vector<uint32_t>(128, 9));
    TensorMap map;
    map.base = run.in;
    map.rank = 2;
    map.dims = {32, rows};
    map.strides = {64};
    map.box = {64, 8};
    map.swizzle = TensorMap::Swizzle::Span128;
    run.setMap(map);
    run.config.block[0] = 16;
    // 16 of the 32 pieces of the first four rows: the first 64 bytes of each,
    // swizzled.
    EXPECT_EQ(run.run("shr.b32 %r0, %t, 2; and.b32 %r1, %t, 3;\n"
                      "xor.b32 %r1, %r1, %r0; shl.b32 %r1, %r1, 4;\n"
                      "shl.b32 %r0, %r0, 7; add.u32 %r1, %r1, %r0;\n"
                      "mov.u32 %r0, sh; add.u32 %r1, %r1, %r0;\n"
                      "st.shared.v4.u32 [%r1], {%t, %t, %t, %t};\n" +
                          storeTheBox,
                      4),
              "");
    EXPECT_EQ(run.harness.checks(), rows == 5 ? "uninitialized-shared" : "");
  }
}

/// 120 bytes end within a piece of 16, 112 do not.
TEST(TensorMisuse, RowsThatEndWithinAPiece) {
  for (uint64_t columns : {60, 56}) {
    AsyncRun run;
    run.input(std::vector<uint32_t>(64, 9));
    TensorMap map;
    map.base = run.in;
    map.rank = 2;
    map.dims = {columns, 2};
    map.strides = {128};
    map.box = {64, 2};
    run.setMap(map);
    run.config.block[0] = 64;
    EXPECT_EQ(run.run("shl.b32 %r0, %t, 2; mov.u32 %r1, sh;\n"
                      "add.u32 %r1, %r1, %r0; st.shared.u32 [%r1], %t;\n" +
                          storeTheBox,
                      4),
              "");
    EXPECT_EQ(run.harness.checks(), columns == 60 ? "tensor-row-end" : "");
    EXPECT_EQ(run.findings().find("8 bytes beyond each row") !=
                  std::string::npos,
              columns == 60);
  }
}

TEST(TensorMisuse, MapsOfAnotherDevice) {
  AsyncRun other, run;
  run.input(std::vector<uint32_t>(64, 9));
  TensorMap map;
  map.base = run.in;
  map.dims = {64};
  map.box = {64};
  other.setMap(map);
  run.map = other.map;
  run.run(initBarrier(1) +
              "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::"
              "complete_tx::bytes [sh], [%map, {0}], [bar];\n",
          4);
  EXPECT_NE(run.findings().find("encoded by another device"), std::string::npos)
      << run.findings();
}

} // namespace
