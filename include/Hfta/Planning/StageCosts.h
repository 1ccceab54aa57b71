//===- StageCosts.h - What stages and links between them cost ---*- C++ -*-===//

#ifndef HFTA_PLANNING_STAGECOSTS_H
#define HFTA_PLANNING_STAGECOSTS_H

#include "Hfta/Planning/Cluster.h"
#include "Hfta/Planning/DeviceSet.h"
#include "Hfta/Planning/LayerModel.h"

namespace mlir::hfta::planning {

/// How the work of a stage is shared by its replicas.
enum class CostRule {
  /// Each replica computes whole micro-batches, one after the other: replica j
  /// of
  /// r has those whose number is j modulo r, at most ceil(M / r). Forward and
  /// backward take what was measured.
  units,
  /// As in papers: each micro-batch is divided among all replicas, any number
  /// of
  /// them, and a forward takes a third of forward and backward together.
  published
};

/// A batch in equal micro-batches.
struct Workload {
  int64_t batch = 1; ///< samples, a multiple of microBatches
  int64_t microBatches = 1;
  CostRule costs = CostRule::units;
  /// Sums of each gradient that a stage's replicas form before these become
  /// one; 0: one a replica. No stage has more replicas.
  int64_t groups = 0;
  /// Whether stages compute a forward again right before its backward, and keep
  /// what that needs of one micro-batch alone. The last stage, of which one is
  /// in flight, would save nothing.
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

/// Layers `first` to `last`, both among them, on `devices`.
struct Stage {
  int64_t first = 0;
  int64_t last = 0;
  DeviceSet devices;
};

/// Layers `first` to `last`, both among them.
struct LayerRange {
  int64_t first = 0;
  int64_t last = 0;
};

/// What a stage, or the link to the next one, does with each micro-batch.
struct Station {
  double forward = 0;   ///< seconds a micro-batch
  double backward = 0;  ///< seconds a micro-batch
  double allReduce = 0; ///< seconds a batch, after the last backward
  double update = 0;    ///< seconds a batch, after the all-reduce
  /// What works side by side: micro-batch m is in lane m % lanes.
  int64_t lanes = 1;
  bool isLink = false;

  /// Seconds from the last backward to the end of the batch.
  double getEnd() const { return allReduce + update; }
  /// Micro-batches that one lane has at most.
  int64_t getRounds(int64_t microBatches) const {
    return (microBatches + lanes - 1) / lanes;
  }
};

/// Costs of the stages of one model on one cluster.
class StageCosts {
public:
  StageCosts(const LayerModel &model, const Cluster &cluster,
             const Workload &workload);

  const Cluster &getCluster() const { return cluster; }
  const Workload &getWorkload() const { return workload; }
  const LayerModel &getModel() const { return model; }
  int64_t getLayerCount() const { return model.layers.size(); }
  /// Of the cut after a layer, for a micro-batch.
  double getCrossingBytes(int64_t layer) const {
    return model.layers[layer].crossingBytes * samples;
  }
  /// Forward and backward of these layers on one device, in seconds a
  /// micro-batch.
  double getComputeTime(int64_t first, int64_t last) const {
    return compute[last + 1] - compute[first];
  }
  /// The backward's part of it.
  double getBackwardTime(int64_t first, int64_t last) const {
    double both = getComputeTime(first, last);
    return workload.costs == CostRule::published
               ? 2 * both / 3
               : both - (forward[last + 1] - forward[first]);
  }
  /// How much of the backward nobody waits for: in the first layers all, which
  /// have no inputs with gradients.
  double getWeightShare(int64_t first, int64_t last) const;
  double getParameterBytes(int64_t first, int64_t last) const {
    return parameters[last + 1] - parameters[first];
  }
  /// Seconds a batch.
  double getUpdateTime(int64_t first, int64_t last) const {
    return update[last + 1] - update[first];
  }

  Station getStation(const Stage &stage) const;
  /// The link between two stages that follow each other.
  Station getLink(const Stage &from, const Stage &to) const;
  /// Stages and links in turn, 2n - 1 of them for n stages.
  llvm::SmallVector<Station, 8> getStations(llvm::ArrayRef<Stage> stages) const;

  /// Whether a stage that ends with this layer computes forwards again.
  bool recomputes(int64_t last) const {
    return workload.recomputes && last + 1 < getLayerCount();
  }

  /// Seconds in which a set of devices adds up what each of them has.
  double getAllReduceTime(const DeviceSet &devices, double bytes) const;
  /// Seconds in which one micro-batch's `bytes` get from a stage to the next.
  double getSendTime(const DeviceSet &from, const DeviceSet &to,
                     double bytes) const;

  /// Bytes that a device of a stage needs with `inFlight` micro-batches between
  /// forward and backward: parameters, sums of gradients, its own and those of
  /// others that it adds up, optimizer state, and a preconditioner's;
  /// for each in flight what is saved, which is only once where it is computed
  /// again, and what came from the stage before; and what is sent to the next
  /// one and back.
  double getPeakBytes(int64_t first, int64_t last, int64_t replicas,
                      int64_t inFlight) const;
  /// As many micro-batches as fit into a device's memory, at most M; 0: none.
  int64_t getMostInFlight(int64_t first, int64_t last, int64_t replicas) const {
    return getMostInFlight(LayerRange{first, last}, replicas);
  }
  /// The same of a device with several parts of the model, of which each has as
  /// many in flight.
  int64_t getMostInFlight(llvm::ArrayRef<LayerRange> parts,
                          int64_t replicas) const;

  /// The whole batch on one device, in seconds.
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
  // Sums over the layers before each one.
  std::vector<double> compute, forward, weights, update, parameters, saved,
      inputs, curvature, moments;
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_STAGECOSTS_H
