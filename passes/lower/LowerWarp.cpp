// tegula-lower-warp: warp.kernel -> one thread's view.
//
// In: roles, rings, fragments. Out: an llvm.func whose body is scf, vector, arith, math, nvvm and inline PTX, and its manifest. The one idea: a type
// conversion does the work (tiles to vectors, memrefs to pointer, strides and extents); each group of ops has its own pattern file.
#include "passes/lower/LowerWarp.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tegula {
#define GEN_PASS_DEF_LOWERWARPPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

Value tegula::constantInt(OpBuilder &b, Location loc, int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(b, loc, b.getIntegerAttr(b.getIntegerType(bits), value));
}

Value tegula::narrowToI32(OpBuilder &b, Location loc, Value value) { return b.createOrFold<arith::TruncIOp>(loc, b.getI32Type(), value); }

Value tegula::elementAddress(OpBuilder &b, Location loc, Type element, Value pointer, ValueRange indices, ValueRange strides) {
  Value offset;
  for (auto [index, stride] : llvm::zip(indices, strides)) {
    Value term = arith::MulIOp::create(b, loc, index, stride);
    offset = offset ? arith::AddIOp::create(b, loc, offset, term).getResult() : term;
  }
  return LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{offset});
}

ThreadTypeConverter::ThreadTypeConverter() {
  addConversion([](Type type) { return type; });
  addConversion([](RankedTensorType type) -> std::optional<Type> {
    if (isa_and_nonnull<warp::FragmentAttr>(type.getEncoding()))
      return VectorType::get({type.getDimSize(1) / 2}, type.getElementType());
    if (isa_and_nonnull<warp::RowsAttr>(type.getEncoding()))
      return VectorType::get({2}, type.getElementType());
    if (auto blocked = dyn_cast_or_null<warp::BlockedAttr>(type.getEncoding()))
      return VectorType::get({blocked.getNumRegisters()}, type.getElementType());
    return std::nullopt;
  });
  addConversion([this](warp::PendingType type) { return convertType(type.getTile()); });
  addConversion([](warp::SlotType type) -> Type { return IntegerType::get(type.getContext(), 32); });
  // Pointer to the first row, strides of rows and columns, rows that exist; of packed rows, shift, stride of heads and how many exist.
  addConversion([](warp::GlobalType type, SmallVectorImpl<Type> &parts) {
    parts.push_back(LLVM::LLVMPointerType::get(type.getContext(), 1));
    parts.append(6, IntegerType::get(type.getContext(), 64));
    return success();
  });
  addConversion([](MemRefType type, SmallVectorImpl<Type> &parts) {
    parts.push_back(LLVM::LLVMPointerType::get(type.getContext(), 1));
    parts.append(2 * type.getRank(), IntegerType::get(type.getContext(), 64));
    return success();
  });
  auto cast = [](OpBuilder &b, TypeRange types, ValueRange values, Location loc) -> SmallVector<Value> {
    return UnrealizedConversionCastOp::create(b, loc, types, values)->getResults();
  };
  addSourceMaterialization([cast](OpBuilder &b, Type type, ValueRange values, Location loc) { return cast(b, type, values, loc)[0]; });
  addTargetMaterialization([cast](OpBuilder &b, TypeRange types, ValueRange values, Location loc) { return cast(b, types, values, loc); });
}

namespace {

/// While alive, drops the conversion's own complaint about an op that a pattern has already said something better of.
class OneMessage : public ScopedDiagnosticHandler {
public:
  explicit OneMessage(MLIRContext *context) : ScopedDiagnosticHandler(context) {
    setHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      bool isRepeated = hasError && StringRef(diagnostic.str()).starts_with("failed to legalize operation");
      hasError = true;
      return success(isRepeated);
    });
  }

private:
  bool hasError = false;
};

struct LowerWarpPass : tegula::impl::LowerWarpPassBase<LowerWarpPass> {
  void runOnOperation() override {
    SmallVector<warp::KernelOp> all(getOperation().getOps<warp::KernelOp>());
    for (warp::KernelOp kernel : all) {
      fuseSelects(kernel);
      FailureOr<KernelState> state = lowerStructure(kernel);
      if (failed(state) || failed(convert(*state)))
        return signalPassFailure();
      finishKernel(*state);
      ++kernels;
    }
  }

private:
  LogicalResult convert(KernelState &state) {
    ThreadTypeConverter types;
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    auto legalByType = [&](Operation *op) { return types.isLegal(op->getOperandTypes()) && types.isLegal(op->getResultTypes()); };
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, vector::VectorDialect>();
    target.addDynamicallyLegalDialect<arith::ArithDialect, math::MathDialect, tensor::TensorDialect>(legalByType);
    target.addIllegalDialect<warp::WarpDialect, tile::TileDialect>();
    target.addLegalOp<warp::RingOp, warp::QueueOp, UnrealizedConversionCastOp>(); // rings are facts, read by the patterns and erased at the end
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
    populateFragmentPatterns(patterns, types, state);
    populateElementPatterns(patterns, types, state);
    populateMatrixPatterns(patterns, types, state);
    populateCopyPatterns(patterns, types, state);
    populateReadPatterns(patterns, types, state);
    populateUnseenPatterns(patterns, types, state);
    populateBarrierPatterns(patterns, types, state);
    populateNotePatterns(patterns, types, state);
    populateVisitPatterns(patterns, types, state);
    populateTileLoopPatterns(patterns, types, state);
    populateRedoPatterns(patterns, types, state);
    populateBlockedMemoryPatterns(patterns, types, state);
    populateBlockedMovePatterns(patterns, types, state);
    populateBlockedReducePatterns(patterns, types, state);
    populateBlockedDotPatterns(patterns, types, state);
    populateDeviceReportPatterns(patterns, types, state);
    OneMessage handler(&getContext());
    return applyPartialConversion(state.function, target, std::move(patterns));
  }
};

} // namespace
