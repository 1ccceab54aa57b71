//===- Distributions.cpp - Numbers that a search varies -------------------===//

#include "Analysis/JobAnalyzer.h"

#include "hfta/search.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Whole numbers up to this are exact in doubles, also with a half added.
static constexpr int64_t kMostWhole = int64_t(1) << 51;

static constexpr ParameterSpec kRange[] = {{"a", true}, {"b", true}};
static constexpr ParameterSpec kUniform[] = {
    {"a", true}, {"b", true}, {"step"}};
static constexpr ParameterSpec kIntegers[] = {
    {"a", true}, {"b", true}, {"step"}, {"log"}};

/// Checks that a number is in its range.
bool JobAnalyzer::checkNumber(llvm::StringRef name,
                              const ast::Expression &value,
                              const Number &number,
                              const NumberRange &allowed) {
  if (allowed.contains(number.value, number.integer.has_value()))
    return true;
  diagnostics.error(value.getRange(),
                    "'" + name + "' is out of range, got " +
                        printNumber(number.value),
                    "it is " + allowed.describe());
  return false;
}

/// Checks that a distribution has a meaning here.
bool JobAnalyzer::checkDistribution(llvm::StringRef name,
                                    const ast::CallExpression &call) {
  if (!searches()) {
    diagnostics.error(call.getRange(),
                      "the distribution of '" + name +
                          "' needs a clause 'search'",
                      "for example: search random(trials = 32)");
    return false;
  }
  return findKind(getDistributions(),
                  {call.callee, call.arguments, call.getRange(), true},
                  "distribution", diagnostics) != nullptr;
}

/// Reads an end or the step of a range. `isWhole`: it is one of whole numbers.
std::optional<double> JobAnalyzer::readBound(llvm::StringRef name,
                                             const ast::Expression &value,
                                             const NumberRange &allowed,
                                             bool isWhole) {
  Number number;
  if (isWhole) {
    std::optional<int64_t> integer =
        constants.readInteger(value, name, -kMostWhole, kMostWhole);
    if (!integer)
      return std::nullopt;
    number = Number::of(*integer);
  } else {
    std::optional<Number> read = constants.readNumber(value, name);
    if (!read)
      return std::nullopt;
    number = *read;
  }
  if (!checkNumber(name, value, number, allowed))
    return std::nullopt;
  return number.value;
}

/// Reads uniform(...), log_uniform(...) or integers(...).
void JobAnalyzer::addRange(llvm::StringRef name,
                           const ast::CallExpression &call,
                           const NumberRange &allowed, llvm::StringRef prefix) {
  llvm::StringRef callee = call.callee.name;
  bool isUniform = callee == "uniform", isWhole = callee == "integers";
  llvm::ArrayRef<ParameterSpec> signature = kRange;
  if (isUniform)
    signature = kUniform;
  else if (isWhole)
    signature = kIntegers;
  std::optional<BoundArguments> arguments = bindArguments(
      {callee, signature}, call.arguments, call.getRange(), diagnostics);
  if (!arguments)
    return;
  if (allowed.isWhole && !isWhole)
    return diagnostics.error(call.getRange(),
                             "'" + name + "' is a whole number",
                             "write integers(a, b) or choice(...)");
  SearchSetting setting;
  setting.name = (prefix + name).str();
  setting.distribution = isUniform ? HFTA_UNIFORM
                         : isWhole ? HFTA_INTEGERS
                                   : HFTA_LOG_UNIFORM;
  const ast::Expression *log = arguments->get("log");
  const ast::Expression *step = arguments->get("step");
  if (log && constants.readBool(*log, "log").value_or(false)) {
    setting.distribution = HFTA_LOG_INTEGERS;
    if (step)
      return diagnostics.error(step->getRange(),
                               "'step' and 'log' exclude each other",
                               "leave one of them out");
  }
  std::optional<double> low =
      readBound(name, *arguments->get("a"), allowed, isWhole);
  std::optional<double> high =
      readBound(name, *arguments->get("b"), allowed, isWhole);
  std::optional<double> width =
      step ? readBound("step", *step, NumberRange::positive(), isWhole) : 0.0;
  if (!low || !high || !width)
    return;
  setting.low = *low;
  setting.high = *high;
  setting.step = *width;
  Number first = Number::of(*low);
  if (isWhole)
    first.integer = static_cast<int64_t>(*low);
  info.sweep.addValue(setting.name, first);
  info.searchedRanges.push_back(
      {std::move(setting),
       call.getRange(),
       {clausePosition, call.getRange().Start.getPointer()}});
}

/// Reads choice(...).
void JobAnalyzer::addChoices(llvm::StringRef name,
                             const ast::CallExpression &call,
                             const NumberRange &allowed, const void *group,
                             llvm::StringRef prefix) {
  if (!checkChoices(call, name + " = 1e-3", diagnostics))
    return;
  std::vector<Number> numbers;
  bool ok = true;
  for (const ast::Argument &argument : call.arguments) {
    std::optional<Number> number = constants.readNumber(*argument.value, name);
    ok = ok && number && checkNumber(name, *argument.value, *number, allowed);
    numbers.push_back(number.value_or(Number()));
  }
  if (!ok)
    return;
  std::string key = (prefix + name).str();
  info.choices.insert(key);
  info.sweep.addList(key, std::move(numbers), call.getRange(),
                     {clausePosition, call.getRange().Start.getPointer()},
                     group);
}

/// Reads a distribution. Its name in the sweep begins with `prefix`.
void JobAnalyzer::addDistribution(llvm::StringRef name,
                                  const ast::CallExpression &call,
                                  const NumberRange &allowed, const void *group,
                                  llvm::StringRef prefix) {
  if (!checkDistribution(name, call))
    return;
  if (call.callee.name == kChoice)
    return addChoices(name, call, allowed, group, prefix);
  if (group)
    return diagnostics.error(call.getRange(),
                             "zip pairs lists and choices, but '" + name +
                                 "' is drawn from a range",
                             "take it out of zip(...)");
  addRange(name, call, allowed, prefix);
}
