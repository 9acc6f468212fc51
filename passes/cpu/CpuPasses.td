// Passes of the CPU target, in the order in which they run.
#ifndef TEGULA_CPU_PASSES_TD
#define TEGULA_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuLowerTilesPass : Pass<"tegula-cpu-lower-tiles", "::mlir::ModuleOp"> {
  let summary = "turns each tile kernel into a function that runs every program";
  let description = [{
    `tile.kernel` becomes `func.func` with `llvm.emit_c_interface` and `tegula.manifest`, which keeps the names, roles and extents of its arguments;
    `tile.program_id` becomes a loop nest over all points of the grid, the first coordinate innermost. `tile.load` is a fill with zeros and a copy
    of what lies inside memory, `tile.store` the copy back, `tile.gather`, `tile.scatter` and `tile.atomic_add` loops over lanes that test or clamp
    each index, `tile.dot` a `linalg.generic` whose innermost loop runs along rows of the result, `tile.cumsum` a loop that carries the sum,
    `tile.lookup` a clamped load, `tile.for_blocks` an `scf.for`. `tile.print` and `tile.assert` call functions of the host
    (`codegen/CpuReports.h`). Elementwise code on tiles and reductions stay.

    ```mlir
    %s = tile.lookup %t[%i] : memref<8xf32, strided<[?]>>
    ```
    becomes
    ```mlir
    %0 = arith.minsi %i, %c7 : i64
    %1 = arith.maxsi %0, %c0 : i64
    %2 = arith.index_cast %1 : i64 to index
    %s = memref.load %t[%2] : memref<8xf32, strided<[?]>>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"lowered", "ops-lowered", "tile ops lowered">];
}

def CpuFuseElementwisePass : Pass<"tegula-cpu-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "turns trees of elementwise tile code into one loop nest each";
  let description = [{
    Elementwise `arith` and `math` on tiles, `tile.mask`, `tile.map`, `tile.iota`, `tile.broadcast`, `tile.transpose`, splats, `tile.reduce` and
    `tile.combine` become `linalg.generic`: one for each tile that has several users or a user of another kind, with the producers that it alone
    uses inlined as scalar code. Broadcasts and transposes are affine maps on what is read.

    ```mlir
    %0 = tile.broadcast %m : tensor<4xf32> -> tensor<4x8xf32>
    %1 = arith.subf %x, %0 : tensor<4x8xf32>
    %2 = math.exp %1 : tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %2 = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%x, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%x : tensor<4x8xf32>) {
    ^bb0(%in: f32, %row: f32, %out: f32):
      %3 = arith.subf %in, %row : f32
      %4 = math.exp %3 : f32
      linalg.yield %4 : f32
    } -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"nests", "loop-nests", "loop nests made">, Statistic<"inlined", "ops-inlined", "ops inlined into their user">];
}

def CpuCarryInPlacePass : Pass<"tegula-cpu-carry-in-place", "::mlir::func::FuncOp"> {
  let summary = "writes the tiles that a loop carries back into the buffers that they came in";
  let description = [{
    Each tile that an `scf.for` yields is materialized in the loop's argument, so that bufferization makes the loop carry no new buffer. Where the tile
    is computed in that buffer already, which is the rule, this costs nothing. A tile that may lie in the buffer of another argument is copied first,
    and so is one that a branch (`scf.if`) yields but does not compute in a buffer of its own.

    ```mlir
    scf.yield %y : tensor<4xf32>
    ```
    becomes, where `%x` is the loop's argument,
    ```mlir
    %0 = bufferization.materialize_in_destination %y in %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
  let statistics = [Statistic<"carried", "tiles-carried", "tiles carried by loops">, Statistic<"copied", "tiles-copied", "tiles copied first">];
}

def CpuHoistBuffersPass : Pass<"tegula-cpu-hoist-buffers", "::mlir::func::FuncOp"> {
  let summary = "allocates every tile once, on entry, and frees it on return";
  let description = [{
    Runs after bufferization. Tiles have static shapes, and no loop carries a buffer that its body allocates (`tegula-cpu-carry-in-place`
    sees to that), so each `memref.alloc` moves to the entry block and is freed at the end, whatever the number of iterations.

    ```mlir
    scf.for %i = %a to %b step %c { %x = memref.alloc() : memref<4xf32> ... }
    ```
    becomes
    ```mlir
    %x = memref.alloc() : memref<4xf32>
    scf.for %i = %a to %b step %c { ... }
    memref.dealloc %x : memref<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"hoisted", "buffers", "buffers allocated on entry">, Statistic<"bytes", "bytes", "their size in bytes">];
}

def CpuLegalizeFloatsPass : Pass<"tegula-cpu-legalize-floats", "::mlir::func::FuncOp"> {
  let summary = "leaves only conversions to and from f32 of the 16-bit float types";
  let description = [{
    Scalar arithmetic on f16 and bf16 is done in f32 and rounded, which is exact for one operation. f64 is rounded to them through f32 *to odd*, which
    rounds once to nearest even (Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008). Conversions of bf16 become integer code by `arith-expand`,
    since neither libgcc 12 nor flush-free machine instructions offer them.

    ```mlir
    %z = arith.addf %x, %y : bf16
    ```
    becomes
    ```mlir
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %z = arith.truncf %2 : f32 to bf16
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"legalized", "ops-legalized", "ops rewritten">];
}

#endif
