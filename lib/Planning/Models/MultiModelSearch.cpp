//===- MultiModelSearch.cpp - The best schedule of several models ---------===//
//
// Branch and bound over the answers to every question which unit a device
// computes next. Without transfers, only schedules have to be searched in which
// a free device gets a model at once. A model's first unit could always have
// begun earlier, and any other unit becomes ready exactly when a device becomes
// free; as devices are equal, these can swap their roles from there on.
//===----------------------------------------------------------------------===//

#include "Models/ShardEngine.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace mlir::hfta::planning;

// Limits for a few seconds of work: of the remembered numbers (8 bytes each),
// and of the workload, so that each state is small and the recursion fits on
// the stack.
static constexpr int64_t kMostRemembered = 1 << 25;
static constexpr int64_t kMostRememberedWithTransfers = 1 << 22;
static constexpr int64_t kMostSearchedUnits = 512;
static constexpr int64_t kMostSearchedModels = 16;
static constexpr int64_t kMostSearchedDevices = 16;
/// Numbers of 8 bytes that an entry of the tables takes in addition to its
/// state.
static constexpr int64_t kNumbersOfEntry = 16;

namespace {

class BestRunSearch {
public:
  BestRunSearch(const MultiModelWorkload &workload, Ticks known)
      : times(workload), hasTransfers(workload.hasTransfers()), least(known) {
    if (hasTransfers)
      return;
    // Times are multiples of this.
    granule = 0;
    for (const ShardTimes::Model &model : times.models)
      for (const ShardTimes::Unit &unit : model.units)
        granule = std::gcd(granule, unit.compute);
    granule = std::max<Ticks>(granule, 1);
  }

  /// Searches all schedules. Returns false if there are too many states to
  /// visit all.
  bool run() {
    ShardEngine engine(times, /*reusesShards=*/true);
    return visit(engine);
  }
  Ticks getLeast() const { return least; }
  int64_t getVisited() const { return visited; }
  /// Returns the answers of the shortest run; empty if none is shorter than the
  /// run that was known before.
  const std::vector<unsigned> &getAnswers() const { return bestAnswers; }
  const ShardTimes &getTimes() const { return times; }
  /// Returns whether the device has to choose a unit. Without transfers, a
  /// device that computes needn't choose the next one yet.
  bool needsAnswer(const ShardEngine &engine, unsigned device) const {
    return hasTransfers || engine.getRunning(device) == kNone;
  }

private:
  bool visit(ShardEngine &engine);
  bool search(const ShardEngine &engine, unsigned device);
  bool isNew(const ShardEngine &engine, unsigned device);
  bool isNewWithoutTransfers(const ShardEngine &engine);
  Ticks getBound(const ShardEngine &engine) const;
  std::vector<unsigned> getChoices(const ShardEngine &engine,
                                   unsigned device) const;

  ShardTimes times;
  bool hasTransfers;
  Ticks granule = 1; ///< bounds are rounded up to multiples of this
  Ticks least;       ///< time of the shortest run so far
  int64_t visited = 0, remembered = 0;
  std::vector<unsigned> answers, bestAnswers;
  /// The earliest time at which each state was reached, for workloads with
  /// transfers.
  std::map<std::vector<int64_t>, Ticks> reached;
  /// For workloads without transfers: by the numbers of units that have begun,
  /// the times at which models are ready and devices free. No list of times is
  /// dominated by another one, which is nowhere later.
  std::map<std::vector<int64_t>, std::vector<std::vector<Ticks>>> ready;
};

} // namespace

/// Returns a lower bound for the end of every continuation of a state.
Ticks BestRunSearch::getBound(const ShardEngine &engine) const {
  Ticks bound = engine.getLastEnd(), sum = 0;
  for (unsigned model = 0; model < engine.getModelCount(); ++model) {
    Ticks remaining = engine.getRemaining(model);
    bound = std::max(bound, engine.getReady(model) + remaining);
    sum += remaining;
  }
  auto count = static_cast<Ticks>(engine.getDeviceCount());
  for (unsigned device = 0; device < engine.getDeviceCount(); ++device)
    sum += engine.getFree(device) - engine.getNow();
  bound = std::max(bound, engine.getNow() + (sum + count - 1) / count);
  return (bound + granule - 1) / granule * granule;
}

/// Returns the choices for a device: models, the longest remaining time first,
/// and with transfers, as the last, that the device waits.
std::vector<unsigned> BestRunSearch::getChoices(const ShardEngine &engine,
                                                unsigned device) const {
  unsigned running = engine.getRunning(device);
  std::vector<unsigned> choices(engine.getIdle());
  if (running != kNone && engine.getUnitsLeft(running) > 0)
    choices.push_back(running);
  llvm::stable_sort(choices, [&](unsigned one, unsigned other) {
    return engine.getRemaining(one) > engine.getRemaining(other);
  });
  if (hasTransfers)
    choices.push_back(kNone);
  return choices;
}

static bool isNowhereLater(const std::vector<Ticks> &one,
                           const std::vector<Ticks> &other) {
  for (auto [ticks, others] : llvm::zip_equal(one, other))
    if (ticks > others)
      return false;
  return true;
}

/// Returns whether the state isn't dominated: no known state with the same
/// units begun is at least as early for all models and devices. Then remembers
/// it.
bool BestRunSearch::isNewWithoutTransfers(const ShardEngine &engine) {
  std::vector<int64_t> key;
  std::vector<Ticks> free, times;
  for (unsigned device = 0; device < engine.getDeviceCount(); ++device)
    free.push_back(engine.getFree(device));
  llvm::sort(free);
  for (unsigned model = 0; model < engine.getModelCount(); ++model) {
    key.push_back(engine.getBegun(model));
    times.push_back(engine.getReady(model));
  }
  llvm::append_range(times, free);
  remembered += kNumbersOfEntry + static_cast<int64_t>(key.size()) +
                static_cast<int64_t>(times.size());
  std::vector<std::vector<Ticks>> &known = ready[key];
  if (llvm::any_of(known, [&](const std::vector<Ticks> &other) {
        return isNowhereLater(other, times);
      }))
    return false;
  llvm::erase_if(known, [&](const std::vector<Ticks> &other) {
    return isNowhereLater(times, other);
  });
  known.push_back(std::move(times));
  return true;
}

/// Returns whether the state can lead to better results than states seen
/// before.
bool BestRunSearch::isNew(const ShardEngine &engine, unsigned device) {
  if (!hasTransfers)
    return isNewWithoutTransfers(engine);
  std::vector<int64_t> key = engine.getKey(device);
  remembered += kNumbersOfEntry + static_cast<int64_t>(key.size());
  auto [entry, isFirst] = reached.try_emplace(std::move(key), engine.getNow());
  if (!isFirst && entry->second <= engine.getNow())
    return false;
  entry->second = engine.getNow();
  return true;
}

/// Continues to the next choice and tries all continuations. Returns false if
/// there are too many states.
bool BestRunSearch::visit(ShardEngine &engine) {
  unsigned device = engine.advance();
  for (; device != kNone && !needsAnswer(engine, device);
       device = engine.advance())
    engine.answer(device, kNone);
  if (device != kNone)
    return getBound(engine) >= least || !isNew(engine, device) ||
           search(engine, device);
  // If all devices wait forever, some units never begin.
  if (engine.getUnbegun() == 0 && engine.getLastEnd() < least) {
    least = engine.getLastEnd();
    bestAnswers = answers;
  }
  return true;
}

bool BestRunSearch::search(const ShardEngine &engine, unsigned device) {
  ++visited;
  if (remembered >
      (hasTransfers ? kMostRememberedWithTransfers : kMostRemembered))
    return false;
  for (unsigned choice : getChoices(engine, device)) {
    ShardEngine next = engine;
    next.answer(device, choice);
    answers.push_back(choice);
    bool isSeen = visit(next);
    answers.pop_back();
    if (!isSeen)
      return false;
  }
  return true;
}

static bool isTooLarge(const MultiModelWorkload &workload) {
  int64_t units = 0;
  for (const ShardedModel &model : workload.models)
    units += model.getUnitCount();
  return units > kMostSearchedUnits ||
         workload.models.size() > kMostSearchedModels ||
         workload.devices > kMostSearchedDevices;
}

std::optional<MultiModelRun>
mlir::hfta::planning::findBestRun(const MultiModelWorkload &workload,
                                  const MultiModelRun &known,
                                  int64_t *visited) {
  if (isTooLarge(workload))
    return std::nullopt;
  BestRunSearch search(workload, known.makespan);
  bool isSeen = search.run();
  if (visited)
    *visited = search.getVisited();
  if (!isSeen)
    return std::nullopt;
  if (search.getAnswers().empty())
    return known;
  MultiModelRun run;
  ShardEngine engine(search.getTimes(), /*reusesShards=*/true);
  engine.setTrace(&run.units);
  size_t at = 0;
  for (unsigned device = engine.advance(); device != kNone;
       device = engine.advance())
    engine.answer(device, search.needsAnswer(engine, device)
                              ? search.getAnswers()[at++]
                              : kNone);
  run.makespan = engine.getLastEnd();
  run.readBytes = engine.getReadBytes();
  return run;
}
