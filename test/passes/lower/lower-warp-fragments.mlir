// Fragments as vectors of one thread: loads, stores, elementwise code, reductions, broadcasts, votes.
// RUN: tegula-opt %s --tegula-lower-warp | FileCheck %s

!x = memref<?x16xf16, strided<[?, ?]>>
!l = memref<?xf32, strided<[?]>>
!f = tensor<64x8xf16, #warp.fragment>
#direct = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
#plain = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online, epilogue = pairs>

// CHECK-LABEL: llvm.func @fragments
// CHECK-SAME: %[[X:[^ ]+]]: !llvm.ptr<1> {{.*}} %[[XS0:[^ ]+]]: i64 {tegula.argument = {axis = 0 : i64{{.*}} %[[XS1:[^ ]+]]: i64 {tegula.argument = {axis = 1 : i64{{.*}} %[[L:[^ ]+]]: !llvm.ptr<1> {{.*}} %[[LS:[^ ]+]]: i64 {{.*}} %[[M32:[^ ]+]]: i32
warp.kernel @fragments(%x: !x {tile.name = "x", tile.dims = ["M", 16], tile.role = "in"}, %l: !l {tile.name = "l", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      // Warp w owns rows 16 w ..; lane l of it row l / 4, columns 2 (l % 4) and the next.
      // CHECK: %[[M:.*]] = arith.extui %[[M32]] : i32 to i64
      // CHECK: scf.for %[[T:.*]] = %{{.*}} to %[[M]] step
      warp.for_tiles %t of %M {
        // A load of a row or a column that does not exist reads the first one, and gives 0.
        // CHECK: %[[ROW:.*]] = arith.addi %[[T]], %{{.*}} : i64
        // CHECK-NEXT: %[[ROWEXISTS:.*]] = arith.cmpi slt, %[[ROW]], %[[M]]
        // CHECK-NEXT: %[[COL:.*]] = arith.addi
        // CHECK-NEXT: %[[COLEXISTS:.*]] = arith.cmpi slt, %[[COL]], %{{.*}}
        // CHECK-NEXT: %[[EXISTS:.*]] = arith.andi %[[ROWEXISTS]], %[[COLEXISTS]]
        // CHECK-NEXT: %[[C:.*]] = arith.select %[[COLEXISTS]], %[[COL]], %[[ZERO:.*]] : i64
        // CHECK-NEXT: %[[R:.*]] = arith.select %[[ROWEXISTS]], %[[ROW]], %[[ZERO]] : i64
        // CHECK-NEXT: %[[RO:.*]] = arith.muli %[[R]], %[[XS0]]
        // CHECK-NEXT: %[[CO:.*]] = arith.muli %[[C]], %[[XS1]]
        // CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[RO]], %[[CO]]
        // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %[[X]][%[[OFFSET]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
        // CHECK-NEXT: %[[E:.*]] = llvm.load %[[P]] : !llvm.ptr<1> -> f16
        // CHECK-NEXT: arith.select %[[EXISTS]], %[[E]], %{{.*}} : f16
        // CHECK-COUNT-3: llvm.load
        // CHECK: vector.from_elements %{{.*}} : vector<4xf16>
        %f = tile.load %x[%t, %t] axes [0, 1] : !x -> !f
        // CHECK-NEXT: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
        %e = arith.extf %f : !f to tensor<64x8xf32, #warp.fragment>
        // A row lies in the four lanes of a quad.
        // CHECK: arith.maxnumf
        // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[D1:.*]], %{{.*}} : f32 -> f32
        // CHECK: arith.maxnumf
        // CHECK: nvvm.shfl.sync bfly
        // CHECK: arith.maxnumf
        // CHECK-COUNT-2: nvvm.shfl.sync bfly
        // CHECK: %[[ROWS:.*]] = vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
        %r = tile.reduce max %e : tensor<64x8xf32, #warp.fragment> -> tensor<64xf32, #warp.rows>
        // CHECK-NEXT: vector.shuffle %[[ROWS]], %[[ROWS]] [0, 0, 1, 1, 0, 0, 1, 1] : vector<2xf32>
        %b = tile.broadcast %r : tensor<64xf32, #warp.rows> -> tensor<64x16xf32, #warp.fragment>
        %h = arith.truncf %b : tensor<64x16xf32, #warp.fragment> to tensor<64x16xf16, #warp.fragment>
        // Stores of whole rows test the row alone, once; `direct` promises no alignment.
        // CHECK: %[[SEXISTS:.*]] = arith.cmpi slt, %{{.*}}, %[[M]]
        // CHECK-NEXT: scf.if %[[SEXISTS]] {
        // CHECK-COUNT-4: llvm.store %{{.*}} : f16, !llvm.ptr<1>
        // CHECK-NOT: llvm.store
        // CHECK: scf.if
        // CHECK-COUNT-4: llvm.store %{{.*}} : f16, !llvm.ptr<1>
        tile.store %h, %x[%t, %t] axes [0, 1] : tensor<64x16xf16, #warp.fragment>, !x
        // CHECK: %[[FIRSTLANE:.*]] = arith.cmpi eq
        // CHECK-NEXT: %[[WRITES:.*]] = arith.andi %{{.*}}, %[[FIRSTLANE]]
        // CHECK-NEXT: scf.if %[[WRITES]] {
        // CHECK: %[[LP:.*]] = llvm.getelementptr %[[L]]
        // CHECK-NEXT: llvm.store %{{.*}}, %[[LP]] : f32
        tile.store %r, %l[%t] axes [0] : tensor<64xf32, #warp.rows>, !l
        // CHECK: %[[TWO:.*]]:2 = vector.to_elements %{{.*}} : vector<2xi1>
        // CHECK-NEXT: %[[ANY:.*]] = arith.ori %[[TWO]]#0, %[[TWO]]#1
        // CHECK: nvvm.vote.sync any %{{.*}}, %[[ANY]]
        %grew = arith.cmpf ogt, %r, %r : tensor<64xf32, #warp.rows>
        %some = tile.any %grew : tensor<64xi1, #warp.rows>
        // CHECK: scf.if %{{.*}} -> (vector<2xf32>)
        %k = scf.if %some -> tensor<64xf32, #warp.rows> {
          scf.yield %r : tensor<64xf32, #warp.rows>
        } else {
          %z = arith.constant dense<0.0> : tensor<64xf32, #warp.rows>
          scf.yield %z : tensor<64xf32, #warp.rows>
        }
        tile.store %k, %l[%t] axes [0] : tensor<64xf32, #warp.rows>, !l
      }
    }
  }
  warp.return
}

// A pipelined kernel stores words: the manifest's conditions promise that they are aligned. What is less than four pairs of columns a lane is not exchanged.
// CHECK-LABEL: llvm.func @pairs
warp.kernel @pairs(%x: !x {tile.name = "x", tile.dims = ["M", 16], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      // CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
      %zero = arith.constant 0 : i64
      %h = arith.constant dense<1.0> : tensor<64x16xf16, #warp.fragment>
      tile.store %h, %x[%zero, %zero] axes [0, 1] : tensor<64x16xf16, #warp.fragment>, !x
    }
  }
  warp.return
}

// Of 32 columns a lane has four words a row, which the quad exchanges for 16 contiguous bytes where rows are aligned: four shuffles and one store, for each of two rows.
// CHECK-LABEL: llvm.func @quads
warp.kernel @quads(%x: memref<?x32xf16, strided<[?, ?]>> {tile.name = "x", tile.dims = ["M", 32], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      // CHECK: %[[REST:.*]] = arith.andi %{{.*}} : i64
      // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]]
      // CHECK: scf.if %[[ALIGNED]] {
      // CHECK-COUNT-4: nvvm.shfl.sync bfly
      // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      // CHECK-COUNT-4: nvvm.shfl.sync bfly
      // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      // CHECK: } else {
      // CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
      // CHECK-NOT: llvm.store
      %zero = arith.constant 0 : i64
      %h = arith.constant dense<1.0> : tensor<64x32xf16, #warp.fragment>
      tile.store %h, %x[%zero, %zero] axes [0, 1] : tensor<64x32xf16, #warp.fragment>, memref<?x32xf16, strided<[?, ?]>>
    }
  }
  warp.return
}

// epilogue = pairs: no exchange.
// CHECK-LABEL: llvm.func @plain
warp.kernel @plain(%x: memref<?x32xf16, strided<[?, ?]>> {tile.name = "x", tile.dims = ["M", 32], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #plain} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      // CHECK-NOT: nvvm.shfl.sync bfly
      // CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
      // CHECK-NOT: llvm.store
      %zero = arith.constant 0 : i64
      %h = arith.constant dense<1.0> : tensor<64x32xf16, #warp.fragment>
      tile.store %h, %x[%zero, %zero] axes [0, 1] : tensor<64x32xf16, #warp.fragment>, memref<?x32xf16, strided<[?, ?]>>
    }
  }
  warp.return
}
