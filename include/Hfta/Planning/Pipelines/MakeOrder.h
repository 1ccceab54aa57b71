//===- MakeOrder.h - Orders for any pipeline --------------------*- C++ -*-===//
//
// Makes the named orders for any number of positions, replicas, chunks and
// micro-batches, and chooses among orders by simulation.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINES_MAKEORDER_H
#define HFTA_PLANNING_PIPELINES_MAKEORDER_H

#include "Hfta/Planning/Pipelines/PipelineSimulation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta::planning {

/// Makes one of the orders that don't depend on costs. The shape's `inFlight`
/// limits how many micro-batches a position has in flight. Without that limit,
/// the number in flight for position p of P is:
///
///   all_forwards_first  all micro-batches
///   one_f_one_b         P - p
///   zero_bubble         P ("H1"); with 2P - 1, weights' gradients fill the
///                       bubbles at the beginning too ("2P")
///   interleaved         ((P - p - 1) 2 + (V - 1) P + 1) / V, with V chunks
///   v_shape             P, with P micro-batches or more
///
/// The error says why the shape isn't possible for this order.
llvm::Expected<Order> makeOrder(OrderKind kind, const PipelineShape &shape);

/// Makes the order of this kind in which no worker has more micro-batches in
/// flight than the shape allows. In one_f_one_b, a stage that runs further
/// ahead than its place in the pipeline requires delays the stages before it.
/// Such a stage gets fewer in flight if this makes a step of equally fast
/// stages shorter.
llvm::Expected<Order> makeLimitedOrder(OrderKind kind,
                                       const PipelineShape &shape);

/// Settings of the list scheduler. An idle worker runs a backward if one can
/// begin, else a forward, else a computation of weight gradients.
struct ListPolicy {
  bool splitsBackward = true;
  /// How long a worker waits for a more urgent action rather than begin a less
  /// urgent one, as a fraction of the duration of the latter.
  double patience = 0;
};

/// Makes an order for stages of different speeds by list scheduling: simulated
/// workers run actions as soon as they are ready, and the order is that in
/// which actions begin. All workers of a position follow the worker that is
/// first to reach a point of its list. The order may be incomplete if positions
/// have different numbers of replicas.
Order makeListOrder(const PipelineShape &shape, const PipelineWork &work,
                    const WorkerPlaces &places, const ListPolicy &policy);

/// Returns whether the memory suffices for an order.
using OrderFilter = llvm::function_ref<bool(const Order &)>;

/// An order with its simulated run.
struct ChosenOrder {
  PipelineRun run;
  /// For each stage, the number of instances of received values on a worker.
  /// With these, the order can't deadlock with any transport, and messages
  /// rarely wait for a free instance.
  std::vector<int64_t> slots;
};

/// The numbers by which orders, and the plans that use them, are compared.
struct OrderMeasure {
  double length = 0;    ///< seconds per step
  int64_t inFlight = 0; ///< micro-batches in flight, summed over all workers
};

/// Returns the index of the best order, or nothing if there are none. Durations
/// that exceed the shortest one by up to a hundredth count as equal, because
/// estimates aren't more exact. Among these orders, the one with the fewest
/// micro-batches in flight is best, then the shortest, then the first.
std::optional<size_t> pickBest(llvm::ArrayRef<OrderMeasure> measures);

/// Decreases by one the number of micro-batches in flight of each stage that
/// needs too much memory. If each of these already has only one, decreases the
/// numbers of all stages. Returns whether any number was decreased.
bool shrinkInFlight(llvm::MutableArrayRef<int64_t> inFlight,
                    llvm::ArrayRef<bool> isTooLarge);

/// Simulates the orders of this kind that fit the shape, and returns the best
/// one; of several, the first in the order of OrderKind. `automatic` means all
/// kinds; with several chunks, only those with the shape's placement of chunks.
/// Orders that `fits` rejects are skipped. If the shape doesn't limit the
/// number in flight, several numbers are tried.
llvm::Expected<ChosenOrder> chooseOrder(OrderKind kind,
                                        const PipelineShape &shape,
                                        const PipelineWork &work,
                                        const WorkerPlaces &places = {},
                                        OrderFilter fits = nullptr);

/// Inserts the recomputation of these stages' micro-batches directly before
/// their backwards, unless the order has it already. An order that was chosen
/// by times should have been chosen with the time of recomputation included.
void insertRecompute(Order &order, llvm::ArrayRef<bool> stages);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_MAKEORDER_H
