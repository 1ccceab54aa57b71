//===- Improve.cpp - Local search for faster plans ------------------------===//

#include "Pipelines/Candidates.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::hfta::planning;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Replaces a plan by a better neighbour as long as one is found.
class Improver {
public:
  Improver(Judge &judge, Candidate start, int64_t budget)
      : judge(judge), costs(judge.getCosts()), current(std::move(start)),
        lastWork(judge.getWork() + budget) {}

  Candidate run();

private:
  void consider(const Stages &stages);
  bool hasBudget() const { return judge.getWork() < lastWork; }

  void divideAgain();
  void divideStages(size_t begin, size_t count);
  void addDivided(size_t begin, size_t count, int64_t cut,
                  const DeviceSet &front, const DeviceSet &back);
  void mergeStages();
  void shiftRuns();
  void moveDevices();
  void layOut(const Stages &cuts, ArrayRef<int64_t> counts);
  void exchangeDevices();
  void exchangeDevices(size_t a, size_t b, const FreeDevices &unused);

  Judge &judge;
  const StageCosts &costs;
  Candidate current, best;
  int64_t lastWork;
};

} // namespace

/// Plans whose estimate exceeds the best latency by more than this factor
/// aren't judged, as estimates are mostly lower than latencies.
static constexpr double kHopeful = 1.02;
/// A larger factor for small problems. With few micro-batches, where replicas
/// idle, the estimate may be far above the latency.
static constexpr double kHopefulOfSmall = 2;

void Improver::consider(const Stages &stages) {
  if (!hasBudget())
    return;
  double hopeful = judge.isSmall(stages.size()) ? kHopefulOfSmall : kHopeful;
  if (judge.estimate(stages) > hopeful * best.latency)
    return;
  Candidate candidate = judge.judge(stages);
  if (candidate.latency < best.latency * (1 - 1e-12))
    best = std::move(candidate);
}

//===----------------------------------------------------------------------===//
// Cuts, with replicas on both sides
//===----------------------------------------------------------------------===//

static constexpr int64_t kMostCuts = 32;
static constexpr int64_t kMostCounts = 16;

/// Considers the current plan with the `count` stages from `begin` on replaced
/// by two, which are cut after layer `cut` and run on the devices `front` and
/// `back`.
void Improver::addDivided(size_t begin, size_t count, int64_t cut,
                          const DeviceSet &front, const DeviceSet &back) {
  Stages stages(current.stages.begin(), current.stages.begin() + begin);
  int64_t first = current.stages[begin].first;
  int64_t last = current.stages[begin + count - 1].last;
  stages.push_back({first, cut, front});
  stages.push_back({cut + 1, last, back});
  stages.append(current.stages.begin() + begin + count, current.stages.end());
  consider(stages);
}

/// Considers replacing `count` stages by two. Tries several cuts and numbers of
/// devices, and keeps the devices of a machine together or scatters them.
void Improver::divideStages(size_t begin, size_t count) {
  int64_t first = current.stages[begin].first;
  int64_t last = current.stages[begin + count - 1].last;
  SmallVector<int64_t, 16> machines(costs.getCluster().devices.size());
  int64_t total = 0;
  for (size_t i = begin; i < begin + count; ++i)
    for (const DeviceSet::Part &part : current.stages[i].devices.getParts()) {
      machines[part.machine] += part.count;
      total += part.count;
    }
  if (first == last || total < 2)
    return;
  int64_t near = count == 1 ? (first + last) / 2 : current.stages[begin].last;
  int64_t replicas =
      count == 1 ? total / 2 : current.stages[begin].devices.size();
  bool isInside =
      llvm::count_if(machines, [](int64_t number) { return number > 0; }) == 1;
  for (int64_t take : sampleRange(1, total - 1, replicas, kMostCounts))
    for (Placement placement : {Placement::fresh, Placement::scatter}) {
      if (isInside && placement == Placement::scatter)
        continue;
      FreeDevices free(machines);
      DeviceSet front = free.take(take, placement);
      DeviceSet back = free.getRest();
      FreeDevices again(machines);
      DeviceSet other = again.take(total - take, placement);
      for (int64_t cut : sampleRange(first, last - 1, near, kMostCuts)) {
        addDivided(begin, count, cut, front, back);
        if (!isInside)
          addDivided(begin, count, cut, again.getRest(), other);
      }
    }
}

void Improver::divideAgain() {
  for (size_t count : {2, 1, 3})
    for (size_t i = 0; i + count <= current.stages.size(); ++i)
      divideStages(i, count);
}

void Improver::mergeStages() {
  for (size_t i = 0; i + 1 < current.stages.size(); ++i) {
    Stages stages = current.stages;
    stages[i].last = stages[i + 1].last;
    for (const DeviceSet::Part &part : stages[i + 1].devices.getParts())
      stages[i].devices.add(part.machine, part.count);
    stages.erase(stages.begin() + i + 1);
    consider(stages);
  }
}

/// Moves the cuts before stages `first` to `last`, both at least 1, by `layers`
/// layers. Returns nothing if a stage would be empty.
static std::optional<Stages> shiftCuts(const Stages &stages, size_t first,
                                       size_t last, int64_t layers) {
  Stages shifted = stages;
  for (size_t i = first; i <= last; ++i) {
    shifted[i].first += layers;
    shifted[i - 1].last += layers;
  }
  for (const Stage &stage : shifted)
    if (stage.first > stage.last)
      return std::nullopt;
  return shifted;
}

/// The numbers of layers by which several cuts are moved together.
static constexpr int64_t kShifts[] = {-2, -1, 1, 2};

void Improver::shiftRuns() {
  for (size_t first = 1; first < current.stages.size(); ++first)
    for (size_t last = first; last < current.stages.size(); ++last)
      for (int64_t layers : kShifts)
        if (std::optional<Stages> shifted =
                shiftCuts(current.stages, first, last, layers))
          consider(*shifted);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Considers the stages of `cuts` with these numbers of devices, in each
/// placement.
void Improver::layOut(const Stages &cuts, ArrayRef<int64_t> counts) {
  for (Placement placement : kPlacements) {
    FreeDevices free(costs.getCluster().devices);
    Stages stages = cuts;
    for (auto [stage, count] : llvm::zip_equal(stages, counts))
      stage.devices = free.take(count, placement);
    consider(stages);
  }
}

/// Considers moving 1, 4, 16, … devices from each stage, or from the unused
/// devices, to each other stage, or to the unused ones.
void Improver::moveDevices() {
  SmallVector<int64_t, 8> counts;
  for (const Stage &stage : current.stages)
    counts.push_back(stage.devices.size());
  int64_t unused = costs.getCluster().getDeviceCount();
  for (int64_t count : counts)
    unused -= count;
  layOut(current.stages, counts);
  counts.push_back(unused);
  size_t places = counts.size();
  for (size_t from = 0; from < places; ++from)
    for (size_t to = 0; to < places; ++to)
      for (int64_t step = 1; from != to; step *= 4) {
        int64_t least = from + 1 == places ? 0 : 1;
        if (counts[from] - step < least)
          break;
        SmallVector<int64_t, 8> moved = counts;
        moved[from] -= step;
        moved[to] += step;
        ArrayRef<int64_t> replicas = ArrayRef(moved).drop_back();
        layOut(current.stages, replicas);
        // When devices move between two stages, layers should move too, so
        // shift all cuts between them.
        for (int64_t layers : kShifts)
          if (from + 1 != places && to + 1 != places)
            if (std::optional<Stages> shifted =
                    shiftCuts(current.stages, std::min(from, to) + 1,
                              std::max(from, to), layers))
              layOut(*shifted, replicas);
      }
}

/// Considers moving one device of a machine from stage `a` to stage `b`, or
/// exchanging it for one of another machine. If `b` is the number of stages, it
/// stands for the unused devices.
void Improver::exchangeDevices(size_t a, size_t b, const FreeDevices &unused) {
  DeviceSet rest = unused.getRest();
  bool isUnused = b == current.stages.size();
  const DeviceSet &taking = isUnused ? rest : current.stages[b].devices;
  auto change = [&](int32_t out, int32_t in) {
    Stages stages = current.stages;
    stages[a].devices.add(out, -1);
    if (!isUnused)
      stages[b].devices.add(out, 1);
    if (in >= 0) {
      stages[a].devices.add(in, 1);
      if (!isUnused)
        stages[b].devices.add(in, -1);
    }
    if (!stages[a].devices.empty() && (isUnused || !stages[b].devices.empty()))
      consider(stages);
  };
  // Machines are mostly alike, so trying a few of them is enough.
  constexpr size_t kMostMachines = 8;
  for (const DeviceSet::Part &out :
       current.stages[a].devices.getParts().take_front(kMostMachines)) {
    change(out.machine, -1);
    for (const DeviceSet::Part &in :
         taking.getParts().take_front(kMostMachines))
      if (in.machine != out.machine)
        change(out.machine, in.machine);
  }
}

void Improver::exchangeDevices() {
  FreeDevices unused(costs.getCluster().devices);
  for (const Stage &stage : current.stages)
    unused.take(stage.devices);
  size_t count = current.stages.size();
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b <= count; ++b)
      if (a != b)
        exchangeDevices(a, b, unused);
}

//===----------------------------------------------------------------------===//
// The whole search
//===----------------------------------------------------------------------===//

Candidate Improver::run() {
  best = current;
  void (Improver::*const changes[])() = {
      &Improver::divideAgain, &Improver::mergeStages, &Improver::shiftRuns,
      &Improver::moveDevices, &Improver::exchangeDevices};
  bool improved = true;
  while (improved && hasBudget()) {
    improved = false;
    for (void (Improver::*change)() : changes) {
      (this->*change)();
      if (best.latency < current.latency) {
        current = best;
        improved = true;
        break;
      }
    }
  }
  return best;
}

Candidate mlir::hfta::planning::improve(Judge &judge, Candidate candidate,
                                        int64_t budget) {
  return Improver(judge, std::move(candidate), budget).run();
}
