//===- KeyOrderTests.cpp - how masks change along keys and rows ----------===//
//
// Masks by their scalar code: which show each row a prefix of the keys, and
// which let later rows see more. Where it is not known, the answer is no.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/mask/KeyOrder.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {

struct Mask {
  const char *name;
  bool seesPrefix, growsWithRows;
  /// Yields %r, an i1, of row %i, key %j, the numbers of them %M and %N, a
  /// number %W and a table.
  const char *code;
};

class KeyOrder : public testing::TestWithParam<Mask> {
protected:
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;

  func::FuncOp parse(const std::string &code) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(
        "func.func private @table(i64) -> i64\n"
        "func.func @mask(%i: i64, %j: i64, %M: i64, %N: i64, %W: i64) -> i1 {\n"
        "  %true = arith.constant true\n"
        "  %c0 = arith.constant 0 : i64\n"
        "  %c1 = arith.constant 1 : i64\n"
        "  %c2 = arith.constant 2 : i64\n" +
            code + "\n  return %r : i1\n}\n",
        &context);
    return module ? module->lookupSymbol<func::FuncOp>("mask") : func::FuncOp();
  }
};

TEST_P(KeyOrder, OfMask) {
  func::FuncOp mask = parse(GetParam().code);
  ASSERT_TRUE(mask);
  Value visible = mask.front().getTerminator()->getOperand(0);
  Value row = mask.getArgument(0), key = mask.getArgument(1);
  EXPECT_EQ(tegula::seesPrefix(visible, key), GetParam().seesPrefix);
  EXPECT_EQ(tegula::growsWithRows(visible, row, key), GetParam().growsWithRows);
}

const Mask masks[] = {
    {"All", true, false, "%r = arith.constant true"},
    {"Causal", true, true, "%r = arith.cmpi sge, %i, %j : i64"},
    {"CausalByKey", true, true, "%r = arith.cmpi sle, %j, %i : i64"},
    {"CausalByLess", true, true,
     "%e = arith.addi %i, %c1 : i64  %r = arith.cmpi slt, %j, %e : i64"},
    {"CausalByNot", true, true,
     "%f = arith.cmpi sgt, %j, %i : i64  %r = arith.xori %f, %true : i1"},
    {"CausalByDistance", true, true,
     "%d = arith.subi %i, %j : i64  %t = arith.muli %d, %c2 : i64"
     "  %e = arith.addi %t, %c1 : i64  %r = arith.cmpi sgt, %e, %c0 : i64"},
    {"CausalByNegatedDistance", true, true,
     "%m = arith.constant -2 : i64  %d = arith.subi %i, %j : i64"
     "  %t = arith.muli %m, %d : i64  %r = arith.cmpi sle, %t, %c0 : i64"},
    {"CausalBottomRight", true, true,
     "%s = arith.subi %N, %M : i64  %l = arith.addi %i, %s : i64"
     "  %r = arith.cmpi sge, %l, %j : i64"},
    {"CausalOfGroups", true, true,
     "%g = arith.floordivsi %i, %c2 : i64  %r = arith.cmpi sge, %g, %j : i64"},
    {"CausalInRange", true, true,
     "%c = arith.cmpi sge, %i, %j : i64  %n = arith.cmpi slt, %j, %N : i64"
     "  %r = arith.andi %c, %n : i1"},
    {"CausalOrPrefix", true, true,
     "%c = arith.cmpi sge, %i, %j : i64  %n = arith.cmpi slt, %j, %W : i64"
     "  %r = arith.ori %c, %n : i1"},
    {"InRange", true, false, "%r = arith.cmpi slt, %j, %N : i64"},
    {"LengthOfRow", true, false,
     "%l = func.call @table(%i) : (i64) -> i64"
     "  %r = arith.cmpi slt, %j, %l : i64"},
    {"RowsAlone", true, false, "%r = arith.cmpi sge, %i, %W : i64"},
    {"Anticausal", false, false, "%r = arith.cmpi sle, %i, %j : i64"},
    {"Window", false, true,
     "%c = arith.cmpi sge, %i, %j : i64  %d = arith.subi %i, %j : i64"
     "  %w = arith.cmpi slt, %d, %W : i64  %r = arith.andi %c, %w : i1"},
    {"Documents", false, false,
     "%a = func.call @table(%i) : (i64) -> i64"
     "  %b = func.call @table(%j) : (i64) -> i64"
     "  %r = arith.cmpi eq, %a, %b : i64"},
    {"TableAtKey", false, false,
     "%l = func.call @table(%j) : (i64) -> i64"
     "  %r = arith.cmpi slt, %l, %i : i64"},
    {"Diagonal", false, false, "%r = arith.cmpi eq, %i, %j : i64"},
    {"Dilated", false, false,
     "%d = arith.remsi %j, %c2 : i64  %r = arith.cmpi slt, %d, %i : i64"},
    {"UnknownStride", false, false,
     "%t = arith.muli %j, %W : i64  %r = arith.cmpi slt, %t, %i : i64"},
    {"Unsigned", false, false, "%r = arith.cmpi uge, %i, %j : i64"},
    {"Even", false, false,
     "%b = arith.trunci %j : i64 to i1  %r = arith.xori %b, %true : i1"},
    // As a signed number, true is -1.
    {"BySignOfCondition", false, false,
     "%c = arith.cmpi sge, %i, %j : i64  %x = arith.extsi %c : i1 to i64"
     "  %r = arith.cmpi sge, %x, %c0 : i64"},
    {"ByOrderOfConditions", false, false,
     "%c = arith.cmpi sge, %i, %j : i64  %n = arith.cmpi slt, %W, %N : i64"
     "  %r = arith.cmpi sge, %c, %n : i1"},
};

INSTANTIATE_TEST_SUITE_P(Masks, KeyOrder, testing::ValuesIn(masks),
                         [](const testing::TestParamInfo<Mask> &info) {
                           return info.param.name;
                         });

} // namespace
