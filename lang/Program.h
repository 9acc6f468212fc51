//===- Program.h - a resolved tile program ----------------------*- C++ -*-===//
//
// What Sema makes of a `kernel` item beside its signature: statements over
// typed values. Names are resolved, functions inlined, conversions explicit;
// a variable is a value for each place where it changes (what a loop carries,
// what an `if` gives), so that emission has no names to look up.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_PROGRAM_H
#define TEGULA_LANG_PROGRAM_H

#include "lang/IntegerRange.h"
#include "lang/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SMLoc.h"
#include <deque>
#include <string>
#include <vector>

namespace tegula::lang {

struct Term;

/// Where the lanes of an axis end: lane l is one iff base + l < end. Two bounds
/// are the same where both values are, by number.
struct Bound {
  const Term *base = nullptr; ///< null: every lane is one
  const Term *end = nullptr;
  std::string text; ///< "`c` against C", for messages

  explicit operator bool() const { return base != nullptr; }
  bool operator==(const Bound &other) const;
  bool operator!=(const Bound &other) const { return !(*this == other); }
};

/// The type of a value: a scalar (rank 0), a tile, or a softmax state, whose
/// shape is its rows and the width of its accumulator.
struct TileType {
  ElemType elem = ElemType::Error;
  bool isState = false;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<Bound, 4> bounds; ///< beside shape

  TileType() = default;
  TileType(ElemType elem, llvm::ArrayRef<int64_t> shape = {})
      : elem(elem), shape(shape.begin(), shape.end()), bounds(shape.size()) {}

  unsigned rank() const { return shape.size(); }
  bool isScalar() const { return shape.empty(); }
  bool isTile() const { return !shape.empty() && !isState; }
  bool isError() const { return elem == ElemType::Error; }
};

/// A place in a tensor: `k[b, g, n :+ 64, :]`.
struct Place {
  enum Kind {
    Element, ///< scalar indices only
    Slices,  ///< scalars and slices: a box of memory
    Gather,  ///< tiles among the indices, taken together lane by lane
  };
  struct Axis {
    const Term *index; ///< a scalar or a tile; of a slice: its base
    int tileAxis = -1; ///< of a slice: its axis in the tile
  };
  Kind kind = Element;
  unsigned tensor = 0;
  std::vector<Axis> axes;
  /// The box or the lanes that it makes; bounds are those of its slices and of
  /// its index tiles, the element type is the tensor's.
  TileType type;
  /// Bit a: the bound of axis a of the tile is a value of the program, not the
  /// extent of memory.
  unsigned boundByValue = 0;
};

enum class TileReduction { Sum, Min, Max, ArgMax, Any, All };

/// A typed value. Elementwise operators take scalars and tiles together; axes
/// of extent 1 stretch. Floats of 8 and 16 bits and integers below 32 only come
/// from loads and casts, and only go to casts, dots and stores.
struct Term {
  enum Kind {
    Constant,      ///< `integer` (also bools) or `real`
    Dim,           ///< run-time length `number` of Item::dims, i64
    Scalar,        ///< parameter `number` of Item::scalars
    Coordinate,    ///< index `number` of the grid, i64
    Local,         ///< what a statement or a combination defines
    Load,          ///< `place`; args: [fill[, where]]
    Operator,      ///< `op` of args, elementwise; Convert: to the type's elem
    Iota,          ///< 0, 1, ... (i32)
    Splat,         ///< args[0], a scalar, everywhere
    Spread,        ///< row and col: args[0] of rank 1 along `axis` of rank 2
    Broadcast,     ///< axes of extent 1 stretched to the shape
    Transpose,     ///< axis n is axis permutation[n] of args[0]
    Reshape,       ///< in row-major order
    Reduce,        ///< `reduction` along `axis`
    CumSum,        ///< along `axis`
    Combine,       ///< of args[0] along `axis` from args[1]: `result` of the
                   ///< Locals `parameters`
    Dot,           ///< args: a, b[, accumulator]
    State,         ///< the empty softmax state
    OnlineSoftmax, ///< args: state, scores, V, then keep and weight or null
    Merge,         ///< args: two states
    Partial,       ///< args: output, lse
    Finish,        ///< args: a state
    Lse,           ///< args: a state
    RowMax,        ///< args: a state
    RowSum,        ///< args: a state
  };
  Kind kind = Constant;
  TileType type;
  llvm::SMRange range;
  int64_t integer = 0;
  double real = 0;
  unsigned number = 0;
  Op op = Op::Add;
  TileReduction reduction = TileReduction::Sum;
  unsigned axis = 0;
  llvm::SmallVector<int64_t, 4> permutation;
  llvm::SmallVector<const Term *, 3> args;
  const Place *place = nullptr;
  Bound keys; ///< of an online softmax
  llvm::SmallVector<const Term *, 2> parameters;
  const Term *result = nullptr;

  /// Equal for scalars that are the same whenever both are computed.
  unsigned valueNumber = 0;
  IntegerRange values; ///< of an integer
  /// Bit a: lanes past the bound of axis a hold 0.
  unsigned zeroPast = 0;
  /// The nesting of the loop or branch that it changes with; 0: nowhere.
  unsigned loopDepth = 0;
  unsigned depth = 1; ///< of the tree, at most maxItemDepth

  bool isConstant() const { return kind == Constant; }
};

inline bool Bound::operator==(const Bound &other) const {
  if (!base || !other.base)
    return base == other.base;
  return base->valueNumber == other.base->valueNumber &&
         end->valueNumber == other.end->valueNumber;
}

struct Statement {
  enum Kind {
    Compute, ///< value, now: it may read memory
    Store,   ///< place = value where condition (or null)
    Atomic,  ///< place += value where condition (or null)
    For,     ///< index from first while below end; `carried`
    If,      ///< condition, body, otherwise; `carried`
    Print,   ///< text, args
    Assert,  ///< condition, text
  };
  /// A variable that a loop or a branch changes.
  struct Carried {
    const Term *init;  ///< before; For only
    const Term *entry; ///< a Local: at the begin of the body; For only
    const Term *next;  ///< at the end of the body
    const Term *other; ///< at the end of `otherwise`; If only
    const Term *after; ///< a Local: behind the statement
  };
  Kind kind = Compute;
  llvm::SMRange range;
  const Term *value = nullptr;
  const Term *condition = nullptr;
  const Place *place = nullptr;
  const Term *index = nullptr, *first = nullptr, *end = nullptr,
             *step = nullptr;
  std::vector<Carried> carried;
  std::vector<const Term *> args;
  std::string text;
  std::vector<Statement> body, otherwise;
};

struct Program {
  Program() = default;
  Program(const Program &) = delete; // values point into `values`
  Program &operator=(const Program &) = delete;

  struct Axis {
    std::string name;
    const Term *extent;
  };
  std::vector<Axis> grid; ///< the first is fastest
  std::vector<Statement> body;

  std::deque<Term> values;
  std::deque<Place> places;
};

} // namespace tegula::lang

#endif
