//===- EmitSignature.cpp - an item's arguments to a tile.kernel -----------===//
//
// Arguments in the order of the C signature, then the run-time dims.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitSignature.h"
#include "dialect/tile/TileDialect.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

namespace {

class SignatureEmitter {
public:
  SignatureEmitter(const Item &item, OpBuilder &builder,
                   const LocationMap &locations, KernelValues &values)
      : item(item), builder(builder), locations(locations), values(values) {}

  void run();

private:
  void addTensor(const Tensor &tensor);
  void addScalar(const Scalar &scalar);
  void addDim(const Dim &dim);
  void addArgument(Type type, llvm::SMRange range,
                   ArrayRef<NamedAttribute> attributes);
  Attribute extentAttr(const Extent &extent);
  ArrayAttr requiresAttr();
  void bindArguments(Block &body);

  const Item &item;
  OpBuilder &builder;
  const LocationMap &locations;
  KernelValues &values;
  SmallVector<Type> types;
  SmallVector<Location> argumentLocs;
  SmallVector<Attribute> argumentAttrs;
};

} // namespace

void tegula::lang::emitSignature(const Item &item, OpBuilder &builder,
                                 const LocationMap &locations,
                                 KernelValues &values) {
  SignatureEmitter(item, builder, locations, values).run();
}

void SignatureEmitter::run() {
  Location loc = locations.get(item.range);
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
}

Type tegula::lang::memoryType(ElemType elem, OpBuilder &builder) {
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

void SignatureEmitter::addArgument(Type type, llvm::SMRange range,
                                   ArrayRef<NamedAttribute> attributes) {
  types.push_back(type);
  argumentLocs.push_back(locations.get(range));
  argumentAttrs.push_back(builder.getDictionaryAttr(attributes));
}

/// A dim's name, an integer, or a prefix expression.
Attribute SignatureEmitter::extentAttr(const Extent &extent) {
  if (extent.length->isConstant())
    return builder.getI64IntegerAttr(extent.length->integer);
  return builder.getStringAttr(prefixText(item, *extent.length));
}

void SignatureEmitter::addTensor(const Tensor &tensor) {
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
          builder.getStringAttr(tensor.role == Role::Input    ? "in"
                                : tensor.role == Role::Output ? "out"
                                                              : "inout"))};
  if (tensor.elem == ElemType::Bool || tensor.elem == ElemType::U8)
    attributes.push_back(builder.getNamedAttr(
        "tile.elem", builder.getStringAttr(elemTypeName(tensor.elem))));
  if (tensor.role == Role::Output)
    attributes.push_back(
        builder.getNamedAttr("tile.optional", builder.getUnitAttr()));
  if (tensor.sorted)
    attributes.push_back(
        builder.getNamedAttr("tile.sorted", builder.getUnitAttr()));
  if (tensor.low)
    attributes.push_back(builder.getNamedAttr(
        "tile.range",
        builder.getStrArrayAttr(
            {prefixText(item, *tensor.low), prefixText(item, *tensor.high)})));
  addArgument(MemRefType::get(shape, memoryType(tensor.elem, builder), layout),
              tensor.range, attributes);
}

void SignatureEmitter::addScalar(const Scalar &scalar) {
  Type type = scalar.type == ElemType::Bool ? Type(builder.getI1Type())
                                            : memoryType(scalar.type, builder);
  addArgument(
      type, scalar.range,
      builder.getNamedAttr("tile.name", builder.getStringAttr(scalar.name)));
}

void SignatureEmitter::addDim(const Dim &dim) {
  addArgument(
      builder.getI64Type(), dim.range,
      builder.getNamedAttr("tile.dim", builder.getStringAttr(dim.name)));
}

ArrayAttr SignatureEmitter::requiresAttr() {
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

void SignatureEmitter::bindArguments(Block &body) {
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
