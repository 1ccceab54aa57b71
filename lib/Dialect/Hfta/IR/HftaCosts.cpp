//===- HftaCosts.cpp - Flops of ops ---------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the flops by which an element of a product's operand is multiplied
/// and the result is added: twice as many if elements are pairs.
static int64_t countFactorFlops(Value factor) {
  return isa<FloatType>(getElementTypeOrSelf(factor.getType())) ? 2 : 4;
}

int64_t ContractOp::getFlops() {
  SmallVector<int64_t> sizes(
      cast<AffineMapAttr>(getIndexingMaps()[0]).getValue().getNumDims(), 1);
  for (auto [attribute, operand] :
       llvm::zip(getIndexingMaps(), getOperation()->getOperands())) {
    AffineMap map = cast<AffineMapAttr>(attribute).getValue();
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(operand.getType()).getShape();
    for (auto [expression, size] : llvm::zip(map.getResults(), shape))
      sizes[cast<AffineDimExpr>(expression).getPosition()] = size;
  }
  sizes.push_back(countFactorFlops(getLhs()));
  return multiplySizes(sizes);
}

static int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

int64_t ReduceOp::getFlops() { return countElements(getInput()); }

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

int64_t ConstantOp::getFlops() { return 0; }
int64_t IotaOp::getFlops() { return 0; }
int64_t ReshapeOp::getFlops() { return 0; }
int64_t TransposeOp::getFlops() { return 0; }
int64_t BroadcastOp::getFlops() { return 0; }
int64_t SliceOp::getFlops() { return 0; }
int64_t PadOp::getFlops() { return 0; }
int64_t ConcatOp::getFlops() { return 0; }
int64_t GatherOp::getFlops() { return 0; }
int64_t ByModeOp::getFlops() { return 0; }
int64_t CumulativeSumOp::getFlops() {
  int64_t size = getInput().getType().getDimSize(getAxis());
  return countElements(getInput()) *
         llvm::Log2_64_Ceil(std::max<int64_t>(size, 1));
}
int64_t ScatterAddOp::getFlops() { return countElements(getUpdates()); }
int64_t ScatterReduceOp::getFlops() { return countElements(getUpdates()); }
int64_t SegmentSumOp::getFlops() { return countElements(getUpdates()); }
int64_t PartSumsOp::getFlops() {
  // An addition per element; if centered, also a difference, its square and the
  // addition of the squares.
  return countElements(getInput()) * (getCentered() ? 4 : 1);
}

/// Counts only those elements of the input that the result contains.
int64_t SliceOp::getBytesRead(unsigned) {
  return getLogicalBytes(getResult().getType());
}

int64_t GatherOp::getBytesRead(unsigned operand) {
  Type read = operand == 0 ? getResult().getType() : getIndices().getType();
  return getLogicalBytes(read);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Counts the pairs of a window's position and an element of the window (a tap)
/// that lie within the input, rather than in the padding. Axes are independent,
/// so their numbers of pairs are multiplied. `op` has the window's strides,
/// dilations and padding.
template <typename OpTy>
static int64_t countTaps(OpTy op, ArrayRef<int64_t> input,
                         ArrayRef<int64_t> kernel, ArrayRef<int64_t> output) {
  int64_t product = 1;
  for (size_t axis = 0; axis < kernel.size(); ++axis) {
    int64_t taps = 0;
    for (int64_t position = 0; position < output[axis]; ++position) {
      int64_t first = position * op.getStrides()[axis] - op.getPadding()[axis];
      for (int64_t tap = 0; tap < kernel[axis]; ++tap) {
        int64_t index = first + tap * op.getDilations()[axis];
        taps += index >= 0 && index < input[axis];
      }
    }
    product *= taps;
  }
  return product;
}

template <typename ConvolutionOp>
static int64_t countConvolutionFlops(ConvolutionOp op, ArrayRef<int64_t> input,
                                     ArrayRef<int64_t> weight,
                                     ArrayRef<int64_t> output) {
  return countFactorFlops(op->getOperand(0)) * output[0] * output[1] *
         weight[1] *
         countTaps(op, input.drop_front(2), weight.drop_front(2),
                   output.drop_front(2));
}

int64_t ConvOp::getFlops() {
  return countConvolutionFlops(*this, getShape(getInput()),
                               getShape(getWeight()), getShape(getResult()));
}

int64_t ConvInputGradientOp::getFlops() {
  return countConvolutionFlops(*this, getInputShape(), getShape(getWeight()),
                               getShape(getGradient()));
}

int64_t ConvWeightGradientOp::getFlops() {
  return countConvolutionFlops(*this, getShape(getInput()), getWeightShape(),
                               getShape(getGradient()));
}

/// Counts one comparison or addition per tap (position and element of the
/// window).
template <typename PoolingOp>
static int64_t countPoolingFlops(PoolingOp op, ArrayRef<int64_t> input,
                                 ArrayRef<int64_t> output) {
  return output[0] * output[1] *
         countTaps(op, input.drop_front(2), op.getKernel(),
                   output.drop_front(2));
}

int64_t MaxPoolOp::getFlops() {
  return countPoolingFlops(*this, getShape(getInput()), getShape(getResult()));
}

int64_t MaxPoolGradientOp::getFlops() { return countElements(getGradient()); }

int64_t AveragePoolOp::getFlops() {
  return countPoolingFlops(*this, getShape(getInput()), getShape(getResult()));
}

int64_t AveragePoolGradientOp::getFlops() {
  return countPoolingFlops(*this, getInputShape(), getShape(getGradient()));
}

//===----------------------------------------------------------------------===//
// Composite ops, by the simpler ops that they are decomposed into
//===----------------------------------------------------------------------===//

/// Counts five flops per element: maximum, difference, exponential, sum and
/// quotient. For the logarithm, a difference takes the quotient's place.
int64_t SoftmaxOp::getFlops() { return 5 * countElements(getInput()); }
int64_t LogSoftmaxOp::getFlops() { return 5 * countElements(getInput()); }

/// Counts difference, scale and shift for each element; with the batch's
/// statistics also the mean's addition, the square and the variance's addition.
int64_t BatchNormOp::getFlops() {
  return (usesBatchStatistics(*this) ? 6 : 3) * countElements(getInput());
}

/// Counts comparison, product and selection for each element.
int64_t DropoutOp::getFlops() {
  return getTraining() ? 3 * countElements(getInput()) : 0;
}
