//===- Npy.cpp - NumPy files ----------------------------------------------===//
//
// The header of a `.npy` file is a Python dict literal with the keys descr,
// fortran_order and shape; see numpy.lib.format. Nothing of a file is trusted:
// lengths are checked before they are used.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Npy.h"
#include "tools/tegula/Failure.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <optional>

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef magic = "\x93NUMPY";

namespace {
/// Reads the dict literal of a header.
class HeaderParser {
public:
  HeaderParser(StringRef text, StringRef path) : rest(text), path(path) {}

  llvm::Error parse(NpyHeader &header) {
    if (!take("{"))
      return bad("a dict");
    bool descr = false, order = false, shape = false;
    while (!take("}")) {
      std::optional<StringRef> key = string();
      if (!key || !take(":"))
        return bad("a quoted key and `:`");
      if (*key == "descr") {
        std::optional<StringRef> value = string();
        if (!value)
          return userError(Twine(path) +
                           ": structured types are not supported");
        header.descr = value->str();
        descr = true;
      } else if (*key == "fortran_order") {
        header.fortranOrder = take("True");
        if (!header.fortranOrder && !take("False"))
          return bad("True or False");
        order = true;
      } else if (*key == "shape") {
        if (llvm::Error error = parseShape(header.shape))
          return error;
        shape = true;
      } else {
        return userError(Twine(path) + ": unknown key '" + *key +
                         "' in the npy header");
      }
      if (!take(",") && !rest.ltrim().starts_with("}"))
        return bad("`,` or `}`");
    }
    if (!descr || !order || !shape)
      return bad("the keys descr, fortran_order and shape");
    return llvm::Error::success();
  }

private:
  llvm::Error parseShape(llvm::SmallVectorImpl<int64_t> &shape) {
    if (!take("("))
      return bad("a tuple");
    while (!take(")")) {
      rest = rest.ltrim();
      StringRef begin = rest;
      int64_t extent;
      if (rest.consumeInteger(10, extent) || extent < 0) {
        rest = begin;
        return bad("an extent");
      }
      rest.consume_front("L");
      shape.push_back(extent);
      if (!take(",") && !rest.ltrim().starts_with(")"))
        return bad("`,` or `)`");
    }
    return llvm::Error::success();
  }
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  std::optional<StringRef> string() {
    rest = rest.ltrim();
    if (!rest.starts_with("'") && !rest.starts_with("\""))
      return std::nullopt;
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos)
      return std::nullopt;
    StringRef text = rest.substr(1, end - 1);
    rest = rest.drop_front(end + 1);
    return text;
  }
  llvm::Error bad(const Twine &expected) {
    StringRef found = rest.ltrim().take_front(16).rtrim();
    return userError(Twine(path) + ": expected " + expected +
                     " in the npy header, but got '" + found + "'");
  }

  StringRef rest, path;
};
} // namespace

llvm::Expected<NpyHeader> tegula::tool::parseNpyHeader(StringRef contents,
                                                       StringRef path) {
  if (!contents.starts_with(magic))
    return userError(Twine(path) + ": expected a NumPy .npy file, but it does "
                                   "not begin with \\x93NUMPY");
  if (contents.size() < 10)
    return userError(Twine(path) +
                     ": truncated npy file: its header is cut off");
  int major = static_cast<unsigned char>(contents[6]);
  if (major < 1 || major > 3)
    return userError(Twine(path) +
                     ": expected npy format version 1, 2 or 3, "
                     "but got " +
                     Twine(major));
  size_t begin = major == 1 ? 10 : 12;
  size_t length = 0;
  if (contents.size() >= begin)
    length = major == 1 ? llvm::support::endian::read16le(contents.data() + 8)
                        : llvm::support::endian::read32le(contents.data() + 8);
  if (contents.size() < begin || contents.size() - begin < length)
    return userError(Twine(path) +
                     ": truncated npy file: its header is cut off");
  NpyHeader header;
  header.dataBegin = begin + length;
  if (llvm::Error error =
          HeaderParser(contents.substr(begin, length), path).parse(header))
    return error;
  return header;
}

/// The NumPy spellings that hold elements of `type`, the one we write first.
static llvm::ArrayRef<StringRef> spellings(ElementType type) {
  static const StringRef boolean[] = {"|b1"}, i8[] = {"|i1"}, u8[] = {"|u1"},
                         i16[] = {"<i2"}, i32[] = {"<i4"}, i64[] = {"<i8"},
                         f16[] = {"<f2"}, f32[] = {"<f4"}, f64[] = {"<f8"},
                         bf16[] = {"<V2", "|V2", "<u2", "bfloat16",
                                   "<bfloat16"};
  switch (type) {
  case ElementType::boolean:
    return boolean;
  case ElementType::i8:
    return i8;
  case ElementType::u8:
    return u8;
  case ElementType::i16:
    return i16;
  case ElementType::i32:
    return i32;
  case ElementType::i64:
    return i64;
  case ElementType::f16:
    return f16;
  case ElementType::bf16:
    return bf16;
  case ElementType::f32:
    return f32;
  case ElementType::f64:
    return f64;
  }
  llvm_unreachable("every element type has a spelling");
}

/// Reads "|b1" and "<b1" alike, and the native mark as little endian.
static std::string normalisedDescr(StringRef descr) {
  std::string text = descr.str();
  if (text.size() == 3 && text[2] == '1')
    text[0] = '|';
  if (!text.empty() && text[0] == '=')
    text[0] = '<';
  return text;
}

static llvm::Error checkType(const NpyHeader &header, ElementType type,
                             StringRef path, StringRef name) {
  std::string descr = normalisedDescr(header.descr);
  if (llvm::is_contained(spellings(type), descr))
    return llvm::Error::success();
  std::string hint;
  if (StringRef(descr).starts_with(">"))
    hint = "; big-endian files are not supported";
  else if (type == ElementType::bf16)
    hint = " (bf16: 'V2' as ml_dtypes writes it, or its bits as uint16)";
  else if (const char *numpy =
               llvm::StringSwitch<const char *>(rt::elementTypeName(type))
                   .Case("bool", "bool")
                   .Case("u8", "uint8")
                   .Case("i8", "int8")
                   .Case("i16", "int16")
                   .Case("i32", "int32")
                   .Case("i64", "int64")
                   .Case("f16", "float16")
                   .Case("f32", "float32")
                   .Case("f64", "float64")
                   .Default(nullptr))
    hint = std::string("; convert it with .astype('") + numpy + "')";
  return userError(Twine(path) + ": expected dtype '" + spellings(type)[0] +
                   "' for `" + name + ": " +
                   StringRef(rt::elementTypeName(type)) + "`, but got '" +
                   header.descr + "'" + hint);
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return userError(Twine(path) +
                     ": cannot be read: " + buffer.getError().message());
  return std::move(*buffer);
}

llvm::Expected<llvm::SmallVector<int64_t, 4>>
tegula::tool::readNpyShape(StringRef path) {
  auto buffer = openFile(path);
  if (!buffer)
    return buffer.takeError();
  auto header = parseNpyHeader((*buffer)->getBuffer(), path);
  if (!header)
    return header.takeError();
  return header->shape;
}

llvm::Error tegula::tool::readNpy(StringRef path, StringRef name,
                                  Tensor &tensor) {
  auto buffer = openFile(path);
  if (!buffer)
    return buffer.takeError();
  StringRef contents = (*buffer)->getBuffer();
  auto header = parseNpyHeader(contents, path);
  if (!header)
    return header.takeError();
  if (llvm::Error error = checkType(*header, tensor.type(), path, name))
    return error;
  if (llvm::ArrayRef<int64_t>(header->shape) != tensor.shape())
    return userError(Twine(path) + ": expected shape " +
                     shapeText(tensor.shape()) + " for `" + name +
                     "`, but got " + shapeText(header->shape));
  StringRef data = contents.drop_front(header->dataBegin);
  if (static_cast<int64_t>(data.size()) < tensor.sizeInBytes())
    return userError(Twine(path) + ": truncated npy file: expected " +
                     Twine(tensor.sizeInBytes()) + " bytes of data, but got " +
                     Twine(data.size()));
  if (static_cast<int64_t>(data.size()) > tensor.sizeInBytes())
    return userError(Twine(path) + ": expected " + Twine(tensor.sizeInBytes()) +
                     " bytes of data, but got " + Twine(data.size()) +
                     "; more follows the array");

  int64_t width = rt::elementSize(tensor.type());
  llvm::SmallVector<int64_t, 4> steps(header->shape.size());
  int64_t step = 1;
  for (size_t place = 0; place < steps.size(); ++place) {
    size_t axis = header->fortranOrder ? place : steps.size() - 1 - place;
    steps[axis] = step;
    step *= header->shape[axis];
  }
  tensor.forEach([&](int64_t linear, int64_t offset) {
    int64_t from = 0;
    for (size_t axis = steps.size(); axis-- > 0;) {
      from += linear % header->shape[axis] * steps[axis];
      linear /= header->shape[axis];
    }
    std::memcpy(tensor.data() + offset * width, data.data() + from * width,
                width);
  });
  return llvm::Error::success();
}

llvm::Error tegula::tool::writeNpy(StringRef path, const Tensor &tensor) {
  std::string header = "{'descr': '" + spellings(tensor.type())[0].str() +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : tensor.shape())
    header += std::to_string(extent) + ",";
  header += "), }";
  // The elements begin at a multiple of 64; a newline ends the header.
  size_t prefix = magic.size() + 4;
  header.append(llvm::alignTo(prefix + header.size() + 1, 64) - prefix -
                    header.size() - 1,
                ' ');
  header += '\n';
  std::vector<std::byte> bytes = tensor.denseBytes();
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << magic << '\x01' << '\0' << char(header.size() & 0xFF)
       << char(header.size() >> 8) << header;
    os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return llvm::Error::success();
  });
  if (!error)
    return llvm::Error::success();
  return lackingError(
      Twine(path) + ": cannot be written: " + llvm::toString(std::move(error)));
}
