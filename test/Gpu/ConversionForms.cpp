//===- ConversionForms.cpp - Conversions and comparisons ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;

const std::vector<std::string> integers = {"u16", "s16", "u32",
                                           "s32", "u64", "s64"};

/// Values of `from` may be outside the range of `to`.
bool mayExceed(const std::string &to, const std::string &from) {
  unsigned toBits = bitsOfKind(to), fromBits = bitsOfKind(from);
  if (to[0] == from[0])
    return toBits < fromBits;
  return from[0] == 's' || toBits <= fromBits;
}

void addIntegerConversions(Forms &forms) {
  for (const std::string &to : integers)
    for (const std::string &from : integers) {
      if (to != from)
        forms.push_back(plainForm("cvt." + to + "." + from, to, {from}));
      if (mayExceed(to, from))
        forms.push_back(plainForm("cvt.sat." + to + "." + from, to, {from}));
    }
  // Bytes live in wider registers.
  for (const char *byte : {"u8", "s8"})
    for (const std::string &to : {"u32", "s32", "u64", "s64"})
      forms.push_back(plainForm(std::string("cvt.") + to + "." + byte, to,
                                {bitsOfKind(to) == 64 ? "b64" : "b32"}));
  for (const char *byte : {"u8", "s8"})
    for (const char *saturate : {"", ".sat"})
      for (const std::string &from : {"u32", "s32"})
        forms.push_back(
            plainForm(std::string("cvt") + saturate + "." + byte + "." + from,
                      "b32", {from}));
}

void addMixedConversions(Forms &forms) {
  for (const char *type : {"f32", "f64", "f16"})
    for (const std::string &integer : integers) {
      for (const char *rounding : {"rni", "rzi", "rmi", "rpi"})
        forms.push_back(plainForm(std::string("cvt.") + rounding + "." +
                                      integer + "." + type,
                                  integer, {type}));
      for (const char *rounding : {"rn", "rz", "rm", "rp"}) {
        if (std::string(type) == "f16" && std::string(rounding) != "rn")
          continue;
        forms.push_back(plainForm(std::string("cvt.") + rounding + "." + type +
                                      "." + integer,
                                  type, {integer}));
      }
    }
  for (const char *type : {"f32", "f64", "f16"})
    for (const char *rounding : {"rni", "rzi", "rmi", "rpi"})
      forms.push_back(
          plainForm(std::string("cvt.") + rounding + "." + type + "." + type,
                    type, {type}));
}

void addFloatConversions(Forms &forms) {
  for (const char *rounding : {"rn", "rz", "rm", "rp"})
    for (const char *flush : {"", ".ftz"})
      forms.push_back(plainForm(
          std::string("cvt.") + rounding + flush + ".f32.f64", "f32", {"f64"}));
  for (const char *op : {"cvt.f64.f32", "cvt.ftz.f64.f32"})
    forms.push_back(plainForm(op, "f64", {"f32"}));
  forms.push_back(plainForm("cvt.f32.f16", "f32", {"f16"}));
  forms.push_back(plainForm("cvt.ftz.f32.f16", "f32", {"f16"}));
  forms.push_back(plainForm("cvt.f32.bf16", "f32", {"bf16"}));
  forms.push_back(plainForm("cvt.f64.f16", "f64", {"f16"}));
  for (const char *saturate : {"", ".sat"})
    forms.push_back(
        plainForm(std::string("cvt") + saturate + ".f32.f32", "f32", {"f32"}));
  for (const char *rounding : {"rn", "rz", "rm", "rp"})
    forms.push_back(
        plainForm(std::string("cvt.") + rounding + ".f16.f64", "f16", {"f64"}));
  for (const char *rounding : {"rn", "rz"}) {
    std::string op = std::string("cvt.") + rounding;
    for (const char *relu : {"", ".relu"}) {
      forms.push_back(plainForm(op + relu + ".f16.f32", "f16", {"f32"}));
      forms.push_back(plainForm(op + relu + ".bf16.f32", "bf16", {"f32"}));
      for (const char *type : {"f16x2", "bf16x2"})
        forms.push_back(
            plainForm(op + relu + "." + type + ".f32", type, {"f32", "f32"}));
      forms.push_back(plainForm(op + relu + ".tf32.f32", "f32", {"f32"}));
    }
  }
  for (const char *op : {"cvt.rn.ftz.f16.f32", "cvt.rn.sat.f16.f32",
                         "cvt.rm.f16.f32", "cvt.rp.f16.f32"})
    forms.push_back(plainForm(op, "f16", {"f32"}));
  // What .rna makes of a NaN is not said.
  forms.push_back(plainForm("cvt.rna.tf32.f32", "f32", {"number f32"}));
}

/// The 8-bit formats, from and to pairs.
void addByteFloats(Forms &forms) {
  for (const char *type : {"e4m3x2", "e5m2x2"}) {
    std::string name = type;
    for (const char *relu : {"", ".relu"}) {
      std::string to = std::string("cvt.rn.satfinite") + relu + "." + name;
      forms.push_back(plainForm(to + ".f32", "b16", {"f32", "f32"}));
      forms.push_back(plainForm(to + ".f16x2", "b16", {"f16x2"}));
      forms.push_back(plainForm("cvt.rn" + std::string(relu) + ".f16x2." + name,
                                "f16x2", {name}));
    }
  }
}

void addComparison(Forms &forms, const std::string &comparison,
                   const std::string &type) {
  std::string op = "setp." + comparison + "." + type;
  bool pair = type == "f16x2" || type == "bf16x2";
  MicroForm form = plainForm(op, "pred", {type, type});
  if (pair) {
    form.body = op + " %p0|%p1, %r0, %r1;";
    form.outputs.push_back({"%p1", "pred"});
  }
  forms.push_back(form);
}

} // namespace

void addConversionForms(Forms &forms) {
  addIntegerConversions(forms);
  addMixedConversions(forms);
  addFloatConversions(forms);
  // Payloads of NaNs are open where double precision or tf32 takes part, and
  // where a value is only copied.
  for (MicroForm &form : forms)
    for (const char *name : {"f64", ".tf32.", "cvt.f32.f32"})
      if (form.name.compare(0, 4, "cvt.") == 0 &&
          form.name.find(name) != std::string::npos)
        form.anyNan = true;
  addByteFloats(forms);
}

void addCompareForms(Forms &forms) {
  for (const std::string &type : integers)
    for (const char *comparison : {"eq", "ne", "lt", "le", "gt", "ge"})
      addComparison(forms, comparison, type);
  for (const char *type : {"u16", "u32", "u64"})
    for (const char *comparison : {"lo", "ls", "hi", "hs"})
      addComparison(forms, comparison, type);
  for (const char *type : {"b16", "b32", "b64"})
    for (const char *comparison : {"eq", "ne"})
      addComparison(forms, comparison, type);
  for (const char *type : {"f32", "f64", "f16", "bf16", "f16x2", "bf16x2"})
    for (const char *comparison :
         {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu",
          "geu", "num", "nan"})
      addComparison(forms, comparison, type);
  addComparison(forms, "lt.ftz", "f32");
  for (const char *how : {"and", "or", "xor"}) {
    MicroForm form = plainForm(std::string("setp.lt.") + how + ".s32", "pred",
                               {"s32", "s32", "b32"});
    form.body = "and.b32 %x1, %r2, 1; setp.ne.u32 %p2, %x1, 0; setp.lt." +
                std::string(how) + ".s32 %p0|%p1, %r0, %r1, !%p2;";
    form.outputs = {{"%p0", "pred"}, {"%p1", "pred"}};
    forms.push_back(form);
  }
  for (const char *result : {"u32", "s32", "f32"})
    for (const char *type : {"s32", "f32"})
      forms.push_back(plainForm(std::string("set.ge.") + result + "." + type,
                                "b32", {type, type}));
  for (const char *type : {"f16x2", "bf16x2"})
    forms.push_back(plainForm(std::string("set.gtu.") + type + "." + type, type,
                              {type, type}));
  for (const char *type : {"b16", "b32", "b64", "f32", "f64"}) {
    MicroForm form =
        plainForm(std::string("selp.") + type, type, {type, type, "b32"});
    form.body = "and.b32 %x1, %r2, 1; setp.ne.u32 %p2, %x1, 0; " +
                form.body.substr(0, form.body.rfind(',')) + ", %p2;";
    forms.push_back(form);
  }
  for (const char *type : {"b32", "b64"})
    for (const char *control : {"s32", "f32"})
      forms.push_back(plainForm(std::string("slct.") + type + "." + control,
                                type, {type, type, control}));
  for (const char *kind :
       {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})
    for (const char *type : {"f32", "f64"})
      forms.push_back(
          plainForm(std::string("testp.") + kind + "." + type, "pred", {type}));
}

} // namespace attn::simtest
