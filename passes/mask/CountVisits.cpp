// tegula-count-visits: a tile program -> a program that says which blocks of keys it visits.
//
// In: tile programs whose masks are bounded. Out: the same grid, loops and scalar tests, without a tile; each visited block leaves its class in memory. The one idea: what is counted is the
// kernel's own control flow, not a second derivation of it.
#include "passes/Passes.h"
#include "passes/mask/KeyLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tegula {
#define GEN_PASS_DEF_COUNTVISITSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Where the visits of a program go.
struct Tally {
  Value counts, classes, program;
};

struct CountVisitsPass : tegula::impl::CountVisitsPassBase<CountVisitsPass> {
  void runOnOperation() override {
    for (Operation *other : programsOfRedos(getOperation())) // to compute rows again is no visit
      other->erase();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (kernel->hasAttr("tile.prepass"))
        takeAll(kernel, "inout");
      else if (failed(count(kernel)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult count(KernelOp kernel) {
    SmallVector<KeyLoop> loops;
    kernel->walk([&](ForBlocksOp loop) {
      if (KeyLoop found(loop); found.rows != 0)
        loops.push_back(std::move(found));
    });
    dropEffects(kernel);
    auto ids = llvm::to_vector(kernel.getBody().front().getOps<ProgramIdOp>());
    if (loops.empty() || ids.empty())
      return kernel.emitError("`") << kernel.getSymName() << "` has no loop over blocks of keys";
    Tally tally = addTally(kernel, ids.front());
    for (KeyLoop &found : loops) {
      if (found.rows != loops.front().rows || found.keys != loops.front().keys)
        return kernel.emitError("`") << kernel.getSymName() << "` has loops over blocks of several sizes";
      addVisit(found, tally);
      ++counted;
    }
    NamedAttrList facts = factsOf(loops.front());
    dropTiles(kernel.getBody().front());
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, kernel->getRegions());
    if (int64_t ranges = rangesLookedAt(); ranges > 0)
      facts.append("steps", rewriter.getI64IntegerAttr(1 + ranges));
    kernel->setAttr("visits", facts.getDictionary(&getContext()));
    bool isKnown = !kernel->walk([](ub::PoisonOp) { return WalkResult::interrupt(); }).wasInterrupted();
    return isKnown ? success() : kernel.emitError("which blocks `") << kernel.getSymName() << "` visits depends on what its tiles hold";
  }

  /// The size of a block, and what the weights of a row are relative to.
  NamedAttrList factsOf(KeyLoop &found) {
    Builder b(&getContext());
    NamedAttrList facts({b.getNamedAttr("rows", b.getI64IntegerAttr(found.rows)), b.getNamedAttr("keys", b.getI64IntegerAttr(found.keys))});
    if (OnlineSoftmaxOp softmax = found.softmax)
      facts.append("reference", b.getStringAttr(!softmax.getFixed() ? "running max" : softmax.getFromFirstBlock() ? "first block" : "first visible block"));
    return facts;
  }

  /// Over how many ranges of keys loops run to tell whether a block is live.
  int64_t rangesLookedAt() {
    int64_t ranges = 0;
    getOperation()->walk([&](scf::ForOp loop) {
      if (std::optional<APInt> trips = loop.getStaticTripCount(); trips && loop->getNumResults() == 1 && loop->getResult(0).getType().isInteger(1))
        ranges += trips->getSExtValue();
    });
    return ranges;
  }

  /// What a program does to memory, and what it says.
  static void dropEffects(KernelOp kernel) {
    kernel->walk([](Operation *op) {
      if (isa<RedoOp, StoreOp, ScatterOp, AtomicAddOp, PrintOp, AssertOp>(op))
        op->erase();
    });
  }

  /// Nothing of a kernel's tensors is written any more; its scratch is one of them.
  void takeAll(KernelOp kernel, StringRef scratch) {
    for (BlockArgument argument : kernel.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto role = kernel.getArgAttrOfType<StringAttr>(number, "tile.role");
      if (isa<MemRefType>(argument.getType()))
        kernel.setArgAttr(number, "tile.role", StringAttr::get(&getContext(), role && role.getValue() == "scratch" ? scratch : "in"));
    }
  }

  /// Arguments for the result, and this program's number in the grid.
  Tally addTally(KernelOp kernel, ProgramIdOp id) {
    takeAll(kernel, "in");
    OpBuilder b(id);
    b.setInsertionPointAfter(id);
    Location loc = kernel.getLoc();
    auto extent = [&](StringRef name) -> Attribute { return b.getStringAttr(("visits." + name).str()); };
    auto addArgument = [&](Type type, ArrayRef<NamedAttribute> facts) {
      unsigned number = kernel.getNumArguments();
      (void)kernel.insertArgument(number, type, b.getDictionaryAttr(facts), loc);
      return kernel.getArgument(number);
    };
    auto addTable = [&](StringRef name, Type element, ArrayRef<Attribute> dims) {
      SmallVector<int64_t> shape(dims.size(), ShapedType::kDynamic);
      auto layout = StridedLayoutAttr::get(&getContext(), /*offset=*/0, SmallVector<int64_t>(dims.size(), ShapedType::kDynamic));
      return addArgument(MemRefType::get(shape, element, layout), {b.getNamedAttr("tile.name", extent(name)), b.getNamedAttr("tile.role", b.getStringAttr("inout")),
                                                                   b.getNamedAttr("tile.dims", b.getArrayAttr(dims))});
    };
    Type i64 = b.getI64Type();
    Value counts = addTable("counts", i64, {extent("kinds")}), grid = addTable("grid", i64, {extent("axes")});
    Value classes = addTable("classes", b.getI8Type(), {extent("programs"), extent("blocks")});
    for (StringRef dim : {"kinds", "axes", "programs", "blocks"})
      addArgument(i64, b.getNamedAttr("tile.dim", extent(dim)));

    Value program = constant(b, loc, 0), size = constant(b, loc, 1);
    for (auto [axis, index] : llvm::enumerate(id.getIndices())) {
      Value length = id.getExtents()[axis];
      ScatterOp::create(b, loc, length, grid, constant(b, loc, axis), Value());
      program = arith::AddIOp::create(b, loc, program, arith::MulIOp::create(b, loc, index, size));
      size = arith::MulIOp::create(b, loc, size, length);
    }
    return {counts, classes, program};
  }

  static Value constant(OpBuilder &b, Location loc, int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

  static void addVisit(KeyLoop &found, const Tally &tally) {
    OpBuilder b(found.loop.getBody().front().getTerminator());
    Location loc = found.loop.getLoc();
    Value tested = found.isTested(b);
    auto byte = [&](int value) { return arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(value)); };
    Value partial = byte(1), free = byte(2), visitClass = arith::SelectOp::create(b, loc, tested, partial, free);
    Value zero = constant(b, loc, 0), one = constant(b, loc, 1), kind = arith::SelectOp::create(b, loc, tested, zero, one);
    Value block = arith::DivSIOp::create(b, loc, found.key, constant(b, loc, found.keys));
    AtomicAddOp::create(b, loc, constant(b, loc, 1), tally.counts, kind, Value());
    ScatterOp::create(b, loc, visitClass, tally.classes, ValueRange{tally.program, block}, Value());
  }

  //===-- without tiles ---------------------------------------------------------------------------===//

  static void poison(OpBuilder &b, ValueRange values) {
    for (Value value : values)
      if (!value.use_empty())
        value.replaceAllUsesWith(ub::PoisonOp::create(b, value.getLoc(), value.getType()));
  }

  /// Takes out whatever makes or reads a tile; a scalar that comes of one is poison.
  static void dropTiles(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      OpBuilder b(&op);
      if (auto span = dyn_cast<RowSpanOp>(op)) { // to count for a program, not for one of its warpgroups
        span.getFirst().replaceAllUsesWith(span.getStart());
        span.getLast().replaceAllUsesWith(arith::AddIOp::create(b, op.getLoc(), span.getStart(), constant(b, op.getLoc(), span.getCount() - 1)));
        op.erase();
      } else if (isa<ForBlocksOp, scf::ForOp, scf::IfOp>(op)) {
        Operation *rest = withoutCarriedTiles(b, op);
        for (Region &region : rest->getRegions())
          for (Block &inner : region)
            dropTiles(inner);
      } else if (!op.hasTrait<OpTrait::IsTerminator>() && (llvm::any_of(op.getResults(), isTile) || llvm::any_of(op.getOperands(), isTile))) {
        poison(b, op.getResults());
        op.erase();
      }
    }
  }

  /// The loop or branch again, without the tiles among its results and what belongs to them.
  static Operation *withoutCarriedTiles(OpBuilder &b, Operation &op) {
    unsigned results = op.getNumResults(), inits = isa<scf::IfOp>(op) ? 0 : results, leading = op.getNumOperands() - inits;
    auto isKept = [&](unsigned number) { return !isTile(op.getResult(number)); };
    OperationState state(op.getLoc(), op.getName());
    state.addOperands(op.getOperands().take_front(leading));
    for (unsigned number = 0; number != results; ++number) {
      if (!isKept(number))
        continue;
      state.addTypes(op.getResult(number).getType());
      if (inits)
        state.addOperands(op.getOperand(leading + number));
    }
    state.addAttributes(op.getAttrs());
    for (unsigned region = 0; region != op.getNumRegions(); ++region)
      state.addRegion();
    Operation *rest = b.create(state);
    for (auto [region, old] : llvm::zip_equal(rest->getRegions(), op.getRegions())) {
      region.takeBody(old);
      if (auto loop = dyn_cast<ForBlocksOp>(rest); loop && &region == &loop.getClasses())
        continue; // scalar code
      for (Block &block : region) {
        OpBuilder inside = OpBuilder::atBlockBegin(&block);
        unsigned carried = inits ? block.getNumArguments() - inits : 0;
        for (unsigned number = results; number-- != 0;) {
          if (isKept(number))
            continue;
          block.getTerminator()->eraseOperand(number);
          if (!inits)
            continue;
          poison(inside, block.getArgument(carried + number));
          block.eraseArgument(carried + number);
        }
      }
    }
    unsigned next = 0;
    for (unsigned number = 0; number != results; ++number)
      if (isKept(number))
        op.getResult(number).replaceAllUsesWith(rest->getResult(next++));
      else
        poison(b, op.getResult(number));
    op.erase();
    return rest;
  }
};

} // namespace
