//===- HftaLayerInference.cpp - Result types of layer ops -----------------===//

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "LayerInference.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hfta;

LogicalResult hfta::giveType(ValueRange operands, ArrayRef<int64_t> shape,
                             Type elementType, SmallVectorImpl<Type> &types) {
  types.push_back(withCopies(RankedTensorType::get(shape, elementType),
                             getCopies(TypeRange(operands))));
  return success();
}

LogicalResult hfta::checkSameElementType(std::optional<Location> location,
                                         ValueRange operands) {
  Type first = getElementTypeOrSelf(operands.front().getType());
  for (Value operand : operands)
    if (getElementTypeOrSelf(operand.getType()) != first)
      return emitOptionalError(
          location, "operands have different element types: ", first, " and ",
          getElementTypeOrSelf(operand.getType()));
  return success();
}

/// Returns the element type of sums of products of an operand's elements: f32
/// for pairs of bf16, the elements' own type for floats.
static Type getSumType(Value factor) {
  Type type = getElementTypeOrSelf(factor.getType());
  return isa<FloatType>(type) ? type : Float32Type::get(type.getContext());
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

LogicalResult ContractOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<ContractOp>(location, adaptor)))
    return failure();
  SmallVector<AffineMap> maps;
  for (Attribute attribute : adaptor.getIndexingMaps())
    maps.push_back(cast<AffineMapAttr>(attribute).getValue());
  if (maps.size() != 3)
    return emitOptionalError(location, "expected 3 indexing maps, got ",
                             maps.size());
  if (failed(checkSameElementType(location, adaptor.getOperands())))
    return failure();
  unsigned space = maps[0].getNumDims();
  SmallVector<int64_t> sizes(space, -1);
  for (auto [map, operand] : llvm::zip(maps, adaptor.getOperands())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (map.getNumDims() != space || !map.isProjectedPermutation() ||
        map.getNumResults() != type.getRank())
      return emitOptionalError(location, "indexing map ",
                               AffineMapAttr::get(map),
                               " is not a projected permutation of rank ",
                               type.getRank(), " over ", space, " axes");
    for (auto [expression, size] :
         llvm::zip(map.getResults(), type.getShape())) {
      int64_t &known = sizes[cast<AffineDimExpr>(expression).getPosition()];
      if (known >= 0 && known != size)
        return emitOptionalError(location, "axis ",
                                 cast<AffineDimExpr>(expression).getPosition(),
                                 " of the contraction has size ", known,
                                 " in lhs but ", size, " in rhs");
      known = size;
    }
  }
  AffineMap result = maps[2];
  if (result.getNumDims() != space || !result.isProjectedPermutation())
    return emitOptionalError(
        location, "result's indexing map ", AffineMapAttr::get(result),
        " is not a projected permutation over ", space, " axes");
  SmallVector<int64_t> shape;
  for (AffineExpr expression : result.getResults())
    shape.push_back(sizes[cast<AffineDimExpr>(expression).getPosition()]);
  if (llvm::is_contained(sizes, -1))
    return emitOptionalError(location, "an axis stands in neither operand");
  return giveType(adaptor.getOperands(), shape, getSumType(adaptor.getLhs()),
                  types);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>>
hfta::countPositions(std::optional<Location> location, ArrayRef<int64_t> sizes,
                     const Window &window) {
  size_t rank = sizes.size();
  if (rank == 0 || window.kernel.size() != rank ||
      window.strides.size() != rank || window.dilations.size() != rank ||
      window.padding.size() != 2 * rank)
    return emitOptionalError(location, "window does not fit ", rank,
                             " spatial axes");
  SmallVector<int64_t> positions;
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t kernel = window.kernel[axis], stride = window.strides[axis];
    int64_t dilation = window.dilations[axis];
    int64_t low = window.padding[axis], high = window.padding[rank + axis];
    int64_t bound = int64_t(1) << 30;
    if (kernel < 1 || stride < 1 || dilation < 1 || kernel > bound ||
        stride > bound || dilation > bound || low < -bound || high < -bound ||
        low > bound || high > bound)
      return emitOptionalError(location, "kernel ", kernel, ", stride ", stride,
                               ", dilation ", dilation, " or padding ", low,
                               ", ", high, " is out of range on spatial axis ",
                               axis);
    int64_t extent = (kernel - 1) * dilation + 1;
    int64_t room = sizes[axis] + low + high - extent;
    if (room < 0)
      return emitOptionalError(location, "window of ", extent,
                               " elements does not fit spatial axis ", axis,
                               " of ", sizes[axis] + low + high);
    positions.push_back(room / stride + 1);
  }
  return positions;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// Infers the shape of the convolution of `input` with `weight`.
template <typename Adaptor>
static FailureOr<SmallVector<int64_t>>
inferConvolution(std::optional<Location> location, Adaptor adaptor,
                 ArrayRef<int64_t> input, ArrayRef<int64_t> weight) {
  if (input.size() < 3 || input.size() != weight.size())
    return emitOptionalError(location,
                             "input and weight need one rank of at least 3, "
                             "got ",
                             input.size(), " and ", weight.size());
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || input[1] != weight[1] * groups || weight[0] % groups != 0)
    return emitOptionalError(location, "cannot convolve ", input[1],
                             " channels with weight [", weight, "] in ", groups,
                             " groups");
  FailureOr<SmallVector<int64_t>> positions = countPositions(
      location, input.drop_front(2), getWindow(adaptor, weight.drop_front(2)));
  if (failed(positions))
    return failure();
  SmallVector<int64_t> shape = {input[0], weight[0]};
  llvm::append_range(shape, *positions);
  return shape;
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<ConvOp>(location, adaptor)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      inferConvolution(location, adaptor, getShape(adaptor.getInput()),
                       getShape(adaptor.getWeight()));
  if (failed(shape) ||
      failed(checkSameElementType(location, adaptor.getOperands())))
    return failure();
  return giveType(adaptor.getOperands(), *shape, getSumType(adaptor.getInput()),
                  types);
}

LogicalResult ConvInputGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<ConvInputGradientOp>(location, adaptor)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      inferConvolution(location, adaptor, adaptor.getInputShape(),
                       getShape(adaptor.getWeight()));
  if (failed(shape) ||
      failed(checkSameElementType(location, adaptor.getOperands())))
    return failure();
  if (getShape(adaptor.getGradient()) != ArrayRef<int64_t>(*shape))
    return emitOptionalError(location, "gradient must have shape [", *shape,
                             "], got ", adaptor.getGradient().getType());
  return giveType(adaptor.getOperands(), adaptor.getInputShape(),
                  getSumType(adaptor.getGradient()), types);
}

LogicalResult ConvWeightGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<ConvWeightGradientOp>(location, adaptor)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      inferConvolution(location, adaptor, getShape(adaptor.getInput()),
                       adaptor.getWeightShape());
  if (failed(shape) ||
      failed(checkSameElementType(location, adaptor.getOperands())))
    return failure();
  if (getShape(adaptor.getGradient()) != ArrayRef<int64_t>(*shape))
    return emitOptionalError(location, "gradient must have shape [", *shape,
                             "], got ", adaptor.getGradient().getType());
  SmallVector<int64_t> result(adaptor.getWeightShape());
  if (std::optional<uint64_t> parts = adaptor.getBatchParts()) {
    int64_t batch = getShape(adaptor.getInput()).front();
    if (*parts == 0 || batch % static_cast<int64_t>(*parts) != 0)
      return emitOptionalError(location,
                               "batch_parts must divide the batch of ", batch,
                               ", got ", *parts);
    result.insert(result.begin(), static_cast<int64_t>(*parts));
  }
  return giveType(adaptor.getOperands(), result,
                  getSumType(adaptor.getGradient()), types);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Infers the shape of pooling `input`.
template <typename Adaptor>
static FailureOr<SmallVector<int64_t>>
inferPooling(std::optional<Location> location, Adaptor adaptor,
             ArrayRef<int64_t> input) {
  if (input.size() < 3)
    return emitOptionalError(location, "input needs rank 3 or more, got ",
                             input.size());
  FailureOr<SmallVector<int64_t>> positions = countPositions(
      location, input.drop_front(2), getWindow(adaptor, adaptor.getKernel()));
  if (failed(positions))
    return failure();
  SmallVector<int64_t> shape(input.take_front(2));
  llvm::append_range(shape, *positions);
  return shape;
}

/// Checks `ceil_padding`: for each spatial axis, the number of elements that
/// ceil mode has added to the padding at the axis's high end.
template <typename Adaptor>
static LogicalResult checkCeilPadding(std::optional<Location> location,
                                      Adaptor adaptor) {
  ArrayRef<int64_t> padding = adaptor.getPadding();
  ArrayRef<int64_t> ceil = adaptor.getCeilPadding();
  if (ceil.size() * 2 != padding.size())
    return emitOptionalError(location, "expected ", padding.size() / 2,
                             " entries of ceil_padding, got ", ceil.size());
  for (auto [added, high] :
       llvm::zip(ceil, padding.drop_front(padding.size() / 2)))
    if (added < 0 || added > high)
      return emitOptionalError(location, "ceil_padding ", added,
                               " is not within the padding ", high);
  return success();
}

/// Checks the operands of a pooling op's gradient, and infers the type of its
/// result, which is that of the pooling op's input.
template <typename Adaptor>
static LogicalResult inferPoolingGradient(std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  FailureOr<SmallVector<int64_t>> shape =
      inferPooling(location, adaptor, adaptor.getInputShape());
  if (failed(shape))
    return failure();
  for (Value operand : adaptor.getOperands())
    if (getShape(operand) != ArrayRef<int64_t>(*shape))
      return emitOptionalError(location, "operand must have shape [", *shape,
                               "], got ", operand.getType());
  return giveType(adaptor.getOperands(), adaptor.getInputShape(),
                  getElementTypeOrSelf(adaptor.getGradient().getType()), types);
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<MaxPoolOp>(location, adaptor)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      inferPooling(location, adaptor, getShape(adaptor.getInput()));
  if (failed(shape) ||
      failed(giveType(adaptor.getOperands(), *shape,
                      getElementTypeOrSelf(adaptor.getInput().getType()),
                      types)))
    return failure();
  return giveType(adaptor.getOperands(), *shape, IntegerType::get(context, 32),
                  types);
}

LogicalResult MaxPoolGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<MaxPoolGradientOp>(location, adaptor)))
    return failure();
  return inferPoolingGradient(location, adaptor, types);
}

LogicalResult AveragePoolOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<AveragePoolOp>(location, adaptor)) ||
      failed(checkCeilPadding(location, adaptor)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      inferPooling(location, adaptor, getShape(adaptor.getInput()));
  if (failed(shape))
    return failure();
  return giveType(adaptor.getOperands(), *shape,
                  getElementTypeOrSelf(adaptor.getInput().getType()), types);
}

LogicalResult AveragePoolGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<AveragePoolGradientOp>(location, adaptor)) ||
      failed(checkCeilPadding(location, adaptor)))
    return failure();
  return inferPoolingGradient(location, adaptor, types);
}

//===----------------------------------------------------------------------===//
// Normalization, softmax, dropout, randomness
//===----------------------------------------------------------------------===//

static LogicalResult inferSoftmax(std::optional<Location> location, Value input,
                                  int64_t axis, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(input.getType());
  if (axis < 0 || axis >= type.getRank())
    return emitOptionalError(location, "axis ", axis, " is outside of ", type);
  types.push_back(type);
  return success();
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferSoftmax(location, adaptor.getInput(), adaptor.getAxis(), types);
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  if (failed(
          inferSoftmax(location, adaptor.getInput(), adaptor.getAxis(), types)))
    return failure();
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  SmallVector<int64_t> shape(input.getShape());
  shape.erase(shape.begin() + adaptor.getAxis());
  types.append(2,
               withCopies(RankedTensorType::get(shape, input.getElementType()),
                          getCopies(input)));
  return success();
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() < 2)
    return emitOptionalError(location, "input needs rank 2 or more, got ",
                             input);
  int64_t channels = input.getDimSize(1);
  for (Value operand : adaptor.getOperands().drop_front())
    if (getShape(operand) != ArrayRef<int64_t>(channels))
      return emitOptionalError(location, "expected ", channels,
                               " channels, got ", operand.getType());
  Value mean = adaptor.getRunningMean();
  Value variance = adaptor.getRunningVariance();
  // Checks constraint (C1).
  if (!mean != !variance)
    return emitOptionalError(
        location, "needs a running mean and variance, or neither of them");
  std::optional<int64_t> copies = getCopies(TypeRange(adaptor.getOperands()));
  auto ofBatch = RankedTensorType::get({channels}, input.getElementType());
  types.push_back(withCopies(input, copies));
  types.push_back(withCopies(mean ? mean.getType() : ofBatch, copies));
  types.push_back(withCopies(variance ? variance.getType() : ofBatch, copies));
  types.append(2, withCopies(ofBatch, copies));
  return success();
}

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (!getShape(adaptor.getRate()).empty() ||
      getShape(adaptor.getRandom()) != getShape(adaptor.getInput()))
    return emitOptionalError(location,
                             "rate must be a scalar and random of "
                             "the input's shape, got ",
                             adaptor.getRate().getType(), " and ",
                             adaptor.getRandom().getType());
  return giveType(adaptor.getOperands(), getShape(adaptor.getInput()),
                  getElementTypeOrSelf(adaptor.getInput().getType()), types);
}

LogicalResult ByModeOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto training = cast<RankedTensorType>(adaptor.getInTraining().getType());
  auto inference = cast<RankedTensorType>(adaptor.getInInference().getType());
  if (getLogicalType(training) != getLogicalType(inference))
    return emitOptionalError(location,
                             "operands have different types: ", training,
                             " and ", inference);
  return giveType(adaptor.getOperands(), training.getShape(),
                  training.getElementType(), types);
}

LogicalResult RandomUniformOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<RandomUniformOp>(location, adaptor)))
    return failure();
  if (!isa<FloatType>(adaptor.getElementType()))
    return emitOptionalError(location, "cannot draw ",
                             adaptor.getElementType());
  if (llvm::any_of(adaptor.getShape(), [](int64_t size) { return size < 0; }))
    return emitOptionalError(location, "negative size");
  // The step and the sample may differ between samples.
  bool hasSamples = adaptor.getPerSample() && !adaptor.getShape().empty();
  for (Value operand : adaptor.getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    bool isOfSamples = hasSamples && operand != adaptor.getSeed() &&
                       type.getShape() == adaptor.getShape().take_front();
    if ((type.getRank() != 0 && !isOfSamples) ||
        !type.getElementType().isInteger(64))
      return emitOptionalError(location, "keys must be i64 scalars, got ",
                               type);
  }
  return giveType(adaptor.getOperands(), adaptor.getShape(),
                  adaptor.getElementType(), types);
}
