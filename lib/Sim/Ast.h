//===- Ast.h - A parsed PTX module -------------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the text says, before any meaning: names are not resolved and opcodes
// are dotted words. The decoder (Decoder.h) turns it into a Program.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_AST_H
#define ATTN_LIB_SIM_AST_H

#include "Types.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attn::sim {

struct AstOperand {
  enum Kind : uint8_t {
    Name,    ///< register, special register, symbol, label or `_`; `value` is
             ///< the `+imm` of a symbol
    Integer, ///< `value`
    Float32, ///< bits in `value`
    Float64, ///< bits in `value`
    Vector,  ///< {a, b, ...}
    Address, ///< [base+value] or [base, {coordinates}, ...]: elements[0] is the
             ///< base (absent for a plain number)
    Pair,    ///< a|b
  };
  Kind kind = Name;
  bool negated = false; ///< !%p
  std::string_view name;
  int64_t value = 0;
  std::vector<AstOperand> elements;
};

struct AstInstruction {
  std::string_view opcode; ///< as written, e.g. "add.s32"
  std::string_view text;   ///< the whole statement
  std::vector<AstOperand> operands;
  std::string_view guard; ///< predicate register, empty if none
  bool guardNegated = false;
  unsigned scope = 0;
  unsigned line = 0;
};

/// A `{ }` of a kernel body. Inline assembly declares registers and labels of
/// its own in one.
struct AstScope {
  struct Range {
    std::string_view prefix;
    uint64_t count;
    Type type;
  };
  int parent = -1;
  std::map<std::string_view, Type> registers;
  std::vector<Range> ranges;                 ///< `%r<100>`
  std::map<std::string_view, size_t> labels; ///< index of the instruction after
  /// `.branchtargets` lists by label.
  std::map<std::string_view, std::vector<std::string_view>> branchTargets;
};

/// A variable of .global, .const, .shared or .local, or a kernel parameter.
struct AstVariable {
  /// A symbol's address inside an initialiser.
  struct Reference {
    uint64_t offset;
    std::string_view symbol;
    int64_t addend;
  };
  std::string_view name;
  Space space = Space::Global;
  uint64_t bytes = 0; ///< 0 for `extern .shared x[]`
  uint64_t align = 1;
  bool dynamic = false; ///< extern .shared array
  std::vector<uint8_t> initializer;
  std::vector<Reference> references;
  unsigned line = 0;
};

struct AstKernel {
  std::string_view name;
  std::vector<AstVariable> parameters;
  std::vector<AstVariable> variables; ///< .shared and .local of the body
  std::vector<AstInstruction> instructions;
  std::vector<AstScope> scopes;
  uint32_t maxThreads[3] = {0, 0, 0};      ///< .maxntid; 0 = unbounded
  uint32_t requiredThreads[3] = {0, 0, 0}; ///< .reqntid; 0 = any
  uint32_t requiredCluster[3] = {0, 0, 0}; ///< .reqnctapercluster; 0 = any
  uint32_t maxClusterBlocks = 0;           ///< .maxclusterrank; 0 = any
  uint32_t maxRegisters = 0;               ///< .maxnreg; 0 = not said
  unsigned line = 0;
};

struct AstModule {
  unsigned versionMajor = 0, versionMinor = 0;
  std::string_view target;
  std::vector<AstVariable> variables;
  std::vector<AstKernel> kernels;
};

/// Parses `source`, which must outlive the result. Throws PtxError.
AstModule parsePtx(std::string_view source);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_AST_H
