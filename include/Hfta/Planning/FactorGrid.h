//===- FactorGrid.h - Ranks that keep inverses, and others ------*- C++ -*-===//
//
// The placement of KAISA (Pauloski et al.: KAISA: An Adaptive Second-Order
// Optimizer Framework for Deep Neural Networks, SC 2021). Ranks form a grid.
// Those in a column keep the inverses of some layers and precondition these
// layers' gradients; then each sends the results along its row. So the inverses
// of a layer lie on as many ranks as there are rows.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORGRID_H
#define HFTA_PLANNING_FACTORGRID_H

#include "Hfta/Planning/FactorPlacement.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace mlir::hfta::planning {

/// Ranks 0, 1, … row by row.
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

/// Of `ranks` ranks, at least one, a share of `fraction` keeps each inverse,
/// but one rank at least. Their number must be whole and divide the ranks; an
/// error says what it is.
llvm::Expected<FactorGrid> makeFactorGrid(double fraction, int64_t ranks);

/// F of "fraction(F)", as jobs ask for a placement; nothing of another text.
std::optional<double> readFraction(llvm::StringRef placement);

/// In place of a factor's number: the layer has none on this side.
inline constexpr int64_t kNoFactor = -1;

/// The numbers of a layer's factors. Layers that read the same value have the
/// same input factor.
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
  std::vector<int64_t> factors; ///< and of each factor
};

/// What the work of inverting a factor counts.
using FactorWeight = llvm::function_ref<double(const Factor &)>;

/// Layers go, those with the greatest sum of weights first, to the column with
/// the least sum, of equal ones to the first. Layers with a factor in common
/// count as one. Factors of no layer are in the first column.
GridColumns chooseColumns(llvm::ArrayRef<Factor> factors,
                          llvm::ArrayRef<FactorPair> layers, int64_t columns,
                          FactorWeight weight);

struct GridPlacement {
  GridColumns columns;
  FactorOwners owners; ///< of each factor, a rank in its column
};

/// KAISA's rule: columns are chosen by cubes of sizes; in them, in the same
/// order, factors go, together or the larger one first, to the rank with the
/// least sum of cubes, of equal ones to the first.
GridPlacement placeOnGrid(llvm::ArrayRef<Factor> factors,
                          llvm::ArrayRef<FactorPair> layers,
                          const FactorGrid &grid, FactorPairing pairing);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORGRID_H
