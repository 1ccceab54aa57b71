//===- TapPieces.h - Convolutions without padding's products ----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H

#include "Windows.h"

namespace mlir::hfta {

/// Indices from `begin` on.
struct Span {
  int64_t begin = 0, size = 0;

  int64_t getEnd() const { return begin + size; }
  bool operator==(const Span &other) const {
    return begin == other.begin && size == other.size;
  }
};

/// Which elements meet along one spatial axis of a convolution: position p and
/// tap t meet element p * stride + t * dilation - low of the data, and nothing
/// if that is not within its `size`. Taps of phase r outside of `phases[r]` are
/// zero.
struct TapAxis {
  /// Of a window over `size` elements.
  TapAxis(const WindowAxis &window, int64_t size, int64_t positions);
  /// Of the windows that cover an element, over `windows` of them.
  TapAxis(const InverseWindowAxis &inverse, int64_t windows);

  int64_t size, positions, stride, taps, dilation, low;
  SmallVector<Span> phases;
  bool backwards = false; ///< The kernel holds the last tap first.
};

/// All products of these positions, phases and taps.
struct AxisPiece {
  Span positions, phases, taps;
};

/// The taps that meet data at some position; all taps if none does.
Span getUsedTaps(const TapAxis &axis);

/// The window without taps that only ever meet padding.
struct TrimmedWindow {
  TrimmedWindow(const Window &whole, ArrayRef<int64_t> sizes,
                ArrayRef<int64_t> positions);

  Window window;
  SmallVector<Span> taps; ///< of the whole window
};

/// The used taps of a weight, whose last axes are taps.
Value trimWeight(OpBuilder &builder, Location loc, Value weight,
                 const TrimmedWindow &trimmed);

/// Disjoint pieces that hold every product: one of them, or one for each set of
/// taps that positions and phases have where that saves enough products.
SmallVector<AxisPiece> cutByPositions(const TapAxis &axis,
                                      bool canCutPositions);
/// The same with one for each set of positions that taps have. The axis has one
/// phase.
SmallVector<AxisPiece> cutByTaps(const TapAxis &axis);
/// Disjoint pieces that hold every product and no padding, the largest first;
/// nothing if they are too many. The axis has one phase.
std::optional<SmallVector<AxisPiece>> cutOffPadding(const TapAxis &axis);

/// One piece of each spatial axis.
using Piece = SmallVector<AxisPiece>;

/// Where a piece's taps, in the order of the kernel, read its data.
Axes getTapPositions(ArrayRef<TapAxis> axes, const Piece &piece,
                     ArrayRef<Axis> positions, ArrayRef<Axis> taps);

/// The pieces of all axes, and the data that they read.
class TapPieces {
public:
  TapPieces(ArrayRef<TapAxis> axes, SmallVector<SmallVector<AxisPiece>> cuts)
      : axes(axes), cuts(std::move(cuts)) {}

  SmallVector<Piece> getPieces() const;
  /// Whether every (position, phase) is in a piece.
  bool hasAllPositions() const;
  /// Whether every tap is in a piece.
  bool hasAllTaps() const;
  /// The data as the pieces need it: padded, or cut.
  Activation pad(OpBuilder &builder, Location loc,
                 const Activation &data) const;
  /// What a piece reads of the padded data, whose spatial axes begin with axis
  /// `firstSpace`.
  Value slice(OpBuilder &builder, Location loc, Value padded,
              const Piece &piece, size_t firstSpace) const;

private:
  Span getElements(size_t index, const AxisPiece &piece) const;
  /// From the first to the last element that is read.
  Span getElements(size_t index) const;

  ArrayRef<TapAxis> axes;
  SmallVector<SmallVector<AxisPiece>> cuts;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_TAPPIECES_H
