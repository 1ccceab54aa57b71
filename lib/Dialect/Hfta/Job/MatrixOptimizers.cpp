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

/// The number of steps of a Newton-Schulz iteration, and the coefficients a, b
/// and c of each (OrthogonalizeOp).
static constexpr int64_t kSteps = 5;
/// Those of all steps, which move singular values to about 0.7 to 1.2, and no
/// nearer to 1 (K. Jordan et al., "Muon", 2024).
static constexpr double kSimple[] = {3.4445, -4.7750, 2.0315};
/// Those of single steps, which move singular values from a hundredth of the
/// largest on to 0.99 to 1.03.
static constexpr double kQuintic[kSteps][3] = {{4.0848, -6.8946, 2.9270},
                                               {3.9505, -6.3029, 2.6377},
                                               {3.7418, -5.5913, 2.3037},
                                               {2.8769, -3.1427, 1.2046},
                                               {2.8366, -3.0525, 1.2012}};
/// The steps of `iteration = gram` before which the Gram matrix is computed
/// anew, as its errors grow ("Gram Newton-Schulz", Dao AI Lab, 2026).
static constexpr int64_t kRestarts[] = {0, 2};

/// Divides a matrix by the larger of its norm and `least`, or with `addsLeast`
/// by their sum, and moves its singular values towards 1, in the way that the
/// update's options say.
static Expression orthogonalize(OptimizerUpdate &update,
                                const Expression &matrix,
                                const Expression &least, bool addsLeast) {
  OpBuilder &builder = update.getBuilder();
  ArrayRef<int64_t> shape = matrix.getShape();
  SmallVector<double> coefficients;
  for (const auto &ofStep : kQuintic)
    llvm::append_range(coefficients, update.has("quintic") ? ofStep : kSimple);
  DenseI64ArrayAttr restarts;
  if (update.has("gram") && shape[0] != shape[1])
    restarts = builder.getDenseI64ArrayAttr(kRestarts);
  return matrix.reshape({1, shape[0], shape[1]})
      .apply<OrthogonalizeOp>(
          least.fill({1}), builder.getDenseF64ArrayAttr(coefficients), restarts,
          addsLeast ? builder.getUnitAttr() : UnitAttr())
      .reshape(shape);
}

static int64_t countIteration(ArrayRef<StringRef> given,
                              ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> outputAxes) {
  MatrixForm form(shape, outputAxes);
  bool isGram = llvm::is_contained(given, "gram") && form.rows != form.columns;
  return OrthogonalizeOp::countFlops(form.rows, form.columns, kSteps,
                                     isGram ? std::size(kRestarts) : 0);
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
  return orthogonalize(update, form.toMatrix(direction), update.scalar("eps"),
                       addsEps);
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
