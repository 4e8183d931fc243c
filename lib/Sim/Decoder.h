//===- Decoder.h - AST to Program --------------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// decodeKernel resolves names, lays out registers and memory and asks each
// instruction's family for a handler. A family is one source file; it adds its
// mnemonics to the table with its add...Instructions function below and
// describes the operands of one instruction through a Builder.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_DECODER_H
#define ATTN_LIB_SIM_DECODER_H

#include "Ast.h"
#include "Lexer.h"
#include "Program.h"

#include <functional>
#include <optional>

namespace attn::sim {

class KernelDecoder;

/// Builds one instruction from its text. Modifiers are consumed as they are
/// understood; what is left over at the end is refused by name. Operands must
/// be added destinations first. All failures are PtxErrors with the line.
class Builder {
public:
  Builder(KernelDecoder &kernel, const AstInstruction &ast);

  Inst inst;
  const AstInstruction &ast;

  /// The text up to the first dot.
  std::string_view mnemonic() const { return base; }
  /// Consumes the modifier `name` (without dot) wherever it stands.
  bool take(std::string_view name);
  /// Consumes whichever of `names` comes first and returns its index, or
  /// nothing.
  std::optional<unsigned>
  takeOneOf(std::initializer_list<std::string_view> names);
  /// Consumes the first modifier that starts with `prefix` and returns it.
  std::optional<std::string_view> takePrefixed(std::string_view prefix);
  /// Consumes the first modifier that is a type.
  Type takeType();
  std::optional<Type> tryType();
  /// Consumes the state space, if one is written. `.shared::cta` and
  /// `.shared::cluster` are .shared: addresses tell whose memory it is.
  std::optional<Space> trySpace();

  size_t operandCount() const { return ast.operands.size(); }
  void expectOperands(size_t least, size_t most);
  void expectOperands(size_t count) { expectOperands(count, count); }

  /// How strictly a register's width must fit the type: ld, st and cvt take
  /// wider registers (PTX ISA 9.4.1).
  enum Width { Exact, AtLeast };

  void dst(const AstOperand &operand, Type type, Width width = Exact);
  void dst(size_t i, Type type, Width width = Exact) {
    dst(ast.operands[i], type, width);
  }
  void src(const AstOperand &operand, Type type, Width width = Exact);
  void src(size_t i, Type type, Width width = Exact) {
    src(ast.operands[i], type, width);
  }
  /// A predicate, or `_`.
  void dstPredicate(const AstOperand &operand);
  void srcPredicate(const AstOperand &operand);
  /// A register or symbol in brackets: pushes the base and returns the offset.
  int64_t address(const AstOperand &operand);
  /// `count` registers in braces, or a single one when count is 1.
  void dstVector(const AstOperand &operand, unsigned count, Type type,
                 Width width = Exact);
  void srcVector(const AstOperand &operand, unsigned count, Type type,
                 Width width = Exact);
  /// A source that is the same constant for every lane.
  void constant(uint64_t value, Type type);

  /// The value of an integer immediate; fails with `what` otherwise.
  int64_t immediate(const AstOperand &operand, const char *what);
  /// Declared type of a register operand, if it is one.
  std::optional<Type> registerType(const AstOperand &operand);
  /// Resolved at the end of decoding.
  void branchTo(std::string_view label);
  void branchTable(std::string_view label);

  [[noreturn]] void fail(const std::string &message) const;
  /// Refuses the instruction as outside the subset.
  [[noreturn]] void refuse() const;
  /// Refuses modifiers that nobody consumed.
  void finish();

private:
  void push(const Operand &operand, bool destination);

  KernelDecoder &kernel;
  std::string_view base;
  std::vector<std::string_view> modifiers;
};

using DecodeFunction = void (*)(Builder &);
using DecodeTable = std::unordered_map<std::string_view, DecodeFunction>;

void addIntegerInstructions(DecodeTable &table);
void addCarryInstructions(DecodeTable &table);
void addBitInstructions(DecodeTable &table);
void addCompareInstructions(DecodeTable &table);
void addConvertInstructions(DecodeTable &table);
void addMoveInstructions(DecodeTable &table);
void addFloatInstructions(DecodeTable &table);
void addFloatMathInstructions(DecodeTable &table);
void addLoadStoreInstructions(DecodeTable &table);
void addAtomicInstructions(DecodeTable &table);
void addControlInstructions(DecodeTable &table);
void addBarrierInstructions(DecodeTable &table);
void addWarpInstructions(DecodeTable &table);
void addMatrixInstructions(DecodeTable &table);
void addMmaInstructions(DecodeTable &table);
void addAsyncCopyInstructions(DecodeTable &table);
void addWgmmaInstructions(DecodeTable &table);
void addFenceInstructions(DecodeTable &table);
void addCacheHintInstructions(DecodeTable &table);
void addMbarrierInstructions(DecodeTable &table);
void addClusterInstructions(DecodeTable &table);

/// Integer arithmetic shares its mnemonics with floating point: the integer
/// family asks these first. True when the type is theirs.
bool decodeFloatArithmetic(Builder &builder, Type type);
bool decodeHalfArithmetic(Builder &builder, Type type);
/// And for those with a carry, whose modifiers before the type are consumed.
void decodeCarrySum(Builder &builder, bool subtracts, bool carryIn,
                    bool carryOut);
void decodeCarryProduct(Builder &builder, bool carryIn, bool carryOut);

/// Throws PtxError where the module's `.version` or `.target` does not have the
/// instruction.
void requireTarget(const AstModule &module, const AstInstruction &instruction);

/// Where the module's .global and .const variables are.
using SymbolAddresses = std::map<std::string_view, uint64_t>;

std::unique_ptr<Program> decodeKernel(const AstModule &module,
                                      const AstKernel &kernel,
                                      const SymbolAddresses &symbols);

/// Sets Inst::join of every branch to its immediate post-dominator.
void setReconvergencePoints(Program &program);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_DECODER_H
