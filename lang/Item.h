//===- Item.h - a resolved item ---------------------------------*- C++ -*-===//
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
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tegula::lang {

/// The implicit indices. D appears in operand definitions only, E there and in
/// outputs.
enum class IndexVar { B, H, G, I, J, D, E };

/// What an output is made of, beside indices and tables.
enum class RowValue { O, Lse, RowMax, RowSum };

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
    Row,      ///< `row`, in an output
    Dim,      ///< length `number` of Item::dims
    Scalar,   ///< parameter `number` of Item::scalars, widened
    Let,      ///< value `number` of Item::lets
    Variable, ///< the variable `number` of a bounded reduction around it
    Lookup,   ///< Item::tensors[number] at indices `args`; each index goes to
              ///< the nearest element, an empty axis gives 0; widened
    Operator, ///< `op` of `args`
    Bounded,  ///< `op` (Or, And, Add, Min, Max) over args[1] for variable
              ///< `number` from 0 up to args[0], which no index changes; where
              ///< that is not above 0, the identity of `op`
  };
  Kind kind = Constant;
  ElemType type = ElemType::Error; ///< Bool, I32, I64, F32 or F64
  llvm::SMRange range;
  int64_t integer = 0;
  double real = 0;
  IndexVar index = IndexVar::B;
  RowValue row = RowValue::O;
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
  /// That no operator has to be computed for it.
  bool isLeaf() const {
    return kind != Lookup && kind != Operator && kind != Bounded;
  }
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

enum class Role { Input, Output, InOut };

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

/// A value that is computed once: a `let`, or an argument or `let` of a `fn`,
/// one for each call. The latter may depend on `s`, on row values and on the
/// variable of a bounded reduction around the call.
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

/// What becomes of the scores of a row.
enum class Reduction {
  Softmax, ///< o = sum of softmax(s) v
  Sum,     ///< o = sum of w v
  Mean     ///< o = sum of w v / sum of w, 0 where that is 0
};
llvm::StringRef reductionName(Reduction reduction);

/// An output tensor and its element: an expression of the row's values, b, h,
/// g, i and, in a tensor of rank 4, e. A float, or an integer or bool where the
/// tensor holds those.
struct Output {
  unsigned tensor;
  const Expr *element;
};

/// One field of the schedule that the item asks for.
struct ScheduleField {
  std::string name, value;
  llvm::SMRange range;
};
struct Program;

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
  std::deque<Let> lets;
  std::vector<Requirement> requirements;

  Operand q, k, v;
  std::vector<Output> outputs; ///< in order of the signature

  const Expr *scale = nullptr;      ///< null: 1 / sqrt(head dim)
  std::vector<const Expr *> scores; ///< in order; each sees what the last made
  std::vector<const Expr *> masks;  ///< and-ed
  Reduction reduction = Reduction::Softmax;
  /// Under Sum and Mean, the weight of a key before `weight`.
  const Expr *pairWeight = nullptr;
  const Expr *extra = nullptr; ///< null: nothing is added to the normaliser
  std::vector<const Expr *> weights; ///< multiplied; none: 1
  std::vector<ScheduleField> schedule;

  /// Of a `kernel` item: the tile program, with which it has no operands,
  /// scale, scores or masks. Else null.
  std::shared_ptr<const Program> program;

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
/// operations, casts to integers) or one of more than a thousand nodes.
bool hasPrefixForm(const Expr &expr);

} // namespace tegula::lang

#endif
