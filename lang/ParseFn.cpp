//===- ParseFn.cpp - functions --------------------------------------------===//
//
// `fn NAME(params) = expr`, or a body of lets that ends in `return expr`. The
// body has no meaning of its own: each item types it with the arguments of a
// call.
//
//===----------------------------------------------------------------------===//
#include "lang/ParserImpl.h"

using namespace tegula::lang;
using namespace tegula::lang::ast;

void Parser::parseFn(File &file) {
  take();
  Fn fn;
  fn.name = parseName("a name for this fn");
  if (panicking)
    return;
  parseParameters(fn);
  const Token &next = peek();
  if (takeIf("="))
    fn.result = parseExpr();
  else if (!panicking && next.is("{"))
    parseBody(fn);
  else
    errorExpected("`=` and the value, or `{`");
  // A broken body keeps its name, so that a call adds no message.
  if (panicking) {
    fn.lets.clear();
    fn.result = std::make_unique<Expr>();
  }
  file.add(std::move(fn));
}

void Parser::parseParameters(Fn &fn) {
  const Token &open = peek();
  if (!expect("(", " and the parameters"))
    return;
  if (!peek().is(")"))
    list([&] {
      Tensor param;
      param.name = parseName("the name of a parameter");
      if (takeIf(":"))
        parseType(param);
      fn.params.push_back(std::move(param));
    });
  if (!panicking)
    expect(")", "", &open);
}

void Parser::parseBody(Fn &fn) {
  const Token &open = take();
  while (!panicking && !peek().is("return")) {
    if (takeIf(";"))
      continue;
    if (!takeIf("let")) {
      errorExpected("`let`, or `return` and the value");
      return;
    }
    Fn::Let let;
    let.name = parseName("a name");
    if (!panicking && expect("=", " and the value"))
      let.value = parseExpr();
    fn.lets.push_back(std::move(let));
  }
  takeIf("return");
  if (!panicking)
    fn.result = parseExpr();
  while (takeIf(";"))
    ;
  if (!panicking)
    expect("}", "", &open);
}
