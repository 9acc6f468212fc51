// The compiler as a library: text of any stage in, text of any later stage, PTX, cubin or a CPU kernel out.
//
// The command line, the JIT and the tests call this and nothing below it. A compiler may be used again, from one thread at a time. No input ends
// the process: what is wrong comes back as a status and the text of the diagnostics.
#pragma once

#include "codegen/CpuKernel.h"
#include "codegen/Ptxas.h"
#include "codegen/Visits.h"
#include "lang/Sema.h"
#include "passes/Stages.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tegula {

/// How a compilation ended; the values are the exit codes of the command line.
enum class CompileStatus {
  Ok = 0,
  UserError = 1, ///< the source or an argument is wrong
  Usage = 2,     ///< the request's stages do not go together
  Lacks = 4,     ///< something that this machine lacks: ptxas
  Internal = 70, ///< a fault of the compiler; the diagnostics name a reproducer
};

struct CompileRequest {
  std::string text;                  ///< of the stage `startFrom`
  std::string name = "<string>";     ///< of the text, for diagnostics
  std::string item;                  ///< empty: the only one
  std::vector<lang::Define> defines; ///< `-D NAME=VALUE`
  std::string target = "sm_90a";     ///< a GPU target's name, or "cpu"
  std::vector<std::string> schedule; ///< FIELD=VALUE overrides
  Stage startFrom = Stage::Source;
  Stage stopAfter = Stage::Ptx; ///< Cubin: needs ptxas. Cpu: use compileForCpu
  bool approximateTanh = false; ///< GPU: tanh by its instruction, exact to 11 bits
  bool countVisits = false;     ///< GPU: the kernel counts its visits of blocks of keys by class, as debug builds do
  bool optimize = true;         ///< CPU: let LLVM optimise, which takes most of the time of a compilation
  std::string dumpDir;          ///< empty: no dumps; else one file a stage
  bool remarks = false;         ///< what passes chose and why, as remarks
  bool claims = false;          ///< instead of the item, the program that checks what it claims of its arguments; see `claimsRequest`
  bool verifyProtocol = false;  ///< check every order of a kernel's roles, and say so; text of the stage `warp` is always checked
};

struct StageTime {
  Stage stage;
  double milliseconds;
};

struct CompileResult {
  CompileStatus status = CompileStatus::Ok;
  std::string diagnostics; ///< errors, warnings and remarks, as a person reads them
  std::string text;        ///< of the stage that was asked for
  std::string ptx, cubin;
  std::string manifest;    ///< JSON, once there is PTX
  std::string form;        ///< of the schedule, once there is a tile program: direct, pipelined or sequential
  PtxasFacts assembler;    ///< once there is a cubin
  std::vector<StageTime> times;

  explicit operator bool() const { return status == CompileStatus::Ok; }
};

/// The request for the kernel that takes the operands which the kernel of `request`, compiled to `result`, cannot: the direct one. Nothing where
/// that is direct itself, or where its form was asked for.
std::optional<CompileRequest> fallbackRequest(const CompileRequest &request, const CompileResult &result);

/// The kernel of the same item whose tiles hold rows of several query heads, for launches with few of them; nothing where that cannot be, or the request says of `pack_heads` what it wants.
std::optional<CompileRequest> packedRequest(const CompileRequest &request, const CompileResult &result);

/// The request for the program that a debug build runs just before each launch of the kernel of `request`, on the same arguments: it asserts what the
/// source claims of them. Nothing where the text is of a later stage than `attention`, which knows of no claims.
std::optional<CompileRequest> claimsRequest(const CompileRequest &request);

class Compiler {
public:
  Compiler();
  ~Compiler();

  /// Takes the request's text to its last stage.
  CompileResult compile(const CompileRequest &request);

  /// Takes the request's text to a kernel of this host; null where `result` says why.
  std::unique_ptr<CpuKernel> compileForCpu(const CompileRequest &request, CompileResult &result);

  /// The program that counts the blocks which the request's kernel visits; nothing where `result` says why.
  std::optional<VisitsProgram> compileVisits(const CompileRequest &request, CompileResult &result);

  /// The resolved item of a request that starts from source, with its warnings; null where `result` says why.
  std::unique_ptr<lang::Item> analyze(const CompileRequest &request, CompileResult &result);

private:
  struct Run;
  std::unique_ptr<mlir::MLIRContext> context;
};

} // namespace tegula
