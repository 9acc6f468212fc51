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

/// The attention item to analyse, or null and an error.
static const ast::Attention *selectItem(const ast::File &file, StringRef name,
                                        Diagnostics &diagnostics) {
  std::vector<std::string> names = itemNames(file);
  std::string wanted = name.str();
  if (name.empty()) {
    if (names.empty()) {
      if (!diagnostics.hasErrors())
        diagnostics.error({},
                          "`" + file.fileName + "` has no `attention` item");
      return nullptr;
    }
    if (names.size() > 1) {
      diagnostics.error({}, "`" + file.fileName + "` has " +
                                llvm::Twine(names.size()) +
                                " items; name one of them: " + joined(names));
      return nullptr;
    }
    wanted = names.front();
  }
  if (const ast::Attention *item = file.findItem(wanted))
    return item;
  const ast::Declaration *other = file.findDeclaration(wanted);
  if (other && other->word == "kernel") {
    diagnostics.error(other->name.range,
                      "`kernel` items are not supported yet");
    return nullptr;
  }
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

std::unique_ptr<Item> tegula::lang::analyze(const ast::File &file,
                                            StringRef itemName,
                                            llvm::ArrayRef<Define> defines,
                                            Diagnostics &diagnostics) {
  checkItemNames(file, diagnostics);
  const ast::Attention *root = selectItem(file, itemName, diagnostics);
  if (!root)
    return nullptr;
  auto item = std::make_unique<Item>();
  item->name = root->name.text;
  item->range = root->name.range;
  if (!Sema(file, defines, *item, diagnostics).run(*root) ||
      diagnostics.hasErrors())
    return nullptr;
  return item;
}

bool Sema::run(const ast::Attention &root) {
  if (!collectChain(root))
    return false;
  refuseLaterWork();
  declareStatics();
  declareTensors();
  declareExtents();
  checkOperands();
  dimParent.resize(item.dims.size());
  for (size_t i = 0; i < dimParent.size(); ++i)
    dimParent[i] = int(i);
  declareLets();
  analyzeRequirements();
  for (const LetState &let : lets)
    typeLet(*let.clause->value, unsigned(&let - lets.data()));
  analyzeScale();
  analyzeScores();
  analyzeMasks();
  warnUnread();
  dropUnreadInputs();
  return !diagnostics.hasErrors();
}

/// Follows `= BASE with` to the item that has a signature.
bool Sema::collectChain(const ast::Attention &root) {
  const ast::Attention *level = &root;
  for (;;) {
    if (llvm::is_contained(chain, level)) {
      diagnostics.error(level->base.range,
                        "`" + level->name.text + "` derives from itself");
      return false;
    }
    chain.push_back(level);
    incomplete |= level->incomplete;
    if (level->base.text.empty())
      break;
    if (const ast::Attention *base = file.findItem(level->base.text)) {
      level = base;
      continue;
    }
    if (const ast::Declaration *other =
            file.findDeclaration(level->base.text)) {
      diagnostics
          .error(level->base.range, "expected an attention item, but `" +
                                        level->base.text + "` is a `" +
                                        other->word + "`")
          .note(other->name.range, "defined here");
      return false;
    }
    std::vector<StringRef> names;
    for (const ast::Attention &candidate : file.items)
      names.push_back(candidate.name.text);
    StringRef near;
    Diagnostic &d = diagnostics.error(
        level->base.range, "unknown item `" + level->base.text + "`" +
                               didYouMean(level->base.text, names, &near));
    if (!near.empty())
      d.fix(level->base.range, near);
    return false;
  }
  std::reverse(chain.begin(), chain.end());
  return true;
}

/// Clauses and groups that parse, but have no meaning yet. What they would
/// declare is missing, so that an unknown name is no error of its own.
void Sema::refuseLaterWork() {
  unsigned before = diagnostics.errorCount();
  for (const ast::Attention *level : chain)
    for (const ast::Name &group : level->groups)
      diagnostics.error(group.range, "`clauses` groups are not supported yet");
  eachClause([&](const ast::Clause &clause, const ast::Attention &) {
    if (clause.kind == ast::Clause::Unsupported ||
        clause.kind == ast::Clause::Weight ||
        clause.kind == ast::Clause::Emit ||
        clause.kind == ast::Clause::Outputs ||
        clause.kind == ast::Clause::Schedule)
      diagnostics.error(clause.word.range,
                        "`" + clause.word.text + "` is not supported yet");
    else if (clause.kind == ast::Clause::Reduce)
      refuseReduce(clause);
  });
  incomplete |= diagnostics.errorCount() != before;
}

void Sema::refuseReduce(const ast::Clause &clause) {
  StringRef name = clause.name.text;
  if (name == "softmax" && clause.value->args.empty())
    return;
  if (name == "softmax" || name == "sum" || name == "mean") {
    diagnostics.error(clause.word.range, "`reduce " + name +
                                             "` is not supported yet; softmax "
                                             "is what an item does without it");
    return;
  }
  diagnostics
      .error(clause.name.range,
             "unknown reduction `" + name + "`; known: softmax, sum, mean")
      .note(clause.name.range, "the order of keys may not matter to a "
                               "reduction; an ordered one is a `kernel`");
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
  eachClause([&](const ast::Clause &clause, const ast::Attention &) {
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

void Sema::analyzeScale() {
  const ast::Clause *last = nullptr;
  const ast::Attention *lastLevel = nullptr;
  eachClause([&](const ast::Clause &clause, const ast::Attention &level) {
    if (clause.kind != ast::Clause::Scale)
      return;
    if (last && lastLevel == &level)
      diagnostics.error(clause.word.range, "`scale` is given twice")
          .note(last->word.range, "first here");
    last = &clause;
    lastLevel = &level;
  });
  if (!last)
    return;
  const Expr *scale = typeIn(Context::Scale, *last->value);
  if (scale->type == ElemType::Error)
    return;
  if (!isFloat(scale->type))
    return wrongResult(diagnostics, *last->value,
                       elemTypeName(item.accumulator), describe(*scale),
                       isInteger(scale->type)
                           ? "; write `" + floatSpelling(*last->value) + "`"
                           : "");
  item.scale = scale;
}

void Sema::analyzeScores() {
  eachClause([&](const ast::Clause &clause, const ast::Attention &) {
    if (clause.kind != ast::Clause::Score)
      return;
    const Expr *score = typeIn(Context::Score, *clause.value);
    if (score->type == ElemType::Error)
      return;
    if (isFloat(score->type)) {
      item.scores.push_back(score);
      return;
    }
    wrongResult(diagnostics, *clause.value, elemTypeName(item.accumulator),
                describe(*score),
                score->type == ElemType::Bool
                    ? "; what hides keys is a `mask`"
                    : "; write `" + floatSpelling(*clause.value) + "`");
  });
}

void Sema::analyzeMasks() {
  eachClause([&](const ast::Clause &clause, const ast::Attention &) {
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

/// A parameter that nothing reads changes no result, which is hardly meant.
void Sema::warnUnread() {
  if (diagnostics.hasErrors())
    return;
  eachClause([&](const ast::Clause &clause, const ast::Attention &) {
    if (clause.kind != ast::Clause::Param)
      return;
    auto symbol = symbols.find(clause.name.text);
    if (symbol != symbols.end() && !symbol->second.read)
      diagnostics.warning(clause.name.range,
                          "parameter `" + clause.name.text + "` is never read");
  });
}

/// An input of the signature that nothing reads any more, because a derived
/// item replaced the clause that did, leaves it.
void Sema::dropUnreadInputs() {
  if (diagnostics.hasErrors())
    return;
  for (const ast::Tensor &input : chain.front()->inputs) {
    if (symbols.find(input.name.text)->second.read)
      continue;
    auto argument = llvm::find_if(item.signature, [&](const Argument &a) {
      return (a.isTensor ? item.tensors[a.number].name
                         : item.scalars[a.number].name) == input.name.text;
    });
    if (mayDrop(*argument))
      item.signature.erase(argument);
  }
}

/// A tensor stays where it is the only one that gives a dim its length.
bool Sema::mayDrop(const Argument &argument) const {
  if (!argument.isTensor)
    return true;
  for (const Extent &extent : item.tensors[argument.number].extents) {
    if (extent.length->isConstant() || extent.length->kind == Expr::Scalar)
      continue;
    bool elsewhere = llvm::any_of(item.signature, [&](const Argument &other) {
      return other.isTensor && other.number != argument.number &&
             llvm::any_of(item.tensors[other.number].extents,
                          [&](const Extent &e) {
                            return extent.dim >= 0 && e.dim == extent.dim;
                          });
    });
    if (!elsewhere)
      return false;
  }
  return true;
}
