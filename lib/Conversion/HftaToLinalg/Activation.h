//===- Activation.h - Operands and results of layers with windows -*- C++ -*-=//
//
// Convolutions and pooling are defined on [n, c, space…]. hfta-assign-layouts
// stores some of these tensors as [n, space…, c], with transpositions where a
// kernel reads and writes them; the lowerings look through these and work on
// the stored tensors.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_ACTIVATION_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_ACTIVATION_H

#include "LoweringUtils.h"

namespace mlir::hfta {

/// An activation, or its gradient, with its axes in the order of storage.
struct Activation {
  Value elements;
  bool channelsLast; ///< the order is [n, space…, c] rather than [n, c, space…]

  /// Takes [n, c, space…]; looks through a transposition from channels last.
  static Activation get(Value logical);

  size_t getRank() const { return getTensorType(elements).getRank(); }
  size_t getFirstSpace() const { return channelsLast ? 1 : 2; }
  size_t getChannelAxis() const { return channelsLast ? getRank() - 1 : 1; }
  ArrayRef<int64_t> getSpace() const {
    return getShape(elements).slice(getFirstSpace(), getRank() - 2);
  }

  /// Returns the tensor with channels last if `wanted`, else with channels
  /// first; copies it if it is stored in the other order.
  Activation store(OpBuilder &builder, Location loc, bool wanted) const;
  /// Returns the tensor padded along the spatial axes, or cut where an amount
  /// is negative.
  Activation pad(OpBuilder &builder, Location loc, ArrayRef<int64_t> low,
                 ArrayRef<int64_t> high, Value scalar) const;
  /// Returns the tensor as [n, c, space…].
  Value getLogical(OpBuilder &builder, Location loc) const;
};

/// Returns whether a user of an op's result stores it with channels last.
bool isStoredChannelsLast(Value logical);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_ACTIVATION_H
