//===- KroneckerOptimizers.cpp - Second moments of rows and columns -------===//
//
// Records of optimizers that keep a Kronecker factor for each side of a matrix:
// a mean of G Gᵀ for its rows and one of Gᵀ G for its columns, G being a
// gradient. Their eigenvectors are the bases in which a step is scaled.
//===----------------------------------------------------------------------===//

#include "MatrixForm.h"

using namespace mlir;
using namespace mlir::hfta;
using Kind = ParameterInfo::Kind;

static constexpr ParameterInfo kEvery = {"every", NumberRange::wholeFrom(1),
                                         10};

namespace {

/// One side of a matrix: its factor, a mean of second moments, and the basis
/// that follows from it.
class Side {
public:
  /// `axis` is that of the matrix along which the side's rows or columns are
  /// counted. `states` begin with "row" or "column".
  Side(OptimizerUpdate &update, StringRef prefix, int64_t axis, int64_t size,
       Type type)
      : update(update), prefix(prefix), axis(axis), size(size), type(type) {}

  int64_t getAxis() const { return axis; }
  int64_t getSize() const { return size; }
  Expression &state(StringRef name) {
    return update.state((prefix + name).str());
  }
  Expression getBasis() { return state("_basis").to(type); }

  /// Multiplies this side of a matrix by the transposed basis or, with
  /// `isBack`, by the basis.
  Expression rotate(const Expression &matrix, bool isBack = false) {
    return axis == 0 ? multiplyMatrices(getBasis(), matrix, !isBack)
                     : multiplyMatrices(matrix, getBasis(), false, isBack);
  }

  /// Moves the factor towards the second moment of a matrix' rows or columns,
  /// times `scale`, by the share 1 - `beta2`.
  void addMoment(const Expression &matrix, double scale) {
    OpBuilder &builder = update.getBuilder();
    Expression moment = matrix.apply<SecondMomentOp>(
        Value(), builder.getDenseI64ArrayAttr({}),
        builder.getDenseI64ArrayAttr({axis}), builder.getF64FloatAttr(scale),
        /*ones=*/UnitAttr(), /*accumulate=*/TypeAttr());
    Expression &factor = state("_factor");
    ArrayRef<int64_t> shape = factor.getShape();
    Expression decay = update.scalar("beta2");
    auto fill = [&](const Expression &scalar) {
      return scalar.to(type).fill(shape);
    };
    factor = fill(decay) * factor.to(type) +
             fill(1.0 - decay) * moment.reshape(shape);
  }

  /// Decomposes the factor where `isDue` isn't 0. Returns its eigenvalues,
  /// which are 0 elsewhere.
  Expression decompose(const Expression &isDue) {
    Expression start = getBases();
    auto eigen =
        SymmetricEigenOp::create(update.getBuilder(), Value(start).getLoc(),
                                 getFactors(), start, isDue.to(type).fill({1}));
    setBasis(start.at(eigen.getBasis()));
    return start.at(eigen.getValues()).reshape({size});
  }
  /// Moves the basis by a step of orthogonal iteration where `isDue` isn't 0.
  void iterate(const Expression &isDue) {
    setBasis(getFactors().apply<OrthogonalIterationOp>(
        getBases(), isDue.to(type).fill({1})));
  }

private:
  /// The factor and the basis as tensors of one matrix.
  Expression getFactors() {
    Expression factor = state("_factor").to(type);
    return factor.reshape({1, factor.getShape().front()});
  }
  Expression getBases() { return getBasis().reshape({1, size, size}); }
  void setBasis(const Expression &bases) {
    state("_basis") = bases.reshape({size, size});
  }

  OptimizerUpdate &update;
  StringRef prefix;
  int64_t axis, size;
  Type type;
};

/// The matrix that a parameter is, with the sides that have factors.
struct Sides {
  Sides(OptimizerUpdate &update)
      : form(update.parameter.getShape(), update.getOutputAxes()),
        type(update.getComputeType()) {
    // A basis needs the precision of f32.
    if (type.getIntOrFloatBitWidth() < 32)
      type = Float32Type::get(type.getContext());
    auto add = [&](StringRef prefix, int64_t axis, int64_t size) {
      if (update.hasState((prefix + "_factor").str()))
        sides.emplace_back(update, prefix, axis, size, type);
    };
    add("row", form.isTransposed ? 1 : 0, form.rows);
    add("column", form.isTransposed ? 0 : 1, form.columns);
  }

  Expression toMatrix(const Expression &tensor) const {
    return form.toMatrix(tensor.to(type));
  }
  Expression rotate(Expression matrix, bool isBack = false) {
    for (Side &side : sides)
      matrix = side.rotate(matrix, isBack);
    return matrix;
  }

  MatrixForm form;
  Type type;
  SmallVector<Side, 2> sides;
};

} // namespace

/// Returns whether a whole number is a multiple of another one.
static Expression isMultiple(const Expression &number, const Expression &of) {
  return ((number / of).apply<FloorOp>() * of)
      .compare(ComparePredicate::equal, number);
}
/// Returns the running mean of gradients after this one.
static Expression addGradient(OptimizerUpdate &update, const Expression &mean) {
  return mean * update.filled("beta1") +
         update.fill(1.0 - update.scalar("beta1")) * update.gradient;
}
/// Returns 1 where a condition, a scalar, holds, and 0 elsewhere.
static Expression toNumber(const Expression &condition,
                           const Expression &scalar) {
  return condition.select(scalar.splat(1.0), 0.0);
}

//===----------------------------------------------------------------------===//
// SOAP
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kSoapParameters[] = {
    {"lr", NumberRange::nonNegative(), 3e-3},
    {"beta1", NumberRange::belowOne(), 0.95},
    {"beta2", NumberRange::belowOne(), 0.95},
    kEps,
    {"weight_decay", NumberRange::nonNegative(), 0.01},
    kEvery};
static constexpr OptimizerState kSoapStates[] = {
    {"exp_avg"},
    {"exp_avg_sq"},
    {"row_factor", 0, "", StateExtent::rowTriangle, /*leastRank=*/2},
    {"column_factor", 0, "", StateExtent::columnTriangle},
    {"row_basis", 0, "", StateExtent::rowSquare, /*leastRank=*/2},
    {"column_basis", 0, "", StateExtent::columnSquare}};

/// Updates as SOAP (N. Vyas et al., "SOAP: improving and stabilizing Shampoo
/// using Adam", 2024): as Adam, in the bases of the eigenvectors of both
/// factors. The mean of gradients stays outside of the bases, which gives the
/// same steps, as a change of bases doesn't lose anything of it. The first
/// update only finds bases; nothing moves.
static void updateSoap(OptimizerUpdate &update) {
  Sides all(update);
  Expression step = update.scalar("step");
  Expression isFirst = step.compare(ComparePredicate::less, 0.5);
  ArrayRef<int64_t> shape = update.parameter.getShape();
  auto unlessFirst = [&](const Expression &now, const Expression &old) {
    return isFirst.fill(shape).select(old, now);
  };
  Expression gradient = all.toMatrix(update.gradient);

  Expression &mean = update.state("exp_avg");
  mean = unlessFirst(addGradient(update, mean), mean);
  Expression rotated =
      all.form.toTensor(all.rotate(gradient)).to(update.getComputeType());
  Expression &squares = update.state("exp_avg_sq");
  squares = unlessFirst(addSquare(update, squares, "beta2", rotated), squares);

  auto correct = [&](StringRef beta) {
    return 1.0 - update.scalar(beta).apply<PowOp>(step);
  };
  Expression rate =
      update.scalar("lr") * correct("beta2").apply<SqrtOp>() / correct("beta1");
  Expression divisor = squares.apply<SqrtOp>() + update.filled("eps");
  Expression move = all.rotate(
      all.rotate(all.toMatrix(mean)) / all.toMatrix(divisor), /*isBack=*/true);
  Expression old = update.parameter;
  update.parameter =
      update.parameter -
      update.fill(rate) * all.form.toTensor(move).to(update.getComputeType());
  decayWeights(update);
  update.parameter = unlessFirst(update.parameter, old);

  Expression isDue = toNumber(isMultiple(step, update.scalar("every")), step);
  for (Side &side : all.sides) {
    side.addMoment(gradient, /*scale=*/1.0);
    (void)side.decompose(toNumber(isFirst, step));
    side.iterate(isFirst.select(0.0, isDue));
  }
}

//===----------------------------------------------------------------------===//
// Shampoo
//===----------------------------------------------------------------------===//

static constexpr ParameterInfo kShampooRate = {"lr", NumberRange::nonNegative(),
                                               1e-2};
static constexpr ParameterInfo kShampooEps = {"eps", NumberRange::positive(),
                                              1e-12};
static constexpr ParameterInfo kExponent = {
    "exponent", NumberRange::positive(), {}, Kind::optional};
static constexpr ParameterInfo kGraft = {
    "graft", NumberRange::any(), {}, Kind::word, "", "none|adam"};
static constexpr ParameterInfo kGraftEps = {"graft_eps",
                                            NumberRange::nonNegative(), 1e-8};
static constexpr ParameterInfo kShampooParameters[] = {
    kShampooRate, kBeta1,    kBeta2, kShampooEps, kWeightDecay,
    kEvery,       kExponent, kGraft, kGraftEps};
static constexpr ParameterInfo kKlParameters[] = {
    kShampooRate,
    kBeta1,
    kBeta2,
    kShampooEps,
    kWeightDecay,
    kEvery,
    kExponent,
    kGraft,
    kGraftEps,
    {"moments", NumberRange::any(), {}, Kind::word, "", "means|sums"}};
static constexpr OptimizerState kShampooStates[] = {
    {"exp_avg"},
    {"exp_avg_sq", 0, /*onlyWith=*/"adam"},
    {"row_factor", 0, "", StateExtent::rowTriangle},
    {"column_factor", 0, "", StateExtent::columnTriangle},
    {"row_basis", 0, "", StateExtent::rowSquare},
    {"column_basis", 0, "", StateExtent::columnSquare},
    {"row_eigenvalues", 0, "", StateExtent::rowSide},
    {"column_eigenvalues", 0, "", StateExtent::columnSide}};

namespace {

/// An update of Shampoo. Roots of factors are powers of their eigenvalues.
class Shampoo {
public:
  Shampoo(OptimizerUpdate &update, double exponentOfMatrices)
      : update(update), all(update), step(update.scalar("step")),
        exponent(update.has("exponent")
                     ? update.scalar("exponent")
                     : step.splat(update.parameter.getShape().size() < 2
                                      ? 0.5
                                      : exponentOfMatrices)),
        hasBases(findBases(step)) {}

  /// Adds second moments to all factors. With `isPaired`, each side gets those
  /// of the gradient after division by the root of the other side's factor,
  /// divided by the other side's length if `isMean`.
  void addMoments(bool isPaired, bool isMean);
  void decompose();
  void move();

private:
  /// Returns 1 if bases exist after this number of updates, else 0: they do
  /// from the first update on in which they were due.
  Expression findBases(const Expression &updates) {
    return updates.compare(ComparePredicate::less, update.scalar("every"))
        .select(step.splat(0.0), 1.0);
  }
  /// Returns the powers of a side's eigenvalues, along this side of a matrix.
  Expression getPowers(Side &side, ArrayRef<int64_t> shape) {
    Expression values =
        side.state("_eigenvalues").to(all.type) +
        update.scalar("eps").to(all.type).fill({side.getSize()});
    Expression powers =
        values.apply<PowOp>((-exponent).to(all.type).fill({side.getSize()}));
    return powers.repeat(shape, {1 - side.getAxis()});
  }
  Expression choose(const Expression &condition, const Expression &onTrue,
                    const Expression &onFalse) {
    return condition.compare(ComparePredicate::greater, 0.5)
        .fill(onTrue.getShape())
        .select(onTrue, onFalse);
  }

  OptimizerUpdate &update;
  Sides all;
  Expression step, exponent, hasBases;
};

} // namespace

void Shampoo::addMoments(bool isPaired, bool isMean) {
  Expression gradient = all.toMatrix(update.gradient);
  ArrayRef<int64_t> shape = gradient.getShape();
  bool isMatrix = update.parameter.getShape().size() >= 2;
  SmallVector<Expression> divided(all.sides.size(), gradient);
  for (auto [side, matrix] : llvm::zip_equal(all.sides, divided))
    for (Side &other : all.sides)
      // A rotation back wouldn't change this side's moments.
      if (isPaired && &other != &side)
        matrix =
            choose(hasBases, other.rotate(gradient) * getPowers(other, shape),
                   gradient);
  for (auto [side, matrix] : llvm::zip_equal(all.sides, divided))
    side.addMoment(matrix,
                   isMean && isMatrix
                       ? 1.0 / static_cast<double>(shape[1 - side.getAxis()])
                       : 1.0);
}

void Shampoo::decompose() {
  Expression updates = step + 1.0;
  Expression isDue =
      toNumber(isMultiple(updates, update.scalar("every")), step);
  for (Side &side : all.sides) {
    Expression values = side.decompose(isDue);
    Expression correction =
        correct(update, "beta2").to(all.type).fill({side.getSize()});
    Expression &known = side.state("_eigenvalues");
    known = choose(isDue, values / correction, known.to(all.type));
  }
  hasBases = findBases(updates);
}

void Shampoo::move() {
  constexpr double kLeastNorm = 1e-16;
  Expression &sums = update.state("exp_avg");
  sums = addGradient(update, sums);
  Expression mean = sums / update.fill(correct(update, "beta1"));
  Expression matrix = all.toMatrix(mean);
  Expression scaled = all.rotate(matrix);
  for (Side &side : all.sides)
    scaled = scaled * getPowers(side, matrix.getShape());
  scaled = all.form.toTensor(all.rotate(scaled, /*isBack=*/true))
               .to(update.getComputeType());
  Expression plain = mean;
  if (update.has("adam")) {
    Expression &squares = update.state("exp_avg_sq");
    squares = addSquare(update, squares, "beta2", update.gradient);
    Expression root =
        (squares / update.fill(correct(update, "beta2"))).apply<SqrtOp>();
    plain = mean / (root + update.filled("graft_eps"));
    Expression ratio = update.norm(plain) / (update.norm(scaled) + kLeastNorm);
    scaled = scaled * update.fill(ratio);
  }
  Expression step = choose(hasBases, scaled, plain) +
                    update.filled("weight_decay") * update.parameter;
  update.parameter = update.parameter - update.filled("lr") * step;
}

/// Updates as Shampoo (V. Gupta et al., "Shampoo: preconditioned stochastic
/// tensor optimization", 2018; grafting, corrections and the vectors' exponent
/// of H.-J. M. Shi et al., "A distributed data-parallel PyTorch implementation
/// of the distributed Shampoo optimizer", 2023).
static void updateShampoo(OptimizerUpdate &update) {
  Shampoo shampoo(update, /*exponentOfMatrices=*/0.25);
  shampoo.addMoments(/*isPaired=*/false, /*isMean=*/false);
  shampoo.decompose();
  shampoo.move();
}

/// Updates as KL-Shampoo (W. Lin et al., "Understanding and improving Shampoo
/// and SOAP via Kullback-Leibler minimization", 2025).
static void updateKlShampoo(OptimizerUpdate &update) {
  Shampoo shampoo(update, /*exponentOfMatrices=*/0.5);
  shampoo.addMoments(/*isPaired=*/true, /*isMean=*/!update.has("sums"));
  shampoo.decompose();
  shampoo.move();
}

//===----------------------------------------------------------------------===//
// The records
//===----------------------------------------------------------------------===//

/// Returns the flops of `products` multiplications of a matrix by a square on
/// each side.
static int64_t countTurns(ArrayRef<int64_t> shape, ArrayRef<int64_t> outputAxes,
                          int64_t products) {
  MatrixForm form(shape, outputAxes);
  int64_t flops = 0;
  for (int64_t side : {form.rows, form.columns})
    if (side <= kMostSide)
      flops += 2 * products * side * form.rows * form.columns;
  return flops;
}

/// Two factors' moments, and three rotations.
static int64_t countSoap(ArrayRef<StringRef>, ArrayRef<int64_t> shape,
                         ArrayRef<int64_t> outputAxes) {
  return shape.size() < 2 ? 0 : countTurns(shape, outputAxes, 4);
}
/// Two factors' moments, and a rotation there and back.
static int64_t countShampoo(ArrayRef<StringRef>, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> outputAxes) {
  return countTurns(shape, outputAxes, 3);
}
/// Two factors' moments, a rotation there and back, and one for each moment.
static int64_t countKlShampoo(ArrayRef<StringRef>, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> outputAxes) {
  return countTurns(shape, outputAxes, 4);
}

ArrayRef<OptimizerInfo> hfta::getKroneckerOptimizers() {
  static constexpr OptimizerInfo kOptimizers[] = {
      {"soap", kSoapParameters, kSoapStates, /*usesStep=*/true, updateSoap,
       "`adam` in the eigenbases of a matrix' factors, running means of G Gᵀ "
       "and Gᵀ G; the first update finds bases and moves nothing, and every "
       "`every` updates the bases make a step of orthogonal iteration; a "
       "weight is a matrix with a row for each output of its layer, and a side "
       "of more than 10000 has no basis; vectors are updated as by `adam`, one "
       "update later; decoupled weight decay",
       MatrixUse::also, countSoap},
      {"shampoo", kShampooParameters, kShampooStates, /*usesStep=*/true,
       updateShampoo,
       "the mean gradient M as L^-`exponent` · M · R^-`exponent`, where L and "
       "R are running means of G Gᵀ and Gᵀ G plus `eps`, and `exponent` is 1/4 "
       "for matrices and 1/2 for vectors, which have only L; roots are taken "
       "anew every `every` updates, and before the first time steps are M; "
       "`graft = adam`: steps have the norms of Adam's, whose epsilon is "
       "`graft_eps`, and are Adam's before that time; matrices are those of "
       "`soap`; "
       "decoupled weight decay",
       MatrixUse::also, countShampoo},
      {"kl_shampoo", kKlParameters, kShampooStates, /*usesStep=*/true,
       updateKlShampoo,
       "`shampoo`, of which L gets G R^-2`exponent` Gᵀ and R gets Gᵀ "
       "L^-2`exponent` G, divided by the number of columns or of rows with "
       "`moments = means`; `exponent` is 1/2 if not given",
       MatrixUse::also, countKlShampoo},
  };
  return kOptimizers;
}
