// RUN: tegula-opt %s --split-input-file --tegula-cpu-lower-tiles --cse --canonicalize | FileCheck %s

// An index of another axis that is outside makes the box empty.
// CHECK-LABEL: func.func @outside(
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[I:.*]], %{{.*}} : index
// CHECK: %[[END:.*]] = arith.select %[[EXISTS]], %{{.*}}, %c0 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK: memref.load %{{.*}}[%[[I]], %{{.*}}]
// Under a mask, each element asks for its flag.
// CHECK: %[[FLAG:.*]] = tensor.extract %{{.*}}[%[[X:.*]]] : tensor<4xi1>
// CHECK: scf.if %[[FLAG]]
// CHECK: tensor.extract %{{.*}}[%[[X]]] : tensor<4xf32>
// CHECK: memref.store
tile.kernel @outside(%x: memref<?x?xf32, strided<[?, ?]>> {tile.name = "x", tile.dims = ["M", "N"], tile.role = "inout"}, %i: i64 {tile.name = "i"}) {
  %t = tile.load %x[%i, %i] axes [1] : memref<?x?xf32, strided<[?, ?]>> -> tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %m = arith.cmpf ogt, %t, %zero : tensor<4xf32>
  tile.store %t, %x[%i, %i] axes [1] mask %m : tensor<4xf32>, memref<?x?xf32, strided<[?, ?]>>
  tile.return
}

// -----

// A gather clamps the index of each lane, and reads only where the lane is used and memory is not empty.
// CHECK-LABEL: func.func @computed(
// CHECK: scf.for %[[X:.*]] = %c0 to %c4
// CHECK: %[[USED:.*]] = tensor.extract %{{.*}}[%[[X]]] : tensor<4xi1>
// CHECK: %[[INDEX:.*]] = tensor.extract %{{.*}}[%[[X]]] : tensor<4xi64>
// CHECK: %[[LOW:.*]] = arith.minsi %[[INDEX]]
// CHECK: arith.maxsi %[[LOW]]
// CHECK: %[[READS:.*]] = arith.andi %{{.*}}, %[[USED]]
// CHECK: %[[NONE:.*]] = arith.select %[[USED]], %{{.*}}, %{{.*}} : f32
// CHECK: scf.if %[[READS]] -> (f32)
// CHECK: memref.load
// CHECK: scf.yield %[[NONE]]
// A scatter tests it, an addition reads what is there.
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult
// CHECK: scf.if %[[EXISTS]]
// CHECK-NOT: memref.load
// CHECK: memref.store
// CHECK: scf.if
// CHECK: %[[OLD:.*]] = memref.load
// CHECK: arith.addf %[[OLD]]
// CHECK: memref.store
tile.kernel @computed(%x: memref<?xf32, strided<[?]>> {tile.name = "x", tile.dims = ["N"], tile.role = "inout"}, %f: f32 {tile.name = "f"},
                      %k: i64 {tile.name = "k"}) {
  %i = tile.iota : tensor<4xi64>
  %ks = tensor.splat %k : tensor<4xi64>
  %m = arith.cmpi sgt, %i, %ks : tensor<4xi64>
  %t = tile.gather %x[%i] mask %m fill %f : memref<?xf32, strided<[?]>>, tensor<4xi64> -> tensor<4xf32>
  tile.scatter %t, %x[%i] : tensor<4xf32>, memref<?xf32, strided<[?]>>, tensor<4xi64>
  tile.atomic_add %t, %x[%i] : tensor<4xf32>, memref<?xf32, strided<[?]>>, tensor<4xi64>
  tile.return
}

// -----

// Running sums carry the sum along the axis, here the outer one of memory; integer products extend their operands.
// CHECK-LABEL: func.func @sums(
// CHECK: memref.alloc() : memref<4x8xi8>
// CHECK: memref.alloc() : memref<4x8xi8>
// CHECK-NEXT: scf.for %[[J:[^ ]*]] = %c0 to %c8
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 iter_args(%[[SUM:.*]] = %c0_i8)
// CHECK: %[[V:.*]] = tensor.extract %{{.*}}[%[[I]], %[[J]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[SUM]], %[[V]] : i8
// CHECK: memref.store %[[NEXT]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: arith.extsi %{{.*}} : tensor<4x8xi8> to tensor<4x8xi32>
// CHECK: arith.muli
// CHECK: arith.addi
tile.kernel @sums(%x: memref<4x8xi8, strided<[?, ?]>> {tile.name = "x", tile.dims = [4 : i64, 8 : i64], tile.role = "in"},
                  %y: memref<4x4xi32, strided<[?, ?]>> {tile.name = "y", tile.dims = [4 : i64, 4 : i64], tile.role = "out"}) {
  %zero = arith.constant 0 : i64
  %t = tile.load %x[%zero, %zero] axes [0, 1] : memref<4x8xi8, strided<[?, ?]>> -> tensor<4x8xi8>
  %c = tile.cumsum %t axis 0 : tensor<4x8xi8>
  %d = tile.dot %c, %t transpose_b : tensor<4x8xi8>, tensor<4x8xi8> -> tensor<4x4xi32>
  tile.store %d, %y[%zero, %zero] axes [0, 1] : tensor<4x4xi32>, memref<4x4xi32, strided<[?, ?]>>
  tile.return
}

// -----

// Text is constant data of the module; equal functions of the host are declared once.
// CHECK-DAG: llvm.mlir.global private constant @{{.*}}("x = ")
// CHECK-DAG: llvm.mlir.global private constant @{{.*}}("ids.tg:4:2: assertion failed: some")
// CHECK-LABEL: func.func @reports(
// CHECK: memref.dim
// CHECK: call @tegula.print_text(
// CHECK: call @tegula.print_integer(%{{.*}}) : (i64) -> ()
// CHECK: %[[ALL:.*]] = tile.reduce and
// CHECK: %[[FAILS:.*]] = arith.xori %[[ALL]]
// CHECK: scf.if %[[FAILS]]
// What is printed between two calls is the message.
// CHECK: call @tegula.assertion_failed(%c1
// CHECK: call @tegula.print_text(
// CHECK: call @tegula.print_integer(
// CHECK: call @tegula.print_text(
// CHECK: call @tegula.assertion_failed(%c0
// CHECK: func.func private @tegula.print_text(!llvm.ptr, i64)
// CHECK-NOT: func.func private @tegula.print_text
tile.kernel @reports(%i: i8 {tile.name = "i"}, %k: i64 {tile.name = "k"}, %x: memref<?xf32, strided<[?]>> {tile.name = "x", tile.role = "in", tile.dims = ["N"]}) {
  %n = tile.extent %x axis 0 : memref<?xf32, strided<[?]>>
  tile.print "x = {};" (%i) : i8
  %l = tile.iota : tensor<4xi64>
  %ks = tensor.splat %k : tensor<4xi64>
  %m = arith.cmpi sgt, %l, %ks : tensor<4xi64>
  tile.assert %m, "some" : tensor<4xi1> loc("ids.tg":4:2)
  %few = arith.cmpi slt, %k, %n : i64
  tile.assert %few, "{} of them" (%k : i64) : i1
  tile.return
}

// -----

// Visits of blocks are counted on a GPU alone.
// CHECK-LABEL: func.func @visit(
// CHECK-NOT: tile.visit
// CHECK: return
tile.kernel @visit(%tested: i1 {tile.name = "tested"}) {
  tile.visit tested %tested
  tile.return
}
