//===- PublishedFactors.h - Published runs of K-FAC -------------*- C++ -*-===//
//
// Networks whose training with K-FAC was published, what that took, and a model
// of it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_PLANNING_PUBLISHEDFACTORS_H
#define HFTA_UNITTESTS_PLANNING_PUBLISHEDFACTORS_H

#include "Hfta/Planning/KfacSimulation.h"

#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// Who inverts what, and when factors are added up.
enum class PublishedPlan {
  everyRank,  ///< D-KFAC: each rank inverts all
  roundRobin, ///< MPD-KFAC: ranks in turn, each inverse is broadcast
  balanced    ///< SPD-KFAC: large ones on one rank, the others on all
};

inline constexpr PublishedPlan kPublishedPlans[] = {PublishedPlan::everyRank,
                                                    PublishedPlan::roundRobin,
                                                    PublishedPlan::balanced};

/// A network that SPD-KFAC (ICDCS 2021) was measured with, on 64 RTX 2080 Ti in
/// 16 machines with 100 Gb/s between them, factors and inverses in each step.
struct PublishedNetwork {
  struct LayerSizes {
    int64_t input;
    int64_t output;
  };

  std::string name;
  std::vector<LayerSizes> layers; ///< in the order of the model
  /// Seconds of forward, backward, sums of gradients and statistics.
  double base;
  /// SPD-KFAC sends inverses of so many rows and more.
  int64_t threshold;
  double published[3]; ///< seconds of a step, by PublishedPlan
  double replayed[3];  ///< by the model of it
  double goal;         ///< what our plan takes at most, in seconds

  /// The step as one lead, with each layer's input and output factor in turn.
  KfacModel getModel() const;
};

const std::vector<PublishedNetwork> &getPublishedNetworks();

inline constexpr int64_t kPublishedRanks = 64;

/// A step of the published program. Seven constants describe what inversions,
/// sums and broadcasts took there.
KfacRun replay(const PublishedNetwork &network, PublishedPlan plan);

/// The costs of that model for our own plans: sums in the pipeline of backward,
/// as SPD-KFAC has them, and merged broadcasts, which may begin while others
/// invert if `isOverlapped`.
KfacCosts getPublishedCosts(bool isOverlapped);

/// 200 layers that are all different, each a block with a sum of gradients, at
/// costs of a large cluster.
KfacModel makeLargeModel();

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_PUBLISHEDFACTORS_H
