// tegula-decompose: tile.attention -> a tile program for one block of query rows of one head.
//
// In: the whole problem with its schedule. Out: the kernel's body as loads, dots, scalar regions and the online softmax over blocks of
// keys. The one idea: a program is written once, in terms of `block_m` and `block_n`, and every target starts from it.
#include "passes/Passes.h"
#include "passes/attention/AttentionProgram.h"
#include "passes/attention/ChooseSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tegula {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Clones the ops of a one-block region with its arguments replaced, and returns the yielded value.
Value inlineRegion(OpBuilder &builder, Region &region, ValueRange arguments) {
  IRMapping map;
  map.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, map);
  return map.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

bool yieldsArgument(Region &region, unsigned number) {
  return region.front().getTerminator()->getOperand(0) == region.getArgument(number);
}

bool isAlwaysTrue(Region &mask) { return matchPattern(mask.front().getTerminator()->getOperand(0), m_One()); }

/// What outputs are made of: a tile of block_m rows, and one value a row.
struct Results {
  Value output, lse, rowMax, rowSum;
};

/// Which of the row statistics outputs read.
struct Reads {
  bool rowMax = false, rowSum = false;

  explicit Reads(AttentionOp op) {
    for (Region &emit : op.getEmits()) {
      // (o, lse, rowmax, rowsum, b, h, g, i, e) or (lse, rowmax, rowsum, b, h, g, i)
      unsigned results = emit.getNumArguments() / 2;
      rowMax |= !emit.getArgument(results - 2).use_empty();
      rowSum |= !emit.getArgument(results - 1).use_empty();
    }
  }
};

/// Builds the tile program in place of one tile.attention.
class Decomposer {
public:
  Decomposer(AttentionOp op, ScheduleAttr schedule, bool packs)
      : op(op), reads(op), packs(packs), b(op), loc(op.getLoc()), blockM(schedule.getBlockM()), blockN(schedule.getBlockN()), scoreType(op.getScoreType()),
        elementType(cast<MemRefType>(op.getQuery().getType()).getElementType()), isSoftmax(op.getReduction() == Reduction::Softmax) {
    carriesSum = isSoftmax || op.getReduction() == Reduction::Mean || reads.rowSum;
    // A lazy maximum is not the maximum.
    threshold = reads.rowMax || reads.rowSum ? 0 : rescaleThreshold(schedule.getSoftmax());
  }

  /// Returns whether the scale was folded.
  bool run() {
    locateProgram();
    std::optional<double> folded = isSoftmax && yieldsArgument(op.getScore(), 0) ? foldableScale(op) : std::nullopt;
    softmaxScale = folded.value_or(1.0);
    scoresAreDots = folded.has_value();

    auto query = LoadOp::create(b, loc, tileType({blockM, op.getHeadDim()}, elementType), op.getQuery(), ValueRange{batch, head, row, zero}, b.getDenseI64ArrayAttr({2, 3}));
    packRows(query);
    auto loop = ForBlocksOp::create(b, loc, zero, op.getKeys(), blockN, initialState(),
                                    [&](OpBuilder &inner, Location, Value key, ValueRange carried) {
                                      OpBuilder::InsertionGuard guard(b);
                                      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
                                      return block(query, key, carried);
                                    });
    Results results = isSoftmax ? finishSoftmax(loop.getResults()) : finishSum(loop.getResults());
    for (auto [output, emit] : llvm::zip(op.getOutputs(), op.getEmits()))
      store(output, emit, results);
    op.erase();
    return folded.has_value();
  }

private:
  RankedTensorType tileType(ArrayRef<int64_t> shape, Type element) { return RankedTensorType::get(shape, element); }

  Value splat(ArrayRef<int64_t> shape, double value) {
    auto type = tileType(shape, scoreType);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, FloatAttr::get(scoreType, value).getValue()));
  }

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

  /// A tile in another element type: floats are rounded or widened, flags become 0 and 1.
  Value convert(Value tile, Type element) {
    auto type = cast<RankedTensorType>(tile.getType());
    if (type.getElementType() == element)
      return tile;
    if (type.getElementType().isInteger(1))
      return arith::ExtUIOp::create(b, loc, type.clone(element), tile);
    if (type.getElementTypeBitWidth() < element.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, type.clone(element), tile);
    return arith::TruncFOp::create(b, loc, type.clone(element), tile);
  }

  /// The program's batch, query head, key head and first query row. Row blocks are fastest, so that neighbours share keys.
  void locateProgram() {
    zero = constant(0);
    if (packs)
      return locatePacked();
    Value blocks = arith::CeilDivSIOp::create(b, loc, op.getQueries(), constant(blockM));
    auto id = ProgramIdOp::create(b, loc, TypeRange{b.getI64Type(), b.getI64Type(), b.getI64Type()},
                                  ValueRange{blocks, op.getHeads(), op.getBatch()});
    row = arith::MulIOp::create(b, loc, id.getResult(0), constant(blockM));
    head = id.getResult(1);
    batch = id.getResult(2);
    rows = op.getQueries();
    kvHead = arith::DivSIOp::create(b, loc, head, arith::DivSIOp::create(b, loc, op.getHeads(), op.getKvHeads()));
  }

  //===-- rows of several heads -------------------------------------------------------------------===//

  /// The same where a tile's rows are those of 2^shift query heads of one key head, position by position: row r is position r >> shift of the head r mod 2^shift behind the tile's first one.
  void locatePacked() {
    Value perGroup = arith::DivSIOp::create(b, loc, op.getHeads(), op.getKvHeads());
    shift = PackingOp::create(b, loc, op.getQueries(), op.getHeads(), op.getKvHeads(), blockM);
    rows = arith::ShLIOp::create(b, loc, op.getQueries(), shift);
    Value blocks = arith::CeilDivSIOp::create(b, loc, rows, constant(blockM)), parts = arith::CeilDivSIOp::create(b, loc, perGroup, power(shift));
    Value tilesOfHeads = arith::MulIOp::create(b, loc, parts, op.getKvHeads());
    auto id = ProgramIdOp::create(b, loc, TypeRange{b.getI64Type(), b.getI64Type(), b.getI64Type()}, ValueRange{blocks, tilesOfHeads, op.getBatch()});
    row = arith::MulIOp::create(b, loc, id.getResult(0), constant(blockM));
    batch = id.getResult(2);
    kvHead = arith::DivSIOp::create(b, loc, id.getResult(1), parts);
    Value first = arith::MulIOp::create(b, loc, kvHead, perGroup), part = arith::SubIOp::create(b, loc, id.getResult(1), arith::MulIOp::create(b, loc, kvHead, parts));
    head = arith::AddIOp::create(b, loc, first, arith::ShLIOp::create(b, loc, part, shift));
    endOfHeads = arith::AddIOp::create(b, loc, first, perGroup);
  }

  Value power(Value exponent) { return arith::ShLIOp::create(b, loc, constant(1), exponent); }

  /// The position of row r of the program's rows.
  Value positionOf(Value r) { return packs ? arith::ShRSIOp::create(b, loc, r, shift).getResult() : r; }

  /// Its query head, which is the tile's own for all rows where none are packed.
  Value headOf(Value r) {
    if (!packs)
      return head;
    Value others = arith::SubIOp::create(b, loc, power(shift), constant(1));
    return arith::AddIOp::create(b, loc, head, arith::AndIOp::create(b, loc, r, others));
  }

  template <typename AccessOp> void packRows(AccessOp access) {
    if (!packs)
      return;
    access.getShiftMutable().assign(shift);
    access.getEndMutable().assign(endOfHeads);
  }

  //===-- the loop over blocks of keys ------------------------------------------------------------===//

  /// (max, sum, accumulator): max under softmax alone, sum where something reads it.
  SmallVector<Value> initialState() {
    SmallVector<Value> state;
    if (isSoftmax)
      state.push_back(splat({blockM}, -std::numeric_limits<double>::infinity()));
    if (carriesSum)
      state.push_back(splat({blockM}, 0.0));
    state.push_back(splat({blockM, op.getValueDim()}, 0.0));
    return state;
  }

  /// One block of keys: returns the next state.
  SmallVector<Value> block(Value query, Value key, ValueRange state) {
    Value keys = LoadOp::create(b, loc, tileType({blockN, op.getHeadDim()}, elementType), op.getKey(),
                                ValueRange{batch, kvHead, key, zero}, b.getDenseI64ArrayAttr({2, 3}));
    Value dots = DotOp::create(b, loc, tileType({blockM, blockN}, scoreType), query, keys, Value(), /*transpose_b=*/true);
    Value all = scores(dots, key), visible = mask(all, key), acc = state.back(), weights;
    SmallVector<Value> next;
    if (isSoftmax) {
      auto softmax = OnlineSoftmaxOp::create(b, loc, visible, state[0], state[1], llvm::APFloat(softmaxScale), threshold);
      acc = ScaleRowsOp::create(b, loc, acc, softmax.getRescale());
      weights = softmax.getWeights();
      next = {softmax.getNewMax(), softmax.getNewSum()};
    } else {
      weights = visible;
      if (carriesSum)
        next.push_back(arith::AddFOp::create(b, loc, state[0], ReduceOp::create(b, loc, ReduceKind::Add, weights)));
    }
    if (!op.getWeight().empty())
      weights = weighted(weights, all, key);
    weights = convert(weights, elementType);
    Value values = LoadOp::create(b, loc, tileType({blockN, op.getValueDim()}, elementType), op.getValue(),
                                  ValueRange{batch, kvHead, key, zero}, b.getDenseI64ArrayAttr({2, 3}));
    if (!isAlwaysTrue(op.getMask()))
      values = withoutUnseen(values, key);
    next.push_back(DotOp::create(b, loc, acc.getType(), weights, values, acc, /*transpose_b=*/false));
    return next;
  }

  /// A tile.map of rows and, if given, columns. `body` gets the elements of the inputs, then the indices.
  Value map(RankedTensorType type, ValueRange inputs, Value cols, function_ref<Value(ValueRange)> body) {
    auto op = MapOp::create(b, loc, type, inputs, row, cols);
    SmallVector<Type> arguments;
    for (Value input : inputs)
      arguments.push_back(cast<RankedTensorType>(input.getType()).getElementType());
    arguments.append(type.getRank(), b.getI64Type());
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&op.getBody(), {}, arguments, SmallVector<Location>(arguments.size(), loc));
    YieldOp::create(b, loc, body(block->getArguments()));
    return op;
  }

  Value scores(Value dots, Value key) {
    if (scoresAreDots)
      return dots;
    return map(cast<RankedTensorType>(dots.getType()), dots, key, [&](ValueRange at) {
      Value s = at[0], i = positionOf(at[1]), h = headOf(at[1]), j = at[2];
      Value scale = inlineRegion(b, op.getScale(), {batch, h, kvHead, i});
      Value scaled = arith::MulFOp::create(b, loc, s, scale);
      return inlineRegion(b, op.getScore(), {scaled, batch, h, kvHead, i, j});
    });
  }

  /// Hidden scores become -inf, hidden weights 0.
  Value mask(Value scores, Value key) {
    Value keep = keepTile(key), hidden = splat({blockM, blockN}, isSoftmax ? -std::numeric_limits<double>::infinity() : 0.0);
    return arith::SelectOp::create(b, loc, keep, scores, hidden);
  }

  Value keepTile(Value key) {
    auto keep = MaskOp::create(b, loc, tileType({blockM, blockN}, b.getI1Type()), row, key);
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&keep.getBody(), {}, {i64, i64}, {loc, loc});
    Value r = body->getArgument(0), j = body->getArgument(1);
    Value visible = isAlwaysTrue(op.getMask()) ? Value() : isVisible(r, j);
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, op.getKeys());
    YieldOp::create(b, loc, ValueRange{visible ? arith::AndIOp::create(b, loc, visible, exists).getResult() : exists});
    return keep;
  }

  Value isVisible(Value r, Value j) {
    Value i = positionOf(r), h = headOf(r);
    return inlineRegion(b, op.getMask(), {batch, h, kvHead, i, j});
  }

  /// Values at keys that the user's mask hides from every row of the tile enter no product. What lies past the last key was loaded as 0.
  Value withoutUnseen(Value values, Value key) {
    Value last = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, row, constant(blockM)), rows);
    auto result = ZeroUnseenOp::create(b, loc, values, row, last, key, op.getKeys(), Value());
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&result.getSeen(), {}, {i64, i64}, {loc, loc});
    YieldOp::create(b, loc, isVisible(body->getArgument(0), body->getArgument(1)));
    return result;
  }

  /// The weights that enter the output. What has no weight stays without, whatever the region gives there.
  Value weighted(Value weights, Value scores, Value key) {
    SmallVector<Value> inputs{weights};
    bool readsScore = !op.getWeight().getArgument(0).use_empty();
    if (readsScore)
      inputs.push_back(scores);
    return map(cast<RankedTensorType>(weights.getType()), inputs, key, [&](ValueRange at) {
      Value none = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 0.0)), s = none;
      Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, at[0], none);
      if (readsScore) {
        s = at[1];
        if (softmaxScale != 1.0)
          s = arith::MulFOp::create(b, loc, s, arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, softmaxScale)));
      }
      ValueRange place = at.take_back(2);
      Value i = positionOf(place[0]), h = headOf(place[0]);
      Value factor = inlineRegion(b, op.getWeight(), {s, batch, h, kvHead, i, place[1]});
      return arith::SelectOp::create(b, loc, isNone, none, arith::MulFOp::create(b, loc, at[0], factor)).getResult();
    });
  }

  //===-- from the state to outputs ---------------------------------------------------------------===//

  Results finishSoftmax(ValueRange state) {
    Results results;
    Value max = state[0], sum = state[1], acc = state[2];
    double scale = softmaxScale;
    bool hasExtra = !op.getExtra().empty();
    results.rowSum = sum;
    if (reads.rowMax || hasExtra)
      results.rowMax = scale == 1.0 ? max : arith::MulFOp::create(b, loc, max, splat({blockM}, scale)).getResult();
    if (hasExtra) {
      // One more key, of weight exp(extra) and value 0.
      auto rows = cast<RankedTensorType>(max.getType());
      bool isUniform = op.getExtra().getArgument(3).use_empty() && (!packs || op.getExtra().getArgument(1).use_empty());
      auto extraOf = [&](Value r) {
        Value i = positionOf(r), h = headOf(r);
        return inlineRegion(b, op.getExtra(), {batch, h, kvHead, i});
      };
      Value extra = isUniform ? tensor::SplatOp::create(b, loc, extraOf(row), rows).getResult() : map(rows, {}, Value(), [&](ValueRange at) { return extraOf(at[0]); });
      Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, extra, splat({blockM}, -std::numeric_limits<double>::infinity()));
      Value zero = splat({blockM}, 0.0), one = splat({blockM}, 1.0), weight = arith::SelectOp::create(b, loc, none, zero, one);
      auto merged =
          MergeOp::create(b, loc, results.rowMax, sum, acc, extra, weight, splat({blockM, op.getValueDim()}, 0.0), llvm::APFloat(1.0));
      max = merged.getMax(), sum = merged.getSum(), acc = merged.getAcc(), scale = 1.0;
    }
    if (reads.rowMax) { // the running maximum passes NaN over, the sum does not
      Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, results.rowSum, results.rowSum);
      results.rowMax = arith::SelectOp::create(b, loc, isNaN, results.rowSum, results.rowMax);
    }
    auto finish = FinishOp::create(b, loc, max, sum, acc, b.getF64FloatAttr(scale));
    results.output = finish.getOutput(), results.lse = finish.getLse();
    return results;
  }

  Results finishSum(ValueRange state) {
    Results results;
    if (carriesSum)
      results.rowSum = state.front();
    results.output = state.back();
    if (op.getReduction() == Reduction::Mean)
      results.output = map(cast<RankedTensorType>(state.back().getType()), {results.rowSum, state.back()}, zero,
                           [&](ValueRange at) { return quotient(at[1], at[0]); });
    return results;
  }

  /// 0 where the divisor is 0. The reciprocal is one for a row.
  Value quotient(Value x, Value divisor) {
    Value none = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 0.0)), one = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 1.0));
    Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, divisor, none);
    Value inverse = arith::DivFOp::create(b, loc, one, arith::SelectOp::create(b, loc, isNone, one, divisor));
    return arith::SelectOp::create(b, loc, isNone, none, arith::MulFOp::create(b, loc, x, inverse));
  }

  void store(Value memory, Region &emit, const Results &results) {
    auto type = cast<MemRefType>(memory.getType());
    int64_t rank = type.getRank();
    SmallVector<Value> values{results.lse, results.rowMax, results.rowSum};
    if (rank == 4)
      values.insert(values.begin(), results.output);
    Value tile;
    for (int64_t i = 0; i < rank && !tile; ++i)
      if (yieldsArgument(emit, i) && (rank == 3 || i == 0))
        tile = values[i];
    if (!tile)
      tile = emitted(emit, values, rank);
    SmallVector<Value> indices{batch, head, row};
    SmallVector<int64_t> axes{2};
    if (rank == 4)
      indices.push_back(zero), axes.push_back(3);
    packRows(StoreOp::create(b, loc, convert(tile, type.getElementType()), memory, indices, b.getDenseI64ArrayAttr(axes)));
  }

  /// What an emit region makes of the results that it reads.
  Value emitted(Region &emit, ArrayRef<Value> values, int64_t rank) {
    SmallVector<Value> inputs;
    for (auto [number, value] : llvm::enumerate(values))
      if (!emit.getArgument(number).use_empty())
        inputs.push_back(value);
    SmallVector<int64_t> shape{blockM};
    if (rank == 4)
      shape.push_back(op.getValueDim());
    Type element = emit.front().getTerminator()->getOperand(0).getType();
    return map(tileType(shape, element), inputs, rank == 4 ? zero : Value(), [&](ValueRange at) {
      Value unread = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 0.0));
      SmallVector<Value> arguments;
      size_t next = 0;
      for (size_t number = 0; number < values.size(); ++number)
        arguments.push_back(emit.getArgument(number).use_empty() ? unread : at[next++]);
      ValueRange place = at.drop_front(inputs.size());
      Value i = positionOf(place[0]), h = headOf(place[0]);
      arguments.append({batch, h, kvHead, i});
      arguments.append(place.begin() + 1, place.end());
      return inlineRegion(b, emit, arguments);
    });
  }

  AttentionOp op;
  Reads reads;
  bool packs;
  OpBuilder b;
  Location loc;
  int64_t blockM, blockN, threshold;
  FloatType scoreType;
  Type elementType;
  bool isSoftmax, carriesSum, scoresAreDots = false;
  double softmaxScale = 1.0;
  Value zero, batch, head, kvHead, row, rows; ///< the tile's first row, and how many the program has
  Value shift, endOfHeads;                    ///< of packed rows
};

struct DecomposePass : tegula::impl::DecomposePassBase<DecomposePass> {
  using DecomposePassBase::DecomposePassBase;

  void runOnOperation() override {
    SmallVector<AttentionOp> ops(getOperation().getBody().getOps<AttentionOp>());
    for (AttentionOp op : ops) {
      std::optional<ScheduleAttr> schedule = op.getSchedule();
      if (!schedule) {
        op.emitOpError("has no schedule; run tegula-choose-schedule first");
        return signalPassFailure();
      }
      getOperation()->setAttr("schedule", *schedule);
      folded += Decomposer(op, *schedule, schedule->getPackHeads() && pack).run();
    }
  }
};

} // namespace
