//===- KfacSimulation.h - When ranks do what of a K-FAC step ----*- C++ -*-===//

#ifndef HFTA_PLANNING_KFACSIMULATION_H
#define HFTA_PLANNING_KFACSIMULATION_H

#include "Hfta/Planning/KfacPlan.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

enum class KfacActivity : uint8_t {
  lead,
  forward,         ///< one block, with its input statistics
  backward,        ///< one block, with its output statistics
  reduceGradients, ///< gradients of one block
  reduceFactors,   ///< factors of one bucket
  average,         ///< updates the running means of all statistics
  invert, ///< a size that the rank owns, or all that every rank inverts
  broadcastInverses,   ///< from an owner, or of one factor, along a column
  precondition,        ///< all layers of a rank, or those of a block
  broadcastDirections, ///< a rank's preconditioned gradients, along its row
  update
};

/// Returns the activity in words, such as "reduce factors".
llvm::StringRef getName(KfacActivity activity);
inline constexpr size_t kKfacActivities =
    static_cast<size_t>(KfacActivity::update) + 1;

struct KfacEvent {
  KfacActivity activity = KfacActivity::lead;
  /// The rank that computes or sends; kEveryRank: all of them at the same time.
  int64_t rank = kEveryRank;
  /// The number of the block, bucket or factor. For `invert` it is the matrix
  /// size, the largest if there are several, or 0 for what all ranks of a
  /// column invert; in all other cases it is 0.
  int64_t number = 0;
  double begin = 0; ///< seconds since the step began
  double end = 0;
};

/// The work of a step besides forward, backward and update. Each kind includes
/// the work of those above it. Inverses are computed from the factors of the
/// same step.
enum class KfacStep {
  plain,   ///< preconditions
  factors, ///< adds up statistics too
  inverses ///< inverts too
};

struct KfacRun {
  double seconds = 0;
  std::vector<KfacEvent> events; ///< sorted by begin, then by end

  /// Returns when the last event of this kind ends; 0 if there is none.
  double getEnd(KfacActivity activity) const;
};

/// Simulates one step on all ranks. Each collective has a queue that does one
/// thing after the other: the sums of all ranks, the inverses of each column,
/// and the directions of each row.
KfacRun simulateStep(const KfacModel &model, const KfacCosts &costs,
                     const KfacPlan &plan, KfacStep step);

/// Returns the mean length of a step, weighted by how often each kind of step
/// occurs.
double getMeanSeconds(const KfacModel &model, const KfacCosts &costs,
                      const KfacPlan &plan);

/// Prints tables for people: the placement and the length of its steps, its
/// buckets, which rank inverts which factors, and when each activity of a step
/// with inverses begins and ends.
void printKfacPlan(const KfacModel &model, const KfacCosts &costs,
                   const KfacPlan &plan, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFACSIMULATION_H
