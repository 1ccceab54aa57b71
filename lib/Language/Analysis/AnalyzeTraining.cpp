//===- AnalyzeTraining.cpp - Clauses of a train block ---------------------===//

#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// Trained parameters, sizes of axes, pairs of lists
//===----------------------------------------------------------------------===//

void JobAnalyzer::analyzeInit(const Clause &clause) {
  static const llvm::StringRef words[] = {"fresh"};
  const ast::Expression *value = getOnlyValue(clause);
  if (value && constants.readWord(*value, "init", words))
    info.freshInitialization = true;
}

/// Reads the patterns of a clause `freeze` or `trainable`.
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

//===----------------------------------------------------------------------===//
// Loss and metric
//===----------------------------------------------------------------------===//

/// Reads the model, or one of its outputs.
void JobAnalyzer::analyzeOutput(const ast::Expression &expression,
                                NamedRange &output) {
  ast::Identifier object;
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression)) {
    object = {name->name, name->getRange()};
  } else if (auto *member =
                 llvm::dyn_cast<ast::MemberExpression>(&expression)) {
    object = member->object;
    output.name = member->member.name;
  } else {
    diagnostics.error(expression.getRange(),
                      "expected the model or one of its outputs",
                      "for example net, or net.logits");
    return;
  }
  output.range = expression.getRange();
  if (!info.model || object.name == info.model->name.name ||
      object.name == "model")
    return;
  llvm::StringRef known[] = {info.model->name.name};
  diagnostics.error(object.range,
                    "'" + object.name + "' is not the model that is trained",
                    suggest(object.name, known, "the model is"));
}

/// Reads the output and the field that an objective compares.
void JobAnalyzer::analyzeTarget(const CallView &call,
                                const BoundArguments &arguments,
                                ObjectiveInfo &objective) {
  analyzeOutput(*arguments.get("output"), objective.output);
  const ast::Expression &label = *arguments.get("label");
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&label))
    objective.field = {name->name, label.getRange()};
  else
    diagnostics.error(label.getRange(), "expected a field of the data block",
                      "for example " + call.callee.name + "(net, label)");
}

/// Reads weights that all copies have: a number, or a list of them.
std::vector<double>
JobAnalyzer::readWeights(const ast::Expression &value,
                         const ObjectiveParameter &parameter) {
  std::optional<std::vector<Number>> numbers =
      constants.readNumbers(value, parameter.name);
  if (!numbers)
    return {};
  std::vector<double> weights;
  for (auto [element, number] : llvm::zip_equal(getElements(value), *numbers)) {
    weights.push_back(number.value);
    if (!parameter.range.contains(number.value, number.integer.has_value()))
      diagnostics.error(element->getRange(),
                        "'" + parameter.name + "' is out of range, got " +
                            printNumber(number.value),
                        "each is " + parameter.range.describe());
  }
  return weights;
}

void JobAnalyzer::readArgument(const BoundArguments::Bound &bound,
                               const ObjectiveParameter &parameter,
                               ObjectiveInfo &objective) {
  llvm::StringRef name = parameter.name;
  const ast::Expression &value = *bound.value;
  switch (parameter.kind) {
  case ObjectiveParameter::Kind::integer:
    if (std::optional<int64_t> integer = constants.readInteger(
            value, name, static_cast<int64_t>(parameter.range.least),
            static_cast<int64_t>(parameter.range.most)))
      objective.arguments.set(name, *integer);
    return;
  case ObjectiveParameter::Kind::weights:
    objective.arguments.set(name, readWeights(value, parameter));
    return;
  case ObjectiveParameter::Kind::number:
    objective.numbers.push_back(name);
    addNumbers(name, value, parameter.range, bound.group);
    return;
  }
}

/// Reads the arguments of a loss or metric. A call that names neither output
/// nor label is implicit.
void JobAnalyzer::analyzeObjective(
    const CallView &call, llvm::ArrayRef<ObjectiveParameter> parameters,
    ObjectiveInfo &objective) {
  objective.name = call.callee.name;
  objective.range = call.range;
  objective.implicit = llvm::all_of(call.arguments, [](const ast::Argument &a) {
    return a.name && a.name.name != "output" && a.name.name != "label";
  });
  llvm::SmallVector<ParameterSpec> specs;
  if (!objective.implicit)
    specs = {{"output", true}, {"label", true}};
  for (const ObjectiveParameter &parameter : parameters)
    specs.push_back({parameter.name});
  std::optional<BoundArguments> arguments = bindArguments(
      {call.callee.name, specs}, call.arguments, call.range, diagnostics);
  if (!arguments)
    return;
  if (!objective.implicit)
    analyzeTarget(call, *arguments, objective);
  for (const BoundArguments::Bound &bound : arguments->getAll())
    if (const ObjectiveParameter *parameter =
            findByName(parameters, bound.name))
      readArgument(bound, *parameter, objective);
}

void JobAnalyzer::analyzeLoss(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call;
  if (!value || !(call = getCall(*value,
                                 "a loss such as cross_entropy(net, "
                                 "label)",
                                 diagnostics)))
    return;
  if (const LossInfo *loss = findKind(getLosses(), *call, "loss", diagnostics))
    analyzeObjective(*call, loss->parameters, info.loss);
}

void JobAnalyzer::analyzeMetric(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call;
  if (!value || !(call = getCall(*value,
                                 "a metric such as accuracy(net, "
                                 "label)",
                                 diagnostics)))
    return;
  if (const MetricInfo *metric =
          findKind(getMetrics(), *call, "metric", diagnostics))
    analyzeObjective(*call, metric->parameters, info.metric.emplace());
}
