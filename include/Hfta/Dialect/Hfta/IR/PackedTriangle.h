//===- PackedTriangle.h - Symmetric matrices, packed ------------*- C++ -*-===//
//
// Of a symmetric matrix the lower triangle is stored, row by row: element
// (i, j), j <= i, at i (i + 1) / 2 + j.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_PACKEDTRIANGLE_H
#define HFTA_DIALECT_HFTA_IR_PACKEDTRIANGLE_H

#include <cstdint>
#include <optional>

namespace mlir::hfta {

/// Stored elements of a matrix of `side` rows; nothing if they are too many for
/// a tensor.
std::optional<int64_t> getPackedSize(int64_t side);
/// Rows of a matrix of `size` stored elements; nothing if there is none.
std::optional<int64_t> getPackedSide(int64_t size);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_PACKEDTRIANGLE_H
