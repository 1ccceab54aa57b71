//===- Pipelines.cpp - Pipelines of passes between phases -----------------===//

#include "Hfta/Pipelines/Pipelines.h"

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::hfta;

static void addCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void markPhase(OpPassManager &pm, llvm::StringRef phase) {
  HftaMarkPhaseOptions options;
  options.phase = phase.str();
  pm.addPass(createHftaMarkPhase(std::move(options)));
}

void hfta::buildFusedPipeline(OpPassManager &pm, const FusedPipelineOptions &) {
  pm.addPass(createHftaFindMixedSamples());
  pm.addPass(createHftaDescribeModel());
  addCleanUp(pm);
  // Precision is applied before fusion, so that models with different types
  // become alike and can be fused.
  pm.addPass(createHftaApplyPrecision());
  pm.addPass(createHftaFuseModels());
  markPhase(pm, "fused");
}

void hfta::buildTrainPipeline(OpPassManager &pm,
                              const TrainPipelineOptions &options) {
  HftaPlanPipelineOptions plan;
  plan.cuts.assign(options.cuts.begin(), options.cuts.end());
  pm.addPass(createHftaPlanPipeline(std::move(plan)));
  pm.addPass(createHftaDifferentiate());
  if (options.plansMemory)
    pm.addPass(createHftaPlanSpill());
  pm.addPass(createHftaSplitTasks());
  pm.addPass(createHftaInsertKfac());
  pm.addPass(createHftaBatchKfac());
  pm.addPass(createHftaStagePipeline());
  pm.addPass(createHftaAssignResidency());
  addCleanUp(pm);
  markPhase(pm, "train");
}

void hfta::buildPlannedPipeline(OpPassManager &pm,
                                const PlannedPipelineOptions &options) {
  HftaFormKernelsOptions form;
  form.byElements = form.joinsSums = form.joinsSmall = options.byElements;
  pm.addPass(createHftaDescribeLayers());
  pm.addPass(createHftaFoldCasts());
  pm.addPass(createHftaDecompose());
  if (options.byElements)
    pm.addPass(createHftaCutTaps());
  HftaRoundFactorsOptions round;
  round.narrowsMemory = options.byElements;
  pm.addPass(createHftaRoundFactors(round));
  if (options.byElements) {
    if (!options.accumulates)
      pm.addPass(createHftaStoreGradients());
    addCleanUp(pm);
    pm.addPass(createHftaRemakeSaved());
    pm.addNestedPass<func::FuncOp>(createHftaSinkReshapes());
    pm.addPass(createHftaReadInPlace());
    pm.addPass(createHftaPackWeights());
  }
  addCleanUp(pm);
  if (options.byElements) {
    pm.addPass(createHftaKeepFactors());
    pm.addPass(createHftaSplitSums());
    pm.addNestedPass<func::FuncOp>(createHftaSumByParts());
    pm.addNestedPass<func::FuncOp>(createHftaSortIndices());
    pm.addPass(createHftaRepeatCheapOps());
  }
  pm.addPass(createHftaFormKernels(form));
  pm.addPass(createHftaAssignLayouts());
  HftaPlanMemoryOptions memory;
  memory.stateInSlabs = options.byElements;
  pm.addPass(createHftaPlanMemory(memory));
  pm.addPass(createHftaOutlineKernels());
  pm.addPass(createHftaDescribePlan());
  markPhase(pm, "planned");
}

void hfta::buildScheduledPipeline(OpPassManager &pm,
                                  const ScheduledPipelineOptions &) {
  pm.addPass(createHftaSchedule());
  pm.addPass(createHftaScheduleTransfers());
  markPhase(pm, "scheduled");
}

void hfta::buildLinalgPipeline(OpPassManager &pm,
                               const LinalgPipelineOptions &options) {
  ConvertHftaToLinalgPassOptions convert;
  convert.wholeProducts = options.byElements;
  // Schedules are verified in this phase, so that those in a module that was
  // edited as text are checked too.
  pm.addPass(createHftaVerifySchedules());
  OpPassManager &kernels = pm.nest<func::FuncOp>();
  kernels.addPass(createConvertHftaToLinalgPass(convert));
  addKernelCleanUp(kernels);
  markPhase(pm, "linalg");
}

void hfta::buildScratchPipeline(OpPassManager &pm) {
  pm.addPass(createHftaSchedule());
  OpPassManager &kernels = pm.nest<func::FuncOp>();
  kernels.addPass(createConvertHftaToLinalgPass());
  addKernelCleanUp(kernels);
  buildLowerKernelsPipeline(pm, {});
}

void hfta::buildLLVMPipeline(OpPassManager &pm,
                             const LLVMPipelineOptions &options) {
  LowerKernelsOptions lower;
  lower.verifySums = options.verifySums;
  buildLowerKernelsPipeline(pm, lower);
  // The kernels have been lowered, so their scratch memory is known.
  pm.addPass(createHftaScheduleTransfers());
  pm.addPass(createConvertHftaToRuntime());
  pm.addPass(createReconcileUnrealizedCastsPass());
  markPhase(pm, "llvm");
}

void hfta::buildGpuPipeline(OpPassManager &pm,
                            const LowerGpuKernelsOptions &options) {
  buildLowerGpuKernelsPipeline(pm, options);
  pm.addPass(createConvertHftaToRuntime());
  pm.addPass(createHftaCollectGpuCode());
  pm.addPass(createReconcileUnrealizedCastsPass());
  markPhase(pm, "gpu");
}

void hfta::registerPipelines() {
  PassPipelineRegistration<FusedPipelineOptions>(
      "hfta-fused-pipeline", "Lower imported models to one array program",
      buildFusedPipeline);
  PassPipelineRegistration<TrainPipelineOptions>(
      "hfta-train-pipeline", "Lower the array program to tasks",
      buildTrainPipeline);
  PassPipelineRegistration<PlannedPipelineOptions>(
      "hfta-planned-pipeline", "Lower tasks to kernels on planned memory",
      buildPlannedPipeline);
  PassPipelineRegistration<ScheduledPipelineOptions>(
      "hfta-scheduled-pipeline",
      "Turn tasks into data, and their orders into schedules",
      buildScheduledPipeline);
  PassPipelineRegistration<LinalgPipelineOptions>(
      "hfta-linalg-pipeline", "Lower kernels to linalg on tensors",
      buildLinalgPipeline);
  PassPipelineRegistration<LowerGpuKernelsOptions>(
      "hfta-gpu-pipeline",
      "Lower kernels to the NVVM dialect, tasks and variables to the LLVM "
      "dialect",
      buildGpuPipeline);
  PassPipelineRegistration<LLVMPipelineOptions>(
      "hfta-llvm-pipeline",
      "Lower kernels, tasks and variables to the LLVM dialect",
      buildLLVMPipeline);
}
