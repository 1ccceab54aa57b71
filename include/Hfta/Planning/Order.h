//===- Order.h - The order of work in a pipeline ----------------*- C++ -*-===//
//
// A model is cut into stages. A *position* of the pipeline is one or more
// workers that do the same stages, each for different micro-batches; with
// several chunks, a position has several stages. An order is a list of actions
// for each worker. All workers of a position have the same list, in terms of
// places: the place of a micro-batch is its index among the worker's own
// micro-batches. A worker with fewer micro-batches leaves out the places that
// it doesn't have.
//
// In every order, the forwards of a stage are in the order of micro-batches,
// and so are its backwards, so that sums of gradients don't depend on the
// order.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_ORDER_H
#define HFTA_PLANNING_ORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// An action on a micro-batch in a stage.
enum class ActionKind : uint8_t {
  forward,
  recompute,     ///< forward again, for the values that backward needs
  backward,      ///< gradients of inputs and weights
  backwardInput, ///< the gradients that the previous stage waits for
  backwardWeight ///< the rest, after `backwardInput`
};

struct Action {
  ActionKind kind = ActionKind::forward;
  int64_t stage = 0;
  int64_t microBatch = 0; ///< its number in the step

  bool operator==(const Action &other) const {
    return kind == other.kind && stage == other.stage &&
           microBatch == other.microBatch;
  }
  bool operator!=(const Action &other) const { return !(*this == other); }
};

/// Returns the action as a file of orders writes it: 3F0, 3R0, 3B0, 3I0 or 3W0.
std::string nameAction(const Action &action);

/// The assignment of stages to positions.
enum class ChunkPlacement : uint8_t {
  loop, ///< position p of P has stages p, p + P, p + 2P, …
  v     ///< position p has stages p and 2P - 1 - p
};

/// The assignment of stages and micro-batches to workers. Positions, stages,
/// workers and micro-batches count from 0.
struct PipelineShape {
  int64_t microBatches = 1;
  int64_t chunks = 1; ///< stages per position
  ChunkPlacement placement = ChunkPlacement::loop;
  /// The number of workers of each position, at least one.
  llvm::SmallVector<int64_t> replicas = {1};
  /// The number of groups of micro-batches of each position, never less than
  /// its replicas; empty: as many as replicas.
  llvm::SmallVector<int64_t> groups;
  /// For each position, the number of micro-batches for which a worker may hold
  /// the values that the backward of all its stages needs; holding those of one
  /// stage counts 1 / chunks. Empty, or 0: as many as the order wants.
  llvm::SmallVector<int64_t> inFlight;

  int64_t getPositions() const { return replicas.size(); }
  int64_t getStages() const { return getPositions() * chunks; }
  int64_t getWorkers() const;
  int64_t getPosition(int64_t stage) const;
  int64_t getStage(int64_t position, int64_t chunk) const;
  int64_t getPositionOfWorker(int64_t worker) const;
  int64_t getFirstWorker(int64_t position) const;
  int64_t getGroup(int64_t position, int64_t microBatch) const;
  /// Returns the worker of a micro-batch in a stage. Micro-batch m belongs to
  /// group c = m mod groups, which the position's worker c mod replicas
  /// computes.
  int64_t getWorker(int64_t stage, int64_t microBatch) const;
  /// Returns the worker's micro-batches, in ascending order.
  llvm::SmallVector<int64_t> getMicroBatches(int64_t worker) const;
  /// Returns the limit of a position in stages; INT64_MAX: no limit.
  int64_t getLimit(int64_t position) const;
  /// Returns whether all positions have equally many workers with the same
  /// micro-batches: then the shape consists of independent pipelines.
  bool isUniform() const;
  /// Returns, for a uniform shape, the pipeline of one worker per position that
  /// has the most micro-batches, with places for micro-batches.
  PipelineShape getLongestPipeline() const;
};

enum class OrderKind : uint8_t {
  automatic,
  allForwardsFirst,
  oneForwardOneBackward,
  interleaved,
  zeroBubble,
  vShape,
  list, ///< made by a list scheduler
  file
};

/// Returns the name in jobs and plans, such as one_f_one_b. That of a list
/// scheduler's order is "list".
llvm::StringRef stringifyOrderKind(OrderKind kind);
std::optional<OrderKind> symbolizeOrderKind(llvm::StringRef name);
/// Returns whether the stages of a named order have several chunks.
bool isOfSeveralChunks(OrderKind kind);

using ActionList = std::vector<Action>;

struct Order {
  OrderKind kind = OrderKind::file;
  /// The shape, with the placement of chunks that the order is made for.
  PipelineShape shape;
  std::vector<ActionList> workers;
};

/// An error in an order, and its place.
struct OrderProblem {
  int64_t worker = -1; ///< -1: the order as a whole
  int64_t index = -1;  ///< index in the worker's list; -1: the whole list
  std::string message;
};

/// Returns a list for each position, with places for micro-batches, which all
/// of its workers follow. The order must be valid.
std::vector<ActionList> getPositionLists(const Order &order);
/// Returns the lists of all positions as rows of a file of orders:
/// "0F0,0F1,0B0".
std::vector<std::string> namePositionLists(const Order &order);
/// Returns the list of each worker, given those of positions.
std::vector<ActionList> getWorkerLists(const PipelineShape &shape,
                                       llvm::ArrayRef<ActionList> positions);

/// Verifies an order. Refused is an order that misses an action or has one
/// twice or on the wrong worker, whose workers of one position have different
/// lists, in which a stage takes a worker's micro-batches out of order, that
/// has more in flight than the shape allows, or that never ends because actions
/// wait for each other in a circle.
std::optional<OrderProblem> verifyOrder(const Order &order);

/// Returns, for each worker, the most micro-batches for which it holds at one
/// time what backward needs; counted in stages.
std::vector<int64_t> getPeaks(const Order &order);

/// A part of the time in which a micro-batch is in flight in a stage.
enum class Span : uint8_t {
  whole,           ///< from its forward to the end of its backward
  fromRecompute,   ///< from its recomputation on, if there is one
  recomputeToInput ///< from its recomputation to the gradients of inputs
};

/// Returns, for each stage, how many instances are needed of a value that lives
/// for this span, on the worker that needs the most, if a worker's n-th
/// micro-batch uses instance n mod instances.
std::vector<int64_t> getInstances(const Order &order, Span span = Span::whole);

/// Returns, for each stage, whether micro-batches are recomputed there.
std::vector<bool> getRecomputed(const Order &order);

/// Reads an order from a file as torch.distributed.pipelining writes it, of
/// actions without communication: a row per worker, "0F0,1I3,,2W1"; empty
/// entries are skipped. Alternatively, a row per position, with places for
/// micro-batches, if that is different. `file` is the name in messages:
/// "FILE:ROW:COLUMN: …". The order is verified.
llvm::Expected<Order> readOrder(llvm::StringRef text, llvm::StringRef file,
                                const PipelineShape &shape);
std::string writeOrder(const Order &order);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_ORDER_H
