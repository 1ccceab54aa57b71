//===- ReferenceModel.h - What all targets have in common -------*- C++ -*-===//
//
// Layouts, the order of every sum and the work items follow from one copy's
// shapes, and are the same on all targets: training then gives the same bytes
// on any of them. Where such a decision weighs costs, it weighs those of the
// one machine that is described here, which no module can change.
// What the target does choose, costs of `TargetModel`, moves no term of a sum.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TARGET_REFERENCEMODEL_H
#define HFTA_TARGET_REFERENCEMODEL_H

#include <cstddef>
#include <cstdint>

namespace mlir::hfta {

struct ReferenceModel {
  /// Bits: the widest vectors among the targets.
  static constexpr int64_t kVectorBits = 512;

  /// Which sums are formed, and what their innermost loop runs over.
  struct Sums {
    /// Elements: reductions over the batch and more axes of at least so many
    /// are two, the first one over all axes but the batch.
    static constexpr int64_t kWorthSplitting = 1 << 15;
    /// Rows: fewer leave threads idle if each is reduced in one place, so that
    /// what is computed for each row is another kernel.
    static constexpr int64_t kFewestRows = 8;
    /// Elements: contiguous rows that are shorter aren't worth lanes.
    static constexpr int64_t kMinReducedRow = 32;
    /// Lanes of a contiguous row: sums that run side by side.
    static constexpr int64_t kRowLanes = 16;
    /// Vectors of lanes that run side by side in long rows, each of which waits
    /// until the last one has been added, and elements from which a row is
    /// long.
    static constexpr int64_t kRowSums = 4;
    static constexpr int64_t kLongRow = 2 * kRowSums * kRowLanes;
  };

  /// Convolutions.
  struct Windows {
    /// Outputs of one channel: too few to share what a tile of sums reads.
    static constexpr int64_t kFewOutputs = 2;
    /// Share of an axis' products that cutting a convolution into pieces may
    /// leave at most: each piece is a loop nest of its own, with fewer elements
    /// to share what it reads. And the pieces of an axis at most, where padding
    /// is computed with and where it isn't.
    static constexpr double kWorthCutting = 0.91;
    static constexpr size_t kMaxPieces = 4;
    static constexpr size_t kMaxUnpaddedPieces = 5;
    /// Work items of a weight gradient: each moves an operand into another
    /// order, for all uses of its elements.
    static constexpr double kPackingItems = 4;
    /// Cycles a vector: copying one with its padding, and a sum's way to memory
    /// and back where all sums fit a near cache and where they don't.
    static constexpr double kPadCycles = 4.5;
    static constexpr double kNearSumCycles = 3;
    static constexpr double kFarSumCycles = 12;
    /// Bytes of sums that a near cache doesn't hold beside the operands.
    static constexpr double kFarSumBytes = 1 << 18;
  };

  /// How the lower triangle of a square of sums is cut into tiles.
  struct Triangles {
    /// Rows and columns of a tile: at least, at most, and in steps of.
    static constexpr int64_t kLeastHeight = 48;
    static constexpr int64_t kMostHeight = 128;
    static constexpr int64_t kHeightStep = 16;
    /// Products that take as long as reading an element for a tile's row or
    /// column does beside them.
    static constexpr double kReadShare = 8;
    /// Rows of the tiles on the diagonal, and elements of their rows that are
    /// stored at once.
    static constexpr int64_t kPiece = 32;
    static constexpr int64_t kRun = 16;
    /// Of a convolution's windows: channels of a tile, at least where there are
    /// several and at most if they can be cut; pieces of the input whose sums
    /// are formed for each distance of two taps.
    static constexpr int64_t kLeastChannels = 8;
    static constexpr int64_t kMostChannels = 16;
    static constexpr int64_t kMostPieces = 27;
  };

  /// How kernels are cut into work items. Work is counted in units of about one
  /// vectorized scalar operation.
  struct Items {
    /// Work that an item should have at least, and items at most.
    static constexpr double kWork = 32768;
    static constexpr int64_t kMost = 64;
    /// Threads that share the work of all copies, and that of one at most.
    static constexpr int64_t kThreads = 32;
    static constexpr int64_t kMaxCopyThreads = 16;
    /// Work that starting an item takes.
    static constexpr double kOverhead = 8192;
    /// How much the work of all threads counts beside the time of the slowest.
    static constexpr double kTotalWeight = 4;
    /// Bytes: several passes over the same elements want them in a cache of the
    /// first level, which the next item's come to as well (half of the smallest
    /// among the targets), or at least of the second (the smallest).
    static constexpr double kNearBytes = 1 << 14;
    static constexpr double kFarBytes = 1 << 19;
    /// How many times longer accesses take beyond these.
    static constexpr double kNotNearFactor = 1.5;
    static constexpr double kFarFactor = 4;
    /// The above of kernels that make several passes.
    static constexpr int64_t kMostOfPasses = 1 << 16;
    static constexpr double kPassWork = 4096;
    static constexpr double kPassOverhead = 1024;
    /// How many times longer an item takes that isn't contiguous in memory.
    static constexpr double kScatteredFactor = 1.02;
    /// Work of reading or writing an element, of moving one that isn't next to
    /// the last one, and of a math function.
    static constexpr double kAccessWork = 2;
    static constexpr double kMoveWork = 8;
    static constexpr double kFunctionWork = 16;
    /// How many times longer vectors take that hold a whole axis.
    static constexpr double kNarrowFactor = 1.3;
    /// What reading a vector for a product takes beside the product, and rows
    /// and columns of a tile that reads few enough.
    static constexpr double kReadFactor = 2;
    static constexpr double kTileSide = 4;
  };
};

} // namespace mlir::hfta

#endif // HFTA_TARGET_REFERENCEMODEL_H
