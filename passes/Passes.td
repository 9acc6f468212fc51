// Tegula's passes. Each text says what it does, why it stands where it stands, and shows one example.
#ifndef TEGULA_PASSES_TD
#define TEGULA_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- attention ---------------------------------------------------------------------------------===//

def ChooseSchedulePass : Pass<"tegula-choose-schedule", "::tegula::tile::KernelOp"> {
  let summary = "chooses every field of the schedule of each tile.attention";
  let description = [{
    Runs first of all, because tile sizes are fields of the schedule. Starts from what the target record and the problem allow (`pipelined` for
    16-bit operands whose head dims fit, else `direct`), shrinks tiles until shared memory and registers fit, then applies the kernel's own
    `tile.schedule` (an array of FIELD=VALUE for GPU targets, left out where an override fixes the form) and the overrides.
    An override that cannot be met is an error that names the field, the value and the limit. A schedule that is already there is kept.

    Example: `tile.attention ... {}` becomes `tile.attention ... {schedule = #tile.schedule<form = pipelined, block_m = 128, ...>}`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_90a\"", "a GPU target's name, or cpu">,
    ListOption<"overrides", "set", "std::string", "FIELD=VALUE of the schedule">];
  let statistics = [Statistic<"chosen", "schedules-chosen", "schedules chosen">];
}

def DecomposePass : Pass<"tegula-decompose", "::tegula::tile::KernelOp"> {
  let summary = "turns tile.attention into a tile program";
  let description = [{
    One program computes `block_m` query rows of one head and walks the keys in blocks of `block_n` (Dao, arXiv:2307.08691): load, dot, score, mask, online
    softmax, rescale, dot. Reads the schedule, decides nothing. A scale that is a constant above 0 under an identity score is folded into the softmax;
    any other is multiplied into the scores. A mask that is constant true leaves only the bound `j < N`, tested on the last block alone.
    Under `pack_heads`, a tile's rows are numbered over the query heads of one key head, position by position, where that makes fewer tiles: scalar code then takes position and head of its row, and
    loads and stores are `packed`. How many heads share a tile is computed of the launch's dims; 1 leaves rows as they are.
  }];
  let options = [Option<"pack", "pack", "bool", "true", "whether `pack_heads` of the schedule acts">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"folded", "scales-folded", "scales folded into the softmax">];
}

def RaiseMasksPass : Pass<"tegula-raise-masks", "::tegula::tile::KernelOp"> {
  let summary = "turns index code on tiles into tile.mask and tile.map";
  let description = [{
    A tile program written by hand says which pairs are visible by elementwise code on `tile.iota`. Where such code is the condition of a select, it becomes
    the region of a `tile.mask`; where it meets one other tile, as in a bias, the region of a `tile.map`. From here on such a program and a decomposed
    `tile.attention` are the same, for the analysis of masks and for lowering. Tables read at such indices become `tile.lookup`.

    Example: `arith.cmpi sge, %i, %j : tensor<64x64xi64>` of `%i = %m0 + iota` down and `%j = %n + iota` across becomes
    `tile.mask rows(%m0) cols(%n) { ^bb0(%i: i64, %j: i64): arith.cmpi sge, %i, %j ... }`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"masks", "masks-raised", "masks raised">, Statistic<"scores", "scores-raised", "scores raised">];
}

def FoldScalePass : Pass<"tegula-fold-scale", "::tegula::tile::KernelOp"> {
  let summary = "folds a constant factor of scores into their online softmax";
  let description = [{
    A finite constant above 0 that multiplies the scores of a `tile.online_softmax`, under the mask or not, becomes its `scale`, so that it costs no instruction. Only where the
    running max starts at -inf. A `tile.finish` that reads it takes the same scale, what else reads it gets it multiplied. `tegula-decompose` folds as it writes; this is for
    programs written by hand. A negative factor would swap max and min, and stays a multiplication.

    Example: `tile.online_softmax (%s * 0.125), ... scale 1.0` becomes `tile.online_softmax %s, ... scale 0.125`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"folded", "factors-folded", "factors folded">];
}

def HoistUniformPass : Pass<"tegula-hoist-uniform", "::tegula::tile::KernelOp"> {
  let summary = "computes once what is the same for all elements of masks and maps";
  let description = [{
    Scalar code in a `tile.for_blocks` or in the region of a `tile.mask`, `tile.map` or `tile.zero_unseen` whose operands come from outside moves ahead of it and of the block loops around it, if it
    is free of effects and cannot trap, or a `tile.lookup` of an input. Runs before masks are bounded, so that these find values and not code.

    Example: `tile.map { %c = tile.lookup %slope[%h] ... }` in a loop becomes one lookup before the loop.
  }];
  let statistics = [Statistic<"hoisted", "uniform-hoisted", "ops moved ahead of masks and maps">];
}

def HoistRowsPass : Pass<"tegula-hoist-rows", "::tegula::tile::KernelOp"> {
  let summary = "computes once a tile what tables of rows give";
  let description = [{
    Scalar code of a `tile.map` or `tile.mask` in a block loop that reads a table, or computes a function of `math`, and that depends on the row alone becomes a map of one value a row ahead of the
    loop, whose result is an input of the map. A mask that is tested in each block and that one select reads becomes a map with it. Values are of at most 32 bits, as integers of 64 bits are computed of them again: what is
    known of their ranges stays known. A row's values stay in registers, so that no more than `mostValues` are hoisted. Runs once masks are bounded, which reads their code, and not on the CPU.

    Example: `%y = tile.map %s rows(%m) cols(%n) { %w = tile.lookup %t[%i] ... }` becomes `%r = tile.map rows(%m) { %w = tile.lookup %t[%i]  tile.yield %w }` before the loop and
    `tile.map %s, %r rows(%m) cols(%n) { ... }`.
  }];
  let options = [Option<"mostValues", "most-values", "int64_t", "4", "values a row, of a whole kernel">];
  let statistics = [Statistic<"hoisted", "rows-hoisted", "values a row hoisted">];
}

def StageTablesPass : Pass<"tegula-stage-tables", "::tegula::tile::KernelOp"> {
  let summary = "brings tables of pairs by blocks, as keys and values come";
  let description = [{
    Under a pipelined schedule, a `tile.lookup` of a map in a block loop whose last two indices are the element's row and column, and whose other indices are the same for the whole tile, becomes a
    `tile.load` of the block's tile with a number of stages, whose result is an input of the map: the producer copies it into a ring of its own. Only where rows are those of the queries and columns
    those of the keys (what lies past them then decides no output), elements have 8, 16 or 32 bits, and rings of one or two stages fit into shared memory beside the schedule's own; else a remark says why not. A program written by hand may load such a block itself, for elementwise code.

    Example: `%y = tile.map %s rows(%m) cols(%n) { %w = tile.lookup %t[%h, %i, %j] ... }` becomes `%T = tile.load %t[%h, %m, %n] axes [1, 2] {stages = 2}` and `tile.map %s, %T rows(%m) cols(%n) { ... }`.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "a GPU target's name">];
  let statistics = [Statistic<"staged", "tables-staged", "lookups that became tiles">];
}

def FixReferencePass : Pass<"tegula-fix-reference", "::mlir::ModuleOp"> {
  let summary = "makes a weight one multiply-add and one exponential, relative to a reference that is checked at the end";
  let description = [{
    Any reference gives the same output and lse while nothing leaves the range of f32. So `exp2(c s - c r)` is one multiply-add of the score, and a row is checked once, at its end. Where a row fails,
    the whole program is run again for its block of rows, as it came in, under the direct schedule: it becomes a second `tile.kernel`, named by the `tile.redo` that guards the stores.
    Under `softmax = threshold` the reference is the running max, and a row stands where that, in units of log2, is within 2^16 of 0 (bf16 operands; 2^13 of f16: a weight of 1 then rounds to 1), or where the row saw no key.
    Under `softmax = fixed` the reference is the row's max over the first block in which it sees a key: a loop keeps no running max and rescales nothing, so that a block costs one multiply-add, one
    exponential and one addition an element. A row stands with `2^-60 < sum < 2^100` and a finite accumulator, or with a sum of 0 and no reference. Only where scores are a function of the product that
    is the same for all keys of a row (a scale, tanh), or a product and a bias that reads the key once through arithmetic (its largest value over the keys that a row sees is then added to the first block's max, so that a slope may point either way), and
    operands are not f16 (weights could overflow); else the schedule becomes `softmax = threshold`. Where a row's first key may lie behind the first block, a block looks for rows without
    a reference.
    A number of the program that all scores are multiplied by becomes a factor of the softmax; a row stands only where it is above 0, as the max is then one of products alone.
    Outputs must be 16- or 32-bit floats, as these have room for a mark. Runs before masks are bounded, on programs written by hand like on decomposed ones.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"folded", "softmaxes-folded", "loops whose weights became one multiply-add">];
}

def ZeroUnseenPass : Pass<"tegula-zero-unseen", "::tegula::tile::KernelOp"> {
  let summary = "keeps values at hidden keys out of a hand-written attention loop";
  let description = [{
    The values of a key that no query row of the tile sees may be NaN, and a weight of 0 does not keep NaN out of a product. Where the left operand of a product comes from masked
    scores of loaded queries and keys, and the right one is loaded at the same keys, a `tile.zero_unseen` takes those rows out, as `tegula-decompose` writes it. A mask that
    is only the bound of the keys needs none, since memory reads as 0 past its end. Behind raise-masks, which makes the masks.

    Example: `tile.dot %P, %V acc(%u)` becomes `tile.dot %P, %V1 acc(%u)` of `%V1 = tile.zero_unseen %V rows(%m0 to %m1) cols(%n to %N) seen { i >= j }`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"zeroed", "values-zeroed", "tiles of values without unseen keys">];
}

def ApplyRequiresPass : Pass<"tegula-apply-requires", "::tegula::tile::KernelOp"> {
  let summary = "takes the guards off divisions whose divisor is known to be above 0";
  let description = [{
    Integer division of the language is defined for a divisor of 0, which costs a compare and two selects. A divisor is above 0 where it is an extent of the grid of a program that
    runs, where a condition of `tile.requires` says so, or where it is `x / y` of such numbers and `x % y == 0` is required. Behind decompose and raise-masks, so that element code is scalar.

    Example: with `tile.requires` of `(> BS 0)`, `%q = select %isZero, 0, (%j / (select %isZero, 1, %BS))` becomes `%q = %j / %BS`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"applied", "guards-removed", "guards removed">];
}

def ExpandRandomPass : Pass<"tegula-expand-random", "::tegula::tile::KernelOp"> {
  let summary = "writes random numbers as integer arithmetic";
  let description = [{
    Ten rounds of Philox4x32-10 each, on scalars or elementwise. The first pass behind the stage `kernel`, which prints `random(...)`.

    Example: `tile.random %seed, %i, %j, %h, %b : i64 -> f32` becomes 20 multiplications of i64, exclusive ors and additions of i32, and a conversion.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"expanded", "numbers-expanded", "random numbers expanded">];
}

//===-- mask (on tile programs) -------------------------------------------------------------------===//

def PrecomputeClassesPass : Pass<"tegula-precompute-classes", "::mlir::ModuleOp"> {
  let summary = "adds a program that finds the classes of blocks where a mask reads a table at row and key";
  let description = [{
    An element of a table at an index that depends on both a query and a key says nothing of a block of pairs, however it is declared. Such conditions of a mask a second kernel evaluates for all pairs of each block,
    of the size that this kernel has, and leaves two bits in scratch memory: whether some pair is seen, and whether all are. It has one program for each block, and for as many
    batch entries, heads and key heads as the conditions depend on; what else the mask is and-ed of is evaluated with them where that takes no more of these, so that their joint class is exact. The mask takes the table as `tile.classified`. The program is an ordinary tile program, `tile.prepass` beside the kernel, and is launched just before it, on the same
    arguments and stream. Masks whose program cannot be told apart from the rest of the kernel, as their rows are no multiples of the tile's or their code reads what tiles hold, stay as they are. Runs
    just before tegula-bound-masks, and not for the CPU.

    Example: `tile.yield %see_i_j` becomes `%c = tile.classified %see_i_j by %classes[%lead, %i, %j] blocks(128, 128)  tile.yield %c`, and a kernel `@item_classes` maps 32 x 128 pairs at a time, reduces them, and
    writes a byte for each 128 x 128.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"precomputed", "masks-precomputed", "masks whose blocks are looked up">];
}

def PrecomputeLimitsPass : Pass<"tegula-precompute-limits", "::mlir::ModuleOp"> {
  let summary = "adds a program that finds where a row's keys begin and end in a sorted table";
  let description = [{
    A mask that compares what a sorted table holds at the key with a number of the row, such as the document of either, lets a row see the keys between two places. A second kernel, `tile.prepass` beside
    this one, looks for them, one row a thread by halves, for as many batch entries, heads and key heads as tables and numbers depend on: of the keys, how many hold less than the number, and how many no more.
    It leaves them in scratch memory, sorted along rows, and the mask compares the key with them; tegula-bound-masks then knows of it what it knows of a window. Masks stay as they are where the number may
    fall as rows go on, where the table's length is not that of the keys, where their program cannot be told apart from the rest of the kernel, or where another program runs ahead of the kernel already. Runs just
    before tegula-bound-masks, and not for the CPU.

    Example: `arith.cmpi eq` of `%doc[%i]` and `%doc[%j]` becomes `%j >= %limits[0, %lead, %i] && %j < %limits[1, %lead, %i]`, and a kernel `@item_limits` finds these for 128 rows at a time.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"precomputed", "kernels-with-limits", "kernels whose rows have limits">];
}

def BoundMasksPass : Pass<"tegula-bound-masks", "::tegula::tile::KernelOp"> {
  let summary = "visits only the blocks of keys that a mask can let pass, and tests only those that it can hide from";
  let description = [{
    Reads the region of each `tile.mask` over the box of a block: integers as intervals, conditions as false, true or unknown. Where the region bounds the key by conjunctions and
    disjunctions of comparisons that are linear in it, the loop's ends move inward, in whole blocks, and by the rows of each warpgroup of a tile where that can spare one a block; the select of scores stands under `scf.if` on a scalar test that is
    false where every pair of the block is visible. Nothing is assumed of what it cannot read: such blocks are visited and tested. The ends move only if a hidden block
    leaves the loop's state as it is. Where these ends do not say all that is known of a block, the loop gets classes: whether some pair is visible, and the tests as flags, so that
    who looks for the next block does them, and the rest knows. Where consumers share such blocks and none is in flight beside another (`overlap = false`), classes also say which of them matter to the
    rows of each warpgroup, where that can spare one a block. What a mask is and-ed of falls apart into conditions that hold up to some key of a row, from some key on, and others, each
    under its own test, as a block seldom needs several. In a block that is tested, several limits of a row on its keys become one. Runs before the loop is rotated, on programs written by hand like on decomposed ones.

    Example: under `i + (N - M) >= j` the loop ends at `min(N, m0 + 127 + (N - M) + 1)`, and the test is `m0 + (N - M) < n + 127`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"bounded", "loop-ends-moved", "loop ends moved">, Statistic<"classified", "loops-classified", "loops with classes">, Statistic<"guarded", "selects-guarded", "selects under a test">,
                    Statistic<"merged", "limits-merged", "masks whose limits were merged">, Statistic<"searched", "conditions-searched", "conditions that are looked for row by row">,
                    Statistic<"halved", "products-halved", "output products that may leave out half">];
}

def CheckClaimsPass : Pass<"tegula-check-claims", "::tegula::tile::KernelOp"> {
  let summary = "turns a kernel into a program that checks what the source claims of its arguments";
  let description = [{
    In place of the kernel's body, for the same arguments: tensors declared `sorted` rise along their last axis; those declared `in LO..HI` hold such values alone; and of a `tile.attention`,
    no lookup that a result depends on has an index outside of its table. Lookups are clamped, so that a wrong one reads another element and nothing tells. A pair that the mask hides observes nothing of its
    score, nor does `false && x` or the side of a choice that is not taken; what depends on the scaled product is not looked at. What does not hold fails a `tile.assert` that names the tensor, the
    index and the value. A `kernel` item has its declarations checked. On the way to the stage `tile`, in place of all other passes; the runtime launches the program just before the kernel.

    Example: `%ids : memref<?xi32> {tile.sorted}` becomes a loop over stretches of 1024 elements that compares each with the next one.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"written", "checks-written", "checks written">];
}

def CountVisitsPass : Pass<"tegula-count-visits", "::mlir::ModuleOp"> {
  let summary = "turns a tile program into one that says which blocks of keys it visits";
  let description = [{
    What `tegula explain` counts. Grid, loops and scalar tests stay as tegula-bound-masks left them; tiles, and what the program writes, are dropped. Each block that is visited adds one to
    `visits.counts` ([0]: its scores go through the element mask, [1]: they do not) and leaves 1 or 2 in `visits.classes[program, block]`, where that has room; `visits.grid` gets the extents of the
    grid. A program is counted whole, not by warpgroup, and programs that only compute rows again are left out. Fails where control flow depends on what tiles hold.

    Example: `tile.for_blocks %n = %lo to %hi ... { loads, products, scf.if %full ... }` becomes
    `tile.for_blocks %n = %lo to %hi ... { %k = arith.select %full, %c1, %c0  tile.atomic_add %one, %counts[%k] ... }`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
  let statistics = [Statistic<"counted", "loops-counted", "loops over blocks of keys">];
}

def MarkVisitsPass : Pass<"tegula-mark-visits", "::mlir::ModuleOp"> {
  let summary = "lets a kernel count the blocks of keys that it visits, by class";
  let description = [{
    For debug builds, so that what `tegula explain` counts (tegula-count-visits) can be compared with what runs. Each loop over blocks of keys gets a `tile.visit`, whose class is decided as the loop
    itself decides whether scores go through the element mask. Stands behind tegula-bound-masks; later passes keep the op where the block's scores are computed. Programs that only compute rows again are
    left out. So are those of form `direct` whose warpgroups each have a loop of their own, since none of them sees all blocks of the tile, and those where the class depends on what tiles hold: a remark.

    Example: `tile.for_blocks %n = %lo to %hi ... { ... scf.if %partial ... }` gets a `tile.visit tested %partial` at its end.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"marked", "loops-marked", "loops over blocks of keys">];
}

def InlineClassesPass : Pass<"tegula-inline-classes", "::tegula::tile::KernelOp"> {
  let summary = "turns a loop over the live blocks among all into one that looks for them";
  let description = [{
    A `tile.for_blocks` with classes becomes one without: the live blocks are counted, and the body, which then runs that often, starts with a search for the next one, from behind
    the last. So the body stays straight code, and only scalars are computed for a block that is left out. Under a schedule of form `pipelined`, where `tegula-rotate-loop` has made lists of the
    loops that it knows, all blocks of another loop that loads are visited.

    Example: the body under `classes { tile.yield %live, %partial }` begins with an `scf.while` over block numbers until `%live`, then the code of `%partial`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"inlined", "loops-inlined", "loops without classes">];
}

//===-- schedule (on tile programs) ---------------------------------------------------------------===//

def RotateLoopPass : Pass<"tegula-rotate-loop", "::tegula::tile::KernelOp"> {
  let summary = "issues the scores of the next block before the output product of this one";
  let description = [{
    Rotates a `tile.for_blocks` whose body is dot, weights, rescale, dot (the rescale may be absent): the first block's scores move to a prologue, the last output product to an
    epilogue, and the body computes the scores of block n, then accumulates block n - 1, whose weights it carries. A loop with classes becomes one over a list of its live blocks. So matrix ops of one block run
    beside the exponentials of another (FlashAttention-3, arXiv:2407.08608, section 3.2). Found by data flow, not by origin. Where the schedule says `overlap = false`, the products of a block stay together and the first block alone goes ahead; where it says `walk = descending`, blocks are taken from the last one on. Only for schedules of form
    `pipelined`. The prologue runs for an empty range too: its block is masked throughout, which is the identity.
  }];
  let statistics = [Statistic<"rotated", "loops-rotated", "loops rotated">];
}

def ExpandSoftmaxPass : Pass<"tegula-expand-softmax", "::tegula::tile::KernelOp"> {
  let summary = "expands the softmax state ops to reductions and elementwise code";
  let description = [{
    `tile.online_softmax`, `tile.scale_rows`, `tile.merge` and `tile.finish` become `tile.reduce`, `tile.broadcast`, `arith` and `math` on tiles, for the CPU and the
    GPU alike. Exponentials are `math.exp2` with log2(e) multiplied into the scale. Runs after the passes that recognise the loop by these ops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"expanded", "ops-expanded", "ops expanded">];
}

//===-- tile to warp ------------------------------------------------------------------------------===//

def AssignLayoutsPass : Pass<"tegula-assign-layouts", "::tegula::tile::KernelOp"> {
  let summary = "gives each tile to the threads that hold it";
  let description = [{
    Every tile with query rows is cut into the 64 rows of one warpgroup and gets the encoding `#warp.fragment` (`#warp.rows` for one value a row);
    row indices gain `64 * warpgroup`. The right-hand operands of matrix ops belong to all warpgroups: they stay plain tiles in memory.
  }];
  let dependentDialects = ["::tegula::warp::WarpDialect"];
  let statistics = [Statistic<"fragments", "fragments", "values that became fragments">];
}

def DeferSumsPass : Pass<"tegula-defer-sums", "::tegula::tile::KernelOp"> {
  let summary = "adds the lanes' parts of a row sum once, behind the loop that accumulates it";
  let description = [{
    A row sum that a block loop carries, and that its body only multiplies by row values and adds row sums to, is carried as one part a lane. So the softmax's normaliser costs no
    shuffle in the loop. Runs on fragments, where lanes exist.

    Example: `%l1 = arith.addf (arith.mulf %l, %alpha), (tile.reduce add %P)`, carried as `%l`, becomes the same with `warp.partial_sum %P`; behind the loop stands `warp.complete_sum`.
  }];
  let dependentDialects = ["::tegula::warp::WarpDialect"];
  let statistics = [Statistic<"deferred", "sums-deferred", "row sums completed behind their loop">];
}

def PartitionRolesPass : Pass<"tegula-partition-roles", "::mlir::ModuleOp"> {
  let summary = "splits a tile program into roles that talk through rings";
  let description = [{
    `pipelined`: loads of matrix operands move to a producer role, which keeps the loops and the scalar code that their indices need, and fills one ring an operand;
    the rest becomes the consumer role, whose matrix ops are asynchronous. `direct`: one role, matrix operands read from global memory.
    Awaits stand before the first use of a result; a slot is released after the await of the last matrix op that reads it; weights are packed for the next
    matrix op only after the await of the one that reads the old ones (else ptxas serialises all of them).
    A warpgroup that starts behind a tile's first block, ends ahead of its last, or has no use for a listed one, waits for and releases the slots of the blocks that it leaves out.
    A producer that lists blocks takes registers for that from the consumers.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "a GPU target's name">];
  let dependentDialects = ["::tegula::warp::WarpDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"rings", "rings", "rings created">, Statistic<"matrixOps", "matrix-ops", "matrix ops issued">];
}

def PingPongPass : Pass<"tegula-ping-pong", "::tegula::warp::KernelOp"> {
  let summary = "makes consumer warpgroups take turns at issuing matrix ops";
  let description = [{
    In the block loop of the consumers, each warpgroup waits for its own named barrier before it issues and wakes the next one when it has issued, so that one
    warpgroup's exponentials run beside another's matrix ops (FlashAttention-3, section 3.1). Only where the schedule says `ping_pong` and there are two or more consumers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"loops", "loops", "loops whose issue takes turns">];
}

def SplitBlocksPass : Pass<"tegula-split-blocks", "::tegula::warp::KernelOp"> {
  let summary = "gives blocks that need no test a loop of their own";
  let description = [{
    A consumer's loop over blocks branches where a block may need its mask, or values of unseen keys zeroed. Where such a condition compares the block's number with
    one that the loop does not change, it holds on one stretch of the walk, whose ends are computed ahead: the loop becomes up to three, and that of the middle has neither the tests
    nor what they guard. Blocks of the outer loops are tested as before. A branch that holds a block's matrix ops, for warpgroups that may leave it out, is taken in the middle.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"loops", "loops", "loops that were split">];
}

def ChooseThreadsPass : Pass<"tegula-choose-threads", "::tegula::tile::KernelOp"> {
  let summary = "chooses the threads of a tile program that is no attention loop";
  let description = [{
    Sets `schedule = #tile.program<threads = ..., ctas = ...>` on a kernel that has no schedule: the fewest threads, from 128 to 512, that hold the results of matrix
    ops, all of them, in at most 128 registers each, and the program's largest other tile in 16; and registers for 1280 threads of an SM or more where tiles are rows
    and those that are loaded are small. Runs where tile sizes are known and layouts are not. Overrides: `threads`, `ctas`; a schedule that is already there is kept.
  }];
  let options = [ListOption<"overrides", "set", "std::string", "FIELD=VALUE of the schedule">];
  let statistics = [Statistic<"chosen", "threads-chosen", "kernels whose threads were chosen">];
}

def HoistLoadsPass : Pass<"tegula-hoist-loads", "::tegula::tile::KernelOp"> {
  let summary = "issues the loads of a tile program before its reductions";
  let description = [{
    For kernels with `#tile.program`. A `tile.load` behind a reduction moves up to the load before it, or to where its indices are known, if no write, loop or branch stands between, and
    all tiles loaded so far take at most 24 registers of a thread: its latency then passes with that of the first load, not behind the meeting of all threads.
    A load for a matrix op stays, as that op copies from memory itself.

    Example: `%s = tile.reduce add %x`, `%w = tile.load ...` become `%w = tile.load ...`, `%s = tile.reduce add %x`.
  }];
  let statistics = [Statistic<"hoisted", "loads-hoisted", "loads that moved up">];
}

def AssignBlockedPass : Pass<"tegula-assign-blocked", "::tegula::tile::KernelOp"> {
  let summary = "gives each tile of a program a layout over all threads";
  let description = [{
    For kernels with `#tile.program`. Tiles that elementwise code, loops, branches, loads and stores tie together share a layout, so that no data moves between them. The results
    of matrix ops come first and take the places of `mma.sync` accumulators; then the largest tiles take 16 contiguous bytes a thread along the axis that is
    contiguous in memory. What follows from a layout is derived: a reduction's result drops an axis, a broadcast's operand those that it is repeated
    along, a transposition renames. Where two such derivations meet, `warp.convert` stands between them.

    Scalar code of one element (`tile.mask`, `tile.map`) becomes code on tiles first. `tile.dot` becomes `warp.dot`; `warp.fence` is put before accesses that may meet another thread's write.
  }];
  let dependentDialects = ["::tegula::warp::WarpDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"conversions", "conversions", "conversions between layouts">, Statistic<"layouts", "layouts", "tiles with a layout">];
}

def NarrowTilesPass : Pass<"tegula-narrow-tiles", "::tegula::tile::KernelOp"> {
  let summary = "compares and converts the indices of elements as i32";
  let description = [{
    Indices are exact in i64, but a GPU compares 64 bits in two instructions, and holds them in two registers. Where the ranges of both sides are known (lane numbers, dims,
    places in the grid, and sums, products and the like of them) and fit in i32, a comparison of tiles reads i32 tiles, made by the same code; so do a conversion to
    a float type and a truncation. Stands after scalar code of elements has become code on tiles.

    Example: `arith.cmpi slt, %lanes, %n : tensor<64xi64>` with `%n` the splat of a dim becomes the same on `tensor<64xi32>`, with a `tile.iota` of i32 and a splat of the truncated dim.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"narrowed", "ops-narrowed", "comparisons and conversions that read i32">];
}

def SingleRolePass : Pass<"tegula-single-role", "::mlir::ModuleOp"> {
  let summary = "makes a warp.kernel of one role of a tile program with layouts";
  let description = [{
    For kernels with `#tile.program`: all warpgroups run the same code in step; `tile.program_id` becomes the loop over tiles, `tile.for_blocks` an `scf.for`.
  }];
  let dependentDialects = ["::tegula::warp::WarpDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"kernels", "kernels", "kernels of one role">];
}

//===-- warp to nvvm ------------------------------------------------------------------------------===//

def InsertWaitsPass : Pass<"tegula-insert-waits", "::tegula::warp::KernelOp"> {
  let summary = "computes how many matrix ops may be in flight at each await";
  let description = [{
    `warp.await` gets `in_flight`: the number of `warp.mma` issued after the awaited one, counted in program order. So the number in
    `wgmma.wait_group` follows from the text of the program and is never written by hand.
  }];
  let statistics = [Statistic<"awaits", "awaits", "awaits counted">];
}

def AllocateSharedPass : Pass<"tegula-allocate-shared", "::tegula::warp::KernelOp"> {
  let summary = "gives each ring its place in shared memory";
  let description = [{
    Tiles first, 1024-byte aligned for the 128-byte swizzle, then one full and one empty mbarrier a slot. Sets `offset` and `barriers` on each
    `warp.ring` and `shared_bytes` on the kernel; more than the target has is an error that lists the rings. So are roles with more registers than their launch holds.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "a GPU target's name">];
  let statistics = [Statistic<"bytes", "bytes", "bytes allocated">];
}

def LowerWarpPass : Pass<"tegula-lower-warp", "::mlir::ModuleOp"> {
  let summary = "writes one thread's view of each kernel, in llvm, nvvm, vector and scf";
  let description = [{
    A fragment of 64 x C becomes a vector of C / 2 elements of one thread: element 4 n + e lies in row lane / 4 + 8 (e / 2) of the warp's 16 rows and in column
    8 n + 2 (lane % 4) + e % 2. Row values become vectors of 2. Matrix ops, copies and barriers become nvvm ops where they exist, inline PTX where not.
    Derives the kernel's arguments and its manifest from what the body uses.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"kernels", "kernels", "kernels lowered">];
}

def ShareExponentialsPass : Pass<"tegula-share-exponentials", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "computes some exponentials of a block by polynomials";
  let description = [{
    In a function with the attribute `tile.polynomial` = n, which the schedule's field becomes, every `math.exp2` of 16 or more f32 is split: n of 16 elements, evenly, are 2^k p(f) with k the
    nearest integer, f the rest, and p of degree 4 with p(0) = 1 and a relative error of 3e-6. From -127 down they are 0, from 126 up 2^126, which the check of a fixed reference does not let pass.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"shared", "exponentials", "exponentials that are polynomials">];
}

//===-- verification ------------------------------------------------------------------------------===//

def VerifyProtocolPass : Pass<"tegula-verify-protocol", "::tegula::warp::KernelOp"> {
  let summary = "refuses a kernel some order of whose roles goes wrong";
  let description = [{
    Runs each warpgroup's role over small sizes, as a list of events: acquire, copy, commit, wait, reads of matrix ops until their await, release, named barriers, the queue of tile numbers. Dims that lie
    along the rows of blocks are 0, 1, and one more than 1 to stages + 1 blocks, so that every slot is used again and loops run from 0 times to several tiles; integer parameters and elements of tables
    that decide events are 0, 1, above a block, and huge, the same in all roles; conditions of data go both ways. Over each such case every order of the events, and of the landings of copies, is decided:
    by one run with vector clocks where all orders are that run up to independent events, else by a search of all states, whose first fault has the shortest trace.
    Refused is what can stop, overwrite a slot that is still read or not yet released, read one that has not landed, take a parity for that of another phase, arrive on a barrier in the wrong phase or once
    too often, or leave an arrival or a copy behind at the end; the error's notes are the trace. Also, ops of whole warps in an elected role, of one thread in another, or under a condition that differs
    between warps. A text that cannot be followed gives a warning that it is not checked.

    Example: without `warp.acquire`, "`load` fills slot 0 of ring "k" (fill 1), but only 0 of 2 readers have released fill 0, with M = 1, N = 129".
  }];
  let options = [Option<"report", "report", "bool", "false", "a remark says how many cases were decided">];
  let statistics = [Statistic<"cases", "cases", "different cases decided">, Statistic<"states", "states-searched", "states searched for a trace">];
}

def VerifyStagePass : Pass<"tegula-verify-stage", "::mlir::ModuleOp"> {
  let summary = "checks that a module is what a stage promises";
  let description = [{
    `attention`: one `tile.attention` a kernel. `tile`: no whole-problem op left. `warp`: every tile has an encoding or is in memory. `nvvm`: only the llvm and nvvm dialects
    are left, and only intrinsics that the back end selects. A violation is an internal error, reported at the op.
  }];
  let options = [Option<"stage", "stage", "std::string", "\"attention\"", "a stage's name">];
}

#endif
