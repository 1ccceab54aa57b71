//===- PatchPieces.h - Sums of pairs of a window's taps ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHPIECES_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHPIECES_H

#include "TapPieces.h"

namespace mlir::hfta {

/// A window along one spatial axis. With a stride of 1 tap t meets the elements
/// from t * dilation - low on, as many as there are positions: a pair of taps
/// has the products of these with the elements at the pair's distance. Segments
/// are where the same taps meet elements; a tap meets neighbouring ones.
struct PatchAxis {
  PatchAxis(const WindowAxis &window, int64_t size);

  int64_t taps, stride, dilation, low, high, size, positions;
  SmallVector<Span> segments;
  SmallVector<Span> runs; ///< of each tap: its segments
};

/// The space in which a window's positions and pairs of taps lie.
class PatchSpace {
public:
  PatchSpace(OpBuilder &builder, Location loc, const Window &window,
             ArrayRef<int64_t> sizes, Type accumulate);

  /// Whether sums are formed for each distance of two taps, and not for pairs.
  bool sumsDistances() const { return distances; }
  /// The elements and what lies around them as far as taps reach.
  Activation pad(const Activation &input) const;
  /// The sums of products of two tensors' elements, as pad gives them with some
  /// of the channels, for all pairs of taps: [taps, channels, taps, channels].
  /// If `half`, a pair's first tap isn't after the second along the first
  /// spatial axis; other elements hold nothing.
  Value sumPairs(Value firsts, Value seconds, bool half) const;
  /// The sums of elements that each tap meets: [taps, channels].
  Value sumTaps(Value elements) const;
  /// About how many products there are.
  int64_t countProducts(int64_t groups, int64_t channels, int64_t batch) const;

  SmallVector<PatchAxis> axes;
  bool channelsLast = true;
  bool hasSquares = false; ///< whether all pairs of a tile are asked for, too
  bool isWhole = false;    ///< whether a tile has all of the input's channels

private:
  using Merge = function_ref<Value(ArrayRef<Value>, size_t axis, int64_t tap)>;

  /// Distances along an axis: from the least one on.
  int64_t getLeast(size_t axis, bool half) const;
  int64_t countDistances(size_t axis, bool half) const;
  int64_t getChannels(Value elements) const;
  /// Of the elements of a tensor those from `begin` on, along all spatial axes.
  Value slice(Value elements, ArrayRef<int64_t> begins,
              ArrayRef<int64_t> sizes) const;
  Axes getOrder(Axis batch, ArrayRef<Axis> place, Axis channel) const;
  /// Calls back with each index of a space, row-major.
  static void forEach(ArrayRef<int64_t> sizes,
                      function_ref<void(ArrayRef<int64_t>)> callback);
  SmallVector<int64_t> countSegments() const;
  /// Of values for all segments those for all taps, axis by axis from the last.
  SmallVector<Value> mergeSegments(SmallVector<Value> values,
                                   Merge merge) const;
  Value add(ArrayRef<Value> parts) const;

  /// Of a piece: [channels, distances…, channels].
  Value sumPiece(Value firsts, Value seconds, ArrayRef<int64_t> segment,
                 bool half) const;
  Value sumColumns(Value columns) const;
  Value sumSegment(Value elements, ArrayRef<int64_t> segment) const;
  /// The pairs of each first tap.
  SmallVector<Value> sumByDistance(Value firsts, Value seconds,
                                   bool half) const;
  /// The pairs whose first tap is `tap` along the first axis, or all.
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
