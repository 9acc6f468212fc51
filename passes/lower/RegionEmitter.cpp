// Scalar code of one element (masks, scores, lookups) to the elements that a thread holds.
//
// The one idea: a value of a region has a shape, the least of: the same for all elements, one a row (2), one a column (columns / 4), one an element
// (columns / 2). An op is emitted once in the least shape that holds its operands, so what depends on the row alone is computed twice, not 64 times.
// Long code is emitted for a few columns at a time, as what it computes in between would not fit in registers for all of them at once. Eight lanes of
// a warp hold elements of one column: what takes many instructions and depends on the column alone, one lane computes for all of them. Integers are
// i64 by meaning; a value whose range fits is held as i32, and an op whose operands and results all fit works on i32.
#include "passes/lower/RegionEmitter.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

RegionEmitter::RegionEmitter(ConversionPatternRewriter &b, Location loc, RankedTensorType tile, const KernelState &state, Region &region, ValueRange inputs,
              Value firstRow, Value firstColumn)
    : b(b), loc(loc), columns(tile.getRank() == 2 ? tile.getDimSize(1) : 0), width(columns / 2), place(state.place), region(region),
      firstColumn(firstColumn), ranges(state.ranges) {
  unsigned number = 0;
  for (Value input : inputs) {
    bool isRows = !columns || cast<VectorType>(input.getType()).getNumElements() != columns / 2;
    set(region.getArgument(number++), input, isRows ? Spread::Rows : Spread::Elements);
  }
  Value row = region.getArgument(number);
  column = columns ? region.getArgument(number + 1) : Value();
  auto rows = ranges.of(firstRow), cols = columns ? ranges.of(firstColumn) : IndexRange{0, 0};
  if (rows && cols) {
    ranges.set(row, {rows->low, rows->high + 63});
    if (columns)
      ranges.set(column, {cols->low, cols->high + columns - 1});
  }
  mapRow(row, firstRow);
}

Value RegionEmitter::emit() {
  DenseMap<Value, Spread> shapes;
  if (columns)
    shapes[column] = Spread::Columns;
  shapes = staticSpreads(region.front(), shapes);
  if (failed(emitByLanes(shapes)))
    return {};
  width = elementsAtOnce(shapes);
  Value result = width == columns / 2 ? emitAtOnce() : emitInGroups(shapes);
  if (!result)
    return {};
  Type yielded = region.front().getTerminator()->getOperand(0).getType();
  auto type = cast<VectorType>(result.getType());
  return type.getElementType() == yielded ? result : arith::ExtSIOp::create(b, loc, type.clone(yielded), result).getResult();
}

/// The wait for the matrix product that the region works on, if what columns alone decide is known before it: so tables are loaded while the product is made.
Operation *RegionEmitter::waitBehind(const DenseMap<Value, Spread> &shapes) {
  auto map = dyn_cast<tile::MapOp>(region.getParentOp());
  Operation *wait = nullptr;
  if (map)
    for (Value input : map.getInputs())
      wait = wait ? wait : input.getDefiningOp<warp::AwaitOp>();
  if (!wait || wait->getBlock() != map->getBlock())
    return nullptr;
  auto isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != wait->getBlock() || op->isBeforeInBlock(wait);
  };
  auto isReady = [&](Operation &op) {
    return hasRows(shapes.lookup(op.getResult(0))) || llvm::all_of(op.getOperands(), [&](Value operand) { return region.isAncestor(operand.getParentRegion()) || isKnown(operand); });
  };
  return isKnown(firstColumn) && llvm::all_of(region.front().without_terminator(), isReady) ? wait : nullptr;
}

/// Columns of tables and quotients, and what is computed of them: a lane computes each column whose number it has modulo 32.
LogicalResult RegionEmitter::emitByLanes(const DenseMap<Value, Spread> &shapes) {
  constexpr int64_t lanes = 32;
  if (columns == 0 || columns % lanes != 0)
    return success();
  llvm::SetVector<Operation *> found;
  for (Operation &op : region.front().without_terminator()) {
    if (shapes.lookup(op.getResult(0)) != Spread::Columns)
      continue;
    bool isLong = isa<tile::LookupOp, scf::ForOp, arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp>(op);
    if (isLong || llvm::any_of(op.getOperands(), [&](Value operand) { return found.contains(operand.getDefiningOp()); }))
      found.insert(&op);
  }
  if (found.empty())
    return success();
  DenseMap<Value, std::pair<Value, Spread>> before = values;
  OpBuilder::InsertionGuard guard(b);
  if (Operation *wait = waitBehind(shapes))
    b.setInsertionPoint(wait);
  width = columns / lanes * 2; // so that count(Columns) is what a lane computes
  SmallVector<int64_t> offsets;
  for (int64_t i = 0; i < columns / lanes; ++i)
    offsets.push_back(lanes * i);
  Value lane = arith::AndIOp::create(b, loc, place.thread, constantInt(b, loc, lanes - 1));
  setColumns(arith::AddIOp::create(b, loc, as(held(column), firstColumn), as(held(column), lane)), offsets);
  for (Operation &op : region.front().without_terminator())
    if (!hasRows(shapes.lookup(op.getResult(0))) && failed(emit(op)))
      return failure();
  for (Operation *op : found)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !found.contains(user); }))
        byLanes[result] = vector::ToElementsOp::create(b, loc, get(result, Spread::Columns)).getResults();
  values = before;
  emitted = std::move(found);
  return success();
}

/// From the lanes that computed them, the columns of a group whose first one is number `first`.
void RegionEmitter::fetchColumns(int64_t first) {
  constexpr int64_t lanes = 32;
  Value own = as(b.getI32Type(), place.column);
  for (auto &[value, parts] : byLanes) {
    SmallVector<Value> elements;
    for (int64_t i = first; i < first + count(Spread::Columns); ++i) {
      int64_t offset = i / 2 * 8 + i % 2;
      Value lane = arith::AddIOp::create(b, loc, own, constantInt(b, loc, offset % lanes));
      elements.push_back(shuffle(b, loc, parts[offset / lanes], lane, NVVM::ShflKind::idx));
    }
    auto type = VectorType::get({count(Spread::Columns)}, elements.front().getType());
    set(value, vector::FromElementsOp::create(b, loc, type, elements), Spread::Columns);
  }
}

Value RegionEmitter::emitAtOnce() {
  if (columns)
    mapColumns(0);
  if (failed(emit(region.front())))
    return {};
  return get(yielded(), columns ? Spread::Elements : Spread::Rows);
}

/// What all columns share first, then the code of one group of columns after the other.
Value RegionEmitter::emitInGroups(const DenseMap<Value, Spread> &shapes) {
  auto isShared = [&](Operation &op) { return !ofColumns(shapes.lookup(op.getResult(0))); };
  for (Operation &op : region.front().without_terminator()) {
    auto any = dyn_cast<tile::AnyRangeOp>(op);
    if (any ? failed(emitMarks(any)) : isShared(op) && failed(emit(op)))
      return {};
  }
  DenseMap<Value, std::pair<Value, Spread>> shared = values;
  SmallVector<Value> elements;
  for (int64_t first = 0; first < columns / 2; first += width) {
    mapColumns(first / 2);
    for (auto [value, whole] : shared)
      if (whole.second == Spread::Elements)
        set(value, vector::ShuffleOp::create(b, loc, whole.first, whole.first, llvm::to_vector(llvm::seq(first, first + width))), Spread::Elements);
    for (Operation &op : region.front().without_terminator())
      if (!isShared(op) && failed(emit(op)))
        return {};
    llvm::append_range(elements, vector::ToElementsOp::create(b, loc, get(yielded(), Spread::Elements)).getResults());
  }
  return vector::FromElementsOp::create(b, loc, VectorType::get({columns / 2}, elements.front().getType()), elements);
}

/// All of them, unless their code is long, reads tables, makes flags, of which few fit the predicate registers, or loops, as a loop carries its
/// values in registers.
int64_t RegionEmitter::elementsAtOnce(const DenseMap<Value, Spread> &shapes) {
  constexpr int64_t longCode = 40;
  int64_t length = 0, most = columns / 2;
  region.walk([&](Operation *op) {
    if (op->getNumResults() == 0 || !ofColumns(shapes.lookup(op->getResult(0))) || emitted.contains(op))
      return;
    ++length;
    if (isa<scf::ForOp>(op))
      most = std::min<int64_t>(most, 16);
    else if (isa<tile::LookupOp>(op) || (op->getResult(0).getType().isInteger(1) && !yielded().getType().isInteger(1)))
      most = std::min<int64_t>(most, 8);
  });
  if (length > longCode)
    most = std::min<int64_t>(most, 4);
  return columns / 2 % std::max<int64_t>(most, 1) == 0 ? most : std::min<int64_t>(most, 4); // columns are multiples of 8
}

/// The shapes of a block's values before anything is emitted, with some known; of a loop's: that of everything that it reads.
DenseMap<Value, Spread> RegionEmitter::staticSpreads(Block &block, DenseMap<Value, Spread> known) {
  auto of = [&](Value value) {
    auto it = known.find(value);
    return it == known.end() ? spreadOf(value) : it->second;
  };
  for (Operation &op : block.without_terminator()) {
    Spread all = Spread::Uniform;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        all = join(all, of(operand));
    });
    for (Value result : op.getResults())
      known[result] = all;
  }
  return known;
}

LogicalResult RegionEmitter::emit(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emit(op)))
      return failure();
  return success();
}

/// Row indices from `first`, the fragment's first row: two values.
void RegionEmitter::mapRow(Value argument, Value first) {
  Type type = held(argument);
  Value low = as(type, arith::AddIOp::create(b, loc, first, place.row)); // i64 as elsewhere, so that they are one value
  Value high = arith::AddIOp::create(b, loc, low, constantInt(b, loc, 8, type.getIntOrFloatBitWidth()));
  set(argument, vector::FromElementsOp::create(b, loc, VectorType::get({2}, type), ValueRange{low, high}), Spread::Rows);
}

/// The column indices of a group whose first one is number `first` of those that the thread holds, and what lanes know of them.
void RegionEmitter::mapColumns(int64_t first) {
  SmallVector<int64_t> offsets;
  for (int64_t i = first; i < first + count(Spread::Columns); ++i)
    offsets.push_back(i / 2 * 8 + i % 2);
  setColumns(arith::AddIOp::create(b, loc, as(held(column), firstColumn), as(held(column), place.column)), offsets);
  fetchColumns(first);
}

/// The columns at `offsets` from `base`.
void RegionEmitter::setColumns(Value base, ArrayRef<int64_t> offsets) {
  columnBase = base, columnOffsets.assign(offsets.begin(), offsets.end());
  auto type = VectorType::get({count(Spread::Columns)}, held(column));
  Value constants = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, llvm::map_to_vector(offsets, [&](int64_t offset) -> Attribute {
                                                return IntegerAttr::get(held(column), offset);
                                              })));
  set(column, arith::AddIOp::create(b, loc, vector::BroadcastOp::create(b, loc, type, base), constants), Spread::Columns);
}

/// The element type that a value is held in: i32 where it fits and serves an op that works on i32.
Type RegionEmitter::held(Value value) {
  bool narrow =
      value.getType().isInteger(64) && ranges.fitsI32(value) && llvm::any_of(value.getUsers(), [&](Operation *user) { return isNarrow(*user); });
  return narrow ? b.getI32Type() : value.getType();
}

/// Whether an op works on i32.
bool RegionEmitter::isNarrow(Operation &op) {
  auto fits = [&](Value value) { return !value.getType().isInteger(64) || ranges.fitsI32(value); };
  return llvm::all_of(op.getOperands(), fits) && llvm::all_of(op.getResults(), fits);
}

/// An i32 or i64, or a vector of them, with elements of `type`.
Value RegionEmitter::as(Type type, Value value) {
  Type now = value.getType(), wanted = type;
  if (auto vector = dyn_cast<VectorType>(now))
    wanted = vector.clone(type);
  if (now == wanted)
    return value;
  return type.isInteger(32) ? arith::TruncIOp::create(b, loc, wanted, value).getResult()
                            : arith::ExtSIOp::create(b, loc, wanted, value).getResult();
}

LogicalResult RegionEmitter::emit(Operation &op) {
  if (emitted.contains(&op))
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitLoop(loop);
  if (auto any = dyn_cast<tile::AnyRangeOp>(op)) {
    if (!marks.contains(any) && failed(emitMarks(any)))
      return failure();
    return readMarks(any), success();
  }
  if (op.getNumRegions() != 0 || op.getNumResults() != 1)
    return op.emitOpError("internal: not scalar code of one element");
  Spread spread = Spread::Uniform;
  for (Value operand : op.getOperands())
    spread = join(spread, spreadOf(operand));
  if (auto lookup = dyn_cast<tile::LookupOp>(op))
    return emitLookups(lookup, spread);
  if (spread == Spread::Elements && emitByDistance(op))
    return success();
  Value result = op.getResult(0);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    bool isShorter = held(result) != result.getType();
    set(result, isShorter ? constantInt(b, loc, cast<IntegerAttr>(constant.getValue()).getInt()) : b.clone(op)->getResult(0), Spread::Uniform);
    return success();
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) && isNarrow(op) && held(result) == held(op.getOperand(0))) {
    set(result, get(op.getOperand(0), spread), spread); // the range has been proved to fit
    return success();
  }
  bool narrow = isNarrow(op);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand, spread, /*whole=*/!narrow));
  bool extends = isa<arith::ExtSIOp, arith::ExtUIOp>(op);
  Type type = narrow && extends ? held(result) : narrow && result.getType().isInteger(64) ? b.getI32Type() : result.getType();
  OperationState state(op.getLoc(), op.getName(), operands, {shaped(type, spread)}, op.getAttrs());
  Value made = b.create(state)->getResult(0);
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) // a product and a sum may be one instruction, rounded once
    made.getDefiningOp()->setAttr("fastmath", arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract));
  set(result, type == held(result) ? made : as(held(result), made), spread);
  return success();
}

/// The loop of all elements; its bounds are the same for all of them. A carried value has the shape of all values that it takes.
LogicalResult RegionEmitter::emitLoop(scf::ForOp loop) {
  Value bounds[] = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  if (llvm::any_of(bounds, [&](Value bound) { return spreadOf(bound) != Spread::Uniform; }))
    return loop.emitError("expected the bounds of a loop in an element's code to be the same for all elements");
  SmallVector<Spread> shapes = carriedSpreads(loop);
  SmallVector<Value> inits;
  for (auto [init, shape] : llvm::zip(loop.getInits(), shapes))
    inits.push_back(get(init, shape, /*whole=*/true));
  bool narrow = llvm::all_of(bounds, [&](Value bound) { return ranges.fitsI32(bound); }) && ranges.fitsI32(loop.getInductionVar());
  Type type = narrow ? b.getI32Type() : b.getI64Type();
  for (Value &bound : bounds)
    bound = as(type, get(bound, Spread::Uniform));
  auto result = scf::ForOp::create(b, loc, bounds[0], bounds[1], bounds[2], inits);
  OpBuilder::InsertionGuard guard(b);
  Block *body = result.getBody();
  if (!body->empty())
    b.eraseOp(body->getTerminator());
  b.setInsertionPointToEnd(body);
  set(loop.getInductionVar(), as(held(loop.getInductionVar()), result.getInductionVar()), Spread::Uniform);
  for (auto [argument, value, shape] : llvm::zip(loop.getRegionIterArgs(), result.getRegionIterArgs(), shapes))
    set(argument, value, shape);
  if (failed(emit(*loop.getBody())))
    return failure();
  SmallVector<Value> next;
  for (auto [value, shape] : llvm::zip(loop.getBody()->getTerminator()->getOperands(), shapes))
    next.push_back(get(value, shape, /*whole=*/true));
  scf::YieldOp::create(b, loc, next);
  for (auto [old, value, shape] : llvm::zip(loop.getResults(), result.getResults(), shapes))
    set(old, value, shape);
  return success();
}

/// Of ranges that rows have, all columns together: a range is a stretch of bits.
LogicalResult RegionEmitter::emitMarks(tile::AnyRangeOp op) {
  Block &body = op.getRange().front();
  if (op.getNumber() != column || op.getStep() != 1)
    return op.emitOpError("internal: not of an element's own column");
  APInt known;
  if (matchPattern(op.getCount(), m_ConstantInt(&known)))
    ranges.set(body.getArgument(0), {0, known.getSExtValue()});
  Type i32 = b.getI32Type(), i64 = b.getI64Type(), type = ranges.fitsI32(body.getArgument(0)) ? i32 : i64;
  auto rows = VectorType::get({2}, i64), narrow = VectorType::get({2}, i32);
  auto all = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(rows, value)); };
  auto all32 = [&](int32_t value) -> Value { return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(narrow, value)); };
  Value base = arith::AddIOp::create(b, loc, as(i64, firstColumn), as(i64, place.column)), bases = vector::BroadcastOp::create(b, loc, rows, base);
  Value zero = all(0), one = all(1), end = all(columns), none = all32(0), two = all32(2), seven = all32(7), three = all32(3), bit = all32(1);
  int64_t words = llvm::divideCeil(columns / 4, 32);
  SmallVector<Value> starts;
  for (int64_t word = 0; word < words; ++word)
    starts.push_back(all32(32 * word));
  Value most = all32(32);
  // The thread has the columns 0, 1, 8, 9, 16, ... from its first one on.
  auto below = [&](Value key) {
    Value inside = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, key, bases), zero), end);
    Value columns = arith::TruncIOp::create(b, loc, narrow, inside), rest = arith::MinUIOp::create(b, loc, arith::AndIOp::create(b, loc, columns, seven), two);
    return arith::AddIOp::create(b, loc, arith::ShLIOp::create(b, loc, arith::ShRUIOp::create(b, loc, columns, three), bit), rest).getResult();
  };
  auto bits = [&](Value number, Value start) { // as many as `number` says, less those of words before
    Value own = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, number, start), none), most);
    Value power = arith::ShLIOp::create(b, loc, one, arith::ExtUIOp::create(b, loc, rows, own));
    return arith::TruncIOp::create(b, loc, narrow, arith::SubIOp::create(b, loc, power, one)).getResult();
  };
  Value first = constantInt(b, loc, 0, type.getIntOrFloatBitWidth()), step = constantInt(b, loc, 1, type.getIntOrFloatBitWidth());
  Value count = as(type, get(op.getCount(), Spread::Uniform));
  auto loop = scf::ForOp::create(b, loc, first, count, step, SmallVector<Value>(words, none));
  OpBuilder::InsertionGuard guard(b);
  if (!loop.getBody()->empty())
    b.eraseOp(loop.getBody()->getTerminator());
  b.setInsertionPointToEnd(loop.getBody());
  set(body.getArgument(0), as(held(body.getArgument(0)), loop.getInductionVar()), Spread::Uniform);
  if (failed(emit(body)))
    return failure();
  Value lower = below(get(body.getTerminator()->getOperand(0), Spread::Rows, /*whole=*/true));
  Value upper = below(get(body.getTerminator()->getOperand(1), Spread::Rows, /*whole=*/true));
  Value allOnes = all32(-1);
  SmallVector<Value> next;
  for (auto [word, start] : llvm::zip(loop.getRegionIterArgs(), starts)) {
    Value past = bits(upper, start), before = arith::XOrIOp::create(b, loc, bits(lower, start), allOnes);
    next.push_back(arith::OrIOp::create(b, loc, word, arith::AndIOp::create(b, loc, past, before)));
  }
  scf::YieldOp::create(b, loc, next);
  marks[op].assign(loop.getResults().begin(), loop.getResults().end());
  return success();
}

/// A flag for each element at hand.
void RegionEmitter::readMarks(tile::AnyRangeOp op) {
  SmallVector<SmallVector<Value>> words;
  for (Value word : marks[op])
    words.push_back(llvm::to_vector_of<Value>(vector::ToElementsOp::create(b, loc, word).getResults()));
  Value zero = constantInt(b, loc, 0);
  SmallVector<Value> flags;
  for (int64_t i = 0; i < width; ++i) {
    int64_t offset = columnOffsets[i / 4 * 2 + i % 2], bit = offset / 8 * 2 + offset % 8;
    Value marked = arith::AndIOp::create(b, loc, words[bit / 32][i / 2 % 2], constantInt(b, loc, int64_t(1) << bit % 32));
    flags.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, marked, zero));
  }
  set(op.getMeets(), vector::FromElementsOp::create(b, loc, VectorType::get({width}, b.getI1Type()), flags), Spread::Elements);
}

/// The least shapes of the carried values: a fixed point, as what is yielded depends on what is carried.
SmallVector<Spread> RegionEmitter::carriedSpreads(scf::ForOp loop) {
  SmallVector<Spread> shapes = llvm::map_to_vector(loop.getInits(), [&](Value init) { return spreadOf(init); });
  for (bool changed = true; changed;) {
    changed = false;
    DenseMap<Value, Spread> known;
    for (auto [argument, shape] : llvm::zip(loop.getRegionIterArgs(), shapes))
      known[argument] = shape;
    known = staticSpreads(*loop.getBody(), known);
    for (auto [shape, value] : llvm::zip(shapes, loop.getBody()->getTerminator()->getOperands())) {
      auto it = known.find(value);
      if (Spread wider = join(shape, it == known.end() ? spreadOf(value) : it->second); wider != shape)
        shape = wider, changed = true;
    }
  }
  return shapes;
}

LogicalResult RegionEmitter::emitLookups(tile::LookupOp op, Spread spread) {
  SmallVector<SmallVector<Value>> indices;
  for (Value index : op.getIndices()) {
    Value value = get(index, spread, /*whole=*/spread == Spread::Uniform);
    SmallVector<Value> each{value};
    if (spread != Spread::Uniform)
      each = llvm::to_vector_of<Value>(vector::ToElementsOp::create(b, loc, value).getResults());
    for (Value &element : each)
      if (!element.getType().isInteger(64))
        element = arith::ExtSIOp::create(b, loc, b.getI64Type(), element);
    indices.push_back(each);
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count(spread); ++i) {
    SmallVector<Value> at;
    for (auto &index : indices)
      at.push_back(index[i]);
    elements.push_back(tile::LookupOp::create(b, op.getLoc(), op.getTable(), at));
  }
  if (spread == Spread::Uniform) {
    set(op.getResult(), elements[0], spread);
    return success();
  }
  auto type = cast<VectorType>(shaped(op.getResult().getType(), spread));
  set(op.getResult(), vector::FromElementsOp::create(b, loc, type, elements), spread);
  return success();
}

Spread RegionEmitter::spreadOf(Value value) const {
  if (lines.contains(value))
    return Spread::Elements;
  auto it = values.find(value);
  return it == values.end() ? Spread::Uniform : it->second.second;
}

/// A value in at least the shape `wanted`, in the type that it is held in, or its own.
Value RegionEmitter::get(Value value, Spread wanted, bool whole) {
  if (auto line = lines.find(value); line != lines.end() && !values.contains(value))
    set(value, along(line->second), Spread::Elements);
  auto it = values.find(value);
  auto [now, spread] = it == values.end() ? std::pair(value, Spread::Uniform) : it->second;
  Type type = whole ? value.getType() : held(value);
  if (type.isInteger(32) || type.isInteger(64))
    now = as(type, now);
  return widened(now, spread, wanted);
}

Value RegionEmitter::widened(Value now, Spread spread, Spread wanted) {
  if (spread == wanted)
    return now;
  if (spread == Spread::Uniform)
    return vector::BroadcastOp::create(b, loc, cast<VectorType>(shaped(now.getType(), wanted)), now);
  SmallVector<int64_t> from;
  for (int64_t i = 0; i < count(wanted); ++i)
    from.push_back(spread == Spread::Rows ? i / 2 % 2 : i / 4 * 2 + i % 2);
  return vector::ShuffleOp::create(b, loc, now, now, from);
}
