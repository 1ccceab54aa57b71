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
  llvm::SmallVector<int64_t, 8> inFlight; ///< with which the latency holds

  /// Whether it is a plan: no stage is too large, no replica without work.
  bool fits() const { return !inFlight.empty(); }
};

/// Says how good plans are, and counts the work: the search ends after so much
/// of it, not after a time, so that equal inputs have equal plans on every
/// machine.
class Judge {
public:
  explicit Judge(const StageCosts &costs) : costs(costs) {}

  const StageCosts &getCosts() const { return costs; }

  /// Infinite where a stage doesn't fit into a device's memory.
  double estimate(llvm::ArrayRef<Stage> stages);
  /// The least latency of all policies, with the numbers in flight that give
  /// it.
  Candidate judge(llvm::ArrayRef<Stage> stages);
  /// Changes numbers in flight of single stages as long as that shortens the
  /// batch, and lowers those that don't matter.
  void chooseInFlight(Candidate &candidate);

  /// Whether latencies are found about as soon as estimates, so that many are.
  bool isSmall(size_t stages) const {
    return costs.getWorkload().microBatches * stages <= 64;
  }
  /// In estimates; a latency counts as many as take as long.
  int64_t getWork() const { return work; }

private:
  bool canRun(llvm::ArrayRef<Stage> stages);
  llvm::SmallVector<int64_t, 8> getMostInFlight(llvm::ArrayRef<Stage> stages);
  double getLatencyOf(llvm::ArrayRef<Station> stations,
                      llvm::ArrayRef<int64_t> inFlight);

  const StageCosts &costs;
  int64_t work = 0;
};

/// Distinct plans, the best of which by estimate are judged.
class CandidatePool {
public:
  explicit CandidatePool(Judge &judge) : judge(judge) {}

  /// Keeps the plan if its estimate is finite and nobody has added it.
  void add(const Stages &stages);
  /// Of each number of stages the `count` plans of least latency among the
  /// `judged` of least estimate; all by increasing latency.
  std::vector<Candidate> takeBest(size_t judged, size_t count);
  double getLeastEstimate() const { return leastEstimate; }

private:
  Judge &judge;
  std::vector<Candidate> candidates;
  double leastEstimate = std::numeric_limits<double>::infinity();
};

/// Data parallelism, all plans of two stages in all placements, and plans of
/// more stages from dynamic programming with devices in order.
void addSeeds(Judge &judge, CandidatePool &pool);

/// A plan that fits into the least memory.
Stages getLeastMemoryStages(const StageCosts &costs);

/// Changes cuts, replicas and places for the better, until no change that is
/// tried helps or the judge's work has grown by `budget`.
Candidate improve(Judge &judge, Candidate candidate, int64_t budget);

/// A plan that differs in a few cuts and counts of devices.
Stages perturb(const StageCosts &costs, const Stages &stages,
               std::mt19937 &random);

/// Numbers from `first` to `last`: all if they are at most `most`; else the
/// ends, `near` and those around it, and some of the others.
llvm::SmallVector<int64_t, 32> sampleRange(int64_t first, int64_t last,
                                           int64_t near, int64_t most);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_CANDIDATES_H
