//===- ShardEngine.cpp - The events on several devices --------------------===//

#include "Models/ShardEngine.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

ShardTimes::ShardTimes(const MultiModelWorkload &workload)
    : workload(&workload) {
  for (const ShardedModel &model : workload.models) {
    Model &own = models.emplace_back();
    for (const ShardUnit &unit : model.units) {
      Unit &ticks = own.units.emplace_back();
      ticks.compute = toTicks(unit.seconds);
      ticks.eviction = toTicks(static_cast<double>(unit.bytesOut) /
                               workload.writeBytesPerSecond);
      ticks.before = own.batch;
      own.batch += ticks.compute;
      own.batchFetch += getFetch(unit.bytesIn);
    }
  }
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

ShardEngine::ShardEngine(const ShardTimes &times, bool reusesShards)
    : times(&times), isReusing(reusesShards),
      isBuffered(times.workload->doubleBuffer) {
  devices.resize(times.workload->devices);
  for (const ShardedModel &model : times.workload->models) {
    int64_t shards = 0;
    for (const ShardUnit &unit : model.units)
      shards = std::max(shards, unit.shard + 1);
    unbegun += model.getUnitCount();
    idle.push_back(models.size());
    models.emplace_back().versions.resize(shards);
  }
}

Ticks ShardEngine::getFree(unsigned device) const {
  return devices[device].running == kNone ? now : devices[device].end;
}

Ticks ShardEngine::getReady(unsigned model) const {
  unsigned device = models[model].runs;
  return device == kNone ? now : devices[device].end;
}

int64_t ShardEngine::getUnitsLeft(unsigned model) const {
  return times->workload->models[model].getUnitCount() - models[model].begun;
}

Ticks ShardEngine::getUnit(unsigned model, int64_t behind) const {
  const std::vector<ShardTimes::Unit> &units = times->models[model].units;
  return units[(models[model].begun + behind) %
               static_cast<int64_t>(units.size())]
      .compute;
}

Ticks ShardEngine::getRemainingBatches(unsigned model) const {
  const ShardedModel &own = times->workload->models[model];
  auto units = static_cast<int64_t>(own.units.size());
  return (own.batches - models[model].begun / units) * getBatch(model);
}

Ticks ShardEngine::getRemaining(unsigned model) const {
  const ShardTimes::Model &own = times->models[model];
  auto units = static_cast<int64_t>(own.units.size());
  return getRemainingBatches(model) -
         own.units[models[model].begun % units].before;
}

const ShardUnit &ShardEngine::getNextUnit(unsigned model) const {
  const std::vector<ShardUnit> &units = times->workload->models[model].units;
  return units[models[model].begun % static_cast<int64_t>(units.size())];
}

/// Returns the number of the place on a device that holds the shard of the
/// model's next unit; -1 if none does.
int ShardEngine::findPlace(unsigned model, unsigned device) const {
  if (!isReusing || !hasUnits(model))
    return -1;
  int64_t shard = getNextUnit(model).shard;
  for (int number = 0; number < 2; ++number) {
    const Place &place = devices[device].places[number];
    if (place.model == model && place.shard == shard &&
        place.version == models[model].versions[shard])
      return number;
  }
  return -1;
}

int64_t ShardEngine::getBytes(unsigned model, unsigned device) const {
  const ShardUnit &unit = getNextUnit(model);
  return unit.bytesIn - (holdsShard(model, device) ? unit.shardBytes : 0);
}

Ticks ShardEngine::getFetch(unsigned model, unsigned device) const {
  return times->getFetch(getBytes(model, device));
}

bool ShardEngine::isFree(const Device &device) const {
  return device.running == kNone && (isBuffered || device.evicted <= now);
}

std::vector<int64_t> ShardEngine::getKey(unsigned asking) const {
  std::vector<std::vector<int64_t>> parts;
  for (auto [number, device] : llvm::enumerate(devices)) {
    std::vector<int64_t> &part = parts.emplace_back();
    bool isRunning = device.running != kNone, hasNext = device.next != kNone;
    part = {number == asking,
            device.mayBeAsked,
            static_cast<int64_t>(device.running),
            isRunning ? device.end - now : 0,
            static_cast<int64_t>(device.next),
            hasNext ? std::max<Ticks>(device.fetch.end - now, 0) : 0,
            isBuffered ? 0 : std::max<Ticks>(device.evicted - now, 0)};
    if (!isReusing)
      continue;
    // The key has only whether the place is the one in use, not which of the
    // two it is.
    part.push_back(hasNext && device.nextPlace == device.place);
    for (int side : {device.place, 1 - device.place}) {
      const Place &place = device.places[side];
      bool isCurrent =
          place.model != kNone &&
          place.version == models[place.model].versions[place.shard];
      part.push_back(isCurrent ? place.model : -1);
      part.push_back(isCurrent ? place.shard : -1);
    }
  }
  llvm::sort(parts);
  std::vector<int64_t> key;
  for (const Model &model : models)
    key.push_back(model.begun);
  for (const std::vector<int64_t> &part : parts)
    llvm::append_range(key, part);
  return key;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void ShardEngine::answer(unsigned number, unsigned model) {
  Device &device = devices[number];
  device.mayBeAsked = false;
  if (model == kNone)
    return;
  assert(hasUnits(model) && device.next == kNone);
  int place = findPlace(model, number);
  device.fetchBytes = getBytes(model, number);
  if (place < 0) {
    place = isBuffered ? 1 - device.place : 0;
    int64_t shard = getNextUnit(model).shard;
    device.places[place] = {model, shard, models[model].versions[shard]};
  }
  device.next = model;
  device.nextPlace = place;
  device.fetch = {now, now + times->getFetch(device.fetchBytes)};
  readBytes += device.fetchBytes;
  auto found = llvm::lower_bound(idle, model);
  if (found != idle.end() && *found == model)
    idle.erase(found);
}

/// Begins the unit that was fetched for a device.
void ShardEngine::begin(unsigned number) {
  Device &device = devices[number];
  Model &model = models[device.next];
  const ShardUnit &unit = getNextUnit(device.next);
  const std::vector<ShardTimes::Unit> &units = times->models[device.next].units;
  const ShardTimes::Unit &ticks =
      units[model.begun % static_cast<int64_t>(units.size())];
  device.running = device.next;
  device.next = kNone;
  device.place = device.nextPlace;
  device.end = now + ticks.compute;
  device.mayBeAsked = true;
  lastEnd = std::max(lastEnd, device.end);
  // The new version is valid at once: no other device reads the shard before
  // this unit has ended.
  if (unit.changesShard())
    device.places[device.place].version = ++model.versions[unit.shard];
  model.runs = number;
  Ticks leaves = std::max(device.end, device.evicted);
  device.evicted = leaves + ticks.eviction;
  if (trace)
    trace->push_back({number,
                      device.running,
                      model.begun,
                      device.fetchBytes,
                      device.fetch,
                      {now, device.end},
                      {leaves, device.evicted}});
  ++model.begun;
  --unbegun;
}

void ShardEngine::end(unsigned number) {
  Device &device = devices[number];
  unsigned model = device.running;
  models[model].runs = kNone;
  device.last = model;
  device.running = kNone;
  if (device.next != model && hasUnits(model))
    idle.insert(llvm::lower_bound(idle, model), model);
}

/// Begins all units that can begin. Returns whether there were any.
bool ShardEngine::beginUnits() {
  bool hasBegun = false;
  for (auto [number, device] : llvm::enumerate(devices)) {
    if (device.next == kNone || device.fetch.end > now || !isFree(device))
      continue;
    begin(number);
    hasBegun = true;
  }
  return hasBegun;
}

/// Returns a device that may be given a unit, preferably one that is idle;
/// kNone if there is none.
unsigned ShardEngine::findAsking() const {
  unsigned asking = kNone;
  for (auto [number, device] : llvm::enumerate(devices)) {
    if (!device.mayBeAsked || device.next != kNone)
      continue;
    if (isFree(device) && !idle.empty())
      return number;
    bool hasChoice = device.running != kNone && isBuffered &&
                     (!idle.empty() || hasUnits(device.running));
    if (hasChoice && asking == kNone)
      asking = number;
  }
  return asking;
}

/// Advances to the next time at which something happens. Returns false if
/// nothing happens any more.
bool ShardEngine::goOn() {
  std::optional<Ticks> next;
  auto happens = [&](Ticks at) { next = next ? std::min(*next, at) : at; };
  for (const Device &device : devices) {
    if (device.running != kNone)
      happens(device.end);
    else if (device.next != kNone)
      happens(device.fetch.end);
    else if (!isFree(device) && unbegun > 0)
      happens(device.evicted);
  }
  if (!next)
    return false;
  now = *next;
  for (auto [number, device] : llvm::enumerate(devices)) {
    device.mayBeAsked = true;
    if (device.running != kNone && device.end <= now)
      end(number);
  }
  return true;
}

unsigned ShardEngine::advance() {
  while (true) {
    if (beginUnits())
      continue;
    if (unsigned asking = findAsking(); asking != kNone)
      return asking;
    if (!goOn())
      return kNone;
  }
}
