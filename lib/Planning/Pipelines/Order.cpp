//===- Order.cpp - The order of work in a pipeline ------------------------===//

#include "Hfta/Planning/Pipelines/Order.h"

#include "Hfta/Planning/Pipelines/PipelineSimulation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t PipelineShape::getWorkers() const {
  return std::accumulate(replicas.begin(), replicas.end(), int64_t{0});
}

int64_t PipelineShape::getPosition(int64_t stage) const {
  int64_t positions = getPositions();
  if (placement == ChunkPlacement::v && stage >= positions)
    return 2 * positions - 1 - stage;
  return stage % positions;
}

int64_t PipelineShape::getStage(int64_t position, int64_t chunk) const {
  int64_t positions = getPositions();
  if (placement == ChunkPlacement::v && chunk == 1)
    return 2 * positions - 1 - position;
  return chunk * positions + position;
}

int64_t PipelineShape::getPositionOfWorker(int64_t worker) const {
  int64_t position = 0;
  for (; worker >= replicas[position]; ++position)
    worker -= replicas[position];
  return position;
}

int64_t PipelineShape::getFirstWorker(int64_t position) const {
  return std::accumulate(replicas.begin(), replicas.begin() + position,
                         int64_t{0});
}

int64_t PipelineShape::getGroup(int64_t position, int64_t microBatch) const {
  return microBatch % (groups.empty() ? replicas[position] : groups[position]);
}

int64_t PipelineShape::getWorker(int64_t stage, int64_t microBatch) const {
  int64_t position = getPosition(stage);
  return getFirstWorker(position) +
         getGroup(position, microBatch) % replicas[position];
}

llvm::SmallVector<int64_t>
PipelineShape::getMicroBatches(int64_t worker) const {
  llvm::SmallVector<int64_t> result;
  int64_t position = getPositionOfWorker(worker);
  for (int64_t m = 0; m < microBatches; ++m)
    if (getWorker(position, m) == worker)
      result.push_back(m);
  return result;
}

int64_t PipelineShape::getLimit(int64_t position) const {
  if (inFlight.empty() || inFlight[position] == 0)
    return INT64_MAX;
  return inFlight[position] * chunks;
}

bool PipelineShape::isUniform() const {
  return llvm::all_equal(replicas) &&
         (groups.empty() || llvm::all_equal(groups));
}

PipelineShape PipelineShape::getLongestPipeline() const {
  PipelineShape longest = *this;
  longest.replicas.assign(getPositions(), 1);
  longest.groups.clear();
  longest.microBatches = 0;
  for (int64_t replica = 0; replica < replicas.front(); ++replica)
    longest.microBatches = std::max<int64_t>(longest.microBatches,
                                             getMicroBatches(replica).size());
  return longest;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static char getLetter(ActionKind kind) {
  switch (kind) {
  case ActionKind::forward:
    return 'F';
  case ActionKind::recompute:
    return 'R';
  case ActionKind::backward:
    return 'B';
  case ActionKind::backwardInput:
    return 'I';
  case ActionKind::backwardWeight:
    return 'W';
  }
  llvm_unreachable("all kinds are listed");
}

std::string planning::nameAction(const Action &action) {
  return std::to_string(action.stage) + getLetter(action.kind) +
         std::to_string(action.microBatch);
}

static constexpr std::pair<OrderKind, llvm::StringLiteral> kOrderNames[] = {
    {OrderKind::automatic, "auto"},
    {OrderKind::allForwardsFirst, "all_forwards_first"},
    {OrderKind::oneForwardOneBackward, "one_f_one_b"},
    {OrderKind::interleaved, "interleaved"},
    {OrderKind::zeroBubble, "zero_bubble"},
    {OrderKind::vShape, "v_shape"},
    {OrderKind::list, "list"},
    {OrderKind::file, "file"},
};

llvm::StringRef planning::stringifyOrderKind(OrderKind kind) {
  for (const auto &[known, name] : kOrderNames)
    if (known == kind)
      return name;
  llvm_unreachable("all kinds are listed");
}

std::optional<OrderKind> planning::symbolizeOrderKind(llvm::StringRef name) {
  for (const auto &[kind, known] : kOrderNames)
    if (known == name)
      return kind;
  return std::nullopt;
}

bool planning::isOfSeveralChunks(OrderKind kind) {
  return kind == OrderKind::interleaved || kind == OrderKind::vShape;
}

//===----------------------------------------------------------------------===//
// Micro-batches in flight
//===----------------------------------------------------------------------===//

/// Returns whether this kind of action is the last to need the micro-batch's
/// saved values.
static bool endsBackward(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backwardWeight;
}

std::vector<int64_t> planning::getPeaks(const Order &order) {
  std::vector<int64_t> peaks;
  for (const ActionList &list : order.workers) {
    int64_t inFlight = 0, peak = 0;
    for (const Action &action : list) {
      if (action.kind == ActionKind::forward)
        peak = std::max(peak, ++inFlight);
      else if (endsBackward(action.kind))
        --inFlight;
    }
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<bool> planning::getRecomputed(const Order &order) {
  std::vector<bool> stages(order.shape.getStages(), false);
  for (const ActionList &list : order.workers)
    for (const Action &action : list)
      if (action.kind == ActionKind::recompute)
        stages[action.stage] = true;
  return stages;
}

std::vector<int64_t> planning::getInstances(const Order &order, Span span) {
  const PipelineShape &shape = order.shape;
  std::vector<bool> recomputed = getRecomputed(order);
  std::vector<int64_t> instances(shape.getStages(), 1);
  for (auto [worker, list] : llvm::enumerate(order.workers)) {
    // The index of each micro-batch among those of the worker.
    std::vector<int64_t> places(shape.microBatches, 0);
    for (auto [place, m] : llvm::enumerate(shape.getMicroBatches(worker)))
      places[m] = place;
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      int64_t stage = shape.getStage(shape.getPositionOfWorker(worker), chunk);
      ActionKind first = span != Span::whole && recomputed[stage]
                             ? ActionKind::recompute
                             : ActionKind::forward;
      std::set<int64_t> inFlight;
      for (const Action &action : list) {
        if (action.stage != stage)
          continue;
        if (action.kind == first)
          inFlight.insert(places[action.microBatch]);
        if (!inFlight.empty())
          instances[stage] = std::max(
              instances[stage], *inFlight.rbegin() - *inFlight.begin() + 1);
        bool isLast = span == Span::recomputeToInput &&
                      action.kind == ActionKind::backwardInput;
        if (isLast || endsBackward(action.kind))
          inFlight.erase(places[action.microBatch]);
      }
    }
  }
  return instances;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Returns a worker's list in which each micro-batch is replaced by its index
/// among those of the worker.
static ActionList getPlaces(const PipelineShape &shape, int64_t worker,
                            const ActionList &list) {
  llvm::SmallVector<int64_t> own = shape.getMicroBatches(worker);
  ActionList places = list;
  for (Action &action : places)
    action.microBatch = llvm::lower_bound(own, action.microBatch) - own.begin();
  return places;
}

std::vector<ActionList> planning::getPositionLists(const Order &order) {
  const PipelineShape &shape = order.shape;
  std::vector<ActionList> positions;
  for (int64_t p = 0; p < shape.getPositions(); ++p) {
    int64_t first = shape.getFirstWorker(p), longest = first;
    for (int64_t worker = first; worker < first + shape.replicas[p]; ++worker)
      if (order.workers[worker].size() > order.workers[longest].size())
        longest = worker;
    positions.push_back(getPlaces(shape, longest, order.workers[longest]));
  }
  return positions;
}

std::vector<ActionList>
planning::getWorkerLists(const PipelineShape &shape,
                         llvm::ArrayRef<ActionList> positions) {
  std::vector<ActionList> workers;
  for (int64_t worker = 0; worker < shape.getWorkers(); ++worker) {
    llvm::SmallVector<int64_t> own = shape.getMicroBatches(worker);
    ActionList list;
    for (Action action : positions[shape.getPositionOfWorker(worker)]) {
      if (action.microBatch >= static_cast<int64_t>(own.size()))
        continue;
      action.microBatch = own[action.microBatch];
      list.push_back(action);
    }
    workers.push_back(std::move(list));
  }
  return workers;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Verifies the lists of workers, for a valid shape, action by action.
class OrderVerifier {
public:
  explicit OrderVerifier(const Order &order)
      : shape(order.shape), order(order),
        seen(shape.getStages() * shape.microBatches, 0) {}

  std::optional<OrderProblem> verify();

private:
  /// Returns a bit mask with one bit for this kind.
  static unsigned getBit(ActionKind kind) {
    return 1u << static_cast<unsigned>(kind);
  }
  unsigned &getSeen(const Action &action) {
    return seen[action.stage * shape.microBatches + action.microBatch];
  }
  bool hasSeen(const Action &action, ActionKind kind) {
    return getSeen(action) & getBit(kind);
  }
  static std::string nameOther(const Action &action, ActionKind kind) {
    return nameAction({kind, action.stage, action.microBatch});
  }

  std::string verifyPlace(int64_t worker, const Action &action) const;
  std::string verifyTurn(const Action &action);
  std::string verifyAscending(const Action &action);
  std::optional<OrderProblem> verifyList(int64_t worker);
  std::optional<OrderProblem> verifyComplete(int64_t worker);
  std::optional<OrderProblem> verifyPositions();
  std::optional<OrderProblem> verifyEnd();

  const PipelineShape &shape;
  const Order &order;
  /// A bit mask of the kinds of actions seen, by stage and micro-batch.
  std::vector<unsigned> seen;
  /// The last action of each kind, for each stage of the worker that is being
  /// verified.
  std::map<std::pair<int64_t, ActionKind>, Action> last;
};
} // namespace

/// Returns an error message, or an empty string if such an action exists and
/// belongs to this worker.
std::string OrderVerifier::verifyPlace(int64_t worker,
                                       const Action &action) const {
  if (action.stage < 0 || action.stage >= shape.getStages())
    return "expected a stage below " + std::to_string(shape.getStages()) +
           " in " + nameAction(action);
  if (action.microBatch < 0 || action.microBatch >= shape.microBatches)
    return "expected a micro-batch below " +
           std::to_string(shape.microBatches) + " in " + nameAction(action);
  int64_t right = shape.getWorker(action.stage, action.microBatch);
  if (right != worker)
    return "expected " + nameAction(action) + " on worker " +
           std::to_string(right) + ", not on worker " + std::to_string(worker);
  return "";
}

/// Returns an error message, or an empty string if the worker has done all
/// actions that must come before this one, and none that must come after it.
std::string OrderVerifier::verifyTurn(const Action &action) {
  ActionKind kind = action.kind;
  auto isAfter = [&](ActionKind other) {
    return nameAction(action) + " comes after " + nameOther(action, other);
  };
  auto isBefore = [&](ActionKind other) {
    return nameAction(action) + " comes before " + nameOther(action, other);
  };
  if (hasSeen(action, kind))
    return nameAction(action) + " is there twice";
  if (kind == ActionKind::forward)
    return "";
  if (!hasSeen(action, ActionKind::forward))
    return isBefore(ActionKind::forward);
  if (hasSeen(action, ActionKind::backward))
    return isAfter(ActionKind::backward);
  if (kind == ActionKind::backwardWeight)
    return hasSeen(action, ActionKind::backwardInput)
               ? ""
               : isBefore(ActionKind::backwardInput);
  if (hasSeen(action, ActionKind::backwardInput))
    return isAfter(ActionKind::backwardInput);
  return "";
}

/// Returns an error message, or an empty string if the worker has done no later
/// micro-batch's action of this kind and stage. Ascending micro-batches make
/// sums of losses and gradients the same in all orders, and micro-batches in
/// flight consecutive.
std::string OrderVerifier::verifyAscending(const Action &action) {
  llvm::SmallVector<ActionKind, 2> kinds = {action.kind};
  if (action.kind == ActionKind::backward)
    kinds = {ActionKind::backwardInput, ActionKind::backwardWeight};
  for (ActionKind kind : kinds) {
    auto [entry, isFirst] = last.insert({{action.stage, kind}, action});
    Action before = std::exchange(entry->second, action);
    if (!isFirst && before.microBatch > action.microBatch)
      return nameAction(action) + " comes after " + nameAction(before) +
             ", but a stage takes its micro-batches in order";
  }
  return "";
}

std::optional<OrderProblem> OrderVerifier::verifyList(int64_t worker) {
  int64_t limit = shape.getLimit(shape.getPositionOfWorker(worker));
  int64_t inFlight = 0;
  last.clear();
  for (auto [index, action] : llvm::enumerate(order.workers[worker])) {
    std::string message = verifyPlace(worker, action);
    if (message.empty())
      message = verifyTurn(action);
    if (message.empty())
      message = verifyAscending(action);
    if (message.empty() && action.kind == ActionKind::forward &&
        ++inFlight > limit)
      message = "expected at most " + std::to_string(limit) +
                " forwards before their backwards, " + nameAction(action) +
                " is one more";
    if (!message.empty())
      return OrderProblem{worker, static_cast<int64_t>(index), message};
    getSeen(action) |= getBit(action.kind);
    if (endsBackward(action.kind))
      --inFlight;
  }
  return verifyComplete(worker);
}

std::optional<OrderProblem> OrderVerifier::verifyComplete(int64_t worker) {
  int64_t position = shape.getPositionOfWorker(worker);
  for (int64_t m : shape.getMicroBatches(worker))
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      Action action{ActionKind::forward, shape.getStage(position, chunk), m};
      std::string missing;
      if (!hasSeen(action, ActionKind::forward))
        missing = nameAction(action);
      else if (hasSeen(action, ActionKind::backward) ||
               hasSeen(action, ActionKind::backwardWeight))
        continue;
      else if (hasSeen(action, ActionKind::backwardInput))
        missing = nameOther(action, ActionKind::backwardWeight);
      else
        missing = nameOther(action, ActionKind::backward) + ", or " +
                  nameOther(action, ActionKind::backwardInput) + " and " +
                  nameOther(action, ActionKind::backwardWeight);
      return OrderProblem{worker, -1,
                          "worker " + std::to_string(worker) + " has no " +
                              missing};
    }
  return std::nullopt;
}

/// Checks that all workers of a position have the same list, apart from its
/// length. All lists are complete at this point.
std::optional<OrderProblem> OrderVerifier::verifyPositions() {
  std::vector<ActionList> expected =
      getWorkerLists(shape, getPositionLists(order));
  for (auto [worker, list] : llvm::enumerate(order.workers)) {
    auto [got, wanted] =
        std::mismatch(list.begin(), list.end(), expected[worker].begin(),
                      expected[worker].end());
    if (got == list.end())
      continue;
    int64_t first = shape.getFirstWorker(shape.getPositionOfWorker(worker));
    return OrderProblem{
        static_cast<int64_t>(worker), got - list.begin(),
        "expected " + nameAction(*wanted) + ", got " + nameAction(*got) +
            ": all workers from " + std::to_string(first) + " to " +
            std::to_string(
                first + shape.replicas[shape.getPositionOfWorker(worker)] - 1) +
            " have one order"};
  }
  return std::nullopt;
}

/// Checks that the order has no deadlock, if messages take no time and needn't
/// wait for places.
std::optional<OrderProblem> OrderVerifier::verifyEnd() {
  PipelineRun run =
      simulateOrder(order, PipelineWork::getEqual(shape.getStages(), 1, 1, 1));
  if (run.result.hasEnded())
    return std::nullopt;
  OrderProblem problem;
  for (const Wait &wait : run.result.circle) {
    if (wait.isMessage)
      continue;
    const SimulatedStep &step = run.steps[wait.number];
    problem.worker = step.worker;
    const ActionList &list = order.workers[step.worker];
    problem.index = llvm::find(list, step.what) - list.begin();
    break;
  }
  problem.message = "actions wait for each other: " + run.getDeadlock();
  return problem;
}

std::optional<OrderProblem> OrderVerifier::verify() {
  int64_t workers = shape.getWorkers();
  if (static_cast<int64_t>(order.workers.size()) != workers)
    return OrderProblem{-1, -1,
                        "expected a list for each of " +
                            std::to_string(workers) + " workers, got " +
                            std::to_string(order.workers.size())};
  for (int64_t worker = 0; worker < workers; ++worker)
    if (std::optional<OrderProblem> problem = verifyList(worker))
      return problem;
  if (std::optional<OrderProblem> problem = verifyPositions())
    return problem;
  return verifyEnd();
}

std::optional<OrderProblem> planning::verifyOrder(const Order &order) {
  return OrderVerifier(order).verify();
}
