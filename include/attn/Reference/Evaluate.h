//===- Evaluate.h - Evaluating a rule's expression tree ----------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Rule is an Expr compiled once into a flat list of instructions over
// registers of some hundred keys each; a RuleRunner holds one thread's
// registers and the faults it met. Ints are 64-bit and wrap, floats are double,
// `/` and `%` on ints are floor division and its remainder and give 0 for a
// zero divisor, `&& || ?:` short-circuit for each key apart. Float constants
// and params are rounded to f32 first: that is what is stored (C1).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_EVALUATE_H
#define ATTN_REFERENCE_EVALUATE_H

#include "attn/Reference/Expr.h"
#include "attn/Reference/Problem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace attn {

/// A bound param: int64_t for I32, I64 and Bool, double for F32.
using Scalar = std::variant<int64_t, double>;

/// A bound tensor: row-major, contiguous, in host memory, not owned.
struct HostTensor {
  DType type = DType::F32;
  std::vector<int64_t> dims;
  const void *data = nullptr;
};

/// What a launch binds by name. A param that is absent has its default.
struct Bindings {
  std::map<std::string, Scalar> params;
  std::map<std::string, HostTensor> tensors;
};

/// One batch entry: its lengths, and the row of the packed tensors at which it
/// starts (varlen; 0 otherwise).
struct Sequence {
  int64_t qLen = 0, kLen = 0;
  int64_t qStart = 0, kStart = 0;
};

/// Everything about a pair but its key. `q` is the absolute position (C3).
struct RowPosition {
  int64_t b = 0, h = 0, g = 0, i = 0, q = 0;
  Sequence sequence;
};

/// A read outside its tensor, or an integer division by zero, that a real pair
/// reached. `k` is -1 in a rule that does not see keys (sink).
struct Fault {
  enum Kind { OutOfRange, DivisionByZero };
  Kind kind = OutOfRange;
  std::string tensor;
  std::vector<int64_t> index, extents; ///< OutOfRange only, per dimension
  int64_t b = 0, h = 0, q = 0, k = 0;
  unsigned line = 0, column = 0; ///< in the spec's text; 0 = unknown
  std::string message() const;
};

/// Order by (b, h, q, k): "the first" fault is the same for any thread count.
bool operator<(const Fault &a, const Fault &b);

namespace detail {
struct RuleProgram;
}

/// An immutable compiled rule; shared between threads. The bound tensors' data
/// must outlive it.
class Rule {
public:
  /// Throws std::runtime_error when a name is not declared or not bound, or
  /// when a bound tensor has another type or rank than declared.
  Rule(const ExprPtr &expr, const Problem &problem, const Bindings &bindings);
  ~Rule();
  Rule(Rule &&) noexcept;
  Rule &operator=(Rule &&) noexcept;
  ExprType type() const;

private:
  friend class RuleRunner;
  std::shared_ptr<const detail::RuleProgram> program;
};

/// Runs a rule; one per thread.
class RuleRunner {
public:
  explicit RuleRunner(const Rule &rule);
  ~RuleRunner();
  RuleRunner(RuleRunner &&) noexcept;

  /// For keys firstKey .. firstKey + count - 1 of a row. `s` (count scaled
  /// logits, may be null) is what Index S reads; `active` (count bytes, may be
  /// null: all) are the keys that are evaluated: the others meet no fault and
  /// their results are unspecified.
  void evaluateFloat(const RowPosition &row, int64_t firstKey, int64_t count,
                     const double *s, const uint8_t *active, double *out);
  void evaluateBool(const RowPosition &row, int64_t firstKey, int64_t count,
                    const uint8_t *active, uint8_t *out);
  /// One pair (k = -1 for a sink rule), of whatever type the rule has, as a
  /// double.
  double evaluateAt(const RowPosition &row, int64_t k, double s = 0);

  /// The first fault of each kind so far.
  const std::optional<Fault> &outOfRange() const;
  const std::optional<Fault> &divisionByZero() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace attn

#endif // ATTN_REFERENCE_EVALUATE_H
