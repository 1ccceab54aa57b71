//===- LayerCosts.h - A job's model as the planner sees it ------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_LAYERCOSTS_H
#define HFTA_LIB_DRIVER_LAYERCOSTS_H

#include "Hfta/Planning/LayerModel.h"
#include "Hfta/Planning/MeasuredCosts.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Which parts of a model are layers.
enum class LayerGrain {
  all, ///< as `--cuts=all` cuts it
  cuts ///< what lies between the job's own cuts
};

/// Lowers a copy of an imported module, for any number of stages and
/// micro-batches, until its tasks have kernels, and reads off what each layer
/// computes and keeps. A layer has the name of the values that it ends with,
/// the last one "loss". Times are those that documented rates give for its
/// flops and bytes. An error has been told to the context.
FailureOr<planning::LayerModel> buildLayerModel(ModuleOp module,
                                                LayerGrain kind);

/// A layer that a job's cuts cut, too.
inline constexpr int64_t kSplitLayer = -1;

/// Of each layer that `--cuts=all` makes of an imported module, the part of the
/// model between the job's own cuts that has its weights. An error has been
/// told to the context.
FailureOr<std::vector<int64_t>> findStagesOfLayers(ModuleOp module);

/// Tells the models of a module, just imported, from others, whatever the
/// batch, the copies and their hyper-parameters. It stands in a plan.
FailureOr<std::string> digestModel(ModuleOp module);

/// Which layers costs are of that a program of this job's model has measured:
/// all, which `model` has, or those between the job's own cuts, if these are
/// `given`. An error says what the program differs in.
llvm::Expected<LayerGrain>
findGrain(const planning::MeasuredCosts &costs,
          const planning::LayerModel &model,
          const std::vector<std::vector<std::string>> *given);

/// Puts measured times in their place. An error says which task isn't there.
llvm::Error measureLayers(planning::LayerModel &model,
                          const planning::MeasuredCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_LAYERCOSTS_H
