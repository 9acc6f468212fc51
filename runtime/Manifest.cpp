//===- Manifest.cpp - read and check a manifest ---------------------------===//
//
// A small reader over nlohmann::json that keeps the path of the field at hand
// and the first error. After `parse` every index is in range and every
// expression resolves, so the launch path checks nothing of it again.
//
//===----------------------------------------------------------------------===//
#include "runtime/Manifest.h"
#include "runtime/Concat.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tegula::rt {

using Json = nlohmann::json;

const char *formName(Form form) {
  return form == Form::pipelined ? "pipelined" : "direct";
}

int Manifest::workspaceBytes() const {
  for (const KernelArgument &argument : arguments)
    if (argument.kind == KernelArgument::Kind::workspace)
      return argument.bytes;
  return 0;
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

namespace {

/// A JSON value with the path that leads to it.
struct Field {
  const Json *json;
  std::string path;
};

class ManifestReader {
public:
  Result<Manifest> read(const Json &root);

private:
  // Access with checks. After an error they return defaults; the error that is
  // reported is the first.
  void fail(const std::string &path, std::string what) {
    if (status.ok())
      status =
          invalidArgument(concat("manifest: `", path, "`: ", std::move(what)));
  }
  void failType(const Field &field, const char *expected) {
    fail(field.path,
         concat("expected ", expected, ", but got ",
                field.json->is_null() ? "nothing" : field.json->dump()));
  }
  Field get(const Field &object, const char *key) {
    static const Json nothing;
    std::string path = object.path.empty() ? key : object.path + "." + key;
    if (!object.json->is_object())
      return {&nothing, path};
    auto found = object.json->find(key);
    return {found == object.json->end() ? &nothing : &*found, path};
  }
  std::vector<Field> list(const Field &field, bool mayLack = false) {
    std::vector<Field> out;
    if (mayLack && field.json->is_null())
      return out;
    if (!field.json->is_array())
      failType(field, "a list");
    else
      for (size_t i = 0; i != field.json->size(); ++i)
        out.push_back({&(*field.json)[i], concat(field.path, "[", i, "]")});
    return out;
  }
  std::string text(const Field &field) {
    if (field.json->is_string())
      return field.json->get<std::string>();
    failType(field, "a text");
    return {};
  }
  std::string textOr(const Field &field, const char *otherwise) {
    return field.json->is_null() ? otherwise : text(field);
  }
  int64_t integer(const Field &field, int64_t least, int64_t most) {
    // Written out, because json converts silently between number types.
    bool fits = field.json->is_number_unsigned()
                    ? field.json->get<uint64_t>() <= uint64_t(INT64_MAX)
                    : field.json->is_number_integer();
    int64_t value = fits ? field.json->get<int64_t>() : 0;
    if (fits && value >= least && value <= most)
      return value;
    failType(field, concat("an integer from ", least, " to ", most).c_str());
    return least;
  }
  int64_t integerOr(const Field &field, int64_t otherwise, int64_t most) {
    return field.json->is_null() ? otherwise : integer(field, 0, most);
  }
  bool flagOr(const Field &field, bool otherwise) {
    if (field.json->is_null())
      return otherwise;
    if (!field.json->is_boolean())
      failType(field, "true or false");
    return field.json->is_boolean() && field.json->get<bool>();
  }
  ElementType type(const Field &field) {
    if (std::optional<ElementType> parsed = parseElementType(text(field)))
      return *parsed;
    failType(field, "an element type such as \"bf16\"");
    return ElementType::f32;
  }
  Expr expression(const Field &field) {
    Result<Expr> parsed = Expr::parse(text(field), signature->slots);
    if (parsed.ok())
      return std::move(*parsed);
    fail(field.path, parsed.status().message());
    return {};
  }
  /// The index of the tensor named by `object.tensor`.
  int tensor(const Field &object) {
    Field field = get(object, "tensor");
    int index = signature->findTensor(text(field));
    if (index < 0)
      failType(field, "the name of a tensor");
    return std::max(index, 0);
  }

  void readSignature(const Field &root);
  void readTensor(const Field &field);
  void readOrder(const Field &root);
  void checkDimsAreGiven(const Field &root);
  void readArgument(const Field &field, std::vector<KernelArgument> &arguments);
  void readTensorMap(const Field &field, KernelArgument &argument);
  void readWidth(const Field &field, KernelArgument &argument);
  void readCondition(const Field &field);
  void readScratch(const Field &field);
  void checkArguments(const std::string &path,
                      const std::vector<KernelArgument> &arguments);
  void readPrepass(const Field &field);

  Status status;
  Manifest manifest;
  std::shared_ptr<Signature> signature = std::make_shared<Signature>();
};

} // namespace

void ManifestReader::readTensor(const Field &field) {
  TensorInfo info;
  info.name = text(get(field, "name"));
  info.type = type(get(field, "type"));
  std::string role = text(get(field, "role"));
  if (role != "in" && role != "out" && role != "inout")
    failType(get(field, "role"), "\"in\", \"out\" or \"inout\"");
  info.isOutput = role != "in";
  info.isOptional = flagOr(get(field, "optional"), false);
  for (const Field &dim : list(get(field, "dims"))) {
    Extent extent;
    if (dim.json->is_number())
      extent.fixed = integer(dim, 0, maxExtent);
    else
      extent.expr = expression(dim);
    info.extents.push_back(std::move(extent));
  }
  if (info.rank() > maxRank)
    fail(get(field, "dims").path,
         concat("expected at most ", maxRank, " axes, but got ", info.rank()));
  signature->tensors.push_back(std::move(info));
}

/// Every dim has to be the extent of some tensor, alone or with an offset.
void ManifestReader::checkDimsAreGiven(const Field &root) {
  std::vector<bool> given(signature->slots.size());
  for (const TensorInfo &tensor : signature->tensors)
    for (const Extent &extent : tensor.extents)
      if (auto offset = extent.expr ? extent.expr->asOffset() : std::nullopt)
        given[offset->slot] = true;
  for (int i = 0; i != signature->numDims; ++i)
    if (!given[i])
      fail("dims", concat("no extent of a tensor gives `", signature->slots[i],
                          "` its value"));
}

void ManifestReader::readOrder(const Field &root) {
  for (const Field &field : list(get(root, "signature"), /*mayLack=*/true)) {
    std::string name = text(field);
    if (signature->findTensor(name) < 0 && signature->findScalar(name) < 0)
      failType(field, "the name of a tensor or a scalar");
    else if (std::find(signature->order.begin(), signature->order.end(),
                       name) != signature->order.end())
      fail(field.path, concat("`", name, "` is listed twice"));
    signature->order.push_back(std::move(name));
  }
  auto addMissing = [&](const std::string &name) {
    if (std::find(signature->order.begin(), signature->order.end(), name) ==
        signature->order.end())
      signature->order.push_back(name);
  };
  for (const TensorInfo &info : signature->tensors)
    addMissing(info.name);
  for (const ScalarInfo &info : signature->scalars)
    addMissing(info.name);
}

/// FNV-1a over what a caller can see of the signature.
static uint64_t fingerprintOf(const Signature &signature) {
  std::string text;
  for (const TensorInfo &info : signature.tensors)
    text += concat(info.name, ":", elementTypeName(info.type),
                   signature.shapeText(info), info.isOutput ? ">" : "<",
                   info.isOptional ? "?;" : ";");
  for (const ScalarInfo &info : signature.scalars)
    text += concat(info.name, ":", elementTypeName(info.type), ";");
  for (const std::string &slot : signature.slots)
    text += slot + ",";
  for (const std::string &name : signature.order)
    text += name + ",";
  uint64_t hash = 14695981039346656037ull;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

void ManifestReader::readSignature(const Field &root) {
  signature->name = text(get(root, "name"));
  for (const Field &dim : list(get(root, "dims")))
    signature->slots.push_back(text(dim));
  signature->numDims = static_cast<int>(signature->slots.size());
  for (const Field &field : list(get(root, "scalars"), /*mayLack=*/true)) {
    ScalarInfo info{text(get(field, "name")), type(get(field, "type"))};
    if (info.type == ElementType::f16 || info.type == ElementType::bf16)
      failType(get(field, "type"), "a scalar of an integer type, bool, f32 or "
                                   "f64");
    signature->slots.push_back(info.name);
    signature->scalars.push_back(std::move(info));
  }
  if (signature->slots.size() > maxSlots)
    fail("dims",
         concat("expected at most ", maxSlots, " dims and scalars, but got ",
                signature->slots.size()));
  for (const Field &field : list(get(root, "tensors")))
    readTensor(field);
  if (signature->tensors.size() > maxTensors)
    fail("tensors", concat("expected at most ", maxTensors,
                           " tensors, but got ", signature->tensors.size()));

  std::vector<std::string> names = signature->slots;
  for (const TensorInfo &info : signature->tensors)
    names.push_back(info.name);
  std::sort(names.begin(), names.end());
  if (auto twice = std::adjacent_find(names.begin(), names.end());
      twice != names.end())
    fail("tensors", concat("the name `", *twice, "` is used twice"));

  for (const Field &field : list(get(root, "requires"), /*mayLack=*/true))
    signature->requirements.push_back({text(get(field, "text")),
                                       textOr(get(field, "place"), ""),
                                       expression(get(field, "expr"))});
  if (!status.ok())
    return;
  readOrder(root);
  checkDimsAreGiven(root);
  signature->fingerprint = fingerprintOf(*signature);
}

void ManifestReader::readTensorMap(const Field &field,
                                   KernelArgument &argument) {
  argument.tensor = tensor(field);
  const TensorInfo &info = signature->tensors[argument.tensor];
  std::vector<bool> seen(info.rank());
  for (const Field &entry : list(get(field, "axes"))) {
    int axis = static_cast<int>(integer(entry, 0, info.rank() - 1));
    if (info.rank() > 0 && seen[axis])
      fail(entry.path, concat("axis ", axis, " is listed twice"));
    if (info.rank() > 0)
      seen[axis] = true;
    argument.axes.push_back(axis);
  }
  if (argument.axes.size() != info.extents.size() || info.rank() < 1 ||
      info.rank() > 5)
    fail(get(field, "axes").path,
         concat("expected each axis of `", info.name,
                "` once, and 1 to 5 of them, but got ", argument.axes.size(),
                " for rank ", info.rank()));
  for (const Field &entry : list(get(field, "box"))) {
    Extent extent;
    if (entry.json->is_string() && !argument.box.empty())
      extent.expr = expression(entry);
    else
      extent.fixed = integer(entry, 1, maxBox);
    argument.box.push_back(std::move(extent));
  }
  if (argument.box.size() != argument.axes.size())
    fail(get(field, "box").path,
         concat("expected ", argument.axes.size(), " extents, but got ",
                argument.box.size()));
  argument.swizzle = integerOr(get(field, "swizzle"), 0, 128);
  argument.l2Promotion = integerOr(get(field, "l2_promotion"), 256, 256);
  auto oneOf = [](int value, std::initializer_list<int> legal) {
    return std::find(legal.begin(), legal.end(), value) != legal.end();
  };
  if (!oneOf(argument.swizzle, {0, 32, 64, 128}))
    failType(get(field, "swizzle"), "0, 32, 64 or 128");
  if (!oneOf(argument.l2Promotion, {0, 64, 128, 256}))
    failType(get(field, "l2_promotion"), "0, 64, 128 or 256");
  if (!status.ok())
    return;
  int64_t inner = argument.box[0].fixed * elementSize(info.type);
  if (inner % 16 != 0 || (argument.swizzle && inner > argument.swizzle))
    fail(get(field, "box").path,
         concat("expected an inner box of a multiple of 16 bytes",
                argument.swizzle ? concat(" and at most ", argument.swizzle)
                                 : "",
                ", but got ", inner, " bytes"));
}

/// The kernel and its pre-pass have the same memory.
void ManifestReader::readScratch(const Field &field) {
  Expr bytes = expression(field);
  if (manifest.scratchBytes && manifest.scratchBytes->text() != bytes.text())
    fail(field.path, concat("expected the size of the other scratch, `",
                            manifest.scratchBytes->text(), "`, but got `",
                            bytes.text(), "`"));
  manifest.scratchBytes = std::move(bytes);
}

/// i32 where nothing is said.
void ManifestReader::readWidth(const Field &field, KernelArgument &argument) {
  argument.type = field.json->is_null() ? ElementType::i32 : type(field);
  if (argument.type != ElementType::i32 && argument.type != ElementType::i64)
    failType(field, "\"i32\" or \"i64\"");
}

void ManifestReader::readArgument(const Field &field,
                                  std::vector<KernelArgument> &arguments) {
  std::string kind = text(get(field, "kind"));
  KernelArgument argument;
  if (kind == "tensor_map") {
    argument.kind = KernelArgument::Kind::tensorMap;
    readTensorMap(field, argument);
  } else if (kind == "pointer") {
    argument.kind = KernelArgument::Kind::pointer;
    argument.tensor = tensor(field);
  } else if (kind == "stride") {
    argument.kind = KernelArgument::Kind::stride;
    argument.tensor = tensor(field);
    int rank = status.ok() ? signature->tensors[argument.tensor].rank() : 1;
    argument.axis = static_cast<int>(integer(get(field, "axis"), 0, rank - 1));
  } else if (kind == "dim") {
    argument.kind = KernelArgument::Kind::dim;
    Field name = get(field, "dim");
    argument.slot = signature->findDim(text(name));
    if (argument.slot < 0)
      failType(name, "the name of a dim");
    readWidth(get(field, "type"), argument);
  } else if (kind == "value") {
    argument.kind = KernelArgument::Kind::value;
    argument.expr = expression(get(field, "expr"));
    readWidth(get(field, "type"), argument);
  } else if (kind == "scalar") {
    argument.kind = KernelArgument::Kind::scalar;
    Field name = get(field, "name");
    int scalar = signature->findScalar(text(name));
    if (scalar < 0)
      failType(name, "the name of a scalar");
    argument.slot = signature->numDims + scalar;
    argument.type = type(get(field, "type"));
    if (scalar >= 0 &&
        isFloat(argument.type) != isFloat(signature->scalars[scalar].type))
      fail(get(field, "type").path,
           concat("`", signature->scalars[scalar].name, "` is declared ",
                  elementTypeName(signature->scalars[scalar].type),
                  ", but passed as ", elementTypeName(argument.type)));
  } else if (kind == "workspace") {
    argument.kind = KernelArgument::Kind::workspace;
    if (manifest.hasWorkspace())
      fail(field.path, "expected at most one workspace, but got another");
    argument.bytes = static_cast<int>(
        integer(get(field, "bytes"), minWorkspaceBytes, maxWorkspaceBytes));
  } else if (kind == "scratch") {
    argument.kind = KernelArgument::Kind::scratch;
    readScratch(get(field, "bytes"));
  } else {
    failType(get(field, "kind"),
             "\"tensor_map\", \"pointer\", \"stride\", \"dim\", "
             "\"scalar\", \"value\", \"workspace\" or \"scratch\"");
    return;
  }
  arguments.push_back(std::move(argument));
}

void ManifestReader::readCondition(const Field &field) {
  Condition condition;
  condition.text = textOr(get(field, "text"), "");
  std::string kind = text(get(field, "kind"));
  using Kind = Condition::Kind;
  if (kind == "expr") {
    condition.kind = Kind::expression;
    condition.expr = expression(get(field, "expr"));
  } else {
    condition.tensor = tensor(field);
    if (kind == "aligned")
      condition.kind = Kind::aligned;
    else if (kind == "stride_multiple")
      condition.kind = Kind::strideMultiple;
    else if (kind == "inner_contiguous")
      condition.kind = Kind::innerContiguous;
    else if (kind == "nonempty")
      condition.kind = Kind::nonempty;
    else
      failType(get(field, "kind"),
               "\"aligned\", \"stride_multiple\", \"inner_contiguous\", "
               "\"nonempty\" or \"expr\"");
    if (kind == "aligned" || kind == "stride_multiple")
      condition.bytes = get(field, "bytes").json->is_null()
                            ? 16
                            : integer(get(field, "bytes"), 1, 1 << 20);
  }
  manifest.conditions.push_back(std::move(condition));
}

void ManifestReader::checkArguments(
    const std::string &path, const std::vector<KernelArgument> &arguments) {
  if (arguments.size() > maxArguments)
    fail(path, concat("expected at most ", maxArguments, ", but got ",
                      arguments.size()));
  auto maps =
      std::count_if(arguments.begin(), arguments.end(),
                    [](const KernelArgument &argument) {
                      return argument.kind == KernelArgument::Kind::tensorMap;
                    });
  if (maps > maxTensorMaps)
    fail(path, concat("expected at most ", maxTensorMaps,
                      " tensor maps, but got ", maps));
}

void ManifestReader::readPrepass(const Field &field) {
  if (field.json->is_null())
    return;
  Prepass prepass;
  prepass.symbol = text(get(field, "symbol"));
  for (const Field &argument : list(get(field, "arguments"))) {
    if (get(argument, "kind").json->is_string() &&
        text(get(argument, "kind")) == "workspace")
      fail(argument.path, "a pre-pass has no workspace");
    readArgument(argument, prepass.arguments);
  }
  checkArguments(get(field, "arguments").path, prepass.arguments);
  Field grid = get(field, "grid");
  prepass.grid = {expression(get(grid, "tiles")),
                  flagOr(get(grid, "persistent"), false)};
  prepass.threads = integer(get(field, "threads"), 1, 1024);
  prepass.sharedBytes = integerOr(get(field, "shared_bytes"), 0, 1 << 20);
  manifest.prepass = std::move(prepass);
}

Result<Manifest> ManifestReader::read(const Json &json) {
  Field root{&json, ""};
  if (!json.is_object())
    return invalidArgument("manifest: expected a JSON object");
  integer(get(root, "version"), 1, 1);
  readSignature(root);
  if (!status.ok())
    return status;

  manifest.symbol = text(get(root, "symbol"));
  manifest.target = text(get(root, "target"));
  std::string form = text(get(root, "form"));
  if (form != "pipelined" && form != "direct")
    failType(get(root, "form"), "\"pipelined\" or \"direct\"");
  manifest.form = form == "pipelined" ? Form::pipelined : Form::direct;
  for (const Field &field : list(get(root, "arguments")))
    readArgument(field, manifest.arguments);
  checkArguments("arguments", manifest.arguments);
  Field grid = get(root, "grid");
  manifest.grid = {expression(get(grid, "tiles")),
                   flagOr(get(grid, "persistent"), false)};
  manifest.threads = integer(get(root, "threads"), 1, 1024);
  manifest.sharedBytes = integerOr(get(root, "shared_bytes"), 0, 1 << 20);
  manifest.ctasPerSm = get(root, "ctas_per_sm").json->is_null()
                           ? 1
                           : integer(get(root, "ctas_per_sm"), 1, 32);
  manifest.registers = integerOr(get(root, "registers"), 0, 1 << 16);
  manifest.spillBytes = integerOr(get(root, "spill_bytes"), 0, 1 << 30);
  if (Field schedule = get(root, "schedule"); !schedule.json->is_null())
    manifest.schedule = schedule.json->dump();
  manifest.before = flagOr(get(root, "before"), false);
  manifest.isPacked = flagOr(get(root, "packed"), false);
  if (Field packing = get(root, "packing"); !packing.json->is_null())
    manifest.packing = expression(packing);
  readPrepass(get(root, "prepass"));
  for (const Field &field : list(get(root, "conditions"), /*mayLack=*/true))
    readCondition(field);
  if (!status.ok())
    return status;
  manifest.signature = std::move(signature);
  return std::move(manifest);
}

Result<Manifest> Manifest::parse(std::string_view text) {
  return guarded([&]() -> Result<Manifest> {
    try {
      return ManifestReader().read(Json::parse(text));
    } catch (const Json::exception &error) {
      return invalidArgument(concat("manifest: ", error.what()));
    }
  });
}

} // namespace tegula::rt
