//===- SpillNeighbours.cpp - Plans that differ in one decision ------------===//

#include "Spill/SpillSearch.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

namespace {
class NeighbourFinder {
public:
  NeighbourFinder(const SpillModel &model, const SpillIndex &index,
                  const SpillRequest &request,
                  llvm::function_ref<void(const SpillPlan &)> take)
      : model(model), index(index), request(request), take(take) {}

  void find(const SpillPlan &plan);

private:
  void changeValues(SpillPlan &plan);
  void changeResidency(SpillPlan &plan, size_t group);
  void moveCuts(const SpillPlan &plan);
  void takeIfPossible(const SpillPlan &plan);

  const SpillModel &model;
  const SpillIndex &index;
  const SpillRequest &request;
  llvm::function_ref<void(const SpillPlan &)> take;
};
} // namespace

void NeighbourFinder::takeIfPossible(const SpillPlan &plan) {
  for (const SpillGroup &group : plan.groups) {
    SpillNeeds needs = findNeeds(model, index, plan.values, group);
    if (needs.fault >= 0 ||
        (needs.recompute > 0 && request.recompute == RecomputePolicy::none))
      return;
    for (const auto *values : {&needs.byBackward, &needs.byRecompute})
      for (int64_t value : *values)
        if (plan.values[value] == Keep::recompute)
          return;
  }
  take(plan);
}

void NeighbourFinder::changeValues(SpillPlan &plan) {
  for (size_t value = 0; value < plan.values.size(); ++value) {
    Keep before = plan.values[value];
    for (Keep keep : {Keep::save, Keep::spill, Keep::recompute}) {
      bool isAllowed =
          (keep != Keep::spill || request.spills) &&
          (request.recompute != RecomputePolicy::all || keep == before ||
           (keep != Keep::recompute && before != Keep::recompute));
      if (keep == before || !isAllowed)
        continue;
      plan.values[value] = keep;
      takeIfPossible(plan);
    }
    plan.values[value] = before;
  }
}

void NeighbourFinder::changeResidency(SpillPlan &plan, size_t number) {
  SpillGroup before = plan.groups[number];
  SpillGroup &group = plan.groups[number];
  for (Residency residency : {Residency::everything, Residency::parameters,
                              Residency::held, Residency::streamed}) {
    if (residency == before.residency)
      continue;
    group.residency = residency;
    take(plan);
  }
  group = before;
  group.streamsInputs = !group.streamsInputs;
  if (request.streamsInputs && number > 0)
    take(plan);
  group = before;
  group.spillsGradients = !group.spillsGradients;
  if (model.clips)
    take(plan);
  group = before;
}

/// Tries to merge each group with the one before it, and to split it at each
/// cut.
void NeighbourFinder::moveCuts(const SpillPlan &plan) {
  for (size_t number = 0; number < plan.groups.size(); ++number) {
    SpillGroup group = plan.groups[number];
    if (number > 0) {
      SpillPlan merged = plan;
      merged.groups[number - 1].endBlock = group.endBlock;
      merged.groups.erase(merged.groups.begin() +
                          static_cast<ptrdiff_t>(number));
      takeIfPossible(merged);
    }
    for (int64_t cut = group.firstBlock + 1; cut < group.endBlock; ++cut) {
      SpillPlan split = plan;
      split.groups[number].endBlock = cut;
      SpillGroup second = group;
      second.firstBlock = cut;
      split.groups.insert(
          split.groups.begin() + static_cast<ptrdiff_t>(number) + 1, second);
      takeIfPossible(split);
    }
  }
}

void NeighbourFinder::find(const SpillPlan &plan) {
  SpillPlan changed = plan;
  changeValues(changed);
  for (size_t group = 0; request.spills && group < plan.groups.size(); ++group)
    changeResidency(changed, group);
  moveCuts(plan);
}

void planning::forEachNeighbour(
    const SpillModel &model, const SpillIndex &index,
    const SpillRequest &request, const SpillPlan &plan,
    llvm::function_ref<void(const SpillPlan &)> take) {
  NeighbourFinder(model, index, request, take).find(plan);
}
