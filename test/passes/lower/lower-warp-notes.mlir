// The lanes of the producer's warp look at a block each; one of them fills slots and writes notes, which consumers read behind their wait.
// RUN: tegula-opt %s --tegula-allocate-shared --tegula-lower-warp | FileCheck %s

!mem = memref<?x64xbf16, strided<[?, ?]>>
!ring = !warp.ring<64x64xbf16, stages 2>

// CHECK-LABEL: llvm.func @notes
warp.kernel @notes(%x: !mem {tile.name = "x", tile.dims = ["M", 64], tile.role = "in"}, %doc: memref<?xi32, strided<[?]>> {tile.name = "doc", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  %r = warp.ring "x" copies 1 consumers 2 : !ring
  %zero = arith.constant 0 : i64
  warp.roles {
    // CHECK: nvvm.setmaxregister decrease 24
    // CHECK: %[[LANES:.*]] = llvm.mlir.constant(32 : i32)
    // CHECK: %[[WARP:.*]] = arith.cmpi ult, %{{.*}}, %[[LANES]]
    // CHECK: scf.if %[[WARP]]
    warp.role "load" warpgroups 1 registers 24 elected warp {
      warp.for_tiles %t of %M {
        // Numbers that fit are computed in 32 bits.
        // CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
        // CHECK: nvvm.vote.sync ballot
        // CHECK: nvvm.vote.sync ballot
        %live, %tested = warp.classify_blocks %zero to %M step 64 classes {
        ^bb0(%n: i64):
          %last = arith.constant 63 : i64
          %end = arith.addi %n, %last : i64
          %sees = arith.cmpi slt, %end, %M : i64
          tile.yield %sees, %sees : i1, i1
        } : i64, i64
        // CHECK: mbarrier.try_wait
        // CHECK: scf.if
        // CHECK-NOT: }
        // CHECK: cp.async.bulk.tensor
        // CHECK: "st.shared.v4.b32 [$0], {$1, $2, $3, $4};"
        // CHECK: mbarrier.arrive.expect_tx
        %s = warp.acquire %r[%t] copy %zero : !ring
        warp.copy engine(tma) %x[%t, %zero] axes [0, 1] to %s of %r[%t] copy %zero : !mem, !warp.slot<64x64xbf16>, !ring
        warp.note %r[%t] copy %zero(%t, %live) : !ring
        warp.commit %r[%t] copy %zero : !ring
      }
    }
    // CHECK: nvvm.setmaxregister increase 240
    warp.role "compute" warpgroups 2 registers 240 {
      warp.for_tiles %t of %M {
        // CHECK: mbarrier.try_wait
        // CHECK: @$5 ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];"
        // CHECK: nvvm.shfl.sync idx
        %s = warp.wait %r[%t] copy %zero : !ring
        %a, %b = warp.read_note %r[%t] copy %zero : !ring -> i64, i64
        %flag = arith.cmpi eq, %a, %b : i64
        scf.if %flag {
          warp.release %r[%t] copy %zero : !ring
        }
      }
    }
  }
  warp.return
}

// Of many ranges each lane takes every 32nd, four at a time, and marks the blocks that they meet; the lane's own block is live where some lane has marked it.
// CHECK-LABEL: llvm.func @ranges
warp.kernel @ranges(%x: !mem {tile.name = "x", tile.dims = ["M", 64], tile.role = "in"}, %first: memref<?xi32, strided<[?]>> {tile.name = "first", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  %r = warp.ring "x" copies 1 consumers 2 : !ring
  %zero = arith.constant 0 : i64
  %count = arith.constant 256 : i64
  warp.roles {
    warp.role "load" warpgroups 1 registers 24 elected warp {
      warp.for_tiles %t of %M {
        // CHECK: %[[MARKS:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}}) -> (i32)
        // CHECK-COUNT-4: llvm.load %{{.*}} -> i32
        // CHECK-COUNT-4: arith.ori
        // CHECK: scf.yield
        // CHECK: %[[MARKED:.*]] = nvvm.redux.sync or %[[MARKS]]
        // CHECK: %[[AT:.*]] = arith.shrui %[[MARKED]], %{{.*}} : i32
        // CHECK: %[[OWN:.*]] = arith.andi %[[AT]]
        // CHECK: %[[LIVE:.*]] = arith.cmpi ne, %[[OWN]]
        // CHECK: %[[EXISTS:.*]] = arith.andi %[[LIVE]]
        // CHECK: nvvm.vote.sync ballot %{{.*}}, %[[EXISTS]]
        %live = warp.classify_blocks %zero to %M step 64 classes {
        ^bb0(%n: i64):
          %meets = tile.any_range %n step 64 of %count {
          ^bb0(%p: i64):
            %element = tile.lookup %first[%p] : memref<?xi32, strided<[?]>>
            %lower = arith.extsi %element : i32 to i64
            %width = arith.constant 16 : i64
            %upper = arith.addi %lower, %width : i64
            tile.yield %lower, %upper : i64, i64
          }
          tile.yield %meets : i1
        } : i64
        %s = warp.acquire %r[%t] copy %zero : !ring
        warp.copy engine(tma) %x[%t, %zero] axes [0, 1] to %s of %r[%t] copy %zero : !mem, !warp.slot<64x64xbf16>, !ring
        warp.note %r[%t] copy %zero(%t, %live) : !ring
        warp.commit %r[%t] copy %zero : !ring
      }
    }
    warp.role "compute" warpgroups 2 registers 240 {
      warp.for_tiles %t of %M {
        %s = warp.wait %r[%t] copy %zero : !ring
        %a, %b = warp.read_note %r[%t] copy %zero : !ring -> i64, i64
        warp.release %r[%t] copy %zero : !ring
      }
    }
  }
  warp.return
}
