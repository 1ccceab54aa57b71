//===- ShardScheduler.cpp - Chooses the next model of a device ------------===//

#include "Hfta/Planning/Models/ShardScheduler.h"
#include "Models/Lookahead.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <random>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

llvm::StringRef planning::getName(SchedulerKind kind) {
  switch (kind) {
  case SchedulerKind::lrtf:
    return "lrtf";
  case SchedulerKind::hydra:
    return "hydra";
  case SchedulerKind::fifo:
    return "fifo";
  case SchedulerKind::srtf:
    return "srtf";
  case SchedulerKind::random:
    return "random";
  }
  llvm_unreachable("all kinds are listed");
}

/// Returns the first candidate with the greatest rank, or kNone if there is
/// none. The candidates are the device's own model, then the idle models.
template <typename Rank>
static unsigned findGreatest(const SchedulingState &state, unsigned device,
                             const Rank &getRank) {
  unsigned own = state.getRunning(device), best = kNone;
  if (own != kNone && state.getUnitsLeft(own) > 0)
    best = own;
  for (unsigned model : state.getIdle())
    if (best == kNone || getRank(model) > getRank(best))
      best = model;
  return best;
}

namespace {

/// Follows HYDRA's scheduling loop (github.com/knagrecha/hydra). As soon as a
/// unit begins, it chooses the device's next model: the one with the longest
/// remaining time among the device's own model and the idle ones. The own model
/// wins ties.
class HydraScheduler final : public ShardScheduler {
public:
  explicit HydraScheduler(bool isBatchwise) : isBatchwise(isBatchwise) {}
  unsigned choose(const SchedulingState &state, unsigned device) override {
    return findGreatest(state, device, [&](unsigned model) {
      return isBatchwise ? state.getRemainingBatches(model)
                         : state.getRemaining(model);
    });
  }

private:
  bool isBatchwise;
};

class ShortestScheduler final : public ShardScheduler {
public:
  unsigned choose(const SchedulingState &state, unsigned device) override {
    return findGreatest(state, device, [&](unsigned model) {
      return -state.getRemaining(model);
    });
  }
};

class FirstScheduler final : public ShardScheduler {
public:
  unsigned choose(const SchedulingState &state, unsigned device) override {
    return findGreatest(state, device, [](unsigned model) {
      return -static_cast<int64_t>(model);
    });
  }
};

class RandomScheduler final : public ShardScheduler {
public:
  unsigned choose(const SchedulingState &state, unsigned device) override {
    unsigned own = state.getRunning(device);
    bool hasOwn = own != kNone && state.getUnitsLeft(own) > 0;
    uint64_t count = state.getIdle().size() + (hasOwn ? 1 : 0);
    if (count == 0)
      return kNone;
    uint64_t drawn = random() % count;
    return drawn == state.getIdle().size() ? own : state.getIdle()[drawn];
  }

private:
  std::mt19937_64 random{1};
};

/// Our scheduler: longest remaining time first, with these exceptions:
/// - A device stays with its model while the model's remaining time is shorter
/// than
///   the longest by at most a mini-batch and at most the time of reading one.
///   If reading takes no time, this makes no difference.
/// - Shards that a device holds aren't read again, and among models with equal
///   remaining times the device chooses the one whose shard it holds.
/// - A unit that needs no reading isn't chosen ahead of time, as other models
/// may
///   become available before the device is free.
/// - The last units are chosen by lookahead (Lookahead.h).
class LongestScheduler final : public ShardScheduler {
public:
  unsigned choose(const SchedulingState &state, unsigned device) override;
  bool reusesShards() const override { return true; }
};

} // namespace

/// Returns the model with the longest remaining time, or the device's own model
/// if it remains for nearly as long.
static unsigned chooseLongest(const SchedulingState &state, unsigned device) {
  unsigned best = findGreatest(state, device, [&](unsigned model) {
    return std::make_pair(state.getRemaining(model),
                          state.holdsShard(model, device));
  });
  unsigned own = state.getRunning(device);
  if (own == kNone)
    own = state.getLast(device);
  bool canStay = own != kNone && state.getUnitsLeft(own) > 0 &&
                 (own == state.getRunning(device) ||
                  llvm::is_contained(state.getIdle(), own));
  if (!canStay)
    return best;
  Ticks patience = std::min(state.getBatch(own), state.getBatchFetch(own));
  return state.getRemaining(own) + patience >= state.getRemaining(best) ? own
                                                                        : best;
}

unsigned LongestScheduler::choose(const SchedulingState &state,
                                  unsigned device) {
  unsigned best = chooseLongest(state, device);
  if (best != kNone)
    best = lookAhead(state, device, best);
  bool isAhead = state.getRunning(device) != kNone;
  return best != kNone && isAhead && state.getFetch(best, device) == 0 ? kNone
                                                                       : best;
}

std::unique_ptr<ShardScheduler> planning::makeScheduler(SchedulerKind kind) {
  switch (kind) {
  case SchedulerKind::lrtf:
    return std::make_unique<LongestScheduler>();
  case SchedulerKind::hydra:
    return std::make_unique<HydraScheduler>(/*isBatchwise=*/false);
  case SchedulerKind::fifo:
    return std::make_unique<FirstScheduler>();
  case SchedulerKind::srtf:
    return std::make_unique<ShortestScheduler>();
  case SchedulerKind::random:
    return std::make_unique<RandomScheduler>();
  }
  llvm_unreachable("all kinds are listed");
}

std::unique_ptr<ShardScheduler> planning::makeBatchwiseHydra() {
  return std::make_unique<HydraScheduler>(/*isBatchwise=*/true);
}
