//===- AugmentTasks.cpp - Augmentations, once for all copies --------------===//
//
// Copies go through the forwards in turns, and each turn repeats what copies
// share. That is cheap except where samples are augmented. So the ops on shared
// values that depend on numbers drawn for samples become tasks `augment.b`,
// which run once for each micro-batch, before the turns.
//===----------------------------------------------------------------------===//

#include "Tasks/AugmentTasks.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// Takes augmentations out of the forward of a block.
class AugmentTask {
public:
  AugmentTask(TaskBuilder &tasks, func::FuncOp forward)
      : tasks(tasks), body(forward.getBody().front()),
        block(forward->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName)
                  .getBlock()) {}

  void build();

private:
  void findShared();
  bool isMoved(Value value) const;
  void moveValue(Value value, IRMapping &mapping);

  TaskBuilder &tasks;
  Block &body;
  int64_t block;
  /// Ops on nothing but data and constants, and those of them that depend on
  /// random numbers.
  DenseSet<Operation *> shared, random;
};
} // namespace

void AugmentTask::findShared() {
  auto isOf = [](const DenseSet<Operation *> &ops) {
    return [&](Value operand) { return ops.contains(operand.getDefiningOp()); };
  };
  for (Operation &op : body) {
    auto read = dyn_cast<ReadOp>(op);
    bool isData =
        !read || tasks.lookup(read.getVariable()).getRole() == Role::input;
    if (op.getNumResults() == 0 || !isData ||
        llvm::any_of(op.getResultTypes(),
                     [](Type type) { return isArrayed(type); }) ||
        !llvm::all_of(op.getOperands(), isOf(shared)))
      continue;
    shared.insert(&op);
    if (isa<RandomUniformOp>(op) ||
        llvm::any_of(op.getOperands(), isOf(random)))
      random.insert(&op);
  }
}

/// Returns whether a value that depends on random numbers is used by an op that
/// stays.
bool AugmentTask::isMoved(Value value) const {
  return random.contains(value.getDefiningOp()) &&
         llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return !shared.contains(user); });
}

/// Lets the task that is being built leave a value for the forward, in the
/// variable in which the forward saves it for the backward if there is one.
void AugmentTask::moveValue(Value value, IRMapping &mapping) {
  OpBuilder &builder = tasks.getBuilder();
  VariableOp variable;
  for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
    if (auto write = dyn_cast<WriteOp>(user)) {
      VariableOp known = tasks.lookup(write.getVariable());
      if (known.getRole() != Role::saved || variable)
        continue;
      variable = known;
      write.erase();
    }
  if (!variable) {
    const Job &job = tasks.getJob();
    std::string symbol;
    int64_t number = 0;
    do
      symbol = names::getCompilerSymbol("augmented/" + Twine(number++));
    while (tasks.lookup(symbol));
    variable = tasks.declareCarried(
        symbol, cast<RankedTensorType>(value.getType()), Role::saved);
    variable.setInstances(job.allForwardsFirst ? job.microBatches : 1);
    variable.setBlock(block);
    variable->setLoc(value.getLoc());
  }
  tasks.write(mapping.lookup(value), variable);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  Value read = tasks.read(variable);
  value.replaceUsesWithIf(
      read, [&](OpOperand &use) { return !shared.contains(use.getOwner()); });
}

void AugmentTask::build() {
  findShared();
  SmallVector<Value> moved;
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (isMoved(result))
        moved.push_back(result);
  if (moved.empty())
    return;
  tasks.startTask(parts::kAugment, block);
  IRMapping mapping;
  DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(body))
    if (shared.contains(&op) &&
        llvm::any_of(op.getResults(), [&](Value result) {
          return llvm::is_contained(moved, result) ||
                 llvm::any_of(result.getUsers(), [&](Operation *user) {
                   return needed.contains(user);
                 });
        }))
      needed.insert(&op);
  for (Operation &op : body)
    if (needed.contains(&op))
      tasks.getBuilder().clone(op, mapping);
  for (Value value : moved)
    moveValue(value, mapping);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (shared.contains(&op) && op.use_empty())
      op.erase();
}

void hfta::buildAugmentTasks(TaskBuilder &tasks) {
  const Job &job = tasks.getJob();
  bool isAugmented = llvm::any_of(job.data, [](const DataField &field) {
    return !field.augmentations.empty();
  });
  // Stages of a pipeline and memory budgets have orders of their own, and a
  // preconditioner looks for layers' inputs in the forwards.
  if (!isAugmented || job.getStageCount() > 1 || job.hasBudget() ||
      !job.preconditioner.empty())
    return;
  for (auto function :
       llvm::to_vector(tasks.getModule().getOps<func::FuncOp>())) {
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (task && task.getPart().getValue() == parts::kForward)
      AugmentTask(tasks, function).build();
  }
}
