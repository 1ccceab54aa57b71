//===- FactorPlacement.h - The rank that inverts each factor ----*- C++ -*-===//
//
// All ranks have the same sums of factors and need the same inverses. For each
// factor, either every rank inverts it for itself, or one rank, its owner,
// inverts it and broadcasts the inverse.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_KFAC_FACTORPLACEMENT_H
#define HFTA_PLANNING_KFAC_FACTORPLACEMENT_H

#include "Hfta/Planning/Kfac/FactorCosts.h"

#include <vector>

namespace mlir::hfta::planning {

/// The owner of a factor that every rank inverts for itself.
inline constexpr int64_t kEveryRank = -1;

/// For each factor, the rank that inverts it, or kEveryRank.
using FactorOwners = std::vector<int64_t>;

/// The measure of a rank's load, summed over the factors that it owns.
enum class LoadWeight {
  size, ///< the numbers of rows, as in SPD-KFAC's program
  cubes ///< the cubes of the numbers of rows, which is how the work grows
};

/// Places factors by the load balancing of SPD-KFAC (ICDCS 2021). Factors with
/// at least `threshold` rows are assigned in descending order of size, each to
/// the first of the ranks with the smallest load. Every rank inverts all
/// smaller factors itself.
FactorOwners placeBySize(llvm::ArrayRef<Factor> factors, int64_t ranks,
                         int64_t threshold, LoadWeight weight);

struct PlacementCosts {
  InversionCost invert;
  /// The cost of a broadcast of inverses from one rank to all others.
  /// Broadcasts run one after the other.
  TransferCost broadcast;
  /// Whether an owner sends all inverses in one broadcast, after it has
  /// inverted all of its factors. Otherwise it sends a broadcast for each
  /// factor.
  bool isMerged = true;
  /// Whether broadcasts may begin before all ranks have finished inverting.
  bool isOverlapped = true;
};

/// Times of a placement, in seconds since all factors were ready.
struct PlacementTimes {
  double inverted = 0;  ///< when all ranks have finished inverting
  double broadcast = 0; ///< when all ranks have all inverses
};

/// Returns the times of a placement. A rank inverts factors of the same size as
/// one batch: first those that it owns, the largest first, then those that
/// every rank inverts. The owners that finish first broadcast first.
PlacementTimes getPlacementTimes(llvm::ArrayRef<Factor> factors,
                                 const FactorOwners &owners,
                                 const PlacementCosts &costs);

/// A broadcast of inverses by their owner.
struct FactorBroadcast {
  double ready = 0; ///< seconds since all factors are ready
  int64_t owner = 0;
  std::vector<int64_t> factors; ///< the factors' numbers
  int64_t elements = 0;
};

/// Returns all broadcasts, in the order in which they become ready, which is
/// the order in which they are sent.
std::vector<FactorBroadcast> getBroadcasts(llvm::ArrayRef<Factor> factors,
                                           const FactorOwners &owners,
                                           const PlacementCosts &costs);

/// Searches for the fastest placement. Each candidate has a threshold of sizes
/// and a number of owners; a factor that takes longer to send than to invert
/// isn't sent. Factors are assigned in descending order of size, each to the
/// owner that finishes first with it; joining a batch of the same size costs
/// less than a new batch. Finally, moves of single factors improve the best
/// candidate.
FactorOwners placeFactors(llvm::ArrayRef<Factor> factors, int64_t ranks,
                          const PlacementCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFAC_FACTORPLACEMENT_H
