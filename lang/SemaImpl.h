//===- SemaImpl.h - the state shared by Sema's parts ------------*- C++ -*-===//
//
// Private to Sema.cpp (the order of analysis), SemaDeclarations.cpp (statics,
// parameters, extents), SemaOperands.cpp (q k v o lse), SemaReduce.cpp (what
// becomes of the scores), SemaExpr.cpp, SemaTables.cpp, SemaOperators.cpp,
// SemaCall.cpp, SemaFn.cpp and SemaBounded.cpp (typing) and Fold.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_SEMAIMPL_H
#define TEGULA_LANG_SEMAIMPL_H

#include "lang/Sema.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tegula::lang {

/// Sets `integer` or `real` of an operator whose operands are constants; false
/// for one that is folded elsewhere.
bool foldOperator(Expr &e);

/// Fills in `item` and its program; false, and an error, where it has one.
bool analyzeKernel(const ast::Kernel &kernel, const ast::File &file,
                   llvm::ArrayRef<Define> defines, Item &item,
                   Diagnostics &diagnostics);

/// Whether `kernel` items have a function of that name.
bool isTileFunction(llvm::StringRef name);

/// Of a dim, and of a bounded reduction.
inline constexpr int64_t maxExtent = int64_t(1) << 29;

/// `b h g i j`; else null.
std::optional<IndexVar> indexNamed(llvm::StringRef name);

class Sema {
public:
  Sema(const ast::File &file, llvm::ArrayRef<Define> defines, Item &item,
       Diagnostics &diagnostics)
      : file(file), defines(defines), item(item), diagnostics(diagnostics) {}

  /// False, and an error, where the item has one.
  bool run(const ast::Attention &root);

protected:
  /// What an expression stands in; it decides which names it sees.
  enum class Context {
    Static,
    Extent,
    Require,
    Let,
    Scale,
    Score,
    Mask,
    Reduce,
    Extra,
    Weight,
    Emit
  };
  /// Dims, statics and scalars only.
  bool onHost() const { return context <= Context::Require; }
  /// Under `sum` and `mean`, `reduce` has the last word on `s`.
  bool seesScore() const {
    return context == Context::Score || context == Context::Reduce ||
           (context == Context::Weight && item.reduction == Reduction::Softmax);
  }
  bool seesKey() const {
    return seesScore() || context == Context::Let || context == Context::Mask ||
           context == Context::Weight;
  }
  /// What the context is called in a message: "a score".
  llvm::StringRef contextName() const;

  struct Symbol {
    enum Kind { Static, Scalar, Tensor, Dim, Let };
    Kind kind;
    unsigned number;
    llvm::SMRange range;
  };

  struct StaticState {
    const ast::Clause *clause;
    enum { Open, Busy, Done, Failed } state = Open;
  };
  struct LetState {
    const ast::Clause *clause;
    enum { Open, Busy, Done } state = Open;
  };
  /// Names that an expression sees before those of the item; a function's body
  /// sees nothing else.
  struct Local {
    llvm::StringRef name;
    const Expr *value;
    llvm::SMRange range;
  };
  struct Scope {
    const ast::Fn *fn = nullptr; ///< null in a clause
    const Scope *caller = nullptr;
    std::vector<Local> locals;
  };

  // Sema.cpp
  bool collectLevels(const ast::Attention &root);
  bool addGroups(const ast::Attention &item);
  const ast::Attention *findBase(const ast::Attention &item);
  void refuseLaterWork();
  void analyzeRequirements();
  void analyzeRequirement(const ast::Clause &clause);
  void separateDims();
  void uniteDims(const ast::Expr &condition);
  void analyzeScale();
  void analyzeScores();
  void analyzeMasks();
  /// The clause of a kind that counts: of the last level that has one; an error
  /// where a level has two.
  const ast::Clause *lastOf(ast::Clause::Kind kind);
  /// The typed value of a clause that has to be a float, or null.
  const Expr *floatOf(Context where, const ast::Expr &written,
                      llvm::StringRef boolHint = "");
  template <typename Fn> void eachClause(Fn fn) {
    for (const ast::ClauseList *level : levels)
      for (const ast::Clause &clause : level->clauses)
        fn(clause, *level);
  }

  // SemaReads.cpp
  void dropUnread();
  bool mayDrop(const Argument &argument) const;

  // SemaReduce.cpp
  void analyzeReduction();
  void analyzeWeights();
  void analyzeOutputs();
  void analyzeOutput(unsigned tensor, const ast::Clause *emit);
  void selectOutputs();
  const Expr *typeRowValue(const ast::Expr &e);
  void analyzeSchedule();

  // SemaDeclarations.cpp
  void declareStatics();
  void applyDefines();
  bool evaluateStatic(unsigned number);
  bool evaluateDefault(unsigned number);
  bool evaluateDefine(unsigned number, const Define &define);
  void declareTensors();
  void declareEmit(const ast::Clause &clause);
  void declareTensor(const ast::Tensor &tensor, Role role);
  void declareScalar(const ast::Tensor &tensor);
  void declareExtents();
  void declareExtent(Tensor &tensor, const ast::Expr &written);
  void declareLets();
  bool declare(const ast::Name &name, Symbol::Kind kind, unsigned number);
  /// False, and an error, for a name that has a meaning in every item.
  bool checkFreeName(const ast::Name &name);
  ElemType resolveElem(const ast::Name &elem);
  unsigned addDim(llvm::StringRef name, llvm::SMRange range,
                  std::optional<int64_t> value);
  void checkDimsBound();

  // SemaOperands.cpp
  bool checkOperands();
  bool checkOperand(llvm::StringRef name, llvm::StringRef axes, Role role);
  bool checkHeadDim(const Tensor &tensor, llvm::StringRef dim);
  bool checkElements();
  void requireWholeGroups();
  bool checkOutputs();
  Operand readOperand(llvm::StringRef name, llvm::ArrayRef<IndexVar> indices);

  // SemaExpr.cpp
  const Expr *type(const ast::Expr &e);
  const Expr *typeIn(Context context, const ast::Expr &e);
  const Expr *typeName(const ast::Expr &e);
  const Expr *typeImplicit(const ast::Expr &e);
  std::string refuseScore() const;
  const Expr *typeSymbol(const ast::Expr &e, Symbol &symbol);
  const Expr *typeLet(const ast::Expr &e, unsigned number);
  const Expr *unknownName(const ast::Expr &e, const llvm::Twine &what);
  std::vector<llvm::StringRef> visibleNames() const;

  // SemaTables.cpp
  const Expr *typeIndex(const ast::Expr &e);
  bool refuseTensorOnHost(const ast::Expr &e);
  const Expr *refuseOtherScore(const ast::Expr &e);
  bool refuseOperand(const ast::Expr &e, const Tensor &tensor);
  bool checkBareIndex(const ast::Expr &e, const Tensor &tensor, unsigned axis,
                      const Expr &index);

  // SemaOperators.cpp
  const Expr *typeOperator(const ast::Expr &e);
  const Expr *typeUnary(const ast::Expr &e);
  const Expr *typeArithmetic(const ast::Expr &e);
  const Expr *typeBits(const ast::Expr &e);
  const Expr *typeComparison(const ast::Expr &e);
  const Expr *typeLogic(const ast::Expr &e);
  const Expr *typeSelect(const ast::Expr &e);
  bool expectNumber(const ast::Expr &e, const Expr &typed, llvm::StringRef op);
  bool expectInteger(const ast::Expr &e, const Expr &typed, llvm::StringRef op);
  bool expectBool(const ast::Expr &e, const Expr &typed, llvm::StringRef op);
  /// Brings numbers to one type: floats if one is, else the wider integer.
  ElemType unify(llvm::MutableArrayRef<const Expr *> typed,
                 llvm::ArrayRef<const ast::Expr *> written);
  /// An integer that becomes a float where the program does not say so.
  const Expr *toFloat(const ast::Expr &written, const Expr *typed);
  /// How to write an integer expression so that it is a float: `1.0 / 8`,
  /// `f32(i) - j`.
  std::string floatSpelling(const ast::Expr &e) const;

  // SemaCall.cpp
  const Expr *typeCall(const ast::Expr &e);
  const Expr *typeCast(const ast::Expr &e, ElemType target);
  const Expr *typeClamp(const ast::Expr &e);
  const Expr *typeFunction(const ast::Expr &e, Op op);
  const Expr *unknownFunction(const ast::Expr &e);
  const Expr *typeRandom(const ast::Expr &e);
  bool checkArity(const ast::Expr &e, unsigned arity);

  // SemaFn.cpp
  const Expr *findLocal(llvm::StringRef name) const;
  const Expr *typeFnCall(const ast::Expr &e, const ast::Fn &fn);
  bool checkFnCall(const ast::Expr &e, const ast::Fn &fn);
  const Expr *bindArgument(const ast::Fn &fn, const ast::Tensor &param,
                           const ast::Expr &written);
  const Expr *sharedValue(const ast::Name &name, const Expr *value);

  // SemaBounded.cpp
  const Expr *typeBounded(const ast::Expr &e);
  bool checkVariable(const ast::Name &variable);

  // Nodes (SemaExpr.cpp).
  Expr &node(Expr::Kind kind, ElemType type, llvm::SMRange range);
  const Expr *integerConstant(int64_t value, ElemType type,
                              llvm::SMRange range);
  const Expr *realConstant(double value, llvm::SMRange range);
  const Expr *make(Op op, ElemType type, llvm::ArrayRef<const Expr *> args,
                   llvm::SMRange range, ElemType castType = ElemType::Error);
  const Expr *errorExpr() { return &error; }
  /// `i32`, or `i32 (value 3)` for a constant.
  std::string describe(const Expr &e) const;

  int find(int dim) const;

  const ast::File &file;
  llvm::ArrayRef<Define> defines;
  Item &item;
  Diagnostics &diagnostics;

  const ast::Attention *base = nullptr; ///< the item that has the signature
  const ast::Attention *root = nullptr; ///< the item that is analysed
  /// The clauses of the base, then of each derived item its groups and its own.
  std::vector<const ast::ClauseList *> levels;
  llvm::StringMap<Symbol> symbols;
  /// Names with a declaration that was refused: what reads them is an error
  /// without a message.
  llvm::StringSet<> refused;
  std::vector<StaticState> statics;                ///< beside item.statics
  std::vector<LetState> lets;                      ///< beside item.lets
  std::vector<const ast::Tensor *> writtenTensors; ///< beside item.tensors
  llvm::StringSet<> unknownElems;                  ///< each is reported once
  std::vector<int> dimParent; ///< union-find over item.dims
  Scope *scope = nullptr;
  unsigned calls = 0, variables = 0;
  bool hasEmit = false;
  size_t outputRank = 0; ///< of the output whose element is typed
  Context context = Context::Static;
  const ast::Expr *clauseValue = nullptr; ///< what `context` began with
  unsigned depth = 0;
  bool isKernel = false;   ///< no name has a fixed meaning
  bool incomplete = false; ///< an unknown name may be one that did not parse
  Expr error;
};

} // namespace tegula::lang

#endif
