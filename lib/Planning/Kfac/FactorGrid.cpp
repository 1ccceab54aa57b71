//===- FactorGrid.cpp - Ranks in rows and columns -------------------------===//

#include "Hfta/Planning/Kfac/FactorGrid.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// Prints a number with up to six digits, without trailing zeros.
static std::string print(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

llvm::Expected<FactorGrid> planning::makeFactorGrid(double fraction,
                                                    int64_t ranks) {
  if (!(fraction > 0 && fraction <= 1))
    return llvm::createStringError(
        llvm::formatv("a fraction of {0} of the ranks keeps inverses: expected "
                      "more than 0 and at most 1",
                      print(fraction)));
  double share = std::max(1.0, fraction * static_cast<double>(ranks));
  int64_t rows = std::llround(share);
  // A fraction such as 1/3 has no exact binary representation.
  if (std::abs(share - static_cast<double>(rows)) > 1e-6 || ranks % rows != 0)
    return llvm::createStringError(
        llvm::formatv("a fraction of {0} of {1} ranks is {2}: expected a whole "
                      "number that divides the ranks",
                      print(fraction), ranks, print(share)));
  return FactorGrid{rows, ranks / rows};
}

std::optional<double> planning::readFraction(llvm::StringRef placement) {
  double fraction = 0;
  if (!placement.consume_front("fraction(") || !placement.consume_back(")") ||
      placement.getAsDouble(fraction))
    return std::nullopt;
  return fraction;
}

//===----------------------------------------------------------------------===//
// Layers on columns, factors on ranks
//===----------------------------------------------------------------------===//

namespace {
/// Layers that share factors with each other, directly or through other layers.
/// These factors must be in one column.
struct LayerGroup {
  std::vector<int64_t> layers;
  std::vector<int64_t> factors; ///< without duplicates
  double weight = 0;            ///< the sum of the factors' weights
};
} // namespace

/// Returns the groups of layers, sorted by descending weight.
static std::vector<LayerGroup> groupLayers(llvm::ArrayRef<Factor> factors,
                                           llvm::ArrayRef<FactorPair> layers,
                                           FactorWeight weight) {
  // The members of the classes are the factors, by their numbers, and after
  // them the layers.
  llvm::EquivalenceClasses<int64_t> classes;
  int64_t base = factors.size();
  for (int64_t layer = 0, count = layers.size(); layer < count; ++layer) {
    classes.insert(base + layer);
    for (int64_t factor : {layers[layer].input, layers[layer].output})
      if (factor != kNoFactor)
        classes.unionSets(base + layer, factor);
  }
  std::vector<LayerGroup> groups;
  std::vector<int64_t> numbers(factors.size() + layers.size(), -1);
  auto getGroup = [&](int64_t member) -> LayerGroup & {
    int64_t &number = numbers[classes.getLeaderValue(member)];
    if (number < 0) {
      number = groups.size();
      groups.emplace_back();
    }
    return groups[number];
  };
  for (int64_t layer = 0, count = layers.size(); layer < count; ++layer) {
    LayerGroup &group = getGroup(base + layer);
    group.layers.push_back(layer);
    for (int64_t factor : {layers[layer].input, layers[layer].output})
      if (factor != kNoFactor && !llvm::is_contained(group.factors, factor)) {
        group.factors.push_back(factor);
        group.weight += weight(factors[factor]);
      }
  }
  llvm::sort(groups, [](const LayerGroup &a, const LayerGroup &b) {
    return std::tie(b.weight, a.layers) < std::tie(a.weight, b.layers);
  });
  return groups;
}

/// Returns the rank with the least load in this column.
static int64_t getLeastLoaded(llvm::ArrayRef<double> loads,
                              const FactorGrid &grid, int64_t column) {
  int64_t best = grid.getRank(0, column);
  for (int64_t row = 1; row < grid.rows; ++row)
    if (loads[grid.getRank(row, column)] < loads[best])
      best = grid.getRank(row, column);
  return best;
}

static GridColumns chooseColumns(llvm::ArrayRef<LayerGroup> groups,
                                 size_t layers, size_t factors, int64_t count) {
  GridColumns columns{std::vector<int64_t>(layers, 0),
                      std::vector<int64_t>(factors, 0)};
  std::vector<double> loads(count, 0);
  for (const LayerGroup &group : groups) {
    int64_t column = llvm::min_element(loads) - loads.begin();
    loads[column] += group.weight;
    for (int64_t layer : group.layers)
      columns.layers[layer] = column;
    for (int64_t factor : group.factors)
      columns.factors[factor] = column;
  }
  return columns;
}

GridColumns planning::chooseColumns(llvm::ArrayRef<Factor> factors,
                                    llvm::ArrayRef<FactorPair> layers,
                                    int64_t columns, FactorWeight weight) {
  return ::chooseColumns(groupLayers(factors, layers, weight), layers.size(),
                         factors.size(), columns);
}

GridPlacement planning::placeOnGrid(llvm::ArrayRef<Factor> factors,
                                    llvm::ArrayRef<FactorPair> layers,
                                    const FactorGrid &grid,
                                    FactorPairing pairing) {
  std::vector<LayerGroup> groups = groupLayers(
      factors, layers, [](const Factor &factor) { return factor.getCubes(); });
  GridPlacement placement{
      ::chooseColumns(groups, layers.size(), factors.size(), grid.columns),
      FactorOwners(factors.size(), 0)};
  std::vector<double> loads(grid.getRankCount(), 0);
  for (LayerGroup &group : groups) {
    if (group.factors.empty())
      continue;
    llvm::sort(group.factors, [&](int64_t a, int64_t b) {
      return std::make_pair(-factors[a].getCubes(), a) <
             std::make_pair(-factors[b].getCubes(), b);
    });
    int64_t column = placement.columns.factors[group.factors.front()];
    int64_t owner = getLeastLoaded(loads, grid, column);
    for (int64_t factor : group.factors) {
      if (pairing == FactorPairing::apart)
        owner = getLeastLoaded(loads, grid, column);
      placement.owners[factor] = owner;
      loads[owner] += factors[factor].getCubes();
    }
  }
  return placement;
}
