// RUN: tegula-opt %s --tegula-to-cpu | FileCheck %s --implicit-check-not="{{ (arith|bufferization|linalg|math|memref|scf|tensor|tile)[.]}}"
// RUN: tegula-opt %s --tegula-to-cpu | tegula-opt -o /dev/null

// A tile program ends in the llvm dialect alone, with its manifest and a C interface; each tile is allocated once and freed.
// CHECK: llvm.func @scores(
// CHECK-SAME: tegula.manifest = {
// CHECK-COUNT-7: llvm.call @malloc
// CHECK-NOT: llvm.call @malloc
// CHECK: llvm.intr.exp
// CHECK-COUNT-7: llvm.call @free
// CHECK-NOT: llvm.call @free
// CHECK: llvm.func @_mlir_ciface_scores
tile.kernel @scores(%q: memref<?x16xbf16, strided<[?, ?]>> {tile.name = "q", tile.dims = ["M", 16 : i64], tile.role = "in"},
                    %k: memref<?x16xbf16, strided<[?, ?]>> {tile.name = "k", tile.dims = ["N", 16 : i64], tile.role = "in"},
                    %o: memref<?xf32, strided<[?]>> {tile.name = "o", tile.dims = ["M"], tile.role = "out"},
                    %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %zero = arith.constant 0 : i64
  %block = arith.constant 8 : i64
  %blocks = arith.ceildivsi %M, %block : i64
  %t = tile.program_id of (%blocks) : i64
  %m = arith.muli %t, %block : i64
  %Q = tile.load %q[%m, %zero] axes [0, 1] : memref<?x16xbf16, strided<[?, ?]>> -> tensor<8x16xbf16>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %sum = tile.for_blocks %n = %zero to %N step 4 iter_args(%acc = %none) -> (tensor<8xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : memref<?x16xbf16, strided<[?, ?]>> -> tensor<4x16xbf16>
    %S = tile.dot %Q, %K transpose_b : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xf32>
    %P = math.exp %S : tensor<8x4xf32>
    %row = tile.reduce add %P : tensor<8x4xf32> -> tensor<8xf32>
    %next = arith.addf %acc, %row : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%m] axes [0] : tensor<8xf32>, memref<?xf32, strided<[?]>>
  tile.return
}
