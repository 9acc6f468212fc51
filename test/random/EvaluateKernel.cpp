//===- EvaluateKernel.cpp - statements of a tile program, interpreted -----===//
//
// The points of the grid one after the other, with no optimisation.
//
//===----------------------------------------------------------------------===//
#include "KernelEvaluator.h"

#include "llvm/ADT/STLExtras.h"

using namespace tegula;
using namespace tegula::generated;
using lang::isFloat;

KernelEvaluator::KernelEvaluator(const lang::ast::File &file,
                                 llvm::StringRef kernelName,
                                 const tool::Problem &problem)
    : file(file), kernel(*file.findKernel(kernelName)), problem(problem),
      item(*problem.item) {
  for (auto [tensor, declared] : llvm::zip(problem.tensors, item.tensors)) {
    std::vector<Number> &elements = memory.emplace_back(tensor.size());
    bool isReal = isFloat(declared.elem);
    tensor.forEach([&](int64_t linear, int64_t offset) {
      elements[linear] = isReal ? Number::ofReal(tensor.real(offset))
                                : Number::ofInteger(tensor.integer(offset));
    });
  }
  for (auto [dim, value] : llvm::zip(item.dims, problem.dims)) {
    names[dim.name] = scalarOf(ElemType::I64, Number::ofInteger(value));
  }
  for (auto [scalar, value] : llvm::zip(item.scalars, problem.scalars)) {
    names[scalar.name] = scalarOf(
        scalar.type, isFloat(scalar.type) ? Number::ofReal(value.real)
                                          : Number::ofInteger(value.integer));
  }
  declareStatics();
}

void KernelEvaluator::declareStatics() {
  for (const lang::ast::Clause &clause : kernel.header.clauses) {
    if (clause.kind != lang::ast::Clause::Static)
      continue;
    if (std::optional<ElemType> elem =
            lang::elemTypeFromName(clause.value->name);
        elem && clause.value->kind == Expr::Name)
      typeNames[clause.name.text] = *elem;
    else
      names[clause.name.text] = value(*clause.value);
  }
}

void KernelEvaluator::run() {
  Shape extents;
  for (const lang::ast::Kernel::Axis &axis : kernel.grid)
    extents.push_back(number(*axis.extent));
  Names outside = names;
  forLanes(extents, [&](int64_t, llvm::ArrayRef<int64_t> at) {
    names = outside;
    for (auto [axis, coordinate] : llvm::zip(kernel.grid, at)) {
      names[axis.name.text] =
          scalarOf(ElemType::I64, Number::ofInteger(coordinate));
    }
    runBlock(kernel.body);
  });
}

void KernelEvaluator::runBlock(const std::vector<Stmt> &stmts) {
  for (const Stmt &stmt : stmts)
    runStatement(stmt);
}

void KernelEvaluator::runStatement(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Let:
  case Stmt::Var:
    names[stmt.name.text] = value(*stmt.value);
    return;
  case Stmt::Assign: {
    Tile &variable = names.find(stmt.name.text)->second;
    ElemType elem = variable.elem;
    Tile next = converted(value(*stmt.value), elem);
    next.isConstant = false;
    names[stmt.name.text] = next;
    return;
  }
  case Stmt::Store:
  case Stmt::Atomic:
    return write(stmt);
  case Stmt::For: {
    int64_t begin = 0, end = 0, step = 1;
    if (stmt.args.size() == 1) {
      end = number(*stmt.args[0]);
    } else {
      begin = number(*stmt.args[0]);
      end = number(*stmt.args[1]);
      step = stmt.args.size() > 2 ? number(*stmt.args[2]) : 1;
    }
    auto iterate = [&](int64_t i) {
      names[stmt.name.text] = scalarOf(ElemType::I64, Number::ofInteger(i));
      runBlock(stmt.body);
    };
    // From the start on, variables end where a later iteration makes them end.
    while (takeEnds(afterDryRun([&] { iterate(begin); })))
      ;
    Names entry = names;
    for (int64_t i = begin; i < end && !undecided; i += step) {
      iterate(i);
      takeEnds(entry);
    }
    return;
  }
  case Stmt::If: {
    Number condition = value(*stmt.condition).scalar();
    undecided |= !condition.isKnown();
    const std::vector<Stmt> &taken =
        condition.integer ? stmt.body : stmt.otherwise;
    const std::vector<Stmt> &other =
        condition.integer ? stmt.otherwise : stmt.body;
    Names afterOther = afterDryRun([&] { runBlock(other); });
    runBlock(taken);
    takeEnds(afterOther);
    return;
  }
  case Stmt::Print:
  case Stmt::Assert:
    return;
  }
}

/// The names after `body`, which changes nothing.
KernelEvaluator::Names
KernelEvaluator::afterDryRun(llvm::function_ref<void()> body) {
  Names saved = names;
  bool wasUndecided = undecided, wasDry = std::exchange(isDry, true);
  body();
  isDry = wasDry;
  undecided = wasUndecided;
  std::swap(names, saved);
  return saved;
}

/// Ends are a matter of the text: a variable ends where another of its values
/// does, which it may never have. Whether anything changed.
bool KernelEvaluator::takeEnds(const Names &others) {
  bool changed = false;
  for (auto &entry : names) {
    auto other = others.find(entry.first());
    if (other == others.end())
      continue;
    Tile &tile = entry.second;
    for (unsigned axis = 0; axis < tile.rank(); ++axis) {
      int64_t live = std::min(tile.live[axis], other->second.live[axis]);
      changed |= live != tile.live[axis];
      tile.live[axis] = live;
    }
  }
  return changed;
}
