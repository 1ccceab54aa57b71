//===- FactorPlacement.cpp - Which rank inverts which factor --------------===//

#include "Hfta/Planning/FactorPlacement.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
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
/// What one rank inverts: matrices by size, the largest first.
using Batches = std::map<int64_t, int64_t, std::greater<>>;

/// A broadcast, when what it sends is inverted.
struct Broadcast {
  double ready;
  int64_t owner;
  int64_t elements;
};

struct Inversions {
  std::vector<Broadcast> broadcasts; ///< in their order
  double owned = 0;                  ///< seconds of the last owner
  double everywhere = 0; ///< seconds that each rank inverts for itself
};
} // namespace

static Inversions getInversions(llvm::ArrayRef<Factor> factors,
                                const FactorOwners &owners,
                                const PlacementCosts &costs) {
  Batches everywhere;
  std::map<int64_t, Batches> owned;
  std::map<int64_t, int64_t> elements;
  for (auto [factor, owner] : llvm::zip_equal(factors, owners)) {
    (owner == kEveryRank ? everywhere : owned[owner])[factor.size] +=
        factor.count;
    elements[owner] += factor.getElements();
  }
  Inversions inversions;
  for (auto [size, count] : everywhere)
    inversions.everywhere += costs.invert(size, count);
  std::vector<std::map<int64_t, double>> ready;
  for (const auto &[owner, batches] : owned) {
    double seconds = 0;
    for (auto [size, count] : batches)
      seconds += costs.invert(size, count);
    inversions.owned = std::max(inversions.owned, seconds);
    if (costs.isMerged)
      inversions.broadcasts.push_back({seconds, owner, elements[owner]});
  }
  if (!costs.isMerged) {
    for (auto [factor, owner] : llvm::zip_equal(factors, owners)) {
      if (owner == kEveryRank)
        continue;
      double seconds = 0;
      for (auto [size, count] : owned[owner])
        if (size >= factor.size)
          seconds += costs.invert(size, count);
      inversions.broadcasts.push_back({seconds, owner, factor.getElements()});
    }
  }
  llvm::sort(inversions.broadcasts, [](const Broadcast &a, const Broadcast &b) {
    return std::tie(a.ready, a.owner, a.elements) <
           std::tie(b.ready, b.owner, b.elements);
  });
  return inversions;
}

PlacementTimes planning::getPlacementTimes(llvm::ArrayRef<Factor> factors,
                                           const FactorOwners &owners,
                                           const PlacementCosts &costs) {
  Inversions inversions = getInversions(factors, owners, costs);
  PlacementTimes times;
  times.inverted = inversions.owned + inversions.everywhere;
  double end = costs.isOverlapped ? 0 : times.inverted;
  for (const Broadcast &broadcast : inversions.broadcasts)
    end = std::max(end, broadcast.ready) +
          costs.broadcast.getSeconds(broadcast.elements);
  times.broadcast = std::max(times.inverted, end);
  return times;
}

std::vector<int64_t> planning::getBroadcastOrder(llvm::ArrayRef<Factor> factors,
                                                 const FactorOwners &owners,
                                                 const PlacementCosts &costs) {
  PlacementCosts merged = costs;
  merged.isMerged = true;
  std::vector<int64_t> order;
  for (const Broadcast &broadcast :
       getInversions(factors, owners, merged).broadcasts)
    order.push_back(broadcast.owner);
  return order;
}
