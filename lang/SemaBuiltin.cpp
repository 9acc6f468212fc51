//===- SemaBuiltin.cpp - functions of a tile program ----------------------===//
//
// One table says what each takes. A call is bound to its parameters and its
// arguments typed as they ask; what is left is the function's own.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"
#include "llvm/ADT/STLExtras.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;
using K = KernelSema;

/// Elements that a tile may have.
static constexpr int64_t maxElements = 1 << 20;

// clang-format off
const KernelSema::Builtin KernelSema::builtins[] = {
    {"abs", &K::typeElementwise, {{"x", Value}}},
    {"exp", &K::typeElementwise, {{"x", Value}}},
    {"exp2", &K::typeElementwise, {{"x", Value}}},
    {"log", &K::typeElementwise, {{"x", Value}}},
    {"log2", &K::typeElementwise, {{"x", Value}}},
    {"tanh", &K::typeElementwise, {{"x", Value}}},
    {"sqrt", &K::typeElementwise, {{"x", Value}}},
    {"rsqrt", &K::typeElementwise, {{"x", Value}}},
    {"min", &K::typeElementwise, {{"x", Value}, {"y", Value}}},
    {"max", &K::typeElementwise, {{"x", Value}, {"y", Value}}},
    {"pow", &K::typeElementwise, {{"x", Value}, {"y", Value}}},
    {"ceildiv", &K::typeElementwise, {{"x", Value}, {"y", Value}}},
    {"clamp", &K::typeTileClamp,
     {{"x", Value}, {"low", Value}, {"high", Value}}},
    {"random", &K::typeRandomTile,
     {{"seed", Value}, {"c0", Value}, {"c1", Value}, {"c2", Value},
      {"c3", Value}}},
    {"where", &K::typeWhere, {{"c", Value}, {"a", Value}, {"b", Value}}},

    {"iota", &K::typeIota, {{"n", Shape}}},
    {"full", &K::typeFull, {{"shape", Shape}, {"x", Value}}},
    {"span", &K::typeSpan, {{"lo"}, {"n"}, {"hi"}}},
    {"row", &K::typeSpread, {{"x", Vector}}},
    {"col", &K::typeSpread, {{"x", Vector}}},
    {"transpose", &K::typeTranspose, {{"x", Tile}, {"axes", Any, true}}},
    {"reshape", &K::typeReshape, {{"x", Tile}, {"shape", Shape}}},
    {"broadcast", &K::typeBroadcast, {{"x", Value}, {"shape", Shape}}},

    {"dot", &K::typeDot, {{"a", Matrix}, {"b", Matrix}, {"acc", Matrix, true}}},
    {"sum", &K::typeReduction, {{"x", Value}, {"axis", Any, true}}},
    {"min", &K::typeReduction, {{"x", Value}, {"axis", Any, true}}},
    {"max", &K::typeReduction, {{"x", Value}, {"axis", Any, true}}},
    {"argmax", &K::typeReduction, {{"x", Value}, {"axis", Any, true}}},
    {"any", &K::typeReduction, {{"x", Value}, {"axis", Any, true}}},
    {"all", &K::typeReduction, {{"x", Value}, {"axis", Any, true}}},
    {"cumsum", &K::typeCumSum, {{"x", Tile}, {"axis", Axis}}},
    {"reduce", &K::typeCombine,
     {{"x", Tile}, {"f"}, {"init", Value}, {"axis", Axis}}},

    {"softmax_state", &K::typeState, {{"rows", Shape}, {"E", Shape}}},
    {"online_softmax", &K::typeOnlineSoftmax,
     {{"st", State}, {"S", Matrix}, {"V", Matrix}, {"keep", Value, true},
      {"weight", Value, true}}},
    {"merge", &K::typeMerge, {{"a", State}, {"b", State}}},
    {"partial", &K::typePartial, {{"o", Matrix}, {"lse", Vector}}},
    {"finish", &K::typeFinish, {{"st", State}}},
    {"lse", &K::typeRows, {{"st", State}}},
    {"rowmax", &K::typeRows, {{"st", State}}},
    {"rowsum", &K::typeRows, {{"st", State}}},
};
// clang-format on

bool tegula::lang::isTileFunction(StringRef name) {
  return llvm::any_of(KernelSema::builtins, [&](const auto &builtin) {
    return builtin.name == name;
  });
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool KernelSema::bind(const ast::Expr &e, llvm::ArrayRef<Parameter> params,
                      Written &written) {
  written.assign(params.size(), nullptr);
  for (size_t i = 0; i < e.args.size(); ++i) {
    StringRef name = i < e.argNames.size() ? StringRef(e.argNames[i].text) : "";
    size_t slot = i;
    if (!name.empty()) {
      slot = llvm::find_if(params, [&](auto &p) { return p.name == name; }) -
             params.begin();
      if (slot == params.size()) {
        StringRef near;
        std::vector<StringRef> known;
        for (const Parameter &param : params)
          known.push_back(param.name);
        Diagnostic &d = report(e.argNames[i].range,
                               "`" + e.name + "` has no argument `" + name +
                                   "`" + didYouMean(name, known, &near));
        if (!near.empty())
          d.fix(e.argNames[i].range, near);
        return false;
      }
    }
    if (slot >= params.size()) {
      report(e.range, "`" + e.name + "` takes " + llvm::Twine(params.size()) +
                          (params.size() == 1 ? " argument" : " arguments") +
                          ", but got " + llvm::Twine(e.args.size()));
      return false;
    }
    if (written[slot]) {
      report(e.args[i]->range,
             "argument `" + params[slot].name + "` is given twice");
      return false;
    }
    written[slot] = e.args[i].get();
  }
  for (auto [param, argument] : llvm::zip(params, written))
    if (!param.optional && !argument) {
      report(e.range,
             "`" + e.name + "` needs its argument `" + param.name + "`");
      return false;
    }
  return true;
}

/// False, and an error, where an argument is not what its parameter takes.
bool KernelSema::typeArguments(llvm::ArrayRef<Parameter> params, Call &call) {
  bool ok = true;
  for (auto [param, written] : llvm::zip(params, call.written)) {
    const Term *value = nullptr;
    if (written)
      ok &= typeArgument(param, *written, call, value);
    call.values.push_back(value);
    ok &= !value || !value->type.isError();
  }
  return ok;
}

bool KernelSema::typeArgument(const Parameter &param, const ast::Expr &written,
                              Call &call, const Term *&value) {
  StringRef callee = call.e.name;
  switch (param.takes) {
  case Any:
    return true;
  case Value:
    value = typeTile(written);
    return true;
  case Tile:
    value = expectTile(written, callee);
    return true;
  case Vector:
    value = expectTile(written, callee, 1);
    return true;
  case Matrix:
    value = expectTile(written, callee, 2);
    return true;
  case State:
    value = expectState(written, callee);
    return true;
  case Shape:
    return typeShape(written, call.shape);
  case Axis: {
    const Term &tile = *call.values.front();
    if (tile.type.isError())
      return false;
    std::optional<unsigned> axis = typeAxisNumber(written, tile);
    call.axis = axis.value_or(0);
    return axis.has_value();
  }
  }
  llvm_unreachable("all kinds are handled");
}

/// A constant number of lanes.
std::optional<int64_t> KernelSema::constantLength(const ast::Expr &e,
                                                  StringRef what) {
  const Term *value = typeTile(e);
  if (value->type.isError())
    return std::nullopt;
  if (!value->isConstant() || !isInteger(value->type.elem)) {
    report(e.range, what + " is a constant integer, but this is " +
                        describe(*value) +
                        (isInteger(value->type.elem) && value->type.isScalar()
                             ? " that is known at run time"
                             : ""));
    return std::nullopt;
  }
  if (value->integer < 0 || value->integer > maxElements) {
    report(e.range, what + " is from 1 to " + llvm::Twine(maxElements) +
                        ", but this is " + llvm::Twine(value->integer));
    return std::nullopt;
  }
  return value->integer;
}

bool KernelSema::checkSize(SMRange range, llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (elements > maxElements / std::max<int64_t>(extent, 1)) {
      report(range, "this tile has more than " + llvm::Twine(maxElements) +
                        " elements");
      return false;
    }
    elements *= extent;
  }
  return true;
}

/// `[64, 128]`, or one extent without brackets.
bool KernelSema::typeShape(const ast::Expr &e,
                           llvm::SmallVectorImpl<int64_t> &shape) {
  Written parts;
  if (e.kind == ast::Expr::Shape)
    for (const ast::ExprPtr &arg : e.args)
      parts.push_back(arg.get());
  else
    parts.push_back(&e);
  for (const ast::Expr *part : parts) {
    std::optional<int64_t> extent = constantLength(*part, "an extent");
    if (!extent)
      return false;
    if (*extent == 0) {
      report(part->range, "a tile has at least one lane on each axis");
      return false;
    }
    shape.push_back(*extent);
  }
  if (shape.empty()) {
    report(e.range, "expected extents, as in `[64, 128]`");
    return false;
  }
  return checkSize(e.range, shape);
}

std::optional<unsigned> KernelSema::typeAxisNumber(const ast::Expr &e,
                                                   const Term &tile) {
  const Term *axis = typeTile(e);
  if (axis->type.isError())
    return std::nullopt;
  if (!axis->isConstant() || !isInteger(axis->type.elem) || axis->integer < 0 ||
      axis->integer >= tile.type.rank()) {
    report(e.range, "`axis` is from 0 to " + llvm::Twine(tile.type.rank() - 1) +
                        " for " + describe(tile) + ", but this is " +
                        describe(*axis));
    return std::nullopt;
  }
  return unsigned(axis->integer);
}

/// A tile, of that rank if one is given.
const Term *KernelSema::expectTile(const ast::Expr &e, StringRef callee,
                                   unsigned rank) {
  const Term *tile = typeTile(e);
  if (tile->type.isError())
    return tile;
  if (tile->type.isTile() && (rank == 0 || tile->type.rank() == rank))
    return tile;
  report(e.range, "`" + callee + "` takes a tile" +
                      (rank ? " of rank " + std::to_string(rank) : "") +
                      ", but got " + describe(*tile));
  return errorValue();
}

const Term *KernelSema::expectState(const ast::Expr &e, StringRef callee) {
  const Term *state = typeTile(e);
  if (state->type.isError() || state->type.isState)
    return state;
  report(e.range,
         "`" + callee + "` takes a softmax state, but got " + describe(*state));
  return errorValue();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

const Term *KernelSema::typeTileCall(const ast::Expr &e) {
  std::optional<ElemType> target = elemTypeFromName(e.name);
  auto symbol = symbols.find(e.name);
  if (symbol != symbols.end() && symbol->second.kind == Symbol::Static) {
    if (!evaluateStatic(symbol->second.number))
      return errorValue();
    const Static &entry = item.statics[symbol->second.number];
    if (entry.kind == Static::Type)
      target = entry.elem;
  }
  if (target)
    return typeTileCast(e, *target);
  if (const Builtin *builtin = findBuiltin(e)) {
    llvm::ArrayRef params = builtin->parameters;
    params = params.take_until([](auto &param) { return param.name.empty(); });
    Call call{e, {}, {}, {}};
    return bind(e, params, call.written) && typeArguments(params, call)
               ? (this->*builtin->type)(call)
               : errorValue();
  }
  if (const ast::Fn *fn = file.findFn(e.name))
    return typeTileFnCall(e, *fn);
  return unknownTileFunction(e);
}

/// `max(a, b)` is elementwise, `max(x, axis = n)` reduces.
const KernelSema::Builtin *KernelSema::findBuiltin(const ast::Expr &e) {
  bool reduces =
      reductionOf(e.name) && (e.args.size() != 2 || !e.argNames.empty());
  for (const Builtin &builtin : builtins)
    if (builtin.name == e.name &&
        !(reduces && builtin.type == &KernelSema::typeElementwise))
      return &builtin;
  return nullptr;
}

const Term *KernelSema::unknownTileFunction(const ast::Expr &e) {
  auto binding = names.find(e.name);
  auto symbol = symbols.find(e.name);
  if (frames.empty() && (binding != names.end() || symbol != symbols.end())) {
    bool isTensor =
        symbol != symbols.end() && symbol->second.kind == Symbol::Tensor;
    report(e.nameRange,
           "`" + e.name + "` is no function" +
               (isTensor ? "; write `load " + e.name + "[...]`" : ""))
        .note(binding != names.end() ? binding->second.range
                                     : symbol->second.range,
              "declared here");
    return errorValue();
  }
  std::vector<StringRef> known;
  for (const Builtin &builtin : builtins)
    known.push_back(builtin.name);
  for (const ast::Fn &fn : file.fns)
    known.push_back(fn.name.text);
  StringRef near;
  Diagnostic &d = report(e.nameRange, "unknown function `" + e.name + "`" +
                                          didYouMean(e.name, known, &near));
  if (!near.empty())
    d.fix(e.nameRange, near);
  return errorValue();
}
