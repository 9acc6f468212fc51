//===- Manifest.cpp - What a kernel's user must know of it, as JSON -------===//
//
// A generic conversion of attributes to JSON: fields that a pass adds to the
// dictionary need no change here.
//
//===----------------------------------------------------------------------===//
#include "codegen/Manifest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace json = llvm::json;

namespace tegula {

static constexpr llvm::StringLiteral commentStart = "// tegula.manifest ";

static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

template <typename DenseAttr>
static json::Value toJsonArray(DenseAttr attribute) {
  json::Array array;
  for (auto element : attribute.asArrayRef())
    array.push_back(element);
  return array;
}

static std::optional<json::Value> toJson(DictionaryAttr dictionary) {
  json::Object object;
  for (NamedAttribute entry : dictionary) {
    std::optional<json::Value> value = toJson(entry.getValue());
    if (!value)
      return std::nullopt;
    object[entry.getName().strref()] = std::move(*value);
  }
  return json::Value(std::move(object));
}

static std::optional<json::Value> toJson(ArrayAttr elements) {
  json::Array array;
  for (Attribute element : elements) {
    std::optional<json::Value> value = toJson(element);
    if (!value)
      return std::nullopt;
    array.push_back(std::move(*value));
  }
  return json::Value(std::move(array));
}

std::optional<json::Value> toJson(Attribute attribute) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute))
    return toJson(dictionary);
  if (auto elements = dyn_cast<ArrayAttr>(attribute))
    return toJson(elements);
  if (auto text = dyn_cast<StringAttr>(attribute))
    return json::Value(json::fixUTF8(text.getValue()));
  if (auto boolean = dyn_cast<BoolAttr>(attribute))
    return json::Value(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getSignificantBits() <= 64
               ? std::optional(json::Value(integer.getValue().getSExtValue()))
               : std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return json::Value(number.getValueAsDouble());
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute))
    return json::Value(symbol.getValue().str());
  if (auto type = dyn_cast<TypeAttr>(attribute))
    return json::Value(printed(type.getValue()));
  if (isa<UnitAttr>(attribute))
    return json::Value(true);
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attribute))
    return toJsonArray(array);
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
    return toJsonArray(array);
  if (auto array = dyn_cast<DenseBoolArrayAttr>(attribute))
    return toJsonArray(array);
  return std::nullopt;
}

/// Of a kernel that is launched before another one: only what its launch needs.
static json::Object prepassOf(json::Object manifest, StringRef symbol) {
  json::Object prepass{{"symbol", symbol}};
  for (StringRef field : {"arguments", "grid", "threads", "shared_bytes"})
    prepass[field] = std::move(manifest[field]);
  return prepass;
}

FailureOr<json::Object> buildManifest(ModuleOp module, StringRef targetName) {
  std::optional<json::Object> result, prepass;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto dictionary =
        function->getAttrOfType<DictionaryAttr>("tegula.manifest");
    if (!dictionary)
      continue;
    json::Object manifest;
    for (NamedAttribute entry : dictionary) {
      std::optional<json::Value> value = toJson(entry.getValue());
      if (!value)
        return function.emitError()
                   << "field '" << entry.getName().strref()
                   << "' of 'tegula.manifest' has no JSON form: "
                   << entry.getValue(),
               failure();
      manifest[entry.getName().strref()] = std::move(*value);
    }
    if (manifest.get("prepass")) {
      prepass = prepassOf(std::move(manifest), function.getSymName());
    } else if (!result) {
      addCodeFacts(manifest, {function.getSymName().str(), targetName.str(), 0,
                              std::nullopt, std::nullopt});
      result = std::move(manifest);
    }
  }
  if (result && prepass)
    (*result)["prepass"] = std::move(*prepass);
  if (result)
    return std::move(*result);
  return module.emitError() << "expected a function with 'tegula.manifest', "
                               "the description of the kernel for its launch",
         failure();
}

void addCodeFacts(json::Object &manifest, const CodeFacts &facts) {
  manifest["version"] = manifestVersion;
  if (!facts.symbol.empty())
    manifest["symbol"] = facts.symbol;
  if (!facts.target.empty())
    manifest["target"] = facts.target;
  if (facts.ptxVersion)
    manifest["ptx_version"] = facts.ptxVersion;
  if (facts.registers)
    manifest["registers"] = *facts.registers;
  if (facts.spillBytes)
    manifest["spill_bytes"] = *facts.spillBytes;
}

std::string manifestComment(const json::Object &manifest) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << commentStart << json::Value(json::Object(manifest)) << "\n";
  return text;
}

std::optional<json::Object> manifestOfPtx(StringRef ptx) {
  for (StringRef line : llvm::split(ptx, '\n')) {
    if (!line.consume_front(commentStart))
      continue;
    llvm::Expected<json::Value> value = json::parse(line);
    if (!value) {
      llvm::consumeError(value.takeError());
      return std::nullopt;
    }
    if (json::Object *object = value->getAsObject())
      return std::move(*object);
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace tegula
