//===- HftaCurvature.cpp - Second moments: types and flops ----------------===//

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "LayerInference.h"

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Appends the type of `blocks` packed second moments to `types`. The rows that
/// are multiplied have a column for each combination of `sizes`, and another,
/// constant one if the op has ones. With `blockColumns`, only diagonal blocks
/// of this many columns are formed. Emits an error at `location` if the type is
/// too large.
template <typename Adaptor>
static LogicalResult
inferMoment(std::optional<Location> location, Adaptor adaptor, int64_t blocks,
            ArrayRef<int64_t> sizes, std::optional<int64_t> blockColumns,
            SmallVectorImpl<Type> &types) {
  int64_t columns = 1, elements;
  bool isTooLarge = llvm::any_of(sizes, [&](int64_t size) {
    return llvm::MulOverflow(columns, size, columns);
  });
  std::optional<int64_t> packed;
  if (blockColumns && *blockColumns < 1)
    return emitOptionalError(location, "blocks need a column or more, got ",
                             *blockColumns);
  if (!isTooLarge) {
    columns += adaptor.getOnes() ? 1 : 0;
    packed = getPackedSize(blockColumns.value_or(columns));
    if (blockColumns)
      isTooLarge = llvm::MulOverflow(
          blocks, int64_t(llvm::divideCeil(columns, *blockColumns)), blocks);
  }
  if (isTooLarge || !packed || llvm::MulOverflow(blocks, *packed, elements) ||
      elements >= (int64_t(1) << 62))
    return emitOptionalError(location, "moment has too many elements");
  SmallVector<int64_t> shape = {blocks, *packed};
  if (Value sum = adaptor.getSum())
    if (getShape(sum) != ArrayRef<int64_t>(shape))
      return emitOptionalError(location, "sum must have shape [",
                               ArrayRef<int64_t>(shape), "], got ",
                               sum.getType());
  if (failed(checkSameElementType(location, adaptor.getOperands())))
    return failure();
  Value input = adaptor.getInput();
  return giveType(adaptor.getOperands(), shape,
                  cast<RankedTensorType>(input.getType()).getElementType(),
                  types);
}

/// Returns the sizes of the listed axes of a shape, and marks these as `taken`.
/// Emits an error if an axis doesn't exist or was taken already.
static FailureOr<SmallVector<int64_t>>
takeAxes(std::optional<Location> location, StringRef what,
         ArrayRef<int64_t> axes, ArrayRef<int64_t> shape,
         llvm::SmallBitVector &taken) {
  SmallVector<int64_t> sizes;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
      return emitOptionalError(location, what, " axis ", axis,
                               " is outside of a tensor of rank ",
                               shape.size());
    if (taken.test(axis))
      return emitOptionalError(location, what, " axis ", axis,
                               " is listed twice");
    taken.set(axis);
    sizes.push_back(shape[axis]);
  }
  return sizes;
}

LogicalResult SecondMomentOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<SecondMomentOp>(location, adaptor)))
    return failure();
  ArrayRef<int64_t> shape = getShape(adaptor.getInput());
  llvm::SmallBitVector taken(shape.size());
  FailureOr<SmallVector<int64_t>> blocks =
      takeAxes(location, "block", adaptor.getBlocks(), shape, taken);
  if (failed(blocks))
    return failure();
  FailureOr<SmallVector<int64_t>> columns =
      takeAxes(location, "column", adaptor.getColumns(), shape, taken);
  if (failed(columns))
    return failure();
  return inferMoment(location, adaptor, multiplySizes(*blocks), *columns,
                     std::nullopt, types);
}

LogicalResult PatchMomentOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  if (failed(completeProperties<PatchMomentOp>(location, adaptor)))
    return failure();
  ArrayRef<int64_t> shape = getShape(adaptor.getInput());
  if (shape.size() < 3)
    return emitOptionalError(location, "input needs rank 3 or more, got ",
                             shape.size());
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || shape[1] % groups != 0)
    return emitOptionalError(location, "cannot divide ", shape[1],
                             " channels into ", groups, " groups");
  if (failed(countPositions(location, shape.drop_front(2),
                            getWindow(adaptor, adaptor.getKernel()))))
    return failure();
  SmallVector<int64_t> columns = {shape[1] / groups};
  llvm::append_range(columns, adaptor.getKernel());
  std::optional<int64_t> blockColumns;
  if (std::optional<uint64_t> given = adaptor.getBlockColumns())
    blockColumns = static_cast<int64_t>(*given);
  return inferMoment(location, adaptor, groups, columns, blockColumns, types);
}

LogicalResult UnpackSymmetricOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto packed = cast<RankedTensorType>(adaptor.getPacked().getType());
  std::optional<int64_t> side;
  if (packed.getRank() == 2)
    side = getPackedSide(packed.getDimSize(1));
  if (!side)
    return emitOptionalError(
        location, "expected blocks of n (n + 1) / 2 elements, got ", packed);
  return giveType(adaptor.getOperands(), {packed.getDimSize(0), *side, *side},
                  packed.getElementType(), types);
}

//===----------------------------------------------------------------------===//
// Sums in place
//===----------------------------------------------------------------------===//

bool SecondMomentOp::updates(unsigned operand) { return operand == 1; }
bool PatchMomentOp::updates(unsigned operand) { return operand == 1; }

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Counts a multiplication and an addition for each row and each element of the
/// packed triangle.
int64_t SecondMomentOp::getFlops() {
  int64_t rows = 1;
  for (auto [axis, size] : llvm::enumerate(getShape(getInput())))
    if (!llvm::is_contained(getBlocks(), static_cast<int64_t>(axis)) &&
        !llvm::is_contained(getColumns(), static_cast<int64_t>(axis)))
      rows *= size;
  ArrayRef<int64_t> result = getShape(getResult());
  return multiplySizes({2, rows, result[0], result[1]});
}

/// Returns two counts for the windows along one axis: pairs of taps that both
/// lie within the input, and single taps that do, each summed over all windows.
static std::pair<int64_t, int64_t> countTapPairs(PatchMomentOp op,
                                                 size_t axis) {
  int64_t size = getShape(op.getInput())[2 + axis];
  size_t rank = op.getKernel().size();
  int64_t kernel = op.getKernel()[axis], dilation = op.getDilations()[axis];
  int64_t low = op.getPadding()[axis], high = op.getPadding()[rank + axis];
  int64_t last = size + high - (kernel - 1) * dilation - 1, pairs = 0, taps = 0;
  for (int64_t first = -low; first <= last; first += op.getStrides()[axis]) {
    // These are the taps t with 0 <= first + t * dilation < size.
    int64_t begin = first < 0 ? llvm::divideCeil(-first, dilation) : 0;
    int64_t end =
        first < size ? std::min(kernel, (size - 1 - first) / dilation + 1) : 0;
    int64_t inside = std::max<int64_t>(end - begin, 0);
    pairs += inside * inside;
    taps += inside;
  }
  return {pairs, taps};
}

/// Counts a multiplication and an addition for each row and element of the
/// packed triangle, except for taps in the padding. For diagonal blocks, counts
/// one block's share of the matrix's columns.
int64_t PatchMomentOp::getFlops() {
  ArrayRef<int64_t> shape = getShape(getInput());
  int64_t channels = shape[1] / getGroups(), rank = getKernel().size();
  int64_t pairs = 1, taps = 1, positions = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    auto [pairsHere, tapsHere] = countTapPairs(*this, axis);
    pairs *= pairsHere;
    taps *= tapsHere;
    int64_t extent = (getKernel()[axis] - 1) * getDilations()[axis] + 1;
    positions *= (shape[2 + axis] + getPadding()[axis] +
                  getPadding()[rank + axis] - extent) /
                     getStrides()[axis] +
                 1;
  }
  int64_t flops = channels * channels * pairs;
  if (getBlockColumns()) {
    int64_t columns = multiplySizes(getKernel()) * channels;
    int64_t size = std::min<int64_t>(*getBlockColumns(), columns);
    flops = flops / std::max<int64_t>(columns, 1) * size;
  }
  flops += channels * taps;
  if (getOnes())
    flops += 2 * (channels * taps + positions);
  return shape[0] * getGroups() * flops;
}

int64_t UnpackSymmetricOp::getFlops() { return 0; }
