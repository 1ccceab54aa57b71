//===- MatrixOptimizers.cpp - Steps that are matrices, not elements -------===//
//
// Records of optimizers whose steps are computed by products of matrices. A
// parameter of more than two axes, such as a convolution's weight, is a matrix
// with a row for each element of its first axis. All products have the shapes
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

static constexpr ParameterInfo kMuonParameters[] = {
    kRate,
    {"momentum", NumberRange::belowOne(), 0.95},
    {"weight_decay", NumberRange::nonNegative(), 0.1},
    {"eps", NumberRange::nonNegative(), 1e-7},
    {"nesterov", NumberRange::any(), 1, Kind::flag},
    {"scale",
     NumberRange::any(),
     {},
     Kind::word,
     "",
     "original|match_rms_adamw|rms_to_rms"},
    {"coefficients", NumberRange::any(), {}, Kind::word, "", "simple|quintic"}};
static constexpr OptimizerState kMuonStates[] = {{"momentum_buffer"}};

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

/// Returns the factor by which steps of a matrix of this shape are multiplied.
static double getScale(OptimizerUpdate &update, double rows, double columns) {
  if (update.has("match_rms_adamw"))
    return 0.2 * std::sqrt(std::max(rows, columns));
  if (update.has("rms_to_rms"))
    return std::sqrt(rows / columns);
  return std::sqrt(std::max(1.0, rows / columns));
}

/// Updates as Muon (K. Jordan et al., 2024; scales of J. Liu et al., "Muon is
/// scalable for LLM training", 2025): by the momentum, after an iteration that
/// makes it nearly orthogonal.
static void updateMuon(OptimizerUpdate &update) {
  Expression &mean = update.state("momentum_buffer");
  Expression momentum = update.filled("momentum");
  mean = mean + update.fill(1.0 - update.scalar("momentum")) *
                    (update.gradient - mean);
  Expression direction =
      update.has("nesterov")
          ? update.gradient + momentum * (mean - update.gradient)
          : mean;
  Expression length = update.norm(direction).apply<MaxOp>(update.scalar("eps"));
  ArrayRef<int64_t> shape = update.parameter.getShape();
  int64_t rows = shape.front(), columns = llvm::product_of(shape.drop_front());
  Expression matrix =
      (direction / update.fill(length)).reshape({rows, columns});
  bool isQuintic = update.has("quintic");
  Expression step =
      orthogonalize(matrix, isQuintic ? ArrayRef<NewtonSchulzStep>(kQuintic)
                                      : ArrayRef<NewtonSchulzStep>(kSimple))
          .reshape(shape);
  double scale =
      getScale(update, static_cast<double>(rows), static_cast<double>(columns));
  decayWeights(update);
  update.parameter =
      update.parameter + update.fill(-(update.scalar("lr") * scale)) * step;
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
       "(`original`), 0.2 · √max(rows, columns) or √(rows / columns); a "
       "convolution's weight is a matrix with a row for each output; vectors "
       "need another optimizer; decoupled weight decay",
       /*takesMatrices=*/true},
  };
  return kOptimizers;
}
