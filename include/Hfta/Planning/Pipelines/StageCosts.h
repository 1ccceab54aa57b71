//===- StageCosts.h - The costs of stages and links -------------*- C++ -*-===//

#ifndef HFTA_PLANNING_PIPELINES_STAGECOSTS_H
#define HFTA_PLANNING_PIPELINES_STAGECOSTS_H

#include "Hfta/Planning/Common/Cluster.h"
#include "Hfta/Planning/Common/DeviceSet.h"
#include "Hfta/Planning/Common/LayerModel.h"

namespace mlir::hfta::planning {

/// How the replicas of a stage share the work.
enum class CostRule {
  /// Each replica computes whole micro-batches, one after the other: replica j
  /// of r computes the micro-batches with numbers j modulo r, at most ceil(M /
  /// r) of M. Forward and backward take the measured times.
  units,
  /// The rule of publications: each micro-batch is divided among all replicas,
  /// however many they are, and the forward takes a third of the time of
  /// forward and backward together.
  published
};

/// A batch, divided into equal micro-batches.
struct Workload {
  int64_t batch = 1; ///< number of samples, a multiple of microBatches
  int64_t microBatches = 1;
  CostRule costs = CostRule::units;
  /// The number of groups of micro-batches, which is an upper bound of the
  /// replicas of a stage; each group has its own sums of gradients. 0 means one
  /// group per replica.
  int64_t groups = 0;
  /// Whether stages recompute each forward right before its backward, and so
  /// save the values that a backward needs for only one micro-batch at a time.
  /// The last stage never recomputes: it has one micro-batch in flight, so
  /// nothing would be saved.
  bool recomputes = false;
  /// The size, in bytes, of the buckets of gradients that replicas all-reduce.
  double bucket = 4e6;

  int64_t getGroups(int64_t replicas) const {
    return groups == 0 ? replicas : groups;
  }
  double getSamples() const {
    return static_cast<double>(batch) / microBatches;
  }
};

/// A stage: the layers from `first` to `last`, inclusive, and its devices.
struct Stage {
  int64_t first = 0;
  int64_t last = 0;
  DeviceSet devices;
};

/// The layers from `first` to `last`, inclusive.
struct LayerRange {
  int64_t first = 0;
  int64_t last = 0;
};

/// A stage, or the link from one stage to the next, with its times.
struct Station {
  double forward = 0;   ///< seconds per micro-batch
  double backward = 0;  ///< seconds per micro-batch
  double allReduce = 0; ///< seconds per batch, after the last backward
  double update = 0;    ///< seconds per batch, after the all-reduce
  /// The number of lanes (replicas) that work in parallel. Micro-batch m is in
  /// lane m mod `lanes`.
  int64_t lanes = 1;
  bool isLink = false;

  /// Returns the seconds from the end of the last backward to the end of the
  /// batch.
  double getEnd() const { return allReduce + update; }
  /// Returns the largest number of micro-batches that one replica (lane)
  /// computes.
  int64_t getRounds(int64_t microBatches) const {
    return (microBatches + lanes - 1) / lanes;
  }
};

/// The costs of a model's stages on a cluster. The model and the cluster must
/// outlive this object. Functions for stages take the numbers of their first
/// and last layers.
class StageCosts {
public:
  StageCosts(const LayerModel &model, const Cluster &cluster,
             const Workload &workload);

  const Cluster &getCluster() const { return cluster; }
  const Workload &getWorkload() const { return workload; }
  const LayerModel &getModel() const { return model; }
  int64_t getLayerCount() const { return model.layers.size(); }
  /// Returns the bytes per micro-batch that cross a cut after this layer.
  double getCrossingBytes(int64_t layer) const {
    return model.layers[layer].crossingBytes * samples;
  }
  /// Returns the seconds of forward and backward for one micro-batch on one
  /// device.
  double getComputeTime(int64_t first, int64_t last) const {
    return compute[last + 1] - compute[first];
  }
  /// Returns the seconds of the backward for one micro-batch on one device.
  double getBackwardTime(int64_t first, int64_t last) const {
    double both = getComputeTime(first, last);
    return workload.costs == CostRule::published
               ? 2 * both / 3
               : both - (forward[last + 1] - forward[first]);
  }
  /// Returns the share of the backward that computes gradients of weights, for
  /// which no other stage waits. It is 1 for the first layers, whose inputs
  /// have no gradients.
  double getWeightShare(int64_t first, int64_t last) const;
  double getParameterBytes(int64_t first, int64_t last) const {
    return parameters[last + 1] - parameters[first];
  }
  /// Returns the seconds of the optimizer's update, per batch.
  double getUpdateTime(int64_t first, int64_t last) const {
    return update[last + 1] - update[first];
  }

  Station getStation(const Stage &stage) const;
  /// Returns the link from a stage to the next one.
  Station getLink(const Stage &from, const Stage &to) const;
  /// Returns stages and links alternately, 2n - 1 stations for n stages.
  llvm::SmallVector<Station, 8> getStations(llvm::ArrayRef<Stage> stages) const;

  /// Returns whether a stage whose last layer is `last` recomputes forwards.
  bool recomputes(int64_t last) const {
    return workload.recomputes && last + 1 < getLayerCount();
  }

  /// Returns the seconds of an all-reduce of `bytes` over these devices.
  double getAllReduceTime(const DeviceSet &devices, double bytes) const;
  /// Returns the seconds for sending `bytes` of one micro-batch from a stage to
  /// the next.
  double getSendTime(const DeviceSet &from, const DeviceSet &to,
                     double bytes) const;

  /// Returns the peak memory of a device of a stage with `inFlight`
  /// micro-batches in flight, in bytes. This includes parameters; sums of
  /// gradients, its own and those that it receives; state of the optimizer and
  /// of a preconditioner; for each micro-batch in flight, the saved values
  /// (only once if they are recomputed) and the input from the previous stage;
  /// and buffers for messages to the next stage and back.
  double getPeakBytes(int64_t first, int64_t last, int64_t replicas,
                      int64_t inFlight) const;
  /// Returns the largest number of micro-batches in flight, at most M, with
  /// which the stage fits into a device's memory; 0 if it never does.
  int64_t getMostInFlight(int64_t first, int64_t last, int64_t replicas) const {
    return getMostInFlight(LayerRange{first, last}, replicas);
  }
  /// Returns this number for a device with several parts of the model, each of
  /// which has that many micro-batches in flight.
  int64_t getMostInFlight(llvm::ArrayRef<LayerRange> parts,
                          int64_t replicas) const;

  /// Returns the seconds of the whole batch on one device.
  double getSerialTime() const {
    int64_t last = getLayerCount() - 1;
    return getComputeTime(0, last) * workload.microBatches +
           getUpdateTime(0, last);
  }

private:
  double getShare(int64_t replicas) const {
    return workload.costs == CostRule::published ? 1.0 / replicas : 1.0;
  }

  const LayerModel &model;
  const Cluster &cluster;
  Workload workload;
  double samples;
  // Prefix sums: entry i is the sum over the layers before layer i.
  std::vector<double> compute, forward, weights, update, parameters, saved,
      inputs, curvature, moments;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_STAGECOSTS_H
