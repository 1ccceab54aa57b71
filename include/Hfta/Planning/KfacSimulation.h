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
  forward,         ///< of a block, with its input statistics
  backward,        ///< of a block, with its output statistics
  reduceGradients, ///< of a block
  reduceFactors,   ///< of a bucket
  average,         ///< takes all statistics into running means
  invert,          ///< a size that the rank owns, or all that all ranks invert
  broadcastInverses,   ///< of an owner, or of one factor, along a column
  precondition,        ///< all layers of a rank, or those of a block
  broadcastDirections, ///< a rank's preconditioned gradients, along its row
  update
};

/// "reduce factors"
llvm::StringRef getName(KfacActivity activity);
inline constexpr size_t kKfacActivities =
    static_cast<size_t>(KfacActivity::update) + 1;

struct KfacEvent {
  KfacActivity activity = KfacActivity::lead;
  /// That computes or sends; kEveryRank: all of them at the same time.
  int64_t rank = kEveryRank;
  /// Of the block, bucket or factor; of `invert`, the size, the largest of
  /// several, or 0 for what all ranks of a column invert; else 0.
  int64_t number = 0;
  double begin = 0; ///< seconds since the step began
  double end = 0;
};

/// What a step does besides forward, backward and update. Inverses come of the
/// factors of the same step.
enum class KfacStep {
  plain,   ///< preconditions
  factors, ///< adds up statistics too
  inverses ///< inverts too
};

struct KfacRun {
  double seconds = 0;
  std::vector<KfacEvent> events; ///< by begin, then by end

  /// When the last one of this kind ends; 0 if there is none.
  double getEnd(KfacActivity activity) const;
};

/// One step on all ranks. Each collective is a queue that does one thing after
/// the other: all ranks' sums, each column's inverses, each row's directions.
KfacRun simulateStep(const KfacModel &model, const KfacCosts &costs,
                     const KfacPlan &plan, KfacStep step);

/// Of a step, by how often there are which.
double getMeanSeconds(const KfacModel &model, const KfacCosts &costs,
                      const KfacPlan &plan);

/// Tables for people: what the placement is and how long its steps are, its
/// buckets, who inverts what, and from when to when a step with inverses does
/// what.
void printKfacPlan(const KfacModel &model, const KfacCosts &costs,
                   const KfacPlan &plan, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFACSIMULATION_H
