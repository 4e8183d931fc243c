//===- ScaledQuotient.h - Multiples of a run-time divisor -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SCALEDQUOTIENT_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SCALEDQUOTIENT_H

#include "attn/Analysis/MaskAffine.h"

namespace attn {

/// C * (quotient + n) for a C of unknown sign, where the quotient is by C.
class ScaledQuotient {
public:
  ScaledQuotient(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value quotient, mlir::Value divisor, int64_t constant)
      : builder(builder), loc(loc), divisor(widen(divisor)),
        scaled(mlir::arith::MulIOp::create(builder, loc, widen(quotient),
                                           this->divisor)),
        constant(constant) {}

  /// C * (quotient + constant + n) + addend, as an i32.
  mlir::Value get(int64_t n, int64_t addend) {
    mlir::Value more = mlir::arith::MulIOp::create(builder, loc, divisor,
                                                   constantI64(constant + n));
    mlir::Value sum = mlir::arith::AddIOp::create(builder, loc, scaled, more);
    return emitSaturation(
        builder, loc,
        mlir::arith::AddIOp::create(builder, loc, sum, constantI64(addend)));
  }
  mlir::Value isDivisor(mlir::arith::CmpIPredicate predicate) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, divisor,
                                       constantI64(0));
  }

private:
  mlir::Value widen(mlir::Value value) {
    return builder.createOrFold<mlir::arith::ExtSIOp>(loc, builder.getI64Type(),
                                                      value);
  }
  mlir::Value constantI64(int64_t value) {
    return mlir::arith::ConstantIntOp::create(builder, loc,
                                              builder.getI64Type(), value);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value divisor, scaled;
  int64_t constant;
};

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SCALEDQUOTIENT_H
