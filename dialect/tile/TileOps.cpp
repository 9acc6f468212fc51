// Verifiers, parsers and builders of the tile dialect's ops. Constraint numbers refer to TileOps.td.
#include "dialect/tile/TileDialect.h"
#include "runtime/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tegula::tile;

/// One flag for each element of a tile, or for a scalar.
static Type flagsFor(Type type) {
  Type flag = IntegerType::get(type.getContext(), 1);
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(flag)) : flag;
}

#define GET_OP_CLASSES
#include "dialect/tile/TileOps.cpp.inc"

//===-- kernel ------------------------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildFuncType = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results, function_interface_impl::VariadicFlag,
                          std::string &) { return builder.getFunctionType(args, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name),
                                                  buildFuncType, getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &p) {
  function_interface_impl::printFunctionOp(p, *this, /*isVariadic=*/false, getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

bool KernelOp::isTable(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  auto role = kernel ? kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.role") : StringAttr();
  return kernel && (!role || role.getValue() == "in" || (role.getValue() == "scratch" && !kernel->hasAttr("tile.prepass")));
}

bool KernelOp::isSortedTable(Value memory) {
  if (!isTable(memory))
    return false;
  auto argument = cast<BlockArgument>(memory);
  return cast<KernelOp>(argument.getOwner()->getParentOp()).getArgAttr(argument.getArgNumber(), "tile.sorted") != nullptr;
}

bool KernelOp::isMovable(Operation *op) {
  auto lookup = dyn_cast<LookupOp>(op);
  return lookup ? isTable(lookup.getTable()) : isMemoryEffectFree(op);
}

OpFoldResult KernelOp::getExtent(Value memory, int64_t axis) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto dims = argument ? getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "tile.dims") : ArrayAttr();
  if (!dims)
    return {};
  if (isa<IntegerAttr>(dims[axis]))
    return dims[axis];
  for (BlockArgument dim : getArguments())
    if (getArgAttr(dim.getArgNumber(), "tile.dim") == dims[axis])
      return dim;
  return {};
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("constraint 1: expected no results, but got ") << getFunctionType().getResults().size();
  if (!getBody().hasOneBlock() || getBody().front().empty() || !isa<ReturnOp>(getBody().front().back()))
    return emitOpError("constraint 2: expected a body of one block that ends in tile.return");
  return success();
}

//===-- attention ---------------------------------------------------------------------------------===//

FloatType AttentionOp::getScoreType() {
  Type element = cast<MemRefType>(getQuery().getType()).getElementType();
  return element.isF64() ? cast<FloatType>(element) : Float32Type::get(getContext());
}

static LogicalResult verifyRegion(Operation *op, Region &region, StringRef name, ArrayRef<Type> args, Type yielded, int number) {
  auto where = [&]() { return op->emitOpError("constraint ") << number << ": the " << name << " region "; };
  if (!region.hasOneBlock())
    return where() << "expects one block";
  if (region.getArgumentTypes() != args)
    return where() << "expects arguments " << args << ", but has " << region.getArgumentTypes();
  auto yield = region.front().empty() ? YieldOp() : dyn_cast<YieldOp>(region.front().back());
  if (!yield || yield.getValues().size() != 1 || yield.getValues()[0].getType() != yielded)
    return where() << "expects to yield one " << yielded;
  return success();
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query, Value key, Value value, ValueRange outputs, Value batch, Value heads,
                        Value kvHeads, Value queries, Value keys, Reduction reduction, ScheduleAttr schedule) {
  state.addOperands({query, key, value, batch, heads, kvHeads, queries, keys});
  state.addOperands(outputs);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.reduction = ReductionAttr::get(builder.getContext(), reduction);
  properties.schedule = schedule;
  constexpr size_t fixedRegions = 5;
  for (size_t i = 0; i < fixedRegions + outputs.size(); ++i)
    state.addRegion();
}

static LogicalResult verifyOutput(AttentionOp op, MemRefType output, Region &emit) {
  int64_t rank = output.getRank();
  if (rank != 4 && rank != 3)
    return op.emitOpError("constraint 1: expected outputs of rank 4 or 3, but got rank ") << rank;
  if (rank == 4 && output.getDimSize(3) != op.getValueDim())
    return op.emitOpError("constraint 3: expected one static head dim of value and output, but got ") << op.getValue().getType() << " and " << output;
  Type i64 = IntegerType::get(op.getContext(), 64), score = op.getScoreType();
  SmallVector<Type> arguments(rank, score);
  arguments.append(rank + 1, i64);
  Type element = output.getElementType();
  bool isFlag = element.isInteger(8) && !emit.empty() && !emit.front().empty() && isa<YieldOp>(emit.front().back()) &&
                llvm::equal(emit.front().back().getOperandTypes(), TypeRange{IntegerType::get(op.getContext(), 1)});
  Type yielded = isa<FloatType>(element) ? score : isFlag ? IntegerType::get(op.getContext(), 1) : element;
  if (failed(verifyRegion(op, emit, "emit", arguments, yielded, 4)))
    return failure();
  if (op.getReduction() == Reduction::Softmax)
    return success();
  bool readsLogarithms = !emit.getArgument(rank - 3).use_empty() || !emit.getArgument(rank - 2).use_empty();
  if (readsLogarithms)
    return op.emitOpError("constraint 6: expected no use of lse and rowmax under reduction ") << stringifyReduction(op.getReduction());
  return success();
}

LogicalResult AttentionOp::verify() {
  auto q = cast<MemRefType>(getQuery().getType()), k = cast<MemRefType>(getKey().getType()), v = cast<MemRefType>(getValue().getType());
  if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4)
    return emitOpError("constraint 1: expected rank 4 operands, but got ranks ") << q.getRank() << ", " << k.getRank() << ", " << v.getRank();
  if (getEmits().size() != getOutputs().size())
    return emitOpError("constraint 1: expected an emit region for each of ") << getOutputs().size() << " outputs, but got " << getEmits().size();
  Type element = q.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32() && !element.isF64())
    return emitOpError("constraint 2: expected f16, bf16, f32 or f64 operands, but got ") << element;
  if (k.getElementType() != element || v.getElementType() != element)
    return emitOpError("constraint 2: expected one element type, but got ") << element << ", " << k.getElementType() << ", " << v.getElementType();
  if (q.isDynamicDim(3) || q.getDimSize(3) != k.getDimSize(3))
    return emitOpError("constraint 3: expected one static head dim of query and key, but got ") << q << " and " << k;
  if (v.isDynamicDim(3))
    return emitOpError("constraint 3: expected a static head dim of value, but got ") << v;
  Type i64 = IntegerType::get(getContext(), 64), i1 = IntegerType::get(getContext(), 1), score = getScoreType();
  SmallVector<Type> row(4, i64), pair(5, i64), scored{score, i64, i64, i64, i64, i64};
  if (failed(verifyRegion(*this, getScale(), "scale", row, score, 4)) || failed(verifyRegion(*this, getScore(), "score", scored, score, 4)) ||
      failed(verifyRegion(*this, getMask(), "mask", pair, i1, 4)))
    return failure();
  if (!getWeight().empty() && failed(verifyRegion(*this, getWeight(), "weight", scored, score, 4)))
    return failure();
  if (!getExtra().empty() && failed(verifyRegion(*this, getExtra(), "extra", row, score, 4)))
    return failure();
  if (!getExtra().empty() && getReduction() != Reduction::Softmax)
    return emitOpError("constraint 5: expected no extra region under reduction ") << stringifyReduction(getReduction());
  for (auto [output, emit] : llvm::zip(getOutputs(), getEmits()))
    if (failed(verifyOutput(*this, cast<MemRefType>(output.getType()), emit)))
      return failure();
  return success();
}

LogicalResult LookupOp::verify() {
  auto type = cast<MemRefType>(getTable().getType());
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError("constraint 1: expected ") << type.getRank() << " indices, but got " << getIndices().size();
  return success();
}

//===-- for_blocks --------------------------------------------------------------------------------===//

void ForBlocksOp::build(OpBuilder &builder, OperationState &state, Value lower, Value upper, int64_t step, ValueRange inits,
                        function_ref<SmallVector<Value>(OpBuilder &, Location, Value, ValueRange)> body) {
  state.addOperands({lower, upper});
  state.addOperands(inits);
  state.getOrAddProperties<Properties>().step = builder.getI64IntegerAttr(step);
  state.addTypes(inits.getTypes());
  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  Block *block = builder.createBlock(region);
  block->addArgument(builder.getI64Type(), state.location);
  for (Value init : inits)
    block->addArgument(init.getType(), init.getLoc());
  state.addRegion();
  if (body) {
    SmallVector<Value> next = body(builder, state.location, block->getArgument(0), block->getArguments().drop_front());
    YieldOp::create(builder, state.location, next);
  }
}

ParseResult ForBlocksOp::parse(OpAsmParser &parser, OperationState &result) {
  Type i64 = parser.getBuilder().getI64Type();
  OpAsmParser::Argument induction;
  OpAsmParser::UnresolvedOperand lower, upper;
  int64_t step;
  if (parser.parseArgument(induction) || parser.parseEqual() || parser.parseOperand(lower) || parser.parseKeyword("to") ||
      parser.parseOperand(upper) || parser.parseKeyword("step") || parser.parseInteger(step))
    return failure();
  result.getOrAddProperties<Properties>().step = parser.getBuilder().getI64IntegerAttr(step);
  if (succeeded(parser.parseOptionalKeyword("parts"))) {
    int64_t parts;
    if (parser.parseInteger(parts))
      return failure();
    result.getOrAddProperties<Properties>().parts = parser.getBuilder().getI64IntegerAttr(parts);
  }
  induction.type = i64;
  SmallVector<OpAsmParser::Argument> args{induction};
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  if (succeeded(parser.parseOptionalKeyword("flags"))) {
    if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren))
      return failure();
    for (OpAsmParser::Argument &flag : MutableArrayRef(args).drop_front())
      flag.type = parser.getBuilder().getI1Type();
  }
  if (parser.resolveOperand(lower, i64, result.operands) || parser.resolveOperand(upper, i64, result.operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("iter_args"))) {
    SmallVector<OpAsmParser::Argument> carried;
    if (parser.parseAssignmentList(carried, inits) || parser.parseArrowTypeList(result.types))
      return failure();
    if (carried.size() != result.types.size())
      return parser.emitError(parser.getNameLoc(), "expected as many types as carried values");
    for (auto [arg, init, type] : llvm::zip(carried, inits, result.types)) {
      arg.type = type;
      args.push_back(arg);
      if (parser.resolveOperand(init, type, result.operands))
        return failure();
    }
  }
  Region *body = result.addRegion(), *classes = result.addRegion();
  if (parser.parseRegion(*body, args) || (succeeded(parser.parseOptionalKeyword("classes")) && parser.parseRegion(*classes)) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void ForBlocksOp::print(OpAsmPrinter &p) {
  p << " " << getInductionVar() << " = " << getLower() << " to " << getUpper() << " step " << getStep();
  if (getParts())
    p << " parts " << getParts();
  if (getNumFlags()) {
    p << " flags(";
    llvm::interleaveComma(getFlags(), p);
    p << ")";
  }
  if (!getInits().empty()) {
    p << " iter_args(";
    llvm::interleaveComma(llvm::zip(getIterArgs(), getInits()), p, [&](auto pair) { p << std::get<0>(pair) << " = " << std::get<1>(pair); });
    p << ") -> (" << getInits().getTypes() << ")";
  }
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
  if (hasClasses()) {
    p << " classes ";
    p.printRegion(getClasses());
  }
  p.printOptionalAttrDict((*this)->getAttrs(), {"step", "parts"});
}

/// Whether classes yield `live`, and one value for each part.
static LogicalResult verifyParts(Operation *op, int64_t parts, size_t values, int constraint) {
  if (parts < 0 || values < size_t(1 + parts))
    return op->emitOpError("constraint ") << constraint << ": expected classes that yield whether a block is live and what matters to " << parts << " parts, but got " << values << " values";
  return success();
}

LogicalResult ForBlocksOp::verify() {
  if (getStepAttr().getInt() <= 0)
    return emitOpError("constraint 2: expected a positive step, but got ") << getStep();
  Block &block = getBody().front();
  TypeRange arguments(block.getArgumentTypes());
  SmallVector<Type> expected{IntegerType::get(getContext(), 64)};
  if (hasClasses()) {
    TypeRange classes(getClasses().getArgumentTypes()), values(getClasses().front().getTerminator()->getOperandTypes());
    if (classes.size() != 1 || !classes[0].isInteger(64) || values.empty() || !llvm::all_of(values, [](Type type) { return type.isInteger(1); }))
      return emitOpError("constraint 3: expected classes that take an i64 and yield i1s");
    if (failed(verifyParts(*this, getParts(), values.size(), 3)))
      return failure();
    llvm::append_range(expected, values.drop_front().drop_back(getParts()));
  } else if (getParts()) {
    return emitOpError("constraint 3: expected classes that say what matters to ") << getParts() << " parts";
  }
  llvm::append_range(expected, getInits().getTypes());
  if (arguments != TypeRange(expected) || getResultTypes() != getInits().getTypes())
    return emitOpError("constraint 1: expected a body of the types ") << expected;
  if (block.getTerminator()->getOperandTypes() != getInits().getTypes())
    return emitOpError("constraint 1: expected the body to yield ") << getInits().getTypes();
  return success();
}

Value ForBlocksOp::addFlag(Value value) {
  Operation *yield = getClasses().front().getTerminator();
  unsigned place = 1 + getNumFlags();
  yield->insertOperands(place, value);
  return getBody().insertArgument(place, value.getType(), value.getLoc());
}

LogicalResult ForBlocksOp::canonicalize(ForBlocksOp op, PatternRewriter &rewriter) {
  if (!op.hasClasses() || op.getNumFlags() || !matchPattern(op.getClasses().front().getTerminator()->getOperand(0), m_One()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    rewriter.eraseBlock(&op.getClasses().front());
    op.setParts(0);
  });
  return success();
}

LogicalResult ClassifiedOp::verify() {
  auto type = cast<MemRefType>(getTable().getType());
  if (type.getRank() != 3 || !type.getElementType().isInteger(8))
    return emitOpError("constraint 1: expected a table of three axes of i8, but got ") << type;
  return success();
}

LogicalResult ListBlocksOp::verify() {
  TypeRange arguments(getClasses().getArgumentTypes()), values(getClasses().front().getTerminator()->getOperandTypes());
  if (arguments.size() != 1 || !arguments[0].isInteger(64) || values.empty() || !llvm::all_of(values, [](Type type) { return type.isInteger(1); }))
    return emitOpError("constraint 1: expected classes that take an i64 and yield i1s");
  if (failed(verifyParts(*this, getParts(), values.size(), 1)))
    return failure();
  if (getStepAttr().getInt() <= 0)
    return emitOpError("constraint 2: expected a positive step, but got ") << getStepAttr().getInt();
  return success();
}

LogicalResult AnyRangeOp::verify() {
  TypeRange arguments(getRange().getArgumentTypes()), values(getRange().front().getTerminator()->getOperandTypes());
  auto isNumber = [](Type type) { return type.isInteger(64); };
  if (arguments.size() != 1 || values.size() != 2 || !llvm::all_of(arguments, isNumber) || !llvm::all_of(values, isNumber))
    return emitOpError("constraint 1: expected a region that takes an i64 and yields two");
  if (getStep() < 1)
    return emitOpError("constraint 2: expected a positive step, but got ") << getStep();
  return success();
}

LogicalResult ListedBlockOp::verify() {
  ListBlocksOp list = getListOp();
  if (!list || getList() != list.getCount())
    return emitOpError("constraint 1: expected the count of a `tile.list_blocks`");
  size_t expected = std::max(list.getNumFlags(), 1u) - 1;
  if (getFlags().size() != expected)
    return emitOpError("constraint 2: expected ") << expected << " flags, but got " << getFlags().size();
  return success();
}

//===-- memory ------------------------------------------------------------------------------------===//

static LogicalResult verifyAccess(Operation *op, MemRefType memory, RankedTensorType tile, size_t indices, ArrayRef<int64_t> axes) {
  if (static_cast<int64_t>(indices) != memory.getRank())
    return op->emitOpError("constraint 1: expected ") << memory.getRank() << " indices, but got " << indices;
  llvm::SmallBitVector seen(memory.getRank());
  bool ok = static_cast<int64_t>(axes.size()) == tile.getRank();
  for (int64_t axis : axes) {
    ok = ok && axis >= 0 && axis < memory.getRank() && !seen.test(axis);
    if (ok)
      seen.set(axis);
  }
  if (!ok)
    return op->emitOpError("constraint 2: expected ") << tile.getRank() << " distinct axes of " << memory << ", but got [" << axes << "]";
  if (memory.getElementType() != tile.getElementType())
    return op->emitOpError("constraint 3: expected equal element types, but got ")
           << memory.getElementType() << " and " << tile.getElementType();
  return success();
}

/// The axis before that of the rows has the heads that share a tile.
static LogicalResult verifyPacked(Operation *op, Value shift, Value end, ArrayRef<int64_t> axes) {
  if (!shift && !end)
    return success();
  if (shift && end && axes[0] > 0 && !llvm::is_contained(axes, axes[0] - 1))
    return success();
  return op->emitOpError("constraint 5: expected a shift, an end, and rows along an axis behind one that is none of the tile's, but got axes [") << axes << "]";
}

LogicalResult LoadOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  if (failed(verifyAccess(*this, memory, getTile().getType(), getIndices().size(), getAxes())) || failed(verifyPacked(*this, getShift(), getEnd(), getAxes())))
    return failure();
  if (getStages() && (getTile().getType().getRank() != 2 || getAxes()[1] != memory.getRank() - 1))
    return emitOpError("constraint 4: `stages` go with a tile of rank 2 along memory's last axis, but got axes [") << getAxes() << "]";
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(verifyAccess(*this, cast<MemRefType>(getMemory().getType()), getTile().getType(), getIndices().size(), getAxes())))
    return failure();
  return verifyPacked(*this, getShift(), getEnd(), getAxes());
}

/// Of gather, scatter and atomic_add: `tile` is what meets memory, a tile or a scalar.
static LogicalResult verifyComputedAccess(Operation *op, MemRefType memory, Type tile, ValueRange indices) {
  if (static_cast<int64_t>(indices.size()) != memory.getRank())
    return op->emitOpError("constraint 1: expected ") << memory.getRank() << " indices, but got " << indices.size();
  if (getElementTypeOrSelf(tile) != memory.getElementType())
    return op->emitOpError("constraint 2: expected equal element types, but got ")
           << getElementTypeOrSelf(tile) << " and " << memory.getElementType();
  auto shaped = dyn_cast<RankedTensorType>(tile);
  for (Type index : indices.getTypes())
    if (auto lanes = dyn_cast<RankedTensorType>(index); lanes && (!shaped || lanes.getShape() != shaped.getShape()))
      return op->emitOpError("constraint 3: expected index tiles of the shape of ") << tile << ", but got " << lanes;
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyComputedAccess(*this, cast<MemRefType>(getMemory().getType()), getResult().getType(), getIndices());
}

LogicalResult ScatterOp::verify() {
  return verifyComputedAccess(*this, cast<MemRefType>(getMemory().getType()), getValue().getType(), getIndices());
}

LogicalResult AtomicAddOp::verify() {
  if (getElementTypeOrSelf(getValue()).isInteger(1))
    return emitOpError("constraint 4: expected numbers, but got i1");
  return verifyComputedAccess(*this, cast<MemRefType>(getMemory().getType()), getValue().getType(), getIndices());
}

//===-- tiles -------------------------------------------------------------------------------------===//

static LogicalResult verifyRank2(Operation *op, RankedTensorType tile) {
  if (tile.getRank() == 2)
    return success();
  return op->emitOpError("constraint 2: expected a tile of rank 2, but got ") << tile;
}

LogicalResult MaskOp::verify() {
  if (failed(verifyRank2(*this, getKeep().getType())))
    return failure();
  Type i64 = IntegerType::get(getContext(), 64);
  return verifyRegion(*this, getBody(), "mask", {i64, i64}, IntegerType::get(getContext(), 1), 1);
}

LogicalResult MapOp::verify() {
  RankedTensorType result = getResult().getType();
  if (result.getRank() != (getCols() ? 2 : 1))
    return emitOpError("constraint 1: expected a result of rank ") << (getCols() ? 2 : 1) << ", but got " << result;
  SmallVector<Type> arguments;
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    bool isRows = type.getRank() == 1 && type.getDimSize(0) == result.getDimSize(0);
    if (type.getShape() != result.getShape() && !isRows)
      return emitOpError("constraint 1: expected inputs of the shape of ") << result << ", or one value a row, but got " << type;
    arguments.push_back(type.getElementType());
  }
  arguments.append(result.getRank(), IntegerType::get(getContext(), 64));
  return verifyRegion(*this, getBody(), "map", arguments, result.getElementType(), 2);
}

LogicalResult ZeroUnseenOp::verify() {
  if (getTile().getType().getRank() != 2)
    return emitOpError("constraint 1: expected a tile of rank 2, but got ") << getTile().getType();
  Type i64 = IntegerType::get(getContext(), 64), i1 = IntegerType::get(getContext(), 1);
  if (failed(verifyRegion(*this, getSeen(), "seen", {i64, i64}, i1, 2)))
    return failure();
  return getPossible().empty() ? success() : verifyRegion(*this, getPossible(), "possible", {i64}, i1, 2);
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getLhs().getType(), b = getRhs().getType(), r = getResult().getType();
  if (a.getRank() != 2 || b.getRank() != 2 || r.getRank() != 2)
    return emitOpError("constraint 1: expected rank 2 tiles");
  int64_t k = b.getDimSize(getTransposeB() ? 1 : 0), n = b.getDimSize(getTransposeB() ? 0 : 1);
  if (a.getDimSize(1) != k || r.getDimSize(0) != a.getDimSize(0) || r.getDimSize(1) != n)
    return emitOpError("constraint 1: shapes do not agree: ") << a << ", " << b << (getTransposeB() ? " (transposed)" : "") << ", " << r;
  if (a.getElementType() != b.getElementType())
    return emitOpError("constraint 2: expected one element type, but got ") << a.getElementType() << " and " << b.getElementType();
  Type element = a.getElementType(), expected = Float32Type::get(getContext());
  if (element.isInteger(8) || element.isInteger(32))
    expected = IntegerType::get(getContext(), 32);
  else if (element.isF64())
    expected = element;
  else if (!isa<FloatType>(element))
    return emitOpError("constraint 3: expected operands of floats, i8 or i32, but got ") << element;
  if (r.getElementType() != expected)
    return emitOpError("constraint 3: expected a result of ") << expected << ", but got " << r.getElementType();
  if (getAcc() && getAcc().getType() != r)
    return emitOpError("constraint 3: expected an accumulator of ") << r << ", but got " << getAcc().getType();
  return success();
}

static LogicalResult verifyRows(Operation *op, RankedTensorType tile, RankedTensorType rows) {
  if (tile.getRank() != 2 || rows.getRank() != 1 || tile.getDimSize(0) != rows.getDimSize(0) ||
      tile.getElementType() != rows.getElementType())
    return op->emitOpError("constraint 1: expected a tile and one value of its type a row, but got ") << tile << " and " << rows;
  return success();
}

/// `tile` without an axis, with other elements; a scalar, if that leaves none.
static Type withoutAxis(RankedTensorType tile, int64_t axis, Type element) {
  SmallVector<int64_t> shape(tile.getShape());
  shape.erase(shape.begin() + axis);
  return shape.empty() ? element : RankedTensorType::get(shape, element);
}

/// Layouts are for later stages to set, on each tile.
static bool isSameBesideLayout(Type a, Type b) {
  auto bare = [](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? Type(tile.dropEncoding()) : type;
  };
  return bare(a) == bare(b);
}

static LogicalResult verifyAxis(Operation *op, RankedTensorType tile, int64_t axis) {
  if (axis < 0 || axis >= tile.getRank())
    return op->emitOpError("constraint 1: expected an axis of ") << tile << ", but got " << axis;
  return success();
}

static LogicalResult verifyReduced(Operation *op, RankedTensorType tile, int64_t axis, Type element, Type result) {
  if (failed(verifyAxis(op, tile, axis)))
    return failure();
  if (Type expected = withoutAxis(tile, axis, element); !isSameBesideLayout(result, expected))
    return op->emitOpError("constraint 1: expected a result of ") << expected << ", but got " << result;
  return success();
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReduceKind kind, Value tile, int64_t axis) {
  auto type = cast<RankedTensorType>(tile.getType());
  bool isLast = axis < 0 || axis == type.getRank() - 1;
  Type element = kind == ReduceKind::Argmax ? builder.getI32Type() : type.getElementType();
  state.addOperands(tile);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.kind = ReduceKindAttr::get(builder.getContext(), kind);
  if (!isLast)
    properties.axis = builder.getI64IntegerAttr(axis);
  state.addTypes(withoutAxis(type, isLast ? type.getRank() - 1 : axis, element));
}

LogicalResult ReduceOp::verify() {
  RankedTensorType type = getTile().getType();
  Type element = type.getElementType();
  bool isFlag = element.isInteger(1), ofFlags = getKind() == ReduceKind::And || getKind() == ReduceKind::Or;
  if (isFlag != ofFlags || (getKind() == ReduceKind::Max && !isa<FloatType>(element)))
    return emitOpError("constraint 2: `") << stringifyReduceKind(getKind()) << "` does not take elements of " << element;
  if (getKind() == ReduceKind::Argmax)
    element = IntegerType::get(getContext(), 32);
  return verifyReduced(*this, type, getReducedAxis(), element, getResult().getType());
}

LogicalResult CombineOp::verify() {
  RankedTensorType type = getTile().getType();
  Type element = type.getElementType();
  if (failed(verifyReduced(*this, type, getAxis(), element, getResult().getType())))
    return failure();
  return verifyRegion(*this, getBody(), "combining", {element, element}, element, 3);
}

LogicalResult CumsumOp::verify() {
  if (getTile().getType().getElementType().isInteger(1))
    return emitOpError("constraint 2: expected numbers, but got i1");
  return verifyAxis(*this, getTile().getType(), getAxis());
}

LogicalResult ExtentOp::verify() {
  auto type = cast<MemRefType>(getMemory().getType());
  if (getAxis() >= static_cast<uint64_t>(type.getRank()))
    return emitOpError("constraint 1: expected an axis of ") << type << ", but got " << getAxis();
  return success();
}

OpFoldResult ExtentOp::fold(FoldAdaptor) {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  return kernel && KernelOp::isTable(getMemory()) ? kernel.getExtent(getMemory(), getAxis()) : OpFoldResult();
}

void PackingOp::inferResultRanges(ArrayRef<ConstantIntRanges> known, SetIntRangeFn setResult) {
  std::optional<APInt> queries = known[0].getConstantValue(), heads = known[1].getConstantValue(), kvHeads = known[2].getConstantValue();
  if (!queries || !heads || !kvHeads)
    return setResult(getShift(), ConstantIntRanges::fromUnsigned(APInt(64, 0), APInt(64, mostPacking)));
  int64_t shift = packingShift(queries->getSExtValue(), heads->getSExtValue(), kvHeads->getSExtValue(), getRows());
  setResult(getShift(), ConstantIntRanges::constant(APInt(64, shift)));
}

LogicalResult AssertOp::verify() {
  if (getMessage().count("{}") < getValues().size())
    return emitOpError("constraint 1: expected a `{}` in the message for each value, but got ") << getMessage().count("{}") << " and " << getValues().size();
  if (!getValues().empty() && !getCondition().getType().isInteger(1))
    return emitOpError("constraint 2: expected a scalar condition beside values, but got ") << getCondition().getType();
  return success();
}

LogicalResult IotaOp::verify() {
  RankedTensorType type = getResult().getType();
  if (type.getRank() != 1 || !(type.getElementType().isInteger(32) || type.getElementType().isInteger(64)))
    return emitOpError("constraint 1: expected a tile of rank 1 of i32 or i64, but got ") << type;
  return success();
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getTile().getType(), to = getResult().getType();
  ArrayRef<int64_t> axes = getAxes();
  bool ok = from.getElementType() == to.getElementType() && static_cast<int64_t>(axes.size()) == from.getRank();
  for (size_t n = 0; ok && n != axes.size(); ++n)
    ok = axes[n] > (n ? axes[n - 1] : -1) && axes[n] < to.getRank() &&
         (from.getDimSize(n) == to.getDimSize(axes[n]) || from.getDimSize(n) == 1);
  if (!ok)
    return emitOpError("constraint 1: expected the axes of ") << from << " to be axes [" << axes << "] of " << to;
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType from = getTile().getType(), to = getResult().getType();
  ArrayRef<int64_t> permutation = getPermutation();
  if (!isPermutationVector(permutation) || static_cast<int64_t>(permutation.size()) != from.getRank() ||
      !isSameBesideLayout(to, from.clone(applyPermutation(from.getShape(), permutation))))
    return emitOpError("constraint 1: expected ") << to << " to be " << from << " with its axes in the order [" << permutation << "]";
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getTile().getType(), to = getResult().getType();
  if (from.getNumElements() != to.getNumElements() || from.getElementType() != to.getElementType())
    return emitOpError("constraint 1: expected as many elements of one type, but got ") << from << " and " << to;
  return success();
}

LogicalResult ScaleRowsOp::verify() { return verifyRows(*this, getTile().getType(), getFactors().getType()); }

static LogicalResult verifyState(Operation *op, RankedTensorType tile, RankedTensorType rows, const llvm::APFloat &scale) {
  if (failed(verifyRows(op, tile, rows)))
    return failure();
  if (!scale.isFinite() || scale.isNegative() || scale.isZero())
    return op->emitOpError("constraint 2: expected a finite scale above 0, but got ") << scale.convertToDouble();
  return success();
}

LogicalResult OnlineSoftmaxOp::verify() {
  if (getFixed() && getThreshold())
    return emitOpError("constraint 3: `threshold` and `fixed` exclude each other");
  auto needs = [&](bool has, bool other, StringRef name, StringRef otherName) -> LogicalResult {
    return !has || other ? success() : emitOpError("constraint 3: `") << name << "` needs `" << otherName << "`";
  };
  if (failed(needs(getFixed(), getFolded(), "fixed", "folded")) || failed(needs(getFromFirstBlock(), getFixed(), "from_first_block", "fixed")) ||
      failed(needs(getContinued(), getFromFirstBlock(), "continued", "from_first_block")) || failed(needs(getBasis() != nullptr, getFromFirstBlock(), "basis", "from_first_block")) ||
      failed(needs(getFactor() != nullptr, getFolded(), "times", "folded")) || failed(needs(getLate() != nullptr, getFixed(), "late", "fixed")))
    return failure();
  if (getLate() && getFromFirstBlock())
    return emitOpError("constraint 3: `late` and `from_first_block` exclude each other");
  bool hasTypes = getBasis() && getBias() && getBasis().getType() == getScores().getType() && getBias().getType() == getMax().getType();
  if ((getBasis() || getBias()) && !hasTypes)
    return emitOpError("constraint 4: expected a `basis` of type ") << getScores().getType() << " and a `bias` of type " << getMax().getType();
  Type element = getScores().getType().getElementType();
  if (getFactor() && getFactor().getType() != element)
    return emitOpError("constraint 5: expected `times` to be ") << element << ", as the scores are, but got " << getFactor().getType();
  return verifyState(*this, getScores().getType(), getMax().getType(), getScale());
}

LogicalResult RedoOp::verify() {
  bool hasStore = false;
  for (Operation &op : getStores().front().without_terminator()) {
    auto store = dyn_cast<StoreOp>(op);
    if (store ? !holdsMark(store.getTile().getType().getElementType()) : !isMemoryEffectFree(&op))
      return emitOpError("constraint 1: expected stores of 16- or 32-bit floats, and scalar code, but got ") << op.getName();
    hasStore |= store != nullptr;
  }
  if (!hasStore)
    return emitOpError("constraint 1: expected at least one store");
  auto kernel = dyn_cast<KernelOp>((*this)->getParentOp());
  if (!kernel)
    return emitOpError("constraint 3: expected to stand at the top of a kernel");
  if (!llvm::hasSingleElement(kernel.getBody().front().getOps<RedoOp>()))
    return emitOpError("constraint 3: expected to be the only one of its kernel");
  auto program = dyn_cast_or_null<KernelOp>(SymbolTable::lookupNearestSymbolFrom(kernel->getParentOp(), getProgramAttr()));
  if (!program || program.getFunctionType() != kernel.getFunctionType())
    return emitOpError("constraint 2: expected `") << getProgram() << "` to be a tile.kernel of the same type";
  return success();
}
LogicalResult MergeOp::verify() { return verifyState(*this, getAcc().getType(), getMax().getType(), getScale()); }
LogicalResult FinishOp::verify() { return verifyState(*this, getAcc().getType(), getMax().getType(), getScale()); }

//===-- folds -------------------------------------------------------------------------------------===//

/// The yielded value of a region of one block.
static Value yielded(Region &region) { return region.front().getTerminator()->getOperand(0); }

OpFoldResult MaskOp::fold(FoldAdaptor) {
  Attribute constant;
  if (!matchPattern(yielded(getBody()), m_Constant(&constant)))
    return {};
  return SplatElementsAttr::get(cast<ShapedType>(getKeep().getType()), constant);
}

OpFoldResult MapOp::fold(FoldAdaptor) {
  Value value = yielded(getBody());
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &getBody().front() && argument.getArgNumber() < getInputs().size()) {
    Value input = getInputs()[argument.getArgNumber()];
    return input.getType() == getResult().getType() ? OpFoldResult(input) : OpFoldResult();
  }
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  return SplatElementsAttr::get(cast<ShapedType>(getResult().getType()), constant);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getTile());
  if (!splat)
    return {};
  return SplatElementsAttr::get(cast<ShapedType>(getResult().getType()), splat.getSplatValue<Attribute>());
}

OpFoldResult ScaleRowsOp::fold(FoldAdaptor) {
  return matchPattern(getFactors(), m_OneFloat()) ? OpFoldResult(getTile()) : OpFoldResult();
}

OpFoldResult AnyOp::fold(FoldAdaptor adaptor) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getFlags());
  return splat ? OpFoldResult(splat.getSplatValue<Attribute>()) : OpFoldResult();
}

/// Folds to constants are `arith.constant`.
Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
