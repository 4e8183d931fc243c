//===- Decoder.cpp - AST to Program ---------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelDecoder.h"

#include <algorithm>

namespace attn::sim {
namespace {

const DecodeTable &decodeTable() {
  static const DecodeTable table = [] {
    DecodeTable built;
    addIntegerInstructions(built);
    addCarryInstructions(built);
    addBitInstructions(built);
    addCompareInstructions(built);
    addConvertInstructions(built);
    addMoveInstructions(built);
    addFloatInstructions(built);
    addFloatMathInstructions(built);
    addLoadStoreInstructions(built);
    addAtomicInstructions(built);
    addControlInstructions(built);
    addBarrierInstructions(built);
    addWarpInstructions(built);
    addMatrixInstructions(built);
    addMmaInstructions(built);
    addAsyncCopyInstructions(built);
    addWgmmaInstructions(built);
    addFenceInstructions(built);
    addCacheHintInstructions(built);
    addMbarrierInstructions(built);
    addClusterInstructions(built);
    return built;
  }();
  return table;
}

const std::map<std::string_view, Special> &specialNames() {
  static const std::map<std::string_view, Special> names = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NwarpId},
      {"%smid", Special::SmId},
      {"%nsmid", Special::NsmId},
      {"%gridid", Special::GridId},
      {"%lanemask_eq", Special::LanemaskEq},
      {"%lanemask_le", Special::LanemaskLe},
      {"%lanemask_lt", Special::LanemaskLt},
      {"%lanemask_ge", Special::LanemaskGe},
      {"%lanemask_gt", Special::LanemaskGt},
      {"%clusterid.x", Special::ClusteridX},
      {"%clusterid.y", Special::ClusteridY},
      {"%clusterid.z", Special::ClusteridZ},
      {"%nclusterid.x", Special::NclusteridX},
      {"%nclusterid.y", Special::NclusteridY},
      {"%nclusterid.z", Special::NclusteridZ},
      {"%cluster_ctaid.x", Special::ClusterCtaidX},
      {"%cluster_ctaid.y", Special::ClusterCtaidY},
      {"%cluster_ctaid.z", Special::ClusterCtaidZ},
      {"%cluster_nctaid.x", Special::ClusterNctaidX},
      {"%cluster_nctaid.y", Special::ClusterNctaidY},
      {"%cluster_nctaid.z", Special::ClusterNctaidZ},
      {"%cluster_ctarank", Special::ClusterCtarank},
      {"%cluster_nctarank", Special::ClusterNctarank},
      {"%dynamic_smem_size", Special::DynamicSharedBytes},
      {"%total_smem_size", Special::TotalSharedBytes}};
  return names;
}

uint64_t alignUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

uint8_t wordsOf(unsigned bits) { return bits == 1 ? 0 : bits == 64 ? 2 : 1; }

} // namespace

//===----------------------------------------------------------------------===//
// KernelDecoder
//===----------------------------------------------------------------------===//

KernelDecoder::KernelDecoder(const AstModule &module, const AstKernel &kernel,
                             const SymbolAddresses &symbols)
    : module(module), kernel(kernel), program(std::make_unique<Program>()) {
  program->name = std::string(kernel.name);
  std::copy(kernel.maxThreads, kernel.maxThreads + 3, program->maxThreads);
  std::copy(kernel.requiredThreads, kernel.requiredThreads + 3,
            program->requiredThreads);
  std::copy(kernel.requiredCluster, kernel.requiredCluster + 3,
            program->requiredCluster);
  program->maxClusterBlocks = kernel.maxClusterBlocks;
  program->maxRegisters = kernel.maxRegisters;
  for (const auto &symbol : symbols)
    addresses[symbol.first] = symbol.second;
  layOutParameters();
  layOutShared();
  layOutLocal();
}

void KernelDecoder::layOutParameters() {
  uint64_t at = 0;
  for (const AstVariable &parameter : kernel.parameters) {
    at = alignUp(at, parameter.align);
    addresses[parameter.name] = at;
    program->parameters.push_back({std::string(parameter.name),
                                   static_cast<uint32_t>(at),
                                   static_cast<uint32_t>(parameter.bytes)});
    at += parameter.bytes;
  }
  program->parameterBytes = static_cast<uint32_t>(at);
}

void KernelDecoder::layOutShared() {
  uint64_t at = sharedBase;
  auto place = [&](const AstVariable &variable) {
    if (variable.space != Space::Shared || variable.dynamic)
      return;
    at = alignUp(at, variable.align);
    addresses[variable.name] = at;
    at += variable.bytes;
    if (at - sharedBase > maxSharedBytes)
      throw PtxError(variable.line, "kernel '" + program->name +
                                        "' needs more than 227 KiB of static "
                                        "shared memory");
  };
  for (const AstVariable &variable : module.variables)
    place(variable);
  for (const AstVariable &variable : kernel.variables)
    place(variable);
  // All dynamic arrays are the same memory, after the static variables.
  uint64_t align = 16;
  for (const AstVariable &variable : module.variables)
    if (variable.dynamic)
      align = std::max(align, variable.align);
  at = alignUp(at, align);
  for (const AstVariable &variable : module.variables)
    if (variable.dynamic)
      addresses[variable.name] = at;
  program->staticSharedBytes = static_cast<uint32_t>(at - sharedBase);
}

void KernelDecoder::layOutLocal() {
  constexpr uint64_t maxLocalBytes = 512 * 1024; // CUDA C++ guide, table 21
  uint64_t at = 0;
  for (const AstVariable &variable : kernel.variables) {
    if (variable.space != Space::Local)
      continue;
    at = alignUp(at, variable.align);
    addresses[variable.name] = at;
    at += variable.bytes;
    if (at > maxLocalBytes)
      throw PtxError(variable.line, "kernel '" + program->name +
                                        "' needs more than 512 KiB of local "
                                        "memory per thread");
  }
  program->localBytes = static_cast<uint32_t>(alignUp(at, 16));
}

std::unique_ptr<Program> KernelDecoder::run() {
  for (const AstInstruction &instruction : kernel.instructions)
    decode(instruction);
  appendExit();
  resolveLabels();
  placeRegisters();
  setReconvergencePoints(*program);
  return std::move(program);
}

void KernelDecoder::decode(const AstInstruction &ast) {
  Builder builder(*this, ast);
  auto found = decodeTable().find(builder.mnemonic());
  if (found == decodeTable().end())
    builder.refuse();
  requireTarget(module, ast);
  builder.inst.line = ast.line;
  builder.inst.text = static_cast<uint32_t>(program->texts.size());
  size_t first = program->operands.size();
  if (!ast.guard.empty()) {
    AstOperand guard;
    guard.name = ast.guard;
    guard.negated = ast.guardNegated;
    builder.inst.guarded = true;
    builder.inst.guard = predicate(ast, guard);
  }
  found->second(builder);
  builder.finish();
  if (!builder.inst.run)
    builder.refuse();
  program->watchesRegisters |= builder.inst.asynchronous;
  program->texts.push_back(collapse(ast.text));
  firstOperand.push_back(first);
  program->code.push_back(builder.inst);
}

/// One line, blanks squeezed, for messages.
std::string KernelDecoder::collapse(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

void KernelDecoder::appendExit() {
  AstInstruction exit;
  exit.opcode = "exit";
  exit.text = "(the end of the kernel)";
  exit.line = kernel.instructions.empty() ? kernel.line
                                          : kernel.instructions.back().line;
  decode(exit);
}

uint32_t KernelDecoder::findLabel(std::string_view label, unsigned scope,
                                  unsigned line) const {
  for (int s = static_cast<int>(scope); s >= 0; s = kernel.scopes[s].parent) {
    auto found = kernel.scopes[s].labels.find(label);
    if (found != kernel.scopes[s].labels.end())
      return static_cast<uint32_t>(found->second);
  }
  throw PtxError(line, "no label '" + std::string(label) + "'");
}

void KernelDecoder::resolveLabels() {
  for (const Branch &branch : branches)
    program->code[branch.inst].target =
        findLabel(branch.label, branch.scope, branch.line);
  for (const Branch &table : tables) {
    const std::vector<std::string_view> *labels = nullptr;
    for (int s = static_cast<int>(table.scope); s >= 0 && !labels;
         s = kernel.scopes[s].parent) {
      auto found = kernel.scopes[s].branchTargets.find(table.label);
      if (found != kernel.scopes[s].branchTargets.end())
        labels = &found->second;
    }
    if (!labels)
      throw PtxError(table.line, "no '.branchtargets' list is called '" +
                                     std::string(table.label) + "'");
    program->code[table.inst].imm =
        static_cast<int64_t>(program->branchTables.size());
    std::vector<uint32_t> targets;
    for (std::string_view label : *labels)
      targets.push_back(findLabel(label, table.scope, table.line));
    program->branchTables.push_back(std::move(targets));
  }
}

/// The file is [immediates | special registers | registers]; registers got
/// offsets from zero while decoding.
void KernelDecoder::placeRegisters() {
  uint32_t fixedWords = static_cast<uint32_t>(program->constants.size());
  for (SpecialSlot &slot : program->specials) {
    slot.offset = fixedWords;
    fixedWords += slot.words * warpSize;
  }
  for (Operand &operand : program->operands)
    placeOperand(operand, fixedWords);
  for (size_t i = 0; i < program->code.size(); ++i)
    program->code[i].operands = program->operands.data() + firstOperand[i];
  program->fileWords = fixedWords + registerWords;
  program->registers = nextRegister;
  program->predicates = nextPredicate;
}

void KernelDecoder::placeOperand(Operand &operand, uint32_t fixedWords) {
  if (operand.words == 0)
    return;
  if (operand.offset >= specialTag)
    operand.offset = program->specials[operand.offset - specialTag].offset;
  else if (operand.offset >= registerTag)
    operand.offset = operand.offset - registerTag + fixedWords;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::optional<Type> KernelDecoder::declaredType(std::string_view name,
                                                unsigned scope,
                                                unsigned &in) const {
  for (int s = static_cast<int>(scope); s >= 0; s = kernel.scopes[s].parent) {
    const AstScope &candidate = kernel.scopes[s];
    in = static_cast<unsigned>(s);
    auto found = candidate.registers.find(name);
    if (found != candidate.registers.end())
      return found->second;
    for (const AstScope::Range &range : candidate.ranges) {
      if (name.size() <= range.prefix.size() ||
          name.substr(0, range.prefix.size()) != range.prefix)
        continue;
      std::string digits(name.substr(range.prefix.size()));
      if (digits.size() > 9 ||
          digits.find_first_not_of("0123456789") != std::string::npos)
        continue;
      if (std::stoull(digits) < range.count)
        return range.type;
    }
  }
  return std::nullopt;
}

Operand KernelDecoder::newRegister(Type type) {
  Operand operand;
  operand.bits = static_cast<uint8_t>(typeBits(type));
  operand.words = wordsOf(operand.bits);
  operand.reg = nextRegister++;
  program->registerNames.emplace_back("_");
  if (operand.words == 0) {
    operand.offset = nextPredicate++;
  } else {
    operand.offset = registerTag + registerWords;
    registerWords += operand.words * warpSize;
  }
  return operand;
}

std::optional<Operand> KernelDecoder::findRegister(std::string_view name,
                                                   unsigned scope) {
  unsigned in = 0;
  auto type = declaredType(name, scope, in);
  if (!type)
    return std::nullopt;
  auto key = std::make_pair(in, name);
  auto found = registers.find(key);
  if (found == registers.end()) {
    found = registers.emplace(key, newRegister(*type)).first;
    program->registerNames.back() = std::string(name);
  }
  return found->second;
}

Operand KernelDecoder::predicate(const AstInstruction &ast,
                                 const AstOperand &operand) {
  auto found = operand.kind == AstOperand::Name
                   ? findRegister(operand.name, ast.scope)
                   : std::nullopt;
  if (!found || found->words != 0)
    throw PtxError(ast.line, "expected a predicate register, found '" +
                                 std::string(operand.name) + "'");
  found->negated = operand.negated;
  return *found;
}

Operand KernelDecoder::sink(Type type) {
  uint8_t words = wordsOf(typeBits(type));
  auto found = sinks.find(words);
  if (found == sinks.end())
    found = sinks.emplace(words, newRegister(type)).first;
  return found->second;
}

Operand KernelDecoder::constant(uint64_t value, unsigned bits) {
  if (bits < 64)
    value &= (uint64_t(1) << bits) - 1;
  Operand operand;
  operand.bits = static_cast<uint8_t>(bits);
  operand.words = bits == 64 ? 2 : 1;
  auto key = std::make_pair(operand.words, value);
  auto found = constants.find(key);
  if (found == constants.end()) {
    auto offset = static_cast<uint32_t>(program->constants.size());
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned word = 0; word < operand.words; ++word)
        program->constants.push_back(static_cast<uint32_t>(value >> 32 * word));
    if (program->constants.size() >= registerTag)
      throw PtxError(kernel.line, "too many different constants");
    found = constants.emplace(key, offset).first;
  }
  operand.offset = found->second;
  return operand;
}

std::optional<Operand> KernelDecoder::special(std::string_view name,
                                              unsigned bits) {
  auto kind = specialNames().find(name);
  if (kind == specialNames().end())
    return std::nullopt;
  uint8_t words = bits == 64 ? 2 : 1;
  Operand operand;
  operand.bits = static_cast<uint8_t>(bits);
  operand.words = words;
  for (size_t i = 0; i < program->specials.size(); ++i)
    if (program->specials[i].kind == kind->second &&
        program->specials[i].words == words) {
      operand.offset = specialTag + static_cast<uint32_t>(i);
      return operand;
    }
  operand.offset = specialTag + static_cast<uint32_t>(program->specials.size());
  program->specials.push_back({kind->second, 0, words});
  return operand;
}

std::optional<uint64_t> KernelDecoder::symbol(std::string_view name) const {
  auto found = addresses.find(name);
  if (found == addresses.end())
    return std::nullopt;
  return found->second;
}

std::unique_ptr<Program> decodeKernel(const AstModule &module,
                                      const AstKernel &kernel,
                                      const SymbolAddresses &symbols) {
  return KernelDecoder(module, kernel, symbols).run();
}

} // namespace attn::sim
