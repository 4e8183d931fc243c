//===- WgmmaDecoder.cpp - wgmma instructions ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// PTX ISA 9.7.15: wgmma.fence, wgmma.mma_async, wgmma.commit_group and
// wgmma.wait_group.
//
#include "WgmmaDecoder.h"
#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

enum ScaleD : uint8_t { Replaces, Accumulates, ByPredicate };

// In Inst: a = types, b = columns / 8, c = flags, d = ScaleD.
constexpr unsigned typeShift = 4, typeMask = 15;
enum Flag : uint8_t {
  AInRegisters = 1,
  TransposedA = 2,
  TransposedB = 4,
  Negated = 8,
  Saturates = 16,
  HalfD = 32,
  IntegerD = 64,
};

} // namespace

WgmmaForm wgmmaForm(const Inst &inst) {
  WgmmaForm form;
  form.a = static_cast<Element>(inst.a & typeMask);
  form.b = static_cast<Element>(inst.a >> typeShift);
  form.columns = inst.b * 8u;
  form.aInRegisters = inst.c & AInRegisters;
  form.transposedA = inst.c & TransposedA;
  form.transposedB = inst.c & TransposedB;
  form.negated = inst.c & Negated;
  form.saturates = inst.c & Saturates;
  form.d = inst.c & HalfD      ? Accumulator::F16
           : inst.c & IntegerD ? Accumulator::S32
                               : Accumulator::F32;
  return form;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isEightBitFloat(Element element) {
  return element == Element::E4M3 || element == Element::E5M2;
}
static bool isInteger(Element element) {
  return element == Element::S8 || element == Element::U8;
}

Element takeElement(Builder &b) {
  static constexpr Element elements[] = {
      Element::F16,  Element::BF16, Element::TF32, Element::E4M3,
      Element::E5M2, Element::S8,   Element::U8};
  auto index = b.takeOneOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"});
  if (!index)
    b.fail("'" + std::string(b.ast.opcode) +
           "' has no operand type that is supported");
  return elements[*index];
}

void checkMultiplyTypes(const Builder &b, Element a, Element second,
                        Accumulator d) {
  bool legal;
  if (isInteger(a))
    legal = isInteger(second) && d == Accumulator::S32;
  else if (isEightBitFloat(a))
    legal = isEightBitFloat(second) && d != Accumulator::S32;
  else
    legal = a == second && (d == Accumulator::F32 ||
                            (d == Accumulator::F16 && a == Element::F16));
  if (!legal)
    b.refuse();
}

namespace {

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// The descriptor, which the lanes of a warp must agree on.
uint64_t uniformDescriptor(Warp &warp, const Inst &inst,
                           const Operand &operand) {
  const uint32_t *lanes = warp.lanes(operand);
  auto value = getLane<uint64_t>(lanes, 0);
  for (unsigned lane = 1; lane < warpSize; ++lane)
    if (getLane<uint64_t>(lanes, lane) != value)
      warp.fail(inst, "wgmma-divergence", uint32_t(1) << lane,
                "the lanes of a warp disagree about a descriptor",
                "compute descriptors from what the warpgroup has in common");
  return value;
}

Warpgroup &warpgroupOf(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  Warpgroup *group = warp.block->warpgroups.of(warp);
  if (!group)
    warp.fail(inst, "wgmma-divergence", 0,
              "the block has no complete warpgroup around warp " +
                  std::to_string(warp.id),
              "launch a multiple of 128 threads");
  return *group;
}

void runMultiply(Warp &warp, const Inst &inst) {
  Warpgroup &group = warpgroupOf(warp, inst);
  Warpgroup::Operands operands;
  unsigned b = inst.c & AInRegisters ? 4 : 1;
  if (b == 1)
    operands.a = uniformDescriptor(warp, inst, inst.src(0));
  operands.b = uniformDescriptor(warp, inst, inst.src(b));
  operands.accumulates = inst.d == Accumulates;
  if (inst.d == ByPredicate) {
    uint32_t holds = warp.predicate(inst.src(b + 1));
    if (holds != 0 && holds != allLanes)
      warp.fail(inst, "wgmma-divergence", holds,
                "the lanes of a warp disagree about scale-d",
                "use one predicate for the warpgroup");
    operands.accumulates = holds != 0;
  }
  group.issue(warp, inst, operands);
}

void runFence(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  ++warp.watch.fences;
}

void runCommit(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  WgmmaProgress &progress = warp.wgmma;
  ++progress.commits;
  progress.groups.push_back(progress.issued);
  progress.committed = progress.issued;
}

void runWait(Warp &warp, const Inst &inst) {
  Warpgroup &group = warpgroupOf(warp, inst);
  std::deque<uint64_t> &groups = warp.wgmma.groups;
  auto left = static_cast<size_t>(inst.imm);
  if (groups.size() <= left)
    return;
  uint64_t end = groups[groups.size() - 1 - left];
  if (!group.allIssued(end)) {
    warp.waitForWgmma(inst);
    return;
  }
  group.complete(warp, end, warp.wgmma.commits - uint32_t(left));
  groups.erase(groups.begin(), groups.end() - inst.imm);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Columns of the shape m64nNkK; refuses shapes that do not exist.
unsigned parseShape(Builder &b, std::string_view shape, Element a) {
  constexpr std::string_view prefix = "m64n";
  auto number = [&](std::string_view digits) {
    unsigned value = 0;
    for (char c : digits)
      value =
          c >= '0' && c <= '9' && value < 1000 ? value * 10 + (c - '0') : 1000;
    return value;
  };
  size_t k = shape.find('k');
  unsigned columns = number(shape.substr(prefix.size(), k - prefix.size()));
  unsigned depth = number(shape.substr(k + 1));
  unsigned step = isInteger(a) && columns > 32 ? 16 : 8;
  if (columns < 8 || columns > wgmmaMaxColumns || columns % step ||
      depth != wgmmaDepthBytes / elementBytes(a))
    b.fail("'" + std::string(shape) + "' is no wgmma shape for this type");
  return columns;
}

/// imm-scale-a and imm-scale-b are 1 or -1.
bool negativeScale(Builder &b, const AstOperand &operand) {
  int64_t value = b.immediate(operand, "a scale of 1 or -1");
  if (value != 1 && value != -1)
    b.fail("expected a scale of 1 or -1, found " + std::to_string(value));
  return value < 0;
}

bool transposition(Builder &b, const AstOperand &operand) {
  int64_t value = b.immediate(operand, "0 (K-major) or 1");
  if (value != 0 && value != 1)
    b.fail("expected 0 (K-major) or 1, found " + std::to_string(value));
  return value != 0;
}

void decodeScaleD(Builder &b, const AstOperand &operand) {
  if (operand.kind == AstOperand::Integer) {
    b.inst.d = operand.value ? Accumulates : Replaces;
    return;
  }
  b.srcPredicate(operand);
  b.inst.d = ByPredicate;
}

void decodeOperands(Builder &b, Element a, unsigned registers) {
  const std::vector<AstOperand> &operands = b.ast.operands;
  bool sixteenBits = elementBytes(a) == 2;
  if (operands.size() < 4)
    b.expectOperands(4, 8);
  bool fromRegisters = operands[1].kind == AstOperand::Vector;
  b.expectOperands(isInteger(a) ? 4 : !sixteenBits ? 6 : fromRegisters ? 7 : 8);
  b.dstVector(operands[0], registers, Type::B32);
  if (fromRegisters) {
    b.srcVector(operands[1], 4, Type::B32);
    b.inst.c |= AInRegisters;
  } else {
    b.src(operands[1], Type::B64);
  }
  b.src(operands[2], Type::B64);
  decodeScaleD(b, operands[3]);
  if (isInteger(a))
    return;
  if (negativeScale(b, operands[4]) != negativeScale(b, operands[5]))
    b.inst.c |= Negated;
  if (!sixteenBits)
    return;
  if (!fromRegisters && transposition(b, operands[6]))
    b.inst.c |= TransposedA;
  if (transposition(b, operands.back()))
    b.inst.c |= TransposedB;
}

void decodeMultiply(Builder &b) {
  bool fixed = b.take("sync") && b.take("aligned");
  auto shape = b.takePrefixed("m64n");
  auto accumulator = b.takeOneOf({"f32", "f16", "s32"});
  if (!fixed || !shape || !accumulator)
    b.refuse();
  static constexpr Accumulator kinds[] = {Accumulator::F32, Accumulator::F16,
                                          Accumulator::S32};
  Accumulator d = kinds[*accumulator];
  Element a = takeElement(b), second = takeElement(b);
  checkMultiplyTypes(b, a, second, d);
  unsigned columns = parseShape(b, *shape, a);
  b.inst.a = static_cast<uint8_t>(unsigned(a) | unsigned(second) << typeShift);
  b.inst.b = static_cast<uint8_t>(columns / 8);
  if (isInteger(a) && b.take("satfinite"))
    b.inst.c |= Saturates;
  if (d == Accumulator::F16)
    b.inst.c |= HalfD;
  if (d == Accumulator::S32)
    b.inst.c |= IntegerD;
  b.inst.asynchronous = true;
  decodeOperands(b, a, d == Accumulator::F16 ? columns / 4 : columns / 2);
  b.inst.run = runMultiply;
}

void decodeWgmma(Builder &b) {
  if (b.take("mma_async"))
    return decodeMultiply(b);
  auto action = b.takeOneOf({"fence", "commit_group", "wait_group"});
  if (!action || !b.take("sync") || !b.take("aligned"))
    b.refuse();
  static constexpr Handler handlers[] = {runFence, runCommit, runWait};
  b.inst.run = handlers[*action];
  bool waits = *action == 2;
  b.expectOperands(waits);
  if (!waits)
    return;
  b.inst.imm = b.immediate(b.ast.operands[0], "the number of groups");
  constexpr int64_t maxGroups = 7; // PTX ISA 9.7.15.7.3
  if (b.inst.imm < 0 || b.inst.imm > maxGroups)
    b.fail("wgmma.wait_group takes a number from 0 to 7, found " +
           std::to_string(b.inst.imm));
}

} // namespace

void addWgmmaInstructions(DecodeTable &table) { table["wgmma"] = decodeWgmma; }

} // namespace attn::sim
