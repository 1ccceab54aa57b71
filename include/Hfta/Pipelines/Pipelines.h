//===- Pipelines.h - From phase to phase ------------------------*- C++ -*-===//
//
// One pass pipeline for each phase of the compiler. It begins with the output
// of the previous phase, and notes its own phase on the module.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PIPELINES_PIPELINES_H
#define HFTA_PIPELINES_PIPELINES_H

#include "Hfta/Target/Target.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::hfta {

struct FusedPipelineOptions : PassPipelineOptions<FusedPipelineOptions> {};

/// Builds the passes that fuse the imported models into one model of all
/// copies.
void buildFusedPipeline(OpPassManager &pm, const FusedPipelineOptions &options);

struct TrainPipelineOptions : PassPipelineOptions<TrainPipelineOptions> {
  ListOption<std::string> cuts{
      *this, "cuts",
      llvm::cl::desc(
          "names of the values after which a new block begins, in order")};
  Option<bool> plansMemory{
      *this, "plan-memory",
      llvm::cl::desc(
          "within a budget of memory, plan which values of a step are kept, "
          "spilled or recomputed; if false, all are fetched for each use"),
      llvm::cl::init(true)};
};

/// Builds the passes that lower the fused model to the functions of tasks.
void buildTrainPipeline(OpPassManager &pm, const TrainPipelineOptions &options);

/// Builds the passes that divide tasks into kernels and plan their memory.
/// `accumulates`: see PipelineSettings.
void buildPlannedPipeline(OpPassManager &pm, const Target &target,
                          bool accumulates = false);

struct ScheduledPipelineOptions
    : PassPipelineOptions<ScheduledPipelineOptions> {};

/// Builds the passes that turn tasks into lists of launches, and create the
/// schedules that run tasks.
void buildScheduledPipeline(OpPassManager &pm,
                            const ScheduledPipelineOptions &options);

struct LinalgPipelineOptions : PassPipelineOptions<LinalgPipelineOptions> {};

/// Builds the passes that lower kernels to linalg on tensors.
void buildLinalgPipeline(OpPassManager &pm,
                         const LinalgPipelineOptions &options);

/// Builds the passes from planned tasks to kernels in linalg, which targets
/// lower further to know the size of their scratch memory.
void buildScratchLinalgPipeline(OpPassManager &pm);

/// Adds canonicalization and common-subexpression elimination.
void addCleanUp(OpPassManager &pm);

/// Adds the pass that notes on a module that it has reached a phase.
void addPhaseMark(OpPassManager &pm, llvm::StringRef phase);

/// Registers the pipelines of the phases that all targets have as
/// `hfta-PHASE-pipeline`.
void registerPipelines();

} // namespace mlir::hfta

#endif // HFTA_PIPELINES_PIPELINES_H
