// RUN: tegula-opt %s --split-input-file --verify-diagnostics

func.func @list(%n: i64) {
  // expected-error@+1 {{constraint 1: expected classes that take an i64 and yield i1s}}
  %count, %free = tile.list_blocks %n to %n step 128 classes {
  ^bb0(%k: i64):
    tile.yield %k : i64
  }
  return
}

// -----

func.func @list(%n: i64) {
  // expected-error@+1 {{constraint 2: expected a positive step, but got 0}}
  %count, %free = tile.list_blocks %n to %n step 0 classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live : i1
  }
  return
}

// -----

func.func @parts(%n: i64) {
  // expected-error@+1 {{constraint 1: expected classes that yield whether a block is live and what matters to 2 parts, but got 2 values}}
  %count, %free = tile.list_blocks %n to %n step 128 parts 2 classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live, %live : i1, i1
  }
  return
}

// -----

func.func @parts(%n: i64) {
  %count, %free = tile.list_blocks %n to %n step 128 parts 2 classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live, %live, %live : i1, i1, i1
  }
  // expected-error@+1 {{constraint 2: expected 0 flags, but got 2}}
  %k, %a, %b = tile.listed_block %n of %count : i64, i1, i1
  return
}

// -----

func.func @parts(%n: i64) {
  // expected-error@+1 {{constraint 3: expected classes that yield whether a block is live and what matters to 2 parts, but got 1 values}}
  tile.for_blocks %i = %n to %n step 16 parts 2 {
  } classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live : i1
  }
  return
}

// -----

func.func @parts(%n: i64) {
  // expected-error@+1 {{constraint 3: expected classes that say what matters to 2 parts}}
  tile.for_blocks %i = %n to %n step 16 parts 2 {
  }
  return
}

// -----

func.func @listed(%n: i64) {
  // expected-error@+1 {{constraint 1: expected the count of a `tile.list_blocks`}}
  %k = tile.listed_block %n of %n : i64
  return
}

// -----

func.func @listed(%n: i64) {
  %count, %free = tile.list_blocks %n to %n step 128 classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live, %live, %live : i1, i1, i1
  }
  // expected-error@+1 {{constraint 2: expected 1 flags, but got 0}}
  %k = tile.listed_block %n of %count : i64
  return
}

// -----

warp.kernel @role() {
  warp.roles {
    // expected-error@+1 {{constraint 1: expected `warp` with `elected`}}
    warp.role "load" warpgroups 1 registers 0 warp {
    }
  }
  warp.return
}

// -----

!ring = !warp.ring<128x64xbf16, stages 2>
func.func @note(%k: !ring, %n: i64) {
  // expected-error@+1 {{constraint 1: expected one to four numbers, but got 5}}
  warp.note %k[%n] copy %n(%n, %n, %n, %n, %n) : !ring
  return
}

// -----

func.func @classify(%n: i64) {
  // expected-error@+1 {{constraint 1: expected classes that take an i64 and yield 2 i1s}}
  %a, %b = warp.classify_blocks %n to %n step 128 classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live : i1
  } : i64, i64
  return
}

// -----

func.func @classify(%n: i64) {
  // expected-error@+1 {{constraint 2: expected a positive step, but got 0}}
  %a = warp.classify_blocks %n to %n step 0 classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live : i1
  } : i64
  return
}

// -----

func.func @range(%n: i64) {
  // expected-error@+1 {{constraint 1: expected a region that takes an i64 and yields two}}
  %meets = tile.any_range %n step 16 of %n {
  ^bb0(%p: i64):
    tile.yield %p : i64
  }
  return
}

// -----

func.func @range(%n: i64) {
  // expected-error@+1 {{constraint 2: expected a positive step, but got 0}}
  %meets = tile.any_range %n step 0 of %n {
  ^bb0(%p: i64):
    tile.yield %p, %p : i64, i64
  }
  return
}
