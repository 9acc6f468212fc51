// How a mask changes along keys and rows, read off its scalar code.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

namespace tegula {

/// How a value changes where one index grows and all else stays. `Constant` is also both of the others.
enum class Trend { Constant, Rising, Falling, Unknown };

/// The trend of an integer or condition in `index`. Conditions count false as less than true. Integers are taken not to wrap, as index code does not.
Trend trendOf(mlir::Value value, mlir::Value index);

/// The predicate that holds for (y, x) where `predicate` does for (x, y).
mlir::arith::CmpIPredicate swapped(mlir::arith::CmpIPredicate predicate);

/// Whether a row that sees a key sees all keys before it, by a mask that yields `visible`: so a row which sees none of the first block sees none at
/// all.
bool seesPrefix(mlir::Value visible, mlir::Value key);

/// Whether `visible` is and-ed of conditions that hold up to some key of a row, or from some key on: what a row sees are the keys between two.
bool seesInterval(mlir::Value visible, mlir::Value key);

/// Whether a value of a mask's scalar code is made of an element of a table.
bool readsTable(mlir::Value value, mlir::Region &mask);

/// Whether a mask looks for the key in a list of several entries that a table has for each row.
bool listsKeys(mlir::Region &mask, mlir::Value row, mlir::Value key);

/// Whether some condition that `visible` is and-ed of lets later rows see more keys: so tiles of later rows have more to do.
bool growsWithRows(mlir::Value visible, mlir::Value row, mlir::Value key);

} // namespace tegula
