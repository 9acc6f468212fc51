//===- EmitTile.cpp - a resolved item to the tile dialect -----------------===//
//
// `tile.attention` with its three regions. The kernel around it is
// EmitSignature's, the code inside a region ScalarEmitter's.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitTile.h"
#include "dialect/tile/TileDialect.h"
#include "lang/EmitScalar.h"
#include "lang/EmitSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <cmath>

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

namespace {

class KernelEmitter {
public:
  KernelEmitter(const Item &item, const llvm::SourceMgr &sources,
                MLIRContext &context)
      : item(item), builder(&context), locations(sources, context) {}

  OwningOpRef<ModuleOp> run();

private:
  Value dimValue(StringRef name, Location loc);
  void emitAttention(Location loc);
  void emitScale(Region &region, Location loc);
  void emitScore(Region &region, Location loc);
  void emitMask(Region &region, Location loc);
  void emitOutput(Region &region, unsigned rank, Location loc);
  Block *createBlock(Region &region, unsigned scores, unsigned indices,
                     Location loc);

  const Item &item;
  OpBuilder builder;
  LocationMap locations;
  KernelValues values;
};

} // namespace

OwningOpRef<ModuleOp> tegula::lang::emitTile(const Item &item,
                                             const llvm::SourceMgr &sources,
                                             MLIRContext &context) {
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                      memref::MemRefDialect>();
  return KernelEmitter(item, sources, context).run();
}

OwningOpRef<ModuleOp> KernelEmitter::run() {
  Location loc = locations.get(item.range);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  emitSignature(item, builder, locations, values);
  emitAttention(loc);
  tile::ReturnOp::create(builder, loc);
  return module;
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

Value KernelEmitter::dimValue(StringRef name, Location loc) {
  int number = item.findDim(name);
  if (std::optional<int64_t> value = item.dims[number].value)
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(*value));
  return values.dims[number];
}

void KernelEmitter::emitAttention(Location loc) {
  SmallVector<Value> dims;
  for (StringRef name : {"B", "H", "G", "M", "N"})
    dims.push_back(dimValue(name, loc));
  SmallVector<Value> outputs{values.tensors[item.o]};
  if (item.lse >= 0)
    outputs.push_back(values.tensors[item.lse]);
  auto attention = tile::AttentionOp::create(
      builder, loc, values.tensors[item.q.tensor],
      values.tensors[item.k.tensor], values.tensors[item.v.tensor], outputs,
      dims[0], dims[1], dims[2], dims[3], dims[4], tile::Reduction::Softmax,
      tile::ScheduleAttr());
  OpBuilder::InsertionGuard guard(builder);
  emitScale(attention.getScale(), loc);
  emitScore(attention.getScore(), loc);
  emitMask(attention.getMask(), loc);
  for (auto [output, region] : llvm::zip(outputs, attention.getEmits()))
    emitOutput(region, cast<MemRefType>(output.getType()).getRank(), loc);
}

/// A block that takes `scores` numbers, then the first `indices` of b, h, g, i
/// and j or e.
Block *KernelEmitter::createBlock(Region &region, unsigned scores,
                                  unsigned indices, Location loc) {
  SmallVector<Type> arguments(scores, item.accumulator == ElemType::F64
                                          ? Type(builder.getF64Type())
                                          : Type(builder.getF32Type()));
  arguments.append(indices, builder.getI64Type());
  return builder.createBlock(&region, region.end(), arguments,
                             SmallVector<Location>(arguments.size(), loc));
}

void KernelEmitter::emitScale(Region &region, Location loc) {
  Block *block = createBlock(region, 0, 4, loc);
  ScalarEmitter scalar(item, values, locations, builder, block->getArguments());
  Value scale =
      item.scale
          ? scalar.emit(*item.scale)
          : scalar.realConstant(1.0 / std::sqrt(double(item.headDim())), loc);
  tile::YieldOp::create(builder, loc, scale);
}

void KernelEmitter::emitScore(Region &region, Location loc) {
  Block *block = createBlock(region, 1, 5, loc);
  ScalarEmitter scalar(item, values, locations, builder,
                       block->getArguments().drop_front());
  Value score = block->getArgument(0);
  for (const Expr *e : item.scores) {
    scalar.setScore(score);
    score = scalar.emit(*e);
  }
  tile::YieldOp::create(builder, loc, score);
}

void KernelEmitter::emitMask(Region &region, Location loc) {
  Block *block = createBlock(region, 0, 5, loc);
  ScalarEmitter scalar(item, values, locations, builder, block->getArguments());
  Value keep;
  for (const Expr *e : item.masks) {
    Value next = scalar.emit(*e);
    keep = keep ? Value(arith::AndIOp::create(builder, locations.get(e->range),
                                              keep, next))
                : next;
  }
  if (!keep)
    keep = scalar.boolConstant(true, loc);
  tile::YieldOp::create(builder, loc, keep);
}

/// The default outputs: o for rank 4, lse for rank 3.
void KernelEmitter::emitOutput(Region &region, unsigned rank, Location loc) {
  Block *block = createBlock(region, rank, rank + 1, loc);
  tile::YieldOp::create(builder, loc, block->getArgument(0));
}
