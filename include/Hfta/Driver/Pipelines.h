//===- Pipelines.h - From phase to phase ------------------------*- C++ -*-===//
//
// One pipeline for each phase of the compiler. Each begins where the previous
// one ended, and notes its phase on the module.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DRIVER_PIPELINES_H
#define HFTA_DRIVER_PIPELINES_H

#include "Hfta/Conversion/LowerGpuKernels.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::hfta {

struct FusedPipelineOptions : PassPipelineOptions<FusedPipelineOptions> {};

/// Lowers imported models to one array program.
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

/// Lowers the array program to tasks.
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

/// Lowers tasks to kernels on planned memory.
void buildPlannedPipeline(OpPassManager &pm,
                          const PlannedPipelineOptions &options);

struct ScheduledPipelineOptions
    : PassPipelineOptions<ScheduledPipelineOptions> {};

/// Turns tasks into data, and the order in which they run into schedules.
void buildScheduledPipeline(OpPassManager &pm,
                            const ScheduledPipelineOptions &options);

struct LinalgPipelineOptions : PassPipelineOptions<LinalgPipelineOptions> {
  Option<bool> byElements{*this, "by-elements",
                          llvm::cl::desc("keep products whole for a GPU, whose "
                                         "threads compute single elements"),
                          llvm::cl::init(false)};
};

/// Lowers kernels to linalg on tensors.
void buildLinalgPipeline(OpPassManager &pm,
                         const LinalgPipelineOptions &options);

struct LLVMPipelineOptions : PassPipelineOptions<LLVMPipelineOptions> {
  Option<bool> verifySums{
      *this, "verify-sums",
      llvm::cl::desc("check after each step that sums keep their order"),
      llvm::cl::init(false)};
};

/// Lowers kernels, tasks and variables to the LLVM dialect, for the module's
/// `hfta.target`.
void buildLLVMPipeline(OpPassManager &pm, const LLVMPipelineOptions &options);

/// For GPUs: lowers kernels to the NVVM dialect, in a module of their own, and
/// tasks and variables to the LLVM dialect.
void buildGpuPipeline(OpPassManager &pm, const LowerGpuKernelsOptions &options);

/// Lowers the kernels of planned tasks, for the module's `hfta.target`, just
/// far enough to know how much scratch memory they need.
void buildScratchPipeline(OpPassManager &pm);

/// Registers these pipelines with the pass pipeline parser as
/// `hfta-PHASE-pipeline`.
void registerPipelines();

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PIPELINES_H
