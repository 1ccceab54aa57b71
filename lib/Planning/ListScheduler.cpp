//===- ListScheduler.cpp - Orders that come of a simulation ---------------===//

#include "Hfta/Planning/MakeOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// Returns an order with all actions, in no useful sequence.
static Order makeUnordered(const PipelineShape &shape, bool splitsBackward) {
  Order order{OrderKind::list, shape, {}};
  for (int64_t worker = 0; worker < shape.getWorkers(); ++worker) {
    ActionList list;
    int64_t position = shape.getPositionOfWorker(worker);
    for (int64_t m : shape.getMicroBatches(worker))
      for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
        int64_t stage = shape.getStage(position, chunk);
        list.push_back({ActionKind::forward, stage, m});
        if (splitsBackward) {
          list.push_back({ActionKind::backwardInput, stage, m});
          list.push_back({ActionKind::backwardWeight, stage, m});
        } else {
          list.push_back({ActionKind::backward, stage, m});
        }
      }
    order.workers.push_back(std::move(list));
  }
  return order;
}

namespace {
/// One stage of a worker: the simulation's numbers of its actions in the order
/// of micro-batches, and how many of each have begun.
struct StageTurns {
  std::vector<unsigned> forwards, backwards, weights;
  size_t nextForward = 0, nextBackward = 0, nextWeight = 0;
};

struct WorkerTurns {
  std::vector<StageTurns> stages;   ///< indexed by chunk
  int64_t position = 0, places = 0; ///< places: its number of micro-batches
  size_t next = 0;                  ///< index in its position's list
  int64_t inFlight = 0, limit = INT64_MAX;
};

class ListScheduler {
public:
  ListScheduler(const PipelineShape &shape, const PipelineWork &work,
                const WorkerPlaces &places, const ListPolicy &policy)
      : shape(shape), policy(policy) {
    PipelineWork compute = work;
    for (StageWork &stage : compute.stages) {
      stage.sums.clear();
      stage.update = 0;
    }
    run = simulateOrder(makeUnordered(shape, policy.splitsBackward), compute,
                        places);
    collect();
  }

  std::vector<ActionList> schedule();

private:
  void collect();
  unsigned choose(const SimulationState &state, unsigned queue);
  unsigned chooseAsBefore(const SimulationState &state, WorkerTurns &worker);
  unsigned chooseFreely(const SimulationState &state, WorkerTurns &worker);
  unsigned chooseBackward(const SimulationState &state, WorkerTurns &worker);
  unsigned chooseForward(const SimulationState &state, WorkerTurns &worker);
  unsigned chooseWeight(WorkerTurns &worker);
  bool mayBegin(const WorkerTurns &worker, size_t chunk) const;
  bool isWorthWaiting(const SimulationState &state, const WorkerTurns &worker,
                      unsigned chosen, bool isWeight) const;
  unsigned find(const WorkerTurns &worker, const Action &action) const;
  void begin(WorkerTurns &worker, unsigned action);

  const PipelineShape &shape;
  const ListPolicy &policy;
  PipelineRun run;
  std::vector<WorkerTurns> workers;
  /// The actions, with places for micro-batches, that one of a position's
  /// workers has begun. The position's other workers follow the same list.
  std::vector<ActionList> positions;
};
} // namespace

void ListScheduler::collect() {
  workers.resize(shape.getWorkers());
  positions.resize(shape.getPositions());
  for (auto [number, worker] : llvm::enumerate(workers)) {
    worker.stages.resize(shape.chunks);
    worker.position = shape.getPositionOfWorker(number);
    worker.limit = shape.getLimit(worker.position);
    worker.places = shape.getMicroBatches(number).size();
  }
  for (auto [number, step] : llvm::enumerate(run.steps)) {
    WorkerTurns &worker = workers[step.worker];
    int64_t chunk = step.what.stage / shape.getPositions();
    StageTurns &stage = worker.stages[chunk];
    if (step.what.kind == ActionKind::forward)
      stage.forwards.push_back(number);
    else if (step.what.kind == ActionKind::backwardWeight)
      stage.weights.push_back(number);
    else
      stage.backwards.push_back(number);
  }
}

/// Chooses a backward of the oldest micro-batch; among these, that nearest to
/// the loss.
unsigned ListScheduler::chooseBackward(const SimulationState &state,
                                       WorkerTurns &worker) {
  unsigned best = kNone;
  for (StageTurns &stage : worker.stages) {
    if (stage.nextBackward == stage.backwards.size())
      continue;
    unsigned action = stage.backwards[stage.nextBackward];
    if (state.canBegin(action) &&
        (best == kNone ||
         run.steps[action].what.microBatch <= run.steps[best].what.microBatch))
      best = action;
  }
  return best;
}

/// Returns whether after the chunk's next forward there is still room for all
/// micro-batches that have begun to go through all chunks and back, one after
/// the other from the oldest on. Then the pipeline's oldest micro-batch can
/// always continue.
bool ListScheduler::mayBegin(const WorkerTurns &worker, size_t chunk) const {
  if (worker.limit == INT64_MAX)
    return true;
  // Places of micro-batches among the worker's.
  size_t oldest = SIZE_MAX, newest = 0;
  auto getNext = [&](const StageTurns &stage) {
    bool isChosen = &stage == &worker.stages[chunk];
    return stage.nextForward + (isChosen ? 1 : 0);
  };
  auto getDone = [&](const StageTurns &stage) {
    return policy.splitsBackward ? stage.nextWeight : stage.nextBackward;
  };
  for (const StageTurns &stage : worker.stages) {
    oldest = std::min(oldest, getDone(stage));
    newest = std::max(newest, getNext(stage));
  }
  int64_t room = worker.limit - worker.inFlight - 1;
  for (size_t place = oldest; place < newest && room >= 0; ++place) {
    int64_t missing = 0, held = 0;
    for (const StageTurns &stage : worker.stages) {
      missing += place >= getNext(stage);
      held += place < getNext(stage) && place >= getDone(stage);
    }
    if (missing > room)
      return false;
    room += held;
  }
  return room >= 0;
}

/// Chooses the forward nearest to the loss.
unsigned ListScheduler::chooseForward(const SimulationState &state,
                                      WorkerTurns &worker) {
  for (size_t chunk = worker.stages.size(); chunk-- > 0;) {
    StageTurns &stage = worker.stages[chunk];
    if (stage.nextForward == stage.forwards.size())
      continue;
    unsigned action = stage.forwards[stage.nextForward];
    if (state.canBegin(action) && mayBegin(worker, chunk))
      return action;
  }
  return kNone;
}

/// Chooses gradients of weights in the stage that has most of them waiting.
unsigned ListScheduler::chooseWeight(WorkerTurns &worker) {
  unsigned best = kNone;
  size_t most = 0;
  if (!policy.splitsBackward)
    return best;
  for (StageTurns &stage : worker.stages) {
    size_t waiting = stage.nextBackward - stage.nextWeight;
    if (waiting <= most)
      continue;
    most = waiting;
    best = stage.weights[stage.nextWeight];
  }
  return best;
}

/// Returns whether a backward arrives before much of the chosen action would be
/// done; or a forward, if the chosen action computes gradients of weights.
bool ListScheduler::isWorthWaiting(const SimulationState &state,
                                   const WorkerTurns &worker, unsigned chosen,
                                   bool isWeight) const {
  if (policy.patience == 0)
    return false;
  double seconds = run.simulation.actions[chosen].seconds;
  Ticks latest = state.getTime() + toTicks(policy.patience * seconds);
  auto comes = [&](const std::vector<unsigned> &actions, size_t next) {
    if (next == actions.size())
      return false;
    std::optional<Ticks> arrival = state.getArrival(actions[next]);
    return arrival && *arrival > state.getTime() && *arrival < latest;
  };
  return llvm::any_of(llvm::enumerate(worker.stages), [&](auto entry) {
    const StageTurns &stage = entry.value();
    return comes(stage.backwards, stage.nextBackward) ||
           (isWeight && mayBegin(worker, entry.index()) &&
            comes(stage.forwards, stage.nextForward));
  });
}

void ListScheduler::begin(WorkerTurns &worker, unsigned action) {
  const Action &what = run.steps[action].what;
  StageTurns &stage = worker.stages[what.stage / shape.getPositions()];
  size_t place = 0;
  switch (what.kind) {
  case ActionKind::forward:
    place = stage.nextForward++;
    ++worker.inFlight;
    break;
  case ActionKind::backward:
    place = stage.nextBackward++;
    --worker.inFlight;
    break;
  case ActionKind::backwardInput:
    place = stage.nextBackward++;
    break;
  case ActionKind::backwardWeight:
    place = stage.nextWeight++;
    --worker.inFlight;
    break;
  case ActionKind::recompute:
    break;
  }
  ActionList &list = positions[worker.position];
  if (worker.next++ == list.size())
    list.push_back({what.kind, what.stage, static_cast<int64_t>(place)});
}

/// Finds the worker's action for an entry of its position's list.
unsigned ListScheduler::find(const WorkerTurns &worker,
                             const Action &action) const {
  const StageTurns &stage = worker.stages[action.stage / shape.getPositions()];
  switch (action.kind) {
  case ActionKind::forward:
    return stage.forwards[action.microBatch];
  case ActionKind::backward:
  case ActionKind::backwardInput:
    return stage.backwards[action.microBatch];
  case ActionKind::backwardWeight:
    return stage.weights[action.microBatch];
  case ActionKind::recompute:
    break;
  }
  llvm_unreachable("nothing is recomputed here");
}

/// Chooses the action that another worker of the position has begun at this
/// point.
unsigned ListScheduler::chooseAsBefore(const SimulationState &state,
                                       WorkerTurns &worker) {
  unsigned action = find(worker, positions[worker.position][worker.next]);
  return state.canBegin(action) ? action : kNone;
}

unsigned ListScheduler::chooseFreely(const SimulationState &state,
                                     WorkerTurns &worker) {
  unsigned action = chooseBackward(state, worker);
  if (action != kNone)
    return action;
  action = chooseForward(state, worker);
  bool isWeight = action == kNone;
  if (isWeight)
    action = chooseWeight(worker);
  bool waits =
      action != kNone && isWorthWaiting(state, worker, action, isWeight);
  return waits ? kNone : action;
}

unsigned ListScheduler::choose(const SimulationState &state, unsigned queue) {
  if (queue >= workers.size())
    return kNone;
  WorkerTurns &worker = workers[queue];
  const ActionList &list = positions[worker.position];
  while (worker.next < list.size() &&
         list[worker.next].microBatch >= worker.places)
    ++worker.next;
  unsigned action = worker.next < list.size() ? chooseAsBefore(state, worker)
                                              : chooseFreely(state, worker);
  if (action != kNone)
    begin(worker, action);
  return action;
}

std::vector<ActionList> ListScheduler::schedule() {
  simulate(run.simulation, [&](const SimulationState &state, unsigned queue) {
    return choose(state, queue);
  });
  return std::move(positions);
}

Order planning::makeListOrder(const PipelineShape &shape,
                              const PipelineWork &work,
                              const WorkerPlaces &places,
                              const ListPolicy &policy) {
  PipelineShape part = shape;
  WorkerPlaces partPlaces = places;
  if (shape.isUniform()) {
    // One pipeline's order is right for all of them.
    part = shape.getLongestPipeline();
    partPlaces.devices.clear();
    for (int64_t p = 0; p < shape.getPositions(); ++p) {
      int64_t first = shape.getFirstWorker(p);
      partPlaces.devices.push_back(
          places.devices.empty() ? first : places.devices[first]);
    }
  }
  std::vector<ActionList> positions =
      ListScheduler(part, work, partPlaces, policy).schedule();
  return {OrderKind::list, shape, getWorkerLists(shape, positions)};
}
