//===- JobPlanner.h - Plans the pipeline of a job ---------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_JOBPLANNER_H
#define HFTA_LIB_DRIVER_JOBPLANNER_H

#include "Input.h"
#include "Planner.h"

namespace mlir::hfta {

/// Reports that `--costs` has no effect.
ExitCode refuseCosts(llvm::raw_ostream &errors);

/// Finds what a job leaves to the planner (stages, the number of micro-batches,
/// their order, or how many are in flight) and writes it into the job of its
/// module.
class JobPlanner {
public:
  /// Keeps references to all arguments, which must outlive the planner.
  /// `prepare` prepares a module that was loaded again as the first one was; it
  /// finds it in the variable that `plan` was given.
  JobPlanner(const DriverOptions &options, llvm::SourceMgr &sources,
             llvm::raw_ostream &errors, llvm::function_ref<ExitCode()> prepare)
      : options(options), sources(sources), errors(errors), prepare(prepare),
        diagnostics(sources, errors) {}

  /// Whether a loaded job has something to plan, or a memory of its cluster
  /// that its stages must fit into.
  bool isNeeded(const LoadedModule &loaded) const;
  /// Plans the module, which was just imported. If another number of
  /// micro-batches is best, the module is loaded again. Each stage's worker
  /// must fit into the cluster's memory by its planned segments.
  ExitCode plan(LoadedModule &loaded);

  const SimulatedPlan &getPlan() const { return result; }

private:
  ExitCode readPlanFile(const Job &job, const PipelineRequest &pipeline,
                        ModuleOp module);
  ExitCode checkPlan(const Job &job, const PipelineRequest &pipeline,
                     llvm::StringRef digest);
  ExitCode planWithRecompute(PlanningProblem problem, LoadedModule &loaded);
  ExitCode planWithinMemory(PlanningProblem problem, LoadedModule &loaded);
  ExitCode measureShortage(PlanningProblem problem, LoadedModule &loaded);
  ExitCode tellLeastMemory(PlanningProblem problem,
                           const planning::PlanFailure *kept,
                           LoadedModule &loaded);
  ExitCode tryPlan(const PlanningProblem &problem, int64_t memory,
                   LoadedModule &loaded, int64_t &unknown);
  ExitCode apply(const PipelineRequest &pipeline, LoadedModule &loaded);
  ExitCode checkPlanOptions();
  ExitCode checkCuts(const PipelineRequest &pipeline, ModuleOp module);
  ExitCode checkOrder(const Job &job, const PipelineRequest &pipeline);
  ExitCode reload(const PipelineRequest &pipeline, LoadedModule &loaded);
  ExitCode measurePeaks(ModuleOp module);
  ExitCode checkMemory(Job job, ModuleOp module);

  const DriverOptions &options;
  llvm::SourceMgr &sources;
  llvm::raw_ostream &errors;
  llvm::function_ref<ExitCode()> prepare;
  JobDiagnostics diagnostics;
  SimulatedPlan result;
  bool isRefused = false; ///< the module can't be lowered, which was reported
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_JOBPLANNER_H
