//===- ReferenceModel.h - Costs that are equal on all targets ---*- C++ -*-===//
//
// Layouts, the order of every sum, and work items follow from one copy's shapes
// and are the same on all targets, so that a training gives the same bytes on
// each of them. If such a decision depends on costs, these are the costs of the
// one machine described here, which no module can change. Decisions that do
// depend on the target, by the costs of `TargetModel`, never change the order
// of a sum's terms.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TARGET_REFERENCEMODEL_H
#define HFTA_TARGET_REFERENCEMODEL_H

#include "mlir/IR/Types.h"

#include <cstddef>
#include <cstdint>

namespace mlir::hfta {

/// The costs of the reference machine, by the decisions that use them.
struct ReferenceModel {
  /// Bits of the widest vectors of any target.
  static constexpr int64_t kVectorBits = 512;

  /// Parameters of reductions: which sums are formed, and along which axis the
  /// innermost loop runs.
  struct Sums {
    /// The least number of elements for which a reduction over the batch and
    /// other axes is split in two. The first of them reduces all axes except
    /// the batch.
    static constexpr int64_t kWorthSplitting = 1 << 15;
    /// The least number of rows for which each row is reduced by one work item.
    /// With fewer rows threads would be idle, so that whatever is computed from
    /// a row becomes a separate kernel.
    static constexpr int64_t kFewestRows = 8;
    /// The least length of a contiguous row that is summed in lanes.
    static constexpr int64_t kMinReducedRow = 32;
    /// The number of lanes, parallel sums of the elements of a contiguous row.
    static constexpr int64_t kRowLanes = 16;
    /// The number of vectors of lanes that are summed in parallel in long rows,
    /// to hide the latency of additions.
    static constexpr int64_t kRowSums = 4;
    /// The least length of a long row.
    static constexpr int64_t kLongRow = 2 * kRowSums * kRowLanes;
  };

  /// Parameters of products of pairs of bf16.
  struct Pairs {
    /// The least number of products in which each element of both operands is:
    /// packing an element as a part of a pair takes about as long as so many
    /// products save.
    static constexpr int64_t kFewestProducts = 16;
  };

  /// Parameters of convolutions.
  struct Windows {
    /// The largest number of output channels for which the loop over a window's
    /// last axis becomes the outermost loop over taps: few channels don't reuse
    /// a vector of data, but neighbouring windows do.
    static constexpr int64_t kFewOutputs = 2;
    /// The largest fraction of an axis' products that may remain when a
    /// convolution is cut into pieces with less padding. With more, cutting
    /// doesn't pay: each piece is a separate loop nest, in which fewer elements
    /// share what is read.
    static constexpr double kWorthCutting = 0.91;
    /// The largest number of pieces of an axis if the operand is padded.
    static constexpr size_t kMaxPieces = 4;
    /// The largest number of pieces of an axis if the operand isn't padded.
    static constexpr size_t kMaxUnpaddedPieces = 5;
    /// The assumed number of work items of a weight gradient. Each of them
    /// packs an operand into another order, for all uses of its elements.
    static constexpr double kPackingItems = 4;
    /// Cycles for copying a vector into a padded operand.
    static constexpr double kPadCycles = 4.5;
    /// Cycles for writing and rereading a vector of sums that are in a near
    /// cache.
    static constexpr double kNearSumCycles = 3;
    /// Cycles for writing and rereading a vector of sums that aren't.
    static constexpr double kFarSumCycles = 12;
    /// The largest total size of sums that fit in a near cache, in bytes.
    static constexpr double kFarSumBytes = 1 << 18;
  };

  /// Parameters of second moments: how the lower triangle of a matrix of sums
  /// is cut into strips and tiles.
  struct Triangles {
    /// The candidates for the number of rows of a strip, which is also the
    /// number of columns of its tiles: from the least to the most, by steps.
    static constexpr int64_t kLeastHeight = 48;
    static constexpr int64_t kMostHeight = 128;
    static constexpr int64_t kHeightStep = 16;
    /// The cost of reading an element, in products. A strip of h rows reads it
    /// once for h products.
    static constexpr double kReadShare = 8;
    /// The number of rows of the tiles on the diagonal.
    static constexpr int64_t kPiece = 32;
    /// The number of elements of a row that are stored at a time.
    static constexpr int64_t kRun = 16;
    /// For a convolution's windows: the least number of channels of a tile, if
    /// channels are divided into several tiles.
    static constexpr int64_t kLeastChannels = 8;
    /// The largest number of channels of a tile, if a suitable number divides
    /// the channels.
    static constexpr int64_t kMostChannels = 16;
    /// The largest number of pieces of the input for which sums are formed for
    /// each distance between two taps of the window.
    static constexpr int64_t kMostPieces = 27;
  };

  /// Parameters for the division of kernels into work items. The unit of work
  /// is about the time of one scalar operation in vectorized code.
  struct Items {
    /// The least work of an item.
    static constexpr double kWork = 32768;
    /// The largest number of items.
    static constexpr int64_t kMost = 64;
    /// The assumed number of threads, which share the work of all copies.
    static constexpr int64_t kThreads = 32;
    /// The largest number of threads that share the work of one copy.
    static constexpr int64_t kMaxCopyThreads = 16;
    /// The work of starting an item.
    static constexpr double kOverhead = 8192;
    /// The weight of the total time of all threads, relative to the time of the
    /// slowest thread: other copies may keep the threads busy.
    static constexpr double kTotalWeight = 4;
    /// For kernels that make several passes over their elements: the bytes of
    /// an item that stay in the first-level cache. This is half of the smallest
    /// one of any target, since it also holds elements of the next item.
    static constexpr double kNearBytes = 1 << 14;
    /// For such kernels: the bytes of an item that stay in the second-level
    /// cache, the smallest one of any target.
    static constexpr double kFarBytes = 1 << 19;
    /// The factor by which accesses take longer beyond kNearBytes.
    static constexpr double kNotNearFactor = 1.5;
    /// The factor by which accesses take longer beyond kFarBytes.
    static constexpr double kFarFactor = 4;
    /// kMost, kWork and kOverhead for kernels that make several passes.
    static constexpr int64_t kMostOfPasses = 1 << 16;
    static constexpr double kPassWork = 4096;
    static constexpr double kPassOverhead = 1024;
    /// The factor by which an item takes longer if its elements aren't
    /// contiguous in memory.
    static constexpr double kScatteredFactor = 1.02;
    /// The work of reading or writing an element.
    static constexpr double kAccessWork = 2;
    /// The work of moving an element in a transposition.
    static constexpr double kMoveWork = 8;
    /// The work of a math function, such as exp.
    static constexpr double kFunctionWork = 16;
    /// The factor by which products take longer if one vector holds the whole
    /// axis, so that each product reads a number.
    static constexpr double kNarrowFactor = 1.3;
    /// The work of reading a vector for a product of two vectors, relative to
    /// the product.
    static constexpr double kReadFactor = 2;
    /// The number of uses of a vector in a tile beyond which more uses don't
    /// make it faster.
    static constexpr double kTileSide = 4;
  };
};

/// Returns the relative cost per element of a vectorized innermost loop of
/// `size` contiguous iterations, whose remainder takes shorter vectors.
double getVectorCost(int64_t size, Type elementType);

} // namespace mlir::hfta

#endif // HFTA_TARGET_REFERENCEMODEL_H
