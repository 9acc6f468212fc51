// tegula-cpu-lower-tiles: tile.kernel -> a function that runs every program of the grid.
//
// In: a tile program without softmax state ops. Out: func, scf, memref and linalg, with elementwise code on tiles left as it is. The one
// idea: the grid becomes the outermost loops, and a matrix product the loop order that reads and writes rows.
#include "passes/cpu/CpuManifest.h"
#include "passes/cpu/CpuPasses.h"
#include "passes/cpu/LowerMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
                                                     Value product = arith::MulFOp::create(b, loc, args[0], args[1]);
                                                     Value sum = arith::AddFOp::create(b, loc, args[2], product);
                                                     linalg::YieldOp::create(b, loc, sum);
                                                   });
    return success();
  }

private:
  static Value widen(OpBuilder &b, Location loc, Value tile, Type element) {
    auto type = cast<RankedTensorType>(tile.getType());
    return type.getElementType() == element ? tile : arith::ExtFOp::create(b, loc, type.clone(element), tile).getResult();
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
                                               Value x = args[0];
                                               if (x.getType() != element)
                                                 x = arith::ExtFOp::create(nested, loc, element, x);
                                               linalg::YieldOp::create(nested, loc, x);
                                             });
    return generic.getResult(0);
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
      patterns.add<LowerForBlocks, LowerDot>(&getContext());
      populateLowerMemoryPatterns(patterns);
      walkAndApplyPatterns(*function, std::move(patterns));
    }
  }
};

} // namespace
