// RUN: tegula-opt %s --tegula-check-claims --split-input-file --verify-diagnostics

// expected-error@+1 {{the range of `ids` is no arithmetic of integers, so that it cannot be checked}}
tile.kernel @choice(%ids: memref<?xi32, strided<[?]>> {tile.name = "ids", tile.dims = ["N"], tile.role = "in", tile.range = ["0", "(? (> N 4) N 4)"]}, %N: i64 {tile.dim = "N"}) {
  %r = tile.program_id of (%N) : i64
  tile.return
}

// -----

// expected-error@+1 {{the range of `ids` is no arithmetic of integers, so that it cannot be checked}}
tile.kernel @unknown(%ids: memref<?xi32, strided<[?]>> {tile.name = "ids", tile.dims = ["N"], tile.role = "in", tile.range = ["0", "K"]}, %N: i64 {tile.dim = "N"}) {
  %r = tile.program_id of (%N) : i64
  tile.return
}
