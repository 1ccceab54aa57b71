//===- VectorBody.h - An op's scalar body on vectors ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORBODY_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace mlir::hfta {

/// Clones the body of a linalg.generic for neighbours along an axis, one in
/// each lane of a vector. Values that are equal in all lanes stay scalars; with
/// one lane all values do.
class VectorBody {
public:
  VectorBody(OpBuilder &builder, linalg::GenericOp op,
             std::optional<unsigned> axis, int64_t lanes)
      : builder(builder), op(op), axis(axis), lanes(lanes) {}

  /// Clones the body. `arguments` are scalars or vectors; `position` holds the
  /// indices of the first lane. Returns the values that the body yields, as
  /// vectors if there are several lanes.
  SmallVector<Value> clone(ValueRange arguments, ValueRange position);

  /// Broadcasts a scalar to all lanes; a vector, or any value with one lane,
  /// stays as it is.
  Value broadcast(Location loc, Value value);

private:
  void cloneOp(Operation &inner);
  void cloneOnVectors(Operation &inner);
  void cloneLaneByLane(Operation &inner);
  /// Creates a vector load if the op loads an element that is contiguous
  /// between lanes; else returns null.
  Value cloneAsVectorLoad(Operation &inner);
  Value createIndex(linalg::IndexOp index);
  bool isUniform(Value value) const {
    return !isa<VectorType>(mapping.lookupOrDefault(value).getType());
  }

  OpBuilder &builder;
  linalg::GenericOp op;
  std::optional<unsigned> axis;
  int64_t lanes;
  SmallVector<Value> position;
  IRMapping mapping;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORBODY_H
