//===- LayerCosts.h - A job's model as the planner sees it ------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_LAYERCOSTS_H
#define HFTA_LIB_DRIVER_LAYERCOSTS_H

#include "Hfta/Planning/LayerModel.h"
#include "Hfta/Planning/MeasuredCosts.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// The parts of a model that count as layers.
enum class LayerGrain {
  all, ///< as `--cuts=all` cuts the model
  cuts ///< the parts between the job's own cuts
};

/// Lowers a copy of an imported module, which may have any number of stages and
/// micro-batches, until its tasks have kernels, and determines what each layer
/// computes and keeps. A layer is named after the values that it ends with; the
/// last one is called "loss". Times follow from flops and bytes at documented
/// rates. Errors were reported to the context.
FailureOr<planning::LayerModel> buildLayerModel(ModuleOp module,
                                                LayerGrain kind);

/// The stage of a layer that one of the job's cuts goes through.
inline constexpr int64_t kSplitLayer = -1;

/// Returns, for each layer that `--cuts=all` makes of an imported module, the
/// part of the model between the job's own cuts that has the layer's weights.
/// Errors were reported to the context.
FailureOr<std::vector<int64_t>> findStagesOfLayers(ModuleOp module);

/// Returns a digest of the models of a module that was just imported,
/// independent of the batch, the copies and their hyper-parameters. Plans
/// contain it.
FailureOr<std::string> digestModel(ModuleOp module);

/// Returns which layers the costs of a program were measured for: all, as
/// `model` has them, or those between the job's own cuts, if `given` holds
/// these. The error says how the program differs from the job.
llvm::Expected<LayerGrain>
findGrain(const planning::MeasuredCosts &costs,
          const planning::LayerModel &model,
          const std::vector<std::vector<std::string>> *given);

/// Replaces the estimated times with measured ones. The error names a task that
/// has no measured time.
llvm::Error measureLayers(planning::LayerModel &model,
                          const planning::MeasuredCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_LAYERCOSTS_H
