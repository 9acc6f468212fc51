//===- SemaLoops.cpp - loops and branches of a tile program ---------------===//
//
// What a body assigns becomes a value that the loop carries, or that the branch
// gives. The bounds of carried tiles settle by typing a loop's body again where
// it adds one.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

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
