//===- CheckAcross.cpp - What fields and tensors ask of each other --------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckFields.h"

#include "llvm/ADT/STLExtras.h"

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::StringRef;

static bool isEightBit(DType type) {
  return type == DType::E4M3 || type == DType::E5M2;
}

/// Defaults of kv_dtype and out, and S21: a kv cache is of the same type as the
/// queries or of 8 bits.
void FieldChecker::fillTypes() {
  const Field *kvType = find("kv_dtype");
  if (!kvType)
    problem.kvDtype = problem.dtype;
  else if (find("dtype") && problem.kvDtype != problem.dtype &&
           !isEightBit(problem.kvDtype))
    diagnostics.error(kvType->first.range, "kv_dtype is the dtype (" +
                                               typeName(problem.dtype) +
                                               "), e4m3 or e5m2, found " +
                                               typeName(problem.kvDtype));
  if (!find("out"))
    problem.out = problem.dtype == DType::E4M3 ? DType::BF16 : problem.dtype;
}

/// S22: an 8-bit cache beside wider queries carries its scales; with 8-bit
/// queries they are optional.
void FieldChecker::checkKvScales() {
  if (!isEightBit(problem.kvDtype))
    return;
  for (StringRef name : {"k_scale", "v_scale"}) {
    std::string expected =
        (name + " : f32[kv_heads]' or 'f32[batch, kv_heads]").str();
    auto decl = llvm::find_if(block.tensors, [&](const TensorDecl &t) {
      return t.name.name == name;
    });
    if (decl == block.tensors.end()) {
      if (const Field *field = find("kv_dtype");
          field && problem.kvDtype != problem.dtype)
        diagnostics.error(field->first.range,
                          "kv_dtype " + typeName(problem.kvDtype) +
                              " needs 'tensor " + expected + "'");
      continue;
    }
    auto tensor = llvm::find_if(
        problem.tensors, [&](const Tensor &t) { return t.name == name; });
    if (tensor == problem.tensors.end())
      continue; // an error in it has been reported
    const std::vector<Dim> &dims = tensor->dims;
    bool ok = tensor->type == DType::F32 && !dims.empty() &&
              dims.back().kind == DimKind::KvHeads &&
              (dims.size() == 1 ||
               (dims.size() == 2 && dims.front().kind == DimKind::Batch));
    if (!ok)
      diagnostics.error(decl->name.range(),
                        "the scale of an 8-bit kv is 'tensor " + expected +
                            "'");
  }
}

/// S12: rows are packed under varlen only.
void FieldChecker::checkRaggedDims() {
  if (problem.batch == BatchKind::Varlen)
    return;
  for (const TensorDecl &tensor : block.tensors) {
    for (const Token &dim : tensor.dims) {
      std::optional<DimKind> kind = findDim(dim.text);
      if (kind == DimKind::TotalQ || kind == DimKind::TotalK)
        diagnostics.error(dim.range(),
                          "a " + dim.text + " dimension needs 'batch varlen'");
    }
  }
}
