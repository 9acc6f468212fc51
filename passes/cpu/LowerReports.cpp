// Prints become calls for each piece of text and each number, failed assertions such calls between two that say what they are.
//
// In: tile.print, tile.assert. Out: func.call of functions of the host. The one idea: the host keeps what a call says until the run ends, so
// nothing here has a result.
#include "passes/cpu/LowerReports.h"

#include "dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Calls host function `name`, which it declares where that is not done yet.
void call(ImplicitLocOpBuilder &b, StringRef name, ValueRange arguments) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    function = func::FuncOp::create(b, name, b.getFunctionType(arguments.getTypes(), {}));
    function.setPrivate();
  }
  func::CallOp::create(b, function, arguments);
}

/// A constant text in the module: its address and its length.
std::array<Value, 2> makeText(ImplicitLocOpBuilder &b, StringRef text) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = "tegula.text" + std::to_string(number);
  Value address = LLVM::createGlobalString(b.getLoc(), b, name, text, LLVM::Linkage::Private);
  return {address, arith::ConstantOp::create(b, b.getI64IntegerAttr(text.size()))};
}

/// What `body` makes runs where `condition` holds. (It looks for the module, so the branch is in its place by then.)
void runIf(ImplicitLocOpBuilder &b, Value condition, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void printText(ImplicitLocOpBuilder &b, StringRef text) {
  if (!text.empty())
    call(b, "tegula.print_text", makeText(b, text));
}

void printScalar(ImplicitLocOpBuilder &b, Value value) {
  Type i64 = b.getI64Type(), f64 = b.getF64Type();
  if (value.getType().isInteger(1))
    return call(b, "tegula.print_flag", arith::ExtUIOp::create(b, i64, value).getResult());
  if (isa<FloatType>(value.getType()))
    return call(b, "tegula.print_real", value.getType() == f64 ? value : arith::ExtFOp::create(b, f64, value).getResult());
  call(b, "tegula.print_integer", value.getType() == i64 ? value : arith::ExtSIOp::create(b, i64, value).getResult());
}

/// Axis `place.size()` of `tile` and those behind it as a list.
void printList(ImplicitLocOpBuilder &b, Value tile, SmallVector<Value> place) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto axis = static_cast<int64_t>(place.size());
  if (axis == type.getRank())
    return printScalar(b, tensor::ExtractOp::create(b, tile, place));
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value size = arith::ConstantIndexOp::create(b, type.getDimSize(axis));
  printText(b, "[");
  auto loop = scf::ForOp::create(b, zero, size, one);
  Value x = loop.getInductionVar();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value isLater = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, zero);
    runIf(b, isLater, [&] { printText(b, ", "); });
    place.push_back(x);
    printList(b, tile, place);
  }
  printText(b, "]");
}

void printValue(ImplicitLocOpBuilder &b, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    printList(b, value, {});
  else
    printScalar(b, value);
}

struct LowerPrint : OpRewritePattern<PrintOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PrintOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto [text, rest] = op.getText().split("{}");
    bool isMarked = text.size() != op.getText().size();
    for (Value value : op.getValues()) {
      printText(b, isMarked ? text.str() : text.str() + " ");
      printValue(b, value);
      StringRef behind = rest;
      std::tie(text, rest) = behind.split("{}");
      isMarked = text.size() != behind.size();
    }
    // Marks without a value stay as they are.
    printText(b, text.str() + (isMarked ? "{}" : "") + rest.str() + "\n");
    rewriter.eraseOp(op);
    return success();
  }
};

/// A launch on the CPU tells nothing of blocks.
struct DropVisit : OpRewritePattern<VisitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(VisitOp op, PatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

/// "docs.tg:3:4: " of where an op comes from, or nothing.
std::string placeText(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  return (place.getFilename().getValue() + ":" + Twine(place.getLine()) + ":" + Twine(place.getColumn()) + ": ").str();
}

struct LowerAssert : OpRewritePattern<AssertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AssertOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value holds = op.getCondition();
    while (isa<RankedTensorType>(holds.getType()))
      holds = ReduceOp::create(b, ReduceKind::And, holds);
    Value fails = arith::XOrIOp::create(b, holds, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    std::string text = placeText(op.getLoc()) + "assertion failed" + (op.getMessage().empty() ? "" : ": ");
    runIf(b, fails, [&] {
      auto mark = [&](bool begins) { call(b, "tegula.assertion_failed", arith::ConstantOp::create(b, b.getI64IntegerAttr(begins)).getResult()); };
      mark(true);
      StringRef rest = op.getMessage();
      for (Value value : op.getValues()) {
        auto [before, behind] = rest.split("{}");
        printText(b, text + before.str());
        printScalar(b, value);
        text.clear(), rest = behind;
      }
      printText(b, text + rest.str());
      mark(false);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tegula::populateLowerReportPatterns(RewritePatternSet &patterns) { patterns.add<LowerPrint, LowerAssert, DropVisit>(patterns.getContext()); }
