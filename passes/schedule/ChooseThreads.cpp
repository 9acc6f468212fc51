// tegula-choose-threads: the threads of a tile program.
//
// In: tile sizes, overrides. Out: `schedule = #tile.program<threads = ..., ctas = ...>`. The one idea: a tile's elements are shared out evenly, so
// the largest tile decides how many threads keep it, and what is computed beside it, in registers.
#include "passes/Passes.h"
#include "passes/attention/ChooseSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace tegula {
#define GEN_PASS_DEF_CHOOSETHREADSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

struct ChooseThreadsPass : tegula::impl::ChooseThreadsPassBase<ChooseThreadsPass> {
  using ChooseThreadsPassBase::ChooseThreadsPassBase;

  void runOnOperation() override {
    if (getOperation()->hasAttr("schedule"))
      return;
    int64_t threads = 0, ctas = 0;
    SmallVector<std::string> texts; // the kernel's own clause first
    if (auto own = getOperation()->getAttrOfType<ArrayAttr>("tile.schedule"))
      for (StringAttr text : own.getAsRange<StringAttr>())
        texts.push_back(text.str());
    texts.append(overrides.begin(), overrides.end());
    for (StringRef text : texts) {
      auto [field, value] = text.split('=');
      int64_t *slot = field.trim() == "threads" ? &threads : field.trim() == "ctas" ? &ctas : nullptr;
      if (!slot)
        return fail(field.trim(), "field `" + field.trim() + "` of the schedule has no effect on a tile program; known: threads, ctas");
      if (value.trim().getAsInteger(10, *slot) || *slot == 0)
        return fail(field.trim(), "expected `" + field.trim() + "` of the schedule to be an integer above 0, but got `" + value.trim() + "`");
    }
    threads = threads ? threads : chooseThreads();
    ctas = ctas ? ctas : chooseCtas(threads);
    auto schedule = tile::ProgramAttr::getChecked([&] { return emitError(schedulePlace(getOperation(), overrides, "")); }, &getContext(), threads, ctas);
    if (!schedule)
      return signalPassFailure();
    getOperation()->setAttr("schedule", schedule);
    ++chosen;
  }

private:
  /// Registers of 32 bits that a tile takes in one thread of one.
  static int64_t words(RankedTensorType tile) { return llvm::divideCeil(tile.getNumElements() * tile.getElementTypeBitWidth(), 32); }

  /// A tile that matrix ops read from memory alone.
  static bool feedsProducts(Operation *op) {
    return isa<tile::LoadOp, tile::TransposeOp>(op) && !op->use_empty() &&
           llvm::all_of(op->getUsers(), [](Operation *user) { return isa<tile::DotOp>(user) || (isa<tile::TransposeOp>(user) && feedsProducts(user)); });
  }

  /// Made of lane numbers and scalars: made again where it is used.
  static bool isIndexCode(Operation *op) {
    if (isa<tile::IotaOp, tensor::SplatOp, arith::ConstantOp>(op))
      return true;
    return op->getNumOperands() > 0 && (op->hasTrait<OpTrait::Elementwise>() || isa<tile::BroadcastOp>(op)) &&
           llvm::all_of(op->getOperands(), [](Value operand) { return operand.getDefiningOp() && isIndexCode(operand.getDefiningOp()); });
  }

  /// The results of matrix ops may fill half of a thread's registers: few threads read less of the operands for each product. Elementwise code of results
  /// and what is repeated along them takes their place.
  int64_t chooseThreads() {
    int64_t threads = 128, results = 0;
    auto holdAtMost = [&](int64_t most, int64_t words) {
      while (threads < 512 && words > most * threads)
        threads *= 2;
    };
    llvm::DenseSet<Type> types;
    getOperation()->walk([&](tile::DotOp dot) {
      types.insert(dot.getType());
      results += words(dot.getType());
    });
    holdAtMost(128, results);
    llvm::DenseSet<Value> derived;
    auto isProduct = [&](Value value) {
      Operation *op = value.getDefiningOp(); // or what a loop or branch carries
      return derived.contains(value) || (types.contains(value.getType()) && (!op || op->getNumRegions() > 0 || isa<tile::DotOp>(op)));
    };
    getOperation()->walk([&](Operation *op) {
      auto isFree = [](Value operand) {
        Operation *maker = operand.getDefiningOp();
        return !isa<RankedTensorType>(operand.getType()) || (maker && (isa<tile::BroadcastOp>(maker) || isIndexCode(maker)));
      };
      bool isDerived = op->hasTrait<OpTrait::Elementwise>() && llvm::any_of(op->getOperands(), isProduct) &&
                       llvm::all_of(op->getOperands(), [&](Value operand) { return isProduct(operand) || isFree(operand); });
      for (Value result : op->getResults()) {
        if (isDerived)
          derived.insert(result);
        if (auto tile = dyn_cast<RankedTensorType>(result.getType()); tile && !isFree(result) && !feedsProducts(op) && !isProduct(result))
          holdAtMost(16, words(tile));
      }
    });
    return threads;
  }

  /// Room for 1280 threads or more where tiles are rows and take few registers: while memory holds up one CTA, another one works.
  int64_t chooseCtas(int64_t threads) {
    int64_t loaded = 0;
    bool onlyRows = true;
    getOperation()->walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tile = dyn_cast<RankedTensorType>(type))
          onlyRows &= tile.getRank() == 1;
      if (isa<tile::LoadOp, tile::GatherOp>(op))
        loaded += words(cast<RankedTensorType>(op->getResult(0).getType()));
    });
    return onlyRows && loaded <= 24 * threads ? std::min<int64_t>(llvm::divideCeil(1280, threads), 1536 / threads) : 1;
  }

  void fail(StringRef field, const Twine &message) {
    emitError(schedulePlace(getOperation(), overrides, field)) << message;
    signalPassFailure();
  }
};

} // namespace
