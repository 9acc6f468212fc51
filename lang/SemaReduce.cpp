//===- SemaReduce.cpp - what becomes of the scores ------------------------===//
//
// `reduce`, `weight`, `emit`, `outputs` and `schedule`.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tegula::lang;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// reduce, weight
//===----------------------------------------------------------------------===//

void Sema::analyzeReduction() {
  const ast::Clause *clause = lastOf(ast::Clause::Reduce);
  if (!clause)
    return;
  StringRef name = clause->name.text;
  auto reduction = llvm::StringSwitch<std::optional<Reduction>>(name)
                       .Case("softmax", Reduction::Softmax)
                       .Case("sum", Reduction::Sum)
                       .Case("mean", Reduction::Mean)
                       .Default(std::nullopt);
  if (!reduction) {
    diagnostics
        .error(clause->name.range,
               "unknown reduction `" + name + "`; known: softmax, sum, mean")
        .note(clause->name.range, "the order of keys may not matter to a "
                                  "reduction; an ordered one is a `kernel`");
    return;
  }
  item.reduction = *reduction;
  const ast::Expr &call = *clause->value;
  if (item.reduction == Reduction::Softmax) {
    for (size_t n = 0; n < call.args.size(); ++n)
      if (call.argNames.empty() || call.argNames[n].text != "extra" || n > 0) {
        diagnostics.error(call.args[n]->range,
                          "`reduce softmax` takes `extra = ...` alone; what "
                          "changes the scores is a `score`");
        return;
      }
    if (!call.args.empty())
      item.extra = floatOf(Context::Extra, *call.args[0]);
    return;
  }
  if (call.args.size() != 1 || !call.argNames.empty()) {
    diagnostics.error(call.range, "`reduce " + name +
                                      "` takes one argument, the weight of a "
                                      "key, as in `reduce " +
                                      name + "(exp(s))`");
    return;
  }
  item.pairWeight =
      floatOf(Context::Reduce, *call.args[0], "; what hides keys is a `mask`");
  if (item.pairWeight && item.pairWeight->kind == Expr::Score)
    diagnostics.remark(clause->word.range,
                       "`reduce " + name +
                           "(s)` is linear attention in its quadratic form: "
                           "right, but its time grows with M * N");
}

void Sema::analyzeWeights() {
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind != ast::Clause::Weight)
      return;
    if (const Expr *weight = floatOf(Context::Weight, *clause.value,
                                     "; what hides keys is a `mask`"))
      item.weights.push_back(weight);
  });
}

//===----------------------------------------------------------------------===//
// emit, outputs
//===----------------------------------------------------------------------===//

/// Outputs that the last `outputs` clause does not name leave the signature.
void Sema::selectOutputs() {
  std::vector<StringRef> known;
  for (const Tensor &tensor : item.tensors)
    if (tensor.role == Role::Output)
      known.push_back(tensor.name);
  const ast::Clause *selection = lastOf(ast::Clause::Outputs);
  if (!selection)
    return;
  llvm::StringMap<llvm::SMRange> named;
  for (const ast::Name &name : selection->names) {
    auto [place, fresh] = named.try_emplace(name.text, name.range);
    if (!fresh)
      diagnostics.error(name.range, "`" + name.text + "` is named twice")
          .note(place->second, "first here");
    if (llvm::is_contained(known, name.text) || refused.contains(name.text) ||
        incomplete)
      continue;
    StringRef near;
    std::string hint = didYouMean(name.text, known, &near);
    Diagnostic &d = diagnostics.error(
        name.range,
        "no output `" + name.text + "`" +
            (hint.empty() ? "; known: " + llvm::join(known, ", ") : hint));
    if (!near.empty())
      d.fix(name.range, near);
  }
  llvm::erase_if(item.signature, [&](const Argument &argument) {
    return argument.isTensor &&
           item.tensors[argument.number].role == Role::Output &&
           llvm::none_of(selection->names, [&](const ast::Name &name) {
             return name.text == item.tensors[argument.number].name;
           });
  });
}

void Sema::analyzeOutputs() {
  selectOutputs();
  llvm::StringMap<const ast::Clause *> emits;
  llvm::StringMap<const ast::ClauseList *> emitLevels;
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &level) {
    if (clause.kind != ast::Clause::Emit)
      return;
    StringRef name = clause.name.text;
    int tensor = item.findTensor(name);
    if (tensor < 0 || item.tensors[tensor].role != Role::Output) {
      if (!incomplete && !refused.contains(name))
        diagnostics.error(clause.name.range, "no output `" + name +
                                                 "`; give its type to add it, "
                                                 "as in `emit " +
                                                 name + ": f32[B,H,M] = ...`");
      return;
    }
    if (emitLevels.lookup(name) == &level)
      diagnostics.error(clause.word.range, "`emit " + name + "` is given twice")
          .note(emits[name]->word.range, "first here");
    emits[name] = &clause;
    emitLevels[name] = &level;
  });
  for (const Argument &argument : item.signature)
    if (argument.isTensor && item.tensors[argument.number].role == Role::Output)
      analyzeOutput(argument.number,
                    emits.lookup(item.tensors[argument.number].name));
}

/// The element of an output; `emit` is null for the default of `o` and `lse`.
void Sema::analyzeOutput(unsigned number, const ast::Clause *emit) {
  const Tensor &tensor = item.tensors[number];
  if (!emit && tensor.name != "o" && tensor.name != "lse") {
    if (!incomplete)
      diagnostics.error(tensor.range, "nothing gives output `" + tensor.name +
                                          "` its elements; add `emit " +
                                          tensor.name + " = ...`");
    return;
  }
  outputRank = tensor.extents.size();
  ast::ExprPtr byDefault = ast::name(tensor.name, tensor.range);
  const ast::Expr &written = emit ? *emit->value : *byDefault;
  const Expr *element = typeIn(Context::Emit, written);
  if (element->type == ElemType::Error || tensor.elem == ElemType::Error)
    return;
  bool fits = isFloat(tensor.elem)     ? isFloat(element->type)
              : isInteger(tensor.elem) ? isInteger(element->type)
                                       : element->type == ElemType::Bool;
  if (!fits) {
    std::string hint;
    if (isFloat(tensor.elem) && isInteger(element->type))
      hint = "; write `" + floatSpelling(written) + "`";
    else if (isInteger(tensor.elem))
      hint = "; write `" + elemTypeName(tensor.elem).str() + "(" +
             toText(written) + ")`";
    diagnostics
        .error(written.range, "expected " + elemTypeName(tensor.elem) +
                                  ", but got " + describe(*element) + hint)
        .note(tensor.range, "`" + tensor.name + "` is declared here");
    return;
  }
  item.outputs.push_back({number, element});
}

/// `o`, `lse`, `rowmax`, `rowsum` and `e` of an output, or null for another
/// name.
const Expr *Sema::typeRowValue(const ast::Expr &e) {
  if (context != Context::Emit)
    return nullptr;
  if (e.name == "e" && outputRank == 4) {
    Expr &index = node(Expr::Index, ElemType::I32, e.range);
    index.index = IndexVar::E;
    index.indices = uint8_t(1u << int(IndexVar::E));
    return &index;
  }
  auto value = llvm::StringSwitch<std::optional<RowValue>>(e.name)
                   .Case("o", RowValue::O)
                   .Case("lse", RowValue::Lse)
                   .Case("rowmax", RowValue::RowMax)
                   .Case("rowsum", RowValue::RowSum)
                   .Default(std::nullopt);
  if (!value && e.name != "e")
    return nullptr;
  if (!value || (*value == RowValue::O && outputRank != 4)) {
    diagnostics.error(e.range, "`" + e.name +
                                   "` is known in an output with extents "
                                   "[B,H,M,E] only");
    return errorExpr();
  }
  bool ofSoftmax = *value == RowValue::Lse || *value == RowValue::RowMax;
  if (ofSoftmax && item.reduction != Reduction::Softmax) {
    bool isOutput = item.findTensor(e.name) >= 0;
    diagnostics.error(e.range,
                      "`reduce " + reductionName(item.reduction) +
                          "` defines no `" + e.name + "`" +
                          (isOutput ? "; add `outputs o`" : std::string()));
    return errorExpr();
  }
  Expr &row = node(Expr::Row, item.accumulator, e.range);
  row.row = *value;
  return &row;
}

//===----------------------------------------------------------------------===//
// schedule
//===----------------------------------------------------------------------===//

/// A field of a later clause replaces that of the same name. Which fields there
/// are, and what they can be, the choice of the schedule says.
void Sema::analyzeSchedule() {
  eachClause([&](const ast::Clause &clause, const ast::ClauseList &) {
    if (clause.kind != ast::Clause::Schedule)
      return;
    ScheduleField field{clause.name.text, "", clause.name.range};
    const ast::Expr &written = *clause.value;
    if (written.kind == ast::Expr::Name && !symbols.contains(written.name)) {
      field.value = written.name; // a word, as in `form = direct`
    } else {
      const Expr *value = typeIn(Context::Require, written);
      if (value->type == ElemType::Error)
        return;
      if (!value->isConstant() || isFloat(value->type)) {
        diagnostics.error(written.range, "expected an integer, a bool or a "
                                         "word that is known when the item is "
                                         "compiled");
        return;
      }
      field.value = value->type == ElemType::Bool
                        ? (value->integer ? "true" : "false")
                        : std::to_string(value->integer);
    }
    llvm::erase_if(item.schedule, [&](const ScheduleField &known) {
      return known.name == field.name;
    });
    item.schedule.push_back(std::move(field));
  });
}
