// Lists of live blocks, and what tells of them from role to role.
// RUN: tegula-opt %s | tegula-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @list
tile.kernel @list(%lo: i64, %hi: i64) {
  // CHECK: %[[COUNT:.*]], %[[FREE:.*]] = tile.list_blocks %{{.*}} to %{{.*}} step 128 classes {
  // CHECK-NEXT: ^bb0(%[[N:.*]]: i64):
  // CHECK-NEXT: %[[LIVE:.*]] = arith.cmpi sge, %[[N]]
  // CHECK-NEXT: tile.yield %[[LIVE]], %[[LIVE]], %[[LIVE]] : i1, i1, i1
  %count, %free = tile.list_blocks %lo to %hi step 128 classes {
  ^bb0(%n: i64):
    %live = arith.cmpi sge, %n, %lo : i64
    tile.yield %live, %live, %live : i1, i1, i1
  }
  // CHECK: %{{.*}}, %{{.*}} = tile.listed_block %[[FREE]] of %[[COUNT]] : i64, i1
  %k, %flag = tile.listed_block %free of %count : i64, i1
  tile.return
}

// Beside the flags, what matters to which part of the rows.
// CHECK-LABEL: tile.kernel @parts
tile.kernel @parts(%lo: i64, %hi: i64, %x: f32) {
  // CHECK: tile.for_blocks %{{.*}} = %{{.*}} to %{{.*}} step 64 parts 2 flags(%{{.*}}) iter_args(%{{.*}} = %{{.*}}) -> (f32) {
  // CHECK: tile.yield %[[LIVE:.*]], %[[LIVE]], %[[LIVE]], %[[LATER:.*]] : i1, i1, i1, i1
  %r = tile.for_blocks %n = %lo to %hi step 64 parts 2 flags(%partial) iter_args(%y = %x) -> (f32) {
    tile.yield %y : f32
  } classes {
  ^bb0(%n: i64):
    %live = arith.cmpi sge, %n, %lo : i64
    %later = arith.cmpi sgt, %n, %lo : i64
    tile.yield %live, %live, %live, %later : i1, i1, i1, i1
  }
  // CHECK: %[[COUNT:.*]], %{{.*}} = tile.list_blocks %{{.*}} to %{{.*}} step 64 parts 2 classes {
  %count, %free = tile.list_blocks %lo to %hi step 64 parts 2 classes {
  ^bb0(%n: i64):
    %live = arith.cmpi sge, %n, %lo : i64
    tile.yield %live, %live, %live, %live, %live : i1, i1, i1, i1, i1
  }
  // CHECK: tile.listed_block %{{.*}} of %[[COUNT]] : i64, i1
  %k, %flag = tile.listed_block %free of %count : i64, i1
  tile.return
}

// CHECK-LABEL: tile.kernel @ranges
tile.kernel @ranges(%n: i64, %count: i64) {
  // CHECK: tile.any_range %{{.*}} step 128 of %{{.*}} {
  // CHECK-NEXT: ^bb0(%[[P:.*]]: i64):
  // CHECK-NEXT: %[[END:.*]] = arith.addi %[[P]]
  // CHECK-NEXT: tile.yield %[[P]], %[[END]] : i64, i64
  %meets = tile.any_range %n step 128 of %count {
  ^bb0(%p: i64):
    %end = arith.addi %p, %count : i64
    tile.yield %p, %end : i64, i64
  }
  tile.return
}

!ring = !warp.ring<128x64xbf16, stages 2>
// CHECK-LABEL: warp.kernel @notes
warp.kernel @notes(%n: i64, %end: i64) {
  %k = warp.ring "k" copies 1 consumers 2 : !ring
  warp.roles {
    // CHECK: warp.role "load" warpgroups 1 registers 24 elected warp {
    warp.role "load" warpgroups 1 registers 24 elected warp {
      // CHECK: %[[BITS:.*]]:2 = warp.classify_blocks %{{.*}} to %{{.*}} step 128 classes {
      // CHECK: } : i64, i64
      %live, %tested = warp.classify_blocks %n to %end step 128 classes {
      ^bb0(%b: i64):
        %sees = arith.cmpi slt, %b, %end : i64
        tile.yield %sees, %sees : i1, i1
      } : i64, i64
      // CHECK: warp.note %{{.*}}[%[[N:.*]]] copy %[[N]](%[[N]], %[[BITS]]#0) : <128x64xbf16, stages 2>
      warp.note %k[%n] copy %n(%n, %live) : !ring
    }
    // CHECK: warp.role "compute" warpgroups 2 registers 240 {
    warp.role "compute" warpgroups 2 registers 240 {
      // CHECK: %{{.*}}:2 = warp.read_note %{{.*}}[%[[N]]] copy %[[N]] : <128x64xbf16, stages 2> -> i64, i64
      %a, %b = warp.read_note %k[%n] copy %n : !ring -> i64, i64
    }
  }
  warp.return
}
