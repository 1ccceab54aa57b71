//===- AnalyzeValidation.cpp - What copies are compared by ----------------===//

#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr llvm::StringLiteral kLoss = "loss", kExternal = "external";

void JobAnalyzer::analyzeValidation(const Clause &clause) {
  std::optional<BoundArguments> arguments = readSettings(clause, {});
  if (!arguments)
    return;
  const ast::Expression *share = arguments->get("share");
  const ast::Expression *folds = arguments->get("folds");
  if (folds)
    info.foldsRange = folds->getRange();
  if (share && folds)
    diagnostics.error(folds->getRange(),
                      "'share' and 'folds' of 'validation' exclude each other",
                      "leave one of them out");
  else if (!share && !folds)
    diagnostics.error(clause.range, "'validation' needs 'share' or 'folds'",
                      "for example: validation 0.1");
}

void JobAnalyzer::analyzeValidationObjective(const Clause &clause) {
  static constexpr ParameterSpec kScore[] = {{"score", true}};
  std::optional<BoundArguments> arguments = readSettings(clause, kScore);
  if (!arguments)
    return;
  const ast::Expression &value = *arguments->get("score");
  auto *member = llvm::dyn_cast<ast::MemberExpression>(&value);
  if (member && member->object.name == "validation")
    info.score = {member->member.name, member->member.range};
  else if (member && member->object.name == "test")
    diagnostics.error(value.getRange(),
                      "test data are only reported: they are no measure of "
                      "copies that are chosen by them",
                      "write validation." + member->member.name);
  else if (!readExternalScore(value))
    diagnostics.error(value.getRange(),
                      "expected a score of the validation data",
                      "it is validation.loss, or validation.NAME with the name "
                      "of a metric of the job; or external(minimize) or "
                      "external(maximize)");
}

/// Reads external(minimize) or external(maximize). Returns whether the value is
/// a score from outside.
bool JobAnalyzer::readExternalScore(const ast::Expression &value) {
  static constexpr ParameterSpec kDirection[] = {{"direction", true}};
  static const llvm::StringRef words[] = {"minimize", "maximize"};
  auto *call = llvm::dyn_cast<ast::CallExpression>(&value);
  if (!call || call->callee.name != kExternal)
    return false;
  info.externalRange = value.getRange();
  std::optional<BoundArguments> arguments = bindArguments(
      {kExternal, kDirection}, call->arguments, call->getRange(), diagnostics);
  if (!arguments)
    return true;
  info.job.scoresAreExternal = true;
  if (std::optional<llvm::StringRef> word =
          constants.readWord(*arguments->get("direction"), "direction", words))
    info.job.externalIsHigherBetter = *word == "maximize";
  return true;
}

/// Checks the clauses that don't go with scores from outside.
void JobAnalyzer::checkExternalScores() {
  const ast::TrainDeclaration &train = *info.train;
  if (!info.externalRange.isValid())
    return;
  if (!searches())
    diagnostics.error(info.externalRange,
                      "scores from outside need a clause 'search'",
                      "for example: search random(trials = 32)");
  if (info.job.keep == "best" || info.job.keepPatience > 0)
    diagnostics.error(train.find("keep")->range,
                      "'keep best' and 'patience' need the score of each "
                      "evaluation, but the objective is external",
                      "leave them out");
  if (info.foldsRange.isValid())
    diagnostics.error(info.foldsRange,
                      "a trial with 'folds' has several models, but a score "
                      "from outside is of one",
                      "validation 0.1 takes a part of the training data");
}

/// Checks the name of the score in the clause `objective`.
void JobAnalyzer::checkScoreName() {
  llvm::StringRef name = info.score.name;
  if (!info.score.range.isValid() || name == kLoss)
    return;
  // A metric may also be called by its kind, if no other one is of this kind.
  std::vector<llvm::StringRef> known = {kLoss};
  std::optional<size_t> found, kind;
  size_t ofKind = 0;
  for (auto [index, metric] : llvm::enumerate(info.job.metrics)) {
    known.emplace_back(metric.name);
    if (name == metric.name)
      found = index;
    if (name == info.metrics[index].name) {
      kind = index;
      ++ofKind;
    }
  }
  if (!found && ofKind == 1)
    found = kind;
  if (found && findMetric(info.metrics[*found].name)->isMatrix) {
    diagnostics.error(info.score.range,
                      "'" + name +
                          "' is a matrix, by which copies can't be compared",
                      "write validation.loss, or add another metric");
    return;
  }
  if (found) {
    info.job.scoresByMetric = static_cast<int64_t>(*found) + 1;
    return;
  }
  std::string hint = suggest(name, known, "the job's scores are");
  if (findMetric(name))
    hint = ("add the clause: metric " + name + "(...)").str();
  diagnostics.error(info.score.range, "the job has no score '" + name + "'",
                    hint);
}

/// Checks the clauses about validation together. This is done after all clauses
/// have been read.
void JobAnalyzer::checkScores() {
  checkScoreName();
  checkExternalScores();
  const ast::TrainDeclaration &train = *info.train;
  const Clause *validation = train.find("validation");
  if (validation && info.validationRange.isValid()) {
    diagnostics.error(validation->range,
                      "the clause 'validation' and the part 'validation' of "
                      "the data block exclude each other",
                      "leave one of them out");
    diagnostics.note(info.validationRange, "the part is here");
  }
  bool keepsScores = info.job.keep == "best" || info.job.keepPatience > 0;
  const Clause *keep = train.find("keep");
  if (keep && keepsScores && info.job.search.rule.kind == "pbt")
    diagnostics.error(keep->range,
                      "'keep best' and 'patience' can't be combined with the "
                      "rule 'pbt'",
                      "pbt goes on with the last weights of its best trials");
  if (info.foldsRange.isValid() && !searches())
    diagnostics.error(info.foldsRange,
                      "'folds' needs a clause 'search', whose trials it scores",
                      "validation 0.1 takes a part of the training data");
  if (validation || info.validationRange.isValid())
    return;
  const Clause *user = train.find("search");
  if (const Clause *objective = train.find("objective"); !user && objective)
    user = objective;
  if (!user && keepsScores)
    user = train.find("keep");
  if (user)
    diagnostics.error(user->keyword.range,
                      "'" + user->keyword.name +
                          "' needs validation data, which the job doesn't have",
                      "add 'validation 0.1', or a part 'validation' to the "
                      "data block");
}
