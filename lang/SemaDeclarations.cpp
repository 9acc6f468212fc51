//===- SemaDeclarations.cpp - statics, parameters, extents, lets ----------===//
//
// Fills the one namespace of an item: first statics (with `-D`), then tensors
// and scalars, then the dims that their extents name, then lets.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

/// What a name means in every attention item, or "".
static StringRef fixedMeaning(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("b", "the batch index")
      .Case("h", "the query head")
      .Case("g", "the key head")
      .Case("i", "the query position")
      .Case("j", "the key position")
      .Case("s", "the score")
      .Case("B", "the batch size")
      .Case("H", "the number of query heads")
      .Case("G", "the number of key heads")
      .Case("M", "the number of queries")
      .Case("N", "the number of keys")
      .Case("D", "the head dim of q and k")
      .Case("E", "the head dim of v")
      .Default("");
}

/// What a name means in the outputs of an item that has an `emit`, or "".
static StringRef meaningInEmit(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("e", "the position in the head dim of v")
      .Case("rowmax", "the largest score of a row")
      .Case("rowsum", "the sum of a row's weights")
      .Default("");
}

bool Sema::checkFreeName(const ast::Name &name) {
  StringRef text = name.text, meaning = isKernel ? "" : fixedMeaning(text);
  if (meaning.empty() && hasEmit)
    meaning = meaningInEmit(text);
  if (!meaning.empty()) {
    refused.insert(text);
    diagnostics.error(name.range, "`" + text + "` is " + meaning +
                                      " in an attention item; choose another "
                                      "name");
    return false;
  }
  if (elemTypeFromName(text) || text == "true" || text == "false" ||
      text == "inf") {
    refused.insert(text);
    diagnostics.error(name.range, "`" + text +
                                      "` is a word of the language; choose "
                                      "another name");
    return false;
  }
  return true;
}

/// Enters a name; reports a clash with another one or with a fixed meaning.
bool Sema::declare(const ast::Name &name, Symbol::Kind kind, unsigned number) {
  StringRef text = name.text;
  bool isLength = !fixedMeaning(text).empty() && text.upper() == text;
  if (!(isLength && kind == Symbol::Static) && !checkFreeName(name))
    return false;
  auto [place, fresh] =
      symbols.try_emplace(text, Symbol{kind, number, name.range});
  if (fresh)
    return true;
  bool isDim = place->second.kind == Symbol::Dim;
  refused.insert(text);
  // Outputs are entered last, wherever they stand.
  SMRange first = place->second.range, second = name.range;
  llvm::SourceMgr &sources = diagnostics.sourceMgr();
  if (kind == Symbol::Tensor &&
      second.Start.getPointer() < first.Start.getPointer() &&
      sources.FindBufferContainingLoc(first.Start) ==
          sources.FindBufferContainingLoc(second.Start))
    std::swap(first, second);
  diagnostics
      .error(second, isDim ? "`" + text + "` is a dim of this item"
                           : "`" + text + "` is declared twice")
      .note(first, "first here");
  return false;
}

//===----------------------------------------------------------------------===//
// Statics
//===----------------------------------------------------------------------===//

/// A derived item's `static` replaces its base's of the same name.
void Sema::declareStatics() {
  llvm::StringMap<const ast::ClauseList *> declaredIn;
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &level) {
    if (clause.kind != ast::Clause::Static)
      return;
    auto known = symbols.find(clause.name.text);
    if (known != symbols.end() && declaredIn[clause.name.text] != &level) {
      statics[known->second.number].clause = &clause;
    } else if (declare(clause.name, Symbol::Static, statics.size())) {
      statics.push_back({&clause});
      Static entry;
      entry.name = clause.name.text;
      item.statics.push_back(entry);
    }
    declaredIn[clause.name.text] = &level;
  });
  for (size_t i = 0; i < statics.size(); ++i)
    item.statics[i].range = statics[i].clause->name.range;
  applyDefines();
  for (size_t i = 0; i < statics.size(); ++i)
    evaluateStatic(i);
}

void Sema::applyDefines() {
  llvm::StringMap<StringRef> seen;
  for (const Define &define : defines) {
    auto [place, fresh] = seen.try_emplace(define.name, define.value);
    if (!fresh && place->second != define.value)
      diagnostics.error({}, "-D " + define.name + "=" + define.value + ": `" +
                                define.name + "` is already set to " +
                                place->second);
    auto known = symbols.find(define.name);
    if (known != symbols.end()) {
      unsigned number = known->second.number;
      if (fresh)
        statics[number].state = evaluateDefine(number, define)
                                    ? StaticState::Done
                                    : StaticState::Failed;
      continue;
    }
    std::vector<StringRef> names;
    std::string list;
    for (const Static &s : item.statics) {
      names.push_back(s.name);
      list += (list.empty() ? "; statics: " : ", ") + s.name;
    }
    diagnostics.error({}, "-D " + define.name + "=" + define.value + ": `" +
                              item.name + "` has no static `" + define.name +
                              "`" + didYouMean(define.name, names) + list);
  }
}

static StringRef kindName(Static::Kind kind) {
  switch (kind) {
  case Static::Integer:
    return "an integer";
  case Static::Float:
    return "a number";
  case Static::Bool:
    return "true or false";
  case Static::Type:
    return "an element type";
  }
  return "";
}

/// What the text of a `-D` says, or false where it is nothing that a static can
/// be.
static bool readStatic(StringRef value, Static &entry) {
  if (!value.getAsInteger(10, entry.integer)) {
    entry.kind = Static::Integer;
  } else if (value == "true" || value == "false") {
    entry.kind = Static::Bool;
    entry.integer = value == "true";
  } else if (std::optional<ElemType> elem = elemTypeFromName(value)) {
    entry.kind = Static::Type;
    entry.elem = *elem;
  } else {
    entry.kind = Static::Float;
    return !value.getAsDouble(entry.real);
  }
  return true;
}

/// Reads the text of a `-D`; the default, where there is one, fixes its kind.
bool Sema::evaluateDefine(unsigned number, const Define &define) {
  bool hasDefault = statics[number].clause->value != nullptr;
  if (hasDefault && !evaluateDefault(number))
    return false;
  Static &entry = item.statics[number];
  Static given = entry;
  bool valid = readStatic(StringRef(define.value).trim(), given);
  if (hasDefault && entry.kind == Static::Float && valid &&
      given.kind == Static::Integer) {
    given.kind = Static::Float;
    given.real = double(given.integer);
  }
  if (valid && (!hasDefault || given.kind == entry.kind)) {
    entry = given;
    return true;
  }
  std::string wanted =
      !hasDefault ? "an integer, a number, true, false or an element type"
                  : kindName(entry.kind).str();
  if (hasDefault && entry.kind == Static::Type)
    wanted += " (" + elemTypeList().str() + ")";
  diagnostics
      .error({}, "-D " + define.name + "=" + define.value + ": expected " +
                     wanted + ", but got `" + define.value + "`")
      .note(entry.range, "declared here");
  return false;
}

bool Sema::evaluateStatic(unsigned number) {
  StaticState &state = statics[number];
  if (state.state == StaticState::Done || state.state == StaticState::Failed)
    return state.state == StaticState::Done;
  const ast::Clause &clause = *state.clause;
  StringRef name = clause.name.text;
  if (state.state == StaticState::Busy) {
    diagnostics.error(clause.name.range,
                      "static `" + name + "` is defined by itself");
    return false;
  }
  if (!clause.value) {
    diagnostics.error(clause.name.range,
                      "static `" + name + "` has no value; give one with -D " +
                          name + "=VALUE, or a default as in `static " + name +
                          " = 128`");
    state.state = StaticState::Failed;
    return false;
  }
  return evaluateDefault(number);
}

bool Sema::evaluateDefault(unsigned number) {
  StaticState &state = statics[number];
  const ast::Expr &written = *state.clause->value;
  Static &entry = item.statics[number];
  state.state = StaticState::Busy;
  std::optional<ElemType> elem;
  bool ok = true;
  if (written.kind == ast::Expr::Name) {
    elem = elemTypeFromName(written.name);
    auto other = symbols.find(written.name);
    if (other != symbols.end() && (ok = evaluateStatic(other->second.number)) &&
        item.statics[other->second.number].kind == Static::Type)
      elem = item.statics[other->second.number].elem;
  }
  if (elem) {
    entry.kind = Static::Type;
    entry.elem = *elem;
  } else if (ok) {
    const Expr *value = typeIn(Context::Static, written);
    ok = value->type != ElemType::Error;
    if (ok && !value->isConstant()) {
      diagnostics.error(written.range, "expected a constant, but this is not "
                                       "known when the item is compiled");
      ok = false;
    }
    entry.kind = isFloat(value->type)            ? Static::Float
                 : value->type == ElemType::Bool ? Static::Bool
                                                 : Static::Integer;
    entry.integer = value->integer;
    entry.real = value->real;
  }
  state.state = ok ? StaticState::Done : StaticState::Failed;
  return ok;
}

//===----------------------------------------------------------------------===//
// Tensors and scalars
//===----------------------------------------------------------------------===//

ElemType Sema::resolveElem(const ast::Name &elem) {
  std::optional<ElemType> type = elemTypeFromName(elem.text);
  auto symbol = symbols.find(elem.text);
  if (!type && symbol != symbols.end() &&
      symbol->second.kind == Symbol::Static) {
    if (statics[symbol->second.number].state == StaticState::Failed)
      return ElemType::Error;
    const Static &entry = item.statics[symbol->second.number];
    if (entry.kind != Static::Type) {
      diagnostics
          .error(elem.range, "expected an element type, but static `" +
                                 entry.name + "` is " + kindName(entry.kind))
          .note(entry.range, "declared here");
      return ElemType::Error;
    }
    type = entry.elem;
  }
  if (!type) {
    std::vector<StringRef> names = {"bool", "i8",  "u8",   "i16", "i32",
                                    "i64",  "f16", "bf16", "f32", "f64"};
    for (const Static &s : item.statics)
      if (s.kind == Static::Type)
        names.push_back(s.name);
    if (!incomplete && unknownElems.insert(elem.text).second)
      diagnostics.error(elem.range,
                        "unknown element type `" + elem.text + "`" +
                            (didYouMean(elem.text, names).empty()
                                 ? "; known: " + elemTypeList().str() +
                                       ", or a name that `static " + elem.text +
                                       " = bf16` binds"
                                 : didYouMean(elem.text, names)));
    return ElemType::Error;
  }
  if (*type == ElemType::E4M3 || *type == ElemType::E5M2) {
    diagnostics.error(elem.range, "element type " + elemTypeName(*type) +
                                      " is not supported yet");
    return ElemType::Error;
  }
  return *type;
}

void Sema::declareTensors() {
  auto declareOne = [&](const ast::Tensor &tensor, Role role) {
    if (tensor.isTensor || role == Role::Output)
      declareTensor(tensor, role);
    else
      declareScalar(tensor);
  };
  for (const ast::Tensor &tensor : base->inputs)
    declareOne(tensor, Role::Input);
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind == ast::Clause::Param)
      declareOne(clause.tensor, Role::Input);
  });
  for (const ast::Tensor &tensor : base->outputs)
    declareOne(tensor, Role::Output);
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind == ast::Clause::Emit && !clause.tensor.elem.text.empty())
      declareEmit(clause);
  });
}

/// `emit x: T[B,H,M] = ...` adds an output, or repeats the type of one.
void Sema::declareEmit(const ast::Clause &clause) {
  int known = item.findTensor(clause.name.text);
  if (known < 0 || item.tensors[known].role != Role::Output) {
    declareTensor(clause.tensor, Role::Output);
    return;
  }
  auto typeText = [](const ast::Tensor &tensor) {
    std::string text = tensor.elem.text;
    for (const ast::ExprPtr &extent : tensor.extents)
      text += "," + toText(*extent);
    return text;
  };
  if (typeText(clause.tensor) != typeText(*writtenTensors[known]))
    diagnostics
        .error(clause.name.range,
               "output `" + clause.name.text + "` has another type already")
        .note(item.tensors[known].range, "declared here");
}

void Sema::declareTensor(const ast::Tensor &tensor, Role role) {
  const ast::Name &name = tensor.name;
  ElemType elem = resolveElem(tensor.elem);
  if (!declare(name, Symbol::Tensor, item.tensors.size()))
    return;
  if (tensor.inout && isKernel)
    role = Role::InOut;
  else if (tensor.inout)
    diagnostics.error(name.range, "`inout` belongs to a `kernel` item; an "
                                  "attention item only reads `" +
                                      name.text + "`");
  if (!tensor.isTensor)
    diagnostics.error(name.range, "output `" + name.text +
                                      "` needs extents, as in `o: T[B,H,M,E]`");
  else if (tensor.extents.empty())
    diagnostics.error(name.range, "`" + name.text + "` has no extent; write `" +
                                      name.text + ": " + tensor.elem.text +
                                      "` for a scalar");
  if (tensor.extents.empty())
    refused.insert(name.text);
  if (tensor.extents.size() > 8)
    diagnostics.error(name.range, "`" + name.text + "` has " +
                                      llvm::Twine(tensor.extents.size()) +
                                      " dims; a tensor has at most 8");
  if (tensor.sorted && elem == ElemType::Bool)
    diagnostics.error(name.range, "`sorted` is for numbers, but `" + name.text +
                                      "` holds bools");
  item.signature.push_back({true, unsigned(item.tensors.size())});
  item.tensors.push_back(
      {name.text, elem, role, {}, tensor.sorted, nullptr, nullptr, name.range});
  writtenTensors.push_back(&tensor);
}

void Sema::declareScalar(const ast::Tensor &scalar) {
  const ast::Name &name = scalar.name;
  ElemType type = resolveElem(scalar.elem);
  if (type != ElemType::Error && type != ElemType::Bool &&
      type != ElemType::I32 && type != ElemType::I64 && type != ElemType::F32 &&
      type != ElemType::F64) {
    diagnostics.error(scalar.elem.range,
                      "a scalar is bool, i32, i64, f32 or f64, but `" +
                          name.text + "` is " + elemTypeName(type));
    type = ElemType::Error;
  }
  if (scalar.sorted)
    diagnostics.error(name.range, "`sorted` is for tensors, but `" + name.text +
                                      "` is a scalar");
  if (!declare(name, Symbol::Scalar, item.scalars.size()))
    return;
  item.signature.push_back({false, unsigned(item.scalars.size())});
  item.scalars.push_back({name.text, type, name.range});
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

void Sema::declareExtents() {
  for (const Argument &argument : item.signature) {
    if (!argument.isTensor)
      continue;
    Tensor &tensor = item.tensors[argument.number];
    const ast::Tensor &written = *writtenTensors[argument.number];
    for (const ast::ExprPtr &extent : written.extents)
      declareExtent(tensor, *extent);
  }
  // Ranges may name dims of any tensor.
  for (size_t t = 0; t < item.tensors.size(); ++t) {
    const ast::Tensor &written = *writtenTensors[t];
    if (!written.low || !written.high)
      continue;
    for (const ast::Expr *bound : {written.low.get(), written.high.get()}) {
      const Expr *value = typeIn(Context::Require, *bound);
      if (value->type == ElemType::Error)
        continue;
      if (!isInteger(value->type) || !hasPrefixForm(*value))
        diagnostics.error(bound->range,
                          "a range is of integers over dims and scalars, but "
                          "this is " +
                              describe(*value));
      (bound == written.low.get() ? item.tensors[t].low
                                  : item.tensors[t].high) = value;
    }
    const Expr *low = item.tensors[t].low, *high = item.tensors[t].high;
    if (low && high && low->isConstant() && high->isConstant() &&
        isInteger(low->type) && isInteger(high->type) &&
        low->integer >= high->integer)
      diagnostics.error({written.low->range.Start, written.high->range.End},
                        "no value is in " + llvm::Twine(low->integer) + ".." +
                            llvm::Twine(high->integer) +
                            ", whose upper end is left out");
  }
  checkDimsBound();
}

void Sema::declareExtent(Tensor &tensor, const ast::Expr &written) {
  const Expr *length = typeIn(Context::Extent, written);
  Extent extent{length};
  if (length->type != ElemType::Error) {
    if (!isInteger(length->type)) {
      diagnostics.error(written.range, "expected an integer extent, but got " +
                                           describe(*length));
      extent.length = errorExpr();
    } else if (length->isConstant() &&
               (length->integer < 0 || length->integer > maxExtent)) {
      diagnostics.error(written.range,
                        "an extent is from 0 to " + llvm::Twine(maxExtent) +
                            ", but this is " + llvm::Twine(length->integer));
    } else if (!hasPrefixForm(*length) || length->depth > 60) {
      diagnostics.error(written.range,
                        "an extent is computed on the host, by arithmetic, "
                        "comparisons, min, max and abs only");
    }
  }
  if (written.kind == ast::Expr::Name) {
    auto symbol = symbols.find(written.name);
    if (symbol != symbols.end() && symbol->second.kind == Symbol::Static &&
        length->isConstant() && isInteger(length->type))
      extent.dim = int(addDim(written.name, written.range, length->integer));
    else if (length->kind == Expr::Dim)
      extent.dim = int(length->number);
  }
  tensor.extents.push_back(extent);
}

unsigned Sema::addDim(StringRef name, SMRange range,
                      std::optional<int64_t> value) {
  int known = item.findDim(name);
  if (known >= 0)
    return unsigned(known);
  item.dims.push_back({name.str(), value, range});
  unsigned number = item.dims.size() - 1;
  if (!value)
    symbols.try_emplace(name, Symbol{Symbol::Dim, number, range});
  return number;
}

/// A dim gets its length from an axis `X` or `X + 1`; `2 * X` alone gives none.
void Sema::checkDimsBound() {
  std::vector<bool> bound(item.dims.size(), false);
  for (const Tensor &tensor : item.tensors)
    for (const Extent &extent : tensor.extents) {
      const Expr *e = extent.length;
      if (e->kind == Expr::Operator && (e->op == Op::Add || e->op == Op::Sub)) {
        if (e->args[1]->isConstant())
          e = e->args[0];
        else if (e->op == Op::Add && e->args[0]->isConstant())
          e = e->args[1];
      }
      if (e->kind == Expr::Dim)
        bound[e->number] = true;
    }
  for (size_t i = 0; i < item.dims.size(); ++i) {
    const Dim &dim = item.dims[i];
    if (!bound[i] && !dim.value)
      diagnostics.error(dim.range, "nothing gives dim `" + dim.name +
                                       "` its length; give a tensor an axis `" +
                                       dim.name + "`, or declare `param " +
                                       dim.name + ": i32`");
  }
}

//===----------------------------------------------------------------------===//
// Lets
//===----------------------------------------------------------------------===//

void Sema::declareLets() {
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind != ast::Clause::Let ||
        !declare(clause.name, Symbol::Let, lets.size()))
      return;
    lets.push_back({&clause});
    item.lets.push_back({clause.name.text, nullptr, clause.name.range});
  });
}
