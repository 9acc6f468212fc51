//===- PrintKernel.cpp - a tile program as source text --------------------===//
//
// A walk in program order. What memory and matrix operations give has a name;
// scalar and elementwise code is written where it is used. The element code of
// a mask or a map is written as code on tiles: its row index as a column of
// indices, its key index as a row.
//
//===----------------------------------------------------------------------===//
#include "lang/PrintKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Text of an expression; an atom needs no brackets.
struct Text {
  std::string text;
  bool isAtom = true;

  std::string bracketed() const { return isAtom ? text : "(" + text + ")"; }
};

class KernelPrinter {
public:
  KernelPrinter(KernelOp kernel, llvm::raw_ostream &os)
      : kernel(kernel), os(os) {}

  LogicalResult run();

private:
  //===-- signature -------------------------------------------------------===//
  void printSignature();
  void printTensor(BlockArgument argument);
  std::string infix(StringRef &prefix);
  void printSchedule();

  //===-- statements ------------------------------------------------------===//
  LogicalResult printBlock(Block &block, unsigned indent);
  LogicalResult print(Operation &op, unsigned indent);
  LogicalResult printLoop(ForBlocksOp loop, unsigned indent);
  LogicalResult printSoftmax(OnlineSoftmaxOp softmax, unsigned indent);
  llvm::raw_ostream &line(unsigned indent) { return os.indent(2 * indent); }
  void define(Value value, StringRef hint, const Twine &text, unsigned indent);
  std::string fresh(StringRef hint);

  //===-- expressions -----------------------------------------------------===//
  FailureOr<Text> expression(Value value);
  FailureOr<Text> operation(Operation *op);
  FailureOr<Text> quotient(arith::SelectOp select);
  FailureOr<Text> element(Region &region);
  FailureOr<Text> binary(Operation *op, StringRef sign);
  FailureOr<Text> call(StringRef callee, ValueRange operands);
  FailureOr<std::string> place(Value memory, ValueRange indices,
                               ArrayRef<int64_t> axes, RankedTensorType tile);
  FailureOr<Text> lookup(LookupOp op);
  Text constant(Attribute value, Type type);
  StringRef nameOf(Value memory) { return names.find(memory)->second; }

  KernelOp kernel;
  llvm::raw_ostream &os;
  llvm::StringSet<> taken;
  DenseMap<Value, std::string> names;  ///< arguments and definitions
  DenseMap<Value, Text> elements;      ///< of region arguments, as tile code
  DenseMap<Value, unsigned> axesOf;    ///< bit 0: varies down, bit 1: across
  ArrayRef<int64_t> shape;             ///< of the map that is being written
  DenseSet<Operation *> written;       ///< part of an operation already printed
};

} // namespace

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text == "i1" ? "bool" : text;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// `(+ B 1)` as `B + 1`.
std::string KernelPrinter::infix(StringRef &prefix) {
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
  line(1) << "schedule { form = " << stringifyForm(schedule.getForm());
  if (schedule.getForm() == Form::Pipelined)
    os << ", stages = " << schedule.getStages()
       << ", q_stages = " << schedule.getQStages()
       << ", producer_registers = " << schedule.getProducerRegisters()
       << ", consumer_registers = " << schedule.getConsumerRegisters()
       << ", ping_pong = " << (schedule.getPingPong() ? "true" : "false")
       << ", tiles = " << stringifyTileOrder(schedule.getTiles());
  os << ", softmax = " << stringifySoftmaxForm(schedule.getSoftmax()) << " }\n";
}

LogicalResult KernelPrinter::run() {
  printSignature();
  printSchedule();
  if (auto list = kernel->getAttrOfType<ArrayAttr>("tile.requires"))
    for (auto demand : list.getAsRange<DictionaryAttr>()) {
      StringRef prefix = cast<StringAttr>(demand.get("expr")).getValue();
      line(1) << "require " << infix(prefix) << "\n";
    }
  if (failed(printBlock(kernel.getBody().front(), 1)))
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

void KernelPrinter::define(Value value, StringRef hint, const Twine &text,
                           unsigned indent) {
  std::string name = fresh(hint);
  line(indent) << "let " << name << " = " << text << "\n";
  names[value] = name;
}

LogicalResult KernelPrinter::printBlock(Block &block, unsigned indent) {
  for (Operation &op : block.without_terminator())
    if (!written.contains(&op) && failed(print(op, indent)))
      return failure();
  return success();
}

LogicalResult KernelPrinter::print(Operation &op, unsigned indent) {
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    static constexpr StringLiteral hints[] = {"m", "h", "b"};
    line(indent) << "grid (";
    for (auto [i, pair] :
         llvm::enumerate(llvm::zip(id.getIndices(), id.getExtents()))) {
      auto [index, extent] = pair;
      names[index] = fresh(i < std::size(hints) ? hints[i] : "x");
      FailureOr<Text> text = expression(extent);
      if (failed(text))
        return failure();
      os << (i ? ", " : "") << names[index] << " in " << text->text;
    }
    os << ")\n";
    return success();
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    FailureOr<std::string> from =
        place(load.getMemory(), load.getIndices(), load.getAxes(),
              load.getTile().getType());
    if (failed(from))
      return failure();
    std::string hint = nameOf(load.getMemory()).upper();
    define(load.getTile(), hint, "load " + *from, indent);
    return success();
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    // A store rounds by itself.
    Value tile = store.getTile();
    if (auto narrow = tile.getDefiningOp<arith::TruncFOp>())
      tile = narrow.getIn();
    FailureOr<std::string> to =
        place(store.getMemory(), store.getIndices(), store.getAxes(),
              store.getTile().getType());
    FailureOr<Text> value = expression(tile);
    if (failed(to) || failed(value))
      return failure();
    line(indent) << "store " << *to << " = " << value->text << "\n";
    return success();
  }
  if (auto dot = dyn_cast<DotOp>(op)) {
    FailureOr<Text> lhs = expression(dot.getLhs());
    FailureOr<Text> rhs = expression(dot.getRhs());
    FailureOr<Text> acc = dot.getAcc() ? expression(dot.getAcc()) : Text();
    if (failed(lhs) || failed(rhs) || failed(acc))
      return failure();
    std::string right =
        dot.getTransposeB() ? "transpose(" + rhs->text + ")" : rhs->text;
    define(dot.getResult(), "S",
           "dot(" + lhs->text + ", " + right +
               (dot.getAcc() ? ", " + acc->text : "") + ")",
           indent);
    return success();
  }
  if (auto map = dyn_cast<MapOp>(op)) {
    FailureOr<Text> value = expression(map.getResult());
    if (failed(value))
      return failure();
    define(map.getResult(), "y", value->text, indent);
    return success();
  }
  if (auto loop = dyn_cast<ForBlocksOp>(op))
    return printLoop(loop, indent);
  if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
    return printSoftmax(softmax, indent);
  if (auto finish = dyn_cast<FinishOp>(op)) {
    auto state = names.find(finish.getMax());
    if (state == names.end())
      return op.emitError("the kernel language has no words for this state");
    names[finish.getOutput()] = "finish(" + state->second + ")";
    names[finish.getLse()] = "lse(" + state->second + ")";
    return success();
  }
  // A place that is used again gets a name; everything else is written where
  // it is used.
  bool isPlace = isa<arith::MulIOp>(op);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    isPlace = succeeded(quotient(select));
  if (isPlace && op.getResult(0).getType().isInteger(64) &&
      !op.getResult(0).hasOneUse()) {
    FailureOr<Text> text = operation(&op);
    if (failed(text))
      return failure();
    define(op.getResult(0), "x", text->text, indent);
    return success();
  }
  if (op.getNumRegions() == 0 || isa<MaskOp>(op))
    return success();
  return op.emitError("`") << op.getName()
                           << "` has no text in the kernel language";
}

LogicalResult KernelPrinter::printLoop(ForBlocksOp loop, unsigned indent) {
  Block &body = loop.getBody().front();
  auto softmaxes = body.getOps<OnlineSoftmaxOp>();
  if (!llvm::hasSingleElement(softmaxes) || loop.getNumResults() != 3)
    return loop.emitError("only a loop whose state is one online softmax has "
                          "text in the kernel language yet");
  OnlineSoftmaxOp softmax = *softmaxes.begin();
  FailureOr<Text> lower = expression(loop.getLower());
  FailureOr<Text> upper = expression(loop.getUpper());
  if (failed(lower) || failed(upper))
    return failure();
  auto acc = cast<RankedTensorType>(loop.getResult(2).getType());
  std::string state = fresh("st");
  names[softmax.getMax()] = state;
  names[loop.getResult(0)] = state;
  names[loop.getInductionVar()] = fresh("n");
  line(indent) << "var " << state << " = softmax_state(" << acc.getDimSize(0)
               << ", " << acc.getDimSize(1) << ")\n";
  line(indent) << "for " << names[loop.getInductionVar()] << " in range("
               << lower->text << ", " << upper->text << ", " << loop.getStep()
               << ") {\n";
  if (failed(printBlock(body, indent + 1)))
    return failure();
  line(indent) << "}\n";
  return success();
}

/// The softmax with what follows it in a block: rescale and output product.
LogicalResult KernelPrinter::printSoftmax(OnlineSoftmaxOp softmax,
                                          unsigned indent) {
  DotOp output;
  for (DotOp dot : softmax->getBlock()->getOps<DotOp>())
    if (dot.getAcc() && dot.getAcc().getDefiningOp<ScaleRowsOp>())
      output = dot;
  auto round = output ? output.getLhs().getDefiningOp<arith::TruncFOp>()
                      : arith::TruncFOp();
  Value weights = !output ? Value() : round ? round.getIn() : output.getLhs();
  if (!weights || weights != softmax.getWeights())
    return softmax.emitError("weights that are changed on their way to the "
                             "output have no text in the kernel language yet");
  Value scores = softmax.getScores();
  Text keep;
  if (auto select = scores.getDefiningOp<arith::SelectOp>()) {
    FailureOr<Text> mask = expression(select.getCondition());
    if (failed(mask))
      return failure();
    keep = *mask;
    scores = select.getTrueValue();
  }
  FailureOr<Text> s = expression(scores);
  if (failed(s))
    return failure();
  // The values may be loaded behind the softmax.
  Value right = output.getRhs();
  // That hidden values enter no product is part of `online_softmax`.
  if (auto zero = right.getDefiningOp<ZeroUnseenOp>()) {
    written.insert(zero);
    right = zero.getTile();
  }
  auto values = right.getDefiningOp<LoadOp>();
  if (!values)
    return output.emitError("expected loaded values");
  if (!names.contains(values.getTile()) && failed(print(*values, indent)))
    return failure();
  for (Operation *op : {values.getOperation(), output.getOperation(),
                        output.getAcc().getDefiningOp()})
    written.insert(op);
  double scale = softmax.getScale().convertToDouble();
  std::string scaled = s->text;
  if (scale != 1.0)
    scaled = s->bracketed() + " * " +
             constant(FloatAttr::get(Float64Type::get(softmax.getContext()), scale),
                      Float64Type::get(softmax.getContext()))
                 .text;
  StringRef state = names[softmax.getMax()];
  line(indent) << state << " = online_softmax(" << state << ", " << scaled
               << ", " << names[values.getTile()];
  if (!keep.text.empty())
    os << ", keep = " << keep.text;
  os << ")\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Text KernelPrinter::constant(Attribute value, Type type) {
  if (auto dense = dyn_cast<SplatElementsAttr>(value))
    value = dense.getSplatValue<Attribute>();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    if (number.getType().isInteger(1))
      return {number.getValue().isZero() ? "false" : "true"};
    stream << number.getInt();
    return {text, number.getInt() >= 0};
  }
  APFloat real = cast<FloatAttr>(value).getValue();
  if (real.isInfinity())
    return {real.isNegative() ? "-inf" : "inf", !real.isNegative()};
  SmallString<32> digits;
  real.toString(digits, /*FormatPrecision=*/17, /*FormatMaxPadding=*/0);
  StringRef number = digits;
  if (!number.contains('.'))
    digits.insert(llvm::find_if(digits, [](char c) { return c == 'E'; }),
                  {'.', '0'});
  return {std::string(digits), !real.isNegative()};
}

FailureOr<Text> KernelPrinter::expression(Value value) {
  if (auto it = names.find(value); it != names.end())
    return Text{it->second};
  if (auto it = elements.find(value); it != elements.end())
    return it->second;
  if (Operation *op = value.getDefiningOp())
    return operation(op);
  return emitError(value.getLoc(), "a carried value has no text in the kernel "
                                   "language yet");
}

FailureOr<Text> KernelPrinter::binary(Operation *op, StringRef sign) {
  FailureOr<Text> x = expression(op->getOperand(0));
  FailureOr<Text> y = expression(op->getOperand(1));
  if (failed(x) || failed(y))
    return failure();
  return Text{x->bracketed() + " " + sign.str() + " " + y->bracketed(), false};
}

FailureOr<Text> KernelPrinter::call(StringRef callee, ValueRange operands) {
  std::string text = callee.str() + "(";
  for (auto [i, operand] : llvm::enumerate(operands)) {
    FailureOr<Text> x = expression(operand);
    if (failed(x))
      return failure();
    text += (i ? ", " : "") + x->text;
  }
  return Text{text + ")"};
}

/// `y == 0 ? 0 : x / (y == 0 ? 1 : y)`, which is how a quotient of the language
/// reads once it is spelled out.
FailureOr<Text> KernelPrinter::quotient(arith::SelectOp select) {
  auto isZero = select.getCondition().getDefiningOp<arith::CmpIOp>();
  Operation *division = select.getFalseValue().getDefiningOp();
  if (!isZero || isZero.getPredicate() != arith::CmpIPredicate::eq ||
      !isa_and_nonnull<arith::DivSIOp, arith::FloorDivSIOp>(division))
    return failure();
  auto safe = division->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!safe || safe.getCondition() != isZero ||
      safe.getFalseValue() != isZero.getLhs())
    return failure();
  FailureOr<Text> x = expression(division->getOperand(0));
  FailureOr<Text> y = expression(isZero.getLhs());
  if (failed(x) || failed(y))
    return failure();
  return Text{x->bracketed() + " / " + y->bracketed(), false};
}

FailureOr<Text> KernelPrinter::operation(Operation *op) {
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    return constant(constantOp.getValue(), constantOp.getType());
  if (auto mask = dyn_cast<MaskOp>(op)) {
    auto type = mask.getKeep().getType();
    Region &body = mask.getBody();
    FailureOr<Text> rows = expression(mask.getRows());
    FailureOr<Text> cols = expression(mask.getCols());
    if (failed(rows) || failed(cols))
      return failure();
    shape = type.getShape();
    elements[body.getArgument(0)] = {
        "col(" + rows->bracketed() + " + iota(" +
        std::to_string(type.getDimSize(0)) + "))"};
    elements[body.getArgument(1)] = {
        "row(" + cols->bracketed() + " + iota(" +
        std::to_string(type.getDimSize(1)) + "))"};
    axesOf[body.getArgument(0)] = 1;
    axesOf[body.getArgument(1)] = 2;
    return element(body);
  }
  if (auto map = dyn_cast<MapOp>(op)) {
    auto type = cast<RankedTensorType>(map.getResult().getType());
    Region &body = map.getBody();
    FailureOr<Text> rows = expression(map.getRows());
    FailureOr<Text> cols =
        map.getCols() ? expression(map.getCols()) : FailureOr<Text>(Text());
    if (failed(rows) || failed(cols))
      return failure();
    shape = type.getShape();
    unsigned number = 0;
    for (Value input : map.getInputs()) {
      FailureOr<Text> text = expression(input);
      if (failed(text))
        return failure();
      bool isRow = cast<RankedTensorType>(input.getType()).getRank() == 1;
      elements[body.getArgument(number)] =
          isRow && type.getRank() == 2 ? Text{"col(" + text->text + ")"} : *text;
      axesOf[body.getArgument(number++)] = isRow ? 1 : 3;
    }
    std::string down = rows->bracketed() + " + iota(" +
                       std::to_string(type.getDimSize(0)) + ")";
    elements[body.getArgument(number)] =
        type.getRank() == 2 ? Text{"col(" + down + ")"} : Text{down, false};
    axesOf[body.getArgument(number)] = 1;
    if (map.getCols()) {
      elements[body.getArgument(number + 1)] = {
          "row(" + cols->bracketed() + " + iota(" +
          std::to_string(type.getDimSize(1)) + "))"};
      axesOf[body.getArgument(number + 1)] = 2;
    }
    return element(body);
  }
  if (auto look = dyn_cast<LookupOp>(op))
    return lookup(look);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    FailureOr<Text> text = quotient(select);
    return succeeded(text) ? text : call("where", op->getOperands());
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    static constexpr StringLiteral signs[] = {"==", "!=", "<", "<=", ">", ">="};
    if (static_cast<unsigned>(compare.getPredicate()) < std::size(signs))
      return binary(op, signs[static_cast<unsigned>(compare.getPredicate())]);
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    using F = arith::CmpFPredicate;
    StringRef sign = llvm::StringSwitch<StringRef>(
                         arith::stringifyCmpFPredicate(compare.getPredicate()))
                         .Case("oeq", "==")
                         .Case("une", "!=")
                         .Case("olt", "<")
                         .Case("ole", "<=")
                         .Case("ogt", ">")
                         .Case("oge", ">=")
                         .Default("");
    if (!sign.empty())
      return binary(op, sign);
  }
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One())) {
    FailureOr<Text> x = expression(op->getOperand(0));
    return failed(x) ? x : FailureOr<Text>(Text{"!" + x->bracketed()});
  }
  if (isa<arith::NegFOp>(op)) {
    FailureOr<Text> x = expression(op->getOperand(0));
    return failed(x) ? x : FailureOr<Text>(Text{"-" + x->bracketed(), false});
  }
  bool isBool = op->getNumResults() == 1 &&
                getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
  StringRef sign =
      llvm::TypeSwitch<Operation *, StringRef>(op)
          .Case<arith::AddIOp, arith::AddFOp>([](auto) { return "+"; })
          .Case<arith::SubIOp, arith::SubFOp>([](auto) { return "-"; })
          .Case<arith::MulIOp, arith::MulFOp>([](auto) { return "*"; })
          .Case<arith::DivFOp>([](auto) { return "/"; })
          .Case<arith::DivSIOp, arith::FloorDivSIOp>([](auto) { return "/"; })
          .Case<arith::AndIOp>([&](auto) { return isBool ? "&&" : "&"; })
          .Case<arith::OrIOp>([&](auto) { return isBool ? "||" : "|"; })
          .Case<arith::XOrIOp>([](auto) { return "^"; })
          .Default([](auto) { return ""; });
  if (!sign.empty())
    return binary(op, sign);
  StringRef callee =
      llvm::TypeSwitch<Operation *, StringRef>(op)
          .Case<arith::MinSIOp, arith::MinimumFOp>([](auto) { return "min"; })
          .Case<arith::MaxSIOp, arith::MaximumFOp>([](auto) { return "max"; })
          .Case<arith::CeilDivSIOp>([](auto) { return "ceildiv"; })
          .Case<math::AbsFOp, math::AbsIOp>([](auto) { return "abs"; })
          .Case<math::ExpOp>([](auto) { return "exp"; })
          .Case<math::Exp2Op>([](auto) { return "exp2"; })
          .Case<math::LogOp>([](auto) { return "log"; })
          .Case<math::Log2Op>([](auto) { return "log2"; })
          .Case<math::TanhOp>([](auto) { return "tanh"; })
          .Case<math::SqrtOp>([](auto) { return "sqrt"; })
          .Case<math::RsqrtOp>([](auto) { return "rsqrt"; })
          .Case<math::PowFOp>([](auto) { return "pow"; })
          .Default([](auto) { return ""; });
  if (!callee.empty())
    return call(callee, op->getOperands());
  if (isa<arith::ExtSIOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(op))
    return call(typeName(getElementTypeOrSelf(op->getResult(0).getType())),
                op->getOperands());
  return op->emitError("`") << op->getName()
                            << "` has no text in the kernel language";
}

/// What a region of element code yields, as code on tiles.
FailureOr<Text> KernelPrinter::element(Region &region) {
  for (Operation &op : region.front().without_terminator()) {
    unsigned axes = 0;
    for (Value operand : op.getOperands())
      axes |= axesOf.lookup(operand);
    for (Value result : op.getResults())
      axesOf[result] = axes;
  }
  return expression(region.front().getTerminator()->getOperand(0));
}

/// Indices that vary along different axes are spread to the whole tile, since
/// index tiles of one place have the same axes.
FailureOr<Text> KernelPrinter::lookup(LookupOp op) {
  unsigned all = 0;
  bool isMixed = false;
  for (Value index : op.getIndices()) {
    unsigned axes = axesOf.lookup(index);
    isMixed |= axes != 0 && all != 0 && axes != all;
    all |= axes;
  }
  std::string text = nameOf(op.getTable()).str() + "[";
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    FailureOr<Text> x = expression(index);
    if (failed(x))
      return failure();
    std::string at = x->text;
    if (isMixed && axesOf.lookup(index) != 0 && axesOf.lookup(index) != 3)
      at = "broadcast(" + at + ", [" + std::to_string(shape[0]) + ", " +
           std::to_string(shape[1]) + "])";
    text += (i ? ", " : "") + at;
  }
  return Text{text + "]"};
}

FailureOr<std::string> KernelPrinter::place(Value memory, ValueRange indices,
                                            ArrayRef<int64_t> axes,
                                            RankedTensorType tile) {
  auto type = cast<MemRefType>(memory.getType());
  std::string text = nameOf(memory).str() + "[";
  for (auto [axis, index] : llvm::enumerate(indices)) {
    text += axis ? ", " : "";
    const auto *slice = llvm::find(axes, static_cast<int64_t>(axis));
    int64_t extent = slice == axes.end()
                         ? 0
                         : tile.getDimSize(std::distance(axes.begin(), slice));
    if (slice != axes.end() && matchPattern(index, m_Zero()) &&
        type.getDimSize(axis) == extent) {
      text += ":";
      continue;
    }
    FailureOr<Text> at = expression(index);
    if (failed(at))
      return failure();
    text += slice == axes.end()
                ? at->text
                : at->bracketed() + " :+ " + std::to_string(extent);
  }
  return text + "]";
}

LogicalResult tegula::lang::printKernel(KernelOp kernel,
                                        llvm::raw_ostream &os) {
  return KernelPrinter(kernel, os).run();
}
