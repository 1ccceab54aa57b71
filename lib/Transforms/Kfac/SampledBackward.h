//===- SampledBackward.h - Backwards from drawn targets ---------*- C++ -*-===//
//
// If targets are drawn, hfta-differentiate builds two backwards of one forward:
// from the loss for the labels, in `backward` tasks, and from the loss for
// drawn targets, in `sampled_moments` tasks, which only compute moments of
// output gradients. Both contain the same layers.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_SAMPLEDBACKWARD_H
#define HFTA_LIB_TRANSFORMS_KFAC_SAMPLEDBACKWARD_H

#include "Tasks/TaskBuilder.h"

namespace mlir::hfta {

/// Maps layers of the backward from the labels to those of the backward from
/// drawn targets.
using SampledLayers = DenseMap<Operation *, LayerOp>;

/// Pairs the layers of both backwards. In both tasks of a block, the layers are
/// in the order of the forward.
SampledLayers pairSampledLayers(ModuleOp module);

/// Removes layers from the backward from drawn targets, and ops on which no
/// moment depends: parameters' gradients, and everything before the first layer
/// that has a factor. The writes of moments must exist already.
void dropUnusedOfSampled(TaskBuilder &tasks, const SampledLayers &layers);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_SAMPLEDBACKWARD_H
