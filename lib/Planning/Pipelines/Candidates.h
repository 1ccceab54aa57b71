//===- Candidates.h - Plans that the search compares ------------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_PIPELINES_CANDIDATES_H
#define HFTA_LIB_PLANNING_PIPELINES_CANDIDATES_H

#include "Hfta/Planning/Pipelines/Latency.h"

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
  /// The numbers of micro-batches in flight, by stage, with which this latency
  /// is reached. Empty if the plan can't run.
  llvm::SmallVector<int64_t, 8> inFlight;

  /// Returns whether the plan can run: each stage fits into memory, and each
  /// replica has work.
  bool fits() const { return !inFlight.empty(); }
};

/// Evaluates plans and counts its work. The search ends after a certain amount
/// of work, not after a certain time, so that equal inputs have equal plans on
/// every machine.
class Judge {
public:
  explicit Judge(const StageCosts &costs) : costs(costs) {}

  const StageCosts &getCosts() const { return costs; }

  /// Returns an estimate of a batch's seconds; infinity if a stage doesn't fit
  /// into a device's memory or a replica has no work.
  double estimate(llvm::ArrayRef<Stage> stages);
  /// Returns the plan with its latency: the least one over all policies that
  /// choose numbers in flight.
  Candidate judge(llvm::ArrayRef<Stage> stages);
  /// Changes the numbers in flight of single stages as long as that shortens
  /// the batch, then reduces them as long as the batch takes no longer.
  void chooseInFlight(Candidate &candidate);

  /// Returns whether the problem is small. Then a latency is computed about as
  /// fast as an estimate, so that the search can compute many.
  bool isSmall(size_t stages) const {
    return costs.getWorkload().microBatches * stages <= 64;
  }
  /// Returns the work so far. Its unit is one estimate; a latency counts as the
  /// number of estimates that take as long.
  int64_t getWork() const { return work; }

private:
  bool canRun(llvm::ArrayRef<Stage> stages);
  llvm::SmallVector<int64_t, 8> getMostInFlight(llvm::ArrayRef<Stage> stages);
  double getLatencyOf(llvm::ArrayRef<Station> stations,
                      llvm::ArrayRef<int64_t> inFlight);

  const StageCosts &costs;
  int64_t work = 0;
};

/// Plans, of which those with the best estimates are judged.
class CandidatePool {
public:
  explicit CandidatePool(Judge &judge) : judge(judge) {}

  /// Adds the plan if its estimate is finite. `takeBest` skips duplicates.
  void add(const Stages &stages);
  /// Judges, for each number of stages, the `judged` distinct plans with the
  /// least estimates, and returns the `count` of them with the least latencies.
  /// The result is sorted by latency. The pool is empty afterwards.
  std::vector<Candidate> takeBest(size_t judged, size_t count);
  double getLeastEstimate() const { return leastEstimate; }

private:
  Judge &judge;
  std::vector<Candidate> candidates;
  double leastEstimate = std::numeric_limits<double>::infinity();
};

/// Adds initial plans: one stage on various numbers of devices, two stages in
/// all placements, and more stages by dynamic programming, where consecutive
/// stages get consecutive devices.
void addSeeds(Judge &judge, CandidatePool &pool);

/// Returns stages that need the least memory per device.
Stages getLeastMemoryStages(const StageCosts &costs);

/// Improves cuts, replicas and devices by local search, until no change that is
/// tried helps or the judge's work has grown by `budget`.
Candidate improve(Judge &judge, Candidate candidate, int64_t budget);

/// Returns a plan that differs from `stages` in a few cuts and numbers of
/// devices, chosen at random.
Stages perturb(const StageCosts &costs, const Stages &stages,
               std::mt19937 &random);

/// Returns numbers from `first` to `last`: all of them if there are at most
/// `most`; otherwise both ends, `near` and the numbers around it, and a sample
/// of the rest.
llvm::SmallVector<int64_t, 32> sampleRange(int64_t first, int64_t last,
                                           int64_t near, int64_t most);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_PIPELINES_CANDIDATES_H
