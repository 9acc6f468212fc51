//===- Manifest.h - What a kernel's user must know of it, as JSON -*- C++
//-*-===//
//
// In: the `tegula.manifest` dictionary that the passes leave on the kernel's
// function, and the facts of code generation. Out: the JSON text that travels
// beside PTX or cubin and that the runtime reads.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_MANIFEST_H
#define TEGULA_CODEGEN_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace tegula {

/// What code generation adds to the dictionary of the passes. Registers and
/// spills are known only after ptxas.
struct CodeFacts {
  std::string symbol;
  std::string target;
  unsigned ptxVersion = 0;
  std::optional<unsigned> registers;
  std::optional<unsigned> spillBytes;
};

/// The version of the manifest's form, its field `version`.
inline constexpr unsigned manifestVersion = 1;

/// Strings, integers, floats, booleans, unit (true), arrays, dense arrays,
/// types (as text) and dictionaries to JSON; nothing for others.
std::optional<llvm::json::Value> toJson(mlir::Attribute attribute);

/// The manifest of the kernel in `module`: its `tegula.manifest`, and version,
/// symbol, target. Fails with a diagnostic at the function where the dictionary
/// is missing or holds an attribute without a JSON form.
mlir::FailureOr<llvm::json::Object> buildManifest(mlir::ModuleOp module,
                                                  llvm::StringRef targetName);

/// Adds `facts` to `manifest`.
void addCodeFacts(llvm::json::Object &manifest, const CodeFacts &facts);

/// The manifest as a PTX comment line, with its line end; PTX text that is fed
/// back brings its manifest with it.
std::string manifestComment(const llvm::json::Object &manifest);

/// The manifest in the comment of `ptx`, if there is one that parses.
std::optional<llvm::json::Object> manifestOfPtx(llvm::StringRef ptx);

} // namespace tegula

#endif // TEGULA_CODEGEN_MANIFEST_H
