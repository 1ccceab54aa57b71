//===- UpdateTasks.cpp - Tasks init, norm, clip, update and report --------===//

#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "Tasks/LossScale.h"
#include "Tasks/LossTerms.h"
#include "Tasks/LossWeight.h"
#include "Tasks/TaskBuilder.h"
#include "llvm/ADT/SmallBitVector.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// init
//===----------------------------------------------------------------------===//

/// Returns the type in which an initial value is computed before it is stored.
static FloatType getDrawnType(VariableOp variable) {
  return atLeastF32(cast<FloatType>(variable.getTensorType().getElementType()));
}

/// Draws uniform numbers by the copy's seed, with the variable's name as a key.
static Value draw(TaskBuilder &tasks, VariableOp variable, StringRef suffix) {
  OpBuilder &builder = tasks.getBuilder();
  RankedTensorType type = variable.getTensorType();
  Value zero = tasks.splat({}, builder.getI64Type(), 0);
  std::string stream = variable.getOwnName() + suffix.str();
  return RandomUniformOp::create(
      builder, variable.getLoc(), tasks.read(Purpose::seed, variable.getCopy()),
      zero, zero, type.getShape(), names::hash(stream),
      /*per_sample=*/false, getDrawnType(variable));
}

static Value drawUniform(TaskBuilder &tasks, VariableOp variable,
                         UniformAttr range) {
  OpBuilder &builder = tasks.getBuilder();
  RankedTensorType type = variable.getTensorType();
  double low = range.getLow().getValueAsDouble();
  double high = range.getHigh().getValueAsDouble();
  Location loc = variable.getLoc();
  Value uniform = draw(tasks, variable, "");
  Value scaled = MulOp::create(
      builder, loc, uniform,
      tasks.splat(type.getShape(), getDrawnType(variable), high - low));
  return AddOp::create(
      builder, loc, scaled,
      tasks.splat(type.getShape(), getDrawnType(variable), low));
}

static Value drawNormal(TaskBuilder &tasks, VariableOp variable,
                        NormalAttr parameters) {
  auto drawAs = [&](StringRef suffix) {
    return Expression(tasks.getBuilder(), variable.getLoc(),
                      draw(tasks, variable, suffix));
  };
  Expression u = drawAs(""), v = drawAs("/angle");
  return makeNormal(u, v) * parameters.getDeviation().getValueAsDouble() +
         parameters.getMean().getValueAsDouble();
}

/// Returns the block whose task initializes a variable, which is the first one
/// for a variable that belongs to no block.
static int64_t getInitBlock(VariableOp variable) {
  return std::max<int64_t>(static_cast<int64_t>(variable.getBlock()), 0);
}

/// Moves initial elements from the variable to a constant, from which init
/// copies them. Elements that are equal for all copies are stored once.
static Value readInitialElements(TaskBuilder &tasks, VariableOp variable,
                                 ElementsAttr elements) {
  RankedTensorType type = variable.getTensorType();
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (dense && dense.isSplat()) {
    Value scalar = ConstantOp::create(
        tasks.getBuilder(), variable.getLoc(),
        DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                               ArrayRef(dense.getSplatValue<Attribute>())));
    return tasks.broadcastScalar(scalar, type.getShape());
  }
  bool perCopy =
      cast<ShapedType>(elements.getType()).getRank() != type.getRank();
  VariableOp constant = tasks.declare(
      PurposeAttr::getOf(FlatSymbolRefAttr::get(variable.getSymNameAttr()),
                         Purpose::initial),
      perCopy ? type : getLogicalType(type), elements);
  constant.setBlock(getInitBlock(variable));
  return tasks.read(constant);
}

static Value getInitialValue(TaskBuilder &tasks, VariableOp variable) {
  RankedTensorType type = variable.getTensorType();
  Attribute initial = variable.getInitial().value_or(Attribute());
  if (auto range = dyn_cast_or_null<UniformAttr>(initial))
    return tasks.castTo(drawUniform(tasks, variable, range),
                        type.getElementType());
  if (auto parameters = dyn_cast_or_null<NormalAttr>(initial))
    return tasks.castTo(drawNormal(tasks, variable, parameters),
                        type.getElementType());
  if (auto elements = dyn_cast_or_null<ElementsAttr>(initial))
    return readInitialElements(tasks, variable, elements);
  return tasks.splat(type.getShape(), type.getElementType(), 0.0);
}

/// Returns whether init writes the variable. Gradients and optimizer state
/// begin as the zeros that new memory contains, so that a program that only
/// infers never touches them.
static bool isWrittenByInit(VariableOp variable) {
  switch (variable.getRole()) {
  case Role::parameter:
  case Role::statistics:
    return true;
  case Role::gradient:
  case Role::moment:
  case Role::optimizer_state:
  case Role::curvature:
    return variable.getInitial().has_value();
  default:
    return false;
  }
}

void hfta::buildInitTasks(TaskBuilder &tasks) {
  std::map<int64_t, SmallVector<VariableOp>> variablesOfBlock;
  for (auto variable : tasks.getModule().getOps<VariableOp>())
    if (isWrittenByInit(variable))
      variablesOfBlock[getInitBlock(variable)].push_back(variable);
  for (auto &[block, variables] : variablesOfBlock) {
    tasks.startTask(parts::kInit, block);
    for (VariableOp variable : variables) {
      tasks.write(getInitialValue(tasks, variable), variable);
      Attribute initial = variable.getInitial().value_or(Attribute());
      if (isa_and_nonnull<ElementsAttr>(initial))
        variable.removeInitialAttr();
    }
  }
}

//===----------------------------------------------------------------------===//
// norm and update
//===----------------------------------------------------------------------===//

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

namespace {
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
    gradient = readGradient(tasks, leaf, block, scalars, computed,
                            /*isReduced=*/false);
    if (tasks.getJob().awaitsNorm()) {
      Value scale = tasks.broadcastScalar(
          tasks.castTo(scalar(Purpose::clip_scale), computed), type.getShape());
      gradient = MulOp::create(builder, variable.getLoc(), gradient, scale);
    }
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
    SmallVector<int64_t> shape = *state.getShape(type.getShape());
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
  /// no term of the loss that reaches the parameter counts.
  void change(VariableOp changed, Value value) {
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
  }
  Value readHyperParameter(StringRef name) {
    return scalars.read(
        tasks.getVariables().lookup(Purpose::hyper_parameter, name), leaf.copy);
  }
  /// Returns the last group of the parameter that gives a number of this name,
  /// or null.
  const ParameterGroup *findGroup(StringRef number) {
    for (int64_t index : llvm::reverse(getParameterGroups(variable))) {
      const ParameterGroup &group = tasks.getJob().groupsOfParameters[index];
      if (llvm::is_contained(group.numbers, number))
        return &group;
    }
    return nullptr;
  }
  /// Reads the step's learning rate, times the scale that a group gives.
  Value readRate() {
    const ParameterGroup *own = findGroup("lr");
    Value rate = own ? readHyperParameter(own->makeName("lr"))
                     : scalar(Purpose::learning_rate);
    const ParameterGroup *group = findGroup(ParameterGroup::kRateScale);
    if (!group)
      return rate;
    Value scale =
        readHyperParameter(group->makeName(ParameterGroup::kRateScale));
    return MulOp::create(builder, variable.getLoc(), rate, scale);
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
         optimizer.getStates(given, variable.getTensorType().getShape())) {
      states.push_back(getState(*state));
      inputs.push_back(readState(*state, states.back()));
    }
    for (StringRef name : optimizer.getScalars(given))
      inputs.push_back(readScalar(name));
    auto update = OptimizerUpdateOp::create(
        builder, variable.getLoc(), builder.getStringAttr(optimizer.name),
        builder.getStrArrayAttr(given), inputs);
    change(variable, update.getOutputs().front());
    for (auto [state, value] :
         llvm::zip_equal(states, update.getOutputs().drop_front()))
      change(state, value);
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

/// Computes the factor of PyTorch's clip_grad_norm_: limit / (norm of all
/// gradients + 1e-6), at most 1. NaN stays NaN. An infinite limit means no
/// clipping, even if the norm overflows.
static Expression buildClip(TaskBuilder &tasks, const Expression &squares) {
  Expression limit = squares.at(tasks.read(Purpose::clip_norm));
  Expression norm = squares.apply<SqrtOp>();
  if (!tasks.getJob().lossScale.empty())
    norm = norm / squares.at(readLossScale(tasks, norm.getElementType()));
  Expression scale = limit / (norm + 1e-6);
  scale = scale.compare(ComparePredicate::greater, 1.0).select(1.0, scale);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return limit.compare(ComparePredicate::equal, kNone).select(1.0, scale);
}

/// Builds the clip task. Squares are added up in the order of the parameters.
void hfta::buildClipTask(TaskBuilder &tasks, int64_t turn) {
  const Job &job = tasks.getJob();
  tasks.startTask(parts::kClip, turn);
  OpBuilder &builder = tasks.getBuilder();
  Location loc = tasks.getLoc();
  Value sum;
  for (auto variable : tasks.getModule().getOps<VariableOp>()) {
    VariableOp norm = tasks.getVariables().lookupOf(variable, Purpose::norm);
    if (!norm || (turn >= 0 && getTurn(variable) != job.turns[turn].name))
      continue;
    Value square = tasks.read(norm);
    sum = sum ? AddOp::create(builder, loc, sum, square) : square;
  }
  if (!sum) // all parameters are frozen
    sum = tasks.splat({}, builder.getF64Type(), 0);
  Expression squares(builder, loc, sum);
  Expression scale =
      job.clipNorm.empty() ? squares.splat(1.0) : buildClip(tasks, squares);
  if (!job.lossScale.empty())
    scale = buildLossScale(tasks, squares, scale);
  tasks.write(scale, tasks.getVariables().lookup(Purpose::clip_scale));
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
