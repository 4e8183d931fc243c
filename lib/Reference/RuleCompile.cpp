//===- RuleCompile.cpp - From a rule's tree to instructions -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleProgram.h"

#include <algorithm>
#include <stdexcept>

namespace attn {

using detail::Instruction;
using detail::RuleProgram;
using detail::Step;
using detail::TensorRead;

namespace {

template <typename Named>
const Named *findNamed(const std::vector<Named> &list,
                       const std::string &name) {
  auto found = std::find_if(list.begin(), list.end(), [&](const Named &entry) {
    return entry.name == name;
  });
  return found == list.end() ? nullptr : &*found;
}

ExprType exprType(DType type) {
  switch (type) {
  case DType::BF16:
  case DType::F16:
  case DType::F32:
  case DType::E4M3:
  case DType::E5M2:
    return ExprType::Float;
  case DType::Bool:
    return ExprType::Bool;
  default:
    return ExprType::Int;
  }
}

/// Emits every node once for each activity it is needed under.
class RuleCompiler {
public:
  RuleCompiler(RuleProgram &program, const Problem &problem,
               const Bindings &bindings)
      : program(program), problem(problem), bindings(bindings) {
    scopes.push_back({0, {}});
  }

  int emit(const Expr &node) {
    // A value computed under a wider activity serves the narrower ones too.
    for (const Scope &scope : scopes) {
      auto known = scope.values.find(&node);
      if (known != scope.values.end())
        return known->second;
    }
    int result = emitNew(node);
    scopes.back().values[&node] = result;
    return result;
  }

private:
  /// The activity of a region, and what has been computed under it.
  struct Scope {
    int active;
    std::map<const Expr *, int> values;
  };

  int newRegister(ExprType type) {
    return type == ExprType::Int     ? program.ints++
           : type == ExprType::Float ? program.floats++
                                     : program.bools++;
  }

  Instruction start(const Expr &node) {
    Instruction instruction;
    instruction.kind = node.kind;
    instruction.type = node.type;
    instruction.active = scopes.back().active;
    instruction.line = node.line;
    instruction.column = node.column;
    return instruction;
  }

  int finish(Instruction instruction) {
    instruction.dst = newRegister(instruction.type);
    program.code.push_back(instruction);
    return instruction.dst;
  }

  /// Emits `node` under the lanes where `condition` is `value`.
  int emitUnder(const Expr &node, int condition, bool value) {
    Instruction narrow;
    narrow.step = value ? Step::AndMask : Step::AndNot;
    narrow.type = ExprType::Bool;
    narrow.a = scopes.back().active;
    narrow.b = condition;
    int active = finish(narrow);
    Instruction skip;
    skip.step = Step::SkipIfNone;
    skip.a = active;
    size_t at = program.code.size();
    program.code.push_back(skip);
    scopes.push_back({active, {}});
    int result = emit(node);
    scopes.pop_back();
    program.code[at].target = program.code.size();
    return result;
  }

  int emitNew(const Expr &node) {
    Instruction out = start(node);
    switch (node.kind) {
    case ExprKind::IntConst:
    case ExprKind::BoolConst:
      out.intValue = node.intValue;
      return finish(out);
    case ExprKind::FloatConst:
      out.floatValue = float(node.floatValue);
      return finish(out);
    case ExprKind::Index:
      out.index = node.index;
      return finish(out);
    case ExprKind::Param:
      return emitParam(node, out);
    case ExprKind::Read:
      return emitRead(node, out);
    case ExprKind::And:
    case ExprKind::Or:
      out.operandType = ExprType::Bool;
      out.a = emit(*node.operands[0]);
      out.b = emitUnder(*node.operands[1], out.a, node.kind == ExprKind::And);
      return finish(out);
    case ExprKind::Select:
      out.operandType = node.type;
      out.c = emit(*node.operands[0]);
      out.a = emitUnder(*node.operands[1], out.c, true);
      out.b = emitUnder(*node.operands[2], out.c, false);
      return finish(out);
    default:
      out.operandType = node.operands[0]->type;
      out.a = emit(*node.operands[0]);
      if (node.operands.size() > 1)
        out.b = emit(*node.operands[1]);
      return finish(out);
    }
  }

  /// A param is a constant of the launch.
  int emitParam(const Expr &node, Instruction out) {
    const Param *param = findNamed(problem.params, node.name);
    if (!param)
      throw std::runtime_error("param '" + node.name + "' is not declared");
    out.intValue = param->intDefault;
    out.floatValue = float(param->floatDefault);
    auto bound = bindings.params.find(node.name);
    if (bound != bindings.params.end()) {
      bool isFloat = std::holds_alternative<double>(bound->second);
      if (isFloat != (param->type == DType::F32))
        throw std::runtime_error("param '" + node.name + "' is " +
                                 spelling(param->type) +
                                 (isFloat ? ", but a float is bound to it"
                                          : ", but an integer is bound to it"));
      if (isFloat)
        out.floatValue = float(std::get<double>(bound->second));
      else
        out.intValue = std::get<int64_t>(bound->second);
    }
    out.kind = node.type == ExprType::Float  ? ExprKind::FloatConst
               : node.type == ExprType::Bool ? ExprKind::BoolConst
                                             : ExprKind::IntConst;
    return finish(out);
  }

  int emitRead(const Expr &node, Instruction out) {
    const Tensor *declared = findNamed(problem.tensors, node.name);
    if (!declared)
      throw std::runtime_error("tensor '" + node.name + "' is not declared");
    auto bound = bindings.tensors.find(node.name);
    if (bound == bindings.tensors.end())
      throw std::runtime_error("tensor '" + node.name + "' is not bound");
    checkBinding(*declared, bound->second);
    if (exprType(declared->type) != node.type ||
        node.operands.size() != declared->dims.size())
      throw std::runtime_error("tensor '" + node.name +
                               "' is read with another type or rank than it "
                               "is declared with");
    TensorRead read{node.name, bound->second, {}, {}};
    for (size_t dim = 0; dim < node.operands.size(); ++dim) {
      read.kinds.push_back(declared->dims[dim].kind);
      read.indices.push_back(emit(*node.operands[dim]));
    }
    out.read = int(program.reads.size());
    program.reads.push_back(std::move(read));
    return finish(out);
  }

  void checkBinding(const Tensor &declared, const HostTensor &bound) {
    if (declared.type != bound.type)
      throw std::runtime_error("tensor '" + declared.name + "': expected " +
                               spelling(declared.type) + ", found " +
                               spelling(bound.type));
    if (declared.dims.size() != bound.dims.size())
      throw std::runtime_error("tensor '" + declared.name + "': expected " +
                               std::to_string(declared.dims.size()) +
                               " dims, found " +
                               std::to_string(bound.dims.size()));
    for (size_t dim = 0; dim < bound.dims.size(); ++dim) {
      DimKind kind = declared.dims[dim].kind;
      int64_t expected = kind == DimKind::Literal   ? declared.dims[dim].literal
                         : kind == DimKind::Heads   ? problem.heads
                         : kind == DimKind::KvHeads ? problem.kvHeads
                                                    : bound.dims[dim];
      if (bound.dims[dim] != expected)
        throw std::runtime_error(
            "tensor '" + declared.name + "': expected extent " +
            std::to_string(expected) + " in dim " + std::to_string(dim) +
            ", found " + std::to_string(bound.dims[dim]));
    }
  }

  RuleProgram &program;
  const Problem &problem;
  const Bindings &bindings;
  std::vector<Scope> scopes;
};

} // namespace

Rule::Rule(const ExprPtr &expr, const Problem &problem,
           const Bindings &bindings) {
  auto compiled = std::make_shared<RuleProgram>();
  compiled->type = expr->type;
  compiled->result = RuleCompiler(*compiled, problem, bindings).emit(*expr);
  program = std::move(compiled);
}

Rule::~Rule() = default;
Rule::Rule(Rule &&) noexcept = default;
Rule &Rule::operator=(Rule &&) noexcept = default;

ExprType Rule::type() const { return program->type; }

} // namespace attn
