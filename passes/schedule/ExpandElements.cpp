// tile.mask, tile.map and tile.zero_unseen to code on tiles.
//
// The one idea: a region's value is one for all elements until an index or an element meets it; from there on the same op works on a tile.
#include "passes/schedule/ExpandElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tegula;

namespace {

class Expander {
public:
  Expander(Operation *op, RankedTensorType result) : b(op), loc(op->getLoc()), shape(result.getShape()) {}

  RankedTensorType tileOf(Type element) { return RankedTensorType::get(shape, element); }

  /// `first + place along axis`, as a tile.
  Value indices(Value first, int64_t axis) {
    auto line = RankedTensorType::get({shape[axis]}, b.getI64Type());
    Value lanes = tile::IotaOp::create(b, loc, line), base = tensor::SplatOp::create(b, loc, first, line);
    return spread(arith::AddIOp::create(b, loc, base, lanes), axis);
  }

  /// A tile of rank 1 along one axis.
  Value spread(Value line, int64_t axis) {
    if (shape.size() == 1)
      return line;
    return tile::BroadcastOp::create(b, loc, tileOf(getElementTypeOrSelf(line)), line, b.getDenseI64ArrayAttr({axis}));
  }

  void map(Value argument, Value tile) { values.map(argument, tile); }

  /// The yielded tile; null where an op is not scalar code.
  Value expand(Region &region) { return failed(expand(region.front())) ? Value() : asTile(region.front().getTerminator()->getOperand(0)); }

private:
  LogicalResult expand(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(expand(op)))
        return failure();
    return success();
  }

  /// A loop with the same bounds for all elements: it carries tiles.
  LogicalResult expand(scf::ForOp loop) {
    SmallVector<Value> bounds = llvm::map_to_vector(loop->getOperands().take_front(3), [&](Value bound) { return values.lookupOrDefault(bound); });
    if (llvm::any_of(bounds, isTile))
      return loop.emitError("a loop in the function of an element needs bounds that are the same for all elements on the GPU");
    SmallVector<Value> inits = llvm::map_to_vector(loop.getInits(), [&](Value init) { return asTile(init); });
    auto result = scf::ForOp::create(b, loop.getLoc(), bounds[0], bounds[1], bounds[2], inits);
    values.map(loop.getBody()->getArguments(), result.getBody()->getArguments());
    values.map(loop.getResults(), result.getResults());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(result.getBody());
    if (failed(expand(*loop.getBody())))
      return failure();
    scf::YieldOp::create(b, loop.getLoc(), llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) { return asTile(value); }));
    return success();
  }

  static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

  Value asTile(Value value) {
    Value known = values.lookupOrDefault(value);
    return isTile(known) ? known : tensor::SplatOp::create(b, loc, known, tileOf(known.getType())).getResult();
  }

  LogicalResult expand(Operation &op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return expand(loop);
    if (op.getNumRegions() != 0 || op.getNumResults() != 1)
      return op.emitError("`") << op.getName() << "` in the function of an element runs on the GPU in attention loops only";
    bool uniform = llvm::none_of(op.getOperands(), [&](Value operand) { return isTile(values.lookupOrDefault(operand)); });
    if (uniform) {
      b.clone(op, values);
      return success();
    }
    auto type = tileOf(op.getResult(0).getType());
    if (auto lookup = dyn_cast<tile::LookupOp>(op)) {
      SmallVector<Value> at = llvm::map_to_vector(lookup.getIndices(), [&](Value index) { return values.lookupOrDefault(index); });
      values.map(lookup.getResult(), tile::GatherOp::create(b, loc, type, lookup.getTable(), at, /*mask=*/Value(), /*fill=*/Value()).getResult());
      return success();
    }
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return asTile(operand); });
    OperationState state(op.getLoc(), op.getName(), operands, {type}, op.getAttrs());
    values.map(op.getResult(0), b.create(state)->getResult(0));
    return success();
  }

  OpBuilder b;
  Location loc;
  ArrayRef<int64_t> shape;
  IRMapping values;
};

} // namespace

/// Values of keys that some row sees, else 0: the pairs that are seen, for the rows of the product that reads the values.
static LogicalResult expandUnseen(tile::ZeroUnseenOp op) {
  auto product = cast<tile::DotOp>(*op->getUsers().begin());
  auto pairs = RankedTensorType::get({product.getLhs().getType().getDimSize(0), op.getTile().getType().getDimSize(0)}, IntegerType::get(op.getContext(), 1));
  OpBuilder b(op);
  Location loc = op.getLoc();
  Expander expander(op, pairs);
  Value rows = expander.indices(op.getFirst(), 0);
  expander.map(op.getSeen().getArgument(0), rows);
  expander.map(op.getSeen().getArgument(1), expander.indices(op.getCols(), 1));
  Value seen = expander.expand(op.getSeen());
  if (!seen)
    return failure();
  Value last = tensor::SplatOp::create(b, loc, op.getLast(), rows.getType());
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rows, last);
  Value keys = tile::ReduceOp::create(b, loc, tile::ReduceKind::Or, arith::AndIOp::create(b, loc, seen, exists), 0);
  auto type = op.getTile().getType();
  Value kept = tile::BroadcastOp::create(b, loc, type.clone(b.getI1Type()), keys, b.getDenseI64ArrayAttr({0}));
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  op.replaceAllUsesWith(arith::SelectOp::create(b, loc, kept, op.getTile(), zeros).getResult());
  op.erase();
  return success();
}

LogicalResult tegula::expandElements(tile::KernelOp kernel) {
  SmallVector<Operation *> ops;
  kernel->walk([&](Operation *op) {
    if (isa<tile::MaskOp, tile::MapOp, tile::ZeroUnseenOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto unseen = dyn_cast<tile::ZeroUnseenOp>(op)) {
      if (failed(expandUnseen(unseen)))
        return failure();
      continue;
    }
    Region &body = op->getRegion(0);
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    Expander expander(op, result);
    unsigned next = 0;
    Value rows, cols;
    if (auto mask = dyn_cast<tile::MaskOp>(op)) {
      rows = mask.getRows(), cols = mask.getCols();
    } else {
      auto map = cast<tile::MapOp>(op);
      rows = map.getRows(), cols = map.getCols();
      for (Value input : map.getInputs()) {
        bool isWhole = cast<RankedTensorType>(input.getType()).getRank() == result.getRank();
        expander.map(body.getArgument(next++), isWhole ? input : expander.spread(input, 0));
      }
    }
    expander.map(body.getArgument(next++), expander.indices(rows, 0));
    if (cols)
      expander.map(body.getArgument(next), expander.indices(cols, 1));
    Value tile = expander.expand(body);
    if (!tile)
      return failure();
    op->getResult(0).replaceAllUsesWith(tile);
    op->erase();
  }
  return success();
}
