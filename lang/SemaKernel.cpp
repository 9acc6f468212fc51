//===- SemaKernel.cpp - the meaning of a tile program ---------------------===//
//
// The header as that of an attention item, then the grid and the statements in
// order. A name stands for one value at a time: what a loop or a branch assigns
// becomes a value that it carries or gives. The bounds of carried tiles settle
// by typing a loop's body again where it adds one.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

bool tegula::lang::analyzeKernel(const ast::Kernel &kernel,
                                 const ast::File &file,
                                 llvm::ArrayRef<Define> defines, Item &item,
                                 Diagnostics &diagnostics) {
  auto program = std::make_shared<Program>();
  bool ok = KernelSema(file, defines, item, *program, diagnostics).run(kernel);
  item.program = std::move(program);
  return ok;
}

bool KernelSema::run(const ast::Kernel &kernel) {
  base = root = &kernel.header;
  levels.push_back(&kernel.header);
  incomplete = kernel.header.incomplete;
  declareStatics();
  declareTensors();
  declareExtents();
  separateDims();
  analyzeRequirements();
  analyzeSchedule();
  for (const Tensor &tensor : item.tensors)
    if (tensor.elem == ElemType::F64)
      item.accumulator = ElemType::F64;
  written.resize(item.tensors.size());
  block = &program.body;
  scopes.emplace_back();
  typeGrid(kernel);
  typeBlock(kernel.body);
  warnUnwritten();
  return !diagnostics.hasErrors();
}

/// Dims, statics and scalar parameters are known before the launch.
static bool isKnownOnHost(const Term &value) {
  switch (value.kind) {
  case Term::Constant:
  case Term::Dim:
  case Term::Scalar:
    return true;
  case Term::Operator:
    return llvm::all_of(value.args,
                        [](auto *arg) { return isKnownOnHost(*arg); });
  default:
    return false;
  }
}

void KernelSema::typeGrid(const ast::Kernel &kernel) {
  // An extent sees no coordinate, so names come after all extents.
  for (const ast::Kernel::Axis &axis : kernel.grid) {
    if (!axis.extent)
      continue;
    const Term *extent = scalarInteger(*axis.extent, "the extent of a grid");
    if (!extent->type.isError() && !isKnownOnHost(*extent)) {
      report(axis.extent->range, "the grid is computed on the host, from dims, "
                                 "statics and scalar parameters");
      extent = errorValue();
    }
    program.grid.push_back({axis.name.text, extent});
  }
  unsigned number = 0;
  for (const ast::Kernel::Axis &axis : kernel.grid) {
    if (!axis.extent)
      continue;
    const Term *value = errorValue();
    if (!program.grid[number].extent->type.isError()) {
      Term coordinate = node(Term::Coordinate, ElemType::I64, axis.name.range);
      coordinate.number = number;
      value = add(std::move(coordinate));
    }
    ++number;
    declareName(axis.name, value, /*isVar=*/false);
  }
}

/// An output that nothing writes is hardly meant.
void KernelSema::warnUnwritten() {
  if (diagnostics.hasErrors())
    return;
  for (auto [tensor, isWritten] : llvm::zip(item.tensors, written))
    if (tensor.role == Role::Output && !isWritten)
      diagnostics.warning(tensor.range,
                          "output `" + tensor.name + "` is never stored");
}

//===----------------------------------------------------------------------===//
// Names and blocks
//===----------------------------------------------------------------------===//

bool KernelSema::declareName(const ast::Name &name, const Term *value,
                             bool isVar) {
  if (name.text.empty())
    return false;
  auto known = names.find(name.text);
  auto symbol = symbols.find(name.text);
  if (known != names.end() || symbol != symbols.end()) {
    bool isDim = symbol != symbols.end() && symbol->second.kind == Symbol::Dim;
    refused.insert(name.text);
    diagnostics
        .error(name.range, isDim ? "`" + name.text + "` is a dim of this kernel"
                                 : "`" + name.text + "` is declared twice")
        .note(known != names.end() ? known->second.range : symbol->second.range,
              "first here");
    return false;
  }
  if (elemTypeFromName(name.text) || name.text == "true" ||
      name.text == "false" || name.text == "inf") {
    refused.insert(name.text);
    diagnostics.error(name.range, "`" + name.text +
                                      "` is a word of the language; choose "
                                      "another name");
    return false;
  }
  names[name.text] = {value, isVar, name.range, blockDepth};
  scopes.back().push_back(name.text);
  return true;
}

void KernelSema::enterBlock() {
  scopes.emplace_back();
  ++blockDepth;
}

void KernelSema::leaveBlock() {
  for (const std::string &name : scopes.back())
    names.erase(name);
  scopes.pop_back();
  --blockDepth;
}

Statement &KernelSema::emit(Statement::Kind kind, SMRange range) {
  Statement &statement = block->emplace_back();
  statement.kind = kind;
  statement.range = range;
  return statement;
}

void KernelSema::compute(const Term *value, SMRange range) {
  if (value->type.isError())
    return;
  emit(Statement::Compute, range).value = value;
  const_cast<Term *>(value)->depth = 1;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void KernelSema::typeBlock(const std::vector<ast::Stmt> &stmts) {
  for (const ast::Stmt &stmt : stmts)
    typeStatement(stmt);
}

void KernelSema::typeStatement(const ast::Stmt &stmt) {
  switch (stmt.kind) {
  case ast::Stmt::Let:
  case ast::Stmt::Var:
    return typeBinding(stmt);
  case ast::Stmt::Assign:
    return typeAssign(stmt);
  case ast::Stmt::Store:
  case ast::Stmt::Atomic:
    return typeWrite(stmt);
  case ast::Stmt::For:
    return typeFor(stmt);
  case ast::Stmt::If:
    return typeIf(stmt);
  case ast::Stmt::Print:
    return typePrint(stmt);
  case ast::Stmt::Assert:
    return typeAssert(stmt);
  }
}

void KernelSema::typeBinding(const ast::Stmt &stmt) {
  const Term *value = typeTile(*stmt.value);
  if (declareName(stmt.name, value, stmt.kind == ast::Stmt::Var))
    compute(value, stmt.word.range);
}

/// Whether a variable may take `value`, a literal of which takes its type.
bool KernelSema::fitsVar(const ast::Stmt &stmt, const Binding &var,
                         const Term *&value) {
  const TileType &type = var.value->type;
  if (value->isConstant() && type.isScalar() &&
      isFloat(value->type.elem) == isFloat(type.elem) &&
      (value->type.elem == ElemType::Bool) == (type.elem == ElemType::Bool))
    value = convert(value, type.elem, value->range);
  if (value->type.elem != type.elem || value->type.shape != type.shape ||
      value->type.isState != type.isState) {
    bool sameShape = value->type.shape == type.shape && !type.isState &&
                     !value->type.isState;
    bool splats = value->type.isScalar() && type.isTile();
    std::string shape;
    for (int64_t extent : type.shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    std::string text = toText(*stmt.value);
    report(stmt.value->range,
           "`" + stmt.name.text + "` is " + describe(type) +
               ", but would take " + describe(*value) +
               (sameShape
                    ? ("; write `" + elemTypeName(type.elem) + "(...)`").str()
                : splats ? "; write `full([" + shape + "], " + text + ")`"
                         : ""))
        .note(var.range, "declared here");
    return false;
  }
  for (auto [axis, bound] : llvm::enumerate(value->type.bounds)) {
    if (!bound)
      continue;
    unsigned changes = std::max(bound.base->loopDepth, bound.end->loopDepth);
    if (changes <= var.block)
      continue;
    bool inLoop =
        llvm::any_of(loops, [&](unsigned loop) { return loop > var.block; });
    report(stmt.value->range,
           "`" + stmt.name.text + "` would take lanes of axis " +
               llvm::Twine(axis) + " whose bound (" + bound.text +
               (inLoop ? ") changes with the loop"
                       : ") is known in this branch only") +
               "; load with `fill 0.0`")
        .note(var.range, "declared here");
    return false;
  }
  return true;
}

void KernelSema::typeAssign(const ast::Stmt &stmt) {
  const Term *value = typeTile(*stmt.value);
  auto known = names.find(stmt.name.text);
  if (known == names.end()) {
    auto symbol = symbols.find(stmt.name.text);
    if (symbol != symbols.end()) {
      bool isTensor = symbol->second.kind == Symbol::Tensor;
      report(stmt.name.range,
             "`" + stmt.name.text + "` cannot be assigned" +
                 (isTensor ? "; write `store " + stmt.name.text + "[...] = ...`"
                           : ""))
          .note(symbol->second.range, "declared here");
      return;
    }
    std::vector<StringRef> vars;
    for (const auto &entry : names)
      if (entry.second.isVar)
        vars.push_back(entry.first());
    llvm::sort(vars);
    StringRef near;
    std::string hint = didYouMean(stmt.name.text, vars, &near);
    Diagnostic &d = report(stmt.name.range,
                           "unknown variable `" + stmt.name.text + "`" +
                               (hint.empty() ? "; declare it with `var " +
                                                   stmt.name.text + " = ...`"
                                             : hint));
    if (!near.empty())
      d.fix(stmt.name.range, near);
    return;
  }
  Binding &var = known->second;
  if (!var.isVar) {
    report(stmt.name.range, "`" + stmt.name.text +
                                "` does not change; declare it with `var` "
                                "to assign it")
        .note(var.range, "declared here");
    return;
  }
  if (value->type.isError() || var.value->type.isError())
    return;
  if (!fitsVar(stmt, var, value))
    return;
  compute(value, stmt.word.range);
  var.value = value;
}

bool KernelSema::checkWrite(const ast::Stmt &stmt, const Tensor &tensor) {
  if (tensor.role == Role::Input) {
    report(stmt.place->nameRange, "`" + tensor.name +
                                      "` is an input; declare it `inout`, or "
                                      "list it after `->`")
        .note(tensor.range, "declared here");
    return false;
  }
  if (stmt.kind == ast::Stmt::Atomic &&
      (tensor.elem == ElemType::Bool || tensor.elem == ElemType::U8 ||
       tensor.elem == ElemType::I8 || tensor.elem == ElemType::I16)) {
    report(stmt.place->nameRange,
           "`atomic` adds to i32, i64 and floats, but `" + tensor.name +
               "` holds " + elemTypeName(tensor.elem))
        .note(tensor.range, "declared here");
    return false;
  }
  return true;
}

/// `store place = value`, or `atomic place += value`.
void KernelSema::typeWrite(const ast::Stmt &stmt) {
  const Place *place = typePlace(*stmt.place);
  const Term *value = typeTile(*stmt.value);
  const Term *where = stmt.condition ? typeTile(*stmt.condition) : nullptr;
  if (place)
    written[place->tensor] = true;
  if (!place || value->type.isError() || (where && where->type.isError()))
    return;
  const Tensor &tensor = item.tensors[place->tensor];
  if (!checkWrite(stmt, tensor))
    return;
  const ast::Expr &text = *stmt.value;
  if (value->type.isState) {
    report(text.range, "a softmax state is not stored; store `finish(" +
                           toText(text) + ")` and `lse(" + toText(text) + ")`");
    return;
  }
  ElemType from = value->type.elem;
  auto family = [](ElemType elem) {
    return elem == ElemType::Bool ? 0 : isInteger(elem) ? 1 : 2;
  };
  bool isLiteral =
      value->isConstant() && isInteger(from) && isFloat(tensor.elem);
  if (family(from) != family(tensor.elem) && !isLiteral) {
    report(
        text.range,
        "`" + tensor.name + "` holds " + elemTypeName(tensor.elem) +
            ", but the value is " + describe(*value) +
            (tensor.elem == ElemType::Bool
                 ? "; write a comparison"
                 : ("; write `" + elemTypeName(tensor.elem) + "(...)`").str()))
        .note(tensor.range, "declared here");
    return;
  }
  auto fits = [&](const Term *tile, const ast::Expr &written) {
    if (tile->type.isScalar())
      return true;
    bool ok = tile->type.rank() == place->type.rank();
    for (unsigned axis = 0; ok && axis < tile->type.rank(); ++axis)
      ok = tile->type.shape[axis] == place->type.shape[axis] ||
           (tile->type.shape[axis] == 1 && !tile->type.bounds[axis]);
    if (!ok)
      report(written.range, "the place takes " + describe(place->type) +
                                ", but this is " + describe(*tile));
    return ok;
  };
  if (!fits(value, text))
    return;
  if (where) {
    if (where->type.elem != ElemType::Bool || where->type.isState) {
      report(stmt.condition->range,
             "`where` takes bools, but got " + describe(*where));
      return;
    }
    if (!fits(where, *stmt.condition))
      return;
    where = stretch(where, place->type.shape, where->range);
  }
  value = convert(value, tensor.elem, text.range);
  value = stretch(value, place->type.shape, text.range);
  if (value->type.isError())
    return;
  Statement &statement =
      emit(stmt.kind == ast::Stmt::Store ? Statement::Store : Statement::Atomic,
           stmt.word.range);
  statement.place = place;
  statement.value = value;
  statement.condition = where;
}

const Term *KernelSema::typeCondition(const ast::Expr &e, StringRef word) {
  const Term *condition = typeTile(e);
  if (condition->type.isError())
    return condition;
  if (condition->type.isScalar() && condition->type.elem == ElemType::Bool)
    return condition;
  bool isTile =
      condition->type.isTile() && condition->type.elem == ElemType::Bool;
  report(e.range, "`" + word + "` takes one bool" +
                      (isTile ? word == "if" ? ", use `where(c, a, b)`"
                                             : ", use `all(c, axis = n)`"
                              : "") +
                      "; this is " + describe(*condition));
  return errorValue();
}

/// Texts and values in order; a text may say itself, by `{}`, where values go.
void KernelSema::typePrint(const ast::Stmt &stmt) {
  bool placesValues = llvm::any_of(stmt.args, [](const ast::ExprPtr &arg) {
    return arg->kind == ast::Expr::Text && StringRef(arg->name).contains("{}");
  });
  std::string text;
  std::vector<const Term *> values;
  for (const ast::ExprPtr &arg : stmt.args) {
    bool isText = arg->kind == ast::Expr::Text;
    if (isText || !placesValues)
      text += (text.empty() ? "" : " ") + (isText ? arg->name : "{}");
    if (isText)
      continue;
    const Term *value = typeTile(*arg);
    if (value->type.isError())
      continue;
    if (value->type.isState)
      report(arg->range, "a softmax state is not printed; print `finish(" +
                             toText(*arg) + ")`");
    values.push_back(widen(value));
  }
  Statement &statement = emit(Statement::Print, stmt.word.range);
  statement.text = std::move(text);
  statement.args = std::move(values);
}

void KernelSema::typeAssert(const ast::Stmt &stmt) {
  const Term *condition = typeCondition(*stmt.condition, "assert");
  if (condition->type.isError())
    return;
  Statement &statement = emit(Statement::Assert, stmt.word.range);
  statement.condition = condition;
  statement.text = stmt.text.empty() ? toText(*stmt.condition) : stmt.text;
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

/// Variables from outside that `stmts` assign, each once, in order.
std::vector<std::string>
KernelSema::assignedIn(llvm::ArrayRef<const ast::Stmt *> stmts) {
  std::vector<std::string> found;
  std::vector<const ast::Stmt *> open(stmts.rbegin(), stmts.rend());
  while (!open.empty()) {
    const ast::Stmt &stmt = *open.back();
    open.pop_back();
    auto known = names.find(stmt.name.text);
    if (stmt.kind == ast::Stmt::Assign && known != names.end() &&
        known->second.isVar && !known->second.value->type.isError() &&
        !llvm::is_contained(found, stmt.name.text))
      found.push_back(stmt.name.text);
    for (const auto *inner : {&stmt.otherwise, &stmt.body})
      for (const ast::Stmt &each : llvm::reverse(*inner))
        open.push_back(&each);
  }
  return found;
}

static std::vector<const ast::Stmt *>
pointers(const std::vector<ast::Stmt> &first,
         const std::vector<ast::Stmt> &second = {}) {
  std::vector<const ast::Stmt *> list;
  for (const auto *stmts : {&first, &second})
    for (const ast::Stmt &stmt : *stmts)
      list.push_back(&stmt);
  return list;
}

/// `range(end)`, `range(first, end)` or `range(first, end, step)`.
bool KernelSema::typeRange(const ast::Stmt &stmt, Statement &loop) {
  size_t count = stmt.args.size();
  if (count == 0 || count > 3) {
    report(stmt.word.range, "`range` takes an end, or first, end and step, but "
                            "got " +
                                llvm::Twine(count) + " arguments");
    return false;
  }
  std::vector<const Term *> values;
  for (const ast::ExprPtr &arg : stmt.args)
    values.push_back(scalarInteger(*arg, "a `range`"));
  for (const Term *value : values)
    if (value->type.isError())
      return false;
  loop.first =
      count == 1 ? integer(0, ElemType::I64, stmt.word.range) : values[0];
  loop.end = values[count == 1 ? 0 : 1];
  loop.step =
      count == 3 ? values[2] : integer(1, ElemType::I64, stmt.word.range);
  if (loop.step->isConstant() && loop.step->integer <= 0) {
    report(stmt.args[2]->range, "the step of a `range` is positive, but this "
                                "is " +
                                    llvm::Twine(loop.step->integer));
    return false;
  }
  return true;
}

/// Types the body with variables of `types`; adds the bounds that it gives
/// them. False where one was added, so that the body has to be typed again.
bool KernelSema::typeBody(const ast::Stmt &stmt, Statement &loop,
                          llvm::ArrayRef<std::string> carriedNames,
                          std::vector<TileType> &types) {
  loop.body.clear();
  loop.carried.clear();
  std::vector<Statement> *outer = std::exchange(block, &loop.body);
  std::vector<const Term *> inits;
  enterBlock();
  loops.push_back(blockDepth);
  for (auto [name, type] : llvm::zip(carriedNames, types)) {
    Binding &var = names.find(name)->second;
    inits.push_back(var.value);
    loop.carried.push_back(
        {var.value, local(type, var.range), nullptr, nullptr, nullptr});
    var.value = loop.carried.back().entry;
  }
  Term index = node(Term::Local, ElemType::I64, stmt.name.range);
  index.loopDepth = blockDepth;
  index.values = {std::max(loop.first->values.bits, loop.end->values.bits),
                  loop.first->values.nonNegative};
  loop.index = add(std::move(index));
  declareName(stmt.name, loop.index, /*isVar=*/false);
  typeBlock(stmt.body);
  bool settled = true;
  for (size_t i = 0; i < carriedNames.size(); ++i) {
    Binding &var = names.find(carriedNames[i])->second;
    loop.carried[i].next = var.value;
    for (auto [axis, bound] : llvm::enumerate(var.value->type.bounds))
      if (bound && !types[i].bounds[axis]) {
        types[i].bounds[axis] = bound;
        settled = false;
      } else {
        joinBound(var.range, axis, bound, types[i].bounds[axis]);
      }
    var.value = inits[i];
  }
  leaveBlock();
  loops.pop_back();
  block = outer;
  return settled;
}

void KernelSema::typeFor(const ast::Stmt &stmt) {
  Statement loop;
  loop.kind = Statement::For;
  loop.range = stmt.word.range;
  bool known = typeRange(stmt, loop);
  if (!known) // The body is checked all the same.
    loop.first = loop.end = loop.step =
        integer(0, ElemType::I64, stmt.word.range);
  std::vector<std::string> carried = assignedIn(pointers(stmt.body));
  std::vector<TileType> types;
  for (const std::string &name : carried)
    types.push_back(names.find(name)->second.value->type);
  unsigned before = diagnostics.errorCount();
  while (!typeBody(stmt, loop, carried, types) &&
         diagnostics.errorCount() == before)
    ;
  if (!known || diagnostics.errorCount() != before)
    return;
  for (size_t i = 0; i < carried.size(); ++i) {
    Binding &var = names.find(carried[i])->second;
    loop.carried[i].after = var.value = local(types[i], var.range);
  }
  block->push_back(std::move(loop));
}

void KernelSema::typeIf(const ast::Stmt &stmt) {
  Statement branch;
  branch.kind = Statement::If;
  branch.range = stmt.word.range;
  branch.condition = typeCondition(*stmt.condition, "if");
  std::vector<std::string> changed =
      assignedIn(pointers(stmt.body, stmt.otherwise));
  std::vector<const Term *> inits;
  for (const std::string &name : changed) {
    inits.push_back(names.find(name)->second.value);
    branch.carried.push_back(
        {inits.back(), nullptr, nullptr, nullptr, nullptr});
  }
  unsigned before = diagnostics.errorCount();
  std::vector<Statement> *outer = block;
  for (bool isElse : {false, true}) {
    block = isElse ? &branch.otherwise : &branch.body;
    enterBlock();
    typeBlock(isElse ? stmt.otherwise : stmt.body);
    for (size_t i = 0; i < changed.size(); ++i) {
      Binding &var = names.find(changed[i])->second;
      (isElse ? branch.carried[i].other : branch.carried[i].next) = var.value;
      var.value = inits[i];
    }
    leaveBlock();
  }
  block = outer;
  if (branch.condition->type.isError() || diagnostics.errorCount() != before)
    return;
  for (size_t i = 0; i < changed.size(); ++i) {
    Binding &var = names.find(changed[i])->second;
    Statement::Carried &carried = branch.carried[i];
    TileType type = carried.next->type;
    for (auto [axis, bound] : llvm::enumerate(carried.other->type.bounds))
      if (!joinBound(stmt.word.range, axis, bound, type.bounds[axis]))
        return;
    carried.after = var.value = local(type, var.range);
  }
  block->push_back(std::move(branch));
}
