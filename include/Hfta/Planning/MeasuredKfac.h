//===- MeasuredKfac.h - What K-FAC takes, by measured tasks -----*- C++ -*-===//

#ifndef HFTA_PLANNING_MEASUREDKFAC_H
#define HFTA_PLANNING_MEASUREDKFAC_H

#include "Hfta/Planning/KfacPlan.h"
#include "Hfta/Planning/MeasuredCosts.h"

namespace mlir::hfta::planning {

/// What KfacCosts are made of where ranks send messages to each other: numbers
/// alone, so that a plan can keep them.
struct KfacRates {
  /// Of different sizes, at least one.
  std::vector<InversionMeasurement> inversions;
  TransferCost reduceFactors, reduceGradients; ///< among all ranks
  /// From one rank to another. To several goes one message after the other.
  TransferCost message;
  double bytesPerElement = 4;
  bool isOverlapped = true; ///< of sums

  /// Of steps as schedules have them.
  KfacCosts getCosts() const;
};

/// A job's step, of which all ranks together do `batch` samples.
struct KfacWorkload {
  int64_t ranks = 1;
  int64_t batch = 1;
  int64_t copies = 1;
  int64_t groups = 1; ///< whose sums are added up
  /// Elements of the parts in which sums are added up, of which tasks that do
  /// so count how many they add.
  int64_t elementsOfPart = 1;
};

/// Puts measured times in the place of estimated ones, of a program with the
/// model's blocks and copies, for any number of ranks. Of a task that several
/// factors or layers share each gets the part that it was estimated to have; of
/// inversions, the seconds of the model's sizes become those that are most
/// likely by all blocks' tasks. What wasn't measured stays as it is. An error
/// says which task isn't there, or is of no block of the model.
llvm::Error measureKfac(const MeasuredCosts &measured,
                        const KfacWorkload &workload, KfacModel &model,
                        KfacRates &rates);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MEASUREDKFAC_H
