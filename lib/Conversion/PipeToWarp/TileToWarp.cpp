//===- TileToWarp.cpp - Arithmetic on tiles as fragments ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipeToWarp.h"
#include "attn/Dialect/Tile/IR/Tile.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace attn;

namespace {

constexpr int64_t mmaDepth = 16; // columns that one mma contracts

Value zeroF32(OpBuilder &builder, Location loc) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
}

Value minusInfinity(OpBuilder &builder, Location loc) {
  float lowest = -std::numeric_limits<float>::infinity();
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(lowest));
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

struct DotPattern : WarpPattern<tile::DotOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::DotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto accType =
        cast<warp::FragType>(typeConverter->convertType(op.getType()));
    if (op.getAsync()) {
      rewriter.replaceOp(op, issue(rewriter, op, adaptor, accType));
      return success();
    }
    Value acc = op.getInit() ? adaptor.getInit().front()
                             : warp::FillOp::create(rewriter, loc, accType,
                                                    zeroF32(rewriter, loc));
    tile::ValType lhs = op.getLhs().getType();
    int64_t depth = lhs.getSize(op.getOver());
    for (int64_t at = 0; at < depth; at += mmaDepth) {
      Value a = loadA(rewriter, loc, lhs, adaptor.getLhs(), at);
      Value b = loadB(rewriter, loc, op, adaptor.getRhs(), at);
      acc = warp::MmaOp::create(rewriter, loc, accType, acc, a, b);
    }
    rewriter.replaceOp(op, acc);
    return success();
  }

private:
  /// The whole product as one asynchronous instruction sequence.
  static Value issue(OpBuilder &builder, tile::DotOp op,
                     OneToNOpAdaptor adaptor, warp::FragType type) {
    ValueRange a = adaptor.getLhs(), b = adaptor.getRhs();
    bool transposed = op.getRhs().getType().findAxis(op.getOver()) == 0u;
    return warp::WgmmaOp::create(
        builder, op.getLoc(), type, a[0], a.size() > 1 ? a[1] : Value(), b[0],
        b[1], op.getInit() ? adaptor.getInit().front() : Value(),
        op.getLhs().getType().getSize(op.getOver()), transposed);
  }

  Value loadA(OpBuilder &builder, Location loc, tile::ValType lhs,
              ValueRange values, int64_t column) const {
    auto type =
        warp::FragType::get(lhs.getSizes()[0], mmaDepth, lhs.getElementType(),
                            warp::FragKind::A, warps);
    IntegerAttr at = builder.getI64IntegerAttr(column);
    if (!lhs.isShared())
      return warp::AsOperandOp::create(builder, loc, type, values.front(), at);
    return warp::LdmatrixOp::create(builder, loc, type, values[0], values[1],
                                    at, IntegerAttr());
  }

  /// `rhs` holds the contracted axis as columns (K) or as rows (V).
  Value loadB(OpBuilder &builder, Location loc, tile::DotOp op,
              ValueRange values, int64_t at) const {
    tile::ValType rhs = op.getRhs().getType();
    unsigned over = *rhs.findAxis(op.getOver());
    auto type =
        warp::FragType::get(rhs.getSizes()[1 - over], mmaDepth,
                            rhs.getElementType(), warp::FragKind::B, warps);
    IntegerAttr index = builder.getI64IntegerAttr(at);
    return warp::LdmatrixOp::create(builder, loc, type, values[0], values[1],
                                    over == 1 ? index : IntegerAttr(),
                                    over == 0 ? index : IntegerAttr());
  }
};

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Moves `source`'s only block to the end of `target`'s with its arguments
/// given; returns what it yielded.
Value inlineBody(ConversionPatternRewriter &rewriter, Region &source,
                 Block *target, ValueRange arguments) {
  Operation *yield = source.front().getTerminator();
  Value result = yield->getOperand(0);
  rewriter.inlineBlockBefore(&source.front(), target, target->end(), arguments);
  rewriter.eraseOp(yield);
  return result;
}

Block *createBody(ConversionPatternRewriter &rewriter, Region &region,
                  size_t elements, size_t indices, Location loc) {
  SmallVector<Type> types(elements, rewriter.getF32Type());
  types.append(indices, rewriter.getI32Type());
  SmallVector<Location> locs(types.size(), loc);
  return rewriter.createBlock(&region, {}, types, locs);
}

struct MapPattern : WarpPattern<tile::MapOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // The row of an element is its index along the result's first axis.
    StringRef rowAxis = op.getType().getAxes()[0].getValue();
    Value row, column;
    int rowArgument = -1, columnArgument = -1;
    int argument = op.getInputs().size();
    for (auto [axis, base] : llvm::zip(op.getIndexAxes(), op.getBases())) {
      bool isRow = cast<StringAttr>(axis).getValue() == rowAxis;
      (isRow ? row : column) = base;
      (isRow ? rowArgument : columnArgument) = argument++;
    }
    auto map = warp::MapOp::create(
        rewriter, op.getLoc(), typeConverter->convertType(op.getType()),
        adaptor.getInputs(), row, column, op.getInClass());
    Block *body = createBody(rewriter, map.getBody(), op.getInputs().size(),
                             op.getBases().size(), op.getLoc());
    SmallVector<Value> arguments(body->getArguments());
    if (row && column) {
      size_t first = op.getInputs().size();
      arguments[rowArgument] = body->getArgument(first);
      arguments[columnArgument] = body->getArgument(first + 1);
    }
    Value result = inlineBody(rewriter, op.getBody(), body, arguments);
    rewriter.setInsertionPointToEnd(body);
    warp::YieldOp::create(rewriter, op.getLoc(), result);
    rewriter.replaceOp(op, map);
    return success();
  }
};

struct MaskPattern : WarpPattern<tile::MaskOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::MaskOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto map = warp::MapOp::create(
        rewriter, loc, typeConverter->convertType(op.getType()),
        ValueRange{adaptor.getInput()}, op.getRowBase(), op.getKeyBase(),
        /*in_class=*/false);
    Block *body = createBody(rewriter, map.getBody(), 1, 2, loc);
    Value visible = inlineBody(rewriter, op.getBody(), body,
                               body->getArguments().drop_front(1));
    rewriter.setInsertionPointToEnd(body);
    Value result =
        arith::SelectOp::create(rewriter, loc, visible, body->getArgument(0),
                                minusInfinity(rewriter, loc));
    warp::YieldOp::create(rewriter, loc, result);
    rewriter.replaceOp(op, map);
    return success();
  }
};

struct AnyPattern : WarpPattern<tile::AnyOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::AnyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto any =
        warp::AnyOp::create(rewriter, loc, rewriter.getI1Type(),
                            ValueRange{adaptor.getInput()}, Value(), Value());
    Block *body = createBody(rewriter, any.getBody(), 1, 0, loc);
    rewriter.setInsertionPointToEnd(body);
    // Unordered, so that a NaN counts: it must reach the result.
    Value value = arith::ConstantOp::create(rewriter, loc, op.getValueAttr());
    Value differs = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::UNE, body->getArgument(0), value);
    warp::YieldOp::create(rewriter, loc, differs);
    rewriter.replaceOp(op, any);
    return success();
  }
};

struct ReducePattern : WarpPattern<tile::ReduceOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto kind = op.getCombine() == tile::Combine::Max ? warp::ReduceKind::Max
                                                      : warp::ReduceKind::Add;
    rewriter.replaceOpWithNewOp<warp::ReduceOp>(
        op, typeConverter->convertType(op.getType()), kind, adaptor.getInput());
    return success();
  }
};

struct CastPattern : WarpPattern<tile::CastOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::CastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<warp::CastOp>(
        op, typeConverter->convertType(op.getType()), adaptor.getInput());
    return success();
  }
};

struct FillPattern : WarpPattern<tile::FillOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::FillOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<warp::FillOp>(
        op, typeConverter->convertType(op.getType()), adaptor.getScalar());
    return success();
  }
};

} // namespace

void attn::populateTileToWarp(RewritePatternSet &patterns,
                              const WarpTypeConverter &converter) {
  patterns.add<DotPattern, MapPattern, MaskPattern, AnyPattern, ReducePattern,
               CastPattern, FillPattern>(converter, patterns.getContext());
}
