//===- Requirements.cpp - Which PTX version and target have what ----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A driver refuses an instruction that the module's `.version` or `.target`
// does not have yet (PTX ISA, "PTX ISA Notes" and "Target ISA Notes" of each),
// and so does the simulator. What every sm_70 has in PTX 6.0 is not listed.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <algorithm>
#include <string>

namespace attn::sim {
namespace {

struct Requirement {
  std::string_view opcode;   ///< whole modifiers, from the start
  std::string_view modifier; ///< one of the opcode's, or empty
  unsigned major, minor, architecture;
  bool ownArchitecture = false; ///< the letter of sm_90a too
};

constexpr Requirement requirements[] = {
    {"activemask", "", 6, 2, 70},
    {"nanosleep", "", 6, 3, 70},
    {"ldmatrix", "", 6, 5, 75},
    {"tanh", "", 7, 0, 75},
    {"redux", "", 7, 0, 80},
    {"cp.async", "", 7, 0, 80},
    {"mbarrier", "", 7, 0, 80},
    {"createpolicy", "", 7, 4, 80},
    {"discard", "", 7, 4, 80},
    {"applypriority", "", 7, 4, 80},
    {"bmsk", "", 7, 6, 70},
    {"szext", "", 7, 6, 70},
    {"movmatrix", "", 7, 8, 75},
    {"stmatrix", "", 7, 8, 90},
    {"mapa", "", 7, 8, 90},
    {"getctarank", "", 7, 8, 90},
    {"barrier.cluster", "", 7, 8, 90},
    {"griddepcontrol", "", 7, 8, 90},
    {"mbarrier.try_wait", "", 7, 8, 90},
    {"mbarrier", "expect_tx", 8, 0, 90},
    {"mbarrier.expect_tx", "", 8, 0, 90},
    {"mbarrier.complete_tx", "", 8, 0, 90},
    {"mbarrier", "shared::cluster", 8, 0, 90},
    {"cp.async.bulk", "", 8, 0, 90},
    {"cp.reduce", "", 8, 0, 90},
    {"prefetch", "tensormap", 8, 0, 90},
    {"fence", "async", 8, 0, 90},
    {"fence", "mbarrier_init", 8, 0, 90},
    {"fence", "tensormap::generic", 8, 3, 90},
    {"elect", "", 8, 0, 90},
    {"setmaxnreg", "", 8, 0, 90, true},
    {"wgmma", "", 8, 0, 90, true},
};

/// `part` is the start of `opcode` or one of its modifiers; both are whole.
bool has(std::string_view opcode, std::string_view part, bool atStart) {
  for (size_t at = 0; (at = opcode.find(part, at)) != std::string_view::npos;
       ++at) {
    if (atStart && at != 0)
      return false;
    size_t end = at + part.size();
    bool starts = at == 0 || opcode[at - 1] == '.';
    if (starts && (end == opcode.size() || opcode[end] == '.'))
      return true;
  }
  return false;
}

} // namespace

void requireTarget(const AstModule &module, const AstInstruction &instruction) {
  std::string_view target = module.target;
  auto architecture = static_cast<unsigned>(
      std::stoul(std::string(target.substr(target.find('_') + 1))));
  bool letter = target.back() < '0' || target.back() > '9';
  for (const Requirement &needed : requirements) {
    if (!has(instruction.opcode, needed.opcode, /*atStart=*/true) ||
        (!needed.modifier.empty() &&
         !has(instruction.opcode, needed.modifier, /*atStart=*/false)))
      continue;
    std::string name = "'" + std::string(instruction.opcode) + "' needs ";
    if (std::make_pair(module.versionMajor, module.versionMinor) <
        std::make_pair(needed.major, needed.minor))
      throw PtxError(instruction.line,
                     name + ".version " + std::to_string(needed.major) + "." +
                         std::to_string(needed.minor) + " or later, found " +
                         std::to_string(module.versionMajor) + "." +
                         std::to_string(module.versionMinor));
    if (architecture < needed.architecture ||
        (needed.ownArchitecture && !letter))
      throw PtxError(instruction.line,
                     name + ".target sm_" +
                         std::to_string(needed.architecture) +
                         (needed.ownArchitecture ? "a" : " or later") +
                         ", found " + std::string(target));
  }
}

} // namespace attn::sim
