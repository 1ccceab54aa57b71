//===- KfacMoments.cpp - Moments added up in forward and backward ---------===//
//
// A moment is added up where its rows are computed: moments of inputs in a
// second version of forward, those of output gradients in one of backward, or
// of backward_weight if that has the layer. An hfta.layer in such a task names
// the values there; its input was saved by a forward task, or recomputed from
// saved values, so that the forward has a value of equal number. Each use of a
// weight has moments of its own: uses may be in several stages, and sums have
// the same order wherever these are cut. Where targets are drawn, moments of
// output gradients are added to the backward from these instead, which names
// the same layers again.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Transforms/Precision.h"
#include "Kfac.h"
#include "KfacRows.h"
#include "Recomputed.h"
#include "SampledBackward.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// A task that moments are added to: the second version of another task, or a
/// task of its own.
struct MomentTask {
  func::FuncOp function;
  func::FuncOp original;              ///< null: none; or the task itself
  IRMapping values;                   ///< maps all tasks' to this one's
  DenseMap<unsigned, Value> ofNumber; ///< values of the original, by number
  /// The sums so far, by variable and copy.
  llvm::MapVector<std::pair<Operation *, int64_t>, Value> sums;
};

/// Inputs with equal keys have the same factor. A key has the values' numbers,
/// axes, windows, ones, and copy.
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
  /// Returns the layer as named in the task that gets its output gradient's
  /// moments.
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

  /// Widens rows to the precision in which they were computed.
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
  std::map<std::pair<std::string, int64_t>, MomentTask> all;
  /// The writes of forward tasks that other tasks read.
  llvm::StringMap<WriteOp> writers;
  std::map<SmallVector<InputKey>, KfacUnit *> owners;
  std::map<SmallVector<InputKey>, SmallVector<VariableOp>> shared;
  /// The layers of the backward from drawn targets, by those of the other one.
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

/// Erases second versions that have nothing to add, except for a backward from
/// drawn targets, which may compute values for other blocks.
void MomentBuilder::eraseWithoutMoments() {
  for (auto &[key, task] : all)
    if (task.sums.empty() && task.function != task.original)
      tasks.eraseTask(task.function);
}

/// A backward from drawn targets is for moments alone: they are added to this
/// task, without a second version.
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

/// Returns the second version of the task that names the layer, or the backward
/// from drawn targets that does.
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

/// Writes the sums, when all uses have been added.
void MomentBuilder::finish(MomentTask &task) {
  setInsertionPointToEnd(task);
  for (auto &[key, sum] : task.sums)
    tasks.write(sum, cast<VariableOp>(key.first),
                key.second < 0 ? std::nullopt : std::optional(key.second));
}

//===----------------------------------------------------------------------===//
// Values of forward tasks
//===----------------------------------------------------------------------===//

/// Returns the write in a forward task whose value a read finds; null if there
/// is none.
WriteOp MomentBuilder::findWriter(ReadOp read) const {
  Role role = tasks.lookup(read.getVariable()).getRole();
  if (role != Role::saved && role != Role::cut && role != Role::exchange)
    return {};
  return writers.lookup(read.getVariable());
}

/// Returns the first value equal to this one, before it was stored in variables
/// or recomputed.
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

/// Rebuilds a read in a task. A task of its own recomputes values of other
/// blocks' forward, except those that its stage has been sent.
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

/// Returns the value in a task, recomputed if need be: null if that isn't
/// possible. The second version of a layer's task has all values that the layer
/// names.
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

/// Returns a layer's value in a task; for one copy's layer, that copy's.
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

/// Declares the moments of one copy, or of all copies together where they share
/// the rows; one for each use, in its block.
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
  // The sum is added after the ops that compute its rows, which are still in
  // the caches.
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

/// Whether copies that are compiled alone already have the same moments, of
/// inputs that all copies share.
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

/// Adds the input's moment in the forward, or in the second version of the
/// layer's task if that computes the input.
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

/// Adds sums over samples of u u and, with a shift, of u v and v v, for each
/// feature.
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
