//===- LeastMemory.cpp - The least memory in which a plan fits ------------===//

#include "Hfta/Planning/Pipelines/Search.h"
#include "Pipelines/Candidates.h"

#include <algorithm>
#include <cmath>

using namespace mlir::hfta::planning;

namespace {

/// Finds stages that fit into a given number of bytes per device, with one
/// micro-batch in flight, on as few devices as possible.
class Packing {
public:
  Packing(const StageCosts &costs, int64_t memory);

  bool fits() const {
    return devices.back() <= costs.getCluster().getDeviceCount();
  }
  Stages getStages() const;

private:
  int64_t countDevices(int64_t first, int64_t last) const;

  static constexpr int64_t kNone = std::numeric_limits<int32_t>::max();

  const StageCosts &costs;
  double memory;
  // Dynamic programming: for the layers before each index, the number of
  // devices that they need, and the first layer of their last stage.
  std::vector<int64_t> devices, begin;
};

} // namespace

/// Returns the most replicas that one stage may have.
static int64_t getMostReplicas(const StageCosts &costs) {
  const Workload &workload = costs.getWorkload();
  int64_t most =
      std::min(costs.getCluster().getDeviceCount(), workload.microBatches);
  return workload.groups == 0 ? most : std::min(most, workload.groups);
}

/// Returns the number of devices that a stage needs; kNone if it doesn't fit on
/// any number.
int64_t Packing::countDevices(int64_t first, int64_t last) const {
  int64_t most = getMostReplicas(costs);
  double alone = costs.getPeakBytes(first, last, 1, 1);
  if (alone <= memory)
    return 1;
  // With several sums of gradients, each replica holds its share of them, so
  // that the bytes follow no simple formula.
  if (costs.getWorkload().groups > 1) {
    for (int64_t count = 2; count <= most; ++count)
      if (costs.getPeakBytes(first, last, count, 1) <= memory)
        return count;
    return kNone;
  }
  if (costs.getWorkload().costs == CostRule::units)
    return kNone;
  // Replicas divide everything among them except the parameters, which each has
  // completely. `kept` is the bytes of these.
  double kept = costs.getPeakBytes(first, last, 1, 1) -
                (alone - costs.getPeakBytes(first, last, 2, 1)) * 2;
  if (kept >= memory)
    return kNone;
  int64_t count =
      std::min<double>(most + 1.0, std::ceil((alone - kept) / (memory - kept)));
  // The result may be off by one device, due to rounding.
  while (count > 1 && costs.getPeakBytes(first, last, count - 1, 1) <= memory)
    --count;
  while (count <= most && costs.getPeakBytes(first, last, count, 1) > memory)
    ++count;
  return count <= most ? count : kNone;
}

Packing::Packing(const StageCosts &costs, int64_t memory)
    : costs(costs), memory(memory), devices(costs.getLayerCount() + 1, kNone),
      begin(costs.getLayerCount() + 1, 0) {
  devices[0] = 0;
  for (int64_t end = 1; end <= costs.getLayerCount(); ++end)
    for (int64_t first = end - 1; first >= 0; --first) {
      int64_t count = countDevices(first, end - 1);
      if (devices[first] + count < devices[end]) {
        devices[end] = devices[first] + count;
        begin[end] = first;
      }
    }
}

Stages Packing::getStages() const {
  Stages stages;
  llvm::SmallVector<int64_t, 8> counts;
  for (int64_t end = costs.getLayerCount(); end > 0; end = begin[end]) {
    stages.push_back({begin[end], end - 1, DeviceSet()});
    counts.push_back(devices[end] - devices[begin[end]]);
  }
  std::reverse(stages.begin(), stages.end());
  std::reverse(counts.begin(), counts.end());
  FreeDevices free(costs.getCluster().devices);
  for (size_t i = 0; i < stages.size(); ++i)
    stages[i].devices = free.take(counts[i], Placement::append);
  return stages;
}

/// Returns the least bytes per device with which a plan fits, by bisection.
static int64_t findLeast(const StageCosts &costs) {
  int64_t devices = getMostReplicas(costs);
  int64_t fails = -1;
  auto fits = static_cast<int64_t>(
      std::ceil(costs.getPeakBytes(0, costs.getLayerCount() - 1, devices, 1)));
  while (fits - fails > 1) {
    int64_t middle = fails + (fits - fails) / 2;
    (Packing(costs, middle).fits() ? fits : fails) = middle;
  }
  return fits;
}

Stages mlir::hfta::planning::getLeastMemoryStages(const StageCosts &costs) {
  return Packing(costs, findLeast(costs)).getStages();
}

PlanFailure mlir::hfta::planning::findLeastMemory(const StageCosts &costs) {
  PlanFailure failure;
  failure.leastMemory = findLeast(costs);
  double largest = -1;
  for (const Stage &stage : Packing(costs, failure.leastMemory).getStages()) {
    double bytes =
        costs.getPeakBytes(stage.first, stage.last, stage.devices.size(), 1);
    if (bytes <= largest)
      continue;
    largest = bytes;
    failure.first = costs.getModel().layers[stage.first].name;
    failure.last = costs.getModel().layers[stage.last].name;
  }
  return failure;
}
