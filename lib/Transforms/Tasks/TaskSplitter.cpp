//===- TaskSplitter.cpp - Distributes the ops of a step to tasks ----------===//

#include "Tasks/TaskSplitter.h"

using namespace mlir;
using namespace mlir::hfta;

bool hfta::isMovement(Operation *op) {
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

bool hfta::isCheap(Operation *op) {
  return isa<ElementwiseOpInterface>(op) && !op->hasTrait<CostlyTrait>();
}

/// Returns whether tasks of the part use values that the forward of their block
/// has saved.
static bool isBackward(TaskPart part) {
  switch (part) {
  case TaskPart::backward:
  case TaskPart::backward_weight:
  case TaskPart::sampled_moments:
    return true;
  case TaskPart::forward:
  case TaskPart::recompute:
  case TaskPart::statistics:
  case TaskPart::evaluate:
  case TaskPart::infer:
    return false;
  }
  llvm_unreachable("all parts are listed");
}

/// Returns whether the op has no operands and isn't a read whose position
/// matters.
bool TaskSplitter::isLeaf(Operation *op) const {
  auto read = dyn_cast<ReadOp>(op);
  return op->getNumOperands() == 0 && !isa<func::ReturnOp>(op) &&
         !(read && written.contains(read.getVariable()));
}

/// Returns whether a leaf can be repeated in a task. Statistics tasks run after
/// all micro-batches. So they can read the scalars of each micro-batch, but not
/// its fields, nor values that an update has changed.
bool TaskSplitter::isLeafIn(Operation *op, TaskTag into) const {
  if (!isLeaf(op))
    return false;
  auto read = dyn_cast<ReadOp>(op);
  if (!read || into.part != TaskPart::statistics)
    return true;
  Role role = tasks.lookup(read.getVariable()).getRole();
  return role == Role::scalar || role == Role::constant;
}

/// Returns whether a value is available in a task without being sent. Each
/// stage has its own memory: of other blocks' values, it has only those that a
/// task of the stage reads anyway. Nothing else is sent just to recompute a
/// value, in particular not from a later stage to an earlier stage's forward.
bool TaskSplitter::isAtHand(Value value, TaskTag into) const {
  Operation *op = value.getDefiningOp();
  if (tasks.getJob().getStageCount() == 1)
    return true;
  auto read = dyn_cast<ReadOp>(op);
  if (!read)
    return isLeaf(op) || tags.lookup(op).block == into.block ||
           present.contains({value, into.block});
  Role role = tasks.lookup(read.getVariable()).getRole();
  return role == Role::scalar || role == Role::constant ||
         usedIn.contains({read.getVariable(), into.block});
}

bool TaskSplitter::isAvailable(Value value, TaskTag into) const {
  Operation *op = value.getDefiningOp();
  if (all[indexOf(into)].mapping.contains(value) || isKept(op, into) ||
      ((findCarried(value, into) || isLeafIn(op, into)) &&
       isAtHand(value, into)))
    return true;
  if (!isMovement(op) && !isCheap(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isAvailable(operand, into);
  });
}

/// Returns whether a movement can be repeated in a task. In a forward, its
/// operand comes from the same block or an earlier one, in a backward from the
/// same block or a later one. Values don't flow in the other direction between
/// stages.
bool TaskSplitter::canMoveIn(Operation *op, TaskTag into) const {
  if (!isMovement(op) || op->getNumOperands() == 0)
    return false;
  TaskTag from = tags.lookup(op);
  return tasks.getJob().getStageCount() == 1 || from.block == into.block ||
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return tags.lookup(operand.getDefiningOp()).part == from.part ||
                  isAvailable(operand, into);
         });
}

bool TaskSplitter::shouldRecompute(Operation *op, TaskTag into) const {
  if (isLeafIn(op, into) || canMoveIn(op, into))
    return true;
  return isCheap(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isAvailable(operand, into);
         });
}

std::optional<Keep> TaskSplitter::getKeep(Operation *op) const {
  auto keep = op->getAttrOfType<KeepAttr>(HftaDialect::kKeepAttrName);
  return keep && tags.lookup(op).part == TaskPart::forward
             ? std::optional(keep.getValue())
             : std::nullopt;
}

/// Returns whether the forward saves the op's results for a later task of its
/// block, however cheap they are.
bool TaskSplitter::isKept(Operation *op, TaskTag into) const {
  std::optional<Keep> keep = getKeep(op);
  return keep && *keep != Keep::recompute && !isLeafIn(op, into) &&
         tags.lookup(op).block == into.block &&
         (isBackward(into.part) || into.part == TaskPart::recompute);
}

/// Returns whether a recompute task recomputes a value of its block's forward,
/// as the op asks. It doesn't if the value exists anyway, because it crosses a
/// cut, statistics use it, or the forward reads it from a variable that the
/// step changes.
bool TaskSplitter::isComputedAgain(Value value, TaskTag into) const {
  Operation *op = value.getDefiningOp();
  return into.part == TaskPart::recompute &&
         tags.lookup(op).block == into.block &&
         getKeep(op) == Keep::recompute && (!isa<ReadOp>(op) || isLeaf(op)) &&
         !findCarried(value, into);
}

/// Returns the task that provides a value to another task.
TaskTag TaskSplitter::findGiver(Value value, TaskTag into) const {
  TaskTag recompute = {TaskPart::recompute, into.block};
  return isBackward(into.part) && isComputedAgain(value, recompute)
             ? recompute
             : tags.lookup(value.getDefiningOp());
}

void TaskSplitter::setInsertionPointToEnd(TaskTag tag) {
  tasks.getBuilder().setInsertionPoint(
      all[indexOf(tag)].function.getBody().front().getTerminator());
}

/// Returns the variable that carries a value, or null if there is none yet.
/// Values that statistics tasks use stay until the end of the step, for each
/// micro-batch. So the backward of the same block reads them, too.
VariableOp TaskSplitter::findCarried(Value value, TaskTag into) const {
  VariableOp known = exchanged.lookup(value);
  bool sameBlock = tags.lookup(value.getDefiningOp()).block == into.block;
  if (into.part == TaskPart::statistics || (known && sameBlock))
    return known;
  if (VariableOp own = again.lookup(value);
      own && isBackward(into.part) && sameBlock)
    return own;
  return carried.lookup(value);
}

VariableOp TaskSplitter::declareCarried(Value value, TaskTag from, Role role) {
  const Job &job = tasks.getJob();
  bool trains = from.part != TaskPart::evaluate && from.part != TaskPart::infer;
  StringRef prefix = trains                            ? ""
                     : from.part == TaskPart::evaluate ? "evaluation/"
                                                       : "inference/";
  std::string symbol =
      names::getCompilerSymbol(prefix + Twine(stringifyRole(role)) + "/" +
                               Twine(carried.size() + again.size()));
  VariableOp variable = tasks.declareCarried(
      symbol, cast<RankedTensorType>(value.getType()), role);
  // A recomputed value is used only by the backward that follows directly.
  bool isAgain = from.part == TaskPart::recompute;
  bool isAtOnce = isAgain && (job.getStageCount() == 1 || job.hasBudget());
  bool isInFlight = trains && job.allForwardsFirst && !isAtOnce;
  variable.setInstances(isInFlight ? job.microBatches : 1);
  if (!isAgain && getKeep(value.getDefiningOp()) == Keep::spill)
    variable.setResidency(Residency::spilled);
  (isAgain ? again : carried)[value] = variable;
  return variable;
}

/// Declares a variable that belongs to the statistic which is computed first
/// from the value.
VariableOp TaskSplitter::declareExchanged(Value value) {
  auto getUser = [&](Value used) {
    return *llvm::find_if(used.getUsers(), [&](Operation *user) {
      return tags.lookup(user).part == TaskPart::statistics;
    });
  };
  Operation *op = getUser(value);
  while (!isa<WriteOp>(op))
    op = getUser(op->getResult(0));
  StringAttr statistic =
      tasks.lookup(cast<WriteOp>(op).getVariable()).getSymNameAttr();
  PurposeAttr purpose;
  int64_t number = 0;
  do
    purpose =
        PurposeAttr::getOf(FlatSymbolRefAttr::get(statistic),
                           Purpose::batch_statistic, std::to_string(number++));
  while (tasks.lookup(purpose.makeSymbol()));
  VariableOp variable =
      tasks.declare(purpose, cast<RankedTensorType>(value.getType()));
  variable.setInstances(tasks.getJob().microBatches);
  exchanged[value] = variable;
  return variable;
}

VariableOp TaskSplitter::carry(Value value, TaskTag into) {
  TaskTag from = findGiver(value, into);
  bool saved = from.block == into.block;
  // All micro-batches go through a turn before the next.
  const Job &job = tasks.getJob();
  bool staysInStep = !saved && job.takesTurns() &&
                     from.part != TaskPart::evaluate &&
                     from.part != TaskPart::infer;
  if (VariableOp known = findCarried(value, into)) {
    if (!saved && known.getRole() == Role::saved)
      known.setRole(Role::cut);
    if (staysInStep)
      known.setInstances(job.microBatches);
    return known;
  }
  VariableOp variable =
      into.part == TaskPart::statistics
          ? declareExchanged(value)
          : declareCarried(value, from, saved ? Role::saved : Role::cut);
  variable.setBlock(from.block);
  if (staysInStep)
    variable.setInstances(job.microBatches);
  variable->setLoc(value.getLoc());
  OpBuilder::InsertionGuard guard(tasks.getBuilder());
  setInsertionPointToEnd(from);
  Value given = import(value, from);
  // A variable that the step changes must be saved before the task changes it.
  if (auto read = given.getDefiningOp<ReadOp>())
    tasks.getBuilder().setInsertionPointAfter(read);
  tasks.write(given, variable);
  return variable;
}

/// Clones an op without the tags that assign it to a task.
void TaskSplitter::clone(Operation &op, IRMapping &mapping) {
  removeTags(tasks.getBuilder().clone(op, mapping));
}

Value TaskSplitter::import(Value value, TaskTag into) {
  IRMapping &mapping = all[indexOf(into)].mapping;
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (isKept(op, into) ||
      (!isComputedAgain(value, into) && !shouldRecompute(op, into))) {
    present.insert({value, into.block});
    Value read = tasks.read(carry(value, into));
    mapping.map(value, read);
    return read;
  }
  for (Value operand : op->getOperands())
    import(operand, into);
  clone(*op, mapping);
  return mapping.lookup(value);
}

bool TaskSplitter::needsTask(Block &block, TaskTag tag) const {
  switch (tag.part) {
  case TaskPart::recompute:
    return recomputed[tag.block];
  case TaskPart::statistics:
  case TaskPart::backward_weight:
  case TaskPart::sampled_moments:
    return llvm::any_of(block,
                        [&](Operation &op) { return tags.lookup(&op) == tag; });
  case TaskPart::forward:
  case TaskPart::backward:
  case TaskPart::evaluate:
  case TaskPart::infer:
    return true;
  }
  llvm_unreachable("all parts are listed");
}

void TaskSplitter::startTasks(Block &block, ArrayRef<TaskPart> parts) {
  for (TaskPart part : parts)
    for (int64_t number = 0; number < blocks; ++number) {
      TaskTag tag = {part, number};
      if (!needsTask(block, tag))
        continue;
      all.resize(std::max(all.size(), indexOf(tag) + 1));
      all[indexOf(tag)].function =
          tasks.startTask(stringifyTaskPart(part), number);
    }
}

/// Puts recomputed ops into the forward's order. They were built in the order
/// in which the backward requests their values, from the last layer to the
/// first.
void TaskSplitter::orderRecomputed(Block &block, Task &task) {
  Block &body = task.function.getBody().front();
  SmallVector<WriteOp> writes(body.getOps<WriteOp>());
  for (Operation &op : block)
    for (Value result : op.getResults())
      if (Value known = task.mapping.lookupOrNull(result))
        known.getDefiningOp()->moveBefore(body.getTerminator());
  for (WriteOp write : writes)
    write->moveBefore(body.getTerminator());
}

/// Erases ops that every user recomputes, and recompute tasks whose results the
/// backward doesn't need.
void TaskSplitter::eraseUnused() {
  for (Task &task : all) {
    if (!task.function)
      continue;
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(task.function.getBody().front())))
      if (op.use_empty() && !isa<WriteOp, LayerOp, func::ReturnOp>(op))
        op.erase();
  }
  for (int64_t number = 0; number < blocks; ++number) {
    if (!recomputed[number])
      continue;
    func::FuncOp task = all[indexOf({TaskPart::recompute, number})].function;
    if (task.getBody().front().without_terminator().empty())
      tasks.eraseTask(task);
  }
}

void TaskSplitter::split(Block &block, ArrayRef<TaskPart> parts) {
  for (Operation &op : block)
    if (getKeep(&op) == Keep::recompute)
      recomputed[tags.lookup(&op).block] = true;
  startTasks(block, parts);
  for (auto write : block.getOps<WriteOp>())
    written.insert(write.getVariable());
  for (auto read : block.getOps<ReadOp>())
    for (Operation *user : read->getUsers())
      usedIn.insert({read.getVariable(), tags.lookup(user).block});
  for (Operation &op : block) {
    if (isLeaf(&op) || isa<func::ReturnOp>(op))
      continue;
    TaskTag tag = tags.lookup(&op);
    setInsertionPointToEnd(tag);
    for (Value operand : op.getOperands())
      import(operand, tag);
    clone(op, all[indexOf(tag)].mapping);
  }
  for (int64_t number = 0; number < blocks; ++number)
    if (recomputed[number])
      orderRecomputed(block, all[indexOf({TaskPart::recompute, number})]);
  eraseUnused();
}
