//===- JobObjectives.cpp - Builds losses and metrics ----------------------===//

#include "Building/JobBuilder.h"
#include "Building/ObjectiveBuilding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static StringRef getResultName(func::FuncOp function, unsigned index) {
  auto name = function.getResultAttrOfType<StringAttr>(
      index, HftaDialect::kNameAttrName);
  return name ? name.getValue() : StringRef();
}

std::optional<unsigned> JobBuilder::findOutput(const NamedRange &output,
                                               llvm::SMRange range,
                                               func::FuncOp forward) {
  std::vector<llvm::StringRef> names;
  for (unsigned i = 0, e = forward.getNumResults(); i < e; ++i)
    names.push_back(getResultName(forward, i));
  if (output.name.empty()) {
    if (names.size() == 1)
      return 0;
    diagnostics.error(range,
                      "model '" + info.model->name.name + "' has " +
                          Twine(names.size()) + " outputs",
                      "choose one: " + info.model->name.name + "." +
                          (names.empty() ? "output" : names.front()));
    return std::nullopt;
  }
  auto found = llvm::find(names, output.name);
  if (found != names.end())
    return found - names.begin();
  diagnostics.error(range,
                    "model '" + info.model->name.name + "' has no output '" +
                        output.name + "'",
                    suggest(output.name, names, "outputs are"));
  return std::nullopt;
}

std::optional<unsigned> JobBuilder::findLabel(const ObjectiveInfo &objective) {
  std::optional<unsigned> only;
  for (const auto &[index, field] : llvm::enumerate(info.fields)) {
    if (llvm::is_contained(boundFields, &field) ||
        field.name == objective.weights.name ||
        llvm::any_of(objective.tensors, [&, &name = field.name](auto &tensor) {
          return tensor.second.named.name == name;
        }))
      continue;
    if (only) {
      diagnostics.error(objective.range, "which field is the label isn't clear",
                        "write " + objective.name + "(" +
                            info.model->name.name + ", " +
                            info.fields[*only].name + ")");
      return std::nullopt;
    }
    only = index;
  }
  if (!only)
    diagnostics.error(objective.range,
                      "every field is an input of the model, none a label",
                      "name it: " + objective.name + "(model, field)");
  return only;
}

/// Returns the rows of a tensor that belong to a part of the batch, one of
/// JobInfo::times.
Value JobBuilder::cutBatch(Value ofBatch, int64_t part,
                           TensorBuilder &tensors) {
  if (info.times == 1)
    return ofBatch;
  SmallVector<int64_t> sizes(getShape(ofBatch));
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  sizes.front() = info.getNetworkBatch();
  offsets.front() = part * sizes.front();
  return tensors.create<SliceOp>(ofBatch, offsets, sizes, strides);
}

/// Returns the tensor that an operand is, and the field if it is one; nothing
/// after an error.
std::optional<JobBuilder::Operand>
JobBuilder::findOperand(const OperandInfo &operand, Value output,
                        const ModelValues &values, TensorBuilder &tensors) {
  if (operand.kind == OperandInfo::Kind::number)
    return Operand{tensors.splatLike(output, operand.number)};
  bool isModel = operand.kind == OperandInfo::Kind::name &&
                 llvm::none_of(info.fields,
                               [&](const FieldInfo &field) {
                                 return field.name == operand.named.name;
                               }) &&
                 (operand.named.name == info.model->name.name ||
                  operand.named.name == "model");
  if (isModel || operand.kind == OperandInfo::Kind::output) {
    NamedRange named = operand.named;
    if (isModel)
      named.name.clear();
    std::optional<unsigned> found =
        findOutput(named, named.range, values.forward);
    return found ? std::optional(Operand{values.arguments[*found]})
                 : std::nullopt;
  }
  const FieldInfo *field = findField(operand.named);
  if (!field)
    return std::nullopt;
  auto index = static_cast<unsigned>(field - info.fields.data());
  return Operand{cutBatch(values.getField(index), values.part, tensors), index};
}

/// Finds the tensors that an objective compares.
std::optional<JobBuilder::Target>
JobBuilder::findTarget(const ObjectiveInfo &objective,
                       const ModelValues &values, TensorBuilder &tensors) {
  const NamedRange &named = objective.output;
  std::optional<unsigned> found =
      findOutput(named, named.range.isValid() ? named.range : objective.range,
                 values.forward);
  if (objective.implicit) {
    std::optional<unsigned> label = findLabel(objective);
    if (!found || !label)
      return std::nullopt;
    return Target{values.arguments[*found], {values.getField(*label), label}};
  }
  if (!found)
    return std::nullopt;
  Value output = values.arguments[*found];
  std::optional<Operand> label =
      findOperand(objective.label, output, values, tensors);
  return label ? std::optional(Target{output, *label}) : std::nullopt;
}

/// Declares a run-time scalar of the model if it doesn't exist yet, and reads
/// it.
Value JobBuilder::readScalar(ModelOp model, TensorBuilder &tensors,
                             PurposeAttr purpose, Type elementType) {
  VariableOp variable =
      VariableDeclarer(model).getScalar(tensors.getLoc(), purpose, elementType);
  return tensors.create<ReadOp>(variable.getTensorType(), variable.getSymName(),
                                IntegerAttr());
}

RandomKeys JobBuilder::readKeys(ModelOp model, TensorBuilder &tensors) {
  auto read = [&](Purpose purpose) {
    return readScalar(model, tensors, PurposeAttr::get(context, purpose),
                      IntegerType::get(context, 64));
  };
  return {read(Purpose::seed), read(Purpose::step),
          read(Purpose::first_sample)};
}

//===----------------------------------------------------------------------===//
// Loss and metric
//===----------------------------------------------------------------------===//

/// Checks a loss or metric. An error has a hint.
template <typename Info>
static ObjectiveError checkObjective(const Info &objective,
                                     const ObjectiveArguments &arguments,
                                     ObjectiveTypes types) {
  if (!isa<FloatType>(types.output.getElementType()))
    return {"the output must be a float", "choose another output"};
  ObjectiveError wrong = objective.check(arguments, types);
  if (wrong && wrong.hint.empty())
    wrong.hint = (objective.name + " takes " + objective.takes).str();
  return wrong;
}

/// Reports what is wrong with the loss and its operands.
bool JobBuilder::checkLoss(const ObjectiveInfo &objective, const LossInfo &loss,
                           const ObjectiveArguments &arguments,
                           const Target &target, ObjectiveTypes types) {
  ObjectiveError wrong = checkObjective(loss, arguments, types);
  if (wrong) {
    diagnostics.error(objective.range, wrong.message, wrong.hint);
    return false;
  }
  if (!info.job.drawsTargets())
    return true;
  constexpr llvm::StringLiteral kHint =
      "leave out 'fisher = sampled': the labels are used then";
  if (!loss.draws)
    diagnostics.error(objective.range,
                      "kfac can't draw targets for '" + loss.name +
                          "', whose outputs describe no distribution",
                      kHint);
  else if (!target.label.field &&
           objective.label.kind != OperandInfo::Kind::number)
    diagnostics.error(objective.range,
                      "kfac can't draw targets for a loss of two outputs",
                      kHint);
  return !diagnostics.hasErrors();
}

/// Draws how often a copy counts each sample: numbers of the Poisson
/// distribution of mean 1, which are nearly those of a bootstrap sample. They
/// depend on the copy's seed and the sample's index in the data set, and are 1
/// in an evaluation.
Value JobBuilder::buildCounts(const ModelValues &values,
                              TensorBuilder &tensors) {
  Value keys = values.arguments.back();
  int64_t count = getShape(keys).front();
  Value samples = readSampleKeys(tensors, keys, /*column=*/0).samples;
  Type i64 = getElementType(samples);
  Value seed = readScalar(values.model, tensors,
                          PurposeAttr::get(context, Purpose::seed), i64);
  Value uniform = tensors.create<RandomUniformOp>(
      seed, tensors.splat({}, i64, 0), samples, ArrayRef<int64_t>{count},
      names::hash(names::getCompilerSymbol("bootstrap")), /*per_sample=*/true,
      tensors.getFloatType());
  Value ones = tensors.splatLike(uniform, 1.0);
  Value counts = tensors.splatLike(uniform, 0.0);
  // A number counts once for each k with P(0) + ... + P(k) at or below it.
  double share = std::exp(-1.0), sum = 0;
  for (int64_t k = 0; sum + share < 1.0 - 0x1p-24; ++k) {
    sum += share;
    share /= static_cast<double>(k + 1);
    Value isAbove =
        tensors.compare(ComparePredicate::greater_equal, uniform, sum);
    counts =
        tensors.select(isAbove, tensors.binary<AddOp>(counts, ones), counts);
  }
  return tensors.create<ByModeOp>(counts, ones);
}

/// Returns the weights of a loss' elements: a field in their shape, or in that
/// of their first axes, or numbers of a bootstrap. Returns null after an error.
Value JobBuilder::buildElementWeights(const ObjectiveInfo &objective,
                                      Value losses, const ModelValues &values,
                                      TensorBuilder &tensors) {
  const FieldInfo *field =
      objective.bootstraps ? nullptr : findField(objective.weights);
  if (!field && !objective.bootstraps)
    return nullptr;
  Value weights = field ? values.getField(field - info.fields.data())
                        : buildCounts(values, tensors);
  weights = cutBatch(weights, values.part, tensors);
  ArrayRef<int64_t> shape = getShape(losses), own = getShape(weights);
  weights = tensors.cast(weights, getElementType(losses));
  if (areAlike(own, shape))
    return tensors.reshape(weights, shape);
  if (own.size() <= shape.size() && own == shape.take_front(own.size()))
    return tensors.broadcast(
        weights, shape, llvm::to_vector(llvm::seq<int64_t>(0, own.size())));
  diagnostics.error(objective.weights.range,
                    "the loss has elements of shape " + printShape(shape) +
                        ", but 'weights' has the shape " + printShape(own),
                    "it has the elements' shape, or that of their first axes");
  return nullptr;
}

/// Multiplies a loss by weights of its elements, so that its mean divides by
/// the sum of weights. Drawn losses get a factor of 1 / sqrt(w) in addition, so
/// that second moments of gradients have the weight itself, not its square.
static void weighLoss(TensorBuilder &tensors, Value weights, Loss &loss) {
  if (loss.divisors)
    loss.divisors = tensors.binary<MulOp>(loss.divisors, weights);
  loss.weights = tensors.binary<MulOp>(loss.weights, weights);
  if (!loss.drawnLosses)
    return;
  Value counts = tensors.compare(ComparePredicate::greater, weights, 0.0);
  Value divisors =
      tensors.select(counts, weights, tensors.splatLike(weights, 1));
  loss.drawnLosses =
      tensors.binary<DivOp>(loss.drawnLosses, tensors.unary<SqrtOp>(divisors));
}

/// Checks that the label of a loss is mixed if the model's inputs are.
bool JobBuilder::checkMixedLabel(const ObjectiveInfo &objective,
                                 const Target &target) {
  if (!target.label.field ||
      info.fields[*target.label.field].findMixture() != nullptr)
    return true;
  for (const FieldInfo *input : boundFields)
    if (const FieldCall *call = input->findMixture()) {
      const std::string &label = info.fields[*target.label.field].name;
      diagnostics.error(
          objective.range,
          "'" + call->function->name + "' mixes the samples of '" +
              input->name + "', but not the label '" + label + "'",
          "mix it, too, for example as mixed_like(one_hot(...), " +
              input->name + ")");
      return false;
    }
  return true;
}

std::optional<Loss> JobBuilder::buildLossOf(const ObjectiveInfo &objective,
                                            const Target &target,
                                            const ModelValues &values,
                                            TensorBuilder &tensors) {
  if (!checkMixedLabel(objective, target))
    return std::nullopt;
  const LossInfo &loss = *findLoss(objective.name);
  ObjectiveArguments arguments = objective.arguments;
  SmallVector<std::pair<StringRef, unsigned>> fields;
  if (target.label.field)
    fields.emplace_back(loss.labelName, *target.label.field);
  for (const auto &[name, tensor] : objective.tensors) {
    std::optional<Operand> operand =
        findOperand(tensor, target.output, values, tensors);
    if (!operand)
      return std::nullopt;
    arguments.setTensor(name, operand->value);
    if (operand->field)
      fields.emplace_back(name, *operand->field);
  }
  ObjectiveOperands operands = {tensors, arguments, target.output,
                                target.label.value};
  ObjectiveTypes types = operands.getTypes();
  if (!checkLoss(objective, loss, arguments, target, types))
    return std::nullopt;
  for (const auto &[name, field] : fields)
    limitOperand(field, loss, name, arguments, types);
  for (const auto &[argument, name] : objective.numbers)
    arguments.set(
        argument,
        readScalar(values.model, tensors,
                   PurposeAttr::get(context, Purpose::hyper_parameter, name),
                   floatType));
  std::optional<RandomKeys> keys;
  if (info.job.drawsTargets())
    keys = readKeys(values.model, tensors);
  Loss built = loss.build(operands, keys);
  if (objective.weights.name.empty() && !objective.bootstraps)
    return built;
  Value weights = buildElementWeights(objective, built.losses, values, tensors);
  if (!weights)
    return std::nullopt;
  weighLoss(tensors, weights, built);
  return built;
}

/// Notes how a metric follows from its values, which must be the same for all
/// models. Returns whether it is.
bool JobBuilder::noteForm(const ObjectiveInfo &metric, const MetricForm &form,
                          JobMetric &noted) {
  if (!knowsForms) {
    noted.kind = form.kind;
    noted.average = form.average;
    noted.isLabeled = form.isLabeled;
    noted.classes = form.classes;
  }
  if (noted.kind == form.kind && noted.isLabeled == form.isLabeled &&
      noted.classes == form.classes)
    return true;
  diagnostics.error(metric.range,
                    "the models have different numbers of classes, " +
                        Twine(noted.classes) + " and " + Twine(form.classes),
                    "'" + metric.name + "' needs the same number");
  return false;
}

/// Builds the values of a metric over the elements of the first term of the
/// loss, whose weights are `weights`. `implied` is what a metric without
/// operands compares.
bool JobBuilder::buildMetric(size_t index, const Target &implied, Value weights,
                             const ModelValues &values, OpBuilder &builder,
                             SmallVector<Value> &results) {
  const ObjectiveInfo &given = info.metrics[index];
  const MetricInfo &metric = *findMetric(given.name);
  const ObjectiveInfo &loss = info.terms.front().loss;
  TensorBuilder tensors = getTensors(builder, "metric", given.range);
  std::optional<Target> target =
      given.implicit ? implied : findTarget(given, values, tensors);
  if (!target)
    return false;
  ObjectiveArguments arguments = given.arguments;
  if (!arguments.findInteger(kAxisArgument))
    arguments.set(kAxisArgument, loss.arguments.getAxis());
  ObjectiveOperands operands = {tensors, arguments, target->output,
                                target->label.value};
  if (findLoss(loss.name)->getLabelKind(arguments, operands.getTypes()) ==
      LabelKind::probabilities)
    operands.label = findLargest(
        tensors, tensors.reshape(operands.label, getShape(target->output)),
        *findAxis(getTensorType(target->output), arguments.getAxis()),
        tensors.getBuilder().getI64Type());
  ObjectiveTypes types = operands.getTypes();
  ObjectiveError wrong = checkObjective(metric, arguments, types);
  if (wrong) {
    diagnostics.error(given.range, wrong.message, wrong.hint);
    return false;
  }
  MetricForm form =
      metric.getForm ? metric.getForm(arguments, types) : MetricForm();
  if (!noteForm(given, form, info.job.metrics[index]))
    return false;
  MetricValues built = metric.build(operands);
  results.push_back(built.labels);
  if (built.guesses)
    results.push_back(built.guesses);
  if (getShape(built.labels) == getShape(weights))
    return true;
  diagnostics.error(given.range,
                    "the metric has the shape " +
                        printShape(getShape(built.labels)) + ", but the loss " +
                        printShape(getShape(weights)),
                    "both are of the same elements, which have one weight");
  return false;
}

/// Builds the results of @objective. TaskBuilder::inlineObjective() lists them.
bool JobBuilder::buildLossAndMetric(const ModelValues &values,
                                    SmallVector<Value> &results) {
  OpBuilder builder =
      OpBuilder::atBlockEnd(values.arguments.front().getParentBlock());
  bool isSum = info.isSumOfTerms();
  std::optional<Target> target;
  std::optional<Loss> first;
  for (const LossTermInfo &term : info.terms) {
    TensorBuilder tensors = getTensors(builder, "loss", term.loss.range);
    ModelValues ofTerm = values;
    ofTerm.part = term.part;
    std::optional<Target> own = findTarget(term.loss, ofTerm, tensors);
    if (!own)
      return false;
    std::optional<Loss> loss = buildLossOf(term.loss, *own, ofTerm, tensors);
    if (!loss)
      return false;
    results.append({loss->losses, loss->weights});
    if (isSum)
      results.push_back(loss->divisors ? loss->divisors : loss->weights);
    if (loss->drawnLosses)
      results.push_back(loss->drawnLosses);
    if (first)
      continue;
    first = loss;
    target = own;
  }
  for (size_t i = 0; i < info.metrics.size(); ++i)
    if (!buildMetric(i, *target, first->weights, values, builder, results))
      return false;
  if (!isSum && first->divisors)
    results.push_back(first->divisors);
  return true;
}

bool JobBuilder::buildObjective(ModelOp model) {
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  auto prepare = model.lookupSymbol<func::FuncOp>("prepare");
  SmallVector<Type> types(forward.getResultTypes());
  llvm::append_range(types, prepare.getResultTypes());
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&model.getBody().front());
  auto objective = func::FuncOp::create(
      builder, diagnostics.getLocation(context, info.terms.front().loss.range),
      "objective", builder.getFunctionType(types, {}));
  Block *block = objective.addEntryBlock();
  SmallVector<Value> results;
  if (!buildLossAndMetric({model, forward, block->getArguments()}, results))
    return false;
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, objective.getLoc(), results);
  objective.setType(
      builder.getFunctionType(types, ValueRange(results).getTypes()));
  knowsForms = true;
  return true;
}
