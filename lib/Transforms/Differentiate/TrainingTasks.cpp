//===- TrainingTasks.cpp - The training step of one micro-batch -----------===//
//
// Forward, backward and the updates of running statistics are built as one
// function, whose ops are tagged with their tasks.
//===----------------------------------------------------------------------===//

#include "Differentiate/GradientsAtCuts.h"
#include "Differentiate/LayerLinks.h"
#include "Differentiate/StepLoss.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "Hfta/Transforms/Differentiate/ReverseMode.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "Pipeline/StageOrder.h"
#include "Tasks/Blocks.h"
#include "Tasks/LossTerms.h"
#include "Tasks/RunningStatistics.h"
#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskTags.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// The gradient of a trained variable, in parts of terms.
struct LeafGradient {
  TrainedLeaf leaf;
  int64_t turn; ///< that of the parts
  SmallVector<PartOfTerms, 1> parts;
};

class TrainingStep {
public:
  TrainingStep(TaskBuilder &tasks, ModelOp model, int64_t blocks)
      : tasks(tasks), builder(tasks.getBuilder()), model(model), loss(tasks),
        blocks(blocks), layers(tasks, /*remarks=*/true),
        sampledLayers(tasks, /*remarks=*/false) {}

  LogicalResult build();

private:
  void cut();
  LogicalResult buildForward();
  LogicalResult buildBackward();
  FailureOr<SmallVector<Value>> bindInputs(func::FuncOp prepare,
                                           func::FuncOp forward,
                                           SmallVectorImpl<Value> &arguments);
  int64_t getTurn(int64_t term) const;
  bool isUpdatedIn(VariableOp variable, int64_t turn) const;
  void tagSampled();
  Value addGradients(Value first, Value other);
  Value buildSeed(Value mean, int64_t term, TaskPart part);
  SmallVector<TrainedLeaf> collectLeaves(SmallVector<Value> &wanted);
  LogicalResult buildBackwardOf(int64_t term, ArrayRef<TrainedLeaf> leaves,
                                ArrayRef<Value> wanted);
  void orderBackward();
  void freezeUnreached();
  FailureOr<std::vector<bool>> findRecomputed();
  LogicalResult noteRecomputed();
  DenseMap<Operation *, int64_t> findBlocksOfGradients();
  LogicalResult buildSampledBackward(ArrayRef<TrainedLeaf> leaves,
                                     ArrayRef<Value> wanted);
  StringRef getGradientName(VariableOp variable, int64_t term);
  void buildGradient(const LeafGradient &gradient, ArrayRef<PartOfTerms> parts,
                     int64_t order, int64_t block);
  void buildGradients();
  void buildLayers();
  /// Tags the ops from `first` on as the backward of `forward`.
  void tagBackward(Operation *forward, Block::iterator first,
                   TaskPart part = TaskPart::backward);

  TaskBuilder &tasks;
  OpBuilder &builder;
  ModelOp model;
  func::FuncOp step;
  StepLoss loss;
  int64_t blocks;
  int64_t turn = 0; ///< the turn whose backward is being built
  TaskTags tags;
  LayerLinks layers, sampledLayers;
  SmallVector<LeafGradient> gradients; ///< in forward order
  /// The terms for which a variable has gradients of its own, the first of
  /// which is called as that of a loss of one term. -1 stands for all terms
  /// that are divided already.
  DenseMap<Operation *, SmallVector<int64_t, 1>> ownGradients;
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
    bool staysInStep = job.allForwardsFirst || job.takesTurns();
    field.setInstances((staysInStep ? job.microBatches : 1) + 1);
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
  loss.build(values);
  const StepTerm &first = loss.getTerms().front();
  for (LayerLinks *links : {&layers, &sampledLayers})
    links->setLossDivisor(first.divisor, first.count);
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// The backward of a turn is in the turn's block, even if it goes through
/// values that an earlier turn has computed.
void TrainingStep::tagBackward(Operation *forward, Block::iterator first,
                               TaskPart part) {
  int64_t block = std::max(tags.lookup(forward).block, turn);
  for (auto op = first; op != builder.getInsertionPoint(); ++op)
    tags[&*op] = {part, block};
}

/// Returns the turn to which a term of the loss belongs.
int64_t TrainingStep::getTurn(int64_t term) const {
  const std::vector<LossTerm> &terms = tasks.getLossTerms();
  return tasks.getJob().takesTurns() ? terms[term].turn : 0;
}

bool TrainingStep::isUpdatedIn(VariableOp variable, int64_t turn) const {
  const Job &job = tasks.getJob();
  return !job.takesTurns() || hfta::getTurn(variable) == job.turns[turn].name;
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
          builder, loss.getDifferentiated(loss.getSampled()), wanted, found,
          take,
          buildSeed(loss.getSampled(), /*term=*/0, TaskPart::sampled_moments))))
    return failure();
  for (auto [leaf, value, gradient] : llvm::zip(leaves, wanted, found))
    if (gradient)
      sampledLayers.addLeaf(leaf, value);
  return success();
}

/// Builds the gradient at which a backward begins, or returns null if it is
/// one.
Value TrainingStep::buildSeed(Value mean, int64_t term, TaskPart part) {
  bool isScaled =
      part == TaskPart::backward && !tasks.getJob().lossScale.empty();
  Operation *last = &*std::prev(builder.getInsertionPoint());
  Value seed = loss.buildSeed(mean, term, isScaled);
  tagBackward(mean.getDefiningOp(), std::next(Block::iterator(last)), part);
  return seed;
}

/// Collects reads of trained variables, and the values with respect to which
/// gradients are wanted.
SmallVector<TrainedLeaf>
TrainingStep::collectLeaves(SmallVector<Value> &wanted) {
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
  return leaves;
}

/// Builds the backward of one term. Terms have a backward each, so that a term
/// without weight takes nothing of the others' gradients.
LogicalResult TrainingStep::buildBackwardOf(int64_t number,
                                            ArrayRef<TrainedLeaf> leaves,
                                            ArrayRef<Value> wanted) {
  Value share = loss.getTerms()[number].share;
  turn = getTurn(number);
  SmallVector<Value> found;
  auto take = [&](const OpBackward &backward) {
    tagBackward(backward.forward, backward.first);
    layers.record(backward);
  };
  if (failed(buildReverseMode(builder, loss.getDifferentiated(share), wanted,
                              found, take,
                              buildSeed(share, number, TaskPart::backward))))
    return failure();
  // A variable may be read at several places. Its gradient is the sum over
  // these.
  for (auto [leaf, value, gradient] : llvm::zip(leaves, wanted, found)) {
    if (!gradient)
      continue;
    layers.addLeaf(leaf, value);
    auto *known =
        llvm::find_if(gradients, [&, &key = leaf](const LeafGradient &entry) {
          return entry.leaf == key && entry.turn == turn;
        });
    if (known == gradients.end())
      known = &gradients.emplace_back(LeafGradient{leaf, turn, {}});
    SmallVector<PartOfTerms, 1> &parts = known->parts;
    if (parts.empty() || parts.back().terms.front() != number)
      parts.push_back({{number}, gradient});
    else
      // A sum belongs to the first block that adds to it, because backwards run
      // from the last block to the first.
      parts.back().value = addGradients(parts.back().value, gradient);
  }
  return success();
}

LogicalResult TrainingStep::buildBackward() {
  SmallVector<Value> wanted;
  SmallVector<TrainedLeaf> leaves = collectLeaves(wanted);
  for (size_t index = 0; index < loss.getTerms().size(); ++index) {
    auto term = static_cast<int64_t>(index);
    SmallVector<Value> ofTurn;
    SmallVector<TrainedLeaf> leavesOfTurn;
    for (auto [leaf, value] : llvm::zip_equal(leaves, wanted)) {
      if (!isUpdatedIn(leaf.variable, getTurn(term)))
        continue;
      leavesOfTurn.push_back(leaf);
      ofTurn.push_back(value);
    }
    if (failed(buildBackwardOf(term, leavesOfTurn, ofTurn)))
      return failure();
  }
  return loss.getSampled() ? buildSampledBackward(leaves, wanted) : success();
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
  for (const LeafGradient &gradient : gradients)
    reached.insert(gradient.leaf.variable);
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
  // The host reads all results from the last block's workers. A term may be
  // computed in an earlier block. Of a job with turns, whose one worker has all
  // results, each turn adds to those of its terms, and the last one to their
  // sum.
  const DenseSet<Operation *> &inLast =
      job.takesTurns() ? loss.getTotal() : loss.getSums();
  if (loss.getTerms().size() > 1)
    for (Operation &op : block)
      if (inLast.contains(&op))
        tags[&op].block = blocks - 1;
  if (loss.getSampled())
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
  for (const LeafGradient &gradient : gradients)
    for (const PartOfTerms &part : gradient.parts) {
      int64_t number = tags.lookup(part.value.getDefiningOp()).block;
      int64_t &first =
          blockOf.try_emplace(gradient.leaf.variable, number).first->second;
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
  eraseDeadOps(block, loss.getSampled());
  cut();
  if (failed(assignStatistics(tasks, block, tags)) || failed(buildBackward()))
    return failure();
  orderBackward();
  freezeUnreached();
  layers.find();
  sampledLayers.find();
  buildGradients();
  if (!tasks.getJob().takesTurns())
    buildLayers();
  eraseDeadOps(block);
  moveGradientsBehindCuts(tasks, block, tags);
  noteTags(block, tags);
  return noteRecomputed();
}

/// Returns the name of the gradient to which a term's is added.
StringRef TrainingStep::getGradientName(VariableOp variable, int64_t term) {
  bool isOwn = loss.getTerms()[term].divisor == LossDivisor::undivided;
  SmallVector<int64_t, 1> &own = ownGradients[variable];
  int64_t key = isOwn ? term : -1;
  if (!llvm::is_contained(own, key))
    own.push_back(key);
  return own.front() == key ? StringRef()
                            : StringRef(loss.getTerms()[term].name);
}

/// Adds parts of a gradient to the variable of that name.
void TrainingStep::buildGradient(const LeafGradient &gradient,
                                 ArrayRef<PartOfTerms> parts, int64_t order,
                                 int64_t block) {
  VariableOp variable = gradient.leaf.variable;
  RankedTensorType type = variable.getTensorType();
  // The gradient is added directly after it is computed, so that the memory of
  // its operands can be freed. Parts are in the order of their backwards.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(parts.back().value);
  Operation *last = &*std::prev(builder.getInsertionPoint());
  VariableOp sum = tasks.declareOf(
      variable, Purpose::gradient,
      getGradientName(variable, parts.front().terms.front()),
      RankedTensorType::get(
          type.getShape(),
          tasks.getFloatType(tasks.getJob().precision.gradients),
          type.getEncoding()),
      block);
  accumulateParts(tasks, parts, sum, gradient.leaf.copy);
  if (!tasks.getLossTerms().empty())
    for (const PartOfTerms &part : parts)
      noteTerms(sum, part.terms);
  for (auto op = std::next(last->getIterator());
       op != builder.getInsertionPoint(); ++op)
    tags[&*op] = {TaskPart::backward, block};
  std::prev(builder.getInsertionPoint())
      ->setAttr(kGradientOrderAttrName, builder.getI64IntegerAttr(order));
}

/// Declares the gradients of parameters, and adds those of the micro-batch to
/// them. Terms that are divided already have a common one, others have one
/// each.
void TrainingStep::buildGradients() {
  DenseMap<Operation *, int64_t> blockOf = findBlocksOfGradients();
  for (auto [order, gradient] : llvm::enumerate(gradients)) {
    VariableOp variable = gradient.leaf.variable;
    variable.setBlock(blockOf.lookup(variable));
    int64_t block =
        tasks.getJob().takesTurns() ? gradient.turn : blockOf.lookup(variable);
    SmallVector<PartOfTerms> divided;
    for (const PartOfTerms &part : gradient.parts)
      if (loss.getTerms()[part.terms.front()].divisor == LossDivisor::undivided)
        buildGradient(gradient, part, static_cast<int64_t>(order), block);
      else
        divided.push_back(part);
    if (!divided.empty())
      buildGradient(gradient, divided, static_cast<int64_t>(order), block);
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
