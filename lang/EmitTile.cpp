//===- EmitTile.cpp - a resolved item to the tile dialect -----------------===//
//
// `tile.attention` with its regions. The kernel around it is EmitSignature's,
// the code inside a region ScalarEmitter's.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitTile.h"
#include "dialect/tile/TileDialect.h"
#include "lang/EmitKernel.h"
#include "lang/EmitScalar.h"
#include "lang/EmitSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
  void setSchedule(Operation *kernel);
  void emitAttention(Location loc);
  void emitScale(Region &region, Location loc);
  void emitScore(Region &region, Location loc);
  void emitMask(Region &region, Location loc);
  void emitWeight(Region &region, Location loc);
  void emitExtra(Region &region, Location loc);
  void emitOutput(Region &region, const Output &output, Location loc);
  Block *createBlock(Region &region, unsigned numbers, unsigned indices,
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
                      memref::MemRefDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
  return KernelEmitter(item, sources, context).run();
}

OwningOpRef<ModuleOp> KernelEmitter::run() {
  Location loc = locations.get(item.range);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  emitSignature(item, builder, locations, values);
  setSchedule(builder.getBlock()->getParentOp());
  if (item.program)
    emitProgram(item, builder, locations, values);
  else
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

/// What `tegula-choose-schedule` takes as overrides, and where each stands.
void KernelEmitter::setSchedule(Operation *kernel) {
  SmallVector<Attribute> fields, places;
  for (const ScheduleField &field : item.schedule) {
    fields.push_back(builder.getStringAttr(field.name + "=" + field.value));
    places.push_back(LocationAttr(locations.get(field.range)));
  }
  if (fields.empty())
    return;
  kernel->setAttr("tile.schedule", builder.getArrayAttr(fields));
  kernel->setAttr("tile.schedule_places", builder.getArrayAttr(places));
}

static tile::Reduction tileReduction(Reduction reduction) {
  switch (reduction) {
  case Reduction::Softmax:
    return tile::Reduction::Softmax;
  case Reduction::Sum:
    return tile::Reduction::Sum;
  case Reduction::Mean:
    return tile::Reduction::Mean;
  }
  llvm_unreachable("all reductions are handled");
}

void KernelEmitter::emitAttention(Location loc) {
  SmallVector<Value> dims;
  for (StringRef name : {"B", "H", "G", "M", "N"})
    dims.push_back(dimValue(name, loc));
  SmallVector<Value> outputs;
  for (const Output &output : item.outputs)
    outputs.push_back(values.tensors[output.tensor]);
  auto attention = tile::AttentionOp::create(
      builder, loc, values.tensors[item.q.tensor],
      values.tensors[item.k.tensor], values.tensors[item.v.tensor], outputs,
      dims[0], dims[1], dims[2], dims[3], dims[4],
      tileReduction(item.reduction), tile::ScheduleAttr());
  OpBuilder::InsertionGuard guard(builder);
  emitScale(attention.getScale(), loc);
  emitScore(attention.getScore(), loc);
  emitMask(attention.getMask(), loc);
  if (!item.weights.empty())
    emitWeight(attention.getWeight(), loc);
  if (item.extra)
    emitExtra(attention.getExtra(), loc);
  for (auto [output, region] : llvm::zip(item.outputs, attention.getEmits()))
    emitOutput(region, output, loc);
}

/// A block that takes `numbers` (s, or values of a row), then the first
/// `indices` of b, h, g, i and j or e.
Block *KernelEmitter::createBlock(Region &region, unsigned numbers,
                                  unsigned indices, Location loc) {
  SmallVector<Type> arguments(numbers, item.accumulator == ElemType::F64
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

/// Under `sum` and `mean` the score of the op is the weight of a key.
void KernelEmitter::emitScore(Region &region, Location loc) {
  Block *block = createBlock(region, 1, 5, loc);
  ScalarEmitter scalar(item, values, locations, builder,
                       block->getArguments().drop_front());
  Value score = block->getArgument(0);
  SmallVector<const Expr *> steps(item.scores.begin(), item.scores.end());
  if (item.pairWeight)
    steps.push_back(item.pairWeight);
  for (const Expr *e : steps) {
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

void KernelEmitter::emitWeight(Region &region, Location loc) {
  Block *block = createBlock(region, 1, 5, loc);
  ScalarEmitter scalar(item, values, locations, builder,
                       block->getArguments().drop_front());
  scalar.setScore(block->getArgument(0));
  Value weight;
  for (const Expr *e : item.weights) {
    Value next = scalar.emit(*e);
    weight = weight ? Value(arith::MulFOp::create(
                          builder, locations.get(e->range), weight, next))
                    : next;
  }
  tile::YieldOp::create(builder, loc, weight);
}

void KernelEmitter::emitExtra(Region &region, Location loc) {
  Block *block = createBlock(region, 0, 4, loc);
  ScalarEmitter scalar(item, values, locations, builder, block->getArguments());
  tile::YieldOp::create(builder, loc, scalar.emit(*item.extra));
}

/// The region yields the score type for a float, else the type in memory, but
/// i1 for a bool.
void KernelEmitter::emitOutput(Region &region, const Output &output,
                               Location loc) {
  const Tensor &tensor = item.tensors[output.tensor];
  unsigned rank = tensor.extents.size();
  Block *block = createBlock(region, rank, rank + 1, loc);
  ScalarEmitter scalar(item, values, locations, builder,
                       block->getArguments().drop_front(rank));
  SmallVector<Value, 4> row(block->args_begin(), block->args_begin() + rank);
  if (rank == 3)
    row.insert(row.begin(), Value()); // no o
  scalar.setRow(row);
  Value value = scalar.emit(*output.element);
  if (isInteger(tensor.elem) && integerBits(tensor.elem) < 64)
    value = arith::TruncIOp::create(builder, loc,
                                    memoryType(tensor.elem, builder), value);
  tile::YieldOp::create(builder, loc, value);
}
