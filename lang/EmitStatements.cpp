//===- EmitStatements.cpp - statements of a tile program ------------------===//
//
// What a loop or a branch assigns is carried or given as the parts of a value.
// A loop whose step is a constant is one over blocks.
//
//===----------------------------------------------------------------------===//
#include "lang/EmitKernelImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tegula::lang;
namespace tile = tegula::tile;

void ProgramEmitter::emitGrid() {
  SmallVector<Value> extents;
  for (const Program::Axis &axis : program.grid)
    extents.push_back(emitScalar(*axis.extent));
  if (extents.empty()) // one program
    extents.push_back(constant(1));
  SmallVector<Type> types(extents.size(), b.getI64Type());
  auto id = tile::ProgramIdOp::create(b, loc, types, extents);
  llvm::append_range(coordinates, id.getResults());
}

void ProgramEmitter::emitBlock(const std::vector<Statement> &statements) {
  for (const Statement &s : statements)
    emitStatement(s);
}

void ProgramEmitter::emitStatement(const Statement &s) {
  loc = locations.get(s.range);
  switch (s.kind) {
  case Statement::Compute:
    emit(*s.value);
    return;
  case Statement::Store:
    return emitStore(s);
  case Statement::Atomic:
    return emitAtomic(s);
  case Statement::For:
    return emitFor(s);
  case Statement::If:
    return emitIf(s);
  case Statement::Print:
    return emitPrint(s);
  case Statement::Assert:
    tile::AssertOp::create(b, loc, emitScalar(*s.condition), s.text);
    return;
  }
}

/// The body of a loop: the values that it carries on.
void ProgramEmitter::emitBody(const Statement &s, Value index,
                              ValueRange carried,
                              SmallVectorImpl<Value> &next) {
  ValueRange indexPart = index;
  define(*s.index, indexPart);
  for (const Statement::Carried &c : s.carried)
    define(*c.entry, carried);
  emitBlock(s.body);
  for (const Statement::Carried &c : s.carried)
    appendParts(*c.next, next);
}

void ProgramEmitter::emitFor(const Statement &s) {
  SmallVector<Value> inits;
  for (const Statement::Carried &c : s.carried)
    appendParts(*c.init, inits);
  Value first = emitScalar(*s.first), end = emitScalar(*s.end);
  ValueRange results;
  if (s.step->isConstant()) {
    auto loop = tile::ForBlocksOp::create(
        b, loc, first, end, s.step->integer, inits,
        [&](OpBuilder &inner, Location, Value index, ValueRange carried) {
          SmallVector<Value> next;
          OpBuilder::InsertionGuard guard(b);
          inRegion(inner.getInsertionBlock(),
                   [&] { emitBody(s, index, carried, next); });
          inner.setInsertionPointToEnd(inner.getInsertionBlock());
          return next;
        });
    results = loop.getResults();
  } else { // a step below 1 makes no steps
    Value step = emitScalar(*s.step), one = constant(1);
    Value runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, step,
                                       constant(0));
    end = arith::SelectOp::create(b, loc, runs, end, first);
    step = arith::MaxSIOp::create(b, loc, step, one);
    auto loop = scf::ForOp::create(
        b, loc, first, end, step, inits,
        [&](OpBuilder &inner, Location at, Value index, ValueRange carried) {
          SmallVector<Value> next;
          inRegion(inner.getInsertionBlock(),
                   [&] { emitBody(s, index, carried, next); });
          inner.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(inner, at, next);
        });
    results = loop.getResults();
  }
  for (const Statement::Carried &c : s.carried)
    define(*c.after, results);
}

void ProgramEmitter::emitIf(const Statement &s) {
  SmallVector<Type> types;
  for (const Statement::Carried &c : s.carried)
    typesOf(c.after->type, types);
  bool hasElse = !types.empty() || !s.otherwise.empty();
  auto branch =
      scf::IfOp::create(b, loc, types, emitScalar(*s.condition), hasElse);
  for (bool isElse : {false, true}) {
    if (isElse && !hasElse)
      continue;
    Block *block = isElse ? branch.elseBlock() : branch.thenBlock();
    // Without results the builder has made the terminator.
    if (!block->empty())
      block->back().erase();
    inRegion(block, [&] {
      emitBlock(isElse ? s.otherwise : s.body);
      SmallVector<Value> given;
      for (const Statement::Carried &c : s.carried)
        appendParts(isElse ? *c.other : *c.next, given);
      scf::YieldOp::create(b, loc, given);
    });
  }
  ValueRange results = branch.getResults();
  for (const Statement::Carried &c : s.carried)
    define(*c.after, results);
}

void ProgramEmitter::emitPrint(const Statement &s) {
  SmallVector<Value> printed;
  for (const Term *value : s.args)
    appendParts(*value, printed);
  tile::PrintOp::create(b, loc, s.text, printed);
}
