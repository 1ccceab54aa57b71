//===- FactorBuckets.h - Sums of factors that go together -------*- C++ -*-===//
//
// While forward and backward compute one factor after the other, the ranks add
// up those that are there. An all-reduce takes a fixed time besides that for
// its elements, so that some factors go together, in a bucket: it is sent when
// the last of them is there.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORBUCKETS_H
#define HFTA_PLANNING_FACTORBUCKETS_H

#include "Hfta/Planning/FactorCosts.h"

#include <vector>

namespace mlir::hfta::planning {

/// A factor in the order in which factors get ready.
struct ReadyFactor {
  double ready = 0;     ///< seconds since the step began
  int64_t elements = 0; ///< that are added up
  /// Whether a bucket may end with it, because a block of the program does. The
  /// last factor always may.
  bool endsBlock = true;
};

/// Something else that the network is used for, for example a sum of gradients.
/// It goes before buckets that get ready later, and before those that get ready
/// with it.
struct OtherTransfer {
  double ready = 0; ///< seconds since the step began
  double seconds = 0;
};

/// Factors `first` to `last`, both among them.
struct Bucket {
  int64_t first = 0;
  int64_t last = 0;
  int64_t elements = 0;
  double begin = 0; ///< of the all-reduce, seconds since the step began
  double end = 0;
};

/// All factors, in their order. Empty if there are none.
using BucketPlan = std::vector<Bucket>;

/// What the network does: the factors of which buckets are made, what each
/// bucket takes, and what else is sent, by the time when it is ready.
struct BucketProblem {
  std::vector<ReadyFactor> factors;
  TransferCost allReduce;
  std::vector<OtherTransfer> others;
};

/// When buckets of so many factors each are sent. The lengths' sum is the
/// number of factors.
BucketPlan getBucketTimes(const BucketProblem &problem,
                          llvm::ArrayRef<int64_t> lengths);

/// The buckets whose last one ends first, by dynamic programming over the
/// places where one may end: a prefix of the factors that ends sooner is never
/// worse for what follows. Of equally good ones the last bucket is the
/// shortest, and so on to the first. Takes time with the square of the number
/// of factors.
BucketPlan planBuckets(const BucketProblem &problem);

/// The rule of SPD-KFAC (Shi, Zhang, Li: Accelerating Distributed K-FAC with
/// Smart Parallelism of Computing and Communication Tasks, ICDCS 2021): the
/// next factor joins a bucket if it is ready before the bucket would have been
/// sent, and the bucket would begin after it is, or less than a latency before.
BucketPlan mergeGreedily(const BucketProblem &problem);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORBUCKETS_H
