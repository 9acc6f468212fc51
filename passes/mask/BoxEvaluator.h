// The abstract meaning of a mask over a box of (row, key) pairs, written out as scalar code of the program.
//
// Integers become intervals, booleans three-valued logic (Cousot and Cousot, POPL 1977). The results are values of the program, so that one compiled
// kernel decides for every length, window and batch; what an operation is not known to do to an interval, or an interval that could leave i64, is
// "not known", which is always sound.
#pragma once

#include "dialect/tile/TileDialect.h"
#include "passes/lower/IndexRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tegula {

/// The values of an integer over the box, both ends included. Null ends: not known.
struct Interval {
  mlir::Value low, high;

  explicit operator bool() const { return low != nullptr; }
  bool isOneValue() const { return low && low == high; }
};

/// Of a condition over the box, two flags: `some` is false only where it holds for no element, `all` true only where it holds for every one. Null:
/// not known, which stands for `some` = true and `all` = false.
struct Truth {
  mlir::Value some, all;
};

/// The keys that a condition lets pass lie in [lower, upper). Null: not bounded on that side. `isExact`: the truth over a block of keys says no more than
/// these bounds.
struct KeyBounds {
  mlir::Value lower, upper;
  bool isExact = false;
  static constexpr int64_t beyond = int64_t(1) << 40; ///< past all keys
};

/// Evaluates the values of one scalar region; emits code at the builder's insertion point.
class BoxEvaluator {
public:
  /// What is defined in `region` is evaluated, what stands above it is a value as it is. `ranges` knows the ranges of the arguments of the code; an
  /// operation whose result could leave i64 has none.
  BoxEvaluator(mlir::OpBuilder &builder, mlir::Location loc, mlir::Region &region, IndexRanges &ranges)
      : b(builder), loc(loc), region(region), ranges(ranges) {}

  /// States what an argument of the region ranges over.
  void set(mlir::Value argument, Interval interval) { intervals[argument] = interval; }

  Interval interval(mlir::Value value);
  Truth truth(mlir::Value value);

  /// From here on divisors count as positive, for text that a person reads. Gives the values of which that was assumed so far.
  llvm::ArrayRef<mlir::Value> assumePositiveDivisors() {
    assumesPositive = true;
    return assumed;
  }

  /// Where `key`, an argument of the region that has no interval, must lie for `condition` to hold somewhere; the other arguments range over theirs.
  KeyBounds keyBounds(mlir::Value condition, mlir::Value key, bool negated = false);

  /// Of two conditions that must both hold, or of which either may.
  KeyBounds join(KeyBounds x, KeyBounds y, bool both);

private:
  /// `coefficient * key + rest`.
  struct Linear {
    int64_t coefficient = 0;
    Interval rest;
  };

  bool isFromAbove(mlir::Value value) const;
  /// The value as the program computes it, where it is the same for the whole box; else null.
  mlir::Value oneValue(mlir::Value value);
  Interval computeInterval(mlir::Operation *op);
  Interval quotient(mlir::Operation *op, Interval x, Interval y);
  Interval remainder(Interval x, mlir::Value divisor, Interval quotients);
  Interval lookup(tile::LookupOp op);
  Interval declared(mlir::BlockArgument table, tile::KernelOp kernel);
  Interval shift(mlir::Operation *op, Interval x, Interval y);
  Interval bits(mlir::Operation *op, Interval x, Interval y);
  bool isNotNegative(mlir::Value value);
  Truth computeTruth(mlir::Operation *op);
  Truth classOf(tile::ClassifiedOp op);
  Truth compare(mlir::arith::CmpIPredicate predicate, Interval x, Interval y);
  std::optional<Linear> linear(mlir::Value value, mlir::Value key);
  KeyBounds atMost(const Linear &left, const Linear &right, int64_t slack);
  KeyBounds choose(mlir::Value condition, KeyBounds x, KeyBounds y);
  bool dependsOn(mlir::Value value, mlir::Value key) const;
  bool looksUp(mlir::Value value, mlir::Value key) const;
  KeyBounds everywhereIf(mlir::Value some);
  KeyBounds compareKeys(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y, mlir::Value key);
  /// Of a value that does not depend on the key.
  struct Known {
    Interval interval;
    IndexRange range;
  };
  KeyBounds compareLinear(mlir::arith::CmpIPredicate predicate, const Linear &x, const Linear &y);
  KeyBounds compareKnown(mlir::arith::CmpIPredicate predicate, mlir::Value x, const Known &y, mlir::Value key);
  KeyBounds compareQuotient(mlir::arith::CmpIPredicate predicate, mlir::arith::FloorDivSIOp division, const Known &y, mlir::Value key);

  mlir::Value constant(int64_t value);
  mlir::Value flag(bool value);
  template <typename Op> mlir::Value make(mlir::Value x, mlir::Value y) { return b.createOrFold<Op>(loc, x, y); }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Region &region;
  IndexRanges &ranges;
  llvm::DenseMap<mlir::Value, Interval> intervals;
  llvm::DenseMap<mlir::Value, Truth> truths;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  bool assumesPositive = false;
  llvm::SmallVector<mlir::Value> assumed;
};

} // namespace tegula
