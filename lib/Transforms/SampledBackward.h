//===- SampledBackward.h - Backwards from drawn targets ---------*- C++ -*-===//
//
// Where targets are drawn, hfta-differentiate goes back twice through the same
// forward: from the loss beside the labels in `backward` tasks, and from that
// beside drawn targets in `sampled_moments` tasks, which are for moments of
// output gradients alone. Both name the layers in between.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SAMPLEDBACKWARD_H
#define HFTA_LIB_TRANSFORMS_SAMPLEDBACKWARD_H

#include "TaskBuilder.h"

namespace mlir::hfta {

/// Layers of backwards from drawn targets, by those of the others.
using SampledLayers = DenseMap<Operation *, LayerOp>;

/// The layers of a block stand in one order in both: that of the forward.
SampledLayers pairSampledLayers(ModuleOp module);

/// Takes out of backwards from drawn targets their layers, and what no moment
/// is made of: parameters' gradients, and all in front of the first layer that
/// has a factor. What writes moments must be there.
void dropUnusedOfSampled(TaskBuilder &tasks, const SampledLayers &layers);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SAMPLEDBACKWARD_H
