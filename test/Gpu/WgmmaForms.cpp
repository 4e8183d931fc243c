//===- WgmmaForms.cpp - The wgmma forms that are tested -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaForms.h"

namespace attn::simtest {
namespace {

constexpr unsigned swizzles[] = {16, 32, 64, 128};

/// Layouts of 16-bit operands: both majors of A and B, every swizzle and every
/// step that fits inside its rows.
void addLayouts(std::vector<WgmmaCase> &cases) {
  for (unsigned swizzle : swizzles)
    for (bool transposedA : {false, true})
      for (bool transposedB : {false, true}) {
        WgmmaCase wgmma;
        wgmma.swizzleBytes = swizzle;
        wgmma.transposedA = transposedA;
        wgmma.transposedB = transposedB;
        wgmma.columns = 128;
        cases.push_back(wgmma);
      }
  for (unsigned swizzle : {64u, 128u})
    for (unsigned step = 1; step < swizzle / 32; ++step) {
      WgmmaCase wgmma;
      wgmma.swizzleBytes = swizzle;
      wgmma.step = step;
      cases.push_back(wgmma);
    }
  for (unsigned shift : {128u, 384u})
    for (bool transposed : {false, true}) {
      WgmmaCase wgmma;
      wgmma.shift = shift;
      wgmma.transposedB = transposed;
      cases.push_back(wgmma);
    }
}

/// Every N of each shape, with B in both majors for 16-bit types.
void addColumns(std::vector<WgmmaCase> &cases) {
  for (unsigned columns = 8; columns <= 256; columns += 8) {
    WgmmaCase wgmma;
    wgmma.columns = columns;
    wgmma.a = wgmma.b = columns % 16 ? "f16" : "bf16";
    wgmma.registersA = columns % 24 == 0;
    // Swizzled N-major tiles come in whole widths.
    wgmma.swizzleBytes = columns % 64 == 0 ? 128 : columns % 32 == 0 ? 64 : 16;
    for (bool transposed : {false, true}) {
      wgmma.transposedB = transposed;
      cases.push_back(wgmma);
    }
  }
}

void addTypes(std::vector<WgmmaCase> &cases) {
  struct Types {
    const char *a, *b, *d;
  };
  static constexpr Types all[] = {
      {"f16", "f16", "f32"},   {"f16", "f16", "f16"},   {"bf16", "bf16", "f32"},
      {"tf32", "tf32", "f32"}, {"e4m3", "e4m3", "f32"}, {"e4m3", "e5m2", "f32"},
      {"e5m2", "e4m3", "f32"}, {"e5m2", "e5m2", "f32"}, {"e4m3", "e4m3", "f16"},
      {"e4m3", "e5m2", "f16"}, {"e5m2", "e4m3", "f16"}, {"e5m2", "e5m2", "f16"},
      {"s8", "s8", "s32"},     {"s8", "u8", "s32"},     {"u8", "s8", "s32"},
      {"u8", "u8", "s32"}};
  for (const Types &types : all)
    for (bool registersA : {false, true})
      for (bool integers : {true, false}) {
        WgmmaCase wgmma;
        wgmma.a = types.a;
        wgmma.b = types.b;
        wgmma.d = types.d;
        wgmma.columns = 96;
        wgmma.registersA = registersA;
        bool whole = wgmma.d == "s32";
        wgmma.integers = integers || whole;
        wgmma.saturates = whole && !integers;
        cases.push_back(wgmma);
      }
}

void addScales(std::vector<WgmmaCase> &cases) {
  for (const char *type : {"bf16", "e4m3"})
    for (int scaleA : {1, -1})
      for (int scaleB : {1, -1})
        for (bool accumulates : {true, false}) {
          WgmmaCase wgmma;
          wgmma.a = wgmma.b = type;
          wgmma.columns = 24;
          wgmma.scaleA = scaleA;
          wgmma.scaleB = scaleB;
          wgmma.accumulates = accumulates;
          wgmma.predicate = scaleA == scaleB;
          cases.push_back(wgmma);
        }
}

} // namespace

std::vector<WgmmaCase> wgmmaForms() {
  std::vector<WgmmaCase> cases;
  addLayouts(cases);
  addColumns(cases);
  addTypes(cases);
  addScales(cases);
  return cases;
}

} // namespace attn::simtest
