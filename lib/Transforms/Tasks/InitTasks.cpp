//===- InitTasks.cpp - Initial values of variables ------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "Tasks/TaskBuilder.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

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

/// Returns whether init writes the variable by itself; averages are written
/// with their parameters. Gradients and other states of an optimizer begin as
/// the zeros that new memory contains, so that a program that only infers never
/// touches them.
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
      Value value = getInitialValue(tasks, variable);
      tasks.write(value, variable);
      if (VariableOp average = tasks.getVariables().lookupOf(
              variable, Purpose::state, kAverageState))
        tasks.write(
            tasks.castTo(value, average.getTensorType().getElementType()),
            average);
      Attribute initial = variable.getInitial().value_or(Attribute());
      if (isa_and_nonnull<ElementsAttr>(initial))
        variable.removeInitialAttr();
    }
  }
}
