//===- SampleMixing.h - Whether a model mixes samples -----------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_SAMPLES_SAMPLEMIXING_H
#define HFTA_TRANSFORMS_SAMPLES_SAMPLEMIXING_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// How a sample's result depends on the batch that the sample is in.
enum class MixingKind {
  samples,  ///< it depends on other samples
  position, ///< it depends on the sample's position in the batch
  size      ///< it depends on the number of samples
};

/// The first operation whose result for a sample doesn't depend on that sample
/// alone.
struct Mixing {
  MixingKind kind;
  Location location;
};

/// The operations that are known to mix samples on the way to a model's outputs
/// and losses. Nothing means that samples are independent, or that it isn't
/// known.
struct ModelMixing {
  std::optional<Mixing> output, loss;
};

/// Analyses how samples go through a model's functions in inference mode, in
/// which batch normalization uses its running statistics. The samples are along
/// axis 0 of those arguments whose axis 0 has the size of the micro-batch.
ModelMixing findMixing(ModelOp model);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_SAMPLES_SAMPLEMIXING_H
