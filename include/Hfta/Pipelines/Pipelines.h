//===- Pipelines.h - From phase to phase ------------------------*- C++ -*-===//
//
// One pass pipeline for each phase of the compiler. It begins with the output
// of the previous phase, and notes its own phase on the module.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PIPELINES_PIPELINES_H
#define HFTA_PIPELINES_PIPELINES_H

#include "Hfta/Conversion/LowerGpuKernels.h"

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

struct PlannedPipelineOptions : PassPipelineOptions<PlannedPipelineOptions> {
  Option<bool> byElements{
      *this, "by-elements",
      llvm::cl::desc(
          "form kernels for a GPU, whose threads compute single elements"),
      llvm::cl::init(false)};
  Option<bool> accumulates{
      *this, "accumulates",
      llvm::cl::desc("several backwards may come before an update, which adds "
                     "up their gradients"),
      llvm::cl::init(false)};
};

/// Builds the passes that divide tasks into kernels and plan their memory.
void buildPlannedPipeline(OpPassManager &pm,
                          const PlannedPipelineOptions &options);

struct ScheduledPipelineOptions
    : PassPipelineOptions<ScheduledPipelineOptions> {};

/// Builds the passes that turn tasks into lists of launches, and create the
/// schedules that run tasks.
void buildScheduledPipeline(OpPassManager &pm,
                            const ScheduledPipelineOptions &options);

struct LinalgPipelineOptions : PassPipelineOptions<LinalgPipelineOptions> {
  Option<bool> byElements{*this, "by-elements",
                          llvm::cl::desc("keep products whole for a GPU, whose "
                                         "threads compute single elements"),
                          llvm::cl::init(false)};
};

/// Builds the passes that lower kernels to linalg on tensors.
void buildLinalgPipeline(OpPassManager &pm,
                         const LinalgPipelineOptions &options);

struct LLVMPipelineOptions : PassPipelineOptions<LLVMPipelineOptions> {
  Option<bool> verifySums{
      *this, "verify-sums",
      llvm::cl::desc("check after each step that sums keep their order"),
      llvm::cl::init(false)};
};

/// Builds the passes that lower kernels to the LLVM dialect for the module's
/// `hfta.target`, and all else to the constant table hfta_program.
void buildLLVMPipeline(OpPassManager &pm, const LLVMPipelineOptions &options);

/// Builds the passes that lower kernels to the NVVM dialect, in a nested
/// module, and all else to the constant table hfta_program.
void buildGpuPipeline(OpPassManager &pm, const LowerGpuKernelsOptions &options);

/// Builds the passes that lower the kernels of planned tasks, for the module's
/// `hfta.target`, only as far as needed to know the size of their scratch
/// memory.
void buildScratchPipeline(OpPassManager &pm);

/// Registers the pipelines of all phases as `hfta-PHASE-pipeline`.
void registerPipelines();

} // namespace mlir::hfta

#endif // HFTA_PIPELINES_PIPELINES_H
