//===- PlaceFactors.cpp - The best placement of factors -------------------===//

#include "Hfta/Planning/FactorPlacement.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// The most sizes that are tried as thresholds.
static constexpr size_t kMostChoices = 24;
/// The most of the largest sizes that every rank inverts while others are sent.
static constexpr size_t kMostKept = 3;
/// One more limit than this is tried for the time that an owner inverts.
static constexpr int64_t kLimits = 16;
/// The most changes of the best candidate that are judged.
static constexpr int64_t kMostMoves = 3000;

namespace {

struct Candidate {
  double seconds = std::numeric_limits<double>::infinity();
  FactorOwners owners;
};

/// A range in the list of factors that are worth sending.
struct Range {
  size_t begin = 0;
  size_t end = 0;
};

/// The loads of owners while factors are assigned by descending size.
class BatchLoads {
public:
  BatchLoads(int64_t owners, const InversionCost &invert)
      : invert(invert), loads(owners, 0), counts(owners, 0) {}

  /// Gives the factor to the owner for whom it costs least, of those who would
  /// then be done by `limit`; if there is none, to the one who is done first.
  /// Returns the owner.
  int64_t add(const Factor &factor, double limit);

private:
  /// Returns the seconds of a batch of `count` matrices of the current size.
  double getBatch(int64_t count);

  const InversionCost &invert;
  std::vector<double> loads; ///< seconds
  /// Numbers of matrices of the current size.
  std::vector<int64_t> counts;
  int64_t size = 0;
  std::map<int64_t, double> batches; ///< seconds by count
};

class Search {
public:
  Search(llvm::ArrayRef<Factor> factors, int64_t ranks,
         const PlacementCosts &costs);

  FactorOwners run();

private:
  bool isWorthSending(const Factor &factor) const;
  llvm::ArrayRef<int64_t> getSent(Range sent) const {
    return llvm::ArrayRef(order).slice(sent.begin, sent.end - sent.begin);
  }
  /// Places the factors to send on at most `ownerCount` owners, and the rest on
  /// all ranks.
  FactorOwners place(Range sent, int64_t ownerCount, double limit) const;
  double getSeconds(const FactorOwners &owners) const {
    return getPlacementTimes(factors, owners, costs).broadcast;
  }
  double consider(FactorOwners owners);
  void tryOwnerCounts(Range sent);
  void tryLimits(Range sent);
  bool improve(int64_t factor);

  llvm::ArrayRef<Factor> factors;
  int64_t ranks;
  const PlacementCosts &costs;
  /// The factors that are worth sending, the largest sizes first.
  std::vector<int64_t> order;
  Candidate best;
  int64_t moves = 0;
};

} // namespace

int64_t BatchLoads::add(const Factor &factor, double limit) {
  if (factor.size != size) {
    size = factor.size;
    batches.clear();
    llvm::fill(counts, 0);
  }
  constexpr double kNever = std::numeric_limits<double>::infinity();
  double leastLoad = kNever, leastCost = kNever;
  int64_t first = 0, cheapest = -1;
  double alone = getBatch(factor.count);
  for (int64_t owner = 0, count = loads.size(); owner < count; ++owner) {
    double cost = counts[owner] == 0 ? alone
                                     : getBatch(counts[owner] + factor.count) -
                                           getBatch(counts[owner]);
    double load = loads[owner] + cost;
    if (load < leastLoad) {
      leastLoad = load;
      first = owner;
    }
    if (load <= limit && cost < leastCost) {
      leastCost = cost;
      cheapest = owner;
    }
    // All later owners are empty, too.
    if (loads[owner] == 0)
      break;
  }
  int64_t owner = cheapest < 0 ? first : cheapest;
  loads[owner] +=
      getBatch(counts[owner] + factor.count) - getBatch(counts[owner]);
  counts[owner] += factor.count;
  return owner;
}

double BatchLoads::getBatch(int64_t count) {
  if (count == 0)
    return 0;
  auto [entry, isNew] = batches.try_emplace(count, 0);
  if (isNew)
    entry->second = invert(size, count);
  return entry->second;
}

Search::Search(llvm::ArrayRef<Factor> factors, int64_t ranks,
               const PlacementCosts &costs)
    : factors(factors), ranks(ranks), costs(costs) {
  for (int64_t factor = 0, count = factors.size(); factor < count; ++factor)
    if (isWorthSending(factors[factor]))
      order.push_back(factor);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::tie(factors[b].size, a) < std::tie(factors[a].size, b);
  });
}

/// Returns whether sending a factor pays. The latency of a broadcast that is
/// merged with others isn't counted for each factor.
bool Search::isWorthSending(const Factor &factor) const {
  TransferCost broadcast = costs.broadcast;
  if (costs.isMerged)
    broadcast.latency = 0;
  return costs.invert(factor.size, factor.count) >
         broadcast.getSeconds(factor.getElements());
}

/// Judges a candidate and returns how long it takes.
double Search::consider(FactorOwners owners) {
  double seconds = getSeconds(owners);
  if (seconds < best.seconds)
    best = {seconds, std::move(owners)};
  return seconds;
}

FactorOwners Search::place(Range sent, int64_t ownerCount, double limit) const {
  FactorOwners owners(factors.size(), kEveryRank);
  BatchLoads loads(ownerCount, costs.invert);
  for (int64_t number : getSent(sent))
    owners[number] = loads.add(factors[number], limit);
  return owners;
}

/// Returns numbers from 1 to `most`: all of them, or some at growing distances.
static std::vector<int64_t> getChoices(int64_t most) {
  std::vector<int64_t> choices;
  for (int64_t next = 1; next <= most; next += 1 + next / 4)
    choices.push_back(next);
  if (most > 0 && choices.back() != most)
    choices.push_back(most);
  return choices;
}

void Search::tryOwnerCounts(Range sent) {
  int64_t most = std::min<int64_t>(ranks, sent.end - sent.begin);
  std::vector<int64_t> choices = getChoices(most);
  double least = std::numeric_limits<double>::infinity();
  size_t chosen = 0;
  auto tryCount = [&](int64_t count) {
    return consider(place(sent, count, /*limit=*/0));
  };
  for (size_t choice = 0; choice < choices.size(); ++choice) {
    double seconds = tryCount(choices[choice]);
    if (seconds < least) {
      least = seconds;
      chosen = choice;
    }
  }
  // Try the numbers between the neighbours of the best one.
  if (choices.size() < 2)
    return;
  int64_t first = choices[chosen == 0 ? 0 : chosen - 1] + 1;
  int64_t last = choices[std::min(chosen + 1, choices.size() - 1)];
  int64_t step = std::max<int64_t>(1, (last - first) / 8);
  for (int64_t count = first; count < last; count += step)
    if (count != choices[chosen])
      tryCount(count);
}

/// Tries limits between what the largest factor takes and what all take on one
/// rank: the later owners may end, the fewer they are, and the larger their
/// batches.
void Search::tryLimits(Range sent) {
  double least = 0, most = 0;
  for (int64_t number : getSent(sent)) {
    const Factor &factor = factors[number];
    double seconds = costs.invert(factor.size, factor.count);
    least = std::max(least, seconds);
    most += seconds;
  }
  int64_t owners = std::min<int64_t>(ranks, sent.end - sent.begin);
  double ratio = std::pow(most / least, 1.0 / kLimits);
  for (int64_t i = 0; i <= kLimits && least > 0; ++i)
    consider(place(sent, owners, least * std::pow(ratio, i)));
}

/// Moves a factor to where the whole ends soonest, if that is sooner than now.
bool Search::improve(int64_t factor) {
  Candidate changed = best;
  int64_t owner = best.owners[factor];
  int64_t last = std::min(ranks - 1, *llvm::max_element(best.owners) + 1);
  bool isBetter = false;
  for (int64_t other = kEveryRank; other <= last && moves < kMostMoves;
       ++other) {
    if (other == owner)
      continue;
    ++moves;
    changed.owners[factor] = other;
    double seconds = getSeconds(changed.owners);
    if (seconds < best.seconds) {
      best = {seconds, changed.owners};
      isBetter = true;
    }
  }
  return isBetter;
}

FactorOwners Search::run() {
  consider(FactorOwners(factors.size(), kEveryRank));
  if (ranks == 1 || factors.empty())
    return best.owners;
  // A threshold is where the size changes.
  std::vector<size_t> thresholds;
  for (size_t sent = 1; sent <= order.size(); ++sent)
    if (sent == order.size() ||
        factors[order[sent]].size != factors[order[sent - 1]].size)
      thresholds.push_back(sent);
  size_t step = 1 + thresholds.size() / kMostChoices;
  // The largest ones may take too long to send: the others are then inverted
  // elsewhere meanwhile.
  for (size_t kept = 0; kept <= kMostKept && kept < thresholds.size(); ++kept) {
    size_t begin = kept == 0 ? 0 : thresholds[kept - 1];
    // Begin with the last threshold: sending all others is tried in any case.
    for (size_t i = 0; i + kept < thresholds.size(); i += step) {
      Range sent{begin, thresholds[thresholds.size() - 1 - i]};
      tryOwnerCounts(sent);
      tryLimits(sent);
    }
  }
  bool isBetter = true;
  while (isBetter && moves < kMostMoves) {
    isBetter = false;
    for (int64_t factor = 0, count = factors.size(); factor < count; ++factor)
      isBetter |= improve(factor);
  }
  return best.owners;
}

FactorOwners planning::placeFactors(llvm::ArrayRef<Factor> factors,
                                    int64_t ranks,
                                    const PlacementCosts &costs) {
  return Search(factors, ranks, costs).run();
}
