//===- ParseExpressions.cpp - Tokens and expressions ----------------------===//

#include "Syntax/ParserImpl.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;
using ast::ExpressionPtr;

/// The most levels of an expression, which bounds every recursion over syntax
/// trees.
static constexpr unsigned kMaxDepth = 256;
static constexpr size_t kMaxListLength = 65536;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void Parser::advance() {
  previousEnd = token.getRange().End;
  token = lexer.lex();
}

bool Parser::accept(TokenKind kind) {
  if (!token.is(kind))
    return false;
  advance();
  return true;
}

/// Returns a string in the rest of the line that lacks its closing quote; empty
/// if there is none. Often it is an earlier string that lacks the quote, and
/// ends where a later one was meant to begin.
llvm::StringRef Parser::findOpenString() const {
  const char *end = text.end();
  size_t length = text.find('\n', token.text.begin() - text.begin());
  if (length != llvm::StringRef::npos)
    end = text.begin() + length;
  Lexer ahead(llvm::StringRef(token.text.begin(), end - token.text.begin()),
              nullptr);
  while (!ahead.lex().is(TokenKind::endOfFile))
    ;
  return ahead.getOpenString();
}

void Parser::reportUnexpected(const llvm::Twine &expected,
                              const llvm::Twine &hint) {
  // If the token follows a string without closing quote, report nothing more:
  // the string was reported.
  llvm::StringRef open = lexer.getOpenString();
  if (abandoned || (!open.empty() && open.end() == previousEnd.getPointer()))
    return;
  open = findOpenString();
  if (!open.empty())
    return lexer.reportOpenString(open);
  std::string got = token.is(TokenKind::endOfFile) ? std::string("the end")
                    : token.is(TokenKind::string)
                        ? token.text.take_front(40).str()
                        : "'" + token.text.take_front(40).str() + "'";
  diagnostics.error(token.getRange(), "expected " + expected + ", got " + got,
                    hint);
}

bool Parser::expect(TokenKind kind, const llvm::Twine &context,
                    const llvm::Twine &hint) {
  if (accept(kind))
    return true;
  reportUnexpected(describe(kind) + " " + context, hint);
  return false;
}

bool Parser::expectEnd() {
  if (token.is(TokenKind::endOfFile))
    return true;
  reportUnexpected("the end", "values are separated by ','");
  return false;
}

bool Parser::isFirstOnLine() const {
  const char *c = token.text.begin();
  while (c != text.begin() && (c[-1] == ' ' || c[-1] == '\t'))
    --c;
  return c == text.begin() || c[-1] == '\n' || c[-1] == '\r';
}

void Parser::skipTo(llvm::function_ref<bool()> mayBegin) {
  lexer.setReporting(false);
  while (!token.is(TokenKind::endOfFile) && !mayBegin())
    advance();
  lexer.setReporting(true);
}

bool Parser::parseIdentifier(ast::Identifier &identifier,
                             const llvm::Twine &what) {
  if (!token.is(TokenKind::identifier)) {
    reportUnexpected(what, "names begin with a letter or '_'");
    return false;
  }
  identifier = {token.text.str(), token.getRange()};
  advance();
  return true;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

bool Parser::checkDepth(const ast::Expression &expression) {
  if (expression.depth <= kMaxDepth)
    return true;
  diagnostics.error({expression.getRange().Start, expression.getRange().Start},
                    "expression of more than " + llvm::Twine(kMaxDepth) +
                        " levels",
                    "name intermediate values");
  return false;
}

ExpressionPtr Parser::parseExpression() {
  if (nesting == kMaxDepth) {
    diagnostics.error(token.getRange(),
                      "expression of more than " + llvm::Twine(kMaxDepth) +
                          " levels",
                      "name intermediate values");
    // The tokens that follow are nested as deeply, so report nothing more.
    abandoned = true;
    skipTo([] { return false; });
    return nullptr;
  }
  ++nesting;
  ExpressionPtr expression = parseSum();
  --nesting;
  return expression;
}

ExpressionPtr
Parser::parseBinary(llvm::function_ref<ExpressionPtr()> parseOperand,
                    TokenKind first, TokenKind second) {
  ExpressionPtr lhs = parseOperand();
  while (lhs && (token.is(first) || token.is(second))) {
    Token operation = token;
    advance();
    ExpressionPtr rhs = parseOperand();
    if (!rhs)
      return nullptr;
    auto binary = std::make_unique<ast::BinaryExpression>(
        llvm::SMRange(lhs->getRange().Start, rhs->getRange().End));
    binary->depth = 1 + std::max(lhs->depth, rhs->depth);
    binary->operation = operation.text.front();
    binary->operationRange = operation.getRange();
    binary->lhs = std::move(lhs);
    binary->rhs = std::move(rhs);
    if (!checkDepth(*binary))
      return nullptr;
    lhs = std::move(binary);
  }
  return lhs;
}

ExpressionPtr Parser::parseSum() {
  return parseBinary([this] { return parseProduct(); }, TokenKind::plus,
                     TokenKind::minus);
}

ExpressionPtr Parser::parseProduct() {
  return parseBinary([this] { return parseUnary(); }, TokenKind::star,
                     TokenKind::slash);
}

ExpressionPtr Parser::parseUnary() {
  llvm::SMLoc start = token.getRange().Start;
  bool negative = false;
  bool any = false;
  while (token.is(TokenKind::minus)) {
    negative = !negative;
    any = true;
    advance();
  }
  ExpressionPtr operand = parsePrimary();
  if (!operand || !any)
    return operand;
  auto negation = std::make_unique<ast::NegationExpression>(
      llvm::SMRange(start, operand->getRange().End));
  negation->depth = 1 + operand->depth;
  negation->operand = std::move(operand);
  if (!checkDepth(*negation))
    return nullptr;
  if (negative)
    return negation;
  return std::move(negation->operand);
}

ExpressionPtr Parser::parsePrimary() {
  switch (token.kind) {
  case TokenKind::integer:
  case TokenKind::real:
  case TokenKind::size:
    return parseNumber();
  case TokenKind::string:
    return parseString();
  case TokenKind::identifier:
    return parseNameOrCall();
  case TokenKind::leftBracket:
    return parseList();
  case TokenKind::leftParenthesis: {
    advance();
    ExpressionPtr inner = parseExpression();
    if (!inner || !expect(TokenKind::rightParenthesis, "after the expression",
                          "close the '('"))
      return nullptr;
    return inner;
  }
  default:
    reportUnexpected("a value", "a number, a name, a string, a list or a call");
    return nullptr;
  }
}

/// Parses a size such as "64MiB". Reports an error if it isn't a whole number
/// of bytes.
ExpressionPtr Parser::parseSize() {
  auto number = std::make_unique<ast::NumberExpression>(token.getRange());
  llvm::StringRef unit = token.text.take_back(3);
  double count = 0;
  token.text.drop_back(3).getAsDouble(count);
  number->isSize = true;
  number->value = count * static_cast<double>(*getUnit(unit));
  if (number->value < 0x1p62 && number->value == std::floor(number->value))
    number->integer = static_cast<int64_t>(number->value);
  else
    diagnostics.error(token.getRange(), "size out of range",
                      "a size is a whole number of bytes below 4194304TiB");
  advance();
  return number;
}

ExpressionPtr Parser::parseNumber() {
  if (token.is(TokenKind::size))
    return parseSize();
  auto number = std::make_unique<ast::NumberExpression>(token.getRange());
  if (token.is(TokenKind::integer)) {
    int64_t integer;
    if (token.text.getAsInteger(10, integer)) {
      diagnostics.error(token.getRange(), "whole number out of range",
                        "the largest is 9223372036854775807");
      integer = 0;
    }
    number->integer = integer;
    number->value = static_cast<double>(integer);
  } else {
    llvm::APFloat value(llvm::APFloat::IEEEdouble());
    llvm::Expected<llvm::APFloat::opStatus> status =
        value.convertFromString(token.text, llvm::APFloat::rmNearestTiesToEven);
    if (!status)
      llvm::consumeError(status.takeError());
    else
      number->value = value.convertToDouble();
    if (!value.isFinite()) {
      diagnostics.error(token.getRange(), "number out of range",
                        "the largest is 1.797e308");
      number->value = 0;
    }
  }
  advance();
  return number;
}

ExpressionPtr Parser::parseString() {
  auto string = std::make_unique<ast::StringExpression>(token.getRange());
  llvm::StringRef body = token.text.drop_front();
  body.consume_back("\"");
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '\\' && i + 1 < body.size())
      ++i;
    if (body[i] == '\0') {
      diagnostics.error(token.getRange(), "string with a zero byte",
                        "remove it");
      break;
    }
    string->value += body[i];
  }
  advance();
  return string;
}

ExpressionPtr Parser::parseList() {
  auto list = std::make_unique<ast::ListExpression>(token.getRange());
  advance();
  while (!token.is(TokenKind::rightBracket)) {
    ExpressionPtr element = parseExpression();
    if (!element)
      return nullptr;
    list->depth = std::max(list->depth, 1 + element->depth);
    list->elements.push_back(std::move(element));
    if (list->elements.size() > kMaxListLength) {
      diagnostics.error(list->getRange(),
                        "list of more than " + llvm::Twine(kMaxListLength) +
                            " elements",
                        "split the job");
      return nullptr;
    }
    if (!accept(TokenKind::comma))
      break;
  }
  if (!expect(TokenKind::rightBracket, "or ',' after an element of the list",
              "lists look like [1, 2]"))
    return nullptr;
  list->setEnd(previousEnd);
  if (!checkDepth(*list))
    return nullptr;
  return list;
}

ExpressionPtr Parser::parseNameOrCall() {
  ast::Identifier identifier{token.text.str(), token.getRange()};
  advance();
  if (token.is(TokenKind::dot)) {
    auto member = std::make_unique<ast::MemberExpression>(identifier.range);
    member->object = std::move(identifier);
    return parseMember(std::move(member));
  }
  if (!token.is(TokenKind::leftParenthesis)) {
    auto name = std::make_unique<ast::NameExpression>(identifier.range);
    name->name = std::move(identifier.name);
    return name;
  }
  auto call = std::make_unique<ast::CallExpression>(identifier.range);
  call->callee = std::move(identifier);
  advance();
  if (!parseArguments(call->arguments, TokenKind::rightParenthesis))
    return nullptr;
  call->setEnd(previousEnd);
  for (const ast::Argument &argument : call->arguments)
    call->depth = std::max(call->depth, 1 + argument.value->depth);
  if (!checkDepth(*call))
    return nullptr;
  if (!token.is(TokenKind::dot))
    return call;
  auto member = std::make_unique<ast::MemberExpression>(call->getRange());
  member->depth = call->depth;
  member->call = std::move(call);
  return parseMember(std::move(member));
}

/// Parses the rest of an access, from the point on.
ExpressionPtr
Parser::parseMember(std::unique_ptr<ast::MemberExpression> member) {
  advance();
  if (token.is(TokenKind::string)) {
    member->member.range = token.getRange();
    ExpressionPtr string = parseString();
    member->member.name = llvm::cast<ast::StringExpression>(*string).value;
  } else if (!parseIdentifier(member->member, "an output's name after '.'")) {
    return nullptr;
  }
  member->setEnd(previousEnd);
  return member;
}

bool Parser::parseArgument(ast::Argument &argument) {
  if (lexer.peek().is(TokenKind::equal) &&
      (token.is(TokenKind::identifier) || token.is(TokenKind::string))) {
    argument.name = {token.text.trim('"').str(), token.getRange()};
    advance();
    advance();
  }
  argument.value = parseExpression();
  return argument.value != nullptr;
}

bool Parser::parseArguments(std::vector<ast::Argument> &arguments,
                            TokenKind end) {
  while (!token.is(end)) {
    ast::Argument argument;
    if (!parseArgument(argument))
      return false;
    arguments.push_back(std::move(argument));
    if (!accept(TokenKind::comma))
      break;
  }
  return expect(end, "or ',' after an argument",
                "arguments look like (a, name = b)");
}

bool Parser::parseClauseArguments(ast::Clause &clause, bool toEnd) {
  do {
    ast::Argument argument;
    if (!parseArgument(argument))
      return false;
    clause.arguments.push_back(std::move(argument));
  } while (accept(TokenKind::comma));
  clause.range.End = previousEnd;
  return !toEnd || expectEnd();
}
