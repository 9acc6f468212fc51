// The tile dialect: attention as one op, and tile programs over tensors and strided memory.
#ifndef TEGULA_TILE_DIALECT_TD
#define TEGULA_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tegula::tile";
  let summary = "attention problems and the tile programs that they become";
  let description = [{
    Two levels live here. `tile.attention` is the whole problem as one op: operands, and scalar functions for scale, score,
    mask and outputs. A *tile program* is what `tegula-decompose` makes of it: a sequential program over tiles, which are builtin ranked
    tensors of static shape; elementwise math on tiles is `arith` and `math`. Global memory is a strided `memref` (a pointer,
    extents and strides). Nothing here knows of threads, memory spaces or time.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def Tile_Form : I32EnumAttr<"Form", "how a tile program is mapped to the machine", [
    I32EnumAttrCase<"Direct", 0, "direct">, I32EnumAttrCase<"Pipelined", 1, "pipelined">, I32EnumAttrCase<"Sequential", 2, "sequential">]> {
  let cppNamespace = "::tegula::tile";
}

def Tile_SoftmaxForm : I32EnumAttr<"SoftmaxForm", "what the weights of a row are relative to", [
    I32EnumAttrCase<"Online", 0, "online">, I32EnumAttrCase<"Threshold", 1, "threshold">, I32EnumAttrCase<"Fixed", 2, "fixed">]> {
  let cppNamespace = "::tegula::tile";
}

def Tile_TileOrder : I32EnumAttr<"TileOrder", "which tiles a CTA computes, and when", [
    I32EnumAttrCase<"Stride", 0, "stride">, I32EnumAttrCase<"Counter", 1, "counter">, I32EnumAttrCase<"LongestFirst", 2, "longest_first">]> {
  let cppNamespace = "::tegula::tile";
}

def Tile_Walk : I32EnumAttr<"Walk", "the order in which a tile's blocks of keys are taken", [
    I32EnumAttrCase<"Ascending", 0, "ascending">, I32EnumAttrCase<"Descending", 1, "descending">]> {
  let cppNamespace = "::tegula::tile";
}

def Tile_Epilogue : I32EnumAttr<"Epilogue", "how a finished tile of outputs goes to memory", [
    I32EnumAttrCase<"Wide", 0, "wide">, I32EnumAttrCase<"Pairs", 1, "pairs">]> {
  let cppNamespace = "::tegula::tile";
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "an associative combination of tile elements", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Maximum", 2, "maximum">,
    I32EnumAttrCase<"Minimum", 3, "minimum">, I32EnumAttrCase<"Argmax", 4, "argmax">, I32EnumAttrCase<"And", 5, "and">,
    I32EnumAttrCase<"Or", 6, "or">]> {
  let cppNamespace = "::tegula::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceKindAttr : EnumAttr<TileDialect, Tile_ReduceKind, "reduce_kind">;

def Tile_Reduction : I32EnumAttr<"Reduction", "how the weights of a row become its output", [
    I32EnumAttrCase<"Softmax", 0, "softmax">, I32EnumAttrCase<"Sum", 1, "sum">, I32EnumAttrCase<"Mean", 2, "mean">]> {
  let cppNamespace = "::tegula::tile";
}

def Tile_TileOrderParameter : EnumParameter<Tile_TileOrder> {
  let defaultValue = "::tegula::tile::TileOrder::Stride";
}

def Tile_WalkParameter : EnumParameter<Tile_Walk> {
  let defaultValue = "::tegula::tile::Walk::Ascending";
}

def Tile_EpilogueParameter : EnumParameter<Tile_Epilogue> {
  let defaultValue = "::tegula::tile::Epilogue::Wide";
}

def Tile_ScheduleAttr : AttrDef<TileDialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "every choice that shapes the machine code and not the result";
  let description = [{
    `tegula-choose-schedule` sets it on `tile.attention` first of all, because tile sizes are among its fields; later passes read it. Two correct what the choice could not know:
    `tegula-fix-reference` the softmax, where scores turn out to have no bound, and `tegula-partition-roles` the registers of a producer that looks at blocks.

    | field | meaning |
    | --- | --- |
    | `form` | `direct` (fragments straight from global memory, `mma.sync`), `pipelined` (TMA producer, rings, wgmma) or `sequential` (the CPU) |
    | `block_m`, `block_n` | rows and keys of a tile |
    | `consumers` | warpgroups that compute; each owns 64 rows, so `block_m = 64 * consumers` |
    | `stages` | depth of the key and of the value ring |
    | `q_stages` | depth of the query ring; for `direct`, 1: registers hold the query tile, 0: each block of keys reads it from memory again |
    | `producer_registers`, `consumer_registers` | `setmaxnreg` of each role; 0 leaves the launch's count |
    | `ping_pong` | consumers take turns at issuing matrix ops |
    | `softmax` | the reference of a row's weights: `online`, the running max; `threshold`, a max that is renewed only where it grew by more than 8 in log2; `fixed`, the max over the first block, with a check at the end and the row computed again where it fails |
    | `tiles` | `stride`: CTA c takes tiles c, c + grid, ...; `counter`: the next one of a counter that CTAs share; `longest_first`: the same, from the last row block to the first, heads that fit in L2 together |
    | `overlap` | a block's scores are made ahead of the output product of the block before it (default true) |
    | `walk` | blocks of keys are taken `ascending` (the default) or `descending`, as where the largest scores come last |
    | `half_blocks` | the output product of a tile's last block leaves out the second half of its keys where no row of the warpgroup sees one (default false) |
    | `epilogue` | outputs are stored 16 bytes at a time, after the four threads of a row have exchanged theirs, where rows start at multiples of that (`wide`, the default); or in the `pairs` that a thread has |
    | `pack_heads` | a tile's rows are of several query heads of one key head, where that makes fewer tiles at the lengths of a launch (default false) |
    | `polynomial` | how many of 16 exponentials of a block are polynomials on the multiply-add units, 0 (the default) to 8; their relative error is 3e-6 |

    Legal (checked by the attribute's verifier, which knows no target): for `sequential`, any blocks from 1 to 1024; else `block_m = 64 * consumers`; `block_n` a multiple of 16 from 16
    to 256; 1 to 4 consumers; `stages` from 1 to 8; `q_stages` from 1 to 4, for `direct` 0 or 1; register counts multiples of 8 up to 256; `overlap = false`, `walk = descending`, `half_blocks`, `polynomial` and `epilogue = pairs` for `pipelined` alone;
    `half_blocks` with `overlap`, for blocks of a multiple of 32 keys;
    `fixed` takes its reference where an ascending walk begins, and only it checks what polynomials do to rows without a key. What a target can hold is checked by the pass.

    Example: `#tile.schedule<form = pipelined, block_m = 128, block_n = 128, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = true, softmax = threshold>`
  }];
  let parameters = (ins
    EnumParameter<Tile_Form>:$form, "int64_t":$block_m, "int64_t":$block_n, "int64_t":$consumers, "int64_t":$stages,
    "int64_t":$q_stages, "int64_t":$producer_registers, "int64_t":$consumer_registers, "bool":$ping_pong, EnumParameter<Tile_SoftmaxForm>:$softmax, Tile_TileOrderParameter:$tiles,
    DefaultValuedParameter<"bool", "true">:$overlap, Tile_WalkParameter:$walk, DefaultValuedParameter<"int64_t", "0">:$polynomial, DefaultValuedParameter<"bool", "false">:$half_blocks,
    Tile_EpilogueParameter:$epilogue, DefaultValuedParameter<"bool", "false">:$pack_heads);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = "::tegula::tile::ScheduleFields getFields() const;";
}

def Tile_ProgramAttr : AttrDef<TileDialect, "Program"> {
  let mnemonic = "program";
  let summary = "the schedule of a tile program that is no attention loop, on a GPU";
  let description = [{
    The attribute `schedule` of such a kernel, set by `tegula-choose-threads`. All threads of a CTA hold each tile together and run the program in step.

    | field | meaning |
    | --- | --- |
    | `threads` | of a CTA: 128, 256, 512 or 1024 |
    | `ctas` | of an SM, that registers must leave room for: threads * ctas is at most 2048 |

    Example: `#tile.program<threads = 256, ctas = 4>`
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$ctas);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif
