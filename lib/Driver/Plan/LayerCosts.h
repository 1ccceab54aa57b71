//===- LayerCosts.h - Layers and costs of a job's model ---------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_LAYERCOSTS_H
#define HFTA_LIB_DRIVER_PLAN_LAYERCOSTS_H

#include "Hfta/Planning/Common/LayerModel.h"
#include "Hfta/Planning/Common/MeasuredCosts.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// The parts of a model that count as layers.
enum class LayerGrain {
  all, ///< the layers that `--cuts=all` makes
  cuts ///< the parts between the job's own cuts
};

/// Lowers a clone of an imported module until its tasks have kernels, and
/// determines what each layer computes and keeps. The module may have any
/// number of stages and micro-batches. A layer is named after the values at its
/// end; the last layer is called "loss". Times follow from flops and bytes at
/// documented rates. Errors are reported to the context.
FailureOr<planning::LayerModel> buildLayerModel(ModuleOp module,
                                                LayerGrain kind);

/// Stands for the stage of a layer that one of the job's cuts divides.
inline constexpr int64_t kSplitLayer = -1;

/// Returns the stage of each layer that `--cuts=all` makes of an imported
/// module: the part between the job's own cuts that has the layer's weights.
/// Errors are reported to the context.
FailureOr<std::vector<int64_t>> findStagesOfLayers(ModuleOp module);

/// Returns a digest of the models of a module that was just imported. It
/// doesn't depend on the batch size, the copies or their hyper-parameters.
/// Plans contain the digest, to recognize the model.
FailureOr<std::string> digestModel(ModuleOp module);

/// Returns the grain of measured costs: all layers, as `model` has them, or the
/// parts between the job's own cuts, which `given` lists if the job has cuts.
/// The error says how the measured program differs from the job.
llvm::Expected<LayerGrain>
findGrain(const planning::MeasuredCosts &costs,
          const planning::LayerModel &model,
          const std::vector<std::vector<std::string>> *given);

/// Replaces estimated times by measured ones. The error names a task whose time
/// wasn't measured.
llvm::Error measureLayers(planning::LayerModel &model,
                          const planning::MeasuredCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_LAYERCOSTS_H
