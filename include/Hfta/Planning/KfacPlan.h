//===- KfacPlan.h - How ranks share the work of K-FAC -----------*- C++ -*-===//
//
// Replicas of a model, or of one stage of it, compute forward and backward of
// their samples, and with them statistics: moments of what layers read and of
// their outputs' gradients. A plan says which of these the ranks add up at a
// time, who inverts which factor, and who preconditions which layer's gradient.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_KFACPLAN_H
#define HFTA_PLANNING_KFACPLAN_H

#include "Hfta/Planning/FactorBuckets.h"
#include "Hfta/Planning/FactorGrid.h"

namespace mlir::hfta::planning {

/// A part of the program that computes without a break. All times are those of
/// one rank, in seconds a step.
struct KfacBlock {
  double forward = 0;
  double backward = 0;
  /// Of gradients that the ranks add up when the backward has ended; 0: none.
  int64_t gradientElements = 0;
};

/// A layer's input factor, which a forward makes, or an output factor.
struct KfacFactor {
  Factor matrices;
  int64_t block = 0; ///< with which it is made
  bool isInput = false;
  double moment = 0; ///< seconds of its statistics in a factor step
  double mean = 0;   ///< seconds in which these go into the running mean
  /// Layers that read it, each of which has an inverse of its own: damping may
  /// differ. Eigenvectors are the same for all.
  int64_t inverses = 1;
  /// Of another stage of the model, whose ranks add it up; these get the sum.
  bool isReceived = false;
  /// So many copies read one value, and have one statistic, which is added up
  /// once.
  int64_t sharedBy = 1;

  /// Of all that ranks add up.
  int64_t getSummedElements() const {
    return matrices.getElements() / sharedBy;
  }

  /// What is inverted and sent.
  Factor getInverted() const {
    return {matrices.size, matrices.count * inverses};
  }
};

struct KfacLayer {
  FactorPair factors;
  int64_t gradientElements = 0;
  double precondition = 0; ///< seconds
};

struct KfacModel {
  /// Of a rank, in each of which it goes through all blocks: with the last one,
  /// factors and gradients are there.
  int64_t microBatches = 1;
  std::vector<KfacBlock> blocks; ///< in the order of forwards, at least one
  std::vector<KfacFactor> factors;
  std::vector<KfacLayer> layers;
  double lead = 0;   ///< seconds before the first block
  double update = 0; ///< seconds of the optimizer
  /// Every so many steps there are statistics and sums of factors, or inverses;
  /// both are 1 or more, and inverses are no more frequent.
  int64_t factorEvery = 1;
  int64_t inverseEvery = 1;
  /// Numbers of an inverse for one of a factor's lower triangle: eigenvectors
  /// and eigenvalues are twice as many.
  int64_t numbersPerElement = 1;

  /// Seconds before a rank's last micro-batch begins, in which it may measure
  /// these factors.
  double getLead(llvm::ArrayRef<int64_t> measured) const;
  /// With which a layer's output factor is made.
  int64_t getBlock(const KfacLayer &layer) const {
    int64_t output = layer.factors.output;
    return output == kNoFactor ? 0 : factors[output].block;
  }
  /// What is inverted of each factor.
  std::vector<Factor> getMatrices() const;
  std::vector<FactorPair> getPairs() const;
};

struct KfacCosts {
  InversionCost invert;
  TransferCost reduceFactors;   ///< among all ranks
  TransferCost reduceGradients; ///< among all ranks
  /// From one rank to the others of so many, inverses or preconditioned
  /// gradients.
  std::function<TransferCost(int64_t ranks)> broadcast;
  /// False: nothing is sent while anything is computed.
  bool isOverlapped = true;
  /// One broadcast of inverses an owner, else one a factor.
  bool isMerged = true;
  /// As schedules of programs have it, whatever `isMerged` says: all ranks go
  /// block by block through inversions, each owner's of a block at a time, and
  /// through preconditioning; what is done is sent while they go on, in the
  /// same order on all ranks. `isOverlapped` is about sums alone.
  bool isByBlocks = false;
  double bytesPerElement = 4;
};

enum class KfacPlacement {
  /// All ranks have all inverses (SPD-KFAC, ICDCS 2021).
  balanced,
  /// Those in one column of a grid have a layer's (KAISA, SC 2021).
  fraction,
  /// A layer's owner alone has it, and makes it from its own samples'
  /// statistics
  /// (DP-KFAC: Zhang et al.: Scalable K-FAC Training for Deep Neural Networks
  /// with Distributed Preconditioning): other results, so never chosen.
  local
};

struct KfacPlan {
  KfacPlacement placement = KfacPlacement::balanced;
  /// Ranks in a column have the same layers' inverses; balanced: one column,
  /// local: one row.
  FactorGrid grid;
  GridColumns columns;
  /// Of each factor; kEveryRank: each rank in its column inverts it.
  FactorOwners owners;
  /// The factors that are added up, in the order in which they get ready, of
  /// which buckets are made; both are empty where there are none.
  std::vector<int64_t> readyOrder;
  BucketPlan buckets;
};

/// When factors of a factor step get ready, in the order in which they do, and
/// what else the network is used for meanwhile. `order` becomes the factors'
/// numbers, those that are received left out.
BucketProblem getBucketProblem(const KfacModel &model, const KfacCosts &costs,
                               std::vector<int64_t> &order);

/// Of inverses in a column of the grid.
PlacementCosts getPlacementCosts(const KfacModel &model, const KfacCosts &costs,
                                 const FactorGrid &grid);

/// The best buckets, and the best owners of whom all others get inverses.
KfacPlan planBalanced(const KfacModel &model, const KfacCosts &costs,
                      int64_t ranks);
/// The best buckets, layers on the columns of this grid by what inverting their
/// factors costs, and the best owners in each column.
KfacPlan planFraction(const KfacModel &model, const KfacCosts &costs,
                      const FactorGrid &grid);
/// The best buckets, and the layers on this grid by KAISA's rule.
KfacPlan planFraction(const KfacModel &model, const KfacCosts &costs,
                      const FactorGrid &grid, FactorPairing pairing);
/// Each layer on one rank, by the cubes of sizes.
KfacPlan planLocal(const KfacModel &model, int64_t ranks);

/// Bytes that one rank has of factors and of inverses.
struct KfacMemory {
  double factors = 0;
  double inverses = 0;
  double getBytes() const { return factors + inverses; }
};

/// Of a rank in the grid. All ranks hold all factors that are added up, but
/// only the inverses that they precondition with.
KfacMemory getMemory(const KfacModel &model, const KfacCosts &costs,
                     const KfacPlan &plan, int64_t rank);
/// Of the rank that needs most.
KfacMemory getLargestMemory(const KfacModel &model, const KfacCosts &costs,
                            const KfacPlan &plan);

/// A plan and what it takes.
struct ChosenKfacPlan {
  KfacPlan plan;
  double seconds = 0; ///< a step, in the mean
  KfacMemory memory;  ///< of the rank that needs most
};

/// Of the balanced plan and those of all fractions of the ranks, by costs and
/// by KAISA's rules, the one whose mean step is the shortest by simulation and
/// whose every rank needs at most `memory` bytes for factors and inverses (0:
/// any number); of equal ones it needs least. The error names the least number
/// with which there is one.
llvm::Expected<ChosenKfacPlan> chooseKfacPlan(const KfacModel &model,
                                              const KfacCosts &costs,
                                              int64_t ranks, double memory);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFACPLAN_H
