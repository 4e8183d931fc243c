//===- PipeOps.td - Operations of the pipe dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PIPE_IR_PIPEOPS
#define ATTN_DIALECT_PIPE_IR_PIPEOPS

include "attn/Dialect/Pipe/IR/PipeDialect.td"
include "attn/Dialect/Tile/IR/TileTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Pipe_Op<string mnemonic, list<Trait> traits = []> : Op<Pipe_Dialect, mnemonic, traits>;

def Pipe_ChannelType : TypeDef<Pipe_Dialect, "Channel"> {
  let mnemonic = "channel";
  let summary = "a ring of tiles in shared memory";
  let description = [{
    `!pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>`: two slots, each
    holding one tile. The tile with ordinal n lies in slot n modulo the depth.

    A channel that is `fed` (`!pipe.channel<..., fed>`) is filled by a role of its
    own: puts wait until a slot was released, takes until it was filled, and the
    tiles pass in the order of the puts.

    Constraint: (P1) the tile is shared and has two axes.
  }];
  let parameters = (ins "::attn::tile::ValType":$tile, DefaultValuedParameter<"bool", "false">:$fed);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getDepth() const { return getTile().getSharedSlots(); }
  }];
}

def Pipe_MailType : TypeDef<Pipe_Dialect, "Mail"> {
  let mnemonic = "mail";
  let summary = "a work item that one role passes to the others again and again";
  let description = [{
    `!pipe.mail`: the sender waits until everybody has read the last value, the
    receivers until there is a new one.
  }];
}

def Pipe_Via : I32EnumAttr<"Via", "what moves a tile into a channel", [
    I32EnumAttrCase<"CpAsync", 0, "cp_async">,
    I32EnumAttrCase<"Store", 1, "st">,
    I32EnumAttrCase<"Tma", 2, "tma">]> {
  let cppNamespace = "::attn::pipe";
}

def Pipe_AtAttr : AttrDef<Pipe_Dialect, "At"> {
  let mnemonic = "at";
  let summary = "the place of an operation in the pipelined loop";
  let description = [{
    `#pipe.at<ahead = 1, order = 5>`: runs for the tile `ahead` iterations
    later, and stands at position `order` of the rotated body.

    Constraint: (P8) neither is negative.
  }];
  let parameters = (ins "int64_t":$ahead, "int64_t":$order);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Pipe_RoleOp : Pipe_Op<"role", [NoTerminator, SingleBlock]> {
  let summary = "a group of warps that runs a region";
  let description = [{
    A kernel with one role feeds itself. Of several, one feeds the channels that
    the others take from; roles stand in the order of their warps.

    Constraints: (P2) 1 to 32 warps; (P4) the channels it opens have names of
    their own.

    ```mlir
    pipe.role "compute" warps 4 {
      %kc = pipe.open "k" via cp_async : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$warps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warps` $warps attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Pipe_OpenOp : Pipe_Op<"open", [MemoryEffects<[MemAlloc]>, AttrSizedOperandSegments]> {
  let summary = "makes a channel";
  let description = [{
    `via` says what fills it; through `tma` it is a copy of boxes that the tensor
    map `map`, a kernel argument, describes. The map of a channel that the role's
    own stores fill (`st`) is for what leaves it: `pipe.drain` then starts tensor
    copies. `alias` lets the channel use the
    memory of another one, which is empty whenever this one is in use.

    Constraints: (P6) the aliased channel is the result of a `pipe.open` and not `fed`; (P10) a
    channel filled through tma has a map, one filled by cp_async has none.

    ```mlir
    %qc = pipe.open "q" via cp_async : !pipe.channel<!tile.val<[q:128, d:128] x bf16, shared 1>>
    %kc = pipe.open "k" via tma map %k_map : !llvm.ptr : !pipe.channel<!tile.val<[k:128, d:128] x bf16, shared 2>, fed>
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!tile.val<[q:128, d:128] x bf16, shared 1>> : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
    %out = pipe.open "out" via st map %o_map : !llvm.ptr : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
    ```
  }];
  let arguments = (ins StrAttr:$name, Pipe_Via:$via, Optional<LLVM_AnyPointer>:$map,
                       Optional<Pipe_ChannelType>:$alias);
  let results = (outs Pipe_ChannelType:$channel);
  let assemblyFormat = [{$name `via` $via (`map` $map^ `:` type($map))? (`alias` $alias^ `:` type($alias))?
                         attr-dict `:` type($channel)}];
  let hasVerifier = 1;
}

def Pipe_OpenMailOp : Pipe_Op<"open_mail", [MemoryEffects<[MemAlloc]>]> {
  let summary = "makes a mail";
  let description = [{
    ```mlir
    %mail = pipe.open_mail : !pipe.mail
    ```
  }];
  let results = (outs Pipe_MailType:$mail);
  let assemblyFormat = "attr-dict `:` type($mail)";
}

def Pipe_PutOp : Pipe_Op<"put"> {
  let summary = "starts the transfer of a tile into a channel";
  let description = [{
    Starts copying rows `row ..` of the view into the slot of tile `ordinal`; the
    slot's previous tile has been released. With `when` false nothing is copied,
    yet the put still counts (as an empty group). `ahead` says for how many
    iterations later than its own a put in a loop serves; before the loop it
    counts from the loop's first iteration. `whole` says that the view has every
    row of the tile, so that no row needs a test.

    Constraints: (P3) the view has the tile's element type and is not wider;
    (P8) `ahead` is not negative.

    ```mlir
    pipe.put %kc[%n], %kv[%k0] when %more ahead 1 whole : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, !tile.view<128 x bf16>
    ```
  }];
  let arguments = (ins Pipe_ChannelType:$channel, I32:$ordinal, Tile_ViewType:$view, I32:$row, Optional<I1>:$when,
                       DefaultValuedAttr<I64Attr, "0">:$ahead, UnitAttr:$whole);
  let assemblyFormat = [{$channel `[` $ordinal `]` `,` $view `[` $row `]` (`when` $when^)? (`ahead` $ahead^)? (`whole` $whole^)?
                         attr-dict `:` type($channel) `,` type($view)}];
  let hasVerifier = 1;
}

def Pipe_TakeOp : Pipe_Op<"take"> {
  let summary = "waits for a tile";
  let description = [{
    Returns the tile `ordinal` once every thread of the role may read it.
    `pending` is the number of later puts that may still be under way, set by
    `attn-place-waits`; unset means none. A `joined` take leaves the waiting to
    the take that follows it.

    Constraints: (P3) the result is the channel's tile; (P7) a joined take has
    no `pending`; (P8) `pending` is not negative.

    ```mlir
    %K = pipe.take %kc[%n] joined : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>> -> !tile.val<[k:64, d:128] x bf16, shared 2>
    %V = pipe.take %vc[%n] pending 0 : !pipe.channel<!tile.val<[k:64, v:128] x bf16, shared 2>> -> !tile.val<[k:64, v:128] x bf16, shared 2>
    ```
  }];
  let arguments = (ins Pipe_ChannelType:$channel, I32:$ordinal, OptionalAttr<I64Attr>:$pending, UnitAttr:$joined);
  let results = (outs Tile_ValType:$tile);
  let assemblyFormat = [{$channel `[` $ordinal `]` (`pending` $pending^)? (`joined` $joined^)?
                         attr-dict `:` type($channel) `->` type($tile)}];
  let hasVerifier = 1;
}

def Pipe_ReleaseOp : Pipe_Op<"release"> {
  let summary = "the tile will not be read again by this role";
  let description = [{
    ```mlir
    pipe.release %kc[%n] : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
    ```
  }];
  let arguments = (ins Pipe_ChannelType:$channel, I32:$ordinal);
  let assemblyFormat = "$channel `[` $ordinal `]` attr-dict `:` type($channel)";
}

def Pipe_AwaitOp : Pipe_Op<"await", [AllTypesMatch<["values", "results"]>]> {
  let summary = "waits for asynchronous products";
  let description = [{
    Returns its values once at most `pending` of the `async` dots started before
    are under way. Besides the results of the dots that it waits for, values may
    pass through it that must not be used earlier: registers that an operand
    still occupies are free only then.

    Constraint: (P11) there is a value, and `pending` is not negative.

    ```mlir
    %S1 = pipe.await %S pending 1 : !tile.val<[q:128, k:128] x f32>
    ```
  }];
  let arguments = (ins Variadic<Tile_ValType>:$values, I64Attr:$pending);
  let results = (outs Variadic<Tile_ValType>:$results);
  let assemblyFormat = "$values `pending` $pending attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def Pipe_TurnWaitOp : Pipe_Op<"turn_wait"> {
  let summary = "waits until it is this warpgroup's turn";
  let description = [{
    The warpgroups of a role take turns: each waits here for the one before it
    to have passed (`pipe.turn_pass`). The first one does not wait the first time.
    It orders when products are started, not what they compute.

    ```mlir
    pipe.turn_wait
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Pipe_TurnPassOp : Pipe_Op<"turn_pass"> {
  let summary = "gives the turn to the next warpgroup of the role";
  let description = [{
    ```mlir
    pipe.turn_pass
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Pipe_SyncOp : Pipe_Op<"sync"> {
  let summary = "all warps of the role have come this far";
  let description = [{
    ```mlir
    pipe.sync
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Pipe_DrainOp : Pipe_Op<"drain"> {
  let summary = "writes a tile to memory through a channel";
  let description = [{
    Stages the tile in the channel's slot 0 and writes it to rows `row ..` of
    the view by whole 16-byte pieces. In memory that it shares with another
    channel, the role is in step before and after.

    Through a channel with a map the writing is only started: until
    `pipe.drained` the memory still holds the tile.

    Constraint: (P5) the tile is the channel's, in registers; the view has its
    element type and is not wider.

    ```mlir
    pipe.drain %oc, %O16, %ov[%m0] : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>, !tile.val<[q:128, v:64] x bf16> -> !tile.view<64 x bf16>
    ```
  }];
  let arguments = (ins Pipe_ChannelType:$channel, Tile_ValType:$tile, Tile_ViewType:$view, I32:$row);
  let assemblyFormat = [{$channel `,` $tile `,` $view `[` $row `]`
                         attr-dict `:` type($channel) `,` type($tile) `->` type($view)}];
  let hasVerifier = 1;
}

def Pipe_DrainedOp : Pipe_Op<"drained"> {
  let summary = "waits until what was drained has left the channel";
  let description = [{
    The memory of the channel may be written again: by the warp that drained its
    rows there, or, where the channel shares it with another one, by the whole
    role, which is then in step. What arrives where, and when, it does not say.

    Constraint: (P12) the channel is filled by stores and has a map.

    ```mlir
    pipe.drained %out : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
    ```
  }];
  let arguments = (ins Pipe_ChannelType:$channel);
  let assemblyFormat = "$channel attr-dict `:` type($channel)";
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_PIPE_IR_PIPEOPS
