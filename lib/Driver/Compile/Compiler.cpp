//===- Compiler.cpp - Runs the phases -------------------------------------===//

#include "Compile/DiagnosticPrinter.h"
#include "Compile/JobCode.h"
#include "Compile/Timing.h"
#include "Input/Input.h"
#include "Input/InputFiles.h"
#include "Plan/BudgetReport.h"
#include "Plan/CostsFile.h"
#include "Plan/JobPlanner.h"
#include "Plan/JobsReport.h"
#include "Plan/LowerCopy.h"
#include "Plan/MemoryPlanner.h"
#include "Plan/PlanReport.h"
#include "Plan/SearchReport.h"
#include "Plan/StepEstimate.h"

#include "Compile/Compiler.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/Notes.h"
#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Driver/Compile/Trained.h"
#include "Hfta/Driver/Plan/Plan.h"
#include "Hfta/InitAll.h"
#include "Hfta/Link/Library.h"
#include "Hfta/Link/Link.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Support/Output.h"
#include "Hfta/Target/Target.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Spill/MemoryNeeds.h"
#include "Hfta/Transforms/Tasks/MeasuredTasks.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

class Compiler {
public:
  Compiler(const DriverOptions &options, llvm::raw_ostream &errors)
      : options(options), errors(errors), context(makeRegistry()),
        printer(&context, sources, errors, options.remarks),
        timing(options.verbose ? &errors : nullptr) {
    context.printOpOnDiagnostic(false);
    if (getThreadLimit() == 1)
      context.disableMultithreading();
    if (options.remarks)
      enableRemarks(&context);
  }

  ExitCode run();
  /// Returns the objects of a generated job, once it has been compiled.
  std::vector<std::string> takeObjects() { return std::move(objects); }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  ExitCode compile();
  ExitCode ofEachJob(ExitCode (Compiler::*work)());
  ExitCode prepareJob();
  ExitCode compileJob();
  ExitCode finish();
  ExitCode adoptTarget();
  ExitCode createDeviceCompiler();
  ExitCode setTarget();
  ExitCode checkInputs();
  ExitCode checkOutput();
  ExitCode checkCuts();
  ExitCode checkSamples();
  ExitCode prepareModule();
  ExitCode planPipeline();
  ExitCode planMemory();
  ExitCode measureScratch();
  ExitCode reportBudget(std::optional<BudgetReport> &report);
  ExitCode drawPlanned(const std::optional<BudgetReport> &budget);
  ExitCode printPlanned();
  ExitCode reportJob(const std::optional<BudgetReport> &budget);
  /// Runs the passes of `phase` on a module in phase `before`.
  ExitCode runPasses(Phase before, Phase phase);
  ExitCode lowerTo(Phase last);
  LogicalResult reportTrainedTensors();
  ExitCode emitModule();
  ExitCode generateCode();
  ExitCode link();
  ExitCode fail(ExitCode code, llvm::Error error);

  /// Returns "NAME: " with the current job's name, as a prefix of messages;
  /// empty if there is only one job.
  std::string getLabel() const {
    return programs.size() > 1 ? loaded.title + ": " : "";
  }
  /// Returns the prefix of kernels' symbols. A library has one, as its kernels
  /// may be linked with those of other libraries.
  std::string getKernelPrefix() const {
    return options.emit == &phases::library
               ? getSymbolPrefix(getLibraryName(options.output))
               : "";
  }
  Linker getLinker() const {
    return options.linker.value_or(getLinkers().front());
  }
  void begin(llvm::StringRef step) { timing.begin(getLabel() + step.str()); }

  DriverOptions options; ///< with the target of an .mlir input
  llvm::raw_ostream &errors;
  llvm::SourceMgr sources;
  MLIRContext context;
  DiagnosticPrinter printer;
  Timing timing;
  std::vector<LoadedModule> jobs;
  LoadedModule loaded; ///< the current job
  /// Notes that the current job mixes samples. They are printed after it is
  /// planned.
  std::vector<Diagnostic> sampleNotes;
  /// The result of planMemory, for a job with a memory budget.
  bool plansMemory = true;
  std::unique_ptr<DeviceCompiler> device; ///< null if all code is the host's
  std::vector<std::string> programs;      ///< symbols of all jobs' programs
  std::vector<std::string> objects;       ///< objects of all jobs, to be linked
  std::string plans;                      ///< texts of `--plan` for all jobs
  KernelObjects kernels;                  ///< the kernels of the current job
  JobsReport report;                      ///< the summary of several jobs
  std::string trainedTensors; ///< the last job's text of reportTrained
};

} // namespace

ExitCode Compiler::fail(ExitCode code, llvm::Error error) {
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return code;
}

//===----------------------------------------------------------------------===//
// MLIR
//===----------------------------------------------------------------------===//

/// Continues with the target of a module that was read as text, unless the
/// command line names one.
ExitCode Compiler::adoptTarget() {
  TargetAttr target = TargetAttr::get(*jobs.front().module);
  if (!target)
    return ExitCode::done;
  const Target *found = Target::read(*jobs.front().module);
  if (!found)
    return ExitCode::input;
  if (!found->accepts(target.getMachine())) {
    errors << "hftac: error: the module's 'hfta.target' describes no machine "
              "of '--target="
           << found->getName() << "'\n";
    return ExitCode::input;
  }
  if (!options.isTargetGiven)
    options.target = found;
  return ExitCode::done;
}

/// Whether a phase's module is for one target.
static bool hasTarget(Phase phase) { return comesAfter(phase, &phases::fused); }

/// Sets the module's target, if something is done for which it is needed. The
/// target that a text has is kept, unless options name other machines.
ExitCode Compiler::setTarget() {
  bool isNeeded =
      options.plan || options.planPipeline || hasTarget(options.emit);
  bool isKnown = TargetAttr::get(*loaded.module) != nullptr;
  bool areGiven = llvm::any_of(
      options.target->getOptions(), [&](const TargetOption &option) {
        return option.namesMachines &&
               options.targetOptions.contains(option.name);
      });
  if (!isNeeded || (isKnown && !areGiven))
    return ExitCode::done;
  TargetAttr target;
  if (std::optional<UsageError> error =
          options.target->resolve(&context, options.targetOptions, target)) {
    errors << "hftac: error: " << error->message << '\n';
    if (!error->hint.empty())
      errors << "hint: " << error->hint << '\n';
    return ExitCode::unsupported;
  }
  loaded.module->getOperation()->setAttr(HftaDialect::kTargetAttrName, target);
  return ExitCode::done;
}

/// Checks that no output overwrites an input, also if their paths differ.
ExitCode Compiler::checkInputs() {
  std::vector<std::string> outputs = {options.output, options.timeline};
  if (options.emit == &phases::library)
    outputs.push_back(
        getHeaderPath(getLibraryName(options.output), options.output));
  for (const std::string &output : outputs)
    if (std::optional<std::string> input =
            findReplacedInput(output, options, loaded)) {
      errors << "hftac: error: the output '" << output
             << "' would replace the input '" << *input << "'\n";
      return ExitCode::usage;
    }
  return ExitCode::done;
}

/// Checks, before long work begins, that the output can be linked and written.
ExitCode Compiler::checkOutput() {
  if (options.checkGradients || (options.plan && options.timeline.empty()))
    return ExitCode::done;
  if (options.plan)
    return checkPlanOutputs(options, errors) ? checkInputs() : ExitCode::usage;
  if (ExitCode code = checkInputs(); code != ExitCode::done)
    return code;
  if (!isLinked(options.emit) &&
      (options.output == "-" || isSpecialFile(options.output)))
    return ExitCode::done;
  if (options.emit == &phases::executable)
    if (llvm::Error error = checkLinker(getLinker()))
      return fail(ExitCode::cannotWrite, std::move(error));
  if (llvm::Error error = OutputFile::create(options.output).takeError())
    return fail(ExitCode::cannotWrite, std::move(error));
  return ExitCode::done;
}

/// Plans what the job leaves to the planner. With `--plan-pipeline`, this is
/// the last step.
ExitCode Compiler::planPipeline() {
  const PipelineRequest &pipeline = loaded.pipeline;
  if (!options.cuts.empty() &&
      (pipeline.plansStages || !pipeline.planFile.empty())) {
    errors << "hftac: error: option '--cuts' and a pipeline that is planned "
              "exclude each other\n"
              "hint: --pipeline='replicas = [1]' takes the place of this\n";
    return ExitCode::usage;
  }
  bool takesCosts =
      takesKfacCosts(options, loaded) || takesBudgetCosts(options, loaded);
  if (takesCosts)
    if (ExitCode code = loadTaskCosts(options, loaded, errors);
        code != ExitCode::done)
      return code;
  auto prepare = [this] { return prepareModule(); };
  JobPlanner planner(options, sources, errors, prepare);
  if (!planner.isNeeded(loaded))
    return options.costs.empty() || takesCosts ? ExitCode::done
                                               : refuseCosts(errors);
  if (options.planPipeline) {
    if (!checkPlanOutputs(options, errors))
      return ExitCode::usage;
    if (ExitCode code = checkInputs(); code != ExitCode::done)
      return code;
  }
  begin("plan");
  if (ExitCode code = planner.plan(loaded); code != ExitCode::done)
    return code;
  if (options.planPipeline)
    return reportPlan(planner.getPlan(), options, errors);
  if (loaded.pipeline.plansStages)
    reportStages(planner.getPlan().plan, getLabel(), errors);
  return ExitCode::done;
}

/// Checks the cuts before the phase that cuts the model into blocks: wrong cuts
/// are an error of the input, but errors in that phase aren't.
ExitCode Compiler::checkCuts() {
  FailureOr<Job> job = Job::read(*loaded.module);
  if (failed(job))
    return ExitCode::input;
  if (!options.cuts.empty() && job->getStageCount() > 1) {
    errors
        << "hftac: error: option '--cuts' and the cuts of the job's pipeline "
           "exclude each other\n"
           "hint: --pipeline='replicas = [1]' takes the place of these\n";
    return ExitCode::usage;
  }
  PassManager passes(&context, ModuleOp::getOperationName());
  HftaPlanPipelineOptions plan;
  plan.cuts.assign(options.cuts.begin(), options.cuts.end());
  passes.addPass(createHftaPlanPipeline(std::move(plan)));
  return succeeded(passes.run(*loaded.module)) ? ExitCode::done
                                               : ExitCode::input;
}

/// Determines whether the model mixes samples, before anything is planned: a
/// batch of such a model may not be cut into micro-batches. The pass's notes
/// are kept for later, because they mention the micro-batch, which may still be
/// planned.
ExitCode Compiler::checkSamples() {
  ModuleOp module = *loaded.module;
  // A module without models can't be compiled, but can be read and printed.
  if (loaded.phase != &phases::import || module.getOps<ModelOp>().empty())
    return ExitCode::done;
  if (failed(Job::read(module)))
    return ExitCode::input;
  sampleNotes.clear();
  ScopedDiagnosticHandler keepNotes(&context, [&](Diagnostic &message) {
    if (!isNote(message))
      return failure();
    sampleNotes.push_back(std::move(message));
    return success();
  });
  PassManager passes(&context, ModuleOp::getOperationName());
  passes.addPass(createHftaFindMixedSamples());
  unsigned errorCount = printer.getErrorCount();
  if (failed(passes.run(module)))
    return printer.getErrorCount() > errorCount ? ExitCode::unsupported
                                                : ExitCode::internal;
  if (module->hasAttr(kLossMixedByAttrName))
    loaded.pipeline.plansMicroBatches = false;
  return ExitCode::done;
}

/// Prepares a module that was just imported, or imported again.
ExitCode Compiler::prepareModule() {
  collectTrainingNotes(*loaded.module);
  if (ExitCode code = setTarget(); code != ExitCode::done)
    return code;
  return checkSamples();
}

/// Plans the memory of a step within a budget, before tasks are created. Does
/// nothing for jobs whose memory isn't planned. Errors are left to the passes
/// that find them again.
ExitCode Compiler::planMemory() {
  FailureOr<Job> job = Job::read(*loaded.module);
  if (failed(job))
    return ExitCode::input;
  plansMemory = job->hasBudget() && job->training && job->spill != "host" &&
                job->getWorkers() == 1 && job->getGroups() == 1;
  if (!plansMemory)
    return ExitCode::done;
  plansMemory = MemoryPlanner(*loaded.module, *job, options.cuts).plan();
  return ExitCode::done;
}

/// Notes the scratch memory of a module's kernels on the module if the job has
/// a memory budget, since the plan of transfers depends on it. To measure it,
/// lowers the kernels of a clone.
ExitCode Compiler::measureScratch() {
  FailureOr<Job> job = Job::read(*loaded.module);
  if (failed(job))
    return ExitCode::input;
  if (!job->hasBudget())
    return ExitCode::done;
  ModuleOp module = *loaded.module;
  OwningOpRef<ModuleOp> copy = lowerCopy(module, [this](OpPassManager &passes) {
    options.target->addScratchPasses(passes);
  });
  if (!copy)
    return ExitCode::internal;
  std::optional<int64_t> bytes = findScratch(*copy);
  if (!bytes)
    return ExitCode::internal;
  module->setAttr(HftaDialect::kScratchBytesAttrName,
                  Builder(&context).getI64IntegerAttr(*bytes));
  return ExitCode::done;
}

ExitCode Compiler::runPasses(Phase before, Phase phase) {
  if (phase == &phases::train)
    for (auto prepare : {&Compiler::checkCuts, &Compiler::planMemory})
      if (ExitCode code = (this->*prepare)(); code != ExitCode::done)
        return code;
  if (phase == &phases::scheduled)
    if (ExitCode code = measureScratch(); code != ExitCode::done)
      return code;
  PipelineSettings settings;
  settings.target = options.target;
  settings.machine = TargetAttr::get(*loaded.module);
  settings.cuts = options.cuts;
  settings.plansMemory = plansMemory;
  settings.accumulates = accumulates(options.emit);
  settings.verifySums = std::getenv("HFTA_VERIFY_SUMS") != nullptr;
  FailureOr<Job> job = Job::read(*loaded.module);
  if (failed(job))
    return ExitCode::input;
  // Estimate costs while tasks are still functions. In the next phase they
  // become tables of launches.
  bool isTimed = phase == &phases::scheduled && job->training;
  FailureOr<StepCosts> costs = StepCosts();
  if (isTimed)
    costs = estimateTasks(*loaded.module, *job);
  if (failed(costs))
    return ExitCode::input;
  if (phase == options.target->getKernelPhase() && isLinked(options.emit))
    kernels.replaceKnown(*loaded.module, getKernelPrefix(),
                         settings.verifySums);
  PassManager passes(&context, ModuleOp::getOperationName());
#ifdef NDEBUG
  // Verifying after each pass would take a seventh of the time. The result of
  // each phase is verified in any case.
  passes.enableVerifier(false);
#endif
  phase->addPasses(passes, settings);
  unsigned errorCount = printer.getErrorCount();
  if (succeeded(passes.run(*loaded.module)) &&
      (!isTimed || succeeded(noteStepSeconds(*loaded.module, *job, *costs))) &&
      succeeded(verify(*loaded.module)))
    return ExitCode::done;
  if (printer.getErrorCount() == errorCount)
    errors << "hftac: error: phase '" << phase->name << "' failed\n";
  if (MeasuredTasks::wereRefused(*loaded.module))
    return ExitCode::input;
  // A module that was read as text may contain what no pass would produce. So a
  // failure of the first phase is an error of the input, not an internal one.
  bool readsText =
      options.inputKind == InputKind::mlir && before == loaded.phase;
  return readsText && phase->failure == ExitCode::internal ? ExitCode::input
                                                           : phase->failure;
}

ExitCode Compiler::lowerTo(Phase last) {
  llvm::SmallVector<Phase> path = getPath(*options.target);
  for (auto [before, phase] : llvm::zip(path, llvm::drop_begin(path))) {
    if (!comesAfter(phase, loaded.phase) || comesAfter(phase, last) ||
        !phase->addPasses)
      continue;
    begin(phase->name);
    if (ExitCode code = runPasses(before, phase); code != ExitCode::done)
      return code;
    if (phase == &phases::train && failed(reportTrainedTensors()))
      return ExitCode::input;
    if (phase == &phases::planned &&
        failed(reportSearch(*loaded.module, getLabel(), errors)))
      return ExitCode::input;
  }
  return ExitCode::done;
}

/// Says which tensors the job trains, once for all arrays of a search that
/// train the same ones.
LogicalResult Compiler::reportTrainedTensors() {
  std::string text, label = getLabel();
  llvm::raw_string_ostream os(text);
  LogicalResult result = reportTrained(*loaded.module, label, os);
  std::string unlabelled = text;
  if (size_t at = text.find(label); at != std::string::npos)
    unlabelled.erase(at, label.size());
  if (loaded.array == 0 || unlabelled != trainedTensors || failed(result))
    errors << text;
  trainedTensors = std::move(unlabelled);
  return result;
}

ExitCode Compiler::emitModule() {
  begin("print");
  if (!hasTarget(options.emit))
    loaded.module->getOperation()->removeAttr(HftaDialect::kTargetAttrName);
  std::string text;
  llvm::raw_string_ostream os(text);
  loaded.module->print(os, OpPrintingFlags().enableDebugInfo());
  os << '\n';
  if (llvm::Error error = writeOutput(options.output, text))
    return fail(ExitCode::cannotWrite, std::move(error));
  return ExitCode::done;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

ExitCode Compiler::generateCode() {
  JobCode code{*loaded.module, loaded.name,
               programs,       options,
               device.get(),   [&](llvm::StringRef step) { begin(step); },
               errors,         kernels};
  return code.generate(objects);
}

ExitCode Compiler::link() {
  timing.begin(options.emit->name);
  llvm::Error error =
      options.emit == &phases::executable
          ? linkProgram(objects, options.output, getLinker())
          : writeLibrary(objects, getLibraryName(options.output),
                         options.output);
  if (error)
    return fail(ExitCode::cannotWrite, std::move(error));
  return ExitCode::done;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

ExitCode Compiler::compile() {
  timing.begin("import");
  if (ExitCode code = loadInputs(options, &context, sources, errors, jobs);
      code != ExitCode::done)
    return code;
  if (ExitCode code = adoptTarget(); code != ExitCode::done)
    return code;
  for (const LoadedModule &job : jobs)
    programs.push_back(jobs.size() == 1
                           ? kProgramSymbol.str()
                           : getSymbolPrefix(job.name) + kProgramSymbol.str());
  // Prepare all jobs before compiling any, so that errors in any of them are
  // reported before long work begins.
  for (auto work : {&Compiler::prepareJob, &Compiler::compileJob})
    if (ExitCode code = ofEachJob(work); code != ExitCode::done)
      return code;
  return finish();
}

ExitCode Compiler::ofEachJob(ExitCode (Compiler::*work)()) {
  for (LoadedModule &job : jobs) {
    std::swap(loaded, job);
    ExitCode code = (this->*work)();
    if (code != ExitCode::done && jobs.size() > 1)
      errors << "hftac: note: this is about job '" << loaded.title << "'\n";
    std::swap(loaded, job);
    if (code != ExitCode::done)
      return code;
  }
  return ExitCode::done;
}

/// Prepares the compilation of the device's code, for all jobs, so that missing
/// tools are reported before long work begins.
ExitCode Compiler::createDeviceCompiler() {
  if (device || options.plan || isMLIR(options.emit))
    return ExitCode::done;
  ExitCode code = ExitCode::done;
  device = options.target->createDeviceCompiler(options.targetOptions,
                                                TargetAttr::get(*loaded.module),
                                                options.emit, errors, code);
  return code;
}

/// Checks and decides everything that must be known before code is generated.
/// With `--plan-pipeline`, this is the last step.
ExitCode Compiler::prepareJob() {
  if (ExitCode code =
          checkTarget(*loaded.module, loaded.phase, options, errors);
      code != ExitCode::done)
    return code;
  if (ExitCode code = prepareModule(); code != ExitCode::done)
    return code;
  ExitCode planned = planPipeline();
  for (Diagnostic &note : std::exchange(sampleNotes, {}))
    context.getDiagEngine().emit(std::move(note));
  if (planned != ExitCode::done || options.planPipeline)
    return planned;
  if (ExitCode code = checkJobOnTarget(*loaded.module, options, errors);
      code != ExitCode::done)
    return code;
  if (ExitCode code = createDeviceCompiler(); code != ExitCode::done)
    return code;
  if (loaded.phase == &phases::import)
    loaded.module->getOperation()->setAttr(
        kPhaseAttrName, StringAttr::get(&context, phases::import.name));
  return checkOutput();
}

ExitCode Compiler::compileJob() {
  if (options.planPipeline)
    return ExitCode::done;
  plansMemory = true;
  Phase last = options.plan ? &phases::planned : options.emit;
  ExitCode code = lowerTo(last);
  if (code == ExitCode::done) {
    if (options.plan)
      code = printPlanned();
    else
      code = isMLIR(options.emit) ? emitModule() : generateCode();
  }
  // Free the memory for the next job.
  loaded.module = nullptr;
  kernels.getKernels().clear();
  return code;
}

/// Writes the output that all jobs have in common.
ExitCode Compiler::finish() {
  if (options.checkGradients)
    return ExitCode::done;
  if (!objects.empty())
    return link();
  if (plans.empty() || !options.printsPlan)
    return ExitCode::done;
  if (report.hasSeveral()) {
    llvm::raw_string_ostream os(plans);
    os << "\n";
    report.print(os);
  }
  llvm::Error error = writeOutput("-", plans);
  return error ? fail(ExitCode::cannotWrite, std::move(error)) : ExitCode::done;
}

/// Sets `report` to a report on the memory of a training with a memory budget;
/// leaves it unset for other jobs. Reports an error if the job doesn't fit into
/// the budget.
ExitCode Compiler::reportBudget(std::optional<BudgetReport> &report) {
  FailureOr<Job> job = Job::read(*loaded.module);
  if (failed(job))
    return ExitCode::input;
  if (!job->hasBudget() || !job->training)
    return ExitCode::done;
  if (ExitCode code = measureScratch(); code != ExitCode::done)
    return code;
  FailureOr<BudgetReport> made = BudgetReport::make(*loaded.module, *job);
  if (failed(made))
    return phases::scheduled.failure;
  report = std::move(*made);
  return ExitCode::done;
}

/// Draws a step to the file of `--timeline`: the step within the memory budget,
/// or if there is none, the preconditioner's.
ExitCode Compiler::drawPlanned(const std::optional<BudgetReport> &budget) {
  if (budget)
    return writeTimeline(budget->draw(), options, errors);
  FailureOr<std::optional<planning::Timeline>> timeline =
      drawPreconditioner(*loaded.module);
  if (failed(timeline))
    return ExitCode::input;
  if (*timeline)
    return writeTimeline(**timeline, options, errors);
  errors << "hftac: error: option '--timeline': with '--plan' it draws the "
            "step of a job with 'memory', or how replicas share a "
            "preconditioner's work, and this job has neither\n"
            "hint: '--plan-pipeline' draws the step of a pipeline\n";
  return ExitCode::usage;
}

/// Adds the current job to the summary of several jobs.
ExitCode Compiler::reportJob(const std::optional<BudgetReport> &budget) {
  FailureOr<Job> job = Job::read(*loaded.module);
  if (failed(job))
    return ExitCode::input;
  // Arrays of a search take turns as one job, for as long as its rule says.
  if (!job->training || job->search.arrays > 1)
    return ExitCode::done;
  double seconds = budget ? budget->getStepSeconds() : 0;
  if (!budget) {
    FailureOr<StepEstimate> estimate = estimateStep(*loaded.module, *job);
    if (failed(estimate))
      return phases::scheduled.failure;
    seconds = getStepSeconds(estimate->steps);
  }
  report.add(*job, seconds, budget ? budget->countGroups() : 1,
             getDataFolder(options));
  return ExitCode::done;
}

/// Does the work of `--plan` for the current job: draws the step if
/// `--timeline` is given, and appends the text to `plans`.
ExitCode Compiler::printPlanned() {
  std::optional<BudgetReport> budget;
  if (ExitCode code = reportBudget(budget); code != ExitCode::done)
    return code;
  std::string plan;
  llvm::raw_string_ostream os(plan);
  if (failed(printPlan(*loaded.module, budget ? &*budget : nullptr, os)))
    return ExitCode::input;
  if (!options.timeline.empty())
    if (ExitCode code = drawPlanned(budget);
        code != ExitCode::done || options.timeline == "-")
      return code;
  plans += (plans.empty() ? "" : "\n") + plan;
  return programs.size() > 1 ? reportJob(budget) : ExitCode::done;
}

ExitCode Compiler::run() {
  ExitCode code = compile();
  if (code == ExitCode::internal)
    errors << kBugReport << '\n';
  if (options.timing)
    timing.print(errors);
  return code;
}

ExitCode hfta::compile(const DriverOptions &options,
                       llvm::raw_ostream &errors) {
  return Compiler(options, errors).run();
}

ExitCode hfta::compileObjects(const DriverOptions &options,
                              llvm::raw_ostream &errors,
                              std::vector<std::string> &objects) {
  Compiler compiler(options, errors);
  ExitCode code = compiler.run();
  objects = compiler.takeObjects();
  return code;
}
