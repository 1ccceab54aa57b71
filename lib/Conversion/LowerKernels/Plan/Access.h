//===- Access.h - Operands' memory accesses by vectors ----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ACCESS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ACCESS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::hfta {

/// The way in which vectors along an axis access an operand.
struct Access {
  enum Kind {
    Uniform,   ///< one element for all lanes
    Strided,   ///< every `stride`-th element
    Scattered, ///< anywhere
    /// Contiguous only along the innermost reduction: vectors along the
    /// reduction are read for all lanes and transposed.
    Transposed
  };
  Kind kind = Uniform;
  int64_t stride = 0;

  bool isContiguous() const { return kind == Strided && stride == 1; }
  /// Returns whether the elements are picked from whole vectors by shuffles.
  bool isShuffled() const {
    return kind == Strided && stride > 1 && stride <= 4;
  }
};

/// Returns by how much an index grows when `axis`, one of `dims` loop axes,
/// grows by 1; nothing if that isn't constant.
std::optional<int64_t> getStep(AffineExpr index, unsigned axis, unsigned dims);

/// Returns how an operand is accessed by vectors along `axis`; without an axis,
/// by scalars. If `packed` is the operand's number, it is read from a panel,
/// where a vector's elements are neighbours.
Access getAccess(linalg::GenericOp op, OpOperand &operand,
                 std::optional<unsigned> axis,
                 std::optional<unsigned> packed = std::nullopt);

/// Returns whether an input other than the one whose number is `packed` is read
/// by transposing vectors if vectors run along `axis`.
bool transposes(linalg::GenericOp op, std::optional<unsigned> axis,
                std::optional<unsigned> packed);

/// Returns the bytes that an element of a tensor, vector or memref takes in
/// memory.
int64_t getStoredElementBytes(Type type);

/// Returns the distance between neighbouring rows of an operand in bytes; 0 if
/// it has a single axis.
int64_t getRowBytes(MemRefType type);

/// Returns by how many bytes an operand's address grows when a loop's `axis`
/// grows by 1; 0 if it doesn't, or by how much isn't known.
int64_t getStrideBytes(linalg::GenericOp op, OpOperand &operand, unsigned axis);

/// The number of a product's last inputs that its body doesn't use: its
/// epilogue's operands (Emit/Epilogue.h).
inline constexpr llvm::StringLiteral kEpilogueInputsAttrName =
    "hfta.epilogue_inputs";

/// Returns the number of inputs that only an op's epilogue uses.
unsigned countEpilogueInputs(linalg::GenericOp op);
/// Returns whether only an op's epilogue uses an operand.
bool isOfEpilogue(linalg::GenericOp op, OpOperand &operand);

/// Returns the innermost reduction axis; nothing if the op isn't a sum.
std::optional<unsigned> getInnermostReduction(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ACCESS_H
