// Verifiers and parsers of the warp dialect's ops. Constraint numbers refer to WarpOps.td.
#include "dialect/warp/WarpDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tegula::warp;

#define GET_OP_CLASSES
#include "dialect/warp/WarpOps.cpp.inc"

//===-- structure ---------------------------------------------------------------------------------===//

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

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("constraint 1: expected no results, but got ") << getFunctionType().getResults().size();
  if (!getBody().hasOneBlock() || getBody().front().empty() || !isa<ReturnOp>(getBody().front().back()))
    return emitOpError("constraint 2: expected a body of one block that ends in warp.return");
  return success();
}

LogicalResult RolesOp::verify() {
  llvm::StringSet<> names;
  for (Operation &op : getBody().front()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role)
      return op.emitOpError("constraint 1: expected only warp.role in warp.roles");
    if (!names.insert(role.getName()).second)
      return role.emitOpError("constraint 2: expected different role names, but `") << role.getName() << "` stands twice";
  }
  return names.empty() ? emitOpError("constraint 1: expected at least one warp.role") : success();
}

ParseResult ForTilesOp::parse(OpAsmParser &parser, OperationState &result) {
  Type i64 = parser.getBuilder().getI64Type();
  OpAsmParser::Argument tile;
  OpAsmParser::UnresolvedOperand total;
  if (parser.parseArgument(tile) || parser.parseKeyword("of") || parser.parseOperand(total))
    return failure();
  tile.type = i64;
  SmallVector<OpAsmParser::Argument> args{tile};
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  if (parser.resolveOperand(total, i64, result.operands))
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
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void ForTilesOp::print(OpAsmPrinter &p) {
  Block &block = getBody().front();
  p << " " << block.getArgument(0) << " of " << getTotal();
  if (!getInits().empty()) {
    p << " iter_args(";
    llvm::interleaveComma(llvm::zip(block.getArguments().drop_front(), getInits()), p,
                          [&](auto pair) { p << std::get<0>(pair) << " = " << std::get<1>(pair); });
    p << ") -> (" << getInits().getTypes() << ")";
  }
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
  p.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult ForTilesOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInits().size() + 1 || !block.getArgument(0).getType().isInteger(64) ||
      TypeRange(block.getArgumentTypes()).drop_front() != getInits().getTypes() || getResultTypes() != getInits().getTypes() ||
      block.getTerminator()->getOperandTypes() != getInits().getTypes())
    return emitOpError("constraint 1: expected a body that takes an i64 and the carried types and yields ") << getInits().getTypes();
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (getDynamic() && (!kernel || !llvm::hasSingleElement(kernel.getBody().front().getOps<QueueOp>())))
    return emitOpError("constraint 2: `dynamic` needs a `warp.queue` in its kernel");
  return success();
}

/// The queue is a side effect: without its elected loop, an empty one as well, the other roles would wait for ever.
void ForTilesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getDynamic())
    effects.emplace_back(MemoryEffects::Write::get());
}

//===-- copies and matrix ops ---------------------------------------------------------------------===//

LogicalResult CopyOp::verify() {
  int64_t rank = cast<MemRefType>(getMemory().getType()).getRank();
  if (static_cast<int64_t>(getIndices().size()) != rank)
    return emitOpError("constraint 1: expected ") << rank << " indices, but got " << getIndices().size();
  if (getAxes().size() != 2 || getAxes()[1] != rank - 1 || getAxes()[0] < 0 || getAxes()[0] >= rank - 1)
    return emitOpError("constraint 2: expected two axes, the second of which is memory's last, but got [") << getAxes() << "]";
  if (getShift() && (rank != 4 || getAxes()[0] != 2))
    return emitOpError("constraint 3: expected packed rows along axis 2 of 4, but got axis ") << getAxes()[0] << " of " << rank;
  return success();
}

LogicalResult ReadOp::verify() {
  SlotType slot = getSlot().getType();
  RankedTensorType tile = getTile().getType();
  if (tile.getShape() != ArrayRef<int64_t>{slot.getRows(), slot.getColumns()} || tile.getElementType() != slot.getElementType() || !isa_and_nonnull<FragmentAttr>(tile.getEncoding()))
    return emitOpError("constraint 1: expected a fragment of the shape and the elements of ") << slot << ", but got " << tile;
  return success();
}

/// The element type of a matrix operand of any kind.
static Type elementOf(Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return tile.getElementType();
  auto slot = dyn_cast<SlotType>(type);
  return slot ? slot.getElementType() : cast<GlobalType>(type).getElementType();
}

/// Rows and columns of a matrix operand of any kind.
static std::pair<int64_t, int64_t> shapeOf(Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return {tile.getDimSize(0), tile.getDimSize(1)};
  if (auto slot = dyn_cast<SlotType>(type))
    return {slot.getRows(), slot.getColumns()};
  auto global = cast<GlobalType>(type);
  return {global.getRows(), global.getColumns()};
}

LogicalResult MmaOp::verify() {
  auto [m, k] = shapeOf(getLhs().getType());
  auto [rows, columns] = shapeOf(getRhs().getType());
  int64_t depth = getTransposeB() ? columns : rows, n = getTransposeB() ? rows : columns;
  RankedTensorType result = getResult().getType().getTile();
  if (m != 64 || result.getRank() != 2 || result.getDimSize(0) != 64 || depth != k || result.getDimSize(1) != n)
    return emitOpError("constraint 1: shapes do not agree: ")
           << getLhs().getType() << ", " << getRhs().getType() << (getTransposeB() ? " (transposed)" : "") << ", " << result;
  if (getAcc() && getAcc().getType() != result)
    return emitOpError("constraint 1: expected an accumulator of ") << result << ", but got " << getAcc().getType();
  bool fromMemory = !isa<RankedTensorType>(getLhs().getType());
  if (fromMemory && isa<SlotType>(getLhs().getType()) != isa<SlotType>(getRhs().getType()))
    return emitOpError("constraint 2: expected operands in memory of one kind, but got ") << getLhs().getType() << " and " << getRhs().getType();
  if (elementOf(getLhs().getType()) != elementOf(getRhs().getType()))
    return emitOpError("constraint 4: expected one element type, but got ")
           << elementOf(getLhs().getType()) << " and " << elementOf(getRhs().getType());
  if (!result.getElementType().isF32())
    return emitOpError("constraint 3: expected a result of f32, but got ") << result.getElementType();
  if (getSeen() && (getTransposeB() || !isa<GlobalType>(getRhs().getType())))
    return emitOpError("constraint 5: expected a right operand in global memory, not transposed, with `seen`, but got ") << getRhs().getType();
  if (getHalf() && (getTransposeB() || !isa<SlotType>(getRhs().getType())))
    return emitOpError("constraint 6: expected a right operand in a slot, not transposed, with `half`, but got ") << getRhs().getType();
  return success();
}

LogicalResult GlobalOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  GlobalType tile = getTile().getType();
  if (static_cast<int64_t>(getIndices().size()) != memory.getRank())
    return emitOpError("constraint 1: expected ") << memory.getRank() << " indices, but got " << getIndices().size();
  ArrayRef<int64_t> axes = getAxes();
  if (axes.size() != 2 || axes[0] == axes[1] || llvm::any_of(axes, [&](int64_t axis) { return axis < 0 || axis >= memory.getRank(); }))
    return emitOpError("constraint 2: expected two distinct axes of ") << memory << ", but got [" << axes << "]";
  if (memory.getElementType() != tile.getElementType())
    return emitOpError("constraint 3: expected equal element types, but got ") << memory.getElementType() << " and " << tile.getElementType();
  return success();
}

LogicalResult VoteOp::verify() {
  auto rows = dyn_cast<RankedTensorType>(getFlag().getType());
  if (rows && (!rows.getElementType().isInteger(1) || !isa_and_nonnull<RowsAttr>(rows.getEncoding())))
    return emitOpError("constraint 1: expected an i1 or rows of i1, but got ") << rows;
  return success();
}

static LogicalResult verifyMarked(Operation *op, MemRefType memory, size_t indices) {
  if (static_cast<int64_t>(indices) != memory.getRank())
    return op->emitOpError("constraint 1: expected ") << memory.getRank() << " indices, but got " << indices;
  if (!tegula::tile::holdsMark(memory.getElementType()))
    return op->emitOpError("constraint 2: expected floats of 16 or 32 bits, but got ") << memory.getElementType();
  return success();
}

LogicalResult MarkOp::verify() { return verifyMarked(*this, cast<MemRefType>(getMemory().getType()), getIndices().size()); }
LogicalResult IsMarkedOp::verify() { return verifyMarked(*this, cast<MemRefType>(getMemory().getType()), getIndices().size()); }
LogicalResult ClaimOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  if (failed(verifyMarked(*this, memory, getIndices().size())))
    return failure();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= memory.getRank())
    return emitOpError("constraint 3: expected an axis from 0 to ") << memory.getRank() - 1 << ", but got " << axis;
  return success();
}

LogicalResult PartialSumOp::verify() {
  RankedTensorType tile = getTile().getType(), sums = getSums().getType();
  if (!isa_and_nonnull<FragmentAttr>(tile.getEncoding()) || !isa_and_nonnull<RowsAttr>(sums.getEncoding()) || !isa<FloatType>(tile.getElementType()) ||
      tile.getElementType() != sums.getElementType())
    return emitOpError("constraint 1: expected a fragment of floats and its rows, but got ") << tile << " and " << sums;
  return success();
}

LogicalResult CompleteSumOp::verify() {
  if (!isa_and_nonnull<RowsAttr>(getSums().getType().getEncoding()))
    return emitOpError("constraint 1: expected row values, but got ") << getSums().getType();
  return success();
}

LogicalResult PackOp::verify() {
  if (getTile().getType().getShape() != getPacked().getType().getShape())
    return emitOpError("constraint 2: expected equal shapes, but got ") << getTile().getType() << " and " << getPacked().getType();
  llvm::SmallPtrSet<Operation *, 4> running;
  for (Operation &op : *(*this)->getBlock()) {
    if (&op == getOperation())
      break;
    if (auto mma = dyn_cast<MmaOp>(op); mma && isa<RankedTensorType>(mma.getLhs().getType()) && isa<SlotType>(mma.getRhs().getType()))
      running.insert(mma);
    else if (auto await = dyn_cast<AwaitOp>(op))
      running.erase(await.getPending().getDefiningOp());
  }
  if (running.empty())
    return success();
  InFlightDiagnostic error = emitOpError("constraint 1: a matrix op that reads a fragment is still running here");
  error.attachNote((*running.begin())->getLoc()) << "issued here; await it first";
  return error;
}

LogicalResult RoleOp::verify() {
  if (getWholeWarp() && !getElected())
    return emitOpError("constraint 1: expected `warp` with `elected`");
  return success();
}

static LogicalResult verifyNote(Operation *op, size_t numbers) {
  if (numbers < 1 || numbers > 4)
    return op->emitOpError("constraint 1: expected one to four numbers, but got ") << numbers;
  return success();
}

LogicalResult NoteOp::verify() { return verifyNote(*this, getValues().size()); }
LogicalResult ReadNoteOp::verify() { return verifyNote(*this, getValues().size()); }

LogicalResult ClassifyBlocksOp::verify() {
  TypeRange arguments(getClasses().getArgumentTypes()), values(getClasses().front().getTerminator()->getOperandTypes());
  bool isPlain = arguments.size() == 1 && arguments[0].isInteger(64) && llvm::all_of(values, [](Type type) { return type.isInteger(1); });
  if (!isPlain || values.empty() || values.size() != getBits().size())
    return emitOpError("constraint 1: expected classes that take an i64 and yield ") << getBits().size() << " i1s";
  if (getStepAttr().getInt() <= 0)
    return emitOpError("constraint 2: expected a positive step, but got ") << getStepAttr().getInt();
  return success();
}

LogicalResult ReleaseOp::verify() {
  // The slot that this op gives back, if it was taken in this block, and the matrix ops that still read it here.
  llvm::SmallPtrSet<Operation *, 4> running;
  for (Operation &op : *(*this)->getBlock()) {
    if (&op == getOperation())
      break;
    auto mma = dyn_cast<MmaOp>(op);
    auto reads = [&](Value operand) {
      auto wait = operand.getDefiningOp<WaitOp>();
      return wait && wait.getRing() == getRing() && wait.getCounter() == getCounter();
    };
    if (mma && (reads(mma.getLhs()) || reads(mma.getRhs())))
      running.insert(mma);
    else if (auto await = dyn_cast<AwaitOp>(op))
      running.erase(await.getPending().getDefiningOp());
  }
  if (running.empty())
    return success();
  InFlightDiagnostic error = emitOpError("constraint 1: a matrix op that reads the slot is still running here");
  error.attachNote((*running.begin())->getLoc()) << "issued here; await it first";
  return error;
}

//===-- tiles of the whole CTA --------------------------------------------------------------------===//

static bool isBlocked(Value tile) { return isa_and_nonnull<BlockedAttr>(cast<RankedTensorType>(tile.getType()).getEncoding()); }

LogicalResult ConvertOp::verify() {
  RankedTensorType from = getTile().getType(), to = getResult().getType();
  if (from.dropEncoding() != to.dropEncoding() || !isBlocked(getTile()) || !isBlocked(getResult()))
    return emitOpError("constraint 1: expected two blocked layouts of one tile, but got ") << from << " and " << to;
  return success();
}

LogicalResult DotOp::verify() {
  for (Value tile : {getLhs(), getRhs(), Value(getResult())})
    if (!isa<GlobalType>(tile.getType()) && !isBlocked(tile))
      return emitOpError("constraint 1: expected tiles with #warp.blocked, but got ") << tile.getType();
  if (getAcc() && getAcc().getType() != getResult().getType())
    return emitOpError("constraint 1: expected an accumulator of ") << getResult().getType() << ", but got " << getAcc().getType();
  return success();
}
