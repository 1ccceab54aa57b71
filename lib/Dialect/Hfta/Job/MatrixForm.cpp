//===- MatrixForm.cpp - Parameters as matrices ----------------------------===//

#include "MatrixForm.h"

using namespace mlir;
using namespace mlir::hfta;

MatrixForm::MatrixForm(ArrayRef<int64_t> shape, ArrayRef<int64_t> outputAxes)
    : shape(shape) {
  SmallVector<int64_t> others =
      getOtherAxes(static_cast<int64_t>(shape.size()), outputAxes);
  for (int64_t axis : outputAxes)
    rows *= shape[axis];
  for (int64_t axis : others)
    columns *= shape[axis];
  isTransposed = !others.empty() && outputAxes.front() > others.back();
  order =
      llvm::to_vector(isTransposed ? ArrayRef<int64_t>(others) : outputAxes);
  llvm::append_range(order,
                     isTransposed ? outputAxes : ArrayRef<int64_t>(others));
}

Expression MatrixForm::toMatrix(Expression tensor) const {
  if (!llvm::is_sorted(order))
    tensor = tensor.apply<TransposeOp>(ArrayRef<int64_t>(order));
  return tensor.reshape(isTransposed ? ArrayRef<int64_t>{columns, rows}
                                     : ArrayRef<int64_t>{rows, columns});
}

Expression MatrixForm::toTensor(Expression matrix) const {
  SmallVector<int64_t> reordered, inverse(order.size());
  for (auto [place, axis] : llvm::enumerate(order)) {
    reordered.push_back(shape[axis]);
    inverse[axis] = static_cast<int64_t>(place);
  }
  matrix = matrix.reshape(reordered);
  return llvm::is_sorted(order)
             ? matrix
             : matrix.apply<TransposeOp>(ArrayRef<int64_t>(inverse));
}
