// Prints and assertions of a tile program on the GPU: calls that the driver itself answers.
//
// In: tile.print, tile.assert. Out: calls of vprintf, whose lines the driver writes when the host waits, and of __assertfail, which ends the launch.
// The one idea: a scalar is the same in all threads, so one of them reports it; an element of a tile is reported by the first thread that holds it.
#include "passes/lower/BlockedThread.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tegula;

namespace {

/// Emits the calls of one op.
class Reporter {
public:
  Reporter(BlockedThread &t, Operation *op) : b(t.b), loc(t.loc), function(t.state.function), module(op->getParentOfType<ModuleOp>()) {}

  /// What `printf` writes for a scalar, appended to `format` and `arguments`.
  void add(Value value) {
    Type type = value.getType();
    if (type.isInteger(1)) {
      format += "%s";
      arguments.push_back(arith::SelectOp::create(b, loc, value, text("true"), text("false")));
    } else if (isa<FloatType>(type)) {
      format += "%g";
      arguments.push_back(type.isF64() ? value : arith::ExtFOp::create(b, loc, b.getF64Type(), value).getResult());
    } else {
      format += "%lld";
      arguments.push_back(type.isInteger(64) ? value : arith::ExtSIOp::create(b, loc, b.getI64Type(), value).getResult());
    }
  }

  void add(StringRef text) {
    for (char c : text)
      format += c == '%' ? "%%" : std::string(1, c);
  }

  /// Prints the line that was put together.
  LogicalResult print() {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(b, module, "vprintf", {pointer, pointer}, b.getI32Type());
    if (failed(callee))
      return failure();
    Value list = LLVM::ZeroOp::create(b, loc, pointer);
    if (!arguments.empty()) {
      SmallVector<Type> types(ValueRange(arguments).getTypes());
      auto layout = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
      list = slot(layout);
      for (auto [n, argument] : llvm::enumerate(arguments))
        LLVM::StoreOp::create(b, loc, argument, LLVM::GEPOp::create(b, loc, pointer, layout, list, ArrayRef<LLVM::GEPArg>{0, int32_t(n)}));
    }
    LLVM::CallOp::create(b, loc, *callee, ValueRange{text(format + "\n"), list});
    return success();
  }

  /// Ends the launch; the driver names message and place.
  LogicalResult fail(StringRef message) {
    auto place = loc->findInstanceOf<FileLineColLoc>();
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(b, module, "__assertfail", {pointer, pointer, b.getI32Type(), pointer, b.getI64Type()},
                                                                  LLVM::LLVMVoidType::get(b.getContext()));
    if (failed(callee))
      return failure();
    Value file = text(place ? place.getFilename().getValue() : "<unknown>"), kernel = text(function.getSymName());
    LLVM::CallOp::create(b, loc, *callee,
                         ValueRange{text(message), file, constantInt(b, loc, place ? place.getLine() : 0), kernel, constantInt(b, loc, 1, 64)});
    return success();
  }

private:
  /// A generic pointer to constant text.
  Value text(StringRef value) {
    std::string name, bytes = value.str() + '\0';
    LLVM::GlobalOp global;
    for (unsigned n = 0;; ++n) {
      name = "tegula_text_" + std::to_string(n);
      global = module.lookupSymbol<LLVM::GlobalOp>(name);
      if (!global || cast<StringAttr>(*global.getValue()).getValue() == bytes)
        break;
    }
    if (!global) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()), /*isConstant=*/true, LLVM::Linkage::Internal, name,
                             b.getStringAttr(bytes), /*alignment=*/1, /*addrSpace=*/1);
    }
    Value address = LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), name);
    return LLVM::AddrSpaceCastOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
  }

  /// Memory of the thread, made once: at the begin of the function.
  Value slot(Type type) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    return LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), type, constantInt(b, loc, 1), /*alignment=*/8);
  }

  OpBuilder &b;
  Location loc;
  LLVM::LLVMFuncOp function;
  ModuleOp module;
  std::string format;
  SmallVector<Value> arguments;
};

/// Whether a register's element lies inside the tile and no earlier thread holds it; null: always.
Value isOwn(BlockedThread &t, RankedTensorType tile, int64_t number) {
  warp::BlockedAttr layout = blockedLayout(tile);
  Value own = t.isFirstCopy(layout);
  for (auto [axis, extent] : llvm::enumerate(tile.getShape()))
    own = t.both(own, t.isInside(layout, axis, extent, layout.getRegisterOffsets(axis)[number]));
  return own;
}

Value isFirstThread(BlockedThread &t) {
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.state.place.thread, t.constant(0));
}

/// Runs `body` where the condition holds; null: always.
template <typename Body> LogicalResult runIf(BlockedThread &t, Value condition, Body body) {
  OpBuilder::InsertionGuard guard(t.b);
  if (condition)
    t.b.setInsertionPointToStart(scf::IfOp::create(t.b, t.loc, condition, /*withElseRegion=*/false).thenBlock());
  return body();
}

struct ConvertPrint : BlockedPattern<tile::PrintOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::PrintOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    BlockedThread t(rewriter, op.getLoc(), state);
    SmallVector<Value> values;
    for (ValueRange parts : adaptor.getValues())
      values.push_back(parts.front());
    bool hasTile = false;
    for (auto [n, value] : llvm::enumerate(op.getValues())) {
      auto tile = dyn_cast<RankedTensorType>(value.getType());
      if (!tile)
        continue;
      if (!blockedLayout(tile))
        return rewriter.notifyMatchFailure(op, "not a blocked tile");
      hasTile = true;
      for (int64_t number = 0; number < blockedLayout(tile).getNumRegisters(); ++number)
        if (failed(runIf(t, isOwn(t, tile, number), [&] { return printLine(t, op, values, n, number); })))
          return failure();
    }
    if (!hasTile && failed(runIf(t, isFirstThread(t), [&] { return printLine(t, op, values, values.size(), 0); })))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  /// The text with its scalars, and of the tile `which` the element of one register, after its coordinates.
  static LogicalResult printLine(BlockedThread &t, tile::PrintOp op, ArrayRef<Value> values, size_t which, int64_t number) {
    Reporter reporter(t, op);
    auto [text, rest] = op.getText().split("{}");
    bool isMarked = text.size() != op.getText().size();
    for (auto [n, value] : llvm::enumerate(values)) {
      reporter.add(isMarked ? text.str() : text.str() + " ");
      auto tile = dyn_cast<RankedTensorType>(op.getValues()[n].getType());
      if (!tile)
        reporter.add(value);
      else if (n != which)
        reporter.add("[...]");
      else
        printElement(t, reporter, tile, t.elementsOf(value)[number], number);
      StringRef behind = rest;
      std::tie(text, rest) = behind.split("{}");
      isMarked = text.size() != behind.size();
    }
    reporter.add(text.str() + (isMarked ? "{}" : "") + rest.str());
    return reporter.print();
  }

  static void printElement(BlockedThread &t, Reporter &reporter, RankedTensorType tile, Value element, int64_t number) {
    warp::BlockedAttr layout = blockedLayout(tile);
    for (int64_t axis = 0; axis < tile.getRank(); ++axis) {
      reporter.add(axis ? ", " : "[");
      reporter.add(t.add(t.coordinate(layout, axis), layout.getRegisterOffsets(axis)[number]));
    }
    reporter.add("] ");
    reporter.add(element);
  }
};

struct ConvertAssert : BlockedPattern<tile::AssertOp> {
  using BlockedPattern::BlockedPattern;

  LogicalResult matchAndRewrite(tile::AssertOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    BlockedThread t(rewriter, op.getLoc(), state);
    Value condition = adaptor.getCondition().front(), yes = t.constant(1, 1);
    auto negated = [&](Value flag) -> Value { return arith::XOrIOp::create(rewriter, op.getLoc(), flag, yes); };
    Value fails;
    if (auto tile = dyn_cast<RankedTensorType>(op.getCondition().getType())) {
      if (!blockedLayout(tile))
        return rewriter.notifyMatchFailure(op, "not a blocked tile");
      for (auto [number, flag] : llvm::enumerate(t.elementsOf(condition))) {
        Value each = t.both(negated(flag), isOwn(t, tile, number));
        fails = fails ? arith::OrIOp::create(rewriter, op.getLoc(), fails, each).getResult() : each;
      }
    } else {
      fails = t.both(negated(condition), isFirstThread(t));
    }
    std::string message = "assertion failed" + (op.getMessage().empty() ? "" : ": " + op.getMessage().str());
    auto report = [&] {
      if (!op.getValues().empty()) {
        Reporter line(t, op);
        StringRef text, rest = message;
        for (ValueRange value : adaptor.getValues()) {
          std::tie(text, rest) = rest.split("{}");
          line.add(text);
          line.add(value.front());
        }
        line.add(rest);
        if (failed(line.print()))
          return failure();
      }
      return Reporter(t, op).fail(message);
    };
    if (failed(runIf(t, fails, report)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tegula::populateDeviceReportPatterns(RewritePatternSet &patterns, const TypeConverter &types, KernelState &state) {
  patterns.add<ConvertPrint, ConvertAssert>(types, patterns.getContext(), state);
}
