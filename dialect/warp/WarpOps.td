// Ops of the warp dialect. Each text is the op's specification; constraints are numbered, and the tests name them by number.
#ifndef TEGULA_WARP_OPS_TD
#define TEGULA_WARP_OPS_TD

include "dialect/warp/WarpDialect.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Warp_Op<string mnemonic, list<Trait> traits = []> : Op<WarpDialect, mnemonic, traits>;

def Warp_Fragment : RankedTensorOf<[AnyFloat, I1]>;
defvar Warp_Memory = AnyStridedMemRef;

//===-- Structure ---------------------------------------------------------------------------------===//

def Warp_KernelOp : Warp_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, Symbol]> {
  let summary = "one kernel as roles and rings";
  let description = [{
    Arguments as for `tile.kernel`. The body holds the rings, and one `warp.roles` (with the scalar code that both need before it).
    Attributes: `schedule`, and `shared_bytes` once shared memory is allocated.
    Constraints: 1. no results. 2. the body is one block that ends in `warp.return`.
    Lowers to `llvm.func`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Warp_ReturnOp : Warp_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let assemblyFormat = "attr-dict";
}

def Warp_YieldOp : Warp_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of this dialect and gives its values";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Warp_RolesOp : Warp_Op<"roles", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the roles of a kernel, which run side by side";
  let description = [{
    Holds `warp.role` ops alone; the first takes the first warpgroups, and so on. Constraints: 1. only roles inside, at least one. 2. role names differ.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

def Warp_RoleOp : Warp_Op<"role", [HasParent<"RolesOp">, SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "what some warpgroups do";
  let description = [{
    `registers` is the `setmaxnreg` count, 0 for the launch's own. With `elected`, one thread of the role runs the body; with `warp` too, the lanes of its first warp do, and wait, together,
    while copies, notes and commits are the first lane's. Constraints: 1. `warp` stands with `elected`.

    ```mlir
    warp.roles {
      warp.role "load" warpgroups 1 registers 24 elected { }
    }
    ```
    Lowers to a branch on the warpgroup.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$warpgroups, I64Attr:$registers, UnitAttr:$elected, UnitAttr:$whole_warp);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warpgroups` $warpgroups `registers` $registers (`elected` $elected^)? (`warp` $whole_warp^)? $body attr-dict";
  let hasVerifier = 1;
}

def Warp_WarpgroupOp : Warp_Op<"warpgroup", [Pure]> {
  let summary = "which warpgroup of its role runs this";
  let results = (outs I64:$index);
  let assemblyFormat = "attr-dict";
}

def Warp_UniformOp : Warp_Op<"uniform", [Pure, SameOperandsAndResultType]> {
  let summary = "a number that is the same in all lanes, said so to the machine";
  let description = [{
    The value of lane 0; not negative and below 2^31. What is computed from it is then known to be the warp's, and is kept in uniform registers.
    Lowers to a shuffle.
  }];
  let arguments = (ins I64:$value);
  let results = (outs I64:$result);
  let assemblyFormat = "$value attr-dict";
}

def Warp_ForTilesOp : Warp_Op<"for_tiles", [RecursiveMemoryEffects, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, SingleBlockImplicitTerminator<"YieldOp">, AutomaticAllocationScope]> {
  let summary = "the persistent loop over tiles of the grid";
  let description = [{
    Runs the body for this CTA's share of the tile numbers 0 .. total - 1: ctaid, ctaid + nctaid, ... Every role runs the same numbers in the same order.
    With `dynamic`, the first is ctaid and the next ones come from a counter that all CTAs share: the elected role takes them and passes them on through the kernel's `warp.queue`.
    That is an effect: an empty body is not dead.
    Constraints: 1. the body takes the tile number (i64) and the carried values, and yields the next ones. 2. `dynamic` stands in a kernel with one `warp.queue`.

    ```mlir
    %r = warp.for_tiles %t of %total iter_args(%c = %zero) -> (i64) { warp.yield %c : i64 }
    ```
    Lowers to `scf.for`, or to `scf.while` over the queue; the last CTA to leave sets the counter to 0 again.
  }];
  let arguments = (ins I64:$total, Variadic<AnyType>:$inits, UnitAttr:$dynamic);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Warp_QueueOp : Warp_Op<"queue"> {
  let summary = "allocates the ring of tile numbers";
  let description = [{
    Two slots of one tile number in shared memory between the elected role and `consumers` warpgroups, with a full barrier (one arrival) and an empty barrier (one arrival a consumer
    warp) each. `offset` is bytes from the base of shared memory, set by `tegula-allocate-shared`: the numbers, the full barriers, the empty ones, 16 bytes each.

    ```mlir
    warp.queue consumers 2
    ```
  }];
  let arguments = (ins I64Attr:$consumers, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "`consumers` $consumers attr-dict";
}

//===-- Rings -------------------------------------------------------------------------------------===//

def Warp_RingOp : Warp_Op<"ring"> {
  let summary = "allocates a ring in shared memory";
  let description = [{
    `copies` rings of one shape, one a consumer warpgroup where it is above 1; each slot has a full barrier (one arrival, and the bytes of the copy) and an empty barrier (one arrival a
    consumer warp), and a note of 16 bytes where one is written. `offset` (of the tiles), `barriers` (of the barriers, full ones first) and `notes` are bytes from the base of shared memory,
    set by `tegula-allocate-shared`.

    ```mlir
    %kr = warp.ring "k" copies 1 consumers 2 : !warp.ring<128x128xbf16, stages 2>
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$copies, I64Attr:$consumers, OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$barriers,
                       OptionalAttr<I64Attr>:$notes);
  let results = (outs Warp_RingType:$ring);
  let assemblyFormat = "$name `copies` $copies `consumers` $consumers attr-dict `:` type($ring)";
}

class Warp_TakeOp<string mnemonic> : Warp_Op<mnemonic, [
    TypesMatchWith<"slot of the ring's tile", "ring", "slot",
      "::tegula::warp::SlotType::get($_ctxt, ::llvm::cast<::tegula::warp::RingType>($_self).getRows(), ::llvm::cast<::tegula::warp::RingType>($_self).getColumns(), ::llvm::cast<::tegula::warp::RingType>($_self).getElementType())">]> {
  let arguments = (ins Warp_RingType:$ring, I64:$counter, I64:$copy);
  let results = (outs Warp_SlotType:$slot);
  let assemblyFormat = "$ring `[` $counter `]` `copy` $copy attr-dict `:` type($ring)";
}

def Warp_AcquireOp : Warp_TakeOp<"acquire"> {
  let summary = "the producer's next slot, once its last readers have released it";
  let description = "Waits on the empty barrier of slot `counter % stages`; the first `stages` acquires pass at once. `copy` chooses the ring among `copies`.";
}
def Warp_WaitOp : Warp_TakeOp<"wait"> {
  let summary = "the consumer's next slot, once its tile has arrived";
  let description = "Waits on the full barrier of slot `counter % stages`.";
}

def Warp_CommitOp : Warp_Op<"commit"> {
  let summary = "the producer has issued the copies that fill a slot";
  let description = "Arrives on the full barrier and expects the slot's bytes; consumers pass once they have landed.";
  let arguments = (ins Warp_RingType:$ring, I64:$counter, I64:$copy);
  let assemblyFormat = "$ring `[` $counter `]` `copy` $copy attr-dict `:` type($ring)";
}
def Warp_ReleaseOp : Warp_Op<"release"> {
  let summary = "this warpgroup reads a slot no longer";
  let description = [{
    Arrives on the empty barrier, once a warp. Constraints: 1. each matrix op that reads the slot has been awaited before, in the same block.
  }];
  let arguments = (ins Warp_RingType:$ring, I64:$counter, I64:$copy);
  let assemblyFormat = "$ring `[` $counter `]` `copy` $copy attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def Warp_NoteOp : Warp_Op<"note"> {
  let summary = "the producer's note on a slot";
  let description = [{
    Up to four numbers that go with a slot's tile: written between the slot's acquire and its commit, they are there for who waits for it. Numbers are not negative, and below 2^30.
    Constraints: 1. one to four numbers.
  }];
  let arguments = (ins Warp_RingType:$ring, I64:$counter, I64:$copy, Variadic<I64>:$values);
  let assemblyFormat = "$ring `[` $counter `]` `copy` $copy `(` $values `)` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}
def Warp_ReadNoteOp : Warp_Op<"read_note"> {
  let summary = "the note on a slot that has been waited for";
  let description = [{
    The same in all lanes, and said so to the machine. Constraints: 1. one to four numbers.
  }];
  let arguments = (ins Warp_RingType:$ring, I64:$counter, I64:$copy);
  let results = (outs Variadic<I64>:$values);
  let assemblyFormat = "$ring `[` $counter `]` `copy` $copy attr-dict `:` type($ring) `->` type($values)";
  let hasVerifier = 1;
}

def Warp_ClassifyBlocksOp : Warp_Op<"classify_blocks", [RecursiveMemoryEffects]> {
  let summary = "looks at 32 blocks, one a lane";
  let description = [{
    Bit l of each result is what `classes` yields in its place for the block `first + l * step`; of the first one, which says whether the block is live, 0 where that is not below `end`.
    All lanes of a warp come here together.
    Constraints: 1. `classes` takes an i64 and yields i1s, one a result, at least one. 2. `step` is positive.

    ```mlir
    %live, %tested = warp.classify_blocks %first to %end step 128 classes {
    ^bb0(%k: i64):
      %sees = arith.cmpi slt, %k, %end : i64
      tile.yield %sees, %sees : i1, i1
    } : i64, i64
    ```
    Lowers to the code and a ballot for each result.
  }];
  let arguments = (ins I64:$first, I64:$end, I64Attr:$step);
  let results = (outs Variadic<I64>:$bits);
  let regions = (region SizedRegion<1>:$classes);
  let assemblyFormat = "$first `to` $end `step` $step `classes` $classes attr-dict `:` type($bits)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ static constexpr int64_t lanes = 32; }];
}

def Warp_CopyOp : Warp_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "copies a tile of global memory to a slot, asynchronously";
  let description = [{
    Indices and axes as for `tile.load`; what lies past an extent arrives as zero, and counts as bytes. Engine `tma`: bulk tensor copies, one a panel, of a map that the
    launch makes. With `packed %shift`, rows are taken of 2^shift heads, position by position, from the index of the axis before that of the rows on; the index of the rows is then the first
    position, and a map's box depends on the launch. Constraints: 1. one index an axis. 2. two axes, the second of which is memory's last. 3. `packed` with four axes of memory.
  }];
  let arguments = (ins Warp_Memory:$memory, Variadic<I64>:$indices, DenseI64ArrayAttr:$axes, Optional<I64>:$shift, Warp_SlotType:$slot, Warp_RingType:$ring, I64:$counter, I64:$copy);
  let assemblyFormat = [{
    `engine` `(` `tma` `)` $memory `[` $indices `]` `axes` $axes (`packed` $shift^)? `to` $slot `of` $ring `[` $counter `]` `copy` $copy attr-dict `:` type($memory) `,` type($slot) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Warp_ReadOp : Warp_Op<"read"> {
  let summary = "a slot's tile in registers";
  let description = [{
    What this warpgroup's threads hold of a fragment, read where the op stands: before the slot's release. Constraints: 1. the fragment has the slot's shape and elements.

    ```mlir
    %T = warp.read %slot : <64x128xbf16> -> tensor<64x128xbf16, #warp.fragment>
    ```
    Lowers to loads of two neighbouring columns each.
  }];
  let arguments = (ins Arg<Warp_SlotType, "", [MemRead]>:$slot);
  let results = (outs RankedTensorOf<[AnyFloat, AnySignlessInteger]>:$tile);
  let assemblyFormat = "$slot attr-dict `:` type($slot) `->` type($tile)";
  let hasVerifier = 1;
}

def Warp_ZeroUnseenOp : Warp_Op<"zero_unseen", [RecursiveMemoryEffects]> {
  let summary = "zeros in a slot for the keys that no query row of the tile sees";
  let description = [{
    As `tile.zero_unseen`, in place. Every warpgroup that reads the slot does it, for the rows of all of them, so all write the same zeros to the same rows. A `warp.sync` of the
    warpgroup stands between it and the matrix op that reads the slot.
    Lowers to a loop over rows for each key, one key a thread, that ends at the first row that sees it; then stores and a proxy fence.
  }];
  let arguments = (ins Arg<Warp_SlotType, "", [MemWrite]>:$slot, I64:$first, I64:$last, I64:$cols, I64:$end);
  let regions = (region SizedRegion<1>:$seen, AnyRegion:$possible);
  let assemblyFormat = "$slot `rows` `(` $first `to` $last `)` `cols` `(` $cols `to` $end `)` `seen` $seen (`possible` $possible^)? attr-dict `:` type($slot)";
}

//===-- Matrix ops --------------------------------------------------------------------------------===//

def Warp_GlobalOp : Warp_Op<"global", [Pure, AttrSizedOperandSegments]> {
  let summary = "names a tile of global memory as the operand of matrix ops";
  let description = [{
    Indices, axes and packed rows as for `tile.load`; rows past the extent read as zero. Read when a matrix op runs.
    Constraints: 1. one index an axis of memory. 2. two distinct axes of memory. 3. element types are equal.
  }];
  let arguments = (ins Warp_Memory:$memory, Variadic<I64>:$indices, DenseI64ArrayAttr:$axes, Optional<I64>:$shift, Optional<I64>:$end);
  let results = (outs Warp_GlobalType:$tile);
  let assemblyFormat = "$memory `[` $indices `]` `axes` $axes (`packed` $shift^ `to` $end)? attr-dict `:` type($memory) `->` type($tile)";
  let hasVerifier = 1;
}

def Warp_MmaOp : Warp_Op<"mma", [AttrSizedOperandSegments]> {
  let summary = "a matrix product of this warpgroup's 64 rows, asynchronous";
  let description = [{
    `acc + lhs * rhs`, or `acc + lhs * transpose(rhs)`; no `acc` is zero. `lhs` is a fragment (register operand), or in memory as `rhs` is: in a slot (`wgmma`) or in a `!warp.global`
    (`mma.sync`). Constraints: 1. shapes agree, 64 rows. 2. operands in memory are both slots or both `!warp.global`. 3. the result is f32. 4. `lhs` and `rhs` have one element type.
    With `seen`, rows of `rhs` may count as zero for which no flag of their column holds in this warp's rows. 5. `rhs` is a `!warp.global` then, and not transposed.
    Where `half` holds, the second half of `lhs`'s columns is 0, and its instructions are left out. 6. `rhs` is in a slot then, and not transposed.

    ```mlir
    %S = warp.mma %Q, %K transpose_b : !warp.slot<64x64xbf16>, !warp.slot<128x64xbf16> -> !warp.pending<tensor<64x128xf32, #warp.fragment>>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Warp_Fragment, Warp_SlotType, Warp_GlobalType]>:$lhs, AnyTypeOf<[Warp_SlotType, Warp_GlobalType]>:$rhs, Optional<Warp_Fragment>:$acc, Optional<Warp_Fragment>:$seen, Optional<I1>:$half, UnitAttr:$transpose_b);
  let results = (outs Warp_PendingType:$result);
  let assemblyFormat = "$lhs `,` $rhs (`transpose_b` $transpose_b^)? (`acc` `(` $acc^ `:` type($acc) `)`)? (`seen` `(` $seen^ `:` type($seen) `)`)? (`half` `(` $half^ `)`)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Warp_AwaitOp : Warp_Op<"await", [
    TypesMatchWith<"result is the pending tile", "pending", "tile", "::llvm::cast<::tegula::warp::PendingType>($_self).getTile()">]> {
  let summary = "a matrix op's result, once it is complete";
  let description = [{
    `in_flight`, the number of younger matrix ops that may still run, is computed by `tegula-insert-waits`. Constraints: 1. the matrix op stands in the same block.
  }];
  let arguments = (ins Warp_PendingType:$pending, OptionalAttr<I64Attr>:$in_flight);
  let results = (outs Warp_Fragment:$tile);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
}

def Warp_PackOp : Warp_Op<"pack"> {
  let summary = "rounds weights to the operand type of the next matrix op";
  let description = [{
    Not pure: its place in the program matters. Constraints: 1. no matrix op that reads a fragment is unawaited here, in the same block: writing the operand
    registers of a running op makes ptxas serialise all of them. 2. shapes are equal.
  }];
  let arguments = (ins Warp_Fragment:$tile);
  let results = (outs Warp_Fragment:$packed);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($packed)";
  let hasVerifier = 1;
}

def Warp_PartialSumOp : Warp_Op<"partial_sum", [Pure]> {
  let summary = "the sum of each row, apart by thread";
  let description = [{
    Each lane holds the sum of its own elements of a row; the row's sum is that of the four lanes which hold it. Such a value may be added to another one, and be multiplied by
    a value of the row. Constraints: 1. a fragment of floats, its rows.

    ```mlir
    %l = warp.partial_sum %P : tensor<64x128xf32, #warp.fragment> -> tensor<64xf32, #warp.rows>
    ```
    Lowers to additions in the thread.
  }];
  let arguments = (ins Warp_Fragment:$tile);
  let results = (outs Warp_Fragment:$sums);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($sums)";
  let hasVerifier = 1;
}

def Warp_CompleteSumOp : Warp_Op<"complete_sum", [Pure, SameOperandsAndResultType]> {
  let summary = "row sums of what the lanes hold apart";
  let description = [{
    The sum of the four lanes that hold a row, in all of them. Constraints: 1. row values.
    Lowers to two shuffles inside the quad.
  }];
  let arguments = (ins Warp_Fragment:$partial);
  let results = (outs Warp_Fragment:$sums);
  let assemblyFormat = "$partial attr-dict `:` type($partial)";
  let hasVerifier = 1;
}

//===-- Rows computed again ------------------------------------------------------------------------===//

def Warp_VoteOp : Warp_Op<"vote"> {
  let summary = "whether a flag holds in any thread of the warpgroup";
  let description = [{
    All 128 threads of the warpgroup come here, and all get the answer. The flag is a thread's own, or row values. Constraints: 1. the flag is i1, or rows of i1.
    Lowers to `barrier.cta.red.or` on named barrier 8 + warpgroup.
  }];
  let arguments = (ins AnyTypeOf<[I1, Warp_Fragment]>:$flag);
  let results = (outs I1:$any);
  let assemblyFormat = "$flag attr-dict `:` type($flag)";
  let hasVerifier = 1;
}

def Warp_ThreadOp : Warp_Op<"thread", [Pure]> {
  let summary = "the number of this thread in its warpgroup, 0 to 127";
  let results = (outs I64:$index);
  let assemblyFormat = "attr-dict";
}

class Warp_MarkedElementOp<string mnemonic, list<Trait> traits = []> : Warp_Op<mnemonic, traits> {
  let arguments = (ins Warp_Memory:$memory, Variadic<I64>:$indices);
  let hasVerifier = 1;
}

def Warp_MarkOp : Warp_MarkedElementOp<"mark"> {
  let summary = "marks an element of an output: its rows are to be computed again";
  let description = [{
    One thread of the warpgroup writes a NaN that no conversion and no arithmetic of the hardware makes; nothing where the element does not exist, as in an output that is not
    wanted. Gives whether it does, so that another output can carry the mark instead. Constraints: 1. one index an axis. 2. elements of 16 or 32 bits, floats.
  }];
  let results = (outs I1:$exists);
  let assemblyFormat = "$memory `[` $indices `]` attr-dict `:` type($memory)";
}

def Warp_IsMarkedOp : Warp_MarkedElementOp<"is_marked"> {
  let summary = "whether an element of an output holds the mark";
  let description = "Each thread asks for its own indices. False where the element does not exist. Constraints: as `warp.mark`.";
  let results = (outs I1:$result);
  let assemblyFormat = "$memory `[` $indices `]` attr-dict `:` type($memory)";
}

def Warp_ClaimOp : Warp_MarkedElementOp<"claim", [AttrSizedOperandSegments]> {
  let summary = "takes a mark, so that one warpgroup of the grid computes the rows again";
  let description = [{
    True, in all threads of the warpgroup, for the one warpgroup that replaced the mark (by another NaN, until the rows are stored). Counts the rows from
    `indices[axis]` on that exist, up to 64, in the workspace; of packed rows, those of heads below `end`. Constraints: as `warp.mark`; 3. `axis` is one of memory's.
    Lowers to a compare-and-swap of one thread and a vote.
  }];
  let arguments = (ins Warp_Memory:$memory, Variadic<I64>:$indices, I64Attr:$axis, Optional<I64>:$shift, Optional<I64>:$end);
  let results = (outs I1:$mine);
  let assemblyFormat = "$memory `[` $indices `]` `axis` $axis (`packed` $shift^ `to` $end)? attr-dict `:` type($memory)";
}

//===-- Tiles of the whole CTA --------------------------------------------------------------------===//

def Warp_BlockedTile : RankedTensorOf<[AnyFloat, AnySignlessInteger]>;

def Warp_ConvertOp : Warp_Op<"convert", [Pure]> {
  let summary = "the same tile under another layout";
  let description = [{
    Constraints: 1. one shape and element type, both with `#warp.blocked`.
    Lowers to a choice of registers where no element changes its thread, else through shared memory.
  }];
  let arguments = (ins Warp_BlockedTile:$tile);
  let results = (outs Warp_BlockedTile:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Warp_DotOp : Warp_Op<"dot", [MemoryEffects<[MemRead]>]> {
  let summary = "a matrix product of the whole CTA";
  let description = [{
    `tile.dot` on tiles with layouts: the result has a matrix op's; operands have any, or are in global memory (`warp.global`) and never in registers.
    Constraints: 1. each tile has `#warp.blocked`; `acc` has the result's type.
    Lowers to operands in shared memory, then `mma.sync` of each warp on its part (16-bit operands; f32 as three products of tf32), or multiply-adds (integers).
  }];
  let arguments = (ins AnyTypeOf<[Warp_BlockedTile, Warp_GlobalType]>:$lhs, AnyTypeOf<[Warp_BlockedTile, Warp_GlobalType]>:$rhs,
                       Optional<Warp_BlockedTile>:$acc, UnitAttr:$transpose_b);
  let results = (outs Warp_BlockedTile:$result);
  let assemblyFormat = "$lhs `,` $rhs (`transpose_b` $transpose_b^)? (`acc` `(` $acc^ `:` type($acc) `)`)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Warp_FenceOp : Warp_Op<"fence"> {
  let summary = "what the CTA's threads wrote to global memory before is there for all of them after";
  let description = "Stands between accesses of one tensor of which one writes: threads may hold other elements in the second. Lowers to a barrier of the CTA.";
  let assemblyFormat = "attr-dict";
}

//===-- Named barriers ----------------------------------------------------------------------------===//

def Warp_SyncOp : Warp_Op<"sync"> {
  let summary = "waits at a named barrier";
  let description = "Completes when `threads` threads have come, by sync or arrive. Barrier 0 is the whole CTA's and not to be named.";
  let arguments = (ins I64:$barrier, I64Attr:$threads);
  let assemblyFormat = "$barrier `threads` $threads attr-dict";
}
def Warp_ArriveOp : Warp_Op<"arrive"> {
  let summary = "comes to a named barrier without waiting";
  let arguments = (ins I64:$barrier, I64Attr:$threads);
  let assemblyFormat = "$barrier `threads` $threads attr-dict";
}

#endif
