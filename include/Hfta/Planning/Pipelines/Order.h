//===- Order.h - The order of work in a pipeline ----------------*- C++ -*-===//
//
// Orders of the forwards and backwards in a pipeline. The model is cut into
// stages. A *position* of the pipeline consists of one or several workers that
// compute the same stages, each for different micro-batches. A position has one
// stage or, with several chunks, several stages.
//
// An order is a list of actions for each worker. All workers of a position have
// the same list, in which micro-batches are numbered by places: a micro-batch's
// place is its index among the worker's own micro-batches. A worker with fewer
// micro-batches skips the places that it doesn't have.
//
// In every order, the forwards of a stage are in the order of micro-batches,
// and so are its backwards. So the order doesn't influence sums of gradients.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINES_ORDER_H
#define HFTA_PLANNING_PIPELINES_ORDER_H

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
  recompute,     ///< repeats the forward, for values that the backward needs
  backward,      ///< computes the gradients of inputs and weights
  backwardInput, ///< computes the gradients that the previous stage waits for
  backwardWeight ///< computes all other gradients, after `backwardInput`
};

struct Action {
  ActionKind kind = ActionKind::forward;
  int64_t stage = 0;
  int64_t microBatch = 0; ///< its number in the step, or its place

  bool operator==(const Action &other) const {
    return kind == other.kind && stage == other.stage &&
           microBatch == other.microBatch;
  }
  bool operator!=(const Action &other) const { return !(*this == other); }
};

/// Returns the action as in files of orders: the stage, a letter for the kind
/// (F, R, B, I or W, in the order of ActionKind) and the micro-batch, such as
/// "3F0".
std::string nameAction(const Action &action);

/// The assignment of stages to positions.
enum class ChunkPlacement : uint8_t {
  loop, ///< position p of P has stages p, p + P, p + 2P, …
  v     ///< position p has stages p and 2P - 1 - p
};

/// The assignment of stages and micro-batches to workers. Positions, stages,
/// workers and micro-batches are numbered from 0.
struct PipelineShape {
  int64_t microBatches = 1;
  int64_t chunks = 1; ///< stages per position
  ChunkPlacement placement = ChunkPlacement::loop;
  /// The number of workers of each position, at least one.
  llvm::SmallVector<int64_t> replicas = {1};
  /// The number of groups of micro-batches of each position, at least as many
  /// as it has replicas. If empty, each replica is a group.
  llvm::SmallVector<int64_t> groups;
  /// For each position, the number of micro-batches in flight on a worker, that
  /// is, for which it may hold the values that the backwards of all its stages
  /// need. A micro-batch in flight in only one of its stages counts as 1 /
  /// chunks. If the list is empty, or a number is 0, there is no limit.
  llvm::SmallVector<int64_t> inFlight;

  int64_t getPositions() const { return replicas.size(); }
  int64_t getStages() const { return getPositions() * chunks; }
  int64_t getWorkers() const;
  int64_t getPosition(int64_t stage) const;
  int64_t getStage(int64_t position, int64_t chunk) const;
  int64_t getPositionOfWorker(int64_t worker) const;
  int64_t getFirstWorker(int64_t position) const;
  int64_t getGroup(int64_t position, int64_t microBatch) const;
  /// Returns the worker that computes a micro-batch in a stage. Micro-batch m
  /// belongs to group g = m mod groups, which is computed by the position's
  /// worker g mod replicas.
  int64_t getWorker(int64_t stage, int64_t microBatch) const;
  /// Returns the worker's micro-batches in ascending order.
  llvm::SmallVector<int64_t> getMicroBatches(int64_t worker) const;
  /// Returns how many pairs of a micro-batch and a stage may be in flight on a
  /// worker of the position: `inFlight` times the number of chunks; INT64_MAX
  /// if there is no limit.
  int64_t getLimit(int64_t position) const;
  /// Returns whether all positions have the same number of workers with the
  /// same micro-batches. Then the pipeline consists of independent pipelines
  /// with one worker per position.
  bool isUniform() const;
  /// For a uniform shape, returns the one of its independent pipelines that has
  /// the most micro-batches. In it, micro-batches are numbered by places.
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

/// Returns the name of the order in jobs and plans, such as "one_f_one_b";
/// "list" for the order of a list scheduler.
llvm::StringRef stringifyOrderKind(OrderKind kind);
std::optional<OrderKind> symbolizeOrderKind(llvm::StringRef name);
/// Returns whether a named order is for stages of several chunks.
bool isOfSeveralChunks(OrderKind kind);

using ActionList = std::vector<Action>;

struct Order {
  OrderKind kind = OrderKind::file;
  /// The shape for which the order was made, including the placement of chunks.
  PipelineShape shape;
  std::vector<ActionList> workers;
};

/// An error in an order.
struct OrderProblem {
  int64_t worker = -1; ///< the worker; -1 for the order as a whole
  int64_t index = -1;  ///< an index into its list; -1 for the whole list
  std::string message;
};

/// Returns for each position the list that all of its workers follow, with
/// micro-batches numbered by places. The order must be valid.
std::vector<ActionList> getPositionLists(const Order &order);
/// Returns the lists of all positions as text, such as "0F0,0F1,0B0", in the
/// form of files of orders.
std::vector<std::string> namePositionLists(const Order &order);
/// Returns the list of each worker, given the lists of all positions.
std::vector<ActionList> getWorkerLists(const PipelineShape &shape,
                                       llvm::ArrayRef<ActionList> positions);

/// Returns the first problem of an order, or nothing if it is valid. An order
/// is invalid
///
/// - if an action is missing, or occurs twice or on the wrong worker;
/// - if workers of one position have different lists;
/// - if a stage processes a worker's micro-batches out of order;
/// - if more micro-batches are in flight than the shape allows; or
/// - if it deadlocks, because actions wait for each other in a circle.
std::optional<OrderProblem> verifyOrder(const Order &order);

/// Returns for each worker the largest number of pairs of a micro-batch and a
/// stage that are in flight at the same time.
std::vector<int64_t> getPeaks(const Order &order);

/// A part of the time in which a micro-batch is in flight in a stage.
enum class Span : uint8_t {
  whole,           ///< from its forward to the end of its backward
  fromRecompute,   ///< from its recomputation, if it has one, to that end
  recomputeToInput ///< from its recomputation to the gradients of its inputs
};

/// Returns for each stage how many instances are needed of a value that is live
/// during this span. The n-th micro-batch of a worker uses instance n mod
/// instances; the result is for the worker that needs most.
std::vector<int64_t> getInstances(const Order &order, Span span = Span::whole);

/// Returns for each stage whether the order recomputes micro-batches there.
std::vector<bool> getRecomputed(const Order &order);

/// Reads an order from a file in the form of torch.distributed.pipelining, with
/// actions but no communication. The file has a row per worker, such as
/// "0F0,1I3,,2W1"; empty entries are skipped. Instead, it may have a row per
/// position, with micro-batches numbered by places. The order is verified.
/// `file` is the name in error messages "FILE:ROW:COLUMN: …".
llvm::Expected<Order> readOrder(llvm::StringRef text, llvm::StringRef file,
                                const PipelineShape &shape);
std::string writeOrder(const Order &order);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_ORDER_H
