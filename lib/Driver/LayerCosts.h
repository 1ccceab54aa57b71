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

/// Puts measured times in their place. An error says which task isn't there.
llvm::Error measureLayers(planning::LayerModel &model,
                          const planning::MeasuredCosts &costs);

/// How many layers a program was cut into whose times these are.
int64_t countLayers(const planning::MeasuredCosts &costs);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_LAYERCOSTS_H
