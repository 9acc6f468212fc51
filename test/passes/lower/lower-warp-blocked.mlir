// Tiles of the whole CTA as vectors of one thread: wide accesses beside single ones, reductions over registers, lanes and warps, moves through shared memory.
// RUN: tegula-opt %s --tegula-allocate-shared --tegula-lower-warp --split-input-file | FileCheck %s

!v = memref<?xf32, strided<[?]>>
!t = tensor<1024xf32, #warp.blocked<registers = [[0, 1, 4], [0, 512, 2]], threads = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]]>>

// CHECK-LABEL: llvm.func @row
// CHECK-SAME: nvvm.minctasm = 8 : i32, nvvm.reqntid = array<i32: 128>
// CHECK-SAME: schedule = {ctas = 8 : i64, form = "direct", threads = 128 : i64}
// CHECK-SAME: shared_bytes = 1104
warp.kernel @row(%x: !v {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %o: !v {tile.name = "o", tile.dims = ["N"], tile.role = "out"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #tile.program<threads = 128, ctas = 8>} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      warp.for_tiles %t of %N {
        // One branch for all threads: 16 bytes at a time, predicated; else element by element.
        // CHECK: scf.if %{{.*}} -> (vector<8xf32>)
        // CHECK-COUNT-2: "mov.b32 $0, 0;\0Amov.b32 $1, 0;\0Amov.b32 $2, 0;\0Amov.b32 $3, 0;\0A@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];"
        // CHECK: } else {
        // CHECK-COUNT-8: "mov.b32 $0, 0;\0A@$2 ld.global.b32 $0, [$1];"
        %a = tile.load %x[%t] axes [0] : !v -> !t
        // Seven additions in the thread, five shuffles, then one value a warp in shared memory.
        // CHECK-COUNT-7: arith.addf
        // CHECK-COUNT-4: nvvm.shfl.sync bfly
        // CHECK: %[[MORE:.+]] = nvvm.shfl.sync bfly
        // CHECK-NEXT: arith.addf %{{.*}}, %[[MORE]]
        // CHECK: "bar.sync $0, $1;"
        // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
        // CHECK: "bar.sync $0, $1;"
        // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
        %s = tile.reduce add %a : !t -> f32
        %b = tensor.splat %s : !t
        // CHECK: "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};"
        tile.store %b, %o[%t] axes [0] : !t, !v
      }
    }
  }
  warp.return
}

// -----

!v = memref<?xf32, strided<[?]>>
#a = #warp.blocked<registers = [[1, 1, 4]], threads = [[1, 4], [0, 1], [0, 2], [0, 4], [0, 8], [], []]>
#b = #warp.blocked<registers = [[0, 1, 4]], threads = [[0, 4], [0, 8], [1, 1], [1, 2], [1, 4], [], []]>
#c = #warp.blocked<registers = [[1, 1, 2], [1, 2, 2]], threads = [[1, 4], [0, 1], [0, 2], [0, 4], [0, 8], [], []]>

// CHECK-LABEL: llvm.func @moves
warp.kernel @moves(%x: memref<?x?xf32, strided<[?, ?]>> {tile.name = "x", tile.dims = ["N", "N"], tile.role = "inout"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #tile.program<threads = 128, ctas = 1>} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      warp.for_tiles %t of %N {
        %0 = tile.load %x[%t, %t] axes [0, 1] : memref<?x?xf32, strided<[?, ?]>> -> tensor<16x8xf32, #a>
        // The same threads hold the same elements: no memory.
        // CHECK: vector.shuffle
        // CHECK-NOT: bar.sync
        %1 = warp.convert %0 : tensor<16x8xf32, #a> -> tensor<16x8xf32, #c>
        // Neighbours along the row are written together, and read one by one.
        // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
        // CHECK: "bar.sync $0, $1;"
        // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
        %2 = warp.convert %1 : tensor<16x8xf32, #c> -> tensor<16x8xf32, #b>
        // CHECK: "bar.sync $0, $1;"
        warp.fence
        // Of four threads that hold an element, one writes it.
        // CHECK: %[[COPIES:.*]] = llvm.mlir.constant(96 : i32)
        // CHECK: %[[MASKED:.*]] = arith.andi %{{.*}}, %[[COPIES]] : i32
        // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[MASKED]]
        // CHECK: arith.andi %{{.*}}, %[[FIRST]] : i1
        tile.store %2, %x[%t, %t] axes [0, 1] : tensor<16x8xf32, #b>, memref<?x?xf32, strided<[?, ?]>>
      }
    }
  }
  warp.return
}
