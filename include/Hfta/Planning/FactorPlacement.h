//===- FactorPlacement.h - The rank that inverts each factor ----*- C++ -*-===//
//
// All ranks have the same sums of factors and need the same inverses. Either
// each rank inverts a factor for itself, or one rank, its owner, inverts it and
// broadcasts the inverse.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORPLACEMENT_H
#define HFTA_PLANNING_FACTORPLACEMENT_H

#include "Hfta/Planning/FactorCosts.h"

#include <vector>

namespace mlir::hfta::planning {

/// Stands for an owner where each rank that needs the inverse computes it.
inline constexpr int64_t kEveryRank = -1;

/// For each factor, the rank that inverts it, counted from 0, or kEveryRank.
using FactorOwners = std::vector<int64_t>;

/// The measure of the load of a rank that already owns some factors.
enum class LoadWeight {
  size, ///< the sum of their rows, as in SPD-KFAC's program
  cubes ///< the sum of the cubes of their rows, as the work grows
};

/// Places factors by the load balancing of SPD-KFAC (ICDCS 2021): the factors
/// of at least `threshold` rows are assigned, the largest first, each to the
/// rank with the least load, or the first such rank; each rank inverts the
/// smaller factors itself.
FactorOwners placeBySize(llvm::ArrayRef<Factor> factors, int64_t ranks,
                         int64_t threshold, LoadWeight weight);

struct PlacementCosts {
  InversionCost invert;
  /// The cost of broadcasting inverses from one rank to all; broadcasts run one
  /// after the other.
  TransferCost broadcast;
  /// Whether an owner sends everything in one broadcast, after it has inverted
  /// all of its factors; otherwise it sends one broadcast per factor.
  bool isMerged = true;
  /// Whether owners' broadcasts may begin before the last owner is done, and
  /// before each rank has inverted its own share.
  bool isOverlapped = true;
};

/// Times in seconds since all factors are ready.
struct PlacementTimes {
  double inverted = 0;  ///< when all ranks have inverted their factors
  double broadcast = 0; ///< when they also have the others' inverses
};

/// Returns the times of a placement. A rank inverts equal sizes in one batch:
/// first the factors that it owns, the largest first, then those that each rank
/// inverts for itself. The owners that finish first broadcast first.
PlacementTimes getPlacementTimes(llvm::ArrayRef<Factor> factors,
                                 const FactorOwners &owners,
                                 const PlacementCosts &costs);

/// Inverses that an owner sends in one broadcast.
struct FactorBroadcast {
  double ready = 0; ///< seconds since all factors are ready
  int64_t owner = 0;
  std::vector<int64_t> factors; ///< the factors' numbers
  int64_t elements = 0;
};

/// Returns the broadcasts in the order in which they are ready and are sent.
std::vector<FactorBroadcast> getBroadcasts(llvm::ArrayRef<Factor> factors,
                                           const FactorOwners &owners,
                                           const PlacementCosts &costs);

/// Returns the best placement that it finds. Each candidate has a threshold of
/// sizes and a number of owners; a factor that would take longer to send than
/// to invert isn't sent. Each factor, the largest first, goes to the owner that
/// would finish first with it, where a factor that joins a batch of its size
/// costs less than one alone. Moves of single factors then improve the best
/// candidate.
FactorOwners placeFactors(llvm::ArrayRef<Factor> factors, int64_t ranks,
                          const PlacementCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORPLACEMENT_H
