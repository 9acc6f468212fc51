//===- SemaTables.cpp - reads of captured tensors -------------------------===//
//
// `table[index, ...]`: which tensors can be read where, how many indices they
// take, and which bare indices run over another dim than the table has.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"

using namespace tegula::lang;
using llvm::StringRef;

/// What an element widens to when it is read.
static ElemType widened(ElemType elem, ElemType accumulator) {
  if (isFloat(elem))
    return accumulator;
  return isInteger(elem) && elem != ElemType::I64 ? ElemType::I32 : elem;
}

/// Extents and requirements are computed without reading tensors.
bool Sema::refuseTensorOnHost(const ast::Expr &e) {
  if (!onHost())
    return false;
  diagnostics.error(e.range, "expected dims, statics and scalars only, but `" +
                                 e.name +
                                 "` is a tensor, whose elements the host does "
                                 "not see");
  return true;
}

/// Operands and outputs are no tables.
bool Sema::refuseOperand(const ast::Expr &e, const Tensor &tensor) {
  bool isOperand = e.name == "q" || e.name == "k" || e.name == "v";
  if (!isOperand && tensor.role == Role::Input)
    return false;
  diagnostics.error(e.range,
                    "`" + e.name + "` cannot be read in " + contextName() +
                        "; it sees " +
                        (seesScore()                ? "s, "
                         : context == Context::Emit ? "o, lse, rowmax, rowsum, "
                                                    : "") +
                        "indices, scalars and captured tensors");
  return true;
}

/// `s[...]` asks for another key or head than the element's own.
const Expr *Sema::refuseOtherScore(const ast::Expr &e) {
  diagnostics.error(e.range, "a score sees one (query, key, head); what sees "
                             "several needs a `kernel`");
  return errorExpr();
}

const Expr *Sema::typeIndex(const ast::Expr &e) {
  if (findLocal(e.name)) {
    diagnostics.error(e.nameRange,
                      "`" + e.name + "` is no tensor, and takes no index");
    return errorExpr();
  }
  if (!scope->fn && refused.contains(e.name))
    return errorExpr();
  if (!scope->fn && e.name == "s")
    return refuseOtherScore(e);
  auto symbol = symbols.find(e.name);
  if (!scope->fn && symbol == symbols.end() && indexNamed(e.name)) {
    diagnostics.error(e.nameRange,
                      "`" + e.name + "` is no tensor, and takes no index");
    return errorExpr();
  }
  if (scope->fn || symbol == symbols.end())
    return unknownName(e, "tensor");
  if (symbol->second.kind != Symbol::Tensor) {
    diagnostics
        .error(e.nameRange, "`" + e.name +
                                "` is no tensor, and takes "
                                "no index")
        .note(symbol->second.range, "declared here");
    return errorExpr();
  }
  const Tensor &tensor = item.tensors[symbol->second.number];
  if (refuseTensorOnHost(e))
    return errorExpr();
  if (refuseOperand(e, tensor))
    return errorExpr();
  if (e.args.size() != tensor.extents.size()) {
    diagnostics
        .error(e.range, "`" + e.name + "` has " +
                            llvm::Twine(tensor.extents.size()) +
                            (tensor.extents.size() == 1 ? " dim" : " dims") +
                            ", but got " + llvm::Twine(e.args.size()) +
                            (e.args.size() == 1 ? " index" : " indices"))
        .note(symbol->second.range, "declared here");
    return errorExpr();
  }
  Expr &lookup =
      node(Expr::Lookup, widened(tensor.elem, item.accumulator), e.range);
  lookup.number = symbol->second.number;
  bool ok = tensor.elem != ElemType::Error;
  for (size_t axis = 0; axis < e.args.size(); ++axis) {
    const Expr *index = type(*e.args[axis]);
    if (index->type == ElemType::Error) {
      ok = false;
    } else if (!isInteger(index->type)) {
      diagnostics.error(e.args[axis]->range,
                        "an index is an integer, but got " + describe(*index));
      ok = false;
    } else if (index->kind == Expr::Index) {
      ok = ok && checkBareIndex(e, tensor, axis, *index);
    }
    lookup.args.push_back(index);
    lookup.indices |= index->indices;
    lookup.depth = std::max(lookup.depth, index->depth + 1);
  }
  return ok ? &lookup : errorExpr();
}

/// `doc[j]` where `doc` has extent M: over another of the dims B H G M N a bare
/// index is refused, unless a `require` makes the two equal.
bool Sema::checkBareIndex(const ast::Expr &e, const Tensor &tensor,
                          unsigned axis, const Expr &index) {
  static constexpr StringRef dims[] = {"B", "H", "G", "M", "N"};
  static constexpr StringRef positions[] = {
      "batch indices (0..B)", "query heads (0..H)", "key heads (0..G)",
      "query positions (0..M)", "key positions (0..N)"};
  const Extent &extent = tensor.extents[axis];
  if (extent.dim < 0)
    return true;
  const Dim &over = item.dims[extent.dim];
  StringRef home = dims[int(index.index)];
  if (!llvm::is_contained(dims, over.name) || over.name == home)
    return true;
  int homeDim = item.findDim(home);
  if (homeDim >= 0 && (find(homeDim) == find(extent.dim) ||
                       (over.value && over.value == item.dims[homeDim].value)))
    return true;
  const ast::Tensor &written = *writtenTensors[&tensor - item.tensors.data()];
  std::string suggestion = tensor.name + ": " + written.elem.text + "[";
  for (size_t a = 0; a < written.extents.size(); ++a) {
    // All bare indices name the extents that they would read in full.
    std::optional<IndexVar> other;
    if (e.args[a]->kind == ast::Expr::Name && a != axis)
      other = indexNamed(e.args[a]->name);
    bool isFixed = llvm::is_contained(dims, toText(*written.extents[a]));
    suggestion +=
        (a ? "," : "") + (a == axis          ? home.str()
                          : other && isFixed ? dims[int(*other)].str()
                                             : toText(*written.extents[a]));
  }
  std::string has = tensor.extents.size() == 1
                        ? "`" + tensor.name + "` has extent "
                        : "axis " + std::to_string(axis) + " of `" +
                              tensor.name + "` has extent ";
  diagnostics
      .error(e.range, "`" + toText(e) + "` reads " +
                          positions[int(index.index)] + " but " + has +
                          over.name)
      .note(tensor.range, "declared here; declare `" + suggestion +
                              "]`, or add `require " + over.name +
                              " == " + home + "`");
  return false;
}
