//===- AnalyzeUpdates.cpp - What changes updates of parameters ------------===//
//
// Clauses about updates beside those of the optimizer: clipping of gradients,
// rates that fall from layer to layer, and averages of weights.
//===----------------------------------------------------------------------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// The parameters of adaptive clipping. Their hyper-parameters begin with the
/// name of the clause.
static constexpr llvm::StringLiteral kClipPrefix = "clip_";
static constexpr ParameterInfo kAdaptive[] = {
    {"factor", NumberRange::positive(), {}, ParameterInfo::Kind::required},
    {"eps", NumberRange::positive(), 1e-3}};

/// The range of the factor of `layer_decay`.
static constexpr NumberRange kDecayRange = {0, 1, false};

/// The numbers that a group of parameters may give beside those of optimizers.
static constexpr ParameterInfo kOfGroups[] = {
    {ParameterGroup::kRateScale, NumberRange::nonNegative(), {}},
    {ParameterGroup::kClipNorm, NumberRange::positive(), {}},
    {Job::kClipValue, NumberRange::positive(), {}}};

llvm::ArrayRef<ParameterInfo> JobAnalyzer::getNumbersOfGroups() {
  return kOfGroups;
}

static std::optional<NumberRange> findClipNumber(llvm::StringRef name) {
  if (name == Job::kClipValue)
    return NumberRange::positive();
  if (name.consume_front(kClipPrefix))
    if (const ParameterInfo *number =
            findByName(llvm::ArrayRef(kAdaptive), name))
      return number->range;
  return std::nullopt;
}

std::optional<NumberRange> JobAnalyzer::findGroupNumber(llvm::StringRef name) {
  if (const ParameterInfo *number = findByName(getNumbersOfGroups(), name))
    return number->range;
  return findClipNumber(name);
}

std::optional<NumberRange>
JobAnalyzer::findUpdateNumber(llvm::StringRef name) const {
  const ast::TrainDeclaration &train = *info.train;
  if (name == Job::kLayerDecay && train.find("layer_decay"))
    return kDecayRange;
  if (name == Job::kClipValue ? train.find("clip_value") : train.find("clip"))
    if (std::optional<NumberRange> range = findClipNumber(name))
      return range;
  const AverageInfo *average = findAverage(info.job.average);
  if (average && name.consume_front(kAveragePrefix))
    if (const ParameterInfo *number = findByName(average->parameters, name))
      return number->range;
  return std::nullopt;
}

void JobAnalyzer::analyzeClipValue(const Clause &clause) {
  if (const ast::Expression *value = getOnlyValue(clause))
    addNumbers(Job::kClipValue, *value, NumberRange::positive());
}

bool JobAnalyzer::readAdaptiveClip(const ast::Expression &value,
                                   llvm::StringRef prefix) {
  constexpr llvm::StringLiteral kExample = "for example: clip adaptive(0.01)";
  std::optional<CallView> call =
      getCall(value, "adaptive(...), such as adaptive(0.01)", diagnostics);
  if (!call)
    return false;
  if (call->callee.name != "adaptive") {
    diagnostics.error(call->callee.range,
                      "unknown way to clip '" + call->callee.name + "'",
                      kExample);
    return false;
  }
  std::vector<std::string> words;
  return readParameters(*call, kAdaptive, words, (prefix + kClipPrefix).str())
      .has_value();
}

void JobAnalyzer::analyzeClip(const Clause &clause) {
  if (const ast::Expression *value = getOnlyValue(clause))
    readAdaptiveClip(*value, "");
}

/// Reads the argument `clip` of a group: adaptive(...) or none.
void JobAnalyzer::readGroupClip(const ast::Expression &value,
                                ParameterGroup &group) {
  auto *word = llvm::dyn_cast<ast::NameExpression>(&value);
  if (word && word->name == "none") {
    group.endsAdaptiveClip = true;
    return;
  }
  if (readAdaptiveClip(value, group.name + "_"))
    for (llvm::StringRef number : {Job::kClipFactor, Job::kClipEps})
      group.numbers.push_back(number.str());
}

void JobAnalyzer::analyzeLayerDecay(const Clause &clause) {
  static constexpr ParameterSpec kDecay[] = {{"decay", true}};
  std::optional<BoundArguments> arguments = readSettings(clause, kDecay);
  if (!arguments)
    return;
  addNumbers(Job::kLayerDecay, *arguments->get("decay"), kDecayRange);
  info.layerDecayRange = clause.range;
  const ast::Expression *layers = arguments->get("layers");
  if (!layers || getElements(*layers).empty())
    return diagnostics.error(
        layers ? layers->getRange() : clause.range,
        "'layer_decay' needs 'layers', from the first to the last",
        "for example: layer_decay 0.75, layers = [\"stem.*\", \"blocks.*\", "
        "\"head.*\"]");
  for (const ast::Expression *pattern : getElements(*layers))
    info.layerRanges.push_back(pattern->getRange());
}

void JobAnalyzer::analyzeAverage(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call =
      value ? getCall(*value, "an average such as ema(decay = 0.999)",
                      diagnostics)
            : std::nullopt;
  const AverageInfo *average =
      call ? findKind(getAverages(), *call, "average", diagnostics) : nullptr;
  std::vector<std::string> words;
  if (average &&
      readParameters(*call, average->parameters, words, kAveragePrefix))
    info.job.average = average->name.str();
}

/// Refuses averages of weights that an optimizer averages itself, as there
/// would be two weights to evaluate in place of a parameter.
void JobAnalyzer::checkAverage() {
  const Clause *clause = info.train->find("average");
  const OptimizerInfo *optimizer = findAveragingOptimizer(info.job);
  if (clause && optimizer)
    diagnostics.error(clause->range,
                      "'average' and the optimizer '" + optimizer->name +
                          "' exclude each other",
                      "the optimizer averages weights itself, and its averages "
                      "are evaluated: leave 'average' out");
}

/// Stores the numbers of these clauses as hyper-parameters, with a value for
/// each copy.
void JobAnalyzer::fillUpdates() {
  for (llvm::StringRef name :
       {Job::kClipValue, Job::kClipFactor, Job::kClipEps, Job::kLayerDecay})
    if (info.sweep.contains(name))
      info.job.hyperParameters.push_back(
          {name.str(), info.sweep.getValues(name)});
  if (const AverageInfo *average = findAverage(info.job.average))
    for (const ParameterInfo &parameter : average->parameters) {
      std::string name = (kAveragePrefix + parameter.name).str();
      info.job.hyperParameters.push_back({name, info.sweep.getValues(name)});
    }
}
