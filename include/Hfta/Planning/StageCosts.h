//===- StageCosts.h - The costs of stages and links -------------*- C++ -*-===//

#ifndef HFTA_PLANNING_STAGECOSTS_H
#define HFTA_PLANNING_STAGECOSTS_H

#include "Hfta/Planning/Cluster.h"
#include "Hfta/Planning/DeviceSet.h"
#include "Hfta/Planning/LayerModel.h"

namespace mlir::hfta::planning {

/// How the replicas of a stage share its work.
enum class CostRule {
  /// Each replica computes whole micro-batches, one after the other: replica j
  /// of r has those whose number is j modulo r, at most ceil(M / r). Forward
  /// and backward take what was measured.
  units,
  /// The rule of publications: each micro-batch is divided among all replicas,
  /// any number of them, and a forward takes a third of forward and backward
  /// together.
  published
};

/// A batch, divided into equal micro-batches.
struct Workload {
  int64_t batch = 1; ///< samples, a multiple of microBatches
  int64_t microBatches = 1;
  CostRule costs = CostRule::units;
  /// The sums of each gradient that a stage's replicas form before these become
  /// one; 0: one per replica. No stage has more replicas.
  int64_t groups = 0;
  /// Whether stages recompute a forward right before its backward, and keep
  /// what that backward needs for only one micro-batch. The last stage, which
  /// has one in flight, doesn't: it would save nothing.
  bool recomputes = false;
  /// Bytes of gradients that replicas add up at a time.
  double bucket = 4e6;

  int64_t getGroups(int64_t replicas) const {
    return groups == 0 ? replicas : groups;
  }
  double getSamples() const {
    return static_cast<double>(batch) / microBatches;
  }
};

/// The layers `first` to `last`, both included, on `devices`.
struct Stage {
  int64_t first = 0;
  int64_t last = 0;
  DeviceSet devices;
};

/// The layers `first` to `last`, both included.
struct LayerRange {
  int64_t first = 0;
  int64_t last = 0;
};

/// The times for each micro-batch in a stage, or on the link to the next one.
struct Station {
  double forward = 0;   ///< seconds per micro-batch
  double backward = 0;  ///< seconds per micro-batch
  double allReduce = 0; ///< seconds per batch, after the last backward
  double update = 0;    ///< seconds per batch, after the all-reduce
  /// The number of lanes that work in parallel: micro-batch m is in lane m %
  /// lanes.
  int64_t lanes = 1;
  bool isLink = false;

  /// Returns the seconds from the last backward to the end of the batch.
  double getEnd() const { return allReduce + update; }
  /// Returns the most micro-batches that one lane has.
  int64_t getRounds(int64_t microBatches) const {
    return (microBatches + lanes - 1) / lanes;
  }
};

/// The costs of the stages of one model on one cluster.
class StageCosts {
public:
  StageCosts(const LayerModel &model, const Cluster &cluster,
             const Workload &workload);

  const Cluster &getCluster() const { return cluster; }
  const Workload &getWorkload() const { return workload; }
  const LayerModel &getModel() const { return model; }
  int64_t getLayerCount() const { return model.layers.size(); }
  /// Returns the bytes that cross the cut after a layer, per micro-batch.
  double getCrossingBytes(int64_t layer) const {
    return model.layers[layer].crossingBytes * samples;
  }
  /// Returns the seconds per micro-batch of these layers' forward and backward
  /// on one device.
  double getComputeTime(int64_t first, int64_t last) const {
    return compute[last + 1] - compute[first];
  }
  /// Returns the backward's part of that time.
  double getBackwardTime(int64_t first, int64_t last) const {
    double both = getComputeTime(first, last);
    return workload.costs == CostRule::published
               ? 2 * both / 3
               : both - (forward[last + 1] - forward[first]);
  }
  /// Returns the share of the backward that nobody waits for. In the first
  /// layers, whose inputs have no gradients, that is everything.
  double getWeightShare(int64_t first, int64_t last) const;
  double getParameterBytes(int64_t first, int64_t last) const {
    return parameters[last + 1] - parameters[first];
  }
  /// Returns the seconds per batch.
  double getUpdateTime(int64_t first, int64_t last) const {
    return update[last + 1] - update[first];
  }

  Station getStation(const Stage &stage) const;
  /// Returns the link between two consecutive stages.
  Station getLink(const Stage &from, const Stage &to) const;
  /// Returns stages and links alternately, 2n - 1 of them for n stages.
  llvm::SmallVector<Station, 8> getStations(llvm::ArrayRef<Stage> stages) const;

  /// Returns whether a stage that ends with this layer recomputes forwards.
  bool recomputes(int64_t last) const {
    return workload.recomputes && last + 1 < getLayerCount();
  }

  /// Returns the seconds of an all-reduce of `bytes` over a set of devices.
  double getAllReduceTime(const DeviceSet &devices, double bytes) const;
  /// Returns the seconds in which one micro-batch's `bytes` get from a stage to
  /// the next.
  double getSendTime(const DeviceSet &from, const DeviceSet &to,
                     double bytes) const;

  /// Returns the bytes that a device of a stage needs with `inFlight`
  /// micro-batches between forward and backward. These are its parameters, its
  /// sums of gradients and those of others that it adds up, the state of the
  /// optimizer and of a preconditioner; for each micro-batch in flight, what is
  /// saved (once in all if it is recomputed) and what came from the previous
  /// stage; and what is sent to the next stage and back.
  double getPeakBytes(int64_t first, int64_t last, int64_t replicas,
                      int64_t inFlight) const;
  /// Returns the most micro-batches, up to M, that fit into a device's memory;
  /// 0: none.
  int64_t getMostInFlight(int64_t first, int64_t last, int64_t replicas) const {
    return getMostInFlight(LayerRange{first, last}, replicas);
  }
  /// Returns that number for a device with several parts of the model, each of
  /// which has as many in flight.
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

#endif // HFTA_PLANNING_STAGECOSTS_H
