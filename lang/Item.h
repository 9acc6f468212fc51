//===- Item.h - a resolved attention item -----------------------*- C++ -*-===//
//
// What Sema makes of an `attention` item: the chain of `with` flattened, every
// name resolved, every expression typed and constants folded. Emission and the
// dense reference both walk this, and nothing else of the front end.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_ITEM_H
#define TEGULA_LANG_ITEM_H

#include "lang/Op.h"
#include "lang/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SMLoc.h"
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tegula::lang {

/// The implicit indices. D and E appear in operand definitions only.
enum class IndexVar { B, H, G, I, J, D, E };

/// A typed expression. Operands have the types that the operator wants:
/// conversions are explicit. Trees share nodes only through `Let`.
///
/// Values: bool; integers, exact in 64 bits whether called i32 or i64; floats,
/// all of the item's `accumulator` type.
struct Expr {
  enum Kind {
    Constant, ///< `integer` (also bools) or `real`, by `type`
    Index,    ///< the implicit index `index`
    Score,    ///< `s`: the scaled score, or what the scores before made of it
    Dim,      ///< length `number` of Item::dims
    Scalar,   ///< parameter `number` of Item::scalars, widened
    Let,      ///< value `number` of Item::lets
    Lookup,   ///< Item::tensors[number] at indices `args`; each index goes to
              ///< the nearest element, an empty axis gives 0; widened
    Operator, ///< `op` of `args`
  };
  Kind kind = Constant;
  ElemType type = ElemType::Error; ///< Bool, I32, I64, F32 or F64
  llvm::SMRange range;
  int64_t integer = 0;
  double real = 0;
  IndexVar index = IndexVar::B;
  unsigned number = 0;
  Op op = Op::Add;
  /// Of Op::Convert: the type to round or saturate to, before the value widens
  /// to `type` again. Float to integer truncates, saturates, and NaN gives 0;
  /// integer to a narrower one wraps.
  ElemType castType = ElemType::Error;
  llvm::SmallVector<const Expr *, 3> args;

  uint8_t indices = 0; ///< bit 1 << IndexVar for each index it depends on
  unsigned depth = 1;  ///< of the tree, lets included; at most maxItemDepth

  bool isConstant() const { return kind == Constant; }
  bool dependsOn(IndexVar v) const { return indices & (1u << int(v)); }
};

constexpr unsigned maxItemDepth = 1000;

/// A named length. B H G M N D E have fixed meaning; `value` where it is
/// static.
struct Dim {
  std::string name;
  std::optional<int64_t> value;
  llvm::SMRange range; ///< its first appearance
};

struct Extent {
  const Expr *length; ///< an integer over dims and scalar parameters
  int dim = -1;       ///< the dim that it is, where it is just a name
};

enum class Role { Input, Output };

struct Tensor {
  std::string name;
  ElemType elem;
  Role role;
  std::vector<Extent> extents;
  bool sorted = false;
  const Expr *low = nullptr, *high = nullptr; ///< `in low..high`, half-open
  llvm::SMRange range;                        ///< of the name where declared
};

struct Scalar {
  std::string name;
  ElemType type; ///< Bool, I32, I64, F32 or F64
  llvm::SMRange range;
};

/// A compile-time value after `-D`.
struct Static {
  enum Kind { Integer, Float, Bool, Type };
  std::string name;
  Kind kind = Integer;
  int64_t integer = 0; ///< also of a bool
  double real = 0;
  ElemType elem = ElemType::Error;
  llvm::SMRange range;
};

struct Let {
  std::string name;
  const Expr *value;
  llvm::SMRange range;
};

/// A condition over dims and scalars that holds at launch.
struct Requirement {
  std::string text; ///< as written
  const Expr *value;
  llvm::SMRange range;
};

/// Where an element of q, k or v is: an expression of b, h or g, i or j, and d
/// or e. By default the tensor of that name, read at those indices.
struct Operand {
  const Expr *element;
  unsigned tensor; ///< of a pure read
};

/// An argument of the C signature.
struct Argument {
  bool isTensor;
  unsigned number; ///< in tensors or scalars
};

struct Item {
  Item() = default;
  Item(const Item &) = delete; // expressions point into `pool`
  Item &operator=(const Item &) = delete;

  std::string name;
  llvm::SMRange range; ///< of the name
  /// What floats are computed in: f32, or f64 where q is f64.
  ElemType accumulator = ElemType::F32;

  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<Static> statics;
  std::vector<Dim> dims;           ///< in order of first appearance
  std::vector<Argument> signature; ///< inputs, parameters, outputs
  std::vector<Let> lets;
  std::vector<Requirement> requirements;

  Operand q, k, v;
  int o = -1, lse = -1; ///< in tensors; lse may be absent (-1)

  const Expr *scale = nullptr;      ///< null: 1 / sqrt(head dim)
  std::vector<const Expr *> scores; ///< in order; each sees what the last made
  std::vector<const Expr *> masks;  ///< and-ed

  std::deque<Expr> pool;

  int64_t headDim() const;  ///< D
  int64_t valueDim() const; ///< E
  /// The dim of that name, or -1.
  int findDim(llvm::StringRef name) const;
  /// The tensor of that name, or -1.
  int findTensor(llvm::StringRef name) const;
};

/// `length` or a requirement's `value` as a prefix expression over names, for
/// example `(+ B 1)`; what the runtime evaluates.
std::string prefixText(const Item &item, const Expr &expr);

/// False for an expression that has no prefix form (math functions, bit
/// operations, casts to integers).
bool hasPrefixForm(const Expr &expr);

} // namespace tegula::lang

#endif
