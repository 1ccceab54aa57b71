//===- Candidates.cpp - Plans that the search compares --------------------===//

#include "Pipelines/Candidates.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace mlir::hfta::planning;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// The judge
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 8> Judge::getMostInFlight(ArrayRef<Stage> stages) {
  SmallVector<int64_t, 8> most;
  for (const Stage &stage : stages)
    most.push_back(
        costs.getMostInFlight(stage.first, stage.last, stage.devices.size()));
  return most;
}

/// Returns whether each replica has at least one micro-batch, one sum of
/// gradients and enough memory.
bool Judge::canRun(ArrayRef<Stage> stages) {
  const Workload &workload = costs.getWorkload();
  for (const Stage &stage : stages) {
    int64_t replicas = stage.devices.size();
    if (replicas > workload.microBatches ||
        replicas > workload.getGroups(replicas))
      return false;
  }
  return costs.getCluster().memory == 0 ||
         !llvm::is_contained(getMostInFlight(stages), 0);
}

double Judge::estimate(ArrayRef<Stage> stages) {
  // An estimate visits the machines of each set of devices.
  work += 1 + costs.getCluster().devices.size() / 32;
  if (!canRun(stages))
    return std::numeric_limits<double>::infinity();
  return estimateLatency(costs.getStations(stages), costs.getWorkload(),
                         costs.getCluster().duplex)
      .seconds;
}

double Judge::getLatencyOf(ArrayRef<Station> stations,
                           ArrayRef<int64_t> inFlight) {
  // An estimate takes as long as about 64 steps of the recursion in getLatency.
  work += 1 + costs.getWorkload().microBatches * stations.size() / 64;
  return getLatency(stations, inFlight, costs.getWorkload(),
                    costs.getCluster().duplex);
}

Candidate Judge::judge(ArrayRef<Stage> stages) {
  Candidate result;
  result.stages.assign(stages.begin(), stages.end());
  SmallVector<Station, 8> stations = costs.getStations(stages);
  result.estimate =
      estimateLatency(stations, costs.getWorkload(), costs.getCluster().duplex)
          .seconds;
  if (!canRun(stages))
    return result;
  SmallVector<int64_t, 8> most = getMostInFlight(stages);
  for (InFlightPolicy policy : kInFlightPolicies) {
    SmallVector<int64_t, 8> inFlight =
        getInFlight(policy, stations, costs.getWorkload(), most);
    if (inFlight == result.inFlight)
      continue;
    double latency = getLatencyOf(stations, inFlight);
    if (latency < result.latency) {
      result.latency = latency;
      result.inFlight = inFlight;
    }
  }
  if (isSmall(stages.size()))
    chooseInFlight(result);
  return result;
}

/// Returns whether a time is shorter by more than rounding errors.
static bool isShorter(double seconds, double other) {
  return seconds < other * (1 - 1e-12);
}

void Judge::chooseInFlight(Candidate &candidate) {
  if (!candidate.fits())
    return;
  SmallVector<Station, 8> stations = costs.getStations(candidate.stages);
  SmallVector<int64_t, 8> most = getMostInFlight(candidate.stages);
  auto tryNumber = [&](size_t stage, int64_t number, bool keepsEqual) {
    SmallVector<int64_t, 8> inFlight = candidate.inFlight;
    inFlight[stage] = number;
    double latency = getLatencyOf(stations, inFlight);
    if (!isShorter(latency, candidate.latency) &&
        !(keepsEqual && !isShorter(candidate.latency, latency)))
      return false;
    candidate.latency = latency;
    candidate.inFlight = inFlight;
    return true;
  };
  size_t count = candidate.stages.size();
  // More than four rounds have never been seen to shorten the batch further.
  bool changed = true;
  for (unsigned round = 0; changed && round < 4; ++round) {
    changed = false;
    for (size_t stage = 0; stage < count; ++stage)
      for (int64_t step : {1, -1}) {
        int64_t number = candidate.inFlight[stage] + step;
        while (number >= 1 && number <= most[stage] &&
               tryNumber(stage, number, /*keepsEqual=*/false)) {
          changed = true;
          number += step;
        }
      }
  }
  for (size_t stage = 0; stage < count; ++stage)
    while (candidate.inFlight[stage] > 1 &&
           tryNumber(stage, candidate.inFlight[stage] - 1, true))
      ;
}

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

static bool isSame(ArrayRef<Stage> a, ArrayRef<Stage> b) {
  return llvm::equal(a, b, [](const Stage &left, const Stage &right) {
    return left.last == right.last && left.devices == right.devices;
  });
}

void CandidatePool::add(const Stages &stages) {
  Candidate candidate;
  candidate.estimate = judge.estimate(stages);
  if (candidate.estimate == std::numeric_limits<double>::infinity())
    return;
  leastEstimate = std::min(leastEstimate, candidate.estimate);
  candidate.stages = stages;
  candidates.push_back(std::move(candidate));
}

/// Returns the numbers below `count`, sorted by the values that `getValue`
/// gives them; equal values keep their order.
template <typename GetValue>
static std::vector<size_t> sortPositions(size_t count, GetValue getValue) {
  std::vector<size_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  llvm::sort(positions, [&](size_t a, size_t b) {
    return std::pair(getValue(a), a) < std::pair(getValue(b), b);
  });
  return positions;
}

std::vector<Candidate> CandidatePool::takeBest(size_t judged, size_t count) {
  std::vector<Candidate> known;
  // The numbers of plans that were judged and taken, by number of stages.
  std::map<size_t, size_t> judgedOf, takenOf;
  for (size_t at : sortPositions(candidates.size(), [&](size_t i) {
         return candidates[i].estimate;
       })) {
    const Candidate &candidate = candidates[at];
    size_t &judgedSoFar = judgedOf[candidate.stages.size()];
    if (judgedSoFar == judged ||
        llvm::any_of(known, [&](const Candidate &other) {
          return isSame(other.stages, candidate.stages);
        }))
      continue;
    ++judgedSoFar;
    known.push_back(judge.judge(candidate.stages));
  }
  std::vector<Candidate> best;
  for (size_t at :
       sortPositions(known.size(), [&](size_t i) { return known[i].latency; }))
    if (takenOf[known[at].stages.size()]++ < count)
      best.push_back(std::move(known[at]));
  candidates.clear();
  return best;
}

SmallVector<int64_t, 32> mlir::hfta::planning::sampleRange(int64_t first,
                                                           int64_t last,
                                                           int64_t near,
                                                           int64_t most) {
  SmallVector<int64_t, 32> numbers;
  if (last - first < most) {
    for (int64_t number = first; number <= last; ++number)
      numbers.push_back(number);
    return numbers;
  }
  for (int64_t distance = 0, step = 1; distance <= last - first;
       distance += step, step += distance > 2 ? step : 0)
    for (int64_t number : {near - distance, near + distance})
      if (number >= first && number <= last)
        numbers.push_back(number);
  for (int64_t i = 0; i <= most / 2; ++i)
    numbers.push_back(first + (last - first) * i / (most / 2));
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
  return numbers;
}
