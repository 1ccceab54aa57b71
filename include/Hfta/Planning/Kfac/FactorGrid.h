//===- FactorGrid.h - Inverses on a part of the ranks -----------*- C++ -*-===//
//
// The placement of KAISA (Pauloski et al.: KAISA: An Adaptive Second-Order
// Optimizer Framework for Deep Neural Networks, SC 2021). The ranks form a
// grid. All ranks in a column have the inverses of the same layers and
// precondition these layers' gradients; then each rank sends its results along
// its row. So a layer's inverses are stored by as many ranks as the grid has
// rows.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_KFAC_FACTORGRID_H
#define HFTA_PLANNING_KFAC_FACTORGRID_H

#include "Hfta/Planning/Kfac/FactorPlacement.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace mlir::hfta::planning {

/// A grid of ranks, which are numbered from 0, row by row.
struct FactorGrid {
  int64_t rows = 1;
  int64_t columns = 1;

  int64_t getRankCount() const { return rows * columns; }
  int64_t getRow(int64_t rank) const { return rank / columns; }
  int64_t getColumn(int64_t rank) const { return rank % columns; }
  int64_t getRank(int64_t row, int64_t column) const {
    return row * columns + column;
  }
};

/// Returns the grid of `ranks` ranks in which each inverse is stored by the
/// given fraction of the ranks, but by at least one. The number of these ranks
/// must be a whole number that divides `ranks`; otherwise the error states it.
llvm::Expected<FactorGrid> makeFactorGrid(double fraction, int64_t ranks);

/// Returns F for the text "fraction(F)", or nothing for any other text.
std::optional<double> readFraction(llvm::StringRef placement);

/// The number of a factor that a layer doesn't have.
inline constexpr int64_t kNoFactor = -1;

/// The numbers of a layer's two factors. Layers that read the same value have
/// the same input factor.
struct FactorPair {
  int64_t input = kNoFactor;
  int64_t output = kNoFactor;
};

/// Whether the factors of a layer are inverted by the same rank.
enum class FactorPairing {
  together, ///< one rank inverts both factors of a layer
  apart     ///< the two factors of a layer may have different ranks
};

/// The assignment of layers and factors to columns of the grid.
struct GridColumns {
  std::vector<int64_t> layers;  ///< the column of each layer
  std::vector<int64_t> factors; ///< the column of each factor
};

/// Returns the weight of a factor in load balancing.
using FactorWeight = llvm::function_ref<double(const Factor &)>;

/// Assigns layers to columns greedily: layers are taken in descending order of
/// weight (the sum over their factors), and each goes to the first of the
/// columns with the smallest total weight so far. Layers with a common factor
/// count as one layer. Factors without a layer are in the first column.
GridColumns chooseColumns(llvm::ArrayRef<Factor> factors,
                          llvm::ArrayRef<FactorPair> layers, int64_t columns,
                          FactorWeight weight);

/// The columns of layers and factors, and the rank that inverts each factor.
struct GridPlacement {
  GridColumns columns;
  FactorOwners owners; ///< the rank of each factor, in its column
};

/// Places layers by KAISA's rule. Columns are chosen with the cubes of sizes as
/// weights. Then, in the same order of layers, each factor goes to the first of
/// its column's ranks with the smallest sum of cubes: either both factors of a
/// layer together, or separately, the larger one first.
GridPlacement placeOnGrid(llvm::ArrayRef<Factor> factors,
                          llvm::ArrayRef<FactorPair> layers,
                          const FactorGrid &grid, FactorPairing pairing);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFAC_FACTORGRID_H
