#include "codegen/Manifest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
namespace json = llvm::json;

static std::string text(const json::Object &object) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << json::Value(json::Object(object));
  return result;
}

struct Manifest : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::string message;
  Manifest() { context.loadDialect<LLVM::LLVMDialect>(); }
  FailureOr<json::Object> build(const std::string &attributes) {
    module = parseSourceString<ModuleOp>("llvm.func @causal() attributes {" +
                                             attributes + "} { llvm.return }",
                                         &context);
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    return tegula::buildManifest(*module, "sm_90a");
  }
};

TEST_F(Manifest, FollowsTheDictionary) {
  auto manifest = build(
      R"(tegula.manifest = {form = "direct", threads = 128 : i32, dims = ["M", 128 : i64], grid = {persistent = true, tiles = "M"},
    box = array<i64: 64, 128>, ratio = 0.5 : f32, type = bf16, empty = []})");
  ASSERT_TRUE(succeeded(manifest));
  EXPECT_EQ(
      text(*manifest),
      R"({"box":[64,128],"dims":["M",128],"empty":[],"form":"direct","grid":{"persistent":true,"tiles":"M"},)"
      R"("ratio":0.5,"symbol":"causal","target":"sm_90a","threads":128,"type":"bf16","version":1})");
}

TEST_F(Manifest, AddsFacts) {
  auto manifest = build("tegula.manifest = {}");
  ASSERT_TRUE(succeeded(manifest));
  tegula::addCodeFacts(*manifest, {"", "", 80, 168, 0});
  EXPECT_EQ(
      text(*manifest),
      R"({"ptx_version":80,"registers":168,"spill_bytes":0,"symbol":"causal","target":"sm_90a","version":1})");
}

TEST_F(Manifest, TravelsInPtx) {
  auto manifest = build(R"(tegula.manifest = {text = "a\nb // \"c\""})");
  ASSERT_TRUE(succeeded(manifest));
  std::string ptx =
      "//\n" + tegula::manifestComment(*manifest) + ".version 8.0\n";
  auto back = tegula::manifestOfPtx(ptx);
  ASSERT_TRUE(back);
  EXPECT_EQ(text(*back), text(*manifest));
  EXPECT_FALSE(tegula::manifestOfPtx(".version 8.0\n"));
  EXPECT_FALSE(tegula::manifestOfPtx("// tegula.manifest {\"a\":\n"));
}

TEST_F(Manifest, Refusals) {
  EXPECT_TRUE(failed(build("")));
  EXPECT_EQ(message, "expected a function with 'tegula.manifest', the "
                     "description of the kernel for its launch");
  EXPECT_TRUE(
      failed(build("tegula.manifest = {map = affine_map<(d0) -> (d0)>}")));
  EXPECT_EQ(message, "field 'map' of 'tegula.manifest' has no JSON form: "
                     "affine_map<(d0) -> (d0)>");
}
