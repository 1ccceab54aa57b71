//===- Pipelines.h - From phase to phase ------------------------*- C++ -*-===//
//
// One pipeline a phase of the compiler; each begins where the one before it
// ended and notes its phase on the module.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DRIVER_PIPELINES_H
#define HFTA_DRIVER_PIPELINES_H

#include "Hfta/Conversion/LowerGpuKernels.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::hfta {

struct FusedPipelineOptions : PassPipelineOptions<FusedPipelineOptions> {};

/// Imported models to one array program.
void buildFusedPipeline(OpPassManager &pm, const FusedPipelineOptions &options);

struct TrainPipelineOptions : PassPipelineOptions<TrainPipelineOptions> {
  ListOption<std::string> cuts{
      *this, "cuts",
      llvm::cl::desc(
          "names of the values after which a new block begins, in order")};
  Option<bool> plansMemory{
      *this, "plan-memory",
      llvm::cl::desc("within a budget of memory, plan what of a step is kept, "
                     "spilled or computed again; or else all comes and goes"),
      llvm::cl::init(true)};
};

/// The array program to tasks.
void buildTrainPipeline(OpPassManager &pm, const TrainPipelineOptions &options);

struct PlannedPipelineOptions : PassPipelineOptions<PlannedPipelineOptions> {
  Option<bool> byElements{
      *this, "by-elements",
      llvm::cl::desc(
          "form kernels for threads that compute single elements, as "
          "a GPU's do"),
      llvm::cl::init(false)};
  Option<bool> accumulates{
      *this, "accumulates",
      llvm::cl::desc("several backwards may come before an update, which adds "
                     "up their gradients"),
      llvm::cl::init(false)};
};

/// Tasks to kernels on planned memory.
void buildPlannedPipeline(OpPassManager &pm,
                          const PlannedPipelineOptions &options);

struct ScheduledPipelineOptions
    : PassPipelineOptions<ScheduledPipelineOptions> {};

/// Tasks to data, and the order in which they run to schedules.
void buildScheduledPipeline(OpPassManager &pm,
                            const ScheduledPipelineOptions &options);

struct LinalgPipelineOptions : PassPipelineOptions<LinalgPipelineOptions> {
  Option<bool> byElements{
      *this, "by-elements",
      llvm::cl::desc("leave products whole for threads that compute single "
                     "elements, as a GPU's do"),
      llvm::cl::init(false)};
};

/// Kernels to linalg on tensors.
void buildLinalgPipeline(OpPassManager &pm,
                         const LinalgPipelineOptions &options);

struct LLVMPipelineOptions : PassPipelineOptions<LLVMPipelineOptions> {
  Option<bool> verifySums{
      *this, "verify-sums",
      llvm::cl::desc("check after each step that sums keep their order"),
      llvm::cl::init(false)};
};

/// For the module's `hfta.target`: kernels, tasks and variables to the LLVM
/// dialect.
void buildLLVMPipeline(OpPassManager &pm, const LLVMPipelineOptions &options);

/// For GPUs: kernels to the NVVM dialect, in a module of their own, tasks and
/// variables to the LLVM dialect.
void buildGpuPipeline(OpPassManager &pm, const LowerGpuKernelsOptions &options);

/// Of planned tasks, for the module's `hfta.target`: kernels lowered as far as
/// tells what scratch memory they need.
void buildScratchPipeline(OpPassManager &pm);

/// Makes the above known to the pass pipeline parser as
/// `hfta-PHASE-pipeline`.
void registerPipelines();

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PIPELINES_H
