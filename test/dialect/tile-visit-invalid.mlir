// RUN: tegula-opt %s --split-input-file --verify-diagnostics

tile.kernel @number(%n: i64) {
  // expected-error @below {{'tile.visit' op operand #0 must be 1-bit signless integer, but got 'i64'}}
  "tile.visit"(%n) : (i64) -> ()
  tile.return
}

// -----

tile.kernel @elements(%tested: i1, %some: tensor<64xi1>) {
  // expected-error @below {{'tile.visit' op operand #1 must be 1-bit signless integer, but got 'tensor<64xi1>'}}
  "tile.visit"(%tested, %some) : (i1, tensor<64xi1>) -> ()
  tile.return
}
