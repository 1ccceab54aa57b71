//===- Prepare.cpp - From files' samples to a model's inputs --------------===//

#include "Building/JobBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Element type of a tensor in memory. Unsigned types are storage only.
static Type getStoredType(MLIRContext *context, StringRef name) {
  Builder builder(context);
  return llvm::StringSwitch<Type>(name)
      .Case("bool", builder.getI1Type())
      .Case("u8", builder.getIntegerType(8, /*isSigned=*/false))
      .Case("i8", builder.getIntegerType(8))
      .Case("u16", builder.getIntegerType(16, /*isSigned=*/false))
      .Case("i16", builder.getIntegerType(16))
      .Case("i32", builder.getI32Type())
      .Case("i64", builder.getI64Type())
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Case("f32", builder.getF32Type())
      .Default(builder.getF64Type());
}

/// The type of the input that the field is bound to, if any; else a float or
/// int64. Null if it is bound to inputs of two types, which is reported.
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
                                          ? compute
                                          : IntegerType::get(context, 64));
}

/// One number, or one a channel (axis 1), in the value's shape.
static Value makeOperand(TensorBuilder &tensors, Value value,
                         ArrayRef<Number> numbers) {
  if (numbers.size() == 1)
    return tensors.splatLike(value, numbers.front().value);
  Type elementType = getElementType(value);
  SmallVector<Attribute> elements;
  for (const Number &number : numbers)
    elements.push_back(FloatAttr::get(elementType, number.value));
  auto type =
      RankedTensorType::get(static_cast<int64_t>(numbers.size()), elementType);
  Value constant =
      tensors.create<ConstantOp>(DenseElementsAttr::get(type, elements));
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
        RankedTensorType::get(shape, getStoredType(context, field.element)));
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
          field.isPreparedAsFloat() ? compute : Type(builder.getI64Type());
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
