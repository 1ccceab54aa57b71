//===- JobPlanner.h - Plans the pipeline of a job ---------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_JOBPLANNER_H
#define HFTA_LIB_DRIVER_JOBPLANNER_H

#include "Input.h"
#include "Planner.h"

namespace mlir::hfta {

/// Says that `--costs` is of no use.
ExitCode refuseCosts(llvm::raw_ostream &errors);

/// Finds what a job leaves to the planner (stages, micro-batches, the order, or
/// how many are in flight) and writes it into the job of its module.
class JobPlanner {
public:
  /// All are kept and outlive the planner.
  JobPlanner(const DriverOptions &options, llvm::SourceMgr &sources,
             llvm::raw_ostream &errors)
      : options(options), sources(sources), errors(errors),
        diagnostics(sources, errors) {}

  /// Whether there is something to plan of a job that was loaded, or memory of
  /// its cluster that its stages must fit into.
  bool isNeeded(const LoadedModule &loaded) const;
  /// The module, just imported, is loaded once more where another number of
  /// micro-batches is best. Each stage's worker fits into the cluster's memory
  /// by its planned segments.
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
  JobDiagnostics diagnostics;
  SimulatedPlan result;
  bool isRefused = false; ///< the module can't be lowered, as was told
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_JOBPLANNER_H
