//===- HftaMatrixOps.cpp - Algorithms on whole matrices -------------------===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"

using namespace mlir;
using namespace mlir::hfta;

static RankedTensorType getPlainType(Value value) {
  return getLogicalType(value.getType());
}

/// Appends a tensor type to `types`: `shape` is the shape for one copy, and the
/// type is arrayed if an operand is.
static void give(ValueRange operands, ArrayRef<int64_t> shape, Type elementType,
                 SmallVectorImpl<Type> &types) {
  types.push_back(withCopies(RankedTensorType::get(shape, elementType),
                             getCopies(TypeRange(operands))));
}

/// Returns the number of rows of a factor's packed matrices. Emits an error if
/// it doesn't consist of packed matrices of f32 or f64.
static FailureOr<int64_t> checkPacked(std::optional<Location> location,
                                      Value factor) {
  RankedTensorType type = getPlainType(factor);
  if (type.getRank() != 2)
    return emitOptionalError(location,
                             "expected factors [matrices, elements], "
                             "got ",
                             type);
  if (!type.getElementType().isF32() && !type.getElementType().isF64())
    return emitOptionalError(location, "expected factors of f32 or f64, got ",
                             type);
  std::optional<int64_t> rows = getPackedSide(type.getDimSize(1));
  if (!rows || *rows == 0)
    return emitOptionalError(location, "no triangle has ", type.getDimSize(1),
                             " elements, as the rows of ", type, " do");
  return *rows;
}

static LogicalResult checkOperand(std::optional<Location> location,
                                  StringRef name, Value operand,
                                  RankedTensorType expected) {
  if (getPlainType(operand) == expected)
    return success();
  return emitOptionalError(location, "expected ", name, " ", expected, ", got ",
                           getPlainType(operand));
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

LogicalResult SpdInverseOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  if (failed(checkPacked(location, adaptor.getFactor())))
    return failure();
  RankedTensorType type = getPlainType(adaptor.getFactor());
  int64_t matrices = type.getDimSize(0);
  if (failed(checkOperand(
          location, "damping", adaptor.getDamping(),
          RankedTensorType::get({matrices}, type.getElementType()))) ||
      failed(checkOperand(location, "old inverses", adaptor.getOld(), type)))
    return failure();
  give(adaptor.getOperands(), type.getShape(), type.getElementType(), types);
  give(adaptor.getOperands(), {matrices}, IntegerType::get(context, 32), types);
  return success();
}

/// Returns the flops of an algorithm that needs `flops` n^3 for n rows.
static int64_t countCubes(Value factor, int64_t flops) {
  RankedTensorType type = getPlainType(factor);
  int64_t rows = *getPackedSide(type.getDimSize(1));
  return multiplySizes({type.getDimSize(0), rows, rows, rows, flops});
}

/// Counts n^3 flops for n rows: a third each for the Cholesky decomposition,
/// the inverse of the triangle, and its product with its transpose.
int64_t SpdInverseOp::getFlops() { return countCubes(getFactor(), 1); }

//===----------------------------------------------------------------------===//
// Eigenvectors
//===----------------------------------------------------------------------===//

/// Checks the operands of an op that finds bases, of which `due` may be null,
/// and returns the type of these bases.
static FailureOr<RankedTensorType> checkBases(std::optional<Location> location,
                                              Value factor, Value start,
                                              Value due) {
  FailureOr<int64_t> rows = checkPacked(location, factor);
  if (failed(rows))
    return failure();
  RankedTensorType type = getPlainType(factor);
  int64_t matrices = type.getDimSize(0);
  auto basis =
      RankedTensorType::get({matrices, *rows, *rows}, type.getElementType());
  if (failed(checkOperand(location, "start", start, basis)) ||
      (due && failed(checkOperand(
                  location, "due", due,
                  RankedTensorType::get({matrices}, type.getElementType())))))
    return failure();
  return basis;
}

LogicalResult SymmetricEigenOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> basis = checkBases(
      location, adaptor.getFactor(), adaptor.getStart(), adaptor.getDue());
  if (failed(basis))
    return failure();
  give(adaptor.getOperands(), basis->getShape(), basis->getElementType(),
       types);
  give(adaptor.getOperands(), basis->getShape().drop_back(),
       basis->getElementType(), types);
  return success();
}

/// Counts the flops of a direct method. An iteration that begins near the
/// result may need fewer.
int64_t SymmetricEigenOp::getFlops() { return countCubes(getFactor(), 9); }

LogicalResult OrthogonalIterationOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> basis = checkBases(
      location, adaptor.getFactor(), adaptor.getStart(), adaptor.getDue());
  if (failed(basis))
    return failure();
  give(adaptor.getOperands(), basis->getShape(), basis->getElementType(),
       types);
  return success();
}

/// Counts 14/3 n^3 flops for n rows, rounded up: 2 for the product, 4/3 for the
/// reflections and 4/3 for the product of these.
int64_t OrthogonalIterationOp::getFlops() { return countCubes(getFactor(), 5); }

//===----------------------------------------------------------------------===//
// Newton-Schulz iterations
//===----------------------------------------------------------------------===//

LogicalResult OrthogonalizeOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType type = getPlainType(adaptor.getMatrices());
  if (type.getRank() != 3)
    return emitOptionalError(
        location, "expected matrices [matrices, rows, columns], got ", type);
  if (failed(checkOperand(location, "least norms", adaptor.getLeast(),
                          RankedTensorType::get({type.getDimSize(0)},
                                                Float64Type::get(context)))))
    return failure();
  size_t numbers = adaptor.getCoefficients().size();
  if (numbers == 0 || numbers % 3 != 0)
    return emitOptionalError(
        location, "expected three coefficients a step, got ", numbers);
  if (std::optional<ArrayRef<int64_t>> restarts = adaptor.getRestarts()) {
    auto steps = static_cast<int64_t>(numbers / 3);
    bool ascends = !restarts->empty() && restarts->front() == 0 &&
                   restarts->back() < steps;
    for (size_t index = 1; index < restarts->size(); ++index)
      ascends &= (*restarts)[index] > (*restarts)[index - 1];
    if (!ascends)
      return emitOptionalError(
          location, "expected restarts that ascend from 0 and are less than ",
          steps, ", the number of steps");
  }
  give(adaptor.getOperands(), type.getShape(), type.getElementType(), types);
  return success();
}

int64_t OrthogonalizeOp::countFlops(int64_t rows, int64_t columns,
                                    int64_t steps, int64_t restarts) {
  int64_t narrow = std::min(rows, columns), wide = std::max(rows, columns);
  if (restarts == 0)
    return steps * narrow * narrow * (4 * wide + 2 * narrow);
  return narrow * narrow *
         (4 * restarts * wide + (8 * steps - 6 * restarts) * narrow);
}

int64_t OrthogonalizeOp::getFlops() {
  ArrayRef<int64_t> shape = getMatrices().getType().getShape();
  return multiplySizes(
      {shape[0], countFlops(shape[1], shape[2],
                            static_cast<int64_t>(getCoefficients().size() / 3),
                            getRestarts() ? getRestarts()->size() : 0)});
}

namespace {
/// The coefficients of one step, which replaces X by a X + (b A + c A^2) X.
struct NewtonSchulzStep {
  double a, b, c;

  Expression getChange(const Expression &gram) const {
    return b * gram + c * multiplyMatrices(gram, gram);
  }
};
} // namespace

static bool isTall(const Expression &matrices) {
  return matrices.getShape()[1] > matrices.getShape()[2];
}

/// Returns the Gram matrices of the shorter sides.
static Expression getGram(const Expression &matrices) {
  return multiplyMatrices(matrices, matrices, isTall(matrices),
                          !isTall(matrices));
}

/// Multiplies the shorter sides of `matrices` by symmetric matrices.
static Expression multiplyShorter(const Expression &matrices,
                                  const Expression &squares) {
  return isTall(matrices) ? multiplyMatrices(matrices, squares)
                          : multiplyMatrices(squares, matrices);
}

static Expression orthogonalize(Expression matrices,
                                ArrayRef<NewtonSchulzStep> steps) {
  for (const NewtonSchulzStep &step : steps) {
    Expression change = step.getChange(getGram(matrices));
    matrices = step.a * matrices + multiplyShorter(matrices, change);
  }
  return matrices;
}

/// Does the same steps without the matrix, on its Gram matrix A: X is
/// multiplied by Q = P + s I at the end. A step's factor Z + a I multiplies Q
/// and, from both sides, A. Source: "Gram Newton-Schulz", Dao AI Lab, 2026.
static Expression orthogonalizeByGram(const Expression &matrices,
                                      ArrayRef<NewtonSchulzStep> steps) {
  Expression gram = getGram(matrices), whole;
  double part = 1; // s; without `whole`, P is 0
  for (const auto &[index, step] : llvm::enumerate(steps)) {
    Expression change = step.getChange(gram);
    Expression next = change * part;
    if (!whole.isNull())
      next = multiplyMatrices(whole, change) + step.a * whole + next;
    whole = next;
    part *= step.a;
    if (index + 1 == steps.size())
      break;
    Expression half = multiplyMatrices(gram, change) + step.a * gram;
    gram = multiplyMatrices(change, half) + step.a * half;
  }
  return part * matrices + multiplyShorter(matrices, whole);
}

SmallVector<Value> OrthogonalizeOp::decompose(OpBuilder &builder) {
  Expression matrices(builder, getLoc(), getMatrices());
  Expression wide = matrices.to(builder.getF64Type());
  Expression norm = (wide * wide).sum({1, 2}).apply<SqrtOp>();
  Expression least = norm.at(getLeast());
  norm = getAdded() ? norm + least : norm.apply<MaxOp>(least);
  matrices =
      matrices /
      norm.to(matrices.getElementType()).repeat(matrices.getShape(), {1, 2});

  SmallVector<NewtonSchulzStep> steps;
  ArrayRef<double> numbers = getCoefficients();
  for (; !numbers.empty(); numbers = numbers.drop_front(3))
    steps.push_back({numbers[0], numbers[1], numbers[2]});
  if (!getRestarts())
    return giveResults(*this, builder, {orthogonalize(matrices, steps)});
  ArrayRef<int64_t> restarts = *getRestarts();
  for (auto [index, first] : llvm::enumerate(restarts)) {
    size_t end =
        index + 1 < restarts.size() ? restarts[index + 1] : steps.size();
    matrices = orthogonalizeByGram(matrices,
                                   ArrayRef(steps).slice(first, end - first));
  }
  return giveResults(*this, builder, {matrices});
}
