//===- AttnAttrs.td - Attributes of the attn dialect -------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD

include "attn/Dialect/Attn/IR/AttnDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Attn_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::attn::ir";
}

// An enum in angle brackets: #attn.align<bottom_right>.
class Attn_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<Attn_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

class Attn_Attr<string name, string attrMnemonic>
    : AttrDef<Attn_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Module attributes
//===----------------------------------------------------------------------===//

def Attn_Level : Attn_Enum<"Level", "How far a module was lowered", [
  I32EnumCase<"Spec", 0, "spec">,
  I32EnumCase<"Attn", 1, "attn">,
  I32EnumCase<"Tile", 2, "tile">,
  I32EnumCase<"Pipe", 3, "pipe">,
  I32EnumCase<"Warp", 4, "warp">,
  I32EnumCase<"Llvm", 5, "llvm">
]>;

def Attn_LevelAttr : Attn_EnumAttr<Attn_Level, "level"> {
  let description = [{
    The value of the module attribute `attn.level`. `spec` is a specification as
    it was imported; at `attn` its mask is normalised and every kernel has
    bounds and a factor; `tile`, `pipe` and `warp` are the dialects of these
    names; `llvm` has only upstream ops, ready for PTX.

    Example:

    ```mlir
    module attributes {attn.level = #attn.level<attn>, attn.target = "sm_80"} {
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Facts of a problem
//===----------------------------------------------------------------------===//

def Attn_Align : Attn_Enum<"Align", "Where query row 0 stands against the keys", [
  I32EnumCase<"BottomRight", 0, "bottom_right">,
  I32EnumCase<"TopLeft", 1, "top_left">
]>;

def Attn_AlignAttr : Attn_EnumAttr<Attn_Align, "align"> {
  let description = [{
    `bottom_right`: q = i + (k_len - q_len), the last query sees the last key
    under a causal mask. `top_left`: q = i.
  }];
}

def Attn_Batch : Attn_Enum<"Batch", "How the sequences of a batch are laid out", [
  I32EnumCase<"Dense", 0, "dense">,
  I32EnumCase<"Padded", 1, "padded">,
  I32EnumCase<"Varlen", 2, "varlen">
]>;

def Attn_BatchAttr : Attn_EnumAttr<Attn_Batch, "batch"> {
  let description = [{
    `dense`: every sequence has the full length. `padded`: full extents, lengths
    from launch arrays. `varlen`: packed rows behind cumulative lengths.
  }];
}

def Attn_Kv : Attn_Enum<"Kv", "How keys and values are stored", [
  I32EnumCase<"Contiguous", 0, "contiguous">,
  I32EnumCase<"Paged", 1, "paged">
]>;

def Attn_PageLayout : Attn_Enum<"PageLayout", "Order of the axes inside a page", [
  I32EnumCase<"Nhd", 0, "nhd">,
  I32EnumCase<"Hnd", 1, "hnd">,
  I32EnumCase<"Vllm", 2, "vllm">
]>;

def Attn_KvAttr : Attn_Attr<"Kv", "kv"> {
  let summary = "How keys and values are stored";
  let description = [{
    `#attn.kv<contiguous>` or `#attn.kv<paged, page = 16, layout = nhd>`, the
    page in keys.
  }];
  let parameters = (ins
    EnumParameter<Attn_Kv>:$kind,
    DefaultValuedParameter<"int64_t", "0">:$page,
    DefaultValuedParameter<"::attn::ir::PageLayout",
                           "::attn::ir::PageLayout::Nhd">:$layout);
  let assemblyFormat = "`<` $kind (`,` struct($page, $layout)^)? `>`";
  let genVerifyDecl = 1;
}

def Attn_Split : Attn_Enum<"Split", "How the keys of a row tile are split", [
  I32EnumCase<"None", 0, "none">,
  I32EnumCase<"Count", 1, "count">,
  I32EnumCase<"Auto", 2, "auto">,
  I32EnumCase<"Fixed", 3, "fixed">
]>;

def Attn_SplitAttr : Attn_Attr<"Split", "split"> {
  let summary = "How the keys of a row tile are split over work items";
  let description = [{
    `#attn.split<none>`, `#attn.split<auto>`, `#attn.split<count, value = 4>`
    pieces per row tile, or `#attn.split<fixed, value = 512>` keys per piece.
  }];
  let parameters = (ins
    EnumParameter<Attn_Split>:$kind,
    DefaultValuedParameter<"int64_t", "0">:$value);
  let assemblyFormat = "`<` $kind (`,` struct($value)^)? `>`";
  let genVerifyDecl = 1;
}

def Attn_DimKind : Attn_Enum<"DimKind", "Extent of a tensor dimension", [
  I32EnumCase<"Literal", 0, "literal">,
  I32EnumCase<"Batch", 1, "batch">,
  I32EnumCase<"Heads", 2, "heads">,
  I32EnumCase<"KvHeads", 3, "kv_heads">,
  I32EnumCase<"QLen", 4, "q_len">,
  I32EnumCase<"KLen", 5, "k_len">,
  I32EnumCase<"TotalQ", 6, "total_q">,
  I32EnumCase<"TotalK", 7, "total_k">
]>;

def Attn_DimAttr : Attn_Attr<"Dim", "dim"> {
  let summary = "A dimension of an auxiliary tensor";
  let description = [{
    `#attn.dim<k_len>` or `#attn.dim<literal, size = 32>`; written `k_len` and
    `32` inside `attn.tensor`.
  }];
  let parameters = (ins
    EnumParameter<Attn_DimKind>:$kind,
    DefaultValuedParameter<"int64_t", "0">:$size);
  let assemblyFormat = "`<` $kind (`,` struct($size)^)? `>`";
  let genVerifyDecl = 1;
}

def Attn_BlockListAttr : Attn_Attr<"BlockList", "block_list"> {
  let summary = "What a kernel lists: the key tiles of query tiles";
  let description = [{
    `#attn.block_list<[#attn.dim<batch>], rows = 128, keys = 64>`: one list for
    each tile of 128 query rows of each batch entry, of tiles of 64 keys.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$dims, "int64_t":$rows, "int64_t":$keys);
  let assemblyFormat = "`<` $dims `,` struct($rows, $keys) `>`";
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

def Attn_ScheduleKind : Attn_Enum<"ScheduleKind", "Family of schedules", [
  I32EnumCase<"Auto", 0, "auto">,
  I32EnumCase<"Fa2", 1, "fa2">,
  I32EnumCase<"Fa3", 2, "fa3">,
  I32EnumCase<"Decode", 3, "decode">,
  I32EnumCase<"Fa1", 4, "fa1">,
  I32EnumCase<"Standard", 5, "standard">
]>;

def Attn_MaxMode : Attn_Enum<"MaxMode", "When the running maximum is updated", [
  I32EnumCase<"Exact", 0, "exact">,
  I32EnumCase<"Lazy", 1, "lazy">,
  I32EnumCase<"Stale", 2, "stale">
]>;

def Attn_MmaKind : Attn_Enum<"MmaKind", "Instruction that multiplies tiles", [
  I32EnumCase<"Sync", 0, "sync">,
  I32EnumCase<"Wgmma", 1, "wgmma">
]>;

def Attn_Loader : Attn_Enum<"Loader", "What moves tiles into shared memory", [
  I32EnumCase<"CpAsync", 0, "cp_async">,
  I32EnumCase<"Tma", 1, "tma">
]>;

def Attn_Store : Attn_Enum<"Store", "What moves the output to memory", [
  I32EnumCase<"Direct", 0, "direct">,
  I32EnumCase<"Tma", 1, "tma">
]>;

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "How a kernel is scheduled";
  let description = [{
    A kind and independent knobs. A knob that is not written is open: the tile
    table decides it in `attn-select-schedule`. After that pass the kind is not
    `auto`, and tile, warps and stages are present.

    - `tile = MxN`: query rows and keys of a tile.
    - `warps`: warps that compute, of 32 threads.
    - `stages`: slots of the ring of K and of the ring of V.
    - `consumers`: warpgroups (four warps) that compute, where the mma is wgmma.
    - `overlap`: by how many tiles S = QK runs ahead of O += PV: 0 or 1.
    - `turns`: consumers issue their products one after the other (ping-pong).
    - `persistent`: as many blocks as the GPU holds, each of many work items.
    - `max`: which maximum weights are relative to. exact: that of all keys up to
      their tile; lazy: a former one, until a weight would be too large; stale:
      the same, and the test is beside the weights, not before them.
    - `mma` (unset: sync), `loader` (unset: cp_async).
    - `producer`: a role of its own loads tiles (unset: the compute role does).
    - `store`: what moves the output to memory. direct (also where unset): the
      threads, 16 bytes at a time; tma: tensor copies, out of shared memory.

    Constraints:
    - (A1) every number is positive, except `overlap`, which may be 0.
    - (A2) `tile`'s M is a multiple of 16 and its N a multiple of 8, the tile of
      one `mma`.

    Example:

    ```mlir
    module attributes {x.y = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
    }
    ```
  }];
  let parameters = (ins
    EnumParameter<Attn_ScheduleKind>:$kind,
    OptionalParameter<"std::optional<int64_t>">:$tileM,
    OptionalParameter<"std::optional<int64_t>">:$tileN,
    OptionalParameter<"std::optional<int64_t>">:$warps,
    OptionalParameter<"std::optional<int64_t>">:$stages,
    OptionalParameter<"std::optional<int64_t>">:$consumers,
    OptionalParameter<"std::optional<int64_t>">:$overlap,
    OptionalParameter<"std::optional<bool>">:$turns,
    OptionalParameter<"std::optional<bool>">:$persistent,
    OptionalParameter<"std::optional<::attn::ir::MaxMode>">:$max,
    OptionalParameter<"std::optional<::attn::ir::MmaKind>">:$mma,
    OptionalParameter<"std::optional<::attn::ir::Loader>">:$loader,
    OptionalParameter<"std::optional<bool>">:$producer,
    OptionalParameter<"std::optional<::attn::ir::Store>">:$store);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True when nothing that the lowering needs is open.
    bool isSelected() const {
      return getKind() != ScheduleKind::Auto && getTileM() && getTileN() &&
             getWarps() && getStages();
    }
    bool usesWgmma() const { return getMma() == MmaKind::Wgmma; }
    bool usesTma() const { return getLoader() == Loader::Tma; }
    bool storesByTma() const { return getStore() == Store::Tma; }
    bool hasProducer() const { return getProducer().value_or(false); }
    /// Warps of the producer: a warpgroup, the unit that can give registers
    /// away; 0 without one.
    int64_t getProducerWarps() const { return hasProducer() ? 4 : 0; }
  }];
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNATTRS_TD
