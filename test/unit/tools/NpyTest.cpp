//===- NpyTest.cpp - NumPy files ------------------------------------------===//
//
// Files made byte by byte, so that NumPy is not needed; every refusal's text.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Npy.h"
#include "Expect.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace tegula;
using namespace tegula::tool;

namespace {
class Npy : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> folder;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tegula-npy", folder));
    directory = folder.str();
  }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  std::string path(llvm::StringRef name) const {
    return (directory + "/" + name).str();
  }
  /// Writes a file of format version `major`.
  std::string write(llvm::StringRef header, llvm::StringRef data,
                    int major = 1) {
    std::string file = path("t.npy");
    std::error_code error;
    llvm::raw_fd_ostream os(file, error);
    os << "\x93NUMPY" << char(major) << '\0';
    os << char(header.size() & 0xFF) << char(header.size() >> 8);
    if (major > 1)
      os << '\0' << '\0';
    os << header << data;
    return file;
  }
  template <typename T> static std::string bytes(std::vector<T> values) {
    return std::string(reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(T));
  }
  /// The error of reading it, without the folder.
  std::string readText(llvm::StringRef file, Tensor &tensor) {
    std::string text = textOf(readNpy(file, "x", tensor));
    if (size_t at = text.find(directory); at != std::string::npos)
      text.erase(at, directory.size() + 1);
    return text;
  }

  std::string directory;
};
} // namespace

TEST_F(Npy, ReadsVersionsAndOrders) {
  Tensor tensor = valueOf(Tensor::create(ElementType::i32, {2, 3}));
  std::vector<double> expected{1, 2, 3, 4, 5, 6};
  for (int major : {1, 2, 3}) {
    std::string file = write(
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }     \n",
        bytes<int32_t>({1, 2, 3, 4, 5, 6}), major);
    EXPECT_EQ(readText(file, tensor), "");
    EXPECT_EQ(tensor.reals(), expected);
  }
  std::string file =
      write("{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"<i4\"}",
            bytes<int32_t>({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(readText(file, tensor), "");
  EXPECT_EQ(tensor.reals(), expected);
}

TEST_F(Npy, ReadsIntoAnyLayout) {
  Tensor tensor = valueOf(Tensor::create(ElementType::u8, {1, 2, 3, 1},
                                         axisOrder(Layout::bshd, 4)));
  std::string file =
      write("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3, 1)}",
            bytes<uint8_t>({1, 2, 3, 4, 5, 250}));
  EXPECT_EQ(readText(file, tensor), "");
  EXPECT_EQ(tensor.reals(), (std::vector<double>{1, 2, 3, 4, 5, 250}));
}

TEST_F(Npy, WritesWhatItReads) {
  for (ElementType type :
       {ElementType::boolean, ElementType::i8, ElementType::u8,
        ElementType::i16, ElementType::i32, ElementType::i64, ElementType::f16,
        ElementType::bf16, ElementType::f32, ElementType::f64}) {
    Tensor a =
        valueOf(Tensor::create(type, {1, 2, 3, 2}, axisOrder(Layout::bshd, 4)));
    a.forEach([&](int64_t linear, int64_t offset) {
      a.setReal(offset, static_cast<double>(linear));
    });
    ASSERT_EQ(textOf(writeNpy(path("a.npy"), a)), "");
    Tensor b = valueOf(Tensor::create(type, {1, 2, 3, 2}));
    ASSERT_EQ(textOf(readNpy(path("a.npy"), "a", b)), "");
    EXPECT_EQ(a.reals(), b.reals());
    auto buffer = llvm::MemoryBuffer::getFile(path("a.npy"));
    NpyHeader header = valueOf(parseNpyHeader((*buffer)->getBuffer(), "a.npy"));
    EXPECT_EQ(header.dataBegin % 64, 0u);
  }
}

TEST_F(Npy, WritesAllOrNothing) {
  Tensor tensor = valueOf(Tensor::create(ElementType::f32, {2}));
  std::string text = textOf(writeNpy(path("no/such/folder.npy"), tensor));
  EXPECT_NE(text.find("cannot be written"), std::string::npos) << text;
  ASSERT_EQ(textOf(writeNpy(path("a.npy"), tensor)), "");
  std::error_code error;
  int files = 0;
  for (llvm::sys::fs::directory_iterator it(directory, error), end;
       it != end && !error; it.increment(error))
    ++files;
  EXPECT_EQ(files, 1); // no temporary is left
}

TEST_F(Npy, AcceptsBf16AsBits) {
  Tensor tensor = valueOf(Tensor::create(ElementType::bf16, {2}));
  for (const char *descr : {"<V2", "|V2", "<u2", "bfloat16"}) {
    std::string file = write("{'descr': '" + std::string(descr) +
                                 "', 'fortran_order': False, 'shape': (2,)}",
                             bytes<uint16_t>({0x3F80, 0xC000}));
    EXPECT_EQ(readText(file, tensor), "");
    EXPECT_EQ(tensor.reals(), (std::vector<double>{1, -2}));
  }
}

TEST_F(Npy, RefusesWithAReason) {
  Tensor tensor = valueOf(Tensor::create(ElementType::f32, {2, 3}));
  auto refusal = [&](llvm::StringRef header, llvm::StringRef data = "") {
    return readText(write(header, data), tensor);
  };
  std::string six = bytes<float>({1, 2, 3, 4, 5, 6});
  const char *good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(refusal(good, six), "");
  EXPECT_EQ(refusal(good, six.substr(1)),
            "1: t.npy: truncated npy file: expected 24 bytes of data, but got "
            "23");
  EXPECT_EQ(refusal(good, six + "x"),
            "1: t.npy: expected 24 bytes of data, but got 25; more follows the "
            "array");
  EXPECT_EQ(
      refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }",
              six),
      "1: t.npy: expected shape [2, 3] for `x`, but got [3, 2]");
  EXPECT_EQ(
      refusal("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
              six),
      "1: t.npy: expected dtype '<f4' for `x: f32`, but got '<f8'; convert it "
      "with .astype('float32')");
  EXPECT_EQ(
      refusal("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",
              six),
      "1: t.npy: expected dtype '<f4' for `x: f32`, but got '>f4'; big-endian "
      "files are not supported");
  EXPECT_EQ(refusal("{'descr': [('a', '<f4')], 'fortran_order': False, "
                    "'shape': (2, 3), }"),
            "1: t.npy: structured types are not supported");
  EXPECT_EQ(refusal("{'descr': '<f4', 'shape': (2, 3), }"),
            "1: t.npy: expected the keys descr, fortran_order and shape in the "
            "npy header, but got ''");
  EXPECT_EQ(refusal("{'descr': '<f4', 'fortran_order': 1, 'shape': (2, 3), }"),
            "1: t.npy: expected True or False in the npy header, but got '1, "
            "'shape': (2,'");
  EXPECT_EQ(
      refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }"),
      "1: t.npy: expected an extent in the npy header, but got '-3), }'");
}

TEST_F(Npy, RefusesFilesThatAreNoNpy) {
  Tensor tensor = valueOf(Tensor::create(ElementType::f32, {2, 3}));
  auto refusal = [&](llvm::StringRef contents) {
    std::error_code error;
    llvm::raw_fd_ostream(path("t.npy"), error) << contents;
    return readText(path("t.npy"), tensor);
  };
  EXPECT_EQ(refusal("PK\x03\x04"),
            "1: t.npy: expected a NumPy .npy file, but it does not begin with "
            "\\x93NUMPY");
  EXPECT_EQ(refusal(llvm::StringRef("\x93NUMPY\x01", 7)),
            "1: t.npy: truncated npy file: its header is cut off");
  EXPECT_EQ(refusal(llvm::StringRef("\x93NUMPY\x01\0\xFF\x01{", 11)),
            "1: t.npy: truncated npy file: its header is cut off");
  EXPECT_EQ(refusal(llvm::StringRef("\x93NUMPY\x07\0\0\0", 10)),
            "1: t.npy: expected npy format version 1, 2 or 3, but got 7");
  EXPECT_EQ(readText(path("none.npy"), tensor),
            "1: none.npy: cannot be read: No such file or directory");
}
