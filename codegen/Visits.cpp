// Masks in the words of the source. A mask's conditions are those that it is and-ed of; the bound of each is what BoxEvaluator, which moves the loop's ends, finds for a single row.
#include "codegen/Visits.h"

#include "lang/PrintScalar.h"
#include "passes/mask/BoxEvaluator.h"
#include "passes/mask/KeyOrder.h"
#include "passes/mask/OpaqueLookups.h"
#include "passes/mask/SortedReads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/FoldUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tegula;

/// Names of a kernel's arguments.
static llvm::DenseMap<Value, std::string> argumentNames(tile::KernelOp kernel) {
  llvm::DenseMap<Value, std::string> names;
  for (BlockArgument argument : kernel.getArguments())
    for (StringRef fact : {"tile.name", "tile.dim"})
      if (auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), fact))
        names[argument] = name.getValue().str();
  return names;
}

/// Past all keys is infinitely far.
static std::string withoutLimits(StringRef bound) {
  SmallVector<StringRef> parts;
  bound.split(parts, std::to_string(KeyBounds::beyond));
  return llvm::join(parts, "inf");
}

static void addConjuncts(Value condition, SmallVectorImpl<Value> &conjuncts) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return conjuncts.push_back(condition);
  addConjuncts(both.getLhs(), conjuncts);
  addConjuncts(both.getRhs(), conjuncts);
}

/// Of a region that takes, in this order, what `parameters` calls its arguments; the last one is the key.
static void describe(tile::KernelOp kernel, Region &region, ArrayRef<StringRef> parameters, Value keyEnd, MaskFacts &facts) {
  constexpr int64_t most = int64_t(1) << 31; // of an index
  llvm::DenseMap<Value, std::string> names = argumentNames(kernel);
  llvm::DenseMap<Value, IndexRange> known;
  for (BlockArgument argument : kernel.getArguments())
    if (kernel.getArgAttr(argument.getArgNumber(), "tile.dim"))
      known[argument] = {0, most};
  for (auto [argument, name] : llvm::zip_equal(region.getArguments(), parameters))
    names[argument] = name.str(), known[argument] = {0, most};
  DominanceInfo dominance;
  IRRewriter rewriter(kernel.getContext());
  OperationFolder folder(kernel.getContext());
  region.walk([&](Operation *op) { (void)folder.tryToFold(op); }); // the reduction of nothing, before the first element
  eliminateCommonSubExpressions(rewriter, dominance, region.getParentOp()); // as guards of divisions are recognised by their condition
  Operation *yield = region.front().getTerminator();
  Value key = region.getArguments().back(), visible = yield->getOperand(0);
  facts.seesPrefix &= seesPrefix(visible, key);
  SmallVector<Value> conjuncts;
  addConjuncts(visible, conjuncts);
  lang::ScalarPrinter printer(std::move(names));
  for (Value condition : conjuncts) {
    OpBuilder b(yield);
    IndexRanges ranges(known);
    BoxEvaluator box(b, yield->getLoc(), region, ranges);
    for (BlockArgument argument : region.getArguments().drop_back())
      box.set(argument, {argument, argument});
    (void)box.assumePositiveDivisors();
    KeyBounds keys = box.keyBounds(condition, key);
    Value row = region.getArguments().drop_back().back();
    MaskTerm term{printer.text(condition), {}, readsOpaqueTable(condition, row, key), listsKeys(region, row, key) && readsTable(condition, region), /*placedBy=*/""};
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (std::optional<SortedRead> read = compare ? SortedRead::match(compare, region, row, key, keyEnd) : std::nullopt)
      term.placedBy = printer.text(read->lookup.getTable());
    if (keys.lower)
      term.bounds.push_back(printer.from(parameters.back(), keys.lower));
    if (keys.upper)
      term.bounds.push_back(printer.below(parameters.back(), keys.upper));
    for (std::string &bound : term.bounds)
      bound = withoutLimits(bound);
    llvm::SetVector<Value> divisors(llvm::from_range, box.assumePositiveDivisors());
    for (Value divisor : divisors)
      if (!term.bounds.empty())
        term.bounds.back() += ", where " + printer.text(divisor) + " > 0";
    facts.terms.push_back(std::move(term));
  }
}

std::string MaskTerm::consequence() const {
  std::string text = bounds.empty() ? "" : "so " + llvm::join(bounds, " and ");
  if (!placedBy.empty())
    text += (text.empty() ? "so " : "; ") + std::string("where a row's keys begin and end in `") + placedBy + "` is found before the kernel";
  if (isLookedUp)
    text += (text.empty() ? "" : "; ") + std::string("blocks are looked up in a table found before the kernel");
  if (isSearched)
    text += (text.empty() ? "" : "; ") + std::string("blocks are found by the list of each row");
  return text.empty() ? "bounds no key by itself" : text;
}

/// Of the loop that a mask is in, if it is.
static Value endOfKeys(tile::MaskOp op) {
  auto loop = op->getParentOfType<tile::ForBlocksOp>();
  return loop ? loop.getUpper() : Value();
}

MaskFacts tegula::describeMasks(ModuleOp module) {
  MaskFacts facts;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    kernel->walk([&](tile::AttentionOp op) { describe(kernel, op.getMask(), {"b", "h", "g", "i", "j"}, op.getKeys(), facts); });
    kernel->walk([&](tile::MaskOp op) { describe(kernel, op.getBody(), {"i", "j"}, endOfKeys(op), facts); });
  }
  llvm::erase_if(facts.terms, [](const MaskTerm &term) { return term.condition == "true"; });
  return facts;
}
