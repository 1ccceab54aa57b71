//===- MakeOrder.cpp - Orders that need no times --------------------------===//
//
// Why none of these orders ever waits in a circle: all actions of the pipeline
// stand in one sequence in which each comes after what it needs, and a worker's
// list is what of this sequence is the worker's. For a pipeline of one worker a
// position the sequences are those of the literature; with replicas, each
// worker takes its part of a position's list, which changes nothing about that.
//===----------------------------------------------------------------------===//

#include "Hfta/Planning/MakeOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The most micro-batches in a row of which no worker of the position has more
/// than `own`.
static int64_t getWindow(const PipelineShape &shape, int64_t position,
                         int64_t own) {
  int64_t window = shape.microBatches;
  int64_t first = shape.getFirstWorker(position);
  for (int64_t r = 0; r < shape.replicas[position]; ++r) {
    llvm::SmallVector<int64_t> list = shape.getMicroBatches(first + r);
    for (size_t i = 0; i + own < list.size(); ++i)
      window = std::min(window, list[i + own] - list[i]);
  }
  return window;
}

/// How many micro-batches ahead of its backward each position's forward may be,
/// if its workers may have so many in flight. A position can't be further ahead
/// than those before it, which wait for its gradients.
static llvm::SmallVector<int64_t> getWindows(const PipelineShape &shape,
                                             llvm::ArrayRef<int64_t> inFlight) {
  llvm::SmallVector<int64_t> windows;
  for (int64_t p = 0; p < shape.getPositions(); ++p) {
    int64_t window = getWindow(shape, p, inFlight[p]);
    windows.push_back(p == 0 ? window : std::min(window, windows[p - 1]));
  }
  return windows;
}

/// The shape's, or `otherwise` where it says nothing.
static llvm::SmallVector<int64_t>
getInFlight(const PipelineShape &shape,
            llvm::function_ref<int64_t(int64_t)> otherwise) {
  llvm::SmallVector<int64_t> inFlight;
  for (int64_t p = 0; p < shape.getPositions(); ++p) {
    bool isGiven = !shape.inFlight.empty() && shape.inFlight[p] > 0;
    inFlight.push_back(isGiven ? shape.inFlight[p] : otherwise(p));
  }
  return inFlight;
}

//===----------------------------------------------------------------------===//
// One stage a position
//===----------------------------------------------------------------------===//

/// The most micro-batches, at most so many, that as a round are as many for
/// each worker of a position in each round.
static int64_t getRound(const PipelineShape &shape, int64_t most) {
  for (int64_t round = most; round > 1; --round)
    if (round == shape.microBatches ||
        llvm::all_of(shape.replicas, [&](int64_t replicas) {
          return round % replicas == 0 || round < replicas;
        }))
      return round;
  return 1;
}

/// Each round brings so many micro-batches forward through all chunks, then
/// back.
static Order makeAllForwardsFirst(const PipelineShape &shape) {
  llvm::SmallVector<int64_t> inFlight =
      getInFlight(shape, [&](int64_t) { return shape.microBatches; });
  int64_t round = getRound(shape, getWindows(shape, inFlight).back());
  Order order{OrderKind::allForwardsFirst, shape, {}};
  for (int64_t worker = 0; worker < shape.getWorkers(); ++worker) {
    ActionList list;
    int64_t position = shape.getPositionOfWorker(worker);
    llvm::SmallVector<int64_t> own = shape.getMicroBatches(worker);
    for (size_t begin = 0, end = 0; begin < own.size(); begin = end) {
      int64_t next = own[begin] / round * round + round;
      while (end < own.size() && own[end] < next)
        ++end;
      for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
        for (size_t i = begin; i < end; ++i)
          list.push_back(
              {ActionKind::forward, shape.getStage(position, chunk), own[i]});
      for (int64_t chunk = shape.chunks - 1; chunk >= 0; --chunk)
        for (size_t i = begin; i < end; ++i)
          list.push_back(
              {ActionKind::backward, shape.getStage(position, chunk), own[i]});
    }
    order.workers.push_back(std::move(list));
  }
  return order;
}

/// Forwards and backwards of a worker whose position has this window: the
/// backward of m comes after the forwards below m + window.
static ActionList alternate(const PipelineShape &shape, int64_t worker,
                            int64_t window, ActionKind backward) {
  ActionList list;
  int64_t stage = shape.getPositionOfWorker(worker);
  llvm::SmallVector<int64_t> own = shape.getMicroBatches(worker);
  size_t next = 0;
  for (int64_t m : own) {
    for (; next < own.size() && own[next] < m + window; ++next)
      list.push_back({ActionKind::forward, stage, own[next]});
    list.push_back({backward, stage, m});
  }
  return list;
}

static Order makeOneForwardOneBackward(const PipelineShape &shape) {
  int64_t positions = shape.getPositions();
  llvm::SmallVector<int64_t> windows = getWindows(
      shape, getInFlight(shape, [&](int64_t p) { return positions - p; }));
  Order order{OrderKind::oneForwardOneBackward, shape, {}};
  for (int64_t worker = 0; worker < shape.getWorkers(); ++worker)
    order.workers.push_back(
        alternate(shape, worker, windows[shape.getPositionOfWorker(worker)],
                  ActionKind::backward));
  return order;
}

/// Puts the gradients of weights behind those of inputs: one as soon as more
/// than `waiting` wait, the rest at last.
static ActionList addWeightGradients(const ActionList &list, int64_t waiting) {
  ActionList result;
  std::vector<Action> waits;
  size_t next = 0;
  for (const Action &action : list) {
    result.push_back(action);
    if (action.kind != ActionKind::backwardInput)
      continue;
    waits.push_back(
        {ActionKind::backwardWeight, action.stage, action.microBatch});
    if (static_cast<int64_t>(waits.size() - next) > waiting)
      result.push_back(waits[next++]);
  }
  result.insert(result.end(), waits.begin() + next, waits.end());
  return result;
}

/// Position p has P - p micro-batches whose backward is to come, as with
/// one_f_one_b, and where memory is left up to 2(P - p) - 1, so that the last
/// position's gradients find the others busy. What is left then is for
/// gradients of weights that wait.
static Order makeZeroBubble(const PipelineShape &shape) {
  int64_t positions = shape.getPositions();
  llvm::SmallVector<int64_t> inFlight =
      getInFlight(shape, [&](int64_t) { return positions; });
  llvm::SmallVector<int64_t> ahead;
  for (int64_t p = 0; p < positions; ++p) {
    int64_t more = std::max<int64_t>(0, inFlight[p] - positions);
    int64_t wanted = positions - p + std::min(more, positions - p - 1);
    ahead.push_back(std::min(inFlight[p], wanted));
  }
  llvm::SmallVector<int64_t> windows = getWindows(shape, ahead);
  Order order{OrderKind::zeroBubble, shape, {}};
  for (int64_t worker = 0; worker < shape.getWorkers(); ++worker) {
    int64_t p = shape.getPositionOfWorker(worker);
    Order one{order.kind, shape, {}};
    one.workers = {
        alternate(shape, worker, windows[p], ActionKind::backwardInput)};
    int64_t inputs = 0, peak = 0;
    for (const Action &action : one.workers.front()) {
      inputs += action.kind == ActionKind::forward ? 1 : -1;
      peak = std::max(peak, inputs);
    }
    order.workers.push_back(
        addWeightGradients(one.workers.front(), inFlight[p] - peak));
  }
  return order;
}

//===----------------------------------------------------------------------===//
// Several stages a position
//===----------------------------------------------------------------------===//

namespace {
/// What decides about an interleaved order: micro-batches go through the chunks
/// in groups, and each position's backwards are so many steps behind.
struct Interleaving {
  int64_t group;
  llvm::SmallVector<int64_t> ahead; ///< of each position, forwards
};
} // namespace

/// The micro-batches and chunks of a position one after the other. Those that
/// fill up the last group have numbers that don't exist.
static std::vector<std::pair<int64_t, int64_t>>
getChunkSteps(const PipelineShape &shape, int64_t group) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (int64_t begin = 0; begin < shape.microBatches; begin += group)
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
      for (int64_t m = begin; m < begin + group; ++m)
        steps.emplace_back(m, chunk);
  return steps;
}

static Order interleave(const PipelineShape &shape,
                        const Interleaving &interleaving) {
  auto steps = getChunkSteps(shape, interleaving.group);
  Order order{OrderKind::interleaved, shape, {}};
  order.workers.resize(shape.getWorkers());
  for (int64_t p = 0; p < shape.getPositions(); ++p) {
    auto add = [&](ActionKind kind, size_t step) {
      auto [m, chunk] = steps[step];
      if (kind == ActionKind::backward)
        chunk = shape.chunks - 1 - chunk;
      if (m >= shape.microBatches)
        return;
      int64_t stage = shape.getStage(p, chunk);
      order.workers[shape.getWorker(stage, m)].push_back({kind, stage, m});
    };
    size_t next = 0;
    for (size_t back = 0; back < steps.size(); ++back) {
      size_t ahead = back + interleaving.ahead[p];
      for (; next <= ahead && next < steps.size(); ++next)
        add(ActionKind::forward, next);
      add(ActionKind::backward, back);
    }
  }
  return order;
}

/// Forwards are as far ahead as in the literature, or with thrift less far, in
/// smaller groups.
static std::optional<Order> makeInterleaved(const PipelineShape &shape,
                                            int64_t thrift) {
  int64_t positions = shape.getPositions();
  int64_t most = *llvm::max_element(shape.replicas);
  int64_t group = positions * most - thrift / 3;
  if (group < 1)
    return std::nullopt;
  // More would make the first position wait for gradients that wait for it.
  int64_t step = std::min((2 - thrift % 3) * most, 2 * group / positions);
  Interleaving interleaving{group, {}};
  for (int64_t p = 0; p < positions; ++p)
    interleaving.ahead.push_back(step * (positions - 1 - p) +
                                 (shape.chunks - 1) * group);
  return interleave(shape, interleaving);
}

namespace {
/// The list of one position of a V: chunk 0 is on the way down, chunk 1 on the
/// way up.
class VList {
public:
  VList(const PipelineShape &shape, int64_t position)
      : shape(shape), position(position),
        // So many fill the pipeline; those that don't exist are left out.
        count(std::max(2 * shape.getPositions() - 1, shape.microBatches)) {}

  ActionList make();

private:
  void forward(int64_t chunk) { add(ActionKind::forward, chunk, forwards); }
  void backwardInput(int64_t chunk) {
    add(ActionKind::backwardInput, chunk, inputs);
  }
  void backwardWeight(int64_t chunk) {
    add(ActionKind::backwardWeight, chunk, weights);
  }
  void backward(int64_t chunk) {
    backwardInput(chunk);
    backwardWeight(chunk);
  }
  void add(ActionKind kind, int64_t chunk, int64_t (&done)[2]) {
    if (done[chunk] < shape.microBatches)
      list.push_back({kind, shape.getStage(position, chunk), done[chunk]});
    ++done[chunk];
  }

  const PipelineShape &shape;
  int64_t position, count;
  int64_t forwards[2] = {0, 0}, inputs[2] = {0, 0}, weights[2] = {0, 0};
  ActionList list;
};
} // namespace

ActionList VList::make() {
  int64_t left = shape.getPositions() - position; // positions from here on
  for (int64_t i = 0; i < 2 * left - 1; ++i)
    forward(0);
  for (int64_t i = 0; i < position; ++i) {
    forward(1);
    forward(0);
  }
  for (int64_t i = 0; i < left; ++i) {
    forward(1);
    backward(1);
  }
  while (forwards[1] < forwards[0] || forwards[0] < count) {
    if (forwards[0] < count)
      forward(0);
    backward(0);
    forward(1);
    backward(1);
  }
  // Gradients of weights fill what is left.
  for (int64_t i = 0; i < position; ++i) {
    backwardInput(0);
    backwardInput(1);
  }
  for (int64_t i = 0; i < left; ++i) {
    backwardInput(0);
    backwardWeight(0);
  }
  while (weights[1] < inputs[1])
    backwardWeight(1);
  while (weights[0] < inputs[0])
    backwardWeight(0);
  return std::move(list);
}

static std::optional<Order> makeVShape(const PipelineShape &shape,
                                       int64_t thrift) {
  if (thrift > 0)
    return std::nullopt;
  Order order{OrderKind::vShape, shape, {}};
  order.shape.placement = ChunkPlacement::v;
  for (int64_t p = 0; p < shape.getPositions(); ++p)
    order.workers.push_back(VList(order.shape, p).make());
  return order;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// Makes an order that has less in flight the more thrift there is, down to one
/// micro-batch a worker, which is always in order; then nothing.
using OrderMaker =
    llvm::function_ref<std::optional<Order>(const PipelineShape &, int64_t)>;

/// The shape with so much less in flight.
static std::optional<PipelineShape> limit(const PipelineShape &shape,
                                          int64_t thrift) {
  PipelineShape limited = shape;
  int64_t most = shape.microBatches - thrift;
  if (thrift == 0)
    return limited;
  if (most < 1)
    return std::nullopt;
  limited.inFlight.resize(shape.getPositions(), 0);
  for (int64_t &inFlight : limited.inFlight)
    inFlight = inFlight == 0 ? most : std::min(inFlight, most);
  return limited;
}

/// Whether all workers keep to the shape's limits.
static bool fits(const Order &order) {
  const PipelineShape &shape = order.shape;
  return llvm::all_of(llvm::enumerate(getPeaks(order)), [&](auto entry) {
    int64_t position = shape.getPositionOfWorker(entry.index());
    return entry.value() <= shape.getLimit(position);
  });
}

static llvm::Error refuse(OrderKind kind, const llvm::Twine &message) {
  return llvm::createStringError(stringifyOrderKind(kind) + " " + message);
}

/// Of orders that are made for one number of chunks.
static llvm::Error verifyChunks(OrderKind kind, const PipelineShape &shape) {
  switch (kind) {
  case OrderKind::oneForwardOneBackward:
  case OrderKind::zeroBubble:
    if (shape.chunks != 1)
      return refuse(kind, "needs 1 chunk, got " + llvm::Twine(shape.chunks));
    break;
  case OrderKind::interleaved:
    if (shape.chunks < 2)
      return refuse(kind, "needs 2 chunks or more, got 1");
    break;
  case OrderKind::vShape:
    if (shape.chunks != 2)
      return refuse(kind, "needs 2 chunks, got " + llvm::Twine(shape.chunks));
    break;
  case OrderKind::automatic:
  case OrderKind::allForwardsFirst:
  case OrderKind::list:
  case OrderKind::file:
    break;
  }
  return llvm::Error::success();
}

/// The order with the least thrift that fits. Where positions differ, so may
/// their workers' lists, by a little. Then all have the longest one's, which
/// may be too much for a worker's memory, or no order any more.
static llvm::Expected<Order> makeThatFits(const PipelineShape &shape,
                                          OrderMaker make) {
  PipelineShape part = shape.isUniform() ? shape.getLongestPipeline() : shape;
  std::optional<Order> order;
  for (int64_t thrift = 0; std::optional<Order> next = make(part, thrift);
       ++thrift) {
    order = std::move(next);
    order->workers = getWorkerLists(shape, getPositionLists(*order));
    PipelineShape placed = shape;
    placed.placement = order->shape.placement;
    order->shape = std::move(placed);
    if (fits(*order) && (shape.isUniform() || !verifyOrder(*order)))
      return std::move(*order);
  }
  int64_t most = *llvm::max_element(getPeaks(*order));
  return refuse(order->kind,
                "needs " + llvm::Twine(llvm::divideCeil(most, shape.chunks)) +
                    " micro-batches in flight");
}

/// Of orders that need no more than the shape's limits.
static llvm::Expected<Order>
makeLimited(const PipelineShape &shape,
            llvm::function_ref<Order(const PipelineShape &)> make) {
  return makeThatFits(
      shape,
      [&](const PipelineShape &part, int64_t thrift) -> std::optional<Order> {
        if (std::optional<PipelineShape> limited = limit(part, thrift))
          return make(*limited);
        return std::nullopt;
      });
}

llvm::Expected<Order> planning::makeOrder(OrderKind kind,
                                          const PipelineShape &shape) {
  if (llvm::Error error = verifyChunks(kind, shape))
    return error;
  PipelineShape placed = shape;
  placed.placement =
      kind == OrderKind::vShape ? ChunkPlacement::v : ChunkPlacement::loop;
  switch (kind) {
  case OrderKind::allForwardsFirst:
    return makeLimited(placed, makeAllForwardsFirst);
  case OrderKind::oneForwardOneBackward:
    return makeLimited(placed, makeOneForwardOneBackward);
  case OrderKind::interleaved:
    return makeThatFits(placed, makeInterleaved);
  case OrderKind::zeroBubble:
    return makeLimited(placed, makeZeroBubble);
  case OrderKind::vShape:
    if (!shape.isUniform())
      return refuse(kind, "needs as many replicas and groups at each position");
    return makeThatFits(placed, makeVShape);
  case OrderKind::automatic:
  case OrderKind::list:
  case OrderKind::file:
    break;
  }
  return refuse(kind, "is no order without costs");
}

void planning::insertRecompute(Order &order, llvm::ArrayRef<bool> stages) {
  for (ActionList &list : order.workers) {
    ActionList result;
    for (const Action &action : list) {
      Action again{ActionKind::recompute, action.stage, action.microBatch};
      if (stages[action.stage] &&
          (action.kind == ActionKind::backward ||
           action.kind == ActionKind::backwardInput) &&
          !llvm::is_contained(result, again))
        result.push_back(again);
      result.push_back(action);
    }
    list = std::move(result);
  }
}
