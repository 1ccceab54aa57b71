//===- PatchPieces.h - Sums of pairs of a window's taps ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHPIECES_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHPIECES_H

#include "TapPieces.h"

namespace mlir::hfta {

/// A window along one spatial axis. With a stride of 1, tap t reads, at all
/// positions together, the elements from t * dilation - low on. The product of
/// two taps is then the product of these elements and those at a constant
/// distance. The axis is cut into segments whose elements are all read by the
/// same taps. Each tap reads a run of neighbouring segments.
struct PatchAxis {
  PatchAxis(const WindowAxis &window, int64_t size);

  int64_t taps, stride, dilation, low, high, size, positions;
  SmallVector<Span> segments;
  SmallVector<Span> runs; ///< the segments that each tap reads
};

/// All positions of a window and all pairs of its taps; computes sums of
/// products over the positions for pairs of taps.
class PatchSpace {
public:
  PatchSpace(OpBuilder &builder, Location loc, const Window &window,
             ArrayRef<int64_t> sizes, Type accumulate);

  /// Returns whether products are summed once for each distance between two
  /// taps, rather than for each pair of taps.
  bool sumsDistances() const { return distances; }
  /// Returns the elements with padding for all elements that taps read.
  Activation pad(const Activation &input) const;
  /// Computes, for all pairs of taps, the sums of products of the elements of
  /// two tensors: [taps, channels, taps, channels]. Both tensors are slices, by
  /// channels, of the tensor that `pad` returns. If `half`, computes only pairs
  /// whose first tap isn't after the second one along the first spatial axis,
  /// and leaves the other elements undefined.
  Value sumPairs(Value firsts, Value seconds, bool half) const;
  /// Computes, for each tap and channel, the sum of the elements that the tap
  /// reads at all positions of the batch: [taps, channels].
  Value sumTaps(Value elements) const;
  /// Estimates the number of products that are computed for a whole moment.
  int64_t countProducts(int64_t groups, int64_t channels, int64_t batch) const;

  SmallVector<PatchAxis> axes;
  bool channelsLast = true;
  bool hasSquares = false; ///< whether a tile off the diagonal is computed,
                           ///< too, which needs all pairs of taps
  bool isWhole = false;    ///< whether a tile has all channels of the input

private:
  using Merge = function_ref<Value(ArrayRef<Value>, size_t axis, int64_t tap)>;

  /// Returns the least distance between the taps of a pair along an axis.
  int64_t getLeast(size_t axis, bool half) const;
  int64_t countDistances(size_t axis, bool half) const;
  int64_t getChannels(Value elements) const;
  /// Slices a tensor along all spatial axes, from `begins` on.
  Value slice(Value elements, ArrayRef<int64_t> begins,
              ArrayRef<int64_t> sizes) const;
  Axes getOrder(Axis batch, ArrayRef<Axis> place, Axis channel) const;
  /// Calls `callback` for each index into a tensor of the given sizes, in
  /// row-major order.
  static void forEach(ArrayRef<int64_t> sizes,
                      function_ref<void(ArrayRef<int64_t>)> callback);
  SmallVector<int64_t> countSegments() const;
  /// Merges values of all segments to values of all taps, one axis at a time
  /// from the last one on: a tap's value is merged from those of the segments
  /// in its run.
  SmallVector<Value> mergeSegments(SmallVector<Value> values,
                                   Merge merge) const;
  Value add(ArrayRef<Value> parts) const;

  /// Sums products in one segment of each axis, for all distances: [channels,
  /// distances…, channels].
  Value sumPiece(Value firsts, Value seconds, ArrayRef<int64_t> segment,
                 bool half) const;
  Value sumColumns(Value columns) const;
  Value sumSegment(Value elements, ArrayRef<int64_t> segment) const;
  /// Returns, for each first tap of a pair, the sums of its pairs.
  SmallVector<Value> sumByDistance(Value firsts, Value seconds,
                                   bool half) const;
  /// Returns the sums of the pairs whose first tap is `tap` along the first
  /// spatial axis, or of all pairs without `tap`.
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
