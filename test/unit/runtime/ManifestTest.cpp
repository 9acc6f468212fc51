//===- ManifestTest.cpp - reading manifests -------------------------------===//
#include "Causal.h"
#include "runtime/Concat.h"

#include <gtest/gtest.h>

using namespace tegula::rt;
using namespace tegula::rt::test;

/// The message for the pipelined manifest with `from` replaced by `to`.
static std::string errorWith(const std::string &from, const std::string &to) {
  std::string text = pipelinedManifest();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Result<Manifest> manifest = Manifest::parse(text);
  return manifest.ok() ? "parsed" : manifest.status().message();
}

TEST(Manifest, ReadsEveryField) {
  Result<Manifest> manifest = Manifest::parse(pipelinedManifest());
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  const Signature &signature = *manifest->signature;
  EXPECT_EQ(signature.name, "causal");
  EXPECT_EQ(signature.tensors.size(), 6u);
  EXPECT_EQ(signature.numDims, 5);
  EXPECT_EQ(signature.orderText(), "q, k, v, starts, W, cap, o, lse");
  EXPECT_EQ(signature.shapeText(signature.tensors[0]), "[B, H, M, 128]");
  EXPECT_EQ(signature.shapeText(signature.tensors[3]), "[B + 1]");
  EXPECT_TRUE(signature.tensors[5].isOptional);
  EXPECT_EQ(manifest->form, Form::pipelined);
  EXPECT_EQ(manifest->arguments.size(), 12u);
  std::vector<int64_t> box;
  for (const Extent &extent : manifest->arguments[0].box)
    box.push_back(extent.fixed);
  EXPECT_EQ(box, (std::vector<int64_t>{64, 64, 1, 1}));
  EXPECT_EQ(manifest->arguments[0].l2Promotion, 256);
  EXPECT_TRUE(manifest->grid.persistent);
  EXPECT_EQ(manifest->schedule, R"({"block_m":128})");
  EXPECT_EQ(manifest->conditions.size(), 1u);
}

TEST(Manifest, SharedSignatureHasOneFingerprint) {
  Result<Manifest> a = Manifest::parse(pipelinedManifest());
  Result<Manifest> b = Manifest::parse(directManifest());
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->signature->fingerprint, b->signature->fingerprint);
}

TEST(Manifest, WhatIsWrongIsNamed) {
  EXPECT_EQ(errorWith("\"version\": 1", "\"version\": 2"),
            "manifest: `version`: expected an integer from 1 to 1, but got 2");
  EXPECT_EQ(errorWith("\"bf16\"", "\"bf17\""),
            "manifest: `tensors[0].type`: expected an element type such as "
            "\"bf16\", but got \"bf17\"");
  EXPECT_EQ(errorWith("\"role\": \"in\"", "\"role\": \"aside\""),
            "manifest: `tensors[0].role`: expected \"in\", \"out\" or "
            "\"inout\", but got \"aside\"");
  EXPECT_EQ(errorWith("\"threads\": 384,", ""),
            "manifest: `threads`: expected an integer from 1 to 1024, but got "
            "nothing");
  EXPECT_EQ(
      errorWith("\"tensor_map\"", "\"texture\""),
      "manifest: `arguments[0].kind`: expected \"tensor_map\", "
      "\"pointer\", \"stride\", \"dim\", \"scalar\", \"value\", "
      "\"workspace\" or \"scratch\", but got \"texture\"");
  EXPECT_EQ(errorWith("[64, 64, 1, 1]", "[128, 64, 1, 1]"),
            "manifest: `arguments[0].box`: expected an inner box of a multiple "
            "of 16 bytes and at most 128, but got 256 bytes");
  EXPECT_EQ(errorWith("[64, 64, 1, 1]", "[64, 257, 1, 1]"),
            "manifest: `arguments[0].box[1]`: expected an integer from 1 to "
            "256, but got 257");
  EXPECT_EQ(errorWith("[64, 64, 1, 1]", "[64, \"(<< 1 P)\", 1, 1]"),
            "manifest: `arguments[0].box[1]`: bad expression `(<< 1 P)`, "
            "column 8: unknown name `P`");
  EXPECT_EQ(errorWith("[64, 64, 1, 1]", "[\"D\", 64, 1, 1]"),
            "manifest: `arguments[0].box[0]`: expected an integer from 1 to "
            "256, but got \"D\"");
  EXPECT_EQ(errorWith("[3, 2, 1, 0]", "[3, 2, 2, 0]"),
            "manifest: `arguments[0].axes[2]`: axis 2 is listed twice");
  EXPECT_EQ(errorWith("\"aligned\"", "\"lucky\""),
            "manifest: `conditions[0].kind`: expected \"aligned\", "
            "\"stride_multiple\", \"inner_contiguous\", \"nonempty\" or "
            "\"expr\", but got \"lucky\"");
  EXPECT_EQ(errorWith("\"axis\": 2", "\"axis\": 4"),
            "manifest: `arguments[6].axis`: expected an integer from 0 to 3, "
            "but got 4");
  EXPECT_EQ(errorWith("(<= M (+ N W))", "(<= M (+ N X))"),
            "manifest: `requires[0].expr`: bad expression `(<= M (+ N X))`, "
            "column 13: unknown name `X`");
  EXPECT_EQ(errorWith("\"dims\": [\"B\", \"H\", \"M\", \"G\", \"N\"]",
                      "\"dims\": [\"B\", \"H\", \"M\", \"G\", \"N\", \"P\"]"),
            "manifest: `dims`: no extent of a tensor gives `P` its value");
  EXPECT_EQ(errorWith("\"name\": \"v\"", "\"name\": \"k\""),
            "manifest: `tensors`: the name `k` is used twice");
  EXPECT_EQ(errorWith("\"dim\": \"M\"", "\"dim\": \"W\""),
            "manifest: `arguments[8].dim`: expected the name of a dim, but got "
            "\"W\"");
}

TEST(Manifest, Workspace) {
  EXPECT_FALSE(Manifest::parse(pipelinedManifest())->hasWorkspace());
  EXPECT_TRUE(Manifest::parse(workspaceManifest())->hasWorkspace());
  // In place of `{"kind": "dim", "dim": "M"}`.
  auto error = [](const std::string &bytes) {
    return errorWith("\"dim\", \"dim\": \"M\"",
                     "\"workspace\", \"bytes\": " + bytes);
  };
  EXPECT_EQ(error("16"), "parsed");
  EXPECT_EQ(error("128"), "parsed");
  for (const char *bytes : {"15", "129", "-16", "16.0", "\"16\""})
    EXPECT_EQ(error(bytes),
              concat("manifest: `arguments[8].bytes`: expected an "
                     "integer from 16 to 128, but got ",
                     bytes));
  EXPECT_EQ(errorWith("\"dim\", \"dim\": \"M\"", "\"workspace\""),
            "manifest: `arguments[8].bytes`: expected an integer from 16 to "
            "128, but got nothing");
  EXPECT_EQ(error("16}, {\"kind\": \"workspace\", \"bytes\": 16"),
            "manifest: `arguments[9]`: expected at most one workspace, but got "
            "another");
}

TEST(Manifest, Prepass) {
  EXPECT_FALSE(Manifest::parse(pipelinedManifest())->prepass);
  Result<Manifest> manifest = Manifest::parse(prepassManifest());
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  ASSERT_TRUE(manifest->prepass && manifest->scratchBytes);
  EXPECT_EQ(manifest->prepass->symbol, "causal_classes");
  EXPECT_EQ(manifest->prepass->threads, 128);
  EXPECT_EQ(manifest->prepass->arguments.size(), 2u);
  EXPECT_EQ(manifest->scratchBytes->text(),
            "(* 2 (* (ceildiv M 128) (ceildiv N 64)))");
  auto error = [](const std::string &from, const std::string &to) {
    std::string text = prepassManifest();
    text.replace(text.rfind(from), from.size(), to);
    return Manifest::parse(text).status().message();
  };
  EXPECT_EQ(error("(* 2 (* (ceildiv M 128) (ceildiv N 64)))", "N"),
            "manifest: `prepass.arguments[0].bytes`: expected the size of the "
            "other scratch, `(* 2 (* (ceildiv M 128) (ceildiv N 64)))`, but got "
            "`N`");
  EXPECT_EQ(error("\"dim\", \"dim\": \"N\"", "\"workspace\", \"bytes\": 16"),
            "manifest: `prepass.arguments[1]`: a pre-pass has no workspace");
  EXPECT_EQ(error("\"threads\": 128", "\"threads\": 0"),
            "manifest: `prepass.threads`: expected an integer from 1 to 1024, "
            "but got 0");
}

TEST(Manifest, NotJson) {
  for (const char *text : {"", "{", "[]", "3", "{\"version\":", "\xff"}) {
    Result<Manifest> manifest = Manifest::parse(text);
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(manifest.status().code(), StatusCode::invalidArgument);
    EXPECT_EQ(manifest.status().message().rfind("manifest: ", 0), 0u);
  }
}

/// Every prefix and every single-character change ends in a status.
TEST(Manifest, NoInputAborts) {
  std::string text = pipelinedManifest();
  for (size_t i = 0; i < text.size(); i += 3) {
    (void)Manifest::parse(text.substr(0, i)).ok();
    std::string changed = text;
    changed[i] = changed[i] == '9' ? '}' : '9';
    (void)Manifest::parse(changed).ok();
  }
}
