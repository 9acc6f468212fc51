//===- SemaReads.cpp - what an item reads ---------------------------------===//
//
// An input that nothing reads, because a derived item replaced the clause that
// did, leaves the signature. What reads is what is left: clauses that count,
// the `let`s that they use, requirements, and extents.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"
#include "llvm/ADT/DenseSet.h"

using namespace tegula::lang;

namespace {
/// Tensors and scalars that expressions read, by number.
struct Reads {
  explicit Reads(const Item &item)
      : item(item), tensors(item.tensors.size()), scalars(item.scalars.size()) {
  }

  void add(const Expr *e) {
    if (!e || !seen.insert(e).second)
      return;
    if (e->kind == Expr::Lookup)
      addTensor(e->number);
    else if (e->kind == Expr::Scalar)
      scalars[e->number] = true;
    else if (e->kind == Expr::Let)
      add(item.lets[e->number].value);
    for (const Expr *arg : e->args)
      add(arg);
  }

  void addTensor(unsigned number) {
    if (tensors[number])
      return;
    tensors[number] = true;
    const Tensor &tensor = item.tensors[number];
    for (const Extent &extent : tensor.extents)
      add(extent.length);
    add(tensor.low);
    add(tensor.high);
  }

  void addAll(llvm::ArrayRef<const Expr *> exprs) {
    for (const Expr *e : exprs)
      add(e);
  }

  const Item &item;
  std::vector<bool> tensors, scalars;
  llvm::DenseSet<const Expr *> seen;
};
} // namespace

void Sema::dropUnread() {
  if (diagnostics.hasErrors())
    return;
  Reads reads(item);
  reads.addAll({item.q.element, item.k.element, item.v.element, item.scale,
                item.pairWeight, item.extra});
  reads.addAll(item.scores);
  reads.addAll(item.masks);
  reads.addAll(item.weights);
  for (const Requirement &requirement : item.requirements)
    reads.add(requirement.value);
  for (const Output &output : item.outputs) {
    reads.addTensor(output.tensor);
    reads.add(output.element);
  }
  auto isRead = [&](const Argument &argument) {
    return argument.isTensor ? reads.tensors[argument.number]
                             : reads.scalars[argument.number];
  };
  // A parameter of the item itself that changes no result is hardly meant.
  for (const ast::Clause &clause : root->clauses)
    if (clause.kind == ast::Clause::Param) {
      const Symbol &symbol = symbols.find(clause.name.text)->second;
      if (!isRead({symbol.kind == Symbol::Tensor, symbol.number}))
        diagnostics.warning(clause.name.range, "parameter `" +
                                                   clause.name.text +
                                                   "` is never read");
    }
  // A tensor may have to stay for its dims; then so do scalars of its extents.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Argument &argument : item.signature)
      if (argument.isTensor && !isRead(argument) && !mayDrop(argument)) {
        reads.addTensor(argument.number);
        changed = true;
      }
    auto unread = llvm::find_if(item.signature, [&](const Argument &argument) {
      return argument.isTensor && !isRead(argument);
    });
    if (unread != item.signature.end()) {
      item.signature.erase(unread);
      changed = true;
    }
  }
  llvm::erase_if(item.signature,
                 [&](const Argument &argument) { return !isRead(argument); });
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
