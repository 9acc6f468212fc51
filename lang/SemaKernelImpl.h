//===- SemaKernelImpl.h - the state shared by the parts of KernelSema -----===//
//
// Private to SemaKernel.cpp (the item and its statements), SemaPlace.cpp
// (places, loads, bounds of slices), SemaTile.cpp (names), SemaTerms.cpp
// (values), SemaTileTypes.cpp and SemaTileOperators.cpp (elementwise),
// SemaBuiltin.cpp (calls), SemaTileFn.cpp, SemaTileShapes.cpp,
// SemaTileReductions.cpp and SemaTileState.cpp (functions).
//
// A value of error type stands for an expression that a message was given for;
// whatever is made of it is one too, without a message.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_SEMAKERNELIMPL_H
#define TEGULA_LANG_SEMAKERNELIMPL_H

#include "lang/AstKernel.h"
#include "lang/Program.h"
#include "lang/SemaImpl.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace tegula::lang {

class KernelSema : public Sema {
public:
  KernelSema(const ast::File &file, llvm::ArrayRef<Define> defines, Item &item,
             Program &program, Diagnostics &diagnostics)
      : Sema(file, defines, item, diagnostics), program(program) {
    isKernel = true;
  }

  /// False, and an error, where the item has one.
  bool run(const ast::Kernel &kernel);

private:
  using Terms = llvm::SmallVector<const Term *, 4>;
  using Written = llvm::SmallVector<const ast::Expr *, 4>;

  /// What a name of the program stands for at the moment.
  struct Binding {
    const Term *value;
    bool isVar;
    llvm::SMRange range;
    unsigned block; ///< the nesting of its declaration
  };
  /// A call that is being inlined; its names hide all others.
  struct Frame {
    const ast::Fn *fn;
    llvm::SMRange call;
    llvm::StringMap<const Term *> names;
  };
  /// What an argument of a built-in has to be.
  enum Takes { Any, Value, Tile, Vector, Matrix, State, Shape, Axis };
  struct Parameter {
    llvm::StringRef name;
    Takes takes = Any;
    bool optional = false;
  };
  /// A call of a built-in; arguments by parameter, null where not given.
  struct Call {
    const ast::Expr &e;
    Written written;
    Terms values;                        ///< of what is a value
    llvm::SmallVector<int64_t, 4> shape; ///< the extents of all shapes
    unsigned axis = 0;                   ///< of the first argument
  };
  struct Builtin {
    llvm::StringRef name;
    const Term *(KernelSema::*type)(const Call &);
    Parameter parameters[5];
  };
  static const Builtin builtins[];

  // SemaKernel.cpp
  void typeGrid(const ast::Kernel &kernel);
  void typeBlock(const std::vector<ast::Stmt> &stmts);
  void typeStatement(const ast::Stmt &stmt);
  void typeBinding(const ast::Stmt &stmt);
  void typeAssign(const ast::Stmt &stmt);
  void typeWrite(const ast::Stmt &stmt);
  bool checkWrite(const ast::Stmt &stmt, const Tensor &tensor);
  void typeFor(const ast::Stmt &stmt);
  bool typeRange(const ast::Stmt &stmt, Statement &loop);
  bool typeBody(const ast::Stmt &stmt, Statement &loop,
                llvm::ArrayRef<std::string> names,
                std::vector<TileType> &types);
  void typeIf(const ast::Stmt &stmt);
  void typePrint(const ast::Stmt &stmt);
  void typeAssert(const ast::Stmt &stmt);
  void warnUnwritten();
  std::vector<std::string> assignedIn(llvm::ArrayRef<const ast::Stmt *> stmts);
  bool fitsVar(const ast::Stmt &stmt, const Binding &var, const Term *&value);
  const Term *typeCondition(const ast::Expr &e, llvm::StringRef word);
  bool declareName(const ast::Name &name, const Term *value, bool isVar);
  void enterBlock();
  void leaveBlock();
  Statement &emit(Statement::Kind kind, llvm::SMRange range);
  /// Evaluates `value` here; what is made of it later starts from there.
  void compute(const Term *value, llvm::SMRange range);

  // SemaPlace.cpp
  const Place *typePlace(const ast::Expr &e);
  bool typeAxis(const ast::Expr &e, unsigned axis, Place &place);
  bool typeSlice(const ast::Expr &e, unsigned axis, Place &place);
  bool joinIndexTiles(const ast::Expr &e, Place &place);
  bool covers(const Bound &bound, int64_t length) const;
  const Term *extentOf(unsigned tensor, unsigned axis);
  const Term *typeElement(const ast::Expr &e);
  const Term *typeLoad(const ast::Expr &e);
  const Term *loadOf(const Place &place, const ast::Expr &e);
  bool typeFill(const ast::Expr &e, const Place &place, Term &load);
  const Term *fromHost(const Expr &e);
  const Term *scalarInteger(const ast::Expr &e, const llvm::Twine &what);

  // SemaTile.cpp
  const Term *typeTile(const ast::Expr &e);
  const Term *typeTileName(const ast::Expr &e);
  const Term *unknownTileName(const ast::Expr &e);
  const Term *symbolValue(const ast::Expr &e, Symbol &symbol);

  // SemaTileTypes.cpp
  /// Joins shapes and bounds of `args`; false, and an error, where they differ.
  bool joinShapes(llvm::SMRange range, const Terms &args,
                  const Written &written, TileType &type);
  bool joinBound(llvm::SMRange range, unsigned axis, const Bound &bound,
                 Bound &into);
  const Term *stretch(const Term *value, llvm::ArrayRef<int64_t> shape,
                      llvm::SMRange range);
  /// The name to put into a hint such as `row(m)`.
  static std::string briefText(const ast::Expr &e);
  /// Widens and converts numbers to one type, which is returned.
  ElemType unifyTiles(Terms &args, const Written &written,
                      bool toFloat = false);
  const Term *asFloat(const Term *value, const ast::Expr &written,
                      ElemType target);
  const Term *convert(const Term *value, ElemType elem, llvm::SMRange range);
  const Term *widen(const Term *value);
  const Term *foldScalar(Op op, ElemType result, const Terms &args,
                         llvm::SMRange range);

  // SemaTileOperators.cpp
  const Term *typeTileOperator(const ast::Expr &e);
  const Term *typeTileUnary(const ast::Expr &e);
  const Term *typeTileBits(const ast::Expr &e, Terms args, Written written);
  const Term *typeTileSelect(const ast::Expr &e, Terms args, Written written);
  const Term *typeTileCast(const ast::Expr &e, ElemType target);
  const Term *typeElementwise(const Call &call);
  const Term *typeTileClamp(const Call &call);
  const Term *typeWhere(const Call &call);
  const Term *typeRandomTile(const Call &call);
  bool expectNumbers(llvm::StringRef op, const Terms &args,
                     const Written &written, bool integers = false);
  bool expectBools(llvm::StringRef op, const Terms &args,
                   const Written &written);
  bool checkOperand(const Term &value, const ast::Expr &written,
                    llvm::StringRef op);
  const Term *elementwise(Op op, ElemType result, const Terms &args,
                          const Written &written, llvm::SMRange range);

  // SemaBuiltin.cpp
  friend bool isTileFunction(llvm::StringRef name);
  const Term *typeTileCall(const ast::Expr &e);
  static const Builtin *findBuiltin(const ast::Expr &e);
  const Term *unknownTileFunction(const ast::Expr &e);
  /// Brings the arguments of `e` into the order of `params`.
  bool bind(const ast::Expr &e, llvm::ArrayRef<Parameter> params,
            Written &written);
  bool typeArguments(llvm::ArrayRef<Parameter> params, Call &call);
  bool typeArgument(const Parameter &param, const ast::Expr &written,
                    Call &call, const Term *&value);
  std::optional<int64_t> constantLength(const ast::Expr &e,
                                        llvm::StringRef what);
  bool typeShape(const ast::Expr &e, llvm::SmallVectorImpl<int64_t> &shape);
  std::optional<unsigned> typeAxisNumber(const ast::Expr &e, const Term &tile);
  const Term *expectTile(const ast::Expr &e, llvm::StringRef callee,
                         unsigned rank = 0);
  const Term *expectState(const ast::Expr &e, llvm::StringRef callee);
  bool checkSize(llvm::SMRange range, llvm::ArrayRef<int64_t> shape);

  // SemaTileFn.cpp
  const Term *typeTileFnCall(const ast::Expr &e, const ast::Fn &fn);
  const Term *bindParameter(const ast::Fn &fn, const ast::Tensor &param,
                            const Term *value, const ast::Expr &written);
  const Term *inlineFn(const ast::Fn &fn, const Terms &args,
                       const Written &written, const ast::Expr &call);

  // SemaTileShapes.cpp
  const Term *typeIota(const Call &call);
  const Term *typeFull(const Call &call);
  const Term *typeSpan(const Call &call);
  const Term *typeSpread(const Call &call);
  const Term *typeTranspose(const Call &call);
  const Term *typeReshape(const Call &call);
  const Term *typeBroadcast(const Call &call);

  // SemaTileReductions.cpp
  static std::optional<TileReduction> reductionOf(llvm::StringRef name);
  const Term *typeDot(const Call &call);
  const Term *typeReduction(const Call &call);
  const Term *typeCumSum(const Call &call);
  const Term *typeCombine(const Call &call);

  // SemaTileState.cpp
  const Term *typeState(const Call &call);
  const Term *typeOnlineSoftmax(const Call &call);
  const Term *typeMerge(const Call &call);
  const Term *typePartial(const Call &call);
  const Term *typeFinish(const Call &call);
  const Term *typeRows(const Call &call);

  // SemaTerms.cpp
  /// Adds a value; its numbers and facts follow from its arguments.
  const Term *add(Term value);
  void number(Term &value);
  void noteRange(Term &value) const;
  void noteZeros(Term &value) const;
  Term node(Term::Kind kind, TileType type, llvm::SMRange range,
            llvm::ArrayRef<const Term *> args = {}) const;
  const Term *integer(int64_t value, ElemType elem, llvm::SMRange range);
  const Term *real(double value, ElemType elem, llvm::SMRange range);
  const Term *local(const TileType &type, llvm::SMRange range);
  const Term *errorValue();
  /// `f32`, `bf16[128, 64]`, `i32 (value 3)`.
  std::string describe(const Term &value) const;
  static std::string describe(const TileType &type);
  /// Reports at `range`; inside a function also where it was called.
  Diagnostic &report(llvm::SMRange range, const llvm::Twine &text);

  Program &program;
  std::vector<Statement> *block = nullptr; ///< where statements go
  unsigned blockDepth = 0;
  std::vector<unsigned> loops; ///< block depths of the loops around here
  llvm::StringMap<Binding> names;
  std::vector<std::vector<std::string>> scopes;
  std::vector<Frame> frames;
  std::map<std::vector<uint64_t>, unsigned> numbers;
  unsigned lastNumber = 0;
  std::vector<bool> written; ///< by tensor
  const Term *errorNode = nullptr;
  llvm::DenseSet<const ast::Expr *> warned; ///< a loop's body is typed again
  bool tooLarge = false;
};

} // namespace tegula::lang

#endif
