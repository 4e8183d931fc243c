//===- AttnOps.td - Operations of the attn dialect ---------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constraints are numbered A1, A2, ...; the verifiers and test/Dialect/Attn/
// invalid.mlir carry the same numbers. A1 and A2 are in AttnAttrs.td.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNOPS_TD

include "attn/Dialect/Attn/IR/AttnAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

def Attn_KernelOp : Attn_Op<"kernel", [
    IsolatedFromAbove, NoTerminator, SingleBlock, Symbol, SymbolTable,
    NoRegionArguments]> {
  let summary = "One attention problem";
  let description = [{
    Static facts as attributes; run-time scalars (`attn.param`), auxiliary
    tensors (`attn.tensor`) and rules as ops inside.

    | attribute | meaning | when absent |
    | --- | --- | --- |
    | dtype | type of Q, K, V: bf16, f16 or f8E4M3FN | required |
    | kv_dtype | stored type of K and V | dtype |
    | out | type of O: bf16, f16 or f32 | required |
    | heads, kv_heads | query heads, key/value heads | required |
    | head_dim_qk, head_dim_v | elements of a row of Q and K, of V and O | required |
    | scale | factor of q . k: an f64 or the name of a param | 1 / sqrt(head_dim_qk) |
    | align | which q a query row has | required |
    | batch, kv, split | layout of sequences, of K and V, of the work | dense, contiguous, none |
    | outputs_o, outputs_lse | what is stored | not stored |
    | schedule | how it is scheduled | auto |

    Constraints:
    - (A3) dtype, kv_dtype and out are among the types of the table.
    - (A4) heads and kv_heads are positive and heads is a multiple of kv_heads.
    - (A5) head dimensions are positive multiples of 8.
    - (A6) scale is finite and greater than 0, or names an f32 param.
    - (A7) at least one output is stored.
    - (A8) the body holds only attn.param, attn.tensor and rules, and at most
      one of each rule.

    Example:

    ```mlir
    attn.kernel @causal attributes {
        dtype = bf16, out = bf16, heads = 16 : i64, kv_heads = 4 : i64,
        head_dim_qk = 128 : i64, head_dim_v = 128 : i64,
        align = #attn.align<bottom_right>, outputs_o, outputs_lse} {
      attn.mask {
      ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
        %0 = arith.cmpi sle, %k, %q : i32
        attn.yield %0 : i1
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttr:$dtype,
    OptionalAttr<TypeAttr>:$kv_dtype,
    TypeAttr:$out,
    I64Attr:$heads,
    I64Attr:$kv_heads,
    I64Attr:$head_dim_qk,
    I64Attr:$head_dim_v,
    OptionalAttr<AnyAttrOf<[F64Attr, FlatSymbolRefAttr],
                           "an f64 or the name of a param">>:$scale,
    Attn_AlignAttr:$align,
    DefaultValuedAttr<Attn_BatchAttr, "::attn::ir::Batch::Dense">:$batch,
    OptionalAttr<Attn_KvAttr>:$kv,
    OptionalAttr<Attn_SplitAttr>:$split,
    UnitAttr:$outputs_o,
    UnitAttr:$outputs_lse,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The rules; null when the kernel has none of that kind.
    MaskOp getMask();
    ScoreOp getScore();
    SinkOp getSink();
    BoundsOp getBounds();
    FactorOp getFactor();
    RampOp getRamp();

    /// Stored type of K and V.
    ::mlir::Type getKvType() { return getKvDtype().value_or(getDtype()); }
    Kv getKvKind() { return getKv() ? getKv()->getKind() : Kv::Contiguous; }
    Split getSplitKind() {
      return getSplit() ? getSplit()->getKind() : Split::None;
    }
    /// Query heads per kv head.
    int64_t getGroupSize() { return getHeads() / getKvHeads(); }
    /// The factor of q . k where it is known now, 1 / sqrt(d) by default.
    std::optional<double> getStaticScale();
    /// The param that holds the factor; null when it is static.
    ::mlir::FlatSymbolRefAttr getScaleParam();
    /// Where the specification wrote a field; the kernel's own place if unknown.
    ::mlir::Location getFieldLoc(::llvm::StringRef field);
  }];
}

//===----------------------------------------------------------------------===//
// Run-time values
//===----------------------------------------------------------------------===//

def Attn_ParamOp : Attn_Op<"param", [Symbol, HasParent<"KernelOp">]> {
  let summary = "A scalar bound at launch";
  let description = [{
    Constraint:
    - (A9) the type is i1, i32, i64 or f32, and the default has it.

    Example:

    ```mlir
    attn.param @left : i32 = 4095 : i32
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
                       TypedAttrInterface:$default_value);
  let assemblyFormat = [{
    $sym_name `:` $type `=` $default_value attr-dict
  }];
  let hasVerifier = 1;
}

def Attn_TensorOp : Attn_Op<"tensor", [Symbol, HasParent<"KernelOp">]> {
  let summary = "An auxiliary tensor bound at launch";
  let description = [{
    Row-major and contiguous. Element types are the storage types i8, ui8, i32,
    i64, i1 (one byte each), f16, bf16 and f32. `monotone` promises values that
    do not decrease along the last dimension.

    Constraints:
    - (A10) the element type is one of these.
    - (A11) there is at least one dimension, and literal ones are positive.

    Example:

    ```mlir
    attn.tensor @slope : f32 [heads]
    attn.tensor @doc : i32 [batch, k_len] monotone
    attn.tensor @bias : bf16 [heads, 32]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$element_type,
                       TypedArrayAttrBase<Attn_DimAttr, "dimensions">:$dims,
                       UnitAttr:$monotone);
  let assemblyFormat = [{
    $sym_name `:` $element_type custom<Dims>($dims) (`monotone` $monotone^)?
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    DimAttr getDim(unsigned index) {
      return ::llvm::cast<DimAttr>(getDims()[index]);
    }
    /// The type that attn.read gives for an element type: integers widen to i32
    /// (i64 stays), floats to f32. Null for a type no tensor has.
    static ::mlir::Type getReadType(::mlir::Type elementType);
  }];
}

def Attn_GetParamOp : Attn_Op<"get_param", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a param";
  let description = [{
    Constraint:
    - (A12) the name is a param of the kernel, and the type is its type.

    Example:

    ```mlir
    attn.param @left : i32 = 4095 : i32
    attn.mask {
    ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
      %left = attn.get_param @left : i32
      %0 = arith.cmpi slt, %k, %left : i32
      attn.yield %0 : i1
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs AnyTypeOf<[I1, I32, I64, F32]>:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

def Attn_ReadOp : Attn_Op<"read", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "An element of an auxiliary tensor, indices clamped";
  let description = [{
    Every index is clamped to its dimension, so a read never faults; the result
    is widened to i32, i64 or f32 (i1 for bool). An index is i32 unless its type
    is written behind it.

    Constraint:
    - (A13) the name is a tensor of the kernel with as many dimensions as there
      are indices, and the result type is the widened element type.

    Example:

    ```mlir
    attn.tensor @slope : f32 [heads]
    attn.tensor @bias : bf16 [heads, 32]
    attn.sink {
    ^bb0(%b: i32, %h: i32, %g: i32):
      %far = arith.constant 5000000000 : i64
      %0 = attn.read @slope[%h] : f32
      %1 = attn.read @bias[%h, %far : i64] : f32
      %2 = arith.addf %0, %1 : f32
      attn.yield %2 : f32
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$tensor,
                       Variadic<AnyTypeOf<[I32, I64]>>:$indices);
  let results = (outs AnyTypeOf<[I1, I32, I64, F32]>:$result);
  let assemblyFormat = [{
    $tensor `[` custom<Indices>($indices, type($indices)) `]` attr-dict
    `:` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

class Attn_Rule<string mnemonic> : Attn_Op<mnemonic, [
    IsolatedFromAbove, SingleBlock, HasParent<"KernelOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface,
                              ["getAsmBlockArgumentNames"]>]> {
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  // (A14) the block arguments and yielded types are those of the rule.
  // (A15) the body is scalar code without side effects or regions.
  let hasRegionVerifier = 1;
  code ruleDeclaration = [{
    /// Names of the block arguments, in order; `s` is f32, the others i32.
    static ::llvm::ArrayRef<::llvm::StringLiteral> argumentNames();
    /// The argument of this name, which must be one of argumentNames().
    ::mlir::BlockArgument getArgument(::llvm::StringRef name);
    YieldOp getYield();
  }];
  let extraClassDeclaration = ruleDeclaration;
}

def Attn_MaskOp : Attn_Rule<"mask"> {
  let summary = "Which keys a query row sees";
  let description = [{
    Evaluated for positions i < q_len and k < k_len; a pair whose value is false
    has weight exactly 0. b, h, g are batch entry, query head and kv head; i the
    row inside the query block; q and k absolute positions.

    Constraints:
    - (A14) block arguments b, h, g, i, q, k, q_len, k_len, all i32; yields one
      i1.
    - (A15) only ops without side effects and regions.

    Example:

    ```mlir
    attn.mask {
    ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      attn.yield %0 : i1
    }
    ```
  }];
}

def Attn_ScoreOp : Attn_Rule<"score"> {
  let summary = "The logit of a pair";
  let description = [{
    Maps the logit s to the new one. s is scale * (q . k), or q . k itself when
    the op has the unit attribute `raw`: then the scale is in the region.

    Constraints:
    - (A14) block arguments s : f32, then b, h, g, i, q, k, q_len, k_len, all
      i32; yields one f32.
    - (A15) only ops without side effects and regions.

    Example:

    ```mlir
    attn.score {
    ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
      %cap = arith.constant 30.0 : f32
      %0 = arith.divf %s, %cap : f32
      %1 = math.tanh %0 : f32
      %2 = arith.mulf %1, %cap : f32
      attn.yield %2 : f32
    }
    ```
  }];
  let arguments = (ins UnitAttr:$raw);
  let assemblyFormat = "(`raw` $raw^)? attr-dict-with-keyword $body";
}

def Attn_SinkOp : Attn_Rule<"sink"> {
  let summary = "An extra logit per head, in the denominator only";
  let description = [{
    Constraints:
    - (A14) block arguments b, h, g, all i32; yields one f32.
    - (A15) only ops without side effects and regions.

    Example:

    ```mlir
    attn.tensor @sinks : f32 [heads]
    attn.sink {
    ^bb0(%b: i32, %h: i32, %g: i32):
      %0 = attn.read @sinks[%h] : f32
      attn.yield %0 : f32
    }
    ```
  }];
}

def Attn_BoundsOp : Attn_Rule<"bounds"> {
  let summary = "Which keys a range of query rows can see";
  let description = [{
    Derived from the mask by `attn-bound-keys`, for rows with positions
    q_first .. q_last (inclusive, all of them real). It yields intervals of keys
    [begin, end) as pairs of i32, none of them where begin >= end:

    - `visible` intervals; no row sees a key outside of them;
    - then hidden ones, and at last a single key: every row sees every key that
      is in none of them and left of that key.

    Intervals may overlap and touch. Every value is in [0, k_len].

    `approximate`: a condition of the mask was not understood, or intervals were
    joined, so that tiles may count as partial that are empty or full. `listed`
    (attn-list-blocks): then a kernel of its own looks at those tiles, and writes
    a list of the key tiles of each query tile; it has one for each batch entry,
    head or kv head only where the mask differs between them.

    Constraints:
    - (A14) block arguments b, h, g, q_first, q_last, q_len, k_len, all i32;
      yields i32: two for each of `visible` intervals, an odd number in all.
    - (A15) only ops without side effects and regions.
    - (A16) only approximate bounds are listed, by `batch`, and `heads` or
      `kv_heads`.

    A window of one key on each side of the diagonal; hidden are the keys left
    and right of it:

    ```mlir
    attn.bounds visible 1 {
    ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %0 = arith.subi %q_first, %one : i32
      %begin = arith.maxsi %0, %zero : i32
      %1 = arith.addi %q_last, %two : i32
      %end = arith.minsi %1, %k_len : i32
      %2 = arith.subi %q_last, %one : i32
      %left_end = arith.maxsi %2, %zero : i32
      %3 = arith.addi %q_first, %two : i32
      %right = arith.minsi %3, %k_len : i32
      attn.yield %begin, %end, %zero, %left_end, %right : i32, i32, i32, i32, i32
    }
    ```
  }];
  let arguments = (ins I64Attr:$visible, UnitAttr:$approximate,
                       OptionalAttr<TypedArrayAttrBase<Attn_DimAttr, "dimensions">>:$listed);
  let assemblyFormat = [{
    `visible` $visible (`approximate` $approximate^)? (`listed` custom<Dims>($listed)^)?
    attr-dict-with-keyword $body
  }];
}

def Attn_RampOp : Attn_Rule<"ramp"> {
  let summary = "A term of the logit that is linear in the key";
  let description = [{
    Adds `slope * (k + shift)` to what the score rule gives (to q . k without
    one). The slope is the same for all pairs of a head, the shift for all keys
    of a row: within a key tile the term is one multiply-add per logit, and what
    differs from tile to tile is added to the row's maximum.

    Constraints:
    - (A14) block arguments b, h, g, i, q, q_len, k_len, all i32; yields an f32
      (the slope, free of i and q) and an i32 (the shift).
    - (A15) only ops without side effects and regions.

    Example (ALiBi):

    ```mlir
    attn.ramp {
    ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %q_len: i32, %k_len: i32):
      %slope = attn.read @slope[%h] : f32
      %zero = arith.constant 0 : i32
      %shift = arith.subi %zero, %q : i32
      attn.yield %slope, %shift : f32, i32
    }
    ```
  }];
}

def Attn_FactorOp : Attn_Rule<"factor"> {
  let summary = "The positive multiplier of the exponent in the base-2 domain";
  let description = [{
    Added by `attn-use-exp2`: weights are exp2(factor * (x - max x)) for the
    logits x, and lse = max * factor * ln 2 + ln(sum).

    Constraints:
    - (A14) no block arguments; yields one f32.
    - (A15) only ops without side effects and regions.

    Example:

    ```mlir
    attn.factor {
      %0 = arith.constant 0.127517432 : f32
      attn.yield %0 : f32
    }
    ```
  }];
}

def Attn_YieldOp : Attn_Op<"yield", [
    Pure, ReturnLike, Terminator,
    ParentOneOf<["MaskOp", "ScoreOp", "SinkOp", "BoundsOp", "FactorOp", "RampOp"]>]> {
  let summary = "Ends a rule";
  let description = [{
    Example:

    ```mlir
    attn.factor {
      %0 = arith.constant 1.5 : f32
      attn.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict `:` type($results)";
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
