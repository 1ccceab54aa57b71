//===- LayerModel.h - A model as layers with costs --------------*- C++ -*-===//
//
// All that the planner knows of a model, whatever it was made from. The layers
// are in topological order, each after those whose values it takes, so that any
// prefix of them may be the first stages of a pipeline.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_LAYERMODEL_H
#define HFTA_PLANNING_LAYERMODEL_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// The costs of one layer. Those per sample grow with the samples of a
/// micro-batch; those that begin with `least` are added once per micro-batch.
struct Layer {
  std::string name;          ///< unique in the model
  double forward = 0;        ///< seconds per sample
  double backward = 0;       ///< seconds per sample
  double parameterBytes = 0; ///< bytes of all its parameters
  /// Bytes per sample that are kept from forward to backward.
  double savedBytes = 0;
  /// Bytes per sample of the values that this layer or an earlier one makes and
  /// a later one takes, each value counted once. The backward sends as many
  /// back.
  double crossingBytes = 0;
  double leastForward = 0;  ///< seconds per micro-batch
  double leastBackward = 0; ///< seconds per micro-batch
  double update = 0;        ///< seconds per batch, however many replicas
  double inputBytes = 0;    ///< bytes per sample of the data that it reads
  /// Bytes that a preconditioner keeps for the layer, and bytes of the sums
  /// that it computes them from, which each group of micro-batches has.
  double curvatureBytes = 0, momentBytes = 0;
  /// The share of the backward that computes gradients of weights, for which no
  /// other layer waits. In products and convolutions these take as long as the
  /// gradients of inputs.
  double weightShare = 0.5;
};

struct LayerModel {
  /// Distinguishes this model from others, whatever was measured of it.
  std::string digest;
  std::vector<Layer> layers;
  /// Bytes of the optimizer's state for each byte of parameters.
  double optimizerStates = 0;

  /// Returns the number of the layer with this name.
  std::optional<int64_t> findLayer(llvm::StringRef name) const;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_LAYERMODEL_H
