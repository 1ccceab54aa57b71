//===- Simulator.cpp - Simulates queues, machines and channels ------------===//

#include "Hfta/Planning/Common/Simulator.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <queue>
#include <set>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static constexpr double kTicksPerSecond = 1e12;
/// The longest time, a thousand seconds; thousands of such times can be added
/// without overflow.
static constexpr double kMostTicks = 1e15;

Ticks planning::toTicks(double seconds) {
  double ticks = seconds * kTicksPerSecond;
  if (!(ticks > 0))
    return 0;
  return std::llround(std::min(ticks, kMostTicks));
}

double planning::toSeconds(Ticks ticks) {
  return static_cast<double>(ticks) / kTicksPerSecond;
}

unsigned Simulation::add(SimulatedAction action) {
  if (action.queue != kNone)
    queues[action.queue].actions.push_back(actions.size());
  actions.push_back(std::move(action));
  return actions.size() - 1;
}

unsigned Simulation::add(SimulatedMessage message) {
  messages.push_back(std::move(message));
  return messages.size() - 1;
}

unsigned Simulation::add(SimulatedChannel channel) {
  channels.push_back(channel);
  return channels.size() - 1;
}

Ticks SimulationResult::getIdle(unsigned queue) const {
  Ticks first = -1, last = 0;
  for (auto [interval, ranOn] : llvm::zip_equal(actions, queues)) {
    if (!interval.hasBegun() || ranOn != queue)
      continue;
    first = first < 0 ? interval.begin : std::min(first, interval.begin);
    last = std::max(last, interval.end);
  }
  return first < 0 ? 0 : last - first - busy[queue];
}

//===----------------------------------------------------------------------===//
// Processors
//===----------------------------------------------------------------------===//

namespace {
/// The processors of a machine and the actions that run on them. All running
/// actions advance at the same rate. `clock` is the progress of an imaginary
/// action that has been running since the beginning.
class Processors {
public:
  explicit Processors(int64_t count) : count(count) {}

  void advance(Ticks now) {
    if (!running.empty())
      clock = std::min(clock + slowDown(now - last), running.begin()->first);
    last = now;
  }
  /// Begins an action that needs `work` ticks. Call `advance` first.
  void begin(unsigned action, Ticks work) {
    running.insert({clock + work, action});
  }
  /// Returns when the next action ends, unless another one begins before.
  std::optional<Ticks> getNextEnd() const {
    if (running.empty())
      return std::nullopt;
    return last + stretch(running.begin()->first - clock);
  }
  /// Ends the actions that end at the time that `getNextEnd` returned.
  void end(Ticks now, llvm::SmallVectorImpl<unsigned> &ended) {
    clock = running.begin()->first;
    last = now;
    while (!running.empty() && running.begin()->first == clock) {
      ended.push_back(running.begin()->second);
      running.erase(running.begin());
    }
  }
  /// Returns a lower bound for the end of a running action: when it would end
  /// if it had a processor to itself.
  Ticks getLeastEnd(unsigned action, Ticks now) const {
    for (auto [end, running] : running)
      if (running == action)
        return std::max(now, last + end - clock);
    return now;
  }

private:
  bool isShared() const {
    return count > 0 && static_cast<int64_t>(running.size()) > count;
  }
  double getRate() const {
    return static_cast<double>(count) / static_cast<double>(running.size());
  }
  Ticks slowDown(Ticks time) const {
    return isShared() ? static_cast<Ticks>(
                            std::floor(static_cast<double>(time) * getRate()))
                      : time;
  }
  Ticks stretch(Ticks work) const {
    return isShared() ? static_cast<Ticks>(
                            std::ceil(static_cast<double>(work) / getRate()))
                      : work;
  }

  int64_t count;
  Ticks clock = 0, last = 0;
  /// The running actions, sorted by the value of `clock` at which they end.
  std::set<std::pair<Ticks, unsigned>> running;
};
} // namespace

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

namespace {
struct Event {
  Ticks time;
  bool isMessage;  ///< a message arrives; otherwise an action of a machine ends
  unsigned number; ///< number of the message, or of the machine
  /// The machine's version when this event was predicted. The event is invalid
  /// if the version has changed since.
  uint64_t version;

  bool operator>(const Event &other) const {
    return std::tie(time, isMessage, number, version) >
           std::tie(other.time, other.isMessage, other.number, other.version);
  }
};

struct MessageState {
  size_t missing = 0;      ///< actions that must still end before it
  size_t unread = 0;       ///< readers that haven't ended
  bool isReleased = false; ///< whether its slot is free again
  /// The neighbouring messages with the same slot.
  unsigned before = kNone, next = kNone;
  llvm::SmallVector<unsigned, 2> readers;
};

struct ActionState {
  size_t missing = 0; ///< number of actions and messages that it waits for
  llvm::SmallVector<unsigned, 2> followers; ///< actions that wait for it
  llvm::SmallVector<unsigned, 2> sends;
};

struct QueueState {
  size_t next = 0; ///< index in the queue's list
  bool isRunning = false;
};

struct ChannelState {
  bool isBusy = false;
  /// The messages that can be sent, sorted by the time since which they can be,
  /// then by number.
  std::set<std::pair<Ticks, unsigned>> waiting;
};

class Engine : public SimulationState {
public:
  Engine(const Simulation &plan, const ActionChooser *choose)
      : plan(plan), choose(choose), actions(plan.actions.size()),
        messages(plan.messages.size()), queues(plan.queues.size()),
        channels(plan.channels.size()), memory(plan.memoryCount, 0),
        versions(plan.machines.size(), 0) {
    for (const SimulatedMachine &machine : plan.machines)
      machines.emplace_back(machine.processors);
    result.actions.resize(plan.actions.size());
    result.queues.resize(plan.actions.size(), kNone);
    result.messages.resize(plan.messages.size());
    result.busy.resize(plan.queues.size(), 0);
    result.peaks.resize(plan.memoryCount, 0);
    connect();
  }

  SimulationResult run();

  Ticks getTime() const override { return now; }
  bool hasEnded(unsigned action) const override {
    return isDone(result.actions[action]);
  }
  bool canBegin(unsigned action) const override {
    return actions[action].missing == 0 && !result.actions[action].hasBegun();
  }
  std::optional<Ticks> getArrival(unsigned action) const override;

private:
  bool isDone(const Interval &interval) const {
    return interval.end >= 0 && interval.end <= now;
  }
  bool hasArrived(unsigned message) const {
    return isDone(result.messages[message]);
  }
  bool hasPlace(unsigned message) const {
    unsigned before = messages[message].before;
    return before == kNone || messages[before].isReleased;
  }

  void connect();
  void handle(const Event &event);
  /// Called when all inputs of the action have arrived.
  void wake(unsigned action) {
    if (!choose)
      readyQueues.insert(plan.actions[action].queue);
  }
  void endAction(unsigned action);
  void endMessage(unsigned message);
  void read(unsigned message);
  void release(unsigned message);
  void submit(unsigned message);
  void beginMessages();
  bool beginActions();
  void beginAction(unsigned queue, unsigned action);
  unsigned getNext(unsigned queue) const;
  void foresee(unsigned machine);
  void change(llvm::ArrayRef<MemoryChange> changes, bool atEnd);
  std::optional<Ticks> getActionEnd(unsigned action) const;
  std::optional<Ticks> getMessageEnd(unsigned message) const;
  Ticks getDuration(unsigned message) const;

  const Simulation &plan;
  const ActionChooser *choose;
  std::vector<ActionState> actions;
  std::vector<MessageState> messages;
  std::vector<QueueState> queues;
  std::vector<ChannelState> channels;
  std::vector<Processors> machines;
  std::vector<int64_t> memory;
  std::vector<uint64_t> versions;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::set<unsigned> readyChannels, readyQueues;
  SimulationResult result;
  Ticks now = 0;
};
} // namespace

/// Collects, for each action and message, those that wait for it.
void Engine::connect() {
  for (auto [number, action] : llvm::enumerate(plan.actions)) {
    actions[number].missing = action.after.size() + action.messages.size();
    for (unsigned before : action.after)
      actions[before].followers.push_back(number);
    for (unsigned message : action.messages)
      messages[message].readers.push_back(number);
  }
  std::vector<unsigned> last(plan.slotCount, kNone);
  for (auto [number, message] : llvm::enumerate(plan.messages)) {
    MessageState &state = messages[number];
    state.missing = message.after.size();
    state.unread = state.readers.size();
    for (unsigned before : message.after)
      actions[before].sends.push_back(number);
    if (message.slot == kNone)
      continue;
    state.before = last[message.slot];
    if (state.before != kNone)
      messages[state.before].next = number;
    last[message.slot] = number;
  }
  for (unsigned queue = 0; queue < queues.size(); ++queue)
    readyQueues.insert(queue);
  for (unsigned message = 0; message < messages.size(); ++message)
    if (messages[message].missing == 0)
      submit(message);
}

SimulationResult Engine::run() {
  do {
    beginMessages();
    // Actions and messages that take no time end before others begin.
    while (!events.empty() && events.top().time == now) {
      Event event = events.top();
      events.pop();
      handle(event);
      beginMessages();
    }
    if (beginActions())
      continue;
    if (events.empty())
      break;
    now = events.top().time;
  } while (true);
  result.makespan = now;
  if (!choose)
    result.circle = findCircle(plan, result);
  return std::move(result);
}

void Engine::handle(const Event &event) {
  if (event.isMessage)
    return endMessage(event.number);
  if (event.version != versions[event.number])
    return;
  llvm::SmallVector<unsigned> ended;
  machines[event.number].end(now, ended);
  for (unsigned action : ended)
    endAction(action);
  foresee(event.number);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

void Engine::endAction(unsigned action) {
  unsigned queue = result.queues[action];
  Interval &interval = result.actions[action];
  interval.end = now;
  result.busy[queue] += interval.end - interval.begin;
  queues[queue].isRunning = false;
  readyQueues.insert(queue);
  change(plan.actions[action].memory, /*atEnd=*/true);
  for (unsigned follower : actions[action].followers)
    if (--actions[follower].missing == 0)
      wake(follower);
  for (unsigned message : plan.actions[action].messages)
    read(message);
  for (unsigned message : actions[action].sends)
    if (--messages[message].missing == 0)
      submit(message);
}

void Engine::endMessage(unsigned message) {
  unsigned channel = plan.messages[message].channel;
  channels[channel].isBusy = false;
  readyChannels.insert(channel);
  change(plan.messages[message].memory, /*atEnd=*/true);
  for (unsigned reader : messages[message].readers)
    if (--actions[reader].missing == 0)
      wake(reader);
  if (messages[message].unread == 0)
    release(message);
}

/// Called when one of the message's readers has ended.
void Engine::read(unsigned message) {
  if (--messages[message].unread == 0)
    release(message);
}

void Engine::release(unsigned message) {
  messages[message].isReleased = true;
  unsigned next = messages[message].next;
  if (next != kNone && messages[next].missing == 0)
    submit(next);
}

/// Called when all actions that send the message have ended, and again when its
/// slot becomes free.
void Engine::submit(unsigned message) {
  unsigned channel = plan.messages[message].channel;
  readyChannels.insert(channel);
  if (plan.channels[channel].isOrdered) {
    // It keeps the position in the channel's order that it got when it was
    // first submitted.
    for (auto [time, waiting] : channels[channel].waiting)
      if (waiting == message)
        return;
  } else if (!hasPlace(message)) {
    return;
  }
  channels[channel].waiting.insert({now, message});
}

//===----------------------------------------------------------------------===//
// Beginnings
//===----------------------------------------------------------------------===//

void Engine::beginMessages() {
  for (unsigned channel : readyChannels) {
    ChannelState &state = channels[channel];
    if (state.isBusy || state.waiting.empty())
      continue;
    unsigned message = state.waiting.begin()->second;
    if (!hasPlace(message))
      continue;
    state.waiting.erase(state.waiting.begin());
    state.isBusy = true;
    Ticks end = now + getDuration(message);
    result.messages[message] = {now, end};
    change(plan.messages[message].memory, /*atEnd=*/false);
    events.push({end, /*isMessage=*/true, message, 0});
  }
  readyChannels.clear();
}

Ticks Engine::getDuration(unsigned message) const {
  const SimulatedMessage &sent = plan.messages[message];
  const SimulatedChannel &channel = plan.channels[sent.channel];
  double seconds = channel.latency;
  if (channel.bytesPerSecond > 0)
    seconds += static_cast<double>(sent.bytes) / channel.bytesPerSecond;
  return toTicks(seconds);
}

/// Begins all actions that can begin. Returns whether there were any.
bool Engine::beginActions() {
  bool hasBegun = false;
  if (choose)
    for (unsigned queue = 0; queue < queues.size(); ++queue)
      readyQueues.insert(queue);
  for (unsigned queue : readyQueues) {
    unsigned action = queues[queue].isRunning ? kNone : getNext(queue);
    if (action == kNone)
      continue;
    beginAction(queue, action);
    hasBegun = true;
  }
  readyQueues.clear();
  return hasBegun;
}

/// Returns the next action of a queue; kNone if none can begin.
unsigned Engine::getNext(unsigned queue) const {
  if (choose)
    return (*choose)(*this, queue);
  const std::vector<unsigned> &list = plan.queues[queue].actions;
  size_t next = queues[queue].next;
  return next < list.size() && canBegin(list[next]) ? list[next] : kNone;
}

void Engine::beginAction(unsigned queue, unsigned action) {
  assert(canBegin(action) && (plan.actions[action].queue == kNone ||
                              plan.actions[action].queue == queue));
  queues[queue].isRunning = true;
  ++queues[queue].next;
  result.queues[action] = queue;
  result.actions[action].begin = now;
  change(plan.actions[action].memory, /*atEnd=*/false);
  unsigned machine = plan.queues[queue].machine;
  machines[machine].advance(now);
  machines[machine].begin(action, toTicks(plan.actions[action].seconds));
  foresee(machine);
}

void Engine::foresee(unsigned machine) {
  ++versions[machine];
  if (std::optional<Ticks> end = machines[machine].getNextEnd())
    events.push({*end, /*isMessage=*/false, machine, versions[machine]});
}

void Engine::change(llvm::ArrayRef<MemoryChange> changes, bool atEnd) {
  for (const MemoryChange &change : changes) {
    int64_t &used = memory[change.memory];
    used += atEnd ? change.atEnd : change.atBegin;
    result.peaks[change.memory] = std::max(result.peaks[change.memory], used);
  }
}

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

std::optional<Ticks> Engine::getActionEnd(unsigned action) const {
  const Interval &interval = result.actions[action];
  if (interval.end >= 0)
    return interval.end;
  if (!interval.hasBegun())
    return std::nullopt;
  unsigned machine = plan.queues[result.queues[action]].machine;
  return machines[machine].getLeastEnd(action, now);
}

std::optional<Ticks> Engine::getMessageEnd(unsigned message) const {
  const Interval &interval = result.messages[message];
  if (interval.hasBegun())
    return interval.end;
  if (!hasPlace(message))
    return std::nullopt;
  Ticks sent = now;
  for (unsigned action : plan.messages[message].after) {
    std::optional<Ticks> end = getActionEnd(action);
    if (!end)
      return std::nullopt;
    sent = std::max(sent, *end);
  }
  return sent + getDuration(message);
}

std::optional<Ticks> Engine::getArrival(unsigned action) const {
  Ticks arrival = 0;
  for (unsigned before : plan.actions[action].after) {
    std::optional<Ticks> end = getActionEnd(before);
    if (!end)
      return std::nullopt;
    arrival = std::max(arrival, *end);
  }
  for (unsigned message : plan.actions[action].messages) {
    std::optional<Ticks> end = getMessageEnd(message);
    if (!end)
      return std::nullopt;
    arrival = std::max(arrival, *end);
  }
  return arrival;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

SimulationResult planning::simulate(const Simulation &simulation) {
  return Engine(simulation, /*choose=*/nullptr).run();
}

SimulationResult planning::simulate(const Simulation &simulation,
                                    ActionChooser choose) {
  return Engine(simulation, &choose).run();
}
