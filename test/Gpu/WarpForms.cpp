//===- WarpForms.cpp - Instructions across the lanes of a warp ------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;

void add(Forms &forms, const std::string &name, const std::string &body,
         std::vector<std::string> inputs, std::vector<Output> outputs,
         Tolerance tolerance = {}) {
  forms.push_back(
      {name, body, std::move(inputs), std::move(outputs), tolerance, false});
}

void addShuffles(Forms &forms) {
  // The last operand: segments of 32, 16, 8 and 4 lanes.
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (unsigned segment : {32u, 16u, 8u, 4u}) {
      unsigned clamp = (32 - segment) << 8;
      if (mode[0] != 'u')
        clamp |= 31;
      for (bool uniform : {true, false}) {
        // One distance for the warp, or one for each lane.
        std::string amount = uniform ? "3" : "%r1";
        std::string op = std::string("shfl.sync.") + mode + ".b32";
        add(forms,
            op + " segments of " + std::to_string(segment) +
                (uniform ? "" : " any amount"),
            op + " %x0|%p0, %r0, " + amount + ", " + std::to_string(clamp) +
                ", -1;",
            {"b32", "lane"}, {{"%x0", "b32"}, {"%p0", "pred"}});
      }
    }
}

void addVotes(Forms &forms) {
  std::string bit = "and.b32 %x1, %r0, 1; setp.ne.u32 %p1, %x1, 0; ";
  for (const char *mode : {"all", "any", "uni"})
    for (const char *sign : {"", "!"})
      add(forms, std::string("vote.sync.") + mode + ".pred " + sign + "p",
          bit + "vote.sync." + mode + ".pred %p0, " + sign + "%p1, -1;",
          {"b32"}, {{"%p0", "pred"}});
  add(forms, "vote.sync.ballot.b32", bit + "vote.sync.ballot.b32 %x0, %p1, -1;",
      {"b32"}, {{"%x0", "b32"}});
  // Where all agree.
  for (const char *mode : {"all", "any", "uni"})
    add(forms, std::string("vote.sync.") + mode + ".pred of one value",
        std::string("setp.lt.u32 %p1, %lane, 32; vote.sync.") + mode +
            ".pred %p0, %p1, -1;",
        {}, {{"%p0", "pred"}});
  // Some lanes only.
  std::string some = "and.b32 %x2, %lane, 3; setp.ne.u32 %p2, %x2, 0; ";
  add(forms, "activemask.b32 in a branch",
      "mov.b32 %x0, 0; " + some + "@%p2 bra skip; activemask.b32 %x0;\nskip:",
      {}, {{"%x0", "b32"}});
  add(forms, "vote.sync.ballot.b32 of 8 lanes",
      "mov.b32 %x0, 0; " + bit + some +
          "@%p2 bra skip; vote.sync.ballot.b32 %x0, %p1, 0x11111111;\nskip:",
      {"b32"}, {{"%x0", "b32"}});
}

void addMatches(Forms &forms) {
  for (const char *type : {"b32", "b64"}) {
    std::string wide = type[1] == '6' ? "%y1" : "%x1";
    std::string few =
        type[1] == '6' ? "and.b64 %y1, %i0, 3; " : "and.b32 %x1, %r0, 3; ";
    add(forms, std::string("match.any.sync.") + type,
        few + "match.any.sync." + type + " %x0, " + wide + ", -1;", {type},
        {{"%x0", "b32"}});
    add(forms, std::string("match.all.sync.") + type,
        few + "match.all.sync." + type + " %x0|%p0, " + wide + ", -1;", {type},
        {{"%x0", "b32"}, {"%p0", "pred"}});
    std::string one = type[1] == '6' ? "mov.b64 %y1, 7; " : "mov.b32 %x1, 7; ";
    add(forms, std::string("match.all.sync.") + type + " of one value",
        one + "match.all.sync." + type + " %x0|%p0, " + wide + ", -1;", {},
        {{"%x0", "b32"}, {"%p0", "pred"}});
  }
}

void addReductions(Forms &forms) {
  for (const char *op : {"add", "min", "max"})
    for (const char *type : {"u32", "s32"})
      forms.push_back(plainForm(std::string("redux.sync.") + op + "." + type,
                                type, {type}));
  for (const char *op : {"and", "or", "xor"})
    forms.push_back(
        plainForm(std::string("redux.sync.") + op + ".b32", "b32", {"b32"}));
  for (MicroForm &form : forms)
    if (form.name.compare(0, 5, "redux") == 0)
      form.body.insert(form.body.size() - 1, ", -1");
  add(forms, "elect.sync", "elect.sync %x0|%p0, -1;", {},
      {{"%x0", "b32"}, {"%p0", "pred"}});
  std::string some = "and.b32 %x2, %lane, 3; setp.ne.u32 %p2, %x2, 2; "
                     "mov.b32 %x0, 99; setp.ne.u32 %p0, %x0, 99; ";
  add(forms, "elect.sync of 8 lanes",
      some + "@%p2 bra skip; elect.sync %x0|%p0, 0x44444444;\nskip:", {},
      {{"%x0", "b32"}, {"%p0", "pred"}});
}

/// Barriers with a reduction, over the block.
void addBarriers(Forms &forms) {
  std::string bit = "and.b32 %x1, %r0, 1; setp.ne.u32 %p1, %x1, 0; ";
  add(forms, "barrier.cta.red.popc.aligned.u32",
      bit + "barrier.cta.red.popc.aligned.u32 %x0, 1, 128, %p1;", {"b32"},
      {{"%x0", "b32"}});
  for (const char *mode : {"and", "or"})
    add(forms, std::string("barrier.cta.red.") + mode + ".aligned.pred",
        bit + "barrier.cta.red." + mode + ".aligned.pred %p0, 2, 128, %p1;",
        {"b32"}, {{"%p0", "pred"}});
}

} // namespace

void addWarpForms(Forms &forms) {
  addShuffles(forms);
  addVotes(forms);
  addMatches(forms);
  addReductions(forms);
  addBarriers(forms);
}

} // namespace attn::simtest
