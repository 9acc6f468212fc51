//===- Programs.cpp - the table of tile programs --------------------------===//
//
// Each op of tile programs at least once, over tiles that no layout divides and
// extents that no tile divides.
//
//===----------------------------------------------------------------------===//
#include "ProgramParts.h"

using namespace tegula::exec;

std::string tegula::exec::kernel(const std::string &arguments,
                                 const std::string &body) {
  return "tile.kernel @p(" + arguments +
         ") {\n%zero = arith.constant 0 : i64\n" + body + "tile.return\n}\n";
}

std::string tegula::exec::tensor(const std::string &name,
                                 const std::string &type,
                                 const std::vector<std::string> &dims,
                                 const std::string &role) {
  std::string shape, strides, names;
  for (const std::string &dim : dims) {
    shape += "?x";
    strides += strides.empty() ? "?" : ", ?";
    names += (names.empty() ? "\"" : ", \"") + dim + "\"";
  }
  return "%" + name + ": memref<" + shape + type + ", strided<[" + strides +
         "]>> {tile.name = \"" + name + "\", tile.dims = [" + names +
         "], tile.role = \"" + role + "\"}";
}

std::string tegula::exec::dim(const std::string &name) {
  return ", %" + name + ": i64 {tile.dim = \"" + name + "\"}";
}

std::string tegula::exec::vectorOf(const std::string &type) {
  return "memref<?x" + type + ", strided<[?]>>";
}
std::string tegula::exec::matrixOf(const std::string &type) {
  return "memref<?x?x" + type + ", strided<[?, ?]>>";
}

std::string tegula::exec::gridOver(const std::string &dim,
                                   const std::string &tile) {
  return "%size = arith.constant " + tile +
         " : i64\n%tiles = arith.ceildivsi %" + dim +
         ", %size : i64\n%p = tile.program_id of (%tiles) : i64\n"
         "%i = arith.muli %p, %size : i64\n";
}

std::vector<ProgramCase> tegula::exec::programCases() {
  std::vector<ProgramCase> all;
  for (const char *type :
       {"f32", "bf16", "f16", "f64", "i8", "i16", "i32", "i64"})
    all.push_back(vectorAdd(type, 5000, "1024"));
  for (ProgramCase &c : all)
    c.tolerance = c.name.find("f16") != std::string::npos ? 8e-3 : 1e-6;
  all.push_back(vectorAdd("f32", 1, "64"));
  all.push_back(vectorAdd("f32", 1000, "1000"));
  all.push_back(rowSoftmax(7, 1000, "1024"));
  all.push_back(rowSoftmax(5, 4096, "4096"));
  all.push_back(rmsNorm(6, 999, "1024"));
  all.push_back(rmsNorm(3, 4096, "4096"));
  for (int axis : {0, 1}) {
    for (const char *kind : {"add", "maximum", "minimum", "argmax"})
      for (const char *type : {"f32", "i32", "i64"})
        all.push_back(reduction(kind, type, 64, 96, axis));
    all.push_back(reduction("and", "i1", 16, 6, axis));
    all.push_back(reduction("or", "i1", 6, 16, axis));
    all.push_back(reduction("add", "f32", 7, 1030, axis));
    all.push_back(reduction("argmax", "f32", 1030, 7, axis));
    all.push_back(reduction("add", "f64", 33, 40, axis));
    all.push_back(runningSums("i32", 16, 200, axis));
    all.push_back(runningSums("f32", 3, 1000, axis));
    all.push_back(runningSums("i64", 130, 5, axis));
  }
  all.push_back(lastNonZero(4, 1024));
  all.push_back(lastNonZero(33, 50));
  for (const char *type : {"f32", "bf16", "i8", "i64"})
    all.push_back(transposedCopy(type));
  all.push_back(reshaped(8, 48, 16, 24));
  all.push_back(reshaped(30, 7, 21, 10));
  all.push_back(reshaped(1, 256, 256, 1));
  all.push_back(broadcasts());
  all.push_back(gathers());
  all.push_back(scatters());
  for (const char *type : {"i32", "i64", "f32", "f16", "bf16"})
    all.push_back(histogram(type));
  for (const char *form : {"kn", "nk", "op"}) {
    all.push_back(product("bf16", "64x64x32", form, 100, 90, 70));
    all.push_back(product("f16", "128x128x64", form, 150, 260, 200));
    all.push_back(product("f32", "64x32x16", form, 100, 90, 70));
    all.push_back(product("i8", "32x32x64", form, 40, 50, 130));
  }
  all.push_back(product("i32", "16x16x16", "kn", 20, 30, 40));
  all.push_back(product("bf16", "128x256x64", "kn", 200, 300, 100));
  all.push_back(product("bf16", "4x24x8", "kn", 9, 50, 20));
  all.push_back(product("f32", "4x8x4", "nk", 9, 20, 10));
  all.push_back(attentionBlock());
  all.push_back(loopAndBranch());
  all.push_back(outside());
  return all;
}

std::vector<ProgramCase> tegula::exec::timedPrograms() {
  ProgramCase add = vectorAdd("f32", int64_t(1) << 26, "1024"),
              softmax = rowSoftmax(16384, 4096, "4096"),
              norm = rmsNorm(16384, 4096, "4096"),
              square = product("bf16", "128x128x64", "kn", 4096, 4096, 4096);
  return {add, softmax, norm, square};
}
