//===- Builder.cpp - One instruction from its text ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelDecoder.h"

#include <algorithm>
#include <cstring>

namespace attn::sim {
namespace {

constexpr std::string_view warpSizeName = "WARP_SZ";

/// The bits of an immediate as a value of `type` (PTX ISA 4.5.2).
uint64_t immediateBits(const AstOperand &operand, Type type) {
  auto bits = static_cast<uint64_t>(operand.value);
  if (operand.kind == AstOperand::Float64 && typeBits(type) == 32) {
    double wide;
    std::memcpy(&wide, &bits, sizeof(wide));
    auto narrow = static_cast<float>(wide);
    uint32_t narrowBits;
    std::memcpy(&narrowBits, &narrow, sizeof(narrowBits));
    return narrowBits;
  }
  if (operand.kind == AstOperand::Float32 && type == Type::F64) {
    auto narrowBits = static_cast<uint32_t>(bits);
    float narrow;
    std::memcpy(&narrow, &narrowBits, sizeof(narrow));
    double wide = narrow;
    std::memcpy(&bits, &wide, sizeof(bits));
  }
  return bits;
}

} // namespace

Builder::Builder(KernelDecoder &kernel, const AstInstruction &ast)
    : ast(ast), kernel(kernel) {
  std::string_view rest = ast.opcode;
  size_t dot = rest.find('.');
  base = rest.substr(0, dot);
  while (dot != std::string_view::npos) {
    rest = rest.substr(dot + 1);
    dot = rest.find('.');
    modifiers.push_back(rest.substr(0, dot));
  }
}

bool Builder::take(std::string_view name) {
  auto found = std::find(modifiers.begin(), modifiers.end(), name);
  if (found == modifiers.end())
    return false;
  modifiers.erase(found);
  return true;
}

std::optional<unsigned>
Builder::takeOneOf(std::initializer_list<std::string_view> names) {
  for (auto modifier = modifiers.begin(); modifier != modifiers.end();
       ++modifier) {
    auto found = std::find(names.begin(), names.end(), *modifier);
    if (found == names.end())
      continue;
    modifiers.erase(modifier);
    return static_cast<unsigned>(found - names.begin());
  }
  return std::nullopt;
}

std::optional<std::string_view> Builder::takePrefixed(std::string_view prefix) {
  auto found = std::find_if(
      modifiers.begin(), modifiers.end(), [&](std::string_view modifier) {
        return modifier.substr(0, prefix.size()) == prefix;
      });
  if (found == modifiers.end())
    return std::nullopt;
  std::string_view modifier = *found;
  modifiers.erase(found);
  return modifier;
}

std::optional<Type> Builder::tryType() {
  for (auto modifier = modifiers.begin(); modifier != modifiers.end();
       ++modifier) {
    auto type = parseType(*modifier);
    if (!type)
      continue;
    modifiers.erase(modifier);
    return type;
  }
  return std::nullopt;
}

Type Builder::takeType() {
  if (auto type = tryType())
    return *type;
  fail("'" + std::string(ast.opcode) + "' has no type that is supported");
}

std::optional<Space> Builder::trySpace() {
  struct Entry {
    std::string_view name;
    Space space;
  };
  static constexpr Entry entries[] = {
      {"global", Space::Global},      {"shared", Space::Shared},
      {"shared::cta", Space::Shared}, {"shared::cluster", Space::Shared},
      {"local", Space::Local},        {"const", Space::Const},
      {"param", Space::Param},        {"param::entry", Space::Param}};
  for (const Entry &entry : entries)
    if (take(entry.name))
      return entry.space;
  return std::nullopt;
}

void Builder::expectOperands(size_t least, size_t most) {
  if (operandCount() >= least && operandCount() <= most)
    return;
  std::string wanted = std::to_string(least);
  if (most != least)
    wanted += " to " + std::to_string(most);
  fail("'" + std::string(ast.opcode) + "' takes " + wanted +
       " operands, found " + std::to_string(operandCount()));
}

void Builder::push(const Operand &operand, bool destination) {
  kernel.addOperand(operand);
  ++(destination ? inst.destinations : inst.sources);
}

static void checkWidth(const Builder &builder, const Operand &found,
                       std::string_view name, Type type, Builder::Width width) {
  unsigned bits = typeBits(type);
  bool fits = width == Builder::Exact ? found.bits == bits
                                      : found.bits >= bits && found.words != 0;
  if (!fits)
    builder.fail("register '" + std::string(name) + "' has " +
                 std::to_string(found.bits) + " bits, '" +
                 std::string(builder.ast.opcode) + "' expects " +
                 std::to_string(bits));
}

void Builder::dst(const AstOperand &operand, Type type, Width width) {
  if (type == Type::Pred)
    return dstPredicate(operand);
  if (operand.kind != AstOperand::Name)
    fail("expected a register as the destination of '" +
         std::string(ast.opcode) + "'");
  if (operand.name == "_")
    return push(kernel.sink(type), true);
  auto found = kernel.findRegister(operand.name, ast.scope);
  if (!found || operand.value != 0 || operand.negated)
    fail("expected a register that is declared as the destination, found '" +
         std::string(operand.name) + "'");
  checkWidth(*this, *found, operand.name, type, width);
  push(*found, true);
}

void Builder::src(const AstOperand &operand, Type type, Width width) {
  if (type == Type::Pred)
    return srcPredicate(operand);
  switch (operand.kind) {
  case AstOperand::Integer:
  case AstOperand::Float32:
  case AstOperand::Float64:
    return constant(immediateBits(operand, type), type);
  case AstOperand::Name:
    break;
  default:
    fail("expected a register or number as a source of '" +
         std::string(ast.opcode) + "'");
  }
  if (operand.negated)
    fail("'!' goes with predicates only");
  if (auto found = kernel.findRegister(operand.name, ast.scope)) {
    if (operand.value != 0)
      fail("an offset belongs in brackets: '" + std::string(operand.name) +
           "'");
    checkWidth(*this, *found, operand.name, type, width);
    return push(*found, false);
  }
  if (auto found = kernel.special(operand.name, typeBits(type)))
    return push(*found, false);
  if (operand.name == warpSizeName)
    return constant(warpSize, type);
  if (auto address = kernel.symbol(operand.name))
    return constant(*address + static_cast<uint64_t>(operand.value), type);
  fail("no register or variable is called '" + std::string(operand.name) + "'");
}

void Builder::dstPredicate(const AstOperand &operand) {
  if (operand.kind == AstOperand::Name && operand.name == "_")
    return push(kernel.sink(Type::Pred), true);
  push(kernel.predicate(ast, operand), true);
}

void Builder::srcPredicate(const AstOperand &operand) {
  push(kernel.predicate(ast, operand), false);
}

int64_t Builder::address(const AstOperand &operand) {
  if (operand.kind != AstOperand::Address)
    fail("expected an address in brackets");
  if (operand.elements.empty()) {
    constant(0, Type::B64);
    return operand.value;
  }
  const AstOperand &name = operand.elements.front();
  if (auto found = kernel.findRegister(name.name, ast.scope)) {
    if (found->bits != 32 && found->bits != 64)
      fail("an address register has 32 or 64 bits: '" + std::string(name.name) +
           "'");
    push(*found, false);
    return operand.value;
  }
  if (auto found = kernel.symbol(name.name)) {
    constant(*found, Type::B64);
    return operand.value;
  }
  fail("no register or variable is called '" + std::string(name.name) + "'");
}

void Builder::dstVector(const AstOperand &operand, unsigned count, Type type,
                        Width width) {
  if (operand.kind != AstOperand::Vector) {
    if (count != 1)
      fail("expected " + std::to_string(count) + " registers in braces");
    return dst(operand, type, width);
  }
  if (operand.elements.size() != count)
    fail("expected " + std::to_string(count) + " registers in braces, found " +
         std::to_string(operand.elements.size()));
  for (const AstOperand &element : operand.elements)
    dst(element, type, width);
}

void Builder::srcVector(const AstOperand &operand, unsigned count, Type type,
                        Width width) {
  if (operand.kind != AstOperand::Vector) {
    if (count != 1)
      fail("expected " + std::to_string(count) + " registers in braces");
    return src(operand, type, width);
  }
  if (operand.elements.size() != count)
    fail("expected " + std::to_string(count) + " registers in braces, found " +
         std::to_string(operand.elements.size()));
  for (const AstOperand &element : operand.elements)
    src(element, type, width);
}

void Builder::constant(uint64_t value, Type type) {
  push(kernel.constant(value, typeBits(type)), false);
}

int64_t Builder::immediate(const AstOperand &operand, const char *what) {
  if (operand.kind != AstOperand::Integer)
    fail(std::string("expected ") + what + " as a plain number");
  return operand.value;
}

std::optional<Type> Builder::registerType(const AstOperand &operand) {
  if (operand.kind != AstOperand::Name)
    return std::nullopt;
  unsigned in = 0;
  return kernel.declaredType(operand.name, ast.scope, in);
}

void Builder::branchTo(std::string_view label) {
  inst.flow = Flow::Branch;
  kernel.addBranch(label, ast);
}

void Builder::branchTable(std::string_view label) {
  inst.flow = Flow::Table;
  kernel.addTable(label, ast);
}

void Builder::fail(const std::string &message) const {
  throw PtxError(ast.line, message);
}

void Builder::refuse() const {
  fail("instruction '" + std::string(ast.opcode) +
       "' is not supported by the simulator");
}

void Builder::finish() {
  if (!modifiers.empty())
    fail("modifier '." + std::string(modifiers.front()) + "' of '" +
         std::string(ast.opcode) + "' is not supported by the simulator");
}

} // namespace attn::sim
