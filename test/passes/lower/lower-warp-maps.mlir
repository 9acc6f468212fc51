// Maps: values of rows, loops in an element's code, and long code a few elements at a time.
// RUN: tegula-opt %s --tegula-lower-warp | FileCheck %s

#direct = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
#rows = #warp.rows
#fragment = #warp.fragment

// A result of rank 1 is 2 values. Code that fits in i32 is widened to what it yields.
// CHECK-LABEL: llvm.func @rows
warp.kernel @rows(%l: memref<?xi64, strided<[?]>> {tile.name = "l", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %x = arith.constant dense<1.0> : tensor<64xf32, #rows>
      %zero = arith.constant 0 : i64
      warp.for_tiles %t of %M {
        // CHECK: %[[ROWS:.*]] = vector.from_elements %{{.*}}, %{{.*}} : vector<2xi32>
        // CHECK: %[[SUM:.*]] = arith.addi %[[ROWS]], %{{.*}} : vector<2xi32>
        // CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %{{.*}}, %{{.*}} : vector<2xf32>
        // CHECK: %[[R:.*]] = arith.select %[[ABOVE]], %[[SUM]], %[[ROWS]] : vector<2xi1>, vector<2xi32>
        // CHECK: arith.extsi %[[R]] : vector<2xi32> to vector<2xi64>
        %block = arith.remsi %t, %M : i64
        %y = tile.map %x rows(%block) {
        ^bb0(%e: f32, %i: i64):
          %c = arith.constant 0.5 : f32
          %one = arith.constant 1 : i64
          %next = arith.addi %i, %one : i64
          %above = arith.cmpf ogt, %e, %c : f32
          %r = arith.select %above, %next, %i : i64
          tile.yield %r : i64
        } : (tensor<64xf32, #rows>) -> tensor<64xi64, #rows>
        tile.store %y, %l[%block] axes [0] : tensor<64xi64, #rows>, memref<?xi64, strided<[?]>>
      }
    }
  }
  warp.return
}

// A loop's carried value has the shape of what it takes on the way: here a row's value that becomes an element's.
// CHECK-LABEL: llvm.func @loop
warp.kernel @loop(%l: memref<?x16xi1, strided<[?, ?]>> {tile.name = "l", tile.dims = ["M", 16], tile.role = "out"},
                  %sel: memref<?x?xi32, strided<[?, ?]>> {tile.name = "sel", tile.dims = ["M", "K"], tile.role = "in"},
                  %M: i64 {tile.dim = "M"}, %K: i64 {tile.dim = "K"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      warp.for_tiles %t of %M {
        // CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[ANY:.*]] = %{{.*}}) -> (vector<8xi1>)
        // Two loads, one a row.
        // CHECK-COUNT-2: llvm.load
        // CHECK-NOT: llvm.load
        // CHECK: %[[SAME:.*]] = arith.cmpi eq, {{.*}} : vector<8xi32>
        // CHECK: %[[NEXT:.*]] = arith.ori %[[ANY]], %[[SAME]] : vector<8xi1>
        // CHECK: scf.yield %[[NEXT]]
        // CHECK: vector.to_elements %[[ALL]]
        %keep = tile.mask rows(%t) cols(%zero) {
        ^bb0(%i: i64, %j: i64):
          %none = arith.constant false
          %from = arith.constant 0 : i64
          %one = arith.constant 1 : i64
          %any = scf.for %k = %from to %K step %one iter_args(%so_far = %none) -> (i1) : i64 {
            %v = tile.lookup %sel[%i, %k] : memref<?x?xi32, strided<[?, ?]>>
            %w = arith.extsi %v : i32 to i64
            %same = arith.cmpi eq, %w, %j : i64
            %or = arith.ori %so_far, %same : i1
            scf.yield %or : i1
          }
          tile.yield %any : i1
        } : tensor<64x16xi1, #fragment>
        tile.store %keep, %l[%t, %zero] axes [0, 1] : tensor<64x16xi1, #fragment>, memref<?x16xi1, strided<[?, ?]>>
      }
    }
  }
  warp.return
}

// What all elements share comes once; then the code of 4 elements, and the code of the other 4.
// CHECK-LABEL: llvm.func @groups
warp.kernel @groups(%l: memref<?x16xf32, strided<[?, ?]>> {tile.name = "l", tile.dims = ["M", 16], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %x = arith.constant dense<1.0> : tensor<64x16xf32, #fragment>
      %zero = arith.constant 0 : i64
      warp.for_tiles %t of %M {
        // CHECK-COUNT-1: arith.sitofp %{{.*}} : vector<2xi32> to vector<2xf32>
        // CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
        // CHECK-COUNT-41: arith.addf {{.*}} : vector<4xf32>
        // CHECK: vector.shuffle %{{.*}} [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
        // CHECK-COUNT-41: arith.addf {{.*}} : vector<4xf32>
        // CHECK-NOT: arith.addf
        // CHECK: vector.from_elements {{.*}} : vector<8xf32>
        %y = tile.map %x rows(%t) cols(%zero) {
        ^bb0(%s: f32, %i: i64, %j: i64):
          %f = arith.sitofp %i : i64 to f32
          %a0 = arith.addf %s, %f : f32  %a1 = arith.addf %a0, %f : f32  %a2 = arith.addf %a1, %f : f32  %a3 = arith.addf %a2, %f : f32
          %a4 = arith.addf %a3, %f : f32  %a5 = arith.addf %a4, %f : f32  %a6 = arith.addf %a5, %f : f32  %a7 = arith.addf %a6, %f : f32
          %a8 = arith.addf %a7, %f : f32  %a9 = arith.addf %a8, %f : f32  %a10 = arith.addf %a9, %f : f32  %a11 = arith.addf %a10, %f : f32
          %a12 = arith.addf %a11, %f : f32  %a13 = arith.addf %a12, %f : f32  %a14 = arith.addf %a13, %f : f32  %a15 = arith.addf %a14, %f : f32
          %a16 = arith.addf %a15, %f : f32  %a17 = arith.addf %a16, %f : f32  %a18 = arith.addf %a17, %f : f32  %a19 = arith.addf %a18, %f : f32
          %a20 = arith.addf %a19, %f : f32  %a21 = arith.addf %a20, %f : f32  %a22 = arith.addf %a21, %f : f32  %a23 = arith.addf %a22, %f : f32
          %a24 = arith.addf %a23, %f : f32  %a25 = arith.addf %a24, %f : f32  %a26 = arith.addf %a25, %f : f32  %a27 = arith.addf %a26, %f : f32
          %a28 = arith.addf %a27, %f : f32  %a29 = arith.addf %a28, %f : f32  %a30 = arith.addf %a29, %f : f32  %a31 = arith.addf %a30, %f : f32
          %a32 = arith.addf %a31, %f : f32  %a33 = arith.addf %a32, %f : f32  %a34 = arith.addf %a33, %f : f32  %a35 = arith.addf %a34, %f : f32
          %a36 = arith.addf %a35, %f : f32  %a37 = arith.addf %a36, %f : f32  %a38 = arith.addf %a37, %f : f32  %a39 = arith.addf %a38, %f : f32
          %a40 = arith.addf %a39, %f : f32
          tile.yield %a40 : f32
        } : (tensor<64x16xf32, #fragment>) -> tensor<64x16xf32, #fragment>
        tile.store %y, %l[%t, %zero] axes [0, 1] : tensor<64x16xf32, #fragment>, memref<?x16xf32, strided<[?, ?]>>
      }
    }
  }
  warp.return
}
