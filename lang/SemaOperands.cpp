//===- SemaOperands.cpp - the operands and outputs of an item -------------===//
//
// q, k, v, o and lse: which they are, that their axes mean what the fixed dims
// say, that head dims are static and legal, and that element types agree.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaImpl.h"

using namespace tegula::lang;
using llvm::StringRef;

/// `q: T[B,H,M,D]`, as a message shows it.
static std::string declaration(StringRef name, StringRef axes) {
  bool isTyped = llvm::is_contained({"q", "k", "v", "o"}, name);
  std::string text = name.str() + (isTyped ? ": T[" : ": f32[");
  for (size_t i = 0; i < axes.size(); ++i)
    text += (i ? "," : "") + axes.substr(i, 1).str();
  return text + "]";
}

bool Sema::checkOperands() {
  bool ok = checkOperand("q", "BHMD", Role::Input);
  ok &= checkOperand("k", "BGND", Role::Input);
  ok &= checkOperand("v", "BGNE", Role::Input);
  ok &= checkOperand("o", "BHME", Role::Output);
  ok &= checkOutputs();
  if (!ok)
    return false;
  using V = IndexVar;
  item.q = readOperand("q", {V::B, V::H, V::I, V::D});
  item.k = readOperand("k", {V::B, V::G, V::J, V::D});
  item.v = readOperand("v", {V::B, V::G, V::J, V::E});
  requireWholeGroups();
  return checkElements();
}

static ast::ExprPtr binary(Op op, ast::ExprPtr a, ast::ExprPtr b) {
  std::vector<ast::ExprPtr> sides;
  sides.push_back(std::move(a));
  sides.push_back(std::move(b));
  return ast::op(op, std::move(sides));
}

/// `g = h / (H / G)` is a key head for every query head only where G divides H:
/// checked here where both are static, else at launch.
void Sema::requireWholeGroups() {
  const Dim &heads = item.dims[item.findDim("H")];
  const Dim &keyHeads = item.dims[item.findDim("G")];
  if (heads.value && keyHeads.value) {
    int64_t h = *heads.value, g = *keyHeads.value;
    if (h != 0 && (g == 0 || h % g != 0))
      diagnostics
          .error(heads.range,
                 "`H` is " + llvm::Twine(h) +
                     ", which is no multiple of `G` = " + llvm::Twine(g) +
                     "; each key head serves as many query heads")
          .note(keyHeads.range, "key heads");
    return;
  }
  if (keyHeads.value == 0) {
    diagnostics.error(keyHeads.range, "`G` is 0, but an item has at least one "
                                      "key head");
    return;
  }
  if (keyHeads.value == 1)
    return;
  auto dim = [](const char *name) { return ast::name(name); };
  ast::ExprPtr divides =
      binary(Op::Eq, binary(Op::Rem, dim("H"), dim("G")), ast::integer(0));
  std::string text = toText(*divides);
  ast::ExprPtr some = binary(Op::Gt, dim("G"), ast::integer(0));
  ast::ExprPtr none = binary(Op::Eq, dim("H"), ast::integer(0));
  ast::ExprPtr condition =
      binary(Op::Or, std::move(none),
             binary(Op::And, std::move(some), std::move(divides)));
  const Expr *value = typeIn(Context::Require, *condition);
  if (!value->isConstant())
    item.requirements.push_back({text, value, keyHeads.range});
}

/// Checks one tensor against the axes that its name stands for, given by their
/// letters. The last axis is a head dim, checked by its value.
bool Sema::checkOperand(StringRef name, StringRef axes, Role role) {
  std::string wanted = declaration(name, axes);
  int number = item.findTensor(name);
  bool isInput = role == Role::Input;
  if (number < 0 || item.tensors[number].role != role) {
    if (!incomplete && !refused.contains(name))
      diagnostics.error(
          number < 0 ? base->name.range : item.tensors[number].range,
          "`" + base->name.text + "` has no " + (isInput ? "input" : "output") +
              " `" + name + "`; declare `" + wanted + "`" +
              (isInput ? "" : " after `->`"));
    return false;
  }
  const Tensor &tensor = item.tensors[number];
  if (tensor.extents.empty()) // reported where it is declared
    return false;
  if (tensor.extents.size() != axes.size()) {
    diagnostics.error(tensor.range, "`" + name + "` has " +
                                        llvm::Twine(tensor.extents.size()) +
                                        " dims, but expected " +
                                        llvm::Twine(axes.size()) + ": `" +
                                        wanted + "`");
    return false;
  }
  const ast::Tensor &written = *writtenTensors[number];
  bool ok = true;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const Extent &extent = tensor.extents[axis];
    if (extent.length->type == ElemType::Error)
      return false;
    StringRef letter = axes.substr(axis, 1);
    if (letter == "D" || letter == "E") {
      ok &= checkHeadDim(tensor, letter);
      continue;
    }
    if (extent.dim >= 0 && item.dims[extent.dim].name == letter)
      continue;
    Diagnostic &d = diagnostics.error(
        written.extents[axis]->range,
        "expected `" + letter + "` as axis " + llvm::Twine(axis) + " of `" +
            name + "`, but got `" + toText(*written.extents[axis]) +
            "`; write `" + wanted + "`");
    if (letter == "G")
      d.note(written.extents[axis]->range,
             "for as many key heads as query heads add `require G == H`");
    else
      d.note(written.extents[axis]->range,
             "this is the logical order; strides at launch give the layout");
    return false;
  }
  return ok;
}

/// A head dim is a constant, a multiple of 8 from 8 to 256, and the same in q
/// and k, and in v and o.
bool Sema::checkHeadDim(const Tensor &tensor, StringRef dim) {
  const ast::Tensor &writtenTensor =
      *writtenTensors[item.findTensor(tensor.name)];
  const ast::Expr &written = *writtenTensor.extents.back();
  const Expr &length = *tensor.extents.back().length;
  std::string text = toText(written);
  bool isFirst = tensor.name == "q" || tensor.name == "v";
  const Tensor *first = nullptr;
  if (!isFirst) {
    int number = item.findTensor(dim == "D" ? "q" : "v");
    if (number >= 0 && !item.tensors[number].extents.empty())
      first = &item.tensors[number];
  }
  if (!length.isConstant()) {
    // Once for a dim that several operands have.
    bool isReported = first && first->extents.back().length->kind == Expr::Dim;
    if (!incomplete && !isReported)
      diagnostics.error(written.range,
                        "head dim `" + text + "` of `" + tensor.name +
                            "` must be static; add `static " +
                            (length.kind == Expr::Dim ? text : dim.str()) +
                            " = 128`");
    return false;
  }
  int64_t value = length.integer;
  if (first && first->extents.back().length->isConstant() &&
      first->extents.back().length->integer != value) {
    diagnostics
        .error(written.range,
               "head dim of `" + tensor.name + "` is " + llvm::Twine(value) +
                   ", but that of `" + first->name + "` is " +
                   llvm::Twine(first->extents.back().length->integer))
        .note(first->range, "declared here");
    return false;
  }
  if (isFirst && (value < 8 || value > 256 || value % 8 != 0)) {
    int64_t nearest =
        std::min<int64_t>(256, value < 8 ? 8 : (value + 7) / 8 * 8);
    diagnostics.error(written.range,
                      "head dim `" + text + "` of `" + tensor.name + "` is " +
                          llvm::Twine(value) +
                          "; a head dim is a multiple of 8 from 8 to 256, the "
                          "nearest is " +
                          llvm::Twine(nearest));
    return false;
  }
  return true;
}

bool Sema::checkOutputs() {
  bool ok = true;
  for (const Tensor &tensor : item.tensors) {
    if (tensor.role != Role::Output || tensor.name == "o")
      continue;
    bool perRow = tensor.name == "lse" || tensor.extents.size() != 4;
    ok &= checkOperand(tensor.name, perRow ? "BHM" : "BHME", Role::Output);
  }
  return ok;
}

/// q, k, v and o have one type; it decides what everything is computed in.
bool Sema::checkElements() {
  unsigned before = diagnostics.errorCount();
  const Tensor &q = item.tensors[item.q.tensor];
  if (q.elem == ElemType::Error)
    return false;
  if (!isFloat(q.elem)) {
    diagnostics.error(q.range, "`q` holds " + elemTypeName(q.elem) +
                                   ", but expected f16, bf16, f32 or f64");
    return false;
  }
  if (q.elem == ElemType::F64)
    item.accumulator = ElemType::F64;
  int o = item.findTensor("o");
  for (unsigned number : {item.k.tensor, item.v.tensor, unsigned(o)}) {
    const Tensor &other = item.tensors[number];
    if (other.elem != q.elem && other.elem != ElemType::Error)
      diagnostics
          .error(other.range, "`" + other.name + "` holds " +
                                  elemTypeName(other.elem) +
                                  ", but `q` holds " + elemTypeName(q.elem) +
                                  "; q, k, v and o have one type")
          .note(q.range, "declared here");
  }
  bool isDouble = item.accumulator == ElemType::F64;
  for (const Tensor &tensor : item.tensors) {
    if (tensor.role != Role::Output || tensor.elem == ElemType::Error)
      continue;
    if (tensor.name == "lse" && tensor.elem != ElemType::F32 &&
        tensor.elem != item.accumulator)
      diagnostics.error(tensor.range,
                        "`lse` holds " + elemTypeName(tensor.elem) +
                            ", but expected f32" + (isDouble ? " or f64" : ""));
    else if (tensor.elem == ElemType::F64 && !isDouble)
      diagnostics.error(tensor.range, "`" + tensor.name +
                                          "` holds f64, but floats of this "
                                          "item are f32, because q is not f64");
  }
  return diagnostics.errorCount() == before;
}

/// The default definition of an operand: the tensor of its name.
Operand Sema::readOperand(StringRef name, llvm::ArrayRef<IndexVar> indices) {
  unsigned number = unsigned(item.findTensor(name));
  const Tensor &tensor = item.tensors[number];
  llvm::SmallVector<const Expr *> args;
  for (IndexVar v : indices) {
    Expr &index = node(Expr::Index, ElemType::I32, tensor.range);
    index.index = v;
    index.indices = uint8_t(1u << int(v));
    args.push_back(&index);
  }
  Expr &element = node(Expr::Lookup, item.accumulator, tensor.range);
  element.number = number;
  for (const Expr *arg : args) {
    element.args.push_back(arg);
    element.indices |= arg->indices;
  }
  return {&element, number};
}
