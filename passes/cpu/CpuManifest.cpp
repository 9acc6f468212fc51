// Reads the names, roles and extents off a kernel's arguments, before lowering forgets them.
#include "passes/cpu/CpuManifest.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tegula;

namespace {

/// Collects the lists of a manifest.
class ManifestBuilder {
public:
  explicit ManifestBuilder(tile::KernelOp kernel) : kernel(kernel), b(kernel.getContext()) {}

  FailureOr<DictionaryAttr> build() {
    for (unsigned i = 0, e = kernel.getNumArguments(); i != e; ++i)
      if (failed(addArgument(i)))
        return failure();
    Attribute requirements = kernel->getAttr("tile.requires");
    StringAttr name = kernel.getSymNameAttr();
    return b.getDictionaryAttr({
        named("arguments", b.getArrayAttr(arguments)),
        named("dims", b.getArrayAttr(dims)),
        named("form", b.getStringAttr("direct")),
        named("grid", b.getDictionaryAttr({named("tiles", b.getStringAttr("1")), named("persistent", b.getBoolAttr(false))})),
        named("name", name),
        named("requires", requirements ? requirements : b.getArrayAttr({})),
        named("scalars", b.getArrayAttr(scalars)),
        named("shared_bytes", b.getI64IntegerAttr(0)),
        named("signature", b.getArrayAttr(signature)),
        named("symbol", name),
        named("target", b.getStringAttr("cpu")),
        named("tensors", b.getArrayAttr(tensors)),
        named("threads", b.getI64IntegerAttr(1)),
        named("version", b.getI64IntegerAttr(1)),
    });
  }

private:
  NamedAttribute named(StringRef name, Attribute value) { return b.getNamedAttr(name, value); }

  StringAttr typeName(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return b.getStringAttr(text);
  }

  LogicalResult addArgument(unsigned index) {
    if (auto dim = kernel.getArgAttrOfType<StringAttr>(index, "tile.dim")) {
      dims.push_back(dim);
      arguments.push_back(
          b.getDictionaryAttr({named("kind", b.getStringAttr("dim")), named("dim", dim), named("type", b.getStringAttr("i64"))}));
      return success();
    }
    auto name = kernel.getArgAttrOfType<StringAttr>(index, "tile.name");
    if (!name)
      return kernel.emitOpError("expected argument ") << index << " to have 'tile.name' or 'tile.dim'";
    signature.push_back(name);
    Type type = kernel.getArgumentTypes()[index];
    auto memory = dyn_cast<MemRefType>(type);
    if (!memory) {
      scalars.push_back(b.getDictionaryAttr({named("name", name), named("type", typeName(type))}));
      arguments.push_back(
          b.getDictionaryAttr({named("kind", b.getStringAttr("scalar")), named("name", name), named("type", typeName(type))}));
      return success();
    }
    auto extents = kernel.getArgAttrOfType<ArrayAttr>(index, "tile.dims");
    auto role = kernel.getArgAttrOfType<StringAttr>(index, "tile.role");
    if (!extents || !role || static_cast<int64_t>(extents.size()) != memory.getRank())
      return kernel.emitOpError("expected argument '") << name.getValue() << "' to have 'tile.role', and 'tile.dims' for each axis";
    // bool and u8 are i8 in memory.
    auto element = kernel.getArgAttrOfType<StringAttr>(index, "tile.elem");
    tensors.push_back(b.getDictionaryAttr({named("name", name), named("type", element ? element : typeName(memory.getElementType())),
                                           named("dims", extents), named("role", role)}));
    arguments.push_back(b.getDictionaryAttr({named("kind", b.getStringAttr("pointer")), named("tensor", name)}));
    return success();
  }

  tile::KernelOp kernel;
  Builder b;
  SmallVector<Attribute> tensors, scalars, dims, signature, arguments;
};

} // namespace

FailureOr<DictionaryAttr> tegula::makeCpuManifest(tile::KernelOp kernel) { return ManifestBuilder(kernel).build(); }
