// The walk that roles share.
#include "passes/schedule/RoleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tegula;

static tile::ProgramIdOp programId(tile::KernelOp kernel) { return *kernel.getBody().front().getOps<tile::ProgramIdOp>().begin(); }

LogicalResult RoleBuilder::build(tile::KernelOp kernel) {
  Location loc = kernel.getLoc();
  if (failed(buildPreamble(kernel)))
    return failure();
  TileNumbers numbers = numberTiles(kernel, programId(kernel));
  SmallVector<Value> inits(counters);
  inits.append(extras);
  auto loop = warp::ForTilesOp::create(b, loc, TypeRange(ValueRange(inits)), numbers.total(), inits, schedule.getTiles() != tile::TileOrder::Stride);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *inner = b.createBlock(&loop.getBody());
    inner->addArgument(b.getI64Type(), loc);
    for (Value init : inits)
      inner->addArgument(init.getType(), loc);
    ValueRange carried = inner->getArguments().drop_front();
    counters.assign(carried.begin(), carried.begin() + counters.size());
    extras.assign(carried.begin() + counters.size(), carried.end());
    if (inStep())
      for (Value &counter : counters)
        counter = warp::UniformOp::create(b, loc, b.getI64Type(), counter);
    if (failed(buildTile(kernel, numbers, inner->getArgument(0))))
      return failure();
    SmallVector<Value> next(counters);
    next.append(extras);
    warp::YieldOp::create(b, loc, next);
  }
  extras.assign(loop.getResults().begin() + counters.size(), loop.getResults().end());
  return finishTiles(numbers);
}

LogicalResult RoleBuilder::buildProgram(tile::KernelOp kernel, const TileNumbers &numbers, Value number) {
  return success(succeeded(buildPreamble(kernel)) && succeeded(buildTile(kernel, numbers, number)));
}

LogicalResult RoleBuilder::buildPreamble(tile::KernelOp kernel) {
  zero = arith::ConstantOp::create(b, kernel.getLoc(), b.getI64IntegerAttr(0));
  counters.assign(rings.rings.size(), zero);
  tile::ProgramIdOp id = programId(kernel);
  for (Operation &op : llvm::make_range(id->getBlock()->begin(), id->getIterator()))
    if (failed(emit(op)))
      return failure();
  return success();
}

LogicalResult RoleBuilder::buildTile(tile::KernelOp kernel, const TileNumbers &numbers, Value number) {
  tile::ProgramIdOp id = programId(kernel);
  for (auto [index, value] : llvm::zip(id.getIndices(), numbers.decode(b, id.getLoc(), number)))
    map.map(index, inStep() ? warp::UniformOp::create(b, id.getLoc(), b.getI64Type(), value).getResult() : value);
  Block *body = id->getBlock();
  for (Operation &op : llvm::make_range(std::next(id->getIterator()), std::prev(body->end())))
    if (failed(emit(op)))
      return failure();
  finishBlock(*body);
  return success();
}

TileNumbers RoleBuilder::numberTiles(tile::KernelOp kernel, tile::ProgramIdOp id) {
  SmallVector<Value> extents;
  for (Value extent : id.getExtents())
    extents.push_back(map.lookup(extent));
  // Where a table says which blocks a tile visits, tiles are of any length: the more heads at once, the more even the end, which is worth more than L2.
  bool isRegular = !kernel.walk([](tile::ListBlocksOp list) {
    bool readsTable = list.walk([](tile::LookupOp) { return WalkResult::interrupt(); }).wasInterrupted();
    return readsTable ? WalkResult::interrupt() : WalkResult::advance();
  }).wasInterrupted();
  return TileNumbers(b, kernel.getLoc(), extents, schedule.getTiles(), isRegular ? sharedKeys(kernel) : TileNumbers::Keys());
}

/// The keys and values of a head: what rings hold for all consumers together.
TileNumbers::Keys RoleBuilder::sharedKeys(tile::KernelOp kernel) {
  TileNumbers::Keys keys;
  for (const Rings::Ring &ring : rings.rings) {
    if (Value rows = isEncoded(ring.tile) ? Value() : dyn_cast_or_null<Value>(kernel.getExtent(ring.memory, ring.rowAxis))) {
      keys.rows = map.lookup(rows);
      keys.bytesPerRow += ring.tile.getDimSize(1) * ring.tile.getElementTypeBitWidth() / 8;
    }
  }
  return keys;
}

void RoleBuilder::mapRowSpan(tile::RowSpanOp op, IRMapping &results, Value offset, int64_t rows) {
  Location loc = op.getLoc();
  Value first = b.createOrFold<arith::AddIOp>(loc, map.lookup(op.getStart()), offset);
  results.map(op.getFirst(), first);
  results.map(op.getLast(), b.createOrFold<arith::AddIOp>(loc, first, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(rows - 1))));
}

void RoleBuilder::advance(unsigned ring, Location loc) {
  Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
  counters[ring] = arith::AddIOp::create(b, loc, counters[ring], one);
}

scf::ForOp RoleBuilder::loop(tile::ForBlocksOp op, Value upper, ArrayRef<Value> inits, function_ref<FailureOr<SmallVector<Value>>(ValueRange)> fill) {
  Location loc = op.getLoc();
  SmallVector<Value> all(inits);
  all.append(counters.begin(), counters.end());
  Value step = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(op.getStep()));
  auto result = scf::ForOp::create(b, loc, map.lookup(op.getLower()), upper, step, all);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(result.getBody());
  if (!result.getBody()->empty())
    result.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(result.getBody());
  map.map(op.getInductionVar(), result.getInductionVar());
  ValueRange carried = result.getRegionIterArgs();
  counters.assign(carried.begin() + inits.size(), carried.end());
  FailureOr<SmallVector<Value>> next = fill(carried.take_front(inits.size()));
  if (failed(next))
    return {};
  next->append(counters.begin(), counters.end());
  scf::YieldOp::create(b, loc, *next);
  counters.assign(result.getResults().begin() + inits.size(), result.getResults().end());
  return result;
}
