//===- HftaCosts.cpp - Useful flops of ops --------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

using namespace mlir;
using namespace mlir::hfta;

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
  int64_t flops = 2;
  for (int64_t size : sizes)
    flops *= size;
  return flops;
}

int64_t ReduceOp::getFlops() {
  return cast<RankedTensorType>(getInput().getType()).getNumElements();
}

/// Products of one window tap and one position that lie within the input:
/// counted axis by axis, since axes are independent.
template <typename ConvolutionOp>
static int64_t countConvolutionFlops(ConvolutionOp op, ArrayRef<int64_t> input,
                                     ArrayRef<int64_t> weight,
                                     ArrayRef<int64_t> output) {
  int64_t flops = 2 * output[0] * output[1] * weight[1];
  for (size_t axis = 0; axis + 2 < input.size(); ++axis) {
    int64_t taps = 0;
    for (int64_t position = 0; position < output[axis + 2]; ++position) {
      int64_t first = position * op.getStrides()[axis] - op.getPadding()[axis];
      for (int64_t tap = 0; tap < weight[axis + 2]; ++tap) {
        int64_t index = first + tap * op.getDilations()[axis];
        taps += index >= 0 && index < input[axis + 2];
      }
    }
    flops *= taps;
  }
  return flops;
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
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
