//===- PrintKfacPlan.cpp - Plans of K-FAC as tables -----------------------===//

#include "Hfta/Planning/Kfac/KfacSimulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static std::string describePlacement(const KfacPlan &plan) {
  const FactorGrid &grid = plan.grid;
  switch (plan.placement) {
  case KfacPlacement::balanced:
    return llvm::formatv("balanced on {0} ranks", grid.getRankCount());
  case KfacPlacement::fraction:
    return llvm::formatv("fraction {0}/{1}: {0} rows, {2} columns of ranks",
                         grid.rows, grid.getRankCount(), grid.columns);
  case KfacPlacement::local:
    return llvm::formatv("local on {0} ranks", grid.getRankCount());
  }
  llvm_unreachable("a placement without a name");
}

static double toMebibytes(double bytes) { return bytes / (1 << 20); }

static void printBuckets(const KfacPlan &plan, llvm::raw_ostream &os) {
  if (plan.buckets.empty())
    return;
  os << llvm::formatv("\n{0,6}{1,9}{2,12}{3,11}{4,11}\n", "bucket", "factors",
                      "elements", "begin ms", "end ms");
  for (auto [number, bucket] : llvm::enumerate(plan.buckets))
    os << llvm::formatv("{0,6}{1,9}{2,12}{3,11:f3}{4,11:f3}\n", number,
                        bucket.last - bucket.first + 1, bucket.elements,
                        bucket.begin * 1e3, bucket.end * 1e3);
}

/// Prints a row for each owner, and one for the factors that all ranks of a
/// column invert.
static void printOwners(const KfacModel &model, const KfacPlan &plan,
                        const KfacRun &run, llvm::raw_ostream &os) {
  std::map<int64_t, std::vector<Factor>> owned;
  for (auto [factor, owner] : llvm::zip_equal(model.factors, plan.owners))
    owned[owner].push_back(factor.matrices);
  std::map<int64_t, double> seconds, ofAll;
  for (const KfacEvent &event : run.events)
    if (event.activity == KfacActivity::invert)
      (event.number == 0 ? ofAll : seconds)[event.rank] +=
          event.end - event.begin;
  // Every rank has several events for factors that all of them invert. The
  // slowest rank counts.
  for (auto [rank, time] : ofAll)
    seconds[kEveryRank] = std::max(seconds[kEveryRank], time);
  os << llvm::formatv("\n{0,6}{1,9}{2,14}{3,12}{4,11}\n", "rank", "factors",
                      "largest rows", "elements", "invert ms");
  for (const auto &[rank, factors] : owned) {
    int64_t largest = 0, elements = 0;
    for (const Factor &factor : factors) {
      largest = std::max(largest, factor.size);
      elements += factor.getElements();
    }
    std::string name = rank == kEveryRank ? "each" : std::to_string(rank);
    double time = seconds[rank];
    os << llvm::formatv("{0,6}{1,9}{2,14}{3,12}{4,11:f3}\n", name,
                        factors.size(), largest, elements, time * 1e3);
  }
}

static void printTimeline(const KfacRun &run, llvm::raw_ostream &os) {
  os << llvm::formatv("\n{0,-21}{1,6}{2,11}{3,11}\n", "step with inverses",
                      "times", "begin ms", "end ms");
  for (size_t number : llvm::seq<size_t>(0, kKfacActivities)) {
    auto activity = static_cast<KfacActivity>(number);
    size_t times = 0;
    double begin = run.seconds;
    for (const KfacEvent &event : run.events) {
      if (event.activity != activity)
        continue;
      ++times;
      begin = std::min(begin, event.begin);
    }
    if (times > 0)
      os << llvm::formatv("{0,-21}{1,6}{2,11:f3}{3,11:f3}\n", getName(activity),
                          times, begin * 1e3, run.getEnd(activity) * 1e3);
  }
}

void planning::printKfacPlan(const KfacModel &model, const KfacCosts &costs,
                             const KfacPlan &plan, llvm::raw_ostream &os) {
  KfacRun run = simulateStep(model, costs, plan, KfacStep::inverses);
  double factors = simulateStep(model, costs, plan, KfacStep::factors).seconds;
  double plain = simulateStep(model, costs, plan, KfacStep::plain).seconds;
  KfacMemory memory = getLargestMemory(model, costs, plan);
  os << llvm::formatv(
      "{0}\nsteps {1:f3} ms with inverses, {2:f3} ms with factors, {3:f3} ms "
      "else; mean {4:f3} ms\nfactors {5:f1} MiB, inverses {6:f1} MiB a rank\n",
      describePlacement(plan), run.seconds * 1e3, factors * 1e3, plain * 1e3,
      getMeanSeconds(model, costs, plan) * 1e3, toMebibytes(memory.factors),
      toMebibytes(memory.inverses));
  printBuckets(plan, os);
  printOwners(model, plan, run, os);
  printTimeline(run, os);
}
