//===- Program.h - A decoded kernel ------------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form that runs. Decoding resolves every name once: an operand is the
// place of lane 0 in the warp's register file, an instruction is a function
// that runs it for a whole warp. Immediates and special registers live in the
// register file too, so a handler never asks what kind an operand is.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_PROGRAM_H
#define ATTN_LIB_SIM_PROGRAM_H

#include "Types.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace attn::sim {

constexpr unsigned warpSize = 32;
constexpr uint32_t allLanes = ~uint32_t(0);
/// "No instruction": the reconvergence point of a branch whose paths only meet
/// by ending.
constexpr uint32_t noTarget = ~uint32_t(0);
/// An operand that the sanitizer need not follow.
constexpr uint32_t noRegister = ~uint32_t(0);

class Warp;
struct Inst;

/// Runs one instruction for the lanes in Warp::exec, which is never empty.
using Handler = void (*)(Warp &, const Inst &);

struct Operand {
  /// Word of the register file where lane 0 is; lanes follow each other, with
  /// `words` words each. For predicates: index into Warp::predicates.
  uint32_t offset = 0;
  uint32_t reg = noRegister; ///< number for the sanitizer
  uint8_t words = 1;         ///< 1 (up to 32 bits), 2 (64 bits), 0 (predicate)
  uint8_t bits = 32;         ///< of the declared register
  bool negated = false;      ///< !%p
};

/// Where control goes after an instruction.
enum class Flow : uint8_t {
  Next,
  Branch, ///< to `target`, and on when guarded
  Table,  ///< to one of branchTables[imm]
  Exit,
};

struct Inst {
  Handler run = nullptr;
  const Operand *operands = nullptr; ///< destinations first, then sources
  uint8_t destinations = 0, sources = 0;
  bool guarded = false;
  /// Its registers stay in use after it: the handler checks and marks them.
  bool asynchronous = false;
  /// Of device memory: not a plain access; one that acquires or releases.
  bool strong = false, acquires = false, releases = false;
  Flow flow = Flow::Next;
  Operand guard;
  uint32_t target = noTarget; ///< of a branch
  uint32_t join = noTarget;   ///< where the sides of a branch meet again
  int64_t imm = 0;            ///< address offset, table index, ...
  int64_t imm2 = 0;           ///< offset of the second address
  /// Modifiers, with a meaning of the instruction family's own.
  uint8_t a = 0, b = 0, c = 0, d = 0;
  Space space = Space::Generic;
  Type type = Type::None;
  uint32_t line = 0;
  uint32_t text = 0; ///< index into Program::texts

  const Operand &dst(unsigned i = 0) const { return operands[i]; }
  const Operand &src(unsigned i) const { return operands[destinations + i]; }
};

/// Special registers that stay the same for the life of a warp.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  DynamicSharedBytes,
  TotalSharedBytes,
};

struct SpecialSlot {
  Special kind;
  uint32_t offset; ///< in the register file
  uint8_t words;
};

struct ParameterSlot {
  std::string name;
  uint32_t offset; ///< in the parameter block
  uint32_t bytes;
};

struct Program {
  std::string name;
  std::vector<Inst> code; ///< ends with an `exit` of its own
  /// Operands of all instructions; `deque`-like stability is not needed as the
  /// pointers in `code` are set when decoding is over.
  std::vector<Operand> operands;
  std::vector<std::string> texts;
  /// What a register file starts with: the immediates, one value per lane.
  std::vector<uint32_t> constants;
  std::vector<SpecialSlot> specials;
  uint32_t fileWords = 0; ///< constants, special registers, registers
  uint32_t registers = 0; ///< sanitizer numbers in use
  std::vector<std::string> registerNames; ///< by sanitizer number
  /// Some instruction is `asynchronous`.
  bool watchesRegisters = false;
  uint32_t predicates = 0;
  std::vector<ParameterSlot> parameters;
  uint32_t parameterBytes = 0;
  uint32_t staticSharedBytes = 0; ///< dynamic shared memory starts here
  uint32_t localBytes = 0;        ///< per thread
  uint32_t maxThreads[3] = {0, 0, 0};
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t requiredCluster[3] = {0, 0, 0}; ///< 0 = any
  uint32_t maxClusterBlocks = 0;           ///< 0 = as many as can be
  uint32_t maxRegisters = 0;               ///< per thread; 0 = not said
  /// Targets of each `brx.idx`, by Inst::imm.
  std::vector<std::vector<uint32_t>> branchTables;
};

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The first shared address: the GPU keeps 1 KiB for itself, and a zero
/// pointer is thus never a valid shared address.
constexpr uint32_t sharedBase = 1024;
/// Windows of the generic address space (PTX ISA 5.1, 6.4.1).
constexpr uint64_t sharedWindow = 0x7ff000000000;
constexpr uint64_t localWindow = 0x7ff100000000;
constexpr uint64_t paramWindow = 0x7ff200000000;
constexpr uint64_t windowBytes = uint64_t(1) << 32;
/// In a shared address these bits are 0 for the block's own memory, and the
/// rank + 1 of a block of the cluster in what mapa gives.
constexpr unsigned clusterShift = 24;

/// The device that is simulated: an H200.
constexpr unsigned simulatedMultiprocessors = 132;

} // namespace attn::sim

#endif // ATTN_LIB_SIM_PROGRAM_H
