//===- SemaTileState.cpp - the softmax state as a value -------------------===//
//
// Each function checks that rows, width and keys of its operands meet.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"

using namespace tegula::lang;

/// `softmax_state(rows, E)`: no key seen; f64 where a tensor of the kernel is.
const Term *KernelSema::typeState(const Call &call) {
  if (call.shape.size() != 2 || call.written[0]->kind == ast::Expr::Shape) {
    report(call.e.range, "`softmax_state` takes its rows and the width of V");
    return errorValue();
  }
  TileType type(item.accumulator, call.shape);
  type.isState = true;
  return add(node(Term::State, type, call.e.range));
}

/// `online_softmax(st, S, V, keep =, weight =)`: takes the keys of S and V into
/// the state. A key that `keep` hides from a row, or that lies past its bound,
/// adds nothing.
const Term *KernelSema::typeOnlineSoftmax(const Call &call) {
  const ast::Expr &e = call.e;
  const Written &args = call.written;
  const Term *state = call.values[0], *scores = call.values[1];
  const Term *values = call.values[2];
  const Term *keep = call.values[3], *weight = call.values[4];
  ElemType elem = state->type.elem;
  for (auto [value, written] :
       {std::pair(&scores, args[1]), std::pair(&weight, args[4])}) {
    if (!*value)
      continue;
    if ((*value)->type.isState || !isFloat((*value)->type.elem)) {
      report(written->range, "expected " + elemTypeName(elem) + ", but got " +
                                 describe(**value));
      return errorValue();
    }
    *value = convert(*value, elem, written->range);
  }
  if (!isFloat(values->type.elem)) {
    report(args[2]->range, "expected floats, but got " + describe(*values));
    return errorValue();
  }
  if (keep && (keep->type.isState || keep->type.elem != ElemType::Bool)) {
    report(args[3]->range, "`keep` takes bools, but got " + describe(*keep));
    return errorValue();
  }
  int64_t rows = state->type.shape[0], width = state->type.shape[1];
  int64_t keys = scores->type.shape[1];
  if (scores->type.shape[0] != rows || values->type.shape[0] != keys ||
      values->type.shape[1] != width) {
    report(e.range, "for a state of " + llvm::Twine(rows) + " rows and width " +
                        llvm::Twine(width) + ", S is [" + llvm::Twine(rows) +
                        ", keys] and V is "
                        "[keys, " +
                        llvm::Twine(width) + "], but S is " +
                        describe(*scores) + " and V is " + describe(*values));
    return errorValue();
  }
  // Bounds of rows and keys, of S, keep and weight alike.
  TileType pairs = scores->type;
  for (auto [value, written] :
       {std::pair(&keep, args[3]), std::pair(&weight, args[4])}) {
    if (!*value)
      continue;
    if (!joinShapes(written->range, {scores, *value}, {args[1], written},
                    pairs))
      return errorValue();
    if (pairs.shape != scores->type.shape) {
      report(written->range, "S is " + describe(*scores) + ", but this is " +
                                 describe(**value));
      return errorValue();
    }
    *value = stretch(*value, pairs.shape, written->range);
  }
  TileType type = state->type;
  if (!joinBound(e.range, 1, values->type.bounds[0], pairs.bounds[1]) ||
      !joinBound(e.range, 0, pairs.bounds[0], type.bounds[0]) ||
      !joinBound(e.range, 1, values->type.bounds[1], type.bounds[1]))
    return errorValue();
  Term result = node(Term::OnlineSoftmax, type, e.range,
                     {state, scores, values, keep, weight});
  result.keys = pairs.bounds[1];
  return add(std::move(result));
}

/// `merge(a, b)`: two states over disjoint keys.
const Term *KernelSema::typeMerge(const Call &call) {
  const ast::Expr &e = call.e;
  const Term *a = call.values[0], *b = call.values[1];
  if (a->type.shape != b->type.shape || a->type.elem != b->type.elem) {
    report(e.range, "`merge` takes states of one shape, but got " +
                        describe(*a) + " and " + describe(*b));
    return errorValue();
  }
  TileType type = a->type;
  for (unsigned axis : {0, 1})
    if (!joinBound(e.range, axis, b->type.bounds[axis], type.bounds[axis]))
      return errorValue();
  return add(node(Term::Merge, type, e.range, {a, b}));
}

/// `partial(o, lse)`: the state of a stored result.
const Term *KernelSema::typePartial(const Call &call) {
  const ast::Expr &e = call.e;
  const Term *output = call.values[0], *lse = call.values[1];
  for (auto [value, written] : {std::pair(&output, call.written[0]),
                                std::pair(&lse, call.written[1])}) {
    if (!isFloat((*value)->type.elem)) {
      report(written->range, "expected floats, but got " + describe(**value));
      return errorValue();
    }
    *value = convert(*value, item.accumulator, written->range);
  }
  if (output->type.shape[0] != lse->type.shape[0]) {
    report(e.range, "`partial` takes one lse a row, but o is " +
                        describe(*output) + " and lse is " + describe(*lse));
    return errorValue();
  }
  TileType type = output->type;
  type.isState = true;
  if (!joinBound(e.range, 0, lse->type.bounds[0], type.bounds[0]))
    return errorValue();
  return add(node(Term::Partial, type, e.range, {output, lse}));
}

/// `finish(st)`: the output [rows, E].
const Term *KernelSema::typeFinish(const Call &call) {
  TileType type = call.values[0]->type;
  type.isState = false;
  return add(node(Term::Finish, type, call.e.range, call.values));
}

/// One value a row: the log-sum-exp, the largest visible score, or the sum of
/// exp(score - rowmax).
const Term *KernelSema::typeRows(const Call &call) {
  TileType type = call.values[0]->type;
  type.isState = false;
  type.shape.pop_back();
  type.bounds.pop_back();
  Term::Kind kind = call.e.name == "lse"      ? Term::Lse
                    : call.e.name == "rowmax" ? Term::RowMax
                                              : Term::RowSum;
  return add(node(kind, type, call.e.range, call.values));
}
