//===- Node.cpp - The interface of handlers to a node ---------------------===//

#include "Building/Node.h"

#include "Hfta/Dialect/Hfta/Job/ExactNumbers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace mlir::hfta::onnx_import {

using ::onnx::AttributeProto;

int64_t toInteger(double value) {
  using Limits = std::numeric_limits<int64_t>;
  if (std::isnan(value))
    return 0;
  if (value >= 0x1p63)
    return Limits::max();
  return value < -0x1p63 ? Limits::min() : static_cast<int64_t>(value);
}

bool isInTrainingMode(const ::onnx::NodeProto &norm, int64_t opset) {
  if (opset < 14)
    return llvm::any_of(
        llvm::drop_begin(norm.output()),
        [](const std::string &output) { return !output.empty(); });
  return llvm::any_of(norm.attribute(), [](const AttributeProto &attribute) {
    return attribute.name() == "training_mode" && attribute.i() != 0;
  });
}

Node::Node(ModelBuilder &model, const ::onnx::NodeProto &proto)
    : model(model), proto(proto),
      location(model.getReporter().getLocation(Reporter::getNodeName(proto))) {}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

Value Node::invalid(const Twine &message) {
  if (!hasFailed)
    model.getReporter().invalid(proto, message);
  hasFailed = true;
  return Value();
}

Value Node::unsupported(const Twine &message) {
  if (!hasFailed)
    model.getReporter().unsupported(proto, message);
  hasFailed = true;
  return Value();
}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

bool Node::hasInput(unsigned index) const {
  return index < getNumInputs() && !proto.input(index).empty();
}

StringRef Node::getInputName(unsigned index) const {
  return hasInput(index) ? StringRef(proto.input(index)) : StringRef();
}

Value Node::getOptionalInput(unsigned index) {
  return hasInput(index) ? model.lookup(proto.input(index)) : Value();
}

Value Node::getInput(unsigned index) {
  if (!hasInput(index))
    return invalid("operand " + Twine(index) + " is missing");
  return model.lookup(proto.input(index));
}

SmallVector<Value> Node::getInputs() {
  SmallVector<Value> inputs;
  for (unsigned index = 0; index < getNumInputs(); ++index)
    inputs.push_back(getInput(index));
  if (inputs.empty())
    invalid("has no operands");
  return inputs;
}

std::optional<DenseElementsAttr> Node::getConstant(unsigned index,
                                                   StringRef what) {
  Value value = getOptionalInput(index);
  if (!value)
    return std::nullopt;
  std::optional<DenseElementsAttr> constant = getConstantValue(value);
  if (!constant)
    unsupported("its " + what + " ('" + getInputName(index) +
                "') must be known at compile time: bind the inputs that it "
                "depends on with --constant");
  return constant;
}

std::optional<SmallVector<int64_t>> Node::getIntegers(unsigned index,
                                                      StringRef what) {
  std::optional<DenseElementsAttr> constant = getConstant(index, what);
  if (!constant)
    return std::nullopt;
  auto type = mlir::cast<RankedTensorType>(constant->getType());
  if (!type.getElementType().isSignlessInteger() || type.getRank() > 1) {
    invalid("its " + what + " must be a list of integers");
    return std::nullopt;
  }
  SmallVector<int64_t> integers;
  for (const APInt &integer : constant->getValues<APInt>())
    integers.push_back(integer.getSExtValue());
  return integers;
}

std::optional<double> Node::getNumber(unsigned index, StringRef what) {
  std::optional<DenseElementsAttr> constant = getConstant(index, what);
  if (!constant)
    return std::nullopt;
  if (constant->getNumElements() != 1) {
    invalid("its " + what + " must be one number");
    return std::nullopt;
  }
  Type elementType = constant->getElementType();
  if (isa<FloatType>(elementType)) {
    APFloat number = *constant->value_begin<APFloat>();
    bool losesInfo = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.convertToDouble();
  }
  const APInt number = *constant->value_begin<APInt>();
  return elementType.isUnsignedInteger() || elementType.isInteger(1)
             ? static_cast<double>(number.getZExtValue())
             : static_cast<double>(number.getSExtValue());
}

StringRef Node::getOutputName(unsigned index) const {
  return index < getNumOutputs() ? StringRef(proto.output(index)) : StringRef();
}

bool Node::isOutputUsed(unsigned index) const {
  return !getOutputName(index).empty() && model.isUsed(getOutputName(index));
}

void Node::setOutput(unsigned index, Value value) {
  if (value && !hasFailed && !getOutputName(index).empty())
    model.define(getOutputName(index), value);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *Node::findAttribute(StringRef name) const {
  for (const AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

const AttributeProto *Node::findAttribute(StringRef name, int type,
                                          StringRef typeName) {
  const AttributeProto *attribute = findAttribute(name);
  if (attribute && !attribute->ref_attr_name().empty()) {
    invalid("attribute '" + name + "' stands for '" +
            attribute->ref_attr_name() +
            "' of a function, but the node is in none");
    return nullptr;
  }
  if (!attribute || attribute->type() == type)
    return attribute;
  invalid("attribute '" + name + "' must be " + typeName);
  return nullptr;
}

bool Node::hasAttribute(StringRef name) const {
  return findAttribute(name) != nullptr;
}

const ::onnx::GraphProto *Node::getGraph(StringRef name) {
  const AttributeProto *attribute =
      findAttribute(name, AttributeProto::GRAPH, "a graph");
  if (!attribute && !hasFailed)
    invalid("attribute '" + name + "' is missing");
  return attribute ? &attribute->g() : nullptr;
}

int64_t Node::getInt(StringRef name, int64_t fallback) {
  const AttributeProto *attribute =
      findAttribute(name, AttributeProto::INT, "an integer");
  return attribute ? attribute->i() : fallback;
}

/// Returns, in f64, the shortest decimal number that rounds to `value`. The
/// file's author most likely wrote this number; so models in f64 don't inherit
/// f32's rounding.
static double widen(float value) {
  for (int digits = 6; digits <= 9; ++digits) {
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::format("%.*g", digits, static_cast<double>(value));
    double wide = std::strtod(text.c_str(), nullptr);
    if (static_cast<float>(wide) == value)
      return wide;
  }
  return value;
}

double Node::getFloat(StringRef name, double fallback) {
  const AttributeProto *attribute =
      findAttribute(name, AttributeProto::FLOAT, "a number");
  return attribute ? widen(attribute->f()) : fallback;
}

double Node::getNonNegative(StringRef name, double fallback) {
  double number = getFloat(name, fallback);
  if (number >= 0 && std::isfinite(number))
    return number;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  invalid("attribute '" + name + "' must be a number of at least 0, got " +
          text);
  return fallback;
}

std::string Node::getString(StringRef name, StringRef fallback) {
  const AttributeProto *attribute =
      findAttribute(name, AttributeProto::STRING, "a string");
  return attribute ? attribute->s() : fallback.str();
}

std::optional<SmallVector<int64_t>> Node::getInts(StringRef name) {
  const AttributeProto *attribute =
      findAttribute(name, AttributeProto::INTS, "a list of integers");
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

std::optional<SmallVector<float>> Node::getFloats(StringRef name) {
  const AttributeProto *attribute =
      findAttribute(name, AttributeProto::FLOATS, "a list of numbers");
  if (!attribute)
    return std::nullopt;
  return SmallVector<float>(attribute->floats().begin(),
                            attribute->floats().end());
}

const ::onnx::TensorProto *Node::getTensor(StringRef name) {
  const AttributeProto *attribute =
      findAttribute(name, AttributeProto::TENSOR, "a tensor");
  return attribute ? &attribute->t() : nullptr;
}

int64_t Node::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  invalid("axis " + Twine(axis) + " is outside of a tensor of rank " +
          Twine(rank));
  return 0;
}

SmallVector<int64_t> Node::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> normalized;
  for (int64_t axis : axes)
    normalized.push_back(normalizeAxis(axis, rank));
  llvm::sort(normalized);
  if (llvm::adjacent_find(normalized) != normalized.end())
    invalid("axes " + formatShape(axes) + " name an axis twice");
  return normalized;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Returns the reason why a result can't have this type; empty if it can.
static std::string checkResultType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.hasStaticShape() && countElements(tensor.getShape()))
    return "";
  return "its result would be too large" +
         (tensor ? ": " + formatShape(tensor.getShape()) : "");
}

SmallVector<Value> Node::finish(
    OperationState &state,
    llvm::function_ref<LogicalResult(OperationState &, SmallVectorImpl<Type> &)>
        inferTypes) {
  std::string message;
  Operation *op = nullptr;
  {
    ScopedDiagnosticHandler handler(getBuilder().getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      if (message.empty())
                                        message = diagnostic.str();
                                      return success();
                                    });
    SmallVector<Type> types;
    if (succeeded(inferTypes(state, types))) {
      for (Type type : types)
        if (message.empty())
          message = checkResultType(type);
      if (message.empty()) {
        state.addTypes(types);
        op = getBuilder().create(state);
        if (mlir::failed(op->getName().verifyInvariants(op))) {
          op->erase();
          op = nullptr;
        }
      }
    }
  }
  if (!op) {
    invalid(message.empty() ? "cannot be built" : message);
    return {};
  }
  if (std::optional<EvaluatedConstant> folded = model.evaluate(op)) {
    op->erase();
    return {model.createConstant(folded->elements, location, folded->exact)};
  }
  if (llvm::any_of(op->getOperands(),
                   [&](Value value) { return model.isBatched(value); }))
    for (Value result : op->getResults())
      model.setBatched(result);
  return SmallVector<Value>(op->getResults());
}

Value Node::splat(ArrayRef<int64_t> shape, Type elementType, double value) {
  if (hasFailed)
    return Value();
  auto type = RankedTensorType::get(shape, elementType);
  Builder &builder = getBuilder();
  Attribute element;
  if (isa<FloatType>(elementType))
    element = builder.getFloatAttr(elementType, value);
  else if (elementType.isSignlessInteger())
    element = builder.getIntegerAttr(
        elementType, APInt(elementType.getIntOrFloatBitWidth(),
                           static_cast<uint64_t>(toInteger(value)),
                           /*isSigned=*/true, /*implicitTrunc=*/true));
  else
    return unsupported("element type is not supported by this op");
  DenseElementsAttr exact;
  if (isa<FloatType>(elementType))
    exact = DenseElementsAttr::get(
        RankedTensorType::get(shape, builder.getF64Type()), value);
  return model.createConstant(DenseElementsAttr::get(type, element), location,
                              exact);
}

Value Node::splatLike(Value like, double value) {
  return like ? splat(getShape(like), onnx_import::getElementType(like), value)
              : Value();
}

Value Node::integers(ArrayRef<int64_t> values) {
  if (hasFailed)
    return Value();
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    getBuilder().getI64Type());
  return model.createConstant(DenseElementsAttr::get(type, values), location);
}

Value Node::cast(Value value, Type elementType) {
  if (!value || onnx_import::getElementType(value) == elementType)
    return value;
  return create<CastOp>(value, elementType);
}

Value Node::reshape(Value value, ArrayRef<int64_t> shape) {
  if (!value || onnx_import::getShape(value) == shape)
    return value;
  return create<ReshapeOp>(value, shape);
}

Value Node::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (!value ||
      llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  return create<TransposeOp>(value, permutation);
}

Value Node::repeatSplat(DenseElementsAttr splat, ArrayRef<int64_t> shape,
                        ElementsAttr exact) {
  auto resize = [&](DenseElementsAttr elements) {
    return elements.resizeSplat(
        RankedTensorType::get(shape, elements.getElementType()));
  };
  // The exact numbers may differ from each other, although they are rounded to
  // the same number. Then they are dropped.
  auto exactSplat = dyn_cast_or_null<SplatElementsAttr>(exact);
  return model.createConstant(resize(splat), location,
                              exactSplat ? resize(exactSplat)
                                         : DenseElementsAttr());
}

Value Node::broadcastAlong(Value value, ArrayRef<int64_t> shape,
                           ArrayRef<int64_t> dimensions) {
  if (!value || hasFailed || onnx_import::getShape(value) == shape)
    return value;
  std::optional<DenseElementsAttr> constant = getConstantValue(value);
  if (constant && constant->isSplat() && countElements(shape))
    return repeatSplat(*constant, shape,
                       getExactElements(value.getDefiningOp()));
  return create<BroadcastOp>(value, shape, dimensions);
}

Value Node::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (!value || hasFailed)
    return Value();
  int64_t rank = getType(value).getRank();
  int64_t missing = static_cast<int64_t>(shape.size()) - rank;
  if (missing < 0)
    return invalid("cannot broadcast shape " + formatShape(getShape(value)) +
                   " to " + formatShape(shape));
  return broadcastAlong(
      value, shape,
      llvm::to_vector(llvm::seq<int64_t>(missing, missing + rank)));
}

/// Returns the shape to which ONNX broadcasts the values together, or nothing
/// if there is none.
static std::optional<SmallVector<int64_t>> joinShapes(ArrayRef<Value> values) {
  SmallVector<int64_t> joined;
  for (Value value : values) {
    ArrayRef<int64_t> shape = getShape(value);
    if (shape.size() > joined.size())
      joined.insert(joined.begin(), shape.size() - joined.size(), 1);
    size_t offset = joined.size() - shape.size();
    for (auto [axis, size] : llvm::enumerate(shape)) {
      int64_t &common = joined[offset + axis];
      if (common == 1)
        common = size;
      else if (size != 1 && size != common)
        return std::nullopt;
    }
  }
  return joined;
}

SmallVector<Value> Node::broadcastTogether(ArrayRef<Value> values) {
  if (hasFailed || llvm::is_contained(values, Value()))
    return {};
  std::optional<SmallVector<int64_t>> shape = joinShapes(values);
  if (!shape) {
    std::string shapes;
    for (Value value : values)
      shapes += (shapes.empty() ? "" : " and ") + formatShape(getShape(value));
    std::string hint;
    if (std::optional<int64_t> replaced = model.getReplacedBatch())
      hint =
          "; the file was exported for batch size " + std::to_string(*replaced);
    invalid("cannot broadcast shapes " + shapes + " together" + hint);
    return {};
  }
  SmallVector<Value> results;
  for (Value value : values)
    results.push_back(broadcast(value, *shape));
  return llvm::is_contained(results, Value()) ? SmallVector<Value>() : results;
}

Value Node::reduce(ReduceKind kind, Value value, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return value;
  return create<ReduceOp>(kind, value, axes, TypeAttr());
}

bool Node::requireArithmetic(Value value) {
  if (!value || hasFailed)
    return false;
  Type elementType = onnx_import::getElementType(value);
  if (isa<FloatType>(elementType) ||
      (elementType.isSignlessInteger() && !elementType.isInteger(1)))
    return true;
  std::string name;
  llvm::raw_string_ostream(name) << elementType;
  unsupported("element type " + name + " is not supported");
  return false;
}

bool Node::requireFloat(Value value) {
  if (!value || hasFailed)
    return false;
  if (isa<FloatType>(onnx_import::getElementType(value)))
    return true;
  std::string name;
  llvm::raw_string_ostream(name) << onnx_import::getElementType(value);
  unsupported("element type " + name + " is not supported");
  return false;
}

} // namespace mlir::hfta::onnx_import
