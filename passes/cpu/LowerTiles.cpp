// tegula-cpu-lower-tiles: tile.kernel -> a function that runs every program of the grid.
//
// In: a tile program without softmax state ops. Out: func, scf, memref and linalg, with elementwise code on tiles left as it is. The one
// idea: the grid becomes the outermost loops, and a matrix product the loop order that reads and writes rows.
#include "passes/cpu/CpuManifest.h"
#include "passes/cpu/CpuPasses.h"
#include "passes/cpu/LowerMemory.h"
#include "passes/cpu/LowerReports.h"
#include "runtime/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace tegula {
#define GEN_PASS_DEF_CPULOWERTILESPASS
#include "passes/cpu/CpuPasses.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

struct LowerForBlocks : OpRewritePattern<ForBlocksOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ForBlocksOp op, PatternRewriter &rewriter) const override {
    Value step = arith::ConstantOp::create(rewriter, op.getLoc(), op.getStepAttr());
    auto loop = scf::ForOp::create(rewriter, op.getLoc(), op.getLower(), op.getUpper(), step, op.getInits(),
                                   [](OpBuilder &, Location, Value, ValueRange) {});
    // With carried values the builder leaves the body without a terminator, else it adds one.
    if (!loop.getBody()->empty())
      rewriter.eraseOp(loop.getBody()->getTerminator());
    rewriter.mergeBlocks(&op.getBody().front(), loop.getBody(), loop.getBody()->getArguments());
    Operation *yield = loop.getBody()->getTerminator();
    rewriter.setInsertionPoint(yield);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(yield, yield->getOperands());
    rewriter.replaceOp(op, loop);
    return success();
  }
};

/// `acc + lhs * rhs` with the loops (row, product, column): the innermost one runs along contiguous rows of the accumulator and of rhs.
struct LowerDot : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getResult().getType();
    Value lhs = widen(rewriter, loc, op.getLhs(), type.getElementType());
    Value rhs = op.getTransposeB() ? widenTransposed(rewriter, loc, op.getRhs(), type.getElementType())
                                   : widen(rewriter, loc, op.getRhs(), type.getElementType());
    Value acc = op.getAcc();
    if (!acc) {
      Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
      Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
      acc = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    }
    AffineExpr m, k, n;
    bindDims(rewriter.getContext(), m, k, n);
    auto maps = AffineMap::inferFromExprList(ArrayRef<ArrayRef<AffineExpr>>{{m, k}, {k, n}, {m, n}}, rewriter.getContext());
    using utils::IteratorType;
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(op, type, ValueRange{lhs, rhs}, acc, maps,
                                                   ArrayRef{IteratorType::parallel, IteratorType::reduction, IteratorType::parallel},
                                                   [](OpBuilder &b, Location loc, ValueRange args) {
                                                     linalg::YieldOp::create(b, loc, multiplyAdd(b, loc, args[0], args[1], args[2]));
                                                   });
    return success();
  }

private:
  static Value multiplyAdd(OpBuilder &b, Location loc, Value x, Value y, Value acc) {
    if (isa<FloatType>(acc.getType()))
      return arith::AddFOp::create(b, loc, acc, arith::MulFOp::create(b, loc, x, y));
    return arith::AddIOp::create(b, loc, acc, arith::MulIOp::create(b, loc, x, y));
  }

  /// A tile or an element in the type of the result.
  static Value extend(OpBuilder &b, Location loc, Value x, Type type) {
    if (x.getType() == type)
      return x;
    if (isa<FloatType>(getElementTypeOrSelf(type)))
      return arith::ExtFOp::create(b, loc, type, x);
    return arith::ExtSIOp::create(b, loc, type, x);
  }

  static Value widen(OpBuilder &b, Location loc, Value tile, Type element) {
    return extend(b, loc, tile, cast<RankedTensorType>(tile.getType()).clone(element));
  }

  static Value widenTransposed(OpBuilder &b, Location loc, Value tile, Type element) {
    auto type = cast<RankedTensorType>(tile.getType());
    auto result = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, element);
    Value empty = tensor::EmptyOp::create(b, loc, result.getShape(), element);
    AffineExpr i, j;
    bindDims(b.getContext(), i, j);
    auto maps = AffineMap::inferFromExprList(ArrayRef<ArrayRef<AffineExpr>>{{i, j}, {j, i}}, b.getContext());
    using utils::IteratorType;
    auto generic = linalg::GenericOp::create(b, loc, result, tile, empty, maps, ArrayRef{IteratorType::parallel, IteratorType::parallel},
                                             [&](OpBuilder &nested, Location loc, ValueRange args) {
                                               linalg::YieldOp::create(nested, loc, extend(nested, loc, args[0], element));
                                             });
    return generic.getResult(0);
  }
};

/// Running sums: a loop along the axis, which carries the sum, in loops over the others.
struct LowerCumsum : OpRewritePattern<CumsumOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CumsumOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getTile().getType();
    Type element = type.getElementType();
    auto axis = static_cast<unsigned>(op.getAxis());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(element));
    Value buffer = memref::AllocOp::create(b, MemRefType::get(type.getShape(), element));
    SmallVector<Value> upper;
    for (auto [other, size] : llvm::enumerate(type.getShape()))
      if (other != axis)
        upper.push_back(arith::ConstantIndexOp::create(b, size));
    Value length = arith::ConstantIndexOp::create(b, type.getDimSize(axis));
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);
    auto sumAlong = [&](OpBuilder &nested, Location loc, ValueRange others) {
      scf::ForOp::create(nested, loc, zero, length, one, none, [&](OpBuilder &inner, Location loc, Value x, ValueRange carried) {
        SmallVector<Value> place(others);
        place.insert(place.begin() + axis, x);
        Value next = tensor::ExtractOp::create(inner, loc, op.getTile(), place);
        Value sum = isa<FloatType>(element) ? arith::AddFOp::create(inner, loc, carried[0], next).getResult()
                                            : arith::AddIOp::create(inner, loc, carried[0], next).getResult();
        memref::StoreOp::create(inner, loc, sum, buffer, place);
        scf::YieldOp::create(inner, loc, sum);
      });
    };
    scf::buildLoopNest(b, b.getLoc(), lower, upper, steps, sumAlong);
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, type, buffer, /*restrict=*/true, /*writable=*/true);
    return success();
  }
};

/// A copy that is seen under the other shape.
struct LowerReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RankedTensorType from = op.getTile().getType(), to = op.getResult().getType();
    Value buffer = memref::AllocOp::create(b, MemRefType::get(from.getShape(), from.getElementType()));
    bufferization::MaterializeInDestinationOp::create(b, TypeRange(), op.getTile(), buffer, /*restrict=*/true, /*writable=*/true);
    Value view = memref::ReinterpretCastOp::create(b, MemRefType::get(to.getShape(), to.getElementType()), buffer, /*offset=*/0, to.getShape(),
                                                   computeStrides(to.getShape()));
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, to, view, /*restrict=*/true, /*writable=*/true);
    return success();
  }
};

struct LowerAny : OpRewritePattern<AnyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AnyOp op, PatternRewriter &rewriter) const override {
    Value flags = op.getFlags();
    while (isa<RankedTensorType>(flags.getType()))
      flags = ReduceOp::create(rewriter, op.getLoc(), ReduceKind::Or, flags);
    rewriter.replaceOp(op, flags);
    return success();
  }
};

/// Whether each key is seen, then a select of rows.
struct LowerZeroUnseen : OpRewritePattern<ZeroUnseenOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ZeroUnseenOp op, PatternRewriter &rewriter) const override {
    using utils::IteratorType;
    Location loc = op.getLoc();
    RankedTensorType type = op.getTile().getType();
    MLIRContext *context = rewriter.getContext();
    Value flags = tensor::EmptyOp::create(rewriter, loc, type.getShape().take_front(), rewriter.getI1Type());
    auto seen = linalg::GenericOp::create(rewriter, loc, flags.getType(), ValueRange(), flags, AffineMap::getMultiDimIdentityMap(1, context),
                                          IteratorType::parallel, [&](OpBuilder &b, Location loc, ValueRange) {
                                            linalg::YieldOp::create(b, loc, isSeen(op, b, loc));
                                          });
    AffineExpr c, e;
    bindDims(context, c, e);
    auto maps = AffineMap::inferFromExprList(ArrayRef<ArrayRef<AffineExpr>>{{c, e}, {c}, {c, e}}, context);
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(op, type, ValueRange{op.getTile(), seen.getResult(0)}, empty, maps,
                                                   ArrayRef{IteratorType::parallel, IteratorType::parallel},
                                                   [&](OpBuilder &b, Location loc, ValueRange args) {
                                                     Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
                                                     Value kept = arith::SelectOp::create(b, loc, args[1], args[0], zero);
                                                     linalg::YieldOp::create(b, loc, kept);
                                                   });
    return success();
  }

private:
  /// Of the key at the current place: true past the end, or where every key is seen; else whether some row sees it.
  static Value isSeen(ZeroUnseenOp op, OpBuilder &b, Location loc) {
    Value c = arith::IndexCastOp::create(b, loc, b.getI64Type(), linalg::IndexOp::create(b, loc, 0));
    Value key = arith::AddIOp::create(b, loc, op.getCols(), c);
    Value inDoubt = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, key, op.getEnd());
    if (op.getPartial())
      inDoubt = arith::AndIOp::create(b, loc, inDoubt, op.getPartial());
    auto lookAtRows = [&](OpBuilder &b, Location loc) {
      Value none = arith::ConstantOp::create(b, loc, b.getBoolAttr(false)), one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
      auto loop = scf::ForOp::create(b, loc, op.getFirst(), op.getLast(), one, none, [&](OpBuilder &b, Location loc, Value row, ValueRange any) {
        IRMapping map;
        map.map(op.getSeen().getArguments(), ValueRange{row, key});
        for (Operation &inner : op.getSeen().front().without_terminator())
          b.clone(inner, map);
        Value seen = map.lookupOrDefault(op.getSeen().front().getTerminator()->getOperand(0));
        scf::YieldOp::create(b, loc, arith::OrIOp::create(b, loc, any[0], seen).getResult());
      });
      scf::YieldOp::create(b, loc, loop.getResult(0));
    };
    auto certain = [](OpBuilder &b, Location loc) {
      scf::YieldOp::create(b, loc, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)).getResult());
    };
    return scf::IfOp::create(b, loc, inDoubt, lookAtRows, certain).getResult(0);
  }
};

/// Moves the body of `kernel` into a function of the same arguments.
FailureOr<func::FuncOp> makeFunction(KernelOp kernel) {
  if (kernel.getSymName() == "malloc" || kernel.getSymName() == "free")
    return kernel.emitOpError("the name '") << kernel.getSymName() << "' belongs to the C library on the CPU; give the item another name";
  FailureOr<DictionaryAttr> manifest = makeCpuManifest(kernel);
  if (failed(manifest))
    return failure();
  OpBuilder b(kernel);
  SmallVector<NamedAttribute> attributes{
      b.getNamedAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr()),
      b.getNamedAttr(manifestAttrName, *manifest),
  };
  auto function = func::FuncOp::create(b, kernel.getLoc(), kernel.getSymName(), kernel.getFunctionType(), attributes);
  function.getBody().takeBody(kernel.getBody());
  Operation *end = function.getBody().front().getTerminator();
  b.setInsertionPoint(end);
  func::ReturnOp::create(b, end->getLoc());
  end->erase();
  kernel.erase();
  return function;
}

/// Puts what follows `tile.program_id` into a loop nest over the grid.
LogicalResult expandGrid(func::FuncOp function) {
  SmallVector<ProgramIdOp> ids;
  function.walk([&](ProgramIdOp op) { ids.push_back(op); });
  if (ids.empty())
    return success();
  ProgramIdOp id = ids.front();
  if (ids.size() > 1)
    return ids[1].emitOpError("expected at most one in a kernel").attachNote(id.getLoc()) << "the other one is here";
  Block *entry = &function.getBody().front();
  if (id->getBlock() != entry)
    return id.emitOpError("expected it in the outermost block of the kernel");

  OpBuilder b(id);
  Location loc = id.getLoc();
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
  for (auto [extent, index] : llvm::reverse(llvm::zip_equal(id.getExtents(), id.getIndices()))) {
    auto loop = scf::ForOp::create(b, loc, zero, extent, one);
    index.replaceAllUsesWith(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  Block *body = b.getInsertionBlock();
  if (body != entry)
    body->getOperations().splice(body->begin(), entry->getOperations(), std::next(id->getIterator()),
                                 entry->getTerminator()->getIterator());
  id.erase();
  return success();
}

/// The rule of runtime/Packing.h as code.
struct LowerPacking : OpRewritePattern<PackingOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PackingOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)); };
    auto count = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
      Value holds = arith::CmpIOp::create(b, predicate, x, y);
      return arith::ExtUIOp::create(b, b.getI64Type(), holds);
    };
    Value one = constant(1), rows = constant(op.getRows()), shift = constant(0);
    Value group = arith::DivSIOp::create(b, op.getHeads(), arith::MaxSIOp::create(b, op.getKvHeads(), one));
    for (int64_t doubling = 0; doubling < mostPacking; ++doubling) {
      Value more = count(arith::CmpIPredicate::sgt, group, constant(int64_t(1) << doubling));
      shift = arith::AddIOp::create(b, shift, more);
    }
    auto blocksOf = [&](Value all) -> Value { return arith::CeilDivSIOp::create(b, all, rows); };
    Value apart = arith::MulIOp::create(b, blocksOf(op.getQueries()), group), parts = arith::CeilDivSIOp::create(b, group, arith::ShLIOp::create(b, one, shift));
    Value together = arith::MulIOp::create(b, blocksOf(arith::ShLIOp::create(b, op.getQueries(), shift)), parts);
    apart = arith::MulIOp::create(b, apart, constant(7)), together = arith::MulIOp::create(b, together, constant(8));
    Value pays = count(arith::CmpIPredicate::slt, together, apart);
    rewriter.replaceOpWithNewOp<arith::MulIOp>(op, shift, pays);
    return success();
  }
};

struct CpuLowerTilesPass : tegula::impl::CpuLowerTilesPassBase<CpuLowerTilesPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    CpuLowerTilesPassBase::getDependentDialects(registry);
    registerCpuDialects(registry);
  }

  void runOnOperation() override {
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      kernel.walk([&](Operation *op) { lowered += isa<TileDialect>(op->getDialect()); });
      FailureOr<func::FuncOp> function = makeFunction(kernel);
      if (failed(function) || failed(expandGrid(*function)))
        return signalPassFailure();
      RewritePatternSet patterns(&getContext());
      patterns.add<LowerForBlocks, LowerDot, LowerZeroUnseen, LowerCumsum, LowerReshape, LowerAny, LowerPacking>(&getContext());
      populateLowerMemoryPatterns(patterns);
      populateLowerReportPatterns(patterns);
      walkAndApplyPatterns(*function, std::move(patterns));
    }
  }
};

} // namespace
