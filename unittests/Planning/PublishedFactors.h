//===- PublishedFactors.h - Published runs of K-FAC -------------*- C++ -*-===//
//
// Networks whose training with K-FAC was published, the times that it took, and
// a model of those times.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_PLANNING_PUBLISHEDFACTORS_H
#define HFTA_UNITTESTS_PLANNING_PUBLISHEDFACTORS_H

#include "Hfta/Planning/KfacSimulation.h"

#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// The published ways to choose who inverts a factor, and when factors are
/// summed.
enum class PublishedPlan {
  everyRank,  ///< D-KFAC: each rank inverts all factors
  roundRobin, ///< MPD-KFAC: ranks take turns, and broadcast each inverse
  balanced    ///< SPD-KFAC: one rank inverts a large factor, all ranks invert
              ///< small ones
};

inline constexpr PublishedPlan kPublishedPlans[] = {PublishedPlan::everyRank,
                                                    PublishedPlan::roundRobin,
                                                    PublishedPlan::balanced};

/// A network that SPD-KFAC (ICDCS 2021) was measured with, on 64 RTX 2080 Ti in
/// 16 machines with 100 Gb/s between them; factors and inverses are computed in
/// each step.
struct PublishedNetwork {
  struct LayerSizes {
    int64_t input;
    int64_t output;
  };

  std::string name;
  std::vector<LayerSizes> layers; ///< in the order of the model
  /// The seconds of forward, backward, statistics and sums of gradients.
  double base;
  /// The number of rows from which on SPD-KFAC broadcasts inverses.
  int64_t threshold;
  double published[3]; ///< seconds of a step, by PublishedPlan
  double replayed[3];  ///< as the model of those times gives them
  double goal;         ///< the most seconds that our plan may take

  /// Returns the step as one lead, followed by each layer's input and output
  /// factor in turn.
  KfacModel getModel() const;
};

const std::vector<PublishedNetwork> &getPublishedNetworks();

inline constexpr int64_t kPublishedRanks = 64;

/// Simulates a step of the published program. Seven constants describe the
/// times that inversions, sums and broadcasts took there.
KfacRun replay(const PublishedNetwork &network, PublishedPlan plan);

/// Returns the costs of that model for our own plans: sums in the backward's
/// pipeline, as SPD-KFAC has them, and merged broadcasts, which may begin while
/// other ranks still invert if `isOverlapped`.
KfacCosts getPublishedCosts(bool isOverlapped);

/// Returns 200 layers that are all different, each of them a block with a sum
/// of gradients, with the costs of a large cluster.
KfacModel makeLargeModel();

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_PUBLISHEDFACTORS_H
