// tegula-check-claims: a kernel -> a program of the same arguments that checks what its source claims of them.
//
// In: a kernel at the stage `attention`. Out: in place of its body, loops over the tensors that are declared `sorted` or `in` a range, and over all pairs of query and key whose score or
// visibility reads a table at an index that may lie outside; what does not hold ends in a tile.assert. The one idea: the checks are a program of their own, which runs just before the
// kernel on the same arguments, so that no kernel is slowed and every schedule, form and target has them.
#include "passes/Passes.h"
#include "passes/mask/LookupTrace.h"

#include "dialect/tile/PrefixExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tegula {
#define GEN_PASS_DEF_CHECKCLAIMSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

constexpr int64_t programs = 512;            ///< that share the work, whatever its size
constexpr int64_t lanes = 1024;              ///< elements of a tensor that are looked at together
constexpr int64_t blockRows = 32, blockColumns = 64; ///< pairs likewise

class ClaimsProgram {
public:
  explicit ClaimsProgram(KernelOp kernel) : kernel(kernel), b(kernel.getBody().front().getTerminator()), loc(kernel.getLoc()) {}

  /// Returns how many checks there are; fails where a claim cannot be computed.
  FailureOr<int64_t> write() {
    Block &body = kernel.getBody().front();
    SmallVector<Operation *> old = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
    program = ProgramIdOp::create(b, loc, TypeRange{b.getI64Type()}, ValueRange{constant(programs)}).getResult(0);
    for (BlockArgument argument : kernel.getArguments())
      if (failed(checkDeclaration(argument)))
        return failure();
    auto problems = llvm::to_vector(body.getOps<AttentionOp>());
    for (AttentionOp op : problems)
      if (failed(checkLookups(op)))
        return failure();
    for (Operation *op : llvm::reverse(old)) // of a problem, constants and the like may be in use
      if (problems.empty() || isa<AttentionOp>(op)) {
        op->dropAllUses();
        op->erase();
      }
    if (checks == 0) // a program without effects would be none
      AssertOp::create(b, loc, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)), "");
    kernel->removeAttr("tile.schedule");
    return checks;
  }

private:
  //===-- building blocks -------------------------------------------------------------------------===//

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  Value constant32(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value subtract(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value multiply(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value quotient(Value x, Value y) { return b.createOrFold<arith::DivSIOp>(loc, x, y); }
  Value remainder(Value x, Value y) { return b.createOrFold<arith::RemSIOp>(loc, x, y); }
  Value blocksOf(Value count, int64_t size) { return b.createOrFold<arith::CeilDivSIOp>(loc, count, constant(size)); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) { return arith::CmpIOp::create(b, loc, predicate, x, y); }
  Value splat(Value value, RankedTensorType tile) { return tensor::SplatOp::create(b, loc, value, tile.clone(value.getType())); }

  Value extentOf(Value table, int64_t axis) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(program.getDefiningOp());
    return b.createOrFold<ExtentOp>(table.getLoc(), table, b.getI64IntegerAttr(axis));
  }

  /// Runs `body` for `n` = lower, lower + step, ... below upper.
  template <typename Body> LogicalResult loop(Value lower, Value upper, int64_t step, Body body) {
    auto loop = scf::ForOp::create(b, loc, lower, upper, constant(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    return body(loop.getInductionVar());
  }

  template <typename Body> LogicalResult runIf(Value condition, Body body) {
    auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    return body();
  }

  StringRef nameOf(Value argument) {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    return kernel.getArgAttrOfType<StringAttr>(number, "tile.name").getValue();
  }

  void fail(Location place, const Twine &message, ValueRange values, Value holds = {}) {
    if (!holds)
      holds = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
    AssertOp::create(b, place, holds, b.getStringAttr(message), values);
    ++checks;
  }

  //===-- declarations ----------------------------------------------------------------------------===//

  LogicalResult checkDeclaration(BlockArgument table) {
    auto type = dyn_cast<MemRefType>(table.getType());
    auto fact = [&](StringRef name) { return type ? kernel.getArgAttr(table.getArgNumber(), name) : Attribute(); };
    auto role = dyn_cast_or_null<StringAttr>(fact("tile.role"));
    if (!role || role.getValue() == "out" || type.getRank() == 0)
      return success();
    isUnsigned = fact("tile.elem") != nullptr; // bool and u8
    if (fact("tile.sorted"))
      checkElements(table, [&](Value first, ValueRange lead) { return checkOrder(table, first, lead); });
    auto range = dyn_cast_or_null<ArrayAttr>(fact("tile.range"));
    if (!range)
      return success();
    SmallVector<Value> ends;
    for (StringAttr text : range.getAsRange<StringAttr>()) {
      ends.push_back(emitPrefix(b, loc, text.getValue(), kernel));
      if (!ends.back())
        return emitError(table.getLoc()) << "the range of `" << nameOf(table) << "` is no arithmetic of integers, so that it cannot be checked";
    }
    checkElements(table, [&](Value first, ValueRange lead) { return checkRange(table, ends, first, lead); });
    return success();
  }

  /// Runs `body` for each stretch of `lanes` elements of the last axis: with its first element, and the indices of the other axes.
  template <typename Body> void checkElements(BlockArgument table, Body body) {
    int64_t axes = cast<MemRefType>(table.getType()).getRank() - 1;
    Value rows = constant(1), stretches = blocksOf(extentOf(table, axes), lanes);
    for (int64_t axis = 0; axis < axes; ++axis)
      rows = multiply(rows, extentOf(table, axis));
    (void)loop(program, multiply(rows, stretches), programs, [&](Value share) {
      SmallVector<Value> lead(axes);
      Value row = quotient(share, stretches);
      for (int64_t axis = axes; axis-- != 0; row = quotient(row, extentOf(table, axis)))
        lead[axis] = remainder(row, extentOf(table, axis));
      body(multiply(remainder(share, stretches), constant(lanes)), lead);
      return success();
    });
  }

  static SmallVector<Value> place(ValueRange lead, Value last) {
    SmallVector<Value> indices(lead);
    indices.push_back(last);
    return indices;
  }

  /// Elements as i64, f32 or f64.
  Value widened(Value elements) {
    Type type = getElementTypeOrSelf(elements), wide = isa<FloatType>(type) ? (type.isF64() ? type : b.getF32Type()) : b.getI64Type();
    if (type == wide)
      return elements;
    if (auto tile = dyn_cast<RankedTensorType>(elements.getType()))
      wide = tile.clone(wide);
    if (isa<FloatType>(type))
      return arith::ExtFOp::create(b, loc, wide, elements);
    return isUnsigned ? arith::ExtUIOp::create(b, loc, wide, elements).getResult() : arith::ExtSIOp::create(b, loc, wide, elements);
  }

  Value load(BlockArgument table, ValueRange lead, Value first) {
    auto type = cast<MemRefType>(table.getType());
    auto tile = RankedTensorType::get({lanes}, type.getElementType());
    return widened(LoadOp::create(b, loc, tile, table, place(lead, first), b.getDenseI64ArrayAttr({type.getRank() - 1})));
  }

  Value element(BlockArgument table, ValueRange lead, Value at) {
    auto type = cast<MemRefType>(table.getType());
    return widened(LookupOp::create(b, loc, type.getElementType(), table, place(lead, at)));
  }

  /// Whether x < y, or one of them is NaN.
  Value isNotAtLeast(Value x, Value y) {
    if (isa<FloatType>(getElementTypeOrSelf(x)))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULT, x, y);
    return compare(arith::CmpIPredicate::slt, x, y);
  }

  /// Runs `report(place)` for the first of `count` elements from `first` on whose flag is set.
  template <typename Report> void reportFirst(Value flags, Value first, Value count, Report report) {
    auto type = RankedTensorType::get({lanes}, b.getI32Type());
    Value most = constant(lanes), left = arith::TruncIOp::create(b, loc, b.getI32Type(), b.createOrFold<arith::MinSIOp>(loc, count, most));
    Value lane = IotaOp::create(b, loc, type), none = constant32(lanes);
    Value wrong = arith::AndIOp::create(b, loc, flags, compare(arith::CmpIPredicate::slt, lane, splat(left, type)));
    Value at = ReduceOp::create(b, loc, ReduceKind::Minimum, arith::SelectOp::create(b, loc, wrong, lane, splat(none, type)));
    (void)runIf(compare(arith::CmpIPredicate::slt, at, none), [&] {
      report(add(first, arith::ExtSIOp::create(b, loc, b.getI64Type(), at)));
      return success();
    });
  }

  /// "doc[{}, {}]" and the indices that it stands for.
  std::string placeText(BlockArgument table, ValueRange lead, Value last, SmallVectorImpl<Value> &values) {
    llvm::append_range(values, place(lead, last));
    std::string marks;
    for (size_t axis = 0; axis <= lead.size(); ++axis)
      marks += axis ? ", {}" : "{}";
    return (nameOf(table) + "[" + marks + "]").str();
  }

  void checkOrder(BlockArgument table, Value first, ValueRange lead) {
    Value one = constant(1), rest = subtract(subtract(extentOf(table, lead.size()), first), one);
    Value next = load(table, lead, add(first, one)), falls = isNotAtLeast(next, load(table, lead, first));
    reportFirst(falls, first, rest, [&](Value at) {
      SmallVector<Value> values;
      Value next = add(at, one);
      std::string later = placeText(table, lead, next, values);
      values.push_back(element(table, lead, next));
      std::string earlier = placeText(table, lead, at, values);
      values.push_back(element(table, lead, at));
      fail(table.getLoc(), later + " = {} follows " + earlier + " = {}: `" + nameOf(table) + "` is declared sorted", values);
    });
  }

  void checkRange(BlockArgument table, ArrayRef<Value> ends, Value first, ValueRange lead) {
    Value elements = load(table, lead, first), rest = subtract(extentOf(table, lead.size()), first);
    auto type = cast<RankedTensorType>(elements.getType());
    auto end = [&](Value value) {
      if (isa<FloatType>(type.getElementType()))
        value = arith::SIToFPOp::create(b, loc, type.getElementType(), value);
      return splat(value, type);
    };
    Value below = isNotAtLeast(elements, end(ends[0])), inside = isNotAtLeast(elements, end(ends[1]));
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    Value outside = arith::OrIOp::create(b, loc, below, arith::XOrIOp::create(b, loc, inside, splat(yes, type)));
    reportFirst(outside, first, rest, [&](Value at) {
      SmallVector<Value> values;
      std::string where = placeText(table, lead, at, values);
      values.append({element(table, lead, at), ends[0], ends[1]});
      fail(table.getLoc(), where + " = {}: `" + nameOf(table) + "` is declared in {}..{}", values);
    });
  }

  //===-- lookups ---------------------------------------------------------------------------------===//

  /// The place of an element: batch, head, key head, row, and key or another column.
  struct Place {
    Value batch, head, kvHead, row, column;
  };

  /// Elements whose code is looked at together: up to `columns` of a row.
  struct Elements {
    SmallVector<Region *> regions;
    Value columns;
    StringRef column; ///< its name; empty: a row has one element
  };

  LogicalResult checkLookups(AttentionOp op) {
    auto traced = [&](LookupTrace &trace, Region &region, ArrayRef<Traced> leading, ArrayRef<Value> place) -> FailureOr<Traced> {
      SmallVector<Traced> arguments(leading);
      for (Value value : place)
        arguments.push_back({value});
      return trace.run(region, arguments);
    };
    Traced unknown{arith::ConstantOp::create(b, loc, b.getFloatAttr(op.getScoreType(), 0.0)), {}, /*isKnown=*/false};

    // What a hidden pair reads is not observed.
    Elements pairs{{&op.getMask(), &op.getScale(), &op.getScore(), &op.getWeight()}, op.getKeys(), "j"};
    auto pairFault = [&](LookupTrace &trace, const Place &at) -> FailureOr<Fault> {
      FailureOr<Traced> visible = traced(trace, op.getMask(), {}, {at.batch, at.head, at.kvHead, at.row, at.column});
      FailureOr<Traced> scale = traced(trace, op.getScale(), {}, {at.batch, at.head, at.kvHead, at.row});
      if (failed(visible) || failed(scale))
        return failure();
      Traced s = unknown;
      s.fault = scale->fault;
      for (Region *region : {&op.getScore(), &op.getWeight()}) {
        if (region->empty())
          continue;
        FailureOr<Traced> next = traced(trace, *region, s, {at.batch, at.head, at.kvHead, at.row, at.column});
        if (failed(next))
          return failure();
        s.fault = trace.first(s.fault, next->fault);
      }
      return trace.first(visible->fault, trace.when(visible->value, s.fault));
    };
    if (failed(checkAll(op, pairs, pairFault)))
      return failure();

    SmallVector<Region *> others;
    if (!op.getExtra().empty())
      others.push_back(&op.getExtra());
    for (Region &emit : op.getEmits())
      others.push_back(&emit);
    for (Region *region : others) {
      unsigned leadingCount = leadingOf(*region), axes = region->getNumArguments() - leadingCount; // (b, h, g, i), and e where an output has that axis
      Elements elements{{region}, constant(axes == 5 ? op.getValueDim() : 1), axes == 5 ? "e" : ""};
      auto fault = [&](LookupTrace &trace, const Place &at) -> FailureOr<Fault> {
        SmallVector<Traced> leading(leadingCount, unknown); // results
        FailureOr<Traced> result = traced(trace, *region, leading, ArrayRef<Value>{at.batch, at.head, at.kvHead, at.row, at.column}.take_front(axes));
        return failed(result) ? FailureOr<Fault>(failure()) : FailureOr<Fault>(result->fault);
      };
      if (failed(checkAll(op, elements, fault)))
        return failure();
    }
    return success();
  }

  /// Looks for a fault in all elements, in blocks, and reports the first one of a block.
  LogicalResult checkAll(AttentionOp op, const Elements &elements, function_ref<FailureOr<Fault>(LookupTrace &, const Place &)> faultAt) {
    LookupSites sites(kernel, endsOf(op, elements));
    for (Region *region : elements.regions)
      sites.add(*region);
    if (sites.empty())
      return success();
    auto extent = [&](Value table, int64_t axis) { return extentOf(table, axis); };
    auto isRead = [&](ArrayRef<int64_t> arguments) {
      return llvm::any_of(elements.regions, [&](Region *region) {
        return llvm::any_of(arguments, [&](int64_t argument) { return !region->empty() && !region->getArgument(leadingOf(*region) + argument).use_empty(); });
      });
    };
    auto countOf = [&](Value extent, ArrayRef<int64_t> arguments) { return isRead(arguments) ? extent : b.createOrFold<arith::MinSIOp>(loc, extent, constant(1)); };
    Value batches = countOf(op.getBatch(), {0}), heads = countOf(op.getHeads(), {1, 2}), blocks = blocksOf(op.getQueries(), blockRows);
    return loop(program, multiply(multiply(blocks, heads), batches), programs, [&](Value share) {
      Value row = multiply(remainder(share, blocks), constant(blockRows)), rest = quotient(share, blocks), head = remainder(rest, heads);
      Value group = quotient(op.getHeads(), op.getKvHeads());
      Place at{quotient(rest, heads), head, quotient(head, group), row, {}};
      return loop(constant(0), elements.columns, blockColumns, [&](Value column) {
        at.column = column;
        auto type = RankedTensorType::get({blockRows, blockColumns}, b.getI32Type());
        Value none = constant32(type.getNumElements());
        auto map = MapOp::create(b, loc, type, ValueRange(), row, column);
        if (failed(fillMap(map, op, at, elements.columns, sites, extent, faultAt)))
          return failure();
        Value first = ReduceOp::create(b, loc, ReduceKind::Minimum, ReduceOp::create(b, loc, ReduceKind::Minimum, map.getResult()));
        return runIf(compare(arith::CmpIPredicate::slt, first, none), [&] {
          Value number = arith::ExtSIOp::create(b, loc, b.getI64Type(), first);
          Place found{at.batch, at.head, at.kvHead, add(row, quotient(number, constant(blockColumns))), add(column, remainder(number, constant(blockColumns)))};
          LookupTrace trace(b, loc, sites, extent);
          FailureOr<Fault> fault = faultAt(trace, found);
          if (succeeded(fault))
            report(trace.orNone(*fault), found, elements.column, sites);
          return LogicalResult(fault);
        });
      });
    });
  }

  /// The element's number in the block where it has a fault, else the number of elements.
  LogicalResult fillMap(MapOp map, AttentionOp op, Place at, Value columns, const LookupSites &sites, function_ref<Value(Value, int64_t)> extent,
                        function_ref<FailureOr<Fault>(LookupTrace &, const Place &)> faultAt) {
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&map.getBody(), {}, {i64, i64}, {loc, loc});
    Value row = at.row, column = at.column;
    at.row = body->getArgument(0), at.column = body->getArgument(1);
    LookupTrace trace(b, loc, sites, extent);
    FailureOr<Fault> fault = faultAt(trace, at);
    if (failed(fault))
      return failure();
    Value hasRow = compare(arith::CmpIPredicate::slt, at.row, op.getQueries()), hasColumn = compare(arith::CmpIPredicate::slt, at.column, columns);
    Value exists = arith::AndIOp::create(b, loc, hasRow, hasColumn);
    Value wrong = arith::AndIOp::create(b, loc, exists, compare(arith::CmpIPredicate::ne, trace.orNone(*fault).site, constant32(0)));
    Value number = add(multiply(subtract(at.row, row), constant(blockColumns)), subtract(at.column, column));
    Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), number);
    YieldOp::create(b, loc, ValueRange{arith::SelectOp::create(b, loc, wrong, narrow, constant32(map.getType().getNumElements()))});
    return success();
  }

  void report(Fault fault, const Place &at, StringRef column, const LookupSites &sites) {
    for (auto [site, number] : sites) {
      auto lookup = cast<LookupOp>(site.first);
      Value holds = compare(arith::CmpIPredicate::ne, fault.site, constant32(number));
      SmallVector<Value> values{fault.index, extentOf(lookup.getTable(), site.second), at.batch, at.head, at.row};
      std::string message = ("`" + nameOf(lookup.getTable()) + "` is read at {} on axis " + Twine(site.second) + ", which has {} elements, for b = {}, h = {}, i = {}").str();
      if (!column.empty()) {
        message += (", " + column + " = {}").str();
        values.push_back(at.column);
      }
      fail(lookup.getLoc(), message, values, holds);
    }
  }

  /// Arguments of a region before (b, h, g, i, ...).
  static int64_t leadingOf(Region &region) {
    unsigned count = region.getNumArguments(); // 4: scale, extra; 5: mask; 6: score, weight; 7 and 9: an output
    return count == 6 ? 1 : count == 7 ? 3 : count == 9 ? 4 : 0;
  }

  static DenseMap<Value, OpFoldResult> endsOf(AttentionOp op, const Elements &elements) {
    std::array<Value, 5> lengths{op.getBatch(), op.getHeads(), op.getKvHeads(), op.getQueries(), elements.columns};
    DenseMap<Value, OpFoldResult> ends;
    for (Region *region : elements.regions) {
      if (region->empty())
        continue;
      for (auto [argument, length] : llvm::zip(region->getArguments().drop_front(leadingOf(*region)), lengths))
        ends[argument] = getAsOpFoldResult(length);
    }
    return ends;
  }

  KernelOp kernel;
  OpBuilder b;
  Location loc;
  Value program;
  bool isUnsigned = false;
  int64_t checks = 0;
};

struct CheckClaimsPass : tegula::impl::CheckClaimsPassBase<CheckClaimsPass> {
  void runOnOperation() override {
    FailureOr<int64_t> checks = ClaimsProgram(getOperation()).write();
    if (failed(checks))
      return signalPassFailure();
    written += *checks;
  }
};

} // namespace
