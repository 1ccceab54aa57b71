//===- SpillSchedule.cpp - The tasks of a step and what they touch --------===//

#include "Spill/SpillSchedule.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

namespace {
/// An object that tasks use, such as a value of one micro-batch, or the
/// parameters of a group.
struct Object {
  int64_t span = -1; ///< the last span; -1 if none yet
  bool isDirty = false;
};

/// How a task uses an object.
struct Use {
  bool writes = false;
  /// Whether the object leaves memory between its previous use and this one,
  /// unless the two tasks follow each other directly.
  bool isAfterGap = false;
  /// Whether an object without earlier use is in the store.
  bool isInStore = false;
};

/// The costs of a group's tasks, and the bytes of the objects that they use.
struct GroupFacts {
  SpillNeeds needs;
  double forward = 0, backward = 0, update = 0;
  int64_t trained = 0, frozen = 0, shared = 0, gradients = 0, state = 0;
  int64_t saved = 0, spilled = 0; ///< values that no later group reads
  /// The group's own values that later groups read, and the values of earlier
  /// groups that its forward reads.
  llvm::SmallVector<int64_t, 4> leaving, entering;
};
} // namespace

namespace mlir::hfta::planning {
class ScheduleBuilder {
public:
  ScheduleBuilder(const SpillModel &model, const SpillIndex &index,
                  const SpillPlan &plan, SpillSchedule &schedule)
      : model(model), index(index), plan(plan), schedule(schedule) {}

  void build();

private:
  void collectFacts();
  void addTurn(int64_t turn, int64_t copies);
  void addForward(int64_t group, int64_t microBatch);
  void addBackward(int64_t group, int64_t microBatch);
  void addUpdate(int64_t group);
  void begin(SpillActivity activity, int64_t group, int64_t microBatch,
             double seconds);
  void use(Object &object, int64_t bytes, Use use);
  void useParameters(int64_t group, bool writes, bool isAfterGap);
  void useValue(int64_t value, int64_t microBatch, Use how) {
    use(values[value * model.microBatches + microBatch],
        model.values[value].bytes * copies, how);
  }
  void useGradient(int64_t value, int64_t microBatch, bool isAfterGap) {
    use(gradientsOfValues[value * model.microBatches + microBatch],
        model.values[value].bytes * copies, {true, isAfterGap});
  }
  bool isStreamedBetween(int64_t first, int64_t second) const;
  void close();
  void sumUp();

  const SpillModel &model;
  const SpillIndex &index;
  const SpillPlan &plan;
  SpillSchedule &schedule;
  std::vector<GroupFacts> facts;
  std::vector<int64_t> groupsOfBlocks;
  /// For each value, the last group that has used it so far, in forward or
  /// backward.
  std::vector<int64_t> lastUsers;
  int64_t turn = 0, copies = 0, turns = 1;
  std::vector<Object> values, gradientsOfValues;  ///< by value and micro-batch
  std::vector<Object> saved, spilled, recomputed; ///< by group and micro-batch
  std::vector<Object> trained, frozen, gradients, state; ///< by group
};
} // namespace mlir::hfta::planning

void ScheduleBuilder::collectFacts() {
  for (auto [number, group] : llvm::enumerate(plan.groups)) {
    GroupFacts &one = facts.emplace_back();
    one.needs = findNeeds(model, index, plan.values, group);
    int64_t firstOp = model.getFirstOp(group.firstBlock);
    int64_t endOp = model.blocks[group.endBlock - 1].endOp;
    for (int64_t op = firstOp; op < endOp; ++op) {
      one.forward += model.ops[op].seconds;
      for (int64_t value : model.ops[op].operands)
        if (index.getBlockOf(value) < group.firstBlock &&
            !llvm::is_contained(one.entering, value))
          one.entering.push_back(value);
    }
    for (int64_t value = index.firstValues[firstOp];
         value < index.firstValues[endOp]; ++value) {
      if (index.isReadFrom(value, group.endBlock))
        one.leaving.push_back(value);
      else if (plan.values[value] == Keep::save)
        one.saved += model.values[value].bytes;
      else if (plan.values[value] == Keep::spill)
        one.spilled += model.values[value].bytes;
    }
    for (int64_t block = group.firstBlock; block < group.endBlock; ++block) {
      const SpillBlock &all = model.blocks[block];
      one.backward += all.backward;
      one.update += all.update;
      one.trained += all.parameterBytes;
      one.frozen += all.frozenBytes;
      one.shared += all.sharedBytes;
      one.gradients += all.gradientBytes;
      one.state += all.stateBytes;
      groupsOfBlocks.push_back(static_cast<int64_t>(number));
    }
  }
}

void ScheduleBuilder::begin(SpillActivity activity, int64_t group,
                            int64_t microBatch, double seconds) {
  schedule.tasks.push_back({activity, turn, group, microBatch,
                            toTicks(seconds * static_cast<double>(copies))});
}

void ScheduleBuilder::use(Object &object, int64_t bytes, Use use) {
  if (bytes == 0)
    return;
  std::vector<SpillSpan> &spans = schedule.spans;
  auto task = static_cast<int64_t>(schedule.tasks.size()) - 1;
  bool hasLeft =
      object.span >= 0 && use.isAfterGap && spans[object.span].last < task - 1;
  if (hasLeft) {
    spans[object.span].isWritten = object.isDirty;
    object.isDirty = false;
  }
  if (hasLeft || object.span < 0) {
    bool isRead = hasLeft || use.isInStore;
    spans.push_back({task, task, bytes, isRead, false, object.span});
    object.span = static_cast<int64_t>(spans.size()) - 1;
  }
  spans[object.span].last = task;
  object.isDirty |= use.writes;
}

void ScheduleBuilder::useParameters(int64_t group, bool writes,
                                    bool isAfterGap) {
  if (plan.groups[group].residency >= Residency::parameters)
    return;
  const GroupFacts &one = facts[group];
  // If there is a single turn, a step ends with the first group's update, whose
  // parameters are still in memory when the next step begins.
  bool isInStore = turns > 1 || group > 0;
  use(trained[group], one.trained * copies, {writes, isAfterGap, isInStore});
  if (!writes)
    use(frozen[group], one.frozen * copies + one.shared,
        {false, isAfterGap, isInStore});
}

/// Returns whether the values that cross the cuts between two groups are in the
/// store until they are needed.
bool ScheduleBuilder::isStreamedBetween(int64_t first, int64_t second) const {
  for (int64_t group = first + 1; group <= second; ++group)
    if (plan.groups[group].streamsInputs)
      return true;
  return false;
}

void ScheduleBuilder::addForward(int64_t group, int64_t microBatch) {
  const GroupFacts &one = facts[group];
  begin(SpillActivity::forward, group, microBatch, one.forward);
  useParameters(group, false, false);
  for (int64_t value : one.entering)
    useValue(value, microBatch,
             {false, plan.values[value] != Keep::save &&
                         isStreamedBetween(lastUsers[value], group)});
  for (int64_t value : one.leaving)
    useValue(value, microBatch, {true});
  int64_t number = group * model.microBatches + microBatch;
  use(saved[number], one.saved * copies, {true});
  use(spilled[number], one.spilled * copies, {true});
}

/// Adds the recomputation of a micro-batch, if there is any, and its backward.
void ScheduleBuilder::addBackward(int64_t group, int64_t microBatch) {
  const GroupFacts &one = facts[group];
  const SpillGroup &planned = plan.groups[group];
  int64_t number = group * model.microBatches + microBatch;
  auto touch = [&] {
    useParameters(group, false,
                  microBatch == 0 && planned.residency != Residency::held);
    use(saved[number], one.saved * copies, {});
    use(spilled[number], one.spilled * copies, {false, true});
    use(recomputed[number], one.needs.recomputedBytes * copies, {true});
  };
  auto read = [&](llvm::ArrayRef<int64_t> list) {
    for (int64_t value : list)
      useValue(value, microBatch, {false, plan.values[value] == Keep::spill});
  };
  if (one.needs.recompute > 0) {
    begin(SpillActivity::recompute, group, microBatch, one.needs.recompute);
    touch();
    read(one.needs.byRecompute);
    for (int64_t value : one.needs.ownByRecompute)
      if (llvm::is_contained(one.leaving, value))
        read(value);
  }
  begin(SpillActivity::backward, group, microBatch, one.backward);
  touch();
  read(one.needs.byBackward);
  int64_t endBlock = planned.endBlock;
  for (int64_t value : one.leaving) {
    bool isRead = false;
    for (int64_t block = planned.firstBlock; block < endBlock; ++block)
      isRead |= llvm::is_contained(model.blocks[block].backwardReads, value);
    if (isRead && plan.values[value] != Keep::recompute)
      read(value);
    if (index.lastForwards[value] >= endBlock)
      useGradient(value, microBatch,
                  isStreamedBetween(group, lastUsers[value]));
  }
  for (int64_t value : one.entering)
    useGradient(value, microBatch, isStreamedBetween(group, lastUsers[value]));
  use(gradients[group], one.gradients * copies, {true});
}

void ScheduleBuilder::addUpdate(int64_t group) {
  const GroupFacts &one = facts[group];
  const SpillGroup &planned = plan.groups[group];
  if (one.update == 0 && one.trained == 0 && one.state == 0)
    return;
  begin(SpillActivity::update, group, 0, one.update);
  useParameters(group, true, model.clips);
  if (planned.residency != Residency::everything)
    use(state[group], one.state * copies, {true, true, true});
  use(gradients[group], one.gradients * copies,
      {false, model.clips && planned.spillsGradients});
}

void ScheduleBuilder::addTurn(int64_t number, int64_t count) {
  turn = number;
  copies = count;
  auto groups = static_cast<int64_t>(plan.groups.size());
  values.assign(model.values.size() * model.microBatches, Object());
  gradientsOfValues = values;
  saved.assign(groups * model.microBatches, Object());
  spilled = recomputed = saved;
  trained.assign(groups, Object());
  frozen = gradients = state = trained;
  lastUsers.assign(model.values.size(), 0);
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t micro = 0; micro < model.microBatches; ++micro)
      addForward(group, micro);
    for (int64_t value : facts[group].entering)
      lastUsers[value] = group;
    for (int64_t value : facts[group].leaving)
      lastUsers[value] = group;
  }
  for (int64_t group = groups - 1; group >= 0; --group) {
    for (int64_t micro = 0; micro < model.microBatches; ++micro)
      addBackward(group, micro);
    for (int64_t value : facts[group].entering)
      lastUsers[value] = group;
    if (!model.clips)
      addUpdate(group);
  }
  for (int64_t group = groups - 1; model.clips && group >= 0; --group)
    addUpdate(group);
  close();
}

/// Marks the spans at the end of a turn as written if their objects were
/// changed and are needed later.
void ScheduleBuilder::close() {
  for (const std::vector<Object> &objects : {trained, state})
    for (const Object &object : objects)
      if (object.span >= 0)
        schedule.spans[object.span].isWritten = object.isDirty;
}

void ScheduleBuilder::sumUp() {
  int64_t resident = model.fixedBytes + plan.copies * model.workspaceBytes;
  for (auto [group, one] : llvm::zip_equal(plan.groups, facts)) {
    if (group.residency >= Residency::parameters)
      resident += model.copies * (one.trained + one.frozen) + one.shared;
    if (group.residency == Residency::everything)
      resident += model.copies * one.state;
  }
  std::vector<int64_t> &occupied = schedule.occupied;
  occupied.assign(schedule.tasks.size() + 1, 0);
  for (const SpillSpan &span : schedule.spans) {
    occupied[span.first] += span.bytes;
    occupied[span.last + 1] -= span.bytes;
    if (span.isRead) {
      schedule.readBytes += span.bytes;
      schedule.readTicks += schedule.getTransferTicks(false, span.bytes);
    }
    if (span.isWritten) {
      schedule.writtenBytes += span.bytes;
      schedule.writeTicks += schedule.getTransferTicks(true, span.bytes);
    }
  }
  occupied.pop_back();
  for (auto [task, bytes] : llvm::zip_equal(schedule.tasks, occupied)) {
    resident += bytes;
    bytes = resident;
    schedule.computeTicks += task.ticks;
    if (bytes > schedule.leastBytes) {
      schedule.leastBytes = bytes;
      schedule.leastGroup = task.group;
    }
  }
}

void ScheduleBuilder::build() {
  collectFacts();
  turns = (model.copies + plan.copies - 1) / plan.copies;
  for (int64_t number = 0; number < turns; ++number)
    addTurn(number, std::min(plan.copies, model.copies - number * plan.copies));
  sumUp();
}

SpillSchedule::SpillSchedule(const SpillModel &model, const SpillIndex &index,
                             const SpillPlan &plan)
    : store(model.store) {
  ScheduleBuilder(model, index, plan, *this).build();
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

Ticks SpillSchedule::getTransferTicks(bool isWrite, int64_t bytes) const {
  double rate = isWrite ? store.writeBytesPerSecond : store.readBytesPerSecond;
  return toTicks(store.secondsPerTransfer + static_cast<double>(bytes) / rate);
}

Ticks SpillSchedule::getLeastTicks() const {
  return store.isShared ? std::max(computeTicks, readTicks + writeTicks)
                        : std::max({computeTicks, readTicks, writeTicks});
}

std::vector<int64_t> SpillSchedule::placeFetches(std::vector<int64_t> &occupied,
                                                 int64_t budget,
                                                 int64_t writeWindow) const {
  std::vector<int64_t> begins(spans.size(), -1);
  int64_t floor = 0;
  for (auto [number, span] : llvm::enumerate(spans)) {
    if (!span.isRead)
      continue;
    if (span.before >= 0) {
      const SpillSpan &before = spans[span.before];
      floor = std::max(floor,
                       before.last + 1 + (before.isWritten ? writeWindow : 0));
    }
    int64_t begin = span.first;
    while (begin > floor && occupied[begin - 1] + span.bytes <= budget)
      occupied[--begin] += span.bytes;
    begins[number] = begin;
    floor = std::max(floor, begin);
  }
  return begins;
}

namespace {
/// The progress of a simulated step.
class StepRunner {
public:
  StepRunner(const SpillSchedule &schedule, int64_t writeWindow,
             llvm::ArrayRef<int64_t> begins, std::vector<SpillEvent> *events)
      : schedule(schedule), writeWindow(writeWindow), begins(begins),
        events(events), arrivals(schedule.tasks.size(), 0),
        allocates(schedule.tasks.size(), false),
        written(schedule.tasks.size()) {
    for (auto [number, span] : llvm::enumerate(schedule.spans)) {
      if (!span.isRead)
        allocates[span.first] = true;
      if (span.isWritten)
        written[span.last].push_back(number);
    }
  }

  Ticks run();

private:
  /// Updates `lastRelease` to the time at which a task can use the memory of
  /// bytes that were written before it.
  void release(int64_t task) {
    int64_t last = task - writeWindow - 1;
    for (; released <= last; ++released)
      for (size_t number : written[released])
        lastRelease = std::max(lastRelease, ends[number]);
  }
  void fetch(int64_t task, Ticks now);
  void write(int64_t task, Ticks now);
  void record(int64_t task, SpillActivity activity, Ticks begin, Ticks end,
              int64_t bytes);

  const SpillSchedule &schedule;
  int64_t writeWindow;
  llvm::ArrayRef<int64_t> begins;
  std::vector<SpillEvent> *events;
  /// When all bytes that each task reads have arrived.
  std::vector<Ticks> arrivals;
  std::vector<bool> allocates;
  /// The spans that are written after each task.
  std::vector<llvm::SmallVector<size_t, 2>> written;
  std::vector<Ticks> ends = std::vector<Ticks>(schedule.spans.size(), 0);
  size_t nextFetch = 0;
  int64_t released = 0;
  Ticks lastRelease = 0, readFree = 0, writeFree = 0;
};
} // namespace

void StepRunner::record(int64_t task, SpillActivity activity, Ticks begin,
                        Ticks end, int64_t bytes) {
  if (!events)
    return;
  const SpillTask &of = schedule.tasks[task];
  events->push_back({activity, of.turn, of.group, of.microBatch,
                     toSeconds(begin), toSeconds(end), bytes});
}

/// Begins all fetches that may begin with a task.
void StepRunner::fetch(int64_t task, Ticks now) {
  Ticks &isFree = schedule.store.isShared ? writeFree : readFree;
  for (; nextFetch < begins.size() && begins[nextFetch] <= task; ++nextFetch) {
    if (begins[nextFetch] < 0)
      continue;
    const SpillSpan &span = schedule.spans[nextFetch];
    Ticks begin = std::max({now, isFree, lastRelease});
    if (span.before >= 0)
      begin = std::max(begin, ends[span.before]);
    isFree = begin + schedule.getTransferTicks(false, span.bytes);
    arrivals[span.first] = std::max(arrivals[span.first], isFree);
    record(span.first, SpillActivity::read, begin, isFree, span.bytes);
  }
}

void StepRunner::write(int64_t task, Ticks now) {
  for (size_t number : written[task]) {
    const SpillSpan &span = schedule.spans[number];
    Ticks begin = std::max(now, writeFree);
    writeFree = begin + schedule.getTransferTicks(true, span.bytes);
    ends[number] = writeFree;
    record(task, SpillActivity::write, begin, writeFree, span.bytes);
  }
}

Ticks StepRunner::run() {
  Ticks now = 0;
  for (auto [number, task] : llvm::enumerate(schedule.tasks)) {
    auto position = static_cast<int64_t>(number);
    release(position);
    fetch(position, now);
    Ticks begin = std::max(now, arrivals[number]);
    if (allocates[number])
      begin = std::max(begin, lastRelease);
    now = begin + task.ticks;
    record(position, task.activity, begin, now, 0);
    write(position, now);
  }
  return std::max(now, writeFree);
}

Ticks SpillSchedule::run(int64_t budget, int64_t writeWindow,
                         std::vector<SpillEvent> *events, int64_t *peak) const {
  std::vector<int64_t> lying = occupied;
  auto count = static_cast<int64_t>(tasks.size());
  for (const SpillSpan &span : spans)
    for (int64_t task = span.last + 1;
         span.isWritten && task < std::min(count, span.last + 1 + writeWindow);
         ++task)
      lying[task] += span.bytes;
  if (*llvm::max_element(lying) > budget)
    return kNoTicks;
  std::vector<int64_t> begins = placeFetches(lying, budget, writeWindow);
  if (peak)
    *peak = *llvm::max_element(lying);
  return StepRunner(*this, writeWindow, begins, events).run();
}
