// Ops of the tile dialect. Each text is the op's specification; constraints are numbered, and the tests name them by number.
#ifndef TEGULA_TILE_OPS_TD
#define TEGULA_TILE_OPS_TD

include "dialect/tile/TileDialect.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<TileDialect, mnemonic, traits>;

class Tile_TileOf<list<Type> elements> : RankedTensorOf<elements, [HasStaticShapePred], "tile (ranked tensor of static shape)">;
def Tile_Tile : Tile_TileOf<[AnyFloat, AnySignlessInteger]>;
def Tile_FloatTile : Tile_TileOf<[AnyFloat]>;
def Tile_BoolTile : Tile_TileOf<[I1]>;
defvar Tile_Memory = AnyStridedMemRef;
def Tile_Scalar : AnyTypeOf<[AnyFloat, AnySignlessInteger]>;
def Tile_Value : AnyTypeOf<[Tile_Tile, Tile_Scalar]>;
def Tile_Index : AnyTypeOf<[I64, Tile_TileOf<[I64]>]>;
def Tile_Flag : AnyTypeOf<[I1, Tile_BoolTile]>;

/// `mask` is one flag for each element of `operand`.
class Tile_MaskMatches<string operand> : OptionalTypesMatchWith<"the mask has one i1 for each element", operand, "mask", "flagsFor($_self)">;

//===-- Structure ---------------------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, Symbol]> {
  let summary = "one kernel: its arguments, and a body that one program runs";
  let description = [{
    Arguments are, in this order: the tensors that are read, parameters, the tensors that are written, and the run-time dims. Each
    carries attributes that name it to the outside:

    - a tensor (`memref`, static extents where known, every stride dynamic): `tile.name`, `tile.role` (`"in"`, `"out"`, or `"inout"`: read and written in place), and
      `tile.dims`, an array with one entry an axis: a dim's name, an integer, or a prefix expression as text (`"(+ B 1)"`); `tile.elem`, its
      element type where memory holds another (`"bool"` and `"u8"`, held as i8); `tile.optional`, for an output whose pointer may be null: stores
      to it are dropped then
    - a scalar: `tile.name`
    - a dim (`i64`): `tile.dim`, its name
    - behind the dims, memory that lives for one launch (`tile.role = "scratch"`): row-major, of extents that are expressions of dims; no caller passes it as a tensor

    A kernel with the attribute `tile.prepass` is launched just before another one of the module, on the same arguments, and writes the scratch that the other one reads.

    The attribute `tile.packing` is the expression of a shift: a launch for which it is above 0 is better served by the kernel of the same item with `pack_heads`.

    The attribute `tile.requires` lists what the source demands at launch, as dictionaries of `text`, `place` and `expr` (prefix form).
    `tile.schedule` lists what the source asks of the schedule, as FIELD=VALUE; `tile.schedule_places` is where each field stands, for messages.

    Constraints: 1. no results. 2. the body is one block that ends in `tile.return`.

    ```mlir
    tile.kernel @copy(%x: memref<?xf32, strided<[?]>> {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
      tile.return
    }
    ```
    Lowers to `warp.kernel` on the GPU and to `func.func` on the CPU.
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
    /// Whether memory is an argument that its kernel does not write, so that a read of it may move.
    static bool isTable(::mlir::Value memory);
    /// Whether memory is a table of which the source says that its numbers do not fall along the last axis.
    static bool isSortedTable(::mlir::Value memory);
    /// Whether an op gives the same wherever it stands: it has no effect, or is a lookup in a table.
    static bool isMovable(::mlir::Operation *op);
    /// The extent of an argument along an axis, where it is a number or one dim: that number, or the dim's argument; else null.
    ::mlir::OpFoldResult getExtent(::mlir::Value memory, int64_t axis);
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of this dialect and gives its values";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

//===-- The whole problem -------------------------------------------------------------------------===//

def Tile_AttentionOp : Tile_Op<"attention", [RecursiveMemoryEffects]> {
  let summary = "attention whose scores, mask, weights and outputs are scalar functions";
  let description = [{
    For each batch `b`, query head `h`, query position `i`, with `g = h / (H / G)`, over the visible keys `j`, those with 0 <= j < N and mask(b, h, g, i, j):

        x(j) = score(scale(b, h, g, i) * sum_d q[b,h,i,d] * k[b,g,j,d], b, h, g, i, j)
        u(j) = weight(x(j), b, h, g, i, j), or 1 where there is no weight

    | reduction | o[e] | rowmax | rowsum | lse |
    | --- | --- | --- | --- | --- |
    | `softmax` | sum_j exp(x(j) - lse) u(j) v[b,g,j,e] | max_j x(j) | sum_j exp(x(j) - rowmax) | log (exp(extra) + sum_j exp(x(j))) |
    | `sum` | sum_j x(j) u(j) v[b,g,j,e] | - | sum_j x(j) | - |
    | `mean` | that divided by rowsum; 0 where rowsum is 0 | - | sum_j x(j) | - |

    Where there is no `extra`, exp(extra) is 0. A softmax row that sees no key, or only keys whose score is -inf, has o = 0, lse = extra or -inf, rowmax = -inf and
    rowsum = 0; one that sees a score of +inf or NaN has NaN in all four. A key whose weight is 0 keeps it, whatever u(j) is. Each output is what its region of `emit` makes of these: out[b,h,i,e] for rank 4, out[b,h,i] for rank 3, rounded to the output's type.

    The regions are scalar code of one element: `scale` and `extra` take (b, h, g, i); `mask` takes (b, h, g, i, j); `score` and `weight` take (s, b, h, g, i, j), where
    s of `score` is the scaled product and s of `weight` is x(j); an emit region takes (o, lse, rowmax, rowsum, b, h, g, i, e), or (lse, rowmax, rowsum, b, h, g, i).
    Indices are `i64`, the rest `f32` (`f64` where the operands are). They may use the kernel's arguments and `tile.lookup`, and are free of side effects.

    Constraints: 1. `q`, `k`, `v` have rank 4, outputs rank 4 or 3, and each output its emit region. 2. `q`, `k`, `v` have one element type, f16, bf16, f32 or f64.
    3. the head dims of `q` and `k`, and of `v` and outputs of rank 4, are static and agree. 4. the region signatures are those above; `mask` yields `i1`; an emit region
    of a float output yields the score type, of an integer output its type (or `i1` for one of `i8`). 5. only `softmax` has `extra`. 6. only `softmax` has lse and rowmax.

    ```mlir
    tile.attention ins(%q, %q, %q : memref<1x1x?x8xf32>, memref<1x1x?x8xf32>, memref<1x1x?x8xf32>) dims(%n, %n, %n, %n, %n) reduction(softmax)
      scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.125 : f32  tile.yield %c : f32 }
      score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
      mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64  tile.yield %c : i1 }
      outs(%o : memref<1x1x?x8xf32>)
      emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
    ```
    Lowers, by `tegula-decompose`, to a tile program.
  }];
  let arguments = (ins Tile_Memory:$query, Tile_Memory:$key, Tile_Memory:$value, I64:$batch, I64:$heads, I64:$kv_heads, I64:$queries, I64:$keys,
                       Variadic<Tile_Memory>:$outputs, Tile_Reduction:$reduction, OptionalAttr<Tile_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$scale, SizedRegion<1>:$score, SizedRegion<1>:$mask, AnyRegion:$weight, AnyRegion:$extra,
                        VariadicRegion<SizedRegion<1>>:$emits);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    `dims` `(` $batch `,` $heads `,` $kv_heads `,` $queries `,` $keys `)` `reduction` `(` $reduction `)`
    `scale` $scale `score` $score `mask` $mask (`weight` $weight^)? (`extra` $extra^)?
    `outs` `(` $outputs `:` type($outputs) `)` `emit` $emits attr-dict
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value, "::mlir::ValueRange":$outputs,
      "::mlir::Value":$batch, "::mlir::Value":$heads, "::mlir::Value":$kvHeads, "::mlir::Value":$queries, "::mlir::Value":$keys,
      "::tegula::tile::Reduction":$reduction, "::tegula::tile::ScheduleAttr":$schedule)>];
  let extraClassDeclaration = [{
    /// The type of scores, row statistics and accumulators: f32, or f64 where the operands are.
    ::mlir::FloatType getScoreType();
    int64_t getHeadDim() { return ::llvm::cast<::mlir::MemRefType>(getQuery().getType()).getDimSize(3); }
    int64_t getValueDim() { return ::llvm::cast<::mlir::MemRefType>(getValue().getType()).getDimSize(3); }
  }];
}

def Tile_LookupOp : Tile_Op<"lookup", [MemoryEffects<[MemRead]>,
    TypesMatchWith<"constraint 2: result has the table's element type", "table", "result",
                   "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "one element of a captured table, at any index";
  let description = [{
    `r = table[clamp(i0, 0, n0 - 1), ...]`; 0 where an extent is 0. Never reads outside the table.
    Constraints: 1. as many indices as the table has axes. 2. the result has the table's element type.

    ```mlir
    %s = tile.lookup %slope[%h] : memref<?xf32, strided<[?]>>
    ```
    Lowers to a clamped load.
  }];
  let arguments = (ins Tile_Memory:$table, Variadic<I64>:$indices);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$table `[` $indices `]` attr-dict `:` type($table)";
  let hasVerifier = 1;
}

def Tile_ExtentOp : Tile_Op<"extent", [Pure]> {
  let summary = "the number of elements of a tensor along an axis";
  let description = [{
    Of an output that the caller does not want, 0. Folds to the number or the dim that the kernel's arguments say it is, where they do and the tensor is read only.
    Constraints: 1. the axis is one of memory's.

    ```mlir
    %n = tile.extent %ids axis 0 : memref<?xi32, strided<[?]>>
    ```
    Lowers to an argument of the compiled kernel, or a sum of some.
  }];
  let arguments = (ins Tile_Memory:$memory, I64Attr:$axis);
  let results = (outs I64:$extent);
  let assemblyFormat = "$memory `axis` $axis attr-dict `:` type($memory)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===-- Where a program is ------------------------------------------------------------------------===//

def Tile_ProgramIdOp : Tile_Op<"program_id", [AllTypesMatch<["extents", "indices"]>]> {
  let summary = "this program's place in the grid";
  let description = [{
    The kernel runs once for each point of the grid `extents`; the results are the point's coordinates, the first fastest. The extents are
    functions of the kernel's dims alone, from which the launch rule is derived; so the op stays even where nothing reads the point. At most one in a kernel.

    ```mlir
    %m, %h, %b = tile.program_id of (%tiles, %H, %B) : i64, i64, i64
    ```
    Lowers to the loop over tiles of `warp.for_tiles`, and to a loop nest on the CPU.
  }];
  let arguments = (ins Variadic<I64>:$extents);
  let results = (outs Variadic<I64>:$indices);
  let assemblyFormat = "`of` `(` $extents `)` attr-dict `:` type($extents)";
}

def Tile_PackingOp : Tile_Op<"packing", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "how many query heads share the rows of a tile, as a power of two";
  let description = [{
    The shift s for which rows of 2^s query heads of one key head go into tiles of `rows` rows, position by position: 0 to 6. It is that of all heads of a key head where this makes fewer tiles,
    else 0 (`runtime/Packing.h` has the rule). A value of the launch alone.

    ```mlir
    %s = tile.packing %M heads(%H to %G) rows 128
    ```
    Lowers to an argument of the compiled kernel; on the CPU to arithmetic.
  }];
  let arguments = (ins I64:$queries, I64:$heads, I64:$kv_heads, ConfinedAttr<I64Attr, [IntPositive]>:$rows);
  let results = (outs I64:$shift);
  let assemblyFormat = "$queries `heads` `(` $heads `to` $kv_heads `)` `rows` $rows attr-dict";
}

def Tile_RowSpanOp : Tile_Op<"row_span", [Pure]> {
  let summary = "the first and the last row that is worked on of a tile's rows";
  let description = [{
    Of the rows `start .. start + count - 1`, those that the executing unit computes. To a whole program, as to what loads for all its warpgroups, that is all of them; to a warpgroup that
    computes 64 of them, its own. So one text says how many blocks the tile needs and how many each warpgroup does. Constraint: `count` is positive.

    ```mlir
    %first, %last = tile.row_span %m for 128
    ```
    Lowers with the partition into roles.
  }];
  let arguments = (ins I64:$start, ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let results = (outs I64:$first, I64:$last);
  let assemblyFormat = "$start `for` $count attr-dict";
}

def Tile_ForBlocksOp : Tile_Op<"for_blocks", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
                                              AutomaticAllocationScope]> {
  let summary = "a loop over blocks of keys, with carried values";
  let description = [{
    Runs the body for `n = lower, lower + step, ...` while `n < upper`; the block is the keys `n .. n + step - 1`, of which those from N on do not exist. With `classes`, scalar
    code of the block's number, it leaves out the blocks for which `live`, the first value, is false, and gives the body the other values as flags behind `n`. A flag asks for work that
    may be done for any block: for blocks that are known to be full, say, it is false, and true is always right. Where the first flag is false, so are the others.
    With `parts`, into so many equal parts its rows fall, and behind the flags `classes` says for each of them whether the block can matter to it: where not, the body leaves what is carried of those
    rows as it is, and who runs it for them alone need not. Those who run it for all rows have no use for these values, which the body does not get.
    Constraints: 1. the body takes `n` (i64), the flags and the carried values, and yields the next ones. 2. `step` is positive. 3. `classes` takes `n` and yields i1s: `live`, the flags, then one for
    each part. Keys of a loop with classes are not negative, and below 2^30.
    Classes that let every block pass and have no flags are dropped.

    ```mlir
    %r = tile.for_blocks %n = %lo to %hi step 128 flags(%partial) iter_args(%x = %x0) -> (f32) {
      tile.yield %x : f32
    } classes {
    ^bb0(%k: i64):
      %live = arith.cmpi sge, %k, %lo : i64
      %tested = arith.cmpi slt, %k, %hi : i64
      tile.yield %live, %tested : i1, i1
    }
    ```
    Lowers to `scf.for`; classes, by `tegula-rotate-loop` and `tegula-inline-classes`, to loops over live blocks.
  }];
  let arguments = (ins I64:$lower, I64:$upper, I64Attr:$step, DefaultValuedAttr<I64Attr, "0">:$parts, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$classes);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper, "int64_t":$step, "::mlir::ValueRange":$inits,
      CArg<"::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, ::mlir::Value, ::mlir::ValueRange)>">:$body)>];
  let extraClassDeclaration = [{
    ::mlir::Value getInductionVar() { return getBody().getArgument(0); }
    bool hasClasses() { return !getClasses().empty(); }
    unsigned getNumFlags() { return getBody().getNumArguments() - 1 - getInits().size(); }
    ::mlir::Block::BlockArgListType getFlags() { return getBody().getArguments().slice(1, getNumFlags()); }
    ::mlir::Block::BlockArgListType getIterArgs() { return getBody().getArguments().drop_front(1 + getNumFlags()); }
    /// Keys of a loop with classes lie below.
    static constexpr int64_t classifiedKeys = int64_t(1) << 30;
    /// Makes `value`, of `classes`, one more flag: the argument of the body.
    ::mlir::Value addFlag(::mlir::Value value);
  }];
}

def Tile_ListBlocksOp : Tile_Op<"list_blocks", [RecursiveMemoryEffects]> {
  let summary = "the live blocks of a range of keys, in an order that can be known ahead";
  let description = [{
    What `tile.for_blocks` with these bounds and classes visits: first the `free` blocks for which the first flag is false, then the others, `count` in all. `parts` are those of the loop; to all of
    them the blocks that come first matter.
    Constraints: 1. `classes` takes the number of a block (i64) and yields i1s: `live`, the flags, then one for each part. 2. `step` is positive.

    ```mlir
    %count, %free = tile.list_blocks %lo to %hi step 128 classes {
    ^bb0(%k: i64):
      %live = arith.cmpi sge, %k, %lo : i64
      tile.yield %live : i1
    }
    ```
    Lowers to code of the lanes of the producer's warp, each of which looks at one block, in two passes: to count, and to load.
  }];
  let arguments = (ins I64:$lower, I64:$upper, I64Attr:$step, DefaultValuedAttr<I64Attr, "0">:$parts);
  let results = (outs I64:$count, I64:$free);
  let regions = (region SizedRegion<1>:$classes);
  let assemblyFormat = "$lower `to` $upper `step` $step (`parts` $parts^)? `classes` $classes attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ unsigned getNumFlags() { return getClasses().front().getTerminator()->getNumOperands() - 1 - getParts(); } }];
}

def Tile_AnyRangeOp : Tile_Op<"any_range", [RecursiveMemoryEffects]> {
  let summary = "whether a block of keys meets one of many ranges";
  let description = [{
    True where for some `p` below `count` a key of the block `number .. number + step - 1` is at least the first value that the region yields for `p`, and below the second one.
    Constraints: 1. the region takes an i64 and yields two. 2. `step` is positive.

    ```mlir
    %meets = tile.any_range %n step 128 of %count {
    ^bb0(%p: i64):
      %end = arith.addi %p, %count : i64
      tile.yield %p, %end : i64, i64
    }
    ```
    In the classes of a list, lowers to code of the lanes that look at 32 blocks, each of which takes every 32nd range for all of these blocks; elsewhere to a loop.
  }];
  let arguments = (ins I64:$number, I64:$count, I64Attr:$step);
  let results = (outs I1:$meets);
  let regions = (region SizedRegion<1>:$range);
  let assemblyFormat = "$number `step` $step `of` $count $range attr-dict";
  let hasVerifier = 1;
}

def Tile_ListedBlockOp : Tile_Op<"listed_block", [Pure]> {
  let summary = "the number and the flags of a listed block";
  let description = [{
    The block at `place` of a list, and its flags but for the first, which its place tells. Of a list without blocks, place 0 is the range's first one, with all flags set, and for all parts. A program
    takes the places of a list in order, each once.
    Constraints: 1. `list` is the count of a `tile.list_blocks`. 2. there are as many flags as its classes have behind the first.

    ```mlir
    %count, %free = tile.list_blocks %lo to %hi step 128 classes {
    ^bb0(%k: i64):
      %live = arith.cmpi sge, %k, %lo : i64
      tile.yield %live, %live, %live : i1, i1, i1
    }
    %n, %unseen = tile.listed_block %zero of %count : i64, i1
    ```
    Lowers to what the producer finds, and consumers read in a note beside the block's keys.
  }];
  let arguments = (ins I64:$place, I64:$list);
  let results = (outs I64:$number, Variadic<I1>:$flags);
  let assemblyFormat = "$place `of` $list attr-dict `:` type(results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ ListBlocksOp getListOp() { return getList().getDefiningOp<ListBlocksOp>(); } }];
}

//===-- Memory ------------------------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "a tile of global memory; what lies past the extent reads as zero";
  let description = [{
    `t[x0, x1, ...] = memory[indices + x0 along axes[0] + x1 along axes[1] ...]`, and 0 where that lies outside [0, extent) on any axis, one of the
    tile or not. Indices may be anything. A zero is not a mask: bounds are and-ed into the mask as well.
    Constraints: 1. one index an axis of memory. 2. `axes` are distinct axes of memory, one an axis of the tile. 3. element types are equal.

    ```mlir
    %Q = tile.load %q[%b, %h, %m0, %zero] axes [2, 3] : memref<?x?x?x128xbf16, strided<[?, ?, ?, ?]>> -> tensor<128x128xbf16>
    ```
    With `stages`, a producer brings the tile for maps to read, through a ring of so many slots. 4. the tile has rank 2, and the second axis is memory's last, then.
    With `packed %shift to %end`, rows are those of 2^shift heads, position by position: with r = indices[axes[0]] + x0, row x0 is at r >> shift along axes[0], and at indices[a] + r mod 2^shift along
    the axis `a` before it, where that is below `end`; other rows may hold anything. `shift` is 0 to 6, and the tile's first row and the rows of a warpgroup start at multiples of 2^shift.
    5. axis `a` is one of memory's, and none of the tile's.
    Lowers to `warp.copy` into a ring, to a global operand of a matrix op, or to loads into a fragment.
  }];
  let arguments = (ins Tile_Memory:$memory, Variadic<I64>:$indices, DenseI64ArrayAttr:$axes, OptionalAttr<I64Attr>:$stages, Optional<I64>:$shift, Optional<I64>:$end);
  let results = (outs Tile_Tile:$tile);
  let builders = [OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$memory, "::mlir::ValueRange":$indices, "::mlir::DenseI64ArrayAttr":$axes),
                            [{ build($_builder, $_state, tile, memory, indices, axes, ::mlir::IntegerAttr(), ::mlir::Value(), ::mlir::Value()); }]>];
  let assemblyFormat = "$memory `[` $indices `]` `axes` $axes (`packed` $shift^ `to` $end)? attr-dict `:` type($memory) `->` type($tile)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments, Tile_MaskMatches<"tile">]> {
  let summary = "writes a tile to global memory; what lies outside is dropped";
  let description = [{
    The inverse of `tile.load`, with the same indices and constraints. With a `mask`, only elements whose flag is set are written; of `packed` rows, those of heads below `end`.

    ```mlir
    tile.store %O, %o[%b, %h, %m0, %zero] axes [2, 3] mask %keep : tensor<128x128xbf16>, memref<?x?x?x128xbf16, strided<[?, ?, ?, ?]>>
    ```
    Lowers to predicated stores.
  }];
  let arguments = (ins Tile_Tile:$tile, Tile_Memory:$memory, Variadic<I64>:$indices, DenseI64ArrayAttr:$axes, Optional<Tile_BoolTile>:$mask, Optional<I64>:$shift, Optional<I64>:$end);
  let assemblyFormat = "$tile `,` $memory `[` $indices `]` `axes` $axes (`packed` $shift^ `to` $end)? (`mask` $mask^)? attr-dict `:` type($tile) `,` type($memory)";
  let builders = [OpBuilder<(ins "::mlir::Value":$tile, "::mlir::Value":$memory, "::mlir::ValueRange":$indices, "::llvm::ArrayRef<int64_t>":$axes),
                            [{ build($_builder, $_state, tile, memory, indices, axes, /*mask=*/::mlir::Value(), /*shift=*/::mlir::Value(), /*end=*/::mlir::Value()); }]>];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments, Tile_MaskMatches<"result">,
    OptionalTypesMatchWith<"the fill value has memory's element type", "memory", "fill", "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "elements of global memory at computed indices";
  let description = [{
    `r[x] = memory[clamp(i0[x], 0, n0 - 1), ...]`; 0 where an extent is 0. An index is a tile of the result's shape, or a scalar for all. A lane whose
    flag in `mask` is not set reads nothing and gives `fill` (0 where it is left out). Never reads outside memory.
    Constraints: 1. as many indices as memory has axes. 2. the result has memory's element type. 3. index tiles have the result's shape.

    ```mlir
    %r = tile.gather %table[%h, %ids] mask %used fill %x : memref<?x?xf32, strided<[?, ?]>>, i64, tensor<64xi64> -> tensor<64xf32>
    ```
    Lowers to clamped, predicated loads.
  }];
  let arguments = (ins Tile_Memory:$memory, Variadic<Tile_Index>:$indices, Optional<Tile_BoolTile>:$mask, Optional<Tile_Scalar>:$fill);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $memory `[` $indices `]` (`mask` $mask^)? (`fill` $fill^)? attr-dict `:` type($memory) (`,` type($indices)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

class Tile_WriteOp<string mnemonic> : Tile_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments, Tile_MaskMatches<"value">]> {
  let arguments = (ins Tile_Value:$value, Tile_Memory:$memory, Variadic<Tile_Index>:$indices, Optional<Tile_Flag>:$mask);
  let assemblyFormat = [{
    $value `,` $memory `[` $indices `]` (`mask` $mask^)? attr-dict `:` type($value) `,` type($memory) (`,` type($indices)^)?
  }];
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_WriteOp<"scatter"> {
  let summary = "writes elements of global memory at computed indices; what lies outside is dropped";
  let description = [{
    `memory[i0[x], ...] = value[x]` for each lane whose flag is set and whose indices lie inside; `value` may be a scalar, and so are then its indices and
    flag. Where lanes meet, one of them wins.
    Constraints: 1. as many indices as memory has axes. 2. the value has memory's element type. 3. index tiles have the value's shape.

    ```mlir
    tile.scatter %x, %out[%h, %ids] mask %used : tensor<64xf32>, memref<?x?xf32, strided<[?, ?]>>, i64, tensor<64xi64>
    ```
    Lowers to predicated stores.
  }];
}

def Tile_AtomicAddOp : Tile_WriteOp<"atomic_add"> {
  let summary = "adds to elements of global memory at computed indices, also against other programs";
  let description = [{
    `memory[i0[x], ...] += value[x]` under the rules of `tile.scatter`, but lanes and programs that meet all count. The order of additions is open, so
    float sums may differ from run to run in their last bits; integers wrap. Constraints: 1. to 3. as for `tile.scatter`. 4. elements are not `i1`.

    ```mlir
    tile.atomic_add %ones, %counts[%bins] : tensor<64xi32>, memref<?xi32, strided<[?]>>, tensor<64xi64>
    ```
    Lowers to predicated atomics.
  }];
}

//===-- Scalar code of one element ----------------------------------------------------------------===//

def Tile_MaskOp : Tile_Op<"mask", [RecursiveMemoryEffects]> {
  let summary = "which (row, key) pairs of a score tile are visible";
  let description = [{
    `keep[r, c] = region(rows + r, cols + c)`: scalar code of one element, kept as such until late, so that a hand-written tile program is analysed like
    a declarative one. Constraints: 1. the region takes (i, j) as `i64` and yields `i1`. 2. the tile has rank 2.
    A region that yields a constant folds to a constant tile.

    ```mlir
    %keep = tile.mask rows(%m0) cols(%n) { ^bb0(%i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64  tile.yield %c : i1 } : tensor<128x128xi1>
    ```
    Lowers to the same code for each element that a thread holds.
  }];
  let arguments = (ins I64:$rows, I64:$cols);
  let results = (outs Tile_BoolTile:$keep);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`rows` `(` $rows `)` `cols` `(` $cols `)` $body attr-dict `:` type($keep)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ClassifiedOp : Tile_Op<"classified", [Pure, AllTypesMatch<["condition", "result"]>]> {
  let summary = "a condition on a pair, of which a table says what it is over a block of pairs";
  let description = [{
    The condition itself. Beside it, for each block of `rows` queries times `keys` keys, `table[lead, row / rows, key / keys]` has bit 0 set where it holds for some pair of the block, and bit 1 where it
    holds for every one, of the pairs that exist. Constraints: 1. the table has three axes, of i8. 2. `rows` and `keys` are positive.

    ```mlir
    %seen = tile.classified %c by %table[%lead, %i, %j] blocks(128, 64) : memref<?x?x?xi8, strided<[?, ?, ?]>>
    ```
    `tegula-precompute-classes` writes it; `tegula-bound-masks` reads the table for blocks, and leaves the condition.
  }];
  let arguments = (ins I1:$condition, Tile_Memory:$table, I64:$lead, I64:$row, I64:$key, ConfinedAttr<I64Attr, [IntPositive]>:$rows, ConfinedAttr<I64Attr, [IntPositive]>:$keys);
  let results = (outs I1:$result);
  let assemblyFormat = "$condition `by` $table `[` $lead `,` $row `,` $key `]` `blocks` `(` $rows `,` $keys `)` attr-dict `:` type($table)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "a scalar function of each element's place and of the elements of other tiles there";
  let description = [{
    `y[r, c] = region(x0[r, c], x1[r], ..., rows + r, cols + c)`; of rank 1, `y[r] = region(x0[r], ..., rows + r)`. Inputs of rank 1 give one value a row.
    Constraints: 1. inputs have the result's shape, or are one value a row; `cols` is there for rank 2. 2. the region takes an element of each input, then the
    indices as `i64`, and yields a value of the result's element type.
    A region that yields the element of an input of the result's type folds to that input, one that yields a constant to a constant tile.

    ```mlir
    %y = tile.map %S rows(%m0) cols(%n) { ^bb0(%s: f32, %i: i64, %j: i64): %t = math.tanh %s : f32  tile.yield %t : f32 } : (tensor<128x128xf32>) -> tensor<128x128xf32>
    ```
    Lowers like `tile.mask`.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$inputs, I64:$rows, Optional<I64>:$cols);
  let results = (outs Tile_Tile:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "($inputs^)? `rows` `(` $rows `)` (`cols` `(` $cols^ `)`)? $body attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ZeroUnseenOp : Tile_Op<"zero_unseen", [RecursiveMemoryEffects, AllTypesMatch<["tile", "result"]>]> {
  let summary = "a tile of values without the rows of keys that no query row sees";
  let description = [{
    `y[c, e] = 0` for the keys `j = cols + c` below `end` for which `seen(i, j)` holds for no row `first <= i < last`, else `x[c, e]`. A weight of 0 alone does not keep what
    V holds at hidden keys out of a product: 0 times NaN is NaN. With `if`, nothing is changed where that is false: then every key is known to be seen. `possible(j)` is false only for
    keys that are proved to be unseen, which saves looking at all rows; empty: nothing is known.
    Constraints: 1. the tile has rank 2. 2. `seen` takes (i, j) as `i64`, `possible`, if there, (j), and both yield `i1`.

    ```mlir
    %V1 = tile.zero_unseen %V rows(%m0 to %m1) cols(%n to %N) if(%partial) seen { ^bb0(%i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64  tile.yield %c : i1 } : tensor<128x64xbf16>
    ```
    Lowers to stores of zeros to the values' tile in shared memory, and to loops on the CPU.
  }];
  let arguments = (ins Tile_FloatTile:$tile, I64:$first, I64:$last, I64:$cols, I64:$end, Optional<I1>:$partial);
  let results = (outs Tile_FloatTile:$result);
  let regions = (region SizedRegion<1>:$seen, AnyRegion:$possible);
  let assemblyFormat = [{
    $tile `rows` `(` $first `to` $last `)` `cols` `(` $cols `to` $end `)` (`if` `(` $partial^ `)`)? `seen` $seen (`possible` $possible^)? attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
}

def Tile_RandomOp : Tile_Op<"random", [Pure, Elementwise, AllTypesMatch<["seed", "c0", "c1", "c2", "c3"]>]> {
  let summary = "a random number in [0, 1) that a seed and a counter determine";
  let description = [{
    `r = (x >> 8) * 2^-24`, where x is the first word of Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) under the key `seed` and the counter c0 to c3, of which the low 32
    bits count: the same on every target. Elementwise on tiles.
    Constraints: 1. all operands have one type, and the result has their shape.

    ```mlir
    %r = tile.random %seed, %i, %j, %h, %b : i64 -> f32
    ```
    Lowers, by `tegula-expand-random`, to integer arithmetic.
  }];
  let arguments = (ins Tile_Index:$seed, Tile_Index:$c0, Tile_Index:$c1, Tile_Index:$c2, Tile_Index:$c3);
  let results = (outs AnyTypeOf<[AnyFloat, Tile_FloatTile]>:$result);
  let assemblyFormat = "$seed `,` $c0 `,` $c1 `,` $c2 `,` $c3 attr-dict `:` type($seed) `->` type($result)";
}

//===-- Math on tiles -----------------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AttrSizedOperandSegments]> {
  let summary = "a matrix product of two tiles, with an optional accumulator";
  let description = [{
    `r = acc + lhs * rhs`, or `acc + lhs * transpose(rhs)` with `transpose_b`; products and sums in the result's type. Integers wrap.
    Constraints: 1. rank 2, shapes agree. 2. `lhs` and `rhs` have one element type. 3. the result is f32, f64 for f64 operands, i32 for i8 and i32
    ones, and `acc` has its type.
    Where `half` holds, the second half of `lhs`'s columns is 0, and may be left out.

    ```mlir
    %S = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<32x64xbf16> -> tensor<128x32xf32>
    ```
    Lowers to `warp.mma`.
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, Optional<Tile_Tile>:$acc, Optional<I1>:$half, UnitAttr:$transpose_b);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_b` $transpose_b^)? (`acc` `(` $acc^ `:` type($acc) `)`)? (`half` `(` $half^ `)`)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::Value":$acc, "bool":$transpose_b), [{
    build($_builder, $_state, type, lhs, rhs, acc, ::mlir::Value(), transpose_b);
  }]>];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines the elements of a tile along one axis";
  let description = [{
    `r[i] = x[i,0] op x[i,1] op ...` along `axis`, which the result lacks (a scalar, for rank 1); without one, along the last.

    | kind | elements | |
    | --- | --- | --- |
    | `add` | floats, integers | integers wrap |
    | `max` | floats | ignores a NaN beside a number (in a softmax the NaN reaches its row through the weights) |
    | `maximum`, `minimum` | floats, signed integers | a NaN makes the result NaN |
    | `argmax` | floats, signed integers | i32: the place of the largest, the first of equals; NaN counts as largest |
    | `and`, `or` | i1 | |

    Constraints: 1. the axis is one of the tile's; the result has the other axes and the element type, i32 for `argmax`. 2. the kind takes the elements.

    ```mlir
    %m = tile.reduce max %S : tensor<128x64xf32> -> tensor<128xf32>
    %k = tile.reduce argmax %S axis 0 : tensor<128x64xf32> -> tensor<64xi32>
    ```
    Lowers to in-thread combinations, then two shuffles inside the quad.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$tile, OptionalAttr<I64Attr>:$axis);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "`` $kind $tile (`axis` $axis^)? attr-dict `:` type($tile) `->` type($result)";
  let skipDefaultBuilders = 1;
  /// `axis` -1: the last.
  let builders = [OpBuilder<(ins "ReduceKind":$kind, "::mlir::Value":$tile, CArg<"int64_t", "-1">:$axis)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The axis that the result lacks.
    int64_t getReducedAxis() { return getAxis().value_or(getTile().getType().getRank() - 1); }
  }];
}

def Tile_CombineOp : Tile_Op<"combine", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    TypesMatchWith<"constraint 2: init is an element of the tile", "tile", "init", "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "combines the elements of a tile along one axis by a function";
  let description = [{
    `r[i] = f(... f(f(init, x[i,0]), x[i,1]) ..., x[i,n-1])` along `axis`, which the result lacks (a scalar, for rank 1). `f` is scalar code of two elements
    without side effects; it is associative, but need not commute, and `init` is neutral: both are the caller's word, and what else they give is
    unspecified. Constraints: 1. the axis is one of the tile's; the result has the other axes and the element type. 2. `init` is of the element type.
    3. the region takes two elements and yields one.

    ```mlir
    %r = tile.combine %x init %one axis 1 { ^bb0(%a: f32, %b: f32): %c = arith.mulf %a, %b : f32  tile.yield %c : f32 } : tensor<8x16xf32> -> tensor<8xf32>
    ```
    Lowers like `tile.reduce`.
  }];
  let arguments = (ins Tile_Tile:$tile, Tile_Scalar:$init, I64Attr:$axis);
  let results = (outs Tile_Value:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$tile `init` $init `axis` $axis $body attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CumsumOp : Tile_Op<"cumsum", [Pure, AllTypesMatch<["tile", "result"]>]> {
  let summary = "running sums along one axis";
  let description = [{
    `y[i, j] = x[i, 0] + ... + x[i, j]` along `axis`; integers wrap.
    Constraints: 1. the axis is one of the tile's. 2. elements are not `i1`.

    ```mlir
    %y = tile.cumsum %x axis 1 : tensor<8x16xf32>
    ```
    Lowers to in-thread sums, then a scan by shuffles.
  }];
  let arguments = (ins Tile_Tile:$tile, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$tile `axis` $axis attr-dict `:` type($tile)";
  let hasVerifier = 1;
}

def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "whether a flag holds for some row; true may also be given where it holds for none";
  let description = [{
    For branches that only save work: each warp may ask for its own rows alone, so both sides must give its rows the same result where the answer could differ.
    Of a splat constant folds to it.

    ```mlir
    %some = tile.any %grew : tensor<128xi1>
    ```
    Lowers to a vote of the warp.
  }];
  let arguments = (ins Tile_BoolTile:$flags);
  let results = (outs I1:$result);
  let assemblyFormat = "$flags attr-dict `:` type($flags)";
  let hasFolder = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "the lane numbers 0, 1, 2, ...";
  let description = [{
    `y[x] = x`. Constraints: 1. rank 1, elements i32 or i64.

    ```mlir
    %lanes = tile.iota : tensor<128xi32>
    ```
  }];
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "a tile repeated along more axes";
  let description = [{
    Axis n of the operand is axis `axes[n]` of the result, and along the others, and where the operand's extent is 1, its elements are repeated. `axes` is
    [0] where it is left out: `y[i, j] = x[i]`.
    Constraints: 1. `axes` rise, one an axis of the operand; extents there are equal or 1, element types equal.
    Of a splat constant folds to one.

    ```mlir
    %y = tile.broadcast %m : tensor<128xf32> -> tensor<128x64xf32>
    %z = tile.broadcast %n axes [1] : tensor<64xf32> -> tensor<128x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$tile, DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$axes);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$tile (`axes` $axes^)? attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "a tile with its axes in another order";
  let description = [{
    Axis n of the result is axis `permutation[n]` of the operand.
    Constraints: 1. `permutation` permutes the axes, extents follow, element types are equal.

    ```mlir
    %y = tile.transpose %x permutation [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
    ```
    Lowers to nothing where a matrix product reads it, else through shared memory.
  }];
  let arguments = (ins Tile_Tile:$tile, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$tile `permutation` $permutation attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements, in row-major order, under another shape";
  let description = [{
    Constraints: 1. as many elements, of one type.

    ```mlir
    %y = tile.reshape %x : tensor<8x16xf32> -> tensor<2x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$tile);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

//===-- Online softmax ----------------------------------------------------------------------------===//

def Tile_OnlineSoftmaxOp : Tile_Op<"online_softmax", [Pure, AttrSizedOperandSegments, AllTypesMatch<["scores", "weights"]>,
                                   AllTypesMatch<["max", "sum", "new_max", "new_sum", "rescale"]>]> {
  let summary = "takes a block of scores into the running softmax of each row";
  let description = [{
    With c = `scale` > 0, per row (Milakov and Gimelshein, arXiv:1805.02867):

        new_max = max(max, max_j scores[j])             a hidden score is -inf
        r       = 0 if new_max = -inf, else new_max     (no difference of two -inf is formed)
        weights[j] = exp(c * (scores[j] - r)),  rescale = exp(c * (max - r)),  new_sum = sum * rescale + sum_j weights[j]

    The difference is taken before the product, so the largest score has weight exactly 1 however large it is. The state starts as (-inf, 0).
    With `threshold` t > 0, new_max = max where the max would grow by no more than t in units of log2, so that few blocks rescale: weights stay below 2^t, and
    output and lse are the same, as they depend on no particular reference.
    With `folded`, weights[j] = exp2(fma(C, scores[j], -C r)) and rescale = exp2(C max - C r) with C = c log2(e): one multiply-add an element, as good as a difference while |C r| is not too great, which
    `tile.redo` guards. With `fixed` too, new_max = max unless that is -inf, then the block's own max: blocks behind the first one in which a row sees a key need no max, and there is no
    rescale (it is 1). Weights may then leave the range of floats: `tile.redo` guards this as well. `from_first_block` says that no row sees its first key in a later block, and new_max
    is 0 instead of -inf; else `late`, where it is there, says whether a row may see its first key in this block. With `continued`, `max` is known to be finite, so that no block's max is computed. With `basis` B and `bias`, the first block's max is max_j B[j] + bias: of scores
    that are a sum of B and what may grow along the keys, up to `bias` in a row. With `times`, c is `scale` times a number of the program, which is to be above 0: `tile.redo` guards this too.
    Constraints: 1. scores have rank 2, the state has one entry a row and the scores' element type. 2. `scale` > 0 and finite. 3. `threshold` and `fixed` exclude each other; `fixed` needs
    `folded`, `from_first_block` needs `fixed`, `continued` and `basis` need `from_first_block`, `times` needs `folded`, `late` needs `fixed` without `from_first_block`. 4. `basis` has the scores' type, `bias` the state's, and both are there or none. 5. `times` has the
    scores' element type.

    ```mlir
    %P, %m1, %l1, %a = tile.online_softmax %S, %m, %l scale 1.250000e-01 : tensor<128x64xf32>, tensor<128xf32>
    ```
    Lowers, by `tegula-expand-softmax`, to reductions and elementwise code.
  }];
  let arguments = (ins Tile_FloatTile:$scores, Tile_FloatTile:$max, Tile_FloatTile:$sum, F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$threshold,
                       UnitAttr:$folded, UnitAttr:$fixed, UnitAttr:$from_first_block, UnitAttr:$continued, Optional<Tile_FloatTile>:$basis, Optional<Tile_FloatTile>:$bias,
                       Optional<AnyFloat>:$factor, Optional<I1>:$late);
  let results = (outs Tile_FloatTile:$weights, Tile_FloatTile:$new_max, Tile_FloatTile:$new_sum, Tile_FloatTile:$rescale);
  let assemblyFormat = "$scores `,` $max `,` $sum `scale` $scale (`threshold` $threshold^)? (`folded` $folded^)? (`fixed` $fixed^)? "
                       "(`from_first_block` $from_first_block^)? (`continued` $continued^)? (`basis` $basis^ `:` type($basis))? (`bias` $bias^ `:` type($bias))? (`times` $factor^ `:` type($factor))? "
                       "(`late` $late^)? attr-dict `:` type($scores) `,` type($max)";
  let builders = [OpBuilder<(ins "::mlir::Value":$scores, "::mlir::Value":$max, "::mlir::Value":$sum, "::llvm::APFloat":$scale, "int64_t":$threshold), [{
    build($_builder, $_state, scores, max, sum, scale, threshold, false, false, false, false, ::mlir::Value(), ::mlir::Value(), ::mlir::Value(), ::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def Tile_ScaleRowsOp : Tile_Op<"scale_rows", [Pure, AllTypesMatch<["tile", "result"]>]> {
  let summary = "multiplies each row of a tile by its factor";
  let description = [{
    `y[i, j] = x[i, j] * f[i]`. Constraints: 1. one factor a row, of the tile's element type.
    Factors that are constant 1 fold away.

    ```mlir
    %u1 = tile.scale_rows %u, %alpha : tensor<128x64xf32>, tensor<128xf32>
    ```
  }];
  let arguments = (ins Tile_FloatTile:$tile, Tile_FloatTile:$factors);
  let results = (outs Tile_FloatTile:$result);
  let assemblyFormat = "$tile `,` $factors attr-dict `:` type($tile) `,` type($factors)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_RedoOp : Tile_Op<"redo", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "stores a tile's results unless a row fails its check; then another program computes the rows";
  let description = [{
    The region holds the stores of the kernel. Where every row of `valid` holds they take place; else nothing is stored, and the rows are computed again by `program`, a
    `tile.kernel` of the same arguments and row blocks beside this one. A mapping may decide for parts of the tile's rows on their own.
    Constraints: 1. the region holds stores of 16- or 32-bit floats, at least one, and scalar code for their indices. 2. `program` names a `tile.kernel` of the same type. 3. it stands at the top of a kernel, which has no other.

        tile.redo unless %valid by @again : tensor<128xi1> { tile.store %O, %o[%b, %h, %m0, %zero] axes [2, 3] : ... }

    Lowers to a branch that marks an element of an output, and a loop behind the tile loop that finds marks.
  }];
  let arguments = (ins Tile_BoolTile:$valid, FlatSymbolRefAttr:$program);
  let regions = (region SizedRegion<1>:$stores);
  let assemblyFormat = "`unless` $valid `by` $program attr-dict `:` type($valid) $stores";
  let hasVerifier = 1;
}

def Tile_MergeOp : Tile_Op<"merge", [Pure, AllTypesMatch<["max_a", "max_b", "sum_a", "sum_b", "max", "sum"]>,
                           AllTypesMatch<["acc_a", "acc_b", "acc"]>]> {
  let summary = "joins two partial softmax states over disjoint keys";
  let description = [{
    A state is (max, sum, acc) with sum = sum_j exp(c (x_j - max)) and acc = sum_j exp(c (x_j - max)) v_j. With m = max(max_a, max_b) and r = 0 where m = -inf, else m:
    sum = sum_a exp(c (max_a - r)) + sum_b exp(c (max_b - r)), acc likewise. Associative; the identity is (-inf, 0, 0).
    Constraints: 1. as for `tile.online_softmax`.

    ```mlir
    %m, %l, %u = tile.merge (%m0, %l0, %u0), (%m1, %l1, %u1) scale 1.000000e+00 : tensor<4xf32>, tensor<4x8xf32>
    ```
    Lowers, by `tegula-expand-softmax`, to elementwise code.
  }];
  let arguments = (ins Tile_FloatTile:$max_a, Tile_FloatTile:$sum_a, Tile_FloatTile:$acc_a, Tile_FloatTile:$max_b, Tile_FloatTile:$sum_b,
                       Tile_FloatTile:$acc_b, F64Attr:$scale);
  let results = (outs Tile_FloatTile:$max, Tile_FloatTile:$sum, Tile_FloatTile:$acc);
  let assemblyFormat = [{
    `(` $max_a `,` $sum_a `,` $acc_a `)` `,` `(` $max_b `,` $sum_b `,` $acc_b `)` `scale` $scale attr-dict `:` type($max_a) `,` type($acc_a)
  }];
  let hasVerifier = 1;
}

def Tile_FinishOp : Tile_Op<"finish", [Pure, AllTypesMatch<["acc", "output"]>, AllTypesMatch<["max", "sum", "lse"]>]> {
  let summary = "the output and the log-sum-exp of a softmax state";
  let description = [{
    `output = acc / sum`, `lse = c * max + log(sum)`; 0 and -inf where the sum is 0, that is where no key was visible.
    Constraints: 1. as for `tile.online_softmax`.

    ```mlir
    %O, %L = tile.finish %m, %l, %u scale 1.250000e-01 : tensor<128xf32>, tensor<128x64xf32>
    ```
    Lowers, by `tegula-expand-softmax`, to elementwise code.
  }];
  let arguments = (ins Tile_FloatTile:$max, Tile_FloatTile:$sum, Tile_FloatTile:$acc, F64Attr:$scale);
  let results = (outs Tile_FloatTile:$output, Tile_FloatTile:$lse);
  let assemblyFormat = "$max `,` $sum `,` $acc `scale` $scale attr-dict `:` type($max) `,` type($acc)";
  let hasVerifier = 1;
}

//===-- Help while writing a program --------------------------------------------------------------===//

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints a line of text and values";
  let description = [{
    Each `{}` of the text stands for a value, in order; values beyond follow after a blank each. A tile prints as nested lists, whole.

    ```mlir
    tile.print "block {} max" (%n, %m) : i64, tensor<4xf32>
    ```
    Lowers to calls of the run-time's printer on the CPU, and of `vprintf` on the GPU, where threads print on their own: each element of a tile is a line,
    with its indices before it, and lines come in any order.
  }];
  let arguments = (ins StrAttr:$text, Variadic<Tile_Value>:$values);
  let assemblyFormat = "$text (`(` $values^ `)`)? attr-dict (`:` type($values)^)?";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "fails the run where a condition does not hold";
  let description = [{
    The condition holds where it is true, in every element if it is a tile. The run goes on where it does not, since memory is safe all the same, and ends
    with a status that tells the op's place and the message, in which each `{}` stands for a value, in order.

    ```mlir
    tile.assert %ok, "ids are sorted" : tensor<64xi1>
    tile.assert %few, "{} is too many" (%n : i64) : i1
    ```
    On the GPU the launch ends in `CUDA_ERROR_ASSERT` instead; the driver names place and message, and values stand in a line printed before. Lowers to a text that
    the host reads after the run, and on the GPU to calls of `vprintf`, for values, and `__assertfail`.
    Constraints: 1. the message has a `{}` for each value; marks without one stay as they are. 2. values are scalars; only a scalar condition has some.
  }];
  let arguments = (ins Tile_Flag:$condition, StrAttr:$message, Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `:` type($values) `)`)? attr-dict `:` type($condition)";
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "::llvm::StringRef":$message),
                            [{ build($_builder, $_state, condition, message, ::mlir::ValueRange()); }]>];
  let hasVerifier = 1;
}

def Tile_VisitOp : Tile_Op<"visit", [MemoryEffects<[MemWrite]>]> {
  let summary = "counts one more visit of a block of keys, by its class";
  let description = [{
    The block whose scores are computed here is partial where `tested` holds, that is where they go through the element mask, and else full. Nothing is counted where `exists` is false: a loop
    that is turned by a block computes the first one ahead, and does so for an empty range too. A tile's block counts once, whatever warpgroups share its rows.

    ```mlir
    tile.visit tested %masked
    tile.visit tested %masked if %some
    ```
    Lowers to one thread's atomic addition in the kernel's workspace: the producer's where there is one. On the CPU nothing is counted.
  }];
  let arguments = (ins I1:$tested, Optional<I1>:$exists);
  let assemblyFormat = "`tested` $tested (`if` $exists^)? attr-dict";
}

#endif
