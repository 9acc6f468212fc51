// The text of NAME.h and NAME.c. The source is data and two calls: what can go wrong at a launch is checked by the runtime alone.
#include "codegen/CSources.h"

#include "runtime/Manifest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tegula;
using llvm::formatv;
using llvm::StringRef;
using rt::ElementType;

/// Words of C11 and C++20, and macros of the headers that NAME.h includes.
static constexpr StringRef reservedWords =
    " NULL alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield "
    "compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit "
    "export extern false float for friend goto if inline int linux long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local throw true try typedef typeid typename union unix unsigned using virtual void volatile wchar_t while xor "
    "xor_eq ";

static rt::Status checkName(StringRef name) {
  bool isReserved = name.starts_with("__") || (name.size() > 1 && name[0] == '_' && llvm::isUpper(name[1]));
  if (reservedWords.contains((" " + name + " ").str()) || isReserved)
    return rt::invalidArgument(formatv("`{0}` is a reserved word of C or C++, so the C header cannot use it; rename it", name));
  return rt::Status();
}

static rt::Status checkNames(const rt::Signature &signature) {
  TEGULA_RETURN_IF_FAILED(checkName(signature.name));
  if (StringRef(signature.name).starts_with("tegula"))
    return rt::invalidArgument(formatv("the C names of `{0}` could clash with those of tegula.h; rename it", signature.name));
  for (const std::string &name : signature.slots)
    TEGULA_RETURN_IF_FAILED(checkName(name));
  for (const rt::TensorInfo &info : signature.tensors)
    TEGULA_RETURN_IF_FAILED(checkName(info.name));
  return rt::Status();
}

/// The C type of an element; `void` where C has none.
static StringRef cType(ElementType type) {
  switch (type) {
  case ElementType::boolean:
    return "bool";
  case ElementType::i8:
    return "int8_t";
  case ElementType::u8:
    return "uint8_t";
  case ElementType::i16:
    return "int16_t";
  case ElementType::i32:
    return "int32_t";
  case ElementType::i64:
    return "int64_t";
  case ElementType::f16:
  case ElementType::bf16:
    return "void";
  case ElementType::f32:
    return "float";
  case ElementType::f64:
    return "double";
  }
  return "void";
}

/// A line that does not end the comment that it stands in.
static std::string commentText(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (size_t at; (at = text.find("*/")) != std::string::npos;)
    text.insert(at + 1, " ");
  return text;
}

namespace {
/// The two texts of one item.
class Writer {
public:
  Writer(std::span<const KernelCode> codes, std::span<const rt::Manifest> manifests)
      : codes(codes), manifests(manifests), signature(*manifests.front().signature), name(signature.name) {}

  std::string header();
  std::string source();

private:
  void writeTensors(llvm::raw_ostream &os);
  void writeRules(llvm::raw_ostream &os);
  void writeKernels(llvm::raw_ostream &os);
  void writeClaims(llvm::raw_ostream &os);
  void writeUse(llvm::raw_ostream &os);
  void writeStruct(llvm::raw_ostream &os);
  void writeBytes(llvm::raw_ostream &os, const llvm::Twine &what, StringRef bytes);
  void writeLaunch(llvm::raw_ostream &os);

  std::span<const KernelCode> codes;
  std::span<const rt::Manifest> manifests;
  const rt::Signature &signature;
  const std::string &name;
};
} // namespace

//===-- header --------------------------------------------------------------------------------------===//

void Writer::writeTensors(llvm::raw_ostream &os) {
  os << " * Tensors: element (i, j, ...) is at data[i * strides[0] + j * strides[1] + ...];\n"
        " * strides are in elements, in the order below, and NULL for a row-major tensor.\n";
  for (const rt::TensorInfo &info : signature.tensors)
    os << formatv(" *   {0,-8} {1,-5} {2}, {3}\n", info.name, rt::elementTypeName(info.type), signature.shapeText(info),
                  !info.isOutput    ? "read"
                  : info.isOptional ? "written, or skipped where data is NULL"
                                    : "written");
}

void Writer::writeRules(llvm::raw_ostream &os) {
  os << " * What must hold at each launch, and is checked:\n"
        " *   extents are 0 to 2^29; addresses are multiples of the element's size;\n"
        " *   elements of an output do not share memory\n";
  for (const rt::Requirement &requirement : signature.requirements)
    os << " *   " << commentText(requirement.text + (requirement.place.empty() ? "" : " (" + requirement.place + ")")) << "\n";
}

void Writer::writeKernels(llvm::raw_ostream &os) {
  os << " * Kernels, the first whose needs are met:\n";
  for (const rt::Manifest &manifest : manifests) {
    if (manifest.before)
      continue;
    os << formatv(" *   {0}{1}: {2} threads, {3} bytes of shared memory", rt::formName(manifest.form), manifest.isPacked ? ", packed" : "", manifest.threads, manifest.sharedBytes);
    bool hasMap = llvm::any_of(manifest.arguments, [](const auto &argument) { return argument.kind == rt::KernelArgument::Kind::tensorMap; });
    os << (hasMap || !manifest.conditions.empty() ? "; needs" : "") << "\n";
    if (manifest.isPacked)
      os << " *     fewer tiles where they hold rows of several query heads: before the others\n";
    for (const rt::KernelArgument &argument : manifest.arguments)
      if (argument.kind == rt::KernelArgument::Kind::tensorMap)
        os << formatv(" *     `{0}` not empty, innermost stride 1, address and other strides multiples of 16 bytes\n",
                      signature.tensors[argument.tensor].name);
    for (const rt::Condition &condition : manifest.conditions)
      if (!condition.text.empty())
        os << " *     " << condition.text << "\n";
  }
}

/// What a debug build does more.
void Writer::writeClaims(llvm::raw_ostream &os) {
  if (llvm::any_of(manifests, [](const rt::Manifest &manifest) { return manifest.before; }))
    os << " * Each launch first runs a kernel that checks what the program claims of its\n"
          " * arguments. Where a claim is wrong, the next wait for the stream reports\n"
          " * CUDA_ERROR_ASSERT, and standard output says which one.\n";
}

void Writer::writeUse(llvm::raw_ostream &os) {
  os << formatv(" * Each function gives TEGULA_OK or, with a text in tegula_last_error(),\n"
                " *   TEGULA_INVALID_ARGUMENT  an argument is wrong; the text names it, its value and the rule\n"
                " *   TEGULA_UNAVAILABLE       no driver, no GPU that runs {0}, or a launch into a\n"
                " *                            capture without {1}_prepare\n"
                " *   TEGULA_OUT_OF_MEMORY, TEGULA_DRIVER_ERROR\n"
                " *                            what the driver said, with the call and the shapes\n"
                " *\n"
                " * Compile {1}.c with the folder of tegula.h on the include path, and link libtegula-runtime.\n",
                manifests.front().target, name);
}

void Writer::writeStruct(llvm::raw_ostream &os) {
  os << "typedef struct " << name << "_args {\n";
  for (const std::string &argument : signature.order) {
    if (int scalar = signature.findScalar(argument); scalar >= 0) {
      os << formatv("  {0} {1};\n", cType(signature.scalars[scalar].type), argument);
      continue;
    }
    const rt::TensorInfo &info = signature.tensors[signature.findTensor(argument)];
    os << formatv("  struct {{\n    {0}{1} *data;\n    const int64_t *strides; /* {2} */\n  } {3}; /* {4} {5} */\n", info.isOutput ? "" : "const ",
                  cType(info.type), info.rank(), argument, rt::elementTypeName(info.type), signature.shapeText(info));
  }
  for (int dim = 0; dim != signature.numDims; ++dim)
    os << "  int64_t " << signature.slots[dim] << ";\n";
  os << "} " << name << "_args;\n";
}

std::string Writer::header() {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string guard = "TEGULA_ITEM_" + name + "_H";
  os << formatv("/* {0}.h - `{0}` for {1}, compiled by tegula. Generated; do not edit.\n *\n", name, manifests.front().target);
  writeTensors(os);
  writeRules(os);
  writeKernels(os);
  writeClaims(os);
  writeUse(os);
  os << formatv(" */\n#ifndef {0}\n#define {0}\n\n#include \"tegula.h\"\n\n#include <stdbool.h>\n\n"
                "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
                guard);
  writeStruct(os);
  os << formatv(R"(
typedef struct {0}_kernel {0}_kernel;

/* Loads the kernels on GPU number `device`. */
tegula_status {0}_load(int device, {0}_kernel **kernel);
/* Unloads. No launch may be running, and no captured graph may be used on. */
void {0}_unload({0}_kernel *kernel);
/* Loads what a launch on `stream` could need; do this before a capture in a
   context that is not the device's primary one. */
tegula_status {0}_prepare({0}_kernel *kernel, void *stream);
/* Enqueues a launch on `stream` (a CUstream or cudaStream_t). Allocates and
   synchronises nothing; may be captured, and called from any thread. `report`
   says which kernel was taken, and may be NULL. */
tegula_status {0}_launch(const {0}_kernel *kernel, const {0}_args *args,
    void *stream, tegula_launch_report *report);

#ifdef __cplusplus
}
#endif

#endif
)",
                name);
  return text;
}

//===-- source --------------------------------------------------------------------------------------===//

/// Ends with a zero, so that texts are C strings.
void Writer::writeBytes(llvm::raw_ostream &os, const llvm::Twine &what, StringRef bytes) {
  os << "static const unsigned char " << what << "[] = {";
  for (auto [number, byte] : llvm::enumerate(bytes))
    os << (number % 32 ? "" : "\n") << static_cast<unsigned>(static_cast<unsigned char>(byte)) << ",";
  os << "\n0};\n";
}

void Writer::writeLaunch(llvm::raw_ostream &os) {
  os << formatv("tegula_status {0}_launch(const {0}_kernel *kernel, const {0}_args *args,\n    void *stream, tegula_launch_report *report) {{\n"
                "  const tegula_kernel *loaded = (const tegula_kernel *)kernel;\n"
                "  if (!args)\n    return tegula_launch_values(loaded, NULL, 0, NULL, 0, stream, report);\n"
                "  const tegula_value values[] = {{\n",
                name);
  for (const std::string &argument : signature.order) {
    int scalar = signature.findScalar(argument);
    if (scalar < 0)
      os << formatv("    {{.tensor = {{args->{0}.data, args->{0}.strides}},\n", argument);
    else
      os << formatv("    {{.{0} = args->{1}},\n", rt::isFloat(signature.scalars[scalar].type) ? "real" : "integer", argument);
  }
  os << "    {.integer = 0}};\n  const int64_t dims[] = {";
  for (int dim = 0; dim != signature.numDims; ++dim)
    os << "args->" << signature.slots[dim] << ", ";
  os << formatv("0};\n  return tegula_launch_values(loaded, values, {0}, dims, {1}, stream, report);\n}\n", signature.order.size(),
                signature.numDims);
}

std::string Writer::source() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << formatv("/* {0}.c - the code of {0}.h. Generated; do not edit. */\n#include \"{0}.h\"\n\n", name);
  std::string table;
  for (auto [code, manifest] : llvm::zip(codes, manifests)) {
    std::string prefix = name + "_" + (manifest.before ? "claims" : manifest.isPacked ? "packed" : rt::formName(manifest.form));
    writeBytes(os, prefix + "_manifest", code.manifest);
    writeBytes(os, prefix + "_cubin", code.cubin);
    writeBytes(os, prefix + "_ptx", code.ptx);
    table += formatv("  {{(const char *){0}_manifest, {0}_cubin, sizeof {0}_cubin - 1,\n    (const char *){0}_ptx},\n", prefix).str();
  }
  os << formatv(R"(
static const tegula_code codes[] = {{
{1}};

tegula_status {0}_load(int device, {0}_kernel **kernel) {{
  tegula_kernel *loaded = NULL;
  tegula_status status =
      tegula_kernel_load_codes(codes, {2}, device, kernel ? &loaded : NULL);
  if (kernel)
    *kernel = ({0}_kernel *)loaded;
  return status;
}

void {0}_unload({0}_kernel *kernel) {{
  tegula_kernel_destroy((tegula_kernel *)kernel);
}

tegula_status {0}_prepare({0}_kernel *kernel, void *stream) {{
  return tegula_kernel_prepare((tegula_kernel *)kernel, stream);
}

)",
                name, table, codes.size());
  writeLaunch(os);
  return text;
}

rt::Result<CSources> tegula::writeCSources(std::span<const KernelCode> codes) {
  std::vector<rt::Manifest> manifests;
  for (const KernelCode &code : codes) {
    rt::Result<rt::Manifest> manifest = rt::Manifest::parse(code.manifest);
    if (!manifest.ok())
      return manifest.status();
    manifests.push_back(std::move(*manifest));
  }
  TEGULA_RETURN_IF_FAILED(checkNames(*manifests.front().signature));
  Writer writer(codes, manifests);
  return CSources{manifests.front().signature->name, writer.header(), writer.source()};
}
