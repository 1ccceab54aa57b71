//===- MakeOrder.h - Orders for any pipeline --------------------*- C++ -*-===//
//
// Named orders for any number of positions, replicas, chunks and micro-batches,
// and the choice of one by simulation.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MAKEORDER_H
#define HFTA_PLANNING_MAKEORDER_H

#include "Hfta/Planning/PipelineSimulation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta::planning {

/// Makes one of the orders that don't depend on costs. The shape's `inFlight`
/// limits how far forwards may run ahead of their backwards. Without it,
/// position p of P has in flight:
///   all_forwards_first  all micro-batches
///   one_f_one_b         P - p
///   zero_bubble         P ("H1"); with 2P - 1, weights' gradients fill the
///                       bubbles at the beginning too ("2P")
///   interleaved         ((P - p - 1) 2 + (V - 1) P + 1) / V, of V chunks
///   v_shape             P, with P micro-batches or more
///
/// An error says what of the shape doesn't fit the order.
llvm::Expected<Order> makeOrder(OrderKind kind, const PipelineShape &shape);

/// Makes the order of this kind in which workers have at most as many in flight
/// as the shape allows. In one_f_one_b, a stage that runs further ahead than
/// its place in the pipeline requires keeps the stages before it waiting; so it
/// gets fewer in flight where this makes a step of equal stages shorter.
llvm::Expected<Order> makeLimitedOrder(OrderKind kind,
                                       const PipelineShape &shape);

/// Settings of the list scheduler. A free worker does a backward if one can
/// begin, else a forward, else gradients of weights.
struct ListPolicy {
  bool splitsBackward = true;
  /// How long it waits for a more urgent action, as a share of the time that
  /// the less urgent one takes.
  double patience = 0;
};

/// Makes an order for uneven times: the order in which simulated workers, which
/// do whatever is ready, begin their actions. Of a position's workers, the
/// first to reach a point in its list decides for all. Where positions have
/// different numbers of replicas this may fail, with an order that isn't
/// complete.
Order makeListOrder(const PipelineShape &shape, const PipelineWork &work,
                    const WorkerPlaces &places, const ListPolicy &policy);

/// Returns whether there is enough memory for an order.
using OrderFilter = llvm::function_ref<bool(const Order &)>;

/// An order and its simulated run.
struct ChosenOrder {
  PipelineRun run;
  /// For each stage, the number of instances of received values on a worker:
  /// with as many, the order ends whatever the transport, and messages hardly
  /// need to wait.
  std::vector<int64_t> slots;
};

/// The figures by which orders, and plans with them, are compared.
struct OrderMeasure {
  double length = 0;    ///< seconds per step
  int64_t inFlight = 0; ///< micro-batches, over all workers
};

/// Returns the index of the best one, or nothing if there are none. Since times
/// aren't known more exactly, those that take up to a hundredth longer than the
/// shortest count as equal. Of these it picks the one with the least in flight,
/// then the shortest, then the first.
std::optional<size_t> pickBest(llvm::ArrayRef<OrderMeasure> measures);

/// Lowers the micro-batches in flight by one in stages that need too much
/// memory; if each of these has only one, in all stages. Returns whether any
/// number could be lowered.
bool shrinkInFlight(llvm::MutableArrayRef<int64_t> inFlight,
                    llvm::ArrayRef<bool> isTooLarge);

/// Simulates the orders of this kind that fit the shape and picks the best one,
/// in the order of OrderKind. `automatic` stands for all kinds; with several
/// chunks, only those that place chunks as the shape does. Orders that `fits`
/// rejects aren't considered. Where the shape's `inFlight` has no number,
/// several are tried.
llvm::Expected<ChosenOrder> chooseOrder(OrderKind kind,
                                        const PipelineShape &shape,
                                        const PipelineWork &work,
                                        const WorkerPlaces &places = {},
                                        OrderFilter fits = nullptr);

/// Inserts the recomputation of these stages' micro-batches right before their
/// backward, where the order doesn't recompute them already. If the order is
/// chosen by times, these should include the time of recomputing.
void insertRecompute(Order &order, llvm::ArrayRef<bool> stages);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MAKEORDER_H
