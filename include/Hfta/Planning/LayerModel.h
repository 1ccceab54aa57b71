//===- LayerModel.h - A model as layers with costs --------------*- C++ -*-===//
//
// All that the planner knows of a model, whatever it was made from. Its layers
// stand in an order in which each comes after those whose values it takes, so
// that each prefix of it may be the first stages of a pipeline.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_LAYERMODEL_H
#define HFTA_PLANNING_LAYERMODEL_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// What one layer costs. What is "a sample" grows with the samples of a
/// micro-batch, of which each takes "the least" besides.
struct Layer {
  std::string name;          ///< no other layer has it
  double forward = 0;        ///< seconds a sample
  double backward = 0;       ///< seconds a sample
  double parameterBytes = 0; ///< of all its parameters
  double savedBytes = 0;     ///< a sample: kept from forward to backward
  /// A sample: values that this layer or one before it makes and a later one
  /// takes, each counted once. As much goes back in the backward.
  double crossingBytes = 0;
  double leastForward = 0;  ///< seconds a micro-batch
  double leastBackward = 0; ///< seconds a micro-batch
  double update = 0;        ///< seconds a batch, however many replicas
  double inputBytes = 0;    ///< a sample: of the data that it reads
  /// What a preconditioner keeps of the layer, and the sums that it makes this
  /// of, which each group of micro-batches has.
  double curvatureBytes = 0, momentBytes = 0;
  /// How much of the backward is for gradients of weights, for which no other
  /// layer waits. Products and convolutions do as much for these as for those
  /// of inputs.
  double weightShare = 0.5;
};

struct LayerModel {
  /// Tells this model from others, whatever was measured of it.
  std::string digest;
  std::vector<Layer> layers;
  /// Bytes of the optimizer's state for each byte of parameters.
  double optimizerStates = 0;

  /// The number of the layer with this name.
  std::optional<int64_t> findLayer(llvm::StringRef name) const;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_LAYERMODEL_H
