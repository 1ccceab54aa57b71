//===- VectorBody.h - An op's scalar body on vectors ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORBODY_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_VECTORBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace mlir::hfta {

/// Clones the body of a linalg.generic for some neighbours along an axis.
/// Values that are the same in all lanes stay scalar; with one lane everything
/// does.
class VectorBody {
public:
  VectorBody(OpBuilder &builder, linalg::GenericOp op,
             std::optional<unsigned> axis, int64_t lanes)
      : builder(builder), op(op), axis(axis), lanes(lanes) {}

  /// Clones the body; `arguments` are scalars or vectors, `position` is the
  /// index of the first lane. Returns what the body yields, as vectors if there
  /// are lanes.
  SmallVector<Value> clone(ValueRange arguments, ValueRange position);

  /// Broadcasts a scalar to all lanes.
  Value broadcast(Location loc, Value value);

private:
  void cloneOp(Operation &inner);
  void cloneOnVectors(Operation &inner);
  void cloneLaneByLane(Operation &inner);
  /// Creates a vector load if the op reads neighbours in memory; returns null
  /// otherwise.
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
