//===- MapTiles.cpp - The key tiles that a kernel visits ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/MapTiles.h"

#include "Bindings.h"

#include "attn/Analysis/TileVisits.h"
#include "attn/Reference/Evaluate.h"
#include "attn/Reference/Numbers.h"

#include "llvm/ADT/bit.h"

#include <set>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// What the mask reads
//===----------------------------------------------------------------------===//

namespace {
/// Names and indices that a rule mentions.
struct Mentions {
  std::set<std::string> params, tensors;
  bool batch = false, head = false;

  void add(const ExprPtr &expr);

private:
  std::set<const Expr *> seen;
};
} // namespace

void Mentions::add(const ExprPtr &expr) {
  SmallVector<const Expr *> open;
  if (expr)
    open.push_back(expr.get());
  while (!open.empty()) {
    const Expr *node = open.pop_back_val();
    if (!seen.insert(node).second)
      continue;
    if (node->kind == ExprKind::Param)
      params.insert(node->name);
    if (node->kind == ExprKind::Read)
      tensors.insert(node->name);
    if (node->kind == ExprKind::Index) {
      batch |= node->index == IndexVar::B;
      head |= node->index == IndexVar::H || node->index == IndexVar::G;
    }
    for (const ExprPtr &operand : node->operands)
      open.push_back(operand.get());
  }
}

namespace {
/// Draws one head.
class Mapper {
public:
  Mapper(ir::KernelOp kernel, const Problem &problem,
         const MapTilesOptions &options)
      : kernel(kernel), problem(problem), options(options) {}

  /// Throws std::runtime_error.
  TileMap run();

private:
  void bind();
  void describe(TileMap &map);
  void bindRule();
  void lookAtKernel(TileMap &map);
  void lookAtMask(TileMap &map);
  void compare(const TileMap &map);
  int64_t firstPosition() const {
    return problem.align == Alignment::BottomRight ? options.kLen - options.qLen
                                                   : 0;
  }
  int64_t kvHead() const {
    return options.head * problem.kvHeads / problem.heads;
  }

  ir::KernelOp kernel;
  const Problem &problem;
  const MapTilesOptions &options;
  Mentions mentions;
  run::Inputs inputs;
  RuleInputs values;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Params and tensors of the command line, those of the mask.
void Mapper::bind() {
  run::InputOptions given;
  for (auto &[name, value] : options.params)
    given.params.push_back({name, value});
  for (auto &[name, value] : options.tensors)
    given.tensors.push_back({name, value});
  // Others would change nothing, and may be large.
  Problem needed = problem;
  for (Tensor &tensor : needed.tensors)
    if (!mentions.tensors.count(tensor.name)) {
      tensor.dims.clear();
      given.tensors.push_back({tensor.name, "zeros"});
    }
  for (auto [kind, entries, used] :
       {std::tuple("--param", &options.params, &mentions.params),
        std::tuple("--tensor", &options.tensors, &mentions.tensors)})
    for (auto &[name, value] : *entries) {
      auto isNamed = [&, &name = name](const auto &entry) {
        return entry.name == name;
      };
      if ((llvm::any_of(problem.params, isNamed) ||
           llvm::any_of(problem.tensors, isNamed)) &&
          !used->count(name))
        throw run::InputError(std::string(kind) + " " + name +
                              ": the mask does not depend on it");
    }
  inputs.problem = &needed;
  run::LengthOptions lengths;
  lengths.batch = options.batch;
  lengths.qLen = options.qLen;
  lengths.kLen = options.kLen;
  inputs.lengths = run::makeLengths(problem.batch, lengths);
  run::bindParams(given, inputs);
  run::bindTensors(given, inputs);
  inputs.problem = &problem;
  for (const Tensor &tensor : problem.tensors)
    if (!mentions.tensors.count(tensor.name))
      inputs.tensors.erase(tensor.name);
}

/// The same values for the code of the bounds.
void Mapper::bindRule() {
  auto bits = [](double value) -> int64_t {
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  };
  for (const Param &param : problem.params) {
    auto bound = inputs.params.find(param.name);
    bool isFloat = param.type == DType::F32;
    bool isBound = bound != inputs.params.end();
    values.params[param.name] =
        isFloat ? bits(isBound ? bound->second.floatValue : param.floatDefault)
                : (isBound ? bound->second.intValue : param.intDefault);
  }
  for (auto &[name, tensor] : inputs.tensors) {
    TensorValue &value = values.tensors[name];
    value.dims = tensor.dims;
    value.data.resize(tensor.bytes.size() / size_t(byteSize(tensor.type)));
    for (auto [index, element] : llvm::enumerate(value.data))
      element = isFloat(tensor.type)
                    ? bits(loadElement(tensor.type, tensor.bytes.data(),
                                       int64_t(index)))
                    : loadInt(tensor.type, tensor.bytes.data(), int64_t(index));
  }
}

void Mapper::describe(TileMap &map) {
  map.name = problem.name;
  map.schedule = ir::stringifyScheduleKind(kernel.getSchedule()->getKind());
  map.qLen = options.qLen;
  map.kLen = options.kLen;
  map.tileRows = *kernel.getSchedule()->getTileM();
  map.tileKeys = *kernel.getSchedule()->getTileN();
  map.cells.resize(size_t(map.rows() * map.columns()));
  for (const Param &param : problem.params) {
    if (!mentions.params.count(param.name))
      continue;
    auto bound = inputs.params.find(param.name);
    bool isBound = bound != inputs.params.end();
    int64_t integer = isBound ? bound->second.intValue : param.intDefault;
    std::string value = param.type == DType::F32
                            ? spellNumber(isBound ? bound->second.floatValue
                                                  : param.floatDefault)
                        : param.type == DType::Bool
                            ? (integer ? "true" : "false")
                            : std::to_string(integer);
    map.settings.push_back(param.name + " = " + value);
  }
  for (auto &[name, value] : options.tensors)
    map.settings.push_back(name + " = " + value);
  if (mentions.batch)
    map.settings.push_back("batch entry " + std::to_string(options.batchEntry));
  if (mentions.head)
    map.settings.push_back("head " + std::to_string(options.head));
}

//===----------------------------------------------------------------------===//
// The kernel's code, and the rule
//===----------------------------------------------------------------------===//

void Mapper::lookAtKernel(TileMap &map) {
  OwningOpRef<ir::BoundsOp> copy(kernel.getBounds().clone());
  PlacedTiles tiles(*copy, map.tileKeys);
  for (int64_t row = 0; row < map.rows(); ++row) {
    int64_t first = row * map.tileRows;
    int64_t last = std::min(first + map.tileRows, map.qLen) - 1;
    for (const TileVisit &visit :
         tiles.run({options.batchEntry, options.head, kvHead(),
                    first + firstPosition(), last + firstPosition(), map.qLen,
                    map.kLen},
                   values))
      map.cells[size_t(row * map.columns() + visit.firstKey / map.tileKeys)]
          .kernel = visit.isFull ? TileClass::Full : TileClass::Partial;
  }
}

void Mapper::lookAtMask(TileMap &map) {
  Launch launch = inputs.launch();
  std::optional<Rule> rule;
  std::optional<RuleRunner> runner;
  if (problem.mask) {
    rule.emplace(problem.mask, problem, launch.bindings);
    runner.emplace(*rule);
  }
  Sequence sequence{map.qLen, map.kLen};
  std::vector<uint8_t> shown(size_t(map.kLen), 1);
  std::vector<int64_t> visible(size_t(map.columns()));
  for (int64_t row = 0; row < map.rows(); ++row) {
    std::fill(visible.begin(), visible.end(), 0);
    int64_t first = row * map.tileRows;
    int64_t end = std::min(first + map.tileRows, map.qLen);
    for (int64_t i = first; i < end; ++i) {
      RowPosition position{options.batchEntry,  options.head, kvHead(), i,
                           i + firstPosition(), sequence};
      if (runner)
        runner->evaluateBool(position, 0, map.kLen, nullptr, shown.data());
      for (int64_t k = 0; k < map.kLen; ++k)
        visible[size_t(k / map.tileKeys)] += shown[size_t(k)] != 0;
    }
    for (int64_t column = 0; column < map.columns(); ++column) {
      // Full tiles have all of their keys; rows that are not there miss none.
      int64_t count = visible[size_t(column)];
      map.cells[size_t(row * map.columns() + column)].least =
          count == 0                              ? TileClass::Skipped
          : count == (end - first) * map.tileKeys ? TileClass::Full
                                                  : TileClass::Partial;
      map.visiblePairs += count;
    }
  }
  if (runner)
    for (const auto *fault : {&runner->outOfRange(), &runner->divisionByZero()})
      if (*fault)
        throw run::InputError((*fault)->message());
}

/// A kernel may do too much, never too little.
void Mapper::compare(const TileMap &map) {
  for (int64_t row = 0; row < map.rows(); ++row)
    for (int64_t column = 0; column < map.columns(); ++column) {
      const TileCell &cell = map.at(row, column);
      bool isMissed =
          cell.kernel == TileClass::Skipped && cell.least != cell.kernel;
      bool isUnmasked =
          cell.kernel == TileClass::Full && cell.least != cell.kernel;
      if (!isMissed && !isUnmasked)
        continue;
      std::string promised;
      for (const Tensor &tensor : problem.tensors)
        if (tensor.monotone && mentions.tensors.count(tensor.name))
          promised += (promised.empty() ? "" : ", ") + tensor.name;
      throw run::InputError(
          "queries from " + std::to_string(row * map.tileRows) +
          ", keys from " + std::to_string(column * map.tileKeys) +
          ": the kernel " +
          (isMissed ? "skips a tile with visible pairs"
                    : "does not mask a tile with hidden pairs") +
          (promised.empty() ? "; this is an error of the compiler"
                            : "; expected non-decreasing values in " +
                                  promised + " (monotone)"));
    }
}

TileMap Mapper::run() {
  mentions.add(problem.mask);
  bind();
  bindRule();
  TileMap map;
  describe(map);
  lookAtKernel(map);
  lookAtMask(map);
  // The list is made by looking at the tiles that the bounds leave open.
  map.isByList = kernel.getBounds()->hasAttr("listed");
  if (map.isByList)
    for (TileCell &cell : map.cells)
      if (cell.kernel == TileClass::Partial)
        cell.kernel = cell.least;
  compare(map);
  return map;
}

std::optional<TileMap> attn::mapTiles(ir::KernelOp kernel,
                                      const Problem &problem,
                                      const MapTilesOptions &options,
                                      std::string &error) {
  if (options.qLen > maxMappedPairs / options.kLen) {
    error = "--q-len=" + std::to_string(options.qLen) +
            " --k-len=" + std::to_string(options.kLen) + ": a map looks at " +
            std::to_string(maxMappedPairs) + " pairs at most";
    return std::nullopt;
  }
  if (options.head >= problem.heads) {
    error = "--head=" + std::to_string(options.head) + ": expected 0 .. " +
            std::to_string(problem.heads - 1);
    return std::nullopt;
  }
  if (options.batchEntry >= options.batch) {
    error = "--batch-entry=" + std::to_string(options.batchEntry) +
            ": expected 0 .. " + std::to_string(options.batch - 1) +
            " (--batch=N for more)";
    return std::nullopt;
  }
  try {
    return Mapper(kernel, problem, options).run();
  } catch (const std::exception &exception) {
    error = exception.what();
    return std::nullopt;
  }
}
