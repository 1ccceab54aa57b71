//===- PipelineSimulation.cpp - Simulates orders with times ---------------===//

#include "Hfta/Planning/Pipelines/PipelineSimulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

PipelineWork PipelineWork::getEqual(int64_t stages, double forward,
                                    double backwardInput, double backwardWeight,
                                    int64_t bytes) {
  PipelineWork work;
  StageWork stage;
  stage.forward = forward;
  stage.backwardInput = backwardInput;
  stage.backwardWeight = backwardWeight;
  work.stages.assign(stages, stage);
  for (int64_t from = 0; from + 1 < stages; ++from)
    work.messages.push_back({from, from + 1, bytes, bytes});
  return work;
}

static double getSeconds(const StageWork &work, ActionKind kind) {
  switch (kind) {
  case ActionKind::forward:
    return work.forward;
  case ActionKind::recompute:
    return work.recompute;
  case ActionKind::backward:
    return work.backwardInput + work.backwardWeight;
  case ActionKind::backwardInput:
    return work.backwardInput;
  case ActionKind::backwardWeight:
    return work.backwardWeight;
  }
  llvm_unreachable("all kinds are listed");
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
/// The simulated actions that one action consists of. There are several if sums
/// of gradients begin before its end.
struct Pieces {
  llvm::SmallVector<unsigned, 1> numbers;
  bool exist() const { return !numbers.empty(); }
  unsigned first() const { return numbers.front(); }
  unsigned last() const { return numbers.back(); }
};

class RunBuilder {
public:
  RunBuilder(const Order &order, const PipelineWork &work,
             const WorkerPlaces &places, const PipelineTransport &transport)
      : shape(order.shape), work(work), places(places), transport(transport),
        workers(shape.getWorkers()),
        pieces(shape.getStages() * shape.microBatches * kKinds),
        lastBackward(shape.getStages()) {
    run.order = order;
    for (int64_t worker = 0; worker < workers; ++worker)
      microBatches.push_back(shape.getMicroBatches(worker));
  }

  PipelineRun build();

private:
  static constexpr int64_t kKinds = 5;

  void addQueues();
  void addList(int64_t worker);
  void addAction(int64_t worker, const Action &action, bool isLast);
  void orderActions(int64_t stage, int64_t microBatch);
  void addMessage(const StageMessage &message, int64_t microBatch,
                  bool isGradient);
  void addSums(int64_t stage);
  void addSum(int64_t stage, size_t block, int64_t bytes);
  void addUpdate(int64_t worker, int64_t stage);

  unsigned add(SimulatedAction action, const SimulatedStep &step);
  unsigned add(SimulatedMessage message, const SimulatedSend &send);
  unsigned getChannel(int64_t from, int64_t to);
  unsigned getSlot(const SimulatedSend &send, size_t kind);
  int64_t getDevice(int64_t worker) const {
    return places.devices.empty() ? worker : places.devices[worker];
  }
  Pieces &get(ActionKind kind, int64_t stage, int64_t microBatch) {
    return pieces[(stage * shape.microBatches + microBatch) * kKinds +
                  static_cast<int64_t>(kind)];
  }
  /// Returns the action that computes the gradients for the previous stage.
  Pieces &getGradient(int64_t stage, int64_t microBatch) {
    Pieces &whole = get(ActionKind::backward, stage, microBatch);
    return whole.exist() ? whole
                         : get(ActionKind::backwardInput, stage, microBatch);
  }

  const PipelineShape &shape;
  const PipelineWork &work;
  const WorkerPlaces &places;
  const PipelineTransport &transport;
  int64_t workers;
  std::vector<llvm::SmallVector<int64_t>> microBatches; ///< by worker
  std::vector<Pieces> pieces; ///< indexed by stage, micro-batch and kind
  /// For each stage, by worker: the action that completes the gradients.
  std::vector<std::map<int64_t, Pieces>> lastBackward;
  /// By stage and worker: the update, with the actions that it waits for.
  std::map<std::pair<int64_t, int64_t>, SimulatedAction> updates;
  std::map<std::tuple<bool, int64_t, int64_t>, unsigned> channels;
  std::map<std::tuple<int64_t, int64_t, size_t>, unsigned> slots;
  PipelineRun run;
};
} // namespace

unsigned RunBuilder::add(SimulatedAction action, const SimulatedStep &step) {
  run.steps.push_back(step);
  return run.simulation.add(std::move(action));
}

unsigned RunBuilder::add(SimulatedMessage message, const SimulatedSend &send) {
  run.sends.push_back(send);
  message.channel = getChannel(send.from, send.to);
  return run.simulation.add(std::move(message));
}

/// Adds a queue for each worker's list, then a queue for each worker's sums.
/// The first `workers` memories count the bytes that each worker has saved; the
/// others count the stages for which it has saved values.
void RunBuilder::addQueues() {
  Simulation &simulation = run.simulation;
  size_t machines = places.cluster ? places.cluster->devices.size() : 1;
  simulation.machines.assign(machines, {places.processors});
  simulation.memoryCount = 2 * workers;
  for (int64_t queue = 0; queue < 2 * workers; ++queue) {
    int64_t device = getDevice(queue % workers);
    unsigned machine =
        places.cluster ? places.cluster->getMachineOf(device) : 0;
    simulation.queues.push_back({machine, {}});
  }
}

unsigned RunBuilder::getChannel(int64_t from, int64_t to) {
  SimulatedChannel channel;
  channel.isOrdered = transport.isStrict;
  std::tuple<bool, int64_t, int64_t> key{false, getDevice(from), getDevice(to)};
  bool isHalf = transport.isStrict;
  if (places.cluster) {
    const Cluster &cluster = *places.cluster;
    int64_t fromMachine = cluster.getMachineOf(getDevice(from));
    int64_t toMachine = cluster.getMachineOf(getDevice(to));
    bool isNetwork = fromMachine != toMachine;
    channel.latency = cluster.latency;
    channel.bytesPerSecond = isNetwork ? cluster.network : cluster.link;
    isHalf |= cluster.duplex == Duplex::half;
    if (isNetwork && !transport.isStrict)
      key = {true, fromMachine, toMachine};
  }
  auto &[isNetwork, one, other] = key;
  if (isHalf && one > other)
    std::swap(one, other);
  auto [entry, isNew] = channels.insert({key, 0});
  if (isNew)
    entry->second = run.simulation.add(channel);
  return entry->second;
}

/// Returns the slot for a message, which depends on its stage, its receiver,
/// its kind and its micro-batch; kNone if there are always enough slots.
unsigned RunBuilder::getSlot(const SimulatedSend &send, size_t kind) {
  if (transport.slots.empty())
    return kNone;
  int64_t count = transport.slots[send.toStage];
  auto [entry, isNew] = slots.insert({{send.toStage, send.to, kind}, 0});
  if (isNew) {
    entry->second = run.simulation.slotCount;
    run.simulation.slotCount += count;
  }
  const llvm::SmallVector<int64_t> &own = microBatches[send.to];
  int64_t place = llvm::lower_bound(own, send.microBatch) - own.begin();
  return entry->second + place % count;
}

void RunBuilder::addList(int64_t worker) {
  const ActionList &list = run.order.workers[worker];
  // The index of the last backward of each stage.
  std::map<int64_t, size_t> last;
  for (auto [index, action] : llvm::enumerate(list))
    if (action.kind == ActionKind::backward ||
        action.kind == ActionKind::backwardWeight)
      last[action.stage] = index;
  for (auto [index, action] : llvm::enumerate(list)) {
    auto found = last.find(action.stage);
    addAction(worker, action, found != last.end() && found->second == index);
  }
}

/// Adds an action. If it is the stage's last backward and replicas share the
/// stage, it is divided into pieces that end where sums of gradients can begin.
void RunBuilder::addAction(int64_t worker, const Action &action, bool isLast) {
  const StageWork &stage = work.stages[action.stage];
  unsigned bytes = worker, count = workers + worker;
  double seconds = getSeconds(stage, action.kind), begin = 0;
  Pieces &made = get(action.kind, action.stage, action.microBatch);
  auto addPiece = [&](double end) {
    SimulatedAction piece;
    piece.queue = worker;
    piece.seconds = seconds * (end - begin);
    if (action.kind == ActionKind::forward)
      piece.memory = {{bytes, stage.savedBytes, 0}, {count, 1, 0}};
    if (end == 1 && (action.kind == ActionKind::backward ||
                     action.kind == ActionKind::backwardWeight))
      piece.memory = {{bytes, 0, -stage.savedBytes}, {count, 0, -1}};
    made.numbers.push_back(
        add(std::move(piece), {SimulatedStep::action, worker, action}));
    begin = end;
  };
  bool hasSums = shape.replicas[shape.getPosition(action.stage)] > 1;
  if (isLast && hasSums)
    for (const BlockSum &sum : stage.sums)
      if (sum.share > begin && sum.share < 1)
        addPiece(sum.share);
  addPiece(1);
  if (isLast)
    lastBackward[action.stage][worker] = made;
}

/// Adds the dependences between a worker's actions on one micro-batch in one
/// stage, whose order is always the same.
void RunBuilder::orderActions(int64_t stage, int64_t microBatch) {
  const ActionKind kinds[] = {ActionKind::forward, ActionKind::recompute,
                              ActionKind::backward, ActionKind::backwardInput,
                              ActionKind::backwardWeight};
  const Pieces *before = nullptr;
  for (ActionKind kind : kinds) {
    Pieces &next = get(kind, stage, microBatch);
    if (!next.exist())
      continue;
    if (before)
      run.simulation.actions[next.first()].after.push_back(before->last());
    before = &next;
  }
}

/// Adds a message with a value or its gradient. All later actions of the
/// receiver on this micro-batch wait for it.
void RunBuilder::addMessage(const StageMessage &message, int64_t microBatch,
                            bool isGradient) {
  int64_t from = isGradient ? message.to : message.from;
  int64_t to = isGradient ? message.from : message.to;
  const Pieces &sender = isGradient
                             ? getGradient(from, microBatch)
                             : get(ActionKind::forward, from, microBatch);
  const Pieces &receiver = isGradient
                               ? getGradient(to, microBatch)
                               : get(ActionKind::forward, to, microBatch);
  Simulation &simulation = run.simulation;
  SimulatedSend send;
  send.kind = isGradient ? SimulatedSend::gradient : SimulatedSend::value;
  send.from = shape.getWorker(from, microBatch);
  send.to = shape.getWorker(to, microBatch);
  send.fromStage = from;
  send.toStage = to;
  send.microBatch = microBatch;
  if (send.from == send.to) {
    simulation.actions[receiver.first()].after.push_back(sender.last());
    return;
  }
  SimulatedMessage sent;
  sent.after = {sender.last()};
  sent.bytes = isGradient ? message.backwardBytes : message.forwardBytes;
  sent.slot = getSlot(send, 2 * (&message - work.messages.data()) + isGradient);
  unsigned number = add(std::move(sent), send);
  const ActionKind readers[] = {ActionKind::forward, ActionKind::recompute,
                                ActionKind::backward, ActionKind::backwardInput,
                                ActionKind::backwardWeight};
  for (ActionKind reader : readers) {
    if (isGradient &&
        (reader == ActionKind::forward || reader == ActionKind::recompute))
      continue;
    for (unsigned piece : get(reader, to, microBatch).numbers)
      simulation.actions[piece].messages.push_back(number);
  }
}

//===----------------------------------------------------------------------===//
// Sums of gradients
//===----------------------------------------------------------------------===//

/// Adds an all-reduce: each of n workers receives one n-th of the others'
/// gradients, adds them up, and sends the result to all others.
void RunBuilder::addSum(int64_t stage, size_t block, int64_t bytes) {
  int64_t position = shape.getPosition(stage);
  int64_t count = shape.replicas[position];
  int64_t first = shape.getFirstWorker(position);
  int64_t part = llvm::divideCeil(bytes, count);
  auto getReady = [&](int64_t worker) {
    const Pieces &last = lastBackward[stage].at(worker);
    return last.numbers[std::min(block, last.numbers.size() - 1)];
  };
  for (int64_t owner = first; owner < first + count; ++owner) {
    SimulatedAction sum;
    sum.queue = workers + owner;
    sum.after = {getReady(owner)};
    if (work.addedBytesPerSecond > 0)
      sum.seconds =
          static_cast<double>(part * (count - 1)) / work.addedBytesPerSecond;
    for (int64_t other = first; other < first + count; ++other) {
      if (other == owner)
        continue;
      SimulatedMessage sent;
      sent.after = {getReady(other)};
      sent.bytes = part;
      sum.messages.push_back(add(
          std::move(sent), {SimulatedSend::part, other, owner, stage, stage}));
    }
    unsigned number =
        add(std::move(sum),
            {SimulatedStep::sum, owner, {ActionKind::backward, stage, -1}});
    updates[{stage, owner}].after.push_back(number);
    for (int64_t other = first; other < first + count; ++other) {
      if (other == owner)
        continue;
      SimulatedMessage sent;
      sent.after = {number};
      sent.bytes = part;
      updates[{stage, other}].messages.push_back(
          add(std::move(sent),
              {SimulatedSend::result, owner, other, stage, stage}));
    }
  }
}

void RunBuilder::addSums(int64_t stage) {
  if (shape.replicas[shape.getPosition(stage)] == 1)
    return;
  // The index of the piece of the last backward that completes a block's
  // gradients.
  size_t piece = 0;
  double end = 0;
  for (const BlockSum &sum : work.stages[stage].sums) {
    piece += end > 0 && sum.share > end;
    end = sum.share;
    addSum(stage, piece, sum.bytes);
  }
}

void RunBuilder::addUpdate(int64_t worker, int64_t stage) {
  SimulatedAction update = std::move(updates[{stage, worker}]);
  update.queue = worker;
  update.seconds = work.stages[stage].update;
  auto last = lastBackward[stage].find(worker);
  if (last != lastBackward[stage].end())
    update.after.push_back(last->second.last());
  if (update.seconds > 0)
    add(std::move(update),
        {SimulatedStep::update, worker, {ActionKind::backward, stage, -1}});
}

PipelineRun RunBuilder::build() {
  addQueues();
  for (int64_t worker = 0; worker < workers; ++worker)
    addList(worker);
  for (int64_t m = 0; m < shape.microBatches; ++m) {
    for (int64_t stage = 0; stage < shape.getStages(); ++stage)
      orderActions(stage, m);
    for (const StageMessage &message : work.messages) {
      addMessage(message, m, /*isGradient=*/false);
      addMessage(message, m, /*isGradient=*/true);
    }
  }
  for (int64_t stage = shape.getStages() - 1; stage >= 0; --stage)
    addSums(stage);
  for (int64_t worker = 0; worker < workers; ++worker)
    for (int64_t chunk = shape.chunks - 1; chunk >= 0; --chunk)
      addUpdate(worker,
                shape.getStage(shape.getPositionOfWorker(worker), chunk));
  return std::move(run);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

PipelineRun planning::simulateOrder(const Order &order,
                                    const PipelineWork &work,
                                    const WorkerPlaces &places,
                                    const PipelineTransport &transport) {
  PipelineRun run = RunBuilder(order, work, places, transport).build();
  run.result = simulate(run.simulation);
  return run;
}

double PipelineRun::getBubble(int64_t worker) const {
  return toSeconds(result.makespan - result.busy[worker]);
}

double PipelineRun::getIdle(int64_t worker) const {
  return toSeconds(result.getIdle(worker));
}

double PipelineRun::getInFlight(int64_t worker) const {
  return static_cast<double>(result.peaks[order.shape.getWorkers() + worker]) /
         static_cast<double>(order.shape.chunks);
}

int64_t PipelineRun::getPeakBytes(int64_t worker) const {
  return result.peaks[worker];
}

static std::string nameStep(const SimulatedStep &step) {
  std::string owner = "worker " + std::to_string(step.worker) + "'s ";
  std::string stage = std::to_string(step.what.stage);
  switch (step.kind) {
  case SimulatedStep::action:
    return owner + nameAction(step.what);
  case SimulatedStep::sum:
    return owner + "sum of stage " + stage;
  case SimulatedStep::update:
    return owner + "update of stage " + stage;
  }
  llvm_unreachable("all kinds are listed");
}

static std::string nameSend(const SimulatedSend &send) {
  std::string ends = " from worker " + std::to_string(send.from) +
                     " to worker " + std::to_string(send.to);
  std::string toStage = " for stage " + std::to_string(send.toStage);
  std::string microBatch = " of micro-batch " + std::to_string(send.microBatch);
  switch (send.kind) {
  case SimulatedSend::value:
    return "the value" + microBatch + toStage + ends;
  case SimulatedSend::gradient:
    return "the gradient" + microBatch + toStage + ends;
  case SimulatedSend::part:
    return "the part of a sum" + toStage + ends;
  case SimulatedSend::result:
    return "the result of a sum" + toStage + ends;
  }
  llvm_unreachable("all kinds are listed");
}

std::string PipelineRun::getDeadlock() const {
  return describeCircle(
      result.circle, [&](unsigned step) { return nameStep(steps[step]); },
      [&](unsigned send) { return nameSend(sends[send]); });
}

/// Returns the receiving stages of messages that are ready but can't be sent,
/// mostly because their slot holds a message that hasn't been read.
static std::set<int64_t> findStagesThatWait(const PipelineRun &run) {
  std::set<int64_t> stages;
  auto hasBegun = [&](unsigned action) {
    return run.result.actions[action].hasBegun();
  };
  for (auto [number, message] : llvm::enumerate(run.simulation.messages))
    if (message.slot != kNone && !run.result.messages[number].hasBegun() &&
        llvm::all_of(message.after, hasBegun))
      stages.insert(run.sends[number].toStage);
  return stages;
}

std::vector<int64_t> planning::chooseSlots(const Order &order,
                                           const PipelineWork &work,
                                           const WorkerPlaces &places) {
  PipelineTransport transport;
  transport.isStrict = true;
  transport.slots = getInstances(order);
  // Finding the fewest slots takes long for large pipelines. After this many
  // simulated actions, all stages that wait for a slot get one at once. A few
  // more than needed do no harm.
  constexpr size_t kMostActions = 2'000'000;
  size_t actions = 0;
  while (true) {
    PipelineRun run = simulateOrder(order, work, places, transport);
    actions += run.simulation.actions.size();
    // Give a slot to one message of the deadlock's cycle that waits for a slot;
    // that breaks the cycle.
    auto isPlace = [](const Wait &wait) {
      return wait.reason == WaitReason::place;
    };
    auto blocked = llvm::find_if(run.result.circle, isPlace);
    if (blocked == run.result.circle.end())
      return transport.slots;
    std::set<int64_t> stages = {run.sends[blocked->number].toStage};
    if (actions > kMostActions)
      stages.merge(findStagesThatWait(run));
    for (int64_t stage : stages)
      ++transport.slots[stage];
  }
}
