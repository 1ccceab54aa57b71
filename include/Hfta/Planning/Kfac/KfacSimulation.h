//===- KfacSimulation.h - When ranks do what of a K-FAC step ----*- C++ -*-===//

#ifndef HFTA_PLANNING_KFAC_KFACSIMULATION_H
#define HFTA_PLANNING_KFAC_KFACSIMULATION_H

#include "Hfta/Planning/Common/Timeline.h"
#include "Hfta/Planning/Kfac/KfacPlan.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

/// The activities of a simulated step.
enum class KfacActivity : uint8_t {
  lead,            ///< everything before the rank's last micro-batch
  forward,         ///< forward of one block, with input statistics
  backward,        ///< backward of one block, with output statistics
  reduceGradients, ///< all-reduce of one block's gradients
  reduceFactors,   ///< all-reduce of one bucket of factors
  average,         ///< update of all running means of statistics
  invert, ///< the factors of one size that a rank owns, or all those that every
          ///< rank inverts
  broadcastInverses,   ///< an owner's inverses, or one factor's, along a column
  precondition,        ///< all layers of a rank, or those of one block
  broadcastDirections, ///< a rank's preconditioned gradients, along its row
  update               ///< the optimizer's update
};

/// Returns the activity in words, such as "reduce factors".
llvm::StringRef getName(KfacActivity activity);
inline constexpr size_t kKfacActivities =
    static_cast<size_t>(KfacActivity::update) + 1;

/// A period in which ranks do one activity.
struct KfacEvent {
  KfacActivity activity = KfacActivity::lead;
  /// The rank that computes or sends; kEveryRank if all do so at the same time.
  int64_t rank = kEveryRank;
  /// The number of the block, bucket or factor. For `invert`, the size of the
  /// matrices (the largest if there are several), or 0 for those that all ranks
  /// in a column invert. 0 for all other activities.
  int64_t number = 0;
  double begin = 0; ///< seconds since the step began
  double end = 0;
};

/// The kind of a step. Each kind includes the work of the previous one.
/// Inverses are computed from the factors of the same step.
enum class KfacStep {
  plain,   ///< preconditions gradients
  factors, ///< also measures factors and all-reduces them
  inverses ///< also inverts factors
};

struct KfacRun {
  double seconds = 0;
  std::vector<KfacEvent> events; ///< sorted by begin, then by end

  /// Returns when the last event of this activity ends; 0 if there is none.
  double getEnd(KfacActivity activity) const;
};

/// Simulates one step on all ranks. There is a queue for all-reduces of all
/// ranks, one per column for broadcasts of inverses, and one per row for
/// broadcasts of preconditioned gradients; each runs one collective after the
/// other.
KfacRun simulateStep(const KfacModel &model, const KfacCosts &costs,
                     const KfacPlan &plan, KfacStep step);

/// Returns the mean duration of a step, weighted by the frequency of each kind
/// of step.
double getMeanSeconds(const KfacModel &model, const KfacCosts &costs,
                      const KfacPlan &plan);

/// Prints tables for people: the placement and the duration of its steps, the
/// buckets, which rank inverts which factors, and when each activity of a step
/// with inversions begins and ends.
void printKfacPlan(const KfacModel &model, const KfacCosts &costs,
                   const KfacPlan &plan, llvm::raw_ostream &os);

/// Returns the timeline of a simulated K-FAC step, with a row per rank.
Timeline getTimeline(const KfacRun &run, int64_t ranks, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFAC_KFACSIMULATION_H
