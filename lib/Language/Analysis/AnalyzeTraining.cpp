//===- AnalyzeTraining.cpp - Optimizer, schedule, precision, loss ---------===//

#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The numbers that a setting may have.
struct JobAnalyzer::Range {
  double least = 0;
  double most = kInfinity;
  bool includesLeast = true;
  bool includesMost = true;
  bool isWhole = false;

  static Range nonNegative() { return {}; }
  static Range positive() { return {0, kInfinity, false}; }
  static Range wholeFrom(double least) {
    return {least, kInfinity, true, true, true};
  }
  static Range anyWhole() { return wholeFrom(-kInfinity); }
  static Range unit() { return {0, 1, true, true}; }
  static Range belowOne() { return {0, 1, true, false}; }

  bool contains(const Number &number) const {
    double value = number.value;
    return (includesLeast ? value >= least : value > least) &&
           (includesMost ? value <= most : value < most) &&
           (!isWhole || number.integer);
  }

  std::string describe() const {
    std::string text = isWhole ? "a whole number" : "a number";
    if (least != -kInfinity)
      text +=
          (includesLeast ? " of at least " : " above ") + printNumber(least);
    if (most != kInfinity)
      text +=
          (includesMost ? " and at most " : " and below ") + printNumber(most);
    return text;
  }
};

//===----------------------------------------------------------------------===//
// Settings that may differ between copies
//===----------------------------------------------------------------------===//

void JobAnalyzer::addNumbers(llvm::StringRef name, const ast::Expression &value,
                             const Range &allowed, const void *group) {
  std::optional<std::vector<Number>> numbers =
      constants.readNumbers(value, name);
  if (!numbers)
    return;
  auto *list = llvm::dyn_cast<ast::ListExpression>(&value);
  bool ok = true;
  for (const auto &[index, number] : llvm::enumerate(*numbers)) {
    if (allowed.contains(number))
      continue;
    ok = false;
    diagnostics.error(
        list ? list->elements[index]->getRange() : value.getRange(),
        "'" + name + "' is out of range, got " + printNumber(number.value),
        "it is " + allowed.describe());
  }
  if (!ok)
    return;
  if (!list && group)
    diagnostics.error(value.getRange(),
                      "zip pairs lists, but '" + name + "' is one number",
                      "take it out of zip(...)");
  else if (list)
    info.sweep.addList(name, std::move(*numbers), value.getRange(),
                       {clausePosition, value.getRange().Start.getPointer()},
                       group);
  else
    info.sweep.addValue(name, numbers->front());
}

void JobAnalyzer::addAnyNumbers(llvm::StringRef name,
                                const ast::Expression &value) {
  addNumbers(name, value, Range{-kInfinity});
}

void JobAnalyzer::addRate(llvm::StringRef name, const ast::Expression &value) {
  addNumbers(name, value, Range::belowOne());
}

void JobAnalyzer::addSetting(const BoundArguments &arguments,
                             llvm::StringRef parameter, double defaultValue,
                             const Range &allowed) {
  for (const BoundArguments::Bound &bound : arguments.getAll())
    if (bound.name == parameter)
      return addNumbers(parameter, *bound.value, allowed, bound.group);
  info.sweep.addValue(parameter, Number::of(defaultValue));
}

void JobAnalyzer::analyzeSweptClause(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  if (!value)
    return;
  if (clause.keyword.name == "seed")
    addNumbers("seed", *value, Range::anyWhole());
  else
    addNumbers("clip_norm", *value, Range::positive());
}

/// `betas = [b1, b2]`, or a list of such pairs.
void JobAnalyzer::addBetas(const BoundArguments &arguments) {
  const ast::Expression *betas = arguments.get("betas");
  if (!betas) {
    addSetting(arguments, "beta1", 0.9, Range::belowOne());
    addSetting(arguments, "beta2", 0.999, Range::belowOne());
    return;
  }
  if (arguments.get("beta1") || arguments.get("beta2"))
    diagnostics.error(betas->getRange(), "'betas' excludes 'beta1' and 'beta2'",
                      "it gives both");
  auto *list = llvm::dyn_cast<ast::ListExpression>(betas);
  std::vector<const ast::ListExpression *> pairs;
  bool isSwept = list && !list->elements.empty() &&
                 llvm::isa<ast::ListExpression>(*list->elements.front());
  if (isSwept) {
    for (const ast::ExpressionPtr &element : list->elements)
      pairs.push_back(llvm::dyn_cast<ast::ListExpression>(element.get()));
  } else {
    pairs.push_back(list);
  }
  std::vector<Number> values[2];
  for (const ast::ListExpression *pair : pairs) {
    if (!pair || pair->elements.size() != 2) {
      diagnostics.error(betas->getRange(), "'betas' is a pair of numbers",
                        "for example betas = [0.9, 0.999]");
      return;
    }
    for (unsigned i = 0; i < 2; ++i) {
      std::optional<Number> number =
          constants.readNumber(*pair->elements[i], "betas");
      if (number && !Range::belowOne().contains(*number))
        diagnostics.error(pair->elements[i]->getRange(),
                          "'betas' is out of range, got " +
                              printNumber(number->value),
                          "both are " + Range::belowOne().describe());
      values[i].push_back(number.value_or(Number()));
    }
  }
  for (unsigned i = 0; i < 2; ++i) {
    llvm::StringRef name = i == 0 ? "beta1" : "beta2";
    if (isSwept)
      info.sweep.addList(name, values[i], betas->getRange(),
                         {clausePosition, betas->getRange().Start.getPointer()},
                         betas);
    else
      info.sweep.addValue(name, values[i].front());
  }
}

//===----------------------------------------------------------------------===//
// Optimizer and schedule
//===----------------------------------------------------------------------===//

static constexpr ParameterSpec kSgd[] = {
    {"lr"}, {"momentum"}, {"weight_decay"}, {"nesterov"}};
static constexpr ParameterSpec kAdam[] = {{"lr"},  {"beta1"},        {"beta2"},
                                          {"eps"}, {"weight_decay"}, {"betas"}};

void JobAnalyzer::analyzeOptimizer(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call;
  if (!value || !(call = getCall(*value, "an optimizer such as adam(lr = 1e-3)",
                                 diagnostics)))
    return;
  static const llvm::StringRef kinds[] = {"sgd", "adam", "adamw"};
  llvm::StringRef kind = call->callee.name;
  if (!llvm::is_contained(kinds, kind)) {
    diagnostics.error(call->callee.range, "unknown optimizer '" + kind + "'",
                      suggest(kind, kinds, "optimizers are"));
    return;
  }
  bool isSgd = kind == "sgd";
  Signature signature{kind, isSgd ? llvm::ArrayRef<ParameterSpec>(kSgd)
                                  : llvm::ArrayRef<ParameterSpec>(kAdam)};
  std::optional<BoundArguments> arguments =
      bindArguments(signature, call->arguments, call->range, diagnostics);
  if (!arguments)
    return;
  info.job.optimizer = kind.str();
  addSetting(*arguments, "lr", 1e-3, Range::nonNegative());
  addSetting(*arguments, "weight_decay", kind == "adamw" ? 1e-2 : 0,
             Range::nonNegative());
  if (!isSgd) {
    addBetas(*arguments);
    addSetting(*arguments, "eps", 1e-8, Range::nonNegative());
    return;
  }
  addSetting(*arguments, "momentum", 0, Range::nonNegative());
  if (const ast::Expression *nesterov = arguments->get("nesterov")) {
    info.job.nesterov =
        constants.readBool(*nesterov, "nesterov").value_or(false);
    if (info.job.nesterov && !arguments->get("momentum"))
      diagnostics.error(nesterov->getRange(), "nesterov needs a momentum",
                        "for example sgd(lr = 0.1, momentum = 0.9, nesterov = "
                        "true)");
  }
}

static constexpr ParameterSpec kConstant[] = {{"warmup"}};
static constexpr ParameterSpec kStep[] = {
    {"step_size", true}, {"gamma"}, {"warmup"}};
static constexpr ParameterSpec kCosine[] = {{"warmup"}, {"minimum"}};

void JobAnalyzer::analyzeSchedule(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call;
  if (!value ||
      !(call = getCall(*value, "a schedule such as cosine(warmup = 100)",
                       diagnostics)))
    return;
  static const llvm::StringRef kinds[] = {"constant", "step", "cosine"};
  llvm::StringRef kind = call->callee.name;
  llvm::ArrayRef<ParameterSpec> parameters;
  if (kind == "constant")
    parameters = kConstant;
  else if (kind == "step")
    parameters = kStep;
  else if (kind == "cosine")
    parameters = kCosine;
  else {
    diagnostics.error(call->callee.range, "unknown schedule '" + kind + "'",
                      suggest(kind, kinds, "schedules are"));
    return;
  }
  std::optional<BoundArguments> arguments = bindArguments(
      {kind, parameters}, call->arguments, call->range, diagnostics);
  if (!arguments)
    return;
  info.job.schedule.kind = kind.str();
  addSetting(*arguments, "warmup", 0, Range::wholeFrom(0));
  if (kind == "step") {
    addSetting(*arguments, "step_size", 1, Range::wholeFrom(1));
    addSetting(*arguments, "gamma", 0.1, Range::nonNegative());
  } else if (kind == "cosine") {
    addSetting(*arguments, "minimum", 0, Range::unit());
  }
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

static constexpr ParameterSpec kPrecision[] = {{"all"},       {"parameters"},
                                               {"compute"},   {"accumulate"},
                                               {"gradients"}, {"state"}};

void JobAnalyzer::analyzePrecision(const Clause &clause) {
  static const llvm::StringRef types[] = {"f32", "f64"};
  std::optional<BoundArguments> arguments = bindArguments(
      {"precision", kPrecision}, clause.arguments, clause.range, diagnostics);
  if (!arguments)
    return;
  Precision &precision = info.job.precision;
  std::string *settings[] = {&precision.parameters, &precision.compute,
                             &precision.accumulate, &precision.gradients,
                             &precision.state};
  if (const ast::Expression *all = arguments->get("all"))
    if (std::optional<llvm::StringRef> type =
            constants.readWord(*all, "precision", types))
      for (std::string *setting : settings)
        *setting = type->str();
  for (unsigned i = 0; i < 5; ++i)
    if (const ast::Expression *value = arguments->get(kPrecision[i + 1].name))
      if (std::optional<llvm::StringRef> type =
              constants.readWord(*value, "precision", types))
        *settings[i] = type->str();
}

//===----------------------------------------------------------------------===//
// Loss and metric
//===----------------------------------------------------------------------===//

static constexpr ParameterSpec kCrossEntropy[] = {{"output", true},
                                                  {"label", true},
                                                  {"axis"},
                                                  {"ignore_index"},
                                                  {"label_smoothing"}};
static constexpr ParameterSpec kNll[] = {
    {"output", true}, {"label", true}, {"axis"}, {"ignore_index"}};
static constexpr ParameterSpec kElementwise[] = {{"output", true},
                                                 {"label", true}};
static constexpr ParameterSpec kAccuracy[] = {
    {"output", true}, {"label", true}, {"axis"}};

bool JobAnalyzer::analyzeOutput(const ast::Expression &expression,
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
    return false;
  }
  output.range = expression.getRange();
  if (!info.model || object.name == info.model->name.name ||
      object.name == "model")
    return true;
  llvm::StringRef known[] = {info.model->name.name};
  diagnostics.error(object.range,
                    "'" + object.name + "' is not the model that is trained",
                    suggest(object.name, known, "the model is"));
  return false;
}

bool JobAnalyzer::analyzeTarget(const CallView &call,
                                const BoundArguments &arguments,
                                ObjectiveInfo &objective) {
  objective.kind = call.callee.name;
  objective.range = call.range;
  bool ok = analyzeOutput(*arguments.get("output"), objective.output);
  const ast::Expression &label = *arguments.get("label");
  auto *name = llvm::dyn_cast<ast::NameExpression>(&label);
  if (!name) {
    diagnostics.error(label.getRange(), "expected a field of the data block",
                      "for example " + call.callee.name + "(net, label)");
    return false;
  }
  objective.field = {name->name, label.getRange()};
  if (const ast::Expression *axis = arguments.get("axis")) {
    objective.axis = constants.readInteger(*axis, "axis", -8, 7);
    objective.axisRange = axis->getRange();
  }
  return ok;
}

/// The signature's arguments but `output` and `label` may stand alone.
static llvm::SmallVector<ParameterSpec>
withoutTarget(llvm::ArrayRef<ParameterSpec> parameters) {
  return llvm::SmallVector<ParameterSpec>(parameters.drop_front(2));
}

void JobAnalyzer::analyzeLoss(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call;
  if (!value || !(call = getCall(*value,
                                 "a loss such as cross_entropy(net, "
                                 "label)",
                                 diagnostics)))
    return;
  static const llvm::StringRef kinds[] = {"cross_entropy", "nll", "mse",
                                          "binary_cross_entropy"};
  llvm::StringRef kind = call->callee.name;
  llvm::ArrayRef<ParameterSpec> parameters;
  if (kind == "cross_entropy")
    parameters = kCrossEntropy;
  else if (kind == "nll")
    parameters = kNll;
  else if (kind == "mse" || kind == "binary_cross_entropy")
    parameters = kElementwise;
  else {
    diagnostics.error(call->callee.range, "unknown loss '" + kind + "'",
                      suggest(kind, kinds, "losses are"));
    return;
  }
  bool implicit = llvm::all_of(call->arguments, [](const ast::Argument &a) {
    return a.name && a.name.name != "output" && a.name.name != "label";
  });
  llvm::SmallVector<ParameterSpec> options = withoutTarget(parameters);
  std::optional<BoundArguments> arguments = bindArguments(
      {kind, implicit ? llvm::ArrayRef<ParameterSpec>(options) : parameters},
      call->arguments, call->range, diagnostics);
  if (!arguments)
    return;
  info.loss.kind = kind.str();
  info.loss.range = call->range;
  info.loss.implicit = implicit;
  if (!implicit)
    analyzeTarget(*call, *arguments, info.loss);
  else if (const ast::Expression *axis = arguments->get("axis"))
    info.loss.axis = constants.readInteger(*axis, "axis", -8, 7);
  if (const ast::Expression *ignored = arguments->get("ignore_index"))
    info.loss.ignoreIndex =
        constants.readInteger(*ignored, "ignore_index", INT32_MIN, INT32_MAX);
  if (arguments->get("label_smoothing")) {
    info.loss.smoothing = true;
    addSetting(*arguments, "label_smoothing", 0, Range::unit());
  }
}

void JobAnalyzer::analyzeMetric(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call;
  if (!value || !(call = getCall(*value,
                                 "a metric such as accuracy(net, "
                                 "label)",
                                 diagnostics)))
    return;
  static const llvm::StringRef kinds[] = {"accuracy"};
  llvm::StringRef kind = call->callee.name;
  if (kind != "accuracy") {
    diagnostics.error(call->callee.range, "unknown metric '" + kind + "'",
                      suggest(kind, kinds, "metrics are"));
    return;
  }
  info.metric.emplace();
  info.metric->kind = kind.str();
  info.metric->range = call->range;
  if (call->arguments.empty()) {
    info.metric->implicit = true;
    return;
  }
  if (std::optional<BoundArguments> arguments = bindArguments(
          {kind, kAccuracy}, call->arguments, call->range, diagnostics))
    analyzeTarget(*call, *arguments, *info.metric);
}
