//===- TensorForms.cpp - Copies of tiles by tensor maps -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

#include <algorithm>

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;
using Coordinates = std::array<int, TensorMap::maxRank>;

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
    {"2d u8", Format::U8, 2, {112, 60}, {48, 20}, Swizzle::None, Fill::Zero},
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
/// Its rows end between multiples of 16 bytes.
constexpr Tile ragged = {
    "2d u8 of 100 columns", Format::U8, 2, {100, 60}, {48, 20},
    Swizzle::None,          Fill::Zero};

/// Elements in 16 bytes: the first coordinate is a multiple of them.
int unitOf(const Tile &tile) { return int(16 / elementBytes(tile.format)); }

/// Registers from %x21 on get start[i] + step[i] times the block's number.
std::string coordinates(const Tile &tile, const Coordinates &start,
                        const Coordinates &step) {
  std::string text = "mov.u32 %x20, %ctaid.x;\n";
  for (unsigned i = 0; i < tile.rank; ++i)
    text += "mad.lo.s32 %x" + std::to_string(21 + i) + ", %x20, " +
            std::to_string(step[i]) + ", " + std::to_string(start[i]) + ";\n";
  return text;
}

std::string at(const Tile &tile) {
  std::string text = "[%y6, {";
  for (unsigned i = 0; i < tile.rank; ++i)
    text += (i ? ", %x" : "%x") + std::to_string(21 + i);
  return text + "}]";
}

std::string dimsOf(const Tile &tile) { return std::to_string(tile.rank) + "d"; }

/// Every block loads a box: low ones from before the tensor, high ones from a
/// place where it ends.
MicroForm loadForm(const Tile &tile) {
  uint32_t bytes = elementBytes(tile.format);
  for (unsigned i = 0; i < tile.rank; ++i)
    bytes *= tile.box[i];
  int unit = std::max(8, unitOf(tile));
  MicroForm form;
  form.name = std::string("cp.async.bulk.tensor load ") + tile.name;
  form.map = mapOf(tile);
  form.inputs = {"b64"};
  form.body =
      barrierFor("1") +
      coordinates(tile, {-2 * unit, -1, -2, -3, -4}, {unit, 1, 1, 1, 1}) +
      "mov.u32 %x29, tiles;\nmad.lo.u32 %x28, %t, 16, %x29;\n"
      "mov.b64 %y0, 0;\nst.shared.v2.b64 [%x28], {%y0, %y0};\n"
      "fence.proxy.async;\nbar.sync 0;\n@!%p7 bra copied;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %y7, [%x31], " +
      std::to_string(bytes) + ";\ncp.async.bulk.tensor." + dimsOf(tile) +
      ".shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%x29], " +
      at(tile) + ", [%x31];\ncopied:\n" + waitForBarrier() +
      "ld.shared.v2.b64 {%y0, %y1}, [%x28];";
  form.outputs = {{"%y0", "b64"}, {"%y1", "b64"}};
  return form;
}

/// The first block's threads own the scratch memory, 16 bytes in every 2 KiB
/// each: `text` for each of these places, "$" being its offset.
std::string eachPlace(const std::string &text) {
  std::string all;
  for (unsigned i = 0; i < formBlocks; ++i) {
    std::string one = text;
    one.replace(one.find('$'), 1, std::to_string(i * formThreads * 16));
    all += one;
  }
  return all;
}

/// The first block fills the scratch memory, stores a box there from `start` on
/// (`reduces` empty) or adds it and so on, and digests all of it.
MicroForm storeForm(const Tile &tile, const std::string &where,
                    const Coordinates &start, const std::string &reduces = "") {
  MicroForm form;
  form.name =
      (reduces.empty() ? "cp.async.bulk.tensor store "
                       : "cp.reduce.async.bulk.tensor " + reduces + " ") +
      tile.name + where;
  form.map = mapOf(tile);
  form.mapsScratch = true;
  form.inputs = {"b64", "b64"};
  std::string op = reduces.empty() ? "cp.async.bulk.tensor." + dimsOf(tile) +
                                         ".global.shared::cta.tile.bulk_group "
                                   : "cp.reduce.async.bulk.tensor." +
                                         dimsOf(tile) + ".global.shared::cta." +
                                         reduces + ".tile.bulk_group ";
  form.body = "mov.b64 %y0, 0;\nmov.b64 %y1, 0;\nmov.u32 %x20, %ctaid.x;\n"
              "setp.ne.u32 %p5, %x20, 0;\n@%p5 bra none;\n" +
              coordinates(tile, start, {}) +
              eachPlace("st.global.v2.b64 [%g+$], {%i1, %i1};\n") +
              "mov.u32 %x29, tiles;\nmad.lo.u32 %x28, %t, 16, %x29;\n"
              "st.shared.v2.b64 [%x28], {%i0, %i1};\n"
              "st.shared.v2.b64 [%x28+2048], {%i1, %i0};\n"
              "fence.proxy.async;\nbar.sync 0;\n"
              "setp.eq.u32 %p7, %t, 0;\n@!%p7 bra copied;\n" +
              op + at(tile) +
              ", [%x29];\ncp.async.bulk.commit_group;\n"
              "cp.async.bulk.wait_group 0;\nfence.proxy.async;\n"
              "copied:\nbar.sync 0;\nfence.acq_rel.gpu;\n" +
              eachPlace("ld.global.v2.b64 {%y2, %y3}, [%g+$];\n"
                        "mad.lo.u64 %y0, %y0, 0x100000001b3, %y2;\n"
                        "mad.lo.u64 %y1, %y1, 0x100000001b3, %y3;\n") +
              "none:";
  form.outputs = {{"%y0", "b64"}, {"%y1", "b64"}};
  return form;
}

Coordinates inside(const Tile &tile) {
  Coordinates start = {};
  for (unsigned i = 0; i < tile.rank; ++i)
    start[i] = i == 0 ? unitOf(tile) : 1;
  return start;
}

/// Begins in the tensor and ends past it along every axis.
Coordinates overEnd(const Tile &tile) {
  Coordinates start = {};
  for (unsigned i = 0; i < tile.rank; ++i) {
    int unit = i == 0 ? unitOf(tile) : 1;
    start[i] = (int(tile.dims[i]) - int(tile.box[i])) / unit * unit + unit;
  }
  return start;
}

void addStores(Forms &forms, const Tile &tile) {
  forms.push_back(storeForm(tile, ", inside", inside(tile)));
  forms.push_back(storeForm(tile, ", over the end", overEnd(tile)));
  // Sums of random floats may be NaN, and there are none of 16 bits.
  if (tile.format != Format::U32)
    return;
  for (const char *op : {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
    forms.push_back(storeForm(tile, ", over the end", overEnd(tile), op));
}

/// What the PTX ISA does not speak of. An H200 faults, or writes past a row,
/// and the simulator says so.
void addUnclear(Forms &forms) {
  const Tile &line = tiles[0];
  MicroForm form = storeForm(line, ", from before the tensor", {-16});
  form.finding = "tensor-coordinate";
  form.faults = true;
  forms.push_back(form);
  forms.push_back(storeForm(line, ", all past the tensor", {512}));
  form = storeForm(ragged, ", over the end", {64, 41});
  form.finding = "tensor-row-end";
  forms.push_back(form);
  form = loadForm(ragged);
  form.name += ", from multiples of 8 bytes";
  size_t step = form.body.find("%x20, 16, -32");
  form.body.replace(step, 13, "%x20, 8, -16");
  form.finding = "tensor-coordinate";
  form.faults = true;
  forms.push_back(form);
}

} // namespace

void addTensorForms(Forms &forms) {
  for (const Tile &tile : tiles) {
    forms.push_back(loadForm(tile));
    addStores(forms, tile);
  }
  forms.push_back(loadForm(ragged));
  addUnclear(forms);
}

} // namespace attn::simtest
