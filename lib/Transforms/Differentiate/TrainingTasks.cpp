//===- TrainingTasks.cpp - The training step of one micro-batch -----------===//
//
// Forward, backward and the updates of running statistics are built as one
// function, whose ops are tagged with their tasks.
//===----------------------------------------------------------------------===//

#include "Differentiate/GradientsAtCuts.h"
#include "Differentiate/LayerLinks.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Transforms/Differentiate/ReverseMode.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "Pipeline/StageOrder.h"
#include "Tasks/Blocks.h"
#include "Tasks/LossScale.h"
#include "Tasks/LossWeight.h"
#include "Tasks/RunningStatistics.h"
#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskTags.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

class TrainingStep {
public:
  TrainingStep(TaskBuilder &tasks, ModelOp model, int64_t blocks)
      : tasks(tasks), builder(tasks.getBuilder()), model(model), blocks(blocks),
        layers(tasks, /*remarks=*/true),
        sampledLayers(tasks, /*remarks=*/false) {}

  LogicalResult build();

private:
  void cut();
  LogicalResult buildForward();
  LogicalResult buildBackward();
  FailureOr<SmallVector<Value>> bindInputs(func::FuncOp prepare,
                                           func::FuncOp forward,
                                           SmallVectorImpl<Value> &arguments);
  LossDivisor getDivisor(Value divisors) const;
  int64_t countTerms(Value losses) const;
  Value buildLoss(Value losses, const Objective &objective);
  void describeLoss(const Objective &objective);
  void tagSampled();
  Value addGradients(Value first, Value other);
  Value getDifferentiated(Value mean) const;
  Value buildSeed(Value mean, TaskPart part);
  void orderBackward();
  void freezeUnreached();
  FailureOr<std::vector<bool>> findRecomputed();
  LogicalResult noteRecomputed();
  DenseMap<Operation *, int64_t> findBlocksOfGradients();
  LogicalResult buildSampledBackward(ArrayRef<TrainedLeaf> leaves,
                                     ArrayRef<Value> wanted);
  void buildGradients();
  void buildLayers();
  /// Tags the ops from `first` on as the backward of `forward`.
  void tagBackward(Operation *forward, Block::iterator first,
                   TaskPart part = TaskPart::backward);

  TaskBuilder &tasks;
  OpBuilder &builder;
  ModelOp model;
  func::FuncOp step;
  /// This micro-batch's share of the batch's mean loss, or of the sum of losses
  /// that a step divides by the sum of weights.
  Value loss;
  /// The loss for targets that are sampled from the model's outputs (K-FAC with
  /// `fisher = sampled`); null in other jobs.
  Value sampledLoss;
  /// The sum of this micro-batch's divisors; null if all divisors are one.
  Value weightSum;
  int64_t blocks;
  TaskTags tags;
  LayerLinks layers, sampledLayers;
  SmallVector<std::pair<TrainedLeaf, Value>> gradients; ///< in forward order
};

} // namespace

FailureOr<SmallVector<Value>>
TrainingStep::bindInputs(func::FuncOp prepare, func::FuncOp forward,
                         SmallVectorImpl<Value> &arguments) {
  const Job &job = tasks.getJob();
  SmallVector<Value> raw;
  for (unsigned index = 0; index < prepare.getNumArguments(); ++index) {
    auto type = cast<RankedTensorType>(prepare.getArgumentTypes()[index]);
    VariableOp field =
        tasks.declare(PurposeAttr::get(tasks.getContext(), Purpose::field,
                                       getPortName(prepare, index, false)),
                      type);
    // There are the instances in use, and one to which the next fields are
    // uploaded.
    field.setInstances((job.allForwardsFirst ? job.microBatches : 1) + 1);
    raw.push_back(tasks.read(field));
  }
  SmallVector<Value> fields =
      tasks.inlineFunction(prepare, raw, /*training=*/true);
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    std::string name = getPortName(forward, index, false);
    Value found;
    for (auto [field, value] : llvm::enumerate(fields))
      if (getPortName(prepare, field, true) == name)
        found = value;
    if (!found || found.getType() != forward.getArgumentTypes()[index])
      return forward.emitError("no prepared field of type ")
             << forward.getArgumentTypes()[index] << " for input '" << name
             << "'";
    arguments.push_back(found);
  }
  return fields;
}

/// Returns whether the value is a constant of ones, or a broadcast, cast or
/// stack of such values.
static bool isAllOnes(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<StackOp, BroadcastOp, CastOp>(op))
    return llvm::all_of(op->getOperands(), isAllOnes);
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  return elements && elements.isSplat() &&
         isa<FloatType>(elements.getElementType()) &&
         elements.getSplatValue<APFloat>().convertToDouble() == 1.0;
}

/// Returns the divisor of the losses, which is applied here or, if it depends
/// on all micro-batches, after the last one.
LossDivisor TrainingStep::getDivisor(Value divisors) const {
  if (isAllOnes(divisors))
    return LossDivisor::terms;
  return tasks.getJob().microBatches == 1 ? LossDivisor::weights
                                          : LossDivisor::undivided;
}

int64_t TrainingStep::countTerms(Value losses) const {
  return cast<RankedTensorType>(losses.getType()).getNumElements() *
         tasks.getJob().microBatches;
}

/// Builds this micro-batch's share of the mean loss, or of the sum of losses.
Value TrainingStep::buildLoss(Value losses, const Objective &objective) {
  Location loc = losses.getLoc();
  LossDivisor divisor = getDivisor(objective.divisors);
  if (divisor == LossDivisor::terms) {
    Value scale = tasks.splat({}, getElementTypeOrSelf(losses.getType()),
                              1.0 / static_cast<double>(countTerms(losses)));
    return MulOp::create(builder, loc, tasks.sumAll(losses), scale);
  }
  Value sum =
      tasks.sumAll(MulOp::create(builder, loc, losses, objective.weights));
  if (!weightSum)
    weightSum = tasks.sumAll(objective.divisors);
  return divisor == LossDivisor::undivided
             ? sum
             : DivOp::create(builder, loc, sum, weightSum).getResult();
}

/// Tells the layers the divisor of the loss, and stores the sum of weights for
/// tasks that need it.
void TrainingStep::describeLoss(const Objective &objective) {
  LossDivisor divisor = getDivisor(objective.divisors);
  for (LayerLinks *links : {&layers, &sampledLayers})
    links->setLossDivisor(divisor, countTerms(objective.losses));
  // A preconditioner needs the sum to recover the gradients of single losses.
  bool isKept = divisor == LossDivisor::undivided ||
                (divisor == LossDivisor::weights &&
                 !tasks.getJob().preconditioner.empty());
  if (!isKept)
    return;
  Purpose purpose = divisor == LossDivisor::undivided ? Purpose::loss_weight
                                                      : Purpose::loss_terms;
  Type type = getElementTypeOrSelf(weightSum.getType());
  tasks.accumulate(weightSum,
                   tasks.declare(purpose, tasks.scalarType(type, true)));
}

LogicalResult TrainingStep::buildForward() {
  auto prepare = model.lookupSymbol<func::FuncOp>("prepare");
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  auto objective = model.lookupSymbol<func::FuncOp>("objective");
  if (!prepare || !objective)
    return model.emitError("a training job needs @prepare and @objective");
  SmallVector<Value> arguments;
  FailureOr<SmallVector<Value>> fields =
      bindInputs(prepare, forward, arguments);
  if (failed(fields))
    return failure();
  SmallVector<Value> outputs =
      tasks.inlineFunction(forward, arguments, /*training=*/true);
  llvm::append_range(outputs, *fields);
  Objective values =
      tasks.inlineObjective(objective, outputs, /*training=*/true);
  loss = buildLoss(values.losses, values);
  describeLoss(values);
  Type type = getElementTypeOrSelf(loss.getType());
  tasks.accumulate(loss,
                   tasks.declare(Purpose::loss, tasks.scalarType(type, true)));
  if (values.drawnLosses)
    sampledLoss = buildLoss(values.drawnLosses, values);
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

void TrainingStep::tagBackward(Operation *forward, Block::iterator first,
                               TaskPart part) {
  for (auto op = first; op != builder.getInsertionPoint(); ++op)
    tags[&*op] = {part, tags.lookup(forward).block};
}

/// Returns a parameter as it is stored, and in all types to which it is cast.
/// The gradient with respect to each of these is computed separately, so that
/// no cast in the backward rounds it to the stored type.
static SmallVector<Value> getValuesInTypes(ReadOp read) {
  SmallVector<Value> values = {read};
  for (size_t index = 0; index < values.size(); ++index)
    for (Operation *user : values[index].getUsers())
      if (isa<CastOp>(user) &&
          isa<FloatType>(getElementTypeOrSelf(user->getResult(0).getType())))
        values.push_back(user->getResult(0));
  return values;
}

/// Adds gradients in the wider one of their types. The sum belongs to the
/// earlier one of their blocks.
Value TrainingStep::addGradients(Value first, Value other) {
  auto type = getWider(cast<FloatType>(getElementTypeOrSelf(first.getType())),
                       cast<FloatType>(getElementTypeOrSelf(other.getType())));
  TaskTag tag = {TaskPart::backward,
                 std::min(tags.lookup(first.getDefiningOp()).block,
                          tags.lookup(other.getDefiningOp()).block)};
  Operation *last = &*std::prev(builder.getInsertionPoint());
  Value sum = AddOp::create(builder, first.getLoc(), tasks.castTo(first, type),
                            tasks.castTo(other, type));
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode()) {
    tags[op] = tag;
    if (op == sum.getDefiningOp())
      return sum;
  }
  return sum;
}

/// Builds a second backward, from the loss for drawn targets to the output
/// gradients of layers. Parameters' gradients are only built so that layers are
/// found; nothing stores them.
LogicalResult TrainingStep::buildSampledBackward(ArrayRef<TrainedLeaf> leaves,
                                                 ArrayRef<Value> wanted) {
  SmallVector<Value> found;
  auto take = [&](const OpBackward &backward) {
    tagBackward(backward.forward, backward.first, TaskPart::sampled_moments);
    sampledLayers.record(backward);
  };
  if (failed(buildReverseMode(
          builder, getDifferentiated(sampledLoss), wanted, found, take,
          buildSeed(sampledLoss, TaskPart::sampled_moments))))
    return failure();
  for (auto [leaf, value, gradient] : llvm::zip(leaves, wanted, found))
    if (gradient)
      sampledLayers.addLeaf(leaf, value);
  return success();
}

/// Returns the value at which the backward begins: the sum of losses if `mean`
/// is this sum divided by the sum of weights, else `mean`.
Value TrainingStep::getDifferentiated(Value mean) const {
  auto division = mean.getDefiningOp<DivOp>();
  return division && division.getRhs() == weightSum ? division.getLhs() : mean;
}

/// Builds the gradient with respect to getDifferentiated(mean), or returns null
/// if it is one. It is zero if no loss counts.
Value TrainingStep::buildSeed(Value mean, TaskPart part) {
  bool isScaled =
      part == TaskPart::backward && !tasks.getJob().lossScale.empty();
  bool isDivided = getDifferentiated(mean) != mean;
  if (!isScaled && !isDivided)
    return {};
  Type type = getElementTypeOrSelf(mean.getType());
  Operation *last = &*std::prev(builder.getInsertionPoint());
  Expression seed(builder, mean.getLoc(),
                  isScaled ? readLossScale(tasks, type)
                           : tasks.splat({}, type, 1.0));
  if (isDivided)
    seed = seed / getGradientDivisor(seed.at(weightSum));
  tagBackward(mean.getDefiningOp(), std::next(Block::iterator(last)), part);
  return seed;
}

LogicalResult TrainingStep::buildBackward() {
  SmallVector<Value> wanted;
  SmallVector<TrainedLeaf> leaves;
  for (auto read : step.getBody().front().getOps<ReadOp>()) {
    VariableOp variable = tasks.lookup(read.getVariable());
    if (!variable.getTrained())
      continue;
    TrainedLeaf leaf = {variable,
                        read.getCopy() ? read.getCopy() : variable.getCopy()};
    for (Value value : getValuesInTypes(read)) {
      leaves.push_back(leaf);
      wanted.push_back(value);
    }
  }
  SmallVector<Value> found;
  auto take = [&](const OpBackward &backward) {
    tagBackward(backward.forward, backward.first);
    layers.record(backward);
  };
  if (failed(buildReverseMode(builder, getDifferentiated(loss), wanted, found,
                              take, buildSeed(loss, TaskPart::backward))))
    return failure();
  // A variable may be read at several places. Its gradient is the sum over
  // these.
  for (auto [leaf, value, gradient] : llvm::zip(leaves, wanted, found)) {
    if (!gradient)
      continue;
    layers.addLeaf(leaf, value);
    auto *known = llvm::find_if(gradients, [&, &key = leaf](auto &entry) {
      return entry.first == key;
    });
    if (known == gradients.end()) {
      gradients.emplace_back(leaf, gradient);
      continue;
    }
    // A sum belongs to the first block that adds to it, because backwards run
    // from the last block to the first.
    known->second = addGradients(known->second, gradient);
  }
  return sampledLoss ? buildSampledBackward(leaves, wanted) : success();
}

/// Corrects the blocks of backward ops, as backwards run from the last block to
/// the first: an op that uses a value of an earlier block belongs to that
/// block.
void TrainingStep::orderBackward() {
  for (Operation &op : step.getBody().front()) {
    TaskTag &tag = tags[&op];
    if (tag.part != TaskPart::backward && tag.part != TaskPart::sampled_moments)
      continue;
    for (Value operand : op.getOperands()) {
      TaskTag from = tags.lookup(operand.getDefiningOp());
      if (from.part == tag.part)
        tag.block = std::min(tag.block, from.block);
    }
  }
}

/// Freezes trained parameters on which the loss doesn't depend.
void TrainingStep::freezeUnreached() {
  DenseSet<Operation *> reached;
  for (auto &[leaf, gradient] : gradients)
    reached.insert(leaf.variable);
  for (auto variable : tasks.getModule().getOps<VariableOp>())
    if (variable.getTrained() && !reached.contains(variable))
      setTrainingRule(variable, TrainingRule::unreached);
}

//===----------------------------------------------------------------------===//
// The whole step
//===----------------------------------------------------------------------===//

/// Cuts the forward into blocks as noted on the model's ops. Without such
/// notes, and if several workers add up gradients during the backward, cuts it
/// into blocks for that.
void TrainingStep::cut() {
  Block &block = step.getBody().front();
  const Job &job = tasks.getJob();
  if (blocks == 1 && job.overlap && job.getReplicas() > 1)
    blocks =
        assignBlocksBySize(tasks, block, TaskPart::forward, job.bucket, tags);
  else
    assignBlocks(tasks, block, TaskPart::forward, tags);
  if (sampledLoss)
    tagSampled();
}

/// Tags ops that only serve the loss for drawn targets, so that they run with
/// its backward, in the same steps.
void TrainingStep::tagSampled() {
  Block &block = step.getBody().front();
  for (Operation &op : llvm::reverse(block)) {
    bool serves = op.getNumResults() > 0 &&
                  llvm::all_of(op.getUsers(), [&](Operation *user) {
                    return tags.lookup(user).part == TaskPart::sampled_moments;
                  });
    if (serves)
      tags[&op].part = TaskPart::sampled_moments;
  }
}

/// Finds the blocks of gradients. Copies with their own ops may use a variable
/// in several blocks. Then its gradient is complete after the backward of the
/// first one, which runs last. A preconditioner uses the gradients of a weight
/// and its bias together, so the bias gets the weight's block even if it is
/// added after a cut.
DenseMap<Operation *, int64_t> TrainingStep::findBlocksOfGradients() {
  DenseMap<Operation *, int64_t> blockOf;
  for (auto &[leaf, gradient] : gradients) {
    int64_t number = tags.lookup(gradient.getDefiningOp()).block;
    int64_t &first = blockOf.try_emplace(leaf.variable, number).first->second;
    first = std::min(first, number);
  }
  if (!tasks.getJob().preconditioner.empty())
    layers.forEachBias([&](VariableOp weight, VariableOp bias) {
      auto known = blockOf.find(bias);
      if (known != blockOf.end())
        known->second = std::min(known->second, blockOf.lookup(weight));
    });
  return blockOf;
}

/// Finds the blocks that are recomputed before their backward. Unless all
/// forwards of several micro-batches come first, the backward of the last block
/// directly follows its forward, so that recomputing this block saves nothing.
FailureOr<std::vector<bool>> TrainingStep::findRecomputed() {
  const Job &job = tasks.getJob();
  std::vector<bool> recomputed;
  if (job.getStageCount() > 1 && !job.goesByBlocks()) {
    FailureOr<planning::Order> order =
        makeStageOrder(tasks.getModule(), tasks.getJob());
    if (failed(order))
      return failure();
    recomputed = planning::getRecomputed(*order);
  } else {
    bool isLastInFlight =
        job.microBatches > 1 && (job.allForwardsFirst || job.hasBudget());
    for (int64_t block = 0; block < blocks - !isLastInFlight; ++block)
      recomputed.push_back(job.recomputes(job.getStage(block)));
  }
  recomputed.resize(blocks, false);
  return recomputed;
}

/// Notes on the ops of recomputed blocks that they are recomputed.
LogicalResult TrainingStep::noteRecomputed() {
  FailureOr<std::vector<bool>> recomputed = findRecomputed();
  if (failed(recomputed))
    return failure();
  auto keep = KeepAttr::get(tasks.getContext(), Keep::recompute);
  for (Operation &op : step.getBody().front().without_terminator()) {
    TaskTag tag = tags.lookup(&op);
    if (tag.part == TaskPart::forward && op.getNumResults() > 0 &&
        (*recomputed)[tag.block])
      op.setAttr(HftaDialect::kKeepAttrName, keep);
  }
  return success();
}

LogicalResult TrainingStep::build() {
  step = tasks.startTask(parts::kTraining, -1);
  Block &block = step.getBody().front();
  if (failed(buildForward()))
    return failure();
  eraseDeadOps(block, sampledLoss);
  cut();
  if (failed(assignStatistics(tasks, block, tags)) || failed(buildBackward()))
    return failure();
  orderBackward();
  freezeUnreached();
  layers.find();
  sampledLayers.find();
  buildGradients();
  buildLayers();
  eraseDeadOps(block);
  moveGradientsBehindCuts(tasks, block, tags);
  noteTags(block, tags);
  return noteRecomputed();
}

/// Declares the gradients of parameters, and adds those of the micro-batch to
/// them.
void TrainingStep::buildGradients() {
  DenseMap<Operation *, int64_t> blockOf = findBlocksOfGradients();
  Type gradientType = tasks.getFloatType(tasks.getJob().precision.gradients);
  for (auto [order, entry] : llvm::enumerate(gradients)) {
    auto &[leaf, gradient] = entry;
    VariableOp variable = leaf.variable;
    RankedTensorType type = variable.getTensorType();
    int64_t number = blockOf.lookup(variable);
    variable.setBlock(number);
    // The gradient is added directly after it is computed, so that the memory
    // of its operands can be freed.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(gradient);
    Operation *last = &*std::prev(builder.getInsertionPoint());
    tasks.accumulate(
        gradient,
        tasks.declareOf(variable, Purpose::gradient, /*name=*/{},
                        RankedTensorType::get(type.getShape(), gradientType,
                                              type.getEncoding()),
                        number),
        leaf.copy);
    for (auto op = std::next(last->getIterator());
         op != builder.getInsertionPoint(); ++op)
      tags[&*op] = {TaskPart::backward, number};
    std::prev(builder.getInsertionPoint())
        ->setAttr(kGradientOrderAttrName,
                  builder.getI64IntegerAttr(static_cast<int64_t>(order)));
  }
}

void TrainingStep::buildLayers() {
  layers.build([&](Operation *forward, Block::iterator first) {
    tagBackward(forward, first);
  });
  sampledLayers.build([&](Operation *forward, Block::iterator first) {
    tagBackward(forward, first, TaskPart::sampled_moments);
  });
}

LogicalResult hfta::buildTrainingStep(TaskBuilder &tasks, ModelOp model,
                                      int64_t blocks) {
  return TrainingStep(tasks, model, blocks).build();
}
