//===- LossScale.cpp - Scales of losses -----------------------------------===//

#include "Tasks/LossScale.h"

using namespace mlir;
using namespace mlir::hfta;

/// The state of each copy: its scale, the number of consecutive steps without
/// an overflow, and the number of all steps that were skipped because of one.
static constexpr StringLiteral kFactor = "factor", kGoodSteps = "good_steps",
                               kSkippedSteps = "skipped_steps";

/// The range of a scale. A scale in it is a normal f32, the type in which the
/// loss is multiplied by it.
static constexpr double kLeast = 0x1p-126, kMost = 0x1p126;

static VariableOp getState(TaskBuilder &tasks, StringRef name) {
  return tasks.getVariables().lookup(Purpose::loss_scale, name);
}

static Expression read(TaskBuilder &tasks, VariableOp variable,
                       std::optional<int64_t> copy = std::nullopt,
                       DenseI64ArrayAttr only = {}) {
  return {tasks.getBuilder(), variable.getLoc(),
          tasks.read(variable, copy, only)};
}

void hfta::declareLossScale(TaskBuilder &tasks) {
  MLIRContext *context = tasks.getContext();
  Type f64 = tasks.getBuilder().getF64Type();
  RankedTensorType type = tasks.scalarType(f64, true);
  const std::vector<double> &initial = tasks.getJob().lossScale;
  auto values = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(initial.size())}, f64),
      ArrayRef(initial));
  for (StringRef name : {kFactor, kGoodSteps, kSkippedSteps})
    tasks.declare(PurposeAttr::get(context, Purpose::loss_scale, name), type,
                  name == kFactor ? values : Attribute());
  for (StringRef name : {kFactor, kSkippedSteps})
    tasks.declare(PurposeAttr::get(context, Purpose::loss_scale_result, name),
                  type);
}

Value hfta::readLossScale(TaskBuilder &tasks, Type type) {
  return read(tasks, getState(tasks, kFactor)).to(type);
}

Value hfta::readStepsTaken(TaskBuilder &tasks, std::optional<int64_t> copy,
                           DenseI64ArrayAttr only) {
  Type f64 = tasks.getBuilder().getF64Type();
  Expression step =
      read(tasks, tasks.getVariables().lookup(Purpose::step), copy, only);
  return step.to(f64) - read(tasks, getState(tasks, kSkippedSteps), copy, only);
}

Expression
hfta::buildLossScale(TaskBuilder &tasks, const Expression &squares,
                     const Expression &clip,
                     function_ref<void(const LossScaling &scaling)> useOld) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  VariableOp scaleState = getState(tasks, kFactor),
             goodState = getState(tasks, kGoodSteps),
             skippedState = getState(tasks, kSkippedSteps);
  Expression scale = read(tasks, scaleState), good = read(tasks, goodState),
             skipped = read(tasks, skippedState);
  Expression isFinite = squares.compare(ComparePredicate::less, kInfinity);

  Expression nextGood = isFinite.select(good + 1.0, 0.0);
  auto interval = static_cast<double>(tasks.getJob().growthInterval);
  Expression grows =
      nextGood.compare(ComparePredicate::greater_equal, interval);
  Expression larger =
      scale.compare(ComparePredicate::less, kMost).select(scale * 2.0, scale);
  Expression smaller = scale.compare(ComparePredicate::greater, kLeast)
                           .select(scale * 0.5, scale);
  Expression nextScale = isFinite.select(grows.select(larger, scale), smaller);
  Expression nextSkipped = isFinite.select(skipped, skipped + 1.0);

  LossScaling scaling = {scale, isFinite};
  useOld(scaling);
  Expression result = scaling.apply(clip);
  Expression goodSteps = grows.select(0.0, nextGood);

  // Results are written before the state from which they were read.
  auto report = [&](StringRef name, const Expression &value) {
    tasks.write(value,
                tasks.getVariables().lookup(Purpose::loss_scale_result, name));
  };
  report(kFactor, scale);
  report(kSkippedSteps, nextSkipped);
  tasks.write(nextScale, scaleState);
  tasks.write(goodSteps, goodState);
  tasks.write(nextSkipped, skippedState);
  return result;
}
