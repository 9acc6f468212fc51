// Reads the names, roles and extents off a kernel's arguments, before lowering forgets them.
#include "passes/cpu/CpuManifest.h"

#include "dialect/tile/Signature.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tegula;

/// How the entry point takes each argument: in the kernel's own order, tensors as descriptors with their strides.
static ArrayAttr describeArguments(tile::KernelOp kernel) {
  Builder b(kernel.getContext());
  SmallVector<Attribute> arguments;
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto describe = [&](StringRef kind, StringRef key, Attribute name) {
      NamedAttrList facts({b.getNamedAttr("kind", b.getStringAttr(kind)), b.getNamedAttr(key, name)});
      if (kind != "pointer")
        facts.append("type", b.getStringAttr(tile::elementTypeName(type)));
      arguments.push_back(facts.getDictionary(b.getContext()));
    };
    Attribute name = kernel.getArgAttr(number, "tile.name");
    if (Attribute dim = kernel.getArgAttr(number, "tile.dim"))
      describe("dim", "dim", dim);
    else if (isa<MemRefType>(type))
      describe("pointer", "tensor", name);
    else
      describe("scalar", "name", name);
  }
  return b.getArrayAttr(arguments);
}

FailureOr<DictionaryAttr> tegula::makeCpuManifest(tile::KernelOp kernel) {
  Builder b(kernel.getContext());
  FailureOr<SmallVector<NamedAttribute>> facts = tile::describeSignature(kernel);
  if (failed(facts))
    return failure();
  auto add = [&](StringRef name, Attribute value) { facts->push_back(b.getNamedAttr(name, value)); };
  add("arguments", describeArguments(kernel));
  add("form", b.getStringAttr("direct"));
  add("grid", b.getDictionaryAttr({b.getNamedAttr("tiles", b.getStringAttr("1")), b.getNamedAttr("persistent", b.getBoolAttr(false))}));
  if (auto schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule"))
    add("schedule", tile::describeSchedule(schedule));
  else // a program as it was written
    add("schedule", b.getDictionaryAttr(b.getNamedAttr("form", b.getStringAttr("sequential"))));
  add("shared_bytes", b.getI64IntegerAttr(0));
  add("symbol", kernel.getSymNameAttr());
  add("target", b.getStringAttr("cpu"));
  add("threads", b.getI64IntegerAttr(1));
  add("version", b.getI64IntegerAttr(1));
  return b.getDictionaryAttr(*facts);
}
