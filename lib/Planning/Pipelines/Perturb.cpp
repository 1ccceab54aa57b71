//===- Perturb.cpp - Random changes of a plan -----------------------------===//

#include "Pipelines/Candidates.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir::hfta::planning;
using llvm::ArrayRef;

namespace {

/// Makes several random changes, each of which results in a valid plan.
class Perturbation {
public:
  Perturbation(const StageCosts &costs, const Stages &stages,
               std::mt19937 &random)
      : costs(costs), stages(stages), random(random) {
    unused = costs.getCluster().getDeviceCount();
    for (const Stage &stage : stages) {
      counts.push_back(stage.devices.size());
      unused -= counts.back();
    }
  }

  Stages run();

private:
  /// Returns a random number from 0 to `count` - 1, the same on all machines.
  int64_t draw(int64_t count) { return random() % count; }
  void moveCut();
  void moveDevices();
  void divide();
  void merge();

  const StageCosts &costs;
  Stages stages;
  // The number of devices of each stage.
  llvm::SmallVector<int64_t, 8> counts;
  int64_t unused;
  std::mt19937 &random;
};

} // namespace

void Perturbation::moveCut() {
  if (stages.size() < 2)
    return;
  int64_t after = draw(stages.size() - 1);
  int64_t first = stages[after].first, last = stages[after + 1].last;
  int64_t cut = first + draw(last - first);
  stages[after].last = cut;
  stages[after + 1].first = cut + 1;
}

/// Moves devices from a stage, or from the unused devices, to another stage, or
/// to the unused ones.
void Perturbation::moveDevices() {
  int64_t places = stages.size() + 1;
  int64_t from = draw(places), to = draw(places);
  int64_t &source = from + 1 == places ? unused : counts[from];
  int64_t &target = to + 1 == places ? unused : counts[to];
  int64_t most = from + 1 == places ? source : source - 1;
  if (from == to || most == 0)
    return;
  int64_t moved = 1 + draw(std::max<int64_t>(1, most / 2));
  source -= moved;
  target += moved;
}

void Perturbation::divide() {
  int64_t which = draw(stages.size());
  Stage back = stages[which];
  if (back.first == back.last || counts[which] < 2)
    return;
  int64_t cut = back.first + draw(back.last - back.first);
  int64_t taken = 1 + draw(counts[which] - 1);
  stages[which].last = cut;
  back.first = cut + 1;
  stages.insert(stages.begin() + which + 1, back);
  counts.insert(counts.begin() + which + 1, counts[which] - taken);
  counts[which] = taken;
}

void Perturbation::merge() {
  if (stages.size() < 2)
    return;
  int64_t which = draw(stages.size() - 1);
  stages[which].last = stages[which + 1].last;
  counts[which] += counts[which + 1];
  stages.erase(stages.begin() + which + 1);
  counts.erase(counts.begin() + which + 1);
}

Stages Perturbation::run() {
  void (Perturbation::*const changes[])() = {
      &Perturbation::moveCut, &Perturbation::moveDevices, &Perturbation::divide,
      &Perturbation::merge};
  for (int64_t i = 2 + draw(3); i > 0; --i)
    (this->*changes[draw(std::size(changes))])();
  ArrayRef<int64_t> machines = costs.getCluster().devices;
  llvm::SmallVector<int32_t, 16> order(machines.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[draw(i)]);
  FreeDevices free(machines, order);
  Placement placement = kPlacements[draw(std::size(kPlacements))];
  for (auto [stage, count] : llvm::zip_equal(stages, counts))
    stage.devices = free.take(count, placement);
  return std::move(stages);
}

Stages mlir::hfta::planning::perturb(const StageCosts &costs,
                                     const Stages &stages,
                                     std::mt19937 &random) {
  return Perturbation(costs, stages, random).run();
}
