//===- AttnDialect.cpp - The attn dialect ---------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::ir;

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"

void AttnDialect::initialize() {
  registerAttrs();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  bool isLevel = attr.getName() == levelAttrName;
  bool isTarget = attr.getName() == targetAttrName;
  if (!isLevel && !isTarget)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError()
           << "'" << attr.getName().getValue()
           << "' is an attribute of builtin.module, found it here";
  if (isLevel && !isa<LevelAttr>(attr.getValue()))
    return op->emitOpError()
           << "'attn.level' must be an #attn.level<...>, found "
           << attr.getValue();
  auto name = dyn_cast<StringAttr>(attr.getValue());
  if (isTarget && (!name || name.getValue().empty()))
    return op->emitOpError()
           << "'attn.target' must be a string such as \"sm_80\", found "
           << attr.getValue();
  return success();
}

Level attn::ir::getLevel(ModuleOp module) {
  auto attr = module->getAttrOfType<LevelAttr>(levelAttrName);
  return attr ? attr.getValue() : Level::Spec;
}

void attn::ir::setLevel(ModuleOp module, Level level) {
  module->setAttr(levelAttrName, LevelAttr::get(module.getContext(), level));
}

StringRef attn::ir::getTarget(ModuleOp module) {
  auto attr = module->getAttrOfType<StringAttr>(targetAttrName);
  return attr ? attr.getValue() : StringRef();
}
