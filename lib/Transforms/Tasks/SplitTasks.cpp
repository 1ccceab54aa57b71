//===- SplitTasks.cpp - Distributes a training step's ops to tasks --------===//

#include "Hfta/Transforms/Passes.h"
#include "Tasks/AugmentTasks.h"
#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskSplitter.h"
#include "Tasks/TaskTags.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASPLITTASKS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Keeps the ops for which other blocks' backwards wait in the backward of a
/// block. The rest, mostly gradients of weights, becomes `backward_weight`.
static void splitBackward(Block &step, TaskTags &tags) {
  for (Operation &op : llvm::reverse(step.without_terminator())) {
    TaskTag &tag = tags[&op];
    if (tag.part != TaskPart::backward)
      continue;
    bool isAwaited = llvm::any_of(op.getUsers(), [&](Operation *user) {
      TaskTag of = tags.lookup(user);
      return of.part == TaskPart::backward || of.block != tag.block;
    });
    if (!isAwaited)
      tag.part = TaskPart::backward_weight;
  }
}

/// Assigns variables that aren't trained to the first block that reads them.
static void giveBlocks(TaskBuilder &tasks) {
  for (auto function : tasks.getModule().getOps<func::FuncOp>()) {
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (!task || !llvm::is_contained({parts::kForward, parts::kRecompute},
                                     task.getPart().getValue()))
      continue;
    for (auto read : function.getOps<ReadOp>()) {
      VariableOp variable = tasks.lookup(read.getVariable());
      Role role = variable.getRole();
      if ((role == Role::parameter || role == Role::statistics) &&
          static_cast<int64_t>(variable.getBlock()) < 0)
        variable.setBlock(task.getBlock());
    }
  }
}

/// Finds the trained variables of each block, in the order noted on the ops
/// that add to their gradients.
static SmallVector<SmallVector<TrainedLeaf>> findLeaves(TaskBuilder &tasks,
                                                        Block &step,
                                                        const TaskTags &tags,
                                                        int64_t blocks) {
  SmallVector<SmallVector<TrainedLeaf>> leavesOfBlock(blocks);
  SmallVector<WriteOp> writes(step.getOps<WriteOp>());
  llvm::stable_sort(writes, [](WriteOp a, WriteOp b) {
    auto getOrder = [](WriteOp write) {
      auto order = write->getAttrOfType<IntegerAttr>(kGradientOrderAttrName);
      return order ? order.getInt() : 0;
    };
    return getOrder(a) < getOrder(b);
  });
  for (WriteOp write : writes) {
    VariableOp gradient = tasks.lookup(write.getVariable());
    if (!gradient.isFor(Purpose::gradient))
      continue;
    VariableOp variable =
        tasks.lookup(gradient.getPurposeAttr().getOf().getValue());
    TrainedLeaf leaf = {variable,
                        write.getCopy() ? write.getCopy() : variable.getCopy()};
    // Terms of the loss may have gradients of their own.
    SmallVector<TrainedLeaf> &leaves = leavesOfBlock[tags.lookup(write).block];
    if (!gradient.getPurposeAttr().getName() ||
        !llvm::is_contained(leaves, leaf))
      leaves.push_back(leaf);
  }
  return leavesOfBlock;
}

/// Builds the tasks forward, backward, statistics, norm and update of each
/// block, and the tasks clip and report.
static LogicalResult splitTraining(TaskBuilder &tasks, func::FuncOp training) {
  Block &step = training.getBody().front();
  FailureOr<TaskTags> tags = readTags(training);
  if (failed(tags))
    return failure();
  int64_t blocks = countBlocks(*tags);
  if (tasks.getJob().splitsBackward())
    splitBackward(step, *tags);
  TaskSplitter(tasks, *tags, blocks)
      .split(step, {TaskPart::forward, TaskPart::recompute, TaskPart::backward,
                    TaskPart::backward_weight, TaskPart::sampled_moments,
                    TaskPart::statistics});
  giveBlocks(tasks);
  for (auto [block, leaves] :
       llvm::enumerate(findLeaves(tasks, step, *tags, blocks)))
    buildUpdateTasks(tasks, block, leaves);
  const Job &job = tasks.getJob();
  if (job.awaitsNorm() && !job.takesTurns())
    buildClipTask(tasks);
  for (int64_t turn = 0; job.awaitsNorm() && job.takesTurns() && turn < blocks;
       ++turn)
    buildClipTask(tasks, turn);
  buildReportTask(tasks);
  buildAugmentTasks(tasks);
  tasks.eraseTask(training);
  return success();
}

/// Splits an evaluation or inference, whose ops all belong to one part.
static LogicalResult splitInto(TaskBuilder &tasks, TaskPart part,
                               func::FuncOp undivided) {
  FailureOr<TaskTags> tags = readTags(undivided);
  if (failed(tags))
    return failure();
  TaskSplitter(tasks, *tags, countBlocks(*tags))
      .split(undivided.getBody().front(), part);
  tasks.eraseTask(undivided);
  return success();
}

/// Describes the variable to which a state belongs.
static std::string describeState(TaskBuilder &tasks, VariableOp variable) {
  FlatSymbolRefAttr of = variable.getPurposeAttr().getOf();
  if (!of)
    return "the state of the loss' scale";
  return "the optimizer's state of '" +
         tasks.lookup(of.getValue()).getOwnName() + "'";
}

/// Checks that a copy's tensors and the optimizer's state have different names,
/// because checkpoints hold them under their names.
static LogicalResult checkNames(TaskBuilder &tasks) {
  ModuleOp module = tasks.getModule();
  llvm::StringMap<SmallVector<VariableOp>> tensors;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == Role::parameter ||
        variable.getRole() == Role::statistics)
      tensors[variable.getOwnName()].push_back(variable);
  for (auto variable : module.getOps<VariableOp>()) {
    if (variable.getRole() != Role::optimizer_state)
      continue;
    std::string name = variable.getOwnName();
    for (VariableOp tensor : tensors.lookup(name))
      if (!tensor.getCopy() || !variable.getCopy() ||
          tensor.getCopy() == variable.getCopy())
        return tensor.emitError("'")
               << name << "' is also what checkpoints call "
               << describeState(tasks, variable) << ": rename it";
  }
  return success();
}

namespace {
struct SplitTasksPass : hfta::impl::HftaSplitTasksBase<SplitTasksPass> {
  using HftaSplitTasksBase::HftaSplitTasksBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job) || failed(split(module, *job)))
      return signalPassFailure();
  }

  static LogicalResult split(ModuleOp module, const Job &job) {
    TaskBuilder tasks(module, job);
    func::FuncOp training = findUndivided(module, parts::kTraining);
    func::FuncOp evaluation = findUndivided(module, parts::kEvaluation);
    func::FuncOp inference = findUndivided(module, parts::kInference);
    if (!inference || (job.training && !(training && evaluation)))
      return module.emitError("expected the undivided functions '")
             << (job.training ? "training', 'evaluation' and 'inference"
                              : "inference")
             << "'; run hfta-differentiate first";
    if (training && failed(splitTraining(tasks, training)))
      return failure();
    buildInitTasks(tasks);
    if (evaluation && failed(splitInto(tasks, TaskPart::evaluate, evaluation)))
      return failure();
    if (failed(splitInto(tasks, TaskPart::infer, inference)))
      return failure();
    return checkNames(tasks);
  }
};
} // namespace
