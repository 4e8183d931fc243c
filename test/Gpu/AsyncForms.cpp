//===- AsyncForms.cpp - mbarriers, bulk and tensor copies -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;

/// Thread 0 initialises an mbarrier in `own` for `count` arrivals, all see it.
std::string barrierFor(const std::string &count) {
  return "setp.eq.u32 %p7, %t, 0;\nmov.u32 %x31, own;\nmov.b32 %x30, " + count +
         ";\n@%p7 mbarrier.init.shared.b64 [%x31], %x30;\n"
         "@%p7 fence.mbarrier_init.release.cluster;\n"
         "fence.proxy.async;\nbar.sync 0;\n";
}

const std::string waitForIt =
    "waits:\nmbarrier.try_wait.parity.shared.b64 %p6, [%x31], 0;\n"
    "@!%p6 bra waits;\n";

void addBarriers(Forms &forms) {
  forms.push_back(
      {"mbarrier.arrive, test_wait.parity",
       barrierFor("128") +
           "mbarrier.test_wait.parity.shared.b64 %p0, [%x31], 1;\n"
           "bar.sync 0;\nmbarrier.arrive.shared.b64 %y7, [%x31];\n" +
           waitForIt +
           "mbarrier.test_wait.parity.shared.b64 %p1, [%x31], 0;\n"
           "mbarrier.test_wait.parity.shared.b64 %p2, [%x31], 1;",
       {},
       {{"%p0", "pred"}, {"%p1", "pred"}, {"%p2", "pred"}},
       {},
       false});
  forms.push_back({"mbarrier.pending_count of a new phase",
                   barrierFor("128") +
                       "mbarrier.arrive.shared.b64 %y7, [%x31];\n"
                       "waits:\n"
                       "mbarrier.try_wait.shared.b64 %p6, [%x31], %y7;\n"
                       "@!%p6 bra waits;\nbar.sync 0;\n"
                       "mov.b32 %x0, 0;\n@!%p7 bra none;\n"
                       "mbarrier.arrive.noComplete.shared.b64 %y6, [%x31], 5;\n"
                       "mbarrier.pending_count.b64 %x0, %y6;\nnone:",
                   {},
                   {{"%x0", "u32"}},
                   {},
                   false});
  forms.push_back({"cp.async.mbarrier.arrive.noinc",
                   barrierFor("128") +
                       "st.global.b64 [%g], %i0;\nfence.acq_rel.gpu;\n"
                       "add.u32 %x29, %w, 0;\nmad.lo.u32 %x29, %lane, 8, %w;\n"
                       "cp.async.ca.shared.global [%x29], [%g], 8;\n"
                       "cp.async.mbarrier.arrive.noinc.shared.b64 [%x31];\n" +
                       waitForIt +
                       "xor.b32 %x28, %lane, 3;\n"
                       "mad.lo.u32 %x28, %x28, 8, %w;\n"
                       "ld.shared.b64 %y0, [%x28];",
                   {"b64"},
                   {{"%y0", "b64"}},
                   {},
                   false});
}

/// Thread 0 copies 512 bytes of the inputs of its block.
void addBulkCopies(Forms &forms) {
  forms.push_back(
      {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes",
       barrierFor("1") +
           "mov.u32 %x29, tiles;\n@!%p7 bra copied;\n"
           "mbarrier.arrive.expect_tx.shared.b64 %y7, [%x31], 1024;\n"
           "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
           "[%x29], [%in], 512, [%x31];\nadd.u32 %x28, %x29, 512;\n"
           "add.s64 %y5, %in, 256;\n"
           "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
           "[%x28], [%y5], 512, [%x31];\ncopied:\n" +
           waitForIt +
           "mad.lo.u32 %x29, %t, 8, %x29;\nld.shared.b64 %y0, [%x29];",
       {"b64"},
       {{"%y0", "b64"}},
       {},
       false});
  struct Reduction {
    const char *op, *type;
    unsigned bits;
  };
  static constexpr Reduction reductions[] = {
      {"add", "u32", 32},        {"add", "s32", 32}, {"add", "u64", 64},
      {"inc", "u32", 32},        {"dec", "u32", 32}, {"min", "u32", 32},
      {"max", "s32", 32},        {"min", "s64", 64}, {"max", "u64", 64},
      {"and", "b32", 32},        {"or", "b64", 64},  {"xor", "b32", 32},
      {"add", "f32", 32},        {"add", "f64", 64}, {"add.noftz", "f16", 16},
      {"add.noftz", "bf16", 16}, {"min", "f16", 16}, {"max", "bf16", 16}};
  for (const Reduction &reduction : reductions) {
    std::string type = reduction.type;
    bool floats = type.find('f') != std::string::npos;
    // Old values from input 0, others from input 1; 16 bytes of each thread.
    std::string kind = !floats                ? std::string("b64")
                       : reduction.bits == 64 ? std::string("number f64")
                       : reduction.bits == 32 ? std::string("pairs f32")
                                              : "number " + type + "x2 twice";
    MicroForm form;
    form.name = std::string("cp.reduce.async.bulk.global.shared::cta."
                            "bulk_group.") +
                reduction.op + "." + type;
    form.inputs = {kind, kind};
    form.body = "st.global.v2.b64 [%g], {%i0, %i1};\n"
                "st.shared.v2.b64 [%a], {%i1, %i1};\n"
                "fence.proxy.async;\n" +
                form.name +
                " [%g], [%a], 16;\n"
                "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
                "fence.proxy.async;\nld.global.v2.b64 {%y0, %y1}, [%g];";
    form.anyNan = floats;
    const char *output =
        reduction.bits == 64 ? (floats ? "f64" : "b64") : "b64";
    form.outputs = {{"%y0", output}, {"%y1", output}};
    forms.push_back(form);
  }
}

struct Tile {
  const char *name;
  TensorMap::Format format;
  unsigned rank;
  std::array<uint64_t, 5> dims;
  std::array<uint32_t, 5> box;
  TensorMap::Swizzle swizzle;
  TensorMap::Fill fill;
};

TensorMap mapOf(const Tile &tile) {
  TensorMap map;
  map.format = tile.format;
  map.rank = tile.rank;
  map.dims = tile.dims;
  map.box = tile.box;
  map.swizzle = tile.swizzle;
  map.fill = tile.fill;
  uint64_t bytes = elementBytes(tile.format);
  for (unsigned i = 0; i + 1 < tile.rank; ++i) {
    bytes *= tile.dims[i];
    bytes = (bytes + 15) / 16 * 16;
    map.strides[i] = bytes;
  }
  return map;
}

using Format = TensorMap::Format;
using Swizzle = TensorMap::Swizzle;
using Fill = TensorMap::Fill;
constexpr Tile tiles[] = {
    {"1d u32", Format::U32, 1, {500}, {256}, Swizzle::None, Fill::Zero},
    {"2d bf16 swizzle 128",
     Format::BF16,
     2,
     {72, 60},
     {64, 16},
     Swizzle::Span128,
     Fill::Zero},
    {"2d f16 swizzle 64",
     Format::F16,
     2,
     {72, 60},
     {32, 16},
     Swizzle::Span64,
     Fill::NaN},
    {"2d f32 swizzle 32",
     Format::F32,
     2,
     {40, 60},
     {8, 32},
     Swizzle::Span32,
     Fill::NaN},
    {"2d u8", Format::U8, 2, {100, 60}, {48, 20}, Swizzle::None, Fill::Zero},
    {"3d bf16 swizzle 128",
     Format::BF16,
     3,
     {80, 10, 6},
     {64, 5, 3},
     Swizzle::Span128,
     Fill::Zero},
    {"4d f64",
     Format::F64,
     4,
     {6, 5, 4, 6},
     {4, 3, 2, 5},
     Swizzle::None,
     Fill::NaN},
    {"5d u16",
     Format::U16,
     5,
     {24, 4, 4, 4, 3},
     {16, 2, 3, 2, 2},
     Swizzle::None,
     Fill::Zero}};

/// Coordinates that begin before the tensor in low blocks and end past it in
/// high ones.
std::string coordinates(unsigned rank) {
  std::string text = "mov.u32 %x20, %ctaid.x;\n";
  for (unsigned i = 0; i < rank; ++i)
    text += "mad.lo.s32 %x" + std::to_string(21 + i) + ", %x20, " +
            std::to_string(i == 0 ? 8 : 1) + ", " +
            std::to_string(i == 0 ? -16 : -int(i)) + ";\n";
  return text;
}

std::string at(const Tile &tile) {
  std::string text = "[%y6, {";
  for (unsigned i = 0; i < tile.rank; ++i)
    text += (i ? ", %x" : "%x") + std::to_string(21 + i);
  return text + "}]";
}

void addTensorCopies(Forms &forms) {
  for (const Tile &tile : tiles) {
    MicroForm form;
    std::string dims = std::to_string(tile.rank) + "d";
    uint32_t bytes = elementBytes(tile.format);
    for (unsigned i = 0; i < tile.rank; ++i)
      bytes *= tile.box[i];
    form.name = std::string("cp.async.bulk.tensor load ") + tile.name;
    form.map = mapOf(tile);
    form.inputs = {"b64"};
    form.body = barrierFor("1") + coordinates(tile.rank) +
                "mov.u32 %x29, tiles;\nmad.lo.u32 %x28, %t, 16, %x29;\n"
                "mov.b64 %y0, 0;\nst.shared.v2.b64 [%x28], {%y0, %y0};\n"
                "fence.proxy.async;\nbar.sync 0;\n@!%p7 bra copied;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %y7, [%x31], " +
                std::to_string(bytes) + ";\ncp.async.bulk.tensor." + dims +
                ".shared::cta.global.tile.mbarrier::complete_tx::bytes "
                "[%x29], " +
                at(tile) + ", [%x31];\ncopied:\n" + waitForIt +
                "ld.shared.v2.b64 {%y0, %y1}, [%x28];";
    form.outputs = {{"%y0", "b64"}, {"%y1", "b64"}};
    forms.push_back(form);
    // The first block stores to scratch memory what its threads wrote.
    for (const char *reduces : {"", "add", "max"}) {
      bool plain = !*reduces;
      // Sums of random floats may be NaN: integers only.
      bool integers = tile.format == Format::U32 || tile.format == Format::U16;
      if (!plain && (!integers || tile.format == Format::U16))
        continue;
      form.name = std::string(plain ? "cp.async.bulk.tensor store "
                                    : "cp.reduce.async.bulk.tensor ") +
                  reduces + (plain ? "" : " ") + tile.name;
      form.mapsScratch = true;
      std::string op = plain ? "cp.async.bulk.tensor." + dims +
                                   ".global.shared::cta.tile.bulk_group "
                             : "cp.reduce.async.bulk.tensor." + dims +
                                   ".global.shared::cta." + reduces +
                                   ".tile.bulk_group ";
      form.body = "mov.b64 %y0, 0;\nmov.b64 %y1, 0;\nmov.u32 %x20, %ctaid.x;\n"
                  "setp.ne.u32 %p5, %x20, 0;\n@%p5 bra none;\n" +
                  coordinates(tile.rank) +
                  "mov.u32 %x29, tiles;\nmad.lo.u32 %x28, %t, 16, %x29;\n"
                  "st.shared.b64 [%x28], %i0;\nst.shared.b64 [%x28+8], %i0;\n"
                  "fence.proxy.async;\nbar.sync 0;\n"
                  "setp.eq.u32 %p7, %t, 0;\n@!%p7 bra copied;\n" +
                  op + at(tile) +
                  ", [%x29];\ncp.async.bulk.commit_group;\n"
                  "cp.async.bulk.wait_group 0;\nfence.proxy.async;\n"
                  "copied:\nbar.sync 0;\nfence.acq_rel.gpu;\n"
                  "ld.global.v2.b64 {%y0, %y1}, [%g];\nnone:";
      forms.push_back(form);
    }
  }
}

} // namespace

void addAsyncForms(Forms &forms) {
  addBarriers(forms);
  addBulkCopies(forms);
  addTensorCopies(forms);
}

} // namespace attn::simtest
