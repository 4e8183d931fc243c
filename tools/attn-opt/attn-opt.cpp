//===- attn-opt.cpp - Driver of the compiler's passes -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  attn::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "attn compiler driver\n", registry));
}
