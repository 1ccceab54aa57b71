//===- FactorBuckets.cpp - Buckets of factors for all-reduces -------------===//

#include "Hfta/Planning/Kfac/FactorBuckets.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

namespace {
/// The time at which the network is free after some transfers, as a function of
/// the time `free` from which on they may use it: max(free + seconds, least).
struct Delay {
  double seconds = 0;
  double least = -std::numeric_limits<double>::infinity();

  double apply(double free) const { return std::max(free + seconds, least); }
  /// Adds a transfer that comes before all that have been added.
  void prepend(const OtherTransfer &other) {
    least = std::max(least, apply(other.ready + other.seconds));
    seconds += other.seconds;
  }
};

/// A problem with prefix sums over its factors.
class Network {
public:
  explicit Network(const BucketProblem &problem);

  int64_t getCount() const { return problem.factors.size(); }
  /// Returns whether one bucket may end before this factor and the next one
  /// begin with it.
  bool isCut(int64_t place) const {
    return place == 0 || place == getCount() ||
           problem.factors[place - 1].endsBlock;
  }
  /// Returns the number of other transfers (not of factors) that are sent
  /// before the bucket whose last factor is `end` - 1.
  size_t getOthers(int64_t end) const { return end == 0 ? 0 : others[end]; }
  /// Returns when the bucket of factors [first, end) begins, if the previous
  /// bucket leaves the network free from `free` on.
  double getBegin(int64_t first, int64_t end, double free) const;
  Bucket getBucket(int64_t first, int64_t end, double free) const;
  const OtherTransfer &getOther(size_t number) const { return sorted[number]; }
  double getReady(int64_t end) const { return ready[end]; }
  double getSeconds(int64_t first, int64_t end) const {
    return problem.allReduce.getSeconds(elements[end] - elements[first]);
  }
  double getLatency() const { return problem.allReduce.latency; }

private:
  const BucketProblem &problem;
  std::vector<OtherTransfer> sorted;
  // Element i of each of these vectors describes the first i factors.
  std::vector<double> ready; ///< when all of them are ready
  std::vector<int64_t> elements;
  std::vector<size_t> others;
};
} // namespace

Network::Network(const BucketProblem &problem)
    : problem(problem), sorted(problem.others), ready{0}, elements{0},
      others{0} {
  llvm::sort(sorted, [](const OtherTransfer &a, const OtherTransfer &b) {
    return std::tie(a.ready, a.seconds) < std::tie(b.ready, b.seconds);
  });
  for (const ReadyFactor &factor : problem.factors) {
    ready.push_back(std::max(ready.back(), factor.ready));
    elements.push_back(elements.back() + factor.elements);
    size_t before = others.back();
    while (before < sorted.size() && sorted[before].ready <= ready.back())
      ++before;
    others.push_back(before);
  }
}

double Network::getBegin(int64_t first, int64_t end, double free) const {
  Delay delay;
  for (size_t other = getOthers(end); other > getOthers(first); --other)
    delay.prepend(sorted[other - 1]);
  return std::max(delay.apply(free), ready[end]);
}

Bucket Network::getBucket(int64_t first, int64_t end, double free) const {
  double begin = getBegin(first, end, free);
  return {first, end - 1, elements[end] - elements[first], begin,
          begin + getSeconds(first, end)};
}

static double getFree(const BucketPlan &plan) {
  return plan.empty() ? 0 : plan.back().end;
}

BucketPlan planning::getBucketTimes(const BucketProblem &problem,
                                    llvm::ArrayRef<int64_t> lengths) {
  Network network(problem);
  BucketPlan plan;
  int64_t first = 0;
  for (int64_t length : lengths) {
    plan.push_back(network.getBucket(first, first + length, getFree(plan)));
    first += length;
  }
  assert(first == network.getCount());
  return plan;
}

BucketPlan planning::planBuckets(const BucketProblem &problem) {
  Network network(problem);
  int64_t count = network.getCount();
  // Dynamic programming: for the factors before each index, the earliest end of
  // their last bucket, and the first factor of that bucket.
  std::vector<double> ends(count + 1, std::numeric_limits<double>::infinity());
  std::vector<int64_t> firsts(count + 1, 0);
  ends[0] = 0;
  for (int64_t end = 1; end <= count; ++end) {
    if (!network.isCut(end))
      continue;
    Delay delay;
    size_t other = network.getOthers(end);
    for (int64_t first = end - 1; first >= 0; --first) {
      for (; other > network.getOthers(first); --other)
        delay.prepend(network.getOther(other - 1));
      if (!network.isCut(first))
        continue;
      double begin = std::max(delay.apply(ends[first]), network.getReady(end));
      double finish = begin + network.getSeconds(first, end);
      if (finish < ends[end]) {
        ends[end] = finish;
        firsts[end] = first;
      }
    }
  }
  std::vector<int64_t> lengths;
  for (int64_t end = count; end > 0; end = firsts[end])
    lengths.push_back(end - firsts[end]);
  std::reverse(lengths.begin(), lengths.end());
  return getBucketTimes(problem, lengths);
}

BucketPlan planning::mergeGreedily(const BucketProblem &problem) {
  Network network(problem);
  BucketPlan plan;
  int64_t first = 0;
  for (int64_t end = 1; end <= network.getCount(); ++end) {
    Bucket bucket = network.getBucket(first, end, getFree(plan));
    if (end < network.getCount()) {
      double next = network.getReady(end + 1);
      bool joins = next < bucket.end &&
                   (bucket.begin > next ||
                    next - bucket.begin < problem.allReduce.latency);
      if (joins || !network.isCut(end))
        continue;
    }
    plan.push_back(bucket);
    first = end;
  }
  return plan;
}
