//===- ProblemJson.cpp - A problem in a manifest ----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExprJson.h"
#include "JsonFields.h"
#include "Spelling.h"
#include "attn/Reference/Problem.h"

#include <tuple>

using nlohmann::json;

namespace attn {
namespace {

using detail::valueOf;
using detail::Word;
using detail::wordOf;

constexpr DType allTypes[] = {DType::BF16, DType::F16, DType::F32, DType::E4M3,
                              DType::E5M2, DType::I8,  DType::U8,  DType::I32,
                              DType::I64,  DType::Bool};
constexpr Word<Alignment> alignmentWords[] = {
    {Alignment::BottomRight, "bottom_right"}, {Alignment::TopLeft, "top_left"}};
constexpr Word<BatchKind> batchWords[] = {{BatchKind::Dense, "dense"},
                                          {BatchKind::Padded, "padded"},
                                          {BatchKind::Varlen, "varlen"}};
constexpr Word<KvKind> kvWords[] = {{KvKind::Contiguous, "contiguous"},
                                    {KvKind::Paged, "paged"}};
constexpr Word<PageLayout> pageWords[] = {{PageLayout::Nhd, "nhd"},
                                          {PageLayout::Hnd, "hnd"},
                                          {PageLayout::Vllm, "vllm"}};
constexpr Word<SplitKind> splitWords[] = {{SplitKind::None, "none"},
                                          {SplitKind::Count, "count"},
                                          {SplitKind::Auto, "auto"},
                                          {SplitKind::Fixed, "fixed"}};
constexpr Word<ScheduleKind> scheduleWords[] = {
    {ScheduleKind::Auto, "auto"}, {ScheduleKind::Fa2, "fa2"},
    {ScheduleKind::Fa3, "fa3"},   {ScheduleKind::Decode, "decode"},
    {ScheduleKind::Fa1, "fa1"},   {ScheduleKind::Standard, "standard"}};
constexpr Word<MaxMode> maxWords[] = {{MaxMode::Exact, "exact"},
                                      {MaxMode::Lazy, "lazy"},
                                      {MaxMode::Stale, "stale"}};
constexpr Word<MmaKind> mmaWords[] = {{MmaKind::Sync, "sync"},
                                      {MmaKind::Wgmma, "wgmma"}};
constexpr Word<LoaderKind> loaderWords[] = {{LoaderKind::CpAsync, "cp_async"},
                                            {LoaderKind::Tma, "tma"}};
constexpr Word<StoreKind> storeWords[] = {{StoreKind::Direct, "direct"},
                                          {StoreKind::Tma, "tma"}};
constexpr Word<DimKind> dimWords[] = {
    {DimKind::Batch, "batch"},      {DimKind::Heads, "heads"},
    {DimKind::KvHeads, "kv_heads"}, {DimKind::QLen, "q_len"},
    {DimKind::KLen, "k_len"},       {DimKind::TotalQ, "total_q"},
    {DimKind::TotalK, "total_k"}};

DType typeFromJson(const json &in, const std::string &what) {
  auto word = detail::valueAs<std::string>(in, what);
  for (DType type : allTypes)
    if (word == spelling(type))
      return type;
  throw std::runtime_error(what + ": unknown element type '" + word + "'");
}

template <typename Enum, size_t N>
Enum enumFromJson(const json &in, const char *field,
                  const Word<Enum> (&table)[N]) {
  return valueOf(table, detail::fieldOf<std::string>(in, field), field);
}

template <typename T> json optionalToJson(const std::optional<T> &value) {
  return value ? json(*value) : json(nullptr);
}

template <typename T>
std::optional<T> optionalFromJson(const json &in, const char *field) {
  const json &value = detail::member(in, field);
  return value.is_null() ? std::nullopt
                         : std::optional<T>(detail::valueAs<T>(value, field));
}

template <typename Enum, size_t N>
json optionalToJson(const std::optional<Enum> &value,
                    const Word<Enum> (&table)[N]) {
  return value ? json(wordOf(table, *value)) : json(nullptr);
}

template <typename Enum, size_t N>
std::optional<Enum> optionalFromJson(const json &in, const char *field,
                                     const Word<Enum> (&table)[N]) {
  if (detail::member(in, field).is_null())
    return std::nullopt;
  return enumFromJson(in, field, table);
}

json scheduleToJson(const Schedule &schedule) {
  return {{"kind", wordOf(scheduleWords, schedule.kind)},
          {"tile_m", optionalToJson(schedule.tileM)},
          {"tile_n", optionalToJson(schedule.tileN)},
          {"stages", optionalToJson(schedule.stages)},
          {"consumers", optionalToJson(schedule.consumers)},
          {"overlap", optionalToJson(schedule.overlap)},
          {"turns", optionalToJson(schedule.turns)},
          {"persistent", optionalToJson(schedule.persistent)},
          {"producer", optionalToJson(schedule.producer)},
          {"max", optionalToJson(schedule.max, maxWords)},
          {"mma", optionalToJson(schedule.mma, mmaWords)},
          {"loader", optionalToJson(schedule.loader, loaderWords)},
          {"store", optionalToJson(schedule.store, storeWords)}};
}

Schedule scheduleFromJson(const json &in) {
  Schedule schedule;
  schedule.kind = enumFromJson(in, "kind", scheduleWords);
  schedule.tileM = optionalFromJson<int64_t>(in, "tile_m");
  schedule.tileN = optionalFromJson<int64_t>(in, "tile_n");
  schedule.stages = optionalFromJson<int64_t>(in, "stages");
  schedule.consumers = optionalFromJson<int64_t>(in, "consumers");
  schedule.overlap = optionalFromJson<int64_t>(in, "overlap");
  schedule.turns = optionalFromJson<bool>(in, "turns");
  schedule.persistent = optionalFromJson<bool>(in, "persistent");
  schedule.producer = optionalFromJson<bool>(in, "producer");
  schedule.max = optionalFromJson(in, "max", maxWords);
  schedule.mma = optionalFromJson(in, "mma", mmaWords);
  schedule.loader = optionalFromJson(in, "loader", loaderWords);
  schedule.store = optionalFromJson(in, "store", storeWords);
  return schedule;
}

json paramToJson(const Param &param) {
  json out = {{"name", param.name},
              {"type", spelling(param.type)},
              {"at", {param.line, param.column}}};
  if (param.type == DType::F32)
    out["default"] = detail::numberToJson(param.floatDefault);
  else
    out["default"] = param.intDefault;
  return out;
}

Param paramFromJson(const json &in) {
  Param param;
  param.name = detail::fieldOf<std::string>(in, "name");
  param.type = typeFromJson(detail::member(in, "type"), "param " + param.name);
  switch (param.type) {
  case DType::F32:
    param.floatDefault = detail::numberFromJson(detail::member(in, "default"));
    break;
  case DType::I32:
  case DType::I64:
  case DType::Bool:
    param.intDefault = detail::fieldOf<int64_t>(in, "default");
    break;
  default:
    throw std::runtime_error("param " + param.name +
                             ": expected type i32, i64, f32 or bool, found " +
                             spelling(param.type));
  }
  std::tie(param.line, param.column) =
      detail::placeOf(detail::member(in, "at"));
  return param;
}

json tensorToJson(const Tensor &tensor) {
  json dims = json::array();
  for (const Dim &dim : tensor.dims)
    dims.push_back(dim.kind == DimKind::Literal
                       ? json(dim.literal)
                       : json(wordOf(dimWords, dim.kind)));
  return {{"name", tensor.name},
          {"type", spelling(tensor.type)},
          {"dims", std::move(dims)},
          {"monotone", tensor.monotone},
          {"at", {tensor.line, tensor.column}}};
}

Tensor tensorFromJson(const json &in) {
  Tensor tensor;
  tensor.name = detail::fieldOf<std::string>(in, "name");
  tensor.type =
      typeFromJson(detail::member(in, "type"), "tensor " + tensor.name);
  for (const json &dim : detail::listOf(in, "dims")) {
    if (dim.is_number_integer())
      tensor.dims.push_back(
          {DimKind::Literal, detail::valueAs<int64_t>(dim, tensor.name)});
    else
      tensor.dims.push_back(
          {valueOf(dimWords, detail::valueAs<std::string>(dim, tensor.name),
                   "tensor " + tensor.name + ".dims"),
           0});
  }
  tensor.monotone = detail::fieldOf<bool>(in, "monotone");
  std::tie(tensor.line, tensor.column) =
      detail::placeOf(detail::member(in, "at"));
  return tensor;
}

void fieldsFromJson(const json &in, Problem &problem) {
  problem.name = detail::fieldOf<std::string>(in, "name");
  problem.dtype = typeFromJson(detail::member(in, "dtype"), "dtype");
  problem.kvDtype = typeFromJson(detail::member(in, "kv_dtype"), "kv_dtype");
  problem.out = typeFromJson(detail::member(in, "out"), "out");
  problem.heads = detail::fieldOf<int64_t>(in, "heads");
  problem.kvHeads = detail::fieldOf<int64_t>(in, "kv_heads");
  problem.headDimQK = detail::fieldOf<int64_t>(in, "head_dim_qk");
  problem.headDimV = detail::fieldOf<int64_t>(in, "head_dim_v");
  problem.scale = optionalFromJson<double>(in, "scale");
  problem.scaleParam = detail::fieldOf<std::string>(in, "scale_param");
  problem.align = enumFromJson(in, "align", alignmentWords);
  problem.batch = enumFromJson(in, "batch", batchWords);
  problem.kv = enumFromJson(in, "kv", kvWords);
  problem.pageSize = detail::fieldOf<int64_t>(in, "page_size");
  problem.pageLayout = enumFromJson(in, "page_layout", pageWords);
  problem.split = enumFromJson(in, "split", splitWords);
  problem.splitValue = detail::fieldOf<int64_t>(in, "split_value");
  problem.outputO = detail::fieldOf<bool>(in, "output_o");
  problem.outputLse = detail::fieldOf<bool>(in, "output_lse");
  problem.schedule = scheduleFromJson(detail::member(in, "schedule"));
}

ExprPtr ruleFromJson(const json &in, const char *rule, ExprType type) {
  ExprPtr expr = detail::exprFromJson(detail::member(in, rule), rule);
  if (expr && expr->type != type)
    throw std::runtime_error(std::string(rule) + ": the rule has another type");
  return expr;
}

/// What the evaluator and the oracle divide by or index with.
void checkExtents(const Problem &problem) {
  if (problem.kvHeads < 1 || problem.heads < 1 ||
      problem.heads % problem.kvHeads != 0)
    throw std::runtime_error(
        "heads: expected a positive multiple of kv_heads, found " +
        std::to_string(problem.heads) + " / " +
        std::to_string(problem.kvHeads));
  if (problem.headDimQK < 1 || problem.headDimV < 1)
    throw std::runtime_error("head_dim: expected positive dims, found " +
                             std::to_string(problem.headDimQK) + " / " +
                             std::to_string(problem.headDimV));
}

} // namespace

std::string toJson(const Problem &problem) {
  json params = json::array(), tensors = json::array();
  for (const Param &param : problem.params)
    params.push_back(paramToJson(param));
  for (const Tensor &tensor : problem.tensors)
    tensors.push_back(tensorToJson(tensor));
  json locations = json::object();
  for (const auto &[field, at] : problem.locations)
    locations[field] = {at.first, at.second};
  json out = {{"name", problem.name},
              {"dtype", spelling(problem.dtype)},
              {"kv_dtype", spelling(problem.kvDtype)},
              {"out", spelling(problem.out)},
              {"heads", problem.heads},
              {"kv_heads", problem.kvHeads},
              {"head_dim_qk", problem.headDimQK},
              {"head_dim_v", problem.headDimV},
              {"scale", optionalToJson(problem.scale)},
              {"scale_param", problem.scaleParam},
              {"align", wordOf(alignmentWords, problem.align)},
              {"batch", wordOf(batchWords, problem.batch)},
              {"kv", wordOf(kvWords, problem.kv)},
              {"page_size", problem.pageSize},
              {"page_layout", wordOf(pageWords, problem.pageLayout)},
              {"split", wordOf(splitWords, problem.split)},
              {"split_value", problem.splitValue},
              {"output_o", problem.outputO},
              {"output_lse", problem.outputLse},
              {"schedule", scheduleToJson(problem.schedule)},
              {"params", std::move(params)},
              {"tensors", std::move(tensors)},
              {"mask", detail::exprToJson(problem.mask)},
              {"score", detail::exprToJson(problem.score)},
              {"sink", detail::exprToJson(problem.sink)},
              {"locations", std::move(locations)},
              {"file", problem.file},
              {"text", problem.text}};
  // Bytes of the spec text that are not UTF-8 are replaced, not fatal.
  return out.dump(1, ' ', false, json::error_handler_t::replace);
}

Problem problemFromJson(const std::string &text) {
  try {
    json in = json::parse(text);
    Problem problem;
    fieldsFromJson(in, problem);
    checkExtents(problem);
    for (const json &param : detail::listOf(in, "params"))
      problem.params.push_back(paramFromJson(param));
    for (const json &tensor : detail::listOf(in, "tensors"))
      problem.tensors.push_back(tensorFromJson(tensor));
    problem.mask = ruleFromJson(in, "mask", ExprType::Bool);
    problem.score = ruleFromJson(in, "score", ExprType::Float);
    problem.sink = ruleFromJson(in, "sink", ExprType::Float);
    for (const auto &[field, at] : detail::member(in, "locations").items())
      problem.locations[field] = detail::placeOf(at);
    problem.file = detail::fieldOf<std::string>(in, "file");
    problem.text = detail::fieldOf<std::string>(in, "text");
    return problem;
  } catch (const std::exception &error) {
    throw std::runtime_error(std::string("malformed problem: ") + error.what());
  }
}

} // namespace attn
