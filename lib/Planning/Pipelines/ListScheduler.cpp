//===- ListScheduler.cpp - Orders from list scheduling --------------------===//

#include "Hfta/Planning/Pipelines/MakeOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// Returns an order that contains all actions, in an arbitrary sequence.
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
/// A worker's actions in one stage: their numbers in the simulation, in the
/// order of micro-batches, and how many of each kind have begun.
struct StageTurns {
  std::vector<unsigned> forwards, backwards, weights;
  size_t nextForward = 0, nextBackward = 0, nextWeight = 0;
};

struct WorkerTurns {
  std::vector<StageTurns> stages;   ///< indexed by chunk
  int64_t position = 0, places = 0; ///< places: the number of its micro-batches
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
  /// The list of each position: the actions that the foremost of its workers
  /// has begun, with a micro-batch's place among the worker's own. The
  /// position's other workers follow the same list.
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

/// Chooses the next backward of the oldest micro-batch, and among several
/// stages that nearest to the loss.
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

/// Returns whether the chunk's next forward is safe, as in the banker's
/// algorithm: after it there must be room for all micro-batches that have begun
/// to go through all chunks and back, one after the other from the oldest on.
/// Then the oldest one can always continue, and nothing deadlocks.
bool ListScheduler::mayBegin(const WorkerTurns &worker, size_t chunk) const {
  if (worker.limit == INT64_MAX)
    return true;
  // These are places of micro-batches among the worker's own.
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

/// Chooses the next forward of the chunk nearest to the loss.
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

/// Chooses the gradients of weights in the stage where most of them are
/// pending.
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

/// Returns whether to idle rather than begin the chosen action, since a
/// backward will arrive before a certain part of it (`patience`) would be done.
/// If the action computes gradients of weights, a forward is worth waiting for
/// too.
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

/// Returns the worker's action for an entry of its position's list.
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

/// Chooses the action that another worker of the position began at this point
/// of the list; kNone if it can't begin yet.
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
    // Schedule one of the equal pipelines and use its order for all.
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
