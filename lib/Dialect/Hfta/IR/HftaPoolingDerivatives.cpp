//===- HftaPoolingDerivatives.cpp - Backward of pooling -------------------===//

#include "Backward.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

/// Whether a single window covers a plane exactly.
static bool isGlobal(MaxPoolOp op) {
  ArrayRef<int64_t> plane = op.getInput().getType().getShape().drop_front(2);
  return plane == op.getKernel() &&
         llvm::all_of(op.getPadding(), [](int64_t size) { return size == 0; });
}

/// Returns the row-major positions of a plane's elements, repeated to `shape`.
static Expression makePositions(const Backward &backward,
                                ArrayRef<int64_t> shape, Type type) {
  Expression positions;
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 2; stride *= shape[axis]) {
    if (shape[axis] == 1)
      continue;
    Expression steps = backward.wrap(
        backward.create<IotaOp>(shape, static_cast<int64_t>(axis), type));
    if (stride > 1)
      steps = steps * static_cast<double>(stride);
    positions = positions.isNull() ? steps : steps + positions;
  }
  return positions;
}

/// Returns the gradient of a pooling with one window for each plane. As an
/// elementwise op, all kernels that need it can compute it again. Adding zero
/// turns -0 into 0, as MaxPoolGradientOp does.
static Expression placeGradient(const Backward &backward,
                                ArrayRef<int64_t> shape) {
  SmallVector<int64_t> planes(shape.take_front(2));
  auto space = llvm::to_vector(llvm::seq<int64_t>(2, shape.size()));
  Expression index = backward.result(1).reshape(planes);
  Expression gradient = backward.gradient().reshape(planes) + 0.0;
  Expression positions = makePositions(backward, shape, index.getElementType());
  return positions.compare(ComparePredicate::equal, index.repeat(shape, space))
      .select(gradient.repeat(shape, space), 0.0);
}

HFTA_DEFINE_BACKWARD(MaxPoolOp) {
  if (!backward.wants(0))
    return;
  ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  if (isGlobal(op) && llvm::product_of(op.getKernel()) > 1)
    backward.set(0, placeGradient(backward, shape));
  else
    backward.set(0, backward.gradient().apply<MaxPoolGradientOp>(
                        backward.result(1), op.getKernel(), op.getStrides(),
                        op.getDilations(), op.getPadding(), shape));
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
