//===- SampleMixing.h - Whether a model mixes samples -----------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_SAMPLEMIXING_H
#define HFTA_TRANSFORMS_SAMPLEMIXING_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// How a sample's result depends on the batch that the sample is in.
enum class MixingKind {
  samples,  ///< on other samples
  position, ///< on the sample's position in the batch
  size      ///< on the number of samples
};

/// The first operation after which a result isn't of its own sample alone.
struct Mixing {
  MixingKind kind;
  Location location;
};

/// The operations known to mix samples on the way to the outputs and to the
/// losses of a model. Nothing: either its samples are independent, or it isn't
/// known.
struct ModelMixing {
  std::optional<Mixing> output, loss;
};

/// Follows the samples through a model's functions in inference mode, in which
/// batch normalization uses its running statistics. Axis 0 of arguments with
/// that size holds the samples.
ModelMixing findMixing(ModelOp model);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SAMPLEMIXING_H
