//===- FactorBuckets.h - Factors in common all-reduces ----------*- C++ -*-===//
//
// While forward and backward compute one factor after the other, the ranks add
// up the factors that are ready, by all-reduces. Since an all-reduce has a
// latency besides the time for its elements, several factors are sent together
// as a bucket, as soon as the last of them is ready.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORBUCKETS_H
#define HFTA_PLANNING_FACTORBUCKETS_H

#include "Hfta/Planning/FactorCosts.h"

#include <vector>

namespace mlir::hfta::planning {

/// A factor, in a list that is in the order in which factors get ready.
struct ReadyFactor {
  double ready = 0;     ///< seconds since the step began
  int64_t elements = 0; ///< elements to add up
  /// Whether a bucket may end with this factor, because a block of the program
  /// ends with it. A bucket may always end with the last factor.
  bool endsBlock = true;
};

/// Another transfer over the network, for example a sum of gradients. It goes
/// before the buckets that get ready later or at the same time.
struct OtherTransfer {
  double ready = 0; ///< seconds since the step began
  double seconds = 0;
};

/// The factors `first` to `last`, both included.
struct Bucket {
  int64_t first = 0;
  int64_t last = 0;
  int64_t elements = 0;
  double begin = 0; ///< when the all-reduce begins, since the step began
  double end = 0;
};

/// The buckets of all factors, in order; empty if there are no factors.
using BucketPlan = std::vector<Bucket>;

/// The input of planning: the factors to put into buckets, what an all-reduce
/// costs, and the other transfers, sorted by the time at which they are ready.
struct BucketProblem {
  std::vector<ReadyFactor> factors;
  TransferCost allReduce;
  std::vector<OtherTransfer> others;
};

/// Returns when buckets of the given lengths, in factors, are sent. The lengths
/// must add up to the number of factors.
BucketPlan getBucketTimes(const BucketProblem &problem,
                          llvm::ArrayRef<int64_t> lengths);

/// Returns the buckets that end first, by dynamic programming over the places
/// where a bucket may end: a prefix of the factors that ends sooner is never
/// worse for what follows. Among equally good plans it prefers the one with the
/// shortest last bucket, then the shortest one before it, and so on. The time
/// is quadratic in the number of factors.
BucketPlan planBuckets(const BucketProblem &problem);

/// Applies the rule of SPD-KFAC (Shi, Zhang, Li: Accelerating Distributed K-FAC
/// with Smart Parallelism of Computing and Communication Tasks, ICDCS 2021):
/// the next factor joins a bucket if it is ready before the bucket would have
/// been sent, and the bucket would begin after the factor is ready, or less
/// than a latency before.
BucketPlan mergeGreedily(const BucketProblem &problem);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORBUCKETS_H
