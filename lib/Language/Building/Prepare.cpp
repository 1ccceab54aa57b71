//===- Prepare.cpp - Builds ops that prepare samples ----------------------===//

#include "Building/JobBuilder.h"

#include "hfta/settings.h"
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
  SmallVector<int64_t> shape(field.preparedShape.begin(),
                             field.preparedShape.end());
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

/// Applies a function of fields. Augmentations change training data only.
Value JobBuilder::applyFunction(SampleBuilder &samples, Value value,
                                const FieldCall &call) {
  const FieldFunction &function = *call.function;
  Value built = function.build(samples, call, value);
  if (!function.isRandom)
    return built;
  Value plain =
      function.buildPlain ? function.buildPlain(samples, call, value) : value;
  return samples.getTensors().create<ByModeOp>(built, plain);
}

Value JobBuilder::applyStep(SampleBuilder &samples, Value value,
                            const PrepareStep &step, bool &ok) {
  TensorBuilder &tensors = samples.getTensors();
  if (step.kind == PrepareStep::Kind::negate)
    return tensors.unary<NegOp>(value);
  if (step.kind == PrepareStep::Kind::call)
    return applyFunction(samples, value, step.call);
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

//===----------------------------------------------------------------------===//
// Fields that the runtime makes
//===----------------------------------------------------------------------===//

/// Lists the fields that augmentations and bootstraps need besides those of the
/// data block: a row of keys for each sample and, for each mixed field, the
/// partners' values.
std::vector<DataField> JobBuilder::getMadeFields() const {
  std::vector<DataField> made;
  if (!info.isAugmented() && !info.bootstraps())
    return made;
  DataField &keys = made.emplace_back();
  keys.name = "hfta.keys";
  keys.kind = HFTA_DATA_FIELD_KEYS;
  for (const auto &[index, field] : llvm::enumerate(info.fields))
    if (field.findMixture()) {
      DataField &partners = made.emplace_back();
      partners.name = "hfta.partners/" + field.name;
      partners.kind = HFTA_DATA_FIELD_PARTNERS;
      partners.of = static_cast<int64_t>(index);
    }
  return made;
}

/// Adds these fields to the job's.
bool JobBuilder::addMadeFields() {
  for (DataField &made : getMadeFields()) {
    for (const FieldInfo &field : info.fields)
      if (field.name == made.name) {
        diagnostics.error(field.range,
                          "field '" + field.name +
                              "' has the name of one that augmentations use",
                          "give it another name");
        return false;
      }
    info.job.data.push_back(std::move(made));
  }
  return true;
}

/// Returns the type of a micro-batch of a field, as its file holds it.
RankedTensorType JobBuilder::getFileType(const FieldInfo &field) {
  SmallVector<int64_t> shape(field.shape.begin(), field.shape.end());
  shape.insert(shape.begin(), info.job.getMicroBatch());
  return RankedTensorType::get(shape, getNamedType(context, field.element));
}

RankedTensorType JobBuilder::getMadeType(const DataField &made) {
  if (made.kind == HFTA_DATA_FIELD_PARTNERS)
    return getFileType(info.fields[made.of]);
  bool isMixed = llvm::any_of(info.fields, [](const FieldInfo &field) {
    return field.findMixture() != nullptr;
  });
  return RankedTensorType::get({info.job.getMicroBatch(), isMixed ? 3 : 2},
                               IntegerType::get(context, 64));
}

/// Reads what decides the numbers that are drawn from the field of keys. Column
/// `column` has the indices of the samples.
SampleKeys JobBuilder::readSampleKeys(TensorBuilder &tensors, Value keys,
                                      int64_t column) {
  int64_t count = getShape(keys).front();
  auto getColumn = [&](int64_t number) {
    Value values = tensors.create<SliceOp>(keys, ArrayRef<int64_t>{0, number},
                                           ArrayRef<int64_t>{count, 1},
                                           ArrayRef<int64_t>{1, 1});
    return tensors.reshape(values, {count});
  };
  Type i64 = getElementType(keys);
  auto seed = tensors.create<ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get({}, i64),
      Attribute(IntegerAttr::get(i64, info.job.augmentSeed))));
  return {seed, getColumn(1), getColumn(column)};
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Returns the type in which a field's steps compute.
Type JobBuilder::getWorkingType(const FieldInfo &field, Type prepared) {
  if (field.steps.empty())
    return prepared;
  return field.isPreparedAsFloat() ? Type(floatType)
                                   : IntegerType::get(context, 64);
}

/// Builds the shares of samples in the mixture of a field that is mixed like
/// another one, which has the keys of `samples`, too.
Value JobBuilder::buildSharesOf(SampleBuilder &samples, StringRef name,
                                int64_t count) {
  const FieldInfo &other = *llvm::find_if(
      info.fields, [&](const FieldInfo &field) { return field.name == name; });
  std::vector<int64_t> shape = other.shape;
  for (const PrepareStep &step : other.steps) {
    if (step.call.isMixing())
      return step.call.function->buildShares(samples, step.call, count, shape);
    if (step.kind == PrepareStep::Kind::call)
      step.call.function->reshape(step.call, shape);
  }
  llvm_unreachable("the field isn't mixed");
}

/// Applies a field's steps to its samples. `partners` are the values of the
/// samples' partners, if they are mixed; null: these are themselves a sample's
/// partners, and only the steps before the mixture are applied.
Value JobBuilder::applySteps(SampleBuilder &samples, Value value,
                             const FieldInfo &field, Value partners, bool &ok) {
  for (const PrepareStep &step : field.steps) {
    if (step.call.isMixing()) {
      if (!partners || !ok)
        return value;
      Partners others;
      others.values = partners;
      if (!step.call.like.empty())
        others.shares =
            buildSharesOf(samples, step.call.like, getShape(value).front());
      samples.setPartners(others);
    }
    value = applyStep(samples, value, step, ok);
  }
  return value;
}

/// Builds the value of a field in a micro-batch. The last arguments of @prepare
/// are the fields that the runtime makes.
Value JobBuilder::buildField(OpBuilder &builder, ValueRange arguments,
                             ArrayRef<DataField> made, unsigned index,
                             RankedTensorType type, bool &ok) {
  const FieldInfo &field = info.fields[index];
  TensorBuilder tensors = getTensors(builder, field.name, field.range);
  Type working = getWorkingType(field, type.getElementType());
  Value partners;
  SampleKeys keys;
  ValueRange madeValues = arguments.take_back(made.size());
  if (field.isAugmented())
    keys = readSampleKeys(tensors, madeValues.front(), /*column=*/0);
  for (const auto &[other, value] : llvm::zip_equal(made, madeValues)) {
    if (other.kind != HFTA_DATA_FIELD_PARTNERS || other.of != index)
      continue;
    SampleKeys theirs =
        readSampleKeys(tensors, madeValues.front(), /*column=*/2);
    SampleBuilder samples(tensors, field.name, theirs);
    partners = applySteps(samples, tensors.cast(value, working), field,
                          /*partners=*/nullptr, ok);
  }
  SampleBuilder samples(tensors, field.name, keys);
  Value value = applySteps(samples, tensors.cast(arguments[index], working),
                           field, partners, ok);
  return tensors.reshape(tensors.cast(value, type.getElementType()),
                         type.getShape());
}

bool JobBuilder::buildPrepare(ModelOp model) {
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  SmallVector<Type> inputs, outputs;
  SmallVector<std::string> names;
  for (const FieldInfo &field : info.fields) {
    names.push_back(field.name);
    inputs.push_back(getFileType(field));
    outputs.push_back(getPreparedType(field, forward));
    if (!outputs.back())
      return false;
  }
  std::vector<DataField> made = getMadeFields();
  for (const DataField &field : made) {
    names.push_back(field.name);
    inputs.push_back(getMadeType(field));
  }
  // The objective draws by the keys, too.
  size_t fields = outputs.size();
  if (info.bootstraps())
    outputs.push_back(inputs[fields]);
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&model.getBody().front());
  auto prepare = func::FuncOp::create(
      builder, diagnostics.getLocation(context, info.train->name.range),
      "prepare", builder.getFunctionType(inputs, outputs));
  builder.setInsertionPointToStart(prepare.addEntryBlock());
  SmallVector<Value> results;
  bool ok = true;
  for (const auto &[index, output] :
       llvm::enumerate(ArrayRef(outputs).take_front(fields)))
    results.push_back(buildField(builder, prepare.getArguments(), made, index,
                                 cast<RankedTensorType>(output), ok));
  if (info.bootstraps())
    results.push_back(prepare.getArgument(fields));
  for (const auto &[index, name] : llvm::enumerate(names)) {
    StringAttr attribute = builder.getStringAttr(name);
    prepare.setArgAttr(index, HftaDialect::kNameAttrName, attribute);
    if (index < outputs.size())
      prepare.setResultAttr(index, HftaDialect::kNameAttrName, attribute);
  }
  func::ReturnOp::create(builder, prepare.getLoc(), results);
  return ok;
}
