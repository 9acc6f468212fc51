// Scalar code of one element (masks, scores, lookups) to the elements that a thread holds.
//
// The one idea: a value of a region has a shape, the least of: the same for all elements, one a row (2), one a column (columns / 4), one an element
// (columns / 2). An op is emitted once in the least shape that holds its operands, so what depends on the row alone is computed twice, not 64 times.
// Long code is emitted for a few columns at a time, as what it computes in between would not fit in registers for all of them at once. Eight lanes of
// a warp hold elements of one column: what takes many instructions and depends on the column alone, one lane computes for all of them. Integers are
// i64 by meaning; a value whose range fits is held as i32, and an op whose operands and results all fit works on i32.
#include "passes/lower/LowerWarp.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

namespace {

enum class Spread { Uniform = 0, Rows = 1, Columns = 2, Elements = 3 };

Spread join(Spread x, Spread y) { return static_cast<Spread>(static_cast<int>(x) | static_cast<int>(y)); }

/// Emits a region for all elements of a tile that one thread holds.
class RegionEmitter {
public:
  /// A region of a tile at row `firstRow` and, of a fragment, column `firstColumn`. Its arguments are the elements of `inputs`, then its indices.
  RegionEmitter(ConversionPatternRewriter &b, Location loc, RankedTensorType tile, const KernelState &state, Region &region, ValueRange inputs,
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

  /// The yielded value, one an element; null where the region holds an op that is not scalar code.
  Value emit() {
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

private:
  Value yielded() { return region.front().getTerminator()->getOperand(0); }

  /// Columns of tables and quotients, and what is computed of them: a lane computes each column whose number it has modulo 32.
  LogicalResult emitByLanes(const DenseMap<Value, Spread> &shapes) {
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
  void fetchColumns(int64_t first) {
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

  Value emitAtOnce() {
    if (columns)
      mapColumns(0);
    if (failed(emit(region.front())))
      return {};
    return get(yielded(), columns ? Spread::Elements : Spread::Rows);
  }

  /// What all columns share first, then the code of one group of columns after the other.
  Value emitInGroups(const DenseMap<Value, Spread> &shapes) {
    auto isShared = [&](Operation &op) { return !ofColumns(shapes.lookup(op.getResult(0))); };
    for (Operation &op : region.front().without_terminator())
      if (isShared(op) && failed(emit(op)))
        return {};
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

  static bool hasRows(Spread spread) { return spread == Spread::Rows || spread == Spread::Elements; }
  static bool ofColumns(Spread spread) { return spread == Spread::Columns || spread == Spread::Elements; }

  /// All of them, unless their code is long, reads tables, makes flags, of which few fit the predicate registers, or loops, as a loop carries its
  /// values in registers.
  int64_t elementsAtOnce(const DenseMap<Value, Spread> &shapes) {
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
  DenseMap<Value, Spread> staticSpreads(Block &block, DenseMap<Value, Spread> known) {
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

  LogicalResult emit(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(emit(op)))
        return failure();
    return success();
  }

  /// Row indices from `first`, the fragment's first row: two values.
  void mapRow(Value argument, Value first) {
    Type type = held(argument);
    Value low = as(type, arith::AddIOp::create(b, loc, first, place.row)); // i64 as elsewhere, so that they are one value
    Value high = arith::AddIOp::create(b, loc, low, constantInt(b, loc, 8, type.getIntOrFloatBitWidth()));
    set(argument, vector::FromElementsOp::create(b, loc, VectorType::get({2}, type), ValueRange{low, high}), Spread::Rows);
  }

  /// The column indices of a group whose first one is number `first` of those that the thread holds, and what lanes know of them.
  void mapColumns(int64_t first) {
    SmallVector<int64_t> offsets;
    for (int64_t i = first; i < first + count(Spread::Columns); ++i)
      offsets.push_back(i / 2 * 8 + i % 2);
    setColumns(arith::AddIOp::create(b, loc, as(held(column), firstColumn), as(held(column), place.column)), offsets);
    fetchColumns(first);
  }

  /// The columns at `offsets` from `base`.
  void setColumns(Value base, ArrayRef<int64_t> offsets) {
    columnBase = base, columnOffsets.assign(offsets.begin(), offsets.end());
    auto type = VectorType::get({count(Spread::Columns)}, held(column));
    Value constants = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, llvm::map_to_vector(offsets, [&](int64_t offset) -> Attribute {
                                                  return IntegerAttr::get(held(column), offset);
                                                })));
    set(column, arith::AddIOp::create(b, loc, vector::BroadcastOp::create(b, loc, type, base), constants), Spread::Columns);
  }

  /// The element type that a value is held in: i32 where it fits and serves an op that works on i32.
  Type held(Value value) {
    bool narrow =
        value.getType().isInteger(64) && ranges.fitsI32(value) && llvm::any_of(value.getUsers(), [&](Operation *user) { return isNarrow(*user); });
    return narrow ? b.getI32Type() : value.getType();
  }

  /// Whether an op works on i32.
  bool isNarrow(Operation &op) {
    auto fits = [&](Value value) { return !value.getType().isInteger(64) || ranges.fitsI32(value); };
    return llvm::all_of(op.getOperands(), fits) && llvm::all_of(op.getResults(), fits);
  }

  /// An i32 or i64, or a vector of them, with elements of `type`.
  Value as(Type type, Value value) {
    Type now = value.getType(), wanted = type;
    if (auto vector = dyn_cast<VectorType>(now))
      wanted = vector.clone(type);
    if (now == wanted)
      return value;
    return type.isInteger(32) ? arith::TruncIOp::create(b, loc, wanted, value).getResult()
                              : arith::ExtSIOp::create(b, loc, wanted, value).getResult();
  }

  LogicalResult emit(Operation &op) {
    if (emitted.contains(&op))
      return success();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return emitLoop(loop);
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
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && held(result) != result.getType()) {
      set(result, constantInt(b, loc, cast<IntegerAttr>(constant.getValue()).getInt()), Spread::Uniform);
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

  /// Integers that are the column's index, once more or less, and values that no column changes.
  struct Distance {
    int64_t columns = 0;
    SmallVector<std::pair<Value, int64_t>> rest;
    int64_t low = 0, high = 0; ///< of the rest
  };

  bool addTo(Distance &sum, Value value, int64_t sign) {
    if (value == column) {
      sum.columns += sign;
      return true;
    }
    if (!ofColumns(spreadOf(value))) {
      std::optional<IndexRange> range = ranges.of(value);
      constexpr int64_t farthest = int64_t(1) << 50; // few terms do not overflow
      if (!range || range->low < -farthest || range->high > farthest)
        return false;
      sum.rest.push_back({value, sign});
      sum.low += sign > 0 ? range->low : -range->high, sum.high += sign > 0 ? range->high : -range->low;
      return true;
    }
    Operation *op = value.getDefiningOp();
    if (emitted.contains(op))
      return false; // of what lanes computed, not everything is here
    return isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) && addTo(sum, op->getOperand(0), sign) &&
           addTo(sum, op->getOperand(1), isa<arith::SubIOp>(op) ? -sign : sign);
  }

  /// What `sum` is at the column `columnBase`, in the least integer that holds it, for each row or for all; null where none may.
  std::pair<Value, Spread> atBase(const Distance &sum) {
    constexpr int64_t farthest = int64_t(1) << 60;
    std::optional<IndexRange> columnRange = ranges.of(column);
    if (!columnRange || columnRange->low < -farthest || columnRange->high > farthest || sum.low < -farthest || sum.high > farthest)
      return {};
    int64_t far = std::max(std::abs(columnRange->low), std::abs(columnRange->high));
    Type type = IndexRange{sum.low - far, sum.high + far}.fitsI32() ? b.getI32Type() : b.getI64Type();
    Value total;
    Spread spread = Spread::Uniform;
    for (auto [value, sign] : sum.rest)
      spread = join(spread, spreadOf(value));
    auto add = [&](Value value, int64_t sign) {
      if (!total && sign < 0)
        total = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
      total = !total ? value : sign > 0 ? arith::AddIOp::create(b, loc, total, value).getResult() : arith::SubIOp::create(b, loc, total, value).getResult();
    };
    add(widened(as(type, columnBase), Spread::Uniform, spread), sum.columns);
    for (auto [value, sign] : sum.rest)
      add(as(type, get(value, spread)), sign);
    return {total, spread};
  }

  /// The offsets of all elements' columns.
  Value offsetsOf(Type element) {
    auto type = VectorType::get({count(Spread::Elements)}, element);
    SmallVector<Attribute> each;
    for (int64_t i = 0; i < count(Spread::Elements); ++i) {
      int64_t offset = columnOffsets[i / 4 * 2 + i % 2];
      each.push_back(isa<FloatType>(element) ? Attribute(FloatAttr::get(element, offset)) : IntegerAttr::get(element, offset));
    }
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, each));
  }

  /// A float that grows along the columns by the same step: `base + offset * step`, where a row has one base and one step, or all have. It is computed where an element needs it.
  struct Line {
    Value base, step;
    Spread baseSpread, stepSpread;
  };

  /// Products of lines with what no column changes, and sums with it.
  bool emitLine(Operation &op) {
    if (!isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op))
      return false;
    bool isFirst = lines.contains(op.getOperand(0));
    auto it = lines.find(op.getOperand(isFirst ? 0 : 1));
    Value other = op.getOperand(isFirst ? 1 : 0);
    if (it == lines.end() || lines.contains(other) || ofColumns(spreadOf(other)))
      return false;
    Line line = it->second;
    auto combine = [&](Value value, Spread &spread, bool isLineFirst) {
      Spread joined = join(spread, spreadOf(other));
      Value x = widened(value, spread, joined), y = get(other, joined);
      spread = joined;
      OperationState state(loc, op.getName(), isLineFirst ? ValueRange{x, y} : ValueRange{y, x}, {x.getType()});
      return b.create(state)->getResult(0);
    };
    if (isa<arith::MulFOp>(op))
      line.step = combine(line.step, line.stepSpread, true);
    else if (isa<arith::SubFOp>(op) && !isFirst)
      line.step = arith::NegFOp::create(b, loc, line.step);
    line.base = combine(line.base, line.baseSpread, isFirst);
    setLine(op.getResult(0), line);
    return true;
  }

  void setLine(Value value, Line line) {
    values.erase(value); // the elements of another group of columns
    lines[value] = line;
  }

  /// The elements of a line.
  Value along(const Line &line) {
    Value base = widened(line.base, line.baseSpread, Spread::Elements), offsets = offsetsOf(b.getF32Type());
    if (matchPattern(line.step, m_OneFloat()))
      return arith::AddFOp::create(b, loc, base, offsets);
    return math::FmaOp::create(b, loc, offsets, widened(line.step, line.stepSpread, Spread::Elements), base);
  }

  /// Comparisons of, and floats made of, a distance between column and row: what rows and the block's place decide is computed once a row, so that an element costs one
  /// instruction with a constant. Such a float is rounded where its line is, as large as a block is away: near 0 it is off by no more than 128 steps are rounded by.
  bool emitByDistance(Operation &op) {
    if (emitLine(op))
      return true;
    auto compare = dyn_cast<arith::CmpIOp>(op);
    bool isSigned = compare && compare.getPredicate() <= arith::CmpIPredicate::sge;
    if (!isSigned && !(isa<arith::SIToFPOp>(op) && op.getResult(0).getType().isF32()))
      return false;
    Distance sum;
    if (!addTo(sum, op.getOperand(0), 1) || (compare && !addTo(sum, op.getOperand(1), -1)) || std::abs(sum.columns) != 1)
      return false;
    Value base;
    Spread spread;
    std::tie(base, spread) = atBase(sum);
    if (!base)
      return false;
    if (!compare) {
      Type f32 = b.getF32Type();
      Value step = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(sum.columns));
      setLine(op.getResult(0), {arith::SIToFPOp::create(b, loc, shaped(f32, spread), base), step, spread, Spread::Uniform});
      return true;
    }
    // base + sign * offset, compared with 0: the offset with -base or base. No offset is beyond a base that is far.
    Value offsets = offsetsOf(b.getI32Type());
    auto number = [&](int64_t value) {
      return widened(constantInt(b, loc, value, getElementTypeOrSelf(base).getIntOrFloatBitWidth()), Spread::Uniform, spread);
    };
    if (sum.columns > 0)
      base = arith::SubIOp::create(b, loc, number(0), base);
    if (!getElementTypeOrSelf(base).isInteger(32)) {
      constexpr int64_t far = int64_t(1) << 30;
      base = arith::MinSIOp::create(b, loc, base, number(far));
      base = arith::MaxSIOp::create(b, loc, base, number(-far));
      base = as(b.getI32Type(), base);
    }
    Value limit = widened(base, spread, Spread::Elements);
    Value lhs = sum.columns > 0 ? offsets : limit, rhs = sum.columns > 0 ? limit : offsets;
    set(op.getResult(0), arith::CmpIOp::create(b, loc, compare.getPredicate(), lhs, rhs), Spread::Elements);
    return true;
  }

  /// The loop of all elements; its bounds are the same for all of them. A carried value has the shape of all values that it takes.
  LogicalResult emitLoop(scf::ForOp loop) {
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

  /// The least shapes of the carried values: a fixed point, as what is yielded depends on what is carried.
  SmallVector<Spread> carriedSpreads(scf::ForOp loop) {
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

  LogicalResult emitLookups(tile::LookupOp op, Spread spread) {
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

  int64_t count(Spread spread) const {
    return spread == Spread::Rows ? 2 : spread == Spread::Columns ? width / 2 : spread == Spread::Elements ? width : 1;
  }

  Type shaped(Type type, Spread spread) const { return spread == Spread::Uniform ? type : VectorType::get({count(spread)}, type); }

  Spread spreadOf(Value value) const {
    if (lines.contains(value))
      return Spread::Elements;
    auto it = values.find(value);
    return it == values.end() ? Spread::Uniform : it->second.second;
  }

  void set(Value value, Value emitted, Spread spread) { values[value] = {emitted, spread}; }

  /// A value in at least the shape `wanted`, in the type that it is held in, or its own.
  Value get(Value value, Spread wanted, bool whole = false) {
    if (auto line = lines.find(value); line != lines.end() && !values.contains(value))
      set(value, along(line->second), Spread::Elements);
    auto it = values.find(value);
    auto [now, spread] = it == values.end() ? std::pair(value, Spread::Uniform) : it->second;
    Type type = whole ? value.getType() : held(value);
    if (type.isInteger(32) || type.isInteger(64))
      now = as(type, now);
    return widened(now, spread, wanted);
  }

  Value widened(Value now, Spread spread, Spread wanted) {
    if (spread == wanted)
      return now;
    if (spread == Spread::Uniform)
      return vector::BroadcastOp::create(b, loc, cast<VectorType>(shaped(now.getType(), wanted)), now);
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < count(wanted); ++i)
      from.push_back(spread == Spread::Rows ? i / 2 % 2 : i / 4 * 2 + i % 2);
    return vector::ShuffleOp::create(b, loc, now, now, from);
  }

  ConversionPatternRewriter &b;
  Location loc;
  int64_t columns; ///< 0: one value a row
  int64_t width;   ///< how many elements are emitted at once
  const ThreadPlace &place;
  Region &region;
  Value column, firstColumn; ///< the index argument, and the tile's first
  Value columnBase;                   ///< the columns are this and their offsets
  SmallVector<int64_t> columnOffsets;
  IndexRanges ranges;
  llvm::SetVector<Operation *> emitted;               ///< by lanes
  llvm::MapVector<Value, SmallVector<Value>> byLanes; ///< what of theirs is read, a lane's columns
  DenseMap<Value, std::pair<Value, Spread>> values;
  DenseMap<Value, Line> lines;
};

/// `select(mask, x, constant)` as one map of x.
void fuseSelect(arith::SelectOp select, tile::MaskOp mask) {
  OpBuilder b(select);
  Location loc = select.getLoc();
  auto type = cast<RankedTensorType>(select.getType());
  auto map = tile::MapOp::create(b, loc, type, select.getTrueValue(), mask.getRows(), mask.getCols());
  Type element = type.getElementType(), i64 = b.getI64Type();
  Block *body = b.createBlock(&map.getBody(), {}, {element, i64, i64}, {loc, loc, loc});
  IRMapping values;
  values.map(mask.getBody().getArguments(), body->getArguments().drop_front());
  for (Operation &op : mask.getBody().front().without_terminator())
    b.clone(op, values);
  DenseElementsAttr hidden;
  matchPattern(select.getFalseValue(), m_Constant(&hidden));
  Value otherwise = arith::ConstantOp::create(b, loc, cast<TypedAttr>(hidden.getSplatValue<Attribute>()));
  Value keep = values.lookupOrDefault(mask.getBody().front().getTerminator()->getOperand(0));
  tile::YieldOp::create(b, loc, arith::SelectOp::create(b, loc, keep, body->getArgument(0), otherwise).getResult());
  select.replaceAllUsesWith(map.getResult());
  select.erase();
  mask.erase();
}

struct ConvertMask : OpConversionPattern<tile::MaskOp> {
  ConvertMask(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::MaskOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Value keep = RegionEmitter(rewriter, op.getLoc(), op.getKeep().getType(), state, op.getBody(), {}, adaptor.getRows(), adaptor.getCols()).emit();
    if (!keep)
      return failure();
    rewriter.replaceOp(op, keep);
    return success();
  }
  KernelState &state;
};

struct ConvertMap : OpConversionPattern<tile::MapOp> {
  ConvertMap(const TypeConverter &types, MLIRContext *context, KernelState &state) : OpConversionPattern(types, context), state(state) {}

  LogicalResult matchAndRewrite(tile::MapOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Value result =
        RegionEmitter(rewriter, op.getLoc(), op.getResult().getType(), state, op.getBody(), adaptor.getInputs(), adaptor.getRows(), adaptor.getCols())
            .emit();
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }
  KernelState &state;
};

/// A clamped load; an empty table gives 0 by reading a constant instead.
struct ConvertLookup : OpConversionPattern<tile::LookupOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::LookupOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemoryParts memory(adaptor.getTable());
    Value one = constantInt(rewriter, loc, 1, 64), empty;
    SmallVector<Value> indices;
    for (auto [parts, extent] : llvm::zip(adaptor.getIndices(), memory.extents)) {
      Value last = arith::SubIOp::create(rewriter, loc, extent, one), index = parts.front();
      auto wide = index.getDefiningOp<arith::ExtSIOp>();
      if (wide && wide.getIn().getType().isInteger(32)) // extents fit in i32, too
        index = wide.getIn(), last = narrowToI32(rewriter, loc, last);
      Value zero = constantInt(rewriter, loc, 0, index.getType().getIntOrFloatBitWidth());
      index = arith::MaxSIOp::create(rewriter, loc, arith::MinSIOp::create(rewriter, loc, index, last), zero);
      if (wide && !index.getType().isInteger(64))
        index = arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(), index);
      Value none = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle, extent, constantInt(rewriter, loc, 0, 64));
      empty = empty ? arith::OrIOp::create(rewriter, loc, empty, none).getResult() : none;
      indices.push_back(index);
    }
    Type element = op.getResult().getType(), stored = element.isInteger(1) ? rewriter.getI8Type() : element;
    Value address = indices.empty() ? memory.pointer : elementAddress(rewriter, loc, stored, memory.pointer, indices, memory.strides);
    if (empty)
      address = arith::SelectOp::create(rewriter, loc, empty, zeroConstant(op, rewriter), address);
    Value value = LLVM::LoadOp::create(rewriter, loc, stored, address);
    if (stored != element)
      value = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, value, constantInt(rewriter, loc, 0, 8));
    rewriter.replaceOp(op, value);
    return success();
  }

  /// The address of 8 zero bytes in global memory.
  static Value zeroConstant(Operation *op, ConversionPatternRewriter &rewriter) {
    auto module = op->getParentOfType<ModuleOp>();
    constexpr StringLiteral name = "tegula_zero";
    Type type = rewriter.getI64Type();
    if (!module.lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(rewriter, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name, rewriter.getI64IntegerAttr(0),
                             /*alignment=*/8, /*addrSpace=*/1);
    }
    return LLVM::AddressOfOp::create(rewriter, op->getLoc(), LLVM::LLVMPointerType::get(rewriter.getContext(), 1), name);
  }
};

struct ConvertExtent : OpConversionPattern<tile::ExtentOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ExtentOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, MemoryParts(adaptor.getMemory()).extents[op.getAxis()]);
    return success();
  }
};

} // namespace

void tegula::fuseSelects(warp::KernelOp kernel) {
  SmallVector<arith::SelectOp> selects;
  kernel->walk([&](arith::SelectOp select) { selects.push_back(select); });
  for (arith::SelectOp select : selects) {
    auto mask = select.getCondition().getDefiningOp<tile::MaskOp>();
    DenseElementsAttr hidden;
    if (mask && mask->hasOneUse() && mask->getBlock() == select->getBlock() && mask.getCols() &&
        matchPattern(select.getFalseValue(), m_Constant(&hidden)) && hidden.isSplat())
      fuseSelect(select, mask);
  }
}

void tegula::populateElementPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertMask, ConvertMap>(types, patterns.getContext(), state);
  patterns.add<ConvertExtent, ConvertLookup>(types, patterns.getContext());
}
