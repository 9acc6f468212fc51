// Addresses and bounds of tiles in global memory.
#include "passes/lower/BlockedAccess.h"
#include "passes/lower/InlinePtx.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tegula;

int64_t tegula::storedBytes(Type element) { return storedType(element).getIntOrFloatBitWidth() / 8; }

SmallVector<Value> tegula::firstOf(ArrayRef<ValueRange> parts) {
  return llvm::map_to_vector(parts, [](ValueRange range) -> Value { return range.front(); });
}

SmallVector<Value> tegula::toWords(BlockedThread &t, ValueRange elements) {
  OpBuilder &b = t.b;
  Type element = elements.front().getType(), stored = storedType(element);
  int64_t bytes = storedBytes(element) * elements.size();
  SmallVector<Value> values(elements);
  if (stored != element)
    for (Value &value : values)
      value = arith::ExtUIOp::create(b, t.loc, stored, value);
  if (bytes == 1)
    return {arith::ExtUIOp::create(b, t.loc, b.getI16Type(), values[0])};
  Type word = b.getIntegerType(bytes == 2 ? 16 : 32);
  if (values.size() == 1 && stored == word)
    return values;
  auto words = VectorType::get({std::max<int64_t>(1, bytes / 4)}, word);
  return t.elementsOf(vector::BitCastOp::create(b, t.loc, words, t.vectorOf(values)));
}

SmallVector<Value> tegula::fromWords(BlockedThread &t, ValueRange words, Type element, int64_t count) {
  OpBuilder &b = t.b;
  Type stored = storedType(element);
  SmallVector<Value> values;
  if (storedBytes(element) * count == 1)
    values.push_back(arith::TruncIOp::create(b, t.loc, stored, words[0]));
  else if (count == 1 && words[0].getType() == stored)
    values.push_back(words[0]);
  else
    values = t.elementsOf(vector::BitCastOp::create(b, t.loc, VectorType::get({count}, stored), t.vectorOf(words)));
  if (stored != element)
    for (Value &value : values)
      value = arith::CmpIOp::create(b, t.loc, arith::CmpIPredicate::ne, value, constantInt(b, t.loc, 0, 8));
  return values;
}

static bool isZero(Value value) { return matchPattern(value, m_Zero()); }

TileAccess::TileAccess(BlockedThread &t, RankedTensorType tile, MemRefType type, MemoryParts memory, ArrayRef<Value> starts, ArrayRef<int64_t> axes)
    : t(t), b(t.b), loc(t.loc), layout(blockedLayout(tile)), stored(storedType(tile.getElementType())) {
  // A copy that LLVM cannot see through, and the sign of an address, which is 0, added to strides and coordinates: they make each element's address look
  // different in each iteration. Else LLVM (by strength reduction) and ptxas keep a register for each over the whole loop, and spill.
  base = ptx::opaque(b, loc, elementAddress(b, loc, stored, memory.pointer, starts, memory.strides));
  Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), base), sign = arith::ShRUIOp::create(b, loc, address, t.constant(63, 64));
  Value narrowSign = arith::TruncIOp::create(b, loc, b.getI32Type(), sign);
  Value inside;
  for (int64_t a = 0; a < type.getRank(); ++a)
    if (!llvm::is_contained(axes, a) && !(isZero(starts[a]) && type.getDimSize(a) > 0))
      inside = t.both(inside, compare(arith::CmpIPredicate::ult, starts[a], memory.extents[a]));
  for (auto [n, a] : llvm::enumerate(axes)) {
    Axis axis;
    axis.stride = t.add(memory.strides[a], sign);
    axis.offsets = layout.getRegisterOffsets(n);
    axis.from = axis.place = t.add(t.coordinate(layout, n), narrowSign);
    axis.extent = tile.getDimSize(n);
    bool whole = isZero(starts[a]) && !type.isDynamicDim(a) && type.getDimSize(a) >= axis.extent;
    if (!whole)
      bound(axis, starts[a], memory.extents[a]);
    else if (layout.getCoverage(n) > axis.extent)
      axis.width = t.constant(axis.extent);
    all.push_back(axis);
  }
  if (!inside)
    return;
  for (Axis &axis : all)
    if (axis.width) {
      axis.width = arith::SelectOp::create(b, loc, inside, axis.width, t.constant(0));
      return;
    }
  anywhere = inside;
}

int64_t TileAccess::run() const {
  if (layout.getRegisters().empty())
    return 1;
  int64_t neighbours = layout.getContiguous(fastAxis());
  return std::min(neighbours & -neighbours, 16 / storedBytes(stored));
}

Value TileAccess::movesTogether(int64_t count) {
  int64_t bytes = count * storedBytes(stored), fast = fastAxis();
  Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), base), bits = arith::AndIOp::create(b, loc, address, t.constant(bytes - 1, 64));
  Value low; // of what must be a multiple of `count`
  auto orInto = [&](Value &to, Value value) { to = to ? arith::OrIOp::create(b, loc, to, value).getResult() : value; };
  for (auto [n, axis] : llvm::enumerate(all)) {
    if (static_cast<int64_t>(n) == fast)
      orInto(bits, arith::XOrIOp::create(b, loc, axis.stride, t.constant(1, 64)));
    else if (axis.extent > 1)
      orInto(low, axis.stride);
  }
  if (Axis &axis = all[fast]; axis.width) {
    orInto(low, arith::ExtUIOp::create(b, loc, b.getI64Type(), axis.width));
    if (axis.low)
      orInto(low, arith::ExtUIOp::create(b, loc, b.getI64Type(), axis.low));
  }
  if (low)
    orInto(bits, arith::AndIOp::create(b, loc, low, t.constant(count - 1, 64)));
  return compare(arith::CmpIPredicate::eq, bits, t.constant(0, 64));
}

Value TileAccess::exists(int64_t index) {
  Value result = anywhere;
  for (Axis &axis : all) {
    if (!axis.width)
      continue;
    Value &known = axis.inside[axis.offsets[index]];
    if (!known)
      known = compare(arith::CmpIPredicate::ult, t.add(axis.from, axis.offsets[index]), axis.width);
    result = t.both(result, known);
  }
  return result;
}

Value TileAccess::address(int64_t index, bool contiguous) {
  Value &start = contiguous ? startContiguous : startStrided;
  if (!start) {
    Value offset;
    for (auto [n, axis] : llvm::enumerate(all)) {
      Value term = arith::ExtUIOp::create(b, loc, b.getI64Type(), axis.place);
      if (!contiguous || static_cast<int64_t>(n) != fastAxis())
        term = arith::MulIOp::create(b, loc, term, axis.stride);
      offset = offset ? t.add(offset, term) : term;
    }
    start = LLVM::GEPOp::create(b, loc, base.getType(), stored, base, ArrayRef<LLVM::GEPArg>{offset});
  }
  Value pointer = start;
  int32_t last = 0; // the fast axis: part of the access's immediate
  for (auto [n, axis] : llvm::enumerate(all)) {
    int64_t offset = axis.offsets[index];
    if (offset == 0)
      continue;
    if (contiguous && static_cast<int64_t>(n) == fastAxis()) {
      last = offset;
      continue;
    }
    Value step = arith::MulIOp::create(b, loc, axis.stride, t.constant(offset, 64));
    pointer = LLVM::GEPOp::create(b, loc, base.getType(), stored, pointer, ArrayRef<LLVM::GEPArg>{step});
  }
  return last ? LLVM::GEPOp::create(b, loc, base.getType(), stored, pointer, ArrayRef<LLVM::GEPArg>{last}).getResult() : pointer;
}

void TileAccess::leaveBranch() {
  startContiguous = startStrided = {};
  for (Axis &axis : all)
    axis.inside.clear();
}

Value TileAccess::compare(arith::CmpIPredicate predicate, Value x, Value y) { return arith::CmpIOp::create(b, loc, predicate, x, y); }

/// Of the tile's elements along an axis, those from -start to extent - start exist.
void TileAccess::bound(Axis &axis, Value start, Value extent) {
  Value zero = t.constant(0, 64), whole = t.constant(axis.extent, 64);
  auto clamp = [&](Value value) -> Value {
    Value low = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, value, zero), whole);
    return arith::TruncIOp::create(b, loc, b.getI32Type(), low);
  };
  axis.width = clamp(arith::SubIOp::create(b, loc, extent, start));
  APInt number;
  if (matchPattern(start, m_ConstantInt(&number)) && !number.isNegative())
    return;
  axis.low = clamp(arith::SubIOp::create(b, loc, zero, start));
  Value width = arith::SubIOp::create(b, loc, axis.width, axis.low);
  axis.width = arith::MaxSIOp::create(b, loc, width, t.constant(0));
  axis.from = arith::SubIOp::create(b, loc, axis.place, axis.low);
}

Value TileAccess::existsAt(ArrayRef<Value> coordinates) {
  Value result = anywhere;
  for (auto [axis, coordinate] : llvm::zip(all, coordinates)) {
    if (!axis.width)
      continue;
    Value from = axis.low ? arith::SubIOp::create(b, loc, coordinate, axis.low).getResult() : coordinate;
    result = t.both(result, compare(arith::CmpIPredicate::ult, from, axis.width));
  }
  return result;
}

Value TileAccess::addressAt(ArrayRef<Value> coordinates) {
  Value offset;
  for (auto [axis, coordinate] : llvm::zip(all, coordinates)) {
    Value term = arith::MulIOp::create(b, loc, arith::ExtUIOp::create(b, loc, b.getI64Type(), coordinate), axis.stride);
    offset = offset ? t.add(offset, term) : term;
  }
  return LLVM::GEPOp::create(b, loc, base.getType(), stored, base, ArrayRef<LLVM::GEPArg>{offset});
}
