// Places, exchanges and shared-memory accesses of one thread under a blocked layout.
#include "passes/lower/BlockedThread.h"
#include "passes/lower/InlinePtx.h"
#include "passes/lower/Shuffle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tegula;

Type tegula::storedType(Type element) { return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element; }

warp::BlockedAttr tegula::blockedLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<warp::BlockedAttr>(tile.getEncoding()) : warp::BlockedAttr();
}

Value BlockedThread::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }

Value BlockedThread::add(Value x, int64_t y) { return y == 0 ? x : add(x, constant(y, x.getType().getIntOrFloatBitWidth())); }

Value BlockedThread::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Value BlockedThread::sum(ArrayRef<int64_t> weights) {
  Value total;
  for (unsigned first = 0; first < weights.size();) {
    if (weights[first] == 0) {
      ++first;
      continue;
    }
    unsigned last = first + 1; // bits whose weights double are one number
    while (last < weights.size() && weights[last] == 2 * weights[last - 1])
      ++last;
    Value term = state.place.thread;
    if (first > 0)
      term = arith::ShRUIOp::create(b, loc, term, constant(first));
    if (last < weights.size())
      term = arith::AndIOp::create(b, loc, term, constant((int64_t(1) << (last - first)) - 1));
    if (weights[first] != 1)
      term = arith::MulIOp::create(b, loc, term, constant(weights[first]));
    total = total ? add(total, term) : term;
    first = last;
  }
  return total ? total : constant(0);
}

Value BlockedThread::coordinate(warp::BlockedAttr layout, int64_t axis) {
  return sum(llvm::map_to_vector(layout.getThreads(), [&](const warp::Digit &digit) { return digit.axis == axis ? digit.stride : 0; }));
}

Value BlockedThread::isFirstCopy(warp::BlockedAttr layout) {
  int64_t copies = 0;
  for (auto [bit, digit] : llvm::enumerate(layout.getThreads()))
    copies |= digit.axis < 0 ? int64_t(1) << bit : 0;
  if (copies == 0)
    return {};
  Value masked = arith::AndIOp::create(b, loc, state.place.thread, constant(copies));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, masked, constant(0));
}

Value BlockedThread::isInside(warp::BlockedAttr layout, int64_t axis, int64_t extent, int64_t registerOffset) {
  if (layout.getCoverage(axis) <= extent)
    return {};
  Value index = add(coordinate(layout, axis), registerOffset);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, constant(extent));
}

Value BlockedThread::bit(unsigned bit) {
  Value masked = arith::AndIOp::create(b, loc, state.place.thread, constant(int64_t(1) << bit));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked, constant(0));
}

Value BlockedThread::exchange(Value value, unsigned bit) { return shuffle(b, loc, value, constant(int64_t(1) << bit), NVVM::ShflKind::bfly); }

void BlockedThread::meet() {
  Value barrier = constant(0), threads = constant(state.threads);
  ptx::barrierSync(b, loc, barrier, threads);
}

Value BlockedThread::sharedPointer(Value offset, int64_t constantOffset) {
  Value address = add(add(state.place.shared, offset), constantOffset);
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
}

static Value advance(BlockedThread &t, Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(t.b, t.loc, pointer.getType(), t.b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

/// Whole words where there are any, so that a narrow vector is one access.
static Type accessType(OpBuilder &b, Type stored, int64_t count) {
  int64_t bytes = count * stored.getIntOrFloatBitWidth() / 8;
  if (count == 1)
    return stored;
  return bytes % 4 == 0 ? VectorType::get({bytes / 4}, b.getI32Type()) : VectorType::get({count}, stored);
}

Value BlockedThread::loadShared(Value pointer, int64_t bytes, Type element, int64_t count) {
  Type stored = storedType(element), access = accessType(b, stored, count);
  int64_t alignment = count * stored.getIntOrFloatBitWidth() / 8;
  Value value = LLVM::LoadOp::create(b, loc, access, advance(*this, pointer, bytes), alignment);
  auto whole = VectorType::get({count}, stored);
  if (count == 1)
    value = vector::FromElementsOp::create(b, loc, whole, value);
  else if (access != whole)
    value = vector::BitCastOp::create(b, loc, whole, value);
  if (stored == element)
    return value;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, arith::ConstantOp::create(b, loc, b.getZeroAttr(whole)));
}

void BlockedThread::storeShared(ValueRange elements, Value pointer, int64_t bytes) {
  int64_t count = elements.size();
  Type element = elements.front().getType(), stored = storedType(element), access = accessType(b, stored, count);
  int64_t alignment = count * stored.getIntOrFloatBitWidth() / 8;
  SmallVector<Value> values(elements);
  if (stored != element)
    for (Value &value : values)
      value = arith::ExtUIOp::create(b, loc, stored, value);
  Value value = count == 1 ? values.front() : vectorOf(values);
  if (value.getType() != access)
    value = vector::BitCastOp::create(b, loc, access, value);
  LLVM::StoreOp::create(b, loc, value, advance(*this, pointer, bytes), alignment);
}

SmallVector<Value> BlockedThread::elementsOf(Value vector) {
  return llvm::to_vector_of<Value>(vector::ToElementsOp::create(b, loc, vector).getResults());
}

Value BlockedThread::vectorOf(ValueRange elements) {
  auto type = VectorType::get({static_cast<int64_t>(elements.size())}, elements.front().getType());
  return vector::FromElementsOp::create(b, loc, type, elements);
}
