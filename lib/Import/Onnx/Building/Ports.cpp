//===- Ports.cpp - Inputs and outputs of a model --------------------------===//

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

using ::onnx::ValueInfoProto;

/// Returns the size that the file declares for an axis, or kDynamic.
static int64_t getFixedSize(const ValueInfoProto &port, unsigned axis) {
  const auto &size = port.type().tensor_type().shape().dim(axis);
  return size.has_dim_value() && size.dim_value() >= 0 ? size.dim_value()
                                                       : ShapedType::kDynamic;
}

static bool hasShape(const ValueInfoProto &port) {
  return port.type().has_tensor_type() && port.type().tensor_type().has_shape();
}

static unsigned getRank(const ValueInfoProto &port) {
  return port.type().tensor_type().shape().dim_size();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Reports options that name inputs or axes that the file doesn't have, and
/// sizes that aren't positive.
void ModelBuilder::checkOptionNames() {
  llvm::StringSet<> inputs, symbols;
  for (const ValueInfoProto *input : graph.inputs) {
    inputs.insert(input->name());
    if (hasShape(*input))
      for (unsigned axis = 0; axis < getRank(*input); ++axis)
        symbols.insert(getAxisName(*input, axis));
  }
  Location file = reporter.getFileLocation();
  for (const auto &entry : options.constants)
    if (!inputs.contains(entry.getKey()))
      reporter.invalid(file, "the model has no input '" + entry.getKey() +
                                 "' to bind a constant to");
  for (const auto &entry : options.dims)
    if (!symbols.contains(entry.getKey()))
      reporter.invalid(file, "no axis of the model's inputs is called '" +
                                 entry.getKey() + "'");
    else if (entry.getValue() < 1)
      reporter.invalid(file, "size " + Twine(entry.getValue()) + " of axis '" +
                                 entry.getKey() + "' is not positive");
}

bool ModelBuilder::checkSampleShape(const ValueInfoProto &input) {
  auto sample = options.sampleShapes.find(input.name());
  if (sample == options.sampleShapes.end())
    return true;
  Location location = reporter.getLocation(input.name());
  ArrayRef<int64_t> shape = sample->second;
  bool fits = shape.size() + 1 == getRank(input);
  for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
    int64_t fixed = getFixedSize(input, axis + 1);
    fits = ShapedType::isDynamic(fixed) || fixed == shape[axis];
  }
  if (!fits)
    reporter.invalid(location, "samples of shape " + formatShape(shape) +
                                   " do not fit input '" + input.name() + "'");
  return fits;
}

/// Collects the sizes of symbolic axes from options and sample shapes.
bool ModelBuilder::collectSymbols(llvm::StringMap<int64_t> &symbols) {
  for (const auto &entry : options.dims)
    symbols[entry.getKey()] = entry.getValue();
  bool good = true;
  for (const ValueInfoProto *input : graph.inputs) {
    if (!hasShape(*input))
      continue;
    if (!checkSampleShape(*input)) {
      good = false;
      continue;
    }
    auto sample = options.sampleShapes.find(input->name());
    if (sample == options.sampleShapes.end())
      continue;
    for (auto [index, size] : llvm::enumerate(sample->second)) {
      std::string symbol = getAxisName(*input, index + 1);
      if (symbol.empty())
        continue;
      auto [entry, isNew] = symbols.try_emplace(symbol, size);
      if (!isNew && entry->second != size) {
        reporter.invalid(reporter.getLocation(input->name()),
                         "axis '" + symbol + "' is " + Twine(entry->second) +
                             " elsewhere but " + Twine(size) + " in input '" +
                             input->name() + "'");
        good = false;
      }
    }
  }
  if (options.microBatch)
    for (const ValueInfoProto *input : graph.inputs)
      if (hasShape(*input) && getRank(*input) > 0)
        symbols.try_emplace(getAxisName(*input, 0), *options.microBatch);
  return good;
}

std::optional<int64_t>
ModelBuilder::bindAxis(const ValueInfoProto &input, unsigned axis,
                       llvm::StringMap<int64_t> &symbols) {
  if (axis == 0 && options.microBatch)
    return *options.microBatch;
  int64_t fixed = getFixedSize(input, axis);
  if (!ShapedType::isDynamic(fixed))
    return fixed;
  std::string name = getAxisName(input, axis);
  auto known = symbols.find(name);
  if (known != symbols.end())
    return known->second;
  auto sample = options.sampleShapes.find(input.name());
  if (axis > 0 && sample != options.sampleShapes.end())
    return sample->second[axis - 1];
  StringRef symbol = input.type().tensor_type().shape().dim(axis).dim_param();
  reporter.invalid(reporter.getLocation(input.name()),
                   "axis " + Twine(axis) +
                       (symbol.empty() ? "" : " ('" + symbol + "')") +
                       " of input '" + input.name() + "' has no size: give " +
                       (axis == 0 ? "a batch size" : "its size") +
                       ", for example with --dim " + name + "=N");
  return std::nullopt;
}

bool ModelBuilder::bindConstant(const ValueInfoProto &input) {
  Location location = reporter.getLocation(input.name());
  DenseElementsAttr elements = options.constants.find(input.name())->second;
  auto type = cast<RankedTensorType>(elements.getType());
  Type expected = getElementType(input.type().tensor_type().elem_type(),
                                 module.getContext());
  bool fits = type.getElementType() == expected;
  if (fits && hasShape(input)) {
    fits = type.getRank() == getRank(input);
    for (unsigned axis = 0; fits && axis < getRank(input); ++axis) {
      int64_t fixed = getFixedSize(input, axis);
      fits = ShapedType::isDynamic(fixed) || fixed == type.getDimSize(axis);
    }
  }
  if (!fits) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    reporter.invalid(location, "a constant of type " + text +
                                   " does not fit input '" + input.name() +
                                   "'");
    return false;
  }
  define(input.name(), createConstant(elements, location));
  return true;
}

bool ModelBuilder::bindInput(const ValueInfoProto &input,
                             llvm::StringMap<int64_t> &symbols) {
  Location location = reporter.getLocation(input.name());
  std::string prefix = "input '" + input.name() + "' ";
  if (!input.type().has_tensor_type()) {
    reporter.unsupported(location, prefix + "is no tensor");
    return false;
  }
  int64_t number = input.type().tensor_type().elem_type();
  Type elementType = getElementType(number, module.getContext());
  if (!elementType) {
    reporter.unsupported(location, prefix + "has element type " +
                                       getElementTypeName(number) +
                                       ", which is not supported");
    return false;
  }
  if (options.constants.contains(input.name()))
    return bindConstant(input);
  if (!hasShape(input)) {
    reporter.unsupported(location, prefix + "has no shape");
    return false;
  }
  if (options.microBatch && getRank(input) == 0) {
    reporter.invalid(location, prefix + "is a scalar and so has no batch axis: "
                                        "bind it with --constant");
    return false;
  }
  SmallVector<int64_t> shape;
  for (unsigned axis = 0; axis < getRank(input); ++axis)
    if (std::optional<int64_t> size = bindAxis(input, axis, symbols))
      shape.push_back(*size);
  if (shape.size() != getRank(input))
    return false;
  if (!countElements(shape)) {
    reporter.invalid(location,
                     prefix + "cannot have shape " + formatShape(shape));
    return false;
  }
  Value argument = forward.getBody().front().addArgument(
      RankedTensorType::get(shape, elementType), location);
  define(input.name(), argument);
  setBatched(argument);
  return true;
}

/// Determines the batch size, and the batch size of the file if this import
/// replaces it.
void ModelBuilder::chooseReplacedBatch() {
  std::optional<int64_t> exported;
  bool agree = true;
  for (const ValueInfoProto *input : graph.inputs) {
    if (options.constants.contains(input->name()) || !hasShape(*input) ||
        getRank(*input) == 0)
      continue;
    Value value = values.lookup(input->name());
    int64_t size = value ? onnx_import::getShape(value)[0] : 0;
    batch = !batch || *batch == size ? std::optional<int64_t>(size)
                                     : std::optional<int64_t>(-1);
    int64_t fixed = getFixedSize(*input, 0);
    agree &= !exported || *exported == fixed;
    exported = fixed;
  }
  // The batch size is only needed to test whether sizes are multiples of it,
  // which makes no sense for 0. It is -1 if the inputs disagree.
  if (batch && *batch <= 0)
    batch = std::nullopt;
  if (agree && exported && *exported > 0 && !ShapedType::isDynamic(*exported) &&
      batch && *exported != *batch)
    replacedBatch = exported;
}

void ModelBuilder::bindInputs() {
  llvm::StringMap<int64_t> symbols;
  bool good = collectSymbols(symbols);
  if (options.microBatch && *options.microBatch < 1) {
    reporter.invalid(reporter.getFileLocation(),
                     "batch size " + Twine(*options.microBatch) +
                         " is not positive");
    good = false;
  }
  if (!good)
    return;
  for (const ValueInfoProto *input : graph.inputs)
    good &= bindInput(*input, symbols);
  if (good)
    chooseReplacedBatch();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Checks that an output has one row per sample if the file declares one row
/// for each sample of the batch for which it was exported.
bool ModelBuilder::checkOutputBatch(const ValueInfoProto &output, Value value) {
  if (!replacedBatch || !hasShape(output) || getRank(output) == 0 ||
      getFixedSize(output, 0) != *replacedBatch || !isBatched(value))
    return true;
  ArrayRef<int64_t> shape = onnx_import::getShape(value);
  if (!shape.empty() && shape[0] == *batch)
    return true;
  reporter.invalid(value.getLoc(),
                   "output '" + output.name() + "' of shape " +
                       formatShape(shape) + " does not follow batch size " +
                       Twine(*batch) + "; the file was exported for " +
                       Twine(*replacedBatch));
  return false;
}

/// Checks that an output has the type that the file declares. If the batch size
/// is replaced, multiples of the file's batch size may differ.
bool ModelBuilder::checkOutputType(const ValueInfoProto &output, Value value) {
  const auto &declared = output.type().tensor_type();
  Type expected = getElementType(declared.elem_type(), module.getContext());
  Type got = onnx_import::getElementType(value);
  if (declared.elem_type() != 0 && expected != got) {
    std::string text;
    llvm::raw_string_ostream(text) << got;
    reporter.invalid(value.getLoc(),
                     "output '" + output.name() + "' is declared as " +
                         getElementTypeName(declared.elem_type()) +
                         ", but computed as " + text);
    return false;
  }
  if (!hasShape(output))
    return true;
  ArrayRef<int64_t> shape = onnx_import::getShape(value);
  SmallVector<int64_t> sizes;
  for (unsigned axis = 0; axis < getRank(output); ++axis)
    sizes.push_back(getFixedSize(output, axis));
  bool fits = shape.size() == sizes.size() &&
              llvm::all_of_zip(shape, sizes, [&](int64_t got, int64_t size) {
                return ShapedType::isDynamic(size) || got == size ||
                       (replacedBatch && size % *replacedBatch == 0);
              });
  if (fits)
    return true;
  std::string text;
  for (auto [axis, size] : llvm::enumerate(sizes))
    text += (axis ? ", " : "") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  reporter.invalid(value.getLoc(),
                   "output '" + output.name() + "' is declared as [" + text +
                       "], but computed as " + formatShape(shape));
  return false;
}

bool ModelBuilder::finishOutputs() {
  SmallVector<Value> results;
  SmallVector<Type> types;
  bool good = true;
  for (const ValueInfoProto &output : graph.proto->output()) {
    Value value = lookup(output.name());
    if (!value) {
      if (!reporter.hasErrors())
        reporter.invalid(reporter.getLocation(output.name()),
                         "output '" + output.name() + "' has no value");
      return false;
    }
    good &= checkOutputBatch(output, value) && checkOutputType(output, value);
    results.push_back(value);
    types.push_back(value.getType());
  }
  func::ReturnOp::create(builder, reporter.getFileLocation(), results);
  Block &body = forward.getBody().front();
  forward.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), types));
  // Each call that sets a single attribute would add another dictionary to the
  // context, so all are set at once.
  SmallVector<DictionaryAttr> inputAttributes, outputAttributes;
  for (const ValueInfoProto *input : graph.inputs) {
    if (options.constants.contains(input->name()))
      continue;
    auto renamed = options.argumentNames.find(input->name());
    bool isRenamed = renamed != options.argumentNames.end();
    StringRef name = isRenamed ? StringRef(renamed->second) : input->name();
    NamedAttrList attributes;
    attributes.set(HftaDialect::kNameAttrName, builder.getStringAttr(name));
    if (isRenamed && name != input->name())
      attributes.set("hfta.file_name", builder.getStringAttr(input->name()));
    inputAttributes.push_back(attributes.getDictionary(builder.getContext()));
  }
  for (const ValueInfoProto &output : graph.proto->output())
    outputAttributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        HftaDialect::kNameAttrName, builder.getStringAttr(output.name()))));
  forward.setAllArgAttrs(inputAttributes);
  forward.setAllResultAttrs(outputAttributes);
  return good;
}

} // namespace mlir::hfta::onnx_import
