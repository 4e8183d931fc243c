//===- MatrixForms.cpp - Matrix instructions of a warp --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;

std::string vectorOf(const std::string &prefix, unsigned count,
                     unsigned first = 0) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(first + i);
  return text + "}";
}

/// The lane's own 16 bytes of the warp's 512, and a lane's row address that is
/// not its own.
const char *const rows = "mad.lo.u32 %x9, %lane, 16, %w; "
                         "xor.b32 %x8, %lane, 5; mad.lo.u32 %x8, %x8, 16, %w; ";

void addMoves(Forms &forms) {
  for (const char *transposed : {"", ".trans"})
    for (unsigned count : {1u, 2u, 4u}) {
      std::string shape = ".sync.aligned.m8n8.x" + std::to_string(count) +
                          transposed + ".shared.b16";
      MicroForm load;
      load.name = "ldmatrix" + shape;
      load.body = std::string(rows) +
                  "st.shared.v2.b64 [%x9], {%i0, %i1}; bar.warp.sync -1; "
                  "ldmatrix" +
                  shape + " " + vectorOf("%x", count) + ", [%x8];";
      load.inputs = {"b64", "b64"};
      for (unsigned i = 0; i < count; ++i)
        load.outputs.push_back({"%x" + std::to_string(i), "b32"});
      forms.push_back(load);
      MicroForm store;
      store.name = "stmatrix" + shape;
      store.body = std::string(rows) +
                   "st.shared.v2.b64 [%x9], {%i0, %i1}; bar.warp.sync -1; "
                   "stmatrix" +
                   shape + " [%x8], " + vectorOf("%r", count) +
                   "; bar.warp.sync -1; ld.shared.v2.b64 {%y0, %y1}, [%x9];";
      store.inputs = {"b64", "b64", "b32", "b32"};
      store.outputs = {{"%y0", "b64"}, {"%y1", "b64"}};
      forms.push_back(store);
    }
  forms.push_back(
      plainForm("movmatrix.sync.aligned.m8n8.trans.b16", "b32", {"b32"}));
}

struct Multiply {
  const char *d, *a, *b;
  unsigned k;
  unsigned bytes; ///< of an element
};

/// mma.sync with small integers (exact) and with random values, within the
/// error of adding k + 1 terms in another order and with truncation.
void addMultiply(Forms &forms, const Multiply &multiply, bool exact) {
  std::string d = multiply.d;
  bool integers = d == "s32", pairs = d == "f16";
  unsigned b = multiply.k * multiply.bytes / 16, a = 2 * b, c = pairs ? 2 : 4;
  MicroForm form;
  form.name = "mma.sync.aligned.m16n8k" + std::to_string(multiply.k) +
              ".row.col." + (integers && !exact ? "satfinite." : "") + d + "." +
              multiply.a + "." + multiply.b + "." + d;
  form.body = form.name + " " + vectorOf("%x", c) + ", " + vectorOf("%r", a) +
              ", " + vectorOf("%r", b, a) + ", " + vectorOf("%r", c, a + b) +
              ";";
  std::string values = exact ? "tiny " : "plain ";
  auto operand = [&](const std::string &type) {
    // A word holds two pairs of bytes, or is an integer of any bits.
    return integers              ? std::string("b32")
           : type == "tf32"      ? values + "f32"
           : multiply.bytes == 1 ? values + type + "x2 twice"
                                 : values + type + "x2";
  };
  form.inputs.assign(a, operand(multiply.a));
  form.inputs.insert(form.inputs.end(), b, operand(multiply.b));
  form.inputs.insert(form.inputs.end(), c,
                     integers ? std::string("b32")
                              : values + (pairs ? "f16x2" : "f32"));
  for (unsigned i = 0; i < c; ++i)
    form.outputs.push_back({"%x" + std::to_string(i), integers ? "b32"
                                                      : pairs  ? "f16x2"
                                                               : "f32"});
  if (!exact && !integers) {
    form.name += " random";
    form.tolerance = pairs                 ? Tolerance{0, 0x1p-6, 0x1p-9}
                     : multiply.bytes == 1 ? Tolerance{0, 0x1p-7, 0x1p-12}
                                           : Tolerance{0, 0x1p-15, 0x1p-18};
  }
  forms.push_back(form);
}

void addMultiplies(Forms &forms) {
  static constexpr Multiply all[] = {
      {"f32", "f16", "f16", 8, 2},    {"f32", "f16", "f16", 16, 2},
      {"f16", "f16", "f16", 8, 2},    {"f16", "f16", "f16", 16, 2},
      {"f32", "bf16", "bf16", 8, 2},  {"f32", "bf16", "bf16", 16, 2},
      {"f32", "tf32", "tf32", 4, 4},  {"f32", "tf32", "tf32", 8, 4},
      {"f32", "e4m3", "e4m3", 32, 1}, {"f32", "e4m3", "e5m2", 32, 1},
      {"f32", "e5m2", "e4m3", 32, 1}, {"f32", "e5m2", "e5m2", 32, 1},
      {"s32", "s8", "s8", 16, 1},     {"s32", "u8", "s8", 16, 1},
      {"s32", "s8", "u8", 32, 1},     {"s32", "u8", "u8", 32, 1}};
  for (const Multiply &multiply : all)
    for (bool exact : {true, false})
      addMultiply(forms, multiply, exact);
}

} // namespace

void addMatrixForms(Forms &forms) {
  addMoves(forms);
  addMultiplies(forms);
}

} // namespace attn::simtest
