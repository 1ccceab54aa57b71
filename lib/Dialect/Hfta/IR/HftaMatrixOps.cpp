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

/// Counts n^3 flops for n rows: a third each for the Cholesky decomposition,
/// the inverse of the triangle, and its product with its transpose.
int64_t SpdInverseOp::getFlops() {
  RankedTensorType type = getPlainType(getFactor());
  int64_t rows = *getPackedSide(type.getDimSize(1));
  return multiplySizes({type.getDimSize(0), rows, rows, rows});
}

//===----------------------------------------------------------------------===//
// Eigenvectors
//===----------------------------------------------------------------------===//

LogicalResult SymmetricEigenOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  FailureOr<int64_t> rows = checkPacked(location, adaptor.getFactor());
  if (failed(rows))
    return failure();
  RankedTensorType type = getPlainType(adaptor.getFactor());
  int64_t matrices = type.getDimSize(0);
  auto basis =
      RankedTensorType::get({matrices, *rows, *rows}, type.getElementType());
  if (failed(checkOperand(location, "start", adaptor.getStart(), basis)))
    return failure();
  give(adaptor.getOperands(), basis.getShape(), type.getElementType(), types);
  give(adaptor.getOperands(), {matrices, *rows}, type.getElementType(), types);
  return success();
}

/// Counts the flops of a direct method. An iteration that begins near the
/// result may need fewer.
int64_t SymmetricEigenOp::getFlops() {
  static constexpr int64_t kFlopsAnElement = 9;
  RankedTensorType type = getPlainType(getFactor());
  int64_t rows = *getPackedSide(type.getDimSize(1));
  return multiplySizes({type.getDimSize(0), rows, rows, rows, kFlopsAnElement});
}
