//===- TapPieces.h - Convolutions cut to avoid padding ----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H

#include "Windows.h"

namespace mlir::hfta {

/// A range of indices.
struct Span {
  int64_t begin = 0, size = 0;

  int64_t getEnd() const { return begin + size; }
  bool operator==(const Span &other) const {
    return begin == other.begin && size == other.size;
  }
};

/// One spatial axis of a convolution. At position p, tap t reads the data's
/// element
///   p * stride + t * dilation - low
/// or padding if that isn't in [0, size). In phase r, taps outside of
/// `phases[r]` are zero.
struct TapAxis {
  /// Makes the axis of a convolution whose window has `positions` positions
  /// over `size` elements.
  TapAxis(const WindowAxis &window, int64_t size, int64_t positions);
  /// Makes the axis of an input gradient, which reads the gradients of those of
  /// the `windows` windows that cover an element.
  TapAxis(const InverseWindowAxis &inverse, int64_t windows);

  int64_t size, positions, stride, taps, dilation, low;
  SmallVector<Span> phases;
  bool backwards = false; ///< whether the kernel holds the last tap first
};

/// The products of some positions, phases and taps of one axis.
struct AxisPiece {
  Span positions, phases, taps;
};

/// Returns the smallest range that contains all taps which read data at some
/// position; all taps if there are none.
Span getUsedTaps(const TapAxis &axis);

/// A window without the outer taps that read nothing but padding.
struct TrimmedWindow {
  TrimmedWindow(const Window &whole, ArrayRef<int64_t> sizes,
                ArrayRef<int64_t> positions);

  Window window;
  SmallVector<Span> taps; ///< the range of taps of the whole window that remain
};

/// Slices the remaining taps of a weight, whose last axes are the taps.
Value trimWeight(OpBuilder &builder, Location loc, Value weight,
                 const TrimmedWindow &trimmed);

/// Returns disjoint pieces that contain every product with data. There is one
/// piece, or, if that saves enough products, one for each set of taps that
/// phases, or positions and phases, use.
SmallVector<AxisPiece> cutByPositions(const TapAxis &axis,
                                      bool canCutPositions);
/// Returns disjoint pieces that contain every product with data: one piece, or,
/// if that saves enough products, one for each set of positions that taps use.
/// The axis must have one phase.
SmallVector<AxisPiece> cutByTaps(const TapAxis &axis);
/// Returns disjoint pieces that contain every product with data and none with
/// padding, the largest first. Returns nothing if there would be too many
/// pieces. The axis must have one phase.
std::optional<SmallVector<AxisPiece>> cutOffPadding(const TapAxis &axis);

/// A piece of a convolution: one piece of each spatial axis.
using Piece = SmallVector<AxisPiece>;

/// Returns the indices, within the data that a piece reads, of the elements
/// that its taps read. Taps are numbered in the kernel's order.
Axes getTapPositions(ArrayRef<TapAxis> axes, const Piece &piece,
                     ArrayRef<Axis> positions, ArrayRef<Axis> taps);

/// The pieces of a convolution, one for each combination of its axes' pieces,
/// and the data that they read.
class TapPieces {
public:
  TapPieces(ArrayRef<TapAxis> axes, SmallVector<SmallVector<AxisPiece>> cuts)
      : axes(axes), cuts(std::move(cuts)) {}

  SmallVector<Piece> getPieces() const;
  /// Returns whether every pair of a position and a phase is in a piece.
  bool hasAllPositions() const;
  /// Returns whether every tap is in a piece.
  bool hasAllTaps() const;
  /// Returns the data, padded or cut to the elements that the pieces read.
  Activation pad(OpBuilder &builder, Location loc,
                 const Activation &data) const;
  /// Returns the slice of the padded data that a piece reads. `firstSpace` is
  /// the first spatial axis.
  Value slice(OpBuilder &builder, Location loc, Value padded,
              const Piece &piece, size_t firstSpace) const;

private:
  Span getElements(size_t index, const AxisPiece &piece) const;
  /// Returns the range from the first to the last element that any piece reads
  /// along an axis.
  Span getElements(size_t index) const;

  ArrayRef<TapAxis> axes;
  SmallVector<SmallVector<AxisPiece>> cuts;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H
