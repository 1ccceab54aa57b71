//===- KfacBlocks.cpp - Factors that are cut into diagonal blocks ---------===//

#include "Kfac/KfacBlocks.h"

using namespace mlir;
using namespace mlir::hfta;

Expression hfta::padMatrix(const KfacUnit &unit, const Expression &matrix) {
  ArrayRef<int64_t> shape = matrix.getShape();
  SmallVector<int64_t> high = {0, unit.output.getPaddedColumns() - shape[1],
                               unit.input.getPaddedColumns() - shape[2]};
  if (high[1] == 0 && high[2] == 0)
    return matrix;
  SmallVector<int64_t> none(3, 0);
  return matrix.apply<PadOp>(
      ArrayRef<int64_t>(none), ArrayRef<int64_t>(high), ArrayRef<int64_t>(none),
      cast<TypedAttr>(FloatAttr::get(matrix.getElementType(), 0.0)));
}

Expression hfta::cropMatrix(const KfacUnit &unit, const Expression &matrix) {
  ArrayRef<int64_t> padded = matrix.getShape();
  SmallVector<int64_t> shape = {padded[0], unit.output.columns,
                                unit.input.columns};
  if (padded == ArrayRef<int64_t>(shape))
    return matrix;
  return matrix.apply<SliceOp>(ArrayRef<int64_t>{0, 0, 0},
                               ArrayRef<int64_t>(shape),
                               ArrayRef<int64_t>{1, 1, 1});
}

Expression hfta::multiplyOutputs(const KfacFactor &output,
                                 const Expression &blocks,
                                 const Expression &matrix, bool isTransposed) {
  SmallVector<int64_t> shape(matrix.getShape());
  Expression rows = matrix.reshape({output.blocks, output.size, shape[2]});
  return multiplyMatrices(blocks, rows, isTransposed).reshape(shape);
}

Expression hfta::multiplyInputs(const Expression &matrix,
                                const KfacFactor &input,
                                const Expression &blocks, bool isTransposed) {
  if (input.pieces == 1)
    return multiplyMatrices(matrix, blocks, /*isLeftTransposed=*/false,
                            isTransposed);
  SmallVector<int64_t> shape(matrix.getShape());
  int64_t pieces = input.pieces, size = input.size;
  MLIRContext *context = matrix.getElementType().getContext();
  auto getMap = [&](ArrayRef<unsigned> axes) {
    return AffineMap::getMultiDimMapWithTargets(5, axes, context);
  };
  // Dimensions of the contraction: the layer's block, a row, a piece of the
  // row, a column of the piece, and the index of the terms.
  AffineMap maps[] = {getMap({0, 1, 2, 4}),
                      isTransposed ? getMap({0, 2, 3, 4})
                                   : getMap({0, 2, 4, 3}),
                      getMap({0, 1, 2, 3})};
  return matrix.reshape({shape[0], shape[1], pieces, size})
      .apply<ContractOp>(blocks.reshape({shape[0], pieces, size, size}),
                         Builder(context).getAffineMapArrayAttr(maps),
                         TypeAttr())
      .reshape(shape);
}
