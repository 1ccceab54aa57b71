//===- PackedTriangle.h - Symmetric matrices, packed ------------*- C++ -*-===//
//
// A symmetric matrix is stored as its lower triangle, row by row: element (i,
// j), j <= i, at i (i + 1) / 2 + j.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_PACKEDTRIANGLE_H
#define HFTA_DIALECT_HFTA_IR_PACKEDTRIANGLE_H

#include <cstdint>
#include <optional>

namespace mlir::hfta {

/// Returns the number of stored elements of a matrix with `side` rows, or
/// nothing if `side` is negative or at least 2^31.
std::optional<int64_t> getPackedSize(int64_t side);
/// Returns the number of rows of a matrix with `size` stored elements, or
/// nothing if no matrix has that many.
std::optional<int64_t> getPackedSide(int64_t size);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_PACKEDTRIANGLE_H
