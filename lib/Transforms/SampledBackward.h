//===- SampledBackward.h - Backwards from drawn targets ---------*- C++ -*-===//
//
// Where targets are drawn, hfta-differentiate walks back twice through the same
// forward: from the loss for the labels in `backward` tasks, and from the loss
// for drawn targets in `sampled_moments` tasks, which are for moments of output
// gradients alone. Both name the layers in between.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SAMPLEDBACKWARD_H
#define HFTA_LIB_TRANSFORMS_SAMPLEDBACKWARD_H

#include "TaskBuilder.h"

namespace mlir::hfta {

/// Maps layers of the other backwards to those of backwards from drawn targets.
using SampledLayers = DenseMap<Operation *, LayerOp>;

/// Pairs the layers, which stand in the same order in both of a block's tasks:
/// that of the forward.
SampledLayers pairSampledLayers(ModuleOp module);

/// Removes from backwards from drawn targets their layers, and the ops that no
/// moment depends on: parameters' gradients, and everything before the first
/// layer that has a factor. The writes of moments must exist already.
void dropUnusedOfSampled(TaskBuilder &tasks, const SampledLayers &layers);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SAMPLEDBACKWARD_H
