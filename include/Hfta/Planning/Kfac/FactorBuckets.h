//===- FactorBuckets.h - Factors in common all-reduces ----------*- C++ -*-===//
//
// The forward and backward passes complete one K-FAC factor after the other,
// and the ranks all-reduce completed factors meanwhile. Each all-reduce has a
// latency besides the time for its elements, so several factors are sent
// together as a bucket, once the last of them is complete.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_KFAC_FACTORBUCKETS_H
#define HFTA_PLANNING_KFAC_FACTORBUCKETS_H

#include "Hfta/Planning/Kfac/FactorCosts.h"

#include <vector>

namespace mlir::hfta::planning {

/// An entry in a list of factors in the order of their completion.
struct ReadyFactor {
  double ready = 0; ///< when it is complete, in seconds since the step began
  int64_t elements = 0; ///< elements to all-reduce
  /// Whether a bucket may end with this factor, because a block of the program
  /// ends with it. A bucket may always end with the last factor of the list.
  bool endsBlock = true;
};

/// Another transfer on the same network, such as the all-reduce of a gradient.
/// It precedes buckets that become ready later or at the same time.
struct OtherTransfer {
  double ready = 0; ///< seconds since the step began
  double seconds = 0;
};

/// The factors from `first` to `last`, inclusive, which are all-reduced
/// together.
struct Bucket {
  int64_t first = 0;
  int64_t last = 0;
  int64_t elements = 0;
  double begin =
      0;          ///< begin of the all-reduce, in seconds since the step began
  double end = 0; ///< end of the all-reduce
};

/// The buckets of all factors, in order; empty if there are no factors.
using BucketPlan = std::vector<Bucket>;

/// The input of bucket planning: the factors, the cost of an all-reduce, and
/// the other transfers, sorted by the time at which they are ready.
struct BucketProblem {
  std::vector<ReadyFactor> factors;
  TransferCost allReduce;
  std::vector<OtherTransfer> others;
};

/// Returns the buckets with these lengths (numbers of factors), and when they
/// are sent. The lengths must add up to the number of factors.
BucketPlan getBucketTimes(const BucketProblem &problem,
                          llvm::ArrayRef<int64_t> lengths);

/// Returns the buckets with which the last all-reduce ends as early as
/// possible, by dynamic programming over the places where a bucket may end.
/// This is optimal, since a prefix of the factors that ends earlier is never
/// worse for the rest. Of equally good plans, returns the one with the shortest
/// last bucket, then the shortest bucket before it, and so on. Takes time
/// quadratic in the number of factors.
BucketPlan planBuckets(const BucketProblem &problem);

/// Returns the buckets of SPD-KFAC (Shi, Zhang, Li: Accelerating Distributed
/// K-FAC with Smart Parallelism of Computing and Communication Tasks, ICDCS
/// 2021). The next factor joins the current bucket if it is ready before the
/// bucket would have been sent, and the bucket would begin after the factor is
/// ready, or less than one latency before.
BucketPlan mergeGreedily(const BucketProblem &problem);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFAC_FACTORBUCKETS_H
