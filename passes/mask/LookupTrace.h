// Which lookup outside of its table a value of scalar code depends on.
//
// Lookups are clamped, so that code which reads outside goes on with another element. Beside the value itself, a trace computes whether that matters: `false && x` and the side of a
// choice that is not taken do not depend on x (Kleene's logic of three values, with "outside" as the third).
#pragma once

#include "dialect/tile/TileDialect.h"
#include "llvm/ADT/MapVector.h"

namespace tegula {

/// The axes of lookups whose index may lie outside, numbered from 1.
class LookupSites {
public:
  /// `ends` says below which number or dim values of scalar code lie that start at 0.
  LookupSites(tile::KernelOp kernel, llvm::DenseMap<mlir::Value, mlir::OpFoldResult> ends) : kernel(kernel), ends(std::move(ends)) {}

  /// Adds the lookups of a region.
  void add(mlir::Region &region);

  /// 0 where the index is known to lie inside.
  int numberOf(tile::LookupOp lookup, int64_t axis) const { return numbers.lookup({lookup, axis}); }

  auto begin() const { return numbers.begin(); }
  auto end() const { return numbers.end(); }
  bool empty() const { return numbers.empty(); }

private:
  bool isInside(mlir::Value index, mlir::OpFoldResult extent) const;

  tile::KernelOp kernel;
  llvm::DenseMap<mlir::Value, mlir::OpFoldResult> ends;
  llvm::MapVector<std::pair<mlir::Operation *, int64_t>, int> numbers;
};

/// What a value wrongly depends on: the number of a site (i32, 0 for none) and the index there (i64). Null: nothing, as is known without running.
struct Fault {
  mlir::Value site, index;
};

/// A value, its fault, and whether the value can be computed at all: what a product enters cannot, and stands as 0.
struct Traced {
  mlir::Value value;
  Fault fault = {};
  bool isKnown = true;
};

/// Copies scalar code to where `b` stands, with its faults.
class LookupTrace {
public:
  LookupTrace(mlir::OpBuilder &b, mlir::Location loc, const LookupSites &sites, llvm::function_ref<mlir::Value(mlir::Value, int64_t)> extentOf)
      : b(b), loc(loc), sites(sites), extentOf(extentOf) {}

  /// What the region yields, of one traced value an argument. Fails at an op that is no scalar code.
  mlir::FailureOr<Traced> run(mlir::Region &region, llvm::ArrayRef<Traced> arguments);

  /// `x` where it is one, else `y`.
  Fault first(Fault x, Fault y);
  /// The fault with values, 0 where it is null.
  Fault orNone(Fault fault);
  /// `x` where the condition holds.
  Fault when(mlir::Value condition, Fault x) { return select(condition, x, {}); }

private:
  mlir::LogicalResult run(mlir::Block &block);
  mlir::LogicalResult trace(mlir::Operation &op);
  mlir::LogicalResult traceLoop(mlir::Operation &op);
  Fault lookup(tile::LookupOp op);
  Fault junction(mlir::Operation &op, bool isAnd);
  Fault choice(mlir::Operation &op);
  Fault select(mlir::Value condition, Fault x, Fault y);
  Fault whereMatters(Fault x, const Traced &other, bool isAnd);
  mlir::Value isFaulty(Fault fault);
  Traced of(mlir::Value value) const;

  mlir::OpBuilder &b;
  mlir::Location loc;
  const LookupSites &sites;
  llvm::function_ref<mlir::Value(mlir::Value, int64_t)> extentOf;
  llvm::DenseMap<mlir::Value, Traced> known;
};

} // namespace tegula
