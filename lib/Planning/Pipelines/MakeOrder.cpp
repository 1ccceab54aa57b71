//===- MakeOrder.cpp - Orders that need no times --------------------------===//
//
// These orders can't deadlock: each is a topological order of all actions of
// the pipeline, and a worker's list is the subsequence of its own actions. With
// one worker per position, the lists are those of the literature. With
// replicas, each worker takes its part of its position's list, which remains a
// subsequence.
//===----------------------------------------------------------------------===//

#include "Hfta/Planning/Pipelines/MakeOrder.h"

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

/// Returns the greatest number of consecutive micro-batches of which no worker
/// of the position has more than `own`.
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

/// Returns, for each position, by how many micro-batches its forward may be
/// ahead of its backward if its workers may have `inFlight` in flight. A
/// position can't be further ahead than the positions before it, which wait for
/// its gradients.
static llvm::SmallVector<int64_t> getWindows(const PipelineShape &shape,
                                             llvm::ArrayRef<int64_t> inFlight) {
  llvm::SmallVector<int64_t> windows;
  for (int64_t p = 0; p < shape.getPositions(); ++p) {
    int64_t window = getWindow(shape, p, inFlight[p]);
    windows.push_back(p == 0 ? window : std::min(window, windows[p - 1]));
  }
  return windows;
}

/// Returns how many micro-batches may be in flight at each position: the
/// shape's limit, or `otherwise` if it has none.
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

/// Returns the greatest length of a round, at most `most`, with which all
/// workers of a position have equally many micro-batches in every round.
static int64_t getRound(const PipelineShape &shape, int64_t most) {
  for (int64_t round = most; round > 1; --round)
    if (round == shape.microBatches ||
        llvm::all_of(shape.replicas, [&](int64_t replicas) {
          return round % replicas == 0 || round < replicas;
        }))
      return round;
  return 1;
}

/// Makes an order of rounds. A round runs the forwards of its micro-batches
/// through all chunks, then their backwards.
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

/// Returns the alternating forwards and backwards of a worker: the backward of
/// micro-batch m comes after the forwards of those below m + `window`.
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

/// Inserts backwards of weights into a list with backwards of inputs: one
/// whenever more than `waiting` are pending, the rest at the end.
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

/// Makes a zero-bubble order. At position p of P, P - p micro-batches are ahead
/// of their backward, as in one_f_one_b; where memory allows, up to 2(P - p) -
/// 1 are, so that the other positions are busy when the last position's
/// gradients arrive. The remaining memory is for pending gradients of weights.
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
/// The parameters of an interleaved order: micro-batches go through the chunks
/// in groups, and each position's backwards are some steps later than its
/// forwards.
struct Interleaving {
  int64_t group;
  /// The number of forwards before the first backward, by position.
  llvm::SmallVector<int64_t> ahead;
};
} // namespace

/// Lists pairs of micro-batch and chunk in the order in which a position runs
/// them. The last group is filled up with numbers beyond the last micro-batch.
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

/// Makes an interleaved order. With thrift 0, forwards are as far ahead as in
/// the literature; with more thrift they are less far ahead, and groups are
/// smaller. Returns nothing if groups would be empty.
static std::optional<Order> makeInterleaved(const PipelineShape &shape,
                                            int64_t thrift) {
  int64_t positions = shape.getPositions();
  int64_t most = *llvm::max_element(shape.replicas);
  int64_t group = positions * most - thrift / 3;
  if (group < 1)
    return std::nullopt;
  // If forwards were further ahead, the first position would wait for gradients
  // that wait for it.
  int64_t step = std::min((2 - thrift % 3) * most, 2 * group / positions);
  Interleaving interleaving{group, {}};
  for (int64_t p = 0; p < positions; ++p)
    interleaving.ahead.push_back(step * (positions - 1 - p) +
                                 (shape.chunks - 1) * group);
  return interleave(shape, interleaving);
}

namespace {
/// Makes the list of one position of a V-shaped pipeline: micro-batches pass
/// chunk 0 on the way down to the last position, and chunk 1 on the way back
/// up.
class VList {
public:
  VList(const PipelineShape &shape, int64_t position)
      : shape(shape), position(position),
        // At least as many micro-batches as fill the pipeline; those beyond the
        // last one are left out of the list.
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
  // The number of positions from this one on.
  int64_t left = shape.getPositions() - position;
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
  // Gradients of weights fill the bubbles at the end.
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
// All orders
//===----------------------------------------------------------------------===//

/// Makes an order that has less in flight the greater the thrift is, down to
/// one micro-batch per worker, which can't deadlock. With even more thrift it
/// returns nothing.
using OrderMaker =
    llvm::function_ref<std::optional<Order>(const PipelineShape &, int64_t)>;

/// Returns the shape with at most M - `thrift` of its M micro-batches in flight
/// at each position; nothing if that is less than one.
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

/// Returns whether no worker has more in flight than the shape allows.
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

/// Verifies the number of chunks for orders that need a certain one.
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

/// Makes the order with the least thrift that keeps to the shape's limits. If
/// positions differ in their replicas, the lists of a position's workers may
/// differ a little. Then all of them get the longest list, which may exceed a
/// limit or make the order invalid.
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

/// Makes an order, with lower limits the greater the thrift, until it fits.
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
      return refuse(
          kind,
          "needs the same number of replicas and groups at each position");
    return makeThatFits(placed, makeVShape);
  case OrderKind::automatic:
  case OrderKind::list:
  case OrderKind::file:
    break;
  }
  return refuse(kind, "needs the costs of stages");
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
