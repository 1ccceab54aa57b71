//===- AnalyzeTurns.cpp - Networks that take turns ------------------------===//
//
// A turn has a loss and an optimizer of its own. What its loss takes are calls
// of networks, which are built in the order of the text. The first turn's
// optimizer is that of the job; each other one is that of a group, to which the
// turn's parameters belong.
//===----------------------------------------------------------------------===//

#include "Analysis/Builtins.h"
#include "Analysis/JobAnalyzer.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr llvm::StringLiteral kTimes = "times";

/// The clauses of a turn.
static constexpr llvm::StringLiteral kOfTurns[] = {"loss", "optimizer"};

/// Clauses that a job with turns can't have, beside those of turns, and why.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
    kRefused[] = {
        {"model", "its networks are those that the losses of its turns call"},
        {"metric", "metrics compare the outputs of one model"},
        {"precondition", "kfac trains one model with one loss"},
        {"memory", "a memory budget is for one model with one loss"},
        {"pipeline", "stages are those of one model with one loss"},
        {"cluster", "a pipeline is planned for one model with one loss"},
        {"recompute", "it recomputes parts of one model"},
        {"loss_scale", "the scale is that of one loss"},
        {"init", "it belongs to the declaration of a network"},
        {"dim", "it belongs to the declaration of a network"},
};

bool language::isOfTurns(llvm::StringRef clause) {
  return llvm::is_contained(kOfTurns, clause) ||
         llvm::is_contained(llvm::make_first_range(kRefused), clause);
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

void JobAnalyzer::addNetwork(const ast::ModelDeclaration &declaration) {
  auto isKnown = [&](const NetworkInfo &network) {
    return network.declaration == &declaration;
  };
  if (llvm::none_of(info.networks, isKnown))
    info.networks.emplace_back().declaration = &declaration;
}

/// Collects the networks that an expression calls, in the order of evaluation.
void JobAnalyzer::collectNetworks(const ast::Expression &expression) {
  std::vector<const ast::CallExpression *> calls;
  collectCalls(expression, calls);
  for (const ast::CallExpression *call : calls)
    for (const auto &model : file.models)
      if (model.declaration.name.name == call->callee.name)
        addNetwork(model.declaration);
}

/// Finds the networks of all turns, and gives the job a model that stands for
/// all of them.
void JobAnalyzer::beginTurns() {
  info.whole = std::make_unique<ast::ModelDeclaration>();
  info.whole->name = info.train->name;
  info.model = info.whole.get();
  info.modelRange = info.train->name.range;
  for (const Clause &clause : info.train->clauses)
    for (const Clause &inner : clause.body)
      for (const ast::Argument &argument : inner.arguments)
        collectNetworks(*argument.value);
  analyzeClausesCalled([](llvm::StringRef name) { return name == "draw"; });
  for (const Clause &clause : info.train->clauses) {
    llvm::StringRef keyword = clause.keyword.name;
    if (llvm::is_contained(kOfTurns, keyword))
      diagnostics.error(clause.range,
                        "'" + keyword + "' belongs into the turns",
                        "each turn has one");
    for (const auto &[refused, reason] : kRefused)
      if (keyword == refused)
        diagnostics.error(
            clause.range,
            "a job with turns can't have a clause '" + keyword + "'", reason);
  }
}

/// Gives each network the patterns that begin with its name.
void JobAnalyzer::dealPatterns(std::vector<NamedRange> patterns,
                               std::vector<NamedRange> NetworkInfo::*list) {
  for (const NamedRange &pattern : patterns) {
    auto owner = llvm::find_if(info.networks, [&](const NetworkInfo &network) {
      return llvm::StringRef(pattern.name)
          .starts_with(network.declaration->name.name + ".");
    });
    if (owner != info.networks.end())
      (*owner.*list)
          .push_back(
              {pattern.name.substr(owner->declaration->name.name.size() + 1),
               pattern.range});
    else
      diagnostics.error(
          pattern.range,
          "pattern '" + pattern.name + "' begins with no network's name",
          "for example \"" + info.networks.front().declaration->name.name +
              ".*\"");
  }
}

/// Reads the options and hyper-parameters of all networks.
void JobAnalyzer::analyzeNetworks() {
  if (!info.networks.empty()) {
    dealPatterns(std::exchange(info.freeze, {}), &NetworkInfo::freeze);
    dealPatterns(std::exchange(info.trainable, {}), &NetworkInfo::trainable);
    dealPatterns(std::exchange(info.evaluationMode, {}),
                 &NetworkInfo::evaluationMode);
    dealPatterns(std::exchange(info.trainingMode, {}),
                 &NetworkInfo::trainingMode);
  }
  auto append = [](std::vector<NamedRange> &to, std::vector<NamedRange> &from) {
    llvm::append_range(to, std::exchange(from, {}));
  };
  for (NetworkInfo &network : info.networks) {
    const ast::ModelDeclaration &declaration = *network.declaration;
    info.files.clear();
    if (declaration.onnx)
      analyzeFiles(declaration);
    if (info.files.size() > 1)
      diagnostics.error(declaration.onnx->getRange(),
                        "a network that takes turns has one file",
                        "all copies begin with its weights");
    if (!info.files.empty())
      network.file = info.files.front();
    for (const Clause &option : declaration.options)
      if (!option.arguments.empty())
        analyzeClause(option);
    network.freshInitialization =
        std::exchange(info.freshInitialization, false);
    append(network.freeze, info.freeze);
    append(network.trainable, info.trainable);
    append(network.evaluationMode, info.evaluationMode);
    append(network.trainingMode, info.trainingMode);
    network.dims = std::exchange(info.dims, {});
    network.dimRanges = std::exchange(info.dimRanges, {});
    analyzeHyperParameters(declaration);
  }
  info.files.clear();
}

//===----------------------------------------------------------------------===//
// Random tensors
//===----------------------------------------------------------------------===//

void JobAnalyzer::analyzeDraw(const Clause &clause) {
  if (!hasTurns())
    return diagnostics.error(clause.range, "'draw' is for jobs with turns",
                             "a model draws numbers by dropout alone");
  static constexpr llvm::StringLiteral kHint =
      "for example: draw z = normal(100, 1, 1)";
  for (const ast::Argument &argument : clause.arguments) {
    auto *call = llvm::dyn_cast<ast::CallExpression>(argument.value.get());
    if (!argument.name || !call ||
        (call->callee.name != "normal" && call->callee.name != "uniform")) {
      diagnostics.error(argument.getRange(),
                        "'draw' takes name = normal(size, ...) or name = "
                        "uniform(size, ...)",
                        kHint);
      continue;
    }
    DrawInfo draw{{argument.name.name, argument.getRange()},
                  call->callee.name == "normal",
                  {}};
    for (const ast::Argument &size : call->arguments) {
      if (size.name)
        diagnostics.error(size.getRange(), "a size has no name", kHint);
      else if (std::optional<int64_t> value =
                   constants.readInteger(*size.value, "size", 1, INT32_MAX))
        draw.shape.push_back(*value);
    }
    if (draw.shape.size() > 7)
      diagnostics.error(argument.getRange(),
                        "a sample has at most 7 axes, got " +
                            llvm::Twine(draw.shape.size()));
    if (llvm::any_of(info.draws, [&](const DrawInfo &other) {
          return other.named.name == draw.named.name;
        }))
      diagnostics.error(argument.name.range,
                        "'" + draw.named.name + "' is drawn twice",
                        "give it another name");
    info.draws.push_back(std::move(draw));
  }
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// Returns whether an operand of a turn's loss is computed in the step, rather
/// than a field or a number.
bool JobAnalyzer::isValueOfTurn(const ast::Expression &expression) const {
  auto isDraw = [&](const ast::NameExpression &name) {
    return llvm::any_of(info.draws, [&](const DrawInfo &draw) {
      return draw.named.name == name.name;
    });
  };
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression))
    return isDraw(*name);
  if (auto *negation = llvm::dyn_cast<ast::NegationExpression>(&expression))
    return llvm::isa<ast::NameExpression>(*negation->operand) ||
           isValueOfTurn(*negation->operand);
  if (auto *binary = llvm::dyn_cast<ast::BinaryExpression>(&expression))
    return llvm::isa<ast::NameExpression>(*binary->lhs) ||
           llvm::isa<ast::NameExpression>(*binary->rhs) ||
           isValueOfTurn(*binary->lhs) || isValueOfTurn(*binary->rhs);
  return llvm::isa<ast::CallExpression, ast::MemberExpression>(expression);
}

/// Adds a tensor that the turn's loss takes. Its name is its number, as
/// repeatTerms() expects it.
NamedRange JobAnalyzer::addValueOfTurn(const ast::Expression &expression) {
  turn->values.push_back(&expression);
  return {std::to_string(turn->values.size() - 1), expression.getRange()};
}

std::string language::getValueOfTurn(size_t turn, int64_t repetition,
                                     llvm::StringRef number) {
  return "turn" + std::to_string(turn) + "." + std::to_string(repetition) +
         "." + number.str();
}

/// Reads the names of a turn's networks, and how often it comes.
void JobAnalyzer::readTurn(const Clause &clause, TurnInfo &read) {
  std::vector<llvm::StringRef> known;
  for (const NetworkInfo &network : info.networks)
    known.emplace_back(network.declaration->name.name);
  bool hasTimes = false;
  for (const ast::Argument &argument : clause.arguments) {
    auto *name = llvm::dyn_cast<ast::NameExpression>(argument.value.get());
    if (argument.name && argument.name.name == kTimes) {
      if (std::exchange(hasTimes, true))
        diagnostics.error(argument.getRange(), "'times' is given twice");
      else if (std::optional<int64_t> times =
                   constants.readInteger(*argument.value, kTimes, 1, 1000))
        read.times = *times;
    } else if (argument.name || !name) {
      diagnostics.error(argument.getRange(),
                        "a turn takes names of networks, and 'times'",
                        "for example: turn d, times = 2 { ... }");
    } else if (!llvm::is_contained(known, name->name)) {
      bool isModel = llvm::any_of(file.models, [&](const auto &model) {
        return model.declaration.name.name == name->name;
      });
      diagnostics.error(
          name->getRange(),
          isModel ? "no loss calls the network '" + name->name + "'"
                  : "unknown network '" + name->name + "'",
          isModel ? "for example: loss mse(" + name->name + "(x), y)"
                  : suggest(name->name, known, "networks are"));
    } else if (llvm::any_of(read.networks, [&](const NamedRange &earlier) {
                 return earlier.name == name->name;
               })) {
      diagnostics.error(name->getRange(),
                        "the turn names '" + name->name + "' twice");
    } else {
      read.name += (read.name.empty() ? "" : "_") + name->name;
      read.networks.push_back({name->name, name->getRange()});
    }
  }
  for (const TurnInfo &other : info.turns)
    for (const NamedRange &network : read.networks)
      if (llvm::any_of(other.networks, [&](const NamedRange &earlier) {
            return earlier.name == network.name;
          }))
        diagnostics.error(network.range,
                          "two turns train the network '" + network.name + "'",
                          "let one turn have both losses as a sum, or come "
                          "several times: times = 2");
}

void JobAnalyzer::analyzeTurnLoss(const Clause &clause, TurnInfo &read) {
  turn = &read;
  std::vector<LossTermInfo> terms = readTerms(clause);
  turn = nullptr;
  for (const LossTermInfo &term : terms)
    if (term.loss.implicit)
      return diagnostics.error(term.loss.range,
                               "the loss of a turn names what it compares",
                               "for example: " + term.loss.name + "(" +
                                   read.name + "(field), label)");
  repeatTerms(read, terms);
}

/// Appends the terms of a turn to those of the job, for each of its
/// repetitions.
void JobAnalyzer::repeatTerms(const TurnInfo &read,
                              llvm::ArrayRef<LossTermInfo> terms) {
  size_t number = info.turns.size();
  for (int64_t repetition = 0; repetition < read.times; ++repetition) {
    for (LossTermInfo term : terms) {
      auto rename = [&](NamedRange &value) {
        value.name = getValueOfTurn(number, repetition, value.name);
      };
      rename(term.loss.output);
      if (term.loss.label.kind == OperandInfo::Kind::output)
        rename(term.loss.label.named);
      for (auto &[name, tensor] : term.loss.tensors)
        if (tensor.kind == OperandInfo::Kind::output)
          rename(tensor.named);
      std::string prefix = read.name;
      if (read.times > 1)
        prefix += std::to_string(repetition + 1);
      term.name = prefix + "_" + term.name;
      term.turn = static_cast<int64_t>(info.job.turns.size());
      info.terms.push_back(std::move(term));
    }
    info.job.turns.push_back({read.name, repetition, read.times});
  }
}

/// Reads the optimizer of a turn: that of the job, or of a group that has the
/// turn's parameters.
void JobAnalyzer::analyzeTurnOptimizer(const Clause &clause,
                                       const TurnInfo &read) {
  const ast::Expression *value = getOnlyValue(clause);
  if (value && llvm::isa<ast::ListExpression>(value))
    return diagnostics.error(value->getRange(), "a turn has one optimizer",
                             "its numbers may be lists, which make copies");
  if (!value)
    return;
  if (info.turns.empty()) {
    if (std::optional<OptimizerKind> kind = readOptimizer(*value))
      info.job.optimizers.push_back(std::move(*kind));
    return;
  }
  ParameterGroup group;
  GroupInfo members;
  group.name = read.name;
  members.range = clause.range;
  nameGroup(group);
  for (const NamedRange &network : read.networks) {
    members.patterns.push_back({network.name + ".*", network.range});
    group.members += (group.members.empty() ? "" : ", ") + network.name + ".*";
  }
  readGroupOptimizer(*value, group);
  info.job.groupsOfParameters.push_back(std::move(group));
  info.groups.push_back(std::move(members));
}

void JobAnalyzer::analyzeTurn(const Clause &clause) {
  TurnInfo read;
  read.range = clause.range;
  for (const Clause &inner : clause.body) {
    llvm::StringRef keyword = inner.keyword.name;
    const Clause *first = clause.find(keyword);
    if (!llvm::is_contained(kOfTurns, keyword))
      diagnostics.error(inner.range, "a turn has no clause '" + keyword + "'",
                        "it has 'loss' and 'optimizer'; other clauses stand "
                        "outside of turns");
    else if (first != &inner)
      diagnostics.error(inner.keyword.range,
                        "second clause '" + keyword + "' of the turn",
                        "a turn has one");
  }
  const Clause *loss = clause.find("loss"),
               *optimizer = clause.find("optimizer");
  if (!loss || !optimizer)
    diagnostics.error(clause.keyword.range,
                      std::string("the turn has no clause '") +
                          (loss ? "optimizer" : "loss") + "'",
                      loss ? "for example: optimizer adam(lr = 1e-3)"
                           : "for example: loss mse(net(x), y)");
  if (!loss || !optimizer)
    return;
  readTurn(clause, read);
  if (read.networks.empty())
    return;
  if (!loss->arguments.empty())
    analyzeTurnLoss(*loss, read);
  if (!optimizer->arguments.empty())
    analyzeTurnOptimizer(*optimizer, read);
  info.turns.push_back(std::move(read));
}

void JobAnalyzer::analyzeServes(const Clause &clause) {
  if (!hasTurns())
    return diagnostics.error(clause.range, "'serves' is for jobs with turns",
                             "'run' and 'export' use the job's model");
  const ast::Expression *value = getOnlyValue(clause);
  if (!value)
    return;
  std::vector<llvm::StringRef> known;
  for (const NetworkInfo &network : info.networks)
    known.emplace_back(network.declaration->name.name);
  if (std::optional<llvm::StringRef> name =
          constants.readWord(*value, "network", known))
    info.served = {name->str(), value->getRange()};
}

/// Reports the order of updates in a job without turns.
void JobAnalyzer::refuseUpdates() {
  if (const Clause *updates = info.train->find("updates"))
    diagnostics.error(updates->range, "'updates' is for jobs with turns",
                      "leave it out: other jobs have one update a step");
}

/// Checks what can be checked only when all clauses have been read.
void JobAnalyzer::finishTurns() {
  analyzeNetworks();
  for (const DrawInfo &draw : info.draws)
    if (llvm::any_of(info.fields, [&](const FieldInfo &field) {
          return field.name == draw.named.name;
        }))
      diagnostics.error(draw.named.range,
                        "the data block has a field '" + draw.named.name + "'",
                        "give what is drawn another name");
  if (info.turns.empty())
    return;
  if (info.served.name.empty())
    info.served = info.turns.back().networks.front();
  const TurnInfo &most = *llvm::max_element(
      info.turns, [](const TurnInfo &one, const TurnInfo &other) {
        return one.times < other.times;
      });
  info.times = most.times;
  // A turn that comes several times has new samples each time. All turns end
  // with the last part of the batch.
  info.job.batch *= info.times;
  for (LossTermInfo &term : info.terms) {
    const JobTurn &of = info.job.turns[term.turn];
    term.part = info.times - of.times + of.repetition;
  }
  bool isEvaluated = llvm::any_of(info.fields, [](const FieldInfo &field) {
    return !field.test.format.empty() || !field.validation.format.empty();
  });
  if (info.times > 1 && (isEvaluated || info.train->find("validation")))
    diagnostics.error(most.range,
                      "a job with a turn that comes several times in a step "
                      "can't be evaluated",
                      "leave out its test and validation data");
  if (info.times > 1 && info.job.microBatches > 1)
    diagnostics.error(most.range,
                      "a turn that comes several times in a step and several "
                      "micro-batches exclude each other",
                      "each repetition has a batch of its own");
  if (info.job.groups > 1)
    diagnostics.error(info.train->find("micro_batches")->range,
                      "turns can't have several groups of micro-batches",
                      "leave out 'groups'");
  if (info.job.precision.multiply == "f16")
    diagnostics.error(info.train->find("precision")->range,
                      "'f16', whose losses are scaled, and turns exclude each "
                      "other",
                      "with bf16 no loss is scaled");
}
