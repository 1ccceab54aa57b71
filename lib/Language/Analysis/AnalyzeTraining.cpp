//===- AnalyzeTraining.cpp - Clauses of a train block ---------------------===//

#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

std::vector<std::string> language::getNames(llvm::ArrayRef<NamedRange> ranges) {
  std::vector<std::string> names;
  for (const NamedRange &range : ranges)
    names.push_back(range.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Trained parameters, sizes of axes, pairs of lists
//===----------------------------------------------------------------------===//

void JobAnalyzer::analyzeInit(const Clause &clause) {
  static const llvm::StringRef words[] = {"fresh"};
  const ast::Expression *value = getOnlyValue(clause);
  if (value && constants.readWord(*value, "init", words))
    info.freshInitialization = true;
}

/// Reads the patterns of a clause such as `freeze`.
void JobAnalyzer::analyzePatterns(const Clause &clause,
                                  std::vector<NamedRange> &patterns) {
  const std::string &keyword = clause.keyword.name;
  for (const ast::Argument &argument : clause.arguments) {
    if (argument.name)
      diagnostics.error(argument.getRange(),
                        "'" + keyword + "' takes only patterns",
                        "for example: " + keyword + " \"conv1.*\"");
    else if (std::optional<std::string> pattern =
                 constants.readString(*argument.value, keyword))
      patterns.push_back({*pattern, argument.getRange()});
  }
}

void JobAnalyzer::analyzeFreeze(const Clause &clause) {
  analyzePatterns(clause, info.freeze);
}

void JobAnalyzer::analyzeTrainable(const Clause &clause) {
  analyzePatterns(clause, info.trainable);
}

void JobAnalyzer::analyzeEvaluationMode(const Clause &clause) {
  analyzePatterns(clause, info.evaluationMode);
}

void JobAnalyzer::analyzeTrainingMode(const Clause &clause) {
  analyzePatterns(clause, info.trainingMode);
}

void JobAnalyzer::analyzeDim(const Clause &clause) {
  for (const ast::Argument &argument : clause.arguments) {
    if (!argument.name) {
      diagnostics.error(argument.getRange(), "'dim' takes 'axis = size'",
                        "for example: dim tokens = 128");
      continue;
    }
    const std::string &name = argument.name.name;
    std::optional<int64_t> size =
        constants.readInteger(*argument.value, name, 1, INT32_MAX);
    if (!size)
      continue;
    if (!info.dims.try_emplace(name, *size).second) {
      diagnostics.error(argument.getRange(),
                        "the size of axis '" + name + "' is given twice",
                        "leave one out");
      diagnostics.note(info.dimRanges[name], "the first one is here");
    }
    info.dimRanges.try_emplace(name, argument.getRange());
  }
}

void JobAnalyzer::analyzeZip(const Clause &clause) {
  std::vector<std::pair<llvm::StringRef, llvm::SMRange>> names;
  for (const ast::Argument &argument : clause.arguments) {
    auto *name = llvm::dyn_cast<ast::NameExpression>(argument.value.get());
    if (name && !argument.name)
      names.emplace_back(name->name, argument.getRange());
    else
      diagnostics.error(argument.getRange(),
                        "the zip clause takes names of settings",
                        "for example: zip(lr, seed)");
  }
  if (names.size() == clause.arguments.size())
    info.sweep.pair(names, diagnostics);
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

static constexpr ParameterSpec kPrecision[] = {
    {"all"},
#define HFTA_PRECISION(member, bits, text) {#member},
#include "Hfta/Dialect/Hfta/Job/Settings.def"
    {"multiply"},
};

/// Reads the type to which operands of products are rounded. If it is the type
/// of `compute`, nothing is rounded.
void JobAnalyzer::checkFactors(const BoundArguments &arguments,
                               const Clause &clause, llvm::StringRef multiply) {
  Precision &precision = info.job.precision;
  if (multiply == precision.compute)
    return;
  precision.multiply = multiply.str();
  bool isNarrow = llvm::is_contained(getFactorTypeNames(), multiply);
  if (multiply.empty() || (isNarrow && precision.multipliesInRange()))
    return;
  const ast::Expression *value = arguments.get("multiply");
  if (isNarrow)
    diagnostics.error(
        value ? value->getRange() : clause.range,
        "values rounded to " + multiply.str() +
            " are multiplied and added up in f32, but 'compute' is " +
            precision.compute + " and 'accumulate' " + precision.accumulate);
  else
    diagnostics.error(value ? value->getRange() : clause.range,
                      "'multiply' must be the type of 'compute', " +
                          precision.compute + ", or one of " +
                          llvm::join(getFactorTypeNames(), ", ") + ", got " +
                          multiply.str());
  precision.multiply.clear();
}

void JobAnalyzer::analyzePrecision(const Clause &clause) {
  std::optional<BoundArguments> arguments = bindArguments(
      {"precision", kPrecision}, clause.arguments, clause.range, diagnostics);
  if (!arguments)
    return;
  auto read = [&](llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> types,
                  std::string &type) {
    if (const ast::Expression *value = arguments->get(name))
      if (std::optional<llvm::StringRef> word =
              constants.readWord(*value, "precision", types))
        type = word->str();
  };
  std::string all = "f32", multiply;
  read("all", getPrecisionNames(), all);
  if (llvm::is_contained(getFactorTypeNames(), all))
    multiply = std::exchange(all, "f32");
  Precision &precision = info.job.precision;
#define HFTA_PRECISION(member, bits, text)                                     \
  precision.member = all;                                                      \
  read(#member, getFloatTypeNames(bits), precision.member);
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  read("multiply", getPrecisionNames(), multiply);
  checkFactors(*arguments, clause, multiply);
  if (precision.accumulatesEnough())
    return;
  if (const ast::Expression *value = arguments->get("accumulate"))
    diagnostics.error(value->getRange(),
                      "'accumulate' must be at least as wide as 'compute', " +
                          precision.compute + ", got " + precision.accumulate);
  precision.accumulate = precision.compute;
}

//===----------------------------------------------------------------------===//
// Scaled losses
//===----------------------------------------------------------------------===//

/// Returns whether a value is a power of two in a range in which multiplying a
/// loss by it is exact.
static bool isLossScale(double value) {
  int exponent;
  return std::frexp(value, &exponent) == 0.5 && exponent > -126 &&
         exponent <= 126;
}

/// Checks the loss scales of a training. Products of f16 need loss scaling, so
/// they set a default. This is called last, as copies may have different
/// scales.
void JobAnalyzer::checkLossScale() {
  constexpr llvm::StringLiteral kName = "loss_scale";
  constexpr int64_t kPlainScale = 65536;
  const Job &job = info.job;
  const Clause *clause = info.train->find(kName);
  bool isNeeded = job.precision.multiply == "f16";
  if (!job.training || !(clause || isNeeded))
    return;
  if (!clause)
    info.sweep.addValue(kName, Number{kPlainScale, kPlainScale});
  llvm::SMRange range =
      (clause ? clause : info.train->find("precision"))->range;
  for (auto [copy, scale] : llvm::enumerate(info.sweep.getValues(kName)))
    if (!isLossScale(scale))
      return diagnostics.error(range,
                               "'loss_scale' is " + printNumber(scale) +
                                   " in copy " + llvm::Twine(copy) +
                                   ": expected a power of two, 2^-126 to 2^125",
                               "multiplying by another number would round; for "
                               "example 1024 or 65536");
  std::string what =
      clause ? "'loss_scale'" : "'f16', whose losses are scaled,";
  if (!job.preconditioner.empty())
    return diagnostics.error(
        range, what + " and 'precondition' exclude each other",
        "kfac needs a loss that is not scaled; with bf16 none is scaled");
  if (job.getWorkers() > 1 || isPlanned())
    return diagnostics.error(
        range,
        what +
            (isPlanned() ? " and a pipeline that is planned"
                         : " and a pipeline of several workers") +
            " exclude each other",
        "whether a copy's step overflows is decided by one worker with all of "
        "its gradients; with bf16 no loss is scaled");
}
