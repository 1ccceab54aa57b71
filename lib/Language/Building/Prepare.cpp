//===- Prepare.cpp - Builds ops that prepare samples ----------------------===//

#include "Building/JobBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Returns the type that a field has after preparation: that of the input to
/// which it is bound, or if there is none, floats or int64. Reports an error
/// and returns null if the field is bound to inputs of two types.
Type JobBuilder::getPreparedType(const FieldInfo &field, func::FuncOp forward) {
  Type type;
  for (unsigned i = 0, e = forward.getNumArguments(); i < e; ++i) {
    auto name =
        forward.getArgAttrOfType<StringAttr>(i, HftaDialect::kNameAttrName);
    if (!name || name.getValue() != field.name)
      continue;
    if (type && type != forward.getArgumentTypes()[i]) {
      diagnostics.error(info.modelRange,
                        "field '" + field.name +
                            "' is bound to inputs of two types",
                        "give each input a field of its own");
      return nullptr;
    }
    type = forward.getArgumentTypes()[i];
  }
  if (type)
    return type;
  SmallVector<int64_t> shape(field.shape.begin(), field.shape.end());
  shape.insert(shape.begin(), info.job.getMicroBatch());
  return RankedTensorType::get(shape, field.isPreparedAsFloat()
                                          ? Type(floatType)
                                          : IntegerType::get(context, 64));
}

/// Returns a constant in the shape of `value`: one number, or one for each
/// channel (axis 1).
static Value makeOperand(TensorBuilder &tensors, Value value,
                         ArrayRef<Number> numbers) {
  if (numbers.size() == 1)
    return tensors.splatLike(value, numbers.front().value);
  SmallVector<double> elements;
  for (const Number &number : numbers)
    elements.push_back(number.value);
  Value constant =
      tensors.list(elements, cast<FloatType>(getElementType(value)));
  return tensors.broadcast(constant, getShape(value), /*dimensions=*/1);
}

Value JobBuilder::applyStep(TensorBuilder &tensors, Value value,
                            const PrepareStep &step, bool &ok) {
  if (step.kind == PrepareStep::Kind::negate)
    return tensors.unary<NegOp>(value);
  ArrayRef<int64_t> shape = getShape(value);
  size_t count = step.numbers.size();
  if (count > 1 &&
      (shape.size() < 2 || shape[1] != static_cast<int64_t>(count))) {
    ok = false;
    diagnostics.error(step.range,
                      "'mean' and 'std' have " + Twine(count) +
                          " values for samples of shape " +
                          printShape(shape.drop_front()),
                      "give one number, or one for each element of the "
                      "sample's first axis");
    return value;
  }
  Value operand = makeOperand(tensors, value, step.numbers);
  switch (step.kind) {
  case PrepareStep::Kind::add:
    return tensors.binary<AddOp>(value, operand);
  case PrepareStep::Kind::subtract:
    return tensors.binary<SubOp>(value, operand);
  case PrepareStep::Kind::subtractFrom:
    return tensors.binary<SubOp>(operand, value);
  case PrepareStep::Kind::multiply:
    return tensors.binary<MulOp>(value, operand);
  case PrepareStep::Kind::divide:
    return tensors.binary<DivOp>(value, operand);
  case PrepareStep::Kind::divideInto:
    return tensors.binary<DivOp>(operand, value);
  default:
    return tensors.binary<DivOp>(tensors.binary<SubOp>(value, operand),
                                 makeOperand(tensors, value, step.deviations));
  }
}

bool JobBuilder::buildPrepare(ModelOp model) {
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  SmallVector<Type> inputs, outputs;
  for (const FieldInfo &field : info.fields) {
    SmallVector<int64_t> shape(field.shape.begin(), field.shape.end());
    shape.insert(shape.begin(), info.job.getMicroBatch());
    inputs.push_back(
        RankedTensorType::get(shape, getNamedType(context, field.element)));
    outputs.push_back(getPreparedType(field, forward));
    if (!outputs.back())
      return false;
  }
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&model.getBody().front());
  auto prepare = func::FuncOp::create(
      builder, diagnostics.getLocation(context, info.train->name.range),
      "prepare", builder.getFunctionType(inputs, outputs));
  builder.setInsertionPointToStart(prepare.addEntryBlock());
  SmallVector<Value> results;
  bool ok = true;
  for (const auto &[index, field] : llvm::enumerate(info.fields)) {
    TensorBuilder tensors = getTensors(builder, field.name, field.range);
    auto type = cast<RankedTensorType>(outputs[index]);
    Value value = prepare.getArgument(index);
    Type working = type.getElementType();
    if (!field.steps.empty())
      working =
          field.isPreparedAsFloat() ? Type(floatType) : builder.getI64Type();
    value = tensors.cast(value, working);
    for (const PrepareStep &step : field.steps)
      value = applyStep(tensors, value, step, ok);
    value = tensors.cast(value, type.getElementType());
    results.push_back(tensors.reshape(value, type.getShape()));
    StringAttr name = builder.getStringAttr(field.name);
    prepare.setArgAttr(index, HftaDialect::kNameAttrName, name);
    prepare.setResultAttr(index, HftaDialect::kNameAttrName, name);
  }
  func::ReturnOp::create(builder, prepare.getLoc(), results);
  return ok;
}
