//===- FactorPlacement.cpp - The rank that inverts each factor ------------===//

#include "Hfta/Planning/Kfac/FactorPlacement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <functional>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

FactorOwners planning::placeBySize(llvm::ArrayRef<Factor> factors,
                                   int64_t ranks, int64_t threshold,
                                   LoadWeight weight) {
  FactorOwners owners(factors.size(), kEveryRank);
  std::vector<int64_t> order;
  for (int64_t factor = 0, count = factors.size(); factor < count; ++factor)
    if (factors[factor].size >= threshold)
      order.push_back(factor);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::tie(factors[b].size, a) < std::tie(factors[a].size, b);
  });
  std::vector<double> loads(ranks, 0);
  for (int64_t number : order) {
    const Factor &factor = factors[number];
    int64_t owner = llvm::min_element(loads) - loads.begin();
    owners[number] = owner;
    loads[owner] += weight == LoadWeight::cubes
                        ? factor.getCubes()
                        : static_cast<double>(factor.size * factor.count);
  }
  return owners;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

namespace {
/// The matrices that one rank inverts. Times are valid once all matrices have
/// been added.
class Batches {
public:
  void add(const Factor &factor) {
    if (!sizes.empty() && sizes.back().first == factor.size)
      sizes.back().second += factor.count;
    else
      sizes.push_back({factor.size, factor.count});
  }
  /// Returns the seconds for inverting all matrices of at least `least` rows,
  /// with one batch for each size.
  double getSeconds(const InversionCost &invert, int64_t least = 0) {
    llvm::sort(sizes, std::greater<>());
    double seconds = 0;
    for (size_t i = 0; i < sizes.size() && sizes[i].first >= least;) {
      int64_t size = sizes[i].first, count = 0;
      for (; i < sizes.size() && sizes[i].first == size; ++i)
        count += sizes[i].second;
      seconds += invert(size, count);
    }
    return seconds;
  }

private:
  /// The sizes with their numbers of matrices.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 8> sizes;
};
} // namespace

std::vector<FactorBroadcast>
planning::getBroadcasts(llvm::ArrayRef<Factor> factors,
                        const FactorOwners &owners,
                        const PlacementCosts &costs) {
  int64_t ranks = owners.empty() ? 0 : *llvm::max_element(owners) + 1;
  std::vector<Batches> owned(ranks);
  for (auto [factor, owner] : llvm::zip_equal(factors, owners))
    if (owner != kEveryRank)
      owned[owner].add(factor);
  std::vector<FactorBroadcast> broadcasts;
  // If broadcasts are merged, each owner has one, whose index is in `numbers`.
  constexpr size_t kNoNumber = -1;
  std::vector<size_t> numbers(ranks, kNoNumber);
  for (int64_t factor = 0, count = factors.size(); factor < count; ++factor) {
    int64_t owner = owners[factor];
    if (owner == kEveryRank)
      continue;
    if (numbers[owner] == kNoNumber || !costs.isMerged) {
      numbers[owner] = broadcasts.size();
      int64_t least = costs.isMerged ? 0 : factors[factor].size;
      double ready = owned[owner].getSeconds(costs.invert, least);
      broadcasts.push_back({ready, owner, {}, 0});
    }
    FactorBroadcast &broadcast = broadcasts[numbers[owner]];
    broadcast.factors.push_back(factor);
    broadcast.elements += factors[factor].getElements();
  }
  llvm::sort(broadcasts,
             [](const FactorBroadcast &a, const FactorBroadcast &b) {
               return std::tie(a.ready, a.owner, a.factors) <
                      std::tie(b.ready, b.owner, b.factors);
             });
  return broadcasts;
}

PlacementTimes planning::getPlacementTimes(llvm::ArrayRef<Factor> factors,
                                           const FactorOwners &owners,
                                           const PlacementCosts &costs) {
  Batches everywhere;
  for (auto [factor, owner] : llvm::zip_equal(factors, owners))
    if (owner == kEveryRank)
      everywhere.add(factor);
  std::vector<FactorBroadcast> broadcasts =
      getBroadcasts(factors, owners, costs);
  PlacementTimes times;
  // The last broadcast is ready when the slowest owner has inverted all that it
  // inverts for others.
  if (!broadcasts.empty())
    times.inverted = broadcasts.back().ready;
  times.inverted += everywhere.getSeconds(costs.invert);
  double end = costs.isOverlapped ? 0 : times.inverted;
  for (const FactorBroadcast &broadcast : broadcasts)
    end = std::max(end, broadcast.ready) +
          costs.broadcast.getSeconds(broadcast.elements);
  times.broadcast = std::max(times.inverted, end);
  return times;
}
