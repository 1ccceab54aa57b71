//===- JobPlanner.cpp - Plans the pipeline of a job -----------------------===//

#include "Plan/JobPlanner.h"

#include "Hfta/Dialect/Hfta/Job/JobOrder.h"
#include "Hfta/Language/Files.h"
#include "Hfta/Pipelines/Phases.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Transforms/Passes.h"
#include "Plan/CostsFile.h"
#include "Plan/JobModel.h"
#include "Plan/LayerCosts.h"
#include "Plan/LowerCopy.h"
#include "Plan/StageMemory.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// The most times that a plan is made again because stages turned out to need
/// more memory than the plan assumed.
static constexpr int kMostAttempts = 12;

static bool givesStages(const Job &job) {
  return !job.cuts.empty() || !job.replicas.empty();
}

/// Returns whether a job that gives its stages leaves something else to the
/// planner. Stages of several chunks that are too large to simulate don't: they
/// have a fixed order.
static bool leavesSomething(const Job &job, const PipelineRequest &pipeline) {
  if (job.chunks > 1 && !isSimulated(job.getWorkers(), job.microBatches))
    return false;
  bool isNamed = job.orderRows.empty();
  bool isLimited = job.clusterMemory != 0 &&
                   (job.inFlight.empty() || job.recompute == "auto");
  return job.getStageCount() > 1 && isNamed &&
         (pipeline.plansOrder || isLimited);
}

ExitCode hfta::refuseCosts(llvm::raw_ostream &errors) {
  errors << "hftac: error: option '--costs' has no effect: the job leaves "
            "nothing to the planner\n"
            "hint: --pipeline=auto\n";
  return ExitCode::usage;
}

bool JobPlanner::isNeeded(const LoadedModule &loaded) const {
  if (loaded.phase != &phases::import || !options.cuts.empty() ||
      options.inputKind == InputKind::mlir)
    return false;
  const PipelineRequest &pipeline = loaded.pipeline;
  if (options.planPipeline || pipeline.plansStages ||
      !pipeline.planFile.empty())
    return true;
  FailureOr<Job> job = Job::read(*loaded.module);
  // A memory budget in such a job is refused later, when the model is cut into
  // blocks.
  return succeeded(job) && job->training && !job->hasBudget() &&
         (leavesSomething(*job, pipeline) || job->clusterMemory != 0);
}

//===----------------------------------------------------------------------===//
// Plans from files
//===----------------------------------------------------------------------===//

/// Checks that a plan is for this model, batch size and number of
/// micro-batches.
ExitCode JobPlanner::checkPlan(const Job &job, const PipelineRequest &pipeline,
                               llvm::StringRef digest) {
  const PipelinePlan &plan = result.plan;
  if (plan.model != digest)
    diagnostics.error(pipeline.range,
                      "'" + pipeline.planFile + "' is a plan for another model",
                      "'hftac --plan-pipeline' makes one for this model");
  else if (!pipeline.plansMicroBatches && plan.microBatches != job.microBatches)
    diagnostics.error(pipeline.microBatchesRange,
                      llvm::Twine(job.microBatches) +
                          " micro-batches, but the plan has " +
                          llvm::Twine(plan.microBatches),
                      "leave the number of micro-batches out");
  else if (job.batch % plan.microBatches != 0)
    diagnostics.error(
        pipeline.range,
        "the batch of " + llvm::Twine(job.batch) +
            " doesn't divide into the plan's " +
            llvm::Twine(plan.microBatches) + " micro-batches",
        "the batch must be a multiple of the plan's micro-batches");
  int64_t groups = std::max(job.groups, pipeline.groups);
  for (const PlannedStage &stage : plan.stages) {
    auto replicas = static_cast<int64_t>(stage.devices.size());
    int64_t wanted = groups == Job::kAuto ? replicas : groups;
    if (!diagnostics.hasErrors() && stage.groups != wanted)
      diagnostics.error(
          groups == Job::kAuto ? pipeline.range : pipeline.microBatchesRange,
          "the plan has " + llvm::Twine(stage.groups) +
              " groups of micro-batches, the job " + llvm::Twine(wanted),
          "for example micro_batches " + llvm::Twine(plan.microBatches) +
              ", groups = " + llvm::Twine(stage.groups));
  }
  return diagnostics.hasErrors() ? ExitCode::input : ExitCode::done;
}

ExitCode JobPlanner::readPlanFile(const Job &job,
                                  const PipelineRequest &pipeline,
                                  ModuleOp module) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text =
      openText(pipeline.planFile);
  if (!text) {
    diagnostics.error(pipeline.range, llvm::toString(text.takeError()));
    return ExitCode::input;
  }
  std::string error;
  std::optional<PipelinePlan> plan = readPlan((*text)->getBuffer(), error);
  if (!plan) {
    diagnostics.error(pipeline.range,
                      "'" + pipeline.planFile + "' is no plan: " + error,
                      "'hftac --plan-pipeline -o FILE' writes plans");
    return ExitCode::input;
  }
  result.plan = std::move(*plan);
  FailureOr<std::string> digest = digestModel(module);
  if (failed(digest))
    return ExitCode::input;
  return checkPlan(job, pipeline, *digest);
}

//===----------------------------------------------------------------------===//
// From plan to job
//===----------------------------------------------------------------------===//

/// Loads the inputs again, with the plan's number of micro-batches.
ExitCode JobPlanner::reload(const PipelineRequest &pipeline,
                            LoadedModule &loaded) {
  static constexpr llvm::StringLiteral kFlag = "micro-batches";
  DriverOptions changed = options;
  llvm::erase_if(changed.jobFlags,
                 [](const JobFlag &flag) { return flag.name == kFlag; });
  std::string value = std::to_string(result.plan.microBatches);
  if (pipeline.groups != Job::kAuto)
    value += ", groups = " + std::to_string(pipeline.groups);
  changed.jobFlags.push_back({kFlag.str(), value});
  if (options.inputKind == InputKind::job)
    changed.job = llvm::StringRef(loaded.name).split('.').first.str();
  MLIRContext *context = loaded.module->getContext();
  OnlyErrors quiet(context);
  // Don't repeat the notes that were printed when the inputs were loaded first.
  std::string messages;
  llvm::raw_string_ostream printed(messages);
  std::vector<LoadedModule> jobs;
  ExitCode code = loadInputs(changed, context, sources, printed, jobs);
  if (code != ExitCode::done) {
    errors << messages;
    return code;
  }
  // The flag replaces a clause without choices (Packing.cpp), so that there are
  // as many arrays as before.
  assert(loaded.array < static_cast<int64_t>(jobs.size()));
  loaded = std::move(jobs[loaded.array]);
  return prepare();
}

/// Returns whether the kind of a plan's order is for stages with the plan's
/// number of chunks, placed as in the plan.
static bool fitsChunks(const PipelinePlan &plan) {
  std::optional<OrderKind> kind = symbolizeOrderKind(plan.order);
  if (!kind || *kind == OrderKind::list || *kind == OrderKind::file)
    return false;
  if (plan.getChunks() == 1)
    return !isOfSeveralChunks(*kind);
  if (*kind == OrderKind::automatic)
    return !plan.actions.empty();
  return *kind ==
         (plan.isVShaped() ? OrderKind::vShape : OrderKind::interleaved);
}

/// Checks that the order in a plan's file is valid for the file's stages.
ExitCode JobPlanner::checkOrder(const Job &job,
                                const PipelineRequest &pipeline) {
  if (pipeline.planFile.empty())
    return ExitCode::done;
  const std::string &name = result.plan.order;
  std::string problem;
  if (!fitsChunks(result.plan)) {
    problem = (job.chunks == 1
                   ? "order: expected an order for stages of one chunk, got \""
                   : "order: expected an order for stages of several chunks, "
                     "got \"") +
              name + "\"";
  } else if (job.getStageCount() == 1) {
    if (result.plan.actions.empty())
      return ExitCode::done;
    problem = "actions: expected none for a plan of one stage";
  } else {
    llvm::Expected<Order> order = makeOrder(job, "actions");
    if (order)
      return ExitCode::done;
    problem = llvm::toString(order.takeError());
  }
  diagnostics.error(pipeline.range,
                    "'" + pipeline.planFile + "' is no plan: " + problem);
  return ExitCode::input;
}

/// Returns each worker's position when workers are sorted by the numbers of
/// their devices. Workers are assigned to ranks in this order. Returns an empty
/// list if the workers, stage by stage, are sorted already, or if there is one
/// stage.
static std::vector<int64_t> findWorkerPlaces(const PipelinePlan &plan) {
  std::vector<int64_t> devices;
  for (const PlannedStage &stage : plan.stages)
    llvm::append_range(devices, stage.devices);
  if (plan.stages.size() == 1 || llvm::is_sorted(devices))
    return {};
  std::vector<int64_t> sorted = devices, places;
  llvm::sort(sorted);
  for (int64_t device : devices)
    places.push_back(llvm::lower_bound(sorted, device) - sorted.begin());
  return places;
}

ExitCode JobPlanner::apply(const PipelineRequest &pipeline,
                           LoadedModule &loaded) {
  const PipelinePlan &plan = result.plan;
  FailureOr<Job> job = Job::read(*loaded.module);
  if (succeeded(job) && job->microBatches != plan.microBatches) {
    if (ExitCode code = reload(pipeline, loaded); code != ExitCode::done)
      return code;
    job = Job::read(*loaded.module);
  }
  if (failed(job))
    return ExitCode::input;
  job->replicas.clear();
  job->inFlight.clear();
  for (const PlannedStage &stage : plan.stages) {
    job->replicas.push_back(static_cast<int64_t>(stage.devices.size()));
    job->inFlight.push_back(stage.inFlight);
  }
  job->workerPlaces = findWorkerPlaces(plan);
  bool hasStages = plan.stages.size() > 1;
  job->recomputedStages.clear();
  for (auto [number, stage] : llvm::enumerate(plan.stages))
    if (stage.recomputes() && job->recompute != "all")
      job->recomputedStages.push_back(static_cast<int64_t>(number));
  if (!job->recomputedStages.empty())
    job->recompute = "auto";
  if (pipeline.plansStages || !pipeline.planFile.empty()) {
    job->cuts.clear();
    std::vector<const PlannedPart *> parts = plan.getParts();
    for (const PlannedPart *part : llvm::ArrayRef(parts).drop_back())
      job->cuts.push_back(
          part->cut.empty() ? std::vector<std::string>{part->last} : part->cut);
    job->chunks = plan.getChunks();
  }
  job->orderRows = plan.actions;
  job->order = hasStages ? plan.order : "auto";
  if (hasStages)
    job->allForwardsFirst = job->order == Job::kAllForwardsFirst;
  else
    job->allForwardsFirst |= job->hasBudget();
  if (!hasStages)
    job->inFlight.clear();
  if (ExitCode code = checkOrder(*job, pipeline); code != ExitCode::done)
    return code;
  job->write(*loaded.module);
  return pipeline.planFile.empty() ? ExitCode::done
                                   : checkCuts(pipeline, *loaded.module);
}

/// Checks that the model can be cut as a plan's file says.
ExitCode JobPlanner::checkCuts(const PipelineRequest &pipeline,
                               ModuleOp module) {
  MLIRContext *context = module.getContext();
  size_t names = 0;
  for (const PlannedPart *part : result.plan.getParts())
    names += std::max<size_t>(1, part->cut.size());
  SmallVector<Attribute> places(
      names, diagnostics.getLocation(context, pipeline.range));
  module->setAttr(HftaDialect::kCutLocationsAttrName,
                  ArrayAttr::get(context, places));
  OwningOpRef<ModuleOp> cut = lowerCopy(module, [](OpPassManager &passes) {
    buildFusedPipeline(passes, FusedPipelineOptions());
    passes.addPass(createHftaPlanPipeline());
  });
  module->removeAttr(HftaDialect::kCutLocationsAttrName);
  return cut ? ExitCode::done : ExitCode::input;
}

/// Returns the bytes that each stage's largest worker needs, according to the
/// compiler's memory plan.
static FailureOr<SmallVector<int64_t>> findPeaks(ModuleOp module) {
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return failure();
  OwningOpRef<ModuleOp> copy = lowerCopy(module, [&](OpPassManager &passes) {
    buildFusedPipeline(passes, FusedPipelineOptions());
    buildTrainPipeline(passes, TrainPipelineOptions());
    buildPlannedPipeline(passes, *Target::read(module));
    buildScheduledPipeline(passes, ScheduledPipelineOptions());
  });
  if (!copy)
    return failure();
  return getWorkerBytes(*copy, *job);
}

/// Sets the memory of the plan's stages to what the compiler's memory plan
/// says. Sets `isRefused` if the module can't be lowered: then another plan
/// wouldn't help.
ExitCode JobPlanner::measurePeaks(ModuleOp module) {
  FailureOr<SmallVector<int64_t>> peaks = findPeaks(module);
  isRefused = failed(peaks);
  if (isRefused)
    return ExitCode::input;
  for (auto [stage, bytes] : llvm::zip_equal(result.plan.stages, *peaks))
    stage.peakBytes = bytes;
  return ExitCode::done;
}

/// Checks that the stages of a job that leaves nothing to plan fit into the
/// cluster's memory. With `recompute auto`, makes those that don't fit
/// recompute their forwards, and checks again.
ExitCode JobPlanner::checkMemory(Job job, ModuleOp module) {
  for (bool isLast : {job.recompute != "auto", true}) {
    FailureOr<SmallVector<int64_t>> peaks = findPeaks(module);
    if (failed(peaks))
      return phases::scheduled.failure;
    auto largest = llvm::max_element(*peaks);
    if (*largest <= job.clusterMemory)
      return ExitCode::done;
    if (isLast) {
      errors << "hftac: error: stage " << largest - peaks->begin()
             << " doesn't fit into " << job.clusterMemory
             << " bytes a device, it needs " << *largest << '\n';
      return ExitCode::unsupported;
    }
    for (auto [stage, bytes] : llvm::enumerate(*peaks))
      if (bytes > job.clusterMemory)
        job.recomputedStages.push_back(static_cast<int64_t>(stage));
    job.write(module);
  }
  llvm_unreachable("the last round returns");
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Turns off recomputation in stages that fit into memory without it.
static void keepWhatFits(const PlanningProblem &problem, PipelinePlan &plan) {
  Workload workload;
  workload.batch = problem.job.batch;
  workload.microBatches = plan.microBatches;
  workload.groups = std::max(problem.job.groups, problem.pipeline.groups);
  workload.bucket = static_cast<double>(problem.job.bucket);
  StageCosts costs(problem.model, problem.cluster, workload);
  for (PlannedStage &stage : plan.stages) {
    double bytes = 0;
    for (const PlannedPart &part : stage.parts)
      bytes += costs.getPeakBytes(*problem.model.findLayer(part.first),
                                  *problem.model.findLayer(part.last),
                                  static_cast<int64_t>(stage.devices.size()),
                                  stage.inFlight);
    if (bytes > static_cast<double>(problem.cluster.memory))
      continue;
    for (PlannedPart &part : stage.parts)
      if (part.recomputes) {
        part.recomputes = false;
        part.backward -= part.forward;
      }
  }
}

/// Notes the values at the end of a part, unless the cut is at the only value
/// that the last layer is named after.
static void noteCut(const Job &job, PlannedPart &part) {
  if (part.number >= static_cast<int64_t>(job.cuts.size()))
    return;
  const std::vector<std::string> &cut = job.cuts[part.number];
  if (cut.size() > 1 || cut.front() != part.last)
    part.cut = cut;
}

/// Makes one plan. If the stages need more than `memory` bytes, `unknown`
/// becomes the number of bytes that the planner's estimate lacks.
ExitCode JobPlanner::tryPlan(const PlanningProblem &problem, int64_t memory,
                             LoadedModule &loaded, int64_t &unknown) {
  if (ExitCode code = makePlan(problem, diagnostics, errors, result);
      code != ExitCode::done)
    return code;
  if (problem.job.recompute == "auto")
    keepWhatFits(problem, result.plan);
  result.plan.cluster.memory = memory;
  if (!problem.pipeline.plansStages && result.plan.stages.size() > 1)
    for (PlannedStage &stage : result.plan.stages)
      for (PlannedPart &part : stage.parts)
        noteCut(problem.job, part);
  if (ExitCode code = apply(problem.pipeline, loaded); code != ExitCode::done)
    return code;
  unknown = 0;
  if (memory == 0 && !options.planPipeline)
    return ExitCode::done;
  std::vector<PlannedStage> counted = result.plan.stages;
  if (ExitCode code = measurePeaks(*loaded.module); code != ExitCode::done)
    return code;
  for (auto [before, stage] : llvm::zip_equal(counted, result.plan.stages))
    if (stage.peakBytes > memory)
      unknown = std::max(unknown, stage.peakBytes - before.peakBytes);
  return ExitCode::done;
}

/// Plans within the cluster's memory. If stages need memory that the layers
/// don't account for, such as workspaces, this many bytes are reserved, and the
/// plan is made again. But other stages may need less of a reserve. So if
/// nothing fits any more, the reserve is bisected between the largest that was
/// too little and this one. Returns `unsupported`, without a message, if
/// nothing fits.
ExitCode JobPlanner::planWithinMemory(PlanningProblem problem,
                                      LoadedModule &loaded) {
  int64_t memory = problem.cluster.memory, reserved = 0, tooLittle = 0;
  std::optional<int64_t> tooMuch;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    int64_t unknown = 0;
    ExitCode code = tryPlan(problem, memory, loaded, unknown);
    bool isFound = code == ExitCode::done;
    if ((isFound && (memory == 0 || unknown == 0)) ||
        (!isFound && (code != ExitCode::unsupported || attempt == 0)))
      return code;
    // Increase the reserve each time, so that the loop terminates.
    int64_t more = std::max(unknown, reserved + memory / 256);
    (isFound ? tooLittle : tooMuch.emplace()) = reserved;
    reserved = tooMuch ? tooLittle + (*tooMuch - tooLittle) / 2 : more;
    problem.cluster.memory = std::max<int64_t>(1, memory - reserved);
  }
  return ExitCode::unsupported;
}

/// Measures the memory of the plan that needs the least, according to its
/// layers, or slightly more if the planner finds no plan with so little.
/// Returns `unsupported`, unless the plan fits into the cluster's memory after
/// all.
ExitCode JobPlanner::measureShortage(PlanningProblem problem,
                                     LoadedModule &loaded) {
  int64_t memory = problem.cluster.memory, unknown = 0;
  PlanFailure counted = result.shortage;
  int64_t more = 1 + memory / 128;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt, more *= 2) {
    problem.cluster.memory = counted.leastMemory;
    ExitCode code = tryPlan(problem, memory, loaded, unknown);
    if (code == ExitCode::done) {
      result.shortage = findLargestStage(result.plan);
      if (result.shortage.leastMemory <= memory)
        return ExitCode::done;
      // The user must give the planner at least as much memory as it counted
      // with.
      result.shortage.leastMemory =
          std::max(result.shortage.leastMemory, counted.leastMemory);
      return ExitCode::unsupported;
    }
    if (code != ExitCode::unsupported)
      return code;
    counted.leastMemory =
        std::max(counted.leastMemory + more, result.shortage.leastMemory);
  }
  result.shortage = counted;
  return ExitCode::unsupported;
}

/// Reports how much memory a plan would need. If plans with recomputation were
/// tried after plans that keep all activations, `kept` is the latter's
/// shortage, and the lesser need is reported, as recomputation may need more
/// memory. Returns `unsupported`, unless a plan fits after all.
ExitCode JobPlanner::tellLeastMemory(PlanningProblem problem,
                                     const PlanFailure *kept,
                                     LoadedModule &loaded) {
  ExitCode code = measureShortage(problem, loaded);
  if (code != ExitCode::unsupported)
    return code;
  PlanFailure least = result.shortage;
  if (kept) {
    problem.recomputes = false;
    result.shortage = *kept;
    code = measureShortage(problem, loaded);
    if (code != ExitCode::unsupported)
      return code;
    least.takeLess(result.shortage);
  }
  tellShortage(problem, problem.cluster.memory, least, errors);
  return ExitCode::unsupported;
}

/// With `recompute auto` and limited memory, chooses the faster of two plans:
/// one keeps all activations, the other recomputes them where needed.
ExitCode JobPlanner::planWithRecompute(PlanningProblem problem,
                                       LoadedModule &loaded) {
  problem.recomputes = problem.job.recompute == "all";
  ExitCode code = planWithinMemory(problem, loaded);
  bool isChosen =
      problem.job.recompute == "auto" && problem.cluster.memory != 0;
  PlanFailure keptShortage = result.shortage;
  if (isChosen && (code == ExitCode::done || code == ExitCode::unsupported)) {
    SimulatedPlan kept = std::move(result);
    problem.recomputes = true;
    ExitCode again = planWithinMemory(problem, loaded);
    bool isBetter = again == ExitCode::done &&
                    (code != ExitCode::done ||
                     result.plan.getLength() < kept.plan.getLength());
    if (isBetter || code != ExitCode::done) {
      code = again;
    } else {
      result = std::move(kept);
      code = apply(problem.pipeline, loaded);
    }
  }
  if (code != ExitCode::unsupported)
    return code;
  return tellLeastMemory(problem, isChosen ? &keptShortage : nullptr, loaded);
}

/// Reports options that have no effect with a plan from a file.
ExitCode JobPlanner::checkPlanOptions() {
  bool isDrawn = options.planPipeline && !options.timeline.empty();
  const char *option = !options.costs.empty() ? "--costs"
                       : isDrawn              ? "--timeline"
                                              : nullptr;
  if (!option)
    return ExitCode::done;
  errors << "hftac: error: option '" << option
         << "' has no effect on a plan in a file, which is not simulated\n";
  return ExitCode::usage;
}

ExitCode JobPlanner::plan(LoadedModule &loaded) {
  FailureOr<Job> read = Job::read(*loaded.module);
  if (failed(read))
    return ExitCode::input;
  const Job job = *read;
  PipelineRequest pipeline = loaded.pipeline;
  if (!job.training) {
    errors << "hftac: error: a job without training can't be planned\n";
    return ExitCode::unsupported;
  }
  if (!pipeline.planFile.empty()) {
    if (ExitCode code = checkPlanOptions(); code != ExitCode::done)
      return code;
    if (ExitCode code = readPlanFile(job, pipeline, *loaded.module);
        code != ExitCode::done)
      return code;
    if (ExitCode code = apply(pipeline, loaded); code != ExitCode::done)
      return code;
    return options.planPipeline ? measurePeaks(*loaded.module) : ExitCode::done;
  }
  bool isPlanned = options.planPipeline || pipeline.plansStages;
  if (isPlanned && !job.lossScale.empty()) {
    (*loaded.module)
        .emitError("'loss_scale', which 'f16' has, and a pipeline that is "
                   "planned exclude each other: whether a step overflows is "
                   "decided by one worker with all of a copy's gradients");
    return ExitCode::unsupported;
  }
  if (!isPlanned && !leavesSomething(job, pipeline))
    return options.costs.empty() || takesKfacCosts(options, loaded)
               ? checkMemory(job, *loaded.module)
               : refuseCosts(errors);
  pipeline.plansStages |= !givesStages(job);
  if (job.hasBudget() && job.getStageCount() > 1) {
    (*loaded.module)
        .emitError("'--plan-pipeline' doesn't plan several stages within a "
                   "budget of memory: '--plan' prints the plan of each stage");
    return ExitCode::unsupported;
  }
  if (pipeline.plansStages && job.hasBudget()) {
    (*loaded.module)
        .emitError(
            "a budget of memory and a pipeline that is planned exclude each "
            "other: give the workers, as in 'pipeline replicas = [2]'");
    return ExitCode::unsupported;
  }
  if (pipeline.plansStages && job.clusterDevices.empty()) {
    errors << "hftac: error: '--plan-pipeline' needs a clause 'cluster' or "
              "stages that are given\n"
              "hint: --cluster='devices = [2]'\n";
    return ExitCode::usage;
  }
  JobModel model(options, diagnostics, errors);
  if (ExitCode code = model.load(job, pipeline, *loaded.module);
      code != ExitCode::done)
    return code;
  ExitCode code = planWithRecompute(
      {job, pipeline, model.getLayers(), model.getCluster(job, pipeline),
       model.getLastLayers(),
       model.isMeasured() ? "the program that was measured" : "the model"},
      loaded);
  return isRefused ? phases::scheduled.failure : code;
}
