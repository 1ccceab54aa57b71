//===- TapPieces.h - Convolutions without padding's products ----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H

#include "Windows.h"

namespace mlir::hfta {

/// The indices from `begin` on.
struct Span {
  int64_t begin = 0, size = 0;

  int64_t getEnd() const { return begin + size; }
  bool operator==(const Span &other) const {
    return begin == other.begin && size == other.size;
  }
};

/// The elements that meet along one spatial axis of a convolution: position p
/// and tap t meet element p * stride + t * dilation - low of the data, or
/// padding if that isn't within `size`. In phase r the taps outside of
/// `phases[r]` are zero.
struct TapAxis {
  /// Makes the axis of a window over `size` elements.
  TapAxis(const WindowAxis &window, int64_t size, int64_t positions);
  /// Makes the axis of the windows that cover an element, out of `windows`.
  TapAxis(const InverseWindowAxis &inverse, int64_t windows);

  int64_t size, positions, stride, taps, dilation, low;
  SmallVector<Span> phases;
  bool backwards = false; ///< the kernel holds the last tap first
};

/// The products of these positions, phases and taps.
struct AxisPiece {
  Span positions, phases, taps;
};

/// Returns the taps that meet data at some position; all taps if none does.
Span getUsedTaps(const TapAxis &axis);

/// A window without the taps that only meet padding.
struct TrimmedWindow {
  TrimmedWindow(const Window &whole, ArrayRef<int64_t> sizes,
                ArrayRef<int64_t> positions);

  Window window;
  SmallVector<Span> taps; ///< the taps of the whole window that remain
};

/// Slices the used taps of a weight, whose last axes are the taps.
Value trimWeight(OpBuilder &builder, Location loc, Value weight,
                 const TrimmedWindow &trimmed);

/// Returns disjoint pieces that contain every product. There is one, or one for
/// each set of taps that positions and phases use if that saves enough
/// products.
SmallVector<AxisPiece> cutByPositions(const TapAxis &axis,
                                      bool canCutPositions);
/// Returns disjoint pieces as above: one, or one for each set of positions that
/// taps use. The axis has one phase.
SmallVector<AxisPiece> cutByTaps(const TapAxis &axis);
/// Returns disjoint pieces that contain every product and no padding, the
/// largest first; nothing if there would be too many. The axis has one phase.
std::optional<SmallVector<AxisPiece>> cutOffPadding(const TapAxis &axis);

/// One piece of each spatial axis.
using Piece = SmallVector<AxisPiece>;

/// Returns where a piece's taps, in the kernel's order, read its data.
Axes getTapPositions(ArrayRef<TapAxis> axes, const Piece &piece,
                     ArrayRef<Axis> positions, ArrayRef<Axis> taps);

/// The pieces of all axes, and the data that they read.
class TapPieces {
public:
  TapPieces(ArrayRef<TapAxis> axes, SmallVector<SmallVector<AxisPiece>> cuts)
      : axes(axes), cuts(std::move(cuts)) {}

  SmallVector<Piece> getPieces() const;
  /// Returns whether every (position, phase) is in a piece.
  bool hasAllPositions() const;
  /// Returns whether every tap is in a piece.
  bool hasAllTaps() const;
  /// Pads or cuts the data to the elements that the pieces read.
  Activation pad(OpBuilder &builder, Location loc,
                 const Activation &data) const;
  /// Returns the part of the padded data that a piece reads. The spatial axes
  /// begin with axis `firstSpace`.
  Value slice(OpBuilder &builder, Location loc, Value padded,
              const Piece &piece, size_t firstSpace) const;

private:
  Span getElements(size_t index, const AxisPiece &piece) const;
  /// Returns the span from the first to the last element that is read.
  Span getElements(size_t index) const;

  ArrayRef<TapAxis> axes;
  SmallVector<SmallVector<AxisPiece>> cuts;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H
