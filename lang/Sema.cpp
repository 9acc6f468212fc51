//===- Sema.cpp - the meaning of an attention item ------------------------===//
//
// The order of analysis: the chain of `with`, statics, names, extents,
// operands, then the clauses, each kind in the order of its meaning. Every step
// goes on after an error, so that one run reports what it can.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

/// `a, b and c` as `a, b, c` for a message.
static std::string joined(llvm::ArrayRef<std::string> names) {
  return llvm::join(names, ", ");
}

std::vector<std::string> tegula::lang::itemNames(const ast::File &file) {
  std::vector<std::string> names;
  for (const ast::Declaration &item : file.declarations)
    if (!item.imported && (item.word == "attention" || item.word == "kernel"))
      names.push_back(item.name.text);
  return names;
}

/// The item to analyse, or null and an error.
static const ast::Declaration *selectItem(const ast::File &file, StringRef name,
                                          Diagnostics &diagnostics) {
  std::vector<std::string> names = itemNames(file);
  std::string wanted = name.str();
  if (name.empty()) {
    if (names.empty()) {
      if (!diagnostics.hasErrors())
        diagnostics.error({}, "`" + file.fileName +
                                  "` has no `attention` or `kernel` item");
      return nullptr;
    }
    if (names.size() > 1) {
      if (!diagnostics.hasErrors())
        diagnostics.error({}, "`" + file.fileName + "` has " +
                                  llvm::Twine(names.size()) +
                                  " items; name one of them: " + joined(names));
      return nullptr;
    }
    wanted = names.front();
  }
  const ast::Declaration *found = file.findDeclaration(wanted);
  if (found && (found->word == "attention" || found->word == "kernel"))
    return found;
  std::vector<StringRef> candidates(names.begin(), names.end());
  diagnostics.error(
      {}, "`" + file.fileName + "` has no item `" + wanted + "`" +
              didYouMean(wanted, candidates) +
              (names.empty() ? std::string() : "; items: " + joined(names)));
  return nullptr;
}

static void checkItemNames(const ast::File &file, Diagnostics &diagnostics) {
  llvm::StringMap<SMRange> seen;
  for (const ast::Declaration &item : file.declarations) {
    auto [place, fresh] = seen.try_emplace(item.name.text, item.name.range);
    if (!fresh)
      diagnostics
          .error(item.name.range, "`" + item.name.text + "` is defined twice")
          .note(place->second, "first here");
  }
}

/// What is wrong with a function wherever it is called.
static void checkFns(const ast::File &file, Diagnostics &diagnostics) {
  for (const ast::Fn &fn : file.fns) {
    if (isBuiltinFunction(fn.name.text))
      diagnostics.error(fn.name.range, "`" + fn.name.text +
                                           "` is a function of the language; "
                                           "choose another name");
    llvm::StringMap<SMRange> seen;
    auto check = [&](const ast::Name &name) {
      auto [place, fresh] = seen.try_emplace(name.text, name.range);
      if (!fresh)
        diagnostics.error(name.range, "`" + name.text + "` is declared twice")
            .note(place->second, "first here");
    };
    for (const ast::Tensor &param : fn.params)
      check(param.name);
    for (const ast::Fn::Let &let : fn.lets)
      check(let.name);
  }
}

std::unique_ptr<Item> tegula::lang::analyze(const ast::File &file,
                                            StringRef itemName,
                                            llvm::ArrayRef<Define> defines,
                                            Diagnostics &diagnostics) {
  checkItemNames(file, diagnostics);
  checkFns(file, diagnostics);
  const ast::Declaration *root = selectItem(file, itemName, diagnostics);
  if (!root)
    return nullptr;
  auto item = std::make_unique<Item>();
  item->name = root->name.text;
  item->range = root->name.range;
  bool ok;
  if (root->word == "kernel")
    ok = analyzeKernel(*file.findKernel(item->name), file, defines, *item,
                       diagnostics);
  else
    ok =
        Sema(file, defines, *item, diagnostics).run(*file.findItem(item->name));
  if (!ok || diagnostics.hasErrors())
    return nullptr;
  return item;
}

bool Sema::run(const ast::Attention &item) {
  root = &item;
  if (!collectLevels(item))
    return false;
  refuseLaterWork();
  declareStatics();
  declareTensors();
  declareExtents();
  bool operandsOk = checkOperands();
  separateDims();
  declareLets();
  analyzeRequirements();
  for (size_t i = 0; i < lets.size(); ++i)
    typeLet(*lets[i].clause->value, i);
  analyzeScale();
  analyzeScores();
  analyzeMasks();
  analyzeReduction();
  analyzeWeights();
  if (operandsOk)
    analyzeOutputs();
  analyzeSchedule();
  dropUnread();
  return !diagnostics.hasErrors();
}

/// Every dim is different from the others, until a `require` unites them.
void Sema::separateDims() {
  dimParent.resize(item.dims.size());
  for (size_t i = 0; i < dimParent.size(); ++i)
    dimParent[i] = int(i);
}

/// Follows `= BASE with` to the item that has a signature.
bool Sema::collectLevels(const ast::Attention &item) {
  std::vector<const ast::Attention *> chain;
  for (const ast::Attention *level = &item; level; level = findBase(*level)) {
    if (llvm::is_contained(chain, level)) {
      diagnostics.error(level->base.range,
                        "`" + level->name.text + "` derives from itself");
      return false;
    }
    chain.push_back(level);
    if (level->base.text.empty())
      base = level;
  }
  if (!base)
    return false;
  bool ok = true;
  for (const ast::Attention *level : llvm::reverse(chain)) {
    ok &= addGroups(*level);
    levels.push_back(level);
    incomplete |= level->incomplete;
  }
  return ok;
}

/// The item that `item` derives from; null where there is none, or an error.
const ast::Attention *Sema::findBase(const ast::Attention &item) {
  const ast::Name &name = item.base;
  if (name.text.empty())
    return nullptr;
  if (const ast::Attention *found = file.findItem(name.text))
    return found;
  if (const ast::Declaration *other = file.findDeclaration(name.text)) {
    diagnostics
        .error(name.range, "expected an attention item, but `" + name.text +
                               "` is a `" + other->word + "`")
        .note(other->name.range, "defined here");
    return nullptr;
  }
  std::vector<StringRef> names;
  for (const ast::Attention &candidate : file.items)
    names.push_back(candidate.name.text);
  StringRef near;
  Diagnostic &d =
      diagnostics.error(name.range, "unknown item `" + name.text + "`" +
                                        didYouMean(name.text, names, &near));
  if (!near.empty())
    d.fix(name.range, near);
  return nullptr;
}

bool Sema::addGroups(const ast::Attention &item) {
  bool ok = true;
  for (const ast::Name &name : item.groups) {
    const ast::Group *group = file.findGroup(name.text);
    if (group && !llvm::is_contained(levels, group)) {
      levels.push_back(group);
      incomplete |= group->incomplete;
      continue;
    }
    ok = false;
    if (group) {
      diagnostics.error(name.range,
                        "the clauses of `" + name.text + "` are taken twice");
      continue;
    }
    if (const ast::Declaration *other = file.findDeclaration(name.text)) {
      diagnostics
          .error(name.range, "expected a `clauses` group, but `" + name.text +
                                 "` is a `" + other->word + "`")
          .note(other->name.range, "defined here");
      continue;
    }
    std::vector<StringRef> names;
    for (const ast::Group &candidate : file.groups)
      names.push_back(candidate.name.text);
    StringRef near;
    Diagnostic &d = diagnostics.error(
        name.range, "unknown group of clauses `" + name.text + "`" +
                        didYouMean(name.text, names, &near));
    if (!near.empty())
      d.fix(name.range, near);
  }
  return ok;
}

/// Looks over the clauses for those that have no meaning yet. What they would
/// declare is missing, so that an unknown name is no error of its own.
void Sema::refuseLaterWork() {
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    hasEmit |= clause.kind == ast::Clause::Emit;
    if (clause.kind != ast::Clause::Unsupported)
      return;
    diagnostics.error(clause.word.range,
                      "`" + clause.word.text + "` is not supported yet");
    incomplete = true;
  });
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// `score 1` and the like: what the clause gives is not what it should.
static void wrongResult(Diagnostics &diagnostics, const ast::Expr &written,
                        StringRef wanted, StringRef got, StringRef hint) {
  diagnostics.error(written.range,
                    "expected " + wanted + ", but got " + got + hint);
}

void Sema::analyzeRequirements() {
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind == ast::Clause::Require)
      analyzeRequirement(clause);
  });
}

void Sema::analyzeRequirement(const ast::Clause &clause) {
  const ast::Expr &written = *clause.value;
  const Expr *value = typeIn(Context::Require, written);
  if (value->type == ElemType::Error)
    return;
  std::string text = toText(written);
  if (value->type != ElemType::Bool)
    return wrongResult(diagnostics, written, "bool", describe(*value),
                       "; a `require` is a condition");
  uniteDims(written);
  if (value->isConstant()) {
    if (value->integer)
      return;
    std::string values;
    for (const Static &s : item.statics)
      if (s.kind == Static::Integer && StringRef(text).contains(s.name))
        values += (values.empty() ? ": " : ", ") + s.name + " = " +
                  std::to_string(s.integer);
    diagnostics.error(written.range,
                      "`require " + text + "` does not hold" + values);
    return;
  }
  if (!hasPrefixForm(*value) || value->depth > 60) {
    diagnostics.error(written.range,
                      "a `require` is checked on the host, by arithmetic, "
                      "comparisons, logic, min, max and abs only");
    return;
  }
  item.requirements.push_back({text, value, clause.word.range});
}

/// Dims that the condition makes equal, for the check of bare indices.
void Sema::uniteDims(const ast::Expr &condition) {
  if (condition.kind != ast::Expr::Operator)
    return;
  if (condition.op == Op::And)
    for (const ast::ExprPtr &arg : condition.args)
      uniteDims(*arg);
  if (condition.op != Op::Eq || condition.args[0]->kind != ast::Expr::Name ||
      condition.args[1]->kind != ast::Expr::Name)
    return;
  int a = item.findDim(condition.args[0]->name);
  int b = item.findDim(condition.args[1]->name);
  if (a >= 0 && b >= 0)
    dimParent[find(a)] = find(b);
}

int Sema::find(int dim) const {
  while (dimParent[dim] != dim)
    dim = dimParent[dim];
  return dim;
}

const ast::Clause *Sema::lastOf(ast::Clause::Kind kind) {
  const ast::Clause *last = nullptr;
  const ast::ClauseList *lastLevel = nullptr;
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &level) {
    if (clause.kind != kind)
      return;
    if (last && lastLevel == &level)
      diagnostics
          .error(clause.word.range, "`" + clause.word.text + "` is given twice")
          .note(last->word.range, "first here");
    last = &clause;
    lastLevel = &level;
  });
  return last;
}

const Expr *Sema::floatOf(Context where, const ast::Expr &written,
                          StringRef boolHint) {
  const Expr *value = typeIn(where, written);
  if (value->type == ElemType::Error)
    return nullptr;
  if (isFloat(value->type))
    return value;
  wrongResult(diagnostics, written, elemTypeName(item.accumulator),
              describe(*value),
              value->type == ElemType::Bool
                  ? boolHint.str()
                  : "; write `" + floatSpelling(written) + "`");
  return nullptr;
}

void Sema::analyzeScale() {
  if (const ast::Clause *clause = lastOf(ast::Clause::Scale))
    item.scale = floatOf(Context::Scale, *clause->value);
}

void Sema::analyzeScores() {
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind != ast::Clause::Score)
      return;
    if (const Expr *score = floatOf(Context::Score, *clause.value,
                                    "; what hides keys is a `mask`"))
      item.scores.push_back(score);
  });
}

void Sema::analyzeMasks() {
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind != ast::Clause::Mask)
      return;
    const Expr *mask = typeIn(Context::Mask, *clause.value);
    if (mask->type == ElemType::Error)
      return;
    if (mask->type == ElemType::Bool) {
      item.masks.push_back(mask);
      return;
    }
    wrongResult(diagnostics, *clause.value, "bool", describe(*mask),
                isFloat(mask->type)
                    ? "; what is added to the scores is a `score`"
                    : "; compare it, as in `" + toText(*clause.value) +
                          " != 0`");
  });
}
