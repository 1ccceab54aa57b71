//===- Activation.h - Operands and results of layers with windows -*- C++ -*-=//
//
// Convolutions and pooling are defined on tensors [n, c, space…].
// hfta-assign-layouts stores some of these tensors as [n, space…, c] and
// inserts transpositions where a kernel reads or writes them. The lowerings
// look through these transpositions and work on the stored tensors.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_ACTIVATION_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_ACTIVATION_H

#include "LoweringUtils.h"

namespace mlir::hfta {

/// An activation, or the gradient of one, with its axes in the order in which
/// they are stored.
struct Activation {
  Value elements;
  bool channelsLast; ///< the order is [n, space…, c] rather than [n, c, space…]

  /// Returns the activation behind `logical`, which has axes [n, c, space…]. If
  /// `logical` is a transposition of a tensor with channels last, the
  /// activation is that tensor.
  static Activation get(Value logical);

  size_t getRank() const { return getTensorType(elements).getRank(); }
  size_t getFirstSpace() const { return channelsLast ? 1 : 2; }
  size_t getChannelAxis() const { return channelsLast ? getRank() - 1 : 1; }
  ArrayRef<int64_t> getSpace() const {
    return getShape(elements).slice(getFirstSpace(), getRank() - 2);
  }

  /// Returns the tensor with channels last if `wanted`, else with channels
  /// first. Packs a copy if it is stored in the other order.
  Activation store(OpBuilder &builder, Location loc, bool wanted) const;
  /// Returns the tensor padded with `scalar` along the spatial axes. `low` and
  /// `high` have one amount for each spatial axis; a negative amount cuts
  /// elements off.
  Activation pad(OpBuilder &builder, Location loc, ArrayRef<int64_t> low,
                 ArrayRef<int64_t> high, Value scalar) const;
  /// Returns the tensor with axes [n, c, space…]. Transposes a tensor that has
  /// channels last.
  Value getLogical(OpBuilder &builder, Location loc) const;
};

/// Returns whether `logical` is transposed to [n, space…, c] by one of its
/// users, that is, whether the kernel stores it with channels last.
bool isStoredChannelsLast(Value logical);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_ACTIVATION_H
