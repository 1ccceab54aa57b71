//===- TapPieces.cpp - Convolutions cut to avoid padding ------------------===//

#include "TapPieces.h"
#include "Hfta/Target/ReferenceModel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

using Costs = ReferenceModel::Windows;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

TapAxis::TapAxis(const WindowAxis &window, int64_t size, int64_t positions)
    : size(size), positions(positions), stride(window.stride),
      taps(window.kernel), dilation(window.dilation), low(window.low),
      phases{{0, window.kernel}} {}

TapAxis::TapAxis(const InverseWindowAxis &inverse, int64_t windows)
    : size(windows), positions(inverse.count), stride(1), taps(inverse.taps),
      dilation(inverse.step), low(inverse.low), backwards(true) {
  for (int64_t phase = 0; phase < inverse.phases; ++phase) {
    Span span{0, inverse.phases == 1 ? taps : 0};
    for (int64_t tap = 0; tap < taps && inverse.phases > 1; ++tap) {
      int64_t distance =
          phase + (taps - 1 - tap) * inverse.phases - inverse.offset;
      if (distance < 0 || distance >= inverse.extent)
        continue;
      if (span.size == 0)
        span.begin = tap;
      span.size = tap + 1 - span.begin;
    }
    phases.push_back(span);
  }
}

static Span intersect(Span one, Span other) {
  int64_t begin = std::max(one.begin, other.begin);
  return {begin,
          std::max<int64_t>(0, std::min(one.getEnd(), other.getEnd()) - begin)};
}

/// Returns the range of i in [0, count) for which `first + i * step` is in [0,
/// size).
static Span getInside(int64_t first, int64_t step, int64_t size,
                      int64_t count) {
  int64_t begin = std::max<int64_t>(0, llvm::divideCeilSigned(-first, step));
  int64_t end = llvm::divideCeilSigned(size - first, step);
  return intersect({begin, std::max<int64_t>(0, end - begin)}, {0, count});
}

static Span getTaps(const TapAxis &axis, int64_t position) {
  return getInside(position * axis.stride - axis.low, axis.dilation, axis.size,
                   axis.taps);
}

static Span getPositions(const TapAxis &axis, int64_t tap) {
  return getInside(tap * axis.dilation - axis.low, axis.stride, axis.size,
                   axis.positions);
}

/// Returns the smallest range that contains both.
static Span cover(Span one, Span other) {
  if (one.size == 0 || other.size == 0)
    return one.size == 0 ? other : one;
  int64_t begin = std::min(one.begin, other.begin);
  return {begin, std::max(one.getEnd(), other.getEnd()) - begin};
}

Span hfta::getUsedTaps(const TapAxis &axis) {
  Span used;
  for (int64_t tap = 0; tap < axis.taps; ++tap)
    if (getPositions(axis, tap).size > 0)
      used = cover(used, {tap, 1});
  return used.size > 0 ? used : Span{0, axis.taps};
}

TrimmedWindow::TrimmedWindow(const Window &whole, ArrayRef<int64_t> sizes,
                             ArrayRef<int64_t> positions)
    : window(whole) {
  for (auto [axis, size, count] : llvm::zip(window, sizes, positions)) {
    Span used = getUsedTaps(TapAxis(axis, size, count));
    axis.low -= used.begin * axis.dilation;
    axis.high -= (axis.kernel - used.getEnd()) * axis.dilation;
    axis.kernel = used.size;
    taps.push_back(used);
  }
}

Value hfta::trimWeight(OpBuilder &builder, Location loc, Value weight,
                       const TrimmedWindow &trimmed) {
  SmallVector<int64_t> sizes(getShape(weight));
  SmallVector<int64_t> offsets(sizes.size(), 0);
  size_t leading = sizes.size() - trimmed.taps.size();
  for (auto [index, span] : llvm::enumerate(trimmed.taps)) {
    offsets[leading + index] = span.begin;
    sizes[leading + index] = span.size;
  }
  return createSlice(builder, loc, weight, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// Cutting an axis into pieces
//===----------------------------------------------------------------------===//

/// Groups neighbouring indices in [0, count) that have equal spans. Returns
/// each group's range of indices and its span.
static SmallVector<std::pair<Span, Span>>
groupEqual(int64_t count, function_ref<Span(int64_t)> getSpan) {
  SmallVector<std::pair<Span, Span>> groups;
  for (int64_t index = 0; index < count; ++index) {
    Span span = getSpan(index);
    if (groups.empty() || !(groups.back().second == span))
      groups.push_back({Span{index, 0}, span});
    ++groups.back().first.size;
  }
  return groups;
}

using Pieces = SmallVector<AxisPiece>;

static void dropEmpty(Pieces &pieces) {
  llvm::erase_if(pieces, [](const AxisPiece &piece) {
    return piece.positions.size == 0 || piece.taps.size == 0;
  });
}

static double countProducts(const Pieces &pieces) {
  double products = 0;
  for (const AxisPiece &piece : pieces)
    products += static_cast<double>(piece.positions.size * piece.phases.size *
                                    piece.taps.size);
  return products;
}

/// Chooses one of several cuts, each of which is finer than the one before.
/// Chooses a finer cut only if it saves enough products.
static Pieces chooseCut(MutableArrayRef<Pieces> ways) {
  Pieces *best = ways.begin();
  for (Pieces &way : ways) {
    dropEmpty(way);
    if (way.size() <= Costs::kMaxPieces &&
        countProducts(way) <= Costs::kWorthCutting * countProducts(*best))
      best = &way;
  }
  return std::move(*best);
}

Pieces hfta::cutByPositions(const TapAxis &axis, bool canCutPositions) {
  Span met = getUsedTaps(axis);
  Pieces whole, byPhase, byPosition;
  Span used, allPositions{0, axis.positions};
  for (auto &[phases, phaseTaps] :
       groupEqual(axis.phases.size(),
                  [&](int64_t phase) { return axis.phases[phase]; })) {
    Span taps = phaseTaps;
    used = cover(used, intersect(taps, met));
    byPhase.push_back({allPositions, phases, intersect(taps, met)});
    for (auto &[positions, inside] :
         groupEqual(axis.positions, [&](int64_t position) {
           return intersect(taps, getTaps(axis, position));
         }))
      byPosition.push_back({positions, phases, inside});
  }
  Span allPhases{0, static_cast<int64_t>(axis.phases.size())};
  whole.push_back({allPositions, allPhases, used});
  if (!canCutPositions)
    byPosition = byPhase;
  Pieces ways[] = {whole, byPhase, byPosition};
  return chooseCut(ways);
}

Pieces hfta::cutByTaps(const TapAxis &axis) {
  Pieces whole, byTap;
  Span usedTaps, usedPositions, onePhase{0, 1};
  for (auto &[taps, positions] : groupEqual(
           axis.taps, [&](int64_t tap) { return getPositions(axis, tap); })) {
    byTap.push_back({positions, onePhase, taps});
    if (positions.size == 0)
      continue;
    usedTaps = cover(usedTaps, taps);
    usedPositions = cover(usedPositions, positions);
  }
  whole.push_back({usedPositions, onePhase, usedTaps});
  Pieces ways[] = {whole, byTap};
  return chooseCut(ways);
}

std::optional<Pieces> hfta::cutOffPadding(const TapAxis &axis) {
  Pieces pieces;
  for (auto &[positions, taps] :
       groupEqual(axis.positions,
                  [&](int64_t position) { return getTaps(axis, position); }))
    pieces.push_back({positions, {0, 1}, taps});
  dropEmpty(pieces);
  if (pieces.empty() || pieces.size() > Costs::kMaxUnpaddedPieces)
    return std::nullopt;
  llvm::sort(pieces, [](const AxisPiece &one, const AxisPiece &other) {
    auto getKey = [](const AxisPiece &piece) {
      return std::make_pair(-piece.positions.size * piece.taps.size,
                            piece.positions.begin);
    };
    return getKey(one) < getKey(other);
  });
  return pieces;
}

//===----------------------------------------------------------------------===//
// Pieces of all axes
//===----------------------------------------------------------------------===//

Axes hfta::getTapPositions(ArrayRef<TapAxis> axes, const Piece &piece,
                           ArrayRef<Axis> positions, ArrayRef<Axis> taps) {
  Axes result;
  for (auto [axis, part, position, tap] :
       llvm::zip(axes, piece, positions, taps)) {
    Axis forwards = axis.backwards ? part.taps.size - 1 - tap : tap;
    result.push_back(position * axis.stride + forwards * axis.dilation);
  }
  return result;
}

SmallVector<Piece> TapPieces::getPieces() const {
  SmallVector<Piece> pieces(1);
  for (const Pieces &cut : cuts) {
    SmallVector<Piece> longer;
    for (const Piece &piece : pieces) {
      for (const AxisPiece &part : cut) {
        longer.push_back(piece);
        longer.back().push_back(part);
      }
    }
    pieces = std::move(longer);
  }
  return pieces;
}

bool TapPieces::hasAllPositions() const {
  for (auto [axis, cut] : llvm::zip(axes, cuts)) {
    int64_t left = axis.positions * axis.phases.size();
    for (const AxisPiece &piece : cut)
      left -= piece.positions.size * piece.phases.size;
    if (left != 0)
      return false;
  }
  return true;
}

bool TapPieces::hasAllTaps() const {
  for (auto [axis, cut] : llvm::zip(axes, cuts)) {
    int64_t left = axis.taps;
    for (const AxisPiece &piece : cut)
      left -= piece.taps.size;
    if (left != 0)
      return false;
  }
  return true;
}

Span TapPieces::getElements(size_t index, const AxisPiece &piece) const {
  const TapAxis &axis = axes[index];
  return {piece.positions.begin * axis.stride +
              piece.taps.begin * axis.dilation - axis.low,
          (piece.positions.size - 1) * axis.stride +
              (piece.taps.size - 1) * axis.dilation + 1};
}

Span TapPieces::getElements(size_t index) const {
  Span all;
  for (const AxisPiece &piece : cuts[index])
    all = cover(all, getElements(index, piece));
  return all;
}

Activation TapPieces::pad(OpBuilder &builder, Location loc,
                          const Activation &data) const {
  SmallVector<int64_t> low, high;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    Span elements = getElements(axis);
    low.push_back(-elements.begin);
    high.push_back(elements.getEnd() - axes[axis].size);
  }
  return data.pad(builder, loc, low, high,
                  createZero(builder, loc, getElementType(data.elements)));
}

Value TapPieces::slice(OpBuilder &builder, Location loc, Value padded,
                       const Piece &piece, size_t firstSpace) const {
  SmallVector<int64_t> sizes(getShape(padded));
  SmallVector<int64_t> offsets(sizes.size(), 0);
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    Span elements = getElements(axis, piece[axis]);
    offsets[firstSpace + axis] = elements.begin - getElements(axis).begin;
    sizes[firstSpace + axis] = elements.size;
  }
  return createSlice(builder, loc, padded, offsets, sizes);
}
