//===- RuleRun.cpp - Running a compiled rule --------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleProgram.h"
#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>

namespace attn {

using detail::Instruction;
using detail::laneCount;
using detail::Step;
using detail::TensorRead;

std::string Fault::message() const {
  std::string text = kind == OutOfRange ? tensor + "[" : "division by zero";
  if (kind == OutOfRange) {
    for (size_t dim = 0; dim < index.size(); ++dim)
      text += (dim ? ", " : "") + std::to_string(index[dim]);
    text += "] is outside its extents [";
    for (size_t dim = 0; dim < extents.size(); ++dim)
      text += (dim ? ", " : "") + std::to_string(extents[dim]);
    text += "]";
  }
  text += " at b = " + std::to_string(b) + ", h = " + std::to_string(h);
  if (k >= 0)
    text += ", q = " + std::to_string(q) + ", k = " + std::to_string(k);
  if (line)
    text += " (line " + std::to_string(line) + ", column " +
            std::to_string(column) + " of the spec)";
  return text;
}

bool operator<(const Fault &a, const Fault &b) {
  return std::tie(a.b, a.h, a.q, a.k) < std::tie(b.b, b.h, b.q, b.k);
}

namespace {

// Signed overflow wraps, as it does on the device.
int64_t wrapAdd(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) + uint64_t(b));
}
int64_t wrapSub(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) - uint64_t(b));
}
int64_t wrapMul(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) * uint64_t(b));
}

int64_t floorDiv(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return wrapSub(0, a);
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floorMod(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return 0;
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                      : remainder;
}

template <typename T, typename Out, typename Function>
void mapUnary(int64_t lanes, const T *a, Out *out, Function function) {
  for (int64_t lane = 0; lane < lanes; ++lane)
    out[lane] = function(a[lane]);
}

template <typename T, typename Out, typename Function>
void mapBinary(int64_t lanes, const T *a, const T *b, Out *out,
               Function function) {
  for (int64_t lane = 0; lane < lanes; ++lane)
    out[lane] = function(a[lane], b[lane]);
}

/// One loop per comparison, so that each vectorizes.
template <typename T>
void compareLanes(ExprKind kind, int64_t lanes, const T *a, const T *b,
                  uint8_t *out) {
  switch (kind) {
  case ExprKind::Eq:
    return mapBinary(lanes, a, b, out, std::equal_to<T>());
  case ExprKind::Ne:
    return mapBinary(lanes, a, b, out, std::not_equal_to<T>());
  case ExprKind::Lt:
    return mapBinary(lanes, a, b, out, std::less<T>());
  case ExprKind::Le:
    return mapBinary(lanes, a, b, out, std::less_equal<T>());
  case ExprKind::Gt:
    return mapBinary(lanes, a, b, out, std::greater<T>());
  default:
    assert(kind == ExprKind::Ge && "not a comparison");
    return mapBinary(lanes, a, b, out, std::greater_equal<T>());
  }
}

void floatLanes(ExprKind kind, int64_t lanes, const double *a, const double *b,
                double *out) {
  using D = double;
  switch (kind) {
  case ExprKind::Neg:
    return mapUnary(lanes, a, out, [](D x) { return -x; });
  case ExprKind::Abs:
    return mapUnary(lanes, a, out, [](D x) { return std::fabs(x); });
  case ExprKind::Exp:
    return mapUnary(lanes, a, out, [](D x) { return std::exp(x); });
  case ExprKind::Exp2:
    return mapUnary(lanes, a, out, [](D x) { return std::exp2(x); });
  case ExprKind::Log:
    return mapUnary(lanes, a, out, [](D x) { return std::log(x); });
  case ExprKind::Log2:
    return mapUnary(lanes, a, out, [](D x) { return std::log2(x); });
  case ExprKind::Tanh:
    return mapUnary(lanes, a, out, [](D x) { return std::tanh(x); });
  case ExprKind::Sigmoid:
    return mapUnary(lanes, a, out, [](D x) { return 1 / (1 + std::exp(-x)); });
  case ExprKind::Sqrt:
    return mapUnary(lanes, a, out, [](D x) { return std::sqrt(x); });
  case ExprKind::Add:
    return mapBinary(lanes, a, b, out, [](D x, D y) { return x + y; });
  case ExprKind::Sub:
    return mapBinary(lanes, a, b, out, [](D x, D y) { return x - y; });
  case ExprKind::Mul:
    return mapBinary(lanes, a, b, out, [](D x, D y) { return x * y; });
  case ExprKind::Div:
    return mapBinary(lanes, a, b, out, [](D x, D y) { return x / y; });
  case ExprKind::Min:
    return mapBinary(lanes, a, b, out,
                     [](D x, D y) { return std::fmin(x, y); });
  default:
    assert(kind == ExprKind::Max && "not a float operation");
    return mapBinary(lanes, a, b, out,
                     [](D x, D y) { return std::fmax(x, y); });
  }
}

void intLanes(ExprKind kind, int64_t lanes, const int64_t *a, const int64_t *b,
              int64_t *out) {
  using I = int64_t;
  switch (kind) {
  case ExprKind::Neg:
    return mapUnary(lanes, a, out, [](I x) { return wrapSub(0, x); });
  case ExprKind::Abs:
    return mapUnary(lanes, a, out,
                    [](I x) { return x < 0 ? wrapSub(0, x) : x; });
  case ExprKind::Add:
    return mapBinary(lanes, a, b, out, wrapAdd);
  case ExprKind::Sub:
    return mapBinary(lanes, a, b, out, wrapSub);
  case ExprKind::Mul:
    return mapBinary(lanes, a, b, out, wrapMul);
  case ExprKind::Div:
    return mapBinary(lanes, a, b, out, floorDiv);
  case ExprKind::Mod:
    return mapBinary(lanes, a, b, out, floorMod);
  case ExprKind::Min:
    return mapBinary(lanes, a, b, out, [](I x, I y) { return std::min(x, y); });
  default:
    assert(kind == ExprKind::Max && "not an int operation");
    return mapBinary(lanes, a, b, out, [](I x, I y) { return std::max(x, y); });
  }
}

} // namespace

struct RuleRunner::State {
  std::shared_ptr<const detail::RuleProgram> program;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<uint8_t> bools;
  std::optional<Fault> outOfRange, divisionByZero;
  // The pairs at hand.
  const RowPosition *row = nullptr;
  int64_t firstKey = 0, lanes = 0;
  const double *s = nullptr;

  explicit State(std::shared_ptr<const detail::RuleProgram> compiled)
      : program(std::move(compiled)), ints(program->ints * laneCount),
        floats(program->floats * laneCount), bools(program->bools * laneCount) {
  }

  int64_t *intAt(int reg) { return ints.data() + reg * laneCount; }
  double *floatAt(int reg) { return floats.data() + reg * laneCount; }
  uint8_t *boolAt(int reg) { return bools.data() + reg * laneCount; }

  void run(const uint8_t *active);
  void evaluate(const Instruction &in);
  void evaluateIndex(const Instruction &in);
  void evaluateRead(const Instruction &in);
  void evaluateSelect(const Instruction &in);
  void evaluateComparison(const Instruction &in);
  void noteZeroDivisors(const Instruction &in);
  void note(std::optional<Fault> &first, Fault fault, int64_t lane,
            const Instruction &in);

  /// Whether a fault of this lane would come before the first one so far.
  bool isFirst(const std::optional<Fault> &first, int64_t lane) const {
    return !first || std::make_tuple(row->b, row->h, row->q, firstKey + lane) <
                         std::tie(first->b, first->h, first->q, first->k);
  }
};

void RuleRunner::State::note(std::optional<Fault> &first, Fault fault,
                             int64_t lane, const Instruction &in) {
  fault.b = row->b;
  fault.h = row->h;
  fault.q = row->q;
  fault.k = firstKey + lane;
  fault.line = in.line;
  fault.column = in.column;
  first = std::move(fault);
}

void RuleRunner::State::noteZeroDivisors(const Instruction &in) {
  const int64_t *divisor = intAt(in.b);
  const uint8_t *active = boolAt(in.active);
  for (int64_t lane = 0; lane < lanes; ++lane)
    if (divisor[lane] == 0 && active[lane] && isFirst(divisionByZero, lane)) {
      Fault fault;
      fault.kind = Fault::DivisionByZero;
      note(divisionByZero, std::move(fault), lane, in);
      return;
    }
}

void RuleRunner::State::evaluateIndex(const Instruction &in) {
  switch (in.index) {
  case IndexVar::S:
    if (s)
      std::copy_n(s, lanes, floatAt(in.dst));
    else
      std::fill_n(floatAt(in.dst), lanes, 0.0);
    return;
  case IndexVar::K: {
    int64_t *dst = intAt(in.dst);
    for (int64_t lane = 0; lane < lanes; ++lane)
      dst[lane] = firstKey + lane;
    return;
  }
  default:
    break;
  }
  int64_t value = in.index == IndexVar::B      ? row->b
                  : in.index == IndexVar::H    ? row->h
                  : in.index == IndexVar::G    ? row->g
                  : in.index == IndexVar::I    ? row->i
                  : in.index == IndexVar::Q    ? row->q
                  : in.index == IndexVar::QLen ? row->sequence.qLen
                                               : row->sequence.kLen;
  std::fill_n(intAt(in.dst), lanes, value);
}

void RuleRunner::State::evaluateRead(const Instruction &in) {
  const TensorRead &read = program->reads[in.read];
  const HostTensor &tensor = read.tensor;
  size_t rank = tensor.dims.size();
  std::vector<int64_t> extents(rank), starts(rank, 0);
  int64_t elements = 1;
  for (size_t dim = 0; dim < rank; ++dim) {
    extents[dim] = tensor.dims[dim];
    elements *= tensor.dims[dim];
    // A ragged dim is indexed inside the sequence.
    if (read.kinds[dim] == DimKind::TotalQ) {
      extents[dim] = row->sequence.qLen;
      starts[dim] = row->sequence.qStart;
    } else if (read.kinds[dim] == DimKind::TotalK) {
      extents[dim] = row->sequence.kLen;
      starts[dim] = row->sequence.kStart;
    }
  }
  const uint8_t *active = boolAt(in.active);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t offset = 0;
    bool outside = elements == 0;
    for (size_t dim = 0; dim < rank; ++dim) {
      int64_t index = intAt(read.indices[dim])[lane];
      outside |= index < 0 || index >= extents[dim];
      index = std::max<int64_t>(0, std::min(index, extents[dim] - 1));
      // A start that does not fit the tensor must not reach other memory.
      index = std::min(index + starts[dim], tensor.dims[dim] - 1);
      offset = offset * tensor.dims[dim] + index;
    }
    if (outside && active[lane] && isFirst(outOfRange, lane)) {
      Fault fault;
      fault.kind = Fault::OutOfRange;
      fault.tensor = read.name;
      fault.extents = extents;
      for (int reg : read.indices)
        fault.index.push_back(intAt(reg)[lane]);
      note(outOfRange, std::move(fault), lane, in);
    }
    if (in.type == ExprType::Float)
      floatAt(in.dst)[lane] =
          elements ? loadElement(tensor.type, tensor.data, offset) : 0;
    else if (in.type == ExprType::Int)
      intAt(in.dst)[lane] =
          elements ? loadInt(tensor.type, tensor.data, offset) : 0;
    else
      boolAt(in.dst)[lane] =
          elements ? uint8_t(loadInt(tensor.type, tensor.data, offset)) : 0;
  }
}

void RuleRunner::State::evaluateSelect(const Instruction &in) {
  const uint8_t *condition = boolAt(in.c);
  auto select = [&](const auto *a, const auto *b, auto *out) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      out[lane] = condition[lane] ? a[lane] : b[lane];
  };
  if (in.type == ExprType::Float)
    select(floatAt(in.a), floatAt(in.b), floatAt(in.dst));
  else if (in.type == ExprType::Int)
    select(intAt(in.a), intAt(in.b), intAt(in.dst));
  else
    select(boolAt(in.a), boolAt(in.b), boolAt(in.dst));
}

void RuleRunner::State::evaluateComparison(const Instruction &in) {
  if (in.operandType == ExprType::Float)
    compareLanes(in.kind, lanes, floatAt(in.a), floatAt(in.b), boolAt(in.dst));
  else if (in.operandType == ExprType::Int)
    compareLanes(in.kind, lanes, intAt(in.a), intAt(in.b), boolAt(in.dst));
  else
    compareLanes(in.kind, lanes, boolAt(in.a), boolAt(in.b), boolAt(in.dst));
}

void RuleRunner::State::evaluate(const Instruction &in) {
  switch (in.kind) {
  case ExprKind::IntConst:
    std::fill_n(intAt(in.dst), lanes, in.intValue);
    return;
  case ExprKind::FloatConst:
    std::fill_n(floatAt(in.dst), lanes, in.floatValue);
    return;
  case ExprKind::BoolConst:
    std::fill_n(boolAt(in.dst), lanes, uint8_t(in.intValue != 0));
    return;
  case ExprKind::Index:
    return evaluateIndex(in);
  case ExprKind::Read:
    return evaluateRead(in);
  case ExprKind::ToFloat:
    return mapUnary(lanes, intAt(in.a), floatAt(in.dst),
                    [](int64_t x) { return double(x); });
  case ExprKind::Not:
    return mapUnary(lanes, boolAt(in.a), boolAt(in.dst),
                    [](uint8_t x) { return uint8_t(!x); });
  case ExprKind::And:
    return mapBinary(lanes, boolAt(in.a), boolAt(in.b), boolAt(in.dst),
                     std::bit_and<uint8_t>());
  case ExprKind::Or:
    return mapBinary(lanes, boolAt(in.a), boolAt(in.b), boolAt(in.dst),
                     std::bit_or<uint8_t>());
  case ExprKind::Select:
    return evaluateSelect(in);
  case ExprKind::Eq:
  case ExprKind::Ne:
  case ExprKind::Lt:
  case ExprKind::Le:
  case ExprKind::Gt:
  case ExprKind::Ge:
    return evaluateComparison(in);
  default:
    break;
  }
  if (in.type == ExprType::Float)
    return floatLanes(in.kind, lanes, floatAt(in.a), floatAt(in.b),
                      floatAt(in.dst));
  if (in.kind == ExprKind::Div || in.kind == ExprKind::Mod)
    noteZeroDivisors(in);
  intLanes(in.kind, lanes, intAt(in.a), intAt(in.b), intAt(in.dst));
}

void RuleRunner::State::run(const uint8_t *active) {
  if (active)
    mapUnary(lanes, active, boolAt(0),
             [](uint8_t x) { return uint8_t(x != 0); });
  else
    std::fill_n(boolAt(0), lanes, uint8_t(1));
  const std::vector<Instruction> &code = program->code;
  for (size_t at = 0; at < code.size(); ++at) {
    const Instruction &in = code[at];
    switch (in.step) {
    case Step::Evaluate:
      evaluate(in);
      break;
    case Step::AndMask:
      mapBinary(lanes, boolAt(in.a), boolAt(in.b), boolAt(in.dst),
                std::bit_and<uint8_t>());
      break;
    case Step::AndNot:
      mapBinary(lanes, boolAt(in.a), boolAt(in.b), boolAt(in.dst),
                [](uint8_t a, uint8_t b) { return uint8_t(a & ~b & 1); });
      break;
    case Step::SkipIfNone:
      if (!std::memchr(boolAt(in.a), 1, lanes))
        at = in.target - 1;
      break;
    }
  }
}

RuleRunner::RuleRunner(const Rule &rule)
    : state(std::make_unique<State>(rule.program)) {}
RuleRunner::~RuleRunner() = default;
RuleRunner::RuleRunner(RuleRunner &&) noexcept = default;

void RuleRunner::evaluateFloat(const RowPosition &row, int64_t firstKey,
                               int64_t count, const double *s,
                               const uint8_t *active, double *out) {
  assert(state->program->type == ExprType::Float);
  state->row = &row;
  for (int64_t from = 0; from < count; from += laneCount) {
    state->firstKey = firstKey + from;
    state->lanes = std::min(laneCount, count - from);
    state->s = s ? s + from : nullptr;
    state->run(active ? active + from : nullptr);
    std::copy_n(state->floatAt(state->program->result), state->lanes,
                out + from);
  }
}

void RuleRunner::evaluateBool(const RowPosition &row, int64_t firstKey,
                              int64_t count, const uint8_t *active,
                              uint8_t *out) {
  assert(state->program->type == ExprType::Bool);
  state->row = &row;
  state->s = nullptr;
  for (int64_t from = 0; from < count; from += laneCount) {
    state->firstKey = firstKey + from;
    state->lanes = std::min(laneCount, count - from);
    state->run(active ? active + from : nullptr);
    std::copy_n(state->boolAt(state->program->result), state->lanes,
                out + from);
  }
}

double RuleRunner::evaluateAt(const RowPosition &row, int64_t k, double s) {
  state->row = &row;
  state->firstKey = k;
  state->lanes = 1;
  state->s = &s;
  state->run(nullptr);
  switch (state->program->type) {
  case ExprType::Int:
    return double(*state->intAt(state->program->result));
  case ExprType::Float:
    return *state->floatAt(state->program->result);
  case ExprType::Bool:
    return *state->boolAt(state->program->result);
  }
  return 0;
}

const std::optional<Fault> &RuleRunner::outOfRange() const {
  return state->outOfRange;
}
const std::optional<Fault> &RuleRunner::divisionByZero() const {
  return state->divisionByZero;
}

} // namespace attn
