//===- HftaPoolingDerivatives.cpp - Backward of pooling -------------------===//

#include "Backward.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(MaxPoolOp) {
  if (backward.wants(0))
    backward.set(0, backward.gradient().apply<MaxPoolGradientOp>(
                        backward.result(1), op.getKernel(), op.getStrides(),
                        op.getDilations(), op.getPadding(),
                        op.getInput().getType().getShape()));
}

/// Gathers the gradient's elements at `indices`. An index counts from the start
/// of its spatial plane, so planes and windows are flattened, and the start of
/// each plane is added to its indices.
HFTA_DEFINE_BACKWARD(MaxPoolGradientOp) {
  if (!backward.wants(0))
    return;
  Expression gradient = backward.gradient(), indices = backward.operand(1);
  ArrayRef<int64_t> inputShape = op.getInputShape();
  int64_t planes = inputShape[0] * inputShape[1];
  int64_t planeSize = ShapedType::getNumElements(inputShape.drop_front(2));
  int64_t windows =
      ShapedType::getNumElements(indices.getShape().drop_front(2));
  Type indexType = IntegerType::get(op.getContext(), 64);
  Expression plane = backward.wrap(backward.create<IotaOp>(
      ArrayRef<int64_t>{planes, windows}, int64_t(0), indexType));
  Expression position = indices.to(indexType).reshape({planes, windows}) +
                        plane * static_cast<double>(planeSize);
  Expression picked = gradient.reshape({planes * planeSize})
                          .apply<GatherOp>(position, int64_t(0));
  backward.set(0, picked.reshape(indices.getShape()));
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(AveragePoolOp) {
  if (backward.wants(0))
    backward.set(0, backward.gradient().apply<AveragePoolGradientOp>(
                        op.getKernel(), op.getStrides(), op.getDilations(),
                        op.getPadding(), op.getCeilPadding(),
                        op.getIncludePadding(),
                        op.getInput().getType().getShape()));
}

HFTA_DEFINE_BACKWARD(AveragePoolGradientOp) {
  if (backward.wants(0))
    backward.set(0, backward.gradient().apply<AveragePoolOp>(
                        op.getKernel(), op.getStrides(), op.getDilations(),
                        op.getPadding(), op.getCeilPadding(),
                        op.getIncludePadding()));
}
