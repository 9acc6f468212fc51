//===- Setup.cpp - from a command line to numbers -------------------------===//
//
// Steps: the arguments are matched with the item's names; dims come from
// statics, files and sizes; scalars are read; requirements are checked; tensors
// are made.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Setup.h"
#include "tools/tegula/Evaluate.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Fill.h"
#include "tools/tegula/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>
#include <set>

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;

/// Largest length of an axis that a kernel takes.
static constexpr int64_t maxLength = int64_t(1) << 29;

namespace {
class Setup {
public:
  Setup(const Program &program, const SetupRequest &request)
      : program(program), item(program.item()), request(request) {}

  llvm::Expected<Problem> make();

private:
  llvm::Error checkNames();
  llvm::Error bindDims();
  llvm::Error bind(int dim, int64_t value, const Twine &source);
  llvm::Error bindFromFile(const lang::Tensor &tensor, StringRef path);
  llvm::Error readScalars();
  llvm::Error readScalar(const lang::Scalar &scalar, StringRef text,
                         ScalarValue &value);
  llvm::Error checkRequirements();
  llvm::Error makeTensor(unsigned number);
  llvm::Error fill(unsigned number, Tensor &tensor);
  llvm::Error fillWith(StringRef text, const lang::Tensor &declaration,
                       Tensor &tensor);
  bool isOperand(unsigned number) const;
  std::string operandNames(bool inputs) const;
  /// The --arg value of `name`, if there is one.
  const std::string *argument(StringRef name) const;

  const Program &program;
  const lang::Item &item;
  const SetupRequest &request;
  Problem problem;
  /// Where the value of a dim comes from, for messages.
  std::vector<std::string> sources;
};
} // namespace

const std::string *Setup::argument(StringRef name) const {
  for (const auto &pair : request.arguments)
    if (pair.first == name)
      return &pair.second;
  return nullptr;
}

std::string Setup::operandNames(bool inputs) const {
  std::vector<std::string> names;
  for (const lang::Argument &argument : item.signature)
    if (!argument.isTensor)
      names.push_back(item.scalars[argument.number].name);
    else if (!inputs || item.tensors[argument.number].role == lang::Role::Input)
      names.push_back(item.tensors[argument.number].name);
  return llvm::join(names, ", ");
}

llvm::Error Setup::checkNames() {
  for (const auto &[name, value] : request.arguments) {
    bool known = false;
    for (const lang::Argument &argument : item.signature) {
      if (!argument.isTensor) {
        known |= item.scalars[argument.number].name == name;
        continue;
      }
      const lang::Tensor &tensor = item.tensors[argument.number];
      if (tensor.name == name && tensor.role == lang::Role::Output)
        return usageError("--arg " + name + ": `" + name +
                          "` is an output; write it with --out " + name +
                          "=@file.npy");
      known |= tensor.name == name;
    }
    if (!known)
      return usageError("--arg " + name + ": `" + item.name +
                        "` has no such argument; it takes " +
                        operandNames(/*inputs=*/true));
  }
  return llvm::Error::success();
}

llvm::Error Setup::bind(int dim, int64_t value, const Twine &source) {
  const std::string &name = item.dims[dim].name;
  int64_t &bound = problem.dims[dim];
  if (bound >= 0 && bound != value)
    return userError("`" + name + "` is " + Twine(bound) + " by " +
                     sources[dim] + ", but " + Twine(value) + " by " + source);
  if (value > maxLength)
    return userError("`" + name + "` = " + Twine(value) +
                     " is above the largest length, 2^29");
  if (bound < 0)
    sources[dim] = source.str();
  bound = value;
  return llvm::Error::success();
}

/// The dim that an extent `X`, `X + 1` or `X - 1` gives its length, and what is
/// added to it there; -1 for another extent.
static std::pair<int, int64_t> boundDim(const lang::Extent &extent) {
  using lang::Expr;
  using lang::Op;
  const Expr *e = extent.length;
  int64_t offset = 0;
  if (e->kind == Expr::Operator && (e->op == Op::Add || e->op == Op::Sub)) {
    const Expr *a = e->args[0], *b = e->args[1];
    if (e->op == Op::Add && a->isConstant())
      std::swap(a, b);
    if (b->isConstant()) {
      offset = e->op == Op::Add ? b->integer : -b->integer;
      e = a;
    }
  }
  if (e->kind == Expr::Dim)
    return {static_cast<int>(e->number), offset};
  return {extent.dim, 0};
}

llvm::Error Setup::bindFromFile(const lang::Tensor &tensor, StringRef path) {
  auto shape = readNpyShape(path);
  if (!shape)
    return shape.takeError();
  if (shape->size() != tensor.extents.size())
    return userError(Twine(path) + ": expected " +
                     Twine(tensor.extents.size()) + " axes for `" +
                     tensor.name + "`, but got shape " + shapeText(*shape));
  for (auto [extent, length] : llvm::zip(tensor.extents, *shape)) {
    auto [dim, offset] = boundDim(extent);
    if (dim < 0)
      continue;
    if (length < offset)
      return userError("axis of length " + Twine(length) + " in the shape " +
                       shapeText(*shape) + " of " + path + " leaves `" +
                       item.dims[dim].name + "` no length");
    if (llvm::Error error =
            bind(dim, length - offset,
                 "the shape " + shapeText(*shape) + " of " + path))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Setup::bindDims() {
  problem.dims.assign(item.dims.size(), -1);
  sources.resize(item.dims.size());
  for (auto [number, dim] : llvm::enumerate(item.dims))
    if (dim.value)
      if (llvm::Error error = bind(number, *dim.value, "its static"))
        return error;
  for (const auto &[name, value] : request.sizes) {
    int dim = item.findDim(name);
    if (dim < 0) {
      std::vector<std::string> names;
      for (const lang::Dim &known : item.dims)
        if (!known.value)
          names.push_back(known.name);
      return usageError("--size " + name + ": `" + item.name +
                        "` has no such length; it has " +
                        llvm::join(names, ", "));
    }
    if (item.dims[dim].value && *item.dims[dim].value != value)
      return usageError("--size " + name + "=" + Twine(value) + ", but `" +
                        name + "` is static and " +
                        Twine(*item.dims[dim].value) + "; write -D " + name +
                        "=" + Twine(value));
    if (llvm::Error error = bind(dim, value, "--size"))
      return error;
  }
  for (const lang::Tensor &tensor : item.tensors)
    if (const std::string *value = argument(tensor.name);
        value && StringRef(*value).starts_with("@"))
      if (llvm::Error error = bindFromFile(tensor, value->substr(1)))
        return error;
  for (const auto &[name, value] : request.defaults)
    if (int dim = item.findDim(name); dim >= 0 && problem.dims[dim] < 0)
      if (llvm::Error error = bind(dim, value, "default"))
        return error;
  std::vector<std::string> missing, example;
  for (auto [number, dim] : llvm::enumerate(item.dims))
    if (problem.dims[number] < 0) {
      missing.push_back("`" + dim.name + "`");
      example.push_back(dim.name + "=...");
    }
  if (!missing.empty())
    return usageError("no length is given for " + llvm::join(missing, ", ") +
                      "; add --size " + llvm::join(example, ","));
  return llvm::Error::success();
}

llvm::Error Setup::readScalar(const lang::Scalar &scalar, StringRef text,
                              ScalarValue &value) {
  auto wrong = [&](const Twine &expected) {
    return usageError("expected " + expected + " for --arg " + scalar.name +
                      ", but got '" + text + "'");
  };
  if (text.starts_with("@"))
    return wrong("a number (`" + scalar.name + "` is a scalar)");
  switch (scalar.type) {
  case lang::ElemType::Bool:
    if (text != "true" && text != "false" && text != "1" && text != "0")
      return wrong("true or false");
    value.integer = text == "true" || text == "1";
    return llvm::Error::success();
  case lang::ElemType::F32:
  case lang::ElemType::F64:
    if (text.getAsDouble(value.real))
      return wrong("a number");
    if (scalar.type == lang::ElemType::F32)
      value.real = static_cast<float>(value.real);
    return llvm::Error::success();
  default:
    if (text.getAsInteger(0, value.integer))
      return wrong("an integer");
    unsigned bits = lang::integerBits(scalar.type);
    int64_t high = std::numeric_limits<int64_t>::max() >> (64 - bits);
    if (value.integer > high || value.integer < -high - 1)
      return wrong("a value that fits " +
                   Twine(StringRef(lang::elemTypeName(scalar.type))));
    return llvm::Error::success();
  }
}

llvm::Error Setup::readScalars() {
  problem.scalars.resize(item.scalars.size());
  std::vector<std::string> missing;
  for (const lang::Argument &each : item.signature) {
    if (each.isTensor)
      continue;
    const lang::Scalar &scalar = item.scalars[each.number];
    const std::string *text = argument(scalar.name);
    if (!text) {
      missing.push_back("--arg " + scalar.name + "=VALUE (" +
                        lang::elemTypeName(scalar.type).str() + ")");
      continue;
    }
    if (llvm::Error error =
            readScalar(scalar, *text, problem.scalars[each.number]))
      return error;
  }
  if (!missing.empty())
    return usageError("`" + item.name + "` needs " +
                      llvm::join(missing, " and "));
  return llvm::Error::success();
}

/// Adds the names and values of what `expr` reads.
static void collectValues(const Problem &problem, const lang::Expr &expr,
                          std::set<std::string> &values) {
  const lang::Item &item = *problem.item;
  if (expr.kind == lang::Expr::Dim)
    values.insert(item.dims[expr.number].name + " = " +
                  std::to_string(problem.dims[expr.number]));
  if (expr.kind == lang::Expr::Scalar) {
    const ScalarValue &value = problem.scalars[expr.number];
    values.insert(item.scalars[expr.number].name + " = " +
                  (lang::isFloat(item.scalars[expr.number].type)
                       ? llvm::formatv("{0}", value.real).str()
                       : std::to_string(value.integer)));
  }
  if (expr.kind == lang::Expr::Let)
    collectValues(problem, *item.lets[expr.number].value, values);
  for (const lang::Expr *arg : expr.args)
    collectValues(problem, *arg, values);
}

llvm::Error Setup::checkRequirements() {
  int64_t heads = problem.dim("H"), keyHeads = problem.dim("G");
  if (!item.program && (keyHeads == 0 ? heads != 0 : heads % keyHeads != 0))
    return userError("expected H (query heads) to be a multiple of G "
                     "(key/value heads), but got H = " +
                     Twine(heads) + ", G = " + Twine(keyHeads));
  for (const lang::Requirement &requirement : item.requirements) {
    if (evaluateOnHost(problem, *requirement.value))
      continue;
    std::set<std::string> values;
    collectValues(problem, *requirement.value, values);
    std::string place = program.place(requirement.range);
    return userError("`require " + requirement.text +
                     "` does not hold: " + llvm::join(values, ", ") +
                     (place.empty() ? "" : " (" + place + ")"));
  }
  return llvm::Error::success();
}

bool Setup::isOperand(unsigned number) const {
  if (item.program)
    return false;
  return number == item.q.tensor || number == item.k.tensor ||
         number == item.v.tensor ||
         item.tensors[number].role == lang::Role::Output;
}

llvm::Error Setup::fillWith(StringRef text, const lang::Tensor &declaration,
                            Tensor &tensor) {
  double real = 0;
  int64_t integer = 0;
  bool isReal = rt::isFloat(tensor.type());
  if (text == "true" || text == "false")
    integer = text == "true";
  else if (isReal ? text.getAsDouble(real) : text.getAsInteger(0, integer))
    return usageError("expected @file.npy or one " +
                      Twine(isReal ? "number" : "integer") + " for --arg " +
                      declaration.name + ", but got '" + text + "'");
  for (int64_t offset = 0; offset < tensor.size(); ++offset)
    if (isReal)
      tensor.setReal(offset, real);
    else
      tensor.setInteger(offset, integer);
  return llvm::Error::success();
}

/// The range that an integer table without a declared one is filled from: a
/// few ids where they are sorted, else positions and lengths (N included).
static void setDefaultRange(const Problem &problem, const Tensor &tensor,
                            FillRule &rule) {
  if (rt::isFloat(tensor.type()) || tensor.type() == ElementType::boolean)
    return;
  auto keys = static_cast<double>(problem.dim("N"));
  double high = rule.sorted ? std::floor(std::sqrt(keys)) : keys + 1;
  if (elementSize(tensor.type()) == 1)
    high = std::min(high, 128.0);
  rule.hasRange = true;
  rule.high = std::max(high, 1.0);
}

llvm::Error Setup::fill(unsigned number, Tensor &tensor) {
  const lang::Tensor &declaration = item.tensors[number];
  const std::string *text = argument(declaration.name);
  if (text && StringRef(*text).starts_with("@"))
    return readNpy(text->substr(1), declaration.name, tensor);
  if (text)
    return fillWith(*text, declaration, tensor);
  FillRule rule;
  rule.seed = request.seed;
  rule.sorted = declaration.sorted;
  setDefaultRange(problem, tensor, rule);
  if (declaration.low && declaration.high) {
    auto bound = [&](const lang::Expr &expr) {
      return lang::isFloat(expr.type)
                 ? evaluateRealOnHost(problem, expr)
                 : static_cast<double>(evaluateOnHost(problem, expr));
    };
    rule.hasRange = true;
    rule.low = bound(*declaration.low);
    rule.high = bound(*declaration.high);
  }
  fillTensor(tensor, declaration.name, rule);
  return llvm::Error::success();
}

llvm::Error Setup::makeTensor(unsigned number) {
  const lang::Tensor &declaration = item.tensors[number];
  llvm::SmallVector<int64_t, 4> shape;
  for (const lang::Extent &extent : declaration.extents) {
    int64_t length = evaluateOnHost(problem, *extent.length);
    if (length < 0 || length > maxLength)
      return userError("extent " + Twine(shape.size()) + " of `" +
                       declaration.name + "` is " + Twine(length) +
                       "; expected 0 to 2^29");
    shape.push_back(length);
  }
  if (request.tensors && !request.tensors->count(declaration.name)) {
    auto stand =
        Tensor::createStrided(elementTypeOf(declaration.elem), shape,
                              llvm::SmallVector<int64_t>(shape.size(), 0));
    if (!stand)
      return stand.takeError();
    problem.tensors[number] = std::move(*stand);
    return llvm::Error::success();
  }
  double bytes = elementSize(elementTypeOf(declaration.elem));
  for (int64_t length : shape)
    bytes *= static_cast<double>(length);
  if (request.maxTensorBytes &&
      bytes > static_cast<double>(request.maxTensorBytes))
    return lackingError("`" + declaration.name + "` of shape " +
                        shapeText(shape) + " is too large");
  Layout layout = isOperand(number) ? request.layout : Layout::bhsd;
  auto tensor = Tensor::create(elementTypeOf(declaration.elem), shape,
                               axisOrder(layout, shape.size()));
  if (!tensor)
    return tensor.takeError();
  if (declaration.role == lang::Role::Output)
    tensor->poison();
  else if (llvm::Error error = fill(number, *tensor))
    return error;
  problem.tensors[number] = std::move(*tensor);
  return llvm::Error::success();
}

llvm::Expected<Problem> Setup::make() {
  problem.item = &item;
  problem.logitOffset = request.logitOffset;
  if (llvm::Error error = checkNames())
    return error;
  if (llvm::Error error = bindDims())
    return error;
  if (llvm::Error error = readScalars())
    return error;
  if (llvm::Error error = checkRequirements())
    return error;
  problem.tensors.resize(item.tensors.size()); // what is not read stays empty
  for (const lang::Argument &each : item.signature)
    if (each.isTensor)
      if (llvm::Error error = makeTensor(each.number))
        return error;
  return std::move(problem);
}

llvm::Expected<Problem> tegula::tool::setUp(const Program &program,
                                            const SetupRequest &request) {
  return Setup(program, request).make();
}
