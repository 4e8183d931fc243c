//===- MemoryForms.cpp - Loads, stores, atomics and copies ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;

struct Place {
  const char *space, *address;
};
constexpr Place places[] = {{".global", "%g"},
                            {".shared", "%a"},
                            {".shared::cta", "%a"},
                            {".local", "loc"},
                            {"", "%g"}};

std::string at(const Place &place, unsigned offset = 0) {
  return std::string("[") + place.address +
         (offset ? "+" + std::to_string(offset) : "") + "]";
}

/// 16 bytes written by the widest store.
std::string fill(const Place &place) {
  return std::string("st") + place.space + ".v2.b64 " + at(place) +
         ", {%i0, %i1}; ";
}

std::string vectorOf(const std::string &prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

void addLoads(Forms &forms) {
  for (const Place &place : places)
    for (const char *type : {"b8", "u8", "s8", "b16", "u16", "s16", "b32",
                             "u32", "s32", "f32", "b64", "f64"})
      for (unsigned count : {1u, 2u, 4u}) {
        std::string name = type;
        unsigned bytes = unsigned(std::stoi(name.substr(1))) / 8;
        if (count * bytes > 16)
          continue;
        // Bytes and halves go to wider registers, extended by their sign.
        bool wide = bytes == 8;
        std::string prefix = wide ? "%y" : "%x";
        std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
        MicroForm form;
        form.name = std::string("ld") + place.space + vector + "." + name +
                    (*place.space ? "" : " generic");
        unsigned offset = count * bytes < 16 ? count * bytes : 0;
        form.body = fill(place) + "ld" + place.space + vector + "." + name +
                    " " +
                    (count == 1 ? prefix + "0" : vectorOf(prefix, count)) +
                    ", " + at(place, offset) + ";";
        form.inputs = {"b64", "b64"};
        for (unsigned i = 0; i < count; ++i)
          form.outputs.push_back(
              {prefix + std::to_string(i), wide ? "b64" : "b32"});
        forms.push_back(form);
      }
}

void addStores(Forms &forms) {
  for (const Place &place : places)
    for (const char *type : {"b8", "b16", "b32", "b64"})
      for (unsigned count : {1u, 2u, 4u}) {
        std::string name = type;
        unsigned bytes = unsigned(std::stoi(name.substr(1))) / 8;
        if (count * bytes > 16)
          continue;
        std::string prefix = bytes == 8 ? "%i" : bytes == 2 ? "%h" : "%r";
        std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
        MicroForm form;
        form.name = std::string("st") + place.space + vector + "." + name +
                    (*place.space ? "" : " generic");
        unsigned offset = count * bytes < 16 ? count * bytes : 0;
        form.body = fill(place) + "st" + place.space + vector + "." + name +
                    " " + at(place, offset) + ", " +
                    (count == 1 ? prefix + "1" : vectorOf(prefix, count)) +
                    "; ld" + place.space + ".v2.b64 {%y0, %y1}, " + at(place) +
                    ";";
        form.inputs = {"b64", "b64", "b64", "b64"};
        form.outputs = {{"%y0", "b64"}, {"%y1", "b64"}};
        forms.push_back(form);
      }
}

void addGeneric(Forms &forms) {
  // Shared and local memory through generic addresses.
  MicroForm shared;
  shared.name = "cvta.shared.u64 and back";
  shared.body = "cvt.u64.u32 %y2, %a; cvta.shared.u64 %y3, %y2; "
                "st.b64 [%y3], %i0; ld.shared.b64 %y0, [%a]; "
                "cvta.to.shared.u64 %y4, %y3; sub.s64 %y1, %y4, %y2; "
                "isspacep.shared %p0, %y3; isspacep.global %p1, %y3;";
  shared.inputs = {"b64"};
  shared.outputs = {
      {"%y0", "b64"}, {"%y1", "b64"}, {"%p0", "pred"}, {"%p1", "pred"}};
  forms.push_back(shared);
  MicroForm local;
  local.name = "cvta.local.u64";
  local.body = "mov.b64 %y2, loc; cvta.local.u64 %y3, %y2; "
               "st.b64 [%y3+8], %i0; ld.local.b64 %y0, [loc+8]; "
               "isspacep.local %p0, %y3;";
  local.inputs = {"b64"};
  local.outputs = {{"%y0", "b64"}, {"%p0", "pred"}};
  forms.push_back(local);
}

struct AtomicForm {
  const char *op, *type;
};

/// Every thread updates a place of its own: the old value and the new one.
void addAtomics(Forms &forms) {
  static constexpr AtomicForm all[] = {
      {"add", "u32"},         {"add", "s32"},        {"add", "u64"},
      {"add", "f32"},         {"add", "f64"},        {"min", "u32"},
      {"min", "s32"},         {"min", "u64"},        {"min", "s64"},
      {"max", "u32"},         {"max", "s32"},        {"max", "u64"},
      {"max", "s64"},         {"inc", "u32"},        {"dec", "u32"},
      {"and", "b32"},         {"or", "b32"},         {"xor", "b32"},
      {"and", "b64"},         {"or", "b64"},         {"xor", "b64"},
      {"exch", "b32"},        {"exch", "b64"},       {"cas", "b16"},
      {"cas", "b32"},         {"cas", "b64"},        {"add.noftz", "f16"},
      {"add.noftz", "f16x2"}, {"add.noftz", "bf16"}, {"add.noftz", "bf16x2"}};
  for (const Place &place : {places[0], places[1], places[4]})
    for (const AtomicForm &atomic : all) {
      std::string type = atomic.type, op = atomic.op;
      bool cas = op == "cas";
      unsigned bits = bitsOfKind(type);
      std::string old = bits == 64 ? "%y0" : bits == 16 ? "%z0" : "%x0";
      std::string now = bits == 64 ? "%y1" : bits == 16 ? "%z1" : "%x1";
      std::string width = ".b" + std::to_string(bits);
      std::string suffix = std::string(place.space) + "." + op + "." + type;
      std::string source = inputRegister(type, 1);
      if (cas) // half of the comparisons hold
        source = inputRegister(type, 0) + ", " + source;
      std::string prepare = std::string("st") + place.space + width + " " +
                            at(place) + ", " + inputRegister(type, 0) + "; ";
      std::string read = " ld" + std::string(place.space) + width + " " + now +
                         ", " + at(place) + ";";
      MicroForm form;
      form.anyNan = type == "f64";
      form.name = "atom" + suffix + (*place.space ? "" : " generic");
      form.body = prepare + "atom" + suffix + " " + old + ", " + at(place) +
                  ", " + source + ";" + read;
      form.inputs = {type, type};
      form.outputs = {{old, type}, {now, type}};
      forms.push_back(form);
      if (cas || op == "exch")
        continue;
      form.name = "red" + suffix + (*place.space ? "" : " generic");
      form.body = prepare + "red" + suffix + " " + at(place) + ", " + source +
                  ";" + read;
      form.outputs = {{now, type}};
      forms.push_back(form);
    }
}

/// Pairs in shared memory by a generic address.
void addGenericPairs(Forms &forms) {
  for (const char *type : {"f16x2", "bf16x2"}) {
    MicroForm form;
    form.name = std::string("atom.add.noftz.") + type + " generic, shared";
    form.body = std::string("cvt.u64.u32 %y2, %a; cvta.shared.u64 %y3, %y2; "
                            "st.shared.b32 [%a], %r0; atom.add.noftz.") +
                type + " %x0, [%y3], %r1; ld.shared.b32 %x1, [%a];";
    form.inputs = {type, type};
    form.outputs = {{"%x0", type}, {"%x1", type}};
    forms.push_back(form);
  }
}

/// red and atom of vectors, in global memory.
void addVectorAtomics(Forms &forms) {
  struct Vector {
    const char *type;
    unsigned count;
  };
  static constexpr Vector all[] = {{"f32", 2},   {"f32", 4},    {"f16x2", 2},
                                   {"f16x2", 4}, {"bf16x2", 2}, {"bf16x2", 4},
                                   {"f16", 2},   {"f16", 4},    {"f16", 8},
                                   {"bf16", 2},  {"bf16", 4},   {"bf16", 8}};
  for (const Vector &vector : all) {
    std::string type = vector.type;
    bool single = type == "f32", narrow = bitsOfKind(type) == 16;
    std::string suffix = std::string(".global.add") + (single ? "" : ".noftz") +
                         ".v" + std::to_string(vector.count) + "." + type;
    // The old values from inputs 0 and 1, the added ones from 2 and 3.
    std::string split =
        narrow ? "mov.b64 {%z0, %z1, %z2, %z3}, %i2; mov.b64 {%z4, %z5, %z6, "
                 "%z7}, "
                 "%i3; "
               : "mov.b64 {%x0, %x1}, %i2; mov.b64 {%x2, %x3}, %i3; ";
    std::string source = vectorOf(narrow ? "%z" : "%x", vector.count);
    MicroForm form;
    form.name = "red" + suffix;
    form.body = "st.global.v2.b64 [%g], {%i0, %i1}; " + split + "red" + suffix +
                " [%g], " + source + "; ld.global.v2.b64 {%y0, %y1}, [%g];";
    // Ordinary numbers, so that no pattern is a NaN of unknown payload.
    form.inputs = {"b64", "b64", "b64", "b64"};
    std::string whole = single ? "0x3fffffff3fffffff" : "0x3fff3fff3fff3fff";
    std::string clean;
    for (const char *input : {"%i0", "%i1", "%i2", "%i3"})
      clean +=
          std::string("and.b64 ") + input + ", " + input + ", " + whole + "; ";
    form.body = clean + form.body;
    form.outputs = {{"%y0", "b64"}, {"%y1", "b64"}};
    forms.push_back(form);
  }
}

void addCopies(Forms &forms) {
  struct Copy {
    const char *op;
    const char *tail;
  };
  static constexpr Copy copies[] = {
      {"cp.async.ca.shared.global", ", 4"},
      {"cp.async.ca.shared.global", ", 8"},
      {"cp.async.ca.shared.global", ", 16"},
      {"cp.async.cg.shared.global", ", 16"},
      {"cp.async.cg.shared.global", ", 16, %r2"},
      {"cp.async.ca.shared::cta.global", ", 8, 5"},
      {"cp.async.cg.shared.global.L2::128B", ", 16, 0"}};
  for (const Copy &copy : copies) {
    MicroForm form;
    form.name = std::string(copy.op) + copy.tail;
    form.body = "st.shared.v2.b64 [%a], {%i0, %i1}; "
                "st.global.v2.b64 [%g], {%i1, %i0}; and.b32 %r2, %r2, 15; "
                "fence.acq_rel.gpu; " +
                std::string(copy.op) + " [%a], [%g]" + copy.tail +
                "; cp.async.commit_group; cp.async.wait_group 0; "
                "ld.shared.v2.b64 {%y0, %y1}, [%a];";
    form.inputs = {"b64", "b64", "u32"};
    form.outputs = {{"%y0", "b64"}, {"%y1", "b64"}};
    forms.push_back(form);
  }
}

} // namespace

void addMemoryForms(Forms &forms) {
  addLoads(forms);
  addStores(forms);
  addGeneric(forms);
  addAtomics(forms);
  addGenericPairs(forms);
  addVectorAtomics(forms);
  addCopies(forms);
}

} // namespace attn::simtest
