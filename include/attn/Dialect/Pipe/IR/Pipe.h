//===- Pipe.h - The pipe dialect --------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PIPE_IR_PIPE_H
#define ATTN_DIALECT_PIPE_IR_PIPE_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "attn/Dialect/Pipe/IR/PipeDialect.h.inc"
#include "attn/Dialect/Pipe/IR/PipeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/Pipe/IR/PipeOps.h.inc"

#endif // ATTN_DIALECT_PIPE_IR_PIPE_H
