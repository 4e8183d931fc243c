//===- IntegerForms.cpp - Integer and logic instructions ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;
using Names = std::initializer_list<const char *>;

std::string withBits(const std::string &letter, unsigned bits) {
  return letter + std::to_string(bits);
}

void addArithmetic(Forms &forms) {
  for (const char *op : {"add", "sub", "min", "max"})
    for (const char *letter : {"u", "s"})
      for (unsigned bits : {16u, 32u, 64u}) {
        std::string type = withBits(letter, bits);
        forms.push_back(
            plainForm(std::string(op) + "." + type, type, {type, type}));
      }
  for (const char *op : {"add", "min", "max"})
    for (const char *type : {"u16x2", "s16x2"})
      forms.push_back(
          plainForm(std::string(op) + "." + type, "b32", {"b32", "b32"}));
  for (const char *op : {"add.sat.s32", "sub.sat.s32"})
    forms.push_back(plainForm(op, "s32", {"s32", "s32"}));
  for (const char *letter : {"u", "s"})
    for (unsigned bits : {16u, 32u, 64u}) {
      std::string type = withBits(letter, bits);
      for (const char *op : {"div", "rem"}) {
        // Quotients of 16-bit values by nonzero ones.
        std::string divisor = bits == 64 ? "nonzero64" : "nonzero32";
        MicroForm form = plainForm(std::string(op) + "." + type, type,
                                   {type, bits == 16 ? "u16" : divisor});
        if (bits == 16)
          form.body = "or.b16 %h1, %h1, 1; " + form.body;
        forms.push_back(form);
      }
    }
  for (unsigned bits : {16u, 32u, 64u})
    for (const char *op : {"abs", "neg"}) {
      std::string type = withBits("s", bits);
      forms.push_back(plainForm(std::string(op) + "." + type, type, {type}));
    }
}

void addProducts(Forms &forms) {
  for (const char *letter : {"u", "s"}) {
    for (unsigned bits : {16u, 32u, 64u}) {
      std::string type = withBits(letter, bits);
      for (const char *part : {"lo", "hi"}) {
        std::string suffix = std::string(".") + part + "." + type;
        forms.push_back(plainForm("mul" + suffix, type, {type, type}));
        forms.push_back(plainForm("mad" + suffix, type, {type, type, type}));
      }
      forms.push_back(plainForm("sad." + type, type, {type, type, type}));
    }
    for (unsigned bits : {16u, 32u}) {
      std::string type = withBits(letter, bits);
      std::string wide = withBits(letter, 2 * bits);
      forms.push_back(plainForm("mul.wide." + type, wide, {type, type}));
      forms.push_back(plainForm("mad.wide." + type, wide, {type, type, wide}));
    }
    std::string type = withBits(letter, 32);
    forms.push_back(plainForm("mul24.lo." + type, type, {type, type}));
    forms.push_back(plainForm("mad24.lo." + type, type, {type, type, type}));
  }
}

void addLogic(Forms &forms) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string type = withBits("b", bits);
    for (const char *op : {"and", "or", "xor"})
      forms.push_back(
          plainForm(std::string(op) + "." + type, type, {type, type}));
    for (const char *op : {"not", "cnot"})
      forms.push_back(plainForm(std::string(op) + "." + type, type, {type}));
    forms.push_back(plainForm("shl." + type, type, {type, "shift"}));
    for (const char *letter : {"u", "s", "b"})
      forms.push_back(
          plainForm("shr." + withBits(letter, bits), type, {type, "shift"}));
    // Amounts of any size are clamped.
    forms.push_back(plainForm("shl." + type, type, {type, "u32"}));
    forms.back().name += " any amount";
  }
  for (const char *op : {"shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32",
                         "shf.r.wrap.b32"})
    forms.push_back(plainForm(op, "b32", {"b32", "b32", "shift"}));
  for (const char *table : {"0x1e", "0x80", "0xca", "0xe8", "0x96", "0x7f"}) {
    MicroForm form = plainForm("lop3.b32", "b32", {"b32", "b32", "b32"});
    form.body.insert(form.body.size() - 1, std::string(", ") + table);
    form.name += std::string(" ") + table;
    forms.push_back(form);
  }
}

void addFields(Forms &forms) {
  for (const char *type : {"u32", "s32", "u64", "s64"}) {
    forms.push_back(
        plainForm(std::string("bfe.") + type, type, {type, "shift", "shift"}));
    for (const char *shift : {"", ".shiftamt"})
      forms.push_back(
          plainForm(std::string("bfind") + shift + "." + type, "u32", {type}));
  }
  for (const char *type : {"b32", "b64"}) {
    std::string suffix = std::string(".") + type;
    forms.push_back(
        plainForm("bfi" + suffix, type, {type, type, "shift", "shift"}));
    forms.push_back(plainForm("popc" + suffix, "u32", {type}));
    forms.push_back(plainForm("clz" + suffix, "u32", {type}));
    forms.push_back(plainForm("brev" + suffix, type, {type}));
  }
  for (const char *mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
    forms.push_back(plainForm(std::string("prmt.b32") + mode, "b32",
                              {"b32", "b32", "u32"}));
}

void addMoves(Forms &forms) {
  auto add = [&](const char *name, const char *body,
                 std::vector<std::string> inputs, std::vector<Output> outputs) {
    forms.push_back(
        {name, body, std::move(inputs), std::move(outputs), {}, false});
  };
  add("mov.b32 pack of b16", "mov.b32 %x0, {%h0, %h1};", {"b16", "b16"},
      {{"%x0", "b32"}});
  add("mov.b32 unpack to b16", "mov.b32 {%z0, %z1}, %r0;", {"b32"},
      {{"%z0", "b16"}, {"%z1", "b16"}});
  add("mov.b64 pack of b32", "mov.b64 %y0, {%r0, %r1};", {"b32", "b32"},
      {{"%y0", "b64"}});
  add("mov.b64 unpack to b32", "mov.b64 {%x0, %x1}, %i0;", {"b64"},
      {{"%x0", "b32"}, {"%x1", "b32"}});
  add("mov.b64 pack of b16", "mov.b64 %y0, {%h0, %h1, %h2, %h3};",
      {"b16", "b16", "b16", "b16"}, {{"%y0", "b64"}});
  add("mov.b64 unpack to b16", "mov.b64 {%z0, %z1, %z2, %z3}, %i0;", {"b64"},
      {{"%z0", "b16"}, {"%z1", "b16"}, {"%z2", "b16"}, {"%z3", "b16"}});
}

/// The results of three instructions in a row that pass a carry on.
void addCarries(Forms &forms) {
  for (unsigned bits : {32u, 64u})
    for (const char *letter : {"u", "s"}) {
      std::string type = withBits(letter, bits);
      std::string to = bits == 64 ? "%y" : "%x",
                  from = bits == 64 ? "%i" : "%r";
      std::string in = from + "0, " + from + "1";
      for (const char *op : {"add", "sub"}) {
        std::string name = op;
        MicroForm form;
        form.name = name + ".cc." + type;
        form.inputs = {type, type};
        form.body = name + ".cc." + type + " " + to + "0, " + in + ";\n" +
                    name + "c.cc." + type + " " + to + "1, " + in + ";\n" +
                    name + "c." + type + " " + to + "2, " + in + ";";
        for (const char *i : {"0", "1", "2"})
          form.outputs.push_back({to + i, withBits("b", bits)});
        forms.push_back(form);
      }
      for (const char *part : {"lo", "hi"}) {
        MicroForm form;
        std::string suffix = std::string(".") + part;
        form.name = "mad" + suffix + ".cc." + type;
        form.inputs = {type, type, type};
        in = from + "0, " + from + "1, " + from + "2";
        form.body = "mad" + suffix + ".cc." + type + " " + to + "0, " + in +
                    ";\nmadc" + suffix + ".cc." + type + " " + to + "1, " + in +
                    ";\nmadc" + suffix + "." + type + " " + to + "2, " + in +
                    ";";
        for (const char *i : {"0", "1", "2"})
          form.outputs.push_back({to + i, withBits("b", bits)});
        forms.push_back(form);
      }
    }
}

void addDots(Forms &forms) {
  for (const char *a : {"u32", "s32"})
    for (const char *b : {"u32", "s32"})
      for (const char *op : {"dp4a", "dp2a.lo", "dp2a.hi"})
        forms.push_back(plainForm(std::string(op) + "." + a + "." + b, "b32",
                                  {"b32", "b32", "b32"}));
  for (const char *mode : {"clamp", "wrap"}) {
    forms.push_back(plainForm(std::string("bmsk.") + mode + ".b32", "b32",
                              {"shift", "shift"}));
    for (const char *type : {"u32", "s32"})
      forms.push_back(plainForm(std::string("szext.") + mode + "." + type, type,
                                {type, "shift"}));
  }
}

} // namespace

void addIntegerForms(Forms &forms) {
  addArithmetic(forms);
  addProducts(forms);
  addLogic(forms);
  addFields(forms);
  addCarries(forms);
  addDots(forms);
  addMoves(forms);
}

} // namespace attn::simtest
