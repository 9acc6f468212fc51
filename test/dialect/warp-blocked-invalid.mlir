// RUN: tegula-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{constraint 1: expected an axis below 1, but got 1}}
func.func @axis(%x: tensor<128xf32, #warp.blocked<registers = [], threads = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 1]]>>) { return }

// -----

// expected-error@+1 {{constraint 2: expected stride 4 along axis 0, but got 8}}
func.func @stride(%x: tensor<128xf32, #warp.blocked<registers = [[0, 1, 4]], threads = [[0, 8], [0, 16], [0, 32], [0, 64], [], [], []]>>) { return }

// -----

// expected-error@+1 {{constraint 2: expected 512 places along axis 0, but got 128}}
func.func @reach(%x: tensor<512xf32, #warp.blocked<registers = [], threads = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>>) { return }

// -----

// expected-error@+1 {{constraint 3: expected 128 to 1024 threads, but got 64}}
func.func @threads(%x: tensor<64xf32, #warp.blocked<registers = [], threads = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]]>>) { return }

// -----

// expected-error@+1 {{expected 3 numbers, but got 2}}
func.func @digit(%x: tensor<128xf32, #warp.blocked<registers = [[0, 1]], threads = []>>) { return }

// -----

#row = #warp.blocked<registers = [], threads = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]]>
func.func @convert(%x: tensor<128xf32, #row>) {
  // expected-error@+1 {{constraint 1: expected two blocked layouts of one tile, but got}}
  %0 = warp.convert %x : tensor<128xf32, #row> -> tensor<128xf16, #row>
  return
}

// -----

func.func @dot(%x: tensor<16x16xf16>, %y: tensor<16x8xf16>) {
  // expected-error@+1 {{constraint 1: expected tiles with #warp.blocked, but got}}
  %0 = warp.dot %x, %y : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

// expected-error@+1 {{expected `threads` of the schedule to be 128, 256, 512 or 1024, but got 96}}
func.func @program() attributes {schedule = #tile.program<threads = 96, ctas = 1>} { return }

// -----

// expected-error@+1 {{expected `ctas` of the schedule from 1 to 2048 / threads = 4, but got 5}}
func.func @ctas() attributes {schedule = #tile.program<threads = 512, ctas = 5>} { return }
