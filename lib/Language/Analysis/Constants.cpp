//===- Constants.cpp - Evaluates constant expressions ---------------------===//

#include "Analysis/Arguments.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;
using llvm::isa;

std::string language::printShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::interleave(
      shape, [&](int64_t size) { text += std::to_string(size); },
      [&] { text += ", "; });
  return text + "]";
}

static llvm::StringRef describeKind(const ast::Expression &expression) {
  switch (expression.getKind()) {
  case ast::Expression::Kind::string:
    return "a string";
  case ast::Expression::Kind::list:
    return "a list";
  case ast::Expression::Kind::call:
    return "a call";
  case ast::Expression::Kind::member:
    return "an output of a model";
  case ast::Expression::Kind::name:
    return "a name";
  case ast::Expression::Kind::number:
    return "a number";
  default:
    return "an expression";
  }
}

bool language::isDistribution(const ast::Expression &expression) {
  auto *call = llvm::dyn_cast<ast::CallExpression>(&expression);
  return call && findByName(getDistributions(), call->callee.name);
}

bool language::checkChoices(const ast::CallExpression &choice,
                            const llvm::Twine &single,
                            JobDiagnostics &diagnostics) {
  for (const ast::Argument &argument : choice.arguments)
    if (argument.name) {
      diagnostics.error(argument.getRange(), "'choice' takes only values",
                        "for example choice(1e-3, 1e-2)");
      return false;
    }
  if (choice.arguments.size() >= 2)
    return true;
  diagnostics.error(choice.getRange(),
                    "'choice' needs at least two values, got " +
                        llvm::Twine(choice.arguments.size()),
                    "one value for all trials stands alone: " + single);
  return false;
}

/// Reports a distribution of something that has one value in a program. A
/// choice of it would have been replaced (Packing.h) if that was possible.
static void refuseDistribution(const ast::Expression &expression,
                               llvm::StringRef what,
                               JobDiagnostics &diagnostics) {
  bool isChoice =
      llvm::cast<ast::CallExpression>(expression).callee.name == kChoice;
  diagnostics.error(expression.getRange(),
                    isChoice ? "'" + what + "' can't be chosen by a search"
                             : "'" + what + "' can't be drawn from a range",
                    isChoice ? "docs/search.md lists what can vary"
                             : "choice(...) may choose among a few values");
}

/// Reports a distribution that is only a part of a value.
static void refusePart(const ast::Expression &expression, llvm::StringRef what,
                       JobDiagnostics &diagnostics) {
  diagnostics.error(expression.getRange(),
                    "a distribution is the whole value of '" + what + "'",
                    "for example " + what + " = uniform(0.1, 0.2)");
}

std::optional<Number> ConstantReader::readName(const ast::NameExpression &name,
                                               llvm::StringRef what) const {
  std::vector<llvm::StringRef> known;
  if (names) {
    auto found = names->find(name.name);
    if (found != names->end())
      return Number::of(found->second);
    for (const auto &entry : *names)
      known.push_back(entry.getKey());
    llvm::sort(known);
  }
  diagnostics.error(
      name.getRange(),
      "'" + what + "' is a number, but '" + name.name + "' is a name",
      known.empty() ? "numbers look like 1, 0.5 or 1e-3"
                    : suggest(name.name, known, "names of sizes are"));
  return std::nullopt;
}

std::optional<Number>
ConstantReader::readBinary(const ast::BinaryExpression &binary,
                           llvm::StringRef what) const {
  for (const ast::Expression *side : {binary.lhs.get(), binary.rhs.get()})
    if (isDistribution(*side)) {
      refusePart(*side, what, diagnostics);
      return std::nullopt;
    }
  std::optional<Number> lhs = readNumber(*binary.lhs, what);
  std::optional<Number> rhs = readNumber(*binary.rhs, what);
  if (!lhs || !rhs)
    return std::nullopt;
  Number result;
  int64_t integer = 0;
  bool whole = lhs->integer && rhs->integer;
  bool overflow = false;
  switch (binary.operation) {
  case '+':
    result.value = lhs->value + rhs->value;
    overflow =
        whole && llvm::AddOverflow(*lhs->integer, *rhs->integer, integer);
    break;
  case '-':
    result.value = lhs->value - rhs->value;
    overflow =
        whole && llvm::SubOverflow(*lhs->integer, *rhs->integer, integer);
    break;
  case '*':
    result.value = lhs->value * rhs->value;
    overflow =
        whole && llvm::MulOverflow(*lhs->integer, *rhs->integer, integer);
    break;
  default:
    result.value = lhs->value / rhs->value;
    // INT64_MIN / -1 overflows, so no remainder is computed.
    whole = whole && *rhs->integer != 0 &&
            !(*lhs->integer == INT64_MIN && *rhs->integer == -1) &&
            *lhs->integer % *rhs->integer == 0;
    if (whole)
      integer = *lhs->integer / *rhs->integer;
    break;
  }
  if (overflow || !std::isfinite(result.value)) {
    diagnostics.error(binary.getRange(), "the result is out of range",
                      "compute with smaller numbers");
    return std::nullopt;
  }
  if (whole)
    result.integer = integer;
  return result;
}

std::optional<Number>
ConstantReader::readNumber(const ast::Expression &expression,
                           llvm::StringRef what) const {
  if (auto *number = llvm::dyn_cast<ast::NumberExpression>(&expression)) {
    if (!number->isSize || takesSizes)
      return Number{number->value, number->integer};
    diagnostics.error(number->getRange(),
                      "'" + what + "' is a number, not a size in bytes",
                      "write a number without a unit");
    return std::nullopt;
  }
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression))
    return readName(*name, what);
  if (auto *binary = llvm::dyn_cast<ast::BinaryExpression>(&expression))
    return readBinary(*binary, what);
  if (auto *negation = llvm::dyn_cast<ast::NegationExpression>(&expression)) {
    std::optional<Number> number = readNumber(*negation->operand, what);
    if (!number)
      return std::nullopt;
    number->value = -number->value;
    if (number->integer && *number->integer == INT64_MIN)
      number->integer.reset();
    else if (number->integer)
      number->integer = -*number->integer;
    return number;
  }
  if (isDistribution(expression)) {
    refuseDistribution(expression, what, diagnostics);
    return std::nullopt;
  }
  diagnostics.error(expression.getRange(),
                    "'" + what + "' is one number, got " +
                        describeKind(expression),
                    isa<ast::ListExpression>(expression)
                        ? "only a setting that may differ between copies takes "
                          "a list, as its whole value"
                        : "numbers look like 1, 0.5 or 1e-3");
  return std::nullopt;
}

std::optional<int64_t>
ConstantReader::readInteger(const ast::Expression &expression,
                            llvm::StringRef what, int64_t least,
                            int64_t most) const {
  std::optional<Number> number = readNumber(expression, what);
  if (!number)
    return std::nullopt;
  if (!number->integer) {
    diagnostics.error(expression.getRange(),
                      "'" + what + "' is a whole number, got " +
                          printNumber(number->value),
                      "write it without a point or exponent");
    return std::nullopt;
  }
  if (*number->integer < least || *number->integer > most) {
    diagnostics.error(
        expression.getRange(),
        "'" + what + "' is out of range, got " + llvm::Twine(*number->integer),
        "it is from " + llvm::Twine(least) + " to " + llvm::Twine(most));
    return std::nullopt;
  }
  return number->integer;
}

std::optional<int64_t>
ConstantReader::readSize(const ast::Expression &expression,
                         llvm::StringRef what, int64_t least,
                         int64_t most) const {
  ConstantReader reader = *this;
  reader.takesSizes = true;
  // A whole number that is written as a float, such as 4e6, is a size too.
  auto *number = llvm::dyn_cast<ast::NumberExpression>(&expression);
  if (number && !number->integer &&
      number->value == std::floor(number->value) &&
      std::abs(number->value) < 0x1p53) {
    auto whole = static_cast<int64_t>(number->value);
    if (whole >= least && whole <= most)
      return whole;
  }
  return reader.readInteger(expression, what, least, most);
}

std::optional<bool> ConstantReader::readBool(const ast::Expression &expression,
                                             llvm::StringRef what) const {
  static const llvm::StringRef words[] = {"true", "false"};
  std::optional<llvm::StringRef> word = readWord(expression, what, words);
  if (!word)
    return std::nullopt;
  return *word == "true";
}

std::optional<std::string>
ConstantReader::readString(const ast::Expression &expression,
                           llvm::StringRef what) const {
  auto *string = llvm::dyn_cast<ast::StringExpression>(&expression);
  if (string && !string->value.empty())
    return string->value;
  if (isDistribution(expression)) {
    refuseDistribution(expression, what, diagnostics);
    return std::nullopt;
  }
  diagnostics.error(expression.getRange(),
                    string ? "'" + what + "' is empty"
                           : "'" + what + "' is a string",
                    string ? "give a name" : "strings stand in double quotes");
  return std::nullopt;
}

std::optional<llvm::StringRef>
ConstantReader::readWord(const ast::Expression &expression,
                         llvm::StringRef what,
                         llvm::ArrayRef<llvm::StringRef> words) const {
  auto *name = llvm::dyn_cast<ast::NameExpression>(&expression);
  if (name && llvm::is_contained(words, name->name))
    return llvm::StringRef(name->name);
  if (isDistribution(expression)) {
    refuseDistribution(expression, what, diagnostics);
    return std::nullopt;
  }
  diagnostics.error(expression.getRange(),
                    name ? "unknown " + what + " '" + name->name + "'"
                         : "'" + what + "' is a word, got " +
                               describeKind(expression),
                    suggest(name ? name->name : "", words, "words are"));
  return std::nullopt;
}

std::optional<std::vector<Number>>
ConstantReader::readNumbers(const ast::Expression &expression,
                            llvm::StringRef what) const {
  std::vector<Number> numbers;
  auto *list = llvm::dyn_cast<ast::ListExpression>(&expression);
  if (!list) {
    std::optional<Number> number = readNumber(expression, what);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
    return numbers;
  }
  if (list->elements.empty()) {
    diagnostics.error(list->getRange(), "the list of '" + what + "' is empty",
                      "lists look like [1, 2]");
    return std::nullopt;
  }
  bool ok = true;
  for (const ast::ExpressionPtr &element : list->elements) {
    if (isDistribution(*element)) {
      refusePart(*element, what, diagnostics);
      return std::nullopt;
    }
    std::optional<Number> number = readNumber(*element, what);
    ok &= number.has_value();
    numbers.push_back(number.value_or(Number()));
  }
  if (!ok)
    return std::nullopt;
  return numbers;
}

std::optional<std::vector<int64_t>>
ConstantReader::readIntegers(const ast::Expression &expression,
                             llvm::StringRef what, int64_t least,
                             int64_t most) const {
  std::vector<int64_t> integers;
  auto *list = llvm::dyn_cast<ast::ListExpression>(&expression);
  if (!list) {
    std::optional<int64_t> integer = readInteger(expression, what, least, most);
    if (!integer)
      return std::nullopt;
    integers.push_back(*integer);
    return integers;
  }
  bool ok = true;
  for (const ast::ExpressionPtr &element : list->elements) {
    std::optional<int64_t> integer = readInteger(*element, what, least, most);
    ok &= integer.has_value();
    integers.push_back(integer.value_or(0));
  }
  if (!ok)
    return std::nullopt;
  return integers;
}
