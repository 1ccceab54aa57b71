//===- MeasuredKfac.h - K-FAC costs from measured tasks ---------*- C++ -*-===//

#ifndef HFTA_PLANNING_MEASUREDKFAC_H
#define HFTA_PLANNING_MEASUREDKFAC_H

#include "Hfta/Planning/KfacPlan.h"
#include "Hfta/Planning/MeasuredCosts.h"

namespace mlir::hfta::planning {

/// The rates from which KfacCosts are computed where ranks send messages to
/// each other. They are plain numbers, so that a plan can store them.
struct KfacRates {
  /// Measurements of different sizes, at least one.
  std::vector<InversionMeasurement> inversions;
  TransferCost reduceFactors, reduceGradients; ///< among all ranks
  /// The cost of a message from one rank to another. A broadcast sends one
  /// message after the other.
  TransferCost message;
  double bytesPerElement = 4;
  bool isOverlapped = true; ///< whether sums overlap with computing

  /// Returns the costs of steps that run as in the schedules of programs.
  KfacCosts getCosts() const;
};

/// A job's step, in which all ranks together process `batch` samples.
struct KfacWorkload {
  int64_t ranks = 1;
  int64_t batch = 1;
  int64_t copies = 1;
  int64_t groups = 1; ///< groups of micro-batches whose sums are added up
  /// Elements of one part of a sum. The tasks that add sums count their work in
  /// such parts.
  int64_t elementsOfPart = 1;
};

/// Replaces estimated times by measured ones, from a program with the model's
/// blocks and copies, for any number of ranks. If several factors or layers
/// share a task, its time is divided as the estimates are. The seconds of
/// inversions of each matrix size become those that are most likely given the
/// tasks of all blocks. What wasn't measured stays as it is. An error says
/// which task is missing, or belongs to no block of the model.
llvm::Error measureKfac(const MeasuredCosts &measured,
                        const KfacWorkload &workload, KfacModel &model,
                        KfacRates &rates);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MEASUREDKFAC_H
