// Tables and quotients of columns alone: each lane computes every 32nd column, and shuffles bring a thread those of its elements.
// RUN: tegula-opt %s --tegula-lower-warp | FileCheck %s

#direct = #tile.schedule<form = direct, block_m = 64, block_n = 64, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>

// CHECK-LABEL: llvm.func @lanes
warp.kernel @lanes(%l: memref<?x64xi1, strided<[?, ?]>> {tile.name = "l", tile.dims = ["M", 64], tile.role = "out"},
                   %doc: memref<?xi32, strided<[?]>> {tile.name = "doc", tile.dims = ["M"], tile.role = "in"},
                   %wide: memref<?xi64, strided<[?]>> {tile.name = "wide", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      warp.for_tiles %t of %M {
        %block = arith.remsi %t, %M : i64
        // Columns lane and 32 + lane.
        // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %{{.*}} : i32
        // CHECK: arith.constant dense<[0, 32]> : vector<2xi32>
        // CHECK: arith.divsi %{{.*}}, %{{.*}} : vector<2xi32>
        // CHECK-COUNT-4: llvm.load
        // CHECK-NOT: llvm.load
        // The second column of a pair, and the first one from 32 on: the other register of the same lane.
        // CHECK: %[[DOCS:.*]]:2 = vector.to_elements %{{.*}} : vector<2xi32>
        // CHECK: %[[QUOTIENTS:.*]]:2 = vector.to_elements %{{.*}} : vector<2xi64>
        // CHECK-COUNT-8: nvvm.shfl.sync idx %{{.*}}, %[[DOCS]]#0, %{{.*}}, %{{.*}} : i32
        // CHECK-COUNT-8: nvvm.shfl.sync idx %{{.*}}, %[[DOCS]]#1, %{{.*}}, %{{.*}} : i32
        // An i64 moves in halves.
        // CHECK-COUNT-32: nvvm.shfl.sync idx
        // CHECK-NOT: nvvm.shfl.sync
        // Only the rows' tables and quotients are still to be computed: two of each.
        // CHECK-NOT: arith.divsi
        // CHECK-COUNT-2: llvm.load
        // CHECK-NOT: llvm.load
        // CHECK: arith.cmpi eq, %{{.*}} : vector<32xi32>
        %keep = tile.mask rows(%block) cols(%zero) {
        ^bb0(%i: i64, %j: i64):
          %c7 = arith.constant 7 : i64
          %q = arith.divsi %j, %c7 : i64
          %a = tile.lookup %doc[%i] : memref<?xi32, strided<[?]>>
          %b = tile.lookup %doc[%j] : memref<?xi32, strided<[?]>>
          %w = tile.lookup %wide[%q] : memref<?xi64, strided<[?]>>
          %same = arith.cmpi eq, %a, %b : i32
          %near = arith.cmpi slt, %i, %w : i64
          %both = arith.andi %same, %near : i1
          tile.yield %both : i1
        } : tensor<64x64xi1, #warp.fragment>
        tile.store %keep, %l[%block, %zero] axes [0, 1] : tensor<64x64xi1, #warp.fragment>, memref<?x64xi1, strided<[?, ?]>>
      }
    }
  }
  warp.return
}

// What lanes computed is a column's value like any other, no sum to look into: a place within a document.
// CHECK-LABEL: llvm.func @places
// CHECK: arith.cmpi sge, %{{.*}} : vector<32xi{{32|64}}>
warp.kernel @places(%l: memref<?x64xi1, strided<[?, ?]>> {tile.name = "l", tile.dims = ["M", 64], tile.role = "out"},
                    %start: memref<?xi32, strided<[?]>> {tile.name = "start", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      warp.for_tiles %t of %M {
        %block = arith.remsi %t, %M : i64
        %keep = tile.mask rows(%block) cols(%zero) {
        ^bb0(%i: i64, %j: i64):
          %a = tile.lookup %start[%i] : memref<?xi32, strided<[?]>>
          %b = tile.lookup %start[%j] : memref<?xi32, strided<[?]>>
          %wa = arith.extsi %a : i32 to i64
          %wb = arith.extsi %b : i32 to i64
          %li = arith.subi %i, %wa : i64
          %lj = arith.subi %j, %wb : i64
          %sees = arith.cmpi sge, %li, %lj : i64
          tile.yield %sees : i1
        } : tensor<64x64xi1, #warp.fragment>
        tile.store %keep, %l[%block, %zero] axes [0, 1] : tensor<64x64xi1, #warp.fragment>, memref<?x64xi1, strided<[?, ?]>>
      }
    }
  }
  warp.return
}
