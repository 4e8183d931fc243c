//===- ScheduleSelection.cpp - One way to compile a kernel ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleSelection.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;
using namespace attn::ir;
using llvm::formatv;

/// Rows of a tile that one unit multiplies: a warp (mma.sync m16n8k16) or a
/// warpgroup (wgmma m64nNk16).
static constexpr int64_t mmaRows = 16, wgmmaRows = 64;
/// Keys that a step of O += P V contracts, for both.
static constexpr int64_t mmaKeys = 16;
/// PTX ISA, wgmma: the widest N.
static constexpr int64_t maxWgmmaKeys = 256;
static constexpr int64_t warpsPerGroup = 4, lanes = 32;

/// As many of the table's warps as leave each 16 rows or a multiple.
static int64_t warpsFor(int64_t tileM, int64_t warps) {
  while (warps > 1 && tileM % (mmaRows * warps))
    warps /= 2;
  return warps;
}

/// A family is a row of defaults: fa2 is mma.sync, self-fed; fa3 is wgmma with
/// a producer. `auto` takes wgmma where there is one.
ScheduleSelection::ScheduleSelection(KernelOp kernel,
                                     const layout::GpuTarget &target,
                                     ScheduleAttr wish)
    : kernel(kernel), target(target), wish(wish) {
  kind = wish ? wish.getKind() : ScheduleKind::Auto;
  bool wgmma = kind == ScheduleKind::Fa3 ||
               (kind == ScheduleKind::Auto && target.hasWgmma);
  if (wish && wish.getMma())
    wgmma = wish.usesWgmma();
  knobs.engine = wgmma ? Engine::Wgmma : Engine::MmaSync;
  if (kind == ScheduleKind::Auto)
    kind = wgmma ? ScheduleKind::Fa3 : ScheduleKind::Fa2;
  knobs.producer = kind == ScheduleKind::Fa3;
  if (wish && wish.getProducer())
    knobs.producer = *wish.getProducer();
  knobs.persistent = knobs.producer;
  if (wish && wish.getPersistent())
    knobs.persistent = *wish.getPersistent();
}

int64_t ScheduleSelection::consumers() const {
  return knobs.warps / warpsPerGroup;
}

RegisterShares ScheduleSelection::registers() const {
  return shareRegisters(knobs.producerWarps(), knobs.warps, target.hasWgmma);
}

/// The rule by which `knob` is illegal as it stands, or null.
const KnobRule *ScheduleSelection::findBroken(StringRef knob) const {
  for (const KnobRule &rule : knobRules())
    if (knob == rule.knob && rule.isBroken(knobs, target))
      return &rule;
  return nullptr;
}

/// What is not asked for is taken where it is legal: fa3 loads by TMA, by
/// cp.async where there is none.
void ScheduleSelection::chooseLoader() {
  if (wish && wish.getLoader()) {
    knobs.tma = wish.usesTma();
    loaderReason = "as asked";
    return;
  }
  loaderReason = "as in every fa2";
  if (kind != ScheduleKind::Fa3)
    return;
  knobs.tma = true;
  loaderReason = (Twine(StringRef(target.name)) + " has it").str();
  const KnobRule *broken = findBroken("loader");
  if (!broken)
    return;
  knobs.tma = false;
  loaderReason = (Twine("loader ") + broken->reason).str();
}

/// Tensor copies of the output are taken where they are asked for: no
/// measurement has shown them to be faster than the threads' own stores.
void ScheduleSelection::chooseStore() {
  knobs.hasOutput = kernel.getOutputsO();
  knobs.tmaStore = wish && wish.storesByTma();
}

void ScheduleSelection::takeTile(const TileChoice &row) {
  knobs.tileM = row.tileM;
  knobs.tileN = row.tileN;
  stages = row.stages;
  knobs.overlap = row.overlap;
  // Rows that a warp multiplies.
  int64_t warpRows = row.tileM / row.warps;
  std::optional<int64_t> warps;
  if (wish) {
    knobs.tileM = wish.getTileM().value_or(knobs.tileM);
    knobs.tileN = wish.getTileN().value_or(knobs.tileN);
    stages = wish.getStages().value_or(stages);
    knobs.overlap = wish.getOverlap().value_or(knobs.overlap);
    warps = wish.getWarps();
    if (wish.getConsumers()) {
      warps = *wish.getConsumers() * warpsPerGroup;
      if (!wish.getTileM())
        knobs.tileM = *warps * warpRows;
    }
  }
  knobs.warps =
      warps.value_or(isWgmma() ? knobs.tileM / wgmmaRows * warpsPerGroup
                               : warpsFor(knobs.tileM, row.warps));
  bool isOfRow = knobs.tileM == row.tileM && knobs.tileN == row.tileN &&
                 knobs.warps == row.warps;
  max = isOfRow && row.max == RowMax::Lazy ? MaxMode::Lazy : MaxMode::Exact;
  if (wish)
    max = wish.getMax().value_or(max);
  // A row's tile leaves no room for weights beside their logits, or for a vote.
  if (max != MaxMode::Exact && !(wish && wish.getTileN()))
    while (knobs.tileN > mmaKeys &&
           registerUse().total() > registers().computer)
      knobs.tileN -= mmaKeys;
  knobs.turns = row.turns;
  knobs.turns &= !findBroken("turns");
  if (wish)
    knobs.turns = wish.getTurns().value_or(knobs.turns);
}

void ScheduleSelection::fillIn(const TileChoice &choice, Rules ofKernel) {
  rules = ofKernel;
  row = &choice;
  takeTile(*row);
  chooseLoader();
  measure();
  bool fits = sharedFault().empty();
  chooseStore();
  measure();
  // Of a row's tile, as many keys as leave room for the output beside Q.
  if (knobs.tmaStore && fits && !(wish && wish.getTileN()))
    while (knobs.tileN > mmaKeys && !sharedFault().empty()) {
      knobs.tileN -= mmaKeys;
      measure();
    }
}

void ScheduleSelection::measure() {
  int64_t elementBytes = kernel.getDtype().getIntOrFloatBitWidth() / 8;
  use = sharedUse(isWgmma() || knobs.tma, kernel.getHeadDimQk(),
                  kernel.getHeadDimV(), elementBytes, knobs.tileM, knobs.tileN,
                  stages);
  if (!knobs.tmaStore)
    return;
  // The output's own element, in whole panels.
  int64_t outBytes = kernel.getOut().getIntOrFloatBitWidth() / 8;
  use.o = sharedUse(/*wholePanels=*/true, kernel.getHeadDimQk(),
                    kernel.getHeadDimV(), outBytes, knobs.tileM, knobs.tileN,
                    stages)
              .o;
}

/// While the output leaves by tensor copies, another role may load the next Q.
int64_t ScheduleSelection::tileBytes() const {
  return knobs.tmaStore && knobs.producer ? use.apart() : use.total();
}

ScheduleSelection ScheduleSelection::withFewerMaps(std::string reason) const {
  ScheduleSelection other = *this;
  other.knobs.tmaStore = false;
  // With all keys of the row again.
  other.takeTile(*row);
  if (!(wish && wish.getLoader())) {
    other.knobs.tma = false;
    other.loaderReason = std::move(reason);
  }
  other.measure();
  return other;
}

//===----------------------------------------------------------------------===//
// What cannot be built
//===----------------------------------------------------------------------===//

std::string ScheduleSelection::fault() const {
  for (std::string fault :
       {ruleFault(), tileFault(), sharedFault(), registerFault()})
    if (!fault.empty())
      return fault;
  return "";
}

/// What has no meaning is refused, not ignored.
std::string ScheduleSelection::ruleFault() const {
  if (const KnobRule *broken = findBrokenRule(knobs, target))
    return formatv("'{0}' {1} (target {2})", broken->knob, broken->reason,
                   StringRef(target.name));
  return "";
}

std::string ScheduleSelection::tileFault() const {
  int64_t tileM = knobs.tileM, tileN = knobs.tileN, warps = knobs.warps;
  int64_t unit = isWgmma() ? wgmmaRows : mmaRows;
  if (tileM % unit != 0 || tileN % mmaKeys != 0)
    return formatv("tile {0} x {1} does not fit the tensor cores: expected a "
                   "multiple of {2} query rows and of {3} keys",
                   tileM, tileN, unit, mmaKeys);
  if (!isWgmma()) {
    if (tileM % (mmaRows * warps) == 0)
      return "";
    return formatv("expected a multiple of {0} query rows for each of {1} "
                   "warps, found tile M {2}",
                   mmaRows, warps, tileM);
  }
  constexpr int64_t maxConsumers = 3;
  if (tileM != consumers() * wgmmaRows || consumers() > maxConsumers)
    return formatv("expected 64 query rows for each of 1 to {0} consumers, "
                   "found tile M {1} and {2} consumers",
                   maxConsumers, tileM, consumers());
  if (tileN > maxWgmmaKeys)
    return formatv("expected at most {0} keys in a tile of wgmma, found {1}",
                   maxWgmmaKeys, tileN);
  return "";
}

std::string ScheduleSelection::sharedFault() const {
  // Barriers of the channels lie behind the tiles.
  constexpr int64_t barrierBytes = 1024;
  int64_t needed = tileBytes() + (knobs.hasBarriers() ? barrierBytes : 0);
  if (needed <= target.sharedBytesPerBlock)
    return "";
  std::string output;
  if (knobs.tmaStore)
    output = formatv(" {0} O {1}, store = tma,",
                     knobs.producer ? "+" : "or, in its place,", use.o);
  return formatv("tile {0} x {1} needs {2} bytes of shared memory (Q {3}{4} + "
                 "{5} {6} of K {7} and V {8}), but {9} has {10}; take a "
                 "smaller tile or fewer stages{11}",
                 knobs.tileM, knobs.tileN, needed, use.q, output, use.stages,
                 use.stages == 1 ? "stage" : "stages", use.k, use.v,
                 StringRef(target.name), target.sharedBytesPerBlock,
                 knobs.tmaStore ? ", or store = direct" : "");
}

/// What lies beside the accumulators, as far as it has to be reckoned with: by
/// ptxas 13.0, with the shipped specifications.
int64_t ScheduleSelection::otherRegisters() const {
  // The wgmma pipeline, and what heavier rules hold beside early weights (all
  // but 38 registers taken: 24 bytes spilled; but 10: 72 bytes).
  constexpr int64_t ofWgmma = 26, ofRules = 40;
  if (isWgmma())
    return ofWgmma +
           (max == MaxMode::Stale && rules >= Rules::Medium ? ofRules : 0);
  // Of mma.sync the rows of the table are what spills nothing; a vote and its
  // choices need more (all but 79 taken: 4 bytes; with early weights 31: 124).
  constexpr int64_t ofVote = 80, ofEarlyWeights = 56;
  if (max == MaxMode::Exact)
    return 0;
  return max == MaxMode::Stale ? ofEarlyWeights : ofVote;
}

/// Registers of a thread that computes, by what lies in them.
ScheduleSelection::RegisterUse ScheduleSelection::registerUse() const {
  int64_t threads = knobs.warps * lanes;
  int64_t o = knobs.tileM * int64_t(kernel.getHeadDimV()) / threads;
  int64_t s = knobs.tileM * knobs.tileN / threads;
  // Weights take half of the registers of their logits. While they are under
  // way the next logits stand beside them; otherwise they take the place of
  // their own, bit by bit, and wgmma finds about half of them in the way (ptxas
  // 13.0: of 12 warps, 128 registers of O and S spill and 112 do not).
  int64_t p = knobs.overlap ? s / 2 : isWgmma() ? s / 4 : 0;
  // Early weights stand beside their own logits, in f32.
  int64_t early = max == MaxMode::Stale ? s : 0;
  return {o, s, p, early, otherRegisters()};
}

/// Accumulators live in registers. Where they alone exceed what a thread has,
/// every step would go through memory.
std::string ScheduleSelection::registerFault() const {
  RegisterUse needs = registerUse();
  RegisterShares shares = registers();
  // One instruction, with its operands and addresses, has to fit what a thread
  // has at launch, before roles share registers out anew (ptxas 13.0, C7602).
  constexpr int64_t othersOfProduct = 30;
  int64_t product = std::max(needs.o, needs.s) + othersOfProduct;
  if (isWgmma() && product > shares.launched)
    return formatv("one product of tile {0} x {1} needs {2} registers in a "
                   "thread of {3} warps, which has {4} at launch; take fewer "
                   "consumers or a smaller tile",
                   knobs.tileM, knobs.tileN, product, knobs.warps,
                   shares.launched);
  if (needs.total() <= shares.computer)
    return "";
  std::string parts = formatv("O {0} + S {1}", needs.o, needs.s);
  if (needs.p)
    parts += formatv(" + P {0}", needs.p);
  if (needs.early)
    parts += formatv(" + {0} of P beside its logits, max = stale", needs.early);
  if (needs.others)
    parts += formatv(" + {0} others", needs.others);
  return formatv("tile {0} x {1} needs {2} {3} in a thread of {4} {5} ({6}), "
                 "but a thread has {7}; take a smaller tile",
                 knobs.tileM, knobs.tileN, needs.total(),
                 isWgmma() ? "registers" : "accumulator registers", knobs.warps,
                 knobs.warps == 1 ? "warp" : "warps", parts, shares.computer);
}

//===----------------------------------------------------------------------===//
// What was chosen
//===----------------------------------------------------------------------===//

ScheduleAttr ScheduleSelection::attribute() const {
  std::optional<int64_t> consumerCount, overlapTiles;
  std::optional<bool> turnsFlag, persistent, producer;
  std::optional<MmaKind> mma;
  std::optional<Loader> loader;
  std::optional<Store> store;
  if (knobs.tmaStore)
    store = Store::Tma;
  if (isWgmma() || knobs.hasMaps() || knobs.producer || knobs.overlap ||
      knobs.turns) {
    if (knobs.consumers())
      consumerCount = knobs.consumers();
    overlapTiles = knobs.overlap;
    turnsFlag = knobs.turns;
    persistent = knobs.persistent;
    mma = isWgmma() ? MmaKind::Wgmma : MmaKind::Sync;
    loader = knobs.tma ? Loader::Tma : Loader::CpAsync;
    producer = knobs.producer;
  }
  return ScheduleAttr::get(kernel.getContext(), kind, knobs.tileM, knobs.tileN,
                           knobs.warps, stages, consumerCount, overlapTiles,
                           turnsFlag, persistent, max, mma, loader, producer,
                           store);
}

std::string ScheduleSelection::describe() const {
  std::string text =
      formatv("schedule {0}, tile {1} x {2}, {3} warps, {4} {5}",
              stringifyScheduleKind(kind), knobs.tileM, knobs.tileN,
              knobs.warps, stages, stages == 1 ? "stage" : "stages");
  if (isWgmma() || knobs.overlap || knobs.turns)
    text += formatv(", overlap {0}, {1}", knobs.overlap,
                    knobs.turns ? "turns" : "no turns");
  if (max != MaxMode::Exact)
    text += formatv(", max {0}", stringifyMaxMode(max));
  text += formatv(", shared memory {0} of {1} bytes on {2}; mma {3}, {4}; "
                  "loader {5}: {6}",
                  tileBytes(), target.sharedBytesPerBlock,
                  StringRef(target.name), isWgmma() ? "wgmma" : "sync",
                  knobs.producer ? "with a producer" : "self-fed",
                  knobs.tma ? "tma" : "cp_async", loaderReason);
  if (knobs.tmaStore)
    text += "; store tma: as asked";
  text += formatv("; table row: {0}", row->source);
  return text;
}
