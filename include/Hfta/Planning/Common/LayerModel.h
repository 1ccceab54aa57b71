//===- LayerModel.h - A model as layers with costs --------------*- C++ -*-===//
//
// All that the planner knows about a model, regardless of the source. The
// layers are in topological order, so that any prefix of them can be the first
// stages of a pipeline.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_COMMON_LAYERMODEL_H
#define HFTA_PLANNING_COMMON_LAYERMODEL_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// The costs of one layer. Costs per sample are multiplied by the samples of a
/// micro-batch; those whose names begin with `least` are added once per
/// micro-batch.
struct Layer {
  std::string name;          ///< unique in the model
  double forward = 0;        ///< seconds per sample
  double backward = 0;       ///< seconds per sample
  double parameterBytes = 0; ///< bytes of all its parameters
  /// Bytes per sample that are kept in memory from forward to backward.
  double savedBytes = 0;
  /// Bytes per sample that cross a cut after this layer: the values that this
  /// layer or an earlier one computes and a later one reads, each counted once.
  /// The backward sends as many bytes back.
  double crossingBytes = 0;
  double leastForward = 0;  ///< seconds per micro-batch
  double leastBackward = 0; ///< seconds per micro-batch
  double update = 0;        ///< seconds per batch, on each replica
  double inputBytes = 0;    ///< bytes per sample of the data that it reads
  /// Bytes of the state that a preconditioner keeps for the layer, and bytes of
  /// the sums of moments, which every group of micro-batches has.
  double curvatureBytes = 0, momentBytes = 0;
  /// The share of the backward that computes gradients of weights, for which no
  /// other layer waits. It is half for products and convolutions, where
  /// gradients of inputs take as long.
  double weightShare = 0.5;
};

struct LayerModel {
  /// A digest that identifies the model; it doesn't depend on measurements.
  std::string digest;
  std::vector<Layer> layers;
  /// Bytes of optimizer state per byte of parameters.
  double optimizerStates = 0;

  /// Returns the number of the layer with this name, or nothing.
  std::optional<int64_t> findLayer(llvm::StringRef name) const;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_LAYERMODEL_H
