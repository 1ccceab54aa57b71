//===- StageCosts.cpp - The costs of stages and links ---------------------===//

#include "Hfta/Planning/Pipelines/StageCosts.h"
#include "hfta/prefetch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir::hfta::planning;

std::optional<int64_t> LayerModel::findLayer(llvm::StringRef name) const {
  for (size_t number = 0; number < layers.size(); ++number)
    if (layers[number].name == name)
      return static_cast<int64_t>(number);
  return std::nullopt;
}

StageCosts::StageCosts(const LayerModel &model, const Cluster &cluster,
                       const Workload &workload)
    : model(model), cluster(cluster), workload(workload),
      samples(workload.getSamples()) {
  compute = forward = weights = update = parameters = saved = inputs = {0};
  curvature = moments = {0};
  for (const Layer &layer : model.layers) {
    double there = layer.forward * samples + layer.leastForward;
    double back = layer.backward * samples + layer.leastBackward;
    compute.push_back(compute.back() + there + back);
    forward.push_back(forward.back() + there);
    weights.push_back(weights.back() + back * layer.weightShare);
    update.push_back(update.back() + layer.update);
    parameters.push_back(parameters.back() + layer.parameterBytes);
    curvature.push_back(curvature.back() + layer.curvatureBytes);
    moments.push_back(moments.back() + layer.momentBytes);
    inputs.push_back(inputs.back() + layer.inputBytes * samples);
    saved.push_back(saved.back() + layer.savedBytes * samples);
  }
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

double StageCosts::getWeightShare(int64_t first, int64_t last) const {
  double all =
      getComputeTime(first, last) - (forward[last + 1] - forward[first]);
  return first == 0 || all <= 0 ? 1
                                : (weights[last + 1] - weights[first]) / all;
}

double StageCosts::getAllReduceTime(const DeviceSet &devices,
                                    double bytes) const {
  int64_t n = devices.size();
  if (n == 1)
    return 0;
  // Pairs of devices in a machine send at the same time.
  double rate =
      devices.getMachineCount() > 1 ? cluster.network : cluster.link * (n / 2);
  return 2 * bytes * (n - 1) / n / rate + 2 * cluster.latency;
}

double StageCosts::getSendTime(const DeviceSet &from, const DeviceSet &to,
                               double bytes) const {
  double seconds;
  if (to.getMachineCount() == 1) {
    int64_t outside = from.size() - from.getCount(to.getParts()[0].machine);
    seconds = outside > 0 ? bytes / from.size() * outside / cluster.pointToPoint
                          : bytes / cluster.link;
  } else {
    seconds = bytes / cluster.network;
  }
  return seconds + cluster.latency;
}

Station StageCosts::getStation(const Stage &stage) const {
  Station station;
  int64_t replicas = stage.devices.size();
  bool isWhole = stage.first == 0 && stage.last + 1 == getLayerCount();
  double share = getShare(replicas) * (isWhole ? 1 : cluster.slowdown);
  station.backward = getBackwardTime(stage.first, stage.last) * share;
  station.forward =
      getComputeTime(stage.first, stage.last) * share - station.backward;
  if (recomputes(stage.last))
    station.backward += station.forward;
  if (workload.costs == CostRule::units)
    station.lanes = replicas;
  station.allReduce = getAllReduceTime(
      stage.devices, getParameterBytes(stage.first, stage.last));
  station.update = getUpdateTime(stage.first, stage.last);
  return station;
}

/// Returns the link between two stages for whole micro-batches. Its lanes are
/// channels that work in parallel, each between two machines or, within a
/// machine, between two devices.
static Station shareChannels(const Stage &from, const Stage &to, double bytes,
                             const Cluster &cluster) {
  Station station;
  station.isLink = true;
  const DeviceSet &senders = from.devices, &receivers = to.devices;
  bool isInside =
      senders.getMachineCount() == 1 && receivers.getMachineCount() == 1 &&
      senders.getParts()[0].machine == receivers.getParts()[0].machine;
  // Replicas take turns, so that senders and receivers form as many different
  // pairs as their least common multiple.
  if (isInside)
    station.lanes = std::lcm(senders.size(), receivers.size());
  else
    station.lanes =
        std::lcm(senders.getMachineCount(), receivers.getMachineCount());
  double rate = isInside ? cluster.link : cluster.network;
  station.forward = station.backward = bytes / rate + cluster.latency;
  return station;
}

Station StageCosts::getLink(const Stage &from, const Stage &to) const {
  double bytes = getCrossingBytes(from.last);
  if (workload.costs == CostRule::units)
    return shareChannels(from, to, bytes, cluster);
  Station station;
  station.isLink = true;
  station.forward = station.backward =
      getSendTime(from.devices, to.devices, bytes);
  return station;
}

llvm::SmallVector<Station, 8>
StageCosts::getStations(llvm::ArrayRef<Stage> stages) const {
  llvm::SmallVector<Station, 8> stations;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (i > 0)
      stations.push_back(getLink(stages[i - 1], stages[i]));
    stations.push_back(getStation(stages[i]));
  }
  return stations;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

double StageCosts::getPeakBytes(int64_t first, int64_t last, int64_t replicas,
                                int64_t inFlight) const {
  double share = getShare(replicas);
  double in = first > 0 ? getCrossingBytes(first - 1) : 0;
  double out = last + 1 < getLayerCount() ? getCrossingBytes(last) : 0;
  // The first replica has the most groups.
  int64_t groups = workload.getGroups(replicas);
  int64_t sums = (groups + replicas - 1) / replicas;
  double weights = getParameterBytes(first, last);
  double kept = weights * (1 + sums + model.optimizerStates);
  kept += curvature[last + 1] - curvature[first] +
          sums * (moments[last + 1] - moments[first]);
  // Each replica adds up a piece of all groups' sums, one bucket at a time.
  if (workload.costs == CostRule::units)
    kept += std::min(weights, workload.bucket) *
            static_cast<double>(groups - sums) / replicas;
  // One more micro-batch than the batches of data is on its way to the device.
  double input = inputs[last + 1] - inputs[first];
  int64_t own = (workload.microBatches + replicas - 1) / replicas;
  kept += input * (HFTA_BATCHES_OF_DATA * own + 1);
  in += input;
  double values = saved[last + 1] - saved[first];
  bool again = recomputes(last);
  double each = again ? in : values + in;
  double once = again ? values : 0;
  return kept + (inFlight * each + once + in + 2 * out) * share;
}

int64_t StageCosts::getMostInFlight(llvm::ArrayRef<LayerRange> parts,
                                    int64_t replicas) const {
  int64_t most = workload.microBatches;
  if (workload.costs == CostRule::units)
    most = (most + replicas - 1) / replicas;
  if (cluster.memory == 0)
    return most;
  auto limit = static_cast<double>(cluster.memory);
  double none = 0, each = 0;
  for (auto [first, last] : parts) {
    double without = getPeakBytes(first, last, replicas, 0);
    none += without;
    each += getPeakBytes(first, last, replicas, 1) - without;
  }
  if (none + each > limit)
    return 0;
  if (each <= 0 || none + most * each <= limit)
    return most;
  return static_cast<int64_t>((limit - none) / each);
}
