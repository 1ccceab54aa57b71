//===- RunningStatistics.cpp - Updates of running statistics --------------===//
//
// The statistics of a micro-batch depend on it alone, but running statistics
// pass from one micro-batch to the next. The ops that update running statistics
// are found by what they read and write, so that a separate task can apply them
// to all micro-batches in order, wherever each of them was computed.
//===----------------------------------------------------------------------===//

#include "Tasks/RunningStatistics.h"
#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Tasks/CopyUses.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

class StatisticsFinder {
public:
  StatisticsFinder(TaskBuilder &tasks, Block &step) : tasks(tasks), step(step) {
    for (auto write : step.getOps<WriteOp>()) {
      VariableOp variable = tasks.lookup(write.getVariable());
      if (variable.getRole() != Role::statistics)
        continue;
      variables.insert(variable);
      writes[variable].push_back(write);
    }
  }

  /// Finds the ops that are used only to write statistics.
  DenseSet<Operation *> find() {
    do {
      findFed();
      findServing();
    } while (keepUsedByForward());
    return serving;
  }

  /// The reads of statistics whose values the forward itself uses.
  SmallVector<ReadOp> ofForward;

private:
  bool isOfStatistic(WriteOp write) const {
    return variables.contains(tasks.lookup(write.getVariable()));
  }
  /// Returns whether an op reads a statistic that may leave the forward. One
  /// copy's statistic that only other copies' forwards write stays as it is.
  bool isOfStatistic(ReadOp read) const {
    VariableOp variable = tasks.lookup(read.getVariable());
    return variables.contains(variable) &&
           llvm::any_of(writes.lookup(variable), [&](WriteOp write) {
             return mayAccessSameCopy(read, write);
           });
  }
  void findFed();
  void findServing();
  bool keepUsedByForward();
  bool isWorthMoving(Operation &op) const;

  TaskBuilder &tasks;
  Block &step;
  DenseSet<Operation *> variables; ///< statistics that may leave the forward
  DenseMap<Operation *, SmallVector<WriteOp, 1>>
      writes;                ///< those of statistics
  DenseSet<Operation *> fed; ///< ops that depend on old values
  DenseSet<Operation *> serving;
};

} // namespace

void StatisticsFinder::findFed() {
  fed.clear();
  for (Operation &op : step) {
    auto read = dyn_cast<ReadOp>(op);
    if ((read && isOfStatistic(read)) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return fed.contains(operand.getDefiningOp());
        }))
      fed.insert(&op);
  }
}

/// Returns whether a value is computed from constants and run-time scalars
/// alone, so that it is known wherever a step runs.
static bool isGiven(TaskBuilder &tasks, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<ReadOp>(op))
    return tasks.lookup(read.getVariable()).getRole() == Role::scalar;
  return (op->getNumOperands() == 0 || op->hasTrait<MovementTrait>()) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isGiven(tasks, operand); });
}

/// Returns whether an op is elementwise or moves elements, and has only one
/// operand that depends on the micro-batch, which is no larger than the result.
/// Then keeping the operand for the task `statistics` costs no more than
/// keeping the result.
bool StatisticsFinder::isWorthMoving(Operation &op) const {
  if (op.getNumResults() != 1 ||
      !(isa<ElementwiseOpInterface>(op) || op.hasTrait<MovementTrait>()))
    return false;
  SmallVector<Value> ofMicroBatch;
  for (Value operand : op.getOperands())
    if (!isGiven(tasks, operand))
      ofMicroBatch.push_back(operand);
  auto getBytes = [](Value value) {
    return getLogicalBytes(cast<RankedTensorType>(value.getType()));
  };
  return ofMicroBatch.size() == 1 &&
         getBytes(ofMicroBatch.front()) <= getBytes(op.getResult(0));
}

void StatisticsFinder::findServing() {
  serving.clear();
  for (Operation &op : llvm::reverse(step)) {
    if (auto write = dyn_cast<WriteOp>(op)) {
      if (isOfStatistic(write))
        serving.insert(&op);
      continue;
    }
    if (!op.use_empty() &&
        llvm::all_of(op.getUsers(),
                     [&](Operation *user) { return serving.contains(user); }) &&
        (fed.contains(&op) || isWorthMoving(op)))
      serving.insert(&op);
  }
}

/// Removes the statistics whose old values other ops use from `variables`.
/// Returns whether there were any.
bool StatisticsFinder::keepUsedByForward() {
  bool found = false;
  for (auto read : step.getOps<ReadOp>()) {
    if (!isOfStatistic(read) || read.use_empty() || serving.contains(read))
      continue;
    ofForward.push_back(read);
    found = true;
  }
  for (ReadOp read : ofForward)
    variables.erase(tasks.lookup(read.getVariable()));
  return found;
}

/// Checks that batch normalizations that use a micro-batch's statistics have
/// several values per channel, as PyTorch does. A single value is its own mean,
/// so the result would be the bias whatever the input. Without fusion, several
/// copies have the same node, which is reported once.
static LogicalResult checkCounts(TaskBuilder &tasks, Block &step) {
  int64_t microBatches = tasks.getJob().microBatches;
  DenseSet<Location> reported;
  for (auto norm : step.getOps<BatchNormOp>()) {
    ArrayRef<int64_t> shape = getShape(norm.getInput());
    if (!usesBatchStatistics(norm) ||
        countAlong(shape, getOtherAxes(shape.size(), {1})) != 1 ||
        !reported.insert(norm.getLoc()).second)
      continue;
    std::string sizes;
    llvm::raw_string_ostream os(sizes);
    llvm::interleaveComma(shape, os);
    InFlightDiagnostic error =
        norm.emitError("batch normalization in training needs more than one "
                       "value per channel, got an input of shape [")
        << sizes << ']';
    if (microBatches > 1)
      error << " in each of " << microBatches << " micro-batches";
  }
  return success(reported.empty());
}

/// Replaces ops in training that update running statistics by several ops, of
/// which some only update.
static void separateAll(TaskBuilder &tasks, Block &step, TaskTags &tags) {
  OpBuilder builder(tasks.getContext());
  SmallVector<ModalOpInterface> modals(step.getOps<ModalOpInterface>());
  for (ModalOpInterface modal : modals) {
    builder.setInsertionPoint(modal);
    Operation *before = modal->getPrevNode();
    Operation *after = modal->getNextNode();
    TaskTag tag = tags.lookup(modal);
    if (!modal.separateStatistics(builder))
      continue;
    tags.erase(modal);
    for (Operation *op = before ? before->getNextNode() : &step.front();
         op != after; op = op->getNextNode())
      tags[op] = tag;
  }
}

/// Reports statistics that the forward itself uses if replicas compute
/// micro-batches at the same time.
static LogicalResult checkReplicas(TaskBuilder &tasks,
                                   ArrayRef<ReadOp> ofForward,
                                   const TaskTags &tags) {
  const Job &job = tasks.getJob();
  bool ok = true;
  for (ReadOp read : ofForward) {
    int64_t replicas = 1;
    for (Operation *user : read->getUsers())
      replicas = std::max(
          replicas, job.getReplicas(job.getStage(tags.lookup(user).block)));
    if (replicas == 1)
      continue;
    ok = false;
    read.emitError("the model itself computes with the running statistic '")
        << tasks.lookup(read.getVariable()).getOwnName()
        << "', so each micro-batch follows from the one before, and "
        << replicas << " replicas can't compute them at the same time";
  }
  return success(ok);
}

LogicalResult hfta::assignStatistics(TaskBuilder &tasks, Block &step,
                                     TaskTags &tags) {
  if (failed(checkCounts(tasks, step)))
    return failure();
  separateAll(tasks, step, tags);
  StatisticsFinder finder(tasks, step);
  DenseSet<Operation *> found = finder.find();
  if (failed(checkReplicas(tasks, finder.ofForward, tags)))
    return failure();
  // An update belongs to the last block that computes one of its operands, so
  // that a cut after an op also comes after the op's statistics.
  for (Operation &op : step) {
    if (!found.contains(&op))
      continue;
    std::optional<int64_t> block;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp(); def->getNumOperands() > 0)
        block = std::max(block.value_or(0), tags.lookup(def).block);
    tags[&op] = {TaskPart::statistics, block.value_or(tags.lookup(&op).block)};
    if (auto write = dyn_cast<WriteOp>(op))
      if (VariableOp variable = tasks.lookup(write.getVariable());
          static_cast<int64_t>(variable.getBlock()) < 0)
        variable.setBlock(tags[&op].block);
  }
  // An op without operands belongs to the first block that uses it.
  for (Operation &op : llvm::reverse(step)) {
    if (!found.contains(&op) || op.getNumOperands() > 0)
      continue;
    int64_t first = std::numeric_limits<int64_t>::max();
    for (Operation *user : op.getUsers())
      first = std::min(first, tags.lookup(user).block);
    tags[&op].block = first;
  }
  return success();
}
