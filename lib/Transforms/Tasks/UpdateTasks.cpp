//===- UpdateTasks.cpp - Tasks norm, update and report --------------------===//

#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "Tasks/LossScale.h"
#include "Tasks/LossTerms.h"
#include "Tasks/LossWeight.h"
#include "Tasks/TaskBuilder.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// Reads each scalar of a task only once, so that values computed from it are
/// also computed once for all parameters. With `only`, these copies alone use
/// the scalars.
class ScalarReads {
public:
  explicit ScalarReads(TaskBuilder &tasks, DenseI64ArrayAttr only = {})
      : tasks(tasks), only(only) {}

  Value read(Purpose purpose, std::optional<int64_t> copy) {
    return read(tasks.getVariables().lookup(purpose), copy);
  }
  Value read(VariableOp variable, std::optional<int64_t> copy) {
    Value &value = values[{variable, copy.value_or(-1)}];
    if (!value)
      value = tasks.read(variable, copy, only);
    return value;
  }
  DenseI64ArrayAttr getOnly() const { return only; }

private:
  TaskBuilder &tasks;
  DenseI64ArrayAttr only;
  DenseMap<std::pair<Operation *, int64_t>, Value> values;
};

} // namespace

/// Reads a gradient, and divides it by a sum of losses' weights unless that is
/// null. The divisor is chosen for each element, in the kernel that divides,
/// where it takes no memory. If the gradient is reduced, it is chosen once,
/// since a reduction would keep all divisors in memory.
static Value readDivided(TaskBuilder &tasks, VariableOp variable,
                         VariableOp divisorOf, std::optional<int64_t> copy,
                         ScalarReads &scalars, Type elementType,
                         bool isReduced) {
  Value gradient =
      tasks.castTo(tasks.read(variable, copy, scalars.getOnly()), elementType);
  if (!divisorOf)
    return gradient;
  Expression weight(tasks.getBuilder(), variable.getLoc(),
                    tasks.castTo(scalars.read(divisorOf, copy), elementType));
  ArrayRef<int64_t> shape = variable.getTensorType().getShape();
  Expression divisor = isReduced ? getGradientDivisor(weight).fill(shape)
                                 : getGradientDivisor(weight.fill(shape));
  return weight.at(gradient) / divisor;
}

/// Reads the gradient of the step's mean loss.
static Value readGradient(TaskBuilder &tasks, const TrainedLeaf &leaf,
                          int64_t block, ScalarReads &scalars, Type elementType,
                          bool isReduced) {
  const VariableIndex &variables = tasks.getVariables();
  const std::vector<LossTerm> &terms = tasks.getLossTerms();
  SmallVector<PartOfTerms> parts;
  for (VariableOp variable : getGradients(tasks, leaf.variable, block)) {
    SmallVector<int64_t> own = getTerms(tasks, variable, block);
    StringRef term =
        own.empty() ? StringRef() : StringRef(terms[own.front()].name);
    parts.push_back({SmallVector<int64_t, 1>(ArrayRef(own)),
                     readDivided(tasks, variable,
                                 variables.lookup(Purpose::loss_weight, term),
                                 leaf.copy, scalars, elementType, isReduced)});
  }
  return terms.empty() ? parts.front().value
                       : addParts(tasks, /*begin=*/{}, parts, leaf.copy);
}

static void buildNorm(TaskBuilder &tasks, const TrainedLeaf &leaf,
                      int64_t block, ScalarReads &scalars) {
  OpBuilder &builder = tasks.getBuilder();
  VariableOp variable = leaf.variable;
  Type f64 = builder.getF64Type();
  Value gradient =
      readGradient(tasks, leaf, block, scalars, f64, /*isReduced=*/true);
  Value square = MulOp::create(builder, variable.getLoc(), gradient, gradient);
  // A norm has one value per copy, even if copies have their own variables.
  VariableOp norm = tasks.getVariables().lookupOf(variable, Purpose::norm);
  if (!norm)
    norm = tasks.declare(
        PurposeAttr::getOf(FlatSymbolRefAttr::get(variable.getSymNameAttr()),
                           Purpose::norm),
        tasks.scalarType(f64, true));
  tasks.write(tasks.sumAll(square), norm, leaf.copy);
}

/// Returns the variable that holds the factor by which a parameter's gradient
/// is multiplied, or null: that of the last group that limits norms, or else
/// that of the job. Each group's factor also divides by the loss scale.
static VariableOp findClipScale(TaskBuilder &tasks, VariableOp variable) {
  const ParameterGroup *group =
      findGroupWith(tasks.getJob(), variable, ParameterGroup::kClipNorm);
  return tasks.getVariables().lookup(Purpose::clip_scale,
                                     group ? group->name : "");
}

namespace {
/// The limits of adaptive clipping, as f64 scalars.
struct AdaptiveClip {
  Expression factor, eps;
};

/// The update of one trained variable by one kind of optimizer, for the copies
/// that have this kind.
class Update {
public:
  Update(TaskBuilder &tasks, const TrainedLeaf &leaf, int64_t block,
         const OptimizerKind &kind, ScalarReads &scalars)
      : tasks(tasks), builder(tasks.getBuilder()), leaf(leaf), block(block),
        kind(kind), scalars(scalars), variable(leaf.variable),
        stored(cast<FloatType>(variable.getTensorType().getElementType())) {}

  void build() {
    RankedTensorType type = variable.getTensorType();
    const Precision &precision = tasks.getJob().precision;
    computed = getWider(stored, tasks.getFloatType(precision.compute));
    for (StringRef name : {precision.gradients, precision.state})
      computed = getWider(computed, tasks.getFloatType(name));
    parameter = tasks.castTo(read(variable), computed);
    std::optional<AdaptiveClip> adaptive = findAdaptiveClip();
    gradient = readGradient(tasks, leaf, block, scalars, computed,
                            /*isReduced=*/adaptive.has_value());
    if (VariableOp factor = findClipScale(tasks, variable)) {
      Value scale = tasks.broadcastScalar(
          tasks.castTo(scalars.read(factor, leaf.copy), computed),
          type.getShape());
      gradient = MulOp::create(builder, variable.getLoc(), gradient, scale);
    }
    if (adaptive)
      clipAdaptively(*adaptive);
    if (findNumber(Job::kClipValue))
      clipElements();
    findCounts();
    updateParameter();
    for (VariableOp written : getGradients(tasks, variable, block))
      tasks.write(tasks.splat(type.getShape(),
                              written.getTensorType().getElementType(), 0.0),
                  written, leaf.copy, scalars.getOnly());
  }

private:
  Value read(VariableOp read) {
    return tasks.read(read, leaf.copy, scalars.getOnly());
  }
  Value scalar(Purpose purpose) { return scalars.read(purpose, leaf.copy); }
  VariableOp getState(const OptimizerState &state) {
    RankedTensorType type = variable.getTensorType();
    SmallVector<int64_t> shape =
        *state.getShape(type.getShape(), getOutputAxes(variable));
    Type element = state.extent == StateExtent::number
                       ? builder.getF64Type()
                       : tasks.getFloatType(tasks.getJob().precision.state);
    VariableOp declared = tasks.declareOf(
        variable, Purpose::state, state.name,
        RankedTensorType::get(shape, element, type.getEncoding()),
        variable.getBlock());
    addOwner(declared);
    if (state.initial != 0)
      declared.setInitialAttr(DenseElementsAttr::get(
          RankedTensorType::get(shape, element),
          FloatAttr::get(element, state.initial).getValue()));
    return declared;
  }
  /// Reads a state in the type in which the update is computed.
  Value readState(const OptimizerState &state, VariableOp declared) {
    Value value = read(declared);
    return state.extent == StateExtent::number ? value
                                               : tasks.castTo(value, computed);
  }
  /// Notes that a state belongs to the copies that have this kind. Copies of
  /// other kinds have it, too, if these have a state of the same name.
  void addOwner(VariableOp state) {
    if (!isArrayed(state.getType()) || !scalars.getOnly())
      return;
    llvm::SmallBitVector owners(tasks.getJob().copies);
    ArrayRef<int64_t> known = state.getOnly().value_or(ArrayRef<int64_t>());
    ArrayRef<int64_t> own =
        leaf.copy ? ArrayRef(*leaf.copy) : scalars.getOnly().asArrayRef();
    for (int64_t copy : llvm::concat<const int64_t>(known, own))
      owners.set(copy);
    state.setOnly(SmallVector<int64_t>(owners.set_bits()));
    if (owners.all())
      state.removeOnlyAttr();
  }
  /// Finds whether terms of the loss that reach the parameter count.
  void findCounts() {
    SmallVector<int64_t> terms;
    for (VariableOp own : getGradients(tasks, variable, block))
      llvm::append_range(terms, getTerms(tasks, own, block));
    if (!terms.empty())
      counts = buildCounts(tasks, terms, leaf.copy);
  }
  /// Writes a variable's new value in its stored type. The old value stays in a
  /// step that a copy skips, because its gradients have overflowed, and where
  /// no term of the loss that reaches the parameter counts. Returns what is
  /// written.
  Value change(VariableOp changed, Value value) {
    RankedTensorType type = changed.getTensorType();
    Value next = tasks.castTo(value, type.getElementType());
    if (counts) {
      Expression now(builder, variable.getLoc(), read(changed));
      next = now.at(counts).fill(type.getShape()).select(now.at(next), now);
    }
    if (!tasks.getJob().lossScale.empty()) {
      Expression scale(builder, variable.getLoc(), scalar(Purpose::clip_scale));
      Expression now = scale.at(read(changed));
      next = isTaken(scale).fill(type.getShape()).select(scale.at(next), now);
    }
    tasks.write(next, changed, leaf.copy, scalars.getOnly());
    return next;
  }
  Value readHyperParameter(StringRef name) {
    return scalars.read(
        tasks.getVariables().lookup(Purpose::hyper_parameter, name), leaf.copy);
  }
  const ParameterGroup *findGroup(StringRef number) {
    return findGroupWith(tasks.getJob(), variable, number);
  }
  /// Returns the name of the hyper-parameter that holds a number of the
  /// parameter's last group that gives it, or else of the job; nothing if
  /// neither gives it.
  std::optional<std::string> findNumber(StringRef number) {
    if (const ParameterGroup *group = findGroup(number))
      return group->makeName(number);
    if (tasks.getJob().findHyperParameter(number))
      return number.str();
    return std::nullopt;
  }
  /// Reads a number that findNumber finds, as an f64 scalar.
  Expression readNumber(StringRef number) {
    return Expression(builder, variable.getLoc(),
                      readHyperParameter(*findNumber(number)))
        .to(builder.getF64Type());
  }

  /// Returns the limits of adaptive clipping, unless the last group that says
  /// something about it ends it.
  std::optional<AdaptiveClip> findAdaptiveClip() {
    for (int64_t index : llvm::reverse(getParameterGroups(variable))) {
      const ParameterGroup &group = tasks.getJob().groupsOfParameters[index];
      if (group.endsAdaptiveClip)
        return std::nullopt;
      if (llvm::is_contained(group.numbers, Job::kClipFactor))
        break;
    }
    if (!findNumber(Job::kClipFactor))
      return std::nullopt;
    return AdaptiveClip{readNumber(Job::kClipFactor),
                        readNumber(Job::kClipEps)};
  }
  /// Limits the norm of each row of the gradient to a share of the norm of the
  /// parameter's row, as A. Brock et al., "High-performance large-scale image
  /// recognition without normalization", 2021. A row has the weights of one
  /// output of the layer; a vector is one row. Norms are added up in f64.
  void clipAdaptively(const AdaptiveClip &clip) {
    constexpr double kLeastNorm = 1e-6;
    ArrayRef<int64_t> shape = variable.getTensorType().getShape();
    SmallVector<int64_t> axes =
        getOtherAxes(shape.size(), getOutputAxes(variable));
    Expression own(builder, variable.getLoc(), gradient);
    auto takeNorms = [&](const Expression &tensor) {
      Expression wide = tensor.to(builder.getF64Type());
      return (wide * wide).sum(axes).apply<SqrtOp>();
    };
    Expression norms = takeNorms(own);
    ArrayRef<int64_t> rows = norms.getShape();
    Expression most =
        takeNorms(own.at(parameter)).apply<MaxOp>(clip.eps.fill(rows)) *
        clip.factor.fill(rows);
    Expression floor = norms.at(norms.splat(kLeastNorm));
    Expression scale = norms.compare(ComparePredicate::less, most)
                           .select(1.0, most / norms.apply<MaxOp>(floor));
    gradient = own * scale.to(computed).repeat(shape, axes);
  }
  /// Limits the magnitude of each element of the gradient. NaN stays NaN.
  void clipElements() {
    Expression own(builder, variable.getLoc(), gradient);
    Expression most = readNumber(Job::kClipValue)
                          .to(computed)
                          .fill(variable.getTensorType().getShape());
    Expression limited =
        own.compare(ComparePredicate::greater, most).select(most, own);
    gradient =
        own.compare(ComparePredicate::less, -most).select(-most, limited);
  }

  /// Returns the factor of the rate that follows from the parameter's layer:
  /// `layer_decay` to the power of the number of layers after it. Its
  /// multiplications depend on this number alone.
  std::optional<Expression> readLayerScale() {
    int64_t distance = getLayerDistance(variable);
    if (distance == 0 || !tasks.getJob().findHyperParameter(Job::kLayerDecay))
      return std::nullopt;
    Expression power = readNumber(Job::kLayerDecay);
    std::optional<Expression> scale;
    for (; distance > 0; distance /= 2) {
      if (distance % 2 == 1)
        scale = scale ? *scale * power : power;
      if (distance > 1)
        power = power * power;
    }
    return scale;
  }
  /// Reads the step's learning rate, times the scales that a group and the
  /// parameter's layer give.
  Value readRate() {
    const ParameterGroup *own = findGroup("lr");
    Value rate = own ? readHyperParameter(own->makeName("lr"))
                     : scalar(Purpose::learning_rate);
    if (const ParameterGroup *group = findGroup(ParameterGroup::kRateScale))
      rate = MulOp::create(
          builder, variable.getLoc(), rate,
          readHyperParameter(group->makeName(ParameterGroup::kRateScale)));
    if (std::optional<Expression> scale = readLayerScale())
      rate = MulOp::create(builder, variable.getLoc(), rate, *scale);
    return rate;
  }
  /// Reads how many updates have come before this one.
  Value readUpdates() {
    const Job &job = tasks.getJob();
    if (!job.lossScale.empty())
      return readStepsTaken(tasks, leaf.copy, scalars.getOnly());
    Value steps = scalar(Purpose::step);
    if (!job.takesTurns() || job.turns[block].times == 1)
      return steps;
    const JobTurn &turn = job.turns[block];
    return Expression(builder, variable.getLoc(), steps) *
               static_cast<double>(turn.times) +
           static_cast<double>(turn.repetition);
  }
  Value readScalar(StringRef name) {
    if (name == "lr")
      return readRate();
    if (name == "step")
      return readUpdates();
    const ParameterGroup *group = findGroup(name);
    return readHyperParameter(group ? group->makeName(name) : name.str());
  }

  /// Builds the optimizer's update of the parameter and its state.
  void updateParameter() {
    const OptimizerInfo &optimizer = *findOptimizer(kind.name);
    SmallVector<StringRef> given = getGivenOptions(kind);
    SmallVector<VariableOp> states;
    SmallVector<Value> inputs = {parameter, gradient};
    for (const OptimizerState *state :
         optimizer.getStates(given, variable.getTensorType().getShape(),
                             getOutputAxes(variable))) {
      states.push_back(getState(*state));
      inputs.push_back(readState(*state, states.back()));
    }
    for (StringRef name : optimizer.getScalars(given))
      inputs.push_back(readScalar(name));
    DenseI64ArrayAttr outputAxes;
    ArrayRef<int64_t> axes = getOutputAxes(variable);
    if (optimizer.matrixUse != MatrixUse::none && !axes.empty())
      outputAxes = builder.getDenseI64ArrayAttr(axes);
    auto update = OptimizerUpdateOp::create(
        builder, variable.getLoc(), builder.getStringAttr(optimizer.name),
        builder.getStrArrayAttr(given), outputAxes, inputs);
    Value written = change(variable, update.getOutputs().front());
    for (auto [state, value] :
         llvm::zip_equal(states, update.getOutputs().drop_front()))
      change(state, value);
    if (const AverageInfo *average = findAverage(tasks.getJob().average))
      updateAverage(*average, written);
  }

  /// Moves the average of the parameter towards its new value, in f32 or the
  /// parameter's wider type. Up to `start` updates, and in the next one, the
  /// average is the parameter itself; then every `every`-th update counts.
  void updateAverage(const AverageInfo &average, Value written) {
    FloatType type = atLeastF32(stored);
    ArrayRef<int64_t> shape = variable.getTensorType().getShape();
    VariableOp state = declareAverage(tasks, variable);
    state.setBlock(variable.getBlock());
    addOwner(state);
    auto number = [&](StringRef name) {
      return readNumber((kAveragePrefix + name).str());
    };
    Expression done(builder, variable.getLoc(), readScalar("step"));
    Expression after = done.to(builder.getF64Type()) - number("start");
    Expression every = number("every");
    Expression count = (after / every).apply<FloorOp>();
    Expression isFirst = after.compare(ComparePredicate::less, 0.5);
    Expression isDue = (count * every).compare(ComparePredicate::equal, after);
    Expression weight = average.buildWeight(isFirst.select(1.0, count), number);
    Expression now(builder, variable.getLoc(), tasks.castTo(written, type));
    Expression old = now.at(read(state));
    Expression moved = old + weight.to(type).fill(shape) * (now - old);
    Expression next = isDue.fill(shape).select(moved, old);
    change(state, isFirst.fill(shape).select(now, next));
  }

  TaskBuilder &tasks;
  OpBuilder &builder;
  const TrainedLeaf &leaf;
  int64_t block; ///< that of the task
  const OptimizerKind &kind;
  ScalarReads &scalars;
  VariableOp variable;
  /// The type of the parameter in memory, and the type in which its update is
  /// computed. None of the operands is rounded to the latter.
  FloatType stored, computed;
  Value parameter, gradient;
  /// Whether a copy's parameter is updated; null: always.
  Value counts;
};
} // namespace

VariableOp hfta::declareAverage(TaskBuilder &tasks, VariableOp variable) {
  RankedTensorType type = variable.getTensorType();
  return tasks.declareOf(
      variable, Purpose::state, kAverageState,
      type.clone(atLeastF32(cast<FloatType>(type.getElementType()))),
      variable.getBlock());
}

/// Builds the mean of a step's losses, or of one term of them, and writes it.
/// Without a sum of weights, the loss is already divided.
static Value buildMean(TaskBuilder &tasks, StringRef term) {
  const VariableIndex &variables = tasks.getVariables();
  Type f64 = tasks.getBuilder().getF64Type();
  Value mean =
      tasks.castTo(tasks.read(variables.lookup(Purpose::loss, term)), f64);
  if (VariableOp weight = variables.lookup(Purpose::loss_weight, term))
    mean = DivOp::create(tasks.getBuilder(), tasks.getLoc(), mean,
                         tasks.castTo(tasks.read(weight), f64));
  tasks.write(mean, tasks.declare(PurposeAttr::get(tasks.getContext(),
                                                   Purpose::mean_loss, term),
                                  tasks.scalarType(f64, true)));
  return mean;
}

/// Builds the mean loss, if tasks have added up the sums of losses and of
/// weights.
void hfta::buildReportTask(TaskBuilder &tasks) {
  const VariableIndex &variables = tasks.getVariables();
  const std::vector<LossTerm> &terms = tasks.getLossTerms();
  bool isDivided = terms.empty() ? !variables.lookup(Purpose::loss_weight)
                                 : bool(variables.lookup(Purpose::loss));
  if (isDivided)
    return;
  tasks.startTask(parts::kReport, -1);
  if (terms.empty()) {
    buildMean(tasks, {});
    return;
  }
  SmallVector<PartOfTerms> parts;
  for (auto [index, term] : llvm::enumerate(terms)) {
    Value mean = buildMean(tasks, term.name);
    if (Value weight = readTermWeight(tasks, index))
      mean =
          MulOp::create(tasks.getBuilder(), tasks.getLoc(), mean,
                        tasks.castTo(weight, tasks.getBuilder().getF64Type()));
    parts.push_back({{static_cast<int64_t>(index)}, mean});
  }
  tasks.write(
      addParts(tasks, /*begin=*/{}, parts),
      tasks.declare(Purpose::mean_loss,
                    tasks.scalarType(tasks.getBuilder().getF64Type(), true)));
}

void hfta::buildUpdateTasks(TaskBuilder &tasks, int64_t block,
                            ArrayRef<TrainedLeaf> leaves) {
  if (tasks.getJob().awaitsNorm()) {
    tasks.startTask(parts::kNorm, block);
    ScalarReads scalars(tasks);
    for (const TrainedLeaf &leaf : leaves)
      buildNorm(tasks, leaf, block, scalars);
  }
  tasks.startTask(parts::kUpdate, block);
  const Job &job = tasks.getJob();
  auto findOwn = [&](const TrainedLeaf &leaf) {
    return findOptimizerGroup(job, getParameterGroups(leaf.variable));
  };
  for (auto [index, kind] : llvm::enumerate(job.optimizers)) {
    std::vector<int64_t> copies =
        job.getCopiesOfOptimizer(static_cast<int64_t>(index));
    DenseI64ArrayAttr only;
    if (copies.size() < static_cast<size_t>(job.copies))
      only = tasks.getBuilder().getDenseI64ArrayAttr(copies);
    ScalarReads scalars(tasks, only);
    for (const TrainedLeaf &leaf : leaves)
      if (!findOwn(leaf) && !copies.empty() &&
          (!leaf.copy || llvm::is_contained(copies, *leaf.copy)))
        Update(tasks, leaf, block, kind, scalars).build();
  }
  ScalarReads scalars(tasks);
  for (const TrainedLeaf &leaf : leaves)
    if (const ParameterGroup *own = findOwn(leaf))
      Update(tasks, leaf, block, job.optimizers[own->optimizer], scalars)
          .build();
}
