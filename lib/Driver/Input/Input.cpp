//===- Input.cpp - From input files to a module ---------------------------===//

#include "Input/Input.h"
#include "Input/Jobs.h"

#include "Hfta/Language/Files.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Pipelines/Passes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

unsigned hfta::readText(llvm::StringRef path, llvm::SourceMgr &sources,
                        llvm::raw_ostream &errors) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = openText(path);
  if (file)
    return sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  errors << "hftac: error: " << llvm::toString(file.takeError()) << '\n';
  return 0;
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

static ExitCode getExitCode(FrontEndFailure failure) {
  switch (failure) {
  case FrontEndFailure::none:
    return ExitCode::done;
  case FrontEndFailure::usage:
    return ExitCode::usage;
  case FrontEndFailure::input:
    return ExitCode::input;
  case FrontEndFailure::unsupported:
    return ExitCode::unsupported;
  }
  llvm_unreachable("all failures are listed");
}

/// Adds the job's text to `sources`. Returns the text's number, or 0 after an
/// error.
static unsigned readJobText(const DriverOptions &options,
                            llvm::SourceMgr &sources,
                            llvm::raw_ostream &errors) {
  const std::optional<JobText> &job = options.jobText;
  if (!job)
    return readText(options.inputs.front(), sources, errors);
  return sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(job->text, job->name),
      llvm::SMLoc());
}

/// Parses the job file, if there is one, and applies the options for the job.
static ExitCode parseJobs(const DriverOptions &options,
                          JobDiagnostics &diagnostics,
                          llvm::raw_ostream &errors, ast::JobFile &file) {
  JobOptions job;
  job.flags = options.jobFlags;
  if (options.inputKind == InputKind::job) {
    unsigned id = readJobText(options, diagnostics.getSources(), errors);
    if (id == 0)
      return ExitCode::input;
    file = parseJobFile(id, diagnostics);
    checkJobNames(file, diagnostics);
    if (diagnostics.hasErrors())
      return ExitCode::input;
    if (ExitCode code = chooseJobs(options, file, errors);
        code != ExitCode::done)
      return code;
  } else {
    job.models = options.inputs;
  }
  addJobOptions(file, job, diagnostics);
  return diagnostics.hasErrors() ? ExitCode::input : ExitCode::done;
}

static ExitCode loadJobs(const DriverOptions &options, MLIRContext *context,
                         llvm::SourceMgr &sources, llvm::raw_ostream &errors,
                         std::vector<LoadedModule> &loaded) {
  if (!options.dataDirectory.empty() &&
      !llvm::sys::fs::is_directory(options.dataDirectory)) {
    errors << "hftac: error: option '--data': no folder '"
           << options.dataDirectory << "'\n";
    return ExitCode::input;
  }
  JobDiagnostics diagnostics(sources, errors);
  ast::JobFile file;
  if (ExitCode code = parseJobs(options, diagnostics, errors, file);
      code != ExitCode::done)
    return code;
  FrontEndOptions frontEnd;
  frontEnd.dataDirectory = options.dataDirectory;
  frontEnd.fuse = options.fuse;
  // GPUs compute so many small copies in little more time than one.
  constexpr int64_t kSlotsOnGpu = 32;
  if (options.target->hasImages())
    frontEnd.automaticSlots = kSlotsOnGpu;
  frontEnd.withoutDropout = options.checkGradients;
  if (ExitCode code =
          readConstants(options.constants, context, errors, frontEnd.constants);
      code != ExitCode::done)
    return code;
  FrontEndFailure failure = FrontEndFailure::none;
  std::vector<JobModule> jobs =
      buildJobModules(context, file, frontEnd, diagnostics, failure);
  if (jobs.empty())
    return getExitCode(failure);
  if (ExitCode code = checkArrays(options, jobs, errors);
      code != ExitCode::done)
    return code;
  for (JobModule &job : jobs) {
    // A job's name has no dot, so that its arrays' differ from other jobs'.
    if (job.arrays > 1)
      job.name += "." + std::to_string(job.array);
    loaded.push_back({std::move(job.name), std::move(job.title),
                      std::move(job.module), &phases::import,
                      std::move(job.pipeline), job.array});
  }
  return ExitCode::done;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static ExitCode failModule(llvm::raw_ostream &errors, llvm::StringRef path,
                           const llvm::Twine &message, ExitCode code) {
  errors << path << ": error: " << message << '\n';
  return code;
}

/// Checks that a module in this phase of a target can be compiled as the
/// options say.
static ExitCode checkPhase(const DriverOptions &options,
                           llvm::raw_ostream &errors, const Target &target,
                           Phase phase) {
  llvm::StringRef path = options.inputs.front();
  Phase last = options.plan ? &phases::planned : options.emit;
  const Target *branch = findBranch(phase);
  if (branch && options.isTargetGiven && &target != options.target)
    return failModule(errors, path,
                      "module is in phase '" + phase->name + "' of target '" +
                          target.getName() + "', not of '" +
                          options.target->getName() + "'",
                      ExitCode::usage);
  if (comesAfter(phase, last))
    return failModule(errors, path,
                      "module is in phase '" + phase->name +
                          "', which comes after '" + last->name + "'",
                      ExitCode::usage);
  for (const TargetOption &option : target.getOptions())
    if (options.targetOptions.contains(option.name) && option.end &&
        !comesAfter(option.end, phase))
      return failModule(errors, path,
                        "option '" + option.name +
                            "' has no effect on a module in phase '" +
                            phase->name + "'",
                        ExitCode::usage);
  if (!options.cuts.empty() && comesAfter(phase, &phases::fused))
    return failModule(errors, path,
                      "option '--cuts' has no effect on a module in phase '" +
                          phase->name + "'",
                      ExitCode::usage);
  return ExitCode::done;
}

static ExitCode loadModule(const DriverOptions &options, MLIRContext *context,
                           llvm::SourceMgr &sources, llvm::raw_ostream &errors,
                           LoadedModule &loaded) {
  llvm::StringRef path = options.inputs.front();
  if (readText(path, sources, errors) == 0)
    return ExitCode::input;
  loaded.module = parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  if (!loaded.module)
    return ExitCode::input;
  ModuleOp module = *loaded.module;
  auto name = module->getAttrOfType<StringAttr>(kPhaseAttrName);
  if (!name)
    return failModule(errors, path,
                      "module has no '" + kPhaseAttrName +
                          "' that names the phase to continue from",
                      ExitCode::input);
  if (module->hasAttr(HftaDialect::kJobAttrName)) {
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return ExitCode::input;
    if (job->search.arrays > 1)
      return failModule(errors, path,
                        "the module is one of several arrays of a search, "
                        "which are compiled together from the job file",
                        ExitCode::unsupported);
  }
  // A module in a late phase is for its own target; one in an earlier phase is
  // for any target.
  const Target *target = options.target;
  if (TargetAttr::get(*loaded.module))
    target = Target::read(*loaded.module);
  if (!target)
    return ExitCode::input;
  Phase phase = findPhase(name.getValue(), *target);
  if (!phase || !isMLIR(phase))
    return failModule(errors, path,
                      "'" + kPhaseAttrName + "' is '" + name.getValue() +
                          "', which is no phase of a module",
                      ExitCode::input);
  if (ExitCode code = checkPhase(options, errors, *target, phase);
      code != ExitCode::done)
    return code;
  loaded.phase = phase;
  return ExitCode::done;
}

ExitCode hfta::loadInputs(const DriverOptions &options, MLIRContext *context,
                          llvm::SourceMgr &sources, llvm::raw_ostream &errors,
                          std::vector<LoadedModule> &loaded) {
  loaded.clear();
  if (options.inputKind != InputKind::mlir)
    return loadJobs(options, context, sources, errors, loaded);
  return loadModule(options, context, sources, errors, loaded.emplace_back());
}
