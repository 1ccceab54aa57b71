//===- AnalyzeObjectives.cpp - Losses and metrics of a train block --------===//

#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Reads the model, or one of its outputs.
void JobAnalyzer::analyzeOutput(const ast::Expression &expression,
                                NamedRange &output) {
  if (turn) {
    output = addValueOfTurn(expression);
    return;
  }
  ast::Identifier object;
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression)) {
    object = {name->name, name->getRange()};
  } else if (auto *member = llvm::dyn_cast<ast::MemberExpression>(&expression);
             member && !member->call) {
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

/// Reads a tensor that an objective takes. Returns whether the expression can
/// be one; if not, reports nothing.
bool JobAnalyzer::readOperand(const ast::Expression &expression,
                              bool takesNumber, OperandInfo &operand) {
  operand.named.range = expression.getRange();
  if (turn && isValueOfTurn(expression)) {
    operand.kind = OperandInfo::Kind::output;
    operand.named = addValueOfTurn(expression);
    return true;
  }
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression)) {
    operand.named.name = name->name;
    return true;
  }
  if (llvm::isa<ast::MemberExpression>(&expression)) {
    operand.kind = OperandInfo::Kind::output;
    analyzeOutput(expression, operand.named);
    return true;
  }
  if (!takesNumber || !llvm::isa<ast::NumberExpression, ast::NegationExpression,
                                 ast::BinaryExpression>(&expression))
    return false;
  operand.kind = OperandInfo::Kind::number;
  if (std::optional<Number> number =
          constants.readNumber(expression, "the label"))
    operand.number = number->value;
  return true;
}

/// Reads the output and what an objective compares with it.
void JobAnalyzer::analyzeTarget(const CallView &call, llvm::StringRef labelName,
                                bool takesNumber,
                                const BoundArguments &arguments,
                                ObjectiveInfo &objective) {
  analyzeOutput(*arguments.get("output"), objective.output);
  if (labelName.empty()) {
    objective.label.kind = OperandInfo::Kind::number;
    return;
  }
  const ast::Expression &label = *arguments.get(labelName);
  if (!readOperand(label, takesNumber, objective.label))
    diagnostics.error(label.getRange(), "expected a field of the data block",
                      "for example " + call.callee.name + "(net, label)");
}

/// Reads the weights of a loss' elements: a field, or `bootstrap()`.
void JobAnalyzer::readElementWeights(const ast::Expression &expression,
                                     ObjectiveInfo &objective) {
  constexpr llvm::StringLiteral kBootstrap = "bootstrap";
  auto *call = llvm::dyn_cast<ast::CallExpression>(&expression);
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression))
    objective.weights = {name->name, name->getRange()};
  else if (call && call->callee.name == kBootstrap)
    objective.bootstraps = bindArguments({kBootstrap, {}}, call->arguments,
                                         call->getRange(), diagnostics)
                               .has_value();
  else
    diagnostics.error(expression.getRange(),
                      "'" + kElementWeightsArgument +
                          "' is a field of the data block, or bootstrap()",
                      "its numbers are weights of the loss' elements, 0 where "
                      "an element doesn't count");
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
    objective.numbers.push_back({name, (objective.prefix + name).str()});
    addNumbers(name, value, parameter.range, bound.group, objective.prefix);
    return;
  case ObjectiveParameter::Kind::flag:
    if (std::optional<bool> holds = constants.readBool(value, name))
      objective.arguments.set(name, static_cast<int64_t>(*holds));
    return;
  case ObjectiveParameter::Kind::word: {
    llvm::SmallVector<llvm::StringRef> words;
    parameter.words.split(words, '|');
    if (std::optional<llvm::StringRef> word =
            constants.readWord(value, name, words))
      objective.arguments.set(name, llvm::find(words, *word) - words.begin());
    return;
  }
  case ObjectiveParameter::Kind::tensor:
    if (OperandInfo operand; readOperand(value, /*takesNumber=*/true, operand))
      objective.tensors.emplace_back(name, operand);
    else
      diagnostics.error(value.getRange(),
                        "'" + name + "' is an output, a field or a number",
                        "for example net.output");
    return;
  }
}

/// Assigns the arguments of a loss or metric, and reads those of its record.
/// `others` are further arguments. A call that names neither output nor label
/// is implicit, unless a tensor is required.
std::optional<BoundArguments>
JobAnalyzer::bindObjective(const CallView &call, llvm::StringRef labelName,
                           llvm::ArrayRef<ObjectiveParameter> parameters,
                           llvm::ArrayRef<llvm::StringRef> others,
                           ObjectiveInfo &objective) {
  objective.name = call.callee.name;
  objective.range = call.range;
  objective.implicit =
      !labelName.empty() &&
      llvm::none_of(parameters, std::mem_fn(&ObjectiveParameter::isRequired)) &&
      llvm::all_of(call.arguments, [&](const ast::Argument &a) {
        return a.name && a.name.name != "output" && a.name.name != labelName;
      });
  llvm::SmallVector<ParameterSpec> specs;
  if (!objective.implicit)
    specs.push_back({"output", true});
  if (!objective.implicit && !labelName.empty())
    specs.push_back({labelName, true});
  for (const ObjectiveParameter &parameter : parameters)
    specs.push_back({parameter.name, parameter.isRequired()});
  for (llvm::StringRef name : others)
    specs.push_back({name});
  std::optional<BoundArguments> arguments = bindArguments(
      {call.callee.name, specs}, call.arguments, call.range, diagnostics);
  if (!arguments)
    return std::nullopt;
  for (const BoundArguments::Bound &bound : arguments->getAll())
    if (const ObjectiveParameter *parameter =
            findByName(parameters, bound.name))
      readArgument(bound, *parameter, objective);
  return arguments;
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

/// Returns whether a factor is a loss, rather than a weight.
static bool isLoss(const ast::Expression &factor) {
  return llvm::isa<ast::NameExpression, ast::CallExpression>(factor) &&
         !isDistribution(factor);
}

/// Collects the terms of a sum.
void JobAnalyzer::collectTerms(const ast::Expression &expression,
                               std::vector<TermExpressions> &found) {
  auto *binary = llvm::dyn_cast<ast::BinaryExpression>(&expression);
  if (!binary)
    return found.push_back({&expression, nullptr});
  const ast::Expression &lhs = *binary->lhs, &rhs = *binary->rhs;
  if (binary->operation == '+') {
    collectTerms(lhs, found);
    return collectTerms(rhs, found);
  }
  if (binary->operation == '*' && isLoss(lhs) != isLoss(rhs))
    return found.push_back(isLoss(rhs) ? TermExpressions{&rhs, &lhs}
                                       : TermExpressions{&lhs, &rhs});
  diagnostics.error(binary->operationRange,
                    "a loss is a sum of losses, each of which may have a "
                    "weight as a factor",
                    "for example mse(net, y) + 0.1 * l1(net, 0); a weight may "
                    "be negative");
}

/// Reads a term of a loss. Hyper-parameters of terms after the first one have
/// the term's name in front of their own; those of a turn's terms also have the
/// turn's.
void JobAnalyzer::analyzeTerm(const TermExpressions &expressions,
                              std::vector<LossTermInfo> &terms) {
  std::optional<CallView> call =
      getCall(*expressions.loss, "a loss such as cross_entropy(net, label)",
              diagnostics);
  const LossInfo *loss =
      call ? findKind(getLosses(), *call, "loss", diagnostics) : nullptr;
  if (!loss)
    return;
  auto before = llvm::count_if(terms, [&](const LossTermInfo &term) {
    return term.loss.name == loss->name;
  });
  LossTermInfo term;
  term.name = loss->name.str();
  if (before > 0)
    term.name += "_" + std::to_string(before + 1);
  if (turn || !terms.empty())
    term.loss.prefix = (turn ? turn->name + "_" : "") + term.name + "_";
  std::optional<BoundArguments> arguments =
      bindObjective(*call, loss->labelName, loss->parameters,
                    kElementWeightsArgument, term.loss);
  if (!arguments)
    return;
  if (!term.loss.implicit)
    analyzeTarget(*call, loss->labelName, /*takesNumber=*/!loss->classify,
                  *arguments, term.loss);
  if (const ast::Expression *weights = arguments->get(kElementWeightsArgument))
    readElementWeights(*weights, term.loss);
  if (expressions.weight) {
    std::string prefix = (turn ? turn->name + "_" : "") + term.name + "_";
    term.weight = prefix + "weight";
    addNumbers("weight", *expressions.weight, kTermWeightRange,
               /*group=*/nullptr, prefix);
  }
  terms.push_back(std::move(term));
}

std::vector<LossTermInfo> JobAnalyzer::readTerms(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::vector<TermExpressions> found;
  if (value)
    collectTerms(*value, found);
  std::vector<LossTermInfo> terms;
  for (const TermExpressions &term : found)
    analyzeTerm(term, terms);
  return terms;
}

void JobAnalyzer::analyzeLoss(const Clause &clause) {
  info.terms = readTerms(clause);
}

//===----------------------------------------------------------------------===//
// Metric
//===----------------------------------------------------------------------===//

/// Appends the metric of the last entry of `info.metrics` to the job. If it has
/// the name of an earlier one, it gets a number.
void JobAnalyzer::nameMetric(const MetricInfo &metric) {
  std::string title = metric.getTitle(info.metrics.back().arguments);
  auto isTaken = [&](const std::string &name) {
    return llvm::any_of(info.job.metrics, [&](const JobMetric &other) {
      return other.name == name;
    });
  };
  JobMetric added;
  added.name = title;
  for (int64_t more = 2; isTaken(added.name); ++more)
    added.name = title + "_" + std::to_string(more);
  added.isShare = metric.isShare;
  added.isHigherBetter = metric.isHigherBetter;
  info.job.metrics.push_back(std::move(added));
}

void JobAnalyzer::analyzeMetric(const ast::Expression &value) {
  static constexpr llvm::StringLiteral kLabel = "label";
  std::optional<CallView> call =
      getCall(value, "a metric such as accuracy(net, label)", diagnostics);
  const MetricInfo *metric =
      call ? findKind(getMetrics(), *call, "metric", diagnostics) : nullptr;
  if (!metric)
    return;
  ObjectiveInfo &objective = info.metrics.emplace_back();
  std::optional<BoundArguments> arguments =
      bindObjective(*call, kLabel, metric->parameters, {}, objective);
  if (arguments && !objective.implicit)
    analyzeTarget(*call, kLabel, /*takesNumber=*/false, *arguments, objective);
  nameMetric(*metric);
}

void JobAnalyzer::analyzeMetric(const Clause &clause) {
  for (const ast::Argument &argument : clause.arguments)
    if (argument.name)
      diagnostics.error(argument.getRange(),
                        "'metric' has no argument '" + argument.name.name + "'",
                        "it takes metrics: metric accuracy(net, label), "
                        "f1(net, label)");
    else
      analyzeMetric(*argument.value);
}
