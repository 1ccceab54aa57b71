//===- GraphWriter.cpp - An ONNX graph under construction -----------------===//

#include "GraphWriter.h"

#include "Handlers.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::hfta::onnx_export {

using ::onnx::AttributeProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

int64_t Tensor::getBatchAxis() const {
  for (auto [axis, scale] : llvm::enumerate(scales))
    if (scale)
      return axis;
  return -1;
}

int getElementTypeNumber(Type type) {
  if (type.isF32())
    return TensorProto::FLOAT;
  if (type.isF64())
    return TensorProto::DOUBLE;
  if (type.isF16())
    return TensorProto::FLOAT16;
  if (type.isBF16())
    return TensorProto::BFLOAT16;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.isInteger() ? type.getIntOrFloatBitWidth() : 0) {
  case 1:
    return TensorProto::BOOL;
  case 8:
    return isUnsigned ? TensorProto::UINT8 : TensorProto::INT8;
  case 16:
    return isUnsigned ? TensorProto::UINT16 : TensorProto::INT16;
  case 32:
    return isUnsigned ? TensorProto::UINT32 : TensorProto::INT32;
  case 64:
    return isUnsigned ? TensorProto::UINT64 : TensorProto::INT64;
  default:
    return TensorProto::UNDEFINED;
  }
}

static AttributeProto *addAttribute(NodeProto *node, StringRef name,
                                    AttributeProto::AttributeType type) {
  AttributeProto *attribute = node->add_attribute();
  attribute->set_name(name.str());
  attribute->set_type(type);
  return attribute;
}

void setInt(NodeProto *node, StringRef name, int64_t value) {
  addAttribute(node, name, AttributeProto::INT)->set_i(value);
}
void setFloat(NodeProto *node, StringRef name, double value) {
  addAttribute(node, name, AttributeProto::FLOAT)
      ->set_f(static_cast<float>(value));
}
void setInts(NodeProto *node, StringRef name, ArrayRef<int64_t> values) {
  AttributeProto *attribute = addAttribute(node, name, AttributeProto::INTS);
  for (int64_t value : values)
    attribute->add_ints(value);
}
void setString(NodeProto *node, StringRef name, StringRef value) {
  addAttribute(node, name, AttributeProto::STRING)->set_s(value.str());
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

GraphWriter::GraphWriter(func::FuncOp forward, ::onnx::GraphProto &graph,
                         bool symbolic)
    : forward(forward), graph(graph), symbolic(symbolic) {}

std::string UniqueNames::make(StringRef base) {
  std::string name = base.str();
  while (!insert(name))
    name = (base + "_" + Twine(++numbers[base])).str();
  return name;
}

std::string GraphWriter::makeName(StringRef base) {
  return names.make(base.empty() ? "value" : base);
}

static StringRef getLocationName(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (StringRef name = getLocationName(part); !name.empty())
        return name;
  return "";
}

std::string GraphWriter::makeResultName(Value result) {
  auto output = outputNames.find(result);
  if (output == outputNames.end())
    return makeName(getLocationName(result.getLoc()));
  std::string name = output->second;
  outputNames.erase(output);
  return name;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static NodeProto *appendNode(::onnx::GraphProto &graph, UniqueNames &nodeNames,
                             StringRef type, ArrayRef<std::string> inputs,
                             StringRef output, Location location) {
  NodeProto *node = graph.add_node();
  node->set_op_type(type.str());
  std::string base = getLocationName(location).str();
  if (base.empty())
    base = output.str();
  node->set_name(nodeNames.make(base));
  for (const std::string &input : inputs)
    node->add_input(input);
  node->add_output(output.str());
  return node;
}

NodeProto *GraphWriter::define(StringRef type, ArrayRef<std::string> inputs,
                               Value result, ArrayRef<int64_t> shape,
                               ArrayRef<Scale> scales) {
  // A model output has its full shape. A smaller result is expanded later, by
  // getFull(), so it doesn't get the output's name.
  bool isFull = shape == getShape(result);
  std::string name = isFull ? makeResultName(result)
                            : makeName(getLocationName(result.getLoc()));
  Tensor tensor;
  tensor.name = name;
  tensor.shape = SmallVector<int64_t>(shape);
  tensor.scales = SmallVector<Scale>(scales);
  set(result, tensor);
  return appendNode(graph, nodeNames, type, inputs, name, result.getLoc());
}

std::string GraphWriter::add(StringRef type, ArrayRef<std::string> inputs,
                             Location loc, NodeProto **node) {
  std::string name =
      makeName((getLocationName(loc) + "_" + StringRef(type).lower()).str());
  NodeProto *added = appendNode(graph, nodeNames, type, inputs, name, loc);
  if (node)
    *node = added;
  return name;
}

/// Appends the elements' bytes as they lie in memory; an i1 takes one byte.
template <typename Elements>
static void appendRaw(const Elements &elements, Type type, std::string &raw) {
  size_t bytes = std::max(1u, type.getIntOrFloatBitWidth() / 8);
  for (const auto &element : elements) {
    uint64_t bits;
    if constexpr (std::is_same_v<std::decay_t<decltype(element)>, APFloat>)
      bits = element.bitcastToAPInt().getZExtValue();
    else
      bits = element.getZExtValue();
    raw.append(reinterpret_cast<const char *>(&bits), bytes);
  }
}

std::string GraphWriter::addConstant(ElementsAttr elements,
                                     ArrayRef<int64_t> shape, Location loc) {
  NodeProto *node = nullptr;
  std::string name = add("Constant", {}, loc, &node);
  TensorProto *tensor =
      addAttribute(node, "value", AttributeProto::TENSOR)->mutable_t();
  Type type = cast<ShapedType>(elements.getType()).getElementType();
  tensor->set_data_type(getElementTypeNumber(type));
  int64_t count = 1;
  for (int64_t size : shape) {
    tensor->add_dims(size);
    count *= size;
  }
  std::string *raw = tensor->mutable_raw_data();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    raw->assign(data.data(), data.size());
  } else if (isa<FloatType>(type)) {
    appendRaw(cast<DenseElementsAttr>(elements).getValues<APFloat>(), type,
              *raw);
  } else {
    appendRaw(cast<DenseElementsAttr>(elements).getValues<APInt>(), type, *raw);
  }
  // If all rows are equal, `shape` may have fewer rows than the attribute.
  raw->resize(count * std::max(1u, type.getIntOrFloatBitWidth() / 8));
  return name;
}

std::string GraphWriter::addConstant(DenseElementsAttr elements, Location loc) {
  return addConstant(
      elements, cast<RankedTensorType>(elements.getType()).getShape(), loc);
}

std::string GraphWriter::addIntegers(ArrayRef<int64_t> values, Location loc) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    IntegerType::get(loc.getContext(), 64));
  return addConstant(DenseElementsAttr::get(type, values), loc);
}

std::string GraphWriter::addScalar(Type elementType, double value,
                                   Location loc) {
  Builder builder(loc.getContext());
  Attribute element;
  if (isa<FloatType>(elementType))
    element = builder.getFloatAttr(elementType, value);
  else
    element = builder.getIntegerAttr(elementType, static_cast<int64_t>(value));
  return addConstant(
      DenseElementsAttr::get(RankedTensorType::get({}, elementType), element),
      loc);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::string GraphWriter::addShape(ArrayRef<int64_t> shape,
                                  ArrayRef<Scale> scales, Location loc) {
  if (llvm::none_of(scales, [](Scale scale) { return bool(scale); }))
    return addIntegers(shape, loc);
  if (batchName.empty()) {
    NodeProto *node = nullptr;
    batchName = add("Shape", {get(forward.getArgument(0)).name}, loc, &node);
    setInt(node, "start", 0);
    setInt(node, "end", 1);
  }
  SmallVector<std::string> parts;
  for (auto [size, scale] : llvm::zip(shape, scales)) {
    if (!scale)
      parts.push_back(addIntegers({size}, loc));
    else if (scale.factor == 1)
      parts.push_back(batchName);
    else
      parts.push_back(
          add("Mul", {batchName, addIntegers({scale.factor}, loc)}, loc));
  }
  if (parts.size() == 1)
    return parts.front();
  NodeProto *node = nullptr;
  std::string name = add("Concat", parts, loc, &node);
  setInt(node, "axis", 0);
  return name;
}

Tensor GraphWriter::getFull(Value value) {
  Tensor tensor = get(value);
  ArrayRef<int64_t> shape = getShape(value);
  if (ArrayRef<int64_t>(tensor.shape) == shape)
    return tensor;
  SmallVector<Scale> scales(shape.size());
  size_t offset = shape.size() - tensor.shape.size();
  llvm::copy(tensor.scales, scales.begin() + offset);
  // If axis 0 is expanded to the batch size here, its size depends on it.
  bool stretchesFirst = offset > 0 || tensor.shape[0] != shape[0];
  if (symbolic && stretchesFirst && shape[0] == batch)
    scales[0].factor = 1;
  NodeProto *node = nullptr;
  Tensor full;
  full.name =
      add("Expand", {tensor.name, addShape(shape, scales, value.getLoc())},
          value.getLoc(), &node);
  full.shape = SmallVector<int64_t>(shape);
  full.scales = scales;
  set(value, full);
  return full;
}

/// Returns the scales of the axes after a reshape to `shape`, or nothing if the
/// reshape would divide the batch between several axes.
static std::optional<SmallVector<Scale>>
reshapeScales(const Tensor &tensor, ArrayRef<int64_t> shape, int64_t batch) {
  SmallVector<Scale> scales(shape.size());
  int64_t axis = tensor.getBatchAxis();
  if (axis < 0)
    return scales;
  // In row-major order, the elements form [outer, batch, inner], and a reshape
  // preserves that order.
  int64_t outer = tensor.scales[axis].outer;
  for (int64_t size : ArrayRef<int64_t>(tensor.shape).take_front(axis))
    outer *= size;
  int64_t prefix = 1;
  for (auto [target, size] : llvm::enumerate(shape)) {
    if (prefix == 0 || outer % prefix != 0)
      break;
    int64_t within = outer / prefix;
    bool isHere = prefix * size > outer || (batch == 1 && within == 1);
    if (isHere && size % (within * batch) == 0) {
      scales[target] = {size / batch, within};
      return scales;
    }
    if (isHere)
      break;
    prefix *= size;
  }
  return std::nullopt;
}

Tensor GraphWriter::reshape(const Tensor &tensor, ArrayRef<int64_t> shape,
                            Location loc, Value result) {
  std::optional<SmallVector<Scale>> scales =
      reshapeScales(tensor, shape, batch);
  if (!scales) {
    requireFixedBatch();
    scales = SmallVector<Scale>(shape.size());
  }
  SmallVector<int64_t> target(shape);
  for (auto [axis, scale] : llvm::enumerate(*scales))
    if (scale)
      target[axis] = -1;
  std::string operand = addIntegers(target, loc);
  Tensor reshaped;
  reshaped.shape = SmallVector<int64_t>(shape);
  reshaped.scales = *scales;
  reshaped.name = result ? makeResultName(result)
                         : makeName((getLocationName(loc) + "_reshape").str());
  NodeProto *node = appendNode(graph, nodeNames, "Reshape",
                               {tensor.name, operand}, reshaped.name, loc);
  if (llvm::is_contained(target, 0))
    setInt(node, "allowzero", 1);
  return reshaped;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void GraphWriter::findLive() {
  Operation *terminator = forward.getBody().front().getTerminator();
  live.insert(terminator->operand_begin(), terminator->operand_end());
  for (Operation &op : llvm::reverse(forward.getBody().front())) {
    if (llvm::none_of(op.getResults(),
                      [&](Value result) { return live.contains(result); }))
      continue;
    const ExportHandler *handler = findExport(&op);
    SmallVector<Value> used = handler && handler->getUsed
                                  ? handler->getUsed(&op)
                                  : SmallVector<Value>(op.getOperands());
    live.insert(used.begin(), used.end());
  }
}

static VariableOp getVariable(ReadOp read) {
  return SymbolTable::lookupNearestSymbolFrom<VariableOp>(
      read, read.getVariableAttr());
}

/// Reports every op that can't be exported. Returns true if there is none.
bool GraphWriter::checkOps() {
  bool good = true;
  for (Operation &op : forward.getBody().front()) {
    if (llvm::none_of(op.getResults(),
                      [&](Value result) { return isLive(result); }))
      continue;
    std::string reason;
    if (auto read = dyn_cast<ReadOp>(op)) {
      VariableOp variable = getVariable(read);
      if (!variable || variable.getRole() == Role::scalar)
        reason = "it reads a number that only training has";
    } else if (const ExportHandler *handler = findExport(&op)) {
      if (handler->check && succeeded(handler->check(&op, reason)))
        reason.clear();
    } else {
      reason = "it has no counterpart";
    }
    if (reason.empty())
      continue;
    op.emitError("'") << op.getName().getStringRef()
                      << "' cannot be exported to ONNX: " << reason;
    good = false;
  }
  return good;
}

void GraphWriter::describePort(::onnx::ValueInfoProto &port, StringRef name,
                               Type type, ArrayRef<Scale> scales) {
  port.set_name(name.str());
  auto tensor = cast<RankedTensorType>(type);
  auto *proto = port.mutable_type()->mutable_tensor_type();
  proto->set_elem_type(getElementTypeNumber(tensor.getElementType()));
  auto *shape = proto->mutable_shape();
  for (auto [size, scale] : llvm::zip(tensor.getShape(), scales)) {
    auto *axis = shape->add_dim();
    if (scale.factor == 1)
      axis->set_dim_param("batch");
    else if (!scale)
      axis->set_dim_value(size);
  }
}

static StringRef getPortName(DictionaryAttr attributes) {
  if (!attributes)
    return "";
  for (StringRef key :
       {StringRef("hfta.file_name"), StringRef(HftaDialect::kNameAttrName)})
    if (auto name = attributes.getAs<StringAttr>(key))
      return name.getValue();
  return "";
}

void GraphWriter::writeInputs() {
  for (auto [index, argument] : llvm::enumerate(forward.getArguments())) {
    std::string name = makeName(getPortName(forward.getArgAttrDict(index)));
    Tensor tensor;
    tensor.name = name;
    tensor.shape = SmallVector<int64_t>(getShape(argument));
    tensor.scales.assign(tensor.shape.size(), Scale());
    if (symbolic)
      tensor.scales[0].factor = 1;
    describePort(*graph.add_input(), name, argument.getType(), tensor.scales);
    set(argument, tensor);
  }
}

void GraphWriter::writeRead(Operation *op) {
  VariableOp variable = getVariable(cast<ReadOp>(op));
  Tensor tensor;
  tensor.name = variable.getOwnName();
  tensor.shape = SmallVector<int64_t>(variable.getTensorType().getShape());
  tensor.scales.assign(tensor.shape.size(), Scale());
  set(op->getResult(0), tensor);
  if (!llvm::is_contained(parameters, tensor.name))
    parameters.push_back(tensor.name);
}

void GraphWriter::writeOp(Operation *op) {
  bool isUsed = llvm::any_of(op->getResults(),
                             [&](Value result) { return isLive(result); });
  if (!isUsed || done.contains(op))
    return;
  if (isa<ReadOp>(op))
    writeRead(op);
  else
    findExport(op)->write(*this, op);
}

void GraphWriter::writeOutputs() {
  Operation *terminator = forward.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    std::string name = getPortName(forward.getResultAttrDict(index)).str();
    if (name.empty())
      name = "output_" + std::to_string(index);
    Tensor tensor = getFull(value);
    if (tensor.name != name)
      appendNode(graph, nodeNames, "Identity", {tensor.name}, name,
                 value.getLoc());
    describePort(*graph.add_output(), name, value.getType(), tensor.scales);
  }
}

LogicalResult GraphWriter::write() {
  findLive();
  if (!checkOps())
    return failure();
  auto model = forward->getParentOfType<ModelOp>();
  for (VariableOp variable : model.getBody().getOps<VariableOp>())
    names.insert(variable.getOwnName());
  Operation *terminator = forward.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    std::string name = getPortName(forward.getResultAttrDict(index)).str();
    if (!name.empty() && names.insert(name))
      outputNames.try_emplace(value, name);
  }
  for (Value argument : forward.getArguments()) {
    ArrayRef<int64_t> shape = getShape(argument);
    if (shape.empty() || (batch >= 0 && shape[0] != batch))
      requireFixedBatch();
    else
      batch = shape[0];
  }
  if (forward.getNumArguments() == 0 || batch < 1)
    requireFixedBatch();
  if (needsFixedBatch())
    return success();
  writeInputs();
  for (Operation &op : forward.getBody().front().without_terminator()) {
    writeOp(&op);
    if (needsFixedBatch())
      return success();
  }
  writeOutputs();
  removeUnused();
  return success();
}

/// Erases nodes that became unused when a bias was folded into its layer.
void GraphWriter::removeUnused() {
  llvm::StringSet<> used;
  for (const auto &output : graph.output())
    used.insert(output.name());
  std::vector<NodeProto> kept;
  for (int index = graph.node_size(); index-- > 0;) {
    const NodeProto &node = graph.node(index);
    if (llvm::none_of(node.output(), [&](const std::string &output) {
          return used.contains(output);
        }))
      continue;
    for (const std::string &input : node.input())
      used.insert(input);
    kept.push_back(node);
  }
  graph.clear_node();
  for (const NodeProto &node : llvm::reverse(kept))
    *graph.add_node() = node;
}

} // namespace mlir::hfta::onnx_export
