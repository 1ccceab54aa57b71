//===- MeasuredKfac.h - K-FAC costs from measured tasks ---------*- C++ -*-===//

#ifndef HFTA_PLANNING_KFAC_MEASUREDKFAC_H
#define HFTA_PLANNING_KFAC_MEASUREDKFAC_H

#include "Hfta/Planning/Common/MeasuredCosts.h"
#include "Hfta/Planning/Kfac/KfacPlan.h"

namespace mlir::hfta::planning {

/// The rates from which KfacCosts are computed when collectives consist of
/// messages between ranks. They are plain numbers, so that they can be stored
/// in a module.
struct KfacRates {
  /// Measurements of inversions, at least one, all of different sizes.
  std::vector<InversionMeasurement> inversions;
  TransferCost reduceFactors, reduceGradients; ///< all-reduces of all ranks
  /// The cost of a message from one rank to another. A broadcast consists of
  /// one message for each other rank, one after the other.
  TransferCost message;
  double bytesPerElement = 4;
  bool isOverlapped = true; ///< whether all-reduces overlap with computation

  /// Returns the costs of steps that have the order of the compiler's
  /// schedules.
  KfacCosts getCosts() const;
};

/// The size of a job's step. All ranks together process `batch` samples.
struct KfacWorkload {
  int64_t ranks = 1;
  int64_t batch = 1;
  int64_t copies = 1;
  int64_t groups = 1; ///< groups of micro-batches whose sums are added up
  /// The number of elements that one run of a `combine` task adds up. Its
  /// measured time is that of one run.
  int64_t elementsOfPart = 1;
};

/// Replaces estimated times in `model` and `rates` by measured ones. The
/// measurements are those of a program with the model's blocks and copies, on
/// any number of ranks. If several factors or layers share a task, its time is
/// divided among them in proportion to the estimates. The inversion times of
/// each matrix size are fitted to the times of all blocks' tasks. Times that
/// weren't measured are unchanged. The error says which task is missing, or
/// belongs to no block of the model.
llvm::Error measureKfac(const MeasuredCosts &measured,
                        const KfacWorkload &workload, KfacModel &model,
                        KfacRates &rates);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFAC_MEASUREDKFAC_H
