//===- PublishedFactors.h - Published runs of K-FAC -------------*- C++ -*-===//
//
// Networks whose training with K-FAC was published, the times that it took, and
// a model of these times.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_PLANNING_KFAC_PUBLISHEDFACTORS_H
#define HFTA_UNITTESTS_PLANNING_KFAC_PUBLISHEDFACTORS_H

#include "Hfta/Planning/Kfac/KfacSimulation.h"

#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// The published ways to decide which rank inverts a factor, and when factors
/// are all-reduced.
enum class PublishedPlan {
  everyRank,  ///< D-KFAC: each rank inverts all factors
  roundRobin, ///< MPD-KFAC: ranks invert factors round-robin, and broadcast
              ///< each inverse
  balanced    ///< SPD-KFAC: large factors by one rank, small ones by all
};

inline constexpr PublishedPlan kPublishedPlans[] = {PublishedPlan::everyRank,
                                                    PublishedPlan::roundRobin,
                                                    PublishedPlan::balanced};

/// A network with which SPD-KFAC (ICDCS 2021) was measured, on 64 RTX 2080 Ti
/// in 16 machines with links of 100 Gb/s. Factors and inverses are computed in
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
  /// The least number of rows of a factor whose inverse SPD-KFAC broadcasts;
  /// all ranks invert smaller factors.
  int64_t threshold;
  double published[3]; ///< seconds of a step as published, by PublishedPlan
  double replayed[3];  ///< seconds according to `replay`, by PublishedPlan
  double goal;         ///< the most seconds that Hfta's plan may take

  /// Returns the model of a step: one lead, and each layer's input and output
  /// factor in turn.
  KfacModel getModel() const;
};

const std::vector<PublishedNetwork> &getPublishedNetworks();

inline constexpr int64_t kPublishedRanks = 64;

/// Simulates a step of the published program. The simulation uses seven
/// constants that describe the published times of inversions, sums and
/// broadcasts.
KfacRun replay(const PublishedNetwork &network, PublishedPlan plan);

/// Returns the costs that `replay` uses, adapted to Hfta's own plans: factors
/// are summed during the backward, as in SPD-KFAC, and broadcasts are merged.
/// If `isOverlapped`, a broadcast may begin while other ranks still invert.
KfacCosts getPublishedCosts(bool isOverlapped);

/// Returns a model of 200 different layers. Each is a block of its own, whose
/// gradients are all-reduced.
KfacModel makeLargeModel();

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_KFAC_PUBLISHEDFACTORS_H
