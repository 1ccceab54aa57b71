//===- HftaMatrixOps.cpp - Inverses and eigenvectors: types and flops -----===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
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
