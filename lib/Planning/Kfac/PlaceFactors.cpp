//===- PlaceFactors.cpp - Search for the best placement of factors --------===//

#include "Hfta/Planning/Kfac/FactorPlacement.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// The most sizes that are tried as the least size to send.
static constexpr size_t kMostChoices = 24;
/// The most of the largest sizes that are kept on every rank while smaller ones
/// are sent.
static constexpr size_t kMostKept = 3;
/// The number of steps between the least and the greatest time limit for
/// owners.
static constexpr int64_t kLimits = 16;
/// The most changes of the best candidate that are tried.
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

/// The loads of owners while factors are assigned to them by descending size.
class BatchLoads {
public:
  BatchLoads(int64_t owners, const InversionCost &invert)
      : invert(invert), loads(owners, 0), counts(owners, 0) {}

  /// Assigns a factor to the owner for whom it takes the least time, among
  /// those who would then be done by `limit`; if there is none, to the owner
  /// who would be done first. Returns the owner.
  int64_t add(const Factor &factor, double limit);

private:
  /// Returns the seconds of a batch of `count` matrices of the current size.
  double getBatch(int64_t count);

  const InversionCost &invert;
  std::vector<double> loads; ///< seconds of each owner
  /// Number of each owner's matrices of the current size.
  std::vector<int64_t> counts;
  int64_t size = 0;
  /// The seconds of a batch of the current size, by its number of matrices.
  std::map<int64_t, double> batches;
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
  /// Assigns the factors to send to at most `ownerCount` owners, none of whom
  /// should need more seconds than `limit`. All other factors are inverted by
  /// every rank.
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
  /// The factors that are worth sending, sorted by descending size.
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
    // The later owners have no load either and would cost the same.
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

/// Returns whether sending a factor takes less time than inverting it. If
/// broadcasts are merged, the latency isn't counted for each factor.
bool Search::isWorthSending(const Factor &factor) const {
  TransferCost broadcast = costs.broadcast;
  if (costs.isMerged)
    broadcast.latency = 0;
  return costs.invert(factor.size, factor.count) >
         broadcast.getSeconds(factor.getElements());
}

/// Returns the time of a placement, and keeps it if it is the best so far.
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

/// Returns numbers from 1 to `most`: all small ones, then some at growing
/// distances.
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
  // Try numbers between the best one and its neighbours in the list.
  if (choices.size() < 2)
    return;
  int64_t first = choices[chosen == 0 ? 0 : chosen - 1] + 1;
  int64_t last = choices[std::min(chosen + 1, choices.size() - 1)];
  int64_t step = std::max<int64_t>(1, (last - first) / 8);
  for (int64_t count = first; count < last; count += step)
    if (count != choices[chosen])
      tryCount(count);
}

/// Tries time limits for owners, from the time of the largest factor to that of
/// all factors on one rank. With a higher limit there are fewer owners, and
/// their batches are larger.
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

/// Moves a factor to the owner, or to every rank, with whom all is done
/// soonest. Returns whether the placement got better.
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
  // A threshold is an index where the size of factors changes.
  std::vector<size_t> thresholds;
  for (size_t sent = 1; sent <= order.size(); ++sent)
    if (sent == order.size() ||
        factors[order[sent]].size != factors[order[sent - 1]].size)
      thresholds.push_back(sent);
  size_t step = 1 + thresholds.size() / kMostChoices;
  // Sending the largest factors may take too long. Every rank may invert these
  // while other ranks invert the rest.
  for (size_t kept = 0; kept <= kMostKept && kept < thresholds.size(); ++kept) {
    size_t begin = kept == 0 ? 0 : thresholds[kept - 1];
    // Begin with the last threshold, with which all remaining factors are sent,
    // so that this is always tried.
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
