//===- LayerBuiltins.cpp - Linear, convolution, embedding, dropout --------===//

#include "Building/BodyBuilder.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr int64_t kMaxSize = INT32_MAX;

/// Returns the initial values of weights and biases, as in PyTorch: uniform
/// between -1 / sqrt(fanIn) and 1 / sqrt(fanIn), where fanIn is the number of
/// inputs of a unit.
static Attribute getLayerInitial(BodyBuilder &body, int64_t fanIn) {
  return body.getUniform(1.0 / std::sqrt(static_cast<double>(fanIn)));
}

/// Adds a bias, which has one element for each index along `axis`, to x.
static Value addBias(BodyBuilder &body, BuiltinCall &call, Value x,
                     int64_t axis, int64_t fanIn) {
  ArrayRef<int64_t> shape = getShape(x);
  Value bias = body.makeParameter(call.getLayerName(), "bias", shape[axis],
                                  getLayerInitial(body, fanIn));
  TensorBuilder &tensors = body.getTensors();
  return tensors.binary<AddOp>(x, tensors.broadcast(bias, shape, axis));
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Builds x · wᵀ, a contraction over the last axes of x and w.
static Value contractLast(TensorBuilder &tensors, Value x, Value weight) {
  MLIRContext *context = tensors.getBuilder().getContext();
  int64_t rank = getTensorType(x).getRank();
  // The iteration space consists of the leading axes of x, the outputs, and the
  // contracted axis.
  SmallVector<AffineExpr> leading;
  for (int64_t i = 0; i + 1 < rank; ++i)
    leading.push_back(getAffineDimExpr(i, context));
  AffineExpr outputs = getAffineDimExpr(rank - 1, context);
  AffineExpr summed = getAffineDimExpr(rank, context);
  SmallVector<AffineExpr> lhs(leading), result(leading);
  lhs.push_back(summed);
  result.push_back(outputs);
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank + 1, 0, lhs, context),
      AffineMap::get(rank + 1, 0, {outputs, summed}, context),
      AffineMap::get(rank + 1, 0, result, context)};
  return tensors.create<ContractOp>(
      x, weight, tensors.getBuilder().getAffineMapArrayAttr(maps), TypeAttr());
}

static Value buildLinear(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 2);
  int64_t outputs = call.getInteger("n", 1, 1, kMaxSize);
  bool hasBias = call.getBool("bias", true);
  if (call.hasFailed())
    return nullptr;
  int64_t inputs = getShape(x).back();
  SmallVector<int64_t> shape(getShape(x));
  shape.back() = outputs;
  if (!body.checkSize({outputs, inputs}, call.getRange()) ||
      !body.checkSize(shape, call.getRange()))
    return nullptr;
  Value weight =
      body.makeParameter(call.getLayerName(), "weight", {outputs, inputs},
                         getLayerInitial(body, inputs));
  Value result = contractLast(body.getTensors(), x, weight);
  if (!hasBias)
    return result;
  return addBias(body, call, result, shape.size() - 1, inputs);
}

/// Builds a · b, a contraction over the last axis of a and the second to last
/// axis of b. The leading axes of a and b must be equal.
static Value buildMatmul(BodyBuilder &body, BuiltinCall &call) {
  Value a = call.getFloats("a", 3);
  Value b = call.getFloats("b", 3);
  if (call.hasFailed())
    return nullptr;
  ArrayRef<int64_t> lhs = getShape(a), rhs = getShape(b);
  int64_t rank = lhs.size();
  if (lhs.size() != rhs.size() || lhs.drop_back(2) != rhs.drop_back(2) ||
      lhs.back() != rhs[rank - 2])
    return body.fail(call.getRange(),
                     "shapes " + printShape(lhs) + " and " + printShape(rhs) +
                         " can't be multiplied",
                     "'matmul' takes [..., m, k] and [..., k, n] with equal "
                     "leading axes");
  SmallVector<int64_t> shape(lhs);
  shape.back() = rhs.back();
  if (!body.checkSize(shape, call.getRange()))
    return nullptr;
  TensorBuilder &tensors = body.getTensors();
  MLIRContext *context = tensors.getBuilder().getContext();
  SmallVector<AffineExpr> leading;
  for (int64_t i = 0; i + 2 < rank; ++i)
    leading.push_back(getAffineDimExpr(i, context));
  AffineExpr m = getAffineDimExpr(rank - 2, context);
  AffineExpr n = getAffineDimExpr(rank - 1, context);
  AffineExpr k = getAffineDimExpr(rank, context);
  auto makeMap = [&](AffineExpr row, AffineExpr column) {
    SmallVector<AffineExpr> exprs(leading);
    exprs.append({row, column});
    return AffineMap::get(rank + 1, 0, exprs, context);
  };
  SmallVector<AffineMap> maps = {makeMap(m, k), makeMap(k, n), makeMap(m, n)};
  return tensors.create<ContractOp>(
      a, b, tensors.getBuilder().getAffineMapArrayAttr(maps), TypeAttr());
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static bool checkGroups(BodyBuilder &body, BuiltinCall &call, int64_t inputs,
                        int64_t outputs, int64_t groups) {
  if (inputs % groups == 0 && outputs % groups == 0)
    return true;
  body.fail(call.getRange("groups"),
            Twine(groups) + " groups don't divide " + Twine(inputs) +
                " input and " + Twine(outputs) + " output channels",
            "both are multiples of 'groups'");
  return false;
}

namespace {
/// The arguments of the functions `conv` and `conv_transpose`.
struct ConvArguments {
  Value x;
  ArrayRef<int64_t> shape; ///< that of x: [batch, channels, spatial axes]
  int64_t spatial;         ///< the number of spatial axes, 1 to 3
  int64_t channels, groups;
  SmallVector<int64_t> kernel, strides, padding, dilations; ///< one per axis
  bool hasBias;
};
} // namespace

/// Reads the arguments of the function `name`. Reports wrong ones, and returns
/// nothing then.
static std::optional<ConvArguments>
readConvArguments(BodyBuilder &body, BuiltinCall &call, StringRef name) {
  ConvArguments read;
  read.x = call.getFloats("x", 3);
  if (!read.x)
    return std::nullopt;
  read.shape = getShape(read.x);
  read.spatial = static_cast<int64_t>(read.shape.size()) - 2;
  if (read.spatial > 3) {
    body.fail(call.getRange("x"),
              "'" + name +
                  "' takes [batch, channels, 1 to 3 spatial axes], got " +
                  printShape(read.shape),
              "reshape(x, [batch, ...]) joins axes");
    return std::nullopt;
  }
  auto getSizes = [&](StringRef argument, int64_t initial) {
    return call.getIntegers(argument, read.spatial, initial, initial, 65536);
  };
  read.channels = call.getInteger("channels", 1, 1, kMaxSize);
  read.kernel = getSizes("kernel", 1);
  read.strides = getSizes("stride", 1);
  read.padding = getSizes("padding", 0);
  read.dilations = getSizes("dilation", 1);
  read.groups = call.getInteger("groups", 1, 1, kMaxSize);
  read.hasBias = call.getBool("bias", true);
  if (call.hasFailed() ||
      !checkGroups(body, call, read.shape[1], read.channels, read.groups))
    return std::nullopt;
  return read;
}

/// Declares the weight of a convolution, if it and the result aren't too large:
/// null otherwise, after an error. Also returns by how many inputs an output is
/// initialized: as in PyTorch, the elements of the weight's axes after the
/// first, also where the second axis numbers outputs.
static std::pair<Value, int64_t> makeConvWeight(BodyBuilder &body,
                                                BuiltinCall &call,
                                                ArrayRef<int64_t> weightShape,
                                                ArrayRef<int64_t> resultShape) {
  if (!body.checkSize(weightShape, call.getRange()) ||
      !body.checkSize(resultShape, call.getRange()))
    return {nullptr, 0};
  int64_t fanIn = ShapedType::getNumElements(weightShape.drop_front());
  return {body.makeParameter(call.getLayerName(), "weight", weightShape,
                             getLayerInitial(body, fanIn)),
          fanIn};
}

static Value buildConv(BodyBuilder &body, BuiltinCall &call) {
  std::optional<ConvArguments> given = readConvArguments(body, call, "conv");
  if (!given)
    return nullptr;
  auto &[x, shape, spatial, channels, groups, kernel, strides, padding,
         dilations, hasBias] = *given;
  SmallVector<int64_t> weightShape = {channels, shape[1] / groups};
  SmallVector<int64_t> resultShape = {shape[0], channels};
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
    int64_t padded = shape[i + 2] + 2 * padding[i];
    if (extent > padded)
      return body.fail(call.getRange("kernel"),
                       "a kernel over " + Twine(extent) +
                           " elements doesn't fit an axis of " + Twine(padded),
                       "the input is " + printShape(shape));
    weightShape.push_back(kernel[i]);
    resultShape.push_back((padded - extent) / strides[i] + 1);
  }
  auto [weight, fanIn] = makeConvWeight(body, call, weightShape, resultShape);
  if (!weight)
    return nullptr;
  padding.append(padding.begin(), padding.end());
  Value result = body.getTensors().create<ConvOp>(x, weight, strides, dilations,
                                                  padding, groups, TypeAttr());
  return hasBias ? addBias(body, call, result, 1, fanIn) : result;
}

/// Builds a transposed convolution with PyTorch's arguments: the weight has the
/// shape [input channels, channels / groups, kernel...].
static Value buildConvTranspose(BodyBuilder &body, BuiltinCall &call) {
  std::optional<ConvArguments> given =
      readConvArguments(body, call, "conv_transpose");
  if (!given)
    return nullptr;
  auto &[x, shape, spatial, channels, groups, kernel, strides, padding,
         dilations, hasBias] = *given;
  SmallVector<int64_t> extra =
      call.getIntegers("output_padding", spatial, 0, 0, 65536);
  if (call.hasFailed())
    return nullptr;
  SmallVector<int64_t> weightShape = {shape[1], channels / groups};
  SmallVector<int64_t> resultShape = {shape[0], channels};
  for (int64_t i = 0; i < spatial; ++i) {
    if (extra[i] >= std::max(strides[i], dilations[i]))
      return body.fail(call.getRange("output_padding"),
                       "'output_padding' must be below 'stride' or 'dilation', "
                       "got " +
                           Twine(extra[i]));
    int64_t size = (shape[i + 2] - 1) * strides[i] - 2 * padding[i] +
                   (kernel[i] - 1) * dilations[i] + 1 + extra[i];
    if (size < 1)
      return body.fail(call.getRange(), "the result would have no elements",
                       "the input is " + printShape(shape));
    weightShape.push_back(kernel[i]);
    resultShape.push_back(size);
  }
  auto [weight, fanIn] = makeConvWeight(body, call, weightShape, resultShape);
  if (!weight)
    return nullptr;
  padding.append(padding.begin(), padding.end());
  Value result = body.getTensors().create<ConvInputGradientOp>(
      x, weight, strides, dilations, padding, groups, TypeAttr(), resultShape);
  return hasBias ? addBias(body, call, result, 1, fanIn) : result;
}

//===----------------------------------------------------------------------===//
// Embedding and dropout
//===----------------------------------------------------------------------===//

static Value buildEmbedding(BodyBuilder &body, BuiltinCall &call) {
  Value indices = call.getTensor("i");
  int64_t entries = call.getInteger("n", 1, 1, kMaxSize);
  int64_t width = call.getInteger("d", 1, 1, kMaxSize);
  if (call.hasFailed())
    return nullptr;
  Type elementType = getElementType(indices);
  if (!elementType.isSignlessInteger(32) && !elementType.isSignlessInteger(64))
    return body.fail(call.getRange("i"), "'embedding' takes whole numbers",
                     "declare the model's input as i64");
  if (!body.checkSize({entries, width}, call.getRange()))
    return nullptr;
  Value table = body.makeParameter(call.getLayerName(), "weight",
                                   {entries, width}, body.getNormal());
  return body.getTensors().create<GatherOp>(table, indices, /*axis=*/0);
}

static Value getRate(BodyBuilder &body, BuiltinCall &call) {
  StringRef name = body.getRateName(call.getCall());
  if (!name.empty())
    return body.readHyperParameter(name);
  Value rate = call.getTensor("rate");
  if (rate && !getShape(rate).empty())
    return body.fail(call.getRange("rate"), "'rate' is one number",
                     "a number, a list of numbers, or a hyper-parameter");
  return rate;
}

static Value buildDropout(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 1);
  if (!x)
    return nullptr;
  Value rate = getRate(body, call);
  if (!rate)
    return nullptr;
  Value seed = body.readScalar(Purpose::seed);
  Value step = body.readScalar(Purpose::step);
  Value first = body.readScalar(Purpose::first_sample);
  TensorBuilder &tensors = body.getTensors();
  Value random = tensors.create<RandomUniformOp>(
      seed, step, first, getShape(x), names::hash(call.getLayerName()),
      /*per_sample=*/true, getElementType(x));
  auto dropout = tensors.create<DropoutOp>(x, rate, random, /*training=*/false);
  if (body.getModes().choose(ModalKind::dropout, call.getLayerName().str(),
                             ModeRule::standard))
    dropout->setAttr(kFrozenAttrName, UnitAttr::get(dropout.getContext()));
  return dropout;
}

llvm::ArrayRef<Builtin> language::getLayerBuiltins() {
  static constexpr ParameterSpec linear[] = {
      {"x", true}, {"n", true}, {"bias"}};
  static constexpr ParameterSpec conv[] = {
      {"x", true}, {"channels", true}, {"kernel", true}, {"stride"},
      {"padding"}, {"dilation"},       {"groups"},       {"bias"}};
  static constexpr ParameterSpec convTranspose[] = {
      {"x", true},  {"channels", true}, {"kernel", true},
      {"stride"},   {"padding"},        {"output_padding"},
      {"dilation"}, {"groups"},         {"bias"}};
  static constexpr ParameterSpec embedding[] = {
      {"i", true}, {"n", true}, {"d", true}};
  static constexpr ParameterSpec dropout[] = {{"x", true}, {"rate"}};
  static constexpr ParameterSpec matmul[] = {{"a", true}, {"b", true}};
  static const Builtin builtins[] = {
      {"conv", conv, buildConv, /*isLayer=*/true},
      {"conv_transpose", convTranspose, buildConvTranspose, /*isLayer=*/true},
      {"dropout", dropout, buildDropout, /*isLayer=*/false, /*isRandom=*/true},
      {"embedding", embedding, buildEmbedding, /*isLayer=*/true},
      {"linear", linear, buildLinear, /*isLayer=*/true},
      {"matmul", matmul, buildMatmul}};
  return builtins;
}
