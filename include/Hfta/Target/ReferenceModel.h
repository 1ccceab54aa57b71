//===- ReferenceModel.h - Costs that are equal on all targets ---*- C++ -*-===//
//
// Layouts, the order of every sum, and the work items follow from one copy's
// shapes and are the same on all targets, so that training gives the same bytes
// on any of them. Where such a decision weighs costs, it uses those of the one
// machine that is described here, which no module can change. The decisions
// that do depend on the target, by the costs of `TargetModel`, never change the
// order of a sum's terms.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TARGET_REFERENCEMODEL_H
#define HFTA_TARGET_REFERENCEMODEL_H

#include <cstddef>
#include <cstdint>

namespace mlir::hfta {

struct ReferenceModel {
  /// The bits of the widest vectors among the targets.
  static constexpr int64_t kVectorBits = 512;

  /// Decides which sums are formed, and what their innermost loop runs over.
  struct Sums {
    /// The number of elements from which on a reduction over the batch and
    /// other axes is split in two, the first of which reduces all axes except
    /// the batch.
    static constexpr int64_t kWorthSplitting = 1 << 15;
    /// The least number of rows of which each is reduced in one place: with
    /// fewer, threads would idle, so that what is computed for each row becomes
    /// a separate kernel.
    static constexpr int64_t kFewestRows = 8;
    /// The least length of a contiguous row that is worth summing in lanes.
    static constexpr int64_t kMinReducedRow = 32;
    /// The lanes of a contiguous row, which are parallel sums.
    static constexpr int64_t kRowLanes = 16;
    /// The number of vectors of lanes that are summed in parallel in long rows,
    /// since each vector waits until its last addition has ended; and the
    /// number of elements from which on a row is long.
    static constexpr int64_t kRowSums = 4;
    static constexpr int64_t kLongRow = 2 * kRowSums * kRowLanes;
  };

  /// Parameters of convolutions.
  struct Windows {
    /// The number of outputs of one channel that is too small to share what a
    /// tile of sums reads.
    static constexpr int64_t kFewOutputs = 2;
    /// The share of an axis' products that may remain for cutting a convolution
    /// into pieces to pay: each piece is a loop nest of its own, with fewer
    /// elements to share what it reads. Then the most pieces of an axis, where
    /// padding is computed with, and where it isn't.
    static constexpr double kWorthCutting = 0.91;
    static constexpr size_t kMaxPieces = 4;
    static constexpr size_t kMaxUnpaddedPieces = 5;
    /// The work items of a weight gradient, each of which packs an operand into
    /// another order for all uses of its elements.
    static constexpr double kPackingItems = 4;
    /// Cycles per vector: of copying it with its padding, and of writing and
    /// reading back a sum if all sums fit in a near cache and if they don't.
    static constexpr double kPadCycles = 4.5;
    static constexpr double kNearSumCycles = 3;
    static constexpr double kFarSumCycles = 12;
    /// The bytes of sums that no longer fit in a near cache beside the
    /// operands.
    static constexpr double kFarSumBytes = 1 << 18;
  };

  /// Decides how the lower triangle of a square of sums is cut into tiles.
  struct Triangles {
    /// The rows and columns of a tile: the least, the most, and the step
    /// between.
    static constexpr int64_t kLeastHeight = 48;
    static constexpr int64_t kMostHeight = 128;
    static constexpr int64_t kHeightStep = 16;
    /// The number of products that take as long as reading one element for a
    /// row or column of a tile.
    static constexpr double kReadShare = 8;
    /// The rows of the tiles on the diagonal, and the elements of their rows
    /// that are stored at once.
    static constexpr int64_t kPiece = 32;
    static constexpr int64_t kRun = 16;
    /// For a convolution's windows: the least channels of a tile if there are
    /// several, the most if channels can be cut, and the most pieces of the
    /// input for which sums are formed per distance between two taps.
    static constexpr int64_t kLeastChannels = 8;
    static constexpr int64_t kMostChannels = 16;
    static constexpr int64_t kMostPieces = 27;
  };

  /// Decides how kernels are cut into work items. Work is counted in units of
  /// about one vectorized scalar operation.
  struct Items {
    /// The least work of an item, and the most items.
    static constexpr double kWork = 32768;
    static constexpr int64_t kMost = 64;
    /// The threads that share the work of all copies, and the most that share
    /// the work of one copy.
    static constexpr int64_t kThreads = 32;
    static constexpr int64_t kMaxCopyThreads = 16;
    /// The work of starting an item.
    static constexpr double kOverhead = 8192;
    /// The weight of the work of all threads, relative to the time of the
    /// slowest thread.
    static constexpr double kTotalWeight = 4;
    /// For kernels that pass several times over the same elements: up to
    /// kNearBytes of these stay in the first-level cache (half of the targets'
    /// smallest, as the next item's elements enter it, too), and up to
    /// kFarBytes in the second-level cache (the targets' smallest).
    static constexpr double kNearBytes = 1 << 14;
    static constexpr double kFarBytes = 1 << 19;
    /// The factors by which accesses take longer beyond these sizes.
    static constexpr double kNotNearFactor = 1.5;
    static constexpr double kFarFactor = 4;
    /// The most items, the least work and the overhead for kernels that make
    /// several passes.
    static constexpr int64_t kMostOfPasses = 1 << 16;
    static constexpr double kPassWork = 4096;
    static constexpr double kPassOverhead = 1024;
    /// The factor by which an item that isn't contiguous in memory takes
    /// longer.
    static constexpr double kScatteredFactor = 1.02;
    /// The work of reading or writing an element, of moving one that isn't next
    /// to the last one, and of a math function.
    static constexpr double kAccessWork = 2;
    static constexpr double kMoveWork = 8;
    static constexpr double kFunctionWork = 16;
    /// The factor by which vectors that hold a whole axis take longer.
    static constexpr double kNarrowFactor = 1.3;
    /// The work of reading a vector for a product, relative to the product, and
    /// the rows and columns of a tile from which on reads no longer matter.
    static constexpr double kReadFactor = 2;
    static constexpr double kTileSide = 4;
  };
};

} // namespace mlir::hfta

#endif // HFTA_TARGET_REFERENCEMODEL_H
