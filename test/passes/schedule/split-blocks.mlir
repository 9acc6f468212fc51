// Blocks whose tests are known get a loop without them: a number that grows, compared with one that does not, holds on one stretch of the walk.
// RUN: tegula-opt %s --tegula-split-blocks --canonicalize --split-input-file | FileCheck %s

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// j + 63 <= limit holds before limit - 62, as far as whole blocks go; a limit further out than any block decides nothing else.
// CHECK-LABEL: warp.kernel @prefix
warp.kernel @prefix(%o: memref<?x64xf32>, %n: i64, %limit: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %last = arith.constant 63 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK-DAG: %[[LOW:.*]] = arith.maxsi %arg2, %c-1099511627776_i64
      // CHECK: %[[NEAR:.*]] = arith.minsi %[[LOW]], %c1099511627776_i64
      // CHECK: %[[TO:.*]] = arith.addi %[[NEAR]], %c-62_i64
      // CHECK: %[[SPAN:.*]] = arith.maxsi %[[TO]], %c0_i64
      // CHECK: %[[PADDED:.*]] = arith.addi %[[SPAN]], %c63_i64
      // CHECK: %[[BLOCKS:.*]] = arith.divui %[[PADDED]], %c64_i64
      // CHECK: %[[WHOLE:.*]] = arith.muli %[[BLOCKS]], %c64_i64
      // CHECK: %[[INSIDE:.*]] = arith.minsi %[[WHOLE]], %arg1
      // CHECK: %[[END:.*]] = arith.maxsi %[[INSIDE]], %c0_i64
      // CHECK: %[[FREE:.*]] = scf.for %{{.*}} = %c0_i64 to %[[END]] step %c64_i64
      // CHECK-NOT: scf.if
      // CHECK: scf.for %{{.*}} = %[[END]] to %arg1 step %c64_i64 iter_args(%{{.*}} = %[[FREE]])
      // CHECK: scf.if
      // CHECK-NOT: scf.for
      // CHECK: warp.return
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %end = arith.addi %j, %last : i64
        %free = arith.cmpi sge, %limit, %end : i64
        %masked = scf.if %free -> (!tile) {
          scf.yield %a : !tile
        } else {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// Two limits: tested blocks on both sides of those between.
// CHECK-LABEL: warp.kernel @stretch
warp.kernel @stretch(%o: memref<?x64xf32>, %n: i64, %limit: i64, %from: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %last = arith.constant 63 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK: scf.for %{{.*}} = %c0_i64 to %[[FROM:.*]] step
      // CHECK: scf.if
      // CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO:.*]] step
      // CHECK-NOT: scf.if
      // CHECK: scf.for %{{.*}} = %[[TO]] to %arg1 step
      // CHECK: scf.if
      // CHECK-NOT: scf.for
      // CHECK: warp.return
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %end = arith.addi %j, %last : i64
        %below = arith.cmpi slt, %end, %limit : i64
        %above = arith.cmpi sgt, %j, %from : i64
        %free = arith.andi %below, %above : i1
        %masked = scf.if %free -> (!tile) {
          scf.yield %a : !tile
        } else {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// Behind the middle, tests that hold from some block on are gone as well.
// CHECK-LABEL: warp.kernel @past
warp.kernel @past(%o: memref<?x64xf32>, %n: i64, %limit: i64, %from: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK: scf.for
      // CHECK: arith.mulf
      // CHECK: arith.addf
      // CHECK: scf.for
      // CHECK-NOT: scf.if
      // CHECK: scf.for
      // CHECK-NOT: arith.mulf
      // CHECK: arith.addf
      // CHECK: warp.return
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %above = arith.cmpi sgt, %j, %from : i64
        %low = scf.if %above -> (!tile) {
          scf.yield %a : !tile
        } else {
          %m = arith.mulf %a, %a : !tile
          scf.yield %m : !tile
        }
        %below = arith.cmpi slt, %j, %limit : i64
        %masked = scf.if %below -> (!tile) {
          scf.yield %low : !tile
        } else {
          %m = arith.addf %low, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// A window's limit, where the block's number is taken from a row's: of several numbers that are added up, the ranges must be known.
// CHECK-LABEL: warp.kernel @window
warp.kernel @window(%o: memref<?x64xf32>, %n: i64 {tile.dim = "N"}, %W: i32, %row: i64 {tile.dim = "M"}, %any: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      %width = arith.extsi %W : i32 to i64
      // row - j < width holds from row - width + 1 on.
      // CHECK: %[[WIDTH:.*]] = arith.extsi %arg2 : i32 to i64
      // CHECK: %[[LESS:.*]] = arith.addi %[[WIDTH]], %c-1_i64
      // CHECK: %[[REST:.*]] = arith.subi %[[LESS]], %arg3
      // CHECK: %[[FROM:.*]] = arith.subi %c0_i64, %[[REST]]
      // CHECK: scf.for %{{.*}} = %c0_i64 to %[[START:.*]] step
      // CHECK: scf.if
      // CHECK: scf.for %{{.*}} = %[[START]] to %arg1 step
      // CHECK-NOT: scf.if
      // CHECK: tile.store
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %back = arith.subi %row, %j : i64
        %free = arith.cmpi slt, %back, %width : i64
        %masked = scf.if %free -> (!tile) {
          scf.yield %a : !tile
        } else {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
      // %any may be anything, so that its sum with a width is not looked at: one loop.
      // CHECK: scf.for
      // CHECK: scf.if
      // CHECK-NOT: scf.for
      // CHECK: tile.store
      %u = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %back = arith.subi %any, %j : i64
        %free = arith.cmpi slt, %back, %width : i64
        %masked = scf.if %free -> (!tile) {
          scf.yield %a : !tile
        } else {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %u, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// Of two conditions, one of which is enough, the one that holds longer; of the lesser of two numbers, either. What is loop invariant is computed ahead.
// CHECK-LABEL: warp.kernel @either
warp.kernel @either(%o: memref<?x64xf32>, %n: i64, %limit: i64, %other: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %last = arith.constant 63 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK-DAG: arith.addi %arg2, %arg3
      // CHECK: scf.for
      // CHECK-NOT: scf.if
      // CHECK: scf.for
      // CHECK: scf.if
      // CHECK-NOT: scf.for
      // CHECK: warp.return
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %sum = arith.addi %limit, %other : i64
        %end = arith.subi %j, %step : i64
        %lesser = arith.minsi %end, %other : i64
        %first = arith.cmpi sge, %limit, %lesser : i64
        %second = arith.cmpi sge, %sum, %lesser : i64
        %any = arith.ori %first, %second : i1
        %true = arith.constant true
        %not = arith.xori %any, %true : i1
        %masked = scf.if %not -> (!tile) {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        } else {
          scf.yield %a : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// Products of the number of the block, or of one with itself, are not looked into.
// CHECK-LABEL: warp.kernel @unknown
warp.kernel @unknown(%o: memref<?x64xf32>, %n: i64, %limit: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %last = arith.constant 63 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK: scf.for
      // CHECK: scf.if
      // CHECK-NOT: scf.for
      // CHECK: warp.return
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %square = arith.muli %j, %j : i64
        %free = arith.cmpi sge, %limit, %square : i64
        %masked = scf.if %free -> (!tile) {
          scf.yield %a : !tile
        } else {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// Neither arm of this branch is empty.
// CHECK-LABEL: warp.kernel @both_arms
warp.kernel @both_arms(%o: memref<?x64xf32>, %n: i64, %limit: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %last = arith.constant 63 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK: scf.for
      // CHECK: scf.if
      // CHECK-NOT: scf.for
      // CHECK: warp.return
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
        %a = warp.await %p : !pending
        %free = arith.cmpi sge, %limit, %j : i64
        %masked = scf.if %free -> (!tile) {
          %l = arith.mulf %a, %a : !tile
          scf.yield %l : !tile
        } else {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// A loop that issues no matrix op from shared memory is left as it is.
// CHECK-LABEL: warp.kernel @no_product
warp.kernel @no_product(%o: memref<?x64xf32>, %n: i64, %limit: i64) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %step = arith.constant 64 : i64
      %last = arith.constant 63 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK: scf.for
      // CHECK: scf.if
      // CHECK-NOT: scf.for
      // CHECK: warp.return
      %t = scf.for %j = %zero to %n step %step iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%j] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %a = arith.negf %s : !tile
        %free = arith.cmpi sge, %limit, %j : i64
        %masked = scf.if %free -> (!tile) {
          scf.yield %a : !tile
        } else {
          %m = arith.addf %a, %hidden : !tile
          scf.yield %m : !tile
        }
        %next = arith.maximumf %s, %masked : !tile
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}
