//===- CostsFile.cpp - The file that --costs names ------------------------===//

#include "Plan/CostsFile.h"
#include "Plan/LayerCosts.h"

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Transforms/Tasks/MeasuredTasks.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

ExitCode hfta::failCosts(llvm::StringRef path, llvm::Error error,
                         llvm::raw_ostream &errors) {
  errors << path << ": error: " << llvm::toString(std::move(error))
         << "\nhint: costs are what 'bench --phases --json' prints: of the "
            "job's program compiled with '--cuts=all' or, for a "
            "preconditioner, of the program itself\n";
  return ExitCode::input;
}

std::optional<MeasuredCosts> hfta::readCostsFile(const DriverOptions &options,
                                                 llvm::raw_ostream &errors) {
  llvm::SourceMgr files;
  unsigned id = readText(options.costs, files, errors);
  if (id == 0)
    return std::nullopt;
  llvm::Expected<MeasuredCosts> read =
      readCosts(files.getMemoryBuffer(id)->getBuffer());
  if (read)
    return std::move(*read);
  failCosts(options.costs,
            llvm::createStringError("no measured costs: " +
                                    llvm::toString(read.takeError())),
            errors);
  return std::nullopt;
}

llvm::Error hfta::checkCosts(const MeasuredCosts &costs, llvm::StringRef model,
                             int64_t copies) {
  if (costs.model != model)
    return llvm::createStringError(
        "model: expected the digest of the job's model and optimizer, '" +
        model + "', got '" + costs.model + "'");
  if (costs.copies != copies)
    return llvm::createStringError("copies: expected the job's " +
                                   llvm::Twine(copies) + ", got " +
                                   llvm::Twine(costs.copies));
  return llvm::Error::success();
}

bool hfta::takesKfacCosts(const DriverOptions &options,
                          const LoadedModule &loaded) {
  if (options.costs.empty() || options.planPipeline ||
      loaded.phase != &phases::import || options.inputKind == InputKind::mlir ||
      loaded.pipeline.plansStages || !loaded.pipeline.planFile.empty())
    return false;
  FailureOr<Job> job = Job::read(*loaded.module);
  return succeeded(job) && job->training && !job->preconditioner.empty() &&
         job->getStageCount() == 1 && job->getReplicas() > 1;
}

bool hfta::takesBudgetCosts(const DriverOptions &options,
                            const LoadedModule &loaded) {
  if (options.costs.empty() || options.planPipeline ||
      loaded.phase != &phases::import || options.inputKind == InputKind::mlir)
    return false;
  FailureOr<Job> job = Job::read(*loaded.module);
  return succeeded(job) && job->training && job->hasBudget() &&
         job->getWorkers() == 1 && job->getGroups() == 1;
}

ExitCode hfta::loadTaskCosts(const DriverOptions &options, LoadedModule &loaded,
                             llvm::raw_ostream &errors) {
  FailureOr<Job> job = Job::read(*loaded.module);
  FailureOr<std::string> model = digestModel(*loaded.module);
  if (failed(job) || failed(model))
    return ExitCode::input;
  std::optional<MeasuredCosts> costs = readCostsFile(options, errors);
  if (!costs)
    return ExitCode::input;
  if (llvm::Error error = checkCosts(*costs, *model, job->copies))
    return failCosts(options.costs, std::move(error), errors);
  MeasuredTasks{options.costs, std::move(*costs)}.write(*loaded.module);
  return ExitCode::done;
}
