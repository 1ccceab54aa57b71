//===- Pipelines.cpp - Pipelines of passes between phases -----------------===//

#include "Hfta/Pipelines/Pipelines.h"

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace mlir::hfta;

void hfta::addCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void hfta::addPhaseMark(OpPassManager &pm, llvm::StringRef phase) {
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
  addPhaseMark(pm, "fused");
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
  pm.addPass(createHftaPlaceUpdates());
  pm.addPass(createHftaStagePipeline());
  pm.addPass(createHftaAssignResidency());
  addCleanUp(pm);
  addPhaseMark(pm, "train");
}

void hfta::buildPlannedPipeline(OpPassManager &pm, const Target &target,
                                bool accumulates) {
  pm.addPass(createHftaDescribeLayers());
  pm.addPass(createHftaFoldCasts());
  pm.addPass(createHftaDecompose({/*keepsMatrices=*/true}));
  pm.addPass(createHftaBatchMatrices());
  pm.addPass(createHftaDecompose());
  target.addFormingPasses(pm, accumulates);
  pm.addPass(createHftaFormKernels());
  pm.addPass(createHftaAssignLayouts());
  pm.addPass(createHftaPlanMemory());
  pm.addPass(createHftaOutlineKernels());
  pm.addPass(createHftaDescribePlan());
  addPhaseMark(pm, "planned");
}

void hfta::buildScheduledPipeline(OpPassManager &pm,
                                  const ScheduledPipelineOptions &) {
  pm.addPass(createHftaSchedule());
  pm.addPass(createHftaScheduleTransfers());
  addPhaseMark(pm, "scheduled");
}

/// Adds the passes that lower kernels to linalg.
static void addLinalgPasses(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<func::FuncOp>();
  kernels.addPass(createConvertHftaToLinalgPass());
  addKernelCleanUp(kernels);
}

void hfta::buildLinalgPipeline(OpPassManager &pm,
                               const LinalgPipelineOptions &) {
  // Schedules are verified in this phase, so that those in a module that was
  // edited as text are checked too.
  pm.addPass(createHftaVerifySchedules());
  addLinalgPasses(pm);
  addPhaseMark(pm, "linalg");
}

void hfta::buildScratchLinalgPipeline(OpPassManager &pm) {
  pm.addPass(createHftaSchedule());
  addLinalgPasses(pm);
}

namespace {
struct PlannedPipelineOptions : PassPipelineOptions<PlannedPipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("the target of the kernels, as in --target of hftac; the "
                     "module's 'hfta.target' must name the same"),
      llvm::cl::init("")};
  Option<bool> accumulates{
      *this, "accumulates",
      llvm::cl::desc("several backwards may come before an update, which adds "
                     "up their gradients"),
      llvm::cl::init(false)};
};
} // namespace

static void buildPlannedPipelineByName(OpPassManager &pm,
                                       const PlannedPipelineOptions &options) {
  const Target *target = options.target.empty() ? getTargets().front()
                                                : findTarget(options.target);
  if (!target)
    llvm::reportFatalUsageError("there is no target '" +
                                llvm::Twine(options.target) + "'");
  buildPlannedPipeline(pm, *target, options.accumulates);
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
      buildPlannedPipelineByName);
  PassPipelineRegistration<ScheduledPipelineOptions>(
      "hfta-scheduled-pipeline",
      "Turn tasks into data, and their orders into schedules",
      buildScheduledPipeline);
  PassPipelineRegistration<LinalgPipelineOptions>(
      "hfta-linalg-pipeline", "Lower kernels to linalg on tensors",
      buildLinalgPipeline);
}
