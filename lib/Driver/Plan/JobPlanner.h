//===- JobPlanner.h - Plans the pipeline of a job ---------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_JOBPLANNER_H
#define HFTA_LIB_DRIVER_PLAN_JOBPLANNER_H

#include "Input/Input.h"
#include "Plan/Planner.h"

namespace mlir::hfta {

/// Writes the error that `--costs` has no effect.
ExitCode refuseCosts(llvm::raw_ostream &errors);

/// Chooses what a job leaves to the planner (stages, the number of
/// micro-batches, their order, how many are in flight) and writes it into the
/// module's `hfta.job`.
class JobPlanner {
public:
  /// Keeps references to all arguments, which must outlive the planner. `plan`
  /// may have to load its module again, into the same variable; then it calls
  /// `prepare`, which must prepare the new module as the caller had prepared
  /// the first.
  JobPlanner(const DriverOptions &options, llvm::SourceMgr &sources,
             llvm::raw_ostream &errors, llvm::function_ref<ExitCode()> prepare)
      : options(options), sources(sources), errors(errors), prepare(prepare),
        diagnostics(sources, errors) {}

  /// Returns whether the job has something to plan, or gives the memory of its
  /// cluster, into which its stages must fit.
  bool isNeeded(const LoadedModule &loaded) const;
  /// Plans a module that was just imported. Loads the module again if another
  /// number of micro-batches is best. An error is reported if the planned
  /// segments of a stage's worker don't fit into the cluster's memory.
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
  /// Whether the module can't be lowered, which was reported.
  bool isRefused = false;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_JOBPLANNER_H
