// A tile of shared memory in registers: pairs of columns from where the swizzle put them. A copy's box is as wide as a panel of its elements.
// RUN: tegula-opt %s --split-input-file --tegula-allocate-shared --tegula-lower-warp | FileCheck %s

!mem = memref<?x?xf32, strided<[?, ?]>>
!ring = !warp.ring<64x64xf32, stages 1>
!tile = tensor<64x64xf32, #warp.fragment>

// CHECK-LABEL: llvm.func @table
// CHECK-SAME: box = [32, 64], kind = "tensor_map", swizzle = 128
warp.kernel @table(%x: !mem {tile.name = "x", tile.dims = ["M", "N"], tile.role = "in"}, %y: !mem {tile.name = "y", tile.dims = ["M", "N"], tile.role = "out"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  %r = warp.ring "x" copies 2 consumers 2 : !ring
  %zero = arith.constant 0 : i64
  warp.roles {
    warp.role "load" warpgroups 1 registers 24 elected {
      warp.for_tiles %t of %M {
        %s = warp.acquire %r[%t] copy %zero : !ring
        // Two panels of 32 columns, 8192 bytes apart.
        // CHECK: cp.async.bulk.tensor.2d
        // CHECK: llvm.mlir.constant(32 : i32)
        // CHECK: llvm.mlir.constant(8192 : i32)
        // CHECK: cp.async.bulk.tensor.2d
        // CHECK: llvm.mlir.constant(16384 : i32)
        // CHECK: mbarrier.arrive.expect_tx
        warp.copy engine(tma) %x[%t, %zero] axes [0, 1] to %s of %r[%t] copy %zero : !mem, !warp.slot<64x64xf32>, !ring
        warp.commit %r[%t] copy %zero : !ring
      }
    }
    warp.role "compute" warpgroups 2 registers 240 {
      %g = warp.warpgroup
      warp.for_tiles %t of %M {
        // CHECK: mbarrier.try_wait.parity
        // The row's number modulo 8, shifted to the number of a piece of 16 bytes.
        // CHECK: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i32)
        // CHECK: %[[LOW:.*]] = arith.andi %[[ROW:.*]], %[[SEVEN]]
        // CHECK: %[[EXCHANGED:.*]] = arith.shli %[[LOW]], %{{.*}}
        // CHECK: %[[INROW:.*]] = arith.xori %{{.*}}, %[[EXCHANGED]]
        // CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[INROW]]
        // 8 columns on: other bits of the place.
        // CHECK: %[[P0:.*]] = llvm.inttoptr %[[FIRST]] : i32 to !llvm.ptr<3>
        // CHECK: %[[EIGHT:.*]] = llvm.mlir.constant(32 : i32)
        // CHECK: %[[NEXT:.*]] = arith.xori %[[FIRST]], %[[EIGHT]]
        // CHECK: llvm.inttoptr %[[NEXT]]
        // Both rows of the first columns: 8 rows are 1024 bytes.
        // CHECK: llvm.load %[[P0]] {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
        // CHECK: %[[P8:.*]] = llvm.getelementptr %[[P0]][1024]
        // CHECK: llvm.load %[[P8]] {alignment = 8 : i64}
        // The second panel.
        // CHECK: %[[PANEL:.*]] = llvm.getelementptr %[[P0]][8192]
        // CHECK: llvm.load %[[PANEL]]
        %s = warp.wait %r[%t] copy %g : !ring
        %f = warp.read %s : !warp.slot<64x64xf32> -> !tile
        // The next copy must find all loads done.
        // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        // CHECK: nvvm.bar.warp.sync
        // CHECK: mbarrier.arrive.shared::cta
        warp.release %r[%t] copy %g : !ring
        tile.store %f, %y[%t, %zero] axes [0, 1] : !tile, !mem
      }
    }
  }
  warp.return
}
