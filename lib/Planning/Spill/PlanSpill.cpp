//===- PlanSpill.cpp - Chooses how a step fits into memory ----------------===//

#include "Hfta/Planning/Spill/SpillPlan.h"
#include "Spill/SpillSchedule.h"
#include "Spill/SpillSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// The numbers of tasks for which bytes that are being written may stay in
/// memory.
static constexpr int64_t kWriteWindows[] = {0, 1, 2, 4, 8};

/// No more neighbours are tried once all plans together have this many tasks.
static constexpr size_t kMostTasks = 150000;

namespace {
struct Candidate {
  SpillPlan plan;
  Ticks leastTicks = 0; ///< lower bound of a step
  int64_t leastBytes = 0;
  int64_t leastGroup = 0;
  int64_t movedBytes = 0;
  bool writes = false;
  size_t number = 0; ///< position in the order in which candidates were found

  /// Returns the sort key of candidates. Among equally fast ones, those that
  /// move fewer bytes come first, then those with fewer turns, then those with
  /// less memory.
  auto getRank() const {
    return std::make_tuple(leastTicks, movedBytes, -plan.copies, leastBytes,
                           number);
  }
};

} // namespace

class SpillPlanner::Candidates {
public:
  Candidates(const SpillModel &model, const SpillRequest &request)
      : model(model), request(request), index(model),
        options(model, this->index, this->request), copies(listCopies()) {}

  std::optional<SpillChoice> plan(int64_t budget, SpillFailure &failure);

private:
  llvm::SmallVector<int64_t> listCopies() const;
  void add(SpillPlan plan);
  void findPlans(int64_t budget);
  void addNeighbours();
  void simulate(const Candidate &candidate, int64_t budget);
  bool isFastest(const Candidate &candidate, int64_t budget) const;

  const SpillModel &model;
  const SpillRequest &request;
  SpillIndex index;
  SpillOptions options;
  /// The numbers of copies per turn that are tried. All plans have been found
  /// for the first `done` of them; for the next one, there may be those by
  /// rules of thumb. `firsts` has, for each number, the index of its plan that
  /// keeps everything.
  llvm::SmallVector<int64_t> copies;
  size_t done = 0;
  std::vector<size_t> firsts;
  std::vector<Candidate> all;
  /// The number of candidates whose neighbours were added.
  size_t neighboursOf = 0;
  std::set<std::string> known;
  size_t taskCount = 0; ///< sum over all candidates
  std::optional<SpillChoice> best;
  Ticks bestTicks = 0;
};

/// Returns a string that is different for different plans.
static std::string describe(const SpillPlan &plan) {
  std::string text;
  auto append = [&](int64_t number) {
    text.append(reinterpret_cast<const char *>(&number), sizeof(number));
  };
  append(plan.copies);
  for (const SpillGroup &group : plan.groups) {
    append(group.endBlock);
    text += static_cast<char>(static_cast<int>(group.residency) << 2 |
                              group.streamsInputs << 1 | group.spillsGradients);
  }
  text += '/';
  for (Keep keep : plan.values)
    text += static_cast<char>(keep);
  return text;
}

void SpillPlanner::Candidates::add(SpillPlan plan) {
  if (!known.insert(describe(plan)).second)
    return;
  SpillSchedule schedule(model, index, plan);
  Candidate &one = all.emplace_back();
  one.plan = std::move(plan);
  one.leastTicks = schedule.getLeastTicks();
  one.leastBytes = schedule.leastBytes;
  one.leastGroup = schedule.leastGroup;
  one.movedBytes = schedule.readBytes + schedule.writtenBytes;
  one.writes = schedule.writtenBytes > 0;
  one.number = all.size();
  taskCount += schedule.tasks.size();
}

/// Adds plans that differ from known ones in one decision. The search judges
/// plans by sums, which don't show when bytes are moved; so if a model has few
/// plans, neighbours of the best ones by sums may be better.
void SpillPlanner::Candidates::addNeighbours() {
  for (; neighboursOf < all.size() && taskCount <= kMostTasks; ++neighboursOf) {
    SpillPlan plan = all[neighboursOf].plan;
    forEachNeighbour(model, index, request, plan,
                     [&](const SpillPlan &other) { add(other); });
  }
}

void SpillPlanner::Candidates::simulate(const Candidate &candidate,
                                        int64_t budget) {
  SpillSchedule schedule(model, index, candidate.plan);
  for (int64_t window : kWriteWindows) {
    if (window > 0 && !candidate.writes)
      return;
    Ticks ticks = schedule.run(budget, window);
    if (ticks == kNoTicks)
      return;
    if (best && ticks >= bestTicks)
      continue;
    best = SpillChoice{candidate.plan, toSeconds(ticks)};
    best->plan.writeWindow = window;
    bestTicks = ticks;
  }
}

/// Returns whether the candidate fits into memory without moving or recomputing
/// anything, so that no other can be faster.
bool SpillPlanner::Candidates::isFastest(const Candidate &candidate,
                                         int64_t budget) const {
  const SpillPlan &plan = candidate.plan;
  return request.recompute != RecomputePolicy::all &&
         candidate.leastBytes <= budget &&
         llvm::all_of(plan.groups, [](const SpillGroup &group) {
           return group.residency == Residency::everything;
         });
}

/// Lists the numbers of copies per turn to try. Fewer copies need less memory,
/// but are worth trying only if this makes more turns.
llvm::SmallVector<int64_t> SpillPlanner::Candidates::listCopies() const {
  int64_t most = std::min(request.mostCopies, model.copies);
  int64_t least = std::min(request.leastCopies, most);
  llvm::SmallVector<int64_t> counts;
  for (int64_t turns = 1; turns <= model.copies; ++turns) {
    int64_t copies = (model.copies + turns - 1) / turns;
    if (copies >= least && copies <= most &&
        (counts.empty() || counts.back() != copies))
      counts.push_back(copies);
  }
  if (counts.empty())
    counts.push_back(most);
  return counts;
}

/// Finds all plans that a budget may need. As soon as everything fits into
/// memory with some number of copies, smaller numbers aren't needed.
void SpillPlanner::Candidates::findPlans(int64_t budget) {
  auto isFastestHere = [&](size_t number) {
    return isFastest(all[number], budget);
  };
  for (;;) {
    if (firsts.size() == done && done < copies.size()) {
      firsts.push_back(all.size());
      for (SpillPlan &plan :
           makeSimplePlans(model, index, request, copies[done]))
        add(std::move(plan));
    }
    if (done == copies.size() || llvm::any_of(firsts, isFastestHere))
      break;
    for (SpillPlan &plan :
         searchPlans(model, index, request, options, copies[done]))
      add(std::move(plan));
    ++done;
  }
  addNeighbours();
}

std::optional<SpillChoice>
SpillPlanner::Candidates::plan(int64_t budget, SpillFailure &failure) {
  findPlans(budget);
  best = std::nullopt;
  bestTicks = 0;
  std::vector<const Candidate *> order;
  for (const Candidate &candidate : all)
    order.push_back(&candidate);
  // Candidates don't depend on the budget, and those that aren't simulated
  // can't be faster. So a larger budget never has a slower plan.
  llvm::sort(order, [](const Candidate *left, const Candidate *right) {
    return left->getRank() < right->getRank();
  });
  for (const Candidate *candidate : order) {
    if (candidate->leastBytes > budget)
      continue;
    if (best && candidate->leastTicks >= bestTicks)
      break;
    simulate(*candidate, budget);
  }
  if (best)
    return best;
  const Candidate &least = **llvm::min_element(
      order, [](const Candidate *left, const Candidate *right) {
        return left->leastBytes < right->leastBytes;
      });
  failure.leastBudget = least.leastBytes;
  failure.plan = least.plan;
  failure.block =
      model.blocks[least.plan.groups[least.leastGroup].endBlock - 1].name;
  return std::nullopt;
}

SpillPlanner::SpillPlanner(const SpillModel &model, const SpillRequest &request)
    : candidates(std::make_unique<Candidates>(model, request)) {}
SpillPlanner::~SpillPlanner() = default;

std::optional<SpillChoice> SpillPlanner::plan(int64_t budget,
                                              SpillFailure &failure) {
  return candidates->plan(budget, failure);
}

std::optional<SpillChoice> planning::planSpill(const SpillModel &model,
                                               const SpillRequest &request,
                                               SpillFailure &failure) {
  return SpillPlanner(model, request).plan(request.budget, failure);
}
