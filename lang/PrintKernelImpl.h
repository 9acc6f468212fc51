//===- PrintKernelImpl.h - the printer of tile programs ---------*- C++ -*-===//
//
// PrintKernel.cpp writes the signature and the statements, PrintExpression.cpp
// what stands in them, PrintElementLoop.cpp bounded reductions.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_PRINTKERNELIMPL_H
#define TEGULA_LANG_PRINTKERNELIMPL_H

#include "dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace tegula::lang {

/// Text of an expression; an atom needs no brackets.
struct Text {
  std::string text;
  bool isAtom = true;

  std::string bracketed() const { return isAtom ? text : "(" + text + ")"; }
};

class KernelPrinter {
public:
  KernelPrinter(tile::KernelOp kernel, llvm::raw_ostream &os)
      : kernel(kernel), os(os) {}

  mlir::LogicalResult run();

private:
  using Failable = mlir::FailureOr<Text>;

  //===-- signature -------------------------------------------------------===//
  void printSignature();
  void printTensor(mlir::BlockArgument argument);
  void printSchedule();

  //===-- statements ------------------------------------------------------===//
  mlir::LogicalResult printBlock(mlir::Block &block);
  mlir::LogicalResult print(mlir::Operation &op);
  mlir::LogicalResult printGrid(tile::ProgramIdOp id);
  mlir::LogicalResult printStore(tile::StoreOp store);
  mlir::LogicalResult printLoop(tile::ForBlocksOp loop);
  mlir::LogicalResult printSoftmax(tile::OnlineSoftmaxOp softmax);
  mlir::LogicalResult nameResults(tile::FinishOp finish);
  mlir::LogicalResult printMerge(tile::MergeOp merge);
  Failable weightOf(mlir::Value weighted, mlir::Value weights);
  void nameState(mlir::Value max, mlir::Value sum, mlir::Value acc,
                 mlir::StringRef name, double scale);
  void nameMax(mlir::Value max, mlir::Value sum, mlir::StringRef name);
  mlir::LogicalResult define(mlir::Value value);
  llvm::raw_ostream &line() { return os.indent(2 * indent); }
  void let(mlir::Value value, mlir::StringRef hint, const llvm::Twine &text);
  std::string fresh(mlir::StringRef hint);

  //===-- expressions -----------------------------------------------------===//
  Failable expression(mlir::Value value);
  Failable argument(mlir::BlockArgument value);
  Failable index(mlir::Value base, unsigned axis, mlir::RankedTensorType tile);
  Failable operation(mlir::Operation *op);
  Failable convert(mlir::Operation *op);
  Failable select(mlir::arith::SelectOp op);
  Failable binary(mlir::Value x, mlir::StringRef sign, mlir::Value y);
  Failable call(mlir::StringRef callee, mlir::ValueRange operands);
  Failable lookup(tile::LookupOp op);
  Failable full(mlir::Value tile);
  Failable full(mlir::ArrayRef<int64_t> shape, mlir::Value scalar);
  Failable elementLoop(mlir::scf::ForOp loop);
  mlir::LogicalResult nameOutside(mlir::Value value, mlir::Region &element);
  static Text constant(mlir::Attribute value);
  mlir::FailureOr<std::string> place(mlir::Value memory,
                                     mlir::ValueRange indices,
                                     mlir::ArrayRef<int64_t> axes,
                                     mlir::RankedTensorType tile);
  mlir::StringRef nameOf(mlir::Value memory) {
    return names.find(memory)->second;
  }

  tile::KernelOp kernel;
  llvm::raw_ostream &os;
  unsigned indent = 1;
  llvm::StringSet<> taken;
  llvm::DenseMap<mlir::Value, std::string> names;  ///< arguments, definitions
  llvm::DenseMap<mlir::Value, std::string> states; ///< of a maximum or a sum
  /// What stands for the largest score of each row, and its text.
  llvm::DenseMap<mlir::Operation *, std::string> maxima;
  /// Tiles of indices that have a name, by text; those of a loop end with it.
  llvm::StringMap<std::string> indexTiles;
  llvm::DenseSet<mlir::Operation *> written; ///< part of what is printed
};

/// "bf16"; "bool" for i1.
std::string typeName(mlir::Type type);

/// The mask or map whose element code holds an op; null: none.
mlir::Operation *elementOwner(mlir::Operation *op);

/// Whether an op is written where its result is read, not in a `let`.
bool isInline(mlir::Operation &op);

/// A division whose divisor may be 0: floored, and 0 where the divisor is.
struct GuardedDivision {
  mlir::Value dividend, divisor;
  mlir::StringRef sign; ///< "/", "%" or "ceildiv"
};

/// The division that ends in `op`, spelled out with its guard or without one.
std::optional<GuardedDivision> matchDivision(mlir::Operation *op);

/// Whether an op only guards divisions by what may be 0, which the language
/// does by itself.
bool isSpelledOut(mlir::Operation &op);

/// What a mask says besides that the keys exist, which the tile of scores that
/// it hides knows by itself. Null: nothing.
mlir::Value writtenCondition(tile::MaskOp mask);

} // namespace tegula::lang

#endif
