// RUN: tegula-opt %s --split-input-file --verify-diagnostics

tile.kernel @axes(%c: i1, %table: memref<?x?xi8>, %n: i64) {
  // expected-error @below {{'tile.classified' op constraint 1: expected a table of three axes of i8, but got 'memref<?x?xi8>'}}
  %seen = tile.classified %c by %table[%n, %n, %n] blocks(128, 64) : memref<?x?xi8>
  tile.return
}

// -----

tile.kernel @elements(%c: i1, %table: memref<?x?x?xi32>, %n: i64) {
  // expected-error @below {{'tile.classified' op constraint 1: expected a table of three axes of i8, but got 'memref<?x?x?xi32>'}}
  %seen = tile.classified %c by %table[%n, %n, %n] blocks(128, 64) : memref<?x?x?xi32>
  tile.return
}

// -----

tile.kernel @size(%c: i1, %table: memref<?x?x?xi8>, %n: i64) {
  // expected-error @below {{'tile.classified' op attribute 'rows' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %seen = tile.classified %c by %table[%n, %n, %n] blocks(0, 64) : memref<?x?x?xi8>
  tile.return
}
