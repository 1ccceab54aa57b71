//===- JobAnalyzer.cpp - Meaning of a job file ----------------------------===//

#include "Analysis/JobAnalyzer.h"
#include "Syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr int64_t kMaxSamples = INT32_MAX;

void JobAnalyzer::analyze() {
  checkDeclarations();
  if (!info.train)
    return;
  info.job.training = !file.inference;
  analyzeClauses();
  if (info.job.training)
    checkRequired();
  if (info.model)
    analyzeModelOptions(*info.model);
  analyzeZip();
  if (diagnostics.hasErrors())
    return;
  makeCopies();
  if (!diagnostics.hasErrors())
    fillJob();
}

/// Reports declarations of one kind that share a name.
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

void JobAnalyzer::checkDeclarations() {
  checkUnique(file.models, "model", diagnostics);
  checkUnique(file.data, "data block", diagnostics);
  if (file.trains.empty()) {
    if (!diagnostics.hasErrors())
      diagnostics.error(file.end, "no train block",
                        "add 'train NAME { model ... data ... loss ... }'");
    return;
  }
  const auto &train = file.trains.front();
  if (file.trains.size() == 1)
    info.train = &train.declaration;
  for (const auto &other : llvm::drop_begin(file.trains)) {
    diagnostics.error(other.declaration.name.range, "second train block",
                      "a job file holds one; lists in it make copies");
    diagnostics.note(train.declaration.name.range, "the first one is here");
  }
  trainPosition = train.position;
  info.job.name = train.declaration.name.name;
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

void JobAnalyzer::analyzeClauses() {
  // The model first: other clauses refer to it.
  for (const Clause &clause : info.train->clauses)
    if (clause.keyword.name == "model" && !info.model) {
      clausePosition = 1 + (&clause - info.train->clauses.data());
      analyzeModelClause(clause);
    }
  for (const auto &model : file.models)
    checkModelNames(model.declaration,
                    &model.declaration == info.model ? &info : nullptr,
                    diagnostics);
  unsigned position = 0;
  for (const Clause &clause : info.train->clauses) {
    clausePosition = ++position;
    checkClauseCount(clause);
    if (clause.arguments.empty())
      continue;
    analyzeClause(clause);
  }
}

void JobAnalyzer::checkClauseCount(const Clause &clause) {
  if (llvm::is_contained(getRepeatableKeywords(), clause.keyword.name))
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
  if (keyword == "data")
    analyzeData(clause);
  else if (keyword == "loss")
    analyzeLoss(clause);
  else if (keyword == "metric")
    analyzeMetric(clause);
  else if (keyword == "optimizer")
    analyzeOptimizer(clause);
  else if (keyword == "schedule")
    analyzeSchedule(clause);
  else if (keyword == "precision")
    analyzePrecision(clause);
  else if (keyword == "seed" || keyword == "clip_norm")
    analyzeSweptClause(clause);
  else if (keyword == "epochs")
    analyzeInteger(clause, info.job.epochs, INT32_MAX);
  else if (keyword == "steps")
    analyzeInteger(clause, info.job.steps, INT64_MAX / 2);
  else if (keyword == "copies")
    analyzeInteger(clause, info.job.copies, 65536);
  else if (keyword == "batch")
    analyzeInteger(clause, info.job.batch, kMaxSamples);
  else if (keyword == "micro_batches")
    analyzeMicroBatches(clause);
  else if (keyword == "init")
    analyzeInit(clause);
  else if (keyword == "freeze")
    analyzePatterns(clause, info.freeze);
  else if (keyword == "trainable")
    analyzePatterns(clause, info.trainable);
  else if (keyword == "dim")
    analyzeDim(clause);
}

const ast::Expression *JobAnalyzer::getOnlyValue(const Clause &clause) {
  if (clause.arguments.size() == 1 && !clause.arguments.front().name)
    return clause.arguments.front().value.get();
  diagnostics.error(clause.arguments.back().getRange(),
                    "'" + clause.keyword.name + "' takes one value",
                    "values for several copies stand in a list: [1, 2]");
  return nullptr;
}

void JobAnalyzer::analyzeInteger(const Clause &clause, int64_t &setting,
                                 int64_t most) {
  if (const ast::Expression *value = getOnlyValue(clause))
    readSharedInteger(*value, clause.keyword.name, setting, most);
}

void JobAnalyzer::readSharedInteger(const ast::Expression &value,
                                    llvm::StringRef name, int64_t &setting,
                                    int64_t most) {
  if (llvm::isa<ast::ListExpression>(&value)) {
    diagnostics.error(value.getRange(),
                      "'" + name + "' is the same for all copies",
                      "give one number");
    return;
  }
  if (std::optional<int64_t> integer =
          constants.readInteger(value, name, 1, most))
    setting = *integer;
}

static constexpr ParameterSpec kMicroBatches[] = {{"count", true},
                                                  {"all_forwards_first"}};

void JobAnalyzer::analyzeMicroBatches(const Clause &clause) {
  std::optional<BoundArguments> arguments =
      bindArguments({"micro_batches", kMicroBatches}, clause.arguments,
                    clause.range, diagnostics);
  if (!arguments)
    return;
  readSharedInteger(*arguments->get("count"), "micro_batches",
                    info.job.microBatches, kMaxSamples);
  if (const ast::Expression *order = arguments->get("all_forwards_first"))
    info.job.allForwardsFirst =
        constants.readBool(*order, "all_forwards_first").value_or(false);
}

void JobAnalyzer::analyzeInit(const Clause &clause) {
  static const llvm::StringRef words[] = {"fresh"};
  const ast::Expression *value = getOnlyValue(clause);
  if (value && constants.readWord(*value, "init", words))
    info.freshInitialization = true;
}

/// `freeze` and `trainable`.
void JobAnalyzer::analyzePatterns(const Clause &clause,
                                  std::vector<NamedRange> &patterns) {
  const std::string &keyword = clause.keyword.name;
  for (const ast::Argument &argument : clause.arguments) {
    if (argument.name)
      diagnostics.error(argument.getRange(),
                        "'" + keyword + "' takes patterns alone",
                        "for example: " + keyword + " \"conv1.*\"");
    else if (std::optional<std::string> pattern =
                 constants.readString(*argument.value, keyword))
      patterns.push_back({*pattern, argument.getRange()});
  }
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

void JobAnalyzer::analyzeZip() {
  for (const Clause &clause : info.train->clauses) {
    if (clause.keyword.name != "zip")
      continue;
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
}

void JobAnalyzer::checkRequired() {
  struct Required {
    llvm::StringLiteral keyword, example;
  };
  static const Required required[] = {
      {"model", "model net(image)"},
      {"data", "data mnist, batch = 64"},
      {"loss", "loss cross_entropy(net, label)"},
      {"optimizer", "optimizer adam(lr = 1e-3)"}};
  for (const Required &clause : required)
    if (!info.train->find(clause.keyword))
      diagnostics.error(info.train->name.range,
                        "train block '" + info.train->name.name +
                            "' has no clause '" + clause.keyword + "'",
                        "for example: " + clause.example);
  const Clause *epochs = info.train->find("epochs");
  const Clause *steps = info.train->find("steps");
  if (epochs && steps) {
    diagnostics.error(std::max(epochs, steps)->keyword.range,
                      "'epochs' and 'steps' exclude each other",
                      "leave one of them out");
    diagnostics.note(std::min(epochs, steps)->keyword.range,
                     "the other one is here");
  }
  const Clause *parts = info.train->find("micro_batches");
  if (parts && info.job.batch % info.job.microBatches != 0)
    diagnostics.error(parts->range,
                      "the batch of " + llvm::Twine(info.job.batch) +
                          " doesn't divide into " +
                          llvm::Twine(info.job.microBatches) + " micro-batches",
                      "the batch is a multiple of 'micro_batches'");
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void JobAnalyzer::makeCopies() {
  if (!info.sweep.cross(diagnostics))
    return;
  const Clause *copies = info.train->find("copies");
  int64_t crossed = info.sweep.getCopies();
  // `onnx("a", "b")` is one file a copy; `onnx(["a", "b"])` is in the sweep.
  int64_t files = info.sweep.contains("model") ? 1 : info.files.size();
  if (files > 1 && crossed > 1 && files != crossed) {
    diagnostics.error(info.model->onnx->getRange(),
                      llvm::Twine(files) +
                          " files, one a copy, but lists for " +
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
  // A file that is named twice is one model.
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

void JobAnalyzer::fillJob() {
  Job &job = info.job;
  job.fuse = options.fuse;
  auto addHyperParameter = [&](llvm::StringRef name) {
    job.hyperParameters.push_back({name.str(), info.sweep.getValues(name)});
  };
  for (llvm::StringRef name :
       {"lr", "momentum", "beta1", "beta2", "eps", "weight_decay"})
    if (info.sweep.contains(name))
      addHyperParameter(name);
  for (const std::string &name : info.modelHyperParameters)
    addHyperParameter(name);
  if (info.loss.smoothing)
    addHyperParameter("label_smoothing");
  job.clipNorm = info.sweep.getValues("clip_norm");
  if (!info.sweep.contains("seed"))
    info.sweep.addValue("seed", Number::of(int64_t(0)));
  for (const Number &seed : info.sweep.get("seed"))
    job.seeds.push_back(*seed.integer);
  if (!info.sweep.contains("warmup"))
    info.sweep.addValue("warmup", Number::of(int64_t(0)));
  job.schedule.warmup = info.sweep.getValues("warmup");
  job.schedule.stepSize = info.sweep.getValues("step_size");
  job.schedule.gamma = info.sweep.getValues("gamma");
  job.schedule.minimum = info.sweep.getValues("minimum");
  if (info.metric)
    job.metric = info.metric->kind;
  for (const FieldInfo &field : info.fields)
    job.data.push_back({field.name, field.train, field.test, {}});
}
