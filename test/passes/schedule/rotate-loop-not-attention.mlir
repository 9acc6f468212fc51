// Loops that only resemble attention are left alone.
// RUN: tegula-opt %s --tegula-rotate-loop > %t
// RUN: tegula-opt %s | diff - %t

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// A product without a softmax.
tile.kernel @product(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %o: memref<?x32xf32>, %n: i64, %u: tensor<64x32xf32>) attributes {schedule = #pipelined} {
  %zero = arith.constant 0 : i64
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%acc = %u) -> (tensor<64x32xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b acc(%acc : tensor<64x32xf32>) : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    tile.yield %s : tensor<64x32xf32>
  }
  tile.store %r, %o[%zero, %zero] axes [0, 1] : tensor<64x32xf32>, memref<?x32xf32>
  tile.return
}

// The accumulator is read before it is complete.
tile.kernel @early(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %o: memref<?x16xf32>, %n: i64, %u: tensor<64x16xf32>) attributes {schedule = #pipelined} {
  %zero = arith.constant 0 : i64
  %r:2 = tile.for_blocks %j = %zero to %n step 32 iter_args(%acc = %u, %copy = %u) -> (tensor<64x16xf32>, tensor<64x16xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %w = arith.truncf %s : tensor<64x32xf32> to tensor<64x32xf16>
    %new = tile.dot %w, %keys acc(%acc : tensor<64x16xf32>) : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
    tile.yield %new, %acc : tensor<64x16xf32>, tensor<64x16xf32>
  }
  tile.store %r#1, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}

// A store in each block belongs to no part.
tile.kernel @stored(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %o: memref<?x16xf32>, %n: i64, %u: tensor<64x16xf32>) attributes {schedule = #pipelined} {
  %zero = arith.constant 0 : i64
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%acc = %u) -> (tensor<64x16xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %w = arith.truncf %s : tensor<64x32xf32> to tensor<64x32xf16>
    tile.store %u, %o[%j, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
    %new = tile.dot %w, %keys acc(%acc : tensor<64x16xf32>) : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
    tile.yield %new : tensor<64x16xf32>
  }
  tile.store %r, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}

// The output product's weights do not come from the softmax.
tile.kernel @foreign(%q: tensor<64x16xf16>, %w: tensor<64x32xf16>, %k: memref<?x16xf16>, %o: memref<?x16xf32>, %n: i64, %m: tensor<64xf32>, %u: tensor<64x16xf32>) attributes {schedule = #pipelined} {
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%max = %m, %sum = %m, %acc = %u) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %old = tile.scale_rows %acc, %a : tensor<64x16xf32>, tensor<64xf32>
    %new = tile.dot %w, %keys acc(%old : tensor<64x16xf32>) : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %new : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}
