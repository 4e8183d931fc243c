//===- TensorCopy.cpp - cp.async.bulk.tensor ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tile mode. A box lies in shared memory row by row, without gaps; swizzling
// exchanges 16-byte units within a row's span, by the shared address's bits
// from 7 on (PTX ISA 5.5.7). Elements outside the tensor are filled when
// loading, and count as bytes of the transaction; they are not stored.
//
//===----------------------------------------------------------------------===//

#include "Atomics.h"
#include "BulkCopy.h"
#include "Decoder.h"
#include "Lanes.h"
#include "TensorMapCode.h"

#include <algorithm>

namespace attn::sim {
namespace {

constexpr uint32_t sharedAlign = 128, barrierBytes = 8, unitBytes = 16;

//===----------------------------------------------------------------------===//
// The box
//===----------------------------------------------------------------------===//

/// A tile of a tensor: where each of its rows is.
struct Box {
  TensorMap map;
  int32_t at[TensorMap::maxRank] = {};
  unsigned element = 0; ///< bytes
  uint32_t rowBytes = 0;
  uint32_t rows = 1;

  uint32_t bytes() const { return rowBytes * rows; }
};

/// The part of a row inside the tensor: `bytes` bytes at `address`, from
/// `skip` bytes on in the row.
struct RowPart {
  uint64_t address = 0;
  uint32_t skip = 0, bytes = 0;
};

RowPart insideOf(const Box &box, uint32_t row) {
  const TensorMap &map = box.map;
  uint64_t address = map.base;
  for (unsigned i = 1; i < map.rank; ++i) {
    int64_t index = int64_t(box.at[i]) + row % map.box[i];
    row /= map.box[i];
    if (index < 0 || uint64_t(index) >= map.dims[i])
      return {};
    address += uint64_t(index) * map.strides[i - 1];
  }
  int64_t first = std::max<int64_t>(box.at[0], 0);
  int64_t last = std::min<int64_t>(int64_t(box.at[0]) + map.box[0],
                                   static_cast<int64_t>(map.dims[0]));
  if (first >= last)
    return {};
  return {address + uint64_t(first) * box.element,
          static_cast<uint32_t>(first - box.at[0]) * box.element,
          static_cast<uint32_t>(last - first) * box.element};
}

/// Offset in the tile of the 16-byte unit that is the `linear`-th byte's, when
/// the tile starts at shared address `base`.
uint32_t unitOffset(const TensorMap &map, uint32_t base, uint32_t linear) {
  unsigned span = spanBytes(map.swizzle);
  if (!span)
    return linear;
  uint32_t address = base + linear;
  uint32_t pattern = address / sharedAlign & (span / unitBytes - 1);
  return (address ^ pattern * unitBytes) - base;
}

/// Copies a row between its place in the tile and `linear` bytes.
template <class F>
void forEachUnit(const Box &box, uint32_t base, uint32_t row, F f) {
  for (uint32_t at = 0; at < box.rowBytes; at += unitBytes)
    f(unitOffset(box.map, base, row * box.rowBytes + at), at);
}

void fillRow(const Box &box, uint8_t *row) {
  if (box.map.fill == TensorMap::Fill::Zero) {
    std::fill_n(row, box.rowBytes, uint8_t(0));
    return;
  }
  // 0x7ff7 again and again, a NaN in every format: found on an H200.
  for (uint32_t i = 0; i < box.rowBytes; ++i)
    row[i] = i % 2 ? 0x7f : 0xf7;
}

constexpr uint32_t maxRowBytes = 256 * 8;

/// The tile as it will lie at shared address `base`.
std::vector<uint8_t> loadTile(Warp &warp, const Inst &inst, unsigned lane,
                              const Box &box, uint32_t base) {
  std::vector<uint8_t> tile(box.bytes());
  uint8_t line[maxRowBytes];
  for (uint32_t row = 0; row < box.rows; ++row) {
    RowPart part = insideOf(box, row);
    if (part.bytes != box.rowBytes)
      fillRow(box, line);
    if (part.bytes)
      std::memcpy(line + part.skip,
                  warp.resolveGlobal(inst, part.address, part.bytes, 1, lane,
                                     Warp::Access::Read),
                  part.bytes);
    forEachUnit(box, base, row, [&](uint32_t to, uint32_t from) {
      std::memcpy(tile.data() + to, line + from, unitBytes);
    });
  }
  return tile;
}

Type reductionType(TensorMap::Format format) {
  switch (format) {
  case TensorMap::Format::F16:
    return Type::F16;
  case TensorMap::Format::BF16:
    return Type::BF16;
  case TensorMap::Format::F32:
    return Type::F32;
  case TensorMap::Format::F64:
    return Type::F64;
  case TensorMap::Format::U32:
    return Type::U32;
  case TensorMap::Format::I32:
    return Type::S32;
  case TensorMap::Format::U64:
    return Type::U64;
  case TensorMap::Format::I64:
    return Type::S64;
  default:
    return Type::None;
  }
}

/// Notes that the copy reads what it stores, until `access` is over. What lies
/// outside the tensor goes nowhere: it may be anything, and change meanwhile.
void noteRead(Warp &warp, const Inst &inst, unsigned lane, const Box &box,
              uint32_t base, const AsyncAccess &access) {
  SharedShadow *shadow = warp.block->shadow.get();
  for (uint32_t row = 0; shadow && row < box.rows; ++row) {
    RowPart part = insideOf(box, row);
    forEachUnit(box, base + sharedBase, row, [&](uint32_t unit, uint32_t at) {
      if (at < part.skip + part.bytes && part.skip < at + unitBytes)
        shadow->bulkRead(warp, inst, lane, base + unit, unitBytes, access);
    });
  }
}

/// c = reduces, d = AtomicOp.
void storeTile(Warp &warp, const Inst &inst, unsigned lane, const Box &box,
               const uint8_t *tile, uint32_t base) {
  auto op = static_cast<AtomicOp>(inst.d);
  Type type = reductionType(box.map.format);
  bool bitwise = op == And || op == Or || op == Xor;
  if (inst.c && (type == Type::None ||
                 (!canReduce(op, type) && !(bitwise && isIntegerLike(type)))))
    warp.fail(inst, "tensor-map", uint32_t(1) << lane,
              "reduces into a tensor of a format without this operation",
              "encode the map with a format that has it");
  uint8_t line[maxRowBytes];
  for (uint32_t row = 0; row < box.rows; ++row) {
    RowPart part = insideOf(box, row);
    if (!part.bytes)
      continue;
    forEachUnit(box, base, row, [&](uint32_t from, uint32_t to) {
      std::memcpy(line + to, tile + from, unitBytes);
    });
    uint8_t *to =
        warp.resolveGlobal(inst, part.address, part.bytes, 1, lane,
                           inst.c ? Warp::Access::Atomic : Warp::Access::Write);
    if (inst.c)
      reduceElements(op, type, to, line + part.skip, part.bytes);
    else
      std::memcpy(to, line + part.skip, part.bytes);
  }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Reads the map at the operand's address and the coordinates, which are the
/// `first` source and those after it. a = rank.
Box boxOf(Warp &warp, const Inst &inst, unsigned lane, unsigned mapSource,
          unsigned first) {
  constexpr uint32_t mapAlign = 64;
  uint64_t address = warp.address(inst.src(mapSource), inst.imm2, lane);
  EncodedTensorMap bytes;
  for (uint32_t half = 0; half < bytes.size(); half += mapAlign)
    std::memcpy(bytes.data() + half,
                warp.resolve(inst, Space::Generic, address + half, mapAlign,
                             lane, Warp::Access::Read),
                mapAlign);
  Box box;
  std::string wrong =
      decodeTensorMap(bytes.data(), warp.block->launch.memory.device, box.map);
  if (wrong.empty() && box.map.rank != inst.a)
    wrong = "the tensor map has rank " + std::to_string(box.map.rank) +
            ", the instruction " + std::to_string(inst.a);
  if (!wrong.empty())
    warp.fail(inst, "tensor-map", uint32_t(1) << lane, wrong,
              "pass the bytes of Device::encodeTensorMap as a "
              "`.param .align 64 .b8 [128]`, and use its address");
  box.element = elementBytes(box.map.format);
  box.rowBytes = box.map.box[0] * box.element;
  for (unsigned i = 0; i < box.map.rank; ++i) {
    box.at[i] = static_cast<int32_t>(warp.lanes(inst.src(first + i))[lane]);
    if (i > 0)
      box.rows *= box.map.box[i];
  }
  return box;
}

/// What an H200 answers with an illegal instruction: a row that begins between
/// multiples of 16 bytes, and a store that begins before the tensor, where the
/// PTX ISA does not say what becomes of what is outside.
void checkCoordinates(Warp &warp, const Inst &inst, unsigned lane,
                      const Box &box, bool stores) {
  int64_t byte = int64_t(box.at[0]) * box.element;
  if (byte % unitBytes)
    warp.fail(inst, "tensor-coordinate", uint32_t(1) << lane,
              "begins at element " + std::to_string(box.at[0]) +
                  " of a row, which is byte " + std::to_string(byte) +
                  ": not a multiple of 16",
              "let the first coordinate be a multiple of " +
                  std::to_string(unitBytes / box.element) +
                  ", or copy without a tensor map");
  for (unsigned i = 0; stores && i < box.map.rank; ++i)
    if (box.at[i] < 0)
      warp.fail(inst, "tensor-coordinate", uint32_t(1) << lane,
                "stores from before the tensor: coordinate " +
                    std::to_string(i) + " is " + std::to_string(box.at[i]),
                "begin inside the tensor (a store may go past its end), or "
                "move the map's base back");
}

/// A GPU stores whole pieces of 16 bytes: of a row that ends within one, also
/// what is past the end.
void checkRowEnd(Warp &warp, const Inst &inst, unsigned lane, const Box &box) {
  uint64_t end = box.map.dims[0] * box.element;
  uint64_t first = uint64_t(box.at[0]) * box.element;
  bool cuts = first < end && end < first + box.rowBytes;
  if (end % unitBytes && cuts)
    warp.report(inst, "tensor-row-end", uint32_t(1) << lane,
                "stores past the end of rows of " + std::to_string(end) +
                    " bytes; a GPU stores whole pieces of 16 bytes, and so " +
                    std::to_string(unitBytes - end % unitBytes) +
                    " bytes beyond each row",
                "let rows end at multiples of 16 bytes, or keep nothing there");
}

/// Sources: destination, map, coordinates, mbarrier, its address offset,
/// multicast mask. b = multicast.
void runTensorLoad(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    Box box = boxOf(warp, inst, lane, /*mapSource=*/1, /*first=*/2);
    checkCoordinates(warp, inst, lane, box, /*stores=*/false);
    SharedPlace to =
        warp.sharedPlace(inst, warp.address(inst.src(0), inst.imm, lane),
                         box.bytes(), sharedAlign, lane);
    unsigned next = 2 + inst.a;
    int64_t offset = static_cast<int32_t>(warp.lanes(inst.src(next + 1))[lane]);
    SharedPlace barrier =
        warp.sharedPlace(inst, warp.address(inst.src(next), offset, lane),
                         barrierBytes, barrierBytes, lane);
    std::vector<uint8_t> tile =
        loadTile(warp, inst, lane, box, to.offset + sharedBase);
    uint32_t mask = destinationMask(warp, inst, lane, to,
                                    inst.b ? &inst.src(next + 2) : nullptr);
    forEachLane(mask, [&](unsigned rank) {
      barrier.block = warp.block->cluster.blocks[rank].get();
      beginBulkLoad(warp, inst, lane, barrier, to.offset, tile.data(),
                    box.bytes());
    });
  });
}

/// Sources: map, source, coordinates.
void runTensorStore(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    Box box = boxOf(warp, inst, lane, /*mapSource=*/0, /*first=*/2);
    checkCoordinates(warp, inst, lane, box, /*stores=*/true);
    checkRowEnd(warp, inst, lane, box);
    uint32_t from =
        warp.sharedOffset(inst, warp.address(inst.src(1), inst.imm, lane),
                          box.bytes(), sharedAlign, lane);
    noteRead(warp, inst, lane, box, from, beginBulkStore(warp, inst, lane));
    storeTile(warp, inst, lane, box, warp.block->shared.data() + from,
              from + sharedBase);
  });
}

void runPrefetch(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    Box box = boxOf(warp, inst, lane, /*mapSource=*/0, /*first=*/1);
    checkCoordinates(warp, inst, lane, box, /*stores=*/false);
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void takeRank(Builder &b) {
  auto rank = b.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (!rank)
    b.refuse();
  b.take("tile");
  b.inst.a = static_cast<uint8_t>(*rank + 1);
}

const AstOperand &tensorOperand(Builder &b, unsigned i) {
  const AstOperand &operand = b.ast.operands[i];
  bool fits = operand.kind == AstOperand::Address &&
              operand.elements.size() == 2 &&
              (operand.elements[1].kind == AstOperand::Vector
                   ? operand.elements[1].elements.size() == b.inst.a
                   : b.inst.a == 1);
  if (!fits)
    b.fail("expected [map, {" + std::to_string(b.inst.a) + " coordinates}]");
  return operand;
}

void srcCoordinates(Builder &b, const AstOperand &tensor) {
  b.srcVector(tensor.elements[1], b.inst.a, Type::B32);
}

void decodeLoad(Builder &b, bool hint) {
  bool multicast = b.take("multicast::cluster");
  if (!b.take("mbarrier::complete_tx::bytes"))
    b.refuse();
  b.inst.b = multicast;
  b.expectOperands(3u + multicast + hint);
  b.inst.imm = b.address(b.ast.operands[0]);
  const AstOperand &tensor = tensorOperand(b, 1);
  b.inst.imm2 = b.address(tensor);
  srcCoordinates(b, tensor);
  int64_t offset = b.address(b.ast.operands[2]);
  b.constant(static_cast<uint64_t>(offset), Type::U32);
  if (multicast)
    b.src(3, Type::B16);
  b.inst.run = runTensorLoad;
}

void decodeStore(Builder &b, bool hint, bool reduces) {
  if (!b.take("bulk_group"))
    b.refuse();
  if (reduces) {
    auto op = b.takeOneOf(
        {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
    if (!op || *op == Exch || *op == Cas)
      b.refuse();
    b.inst.c = true;
    b.inst.d = static_cast<uint8_t>(*op);
  }
  b.expectOperands(2u + hint);
  const AstOperand &tensor = tensorOperand(b, 0);
  b.inst.imm2 = b.address(tensor);
  b.inst.imm = b.address(b.ast.operands[1]);
  srcCoordinates(b, tensor);
  b.inst.run = runTensorStore;
}

} // namespace

void decodeTensorCopy(Builder &b, bool reduces) {
  takeRank(b);
  bool hint = b.take("L2::cache_hint");
  bool store = b.ast.opcode.find(".global.shared") != std::string_view::npos;
  bool spaces = b.take("global") &&
                (store ? b.take("shared::cta")
                       : bool(b.takeOneOf({"shared::cluster", "shared::cta"})));
  if (!spaces || (reduces && !store))
    b.refuse();
  if (store)
    decodeStore(b, hint, reduces);
  else
    decodeLoad(b, hint);
}

void decodeTensorPrefetch(Builder &b) {
  takeRank(b);
  bool hint = b.take("L2::cache_hint");
  if (!b.take("L2") || !b.take("global"))
    b.refuse();
  b.expectOperands(hint ? 2 : 1);
  const AstOperand &tensor = tensorOperand(b, 0);
  b.inst.imm2 = b.address(tensor);
  srcCoordinates(b, tensor);
  b.inst.run = runPrefetch;
}

} // namespace attn::sim
