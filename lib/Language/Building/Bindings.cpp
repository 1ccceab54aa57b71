//===- Bindings.cpp - Binds fields to a model's inputs --------------------===//

#include "Building/JobBuilder.h"
#include "Hfta/Language/FitSample.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

const FieldInfo *JobBuilder::findField(const NamedRange &name) {
  std::vector<llvm::StringRef> known;
  for (const FieldInfo &field : info.fields) {
    if (field.name == name.name)
      return &field;
    known.emplace_back(field.name);
  }
  diagnostics.error(name.range,
                    "the data block has no field '" + name.name + "'",
                    suggest(name.name, known, "fields are"));
  return nullptr;
}

llvm::SMRange JobBuilder::getBindingRange(size_t index) const {
  if (info.boundFields && index < info.boundFields->size())
    return (*info.boundFields)[index].range;
  return info.modelRange;
}

//===----------------------------------------------------------------------===//
// Fields and inputs, by name
//===----------------------------------------------------------------------===//

static std::string listPorts(ArrayRef<Port> ports) {
  std::string text;
  llvm::interleave(
      ports, [&](const Port &port) { text += port.name; },
      [&] { text += ", "; });
  return text;
}

bool JobBuilder::bindNamedFields(ArrayRef<Port> ports) {
  bool ok = true;
  for (const NamedRange &name : *info.boundFields) {
    boundFields.push_back(findField(name));
    ok &= boundFields.back() != nullptr;
  }
  if (boundFields.size() == ports.size())
    return ok;
  diagnostics.error(
      info.modelRange,
      "model '" + info.model->name.name + "' has " + Twine(ports.size()) +
          (ports.size() == 1 ? " input, got " : " inputs, got ") +
          Twine(boundFields.size()),
      ports.empty() ? Twine() : "its inputs are " + listPorts(ports));
  return false;
}

/// Binds fields by name if every input has a field of the same name. Otherwise
/// binds the first fields to the inputs in order.
bool JobBuilder::bindImplicitFields(ArrayRef<Port> ports) {
  auto find = [&](StringRef name) {
    return llvm::find_if(info.fields, [&](const FieldInfo &field) {
      return field.name == name;
    });
  };
  bool byName = llvm::all_of(ports, [&](const Port &port) {
    return find(port.name) != info.fields.end();
  });
  if (!byName && ports.size() > info.fields.size()) {
    diagnostics.error(info.modelRange,
                      "model '" + info.model->name.name + "' has " +
                          Twine(ports.size()) + " inputs, but the data " +
                          Twine(info.fields.size()) + " fields",
                      "its inputs are " + listPorts(ports));
    return false;
  }
  for (const auto &[index, port] : llvm::enumerate(ports))
    boundFields.push_back(byName ? &*find(port.name) : &info.fields[index]);
  return true;
}

/// Checks a size that the job gives for the batch axis. It must be equal to the
/// batch size, which the model can't change.
bool JobBuilder::checkBatchDim(StringRef name, int64_t size) {
  if (size == info.job.batch)
    return true;
  diagnostics.error(info.dimRanges[name],
                    "axis '" + name +
                        "' counts the samples of a batch, which "
                        "are " +
                        Twine(info.job.batch) + ", not " + Twine(size),
                    "'batch' in the data clause sets their number");
  return false;
}

bool JobBuilder::checkDims(ArrayRef<Port> ports) {
  llvm::StringSet<> symbols, batches;
  for (const Port &port : ports)
    batches.insert(port.batch);
  for (const Port &port : ports)
    for (const OnnxAxis &axis : port.axes)
      if (!axis.symbol.empty())
        symbols.insert(axis.symbol);
  std::vector<llvm::StringRef> known;
  for (const auto &symbol : symbols)
    known.push_back(symbol.getKey());
  llvm::sort(known);
  bool ok = true;
  for (const auto &dim : info.dims) {
    if (symbols.contains(dim.getKey())) {
      sizes[dim.getKey()] = dim.getValue();
      continue;
    }
    if (batches.contains(dim.getKey())) {
      ok &= checkBatchDim(dim.getKey(), dim.getValue());
      continue;
    }
    ok = false;
    diagnostics.error(info.dimRanges[dim.getKey()],
                      "no input has an open axis called '" + dim.getKey() + "'",
                      known.empty()
                          ? "axes are open where an input's type names them"
                          : suggest(dim.getKey(), known, "such axes are"));
  }
  return ok;
}

/// Reports inputs that are scalars, and so can't take one sample after another.
bool JobBuilder::refuseScalars(ArrayRef<Port> ports) {
  bool ok = true;
  for (const Port &port : ports) {
    if (!port.isScalar)
      continue;
    diagnostics.error(
        info.modelRange,
        "input '" + port.name + "' is a scalar and so has no batch axis",
        "bind it to a file: --constant=" + port.name + "=FILE.npy");
    ok = false;
  }
  return ok;
}

bool JobBuilder::bindFields(ArrayRef<Port> ports) {
  boundFields.clear();
  sizes.clear();
  if (!refuseScalars(ports))
    return false;
  bool ok =
      info.boundFields ? bindNamedFields(ports) : bindImplicitFields(ports);
  ok &= checkDims(ports);
  if (!ok)
    return false;
  for (const auto &[index, port] : llvm::enumerate(ports)) {
    const FieldInfo &field = *boundFields[index];
    if (isa_and_present<FloatType>(port.elementType) ||
        !field.isPreparedAsFloat())
      continue;
    ok = false;
    diagnostics.error(getBindingRange(index),
                      "input '" + port.name +
                          "' takes whole numbers, but field '" + field.name +
                          "' holds floats",
                      "leave its arithmetic out, or declare the input as f32");
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string printPort(const Port &port) {
  std::string text = "[";
  llvm::interleave(
      port.axes,
      [&](const OnnxAxis &axis) {
        text += ShapedType::isDynamic(axis.size) ? axis.symbol
                                                 : std::to_string(axis.size);
      },
      [&] { text += ", "; });
  return text + "]";
}

std::optional<llvm::SmallVector<int64_t>>
hfta::fitSample(ArrayRef<OnnxAxis> axes, ArrayRef<int64_t> shape,
                llvm::StringMap<int64_t> &sizes) {
  ArrayRef<int64_t> sample = shape;
  SmallVector<int64_t> result;
  for (const OnnxAxis &axis : axes) {
    int64_t size = axis.size;
    if (auto known = sizes.find(axis.symbol);
        ShapedType::isDynamic(size) && known != sizes.end())
      size = known->second;
    size_t left = axes.size() - result.size();
    // An axis of unknown size takes a 1 of the sample only if enough axes
    // remain for the sample's others.
    while (!sample.empty() && sample.front() == 1 && size != 1 &&
           (!ShapedType::isDynamic(size) || sample.size() > left))
      sample = sample.drop_front();
    if (ShapedType::isDynamic(size)) {
      size = sample.empty() ? 1 : sample.front();
      sizes[axis.symbol] = size;
    }
    result.push_back(size);
    if (!sample.empty() && sample.front() == size)
      sample = sample.drop_front();
    else if (size != 1)
      break;
  }
  bool fits =
      result.size() == axes.size() &&
      llvm::all_of(sample, [](int64_t size) { return size == 1; }) &&
      ShapedType::getNumElements(result) == ShapedType::getNumElements(shape);
  if (!fits)
    return std::nullopt;
  return result;
}

/// As fitSample, for an input. An input without a shape takes any. Reports an
/// error if the shapes don't match. `what` names the samples in messages.
std::optional<SmallVector<int64_t>>
JobBuilder::fitShape(const Port &port, const Twine &what,
                     ArrayRef<int64_t> shape, llvm::SMRange range) {
  if (!port.hasShape)
    return SmallVector<int64_t>(shape);
  std::optional<SmallVector<int64_t>> result =
      fitSample(port.axes, shape, sizes);
  if (!result)
    diagnostics.error(range,
                      what + " has samples of shape " + printShape(shape) +
                          ", but input '" + port.name + "' takes " +
                          printPort(port),
                      "shapes may differ only in axes of length 1");
  return result;
}

//===----------------------------------------------------------------------===//
// Inputs of a model in the language
//===----------------------------------------------------------------------===//

std::vector<Port>
JobBuilder::getLanguagePorts(const ast::ModelDeclaration &declaration) {
  std::vector<Port> ports;
  std::string batch;
  for (const ast::Binding &input : declaration.inputs) {
    if (!input.type)
      continue;
    const ast::TypeSpec &type = *input.type;
    Port port;
    port.name = input.name.name;
    StringRef element = type.element.name;
    if (llvm::is_contained(getFloatTypeNames(), element))
      port.elementType = floatType;
    else if (element == "i64" || element == "i32")
      port.elementType = IntegerType::get(context, element == "i64" ? 64 : 32);
    else
      diagnostics.error(type.element.range,
                        "an input of a model is f32, i32 or i64, got '" +
                            element + "'",
                        "data of other types is converted");
    if (type.dimensions.empty() || !type.dimensions.front().name) {
      diagnostics.error(type.dimensions.empty() ? type.range
                                                : type.dimensions.front().range,
                        "the first axis of an input is the batch, by name",
                        "for example f32[batch, 28, 28]");
      continue;
    }
    const std::string &name = type.dimensions.front().name.name;
    if (batch.empty())
      batch = name;
    if (name != batch)
      diagnostics.error(type.dimensions.front().range,
                        "the batch is called '" + name + "' and '" + batch +
                            "'",
                        "use one name for the batch axis of all inputs");
    port.batch = name;
    for (const ast::Dimension &dimension : llvm::drop_begin(type.dimensions)) {
      OnnxAxis axis;
      axis.symbol = dimension.name.name;
      if (!dimension.name)
        axis.size = dimension.size;
      else if (axis.symbol == batch)
        diagnostics.error(dimension.range,
                          "only the first axis may be the batch",
                          "give the axis another name");
      port.axes.push_back(axis);
    }
    ports.push_back(std::move(port));
  }
  if (ports.empty() && !diagnostics.hasErrors())
    diagnostics.error(declaration.name.range,
                      "model '" + declaration.name.name + "' has no input",
                      "for example " + declaration.name.name +
                          "(image: f32[batch, 28, 28])");
  return ports;
}
