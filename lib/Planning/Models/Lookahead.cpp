//===- Lookahead.cpp - Chooses a unit near the end by lookahead -----------===//

#include "Models/Lookahead.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace mlir::hfta::planning;

// Limits with which a decision takes a few microseconds.
static constexpr int64_t kMostUnits = 128;
static constexpr unsigned kMostDevices = 32;

namespace {
/// The remaining units of a model, which run one after the other.
struct Chain {
  unsigned model = 0;
  int64_t begun = 0; ///< how many of them the rollout has begun
  int64_t count = 0;
  Ticks remaining = 0;
  Ticks ready = 0;
};

/// A simulation of all remaining units, by a fixed rule and without transfers.
class Rollout {
public:
  explicit Rollout(const SchedulingState &state);
  /// Runs the model's next unit on a device, not before `earliest`.
  void run(unsigned model, unsigned device, Ticks earliest);
  /// Runs all remaining units, where the model with the longest remaining time
  /// comes first. Returns the end of the last unit.
  Ticks finish();
  size_t getChainCount() const { return chains.size(); }

private:
  void run(Chain &chain, unsigned device, Ticks earliest);

  const SchedulingState &state;
  llvm::SmallVector<Chain, 16> chains;
  llvm::SmallVector<Ticks, 16> free;
  Ticks last = 0;
};
} // namespace

Rollout::Rollout(const SchedulingState &state) : state(state) {
  for (unsigned model = 0; model < state.getModelCount(); ++model)
    if (int64_t count = state.getUnitsLeft(model); count > 0)
      chains.push_back(
          {model, 0, count, state.getRemaining(model), state.getReady(model)});
  for (unsigned device = 0; device < state.getDeviceCount(); ++device) {
    free.push_back(state.getFree(device));
    last = std::max(last, free.back());
  }
  for (unsigned device = 0; device < state.getDeviceCount(); ++device)
    if (unsigned next = state.getNext(device); next != kNone)
      run(next, device, 0);
}

void Rollout::run(Chain &chain, unsigned device, Ticks earliest) {
  Ticks ticks = state.getUnit(chain.model, chain.begun++);
  Ticks end = std::max({free[device], chain.ready, earliest}) + ticks;
  chain.remaining -= ticks;
  chain.ready = free[device] = end;
  last = std::max(last, end);
}

void Rollout::run(unsigned model, unsigned device, Ticks earliest) {
  for (Chain &chain : chains)
    if (chain.model == model)
      run(chain, device, earliest);
}

Ticks Rollout::finish() {
  while (true) {
    unsigned device = llvm::min_element(free) - free.begin();
    Chain *longest = nullptr;
    std::optional<Ticks> soonest;
    for (Chain &chain : chains) {
      if (chain.begun == chain.count)
        continue;
      soonest = soonest ? std::min(*soonest, chain.ready) : chain.ready;
      if (chain.ready <= free[device] &&
          (!longest || chain.remaining > longest->remaining))
        longest = &chain;
    }
    if (!soonest)
      return last;
    if (longest)
      run(*longest, device, 0);
    else
      free[device] = *soonest;
  }
}

unsigned mlir::hfta::planning::lookAhead(const SchedulingState &state,
                                         unsigned device, unsigned model) {
  if (state.getUnbegun() > kMostUnits || state.getDeviceCount() > kMostDevices)
    return model;
  Rollout start(state);
  if (start.getChainCount() < 2)
    return model;
  auto getEnd = [&](unsigned choice) {
    Rollout rollout = start;
    Ticks fetched = state.getFetch(choice, device);
    bool isAhead = state.getRunning(device) != kNone;
    rollout.run(choice, device, isAhead ? 0 : state.getFree(device) + fetched);
    return rollout.finish();
  };
  Ticks end = getEnd(model);
  llvm::SmallVector<unsigned, 16> others(state.getIdle());
  unsigned own = state.getRunning(device);
  if (own != kNone && state.getUnitsLeft(own) > 0)
    others.push_back(own);
  for (unsigned other : others) {
    if (other == model)
      continue;
    if (Ticks ends = getEnd(other); ends < end) {
      end = ends;
      model = other;
    }
  }
  return model;
}
