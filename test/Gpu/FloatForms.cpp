//===- FloatForms.cpp - Floating point instructions -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;

std::vector<std::string> same(const std::string &type, unsigned count) {
  return std::vector<std::string>(count, type);
}

void addSingle(Forms &forms) {
  for (const char *op : {"add", "sub", "mul", "fma"})
    for (const char *rounding : {".rn", ".rz", ".rm", ".rp"})
      for (const char *flush : {"", ".ftz"})
        for (const char *saturate : {"", ".sat"})
          forms.push_back(
              plainForm(std::string(op) + rounding + flush + saturate + ".f32",
                        "f32", same("f32", op[0] == 'f' ? 3 : 2)));
  for (const char *rounding : {".rn", ".rz", ".rm", ".rp"})
    for (const char *flush : {"", ".ftz"}) {
      std::string suffix = std::string(rounding) + flush + ".f32";
      forms.push_back(plainForm("div" + suffix, "f32", same("f32", 2)));
      forms.push_back(plainForm("rcp" + suffix, "f32", {"f32"}));
      forms.push_back(plainForm("sqrt" + suffix, "f32", {"f32"}));
    }
  for (const char *op : {"min", "max"})
    for (const char *flush : {"", ".ftz"})
      for (const char *nan : {"", ".NaN"})
        forms.push_back(plainForm(std::string(op) + flush + nan + ".f32", "f32",
                                  same("f32", 2)));
  for (const char *op : {"abs", "neg"})
    for (const char *flush : {"", ".ftz"})
      forms.push_back(
          plainForm(std::string(op) + flush + ".f32", "f32", {"f32"}));
  forms.push_back(plainForm("copysign.f32", "f32", same("f32", 2)));
}

void addDouble(Forms &forms) {
  for (const char *op : {"add", "sub", "mul", "div"})
    forms.push_back(
        plainForm(std::string(op) + ".rn.f64", "f64", same("f64", 2)));
  forms.push_back(plainForm("fma.rn.f64", "f64", same("f64", 3)));
  for (const char *op : {"rcp.rn", "sqrt.rn", "abs", "neg"})
    forms.push_back(plainForm(std::string(op) + ".f64", "f64", {"f64"}));
  for (const char *op : {"min", "max", "copysign"})
    forms.push_back(plainForm(std::string(op) + ".f64", "f64", same("f64", 2)));
}

void addHalf(Forms &forms) {
  for (const char *type : {"f16", "f16x2"}) {
    std::string suffix = std::string(".") + type;
    for (const char *flush : {"", ".ftz"})
      for (const char *saturate : {"", ".sat"}) {
        std::string modes = std::string(".rn") + flush + saturate + suffix;
        for (const char *op : {"add", "sub", "mul"})
          forms.push_back(plainForm(op + modes, type, same(type, 2)));
        forms.push_back(plainForm("fma" + modes, type, same(type, 3)));
      }
    for (const char *flush : {"", ".ftz"})
      forms.push_back(
          plainForm(std::string("fma.rn") + flush + ".relu" + suffix, type,
                    same(type, 3)));
  }
  for (const char *type : {"bf16", "bf16x2"}) {
    std::string suffix = std::string(".") + type;
    for (const char *op : {"add.rn", "sub.rn", "mul.rn"})
      forms.push_back(plainForm(op + suffix, type, same(type, 2)));
    for (const char *op : {"fma.rn", "fma.rn.relu"})
      forms.push_back(plainForm(op + suffix, type, same(type, 3)));
  }
  for (const char *type : {"f16", "f16x2", "bf16", "bf16x2"}) {
    std::string suffix = std::string(".") + type;
    for (const char *op : {"min", "max"})
      for (const char *nan : {"", ".NaN"})
        forms.push_back(
            plainForm(std::string(op) + nan + suffix, type, same(type, 2)));
    for (const char *op : {"abs", "neg"})
      forms.push_back(plainForm(op + suffix, type, {type}));
  }
}

/// The errors that PTX ISA 9.7.3 and 9.7.4 state; each side may have them.
void addApproximate(Forms &forms) {
  for (const char *flush : {"", ".ftz"}) {
    std::string suffix = std::string(".approx") + flush + ".f32";
    forms.push_back(plainForm("ex2" + suffix, "f32", {"f32"}, {4, 0, 0x1p-21}));
    forms.push_back(
        plainForm("ex2" + suffix, "f32", {"angle"}, {4, 0, 0x1p-21}));
    forms.back().name += " in -20 to 20";
    forms.push_back(
        plainForm("lg2" + suffix, "f32", {"f32"}, {0, 0x1p-21, 0x1p-21}));
    forms.push_back(plainForm("rcp" + suffix, "f32", {"f32"}, {2, 0, 0}));
    forms.push_back(
        plainForm("sqrt" + suffix, "f32", {"f32"}, {0, 0, 0x1p-22}));
    forms.push_back(
        plainForm("rsqrt" + suffix, "f32", {"f32"}, {0, 0, 0x1p-21}));
    for (const char *op : {"sin", "cos"})
      forms.push_back(
          plainForm(op + suffix, "f32", {"angle"}, {0, 0x1p-17, 0}));
    for (const char *how : {".approx", ".full"})
      forms.push_back(plainForm(std::string("div") + how + flush + ".f32",
                                "f32", {"positive", "positive"}, {4, 0, 0}));
  }
  forms.push_back(
      plainForm("tanh.approx.f32", "f32", {"f32"}, {0, 0, 0x1p-10}));
  forms.push_back(
      plainForm("tanh.approx.f32", "f32", {"angle"}, {0, 0, 0x1p-10}));
  forms.back().name += " in -20 to 20";
  for (const char *type : {"f16", "f16x2"}) {
    std::string suffix = std::string(".approx.") + type;
    forms.push_back(plainForm("ex2" + suffix, type, {type}, {1, 0, 0x1p-8}));
    forms.push_back(plainForm("tanh" + suffix, type, {type}, {0, 0x1p-9, 0}));
  }
  for (const char *type : {"bf16", "bf16x2"}) {
    forms.push_back(plainForm(std::string("ex2.approx.ftz.") + type, type,
                              {type}, {0, 0, 0x1p-6}));
    forms.push_back(plainForm(std::string("tanh.approx.") + type, type, {type},
                              {0, 0x1p-7, 0}));
  }
}

} // namespace

void addFloatForms(Forms &forms) {
  addSingle(forms);
  size_t doubles = forms.size();
  addDouble(forms);
  for (size_t i = doubles; i < forms.size(); ++i)
    forms[i].anyNan = true; // only single precision has a canonical one
  addHalf(forms);
  addApproximate(forms);
}

} // namespace attn::simtest
