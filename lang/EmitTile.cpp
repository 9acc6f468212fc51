//===- EmitTile.cpp - a resolved item to the tile dialect -----------------===//
//
// The kernel's signature, and `tile.attention` with its three regions. The code
// inside a region is ScalarEmitter's.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitTile.h"
#include "dialect/tile/TileDialect.h"
#include "lang/EmitScalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <cmath>

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

namespace {

class KernelEmitter {
public:
  KernelEmitter(const Item &item, const llvm::SourceMgr &sources,
                MLIRContext &context)
      : item(item), builder(&context), locations(sources, context) {}

  OwningOpRef<ModuleOp> run();

private:
  Type memoryType(ElemType elem);
  void addTensor(const Tensor &tensor);
  void addScalar(const Scalar &scalar);
  void addDim(const Dim &dim);
  void addArgument(Type type, llvm::SMRange range,
                   ArrayRef<NamedAttribute> attributes);
  Attribute extentAttr(const Extent &extent);
  ArrayAttr requiresAttr();
  void bindArguments(Block &body);
  Value dimValue(StringRef name, Location loc);
  void emitAttention(Location loc);
  void emitScale(Region &region, Location loc);
  void emitScore(Region &region, Location loc);
  void emitMask(Region &region, Location loc);
  Block *createBlock(Region &region, bool withScore, unsigned indices,
                     Location loc);

  const Item &item;
  OpBuilder builder;
  LocationMap locations;
  KernelValues values;
  SmallVector<Type> types;
  SmallVector<Location> argumentLocs;
  SmallVector<Attribute> argumentAttrs;
};

} // namespace

OwningOpRef<ModuleOp> tegula::lang::emitTile(const Item &item,
                                             const llvm::SourceMgr &sources,
                                             MLIRContext &context) {
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                      memref::MemRefDialect>();
  return KernelEmitter(item, sources, context).run();
}

OwningOpRef<ModuleOp> KernelEmitter::run() {
  Location loc = locations.get(item.range);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  for (const Argument &argument : item.signature)
    argument.isTensor ? addTensor(item.tensors[argument.number])
                      : addScalar(item.scalars[argument.number]);
  for (const Dim &dim : item.dims)
    if (!dim.value)
      addDim(dim);
  auto kernel =
      tile::KernelOp::create(builder, loc, builder.getStringAttr(item.name),
                             TypeAttr::get(builder.getFunctionType(types, {})),
                             builder.getArrayAttr(argumentAttrs), ArrayAttr());
  kernel->setAttr("tile.requires", requiresAttr());
  Block &body = kernel.getBody().emplaceBlock();
  body.addArguments(types, argumentLocs);
  bindArguments(body);
  builder.setInsertionPointToEnd(&body);
  emitAttention(loc);
  tile::ReturnOp::create(builder, loc);
  return module;
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

Type KernelEmitter::memoryType(ElemType elem) {
  switch (elem) {
  case ElemType::F16:
    return builder.getF16Type();
  case ElemType::BF16:
    return builder.getBF16Type();
  case ElemType::F32:
    return builder.getF32Type();
  case ElemType::F64:
    return builder.getF64Type();
  case ElemType::Bool:
    return builder.getI8Type();
  default:
    return builder.getIntegerType(integerBits(elem));
  }
}

void KernelEmitter::addArgument(Type type, llvm::SMRange range,
                                ArrayRef<NamedAttribute> attributes) {
  types.push_back(type);
  argumentLocs.push_back(locations.get(range));
  argumentAttrs.push_back(builder.getDictionaryAttr(attributes));
}

/// A dim's name, an integer, or a prefix expression.
Attribute KernelEmitter::extentAttr(const Extent &extent) {
  if (extent.length->isConstant())
    return builder.getI64IntegerAttr(extent.length->integer);
  return builder.getStringAttr(prefixText(item, *extent.length));
}

void KernelEmitter::addTensor(const Tensor &tensor) {
  SmallVector<int64_t> shape;
  SmallVector<Attribute> dims;
  for (const Extent &extent : tensor.extents) {
    shape.push_back(extent.length->isConstant() ? extent.length->integer
                                                : ShapedType::kDynamic);
    dims.push_back(extentAttr(extent));
  }
  SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(builder.getContext(), 0, strides);
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("tile.name", builder.getStringAttr(tensor.name)),
      builder.getNamedAttr("tile.dims", builder.getArrayAttr(dims)),
      builder.getNamedAttr(
          "tile.role",
          builder.getStringAttr(tensor.role == Role::Input ? "in" : "out"))};
  if (tensor.elem == ElemType::Bool || tensor.elem == ElemType::U8)
    attributes.push_back(builder.getNamedAttr(
        "tile.elem", builder.getStringAttr(elemTypeName(tensor.elem))));
  if (tensor.sorted)
    attributes.push_back(
        builder.getNamedAttr("tile.sorted", builder.getUnitAttr()));
  if (tensor.low)
    attributes.push_back(builder.getNamedAttr(
        "tile.range",
        builder.getStrArrayAttr(
            {prefixText(item, *tensor.low), prefixText(item, *tensor.high)})));
  addArgument(MemRefType::get(shape, memoryType(tensor.elem), layout),
              tensor.range, attributes);
}

void KernelEmitter::addScalar(const Scalar &scalar) {
  Type type = scalar.type == ElemType::Bool ? Type(builder.getI1Type())
                                            : memoryType(scalar.type);
  addArgument(
      type, scalar.range,
      builder.getNamedAttr("tile.name", builder.getStringAttr(scalar.name)));
}

void KernelEmitter::addDim(const Dim &dim) {
  addArgument(
      builder.getI64Type(), dim.range,
      builder.getNamedAttr("tile.dim", builder.getStringAttr(dim.name)));
}

ArrayAttr KernelEmitter::requiresAttr() {
  SmallVector<Attribute> list;
  for (const Requirement &r : item.requirements)
    list.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("text", builder.getStringAttr(r.text)),
         builder.getNamedAttr("place",
                              builder.getStringAttr(locations.place(r.range))),
         builder.getNamedAttr(
             "expr", builder.getStringAttr(prefixText(item, *r.value)))}));
  return builder.getArrayAttr(list);
}

void KernelEmitter::bindArguments(Block &body) {
  values.tensors.resize(item.tensors.size());
  values.scalars.resize(item.scalars.size());
  values.dims.resize(item.dims.size());
  unsigned next = 0;
  for (const Argument &argument : item.signature)
    (argument.isTensor ? values.tensors : values.scalars)[argument.number] =
        body.getArgument(next++);
  for (size_t i = 0; i < item.dims.size(); ++i)
    if (!item.dims[i].value)
      values.dims[i] = body.getArgument(next++);
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

Value KernelEmitter::dimValue(StringRef name, Location loc) {
  int number = item.findDim(name);
  if (std::optional<int64_t> value = item.dims[number].value)
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(*value));
  return values.dims[number];
}

void KernelEmitter::emitAttention(Location loc) {
  SmallVector<Value> dims;
  for (StringRef name : {"B", "H", "G", "M", "N"})
    dims.push_back(dimValue(name, loc));
  auto attention = tile::AttentionOp::create(
      builder, loc, values.tensors[item.q.tensor],
      values.tensors[item.k.tensor], values.tensors[item.v.tensor],
      values.tensors[item.o],
      item.lse >= 0 ? values.tensors[item.lse] : Value(), dims[0], dims[1],
      dims[2], dims[3], dims[4], tile::ScheduleAttr());
  OpBuilder::InsertionGuard guard(builder);
  emitScale(attention.getScale(), loc);
  emitScore(attention.getScore(), loc);
  emitMask(attention.getMask(), loc);
}

/// A block that takes the score, if wanted, then the first `indices` of b, h,
/// g, i, j.
Block *KernelEmitter::createBlock(Region &region, bool withScore,
                                  unsigned indices, Location loc) {
  SmallVector<Type> arguments;
  if (withScore)
    arguments.push_back(item.accumulator == ElemType::F64
                            ? Type(builder.getF64Type())
                            : Type(builder.getF32Type()));
  arguments.append(indices, builder.getI64Type());
  return builder.createBlock(&region, region.end(), arguments,
                             SmallVector<Location>(arguments.size(), loc));
}

void KernelEmitter::emitScale(Region &region, Location loc) {
  Block *block = createBlock(region, false, 4, loc);
  ScalarEmitter scalar(item, values, locations, builder, block->getArguments());
  Value scale =
      item.scale
          ? scalar.emit(*item.scale)
          : scalar.realConstant(1.0 / std::sqrt(double(item.headDim())), loc);
  tile::YieldOp::create(builder, loc, scale);
}

void KernelEmitter::emitScore(Region &region, Location loc) {
  Block *block = createBlock(region, true, 5, loc);
  ScalarEmitter scalar(item, values, locations, builder,
                       block->getArguments().drop_front());
  Value score = block->getArgument(0);
  for (const Expr *e : item.scores) {
    scalar.setScore(score);
    score = scalar.emit(*e);
  }
  tile::YieldOp::create(builder, loc, score);
}

void KernelEmitter::emitMask(Region &region, Location loc) {
  Block *block = createBlock(region, false, 5, loc);
  ScalarEmitter scalar(item, values, locations, builder, block->getArguments());
  Value keep;
  for (const Expr *e : item.masks) {
    Value next = scalar.emit(*e);
    keep = keep ? Value(arith::AndIOp::create(builder, locations.get(e->range),
                                              keep, next))
                : next;
  }
  if (!keep)
    keep = scalar.boolConstant(true, loc);
  tile::YieldOp::create(builder, loc, keep);
}
