//===- Problem.h - A checked attention specification -------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of parsing and checking one `attention` block: every field with
// its default filled in, and the rules as typed trees. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_PROBLEM_H
#define ATTN_REFERENCE_PROBLEM_H

#include "attn/Reference/Expr.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn {

enum class DType { BF16, F16, F32, E4M3, E5M2, I8, U8, I32, I64, Bool };
enum class Alignment { BottomRight, TopLeft };
enum class BatchKind { Dense, Padded, Varlen };
enum class KvKind { Contiguous, Paged };
enum class PageLayout { Nhd, Hnd, Vllm };
enum class SplitKind { None, Count, Auto, Fixed };
enum class ScheduleKind { Auto, Fa2, Fa3, Decode, Fa1, Standard };
enum class MaxMode { Exact, Lazy, Stale };
enum class MmaKind { Sync, Wgmma };
enum class LoaderKind { CpAsync, Tma };
enum class StoreKind { Direct, Tma };

/// `param name : type = default`: a scalar bound at launch.
struct Param {
  std::string name;
  DType type = DType::I32; ///< I32, I64, F32 or Bool
  int64_t intDefault = 0;
  double floatDefault = 0;
  unsigned line = 0, column = 0;
};

/// Extent of a tensor dimension.
enum class DimKind {
  Literal,
  Batch,
  Heads,
  KvHeads,
  QLen,
  KLen,
  TotalQ,
  TotalK
};
struct Dim {
  DimKind kind = DimKind::Literal;
  int64_t literal = 0;
};

/// `tensor name : type[dims] [monotone]`: row-major, contiguous, bound by name
/// at launch.
struct Tensor {
  std::string name;
  DType type = DType::F32;
  std::vector<Dim> dims;
  bool monotone = false;
  unsigned line = 0, column = 0;
};

/// Knobs of the schedule field; unset means the tile table decides.
struct Schedule {
  ScheduleKind kind = ScheduleKind::Auto;
  std::optional<int64_t> tileM, tileN;
  std::optional<int64_t> stages, consumers, overlap;
  std::optional<bool> turns, persistent, producer;
  std::optional<MaxMode> max;
  std::optional<MmaKind> mma;
  std::optional<LoaderKind> loader;
  std::optional<StoreKind> store;
};

/// Where each written field stands, for diagnostics: field name -> line,
/// column.
using FieldLocations = std::map<std::string, std::pair<unsigned, unsigned>>;

struct Problem {
  std::string name;
  DType dtype = DType::BF16;
  DType kvDtype = DType::BF16;
  DType out = DType::BF16;
  int64_t heads = 1, kvHeads = 1;
  int64_t headDimQK = 128, headDimV = 128;
  /// scale: exactly one of: auto (both unset), a positive number, a param name.
  std::optional<double> scale;
  std::string scaleParam;
  Alignment align = Alignment::BottomRight;
  BatchKind batch = BatchKind::Dense;
  KvKind kv = KvKind::Contiguous;
  int64_t pageSize = 0;
  PageLayout pageLayout = PageLayout::Nhd;
  SplitKind split = SplitKind::None;
  int64_t splitValue = 0; ///< pieces (Count) or tokens (Fixed)
  bool outputO = true, outputLse = true;
  Schedule schedule;
  std::vector<Param> params;
  std::vector<Tensor> tensors;
  ExprPtr mask;  ///< Bool; null: everything visible
  ExprPtr score; ///< Float; null: the logit unchanged
  ExprPtr sink;  ///< Float; null: none
  FieldLocations locations;
  std::string file; ///< the name the file was opened under
  std::string text; ///< the spec's source text

  /// The factor applied to q . k when it is known at compile time.
  std::optional<double> staticScale() const;
};

/// JSON of a problem (everything above), for a package's manifest; `fromJson`
/// throws std::runtime_error with a one-line message on malformed input.
std::string toJson(const Problem &problem);
Problem problemFromJson(const std::string &json);

/// Spelling in the language: "bf16", "e4m3", ...
const char *spelling(DType type);
/// Bytes per element.
int64_t byteSize(DType type);

} // namespace attn

#endif // ATTN_REFERENCE_PROBLEM_H
