//===- Matrix.cpp - ldmatrix, stmatrix and movmatrix ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// PTX ISA 9.7.14.5.15 to 9.7.14.5.17: 8x8 matrices of 16-bit elements. Lane
// 8 * i + r holds the address of row r of matrix i; lane l holds the elements
// 2 * (l % 4) and the next one of row l / 4, or of column l / 4 with .trans.
//
#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

constexpr unsigned rows = 8, rowBytes = 16;
using Matrix = uint16_t[rows][rows];

/// The two elements of `lane` in one register.
uint32_t fragment(const Matrix &matrix, unsigned lane, bool transposed) {
  unsigned line = lane / 4, first = 2 * (lane % 4);
  uint32_t low = transposed ? matrix[first][line] : matrix[line][first];
  uint32_t high =
      transposed ? matrix[first + 1][line] : matrix[line][first + 1];
  return high << 16 | low;
}

void scatter(Matrix &matrix, unsigned lane, bool transposed, uint32_t pair) {
  unsigned line = lane / 4, first = 2 * (lane % 4);
  (transposed ? matrix[first][line] : matrix[line][first]) =
      static_cast<uint16_t>(pair);
  (transposed ? matrix[first + 1][line] : matrix[line][first + 1]) =
      static_cast<uint16_t>(pair >> 16);
}

/// The bytes of row `row` of matrix `index`.
uint8_t *rowAt(Warp &warp, const Inst &inst, unsigned index, unsigned row,
               Warp::Access access) {
  unsigned lane = rows * index + row;
  uint64_t address = warp.address(inst.src(0), inst.imm, lane);
  return warp.resolve(inst, inst.space, address, rowBytes, lane, access);
}

/// a = matrices, b = transposed.
void runLoadMatrix(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  // Every lane gets what the others' rows hold, so none is behind another.
  uint32_t accessors = warp.accessors;
  // The address register may be a destination: read all rows first.
  Matrix matrices[4];
  for (unsigned i = 0; i < inst.a; ++i)
    for (unsigned row = 0; row < rows; ++row)
      std::memcpy(matrices[i][row],
                  rowAt(warp, inst, i, row, Warp::Access::Read), rowBytes);
  warp.accessors = accessors;
  for (unsigned i = 0; i < inst.a; ++i) {
    uint32_t *to = warp.lanes(inst.dst(i));
    for (unsigned lane = 0; lane < warpSize; ++lane)
      to[lane] = fragment(matrices[i], lane, inst.b);
  }
}

void runStoreMatrix(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  for (unsigned i = 0; i < inst.a; ++i) {
    Matrix matrix;
    const uint32_t *from = warp.lanes(inst.src(1 + i));
    for (unsigned lane = 0; lane < warpSize; ++lane)
      scatter(matrix, lane, inst.b, from[lane]);
    for (unsigned row = 0; row < rows; ++row)
      std::memcpy(rowAt(warp, inst, i, row, Warp::Access::Write), matrix[row],
                  rowBytes);
  }
}

void runMoveMatrix(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  Matrix matrix;
  const uint32_t *from = warp.lanes(inst.src(0));
  for (unsigned lane = 0; lane < warpSize; ++lane)
    scatter(matrix, lane, /*transposed=*/false, from[lane]);
  uint32_t *to = warp.lanes(inst.dst());
  for (unsigned lane = 0; lane < warpSize; ++lane)
    to[lane] = fragment(matrix, lane, /*transposed=*/true);
}

void decodeShape(Builder &b) {
  static constexpr uint8_t counts[] = {1, 2, 4};
  bool fixed = b.take("sync") && b.take("aligned") && b.take("m8n8");
  auto count = b.takeOneOf({"x1", "x2", "x4"});
  b.inst.b = b.take("trans");
  if (!fixed || !count || b.takeType() != Type::B16)
    b.refuse();
  b.inst.a = counts[*count];
  b.inst.space = b.trySpace().value_or(Space::Generic);
  b.expectOperands(2);
}

void decodeLoadMatrix(Builder &b) {
  decodeShape(b);
  b.dstVector(b.ast.operands[0], b.inst.a, Type::B32);
  b.inst.imm = b.address(b.ast.operands[1]);
  b.inst.run = runLoadMatrix;
}

void decodeStoreMatrix(Builder &b) {
  decodeShape(b);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.srcVector(b.ast.operands[1], b.inst.a, Type::B32);
  b.inst.run = runStoreMatrix;
}

void decodeMoveMatrix(Builder &b) {
  bool fixed =
      b.take("sync") && b.take("aligned") && b.take("m8n8") && b.take("trans");
  if (!fixed || b.takeType() != Type::B16)
    b.refuse();
  b.expectOperands(2);
  b.dst(0, Type::B32);
  b.src(1, Type::B32);
  b.inst.run = runMoveMatrix;
}

} // namespace

void addMatrixInstructions(DecodeTable &table) {
  table["ldmatrix"] = decodeLoadMatrix;
  table["stmatrix"] = decodeStoreMatrix;
  table["movmatrix"] = decodeMoveMatrix;
}

} // namespace attn::sim
