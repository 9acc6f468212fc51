// Element regions: each op once in the least shape that holds its operands; i32 where ranges prove it; lookups clamped.
// RUN: tegula-opt %s --tegula-lower-warp | FileCheck %s

#direct = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>

// CHECK: llvm.mlir.global internal constant @tegula_zero(0 : i64) {addr_space = 1 : i32, alignment = 8 : i64} : i64

// CHECK-LABEL: llvm.func @narrow
// CHECK-SAME: %[[W:[^ ]+]]: i32 {tegula.argument = {kind = "scalar", name = "W", type = "i32"}}
warp.kernel @narrow(%l: memref<?x16xi1, strided<[?, ?]>> {tile.name = "l", tile.dims = ["M", 16], tile.role = "out"}, %W: i32 {tile.name = "W"},
                    %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %c64 = arith.constant 64 : i64
      %zero = arith.constant 0 : i64
      warp.for_tiles %t of %M {
        %block = arith.remsi %t, %M : i64
        %col = arith.minsi %block, %c64 : i64
        // Rows are 2 values, columns 4, and only what depends on both has 8.
        // CHECK: %[[ROWS:.*]] = vector.from_elements %{{.*}}, %{{.*}} : vector<2xi32>
        // CHECK: %[[BASE:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
        // CHECK: %[[COLS:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<4xi32>
        // CHECK: %[[SHIFT:.*]] = arith.subi %{{.*}}, %{{.*}} : i32
        // What the rows and the block's first column decide is one number a row, and an element compares a constant with it: i + d - j >= 0.
        // CHECK: %[[AT:.*]] = vector.broadcast %[[BASE]] : i32 to vector<2xi32>
        // CHECK: %[[FROM:.*]] = arith.subi %{{.*}}, %[[AT]] : vector<2xi32>
        // CHECK: %[[LIMIT:.*]] = arith.addi %[[FROM]], %{{.*}} : vector<2xi32>
        // CHECK: %[[OFFSETS:.*]] = arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9]> : vector<8xi32>
        // CHECK: %[[R:.*]] = vector.shuffle %[[LIMIT]], %[[LIMIT]] [0, 0, 1, 1, 0, 0, 1, 1] : vector<2xi32>
        // CHECK: %[[SEEN:.*]] = arith.cmpi sge, %[[R]], %[[OFFSETS]] : vector<8xi32>
        // An i32 of the user needs no widening.
        // CHECK: vector.broadcast %[[W]] : i32 to vector<4xi32>
        // CHECK: %[[NEAR:.*]] = arith.cmpi slt, %[[COLS]], %{{.*}} : vector<4xi32>
        // CHECK: arith.andi %[[SEEN]], %{{.*}} : vector<8xi1>
        %keep = tile.mask rows(%col) cols(%zero) {
        ^bb0(%i: i64, %j: i64):
          %d = arith.subi %N, %M : i64
          %row = arith.addi %i, %d : i64
          %seen = arith.cmpi sge, %row, %j : i64
          %w = arith.extsi %W : i32 to i64
          %near = arith.cmpi slt, %j, %w : i64
          %both = arith.andi %seen, %near : i1
          tile.yield %both : i1
        } : tensor<64x16xi1, #warp.fragment>
        tile.store %keep, %l[%block, %zero] axes [0, 1] : tensor<64x16xi1, #warp.fragment>, memref<?x16xi1, strided<[?, ?]>>
      }
    }
  }
  warp.return
}

// A product of two indices may pass 31 bits and is one of i64; the column, which a lookup wants as i32, is extended.
// CHECK-LABEL: llvm.func @wide
// CHECK-SAME: %[[TABLE:[^ ]+]]: !llvm.ptr<1> {tegula.argument = {kind = "pointer", tensor = "table"}}, %[[STRIDE:[^ ]+]]: i64
warp.kernel @wide(%s: memref<?x16xf32, strided<[?, ?]>> {tile.name = "s", tile.dims = ["M", 16], tile.role = "out"},
                  %table: memref<?xbf16, strided<[?]>> {tile.name = "table", tile.dims = ["H"], tile.role = "in"},
                  %M: i64 {tile.dim = "M"}, %H: i64 {tile.dim = "H"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %x = arith.constant dense<1.0> : tensor<64x16xf32, #warp.fragment>
      warp.for_tiles %t of %M {
        %block = arith.remsi %t, %M : i64
        // CHECK: arith.extsi %{{.*}} : vector<4xi32> to vector<4xi64>
        // CHECK: arith.muli %{{.*}}, %{{.*}} : vector<8xi64>
        // A lookup of the column alone is 4 loads. Its index is clamped; an empty table's place is taken by a zero.
        // CHECK: vector.to_elements
        // CHECK: %[[LAST:.*]] = arith.subi %[[EXTENT:.*]], %{{.*}} : i64
        // CHECK-NEXT: %[[LAST32:.*]] = arith.trunci %[[LAST]]
        // CHECK: %[[LOW:.*]] = arith.minsi %{{.*}}, %[[LAST32]] : i32
        // CHECK-NEXT: %[[AT32:.*]] = arith.maxsi %[[LOW]], %{{.*}} : i32
        // CHECK-NEXT: %[[AT:.*]] = arith.extui %[[AT32]] : i32 to i64
        // CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %[[EXTENT]], %{{.*}}
        // CHECK-NEXT: %[[OFFSET:.*]] = arith.muli %[[AT]], %[[STRIDE]]
        // CHECK-NEXT: %[[PLACE:.*]] = llvm.getelementptr %[[TABLE]][%[[OFFSET]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
        // CHECK-NEXT: %[[NULL:.*]] = llvm.mlir.addressof @tegula_zero : !llvm.ptr<1>
        // CHECK-NEXT: %[[SAFE:.*]] = arith.select %[[EMPTY]], %[[NULL]], %[[PLACE]]
        // CHECK-NEXT: llvm.load %[[SAFE]] : !llvm.ptr<1> -> bf16
        // CHECK-COUNT-3: llvm.load
        // CHECK-NOT: llvm.load
        // CHECK: vector.from_elements %{{.*}} : vector<4xbf16>
        // CHECK: arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
        // CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<contract> : vector<8xf32>
        %y = tile.map %x rows(%block) cols(%zero) {
        ^bb0(%one: f32, %i: i64, %j: i64):
          %p = arith.muli %i, %j : i64
          %f = arith.sitofp %p : i64 to f32
          %v = tile.lookup %table[%j] : memref<?xbf16, strided<[?]>>
          %w = arith.extf %v : bf16 to f32
          %r = arith.addf %one, %f : f32
          %r2 = arith.addf %r, %w : f32
          tile.yield %r2 : f32
        } : (tensor<64x16xf32, #warp.fragment>) -> tensor<64x16xf32, #warp.fragment>
        tile.store %y, %s[%block, %zero] axes [0, 1] : tensor<64x16xf32, #warp.fragment>, memref<?x16xf32, strided<[?, ?]>>
      }
    }
  }
  warp.return
}

// A distance as a float: what the rows decide is converted once a row. A limit that may pass i32 is clamped to where no offset reaches it.
// CHECK-LABEL: llvm.func @distance
warp.kernel @distance(%s: memref<?x16xf32, strided<[?, ?]>> {tile.name = "s", tile.dims = ["M", 16], tile.role = "out"}, %W: i32 {tile.name = "W"}, %slope: f32 {tile.name = "slope"},
                      %M: i64 {tile.dim = "M"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %x = arith.constant dense<1.0> : tensor<64x16xf32, #warp.fragment>
      warp.for_tiles %t of %M {
        %block = arith.remsi %t, %M : i64
        // CHECK: %[[PLACE:.*]] = arith.sitofp %{{.*}} : vector<2xi32> to vector<2xf32>
        // A product with a slope: both its part of the row and the step from column to column are multiplied, so that an element costs one multiply-add.
        // CHECK: %[[BASE:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<2xf32>
        // CHECK: %[[ROWS:.*]] = vector.shuffle %[[BASE]], %[[BASE]] [0, 0, 1, 1, 0, 0, 1, 1] : vector<2xf32>
        // CHECK: %[[OFFSETS:.*]] = arith.constant dense<[0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00, 8.000000e+00, 9.000000e+00, 8.000000e+00, 9.000000e+00]> : vector<8xf32>
        // CHECK: %[[BIAS:.*]] = math.fma %[[OFFSETS]], %{{.*}}, %[[ROWS]] : vector<8xf32>
        // CHECK: arith.addf %{{.*}}, %[[BIAS]] fastmath<contract> : vector<8xf32>
        // CHECK: arith.minsi %{{.*}}, %{{.*}} : vector<2xi64>
        // CHECK: arith.maxsi %{{.*}}, %{{.*}} : vector<2xi64>
        // CHECK: %[[LIMIT:.*]] = arith.trunci %{{.*}} : vector<2xi64> to vector<2xi32>
        // CHECK: %[[LIMITS:.*]] = vector.shuffle %[[LIMIT]], %[[LIMIT]]
        // CHECK: arith.cmpi slt, %[[LIMITS]], %{{.*}} : vector<8xi32>
        // CHECK-NOT: arith.sitofp
        %y = tile.map %x rows(%block) cols(%zero) {
        ^bb0(%one: f32, %i: i64, %j: i64):
          %d = arith.subi %j, %i : i64
          %f = arith.sitofp %d : i64 to f32
          %b = arith.mulf %slope, %f : f32
          %r = arith.addf %one, %b : f32
          %w = arith.extsi %W : i32 to i64
          %back = arith.subi %i, %j : i64
          %near = arith.cmpi slt, %back, %w : i64
          %hidden = arith.constant 0xFF800000 : f32
          %r2 = arith.select %near, %r, %hidden : f32
          tile.yield %r2 : f32
        } : (tensor<64x16xf32, #warp.fragment>) -> tensor<64x16xf32, #warp.fragment>
        tile.store %y, %s[%block, %zero] axes [0, 1] : tensor<64x16xf32, #warp.fragment>, memref<?x16xf32, strided<[?, ?]>>
      }
    }
  }
  warp.return
}

// Ranges that a row has mark its columns together, a bit each; an element reads its bit. The first of four threads has the columns 0, 1, 8 and 9.
// CHECK-LABEL: llvm.func @ranges
warp.kernel @ranges(%l: memref<?x16xi1, strided<[?, ?]>> {tile.name = "l", tile.dims = ["M", 16], tile.role = "out"}, %sel: memref<?x4xi32, strided<[?, ?]>> {tile.name = "sel", tile.dims = ["M", 4], tile.role = "in"},
                    %M: i64 {tile.dim = "M"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %four = arith.constant 4 : i64
      warp.for_tiles %t of %M {
        // CHECK: %[[MARKS:.*]] = scf.for %{{.*}} iter_args(%[[SO:.*]] = %{{.*}}) -> (vector<2xi32>)
        // CHECK-COUNT-2: llvm.load %{{.*}} -> i32
        // CHECK: %[[ALL:.*]] = arith.ori %[[SO]], %{{.*}} : vector<2xi32>
        // CHECK-NEXT: scf.yield %[[ALL]]
        // CHECK: %[[WORDS:.*]]:2 = vector.to_elements %[[MARKS]]
        // CHECK: %[[C1:.*]] = llvm.mlir.constant(1 : i32)
        // CHECK: arith.andi %[[WORDS]]#0, %[[C1]] : i32
        // CHECK: %[[C2:.*]] = llvm.mlir.constant(2 : i32)
        // CHECK: arith.andi %[[WORDS]]#0, %[[C2]] : i32
        // CHECK: arith.andi %[[WORDS]]#1, %{{.*}} : i32
        // CHECK: arith.andi %[[WORDS]]#1, %{{.*}} : i32
        // CHECK: %[[C4:.*]] = llvm.mlir.constant(4 : i32)
        // CHECK: arith.andi %[[WORDS]]#0, %[[C4]] : i32
        %keep = tile.mask rows(%t) cols(%zero) {
        ^bb0(%i: i64, %j: i64):
          %meets = tile.any_range %j step 1 of %four {
          ^bb0(%p: i64):
            %element = tile.lookup %sel[%i, %p] : memref<?x4xi32, strided<[?, ?]>>
            %lower = arith.extsi %element : i32 to i64
            %width = arith.constant 16 : i64
            %upper = arith.addi %lower, %width : i64
            tile.yield %lower, %upper : i64, i64
          }
          tile.yield %meets : i1
        } : tensor<64x16xi1, #warp.fragment>
        tile.store %keep, %l[%t, %zero] axes [0, 1] : tensor<64x16xi1, #warp.fragment>, memref<?x16xi1, strided<[?, ?]>>
      }
    }
  }
  warp.return
}
