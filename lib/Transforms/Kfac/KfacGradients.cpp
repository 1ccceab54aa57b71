//===- KfacGradients.cpp - Gradients times inverses -----------------------===//

#include "Hfta/Transforms/Precision/Precision.h"
#include "Kfac/KfacBlocks.h"
#include "Kfac/KfacTasks.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the unit's gradient as matrices [blocks, outputs, inputs]. If there
/// is a bias, its gradient is the last column.
Expression KfacTasks::getMatrix(const KfacUnit &unit) const {
  const LayerAxes &axes = *unit.axes;
  Value gradient =
      unit.path->goBack(builder, getGradient(unit.weight).to(type));
  Expression weight = wrap(gradient).reshape(axes.weightShape);
  if (!llvm::equal(axes.permutation,
                   llvm::seq<int64_t>(0, axes.permutation.size())))
    weight = weight.apply<TransposeOp>(ArrayRef<int64_t>(axes.permutation));
  weight = weight.reshape({axes.blocks, axes.outputs, axes.inputs});
  if (!unit.bias)
    return weight;
  Expression bias =
      getGradient(*unit.bias).to(type).reshape({axes.blocks, axes.outputs, 1});
  return wrap(ConcatOp::create(builder, tasks.getLoc(),
                               ValueRange{weight, bias}, /*axis=*/2));
}

void KfacTasks::writeGradient(const Expression &value,
                              const TrainedLeaf &leaf) {
  VariableOp gradient =
      tasks.getVariables().lookupOf(leaf.variable, Purpose::gradient);
  RankedTensorType stored = gradient.getTensorType();
  write(value.reshape(stored.getShape()).to(stored.getElementType()), gradient);
}

/// Writes matrices in the form of getMatrix to the gradients of weight and
/// bias.
void KfacTasks::setMatrix(const KfacUnit &unit, const Expression &matrix) {
  const LayerAxes &axes = *unit.axes;
  auto slice = [&](int64_t from, int64_t size) {
    if (!unit.bias)
      return matrix;
    // Slice in the shape of the gradient if possible: then the result is
    // computed directly in its memory.
    if (axes.blocks == 1)
      return matrix.reshape({axes.outputs, unit.getInputColumns()})
          .apply<SliceOp>(ArrayRef<int64_t>{0, from},
                          ArrayRef<int64_t>{axes.outputs, size},
                          ArrayRef<int64_t>{1, 1});
    return matrix.apply<SliceOp>(
        ArrayRef<int64_t>{0, 0, from},
        ArrayRef<int64_t>{axes.blocks, axes.outputs, size},
        ArrayRef<int64_t>{1, 1, 1});
  };
  Expression weight = slice(0, axes.inputs);
  SmallVector<int64_t> permuted, inverse(axes.permutation.size());
  for (auto [to, from] : llvm::enumerate(axes.permutation)) {
    permuted.push_back(axes.weightShape[from]);
    inverse[from] = static_cast<int64_t>(to);
  }
  weight = weight.reshape(permuted);
  if (!llvm::equal(inverse, llvm::seq<int64_t>(0, inverse.size())))
    weight = weight.apply<TransposeOp>(ArrayRef<int64_t>(inverse));
  // Restores the shape of the op's weight, then follows the path to the shape
  // of the parameter.
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(
          LayerOp(unit.layers.front()).getWeightGradient().getType())
          .getShape();
  writeGradient(wrap(unit.path->goForth(builder, weight.reshape(shape))),
                unit.weight);
  if (unit.bias)
    writeGradient(slice(axes.inputs, 1), *unit.bias);
}

/// Preconditions a padded gradient in the eigenbases of G = Qg dg Qgᵀ and A =
/// Qa da Qaᵀ: returns Qg [(Qgᵀ Grad Qa) / (dg daᵀ + λ)] Qaᵀ.
Expression KfacTasks::divideInBases(const KfacUnit &unit,
                                    const Expression &gradient) const {
  // The eigenvectors of a diagonal factor are unit vectors: nothing is turned.
  bool isTurned = !unit.input.isDiagonal;
  Expression output = getBasis(unit.output);
  Expression turned = multiplyOutputs(unit.output, output, gradient,
                                      /*isTransposed=*/true);
  if (isTurned)
    turned = multiplyInputs(turned, unit.input, getBasis(unit.input));
  ArrayRef<int64_t> shape = gradient.getShape();
  Expression values = isTurned
                          ? getEigenvalues(unit.input)
                          : read(unit.input.mean).reshape({1, unit.input.size});
  Expression products = getEigenvalues(unit.output).repeat(shape, {2}) *
                        values.repeat(shape, {1});
  Expression damping = readParameter("damping").to(type).fill(shape);
  Expression result =
      multiplyOutputs(unit.output, output, turned / (products + damping));
  return isTurned ? multiplyInputs(result, unit.input, getBasis(unit.input),
                                   /*isTransposed=*/true)
                  : result;
}

Expression KfacTasks::getInverse(const KfacFactor &factor) const {
  return read(factor.inverse)
      .reshape(factor.getPackedShape())
      .apply<UnpackSymmetricOp>();
}

Expression KfacTasks::multiplyByInverses(const KfacUnit &unit,
                                         const Expression &gradient) const {
  Expression result =
      multiplyOutputs(unit.output, getInverse(unit.output), gradient);
  if (!unit.input.isDiagonal)
    return multiplyInputs(result, unit.input, getInverse(unit.input));
  Expression columns = read(unit.input.inverse).reshape({1, unit.input.size});
  return result * columns.repeat(gradient.getShape(), {1});
}

Expression KfacTasks::getInnerProduct(const Expression &first,
                                      const Expression &second) const {
  Expression products = first.to(wide) * second.to(wide);
  return wrap(tasks.sumAll(products));
}

/// Reads saved rows of a layer as [blocks, rows, columns].
Expression KfacTasks::getRows(VariableOp variable,
                              const LayerSide &side) const {
  SmallVector<int64_t> order(side.blocks);
  llvm::append_range(order, side.getRows());
  llvm::append_range(order, side.columns);
  auto count = [&](ArrayRef<int64_t> axes) {
    int64_t product = 1;
    for (int64_t axis : axes)
      product *= side.shape[axis];
    return product;
  };
  Expression rows = read(variable).to(type).reshape(side.shape);
  if (!llvm::is_sorted(order))
    rows = rows.apply<TransposeOp>(ArrayRef<int64_t>(order));
  return rows.reshape(
      {count(side.blocks), count(side.getRows()), count(side.columns)});
}

/// Preconditions a unit from its rows: computes V = (g G⁻¹)ᵀ (a A⁻¹), summed
/// over rows, and the inner product ⟨V, Grad⟩ = Σ (g G⁻¹ gᵀ) ∘ (a A⁻¹ aᵀ), over
/// all pairs of rows. The inner product is computed in f64, because squares of
/// inputs may overflow where gradients don't. V is added up in the type in
/// which gradients are.
void KfacTasks::preconditionRows(const KfacUnit &unit) {
  Expression outputs = getRows(unit.outputRows, unit.axes->output);
  Expression inputs = getRows(unit.inputRows, unit.axes->input);
  if (unit.bias) {
    SmallVector<int64_t> shape(inputs.getShape());
    shape.back() = 1;
    inputs = wrap(ConcatOp::create(
        builder, tasks.getLoc(),
        ValueRange{inputs, tasks.splat(shape, type, 1.0)}, /*axis=*/2));
  }
  Expression newOutputs = multiplyMatrices(outputs, getInverse(unit.output));
  Expression newInputs = multiplyMatrices(inputs, getInverse(unit.input));
  auto getProducts = [&](const Expression &first, const Expression &second) {
    return multiplyMatrices(first.to(wide), second.to(wide),
                            /*isLeftTransposed=*/false,
                            /*isRightTransposed=*/true);
  };
  write(getInnerProduct(getProducts(newOutputs, outputs),
                        getProducts(newInputs, inputs)),
        tasks.getVariables().lookupOf(unit.weight.variable,
                                      Purpose::inner_product));
  Type sums =
      getWider(type, tasks.getFloatType(tasks.getJob().precision.accumulate));
  Expression result = multiplyMatrices(newOutputs.to(sums), newInputs.to(sums),
                                       /*isLeftTransposed=*/true);
  setMatrix(unit, result.to(type));
}

void KfacTasks::precondition(const KfacUnit &unit) {
  VariableOp product = tasks.getVariables().lookupOf(unit.weight.variable,
                                                     Purpose::inner_product);
  if (unit.rule == KfacRule::unit)
    return preconditionFeatures(unit);
  if (unit.rule != KfacRule::kronecker)
    return;
  if (takesRows() && unit.isFromRows())
    return preconditionRows(unit);
  Expression gradient = getMatrix(unit), padded = padMatrix(unit, gradient);
  Expression result =
      cropMatrix(unit, isEigen() ? divideInBases(unit, padded)
                                 : multiplyByInverses(unit, padded));
  write(getInnerProduct(result, gradient), product);
  setMatrix(unit, result);
}

/// Preconditions a unit of rule `unit`. The elements of a single parameter are
/// divided by their damped mean square, a + λ. Scale and shift of a feature are
/// multiplied by the inverse of [a + λ, b; b, c + λ].
void KfacTasks::preconditionFeatures(const KfacUnit &unit) {
  VariableOp product = tasks.getVariables().lookupOf(unit.weight.variable,
                                                     Purpose::inner_product);
  SmallVector<int64_t> shape = {unit.features};
  Expression mean =
      read(unit.output.mean).reshape(unit.output.getPackedShape());
  Expression damping = readParameter("damping").to(type).fill(shape);
  auto column = [&](int64_t number) {
    if (!unit.bias)
      return mean.reshape(shape);
    return mean
        .apply<SliceOp>(ArrayRef<int64_t>{0, number},
                        ArrayRef<int64_t>{unit.features, 1},
                        ArrayRef<int64_t>{1, 1})
        .reshape(shape);
  };
  Expression scale = getGradient(unit.weight).to(type).reshape(shape);
  Expression a = column(0) + damping;
  if (!unit.bias) {
    Expression result = scale / a;
    write(getInnerProduct(result, scale), product);
    return writeGradient(result, unit.weight);
  }
  Expression shift = getGradient(*unit.bias).to(type).reshape(shape);
  Expression b = column(1), c = column(2) + damping;
  Expression determinant = a * c - b * b;
  Expression newScale = (c * scale - b * shift) / determinant;
  Expression newShift = (a * shift - b * scale) / determinant;
  write(getInnerProduct(newScale, scale) + getInnerProduct(newShift, shift),
        product);
  writeGradient(newScale, unit.weight);
  writeGradient(newShift, *unit.bias);
}
