//===- KfacPlan.h - How ranks share the work of K-FAC -----------*- C++ -*-===//
//
// Replicas of a model, or of one of its stages, compute the forward and
// backward pass of their samples and, with them, second moments of the layers'
// inputs and output gradients (statistics). A plan says which statistics the
// ranks add up together, which rank inverts which factor, and which rank
// preconditions the gradient of which layer.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_KFAC_KFACPLAN_H
#define HFTA_PLANNING_KFAC_KFACPLAN_H

#include "Hfta/Planning/Kfac/FactorBuckets.h"
#include "Hfta/Planning/Kfac/FactorGrid.h"

namespace mlir::hfta::planning {

/// A block of the program, which computes without interruption. Times are those
/// of one rank, in seconds per step.
struct KfacBlock {
  double forward = 0;
  double backward = 0;
  /// Number of gradient elements that the ranks all-reduce after this block's
  /// backward.
  int64_t gradientElements = 0;
};

/// An input or output factor of a layer. An input factor is computed in the
/// forward pass, an output factor in the backward pass.
struct KfacFactor {
  Factor matrices;
  int64_t block = 0; ///< the block that computes its statistics
  bool isInput = false;
  double moment = 0; ///< seconds for its statistics, in a step with factors
  double mean = 0;   ///< seconds to update its running mean
  /// The number of layers that use the factor. Each has its own inverse,
  /// because the damping may differ. Eigenvectors are the same for all.
  int64_t inverses = 1;
  /// Whether the factor belongs to another stage, whose ranks add it up and
  /// send the sum to the ranks of this stage.
  bool isReceived = false;
  /// The number of copies that read the same value and therefore have the same
  /// statistics, which are added up once.
  int64_t sharedBy = 1;

  /// Returns the number of elements that the ranks all-reduce.
  int64_t getSummedElements() const {
    return matrices.getElements() / sharedBy;
  }

  /// Returns the matrices that are inverted and broadcast.
  Factor getInverted() const {
    return {matrices.size, matrices.count * inverses};
  }
};

/// A layer whose gradient is preconditioned.
struct KfacLayer {
  FactorPair factors;
  int64_t gradientElements = 0;
  double precondition = 0; ///< seconds to precondition the gradient
};

/// The work of a step with K-FAC on one rank.
struct KfacModel {
  /// The number of micro-batches of a rank. Each goes through all blocks;
  /// factors and gradients are complete after the last one.
  int64_t microBatches = 1;
  std::vector<KfacBlock> blocks; ///< in the order of forwards, at least one
  std::vector<KfacFactor> factors;
  std::vector<KfacLayer> layers;
  double lead = 0;   ///< seconds before the first block
  double update = 0; ///< seconds of the optimizer's update
  /// The periods, in steps, of measuring factors and of inverting them. Both
  /// are at least 1, and inversions are at most as frequent as measurements.
  int64_t factorEvery = 1;
  int64_t inverseEvery = 1;
  /// How many numbers an inverse takes per element of the factor's lower
  /// triangle: 1, or 2 for eigenvectors and eigenvalues.
  int64_t numbersPerElement = 1;

  /// Returns the seconds before a rank's last micro-batch begins. They include
  /// the statistics of the factors `measured` for the earlier micro-batches.
  double getLead(llvm::ArrayRef<int64_t> measured) const;
  /// Returns the block that computes a layer's output factor.
  int64_t getBlock(const KfacLayer &layer) const {
    int64_t output = layer.factors.output;
    return output == kNoFactor ? 0 : factors[output].block;
  }
  /// Returns the matrices to invert, for each factor.
  std::vector<Factor> getMatrices() const;
  std::vector<FactorPair> getPairs() const;
};

/// Rates and rules by which the time of a step is estimated.
struct KfacCosts {
  InversionCost invert;
  TransferCost reduceFactors;   ///< an all-reduce of factors, by all ranks
  TransferCost reduceGradients; ///< an all-reduce of gradients, by all ranks
  /// Returns the cost of a broadcast of inverses or preconditioned gradients
  /// from one rank to the others in a group of `ranks`.
  std::function<TransferCost(int64_t ranks)> broadcast;
  /// Whether transfers overlap with computation; if false, ranks don't compute
  /// while they send.
  bool isOverlapped = true;
  /// Whether an owner sends all inverses in one broadcast; if false, it sends a
  /// broadcast for each factor.
  bool isMerged = true;
  /// Whether a step has the order of the compiler's schedules; `isMerged` is
  /// then ignored. All ranks invert block by block, each factor on its owner,
  /// and then precondition block by block. Results are sent as soon as they are
  /// finished, in the same order on all ranks. `isOverlapped` then only applies
  /// to all-reduces.
  bool isByBlocks = false;
  double bytesPerElement = 4;
};

/// Which ranks have the inverses of a layer.
enum class KfacPlacement {
  /// All ranks have all inverses, as in SPD-KFAC (ICDCS 2021).
  balanced,
  /// The ranks in one column of a grid have a layer's inverses, as in KAISA (SC
  /// 2021).
  fraction,
  /// Only one rank, the owner, has a layer's inverses, and computes them from
  /// the statistics of its own samples, as in DP-KFAC (Zhang et al.: Scalable
  /// K-FAC Training for Deep Neural Networks with Distributed Preconditioning).
  /// This changes the results, so it is never chosen automatically.
  local
};

/// The assignment of the work to ranks.
struct KfacPlan {
  KfacPlacement placement = KfacPlacement::balanced;
  /// The ranks in one column have the inverses of the same layers. With
  /// `balanced` there is one column, with `local` one row.
  FactorGrid grid;
  GridColumns columns;
  /// The owner of each factor. With kEveryRank, each rank in the factor's
  /// column inverts it.
  FactorOwners owners;
  /// The factors that are all-reduced, in the order of their completion, and
  /// the buckets that they form. Both are empty if no factor is all-reduced.
  std::vector<int64_t> readyOrder;
  BucketPlan buckets;
};

/// Returns when the factors are complete in a step that measures them, and the
/// other transfers on the network. Sets `order` to the factors in the order of
/// their completion, except those that are received from other stages.
BucketProblem getBucketProblem(const KfacModel &model, const KfacCosts &costs,
                               std::vector<int64_t> &order);

/// Returns the costs of inverting and broadcasting within a column of the grid.
PlacementCosts getPlacementCosts(const KfacModel &model, const KfacCosts &costs,
                                 const FactorGrid &grid);

/// Returns the balanced plan with the best buckets and the best owners of
/// factors.
KfacPlan planBalanced(const KfacModel &model, const KfacCosts &costs,
                      int64_t ranks);
/// Returns the plan on this grid with the best buckets, with layers assigned to
/// columns by the cost of inverting their factors, and with the best owners in
/// each column.
KfacPlan planFraction(const KfacModel &model, const KfacCosts &costs,
                      const FactorGrid &grid);
/// Returns the plan on this grid with the best buckets, and with layers and
/// owners by KAISA's rule (placeOnGrid).
KfacPlan planFraction(const KfacModel &model, const KfacCosts &costs,
                      const FactorGrid &grid, FactorPairing pairing);
/// Returns the plan in which each layer belongs to one rank. Ranks are balanced
/// by the cubes of sizes.
KfacPlan planLocal(const KfacModel &model, int64_t ranks);

/// The bytes of factors and inverses that one rank stores.
struct KfacMemory {
  double factors = 0;
  double inverses = 0;
  double getBytes() const { return factors + inverses; }
};

/// Returns the memory of one rank. Each rank stores all factors that are
/// all-reduced, but only those inverses with which it preconditions.
KfacMemory getMemory(const KfacModel &model, const KfacCosts &costs,
                     const KfacPlan &plan, int64_t rank);
/// Returns the memory of the rank that needs most.
KfacMemory getLargestMemory(const KfacModel &model, const KfacCosts &costs,
                            const KfacPlan &plan);

/// A plan with its time and memory.
struct ChosenKfacPlan {
  KfacPlan plan;
  double seconds = 0; ///< mean duration of a step
  KfacMemory memory;  ///< memory of the rank that needs most
};

/// Chooses between the balanced plan and the plans for all fractions of the
/// ranks, with owners by cost and by KAISA's rule. Considers the plans in which
/// no rank needs more than `memory` bytes for factors and inverses (0: no
/// limit), and returns the one with the shortest simulated mean step, or the
/// one with the least memory of several. The error states the least memory for
/// which there is a plan.
llvm::Expected<ChosenKfacPlan> chooseKfacPlan(const KfacModel &model,
                                              const KfacCosts &costs,
                                              int64_t ranks, double memory);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFAC_KFACPLAN_H
