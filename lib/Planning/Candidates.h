//===- Candidates.h - Plans that the search compares ------------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_CANDIDATES_H
#define HFTA_LIB_PLANNING_CANDIDATES_H

#include "Hfta/Planning/Latency.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

using Stages = llvm::SmallVector<Stage, 4>;

struct Candidate {
  Stages stages;
  double estimate = std::numeric_limits<double>::infinity();
  double latency = std::numeric_limits<double>::infinity();
  /// The numbers with which the latency holds.
  llvm::SmallVector<int64_t, 8> inFlight;

  /// Returns whether it is a plan: no stage is too large, and no replica is
  /// without work.
  bool fits() const { return !inFlight.empty(); }
};

/// Evaluates plans and counts the work that this takes. The search ends after a
/// certain amount of work, not after a certain time, so that equal inputs have
/// equal plans on every machine.
class Judge {
public:
  explicit Judge(const StageCosts &costs) : costs(costs) {}

  const StageCosts &getCosts() const { return costs; }

  /// Estimates the time of a batch; infinite where a stage doesn't fit into a
  /// device's memory.
  double estimate(llvm::ArrayRef<Stage> stages);
  /// Returns the least latency of all policies, with the numbers in flight that
  /// give it.
  Candidate judge(llvm::ArrayRef<Stage> stages);
  /// Changes the numbers in flight of single stages as long as that shortens
  /// the batch, and lowers those that make no difference.
  void chooseInFlight(Candidate &candidate);

  /// Returns whether the problem is so small that latencies can be computed
  /// about as fast as estimates, so that many are.
  bool isSmall(size_t stages) const {
    return costs.getWorkload().microBatches * stages <= 64;
  }
  /// Returns the work so far, in estimates; a latency counts as the number of
  /// estimates that take as long.
  int64_t getWork() const { return work; }

private:
  bool canRun(llvm::ArrayRef<Stage> stages);
  llvm::SmallVector<int64_t, 8> getMostInFlight(llvm::ArrayRef<Stage> stages);
  double getLatencyOf(llvm::ArrayRef<Station> stations,
                      llvm::ArrayRef<int64_t> inFlight);

  const StageCosts &costs;
  int64_t work = 0;
};

/// Distinct plans, of which those with the best estimates are judged.
class CandidatePool {
public:
  explicit CandidatePool(Judge &judge) : judge(judge) {}

  /// Keeps the plan if its estimate is finite and it hasn't been added yet.
  void add(const Stages &stages);
  /// Judges the `judged` plans of least estimate for each number of stages, and
  /// returns the `count` of them with the least latency; all in ascending order
  /// of latency.
  std::vector<Candidate> takeBest(size_t judged, size_t count);
  double getLeastEstimate() const { return leastEstimate; }

private:
  Judge &judge;
  std::vector<Candidate> candidates;
  double leastEstimate = std::numeric_limits<double>::infinity();
};

/// Adds data parallelism, all plans of two stages in all placements, and plans
/// of more stages from dynamic programming with devices in order.
void addSeeds(Judge &judge, CandidatePool &pool);

/// Returns a plan that fits into the least memory.
Stages getLeastMemoryStages(const StageCosts &costs);

/// Improves cuts, replicas and places, until no change that is tried helps or
/// the judge's work has grown by `budget`.
Candidate improve(Judge &judge, Candidate candidate, int64_t budget);

/// Returns a plan that differs in a few cuts and counts of devices.
Stages perturb(const StageCosts &costs, const Stages &stages,
               std::mt19937 &random);

/// Returns numbers from `first` to `last`: all of them if there are at most
/// `most`; otherwise both ends, `near` and the numbers around it, and a sample
/// of the rest.
llvm::SmallVector<int64_t, 32> sampleRange(int64_t first, int64_t last,
                                           int64_t near, int64_t most);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_CANDIDATES_H
