//===- SemaTileFn.cpp - calls of functions in a tile program --------------===//
//
// A `fn` is inlined: its body is typed afresh with the arguments of each call.
//
//===----------------------------------------------------------------------===//
#include "lang/SemaKernelImpl.h"

using namespace tegula::lang;
using llvm::SMRange;
using llvm::StringRef;

static constexpr size_t maxFrames = 100;

const Term *KernelSema::typeTileFnCall(const ast::Expr &e, const ast::Fn &fn) {
  Terms args;
  Written written;
  for (const ast::ExprPtr &arg : e.args) {
    args.push_back(typeTile(*arg));
    written.push_back(arg.get());
  }
  for (const ast::Name &name : e.argNames)
    if (!name.text.empty()) {
      report(name.range, "the arguments of a `fn` are given in order, "
                         "without names");
      return errorValue();
    }
  return inlineFn(fn, args, written, e);
}

/// The argument as its parameter declares it.
const Term *KernelSema::bindParameter(const ast::Fn &fn,
                                      const ast::Tensor &param,
                                      const Term *value,
                                      const ast::Expr &written) {
  if (value->type.isError() || param.elem.text.empty())
    return value;
  ElemType declared = resolveElem(param.elem);
  if (declared == ElemType::Error)
    return errorValue();
  ElemType given = value->type.elem;
  bool sameKind = isFloat(declared)     ? isFloat(given) || isInteger(given)
                  : isInteger(declared) ? isInteger(given)
                                        : given == ElemType::Bool;
  bool sameRank =
      !value->type.isState &&
      (!param.isTensor || param.extents.size() == value->type.rank());
  if (!sameKind || !sameRank) {
    report(written.range,
           "parameter `" + param.name.text + "` of `" + fn.name.text + "` is " +
               param.elem.text +
               (param.isTensor
                    ? " of rank " + std::to_string(param.extents.size())
                    : "") +
               ", but got " + describe(*value))
        .note(param.name.range, "declared here");
    return errorValue();
  }
  return isFloat(declared) ? asFloat(value, written, declared) : value;
}

const Term *KernelSema::inlineFn(const ast::Fn &fn, const Terms &args,
                                 const Written &written,
                                 const ast::Expr &call) {
  for (const Frame &frame : frames)
    if (frame.fn == &fn) {
      report(call.nameRange, "`" + fn.name.text +
                                 "` calls itself, and recursion is not in the "
                                 "language; use `for` with `if`")
          .note(fn.name.range, "defined here");
      return errorValue();
    }
  if (frames.size() >= maxFrames) {
    report(call.range,
           "calls are nested more than " + llvm::Twine(maxFrames) + " deep");
    return errorValue();
  }
  if (args.size() != fn.params.size()) {
    report(call.range,
           "`" + fn.name.text + "` takes " + llvm::Twine(fn.params.size()) +
               (fn.params.size() == 1 ? " argument" : " arguments") +
               ", but got " + llvm::Twine(args.size()))
        .note(fn.name.range, "defined here");
    return errorValue();
  }
  Frame frame{&fn, call.nameRange, {}};
  for (size_t i = 0; i < args.size(); ++i) {
    const Term *value = bindParameter(fn, fn.params[i], args[i], *written[i]);
    if (value->type.isError())
      return errorValue();
    frame.names[fn.params[i].name.text] = value;
  }
  frames.push_back(std::move(frame));
  for (const ast::Fn::Let &let : fn.lets) {
    const Term *value = let.value ? typeTile(*let.value) : errorValue();
    frames.back().names[let.name.text] = value;
  }
  const Term *result = fn.result ? typeTile(*fn.result) : errorValue();
  frames.pop_back();
  return result;
}
