//===- ControlPrograms.cpp - loops, branches and bounds -------------------===//
//
// What a program decides at run time, and tiles that leave their tensor.
//
//===----------------------------------------------------------------------===//
#include "ProgramParts.h"

#include <algorithm>
#include <cmath>

using namespace tegula::exec;

ProgramCase tegula::exec::loopAndBranch() {
  std::string t = "tensor<128xf32>";
  ProgramCase c;
  c.name = "loop-branch";
  c.text = kernel(tensor("x", "f32", {"R", "C"}) + ", " +
                      tensor("o", "f32", {"R"}, "out") + dim("R") + dim("C"),
                  "%r = tile.program_id of (%R) : i64\n%none = arith.constant "
                  "dense<0.0> : " +
                      t + R"(
%step = arith.constant 128 : i64
%sum = scf.for %c = %zero to %C step %step iter_args(%u = %none) -> ()" +
                      t + R"() : i64 {
  %a = tile.load %x[%r, %c] axes [1] : )" +
                      matrixOf("f32") + " -> " + t + R"(
  %w = arith.addf %u, %a : )" +
                      t + R"(
  scf.yield %w : )" + t +
                      R"(
}
%s = tile.reduce add %sum : )" +
                      t + R"( -> f32
%two = arith.constant 2 : i64
%bit = arith.remsi %r, %two : i64
%odd = arith.cmpi ne, %bit, %zero : i64
%y = scf.if %odd -> (f32) {
  %n = arith.negf %s : f32
  scf.yield %n : f32
} else {
  %neg = arith.negf %sum : )" +
                      t + R"(
  %m = tile.reduce minimum %neg : )" +
                      t + R"( -> f32
  scf.yield %m : f32
}
tile.scatter %y, %o[%r] : f32, )" +
                      vectorOf("f32") + ", i64\n");
  c.tensors = {{"x", {9, 1000}}, {"o", {9}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t i = 0; i < 9; ++i) {
      Values lanes(128);
      double sum = 0, most = -INFINITY;
      for (int64_t j = 0; j < 1000; ++j) {
        lanes[j % 128] += in[0][i * 1000 + j];
        sum += in[0][i * 1000 + j];
      }
      for (double lane : lanes)
        most = std::max(most, lane);
      result.push_back(i % 2 ? -sum : -most);
    }
    return result;
  };
  return c;
}

ProgramCase tegula::exec::outside() {
  std::string t = "tensor<8x16xf32>",
              m = "memref<?x?x?xf32, strided<[?, ?, ?]>>";
  ProgramCase c;
  c.name = "outside";
  c.text = kernel(tensor("x", "f32", {"A", "B", "C"}) + ", " +
                      tensor("o", "f32", {"P", "B", "C"}, "out") + dim("A") +
                      dim("B") + dim("C") + dim("P"),
                  R"(%p = tile.program_id of (%P) : i64
%one = arith.constant 1 : i64
%three = arith.constant 3 : i64
%q = arith.subi %p, %one : i64
%back = arith.subi %zero, %three : i64
%a = tile.load %x[%q, %back, %three] axes [1, 2] : )" +
                      m + " -> " + t + R"(
tile.store %a, %o[%p, %zero, %zero] axes [1, 2] : )" +
                      t + ", " + m + R"(
tile.store %a, %o[%back, %zero, %zero] axes [1, 2] : )" +
                      t + ", " + m + "\n");
  c.tensors = {{"x", {3, 5, 12}}, {"o", {5, 5, 12}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t p = 0; p < 5; ++p)
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 12; ++j) {
          bool in0 = p >= 1 && p <= 3, in1 = i >= 3, in2 = j + 3 < 12;
          result.push_back(in0 && in1 && in2
                               ? in[0][((p - 1) * 5 + i - 3) * 12 + j + 3]
                               : 0);
        }
    return result;
  };
  return c;
}
