// RUN: tegula-opt %s --tegula-count-visits --split-input-file --verify-diagnostics

// expected-error @below {{`plain` has no loop over blocks of keys}}
tile.kernel @plain(%N: i64 {tile.dim = "N"}) {
  %t = tile.program_id of (%N) : i64
  tile.return
}

// -----

// expected-error @below {{which blocks `asking` visits depends on what its tiles hold}}
tile.kernel @asking(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %t = tile.program_id of (%N) : i64
  %flags = arith.cmpf oeq, %m0, %l0 : tensor<64xf32>
  %any = tile.any %flags : tensor<64xi1>
  scf.if %any {
    %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
      %s = tile.load %S[%t, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
      %w, %mm, %ll, %rescale = tile.online_softmax %s, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
      tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
    }
  }
  tile.return
}

// -----

// expected-error @below {{`two` has loops over blocks of several sizes}}
tile.kernel @two(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %t = tile.program_id of (%N) : i64
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %S[%t, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %w, %mm, %ll, %rescale = tile.online_softmax %s, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  %q:2 = tile.for_blocks %n = %c0 to %N step 16 iter_args(%m = %r#0, %l = %r#1) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %S[%t, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x16xf32>
    %w, %mm, %ll, %rescale = tile.online_softmax %s, %m, %l scale 1.0 : tensor<64x16xf32>, tensor<64xf32>
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  tile.return
}
