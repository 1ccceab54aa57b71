//===- AnalyzePipeline.cpp - The pipeline's stages, workers and order -----===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Dialect/Hfta/Job/JobOrder.h"
#include "Hfta/Language/Files.h"
#include "Hfta/Planning/Common/Cluster.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Arguments of `pipeline` whose values the planner finds.
static constexpr llvm::StringRef kPlanned[] = {"cuts", "replicas", "in_flight"};

void JobAnalyzer::analyzeCluster(const Clause &clause) {
  readSettings(clause, {});
  int64_t devices = 0;
  for (int64_t count : info.job.clusterDevices)
    devices += count;
  if (devices > planning::kMostDevices)
    diagnostics.error(
        clause.range, "the cluster has " + llvm::Twine(devices) + " devices",
        "it may have at most " + llvm::Twine(planning::kMostDevices));
}

/// Returns the path of a file that a job names. A relative path in a job file
/// refers to the file's folder, one in a flag to the working directory of
/// hftac.
std::string JobAnalyzer::getPath(llvm::StringRef name, llvm::SMRange range) {
  llvm::SourceMgr &sources = diagnostics.getSources();
  unsigned buffer = sources.FindBufferContainingLoc(range.Start);
  bool isFlags =
      buffer != 0 &&
      sources.getMemoryBuffer(buffer)->getBufferIdentifier().starts_with("--");
  return getPathFrom(isFlags ? "" : file.directory, name);
}

/// Analyzes `auto` or `plan("FILE")`. These exclude arguments whose values the
/// planner or the file determines.
void JobAnalyzer::analyzePlan(const BoundArguments &arguments,
                              const ast::Expression &plan) {
  PipelineRequest &pipeline = info.pipeline;
  auto *word = llvm::dyn_cast<ast::NameExpression>(&plan);
  auto *call = llvm::dyn_cast<ast::CallExpression>(&plan);
  if (call && call->callee.name == "plan") {
    std::string name = readFileName(*call);
    if (name.empty())
      return;
    pipeline.planFile = getPath(name, plan.getRange());
  } else if (word && word->name == "auto") {
    pipeline.plansStages = true;
  } else {
    diagnostics.error(plan.getRange(),
                      "expected 'auto', 'plan(\"FILE\")' or a named argument",
                      "for example replicas = [4]");
    return;
  }
  pipeline.range = plan.getRange();
  llvm::SmallVector<llvm::StringRef> excluded =
      llvm::to_vector(llvm::ArrayRef(kPlanned));
  if (call)
    excluded.append({"order", "costs", "chunks"});
  llvm::StringRef what = call ? "plan" : "auto";
  for (llvm::StringRef name : excluded)
    if (const ast::Expression *value = arguments.get(name))
      diagnostics.error(value->getRange(),
                        "'" + what + "' and '" + name + "' exclude each other",
                        "'" + what + (call ? "' contains '" : "' chooses '") +
                            name + "'");
  if (!call && !info.job.getOrderFile().empty())
    diagnostics.error(arguments.get("order")->getRange(),
                      "'auto' and an order from a file exclude each other",
                      "an order from a file needs stages that the job itself "
                      "gives by 'cuts'");
}

void JobAnalyzer::analyzePipeline(const Clause &clause) {
  static constexpr llvm::StringLiteral kPlan = "plan";
  std::optional<BoundArguments> arguments = readSettings(clause, {{kPlan}});
  if (!arguments)
    return;
  if (const ast::Expression *plan = arguments->get(kPlan))
    analyzePlan(*arguments, *plan);
  const ast::Expression *cuts = arguments->get("cuts");
  if (!cuts)
    return;
  for (const ast::Expression *cut : getElements(*cuts))
    for (const ast::Expression *name : getElements(*cut))
      info.pipeline.cutRanges.push_back(name->getRange());
}

/// Returns the source range of the clause's argument with this name, or if
/// there is none, that of the clause.
static llvm::SMRange findArgument(const ast::Clause &clause,
                                  llvm::StringRef name) {
  for (const ast::Argument &argument : clause.arguments)
    if (argument.name.name == name)
      return argument.value->getRange();
  return clause.range;
}

/// Returns a number with a noun in its singular or plural form: "4 replicas",
/// "1 group", "2 micro-batches".
static std::string count(int64_t number, llvm::StringRef what) {
  llvm::StringRef ending = what.ends_with("ch") ? "es" : "s";
  return (llvm::Twine(number) + " " + what + (number == 1 ? "" : ending)).str();
}

/// Returns " of stage 2" if the job has several stages, otherwise an empty
/// string.
static std::string ofStage(const Job &job, int64_t stage) {
  if (job.getStageCount() == 1)
    return "";
  return " of stage " + std::to_string(stage);
}

/// Replaces `auto` by values, and checks that each worker and each group has
/// micro-batches.
void JobAnalyzer::checkPipeline() {
  Job &job = info.job;
  const Clause *pipeline = info.train->find("pipeline");
  const Clause *parts = info.train->find("micro_batches");
  if (isPlanned() && diagnostics.hasErrors())
    return;
  if (!checkPlanning() || (info.pipeline.plansStages && !takeChunks(*pipeline)))
    return;
  info.pipeline.plansMicroBatches = !parts || job.microBatches == Job::kAuto;
  if (info.pipeline.plansMicroBatches)
    job.microBatches =
        job.replicas.empty() ? 1 : *llvm::max_element(job.replicas);
  if (parts)
    info.pipeline.microBatchesRange = parts->range;
  if (isPlanned() && job.allForwardsFirst) {
    diagnostics.error(
        parts->range,
        "'all_forwards_first' of 'micro_batches' has no effect on a pipeline "
        "that is planned",
        "give it as the order: pipeline auto, order = all_forwards_first");
    return;
  }
  if (info.pipeline.plansMicroBatches && isPlanned()) {
    if (parts && job.groups > job.batch)
      diagnostics.error(findArgument(*parts, "groups"),
                        count(job.groups, "group") + " for at most " +
                            count(job.batch, "micro-batch"),
                        "each group needs at least one");
    std::swap(info.pipeline.groups, job.groups);
    return;
  }
  if (pipeline)
    notePipeline(*pipeline);
  if (pipeline && !checkStages(*pipeline))
    return;
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage)
    if (!checkWorkers(stage, pipeline, parts))
      return;
  if (diagnostics.hasErrors())
    return;
  // With a memory budget, each block is fetched once for all micro-batches, so
  // all forwards come before the backwards.
  bool isFree = job.order == "auto" || job.order == Job::kAllForwardsFirst;
  job.allForwardsFirst |=
      job.hasBudget() && (job.getStageCount() == 1 || isFree);
  if (!job.getOrderFile().empty())
    readOrder(*pipeline);
  else if (info.model && !isPlanned() && job.getStageCount() > 1)
    checkOrder(*pipeline);
}

/// Checks that the order that the job names exists for its stages.
void JobAnalyzer::checkOrder(const Clause &pipeline) {
  const Job &job = info.job;
  if (job.getOrder() == PipelineOrder::vShape &&
      !getPipelineShape(job).isUniform()) {
    diagnostics.error(
        findArgument(pipeline, "order"),
        "order 'v_shape' needs the same number of replicas in each stage",
        "for example replicas = [2, 2]");
    return;
  }
  llvm::Expected<planning::Order> order = makeOrder(job);
  if (!order)
    diagnostics.error(
        findArgument(pipeline, job.inFlight.empty() ? "order" : "in_flight"),
        llvm::toString(order.takeError()));
}

/// Reads the order from the file that the job names.
void JobAnalyzer::readOrder(const Clause &pipeline) {
  Job &job = info.job;
  llvm::SMRange range = findArgument(pipeline, "order");
  auto refuse = [&](const llvm::Twine &message, const llvm::Twine &hint) {
    diagnostics.error(range, message, hint);
  };
  if (job.getStageCount() == 1)
    return refuse("an order from a file needs a pipeline with 'cuts'",
                  "without cuts there is one stage, which waits for no other");
  std::string path = getPath(job.getOrderFile(), range);
  info.pipeline.orderFile = path;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text = openText(path);
  if (!text)
    return refuse(llvm::toString(text.takeError()), "");
  llvm::Expected<planning::Order> order =
      planning::readOrder((*text)->getBuffer(), path, getPipelineShape(job));
  if (!order)
    return refuse(llvm::toString(order.takeError()),
                  "the file has a row for each worker, such as 0F0,0B0: stage "
                  "0's forward and backward of micro-batch 0");
  setOrder(job, *order);
}

/// Checks that the order is one for the job's number of chunks.
bool JobAnalyzer::checkChunks(const Clause &pipeline) {
  Job &job = info.job;
  auto refuse = [&](llvm::StringRef name, const llvm::Twine &message,
                    const llvm::Twine &hint) {
    diagnostics.error(findArgument(pipeline, name), message, hint);
    return false;
  };
  bool isGiven = llvm::any_of(pipeline.arguments, [](const auto &argument) {
    return argument.name.name == "chunks";
  });
  if (job.order == Job::kVShape && !isGiven)
    job.chunks = 2;
  if (job.order == Job::kVShape && job.chunks != 2)
    return refuse("chunks",
                  "order 'v_shape' needs stages of two chunks, not " +
                      llvm::Twine(job.chunks),
                  "leave 'chunks' out");
  bool isAny = job.order == "auto" || !job.getOrderFile().empty();
  if (!isAny && job.order != Job::kVShape &&
      (job.order == "interleaved") != (job.chunks > 1))
    return refuse(job.chunks > 1 ? "order" : "chunks",
                  "order '" + job.order + "' doesn't fit stages of " +
                      count(job.chunks, "chunk"),
                  job.chunks > 1 ? "for example order = interleaved"
                                 : "for example chunks = 2");
  if (job.chunks > 1 && job.planCosts == "published")
    return refuse("costs", "'costs = published' needs stages of one chunk",
                  "leave 'costs' out");
  return true;
}

/// Moves the number of chunks to the request to the planner. The job itself has
/// one stage of one chunk until it is planned.
bool JobAnalyzer::takeChunks(const Clause &pipeline) {
  if (!checkChunks(pipeline))
    return false;
  info.pipeline.chunks = std::exchange(info.job.chunks, 1);
  if (!info.pipeline.range.isValid())
    info.pipeline.range = pipeline.range;
  return true;
}

/// Checks that the number of parts between the cuts is a multiple of the chunks
/// per stage.
bool JobAnalyzer::checkCuts(const Clause &pipeline) {
  const Job &job = info.job;
  auto parts = static_cast<int64_t>(job.cuts.size()) + 1;
  if (parts % job.chunks == 0)
    return true;
  diagnostics.error(
      findArgument(pipeline, "cuts"),
      count(parts, "part") +
          " of the model can't be distributed to stages of " +
          count(job.chunks, "chunk"),
      "N cuts make N + 1 parts, whose number must be a multiple of 'chunks'");
  return false;
}

/// Checks that lists of numbers in the clause have one number for each stage.
bool JobAnalyzer::checkStages(const Clause &pipeline) {
  Job &job = info.job;
  if (!isPlanned() && (!checkChunks(pipeline) || !checkCuts(pipeline)))
    return false;
  auto stages = static_cast<size_t>(job.getStageCount());
  auto check = [&](llvm::ArrayRef<int64_t> numbers, llvm::StringRef name,
                   llvm::StringRef what) {
    if (numbers.empty() || numbers.size() == stages)
      return true;
    diagnostics.error(findArgument(pipeline, name),
                      count(numbers.size(), "number") + " of " + what +
                          " for " +
                          (stages == 1 ? "one stage" : count(stages, "stage")),
                      stages == 1 ? "for example " + name + " = [4]"
                                  : "'cuts' make " + count(stages, "stage") +
                                        ": each needs a number");
    return false;
  };
  if (!check(job.replicas, "replicas", "replicas") ||
      !check(job.inFlight, "in_flight", "micro-batches in flight"))
    return false;
  if (!job.inFlight.empty() && stages == 1) {
    diagnostics.error(
        findArgument(pipeline, "in_flight"),
        "'in_flight' needs a pipeline with 'cuts'",
        "without cuts 'order' decides how many micro-batches are in flight");
    return false;
  }
  for (int64_t number : job.inFlight)
    if (number > job.microBatches) {
      diagnostics.error(findArgument(pipeline, "in_flight"),
                        count(number, "micro-batch") + " in flight of " +
                            llvm::Twine(job.microBatches),
                        "'in_flight' is at most 'micro_batches'");
      return false;
    }
  if (job.allForwardsFirst && job.chunks > 1) {
    diagnostics.error(findArgument(pipeline, "chunks"),
                      "'all_forwards_first' of 'micro_batches' needs stages "
                      "of one chunk",
                      "leave it or 'chunks' out");
    return false;
  }
  if (job.allForwardsFirst && job.order != "auto" &&
      job.order != Job::kAllForwardsFirst) {
    diagnostics.error(findArgument(pipeline, "order"),
                      "the order is '" + job.order +
                          "', but 'micro_batches' has all_forwards_first",
                      "leave one of them out");
    return false;
  }
  job.allForwardsFirst |= job.order == Job::kAllForwardsFirst;
  return true;
}

/// Checks that each worker of a stage gets at least one micro-batch and one
/// group.
bool JobAnalyzer::checkWorkers(int64_t stage, const Clause *pipeline,
                               const Clause *parts) {
  const Job &job = info.job;
  std::string replicas =
      count(job.getReplicas(stage), "replica") + ofStage(job, stage);
  std::string microBatches = count(job.microBatches, "micro-batch");
  if (pipeline && job.getReplicas(stage) > job.microBatches)
    diagnostics.error(findArgument(*pipeline, "replicas"),
                      replicas + " share " + microBatches,
                      "each replica needs at least one: micro_batches " +
                          llvm::Twine(job.getReplicas(stage)));
  else if (parts && job.getGroups(stage) > job.microBatches)
    diagnostics.error(findArgument(*parts, "groups"),
                      count(job.getGroups(stage), "group") + " for " +
                          microBatches,
                      "each group needs at least one");
  else if (parts && job.getGroups(stage) < job.getReplicas(stage))
    diagnostics.error(findArgument(*parts, "groups"),
                      count(job.getGroups(stage), "group") + " for " + replicas,
                      "each replica adds up at least one group");
  else
    return true;
  return false;
}

/// Returns whether stages are chosen by the planner or read from a plan's file.
bool JobAnalyzer::isPlanned() const {
  return info.pipeline.plansStages || !info.pipeline.planFile.empty();
}

/// Checks that the job has what the planner needs: a clause `cluster`.
bool JobAnalyzer::checkPlanning() {
  const Clause *pipeline = info.train->find("pipeline");
  if (!info.pipeline.plansStages || info.train->find("cluster"))
    return true;
  diagnostics.error(pipeline->range, "'pipeline auto' needs a clause 'cluster'",
                    "for example cluster devices = [8, 8]");
  return false;
}

/// Notes what is left to the planner if the job gives its stages, and the
/// source ranges for the planner's messages.
void JobAnalyzer::notePipeline(const Clause &clause) {
  PipelineRequest &pipeline = info.pipeline;
  pipeline.plansOrder = info.job.order == "auto" && !info.job.allForwardsFirst;
  pipeline.replicasRange = findArgument(clause, "replicas");
  if (!pipeline.range.isValid())
    pipeline.range = clause.range;
}

/// Checks that the batch size is a multiple of the number of micro-batches.
/// `parts` is the clause that sets that number.
void JobAnalyzer::checkParts(const Clause *parts) {
  const Job &job = info.job;
  if (parts && job.microBatches != Job::kAuto &&
      job.batch % job.microBatches != 0)
    diagnostics.error(parts->range,
                      "the batch of " + llvm::Twine(job.batch) +
                          " doesn't divide into " +
                          llvm::Twine(job.microBatches) + " micro-batches",
                      "the batch is a multiple of 'micro_batches'");
}

//===----------------------------------------------------------------------===//
// Planning without a job
//===----------------------------------------------------------------------===//

void JobAnalyzer::analyzePlanning() {
  info.train = &file.trains.front().declaration;
  // The planner chooses the number of micro-batches unless a flag gives it.
  info.job.microBatches = Job::kAuto;
  for (const Clause &clause : info.train->clauses) {
    if (clause.keyword.name != "data") {
      analyzeClause(clause);
      continue;
    }
    for (const ast::Argument &argument : clause.arguments)
      if (argument.name)
        readSetting(*findSetting(argument.name.name), *argument.value);
  }
  if (diagnostics.hasErrors())
    return;
  const Clause *pipeline = info.train->find("pipeline");
  if (!info.pipeline.planFile.empty())
    diagnostics.error(info.pipeline.range,
                      "'plan' needs a job, and a profile has none",
                      "leave 'plan' out");
  else if (!info.job.inFlight.empty())
    diagnostics.error(findArgument(*pipeline, "in_flight"),
                      "the planner chooses 'in_flight'", "leave it out");
  else if (!info.job.getOrderFile().empty())
    diagnostics.error(
        findArgument(*pipeline, "order"),
        "a pipeline that is planned takes an order's name, not a file",
        "for example order = one_f_one_b");
  else if (!info.job.cuts.empty() || !info.job.replicas.empty())
    checkPipeline();
  else if (pipeline)
    takeChunks(*pipeline);
  // If the number of micro-batches is planned, it can be at most the batch
  // size.
  const Clause *parts = info.train->find("micro_batches");
  if (parts)
    info.pipeline.microBatchesRange = parts->range;
  int64_t most = info.job.microBatches == Job::kAuto ? info.job.batch
                                                     : info.job.microBatches;
  if (!diagnostics.hasErrors() && parts && info.job.groups > most)
    diagnostics.error(findArgument(*parts, "groups"),
                      count(info.job.groups, "group") + " for " +
                          count(most, "micro-batch"),
                      "each group needs at least one");
  checkPlanning();
  checkParts(parts);
}

std::optional<PlanningFlags>
mlir::hfta::readPlanningFlags(llvm::ArrayRef<JobFlag> flags,
                              JobDiagnostics &diagnostics) {
  ast::JobFile file;
  file.trains.emplace_back();
  addJobOptions(file, {{}, flags.vec()}, diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  JobInfo info;
  JobAnalyzer(file, {}, diagnostics, info).analyzePlanning();
  if (diagnostics.hasErrors())
    return std::nullopt;
  PlanningFlags result;
  result.job = info.job;
  result.pipeline = info.pipeline;
  result.pipeline.plansStages =
      info.job.cuts.empty() && info.job.replicas.empty();
  result.pipeline.plansMicroBatches = info.job.microBatches == Job::kAuto;
  return result;
}
