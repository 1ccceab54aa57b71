//===- Training.cpp - The reason why a variable is trained or not ---------===//

#include "Hfta/Dialect/Hfta/IR/Training.h"

namespace mlir::hfta {

static constexpr StringLiteral kTrainingRuleAttrName = "hfta.training_rule";

namespace {
struct RuleInfo {
  TrainingRule rule;
  bool isTrained;
  StringLiteral word, text;
};
} // namespace

static constexpr RuleInfo kRules[] = {
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  {TrainingRule::identifier, (trained) != 0, word, text},
    HFTA_TRAINING_RULES
#undef HFTA_TRAINING_RULE
};

static const RuleInfo &getInfo(TrainingRule rule) {
  for (const RuleInfo &info : kRules)
    if (info.rule == rule)
      return info;
  llvm_unreachable("unknown rule");
}

bool isTrained(TrainingRule rule) { return getInfo(rule).isTrained; }

StringRef describe(TrainingRule rule) { return getInfo(rule).text; }

void setTrainingRule(VariableOp variable, TrainingRule rule) {
  variable.setTrained(isTrained(rule));
  // A parameter that is trained by default needs no note.
  if (rule == TrainingRule::parameter || rule == TrainingRule::none)
    variable->removeAttr(kTrainingRuleAttrName);
  else
    variable->setAttr(
        kTrainingRuleAttrName,
        StringAttr::get(variable.getContext(), getInfo(rule).word));
}

TrainingRule getTrainingRule(VariableOp variable) {
  TrainingRule unnoted =
      variable.getTrained() ? TrainingRule::parameter : TrainingRule::none;
  auto noted = variable->getAttrOfType<StringAttr>(kTrainingRuleAttrName);
  if (!noted)
    return unnoted;
  for (const RuleInfo &info : kRules)
    if (noted.getValue() == info.word)
      return info.rule;
  return unnoted;
}

ParameterPattern::ParameterPattern(StringRef text)
    : text(std::make_unique<std::string>(text)) {
  llvm::Expected<llvm::GlobPattern> parsed =
      llvm::GlobPattern::create(*this->text);
  if (parsed)
    glob = std::move(*parsed);
  else
    error = llvm::toString(parsed.takeError());
}

TrainingClauses::TrainingClauses(ArrayRef<std::string> freeze,
                                 ArrayRef<std::string> trainable)
    : freezePatterns(freeze.begin(), freeze.end()),
      trainablePatterns(trainable.begin(), trainable.end()) {}

bool anyMatches(ArrayRef<ParameterPattern> patterns, StringRef name) {
  return llvm::any_of(patterns, [&](const ParameterPattern &pattern) {
    return pattern.matches(name);
  });
}

std::string findProblem(const ParameterPattern &pattern,
                        ArrayRef<StringRef> names, const Twine &kind,
                        ArrayRef<ParameterPattern> stronger,
                        const Twine &overruled) {
  if (!pattern.getError().empty())
    return (": " + pattern.getError()).str();
  SmallVector<StringRef> matched(llvm::make_filter_range(
      names, [&](StringRef name) { return pattern.matches(name); }));
  if (matched.empty())
    return (" matches no " + kind + " of the model").str();
  bool isOverruled = llvm::all_of(
      matched, [&](StringRef name) { return anyMatches(stronger, name); });
  return isOverruled ? overruled.str() : "";
}

std::optional<TrainingRule> TrainingClauses::decide(StringRef name) const {
  if (anyMatches(trainablePatterns, name))
    return TrainingRule::trainable;
  if (anyMatches(freezePatterns, name))
    return TrainingRule::freeze;
  return std::nullopt;
}

bool TrainingClauses::check(ArrayRef<StringRef> freezable,
                            ArrayRef<StringRef> trainable,
                            Report report) const {
  bool good = true;
  auto checkAll = [&](ArrayRef<ParameterPattern> patterns,
                      ArrayRef<StringRef> names, bool isTrainable) {
    for (auto [index, pattern] : llvm::enumerate(patterns)) {
      std::string wrong =
          findProblem(pattern, names, "parameter",
                      isTrainable ? ArrayRef<ParameterPattern>()
                                  : ArrayRef(trainablePatterns),
                      " freezes nothing: 'trainable' matches all that it does");
      if (wrong.empty())
        continue;
      good = false;
      report(isTrainable, index,
             Twine(isTrainable ? "trainable" : "freeze") + " pattern '" +
                 pattern.getText() + "'" + wrong);
    }
  };
  checkAll(freezePatterns, freezable, /*isTrainable=*/false);
  checkAll(trainablePatterns, trainable, /*isTrainable=*/true);
  return good;
}

} // namespace mlir::hfta
