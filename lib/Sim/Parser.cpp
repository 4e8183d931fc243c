//===- Parser.cpp - PTX text to AST ---------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ast.h"
#include "Lexer.h"

#include <algorithm>
#include <cstring>

namespace attn::sim {
namespace {

/// Nothing real comes near these; they keep hostile text from eating memory.
constexpr uint64_t maxVariableBytes = uint64_t(1) << 30;
constexpr unsigned maxNesting = 64;

class Parser {
public:
  explicit Parser(std::string_view source)
      : source(source), tokens(tokenize(source)) {}

  AstModule run() {
    parseHeader();
    while (peek().kind != Token::End)
      parseTopLevel();
    return std::move(module);
  }

private:
  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  const Token &take() {
    const Token &token = peek();
    if (at + 1 < tokens.size())
      ++at;
    return token;
  }
  [[noreturn]] void fail(const std::string &message) const {
    const Token &token = peek();
    std::string found = token.kind == Token::End
                            ? "the end of the text"
                            : "'" + std::string(token.text) + "'";
    throw PtxError(token.line, message + ", found " + found);
  }
  bool accept(char punct) {
    if (!peek().is(punct))
      return false;
    take();
    return true;
  }
  bool accept(std::string_view word) {
    if (!peek().is(word))
      return false;
    take();
    return true;
  }
  void expect(char punct) {
    if (!accept(punct))
      fail(std::string("expected '") + punct + "'");
  }
  std::string_view expectName(const char *what) {
    if (peek().kind != Token::Word || peek().text[0] == '.')
      fail(std::string("expected ") + what);
    return take().text;
  }
  uint64_t expectInteger(const char *what) {
    if (peek().kind != Token::Integer)
      fail(std::string("expected ") + what);
    return take().bits;
  }
  int64_t expectSigned(const char *what) {
    bool negative = accept('-');
    uint64_t value = expectInteger(what);
    return static_cast<int64_t>(negative ? 0 - value : value);
  }
  bool peekDirective() const {
    return peek().kind == Token::Word && peek().text[0] == '.';
  }
  void skipLine() {
    unsigned line = peek().line;
    while (peek().kind != Token::End && peek().line == line)
      take();
  }
  void skipStatement() {
    while (!accept(';')) {
      if (peek().kind == Token::End)
        fail("expected ';'");
      take();
    }
  }
  void skipBraces() {
    expect('{');
    for (unsigned depth = 1; depth > 0;) {
      if (peek().kind == Token::End)
        fail("expected '}'");
      const Token &token = take();
      if (token.is('{'))
        ++depth;
      else if (token.is('}'))
        --depth;
    }
  }

  //===--------------------------------------------------------------------===//
  // Module level
  //===--------------------------------------------------------------------===//

  void parseHeader() {
    if (!accept(".version"))
      fail("a PTX module starts with '.version'");
    const Token &version = take();
    std::string text(version.text);
    int used = 0;
    if (std::sscanf(text.c_str(), "%u.%u%n", &module.versionMajor,
                    &module.versionMinor, &used) != 2 ||
        static_cast<size_t>(used) != text.size())
      throw PtxError(version.line, "expected a version such as 8.6 after "
                                   "'.version', found '" +
                                       text + "'");
    if (!accept(".target"))
      fail("expected '.target' after '.version'");
    module.target = parseTarget();
    while (accept(','))
      expectName("a target feature");
    if (accept(".address_size")) {
      if (expectInteger("64") != 64)
        throw PtxError(peek().line, "only '.address_size 64' is supported");
    } else {
      fail("expected '.address_size 64' after '.target'");
    }
  }

  /// sm_ and the number of an architecture, with its letter.
  std::string_view parseTarget() {
    unsigned line = peek().line;
    std::string_view name = expectName("a target such as sm_90a");
    size_t digits = name.substr(0, 3) == "sm_" ? 3 : name.size(), end = digits;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9')
      ++end;
    std::string_view letter = name.substr(end);
    constexpr size_t mostDigits = 3; // sm_120
    bool good = end - digits >= 2 && end - digits <= mostDigits &&
                (letter.empty() || letter == "a" || letter == "f");
    if (!good)
      throw PtxError(line, "expected a target such as sm_90a, found '" +
                               std::string(name) + "'");
    return name;
  }

  void parseTopLevel() {
    if (accept(".visible") || accept(".weak") || accept(".common"))
      return parseTopLevel();
    if (accept(".extern"))
      return parseExtern();
    if (accept(".entry"))
      return parseKernel();
    if (accept(".func"))
      return skipFunction();
    if (peek().is(".file") || peek().is(".loc"))
      return skipLine();
    if (accept(".section")) {
      take();
      return skipBraces();
    }
    if (accept(".pragma") || accept(".alias"))
      return skipStatement();
    if (auto space = acceptSpace()) {
      module.variables.push_back(parseVariable(*space, /*isExtern=*/false));
      parseMoreVariables(module.variables);
      return;
    }
    fail("expected '.entry', a variable or another module-level directive");
  }

  void parseExtern() {
    if (accept(".func"))
      return skipFunction();
    auto space = acceptSpace();
    if (!space)
      fail("expected a state space after '.extern'");
    if (*space != Space::Shared)
      fail("'.extern' variables are supported in .shared only");
    module.variables.push_back(parseVariable(*space, /*isExtern=*/true));
    expect(';');
  }

  /// Device functions cannot be called here, so their text is not needed: the
  /// decoder refuses the `call` by name.
  void skipFunction() {
    while (!peek().is('{') && !peek().is(';')) {
      if (peek().kind == Token::End)
        fail("expected the function's body");
      take();
    }
    if (!accept(';'))
      skipBraces();
  }

  std::optional<Space> acceptSpace() {
    if (accept(".global"))
      return Space::Global;
    if (accept(".const"))
      return Space::Const;
    if (accept(".shared"))
      return Space::Shared;
    if (accept(".local"))
      return Space::Local;
    return std::nullopt;
  }

  Type expectType() {
    if (!peekDirective())
      fail("expected a type such as .b32");
    auto type = parseType(peek().text.substr(1));
    if (!type)
      fail("expected a type such as .b32");
    take();
    return *type;
  }

  void parseMoreVariables(std::vector<AstVariable> &into) {
    // `.shared .b32 a, b;` shares the type; the first is parsed already.
    while (accept(',')) {
      AstVariable next = into.back();
      next.initializer.clear();
      next.references.clear();
      next.name = expectName("a variable name");
      parseShape(next, /*isExtern=*/false, lastElementType);
      into.push_back(next);
    }
    expect(';');
  }

  AstVariable parseVariable(Space space, bool isExtern) {
    AstVariable variable;
    variable.space = space;
    variable.line = peek().line;
    uint64_t align = 0;
    unsigned vectorWidth = 1;
    for (;;) {
      if (accept(".align"))
        align = expectInteger("an alignment");
      else if (accept(".attribute")) {
        while (!accept(')'))
          if (take().kind == Token::End)
            fail("expected ')'");
      } else if (accept(".v2"))
        vectorWidth = 2;
      else if (accept(".v4"))
        vectorWidth = 4;
      else
        break;
    }
    lastElementType = expectType();
    variable.name = expectName("a variable name");
    uint64_t element = std::max(1u, typeBits(lastElementType) / 8);
    variable.align = align ? align : element * vectorWidth;
    if (variable.align > 4096 || (variable.align & (variable.align - 1)))
      throw PtxError(variable.line, "'.align " + std::to_string(align) +
                                        "' is not a power of two up to 4096");
    lastVectorWidth = vectorWidth;
    parseShape(variable, isExtern, lastElementType);
    return variable;
  }

  void parseShape(AstVariable &variable, bool isExtern, Type element) {
    uint64_t elementBytes = std::max(1u, typeBits(element) / 8);
    uint64_t count = lastVectorWidth;
    bool open = false;
    while (accept('[')) {
      if (accept(']')) {
        open = true;
        continue;
      }
      uint64_t extent = expectInteger("an array extent");
      expect(']');
      if (extent != 0 && count > maxVariableBytes / extent)
        throw PtxError(variable.line, "variable '" +
                                          std::string(variable.name) +
                                          "' is larger than 1 GiB");
      count *= extent;
    }
    if (open && !isExtern && !peek().is('='))
      fail("expected an extent or an initialiser for '" +
           std::string(variable.name) + "'");
    variable.dynamic = open && isExtern;
    variable.bytes = variable.dynamic ? 0 : count * elementBytes;
    if (open && !isExtern)
      variable.bytes = 0; // set by the initialiser
    if (variable.bytes > maxVariableBytes)
      throw PtxError(variable.line, "variable '" + std::string(variable.name) +
                                        "' is larger than 1 GiB");
    if (accept('=')) {
      parseInitializer(variable, elementBytes, /*depth=*/0);
      if (open)
        variable.bytes = variable.initializer.size();
      if (variable.initializer.size() > variable.bytes)
        throw PtxError(variable.line, "the initialiser of '" +
                                          std::string(variable.name) +
                                          "' is longer than the variable");
    }
  }

  void parseInitializer(AstVariable &variable, uint64_t elementBytes,
                        unsigned depth) {
    if (accept('{')) {
      if (depth > maxNesting)
        fail("too many nested braces");
      if (accept('}'))
        return;
      do
        parseInitializer(variable, elementBytes, depth + 1);
      while (accept(','));
      expect('}');
      return;
    }
    uint64_t bits = 0;
    if (peek().kind == Token::Word) {
      parseReference(variable);
    } else {
      bool negative = accept('-');
      if (peek().kind != Token::Integer && peek().kind != Token::Float32 &&
          peek().kind != Token::Float64)
        fail("expected a number or a symbol");
      bits = take().bits;
      if (negative)
        bits = 0 - bits;
    }
    for (uint64_t i = 0; i < elementBytes; ++i)
      variable.initializer.push_back(static_cast<uint8_t>(bits >> 8 * i));
  }

  void parseReference(AstVariable &variable) {
    bool generic = peek().is("generic");
    if (generic) {
      take();
      expect('(');
    }
    AstVariable::Reference reference;
    reference.offset = variable.initializer.size();
    reference.symbol = expectName("a symbol");
    if (generic)
      expect(')');
    reference.addend = accept('+') ? expectSigned("an offset") : 0;
    variable.references.push_back(reference);
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  void parseKernel() {
    AstKernel kernel;
    kernel.line = peek().line;
    kernel.name = expectName("a kernel name");
    for (const AstKernel &other : module.kernels)
      if (other.name == kernel.name)
        throw PtxError(kernel.line, "kernel '" + std::string(kernel.name) +
                                        "' is defined twice");
    if (accept('(')) {
      if (!accept(')')) {
        do
          kernel.parameters.push_back(parseParameter());
        while (accept(','));
        expect(')');
      }
    }
    parseKernelDirectives(kernel);
    if (accept(';'))
      return; // a declaration
    expect('{');
    current = &kernel;
    kernel.scopes.push_back(AstScope());
    parseScope(0, 0);
    current = nullptr;
    module.kernels.push_back(std::move(kernel));
  }

  AstVariable parseParameter() {
    if (!accept(".param"))
      fail("expected '.param'");
    AstVariable variable;
    variable.space = Space::Param;
    variable.line = peek().line;
    uint64_t align = 0;
    if (accept(".align"))
      align = expectInteger("an alignment");
    Type type = expectType();
    if (accept(".ptr")) {
      while (peekDirective()) {
        if (take().text == ".align")
          expectInteger("an alignment");
      }
    }
    variable.name = expectName("a parameter name");
    uint64_t element = std::max(1u, typeBits(type) / 8);
    variable.bytes = element;
    if (accept('[')) {
      uint64_t extent = expectInteger("an array extent");
      expect(']');
      constexpr uint64_t maxParameterBytes = 32764; // PTX ISA 5.1.6.1
      if (extent > maxParameterBytes)
        throw PtxError(variable.line, "parameter '" +
                                          std::string(variable.name) +
                                          "' is larger than 32764 bytes");
      variable.bytes = element * extent;
    }
    variable.align = align ? align : element;
    if (variable.align > 4096 || (variable.align & (variable.align - 1)))
      throw PtxError(variable.line, "'.align " + std::to_string(align) +
                                        "' is not a power of two up to 4096");
    return variable;
  }

  void parseThreads(uint32_t (&extents)[3]) {
    extents[0] = extents[1] = extents[2] = 1;
    unsigned dimension = 0;
    do {
      if (dimension == 3)
        fail("expected at most three extents");
      extents[dimension++] = static_cast<uint32_t>(expectInteger("an extent"));
    } while (accept(','));
  }

  void parseKernelDirectives(AstKernel &kernel) {
    while (peekDirective()) {
      if (accept(".maxntid"))
        parseThreads(kernel.maxThreads);
      else if (accept(".reqntid"))
        parseThreads(kernel.requiredThreads);
      else if (accept(".reqnctapercluster"))
        parseThreads(kernel.requiredCluster);
      else if (accept(".maxclusterrank"))
        kernel.maxClusterBlocks =
            static_cast<uint32_t>(expectInteger("a number of blocks"));
      else if (accept(".maxnreg"))
        kernel.maxRegisters =
            static_cast<uint32_t>(expectInteger("a number of registers"));
      else if (accept(".minnctapersm") || accept(".maxnctapersm"))
        expectInteger("a number");
      else if (accept(".noreturn") || accept(".explicitcluster"))
        ;
      else if (accept(".pragma"))
        skipStatement();
      else
        fail("unknown kernel directive");
    }
  }

  /// Everything up to and with the '}' of `scope`.
  void parseScope(unsigned scope, unsigned depth) {
    if (depth > maxNesting)
      fail("too many nested braces");
    while (!accept('}')) {
      if (peek().kind == Token::End)
        fail("kernel '" + std::string(current->name) +
             "' never ends: expected '}'");
      if (accept('{')) {
        unsigned inner = static_cast<unsigned>(current->scopes.size());
        current->scopes.push_back(AstScope());
        current->scopes[inner].parent = static_cast<int>(scope);
        parseScope(inner, depth + 1);
      } else {
        parseStatement(scope);
      }
    }
  }

  void parseStatement(unsigned scope) {
    if (accept(';'))
      return;
    if (peekDirective())
      return parseBodyDirective(scope);
    if (peek().kind == Token::Word && peek(1).is(':'))
      return parseLabel(scope);
    parseInstruction(scope);
  }

  void parseLabel(unsigned scope) {
    std::string_view name = take().text;
    take();
    AstScope &in = current->scopes[scope];
    if (accept(".branchtargets")) {
      std::vector<std::string_view> &targets = in.branchTargets[name];
      do
        targets.push_back(expectName("a label"));
      while (accept(','));
      expect(';');
      return;
    }
    if (accept(".callprototype"))
      return skipStatement();
    if (!in.labels.emplace(name, current->instructions.size()).second)
      fail("label '" + std::string(name) + "' is defined twice");
  }

  void parseBodyDirective(unsigned scope) {
    if (accept(".reg"))
      return parseRegisters(scope);
    if (peek().is(".loc") || peek().is(".file"))
      return skipLine();
    if (accept(".pragma"))
      return skipStatement();
    if (auto space = acceptSpace()) {
      std::vector<AstVariable> &into =
          *space == Space::Shared || *space == Space::Local ? current->variables
                                                            : module.variables;
      into.push_back(parseVariable(*space, /*isExtern=*/false));
      return parseMoreVariables(into);
    }
    if (peek().is(".param"))
      fail("arguments of a call, which is not supported: the simulator runs "
           "kernels whose functions are all inlined");
    fail("unknown directive in a kernel body");
  }

  void parseRegisters(unsigned scope) {
    unsigned width = 1;
    if (peek().is(".v2") || peek().is(".v4"))
      width = 0;
    if (width == 0)
      fail("vector registers are not supported: expected a scalar type");
    Type type = expectType();
    AstScope &in = current->scopes[scope];
    do {
      std::string_view name = expectName("a register name");
      if (accept('<')) {
        in.ranges.push_back({name, expectInteger("a count"), type});
        expect('>');
      } else {
        in.registers[name] = type;
      }
    } while (accept(','));
    expect(';');
  }

  void parseInstruction(unsigned scope) {
    AstInstruction instruction;
    instruction.scope = scope;
    instruction.line = peek().line;
    const char *start = peek().text.data();
    if (accept('@')) {
      instruction.guardNegated = accept('!');
      instruction.guard = expectName("a predicate register");
    }
    if (peek().kind != Token::Word)
      fail("expected an instruction");
    instruction.opcode = take().text;
    // `call` has a syntax of its own and is refused by the decoder anyway.
    if (instruction.opcode.substr(0, 4) == "call")
      throw PtxError(instruction.line,
                     "'" + std::string(instruction.opcode) +
                         "' is not supported: the simulator runs kernels whose "
                         "functions are all inlined");
    if (!peek().is(';')) {
      do
        instruction.operands.push_back(parseOperand(0));
      while (accept(','));
    }
    if (!peek().is(';'))
      fail("expected ',' or ';' after an operand of '" +
           std::string(instruction.opcode) + "'");
    const Token &end = take();
    instruction.text = std::string_view(
        start, static_cast<size_t>(end.text.data() + 1 - start));
    current->instructions.push_back(std::move(instruction));
  }

  AstOperand parseOperand(unsigned depth) {
    if (depth > 4)
      fail("too many nested operands");
    if (accept('{'))
      return parseVector(depth);
    if (accept('['))
      return parseAddress(depth);
    AstOperand operand = parseScalar();
    if (accept('|')) {
      AstOperand pair;
      pair.kind = AstOperand::Pair;
      pair.elements.push_back(std::move(operand));
      pair.elements.push_back(parseScalar());
      return pair;
    }
    return operand;
  }

  AstOperand parseScalar() {
    AstOperand operand;
    operand.negated = accept('!');
    if (peek().kind == Token::Word) {
      operand.name = expectName("an operand");
      if (peek().is('+') || peek().is('-'))
        operand.value = parseOffset();
      return operand;
    }
    bool negative = accept('-');
    const Token &token = peek();
    switch (token.kind) {
    case Token::Integer:
      operand.kind = AstOperand::Integer;
      break;
    case Token::Float32:
      operand.kind = AstOperand::Float32;
      break;
    case Token::Float64:
      operand.kind = AstOperand::Float64;
      break;
    default:
      fail("expected an operand");
    }
    uint64_t bits = take().bits;
    if (negative) {
      if (operand.kind == AstOperand::Integer)
        bits = 0 - bits;
      else
        bits ^= operand.kind == AstOperand::Float32 ? uint64_t(1) << 31
                                                    : uint64_t(1) << 63;
    }
    operand.value = static_cast<int64_t>(bits);
    return operand;
  }

  int64_t parseOffset() {
    int64_t total = 0;
    while (peek().is('+') || peek().is('-')) {
      bool negative = take().is('-');
      // LLVM writes `+-16`.
      if (accept('-'))
        negative = !negative;
      uint64_t value = expectInteger("an offset");
      total = static_cast<int64_t>(static_cast<uint64_t>(total) +
                                   (negative ? 0 - value : value));
    }
    return total;
  }

  AstOperand parseVector(unsigned depth) {
    AstOperand operand;
    operand.kind = AstOperand::Vector;
    do
      operand.elements.push_back(parseOperand(depth + 1));
    while (accept(','));
    expect('}');
    return operand;
  }

  AstOperand parseAddress(unsigned depth) {
    AstOperand operand;
    operand.kind = AstOperand::Address;
    AstOperand base = parseScalar();
    operand.value = base.value;
    if (base.kind == AstOperand::Name) {
      base.value = 0;
      operand.elements.push_back(base);
    } else if (base.kind != AstOperand::Integer) {
      fail("expected a register, symbol or number as an address");
    }
    while (accept(','))
      operand.elements.push_back(parseOperand(depth + 1));
    expect(']');
    return operand;
  }

  std::string_view source;
  std::vector<Token> tokens;
  size_t at = 0;
  AstModule module;
  AstKernel *current = nullptr;
  Type lastElementType = Type::B8;
  unsigned lastVectorWidth = 1;
};

} // namespace

AstModule parsePtx(std::string_view source) { return Parser(source).run(); }

} // namespace attn::sim
