//===- MatrixForm.h - Parameters as matrices --------------------*- C++ -*-===//

#ifndef HFTA_LIB_DIALECT_HFTA_JOB_MATRIXFORM_H
#define HFTA_LIB_DIALECT_HFTA_JOB_MATRIXFORM_H

#include "OptimizerUpdate.h"

namespace mlir::hfta {

/// A parameter as a matrix with a row for each output of its layer, whichever
/// of its axes number them, so that a model trains alike however its file
/// stores the weights.
struct MatrixForm {
  MatrixForm(ArrayRef<int64_t> shape, ArrayRef<int64_t> outputAxes);

  /// Reorders and reshapes a tensor of the parameter's shape. The matrix is
  /// transposed if this saves a copy.
  Expression toMatrix(Expression tensor) const;
  Expression toTensor(Expression matrix) const;

  SmallVector<int64_t> shape;
  SmallVector<int64_t> order; ///< the parameter's axes, as the matrix has them
  int64_t rows = 1, columns = 1;
  bool isTransposed = false; ///< whether `toMatrix` gives [columns, rows]
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DIALECT_HFTA_JOB_MATRIXFORM_H
