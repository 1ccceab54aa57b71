//===- JobAnalyzer.cpp - Analyzes train blocks ----------------------------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

void JobAnalyzer::analyze(const ast::Positioned<ast::TrainDeclaration> &train) {
  info.train = &train.declaration;
  info.job.name = train.declaration.name.name;
  info.job.training = !file.inference;
  trainPosition = train.position;
  analyzeClauses();
  if (info.job.training)
    checkRequired();
  if (hasTurns()) {
    finishTurns();
  } else {
    refuseUpdates();
    if (info.model)
      analyzeModelOptions(*info.model);
  }
  // Groups take numbers of the optimizers. Clauses `zip` come last, because
  // they refer to lists in all other clauses.
  for (llvm::StringRef last : {"group", "zip"})
    analyzeClausesCalled([&](llvm::StringRef name) { return name == last; });
  if (info.job.training) {
    checkAverage();
    checkScores();
    checkScheduledNames();
    checkPlateaus();
  }
  if (diagnostics.hasErrors())
    return;
  if (searches())
    makeTrials();
  else
    makeCopies();
  if (!diagnostics.hasErrors())
    checkPreconditioner();
  if (!diagnostics.hasErrors())
    checkLossScale();
  if (diagnostics.hasErrors())
    return;
  fillJob();
  checkScheduledValues();
}

/// Reports declarations of the same kind that have the same name.
template <typename Declaration>
static void
checkUnique(const std::vector<ast::Positioned<Declaration>> &declarations,
            llvm::StringRef what, JobDiagnostics &diagnostics) {
  llvm::StringMap<llvm::SMRange> seen;
  for (const auto &positioned : declarations) {
    const ast::Identifier &name = positioned.declaration.name;
    auto [first, inserted] = seen.try_emplace(name.name, name.range);
    if (inserted || !name)
      continue;
    diagnostics.error(name.range,
                      "second " + what + " called '" + name.name + "'",
                      "give it another name");
    diagnostics.note(first->second, "the first one is here");
  }
}

void mlir::hfta::checkJobNames(const ast::JobFile &file,
                               JobDiagnostics &diagnostics) {
  checkUnique(file.trains, "train block", diagnostics);
}

void language::checkDeclarations(const ast::JobFile &file,
                                 JobDiagnostics &diagnostics) {
  checkUnique(file.models, "model", diagnostics);
  checkUnique(file.data, "data block", diagnostics);
  checkJobNames(file, diagnostics);
  if (file.trains.empty() && !diagnostics.hasErrors())
    diagnostics.error(file.end, "no train block",
                      "add 'train NAME { model ... data ... loss ... }'");
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

void JobAnalyzer::analyzeClauses() {
  if (hasTurns())
    beginTurns();
  // The clause `model` comes first, because other clauses refer to the model.
  for (const Clause &clause : info.train->clauses)
    if (clause.keyword.name == "model" && !info.model) {
      clausePosition = 1 + (&clause - info.train->clauses.data());
      analyzeModel(clause);
    }
  for (const auto &model : file.models) {
    bool isUsed = &model.declaration == info.model ||
                  llvm::any_of(info.networks, [&](const NetworkInfo &network) {
                    return network.declaration == &model.declaration;
                  });
    checkModelNames(model.declaration, isUsed ? &info : nullptr, diagnostics);
  }
  for (const Clause &clause : info.train->clauses)
    checkClauseCount(clause);
  analyzeClausesCalled([&](llvm::StringRef name) {
    bool isOther = hasTurns() && (name == "draw" || isOfTurns(name));
    return name != "model" && name != "group" && name != "zip" && !isOther;
  });
}

void JobAnalyzer::analyzeClausesCalled(
    llvm::function_ref<bool(llvm::StringRef)> isMeant) {
  unsigned position = 0;
  for (const Clause &clause : info.train->clauses) {
    clausePosition = ++position;
    if (!clause.arguments.empty() && isMeant(clause.keyword.name))
      analyzeClause(clause);
  }
}

void JobAnalyzer::checkClauseCount(const Clause &clause) {
  if (isKeyword(clause.keyword.name, setting_traits::Repeatable))
    return;
  const Clause *first = info.train->find(clause.keyword.name);
  if (first == &clause)
    return;
  diagnostics.error(clause.keyword.range,
                    "second clause '" + clause.keyword.name + "'",
                    "a list of values, such as [1, 2], makes copies");
  diagnostics.note(first->keyword.range, "the first one is here");
}

void JobAnalyzer::analyzeClause(const Clause &clause) {
  llvm::StringRef keyword = clause.keyword.name;
#define HFTA_CLAUSE(handler, name, ...)                                        \
  if (keyword == name)                                                         \
    return analyze##handler(clause);
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  // In a job without training, the argument of another clause may be given as a
  // clause of its own.
  if (const SettingInfo *setting = findSetting(keyword))
    return analyzeSetting(clause, *setting);
  llvm_unreachable("the parser takes clauses that have a record");
}

const ast::Expression *JobAnalyzer::getOnlyValue(const Clause &clause) {
  if (clause.arguments.size() == 1 && !clause.arguments.front().name)
    return clause.arguments.front().value.get();
  diagnostics.error(clause.arguments.back().getRange(),
                    "'" + clause.keyword.name + "' takes one value",
                    "values for several copies stand in a list: [1, 2]");
  return nullptr;
}

void JobAnalyzer::checkRequired() {
  for (const KeywordInfo &keyword : getKeywords())
    if (keyword.clause && !keyword.clause->example.empty() &&
        !info.train->find(keyword.name) &&
        !(hasTurns() && isOfTurns(keyword.name)))
      diagnostics.error(info.train->name.range,
                        "train block '" + info.train->name.name +
                            "' has no clause '" + keyword.name + "'",
                        "for example: " + keyword.clause->example);
  const Clause *epochs = info.train->find("epochs");
  const Clause *steps = info.train->find("steps");
  if (epochs && steps) {
    diagnostics.error(std::max(epochs, steps)->keyword.range,
                      "'epochs' and 'steps' exclude each other",
                      "leave one of them out");
    diagnostics.note(std::min(epochs, steps)->keyword.range,
                     "the other one is here");
  }
  checkPipeline();
  const Clause *parts = info.train->find("micro_batches");
  if (!parts)
    parts = info.train->find("pipeline");
  checkParts(parts);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void JobAnalyzer::makeCopies() {
  if (!info.sweep.cross(diagnostics))
    return;
  const Clause *copies = info.train->find("copies");
  int64_t crossed = info.sweep.getCopies();
  // `onnx("a", "b")` has one file for each copy. The list in `onnx(["a", "b"])`
  // is crossed with other lists, as part of the sweep.
  int64_t files = info.sweep.contains("model") ? 1 : info.files.size();
  if (files > 1 && crossed > 1 && files != crossed) {
    diagnostics.error(info.model->onnx->getRange(),
                      llvm::Twine(files) +
                          " files, one for each copy, but lists for " +
                          llvm::Twine(crossed) + " copies",
                      "a list of files, onnx([...]), crosses with other lists");
    return;
  }
  if (files > 1 && crossed == 1)
    info.sweep.repeat(files);
  if (copies && info.sweep.getCopies() != info.job.copies) {
    if (info.sweep.getCopies() != 1) {
      diagnostics.error(copies->range,
                        llvm::Twine(info.job.copies) +
                            " copies wanted, but lists and files make " +
                            llvm::Twine(info.sweep.getCopies()),
                        "leave 'copies' out");
      return;
    }
    info.sweep.repeat(info.job.copies);
  }
  info.job.copies = info.sweep.getCopies();
  assignFiles();
}

void JobAnalyzer::assignFiles() {
  // A file that is named twice is imported once.
  std::vector<NamedRange> distinct;
  std::vector<int64_t> indexOf;
  for (const NamedRange &named : info.files) {
    auto found = llvm::find_if(distinct, [&](const NamedRange &other) {
      return other.name == named.name;
    });
    indexOf.push_back(found - distinct.begin());
    if (found == distinct.end())
      distinct.push_back(named);
  }
  std::vector<Number> swept = info.sweep.get("model");
  for (int64_t copy = 0; copy < info.job.copies && !indexOf.empty(); ++copy) {
    int64_t index = 0;
    if (!swept.empty())
      index = *swept[copy].integer;
    else if (info.files.size() > 1)
      index = copy;
    info.fileOfCopy.push_back(indexOf[index]);
  }
  info.files = std::move(distinct);
}

void JobAnalyzer::fillSettings() {
  Job &job = info.job;
  for (const SettingInfo *setting : getSettings()) {
    if (!setting->isSwept())
      continue;
    if (!info.sweep.contains(setting->name) && setting->initial)
      info.sweep.addValue(
          setting->name,
          Number{*setting->initial, static_cast<int64_t>(*setting->initial)});
    SettingRef value = setting->get(job);
    if (auto *numbers = std::get_if<std::vector<double> *>(&value))
      **numbers = info.sweep.getValues(setting->name);
    else
      for (const Number &number : info.sweep.get(setting->name))
        std::get<std::vector<int64_t> *>(value)->push_back(*number.integer);
  }
  for (const SettingInfo *setting : getSettings())
    if (setting->type == SettingType::Schedule &&
        (setting->isClause() || info.train->find(setting->clause)))
      fillSchedule(*std::get<Schedule *>(setting->get(job)),
                   getSchedulePrefix(*setting));
  for (NamedSchedule &named : job.numberSchedules)
    fillSchedule(named.schedule, named.name + "_");
}

void JobAnalyzer::fillJob() {
  Job &job = info.job;
  job.fuse = options.fuse;
  auto addHyperParameter = [&](llvm::StringRef name) {
    job.hyperParameters.push_back({name.str(), info.sweep.getValues(name)});
  };
  fillOptimizers();
  fillPreconditioner();
  for (const std::string &name : info.modelHyperParameters)
    addHyperParameter(name);
  for (const LossTermInfo &term : info.terms) {
    // A turn that comes several times has the same numbers each time.
    auto addNew = [&](llvm::StringRef name) {
      if (!name.empty() && !job.findHyperParameter(name))
        addHyperParameter(name);
    };
    for (const ObjectiveInfo::OfCopies &number : term.loss.numbers)
      addNew(number.hyperParameter);
    addNew(term.weight);
  }
  fillSettings();
  for (const FieldInfo &field : info.fields) {
    std::vector<std::string> augmentations;
    for (const PrepareStep &step : field.steps)
      if (step.isRandom())
        augmentations.push_back(step.call.print());
    job.data.push_back({field.name,
                        field.train,
                        field.test,
                        field.validation,
                        {},
                        llvm::join(augmentations, ", ")});
  }
}
