//===- SpillModeler.cpp - The planner's model of a training step ----------===//

#include "Spill/SpillModeler.h"

#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Planning/Common/ReferenceRates.h"
#include "Hfta/Support/TaskNames.h"
#include "Tasks/TaskSplitter.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::hfta;
using planning::SpillBlock;
using planning::SpillModel;

/// Returns the bytes of all copies of a value. A shared value is counted once.
static int64_t countBytes(Type type) {
  return getLogicalBytes(type) * getCopies(type).value_or(1);
}

/// Estimates the seconds that an op takes for one micro-batch of all copies:
/// the larger of the times to compute and to access memory.
static double estimateSeconds(Operation &op) {
  int64_t bytes = 0, flops = 0;
  auto cost = dyn_cast<CostOpInterface>(op);
  for (OpOperand &operand : op.getOpOperands()) {
    int64_t copies = getCopies(operand.get().getType()).value_or(1);
    bytes += cost ? copies * cost.getBytesRead(operand.getOperandNumber())
                  : countBytes(operand.get().getType());
  }
  int64_t copies = 1;
  for (OpResult result : op.getResults()) {
    copies = std::max(copies, getCopies(result.getType()).value_or(1));
    bytes += countBytes(result.getType());
  }
  if (cost)
    flops = copies * cost.getFlops();
  return planning::kSecondsPerKernel +
         std::max(static_cast<double>(flops) / planning::kFlopsPerSecond,
                  static_cast<double>(bytes) / planning::kBytesPerSecond);
}

namespace {
class StepModeler {
public:
  StepModeler(ModuleOp module, const Job &job, const TaskTags &tags)
      : module(module), job(job), tags(tags), variables(module),
        symbols(module) {}

  StepModel build(Block &step);

private:
  void addForward(Operation &op);
  void addBackward(Operation &op);
  int64_t countStateBytes(VariableOp variable) const;
  void addParameters();
  /// Finds the model's values of which a value is a view.
  SmallVector<int64_t, 4> findRoots(Value value);
  bool isForStatistics(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return tags.lookup(user).part == TaskPart::statistics;
    });
  }
  /// Returns the number of micro-batches that are in memory together: all of a
  /// step's, as all pass through a block before the next block begins.
  double microBatches() const { return static_cast<double>(job.microBatches); }
  double perCopy(double all) const {
    return all / static_cast<double>(job.copies);
  }
  int64_t perCopy(int64_t all) const {
    return (all + job.copies - 1) / job.copies;
  }

  ModuleOp module;
  const Job &job;
  const TaskTags &tags;
  VariableIndex variables;
  SymbolTable symbols;
  StepModel result;
  DenseSet<StringRef> written;
  DenseMap<Value, int64_t> numbers;
  /// The blocks that read each parameter.
  llvm::MapVector<VariableOp, DenseSet<int64_t>> readers;
};
} // namespace

SmallVector<int64_t, 4> StepModeler::findRoots(Value value) {
  if (auto known = numbers.find(value); known != numbers.end())
    return {known->second};
  SmallVector<int64_t, 4> roots;
  Operation *op = value.getDefiningOp();
  if (tags.lookup(op).part != TaskPart::forward || !isMovement(op))
    return roots;
  for (Value operand : op->getOperands())
    for (int64_t root : findRoots(operand))
      if (!llvm::is_contained(roots, root))
        roots.push_back(root);
  return roots;
}

void StepModeler::addForward(Operation &op) {
  SpillModel &model = result.model;
  auto read = dyn_cast<ReadOp>(op);
  bool isLeaf = op.getNumOperands() == 0 &&
                !(read && written.contains(read.getVariable()));
  if (read)
    readers[symbols.lookup<VariableOp>(read.getVariable())].insert(
        tags.lookup(&op).block);
  if (isLeaf || isMovement(&op))
    return;
  planning::SpillOp &made = model.ops.emplace_back();
  made.seconds = microBatches() * perCopy(estimateSeconds(op));
  made.isRepeatable = !read && !isa<WriteOp>(op);
  for (Value operand : op.getOperands())
    for (int64_t root : findRoots(operand))
      if (!llvm::is_contained(made.operands, root))
        made.operands.push_back(root);
  for (Value value : op.getResults()) {
    if (isForStatistics(value))
      continue;
    numbers[value] = static_cast<int64_t>(model.values.size());
    model.values.push_back(
        {job.microBatches * perCopy(countBytes(value.getType())),
         static_cast<int64_t>(model.ops.size()) - 1});
    result.values.push_back(value);
  }
}

void StepModeler::addBackward(Operation &op) {
  SpillBlock &block = result.model.blocks[tags.lookup(&op).block];
  if (auto read = dyn_cast<ReadOp>(op))
    readers[symbols.lookup<VariableOp>(read.getVariable())].insert(
        tags.lookup(&op).block);
  if (op.getNumOperands() == 0)
    return;
  if (!isMovement(&op))
    block.backward += microBatches() * perCopy(estimateSeconds(op));
  for (Value operand : op.getOperands())
    if (tags.lookup(operand.getDefiningOp()).part == TaskPart::forward)
      for (int64_t root : findRoots(operand))
        if (!llvm::is_contained(block.backwardReads, root))
          block.backwardReads.push_back(root);
}

/// Returns the bytes of a parameter's states, for all copies. Slabs have room
/// for the states of any kind of optimizer.
int64_t StepModeler::countStateBytes(VariableOp variable) const {
  RankedTensorType type = variable.getTensorType();
  int64_t most = 0;
  SmallVector<OptimizerKind> kinds(job.optimizers.begin(),
                                   job.optimizers.end());
  if (const ParameterGroup *group =
          findOptimizerGroup(job, getParameterGroups(variable)))
    kinds = {job.optimizers[group->optimizer]};
  for (const OptimizerKind &kind : kinds)
    most = std::max(most, findOptimizer(kind.name)->countStateElements(
                              getGivenOptions(kind), type.getShape(),
                              getOutputAxes(variable)));
  int64_t bytes = most * getElementBytes(type.getElementType());
  if (!job.average.empty())
    bytes += type.getNumElements() *
             std::max<int64_t>(4, getElementBytes(type.getElementType()));
  return bytes * getCopies(type).value_or(1);
}

void StepModeler::addParameters() {
  for (auto &[variable, blocks] : readers) {
    if (!variable || variable.getRole() != Role::parameter)
      continue;
    int64_t bytes = countBytes(variable.getTensorType());
    int64_t stateBytes = countStateBytes(variable);
    bool isTrained =
        static_cast<bool>(variables.lookupOf(variable, Purpose::gradient));
    if (blocks.size() > 1) {
      result.model.fixedBytes += isTrained ? 2 * bytes + stateBytes : bytes;
      continue;
    }
    int64_t number = *blocks.begin();
    result.parameters[number].push_back(variable);
    SpillBlock &block = result.model.blocks[number];
    if (!isTrained) {
      (isArrayed(variable.getTensorType()) ? block.frozenBytes
                                           : block.sharedBytes) +=
          isArrayed(variable.getTensorType()) ? perCopy(bytes) : bytes;
      continue;
    }
    block.parameterBytes += perCopy(bytes);
    block.gradientBytes += perCopy(bytes);
    block.stateBytes += perCopy(stateBytes);
    // The update reads and writes all of these, except for the gradient, which
    // it reads and clears.
    block.update += perCopy(static_cast<double>(2 * (2 * bytes + stateBytes))) /
                    planning::kBytesPerSecond;
  }
}

StepModel StepModeler::build(Block &step) {
  SpillModel &model = result.model;
  model.copies = job.copies;
  model.partsOfMicroBatch = job.microBatches;
  model.clips = job.awaitsNorm() || !job.preconditioner.empty();
  int64_t blocks = countBlocks(tags);
  model.blocks.resize(blocks);
  result.parameters.resize(blocks);
  for (auto write : step.getOps<WriteOp>())
    written.insert(write.getVariable());
  for (int64_t block = 0; block < blocks; ++block) {
    model.blocks[block].name = std::to_string(block);
    for (Operation &op : step.without_terminator())
      if (tags.lookup(&op) == TaskTag{TaskPart::forward, block})
        addForward(op);
    model.blocks[block].endOp = static_cast<int64_t>(model.ops.size());
  }
  for (Operation &op : step.without_terminator())
    if (TaskPart part = tags.lookup(&op).part;
        part == TaskPart::backward || part == TaskPart::backward_weight)
      addBackward(op);
  addParameters();
  return std::move(result);
}

FailureOr<StepModel> hfta::modelStep(ModuleOp module, const Job &job) {
  func::FuncOp training = findUndivided(module, parts::kTraining);
  if (!training)
    return module.emitError("expected the undivided function 'training'; run "
                            "hfta-differentiate first");
  FailureOr<TaskTags> tags = readTags(training);
  if (failed(tags))
    return failure();
  return StepModeler(module, job, *tags).build(training.getBody().front());
}
