// Sorts a kernel's arguments into tensors, scalars and dims.
#include "dialect/tile/Signature.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

std::string tegula::tile::elementTypeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text == "i1" ? "bool" : text;
}

FailureOr<SmallVector<NamedAttribute>> tegula::tile::describeSignature(FunctionOpInterface kernel) {
  Builder b(kernel.getContext());
  SmallVector<Attribute> tensors, scalars, dims, signature;
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    unsigned index = number;
    auto fact = [&](StringRef name) { return kernel.getArgAttr(index, name); };
    auto typeText = [&](Type element) { return b.getNamedAttr("type", b.getStringAttr(elementTypeName(element))); };
    if (Attribute dim = fact("tile.dim")) {
      dims.push_back(dim);
      continue;
    }
    if (fact("tile.role") == b.getStringAttr("scratch")) // no one passes it
      continue;
    Attribute name = fact("tile.name");
    if (!name)
      return kernel.emitOpError("expected argument ") << index << " to have 'tile.name' or 'tile.dim'", failure();
    signature.push_back(name);
    NamedAttrList facts(b.getNamedAttr("name", name));
    auto memory = dyn_cast<MemRefType>(type);
    if (!memory) {
      facts.append(typeText(type));
      scalars.push_back(facts.getDictionary(b.getContext()));
      continue;
    }
    auto extents = dyn_cast_or_null<ArrayAttr>(fact("tile.dims"));
    Attribute role = fact("tile.role"), element = fact("tile.elem");
    if (!extents || !role || static_cast<int64_t>(extents.size()) != memory.getRank())
      return kernel.emitOpError("expected argument '") << cast<StringAttr>(name).getValue() << "' to have 'tile.role', and 'tile.dims' for each axis", failure();
    // bool and u8 are i8 in memory.
    facts.append(element ? b.getNamedAttr("type", element) : typeText(memory.getElementType()));
    facts.append("dims", extents);
    facts.append("role", role);
    if (fact("tile.optional"))
      facts.append("optional", b.getBoolAttr(true));
    tensors.push_back(facts.getDictionary(b.getContext()));
  }
  Attribute requirements = kernel->getAttr("tile.requires");
  SmallVector<NamedAttribute> fields;
  auto add = [&](StringRef name, Attribute value) { fields.push_back(b.getNamedAttr(name, value)); };
  add("name", SymbolTable::getSymbolName(kernel));
  add("tensors", b.getArrayAttr(tensors));
  add("scalars", b.getArrayAttr(scalars));
  add("dims", b.getArrayAttr(dims));
  add("signature", b.getArrayAttr(signature));
  add("requires", requirements ? requirements : b.getArrayAttr({}));
  return fields;
}

std::string tegula::tile::describeScratch(FunctionOpInterface kernel, unsigned argument) {
  std::string bytes = "1";
  auto multiply = [&](const std::string &by) {
    if (by != "1")
      bytes = bytes == "1" ? by : "(* " + bytes + " " + by + ")";
  };
  multiply(std::to_string(cast<MemRefType>(kernel.getArgumentTypes()[argument]).getElementTypeBitWidth() / 8));
  for (Attribute extent : cast<ArrayAttr>(kernel.getArgAttr(argument, "tile.dims"))) {
    auto number = dyn_cast<IntegerAttr>(extent);
    multiply(number ? std::to_string(number.getInt()) : cast<StringAttr>(extent).getValue().str());
  }
  return bytes;
}

DictionaryAttr tegula::tile::describeSchedule(ScheduleAttr schedule) {
  Builder b(schedule.getContext());
  NamedAttrList fields;
  auto add = [&](StringRef name, int64_t value) { fields.append(name, b.getI64IntegerAttr(value)); };
  fields.append("form", b.getStringAttr(stringifyForm(schedule.getForm())));
  add("block_m", schedule.getBlockM());
  add("block_n", schedule.getBlockN());
  fields.append("pack_heads", b.getBoolAttr(schedule.getPackHeads()));
  if (schedule.getForm() != Form::Sequential) {
    add("consumers", schedule.getConsumers());
    fields.append("softmax", b.getStringAttr(stringifySoftmaxForm(schedule.getSoftmax())));
  }
  if (schedule.getForm() == Form::Pipelined) {
    add("stages", schedule.getStages());
    add("q_stages", schedule.getQStages());
    add("producer_registers", schedule.getProducerRegisters());
    add("consumer_registers", schedule.getConsumerRegisters());
    fields.append("ping_pong", b.getBoolAttr(schedule.getPingPong()));
    fields.append("tiles", b.getStringAttr(stringifyTileOrder(schedule.getTiles())));
    fields.append("overlap", b.getBoolAttr(schedule.getOverlap()));
    fields.append("walk", b.getStringAttr(stringifyWalk(schedule.getWalk())));
    add("polynomial", schedule.getPolynomial());
    fields.append("half_blocks", b.getBoolAttr(schedule.getHalfBlocks()));
    fields.append("epilogue", b.getStringAttr(stringifyEpilogue(schedule.getEpilogue())));
  }
  return fields.getDictionary(b.getContext());
}
