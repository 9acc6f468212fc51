//===- Manifest.h - what a compiled kernel says about itself ----*- C++ -*-===//
//
// The manifest is a JSON text that the compiler writes beside a cubin or PTX.
// It has two halves: the signature (what the user passes: tensors, scalars,
// what must hold) which all kernels of an item share, and the launch (what this
// kernel takes, its grid, its resources, and what it needs of its operands).
// docs/manifest.md describes every field.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/ElementType.h"
#include "runtime/Expr.h"

namespace tegula::rt {

/// Limits that keep a launch free of heap memory. A manifest beyond them is
/// refused when it is read.
inline constexpr int maxRank = 8;
inline constexpr int maxTensors = 64;
inline constexpr int maxSlots = 64;
inline constexpr int maxArguments = 512;
inline constexpr int maxTensorMaps = 16;
/// Largest extent of a tensor map's box.
inline constexpr int maxBox = 256;
/// Bytes of a kernel's workspace: at least the counters that all have; from
/// `visitWorkspaceBytes` on, it counts its visits of blocks too.
inline constexpr int minWorkspaceBytes = 16;
inline constexpr int visitWorkspaceBytes = 32;
inline constexpr int maxWorkspaceBytes = 128;
/// Largest extent of any axis: 2^29.
inline constexpr int64_t maxExtent = int64_t(1) << 29;

/// One extent of a tensor: a number, or an expression over the slots (most
/// often just a dim's name).
struct Extent {
  int64_t fixed = -1; // the number, or -1
  std::optional<Expr> expr;
};

/// A tensor of the user's signature.
struct TensorInfo {
  std::string name;
  ElementType type;
  std::vector<Extent> extents;
  bool isOutput = false;
  /// Whether a null pointer is accepted, and means "do not compute this".
  bool isOptional = false;
  int rank() const { return static_cast<int>(extents.size()); }
};

/// A scalar parameter, passed by value.
struct ScalarInfo {
  std::string name;
  ElementType type;
};

/// A `require` of the program, checked before each launch.
struct Requirement {
  std::string text;  // "M == N"
  std::string place; // "docs.tg:2:9", or empty
  Expr expr;
};

/// What the user passes to every kernel of an item.
struct Signature {
  std::string name;
  std::vector<TensorInfo> tensors;
  std::vector<ScalarInfo> scalars;
  /// Names of values in expressions: first the dims, then the scalars.
  std::vector<std::string> slots;
  int numDims = 0;
  /// All tensors and scalars, in the order of the C signature.
  std::vector<std::string> order;
  std::vector<Requirement> requirements;
  /// Equal for two signatures that take the same arguments.
  uint64_t fingerprint = 0;

  int findTensor(std::string_view name) const;
  int findScalar(std::string_view name) const;
  /// The slot of a dim, or -1.
  int findDim(std::string_view name) const;
  /// "[B, H, M, 128]".
  std::string shapeText(const TensorInfo &tensor) const;
  /// "q, k, v, W, o, lse".
  std::string orderText() const;
};

/// One parameter of the compiled kernel.
struct KernelArgument {
  enum class Kind : uint8_t {
    tensorMap,
    pointer,
    stride,
    dim,
    scalar,
    /// What `expr` is at the launch.
    value,
    /// A pointer to counters that the runtime provides (Workspace.h).
    workspace,
    /// A pointer to memory that lives for one launch: `Manifest::scratchBytes`.
    scratch
  };
  Kind kind;
  int tensor = -1; // tensorMap, pointer, stride
  int axis = -1;   // stride
  int slot = -1;   // dim, scalar
  std::optional<Expr> expr; // value
  /// How a dim or a value (i32, i64), or a scalar, is passed.
  ElementType type = ElementType::i64;
  /// Tensor map: the tensor's axes, innermost first, and the box in elements,
  /// of which all but the first may depend on the launch.
  std::vector<int> axes;
  std::vector<Extent> box;
  int swizzle = 0;       // bytes: 0, 32, 64, 128
  int l2Promotion = 256; // bytes: 0, 64, 128, 256
  int bytes = 0;         // workspace
};

/// Something a kernel needs beyond what the program requires. Where it does
/// not hold, another kernel of the item has to be used.
struct Condition {
  enum class Kind : uint8_t {
    /// The address of `tensor` is a multiple of `bytes`.
    aligned,
    /// Strides of `tensor` in bytes are multiples of `bytes`, but for the
    /// innermost axis and axes of extent 1.
    strideMultiple,
    /// The last axis of `tensor` has stride 1.
    innerContiguous,
    /// No extent of `tensor` is 0.
    nonempty,
    /// `expr` is true.
    expression,
  };
  Kind kind;
  std::string text;
  int tensor = -1;
  int64_t bytes = 0;
  std::optional<Expr> expr;
};

struct GridRule {
  /// Number of tiles; 0 means there is nothing to launch.
  Expr tiles;
  /// Whether CTAs loop over tiles: then as many as fit the GPU are launched.
  bool persistent = false;
};

/// A kernel of the same image that is launched just before the kernel itself,
/// on the same stream and arguments.
struct Prepass {
  std::string symbol;
  std::vector<KernelArgument> arguments;
  GridRule grid;
  int threads = 0;
  int64_t sharedBytes = 0;
};

enum class Form : uint8_t { pipelined, direct };
/// "pipelined" or "direct".
const char *formName(Form form);

/// A parsed and checked manifest.
struct Manifest {
  std::shared_ptr<const Signature> signature;
  std::string symbol;
  std::string target;
  Form form;
  std::vector<KernelArgument> arguments;
  GridRule grid;
  int threads = 0;
  int64_t sharedBytes = 0;
  int ctasPerSm = 1;
  int registers = 0;
  int64_t spillBytes = 0;
  /// The schedule's fields as JSON text, for reports.
  std::string schedule;
  std::vector<Condition> conditions;
  /// Whether the kernel is launched before each launch of the others of its
  /// item, on the same arguments.
  bool before = false;
  /// A shift: where it is above 0, the packed kernel of the item is the better
  /// one, whose tiles hold rows of several query heads.
  std::optional<Expr> packing;
  /// Whether this is that kernel.
  bool isPacked = false;
  std::optional<Prepass> prepass;
  /// The bytes that the kernel and its pre-pass share during a launch.
  std::optional<Expr> scratchBytes;

  /// Whether the kernel takes one.
  /// 0 where the kernel takes none.
  int workspaceBytes() const;
  bool hasWorkspace() const { return workspaceBytes() != 0; }
  /// Whether the kernel counts the blocks of keys that it visits.
  bool countsVisits() const { return workspaceBytes() >= visitWorkspaceBytes; }

  /// Reads a manifest. Errors: `invalidArgument`, naming the field, what was
  /// found and what was expected.
  static Result<Manifest> parse(std::string_view json);
};

} // namespace tegula::rt
