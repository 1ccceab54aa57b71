//===- StagePipeline.cpp - Assigns variables to stages --------------------===//
//
// Tasks belong to the stage of their block. The values that a task writes are
// in the memory of its stage's workers. If tasks of other stages read a value,
// its variable lists these stages as readers, and schedules send it to them
// directly, however many stages away they are. A weight that several stages use
// belongs to the first one. Gradients that other stages compute for it cross
// stages like any other values, and the backward of the first stage adds them
// up.

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Pipeline/StageOrder.h"
#include "Tasks/TaskBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASTAGEPIPELINE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// The stages and blocks of the tasks that use a variable.
struct Uses {
  std::set<int64_t> readers, writers; ///< the stages of the tasks
  std::set<int64_t> blocks;           ///< the readers' blocks
  bool writtenByForward = false, writtenByBackward = false,
       writtenByEvaluate = false, writtenByInfer = false;
  /// Whether tasks that compute gradients of weights, which may wait, read it.
  bool readByWeight = false;
};

class StageAssignment {
public:
  /// `order` is only needed for a job without a memory budget.
  StageAssignment(ModuleOp module, const Job &job, const planning::Order &order)
      : module(module), job(job), isRecomputed(planning::getRecomputed(order)),
        inFlight(planning::getInstances(order)),
        recomputed(
            planning::getInstances(order, planning::Span::fromRecompute)),
        recomputedToInput(
            planning::getInstances(order, planning::Span::recomputeToInput)),
        symbols(module) {}

  LogicalResult assign();

private:
  void findUses(func::FuncOp task, TaskAttr tag);
  std::set<int64_t> getStages(TaskAttr tag) const;
  void giveBlock(VariableOp variable, const Uses &used);
  LogicalResult giveReaders(VariableOp variable, const Uses &used);
  void giveInstances(VariableOp variable, const Uses &used);
  bool isBehindChunk(int64_t reader, int64_t writer) const;

  ModuleOp module;
  const Job &job;
  std::vector<bool> isRecomputed; ///< for each block
  /// For each block, the number of micro-batches whose values it holds: values
  /// that exist from the forward on, from the recomputation on, and from the
  /// recomputation until gradients of inputs are computed.
  std::vector<int64_t> inFlight, recomputed, recomputedToInput;
  SymbolTable symbols;
  int64_t lastBlock = 0;
  llvm::MapVector<Operation *, Uses> uses;
};

} // namespace

static int64_t getBlock(VariableOp variable) {
  return static_cast<int64_t>(variable.getBlock());
}

/// Returns the stages whose workers run a task: none for an inference, which
/// isn't divided into stages; all for a task of no block, such as `clip`,
/// unless it runs with the last block.
std::set<int64_t> StageAssignment::getStages(TaskAttr tag) const {
  if (tag.getPart() == parts::kInfer)
    return {};
  if (tag.getBlock() >= 0)
    return {job.getStage(tag.getBlock())};
  if (parts::isOfLastBlock(tag.getPart().getValue()))
    return {job.getStage(lastBlock)};
  std::set<int64_t> all;
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage)
    all.insert(stage);
  return all;
}

void StageAssignment::findUses(func::FuncOp task, TaskAttr tag) {
  std::set<int64_t> stages = getStages(tag);
  for (auto read : task.getOps<ReadOp>()) {
    Uses &used = uses[symbols.lookup(read.getVariable())];
    used.readers.insert(stages.begin(), stages.end());
    if (tag.getBlock() >= 0 && !stages.empty())
      used.blocks.insert(tag.getBlock());
    used.readByWeight |= tag.getPart() == parts::kBackwardWeight ||
                         tag.getPart() == parts::kBackwardWeightMoments;
  }
  for (auto write : task.getOps<WriteOp>()) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    Uses &used = uses[variable];
    used.writers.insert(stages.begin(), stages.end());
    // A task that adds to a statistic reads it as well, even if the read is in
    // another part.
    if (variable.getRole() == Role::statistics)
      used.readers.insert(stages.begin(), stages.end());
    used.writtenByForward |= tag.getPart() == parts::kForward;
    used.writtenByBackward |= tag.getPart() == parts::kBackward ||
                              tag.getPart() == parts::kSampledMoments;
    used.writtenByEvaluate |= tag.getPart() == parts::kEvaluate;
    used.writtenByInfer |= tag.getPart() == parts::kInfer;
  }
}

/// Assigns blocks to variables that belong to none: the block of its parameter
/// to a norm, the last block to sums of losses, and the first block to
/// parameters and statistics that only an evaluation reads. A field that only
/// one stage reads gets that stage's first block.
void StageAssignment::giveBlock(VariableOp variable, const Uses &used) {
  if (getBlock(variable) >= 0)
    return;
  if (variable.isFor(Purpose::norm)) {
    auto of = symbols.lookup<VariableOp>(
        variable.getPurposeAttr().getOf().getValue());
    variable.setBlock(of.getBlock());
  } else if (variable.getRole() == Role::result) {
    variable.setBlock(lastBlock);
  } else if (variable.getRole() == Role::parameter ||
             variable.getRole() == Role::statistics) {
    variable.setBlock(0); // the block whose task initializes it
  } else if (variable.isFor(Purpose::field) && used.readers.size() == 1) {
    variable.setBlock(job.getFirstBlock(*used.readers.begin()));
  }
}

LogicalResult StageAssignment::giveReaders(VariableOp variable,
                                           const Uses &used) {
  if (getBlock(variable) < 0)
    return success();
  SmallVector<int64_t> readers;
  for (int64_t stage : used.readers)
    if (stage != job.getStage(getBlock(variable)))
      readers.push_back(stage);
  if (variable.getRole() == Role::moment && used.writers.size() > 1)
    return variable.emitError("the parameter '")
           << symbols
                  .lookup<VariableOp>(
                      variable.getPurposeAttr().getOf().getValue())
                  .getOwnName()
           << "' is used by one stage of the pipeline in some copies and by "
              "another one in others, and 'precondition kfac' takes all copies "
              "together: cut elsewhere, or compile the copies with --no-fuse";
  if (readers.empty() || variable.getRole() == Role::constant)
    return success();
  switch (variable.getRole()) {
  case Role::statistics:
    return variable.emitError("the running statistic '")
           << variable.getOwnName()
           << "' is used by several stages of the pipeline, and each would "
              "update a value of its own: cut elsewhere";
  case Role::cut:
  case Role::parameter:
  case Role::moment:
  case Role::curvature:
  case Role::output:
  case Role::result:
    variable.setReaders(readers);
    return success();
  default:
    return variable.emitError("a variable of role '")
           << stringifyRole(variable.getRole())
           << "' is read by another stage than that of its block";
  }
}

/// Returns whether the replicas of each stage take micro-batches strictly in
/// turn.
static bool takesTurns(const Job &job) {
  return llvm::all_of(
      llvm::seq<int64_t>(0, job.getStageCount()), [&](int64_t stage) {
        return job.getGroups(stage) % job.getReplicas(stage) == 0;
      });
}

/// Sets the number of a variable's instances. A stage holds the saved values of
/// all micro-batches in flight, and recomputed values only from the
/// recomputation on. Received values arrive while the previous micro-batch is
/// computed, and sent values leave while the next one is, which takes one more
/// instance. A value that a backward writes for another stage is read by the
/// backward of the same micro-batch there; only gradients of weights, or a
/// chunk that isn't the stage's first one to read it, may read it later. An
/// evaluation has nothing in flight. With several chunks, those between the
/// writer and its readers determine when the value is read. If all
/// micro-batches pass through a block before the next one begins, each has its
/// own place from the beginning.
void StageAssignment::giveInstances(VariableOp variable, const Uses &used) {
  Role role = variable.getRole();
  if (role != Role::saved && role != Role::cut && role != Role::input)
    return;
  bool isSent = variable.getReaders().has_value();
  bool hasPlaces = job.goesByBlocks() && !(used.writtenByEvaluate && isSent);
  if (used.writtenByInfer || hasPlaces ||
      (role == Role::input && !variable.isFor(Purpose::field)))
    return;
  std::set<int64_t> blocks = used.blocks;
  if (getBlock(variable) >= 0)
    blocks.insert(getBlock(variable));
  if (role == Role::cut && job.chunks > 1 && !blocks.empty())
    for (int64_t block = *blocks.begin(); block < *blocks.rbegin(); ++block)
      blocks.insert(block);
  int64_t most = 1;
  for (int64_t block : blocks)
    if (!used.writtenByEvaluate)
      most = std::max(most, inFlight[block]);
  if (role == Role::saved) {
    int64_t block = getBlock(variable);
    if (!used.writtenByEvaluate && !used.writtenByForward &&
        isRecomputed[block])
      most = used.readByWeight ? recomputed[block] : recomputedToInput[block];
    variable.setInstances(most);
    return;
  }
  bool waits =
      used.readByWeight || llvm::any_of(used.blocks, [&](int64_t reader) {
        return isBehindChunk(reader, getBlock(variable));
      });
  // In listed orders, all backwards of a chunk may come before those for which
  // the readers of the first ones wait. If replicas don't take turns, this
  // holds for the backwards for which one of them waits.
  bool isListed = job.getOrder() == PipelineOrder::listed;
  waits |= job.chunks > 1 && (isListed || !takesTurns(job));
  bool isShort =
      used.writtenByEvaluate || (used.writtenByBackward && !waits && isSent);
  variable.setInstances((isShort ? 1 : most) + 1);
}

/// Returns whether the stage of block `reader` has a later chunk, at most
/// `writer`, whose backward comes first.
bool StageAssignment::isBehindChunk(int64_t reader, int64_t writer) const {
  for (int64_t block = reader + 1; block <= writer; ++block)
    if (job.getStage(block) == job.getStage(reader))
      return true;
  return false;
}

LogicalResult StageAssignment::assign() {
  SmallVector<std::pair<func::FuncOp, TaskAttr>> tasks;
  for (auto task : module.getOps<func::FuncOp>())
    if (auto tag = task->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName))
      tasks.emplace_back(task, tag);
  for (auto [task, tag] : tasks)
    lastBlock = std::max(lastBlock, tag.getBlock());
  for (auto [task, tag] : tasks)
    findUses(task, tag);
  for (auto &[operation, used] : uses) {
    auto variable = cast<VariableOp>(operation);
    giveBlock(variable, used);
    if (failed(giveReaders(variable, used)))
      return failure();
    giveInstances(variable, used);
    if (isFormedByGroups(variable))
      variable.setInstances(job.getGroups(job.getStage(getBlock(variable))));
  }
  return success();
}

namespace {
struct StagePipelinePass
    : hfta::impl::HftaStagePipelineBase<StagePipelinePass> {
  using HftaStagePipelineBase::HftaStagePipelineBase;

  void runOnOperation() override {
    FailureOr<Job> job = Job::read(getOperation());
    if (failed(job))
      return signalPassFailure();
    if (job->getStageCount() == 1)
      return markAllAnalysesPreserved();
    FailureOr<planning::Order> order = planning::Order();
    if (!job->goesByBlocks())
      order = makeStageOrder(getOperation(), *job);
    if (failed(order))
      return signalPassFailure();
    if (failed(StageAssignment(getOperation(), *job, *order).assign()))
      signalPassFailure();
  }
};
} // namespace
