//===- TaskSplitter.cpp - Deals a training step out to tasks --------------===//

#include "TaskSplitter.h"

using namespace mlir;
using namespace mlir::hfta;

/// Nothing is gained by keeping the result; of a float that was rounded to a
/// narrower type there is: its operand is larger.
static bool isMovement(Operation *op) {
  if (!op->hasTrait<MovementTrait>())
    return false;
  auto cast = dyn_cast<CastOp>(op);
  auto from =
      cast
          ? dyn_cast<FloatType>(getElementTypeOrSelf(cast.getInput().getType()))
          : FloatType();
  auto to = cast ? dyn_cast<FloatType>(cast.getElementType()) : FloatType();
  return !from || !to || to.getWidth() >= from.getWidth();
}

/// A few instructions an element, worth less than keeping the result.
static bool isCheap(Operation *op) {
  return isa<ElementwiseOpInterface>(op) && !op->hasTrait<CostlyTrait>();
}

/// Ops without operands, but for reads whose place matters.
bool TaskSplitter::isLeaf(Operation *op) const {
  auto read = dyn_cast<ReadOp>(op);
  return op->getNumOperands() == 0 && !isa<func::ReturnOp>(op) &&
         !(read && written.contains(read.getVariable()));
}

bool TaskSplitter::isAvailable(Value value, TaskTag into) const {
  Operation *op = value.getDefiningOp();
  if (all[indexOf(into)].mapping.contains(value) || carried.contains(value) ||
      isLeaf(op))
    return true;
  if (!isMovement(op) && !isCheap(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isAvailable(operand, into);
  });
}

bool TaskSplitter::shouldRecompute(Operation *op, TaskTag into) const {
  if (isLeaf(op) || isMovement(op))
    return true;
  return isCheap(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isAvailable(operand, into);
         });
}

void TaskSplitter::setInsertionPointToEnd(TaskTag tag) {
  tasks.getBuilder().setInsertionPoint(
      all[indexOf(tag)].function.getBody().front().getTerminator());
}

VariableOp TaskSplitter::carry(Value value, TaskTag into) {
  VariableOp &variable = carried[value];
  TaskTag from = tags.lookup(value.getDefiningOp());
  bool saved = from.block == into.block;
  if (variable) {
    if (!saved)
      variable.setRole(Role::cut);
    return variable;
  }
  const Job &job = tasks.getJob();
  Role role = saved ? Role::saved : Role::cut;
  variable =
      tasks.declareCarried(names::getCompilerSymbol(stringifyRole(role) + "/" +
                                                    Twine(carried.size() - 1)),
                           cast<RankedTensorType>(value.getType()), role);
  variable.setBlock(from.block);
  variable.setInstances(job.allForwardsFirst ? job.microBatches : 1);
  variable->setLoc(value.getLoc());
  OpBuilder::InsertionGuard guard(tasks.getBuilder());
  setInsertionPointToEnd(from);
  tasks.write(all[indexOf(from)].mapping.lookup(value), variable);
  return variable;
}

Value TaskSplitter::import(Value value, TaskTag into) {
  IRMapping &mapping = all[indexOf(into)].mapping;
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!shouldRecompute(op, into)) {
    Value read = tasks.read(carry(value, into));
    mapping.map(value, read);
    return read;
  }
  for (Value operand : op->getOperands())
    import(operand, into);
  tasks.getBuilder().clone(*op, mapping);
  return mapping.lookup(value);
}

void TaskSplitter::split(Block &block) {
  all.resize(2 * blocks);
  for (bool backward : {false, true})
    for (int64_t number = 0; number < blocks; ++number)
      all[indexOf({backward, number})].function = tasks.startTask(
          backward ? parts::kBackward : parts::kForward, number);
  for (auto write : block.getOps<WriteOp>())
    written.insert(write.getVariable());
  for (Operation &op : block) {
    if (isLeaf(&op) || isa<func::ReturnOp>(op))
      continue;
    TaskTag tag = tags.lookup(&op);
    setInsertionPointToEnd(tag);
    for (Value operand : op.getOperands())
      import(operand, tag);
    tasks.getBuilder().clone(op, all[indexOf(tag)].mapping);
  }
  // Ops that every user recomputes are not needed where they stood.
  for (Task &task : all)
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(task.function.getBody().front())))
      if (op.use_empty() && !isa<WriteOp, LayerOp, func::ReturnOp>(op))
        op.erase();
}
