//===- KernelDecoder.h - State while one kernel is decoded -------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_KERNELDECODER_H
#define ATTN_LIB_SIM_KERNELDECODER_H

#include "Decoder.h"

namespace attn::sim {

/// Shared memory that a block may have (compute capability 9.0).
constexpr uint64_t maxSharedBytes = 227 * 1024;

class KernelDecoder {
public:
  KernelDecoder(const AstModule &module, const AstKernel &kernel,
                const SymbolAddresses &symbols);

  std::unique_ptr<Program> run();

  /// The register that `name` means in `scope`, placed on first use.
  std::optional<Operand> findRegister(std::string_view name, unsigned scope);
  std::optional<Type> declaredType(std::string_view name, unsigned scope,
                                   unsigned &in) const;
  Operand predicate(const AstInstruction &ast, const AstOperand &operand);
  /// A register that nobody reads, for `_`.
  Operand sink(Type type);
  Operand constant(uint64_t value, unsigned bits);
  std::optional<Operand> special(std::string_view name, unsigned bits);
  /// The address of a variable or parameter in its own state space.
  std::optional<uint64_t> symbol(std::string_view name) const;

  void addBranch(std::string_view label, const AstInstruction &ast) {
    branches.push_back({program->code.size(), label, ast.scope, ast.line});
  }
  void addTable(std::string_view label, const AstInstruction &ast) {
    tables.push_back({program->code.size(), label, ast.scope, ast.line});
  }
  void addOperand(const Operand &operand) {
    program->operands.push_back(operand);
  }

private:
  /// Offsets carry these tags until placeRegisters knows where each part of
  /// the register file starts.
  static constexpr uint32_t registerTag = uint32_t(1) << 30;
  static constexpr uint32_t specialTag = uint32_t(1) << 31;

  struct Branch {
    size_t inst;
    std::string_view label;
    unsigned scope;
    unsigned line;
  };

  void layOutParameters();
  void layOutShared();
  void layOutLocal();
  void decode(const AstInstruction &ast);
  static std::string collapse(std::string_view text);
  void appendExit();
  uint32_t findLabel(std::string_view label, unsigned scope,
                     unsigned line) const;
  void resolveLabels();
  void placeRegisters();
  void placeOperand(Operand &operand, uint32_t fixedWords);
  Operand newRegister(Type type);

  const AstModule &module;
  const AstKernel &kernel;
  std::unique_ptr<Program> program;
  std::map<std::string_view, uint64_t> addresses;
  std::map<std::pair<unsigned, std::string_view>, Operand> registers;
  std::map<std::pair<uint8_t, uint64_t>, uint32_t> constants;
  std::map<uint8_t, Operand> sinks;
  std::vector<size_t> firstOperand;
  std::vector<Branch> branches, tables;
  uint32_t registerWords = 0;
  uint32_t nextRegister = 0;
  uint32_t nextPredicate = 0;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_KERNELDECODER_H
