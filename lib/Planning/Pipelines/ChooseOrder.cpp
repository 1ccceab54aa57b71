//===- ChooseOrder.cpp - The shortest of several orders -------------------===//

#include "Hfta/Planning/Pipelines/MakeOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// A place for one more received value is worth its memory only if it shortens
/// a step by at least a thousandth.
static constexpr double kWorthwhile = 1.001;
/// Orders whose lengths differ by less than this factor count as equally good,
/// since times aren't known more exactly.
static constexpr double kAsGood = 1.01;

namespace {
class OrderChooser {
public:
  OrderChooser(const PipelineShape &shape, const PipelineWork &work,
               const WorkerPlaces &places, OrderFilter fits)
      : shape(shape), work(work), places(places), fits(fits) {}

  /// Considers all orders of a kind that are worth trying.
  void consider(OrderKind kind);
  llvm::Expected<ChosenOrder> take(OrderKind kind);

private:
  PipelineShape limit(llvm::function_ref<int64_t(int64_t)> wanted) const;
  void considerStatic(OrderKind kind, const PipelineShape &limited);
  void considerLists(OrderKind kind, ChunkPlacement placement);
  void compare(const Order &order);

  const PipelineShape &shape;
  const PipelineWork &work;
  const WorkerPlaces &places;
  OrderFilter fits;
  /// The candidates in the order in which they were tried.
  std::vector<ChosenOrder> candidates;
  std::vector<OrderMeasure> measures;
  std::string refusal;
};
} // namespace

/// Returns the shape with at most `wanted(p)` micro-batches in flight at
/// position p, or with the shape's own limit where that is lower.
PipelineShape
OrderChooser::limit(llvm::function_ref<int64_t(int64_t)> wanted) const {
  PipelineShape limited = shape;
  limited.inFlight.resize(shape.getPositions(), 0);
  for (int64_t p = 0; p < shape.getPositions(); ++p) {
    int64_t &most = limited.inFlight[p];
    most = most == 0 ? wanted(p) : std::min(most, wanted(p));
  }
  return limited;
}

/// Simulates an order with few places for received values, and with one more
/// for each stage. Returns the latter run only if its step is shorter, as
/// messages then needn't wait for a free place. Returns nothing if neither run
/// ends.
static std::optional<ChosenOrder> runWithSlots(const Order &order,
                                               const PipelineWork &work,
                                               const WorkerPlaces &places) {
  PipelineTransport transport;
  transport.slots = chooseSlots(order, work, places);
  std::optional<ChosenOrder> best;
  for (int64_t more : {0, 1}) {
    for (int64_t &slots : transport.slots)
      slots += more;
    PipelineRun run = simulateOrder(order, work, places, transport);
    if (run.result.hasEnded() &&
        (!best || run.getLength() * kWorthwhile < best->run.getLength()))
      best = ChosenOrder{std::move(run), transport.slots};
  }
  return best;
}

void OrderChooser::compare(const Order &order) {
  if (fits && !fits(order)) {
    refusal = (stringifyOrderKind(order.kind) + " needs more memory").str();
    return;
  }
  std::vector<int64_t> peaks = getPeaks(order);
  int64_t inFlight = std::accumulate(peaks.begin(), peaks.end(), int64_t{0});
  if (std::optional<ChosenOrder> next = runWithSlots(order, work, places)) {
    measures.push_back({next->run.getLength(), inFlight});
    candidates.push_back(std::move(*next));
  }
}

void OrderChooser::considerStatic(OrderKind kind,
                                  const PipelineShape &limited) {
  if (llvm::Expected<Order> order = makeOrder(kind, limited))
    compare(*order);
  else
    refusal = llvm::toString(order.takeError());
}

void OrderChooser::considerLists(OrderKind kind, ChunkPlacement placement) {
  int64_t positions = shape.getPositions();
  PipelineShape limited = limit([&](int64_t) { return 2 * positions; });
  limited.placement = placement;
  for (bool splitsBackward : {false, true})
    for (double patience : {0.0, 0.5}) {
      Order order =
          makeListOrder(limited, work, places, {splitsBackward, patience});
      order.kind = kind;
      // If positions differ in their replicas, a worker that executes another
      // worker's list may wait forever.
      if (!verifyOrder(order))
        compare(order);
    }
}

void OrderChooser::consider(OrderKind kind) {
  int64_t positions = shape.getPositions();
  bool isV = shape.placement == ChunkPlacement::v;
  switch (kind) {
  case OrderKind::automatic:
    for (OrderKind each :
         {OrderKind::allForwardsFirst, OrderKind::oneForwardOneBackward,
          OrderKind::interleaved, OrderKind::zeroBubble, OrderKind::vShape,
          OrderKind::list})
      if (shape.chunks == 1 || (each == OrderKind::vShape) == isV)
        consider(each);
    break;
  case OrderKind::allForwardsFirst:
  case OrderKind::interleaved:
    considerStatic(kind, shape);
    break;
  case OrderKind::oneForwardOneBackward:
    considerStatic(kind, limit([&](int64_t p) { return positions - p; }));
    considerStatic(kind,
                   limit([&](int64_t p) { return 2 * (positions - p) - 1; }));
    considerStatic(kind, limit([&](int64_t) { return shape.microBatches; }));
    break;
  case OrderKind::zeroBubble:
    for (int64_t more : {int64_t{0}, positions / 2, positions - 1})
      considerStatic(kind, limit([&](int64_t) { return positions + more; }));
    break;
  case OrderKind::vShape:
    considerStatic(kind, shape);
    if (shape.chunks == 2)
      considerLists(kind, ChunkPlacement::v);
    break;
  case OrderKind::list:
    considerLists(kind, ChunkPlacement::loop);
    break;
  case OrderKind::file:
    break;
  }
}

llvm::Expected<ChosenOrder> OrderChooser::take(OrderKind kind) {
  if (std::optional<size_t> best = pickBest(measures))
    return std::move(candidates[*best]);
  if (refusal.empty())
    refusal = (stringifyOrderKind(kind) + " has no order").str();
  return llvm::createStringError(refusal);
}

std::optional<size_t>
planning::pickBest(llvm::ArrayRef<OrderMeasure> measures) {
  double least = std::numeric_limits<double>::infinity();
  for (const OrderMeasure &measure : measures)
    least = std::min(least, measure.length);
  auto rank = [&](size_t place) {
    return std::make_pair(measures[place].inFlight, measures[place].length);
  };
  std::optional<size_t> best;
  for (size_t place = 0; place < measures.size(); ++place)
    if (measures[place].length <= least * kAsGood &&
        (!best || rank(place) < rank(*best)))
      best = place;
  return best;
}

bool planning::shrinkInFlight(llvm::MutableArrayRef<int64_t> inFlight,
                              llvm::ArrayRef<bool> isTooLarge) {
  bool hasShrunk = false;
  auto shrink = [&](bool all) {
    for (auto [most, isLarge] : llvm::zip_equal(inFlight, isTooLarge))
      if (most > 1 && (all || isLarge)) {
        --most;
        hasShrunk = true;
      }
  };
  shrink(/*all=*/false);
  if (!hasShrunk)
    shrink(/*all=*/true);
  return hasShrunk;
}

llvm::Expected<ChosenOrder> planning::chooseOrder(OrderKind kind,
                                                  const PipelineShape &shape,
                                                  const PipelineWork &work,
                                                  const WorkerPlaces &places,
                                                  OrderFilter fits) {
  OrderChooser chooser(shape, work, places, fits);
  chooser.consider(kind);
  return chooser.take(kind);
}

/// Returns the length of a step in which all stages and all replicas take the
/// same time.
static Ticks getEvenLength(const Order &order) {
  PipelineWork work = PipelineWork::getEqual(order.shape.getStages(), 1, 1, 1);
  return simulateOrder(order, work).result.makespan;
}

llvm::Expected<Order> planning::makeLimitedOrder(OrderKind kind,
                                                 const PipelineShape &shape) {
  llvm::Expected<Order> best = makeOrder(kind, shape);
  if (!best || kind != OrderKind::oneForwardOneBackward ||
      shape.inFlight.empty())
    return best;
  int64_t positions = shape.getPositions();
  for (int64_t sends : {1, 0}) {
    // With sends = 1, sends take as long as stages and count as stages; with
    // sends = 0 they take no time.
    PipelineShape fewer = shape;
    for (auto [p, most] : llvm::enumerate(fewer.inFlight)) {
      int64_t wanted =
          (1 + sends) * (positions - static_cast<int64_t>(p)) - sends;
      most = most == 0 ? wanted : std::min(most, wanted);
    }
    llvm::Expected<Order> next = makeOrder(kind, fewer);
    if (!next)
      return next;
    if (getEvenLength(*next) < getEvenLength(*best)) {
      best = std::move(next);
      best->shape = shape;
    }
  }
  return best;
}
