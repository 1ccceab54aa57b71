//===- SimpleSpillPlans.cpp - Plans by rules of thumb ---------------------===//

#include "Spill/SpillSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// The most prefixes of a sorted list of values that are tried.
static constexpr size_t kMostPrefixes = 64;

namespace {
class SimplePlanner {
public:
  SimplePlanner(const SpillModel &model, const SpillIndex &index,
                const SpillRequest &request, int64_t copies)
      : model(model), index(index), request(request), copies(copies),
        count(static_cast<int64_t>(model.blocks.size())),
        needed(model.values.size(), false) {
    for (const SpillBlock &block : model.blocks)
      for (int64_t value : block.backwardReads)
        needed[value] = true;
  }

  std::vector<SpillPlan> make();

private:
  std::vector<Keep> keepAll(Keep keep) const;
  std::vector<int64_t> sortValues(bool largestFirst) const;
  void addPrefixes(const std::vector<int64_t> &order, Keep keep);
  void add(std::vector<Keep> values, int64_t blocksInGroup);
  void makeValid(SpillPlan &plan) const;

  const SpillModel &model;
  const SpillIndex &index;
  const SpillRequest &request;
  int64_t copies, count;
  std::vector<bool> needed; ///< whether a backward reads each value
  std::vector<SpillPlan> plans;
};
} // namespace

std::vector<Keep> SimplePlanner::keepAll(Keep keep) const {
  std::vector<Keep> values(model.values.size(), Keep::recompute);
  for (size_t value = 0; value < values.size(); ++value)
    if (needed[value])
      values[value] = keep;
  return values;
}

/// Returns the values that a backward reads, sorted by descending size, or by
/// ascending time per byte of recomputing them.
std::vector<int64_t> SimplePlanner::sortValues(bool largestFirst) const {
  std::vector<int64_t> order;
  for (size_t value = 0; value < model.values.size(); ++value)
    if (needed[value])
      order.push_back(static_cast<int64_t>(value));
  auto cost = [&](int64_t value) {
    const SpillValue &one = model.values[value];
    auto bytes = static_cast<double>(std::max<int64_t>(1, one.bytes));
    return largestFirst ? -bytes : model.ops[one.maker].seconds / bytes;
  };
  llvm::sort(order, [&](int64_t left, int64_t right) {
    return std::make_pair(cost(left), left) <
           std::make_pair(cost(right), right);
  });
  return order;
}

/// Makes a plan valid: saves values of a group that other groups' backwards
/// need, and values that can't be recomputed.
void SimplePlanner::makeValid(SpillPlan &plan) const {
  for (bool isValid = false; !isValid;) {
    isValid = true;
    auto save = [&](int64_t value) {
      if (plan.values[value] != Keep::recompute)
        return;
      plan.values[value] = Keep::save;
      isValid = false;
    };
    for (const SpillGroup &group : plan.groups) {
      SpillNeeds needs = findNeeds(model, index, plan.values, group);
      llvm::for_each(needs.byBackward, save);
      llvm::for_each(needs.byRecompute, save);
      if (needs.fault >= 0)
        for (int64_t value = index.firstValues[needs.fault];
             value < index.firstValues[needs.fault + 1]; ++value)
          save(value);
    }
  }
}

void SimplePlanner::add(std::vector<Keep> values, int64_t blocksInGroup) {
  SpillPlan plan;
  plan.copies = copies;
  plan.values = std::move(values);
  for (int64_t first = 0; first < count; first += blocksInGroup) {
    SpillGroup &group = plan.groups.emplace_back();
    group.firstBlock = first;
    group.endBlock = std::min(count, first + blocksInGroup);
  }
  makeValid(plan);
  for (Residency residency : {Residency::everything, Residency::parameters,
                              Residency::held, Residency::streamed}) {
    if (!request.spills && residency != Residency::everything)
      continue;
    for (SpillGroup &group : plan.groups)
      group.residency = residency;
    plans.push_back(plan);
  }
}

void SimplePlanner::addPrefixes(const std::vector<int64_t> &order, Keep keep) {
  std::vector<Keep> values = keepAll(Keep::save);
  size_t step = (order.size() + kMostPrefixes - 1) / kMostPrefixes;
  for (size_t number = 0; number < order.size(); ++number) {
    values[order[number]] = keep;
    if ((number + 1) % step == 0 || number + 1 == order.size())
      add(values, 1);
  }
}

std::vector<SpillPlan> SimplePlanner::make() {
  bool recomputes = request.recompute != RecomputePolicy::none;
  if (request.recompute != RecomputePolicy::all) {
    add(keepAll(Keep::save), 1);
    if (request.spills)
      addPrefixes(sortValues(/*largestFirst=*/true), Keep::spill);
    if (recomputes)
      addPrefixes(sortValues(/*largestFirst=*/false), Keep::recompute);
  }
  // Try groups of `size` blocks each, for all numbers of groups; one of them is
  // about √n.
  for (int64_t size = 1; recomputes && size <= count; ++size)
    if (size == 1 ||
        (count + size - 1) / size != (count + size - 2) / (size - 1))
      add(keepAll(Keep::recompute), size);
  return std::move(plans);
}

std::vector<SpillPlan> planning::makeSimplePlans(const SpillModel &model,
                                                 const SpillIndex &index,
                                                 const SpillRequest &request,
                                                 int64_t copies) {
  return SimplePlanner(model, index, request, copies).make();
}
