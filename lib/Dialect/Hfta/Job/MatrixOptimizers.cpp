//===- MatrixOptimizers.cpp - Steps that are matrices, not elements -------===//
//
// Records of optimizers whose steps are computed by products of matrices. A
// parameter is a matrix with a row for each output of its layer, whichever axes
// of it number them, so that a model trains alike however its file stores the
// weights. All products have the shapes
// of one copy's parameter, so that a copy has the same bits alone.
//===----------------------------------------------------------------------===//

#include "OptimizerUpdate.h"

#include "mlir/IR/AffineMap.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using Kind = ParameterInfo::Kind;

//===----------------------------------------------------------------------===//
// Muon
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kMomentum = {"momentum", NumberRange::belowOne(),
                                            0.95};
static constexpr ParameterInfo kLeastNorm = {"eps", NumberRange::nonNegative(),
                                             1e-7};
static constexpr ParameterInfo kNesterov = {"nesterov", NumberRange::any(), 1,
                                            Kind::flag};
static constexpr ParameterInfo kScale = {
    "scale", NumberRange::any(),
    {},      Kind::word,
    "",      "original|match_rms_adamw|rms_to_rms"};
static constexpr ParameterInfo kCoefficients = {
    "coefficients", NumberRange::any(), {}, Kind::word, "", "simple|quintic"};
static constexpr ParameterInfo kMuonParameters[] = {
    kRate,        kMomentum, {"weight_decay", NumberRange::nonNegative(), 0.1},
    kLeastNorm,   kNesterov, kScale,
    kCoefficients};
static constexpr OptimizerState kMuonStates[] = {{"momentum_buffer"}};

/// A parameter as a matrix with a row for each output of its layer.
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

/// The coefficients a, b, c of one step of a Newton-Schulz iteration, which
/// replaces X by a X + (b A + c A^2) X with A = X X^T.
struct NewtonSchulzStep {
  double a, b, c;
};

/// Coefficients that move singular values to about 0.7 to 1.2 within five
/// steps, and no nearer (K. Jordan et al., "Muon", 2024).
static constexpr NewtonSchulzStep kSimple[] = {{3.4445, -4.7750, 2.0315},
                                               {3.4445, -4.7750, 2.0315},
                                               {3.4445, -4.7750, 2.0315},
                                               {3.4445, -4.7750, 2.0315},
                                               {3.4445, -4.7750, 2.0315}};
/// Coefficients of their own for each step, which move singular values from a
/// hundredth of the largest on to 0.99 to 1.03.
static constexpr NewtonSchulzStep kQuintic[] = {{4.0848, -6.8946, 2.9270},
                                                {3.9505, -6.3029, 2.6377},
                                                {3.7418, -5.5913, 2.3037},
                                                {2.8769, -3.1427, 1.2046},
                                                {2.8366, -3.0525, 1.2012}};

/// Multiplies two matrices. The sum is over the first axis of a transposed
/// factor on the left, and over the last axis of a transposed one on the right.
static Expression multiply(const Expression &lhs, const Expression &rhs,
                           bool transposesLhs = false,
                           bool transposesRhs = false) {
  MLIRContext *context = Value(lhs).getContext();
  AffineExpr row, column, term;
  bindDims(context, row, column, term);
  auto makeMap = [&](AffineExpr first, AffineExpr second, bool isTransposed) {
    return AffineMap::get(3, 0,
                          isTransposed ? ArrayRef<AffineExpr>{second, first}
                                       : ArrayRef<AffineExpr>{first, second},
                          context);
  };
  ArrayAttr maps = Builder(context).getAffineMapArrayAttr(
      {makeMap(row, term, transposesLhs), makeMap(term, column, transposesRhs),
       makeMap(row, column, false)});
  return lhs.apply<ContractOp>(rhs, maps, TypeAttr());
}

/// Moves the singular values of a matrix with a norm of at most 1 towards 1.
static Expression orthogonalize(Expression matrix,
                                ArrayRef<NewtonSchulzStep> steps) {
  bool isTall = matrix.getShape()[0] > matrix.getShape()[1];
  for (const NewtonSchulzStep &step : steps) {
    Expression gram = multiply(matrix, matrix, isTall, !isTall);
    Expression change = step.b * gram + step.c * multiply(gram, gram);
    matrix = step.a * matrix +
             (isTall ? multiply(matrix, change) : multiply(change, matrix));
  }
  return matrix;
}

/// Counts the three products of each of the five steps of the iteration.
static int64_t countIteration(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> outputAxes) {
  MatrixForm form(shape, outputAxes);
  int64_t narrow = std::min(form.rows, form.columns);
  int64_t wide = std::max(form.rows, form.columns);
  return 5 * (4 * narrow * narrow * wide + 2 * narrow * narrow * narrow);
}

/// Returns the factor by which steps of a matrix of this shape are multiplied.
static double getScale(OptimizerUpdate &update, const MatrixForm &form) {
  auto rows = static_cast<double>(form.rows);
  auto columns = static_cast<double>(form.columns);
  if (update.has("match_rms_adamw"))
    return 0.2 * std::sqrt(std::max(rows, columns));
  if (update.has("rms_to_rms"))
    return std::sqrt(rows / columns);
  return std::sqrt(std::max(1.0, rows / columns));
}

/// Moves the momentum towards the gradient and returns it as a matrix, after an
/// iteration that makes it nearly orthogonal. Before the iteration it is
/// divided by its norm: by at least `eps` or, with `addsEps`, by the sum of
/// both.
static Expression orthogonalizeMomentum(OptimizerUpdate &update,
                                        const MatrixForm &form, bool addsEps) {
  Expression &mean = update.state("momentum_buffer");
  Expression momentum = update.filled("momentum");
  mean = mean + update.fill(1.0 - update.scalar("momentum")) *
                    (update.gradient - mean);
  Expression direction =
      update.has("nesterov")
          ? update.gradient + momentum * (mean - update.gradient)
          : mean;
  Expression length = update.norm(direction), eps = update.scalar("eps");
  length = addsEps ? length + eps : length.apply<MaxOp>(eps);
  bool isQuintic = update.has("quintic");
  return orthogonalize(form.toMatrix(direction / update.fill(length)),
                       isQuintic ? ArrayRef<NewtonSchulzStep>(kQuintic)
                                 : ArrayRef<NewtonSchulzStep>(kSimple));
}

/// Decays the parameter and moves it against a step, a matrix.
static void takeStep(OptimizerUpdate &update, const MatrixForm &form,
                     const Expression &step) {
  decayWeights(update);
  Expression rate = update.scalar("lr") * getScale(update, form);
  update.parameter =
      update.parameter + update.fill(-rate) * form.toTensor(step);
}

/// Updates as Muon (K. Jordan et al., 2024; scales of J. Liu et al., "Muon is
/// scalable for LLM training", 2025): by the momentum, made nearly orthogonal.
static void updateMuon(OptimizerUpdate &update) {
  MatrixForm form(update.parameter.getShape(), update.getOutputAxes());
  takeStep(update, form,
           orthogonalizeMomentum(update, form, /*addsEps=*/false));
}

//===----------------------------------------------------------------------===//
// NorMuon
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kNormuonParameters[] = {
    {"lr", NumberRange::nonNegative(), 0.02},
    kMomentum,
    {"beta2", NumberRange::belowOne(), 0.95},
    kWeightDecay,
    kLeastNorm,
    kNesterov,
    kScale,
    kCoefficients};
static constexpr OptimizerState kNormuonStates[] = {
    {"momentum_buffer"},
    {"second_momentum_buffer", 0, /*onlyWith=*/"", StateExtent::outputs}};

/// Updates as NorMuon (Z. Li et al., "NorMuon: making Muon more efficient and
/// scalable", 2025): divides each row of Muon's step by the root of a running
/// mean of its squares, and then gives the step its former norm.
static void updateNormuon(OptimizerUpdate &update) {
  constexpr double kEpsilon = 1e-10;
  MatrixForm form(update.parameter.getShape(), update.getOutputAxes());
  Expression step = orthogonalizeMomentum(update, form, /*addsEps=*/true);
  SmallVector<int64_t> shape = llvm::to_vector(step.getShape());
  int64_t across = form.isTransposed ? 0 : 1; // the axis along a row
  Expression &squares = update.state("second_momentum_buffer");
  SmallVector<int64_t> outputs = llvm::to_vector(squares.getShape());
  ArrayRef<int64_t> rows(form.rows);
  auto fill = [&](const Expression &scalar) {
    return scalar.to(update.getComputeType()).fill(rows);
  };
  Expression now =
      (step * step).sum({across}) / static_cast<double>(form.columns);
  Expression mean = fill(update.scalar("beta2")) * squares.reshape(rows) +
                    fill(1.0 - update.scalar("beta2")) * now;
  squares = mean.reshape(outputs);
  Expression scaled =
      step / (mean.apply<SqrtOp>() + kEpsilon).repeat(shape, {across});
  Expression ratio = update.norm(step) / (update.norm(scaled) + kEpsilon);
  takeStep(update, form,
           scaled * ratio.to(update.getComputeType()).fill(shape));
}

//===----------------------------------------------------------------------===//
// The records
//===----------------------------------------------------------------------===//

ArrayRef<OptimizerInfo> hfta::getMatrixOptimizers() {
  static constexpr OptimizerInfo kOptimizers[] = {
      {"muon", kMuonParameters, kMuonStates, /*usesStep=*/false, updateMuon,
       "the momentum of a matrix, made nearly orthogonal by five steps of a "
       "Newton-Schulz iteration, with Nesterov's momentum unless `nesterov = "
       "false`; `scale`: steps are multiplied by √max(1, rows / columns) "
       "(`original`), 0.2 · √max(rows, columns) (`match_rms_adamw`) or "
       "√(rows / columns) (`rms_to_rms`); `coefficients`: the same in all five "
       "steps (`simple`), or others in each, which come nearer to an "
       "orthogonal matrix (`quintic`); a weight "
       "is a matrix with a row for each output of its layer; vectors need "
       "another optimizer; decoupled weight decay",
       /*takesMatrices=*/true, countIteration},
      {"normuon", kNormuonParameters, kNormuonStates, /*usesStep=*/false,
       updateNormuon,
       "`muon`, of which each row is divided by the root of a running mean of "
       "its squares, and the whole then multiplied so that its norm is as "
       "before",
       /*takesMatrices=*/true, countIteration},
  };
  return kOptimizers;
}
