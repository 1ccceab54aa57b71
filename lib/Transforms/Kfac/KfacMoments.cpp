//===- KfacMoments.cpp - Moments added up in forward and backward ---------===//
//
// Each moment is added up where its rows are computed. Moments of inputs are
// added up in a second version of the forward, and those of output gradients in
// a second version of the backward, or of backward_weight if that has the
// layer. An hfta.layer in the original task names the values. Its input was
// saved by a forward task, or is recomputed from saved values, so the forward
// has a value with the same number (ValueNumbers).
//
// Each use of a weight has its own moments: uses may be in several stages, and
// sums must have the same order wherever the model is cut.
//
// Where targets are drawn (`fisher = sampled`), moments of output gradients are
// those of the backward from drawn targets. They are added to its task
// sampled_moments, which names the same layers again.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "Kfac/Kfac.h"
#include "Kfac/KfacRows.h"
#include "Kfac/SampledBackward.h"
#include "Tasks/Recomputed.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// A task to which moments are added: the second version of another task, or a
/// task of its own.
struct MomentTask {
  func::FuncOp function;
  func::FuncOp original; ///< may be the task itself; null: none
  IRMapping values;      ///< maps values of all tasks to this task's
  DenseMap<unsigned, Value> ofNumber; ///< this task's values, by number
  /// The sums so far, by the moment's variable and the copy (-1: all).
  llvm::MapVector<std::pair<Operation *, int64_t>, Value> sums;
};

/// Identifies one use of an input: uses with equal keys have equal moments. A
/// key consists of the input's value number, its axes, windows, whether
/// positions are reduced, whether there is a column of ones, and the copy.
using InputKey = SmallVector<int64_t>;

class MomentBuilder {
public:
  MomentBuilder(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units)
      : tasks(tasks), builder(tasks.getBuilder()), units(units),
        type(tasks.getFloatType(tasks.getJob().precision.compute)),
        wide(tasks.getFloatType(tasks.getJob().precision.accumulate)),
        numbers(tasks.getModule(), {parts::kForward, parts::kRecompute,
                                    parts::kBackward, parts::kBackwardWeight}) {
  }

  void build();

private:
  void makeSecondVersions();
  void makeSecondVersion(func::FuncOp function, StringRef part);
  void eraseWithoutMoments();
  void takeSampled(func::FuncOp function);
  bool draws() const { return tasks.getJob().drawsTargets(); }
  /// Returns the hfta.layer of the task to which moments of the layer's output
  /// gradient are added: where targets are drawn, that of the backward from
  /// these.
  LayerOp getMeasured(LayerOp layer) const {
    return draws() ? sampledOf.lookup(layer) : layer;
  }
  MomentTask &getTask(StringRef part, int64_t block);
  MomentTask &getTask(LayerOp layer);
  MomentTask &getSharedTask(int64_t block);
  void setInsertionPointToEnd(MomentTask &task);
  void finish(MomentTask &task);

  WriteOp findWriter(ReadOp read) const;
  Value resolve(Value value) const;
  bool isShared(Value value) const;
  Value bring(Value value, MomentTask &task);
  Value bringOf(LayerOp layer, Value value, MomentTask &task);
  Value bringRead(ReadOp read, MomentTask &task);

  /// Casts rows to the compute type, and then to the type in which they are
  /// added up.
  Value widen(Value rows) {
    return tasks.castTo(tasks.castTo(rows, type), wide);
  }
  void declare(KfacFactor &factor, const KfacUnit &unit, StringRef name);
  bool shareMoments(KfacUnit &unit);
  SmallVector<InputKey> getKeys(const KfacUnit &unit,
                                std::optional<int64_t> copy) const;
  void addInputs(KfacUnit &unit);
  void addOutputs(KfacUnit &unit);
  void addUnitWise(KfacUnit &unit);
  Value buildMoment(Value rows, const KfacUnit &unit, LayerOp layer,
                    bool isOutput, Value sum);
  bool isReducing() const { return tasks.getJob().kfacSharing == "reduce"; }
  bool isReduced(LayerOp layer) const;
  int64_t countRows(const KfacUnit &unit) const;
  void addInput(KfacUnit &unit, size_t use);
  void add(MomentTask &task, VariableOp moment, std::optional<int64_t> copy,
           Value rows, llvm::function_ref<Value(Value)> build);

  TaskBuilder &tasks;
  OpBuilder &builder;
  MutableArrayRef<KfacUnit> units;
  FloatType type; ///< the moments' type
  FloatType wide; ///< the type in which a micro-batch's rows are added up
  ValueNumbers numbers;
  DenseMap<unsigned, Value> first; ///< the first value of each number
  /// All tasks to which moments may be added, by part and block.
  std::map<std::pair<std::string, int64_t>, MomentTask> all;
  /// The writes of forward tasks, by their variables.
  llvm::StringMap<WriteOp> writers;
  /// The first unit with each input, and the moments of each shared input.
  std::map<SmallVector<InputKey>, KfacUnit *> owners;
  std::map<SmallVector<InputKey>, SmallVector<VariableOp>> shared;
  /// Maps layers of the backward from labels to the same ones of the backward
  /// from drawn targets.
  SampledLayers sampledOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static TaskAttr getTaskOf(func::FuncOp function) {
  return function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
}

static int64_t getBlockOf(LayerOp layer) {
  return getTaskOf(layer->getParentOfType<func::FuncOp>()).getBlock();
}

void MomentBuilder::makeSecondVersions() {
  for (func::FuncOp function : getTasksInOrder(tasks.getModule())) {
    TaskAttr task = getTaskOf(function);
    StringRef part = parts::getMomentsPart(task.getPart().getValue());
    for (Operation &op : function.getBody().front().without_terminator())
      for (Value result : op.getResults())
        if (unsigned number = numbers.lookup(result))
          first.try_emplace(number, result);
    bool isForward = task.getPart() == parts::kForward;
    if (isForward)
      for (auto write : function.getOps<WriteOp>())
        writers[write.getVariable()] = write;
    if (task.getPart() == parts::kSampledMoments)
      takeSampled(function);
    else if (!part.empty() && (isForward || !draws()))
      makeSecondVersion(function, part);
  }
}

void MomentBuilder::makeSecondVersion(func::FuncOp function, StringRef part) {
  int64_t block = getTaskOf(function).getBlock();
  MomentTask &second = all[{part.str(), block}];
  second.original = function;
  second.function = tasks.startTask(part, block);
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<LayerOp>(op))
      continue;
    builder.clone(op, second.values);
    for (Value result : op.getResults())
      second.ofNumber.try_emplace(numbers.lookup(result),
                                  second.values.lookup(result));
  }
}

/// Erases second versions of tasks to which no moment was added. Keeps all
/// backwards from drawn targets, which may compute gradients for other blocks.
void MomentBuilder::eraseWithoutMoments() {
  for (auto &[key, task] : all)
    if (task.sums.empty() && task.function != task.original)
      tasks.eraseTask(task.function);
}

/// Registers a task of the backward from drawn targets. As it exists for
/// moments alone, these are added to the task itself, not to a second version.
void MomentBuilder::takeSampled(func::FuncOp function) {
  MomentTask &task =
      all[{parts::kSampledMoments.str(), getTaskOf(function).getBlock()}];
  task.original = task.function = function;
  for (Operation &op : function.getBody().front())
    for (Value result : op.getResults())
      task.values.map(result, result);
}

MomentTask &MomentBuilder::getTask(StringRef part, int64_t block) {
  return all.at({part.str(), block});
}

/// Returns the task to which moments of the layer's output gradient are added:
/// the second version of the task that names the layer or, where targets are
/// drawn, sampled_moments of its block.
MomentTask &MomentBuilder::getTask(LayerOp layer) {
  if (draws())
    return getTask(parts::kSampledMoments, getBlockOf(layer));
  TaskAttr task = getTaskOf(layer->getParentOfType<func::FuncOp>());
  return getTask(parts::getMomentsPart(task.getPart().getValue()),
                 task.getBlock());
}

MomentTask &MomentBuilder::getSharedTask(int64_t block) {
  MomentTask &task = all[{parts::kSharedMoments.str(), block}];
  if (!task.function)
    task.function = tasks.startTask(parts::kSharedMoments, block);
  return task;
}

void MomentBuilder::setInsertionPointToEnd(MomentTask &task) {
  builder.setInsertionPoint(task.function.getBody().front().getTerminator());
}

/// Writes the sums of a task to their variables. No more can be added after
/// that.
void MomentBuilder::finish(MomentTask &task) {
  setInsertionPointToEnd(task);
  for (auto &[key, sum] : task.sums)
    tasks.write(sum, cast<VariableOp>(key.first),
                key.second < 0 ? std::nullopt : std::optional(key.second));
}

//===----------------------------------------------------------------------===//
// Values of forward tasks
//===----------------------------------------------------------------------===//

/// Returns the write of a forward task that stored the value of `read`; null if
/// there is none.
WriteOp MomentBuilder::findWriter(ReadOp read) const {
  Role role = tasks.lookup(read.getVariable()).getRole();
  if (role != Role::saved && role != Role::cut && role != Role::exchange)
    return {};
  return writers.lookup(read.getVariable());
}

/// Returns the first value with the same number as `value`: the original of a
/// value that was stored in a variable or recomputed.
Value MomentBuilder::resolve(Value value) const {
  Value found = first.lookup(numbers.lookup(value));
  return found ? found : value;
}

/// Whether all copies have the value, and it is the same for all.
bool MomentBuilder::isShared(Value value) const {
  SmallVector<Value> worklist = {resolve(value)};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (isArrayed(next) || isa<UnstackOp>(op))
      return false;
    if (auto read = dyn_cast<ReadOp>(op)) {
      VariableOp variable = tasks.lookup(read.getVariable());
      Role role = variable.getRole();
      bool isGiven = role == Role::input || role == Role::scalar ||
                     role == Role::constant || role == Role::parameter;
      if (read.getCopy() || variable.getCopy() || !isGiven)
        return false;
    }
    for (Value operand : op->getOperands())
      worklist.push_back(resolve(operand));
  }
  return true;
}

/// Returns the value of `read` in `task`; null if the task can't have it. A
/// task that isn't a version of another one recomputes forward values of other
/// blocks, except for cuts that its stage receives.
Value MomentBuilder::bringRead(ReadOp read, MomentTask &task) {
  const Job &job = tasks.getJob();
  WriteOp write = findWriter(read);
  VariableOp variable = tasks.lookup(read.getVariable());
  Role role = variable.getRole();
  bool isSent = role == Role::cut &&
                job.getStage(static_cast<int64_t>(variable.getBlock())) !=
                    job.getStage(getTaskOf(task.function).getBlock());
  Value before = resolve(read);
  if (!task.original && !isSent && before != read.getResult())
    return bring(before, task);
  bool isGiven = role == Role::input || role == Role::scalar ||
                 role == Role::constant || role == Role::parameter ||
                 (write && role == Role::cut);
  if (!isGiven)
    return {};
  return builder.clone(*read)->getResult(0);
}

/// Returns the value in `task` that equals `value`, recomputed there if need
/// be; null if that isn't possible. It always is in the second version of a
/// task that names a layer, for the values of that layer.
Value MomentBuilder::bring(Value value, MomentTask &task) {
  if (Value known = task.values.lookupOrNull(value))
    return known;
  if (unsigned number = numbers.lookup(value))
    if (Value known = task.ofNumber.lookup(number))
      return known;
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<ReadOp>(op)) {
    Value found = bringRead(read, task);
    if (found)
      task.values.map(value, found);
    return found;
  }
  for (Value operand : op->getOperands())
    if (Value found = bring(operand, task))
      task.values.map(operand, found);
    else
      return {};
  builder.clone(*op, task.values);
  return task.values.lookup(value);
}

/// Returns the value in `task` that equals a layer's `value`; for a layer of a
/// single copy, that copy's slice of it.
Value MomentBuilder::bringOf(LayerOp layer, Value value, MomentTask &task) {
  Value found = bring(value, task);
  if (!found || !layer.getCopy() || !isArrayed(found))
    return found;
  return UnstackOp::create(builder, layer.getLoc(),
                           getLogicalType(found.getType()), found,
                           layer.getCopyAttr());
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

/// Declares a factor's moments, one for each use of the weight, in the block of
/// that use. They are arrayed unless copies share the rows or the weight is a
/// single copy's.
void MomentBuilder::declare(KfacFactor &factor, const KfacUnit &unit,
                            StringRef name) {
  VariableOp of = unit.weight.variable;
  auto plain = RankedTensorType::get(factor.getPackedShape(), type);
  bool isArrayedMoment = !factor.isMomentShared && !of.getCopy();
  for (auto [use, layer] : llvm::enumerate(unit.layers)) {
    std::string ofUse = name.str();
    if (use > 0)
      ofUse += "." + std::to_string(use);
    factor.moments.push_back(tasks.declareOf(
        of, Purpose::moment, ofUse,
        isArrayedMoment ? withCopies(plain, tasks.getJob().copies) : plain,
        getBlockOf(layer)));
    if (factor.isMomentShared)
      factor.moments.back().removeCopyAttr();
  }
}

Value MomentBuilder::buildMoment(Value rows, const KfacUnit &unit,
                                 LayerOp layer, bool isOutput, Value sum) {
  LayerAxes axes = *getLayerAxes(layer);
  LayerSide side = isOutput ? axes.output : axes.input;
  if (side.kind != LayerSide::Kind::lookups)
    rows = widen(rows);
  if (isReduced(layer))
    rows = reducePositions(builder, rows, side, layer,
                           tasks.getJob().getMicroBatch(), isOutput);
  Value moment = buildSecondMoment(
      builder, rows, side, layer, !isOutput && unit.bias.has_value(),
      tasks.castTo(sum, wide), isOutput ? unit.output : unit.input);
  return tasks.castTo(moment, type);
}

bool MomentBuilder::isReduced(LayerOp layer) const {
  return isReducing() && hasSamples(layer, *getLayerAxes(layer),
                                    tasks.getJob().getMicroBatch());
}

/// Returns the number of rows of all uses in a step.
int64_t MomentBuilder::countRows(const KfacUnit &unit) const {
  int64_t rows = 0;
  for (LayerOp layer : unit.layers)
    rows += isReduced(layer) ? tasks.getJob().getMicroBatch()
                             : getLayerAxes(layer)->rows;
  return rows * tasks.getJob().microBatches;
}

void MomentBuilder::add(MomentTask &task, VariableOp moment,
                        std::optional<int64_t> copy, Value rows,
                        llvm::function_ref<Value(Value)> build) {
  // Rows are added to the sum directly after the op that computes them, while
  // they are in the caches.
  Value &sum = task.sums[{moment, copy.value_or(-1)}];
  Operation *last = rows.getDefiningOp();
  if (sum && last->isBeforeInBlock(sum.getDefiningOp()))
    last = sum.getDefiningOp();
  builder.setInsertionPointAfter(last);
  if (!sum)
    sum = tasks.read(moment, copy);
  sum = build(sum);
}

SmallVector<InputKey>
MomentBuilder::getKeys(const KfacUnit &unit,
                       std::optional<int64_t> copy) const {
  SmallVector<InputKey> keys;
  for (LayerOp layer : unit.layers) {
    LayerSide side = getLayerAxes(layer)->input;
    InputKey key = {static_cast<int64_t>(numbers.lookup(layer.getInput()))};
    auto append = [&](ArrayRef<int64_t> more) {
      key.push_back(static_cast<int64_t>(more.size()));
      llvm::append_range(key, more);
    };
    append(side.shape);
    append(side.blocks);
    append(side.columns);
    if (side.kind == LayerSide::Kind::patches) {
      auto weight = cast<RankedTensorType>(layer.getWeightGradient().getType());
      append(weight.getShape().drop_front());
      key.push_back(static_cast<int64_t>(layer.getGroups()));
      append(*layer.getStrides());
      append(*layer.getDilations());
      append(*layer.getPadding());
    }
    key.push_back(isReduced(layer) ? 1 : 0);
    key.push_back(unit.bias ? 1 : 0);
    key.push_back(copy.value_or(-1));
    keys.push_back(std::move(key));
  }
  return keys;
}

/// Sets the moments of a unit's input. If all copies have the same input and
/// another unit reads it too, these are the moments of that unit, which are
/// added up already: returns true. Otherwise declares new ones and returns
/// false.
bool MomentBuilder::shareMoments(KfacUnit &unit) {
  KfacFactor &factor = unit.input;
  factor.isMomentShared = llvm::all_of(
      unit.layers, [&](LayerOp layer) { return isShared(layer.getInput()); });
  if (!factor.isMomentShared) {
    declare(factor, unit, "input");
    return false;
  }
  SmallVector<VariableOp> &known = shared[getKeys(unit, std::nullopt)];
  bool isShared = !known.empty();
  if (isShared)
    factor.moments = known;
  else
    declare(factor, unit, "input");
  known = factor.moments;
  return isShared;
}

/// Adds up the moment of one use of the unit's input: in the forward's second
/// version, in shared_moments if copies share the input, or else in the second
/// version of the layer's task if the forward doesn't have the input.
void MomentBuilder::addInput(KfacUnit &unit, size_t use) {
  LayerOp layer = unit.layers[use];
  bool isShared = unit.input.isMomentShared;
  int64_t block = getBlockOf(layer);
  MomentTask *task = isShared ? &getSharedTask(block)
                              : &getTask(parts::kForwardMoments, block);
  setInsertionPointToEnd(*task);
  Value input = bringOf(layer, layer.getInput(), *task);
  if (!input) {
    task = &getTask(layer);
    setInsertionPointToEnd(*task);
    input = bringOf(layer, getMeasured(layer).getInput(), *task);
  }
  add(*task, unit.input.moments[use],
      isShared ? std::nullopt : unit.weight.copy, input, [&](Value sum) {
        return buildMoment(input, unit, layer, /*isOutput=*/false, sum);
      });
}

void MomentBuilder::addInputs(KfacUnit &unit) {
  KfacFactor &factor = unit.input;
  int64_t columns = unit.getInputColumns();
  factor.isDiagonal = unit.axes->input.kind == LayerSide::Kind::lookups;
  factor.setMatrices(unit.axes->blocks, columns,
                     factor.isDiagonal ? columns : tasks.getJob().kfacBlock);
  factor.scale = 1.0 / static_cast<double>(countRows(unit));
  auto [known, isNew] =
      owners.try_emplace(getKeys(unit, unit.weight.copy), &unit);
  if (!isNew) {
    factor = known->second->input;
    factor.owner = known->second;
    return;
  }
  if (shareMoments(unit))
    return;
  for (size_t use = 0; use < unit.layers.size(); ++use)
    addInput(unit, use);
}

void MomentBuilder::addOutputs(KfacUnit &unit) {
  KfacFactor &factor = unit.output;
  factor.setMatrices(unit.axes->blocks, unit.axes->outputs,
                     tasks.getJob().kfacBlock);
  declare(factor, unit, "output");
  for (size_t use = 0; use < unit.layers.size(); ++use) {
    LayerOp layer = unit.layers[use];
    MomentTask &task = getTask(layer);
    setInsertionPointToEnd(task);
    Value gradient =
        bringOf(layer, getMeasured(layer).getOutputGradient(), task);
    add(task, factor.moments[use], unit.weight.copy, gradient, [&](Value sum) {
      return buildMoment(gradient, unit, layer, /*isOutput=*/true, sum);
    });
  }
}

//===----------------------------------------------------------------------===//
// Units of features
//===----------------------------------------------------------------------===//

Value hfta::buildSampleGradients(TaskBuilder &tasks, const KfacUnit &unit,
                                 Value parts) {
  OpBuilder &builder = tasks.getBuilder();
  auto shape =
      llvm::to_vector(cast<RankedTensorType>(parts.getType()).getShape());
  int64_t samples = tasks.getJob().getMicroBatch();
  auto before = static_cast<int64_t>(shape.size());
  int64_t sample = splitAtSamples(shape, unit.samples, samples);
  int64_t more = static_cast<int64_t>(shape.size()) - before;
  Expression whole = Expression(builder, parts.getLoc(), parts).reshape(shape);
  SmallVector<int64_t> kept = {sample};
  for (int64_t axis : unit.featureAxes)
    kept.push_back(axis > unit.samples.axis ? axis + more : axis);
  SmallVector<int64_t> positions;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (!llvm::is_contained(kept, axis))
      positions.push_back(axis);
  if (!positions.empty())
    whole = whole.sum(positions);
  // Samples come first, then the features in their order.
  int64_t place =
      llvm::count_if(kept, [&](int64_t feature) { return feature < sample; });
  SmallVector<int64_t> order = {place};
  for (int64_t axis = 0; axis < static_cast<int64_t>(kept.size()); ++axis)
    if (axis != place)
      order.push_back(axis);
  if (place > 0)
    whole = whole.apply<TransposeOp>(ArrayRef<int64_t>(order));
  return whole.reshape({samples, unit.features});
}

/// Adds up the moments of a unit of rule `unit`. With u and v a sample's
/// gradients of scale and shift, these are for each feature the sums over
/// samples of u u and, if there is a shift, of u v and v v.
void MomentBuilder::addUnitWise(KfacUnit &unit) {
  KfacFactor &factor = unit.output;
  int64_t size = unit.bias ? 2 : 1;
  factor.setMatrices(unit.features, size, size);
  declare(factor, unit, "output");
  LayerOp layer = unit.layers.front(), measured = getMeasured(layer);
  MomentTask &task = getTask(layer);
  setInsertionPointToEnd(task);
  auto get = [&](Value value) {
    return Expression(builder, layer.getLoc(),
                      widen(bringOf(layer, value, task)));
  };
  Expression gradient = get(measured.getOutputGradient());
  Expression parts = gradient;
  if (!unit.parts)
    parts = gradient * get(measured.getInput());
  else if (unit.parts != layer.getOutputGradient())
    parts = get(measured.getWeightGradient());
  Expression u = parts.at(buildSampleGradients(tasks, unit, parts));
  SmallVector<Value> sums;
  auto append = [&](const Expression &products) {
    sums.push_back(products.sum({0}).reshape({unit.features, 1}));
  };
  append(u * u);
  if (unit.bias) {
    Expression v = u.at(buildSampleGradients(tasks, unit, gradient));
    append(u * v);
    append(v * v);
  }
  add(task, factor.moments.front(), unit.weight.copy, sums.back(),
      [&](Value sum) -> Value {
        Value all = sums.size() == 1 ? sums.front()
                                     : ConcatOp::create(builder, layer.getLoc(),
                                                        sums, /*axis=*/1)
                                           .getResult();
        return AddOp::create(builder, layer.getLoc(), sum,
                             tasks.castTo(all, type));
      });
}

void MomentBuilder::build() {
  if (draws())
    sampledOf = pairSampledLayers(tasks.getModule());
  makeSecondVersions();
  for (KfacUnit &unit : units) {
    switch (unit.rule) {
    case KfacRule::kronecker:
      unit.keepsPositions =
          isReducing() && !llvm::all_of(unit.layers, [&](LayerOp layer) {
            return isReduced(layer);
          });
      addInputs(unit);
      addOutputs(unit);
      break;
    case KfacRule::unit:
      addUnitWise(unit);
      break;
    case KfacRule::plain:
      continue;
    }
    LayerOp layer = unit.layers.front();
    unit.output.isOfOutput = true;
    unit.output.scale = layer.getLossDivisor() == LossDivisor::terms
                            ? static_cast<double>(layer.getLossTerms())
                            : 1.0;
  }
  for (auto &[key, task] : all)
    finish(task);
  eraseWithoutMoments();
  if (draws())
    dropUnusedOfSampled(tasks, sampledOf);
}

void hfta::buildKfacMoments(TaskBuilder &tasks,
                            MutableArrayRef<KfacUnit> units) {
  MomentBuilder(tasks, units).build();
}
