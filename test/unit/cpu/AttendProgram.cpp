// The program spells the online softmax out, so that it tests the CPU target alone.
#include "test/unit/cpu/AttendProgram.h"

#include <cmath>
#include <sstream>
#include <utility>

using namespace tegula::test;

static constexpr const char *program = R"(
tile.kernel @attend(
    %q: $QK {tile.name = "q", tile.dims = ["B", "H", "M", $D : i64], tile.role = "in"},
    %k: $QK {tile.name = "k", tile.dims = ["B", "G", "N", $D : i64], tile.role = "in"},
    %v: $VO {tile.name = "v", tile.dims = ["B", "G", "N", $E : i64], tile.role = "in"},
    %o: $VO {tile.name = "o", tile.dims = ["B", "H", "M", $E : i64], tile.role = "out"},
    %l: $LSE {tile.name = "lse", tile.dims = ["B", "H", "M"], tile.role = "out"},
    %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %G: i64 {tile.dim = "G"}, %N: i64 {tile.dim = "N"}) {
  %zero = arith.constant 0 : i64
  %bm = arith.constant $BM : i64
  %tiles = arith.ceildivsi %M, %bm : i64
  %t, %h, %b = tile.program_id of (%tiles, %H, %B) : i64, i64, i64
  %m0 = arith.muli %t, %bm : i64
  %ratio = arith.divsi %H, %G : i64
  %g = arith.divsi %h, %ratio : i64
  %Q = tile.load %q[%b, %h, %m0, %zero] axes [2, 3] : $QK -> tensor<$BMx$Dx$T>
  %none = arith.constant dense<$INF> : $ROWS
  %zeros = arith.constant dense<0.0> : $ROWS
  %acc0 = arith.constant dense<0.0> : $ACC
  %end:3 = tile.for_blocks %n = %zero to %N step $BN iter_args(%max = %none, %sum = %zeros, %acc = %acc0) -> ($ROWS, $ROWS, $ACC) {
    %K = tile.load %k[%b, %g, %n, %zero] axes [2, 3] : $QK -> tensor<$BNx$Dx$T>
    %S0 = tile.dot %Q, %K transpose_b : tensor<$BMx$Dx$T>, tensor<$BNx$Dx$T> -> $S
    %S1 = tile.map %S0 rows(%m0) cols(%n) {
    ^bb0(%s: $A, %i: i64, %j: i64):
      %c = arith.constant $SCALE : $A
      %x = arith.mulf %s, %c : $A
      tile.yield %x : $A
    } : ($S) -> $S
    %keep = tile.mask rows(%m0) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %exists = arith.cmpi slt, %j, %N : i64
      $MASK
    } : tensor<$BMx$BNxi1>
    %hidden = arith.constant dense<$INF> : $S
    %S2 = arith.select %keep, %S1, %hidden : tensor<$BMx$BNxi1>, $S
    %bmax = tile.reduce max %S2 : $S -> $ROWS
    %nmax = arith.maxnumf %max, %bmax : $ROWS
    %empty = arith.cmpf oeq, %nmax, %none : $ROWS
    %ref = arith.select %empty, %zeros, %nmax : tensor<$BMxi1>, $ROWS
    %refs = tile.broadcast %ref : $ROWS -> $S
    %diff = arith.subf %S2, %refs : $S
    %P = math.exp %diff : $S
    %dmax = arith.subf %max, %ref : $ROWS
    %alpha = math.exp %dmax : $ROWS
    %bsum = tile.reduce add %P : $S -> $ROWS
    %osum = arith.mulf %sum, %alpha : $ROWS
    %nsum = arith.addf %osum, %bsum : $ROWS
    %alphas = tile.broadcast %alpha : $ROWS -> $ACC
    %oacc = arith.mulf %acc, %alphas : $ACC
    %V = tile.load %v[%b, %g, %n, %zero] axes [2, 3] : $VO -> tensor<$BNx$Ex$T>
    $NARROW_P
    %nacc = tile.dot %P$NARROWED, %V acc(%oacc : $ACC) : tensor<$BMx$BNx$T>, tensor<$BNx$Ex$T> -> $ACC
    tile.yield %nmax, %nsum, %nacc : $ROWS, $ROWS, $ACC
  }
  %one = arith.constant dense<1.0> : $ROWS
  %unseen = arith.cmpf oeq, %end#1, %zeros : $ROWS
  %divisor = arith.select %unseen, %one, %end#1 : tensor<$BMxi1>, $ROWS
  %divisors = tile.broadcast %divisor : $ROWS -> $ACC
  %O = arith.divf %end#2, %divisors : $ACC
  %log = math.log %divisor : $ROWS
  %L = arith.addf %end#0, %log : $ROWS
  $NARROW_O
  tile.store %O$NARROWED, %o[%b, %h, %m0, %zero] axes [2, 3] : tensor<$BMx$Ex$T>, $VO
  tile.store %L, %l[%b, %h, %m0] axes [2] : $ROWS, $LSE
  tile.return
})";

static void replaceAll(std::string &text, const std::string &name, const std::string &value) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
}

std::string AttendProgram::text() const {
  bool wide = type == "f64", narrowing = type == "f16" || type == "bf16";
  std::ostringstream scale;
  scale.precision(17);
  scale << std::scientific << 1 / std::sqrt(static_cast<double>(headDim));
  // Longer names first where one starts with another; composite ones before their parts.
  const std::pair<const char *, std::string> values[] = {
      {"$NARROW_P", narrowing ? "%Pn = arith.truncf %P : $S to tensor<$BMx$BNx$T>" : ""},
      {"$NARROW_O", narrowing ? "%On = arith.truncf %O : $ACC to tensor<$BMx$Ex$T>" : ""},
      {"$NARROWED", narrowing ? "n" : ""},
      {"$MASK", causal ? "%shift = arith.subi %N, %M : i64\n %last = arith.addi %i, %shift : i64\n"
                         " %past = arith.cmpi sge, %last, %j : i64\n %all = arith.andi %past, %exists : i1\n tile.yield %all : i1"
                       : "tile.yield %exists : i1"},
      {"$QK", "memref<?x?x?x$Dx$T, strided<[?, ?, ?, ?]>>"},
      {"$VO", "memref<?x?x?x$Ex$T, strided<[?, ?, ?, ?]>>"},
      {"$LSE", "memref<?x?x?x$A, strided<[?, ?, ?]>>"},
      {"$ROWS", "tensor<$BMx$A>"},
      {"$ACC", "tensor<$BMx$Ex$A>"},
      {"$SCALE", scale.str()},
      {"$S", "tensor<$BMx$BNx$A>"},
      {"$INF", wide ? "0xFFF0000000000000" : "0xFF800000"},
      {"$BM", std::to_string(blockM)},
      {"$BN", std::to_string(blockN)},
      {"$D", std::to_string(headDim)},
      {"$E", std::to_string(valueDim)},
      {"$A", wide ? "f64" : "f32"},
      {"$T", type},
  };
  std::string result = program;
  for (const auto &[name, value] : values)
    replaceAll(result, name, value);
  return result;
}
