//===- MatrixOptimizers.cpp - Steps that are matrices, not elements -------===//
//
// Records of optimizers that make a matrix' step orthogonal. All products have
// the shapes of one copy's parameter, so that a copy has the same bits alone.
//===----------------------------------------------------------------------===//

#include "MatrixForm.h"

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
static constexpr ParameterInfo kIteration = {
    "iteration", NumberRange::any(), {}, Kind::word, "", "direct|gram"};
static constexpr ParameterInfo kMuonParameters[] = {
    kRate,         kMomentum, {"weight_decay", NumberRange::nonNegative(), 0.1},
    kLeastNorm,    kNesterov, kScale,
    kCoefficients, kIteration};
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

/// The number of steps after which the iteration by Gram matrices begins again
/// with the matrix that it has reached, as errors of the Gram matrix grow.
static constexpr size_t kStepsBeforeRestart = 2;

/// Does the same steps without the matrix, on its Gram matrix A of the shorter
/// side: X is multiplied by Q = P + s I at the end, which is cheaper if the
/// matrix is much longer than wide. A step's factor Z + a I multiplies Q and,
/// from both sides, A. Source: "Gram Newton-Schulz", Dao AI Lab, 2026.
static Expression orthogonalizeByGram(const Expression &matrix,
                                      ArrayRef<NewtonSchulzStep> steps) {
  bool isTall = matrix.getShape()[0] > matrix.getShape()[1];
  Expression gram = multiply(matrix, matrix, isTall, !isTall), whole;
  double part = 1; // s; without `whole`, P is 0
  for (const auto &[index, step] : llvm::enumerate(steps)) {
    Expression change = step.b * gram + step.c * multiply(gram, gram);
    Expression next = change * part;
    if (!whole.isNull())
      next = multiply(whole, change) + step.a * whole + next;
    whole = next;
    part *= step.a;
    if (index + 1 == steps.size())
      break;
    Expression half = multiply(gram, change) + step.a * gram;
    gram = multiply(change, half) + step.a * half;
  }
  return part * matrix +
         (isTall ? multiply(matrix, whole) : multiply(whole, matrix));
}

/// Moves the singular values of a matrix with a norm of at most 1 towards 1, in
/// the way that the update's options say.
static Expression orthogonalize(const OptimizerUpdate &update,
                                const Expression &matrix) {
  ArrayRef<NewtonSchulzStep> steps = kSimple;
  if (update.has("quintic"))
    steps = kQuintic;
  ArrayRef<int64_t> shape = matrix.getShape();
  if (!update.has("gram") || shape[0] == shape[1])
    return orthogonalize(matrix, steps);
  return orthogonalizeByGram(
      orthogonalizeByGram(matrix, steps.take_front(kStepsBeforeRestart)),
      steps.drop_front(kStepsBeforeRestart));
}

/// Counts the products of five steps: three a step or, by Gram matrices, four
/// with the matrix and fourteen with small ones.
static int64_t countIteration(ArrayRef<StringRef> given,
                              ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> outputAxes) {
  MatrixForm form(shape, outputAxes);
  int64_t narrow = std::min(form.rows, form.columns);
  int64_t wide = std::max(form.rows, form.columns);
  bool isGram = llvm::is_contained(given, "gram") && narrow < wide;
  return narrow * narrow *
         ((isGram ? 8 : 20) * wide + (isGram ? 28 : 10) * narrow);
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
  return orthogonalize(update, form.toMatrix(direction / update.fill(length)));
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
    kCoefficients,
    kIteration};
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
       "orthogonal matrix (`quintic`); `iteration = gram`: the same steps on "
       "the Gram matrix of the shorter side, cheaper from about twice as long "
       "as wide on; a weight "
       "is a matrix with a row for each output of its layer; vectors need "
       "another optimizer; decoupled weight decay",
       MatrixUse::only, countIteration},
      {"normuon", kNormuonParameters, kNormuonStates, /*usesStep=*/false,
       updateNormuon,
       "`muon`, of which each row is divided by the root of a running mean of "
       "its squares, and the whole then multiplied so that its norm is as "
       "before",
       MatrixUse::only, countIteration},
  };
  return kOptimizers;
}
