//===- KfacPlan.h - How ranks share the work of K-FAC -----------*- C++ -*-===//
//
// Replicas of a model, or of one stage of it, compute forward and backward of
// their samples, and with them statistics: second moments of the layers' inputs
// and of their outputs' gradients. A plan says which of these the ranks add up
// together, which rank inverts which factor, and which rank preconditions which
// layer's gradient.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_KFACPLAN_H
#define HFTA_PLANNING_KFACPLAN_H

#include "Hfta/Planning/FactorBuckets.h"
#include "Hfta/Planning/FactorGrid.h"

namespace mlir::hfta::planning {

/// A part of the program that computes without interruption. All times are
/// those of one rank, in seconds per step.
struct KfacBlock {
  double forward = 0;
  double backward = 0;
  /// Elements of the gradients that the ranks add up after this backward; 0:
  /// none.
  int64_t gradientElements = 0;
};

/// An input factor of a layer, which a forward computes, or an output factor.
struct KfacFactor {
  Factor matrices;
  int64_t block = 0; ///< the block that computes it
  bool isInput = false;
  double moment = 0; ///< seconds of its statistics in a factor step
  double mean = 0;   ///< seconds to update its running mean
  /// The number of layers that use it. Each of them has an inverse of its own,
  /// since damping may differ; eigenvectors are the same for all.
  int64_t inverses = 1;
  /// Whether it belongs to another stage of the model, whose ranks add it up
  /// and send the sum to these.
  bool isReceived = false;
  /// The number of copies that read one common value and so have one common
  /// statistic, which is added up once.
  int64_t sharedBy = 1;

  /// Returns the number of elements that the ranks add up.
  int64_t getSummedElements() const {
    return matrices.getElements() / sharedBy;
  }

  /// Returns the matrices that are inverted and sent.
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
  /// The number of micro-batches of a rank, each of which goes through all
  /// blocks. With the last one, the factors and gradients are complete.
  int64_t microBatches = 1;
  std::vector<KfacBlock> blocks; ///< in the order of forwards, at least one
  std::vector<KfacFactor> factors;
  std::vector<KfacLayer> layers;
  double lead = 0;   ///< seconds before the first block
  double update = 0; ///< seconds of the optimizer
  /// The period, in steps, of statistics and sums of factors, and that of
  /// inverses. Both are at least 1, and inverses are no more frequent than
  /// factors.
  int64_t factorEvery = 1;
  int64_t inverseEvery = 1;
  /// Numbers that an inverse takes per number of a factor's lower triangle:
  /// eigenvectors and eigenvalues take two.
  int64_t numbersPerElement = 1;

  /// Returns the seconds before a rank's last micro-batch begins, in which it
  /// may also measure the given factors.
  double getLead(llvm::ArrayRef<int64_t> measured) const;
  /// Returns the block that computes a layer's output factor.
  int64_t getBlock(const KfacLayer &layer) const {
    int64_t output = layer.factors.output;
    return output == kNoFactor ? 0 : factors[output].block;
  }
  /// Returns the matrices to invert for each factor.
  std::vector<Factor> getMatrices() const;
  std::vector<FactorPair> getPairs() const;
};

struct KfacCosts {
  InversionCost invert;
  TransferCost reduceFactors;   ///< among all ranks
  TransferCost reduceGradients; ///< among all ranks
  /// Returns the cost of sending inverses or preconditioned gradients from one
  /// rank to the others of a group of `ranks`.
  std::function<TransferCost(int64_t ranks)> broadcast;
  /// Whether sending overlaps with computing; if false, nothing is sent
  /// meanwhile.
  bool isOverlapped = true;
  /// Whether an owner sends all inverses in one broadcast; otherwise it sends
  /// one broadcast per factor.
  bool isMerged = true;
  /// Whether a step runs as in the schedules of programs; `isMerged` is then
  /// ignored. All ranks go block by block through the inversions, each block's
  /// owners in turn, and then through preconditioning; finished results are
  /// sent meanwhile, in the same order on all ranks. `isOverlapped` then
  /// applies to sums only.
  bool isByBlocks = false;
  double bytesPerElement = 4;
};

enum class KfacPlacement {
  /// All ranks have all inverses (SPD-KFAC, ICDCS 2021).
  balanced,
  /// The ranks in one column of a grid have a layer's inverses (KAISA, SC
  /// 2021).
  fraction,
  /// Only a layer's owner has its inverses, and makes them from its own
  /// samples' statistics (DP-KFAC: Zhang et al.: Scalable K-FAC Training for
  /// Deep Neural Networks with Distributed Preconditioning). Results differ, so
  /// this is never chosen automatically.
  local
};

struct KfacPlan {
  KfacPlacement placement = KfacPlacement::balanced;
  /// Ranks in a column have the same layers' inverses. `balanced` has one
  /// column, `local` has one row.
  FactorGrid grid;
  GridColumns columns;
  /// The owner of each factor; kEveryRank: each rank in its column inverts it.
  FactorOwners owners;
  /// The factors that are added up, in the order in which they get ready, and
  /// the buckets that they form; both are empty where nothing is added up.
  std::vector<int64_t> readyOrder;
  BucketPlan buckets;
};

/// Returns when the factors of a factor step get ready, in that order, and the
/// other transfers on the network meanwhile. Sets `order` to the numbers of
/// these factors, without those that are received from other stages.
BucketProblem getBucketProblem(const KfacModel &model, const KfacCosts &costs,
                               std::vector<int64_t> &order);

/// Returns the costs of inverses in a column of the grid.
PlacementCosts getPlacementCosts(const KfacModel &model, const KfacCosts &costs,
                                 const FactorGrid &grid);

/// Returns the plan with the best buckets, and with the best owners, from which
/// all other ranks get the inverses.
KfacPlan planBalanced(const KfacModel &model, const KfacCosts &costs,
                      int64_t ranks);
/// Returns the plan with the best buckets, with the layers spread over the
/// columns of this grid by the cost of inverting their factors, and with the
/// best owners in each column.
KfacPlan planFraction(const KfacModel &model, const KfacCosts &costs,
                      const FactorGrid &grid);
/// Returns the plan with the best buckets, and with the layers on this grid by
/// KAISA's rule.
KfacPlan planFraction(const KfacModel &model, const KfacCosts &costs,
                      const FactorGrid &grid, FactorPairing pairing);
/// Returns the plan with each layer on one rank, chosen by the cubes of sizes.
KfacPlan planLocal(const KfacModel &model, int64_t ranks);

/// Bytes that one rank holds of factors and of inverses.
struct KfacMemory {
  double factors = 0;
  double inverses = 0;
  double getBytes() const { return factors + inverses; }
};

/// Returns the memory of a rank in the grid. All ranks hold all factors that
/// are added up, but only the inverses that they precondition with.
KfacMemory getMemory(const KfacModel &model, const KfacCosts &costs,
                     const KfacPlan &plan, int64_t rank);
/// Returns the memory of the rank that needs the most.
KfacMemory getLargestMemory(const KfacModel &model, const KfacCosts &costs,
                            const KfacPlan &plan);

/// A plan, how long it takes and the memory that it needs.
struct ChosenKfacPlan {
  KfacPlan plan;
  double seconds = 0; ///< the mean length of a step
  KfacMemory memory;  ///< memory of the rank that needs the most
};

/// Chooses between the balanced plan and those of all fractions of the ranks,
/// by costs and by KAISA's rule. The result is the one with the shortest mean
/// step by simulation, of equal ones that with the least memory, among those in
/// which no rank needs more than `memory` bytes for factors and inverses (0: no
/// limit). The error states the least memory with which a plan exists.
llvm::Expected<ChosenKfacPlan> chooseKfacPlan(const KfacModel &model,
                                              const KfacCosts &costs,
                                              int64_t ranks, double memory);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFACPLAN_H
