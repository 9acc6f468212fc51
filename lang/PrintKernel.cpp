//===- PrintKernel.cpp - a tile program as source text --------------------===//
//
// A walk in program order. What is read more than once has a name, and so have
// loaded tiles and products; the rest is written where it is used. Emission
// follows the text, so the order of the program is kept.
//
//===----------------------------------------------------------------------===//
#include "lang/PrintKernel.h"
#include "lang/PrintKernelImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::lang;
using namespace tegula::tile;

LogicalResult tegula::lang::printKernel(KernelOp kernel,
                                        llvm::raw_ostream &os) {
  return KernelPrinter(kernel, os).run();
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// `(+ B 1)` as `B + 1`.
static std::string infix(StringRef &prefix) {
  prefix = prefix.ltrim();
  if (!prefix.consume_front("(")) {
    StringRef word =
        prefix.take_until([](char c) { return c == ' ' || c == ')'; });
    prefix = prefix.drop_front(word.size());
    return word.str();
  }
  StringRef sign = prefix.take_until([](char c) { return c == ' '; });
  prefix = prefix.drop_front(sign.size());
  SmallVector<std::string, 3> args;
  while (!prefix.ltrim().consume_front(")"))
    args.push_back(infix(prefix));
  prefix = prefix.ltrim().drop_front();
  bool isName = llvm::isAlpha(sign.front()) && sign != "neg";
  if (isName)
    return sign.str() + "(" + llvm::join(args, ", ") + ")";
  if (args.size() == 1)
    return (sign == "neg" ? "-" : sign.str()) + args[0];
  if (args.size() == 3)
    return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")";
  return "(" + args[0] + " " + sign.str() + " " + args[1] + ")";
}

void KernelPrinter::printTensor(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  os << names[argument] << ": ";
  auto memory = dyn_cast<MemRefType>(argument.getType());
  if (!memory) {
    os << typeName(argument.getType());
    return;
  }
  auto elem = kernel.getArgAttrOfType<StringAttr>(number, "tile.elem");
  os << (elem ? elem.str() : typeName(memory.getElementType())) << "[";
  auto dims = kernel.getArgAttrOfType<ArrayAttr>(number, "tile.dims");
  llvm::interleaveComma(dims, os, [&](Attribute dim) {
    if (auto extent = dyn_cast<IntegerAttr>(dim)) {
      os << extent.getInt();
      return;
    }
    StringRef prefix = cast<StringAttr>(dim).getValue();
    std::string text = infix(prefix);
    os << (text.front() == '(' ? text.substr(1, text.size() - 2) : text);
  });
  os << "]";
  if (kernel.getArgAttr(number, "tile.sorted"))
    os << " sorted";
  if (auto range = kernel.getArgAttrOfType<ArrayAttr>(number, "tile.range")) {
    StringRef low = cast<StringAttr>(range[0]).getValue();
    StringRef high = cast<StringAttr>(range[1]).getValue();
    os << " in " << infix(low) << ".." << infix(high);
  }
}

void KernelPrinter::printSignature() {
  SmallVector<BlockArgument> inputs, outputs;
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto dim = kernel.getArgAttrOfType<StringAttr>(number, "tile.dim");
    auto name =
        dim ? dim : kernel.getArgAttrOfType<StringAttr>(number, "tile.name");
    names[argument] = name.str();
    taken.insert(name.getValue());
    if (dim)
      continue;
    auto role = kernel.getArgAttrOfType<StringAttr>(number, "tile.role");
    (role && role.getValue() == "out" ? outputs : inputs).push_back(argument);
  }
  os << "kernel " << kernel.getSymName() << "(";
  llvm::interleaveComma(inputs, os, [&](BlockArgument a) { printTensor(a); });
  os << ") -> (";
  llvm::interleaveComma(outputs, os, [&](BlockArgument a) { printTensor(a); });
  os << ") {\n";
}

/// The fields that a tile program does not fix itself.
void KernelPrinter::printSchedule() {
  auto schedule = kernel->getAttrOfType<ScheduleAttr>("schedule");
  if (!schedule || schedule.getForm() == Form::Sequential)
    return;
  line() << "schedule { form = " << stringifyForm(schedule.getForm());
  if (schedule.getForm() == Form::Pipelined)
    os << ", stages = " << schedule.getStages()
       << ", q_stages = " << schedule.getQStages()
       << ", producer_registers = " << schedule.getProducerRegisters()
       << ", consumer_registers = " << schedule.getConsumerRegisters()
       << ", ping_pong = " << (schedule.getPingPong() ? "true" : "false")
       << ", tiles = " << stringifyTileOrder(schedule.getTiles())
       << ", overlap = " << (schedule.getOverlap() ? "true" : "false")
       << ", walk = " << stringifyWalk(schedule.getWalk())
       << ", polynomial = " << schedule.getPolynomial()
       << ", half_blocks = " << (schedule.getHalfBlocks() ? "true" : "false")
       << ", epilogue = " << stringifyEpilogue(schedule.getEpilogue());
  os << ", softmax = " << stringifySoftmaxForm(schedule.getSoftmax()) << " }\n";
}

LogicalResult KernelPrinter::run() {
  printSignature();
  printSchedule();
  if (auto list = kernel->getAttrOfType<ArrayAttr>("tile.requires"))
    for (auto demand : list.getAsRange<DictionaryAttr>()) {
      StringRef prefix = cast<StringAttr>(demand.get("expr")).getValue();
      line() << "require " << infix(prefix) << "\n";
    }
  if (failed(printBlock(kernel.getBody().front())))
    return failure();
  os << "}\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

std::string KernelPrinter::fresh(StringRef hint) {
  std::string name = hint.str();
  for (unsigned i = 1; !taken.insert(name).second; ++i)
    name = (hint + Twine(i)).str();
  return name;
}

void KernelPrinter::let(Value value, StringRef hint, const Twine &text) {
  std::string name = fresh(hint);
  line() << "let " << name << " = " << text << "\n";
  names[value] = name;
}

LogicalResult KernelPrinter::printBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!written.contains(&op) && failed(print(op)))
      return failure();
  return success();
}

bool tegula::lang::isInline(Operation &op) {
  // Values that no row sees are a part of masked products, and not written.
  if (op.hasTrait<OpTrait::ConstantLike>() || isa<MaskOp, ZeroUnseenOp>(op) ||
      llvm::all_of(op.getUsers(), llvm::IsaPred<ZeroUnseenOp>))
    return true;
  bool isHere = llvm::all_of(op.getUsers(), [&](Operation *user) {
    return user->getBlock() == op.getBlock();
  });
  return isSpelledOut(op) || (op.hasOneUse() && isHere);
}

/// Whether a loaded tile is written in the product that reads it, to which
/// nothing writes memory on the way.
static bool isLoadedForProduct(Operation &op) {
  Operation *user = *op.getUsers().begin();
  if (isa<ZeroUnseenOp>(user) && user->hasOneUse())
    user = *user->getUsers().begin();
  if (!isa<DotOp>(user) || user->getBlock() != op.getBlock())
    return false;
  auto between =
      llvm::make_range(std::next(op.getIterator()), user->getIterator());
  return llvm::none_of(between, [](Operation &other) {
    return !isa<LoadOp, MaskOp, MapOp>(other) && !isMemoryEffectFree(&other);
  });
}

/// The carried value that `op` makes next, as its index, where nothing reads
/// the old one afterwards.
static std::optional<unsigned> carriedIndex(Operation &op) {
  auto loop = dyn_cast<ForBlocksOp>(op.getParentOp());
  if (!loop || op.getNumResults() != 1)
    return std::nullopt;
  Operation *yield = loop.getBody().front().getTerminator();
  for (auto [index, next] : llvm::enumerate(yield->getOperands()))
    if (next == op.getResult(0) && loop.getIterArgs()[index].hasOneUse() &&
        llvm::is_contained(op.getOperands(), loop.getIterArgs()[index]))
      return index;
  return std::nullopt;
}

LogicalResult KernelPrinter::print(Operation &op) {
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return printGrid(id);
  if (auto store = dyn_cast<StoreOp>(op))
    return printStore(store);
  if (auto loop = dyn_cast<ForBlocksOp>(op))
    return printLoop(loop);
  if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
    return printSoftmax(softmax);
  if (auto finish = dyn_cast<FinishOp>(op))
    return nameResults(finish);
  if (auto merge = dyn_cast<MergeOp>(op))
    return printMerge(merge);
  if (op.getNumResults() != 1 ||
      (op.getNumRegions() != 0 && !isa<MaskOp, MapOp, ZeroUnseenOp>(op)))
    return op.emitError("`")
           << op.getName() << "` has no text in the kernel language";
  if (auto max = maxima.find(&op); max != maxima.end()) {
    let(op.getResult(0), "top", max->second);
    return success();
  }
  if (std::optional<unsigned> index = carriedIndex(op)) {
    FailureOr<Text> text = operation(&op);
    if (failed(text))
      return failure();
    auto loop = cast<ForBlocksOp>(op.getParentOp());
    std::string name = names[loop.getIterArgs()[*index]];
    line() << name << " = " << text->text << "\n";
    names[op.getResult(0)] = name;
    return success();
  }
  bool hasName = isa<DotOp, MapOp>(op) || !isInline(op) ||
                 (isa<LoadOp>(op) && !isLoadedForProduct(op));
  return hasName ? define(op.getResult(0)) : success();
}

LogicalResult KernelPrinter::define(Value value) {
  Operation *op = value.getDefiningOp();
  StringRef hint = isa<DotOp>(op)                           ? "S"
                   : isa<arith::DivSIOp>(op)                ? "g"
                   : isa<RankedTensorType>(value.getType()) ? "y"
                                                            : "x";
  std::string memory;
  if (auto load = dyn_cast<LoadOp>(op))
    hint = memory = nameOf(load.getMemory()).upper();
  FailureOr<Text> text = operation(op);
  if (failed(text))
    return failure();
  let(value, hint, text->text);
  return success();
}

LogicalResult KernelPrinter::printGrid(ProgramIdOp id) {
  static constexpr StringLiteral hints[] = {"m", "h", "b"};
  std::string axes;
  for (auto [i, index] : llvm::enumerate(id.getIndices())) {
    names[index] = fresh(i < std::size(hints) ? hints[i] : "x");
    FailureOr<Text> extent = expression(id.getExtents()[i]);
    if (failed(extent))
      return failure();
    axes += (i ? ", " : "") + names[index] + " in " + extent->text;
  }
  line() << "grid (" << axes << ")\n";
  return success();
}

LogicalResult KernelPrinter::printStore(StoreOp store) {
  if (store.getMask())
    return store.emitError("a masked store has no text in the kernel language "
                           "yet");
  // A store rounds by itself, and bools are bytes in memory.
  Value tile = store.getTile();
  if (isa_and_nonnull<arith::TruncFOp, arith::ExtUIOp>(tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  FailureOr<std::string> to = place(store.getMemory(), store.getIndices(),
                                    store.getAxes(), store.getTile().getType());
  FailureOr<Text> value = expression(tile);
  if (failed(to) || failed(value))
    return failure();
  line() << "store " << *to << " = " << value->text << "\n";
  return success();
}

/// The online softmax whose state a loop carries as three values, its maximum
/// the first of them; null where there is none.
static OnlineSoftmaxOp carriedState(ForBlocksOp loop, unsigned first) {
  ArrayRef<BlockArgument> carried = loop.getIterArgs();
  if (first + 3 > carried.size())
    return {};
  for (auto softmax : loop.getBody().front().getOps<OnlineSoftmaxOp>())
    if (softmax.getMax() == carried[first] &&
        softmax.getSum() == carried[first + 1])
      return softmax;
  return {};
}

void KernelPrinter::nameState(Value max, Value sum, Value acc, StringRef name,
                              double scale) {
  states[max] = states[sum] = states[acc] = name.str();
  names[sum] = "rowsum(" + name.str() + ")";
  if (scale == 1.0)
    nameMax(max, sum, name);
  // In natural units.
  for (Operation *user : max.getUsers()) {
    APFloat factor(0.0);
    if (isa<arith::MulFOp>(user) &&
        matchPattern(user->getOperand(1), m_ConstantFloat(&factor)) &&
        factor.convertToDouble() == scale) {
      states[user->getResult(0)] = name.str();
      written.insert(user);
      nameMax(user->getResult(0), sum, name);
    }
  }
}

/// `rowmax` is the running maximum, or the sum where that is NaN.
void KernelPrinter::nameMax(Value max, Value sum, StringRef name) {
  for (Operation *user : max.getUsers()) {
    auto select = dyn_cast<arith::SelectOp>(user);
    if (!select || select.getTrueValue() != sum)
      continue;
    maxima[select] = "rowmax(" + name.str() + ")";
    written.insert(select.getCondition().getDefiningOp());
  }
}

LogicalResult KernelPrinter::printLoop(ForBlocksOp loop) {
  FailureOr<Text> lower = expression(loop.getLower());
  FailureOr<Text> upper = expression(loop.getUpper());
  if (failed(lower) || failed(upper))
    return failure();
  ArrayRef<BlockArgument> carried = loop.getIterArgs();
  for (unsigned i = 0; i < carried.size(); ++i) {
    if (OnlineSoftmaxOp softmax = carriedState(loop, i)) {
      auto acc = cast<RankedTensorType>(carried[i + 2].getType());
      std::string name = fresh("st");
      line() << "var " << name << " = softmax_state(" << acc.getDimSize(0)
             << ", " << acc.getDimSize(1) << ")\n";
      states[softmax.getMax()] = name;
      nameState(loop.getResult(i), loop.getResult(i + 1), loop.getResult(i + 2),
                name, softmax.getScale().convertToDouble());
      i += 2;
      continue;
    }
    FailureOr<Text> init = full(loop.getInits()[i]);
    if (failed(init))
      return failure();
    auto type = dyn_cast<RankedTensorType>(carried[i].getType());
    std::string name = fresh(type && type.getRank() == 2 ? "acc" : "total");
    line() << "var " << name << " = " << init->text << "\n";
    names[carried[i]] = names[loop.getResult(i)] = name;
  }
  names[loop.getInductionVar()] = fresh("n");
  line() << "for " << names[loop.getInductionVar()] << " in range("
         << lower->text << ", " << upper->text << ", " << loop.getStep()
         << ") {\n";
  llvm::StringMap<std::string> outside = indexTiles;
  ++indent;
  if (failed(printBlock(loop.getBody().front())))
    return failure();
  --indent;
  indexTiles = std::move(outside);
  line() << "}\n";
  // What is carried on has been assigned.
  for (auto [argument, next] : llvm::zip(
           carried, loop.getBody().front().getTerminator()->getOperands()))
    if (names.count(argument) && names.lookup(argument) != names.lookup(next))
      return loop.emitError("a carried value has no text in the kernel "
                            "language yet");
  return success();
}

/// The factor of a map `y = weight == 0 ? 0 : weight * factor`.
FailureOr<Text> KernelPrinter::weightOf(Value weighted, Value weights) {
  if (auto op = weighted.getDefiningOp<MapOp>()) {
    Block &body = op.getBody().front();
    auto select =
        body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
    auto product = select
                       ? select.getFalseValue().getDefiningOp<arith::MulFOp>()
                       : arith::MulFOp();
    if (product && op.getInputs().front() == weights &&
        product.getLhs() == body.getArgument(0)) {
      written.insert(op);
      return expression(product.getRhs());
    }
  }
  return emitError(weighted.getLoc(),
                   "weights that are changed on their way to the output have "
                   "no text in the kernel language yet");
}

/// The softmax with what follows it in a block: rescale and output product.
LogicalResult KernelPrinter::printSoftmax(OnlineSoftmaxOp softmax) {
  DotOp output;
  for (DotOp dot : softmax->getBlock()->getOps<DotOp>())
    if (dot.getAcc() && dot.getAcc().getDefiningOp<ScaleRowsOp>())
      output = dot;
  if (!output)
    return softmax.emitError("a softmax without its output product has no text "
                             "in the kernel language yet");
  Value weights = output.getLhs();
  if (auto round = weights.getDefiningOp<arith::TruncFOp>())
    weights = round.getIn();
  std::string keep, weight;
  Value scores = softmax.getScores();
  if (auto select = scores.getDefiningOp<arith::SelectOp>()) {
    auto visible = select.getCondition().getDefiningOp<MaskOp>();
    if (!visible || writtenCondition(visible)) {
      FailureOr<Text> text = expression(select.getCondition());
      if (failed(text))
        return failure();
      keep = ", keep = " + text->text;
    }
    scores = select.getTrueValue();
  }
  FailureOr<Text> s = expression(scores);
  if (failed(s))
    return failure();
  double scale = softmax.getScale().convertToDouble();
  std::string scaled = s->text;
  if (scale != 1.0)
    scaled =
        s->bracketed() + " * " +
        constant(FloatAttr::get(Float64Type::get(kernel.getContext()), scale))
            .text;
  if (weights != softmax.getWeights()) {
    FailureOr<Text> text = weightOf(weights, softmax.getWeights());
    if (failed(text))
      return failure();
    weight = ", weight = " + text->text;
  }
  // That hidden values enter no product is part of `online_softmax`.
  Value values = output.getRhs();
  if (auto zero = values.getDefiningOp<ZeroUnseenOp>()) {
    written.insert(zero);
    values = zero.getTile();
  }
  FailureOr<Text> v = expression(values);
  if (failed(v))
    return failure();
  if (Operation *load = values.getDefiningOp())
    written.insert(load);
  written.insert(output);
  written.insert(output.getAcc().getDefiningOp());
  StringRef state = states[softmax.getMax()];
  line() << state << " = online_softmax(" << state << ", " << scaled << ", "
         << v->text << keep << weight << ")\n";
  return success();
}

LogicalResult KernelPrinter::nameResults(FinishOp finish) {
  auto state = states.find(finish.getMax());
  if (state == states.end())
    return finish.emitError("the kernel language has no words for this state");
  names[finish.getOutput()] = "finish(" + state->second + ")";
  names[finish.getLse()] = "lse(" + state->second + ")";
  return success();
}

/// `merge(st, partial(o, lse))`: the second state has the sum 1, or 0 where it
/// saw no key.
LogicalResult KernelPrinter::printMerge(MergeOp merge) {
  auto state = states.find(merge.getMaxA());
  auto sum = merge.getSumB().getDefiningOp<arith::SelectOp>();
  auto none =
      sum ? sum.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (state == states.end() || !none || none.getLhs() != merge.getMaxB())
    return merge.emitError("the kernel language has no words for this state");
  std::string first = state->second;
  FailureOr<Text> output = full(merge.getAccB()), lse = full(merge.getMaxB());
  if (failed(output) || failed(lse))
    return failure();
  std::string name = fresh("st");
  line() << "let " << name << " = merge(" << first << ", partial("
         << output->text << ", " << lse->text << "))\n";
  nameState(merge.getMax(), merge.getSum(), merge.getAcc(), name,
            merge.getScale().convertToDouble());
  return success();
}
