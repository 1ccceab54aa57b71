//===- Constants.cpp - Constants, types and copies ------------------------===//

#include "Building/Node.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"

#include "llvm/Support/Format.h"

namespace mlir::hfta::onnx_import {

static void importIdentity(Node &node) { node.setOutput(0, node.getInput(0)); }

/// Imports Hfta's own operator. Integers and constants have no gradient that it
/// could stop.
static void importStopGradient(Node &node) {
  Value input = node.getInput(0);
  bool hasGradient = input && isa<FloatType>(getElementType(input)) &&
                     !getConstantValue(input);
  node.setOutput(0, hasGradient ? node.create<StopGradientOp>(input) : input);
}

/// Creates a constant with the elements of a node's tensor. Returns null after
/// an error.
static Value makeConstant(Node &node, const ::onnx::TensorProto &proto) {
  TensorError error;
  ModelBuilder &model = node.getModel();
  // Tensors of nodes, unlike initializers, can't be stored in external files.
  FailureOr<FileTensor> tensor =
      proto.data_location() == ::onnx::TensorProto::EXTERNAL
          ? FailureOr<FileTensor>(failure())
          : readTensor(proto, "", model.getContext(), error);
  if (failed(tensor)) {
    if (error.message.empty())
      return node.unsupported("external data in a node is not supported");
    return error.unsupported ? node.unsupported(error.message)
                             : node.invalid(error.message);
  }
  constexpr int64_t kMostInline = 4096;
  return model.createConstant(
      makeElements(*tensor, node.getOutputName(0), kMostInline), node.getLoc());
}

static Value makeFloats(Node &node, ArrayRef<float> values, bool isScalar) {
  Builder &builder = node.getBuilder();
  SmallVector<int64_t> shape;
  if (!isScalar)
    shape.push_back(values.size());
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return node.getModel().createConstant(DenseElementsAttr::get(type, values),
                                        node.getLoc());
}

static void importConstant(Node &node) {
  Value value;
  if (const ::onnx::TensorProto *tensor = node.getTensor("value"))
    value = makeConstant(node, *tensor);
  else if (node.hasAttribute("value_float"))
    value = makeFloats(
        node, {static_cast<float>(node.getFloat("value_float", 0))}, true);
  else if (auto floats = node.getFloats("value_floats"))
    value = makeFloats(node, *floats, false);
  else if (node.hasAttribute("value_int"))
    value = node.reshape(node.integers({node.getInt("value_int", 0)}), {});
  else if (auto integers = node.getInts("value_ints"))
    value = node.integers(*integers);
  else
    node.unsupported("only tensors, numbers and lists of numbers are "
                     "supported constants");
  node.setOutput(0, value);
}

static void importConstantOfShape(Node &node) {
  std::optional<SmallVector<int64_t>> shape = node.getIntegers(0, "shape");
  if (!shape) {
    node.getInput(0);
    return;
  }
  if (!countElements(*shape)) {
    node.invalid("cannot have shape " + formatShape(*shape));
    return;
  }
  Value value;
  if (const ::onnx::TensorProto *tensor = node.getTensor("value"))
    value = makeConstant(node, *tensor);
  else
    value = node.splat({1}, node.getBuilder().getF32Type(), 0);
  if (!value)
    return;
  if (getType(value).getNumElements() != 1) {
    node.invalid("attribute 'value' must hold one element");
    return;
  }
  node.setOutput(0, node.broadcast(node.reshape(value, {}), *shape));
}

/// Returns the type with this number in ONNX's enumeration
/// TensorProto.DataType; null after an error.
static Type readElementType(Node &node, int64_t number) {
  Type type = getElementType(number, node.getBuilder().getContext());
  if (type)
    return type;
  node.unsupported("element type " + getElementTypeName(number) +
                   " is not supported");
  return Type();
}

/// Casts `value` to `type`. Reports casts to unsigned integers, which have no
/// arithmetic.
static Value castOrReject(Node &node, Value value, Type type) {
  if (value && type != getElementType(value) && type.isUnsignedInteger())
    return node.unsupported("casts to unsigned integers are not "
                            "supported");
  return node.cast(value, type);
}

static void castTo(Node &node, int64_t number) {
  Value input = node.getInput(0);
  if (!input || node.failed())
    return;
  Type type = readElementType(node, number);
  if (!type)
    return;
  node.setOutput(0, castOrReject(node, input, type));
}

static void importCast(Node &node) {
  if (!node.hasAttribute("to")) {
    node.invalid("attribute 'to' is missing");
    return;
  }
  castTo(node, node.getInt("to", 0));
}

static void importCastLike(Node &node) {
  Value input = node.getInput(0), like = node.getInput(1);
  if (input && like)
    node.setOutput(0, castOrReject(node, input, getElementType(like)));
}

static void importRange(Node &node) {
  Value start = node.getInput(0), limit = node.getInput(1);
  Value step = node.getInput(2);
  if (!node.requireArithmetic(start) || !limit || !step)
    return;
  double first = node.getNumber(0, "start").value_or(0);
  double last = node.getNumber(1, "limit").value_or(0);
  double width = node.getNumber(2, "delta").value_or(1);
  double count = std::ceil((last - first) / width);
  if (node.failed())
    return;
  if (width == 0 || !(count < 1e9)) {
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::format("%g to %g in steps of %g", first, last, width);
    node.invalid("range has too many elements: " + text);
    return;
  }
  int64_t size = static_cast<int64_t>(std::max(count, 0.0));
  Type type = getElementType(start);
  // Values of 16 bits are summed in the type that attribute 'stash_type' gives.
  Type sumType =
      type.isF16() || type.isBF16() ? node.getBuilder().getF32Type() : type;
  if (sumType != type &&
      node.getInt("stash_type", ::onnx::TensorProto::FLOAT) !=
          ::onnx::TensorProto::FLOAT) {
    node.unsupported("a 'stash_type' other than float is not supported");
    return;
  }
  auto repeat = [&](Value value) {
    return node.broadcast(node.reshape(node.cast(value, sumType), {}), {size});
  };
  Value number = node.create<IotaOp>(ArrayRef<int64_t>(size), 0, sumType);
  Value sum = node.add(node.mul(number, repeat(step)), repeat(start));
  node.setOutput(0, node.cast(sum, type));
}

static void importEyeLike(Node &node) {
  Value input = node.getInput(0);
  if (!input)
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t diagonal = node.getInt("k", 0);
  Type type = node.hasAttribute("dtype")
                  ? readElementType(node, node.getInt("dtype", 0))
                  : getElementType(input);
  if (!type || node.failed())
    return;
  if (shape.size() != 2) {
    node.invalid("input of shape " + formatShape(shape) + " is no matrix");
    return;
  }
  // Diagonals further out have no elements, but adding their number to an index
  // could overflow.
  diagonal = std::clamp(diagonal, -shape[0], shape[1]);
  Type index = node.getBuilder().getI64Type();
  Value row = node.create<IotaOp>(ArrayRef<int64_t>(shape), 0, index);
  Value column = node.create<IotaOp>(ArrayRef<int64_t>(shape), 1, index);
  Value hit =
      node.compare(ComparePredicate::equal,
                   node.add(row, node.splatLike(row, diagonal)), column);
  node.setOutput(0, castOrReject(node, hit, type));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getConstantHandlers() {
  static const OpHandler handlers[] = {
      {"Cast", 6, importCast},
      {"CastLike", 15, importCastLike, 0, 2},
      {"Constant", 1, importConstant, 0, 0},
      {"ConstantOfShape", 9, importConstantOfShape, 0b1},
      {"EyeLike", 9, importEyeLike},
      {"Identity", 1, importIdentity},
      {"Range", 11, importRange, 0b111, 3},
  };
  return handlers;
}

llvm::ArrayRef<OpHandler> getOwnHandlers() {
  static const OpHandler handlers[] = {
      {kOnnxStopGradient, kOnnxDomainVersion, importStopGradient},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
