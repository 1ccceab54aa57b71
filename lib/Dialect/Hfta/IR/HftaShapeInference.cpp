//===- HftaShapeInference.cpp - Result types of shape ops -----------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::hfta;

/// Appends a tensor type to `types`: `shape` is the shape for one copy, and the
/// type is arrayed if an operand is.
static LogicalResult give(ValueRange operands, ArrayRef<int64_t> shape,
                          Type elementType, SmallVectorImpl<Type> &types) {
  types.push_back(withCopies(RankedTensorType::get(shape, elementType),
                             getCopies(TypeRange(operands))));
  return success();
}

/// Emits an error if a size is negative or the shape has 2^62 elements or more.
static LogicalResult checkShape(std::optional<Location> location,
                                ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 0)
      return emitOptionalError(location, "negative size ", size);
    if (llvm::MulOverflow(elements, size, elements) ||
        elements >= (int64_t(1) << 62))
      return emitOptionalError(location, "shape has too many elements");
  }
  return success();
}

static LogicalResult checkAxis(std::optional<Location> location, int64_t axis,
                               int64_t rank) {
  if (axis < 0 || axis >= rank)
    return emitOptionalError(location, "axis ", axis,
                             " is outside of a tensor of rank ", rank);
  return success();
}

static LogicalResult checkCount(std::optional<Location> location,
                                StringRef what, int64_t got, int64_t expected) {
  if (got != expected)
    return emitOptionalError(location, "expected ", expected, " ", what,
                             ", got ", got);
  return success();
}

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getValue().getType());
  if (!type || type.getEncoding())
    return emitOptionalError(location, "constant must be a plain tensor, got ",
                             adaptor.getValue().getType());
  types.push_back(type);
  return success();
}

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> shape = adaptor.getShape();
  if (failed(checkShape(location, shape)))
    return failure();
  if (ShapedType::getNumElements(shape) != input.getNumElements())
    return emitOptionalError(location, "cannot reshape ", input, " of ",
                             input.getNumElements(), " elements to [", shape,
                             "] of ", ShapedType::getNumElements(shape));
  return give(adaptor.getOperands(), shape, input.getElementType(), types);
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != input.getRank() ||
      !isPermutationVector(permutation))
    return emitOptionalError(location, "[", permutation,
                             "] is not a permutation of the axes of ", input);
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(input.getDimSize(axis));
  return give(adaptor.getOperands(), shape, input.getElementType(), types);
}

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> shape = adaptor.getShape();
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  if (failed(checkShape(location, shape)) ||
      failed(checkCount(location, "dimensions", dimensions.size(),
                        input.getRank())))
    return failure();
  int64_t previous = -1;
  for (auto [axis, dimension] : llvm::enumerate(dimensions)) {
    if (dimension <= previous ||
        dimension >= static_cast<int64_t>(shape.size()))
      return emitOptionalError(location, "dimensions [", dimensions,
                               "] must ascend and lie within rank ",
                               shape.size());
    previous = dimension;
    int64_t size = input.getDimSize(axis);
    if (size != 1 && size != shape[dimension])
      return emitOptionalError(location, "axis ", axis, " of ", input,
                               " does not broadcast to size ",
                               shape[dimension]);
  }
  return give(adaptor.getOperands(), shape, input.getElementType(), types);
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t rank = input.getRank();
  if (failed(
          checkCount(location, "offsets", adaptor.getOffsets().size(), rank)) ||
      failed(checkCount(location, "sizes", adaptor.getSizes().size(), rank)) ||
      failed(
          checkCount(location, "strides", adaptor.getStrides().size(), rank)) ||
      failed(checkShape(location, adaptor.getSizes())))
    return failure();
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t size = adaptor.getSizes()[axis];
    int64_t stride = adaptor.getStrides()[axis];
    if (stride == 0)
      return emitOptionalError(location, "stride 0 on axis ", axis);
    if (size == 0)
      continue;
    int64_t first = adaptor.getOffsets()[axis];
    int64_t last;
    if (llvm::MulOverflow(size - 1, stride, last) ||
        llvm::AddOverflow(first, last, last) || std::min(first, last) < 0 ||
        std::max(first, last) >= input.getDimSize(axis))
      return emitOptionalError(location, "slice leaves axis ", axis, " of ",
                               input);
  }
  return give(adaptor.getOperands(), adaptor.getSizes(), input.getElementType(),
              types);
}

LogicalResult PairFactorsOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  if (failed(checkAxis(location, axis, input.getRank())))
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  shape[axis] = (shape[axis] + 1) / 2;
  return give(adaptor.getOperands(), shape, IntegerType::get(context, 32),
              types);
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t rank = input.getRank();
  for (ArrayRef<int64_t> sizes :
       {adaptor.getLow(), adaptor.getHigh(), adaptor.getInterior()}) {
    if (failed(checkCount(location, "entries a padding", sizes.size(), rank)) ||
        failed(checkShape(location, ArrayRef<int64_t>())))
      return failure();
    if (llvm::any_of(sizes, [](int64_t size) {
          return size < 0 || size > (int64_t(1) << 40);
        }))
      return emitOptionalError(location, "padding [", sizes,
                               "] is negative or too large");
  }
  if (adaptor.getValue().getType() != input.getElementType())
    return emitOptionalError(location, "padding value of type ",
                             adaptor.getValue().getType(), " for ", input);
  SmallVector<int64_t> shape;
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t size = input.getDimSize(axis);
    int64_t gaps = std::max<int64_t>(size - 1, 0);
    int64_t filled;
    if (llvm::MulOverflow(gaps, adaptor.getInterior()[axis], filled))
      return emitOptionalError(location, "shape has too many elements");
    shape.push_back(adaptor.getLow()[axis] + size + filled +
                    adaptor.getHigh()[axis]);
  }
  if (failed(checkShape(location, shape)))
    return failure();
  return give(adaptor.getOperands(), shape, input.getElementType(), types);
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "needs at least one input");
  auto first = cast<RankedTensorType>(adaptor.getInputs().front().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> expected(first.getShape());
    if (type.getRank() == first.getRank())
      expected[axis] = type.getDimSize(axis);
    if (type.getShape() != ArrayRef<int64_t>(expected) ||
        type.getElementType() != first.getElementType())
      return emitOptionalError(location, "cannot concatenate ", first, " and ",
                               type, " along axis ", axis);
    shape[axis] += type.getDimSize(axis);
  }
  if (failed(checkShape(location, shape)))
    return failure();
  return give(adaptor.getOperands(), shape, first.getElementType(), types);
}

LogicalResult IotaOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (failed(checkShape(location, adaptor.getShape())) ||
      failed(checkAxis(location, adaptor.getAxis(), adaptor.getShape().size())))
    return failure();
  if (!adaptor.getElementType().isIntOrFloat())
    return emitOptionalError(location, "cannot count in ",
                             adaptor.getElementType());
  return give({}, adaptor.getShape(), adaptor.getElementType(), types);
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  SmallVector<bool> reduced(input.getRank(), false);
  int64_t previous = -1;
  for (int64_t axis : adaptor.getAxes()) {
    if (failed(checkAxis(location, axis, input.getRank())))
      return failure();
    if (axis <= previous)
      return emitOptionalError(location, "axes [", adaptor.getAxes(),
                               "] must ascend");
    previous = axis;
    reduced[axis] = true;
  }
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(input.getShape()))
    if (!reduced[axis])
      shape.push_back(size);
  return give(adaptor.getOperands(), shape, input.getElementType(), types);
}

LogicalResult CumulativeSumOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  if (failed(checkAxis(location, adaptor.getAxis(), input.getRank())))
    return failure();
  types.push_back(input);
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, input.getRank())))
    return failure();
  SmallVector<int64_t> shape(input.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, input.getShape().drop_front(axis + 1));
  if (failed(checkShape(location, shape)))
    return failure();
  return give(adaptor.getOperands(), shape, input.getElementType(), types);
}

/// Appends the shape of a scattered result to `shape`: that of the updates,
/// with one axis of `size` elements in place of the indices' axes.
static LogicalResult inferScattered(std::optional<Location> location,
                                    RankedTensorType updates,
                                    RankedTensorType indices, int64_t axis,
                                    int64_t size,
                                    SmallVectorImpl<int64_t> &shape) {
  int64_t rank = updates.getRank() - indices.getRank() + 1;
  if (failed(checkAxis(location, axis, rank)))
    return failure();
  if (updates.getShape().slice(axis, indices.getRank()) != indices.getShape())
    return emitOptionalError(location, "updates ", updates,
                             " do not have the indices' shape ", indices,
                             " at axis ", axis);
  llvm::append_range(shape, updates.getShape().take_front(axis));
  shape.push_back(size);
  llvm::append_range(shape,
                     updates.getShape().drop_front(axis + indices.getRank()));
  return checkShape(location, shape);
}

LogicalResult ScatterAddOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  SmallVector<int64_t> shape;
  if (failed(inferScattered(location, updates, indices, adaptor.getAxis(),
                            adaptor.getSize(), shape)))
    return failure();
  return give(adaptor.getOperands(), shape, updates.getElementType(), types);
}

LogicalResult ScatterReduceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t axis = adaptor.getAxis();
  if (adaptor.getKind() == ReduceKind::sum)
    return emitOptionalError(
        location, "expected max, min or product, a sum is scatter_add's");
  if (failed(checkAxis(location, axis, input.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  if (failed(inferScattered(location, updates, indices, axis,
                            input.getDimSize(axis), shape)))
    return failure();
  if (input.getShape() != ArrayRef<int64_t>(shape) ||
      input.getElementType() != updates.getElementType())
    return emitOptionalError(location, "updates ", updates,
                             " do not fit the slices of ", input,
                             " along axis ", axis);
  return give(adaptor.getOperands(), shape, input.getElementType(), types);
}

LogicalResult SegmentSumOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  auto order = cast<RankedTensorType>(adaptor.getOrder().getType());
  auto offsets = cast<RankedTensorType>(adaptor.getOffsets().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, updates.getRank())))
    return failure();
  if (order.getShape() != updates.getShape().slice(axis, 1))
    return emitOptionalError(location, "expected an order of ",
                             updates.getDimSize(axis),
                             " slices, those of updates ", updates,
                             " along axis ", axis, ", got ", order);
  if (offsets.getRank() != 1 || offsets.getDimSize(0) < 1)
    return emitOptionalError(location,
                             "expected offsets along one axis, one more than "
                             "there are segments, got ",
                             offsets);
  SmallVector<int64_t> shape(updates.getShape());
  shape[axis] = offsets.getDimSize(0) - 1;
  if (failed(checkShape(location, shape)))
    return failure();
  return give(adaptor.getOperands(), shape, updates.getElementType(), types);
}

LogicalResult PartSumsOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t column = adaptor.getColumn(), length = adaptor.getLength();
  if (failed(checkAxis(location, column, input.getRank())))
    return failure();
  int64_t columns = input.getDimSize(column), rows = 1;
  for (auto [axis, size] : llvm::enumerate(input.getShape()))
    if (static_cast<int64_t>(axis) != column)
      rows *= size;
  if (length < 1 || rows % length != 0)
    return emitOptionalError(location,
                             "expected parts of a length that divides ", rows,
                             " rows, those of ", input, " beside its axis ",
                             column, ", got ", length);
  return give(adaptor.getOperands(), {rows / length, columns},
              input.getElementType(), types);
}
