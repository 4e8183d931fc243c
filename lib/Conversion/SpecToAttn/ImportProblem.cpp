//===- ImportProblem.cpp - From a checked specification to the IR ---------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleBuilder.h"

#include "attn/Conversion/SpecToAttn/SpecToAttn.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace attn;

namespace {
/// Builds the module of one problem.
class Importer {
public:
  Importer(MLIRContext *context, const Problem &problem)
      : problem(problem), builder(context) {}

  OwningOpRef<ModuleOp> run(StringRef target);

private:
  ir::KernelOp importKernel();
  void importParam(const Param &param);
  void importTensor(const Tensor &tensor);
  template <typename RuleOp> void importRule(const Expr &expr);
  Interval rangeOf(IndexVar variable) const;

  Location kernelLocation();
  ir::ScheduleAttr scheduleAttr();
  ir::KvAttr kvAttr();
  ir::SplitAttr splitAttr();
  Attribute scaleAttr();

  const Problem &problem;
  OpBuilder builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Enums of the plain library to those of the dialect
//===----------------------------------------------------------------------===//

static ir::Align convert(Alignment align) {
  switch (align) {
  case Alignment::BottomRight:
    return ir::Align::BottomRight;
  case Alignment::TopLeft:
    return ir::Align::TopLeft;
  }
  llvm_unreachable("all alignments are handled");
}

static ir::Batch convert(BatchKind batch) {
  switch (batch) {
  case BatchKind::Dense:
    return ir::Batch::Dense;
  case BatchKind::Padded:
    return ir::Batch::Padded;
  case BatchKind::Varlen:
    return ir::Batch::Varlen;
  }
  llvm_unreachable("all batch kinds are handled");
}

static ir::PageLayout convert(PageLayout layout) {
  switch (layout) {
  case PageLayout::Nhd:
    return ir::PageLayout::Nhd;
  case PageLayout::Hnd:
    return ir::PageLayout::Hnd;
  case PageLayout::Vllm:
    return ir::PageLayout::Vllm;
  }
  llvm_unreachable("all page layouts are handled");
}

static ir::Split convert(SplitKind split) {
  switch (split) {
  case SplitKind::None:
    return ir::Split::None;
  case SplitKind::Count:
    return ir::Split::Count;
  case SplitKind::Auto:
    return ir::Split::Auto;
  case SplitKind::Fixed:
    return ir::Split::Fixed;
  }
  llvm_unreachable("all splits are handled");
}

static ir::ScheduleKind convert(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::Auto:
    return ir::ScheduleKind::Auto;
  case ScheduleKind::Fa2:
    return ir::ScheduleKind::Fa2;
  case ScheduleKind::Fa3:
    return ir::ScheduleKind::Fa3;
  case ScheduleKind::Decode:
    return ir::ScheduleKind::Decode;
  case ScheduleKind::Fa1:
    return ir::ScheduleKind::Fa1;
  case ScheduleKind::Standard:
    return ir::ScheduleKind::Standard;
  }
  llvm_unreachable("all schedules are handled");
}

static ir::MaxMode convert(MaxMode mode) {
  switch (mode) {
  case MaxMode::Exact:
    return ir::MaxMode::Exact;
  case MaxMode::Lazy:
    return ir::MaxMode::Lazy;
  case MaxMode::Stale:
    return ir::MaxMode::Stale;
  }
  llvm_unreachable("all max modes are handled");
}

static ir::MmaKind convert(MmaKind kind) {
  return kind == MmaKind::Wgmma ? ir::MmaKind::Wgmma : ir::MmaKind::Sync;
}

static ir::Loader convert(LoaderKind kind) {
  return kind == LoaderKind::Tma ? ir::Loader::Tma : ir::Loader::CpAsync;
}

static ir::Store convert(StoreKind kind) {
  return kind == StoreKind::Tma ? ir::Store::Tma : ir::Store::Direct;
}

static ir::DimKind convert(DimKind kind) {
  switch (kind) {
  case DimKind::Literal:
    return ir::DimKind::Literal;
  case DimKind::Batch:
    return ir::DimKind::Batch;
  case DimKind::Heads:
    return ir::DimKind::Heads;
  case DimKind::KvHeads:
    return ir::DimKind::KvHeads;
  case DimKind::QLen:
    return ir::DimKind::QLen;
  case DimKind::KLen:
    return ir::DimKind::KLen;
  case DimKind::TotalQ:
    return ir::DimKind::TotalQ;
  case DimKind::TotalK:
    return ir::DimKind::TotalK;
  }
  llvm_unreachable("all dimensions are handled");
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Location Importer::kernelLocation() {
  // A fused location: the kernel's own place, then each field's under its name,
  // where KernelOp::getFieldLoc finds it.
  MLIRContext *context = builder.getContext();
  SmallVector<Location> places;
  unsigned line = 0, column = 0;
  for (const auto &[field, place] : problem.locations) {
    Location loc = specLocation(context, problem, place.first, place.second);
    places.push_back(NameLoc::get(builder.getStringAttr(field), loc));
    bool isFirst = line == 0 || std::make_pair(line, column) > place;
    if (isFirst)
      std::tie(line, column) = place;
  }
  if (places.empty())
    return specLocation(context, problem, 1, 1);
  places.insert(places.begin(), specLocation(context, problem, line, column));
  return FusedLoc::get(places, Attribute(), context);
}

ir::ScheduleAttr Importer::scheduleAttr() {
  const Schedule &schedule = problem.schedule;
  std::optional<ir::MaxMode> max;
  if (schedule.max)
    max = convert(*schedule.max);
  std::optional<ir::MmaKind> mma;
  if (schedule.mma)
    mma = convert(*schedule.mma);
  std::optional<ir::Loader> loader;
  if (schedule.loader)
    loader = convert(*schedule.loader);
  std::optional<ir::Store> store;
  if (schedule.store)
    store = convert(*schedule.store);
  return ir::ScheduleAttr::get(builder.getContext(), convert(schedule.kind),
                               schedule.tileM, schedule.tileN,
                               /*warps=*/std::nullopt, schedule.stages,
                               schedule.consumers, schedule.overlap,
                               schedule.turns, schedule.persistent, max, mma,
                               loader, schedule.producer, store);
}

ir::KvAttr Importer::kvAttr() {
  if (problem.kv == KvKind::Contiguous)
    return {};
  return ir::KvAttr::get(builder.getContext(), ir::Kv::Paged, problem.pageSize,
                         convert(problem.pageLayout));
}

ir::SplitAttr Importer::splitAttr() {
  if (problem.split == SplitKind::None)
    return {};
  bool hasValue =
      problem.split == SplitKind::Count || problem.split == SplitKind::Fixed;
  return ir::SplitAttr::get(builder.getContext(), convert(problem.split),
                            hasValue ? problem.splitValue : 0);
}

Attribute Importer::scaleAttr() {
  if (!problem.scaleParam.empty())
    return FlatSymbolRefAttr::get(builder.getContext(), problem.scaleParam);
  if (problem.scale)
    return builder.getF64FloatAttr(*problem.scale);
  return {};
}

//===----------------------------------------------------------------------===//
// The kernel and what it holds
//===----------------------------------------------------------------------===//

ir::KernelOp Importer::importKernel() {
  MLIRContext *context = builder.getContext();
  TypeAttr kvType;
  if (problem.kvDtype != problem.dtype)
    kvType = TypeAttr::get(storageType(context, problem.kvDtype));
  auto unit = [&](bool isSet) {
    return isSet ? builder.getUnitAttr() : UnitAttr();
  };
  auto type = [&](DType dtype) {
    return TypeAttr::get(storageType(context, dtype));
  };
  auto kernel = ir::KernelOp::create(
      builder, kernelLocation(), builder.getStringAttr(problem.name),
      type(problem.dtype), kvType, type(problem.out),
      builder.getI64IntegerAttr(problem.heads),
      builder.getI64IntegerAttr(problem.kvHeads),
      builder.getI64IntegerAttr(problem.headDimQK),
      builder.getI64IntegerAttr(problem.headDimV), scaleAttr(),
      ir::AlignAttr::get(context, convert(problem.align)),
      ir::BatchAttr::get(context, convert(problem.batch)), kvAttr(),
      splitAttr(), unit(problem.outputO), unit(problem.outputLse),
      scheduleAttr());
  builder.setInsertionPointToStart(&kernel.getBody().emplaceBlock());
  return kernel;
}

void Importer::importParam(const Param &param) {
  MLIRContext *context = builder.getContext();
  Type type = storageType(context, param.type);
  TypedAttr value;
  if (param.type == DType::F32)
    value = FloatAttr::get(type, static_cast<float>(param.floatDefault));
  else
    value = IntegerAttr::get(type, param.intDefault);
  ir::ParamOp::create(builder,
                      specLocation(context, problem, param.line, param.column),
                      param.name, type, value);
}

void Importer::importTensor(const Tensor &tensor) {
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> dims;
  for (const Dim &dim : tensor.dims)
    dims.push_back(ir::DimAttr::get(context, convert(dim.kind),
                                    dim.kind == DimKind::Literal ? dim.literal
                                                                 : int64_t(0)));
  ir::TensorOp::create(
      builder, specLocation(context, problem, tensor.line, tensor.column),
      tensor.name, storageType(context, tensor.type),
      builder.getArrayAttr(dims), tensor.monotone);
}

Interval Importer::rangeOf(IndexVar variable) const {
  switch (variable) {
  case IndexVar::B:
    return batchRange;
  case IndexVar::H:
    return {0, problem.heads - 1};
  case IndexVar::G:
    return {0, problem.kvHeads - 1};
  case IndexVar::I:
    return rowRange;
  case IndexVar::Q:
    return problem.align == Alignment::TopLeft ? rowRange : queryRange;
  case IndexVar::K:
    return keyRange;
  case IndexVar::QLen:
  case IndexVar::KLen:
    return lengthRange;
  case IndexVar::S:
    return Interval::all();
  }
  llvm_unreachable("all index variables are handled");
}

/// The index variable behind a block argument's name.
static IndexVar variableOf(StringRef name) {
  return llvm::StringSwitch<IndexVar>(name)
      .Case("b", IndexVar::B)
      .Case("h", IndexVar::H)
      .Case("g", IndexVar::G)
      .Case("i", IndexVar::I)
      .Case("q", IndexVar::Q)
      .Case("k", IndexVar::K)
      .Case("q_len", IndexVar::QLen)
      .Case("k_len", IndexVar::KLen)
      .Case("s", IndexVar::S);
}

template <typename RuleOp> void Importer::importRule(const Expr &expr) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc =
      specLocation(builder.getContext(), problem, expr.line, expr.column);
  auto rule = RuleOp::create(builder, loc);
  Block &body = rule.getBody().emplaceBlock();
  builder.setInsertionPointToStart(&body);
  RuleBuilder ruleBuilder(builder, problem);
  for (StringRef name : RuleOp::argumentNames()) {
    IndexVar variable = variableOf(name);
    Type type = variable == IndexVar::S ? Type(builder.getF32Type())
                                        : Type(builder.getI32Type());
    ruleBuilder.bind(variable, body.addArgument(type, loc), rangeOf(variable));
  }
  Value result = ruleBuilder.emit(expr).value;
  ir::YieldOp::create(builder, loc, result);
}

OwningOpRef<ModuleOp> Importer::run(StringRef target) {
  MLIRContext *context = builder.getContext();
  context->loadDialect<ir::AttnDialect>();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(builder, specLocation(context, problem, 1, 1));
  ir::setLevel(*module, ir::Level::Spec);
  if (!target.empty())
    (*module)->setAttr(ir::targetAttrName, builder.getStringAttr(target));
  builder.setInsertionPointToStart(module->getBody());
  importKernel();
  for (const Param &param : problem.params)
    importParam(param);
  for (const Tensor &tensor : problem.tensors)
    importTensor(tensor);
  if (problem.mask)
    importRule<ir::MaskOp>(*problem.mask);
  if (problem.score)
    importRule<ir::ScoreOp>(*problem.score);
  if (problem.sink)
    importRule<ir::SinkOp>(*problem.sink);
  if (failed(verify(*module)))
    return {};
  return module;
}

OwningOpRef<ModuleOp> attn::importProblem(MLIRContext *context,
                                          const Problem &problem,
                                          StringRef target) {
  return Importer(context, problem).run(target);
}
