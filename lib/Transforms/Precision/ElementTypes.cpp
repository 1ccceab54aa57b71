//===- ElementTypes.cpp - A model's floats in the job's types -------------===//

#include "Hfta/Dialect/Hfta/Job/ExactNumbers.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Transforms/Precision/Precision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::hfta;

FloatType hfta::getWider(FloatType first, FloatType other) {
  return other.getWidth() > first.getWidth() ? other : first;
}

FloatType hfta::atLeastF32(FloatType type) {
  return getWider(Float32Type::get(type.getContext()), type);
}

static RankedTensorType withElementType(Type type, Type elementType) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), elementType,
                               tensor.getEncoding());
}

namespace {
/// Converts the variables and functions of one model to the job's types.
class ElementTypes {
public:
  ElementTypes(ModelOp model, const Precision &precision)
      : model(model), builder(model.getContext()),
        parameters(getType(precision.parameters)),
        compute(getType(precision.compute)), state(getType(precision.state)) {}

  void apply() {
    for (VariableOp variable : model.getBody().getOps<VariableOp>())
      convertVariable(variable);
    for (auto function : model.getBody().getOps<func::FuncOp>())
      convertFunction(function);
  }

private:
  FloatType getType(StringRef name) {
    return getFloatType(model.getContext(), name);
  }
  Type convert(Type type) const {
    return isa<FloatType>(getElementTypeOrSelf(type))
               ? withElementType(type, compute)
               : type;
  }
  Value castTo(Value value, Type elementType) {
    return CastOp::create(builder, value.getLoc(), value, elementType);
  }
  void convertVariable(VariableOp variable);
  Attribute convertInitial(VariableOp variable, FloatType stored);
  void convertFunction(func::FuncOp function);
  void convertFileTypes(Block &prepare);
  void convertOp(Operation &op);
  void convertRead(ReadOp read);
  void convertWrite(WriteOp write);
  void convertCast(CastOp cast);
  void convertConstant(ConstantOp constant);
  void convertOther(Operation &op);

  ModelOp model;
  OpBuilder builder;
  FloatType parameters, compute, state;
};
} // namespace

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static FloatAttr roundTo(FloatType type, FloatAttr number) {
  return FloatAttr::get(type, number.getValueAsDouble());
}

Attribute ElementTypes::convertInitial(VariableOp variable, FloatType stored) {
  Attribute initial = *variable.getInitial();
  FloatType drawn = atLeastF32(stored);
  if (auto uniform = dyn_cast<UniformAttr>(initial))
    return UniformAttr::get(model.getContext(),
                            roundTo(drawn, uniform.getLow()),
                            roundTo(drawn, uniform.getHigh()));
  if (auto normal = dyn_cast<NormalAttr>(initial))
    return NormalAttr::get(model.getContext(), roundTo(drawn, normal.getMean()),
                           roundTo(drawn, normal.getDeviation()));
  return convertElements(cast<ElementsAttr>(initial), stored);
}

void ElementTypes::convertVariable(VariableOp variable) {
  RankedTensorType type = variable.getTensorType();
  if (!isa<FloatType>(type.getElementType()))
    return;
  FloatType stored = compute;
  if (variable.getRole() == Role::parameter)
    stored = parameters;
  else if (variable.getRole() == Role::statistics)
    stored = state;
  if (variable.getInitial())
    variable.setInitialAttr(convertInitial(variable, stored));
  variable.setType(withElementType(type, stored));
}

void ElementTypes::convertRead(ReadOp read) {
  auto variable =
      cast<VariableOp>(SymbolTable::lookupSymbolIn(model, read.getVariable()));
  Type stored = variable.getTensorType().getElementType();
  if (!isa<FloatType>(stored))
    return;
  Value value = read.getResult();
  value.setType(withElementType(value.getType(), stored));
  if (stored == compute)
    return;
  builder.setInsertionPointAfter(read);
  Value widened = castTo(value, compute);
  value.replaceAllUsesExcept(widened, widened.getDefiningOp());
}

void ElementTypes::convertWrite(WriteOp write) {
  auto variable =
      cast<VariableOp>(SymbolTable::lookupSymbolIn(model, write.getVariable()));
  Type stored = variable.getTensorType().getElementType();
  if (!isa<FloatType>(stored) || stored == compute)
    return;
  builder.setInsertionPoint(write);
  write.getValueMutable().assign(castTo(write.getValue(), stored));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Makes a cast to a float type a cast to the compute type; removes it if its
/// operand already has that type.
void ElementTypes::convertCast(CastOp cast) {
  if (!isa<FloatType>(cast.getElementType()))
    return;
  cast.setElementType(compute);
  cast.getResult().setType(
      mlir::cast<RankedTensorType>(convert(cast.getType())));
  if (cast.getInput().getType() != cast.getType())
    return;
  cast.replaceAllUsesWith(cast.getInput());
  cast.erase();
}

void ElementTypes::convertOther(Operation &op) {
  for (NamedAttribute attribute : llvm::to_vector(op.getAttrs())) {
    auto type = dyn_cast<TypeAttr>(attribute.getValue());
    if (type && isa<FloatType>(type.getValue()))
      op.setAttr(attribute.getName(), TypeAttr::get(compute));
  }
  if (auto pad = dyn_cast<PadOp>(op))
    if (auto number = dyn_cast<FloatAttr>(pad.getValue()))
      pad.setValueAttr(roundTo(compute, number));
  for (Value result : op.getResults())
    result.setType(convert(result.getType()));
}

/// Converts a constant to the compute type. If that is wider than the
/// constant's type, takes the exact numbers that its elements were rounded
/// from. Otherwise takes the elements themselves, which may be results of
/// folding in the constant's type: folding of the exact numbers may have
/// decided otherwise, as at a floor.
void ElementTypes::convertConstant(ConstantOp constant) {
  ElementsAttr elements = constant.getValue();
  ElementsAttr exact = takeExactElements(constant);
  auto natural = dyn_cast<FloatType>(elements.getElementType());
  bool isWider = natural && compute.getWidth() > natural.getWidth();
  constant.setValueAttr(
      convertElements(exact && isWider ? exact : elements, compute));
}

void ElementTypes::convertOp(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return convertRead(read);
  if (auto write = dyn_cast<WriteOp>(op))
    return convertWrite(write);
  if (auto cast = dyn_cast<CastOp>(op))
    return convertCast(cast);
  if (auto constant = dyn_cast<ConstantOp>(op))
    convertConstant(constant);
  convertOther(op);
}

/// Inserts casts to the compute type after the arguments of @prepare, which
/// keep the element types of the data files. Uses that are casts already stay.
void ElementTypes::convertFileTypes(Block &prepare) {
  builder.setInsertionPointToStart(&prepare);
  for (Value argument : prepare.getArguments()) {
    Type elementType = getElementTypeOrSelf(argument.getType());
    if (!isa<FloatType>(elementType) || elementType == compute)
      continue;
    auto isConverted = [](OpOperand &use) {
      return isa<CastOp>(use.getOwner());
    };
    if (llvm::all_of(argument.getUses(), isConverted))
      continue;
    Value converted = castTo(argument, compute);
    argument.replaceUsesWithIf(
        converted, [&](OpOperand &use) { return !isConverted(use); });
  }
}

void ElementTypes::convertFunction(func::FuncOp function) {
  Block &block = function.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  if (function.getSymName() == "prepare")
    convertFileTypes(block);
  else
    for (Value argument : block.getArguments())
      argument.setType(convert(argument.getType()));
  for (Operation *op : ops)
    convertOp(*op);
  function.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
}

void hfta::applyElementTypes(ModelOp model, const Precision &precision) {
  ElementTypes(model, precision).apply();
}
