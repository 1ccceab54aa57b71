//===- MakeOrder.h - Orders for any pipeline --------------------*- C++ -*-===//
//
// Orders with names, for any number of positions, replicas, chunks and
// micro-batches, and the choice of one by simulation.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MAKEORDER_H
#define HFTA_PLANNING_MAKEORDER_H

#include "Hfta/Planning/PipelineSimulation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta::planning {

/// One of the orders that are the same whatever anything costs: the shape's
/// `inFlight` says how far forwards may run ahead of their backwards. Without
/// it they have for P positions of which p is one:
///   all_forwards_first  all micro-batches
///   one_f_one_b         P - p
///   zero_bubble         P ("H1"); with 2P - 1, weights' gradients fill the
///                       bubbles at the beginning too ("2P")
///   interleaved         ((P - p - 1) 2 + (V - 1) P + 1) / V, of V chunks
///   v_shape             P, with P micro-batches or more
/// An error says what of the shape doesn't fit the order.
llvm::Expected<Order> makeOrder(OrderKind kind, const PipelineShape &shape);

/// The order of this kind in which workers have at most as many in flight as
/// the shape says. In one_f_one_b a stage that is further ahead than its place
/// asks for keeps those before it waiting, so that it has fewer where this
/// makes a step of equal stages shorter.
llvm::Expected<Order> makeLimitedOrder(OrderKind kind,
                                       const PipelineShape &shape);

/// Choices of the list scheduler. A worker that is free does the backward, else
/// the forward, else the gradients of weights that it can.
struct ListPolicy {
  bool splitsBackward = true;
  /// Waits for something more urgent that comes within so much of the time that
  /// the less urgent takes.
  double patience = 0;
};

/// For uneven times: the order in which the simulation's workers, which do what
/// is there, come to do it. Of a position's workers the first to come to a
/// point decides for all. Where positions have different replicas this may come
/// to nothing, with an order that isn't complete.
Order makeListOrder(const PipelineShape &shape, const PipelineWork &work,
                    const WorkerPlaces &places, const ListPolicy &policy);

/// Whether there is room for an order.
using OrderFilter = llvm::function_ref<bool(const Order &)>;

/// An order and what came of it.
struct ChosenOrder {
  PipelineRun run;
  /// Of each stage, how many instances of received values a worker has: with so
  /// many it ends whatever the transport, and messages need hardly wait.
  std::vector<int64_t> slots;
};

/// What orders, and plans with them, are compared by.
struct OrderMeasure {
  double length = 0;    ///< seconds of a step
  int64_t inFlight = 0; ///< micro-batches, of all workers
};

/// The place of the best one; none of none. Of the shortest and those that take
/// up to a hundredth longer, as times aren't known better, it is the one with
/// least in flight, of equal ones the shortest, then the first.
std::optional<size_t> pickBest(llvm::ArrayRef<OrderMeasure> measures);

/// Stages that need too much memory get one micro-batch less in flight; where
/// each of them has one, all stages do. Whether any had more than one.
bool shrinkInFlight(llvm::MutableArrayRef<int64_t> inFlight,
                    llvm::ArrayRef<bool> isTooLarge);

/// Simulates the orders of this kind that fit the shape, `automatic` those of
/// all kinds, of several chunks those that place them as the shape does, and
/// picks the best one, in the order of OrderKind. Those that `fits` refuses
/// aren't among them. Where the shape's `inFlight` has no number, several are
/// tried.
llvm::Expected<ChosenOrder> chooseOrder(OrderKind kind,
                                        const PipelineShape &shape,
                                        const PipelineWork &work,
                                        const WorkerPlaces &places = {},
                                        OrderFilter fits = nullptr);

/// Recomputes micro-batches of these stages right before their backward, those
/// that the order doesn't recompute already. Where an order is chosen by times,
/// these should contain that of recomputing.
void insertRecompute(Order &order, llvm::ArrayRef<bool> stages);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MAKEORDER_H
