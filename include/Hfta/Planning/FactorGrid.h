//===- FactorGrid.h - Inverses on a part of the ranks -----------*- C++ -*-===//
//
// The placement of KAISA (Pauloski et al.: KAISA: An Adaptive Second-Order
// Optimizer Framework for Deep Neural Networks, SC 2021). The ranks form a
// grid. Those in a column keep the inverses of some layers and precondition
// these layers' gradients; then each sends the results along its row. So each
// layer's inverses lie on as many ranks as the grid has rows.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORGRID_H
#define HFTA_PLANNING_FACTORGRID_H

#include "Hfta/Planning/FactorPlacement.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace mlir::hfta::planning {

/// A grid of ranks, which are numbered from 0 row by row.
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

/// Makes the grid of `ranks` ranks, at least one, in which a share of
/// `fraction` of them, but at least one rank, keeps each inverse. The number of
/// these ranks must be whole and divide `ranks`; otherwise the error states
/// that number.
llvm::Expected<FactorGrid> makeFactorGrid(double fraction, int64_t ranks);

/// Parses the text "fraction(F)", as jobs write a placement, and returns F;
/// returns nothing for any other text.
std::optional<double> readFraction(llvm::StringRef placement);

/// Stands for a factor's number where the layer has no factor on this side.
inline constexpr int64_t kNoFactor = -1;

/// The numbers of a layer's factors. Layers that read the same value share
/// their input factor.
struct FactorPair {
  int64_t input = kNoFactor;
  int64_t output = kNoFactor;
};

enum class FactorPairing {
  together, ///< one rank inverts all factors of a layer
  apart     ///< each factor may have a rank of its own
};

struct GridColumns {
  std::vector<int64_t> layers;  ///< the column of each layer
  std::vector<int64_t> factors; ///< the column of each factor
};

/// Returns the weight that inverting a factor has in load balancing.
using FactorWeight = llvm::function_ref<double(const Factor &)>;

/// Chooses the columns of layers: the layers with the greatest sum of weights
/// go first, each to the column with the least sum so far, or the first such
/// column. Layers with a common factor count as one. Factors of no layer are in
/// the first column.
GridColumns chooseColumns(llvm::ArrayRef<Factor> factors,
                          llvm::ArrayRef<FactorPair> layers, int64_t columns,
                          FactorWeight weight);

struct GridPlacement {
  GridColumns columns;
  FactorOwners owners; ///< the rank of each factor, in its column
};

/// Places layers by KAISA's rule: columns are chosen by the cubes of sizes.
/// Within a column, in the same order of layers, the factors go to the rank
/// with the least sum of cubes, or the first such rank: both together, or the
/// larger one first.
GridPlacement placeOnGrid(llvm::ArrayRef<Factor> factors,
                          llvm::ArrayRef<FactorPair> layers,
                          const FactorGrid &grid, FactorPairing pairing);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORGRID_H
