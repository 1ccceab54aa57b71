//===- KfacInverses.cpp - Running means and their inverses ----------------===//

#include "Kfac/KfacTasks.h"
#include "Tasks/LossWeight.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Running means
//===----------------------------------------------------------------------===//

/// Returns the diagonals of all blocks of packed matrices, in f64.
Expression KfacTasks::getDiagonal(const Expression &packed,
                                  const KfacFactor &factor) const {
  int64_t size = factor.size;
  if (size == 1 || factor.isDiagonal)
    return packed.to(wide);
  SmallVector<int64_t> places;
  for (int64_t row = 0; row < size; ++row)
    places.push_back(row * (row + 3) / 2);
  Value indices = ConstantOp::create(
      builder, tasks.getLoc(),
      DenseElementsAttr::get(
          RankedTensorType::get({size}, builder.getI64Type()),
          ArrayRef<int64_t>(places)));
  return packed.reshape(factor.getPackedShape())
      .apply<GatherOp>(indices, /*axis=*/1)
      .to(wide);
}

Expression KfacTasks::getMeanDiagonal(const KfacFactor &factor) const {
  Expression diagonal = getDiagonal(read(factor.mean), factor);
  return wrap(tasks.sumAll(diagonal)) /
         static_cast<double>(factor.blocks / factor.pieces * factor.columns);
}

static Expression isFinite(const Expression &value) {
  return value.apply<AbsOp>().compare(ComparePredicate::less,
                                      std::numeric_limits<double>::infinity());
}

/// Returns the sum of a factor's moments over all uses of the weight, in the
/// order of the uses.
Expression KfacTasks::readMoments(const KfacFactor &factor) const {
  auto readUse = [&](VariableOp moment) {
    return wrap(
        tasks.read(moment, factor.isMomentShared ? std::nullopt : copy));
  };
  Expression sum = readUse(factor.moments.front());
  for (VariableOp moment : llvm::drop_begin(factor.moments))
    sum = sum + readUse(moment);
  return sum;
}

/// Sets the factor's moments to zero, except for those that copies share and
/// those of other stages, which schedules clear.
void KfacTasks::clearMoments(const KfacUnit &unit, const KfacFactor &factor) {
  const Job &job = tasks.getJob();
  auto getStage = [&](VariableOp variable) {
    return job.getStage(static_cast<int64_t>(variable.getBlock()));
  };
  for (VariableOp moment : factor.moments)
    if (!factor.isMomentShared &&
        getStage(moment) == getStage(unit.weight.variable))
      write(wrap(tasks.splat(factor.getPackedShape(),
                             moment.getTensorType().getElementType(), 0.0)),
            moment);
}

/// Updates the running mean F of a factor and its weight w by the new value
/// that the moments give, with d the decay: w ← d w + 1; F ← F + (new − F) / w.
/// If the new value isn't finite, both stay as they are. It is enough to check
/// the diagonal, which has the square of every column.
void KfacTasks::updateMean(const KfacUnit &unit, const KfacFactor &factor) {
  if (factor.owner)
    return;
  Expression scale = number(factor.scale);
  const VariableIndex &variables = tasks.getVariables();
  if (factor.isOfOutput) {
    if (VariableOp terms = variables.lookup(Purpose::loss_terms))
      scale = read(terms).to(wide);
    if (VariableOp terms = variables.lookup(Purpose::loss_weight))
      scale = 1.0 / getGradientDivisor(read(terms).to(wide));
  }
  // Moments are sums over all batches that are accumulated for the update, but
  // the sum of the loss' weights is that of one batch.
  scale = scale / read(variables.lookup(Purpose::accumulations)).to(wide);
  if (factor.group >= 0)
    scale = scale * factor.rowsOfGroup;
  SmallVector<int64_t> shape = factor.getShape();
  Expression fresh =
      readMoments(factor).reshape(shape).to(type) * scale.to(type).fill(shape);
  Expression isGood = isFinite(wrap(tasks.sumAll(getDiagonal(fresh, factor))));
  Expression weight = read(factor.weight), mean = read(factor.mean);
  Expression grown = weight * readParameter("decay").to(wide) + 1.0;
  Expression next = mean + (fresh - mean) / grown.to(type).fill(shape);
  write(isGood.fill(shape).select(next, mean), factor.mean);
  write(isGood.select(grown, weight), factor.weight);
  count("skipped", isGood.select(0.0, number(1.0)));
  clearMoments(unit, factor);
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

void KfacTasks::invertFactor(const KfacFactor &factor,
                             const Expression &damping) {
  if (factor.isDiagonal) {
    Expression damped =
        read(factor.mean) + damping.to(type).fill({factor.size});
    return write(1.0 / damped, factor.inverse);
  }
  SmallVector<int64_t> shape = factor.getPackedShape();
  auto inversion = SpdInverseOp::create(builder, tasks.getLoc(),
                                        read(factor.mean).reshape(shape),
                                        damping.to(type).fill({factor.blocks}),
                                        read(factor.inverse).reshape(shape));
  write(wrap(inversion.getInverse()).reshape(factor.getShape()),
        factor.inverse);
  Expression tries = wrap(inversion.getTries());
  auto countWhere = [&](StringRef name, ComparePredicate predicate,
                        double bound) {
    Expression holds = tries.compare(predicate, bound);
    Expression ones =
        holds.select(wrap(tasks.splat({factor.blocks}, wide, 1.0)), 0.0);
    count(name, ones.sum({0}));
  };
  countWhere("retried", ComparePredicate::greater, 0);
  countWhere("kept", ComparePredicate::equal, 4);
}

/// Returns the eigenvectors, one per column, of each block: [blocks, size,
/// size].
Expression KfacTasks::getBasis(const KfacFactor &factor) const {
  return read(factor.basis).reshape({factor.blocks, factor.size, factor.size});
}
/// Returns the eigenvalues of all blocks of each matrix in a row: [matrices,
/// padded columns].
Expression KfacTasks::getEigenvalues(const KfacFactor &factor) const {
  return read(factor.eigenvalues)
      .reshape({factor.blocks / factor.pieces, factor.getPaddedColumns()});
}

void KfacTasks::decompose(const KfacFactor &factor) {
  if (!isInverted(factor))
    return;
  auto eigen = SymmetricEigenOp::create(
      builder, tasks.getLoc(),
      read(factor.mean).reshape(factor.getPackedShape()), getBasis(factor),
      /*due=*/Value());
  auto keep = [&](Value value, VariableOp variable) {
    write(wrap(value).reshape(variable.getTensorType().getShape()), variable);
  };
  keep(eigen.getBasis(), factor.basis);
  keep(eigen.getValues(), factor.eigenvalues);
}

void KfacTasks::invert(const KfacUnit &unit, bool alsoInput, bool alsoOutput) {
  if (isEigen()) {
    if (alsoInput)
      decompose(unit.input);
    if (alsoOutput)
      decompose(unit.output);
    return;
  }
  Expression root = readParameter("damping").to(wide).apply<SqrtOp>();
  auto invertBoth = [&](const Expression &ofInput, const Expression &ofOutput) {
    if (alsoInput)
      invertFactor(unit.input, ofInput);
    if (alsoOutput)
      invertFactor(unit.output, ofOutput);
  };
  if (!tasks.getJob().kfacPi)
    return invertBoth(root, root);
  Expression input = getMeanDiagonal(unit.input);
  Expression output = getMeanDiagonal(unit.output);
  Expression pi = (input / output).apply<SqrtOp>();
  // Zero, infinity and NaN aren't valid ratios.
  Expression isRatio = isFinite(pi + 1.0 / pi);
  pi = isRatio.select(pi, 1.0);
  invertBoth(root * pi, root / pi);
}
