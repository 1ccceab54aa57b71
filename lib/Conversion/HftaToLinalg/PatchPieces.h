//===- PatchPieces.h - Sums of pairs of a window's taps ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHPIECES_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHPIECES_H

#include "TapPieces.h"

namespace mlir::hfta {

/// A window along one spatial axis. With a stride of 1, tap t meets the
/// elements from t * dilation - low on, one for each position. A pair of taps
/// multiplies these by the elements at the pair's distance. The axis is cut
/// into segments, in each of which all elements meet the same taps; a tap meets
/// a run of neighbouring segments.
struct PatchAxis {
  PatchAxis(const WindowAxis &window, int64_t size);

  int64_t taps, stride, dilation, low, high, size, positions;
  SmallVector<Span> segments;
  SmallVector<Span> runs; ///< each tap's range of segments
};

/// The space of a window's positions and pairs of taps.
class PatchSpace {
public:
  PatchSpace(OpBuilder &builder, Location loc, const Window &window,
             ArrayRef<int64_t> sizes, Type accumulate);

  /// Returns whether sums are formed for each distance between two taps rather
  /// than for each pair.
  bool sumsDistances() const { return distances; }
  /// Returns the elements, padded as far as taps reach.
  Activation pad(const Activation &input) const;
  /// Computes the sums of products of two tensors' elements for all pairs of
  /// taps: [taps, channels, taps, channels]. The tensors are slices of channels
  /// of what `pad` returns. If `half`, only pairs whose first tap isn't after
  /// the second one along the first spatial axis are computed; other elements
  /// are undefined.
  Value sumPairs(Value firsts, Value seconds, bool half) const;
  /// Computes for each tap and channel the sum, over batch and positions, of
  /// the elements at that tap: [taps, channels].
  Value sumTaps(Value elements) const;
  /// Estimates the number of products.
  int64_t countProducts(int64_t groups, int64_t channels, int64_t batch) const;

  SmallVector<PatchAxis> axes;
  bool channelsLast = true;
  bool hasSquares = false; ///< whether all pairs of a tile are needed, too
  bool isWhole = false;    ///< whether a tile has all channels of the input

private:
  using Merge = function_ref<Value(ArrayRef<Value>, size_t axis, int64_t tap)>;

  /// Returns the least distance along an axis.
  int64_t getLeast(size_t axis, bool half) const;
  int64_t countDistances(size_t axis, bool half) const;
  int64_t getChannels(Value elements) const;
  /// Slices a tensor from `begins` on along all spatial axes.
  Value slice(Value elements, ArrayRef<int64_t> begins,
              ArrayRef<int64_t> sizes) const;
  Axes getOrder(Axis batch, ArrayRef<Axis> place, Axis channel) const;
  /// Calls `callback` for each index of a space, in row-major order.
  static void forEach(ArrayRef<int64_t> sizes,
                      function_ref<void(ArrayRef<int64_t>)> callback);
  SmallVector<int64_t> countSegments() const;
  /// Merges the values of all segments into those of all taps, axis by axis
  /// from the last one.
  SmallVector<Value> mergeSegments(SmallVector<Value> values,
                                   Merge merge) const;
  Value add(ArrayRef<Value> parts) const;

  /// Sums a piece: [channels, distances…, channels].
  Value sumPiece(Value firsts, Value seconds, ArrayRef<int64_t> segment,
                 bool half) const;
  Value sumColumns(Value columns) const;
  Value sumSegment(Value elements, ArrayRef<int64_t> segment) const;
  /// Returns the sums of pairs for each first tap.
  SmallVector<Value> sumByDistance(Value firsts, Value seconds,
                                   bool half) const;
  /// Returns the sums of the pairs whose first tap is `tap` along the first
  /// axis; without `tap` those of all pairs.
  Value sumPairsOf(Value firsts, Value seconds,
                   std::optional<int64_t> tap) const;
  Value collectPairs(ArrayRef<Value> parts, int64_t count,
                     int64_t firstChannels, int64_t secondChannels,
                     bool half) const;

  OpBuilder &builder;
  Location loc;
  Type accumulate;
  bool distances;
  int64_t taps = 1;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHPIECES_H
