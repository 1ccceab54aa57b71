//===- FactorPlacement.h - Which rank inverts which factor ------*- C++ -*-===//
//
// All ranks have the same sums of factors and need the same inverses. Either
// each rank inverts a factor for itself, or one rank, its owner, does and
// broadcasts the inverse.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORPLACEMENT_H
#define HFTA_PLANNING_FACTORPLACEMENT_H

#include "Hfta/Planning/FactorCosts.h"

#include <vector>

namespace mlir::hfta::planning {

/// In place of an owner: each rank that needs the inverse computes it.
inline constexpr int64_t kEveryRank = -1;

/// Of each factor the rank that inverts it, counted from 0, or kEveryRank.
using FactorOwners = std::vector<int64_t>;

/// What a rank that has factors already is taken to be loaded with.
enum class LoadWeight {
  size, ///< their rows, as SPD-KFAC's program has it
  cubes ///< the cubes of these, as the work has it
};

/// Load balancing placement as in SPD-KFAC (ICDCS 2021): factors from
/// `threshold` rows on go, the largest first, each to the rank with the least
/// load, of equal ones to the first; each rank inverts the others.
FactorOwners placeBySize(llvm::ArrayRef<Factor> factors, int64_t ranks,
                         int64_t threshold, LoadWeight weight);

struct PlacementCosts {
  InversionCost invert;
  /// Of inverses, from one rank to all; one broadcast after the other.
  TransferCost broadcast;
  /// One broadcast an owner, when all that it owns is inverted; else one a
  /// factor.
  bool isMerged = true;
  /// Owners' first broadcasts don't wait for the last owner, nor for what each
  /// rank inverts for itself.
  bool isOverlapped = true;
};

/// Seconds since all factors are there.
struct PlacementTimes {
  double inverted = 0;  ///< all ranks have computed what they invert
  double broadcast = 0; ///< and have what others do
};

/// A rank inverts equal sizes in one batch, first what it owns, the largest
/// first, then what each rank inverts for itself. Owners that are done first
/// broadcast first.
PlacementTimes getPlacementTimes(llvm::ArrayRef<Factor> factors,
                                 const FactorOwners &owners,
                                 const PlacementCosts &costs);

/// Inverses that an owner sends at a time.
struct FactorBroadcast {
  double ready = 0; ///< seconds since all factors are there
  int64_t owner = 0;
  std::vector<int64_t> factors; ///< their numbers
  int64_t elements = 0;
};

/// In the order in which they are sent, that in which they are ready.
std::vector<FactorBroadcast> getBroadcasts(llvm::ArrayRef<Factor> factors,
                                           const FactorOwners &owners,
                                           const PlacementCosts &costs);

/// The best placement that is found. Candidates have a threshold of sizes and
/// a number of owners; what would take longer to send than to invert isn't
/// sent. Each factor, the largest first, goes to the owner who is done first
/// with it, where a factor in a batch of its size costs less than one alone.
/// The best candidate is improved by moving single factors.
FactorOwners placeFactors(llvm::ArrayRef<Factor> factors, int64_t ranks,
                          const PlacementCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORPLACEMENT_H
