//===- Order.h - What a pipeline's workers do one after the other -*- C++
//-*-===//
//
// A model is cut into stages. A *position* of the pipeline is one or more
// workers that do the same stages, each for other micro-batches; with several
// chunks it has several stages. An order is a list of actions for each worker.
// All workers of a position have the same list, in terms of places: the place
// of a micro-batch is its number among the worker's own. Who has fewer
// micro-batches leaves out those that it hasn't got.
//
// Whatever the order: the forwards of a stage are in the order of
// micro-batches, and so are its backwards, so that sums of gradients don't
// depend on it.
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

/// What is done with a micro-batch in a stage.
enum class ActionKind : uint8_t {
  forward,
  recompute,     ///< forward again, for what backward needs of it
  backward,      ///< gradients of inputs and weights
  backwardInput, ///< the gradients that the stage before waits for
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

/// As a file of orders writes it: 3F0, 3R0, 3B0, 3I0 or 3W0.
std::string nameAction(const Action &action);

/// Which positions have which stages.
enum class ChunkPlacement : uint8_t {
  loop, ///< of P positions, position p has stages p, p + P, p + 2P, …
  v     ///< position p has stages p and 2P - 1 - p
};

/// Who does what. Positions, stages, workers and micro-batches count from 0.
struct PipelineShape {
  int64_t microBatches = 1;
  int64_t chunks = 1; ///< stages of a position
  ChunkPlacement placement = ChunkPlacement::loop;
  /// Workers of each position, at least one.
  llvm::SmallVector<int64_t> replicas = {1};
  /// Of each position, how many groups of micro-batches there are; empty: as
  /// many as replicas. Never less than these.
  llvm::SmallVector<int64_t> groups;
  /// Of each position, for how many micro-batches a worker may hold what the
  /// backward of all its stages needs; one stage of these counts 1 / chunks.
  /// Empty, or 0: as many as the order wants.
  llvm::SmallVector<int64_t> inFlight;

  int64_t getPositions() const { return replicas.size(); }
  int64_t getStages() const { return getPositions() * chunks; }
  int64_t getWorkers() const;
  int64_t getPosition(int64_t stage) const;
  int64_t getStage(int64_t position, int64_t chunk) const;
  int64_t getPositionOfWorker(int64_t worker) const;
  int64_t getFirstWorker(int64_t position) const;
  int64_t getGroup(int64_t position, int64_t microBatch) const;
  /// Micro-batch m belongs to group c = m mod groups, which is the position's
  /// worker c mod replicas.
  int64_t getWorker(int64_t stage, int64_t microBatch) const;
  /// The worker's micro-batches, in ascending order.
  llvm::SmallVector<int64_t> getMicroBatches(int64_t worker) const;
  /// In stages; INT64_MAX: no limit.
  int64_t getLimit(int64_t position) const;
  /// Whether all positions have the same workers, with the same micro-batches:
  /// then there are pipelines that have nothing to do with each other.
  bool isUniform() const;
  /// Of a uniform shape: that pipeline of one worker a position which has the
  /// most micro-batches, by their places.
  PipelineShape getLongestPipeline() const;
};

enum class OrderKind : uint8_t {
  automatic,
  allForwardsFirst,
  oneForwardOneBackward,
  interleaved,
  zeroBubble,
  vShape,
  list, ///< by a list scheduler
  file
};

/// As jobs and plans call it: one_f_one_b. A list scheduler's is "list".
llvm::StringRef stringifyOrderKind(OrderKind kind);
std::optional<OrderKind> symbolizeOrderKind(llvm::StringRef name);
/// Whether its stages have several chunks, of orders that have a name.
bool isOfSeveralChunks(OrderKind kind);

using ActionList = std::vector<Action>;

struct Order {
  OrderKind kind = OrderKind::file;
  /// With the placement that the order is made for.
  PipelineShape shape;
  std::vector<ActionList> workers;
};

/// What is wrong with an order, and where.
struct OrderProblem {
  int64_t worker = -1; ///< -1: with the order as a whole
  int64_t index = -1;  ///< in the worker's list; -1: with the whole list
  std::string message;
};

/// What the workers of each position do: in these lists, the micro-batches are
/// places. Of a valid order.
std::vector<ActionList> getPositionLists(const Order &order);
/// A row each of such lists, as a file of orders has it: "0F0,0F1,0B0".
std::vector<std::string> namePositionLists(const Order &order);
/// The list of each worker, of such lists.
std::vector<ActionList> getWorkerLists(const PipelineShape &shape,
                                       llvm::ArrayRef<ActionList> positions);

/// Refuses an order that misses an action or has one twice or on the wrong
/// worker, whose workers of one position don't do the same, in which a stage
/// takes a worker's micro-batches in another order than theirs, that has more
/// in flight than the shape allows, or that never ends because actions wait for
/// each other in a circle.
std::optional<OrderProblem> verifyOrder(const Order &order);

/// Of each worker, for how many micro-batches it has at most, at one time, what
/// backward needs; in stages.
std::vector<int64_t> getPeaks(const Order &order);

/// A part of the time in which a micro-batch is in flight in a stage.
enum class Span : uint8_t {
  whole,           ///< from its forward to the end of its backward
  fromRecompute,   ///< from what is computed again, if anything is, on
  recomputeToInput ///< the same up to the gradients of inputs
};

/// Of each stage, how many instances values that are needed in the span need on
/// the worker that has most of them, if a worker's n-th micro-batch has
/// instance n mod instances.
std::vector<int64_t> getInstances(const Order &order, Span span = Span::whole);

/// Of each stage, whether micro-batches are computed again there.
std::vector<bool> getRecomputed(const Order &order);

/// Reads an order from a file as torch.distributed.pipelining writes it, of
/// actions without communication: a row a worker, "0F0,1I3,,2W1"; what is empty
/// is skipped. Or a row a position, with places for micro-batches, where that
/// isn't the same. `file` is how messages call it: "FILE:ROW:COLUMN: …". The
/// order is verified.
llvm::Expected<Order> readOrder(llvm::StringRef text, llvm::StringRef file,
                                const PipelineShape &shape);
std::string writeOrder(const Order &order);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_ORDER_H
