//===- GpuReferenceModel.h - Constants that decide bits on GPUs -*- C++ -*-===//
//
// On a GPU, the order in which a sum's terms are added follows from the op and
// one copy's shapes, by the costs of the one GPU described here, and is the
// same on all chips. So none of these constants can be changed without changing
// the bytes of trained programs. A change of them is a change of the reference
// for all recorded bytes, as it is for the host's (ReferenceModel.h).
//===----------------------------------------------------------------------===//

#ifndef HFTA_TARGET_GPUREFERENCEMODEL_H
#define HFTA_TARGET_GPUREFERENCEMODEL_H

#include <cstdint>

namespace mlir::hfta {

/// The reference GPU, by the decisions that use it. It is about an A100 or an
/// H100.
struct GpuReferenceModel {
  /// The number of copies for which choices are made. It isn't the number of a
  /// job's copies, on which bits don't depend.
  static constexpr int64_t kCopies = 4;
  /// The approximate number of multiprocessors.
  static constexpr int64_t kProcessors = 128;
  /// The number of threads that run at once.
  static constexpr int64_t kThreadsAtOnce = 128 * 1024;
  /// The most bytes that a thread reads at once.
  static constexpr int64_t kAccessBytes = 16;

  /// A tile that a block computes of a product, in elements, and how fast it
  /// does so.
  struct Tile {
    int64_t rows, columns, terms; ///< `terms` are those of a step
    int64_t threadRows, threadColumns;
    /// The fraction of a multiprocessor's peak that a single block reaches, as
    /// it waits for memory.
    double alone;
    /// The fraction of the peak that several blocks reach.
    double together;
    /// The most groups of threads for which there are enough registers.
    int64_t groups;
  };

  /// Parameters of products. They decide into how many parts, one for each
  /// group of threads, the terms of an element are divided, and where the parts
  /// begin: each is a whole number of steps. Groups and terms of a step follow
  /// from the tile that is estimated to be the fastest, so all of a tile's
  /// numbers count.
  struct Products {
    /// The tiles without tensor cores. Fractions of the peak were measured on
    /// an H200, for matrix products and convolutions.
    static constexpr Tile kTiles[] = {
        {128, 128, 8, 8, 8, 0.4, 0.75, 1}, {128, 64, 16, 8, 4, 0.22, 0.5, 1},
        {64, 128, 16, 4, 8, 0.22, 0.5, 1}, {64, 64, 16, 4, 4, 0.13, 0.3, 2},
        {128, 32, 16, 8, 2, 0.1, 0.25, 2}, {32, 128, 16, 2, 8, 0.1, 0.25, 2},
        {32, 32, 32, 2, 2, 0.04, 0.13, 4}, {64, 16, 32, 4, 1, 0.03, 0.1, 4},
        {16, 64, 32, 1, 4, 0.03, 0.1, 4},  {16, 16, 32, 1, 1, 0.015, 0.05, 4}};
    /// The tiles on tensor cores. Their terms are counted in 32-bit words. Each
    /// group adds up at least one instruction's terms at a time.
    static constexpr Tile kTensorTiles[] = {
        {128, 128, 16, 8, 8, 0.4, 0.75, 1}, {128, 64, 16, 4, 8, 0.25, 0.5, 1},
        {64, 128, 16, 4, 8, 0.25, 0.5, 1},  {64, 64, 16, 4, 4, 0.15, 0.35, 2},
        {128, 32, 16, 4, 4, 0.12, 0.3, 2},  {32, 128, 16, 4, 4, 0.12, 0.3, 2},
        {32, 64, 32, 2, 4, 0.08, 0.2, 4},   {64, 32, 32, 2, 4, 0.08, 0.2, 4},
        {32, 32, 32, 2, 2, 0.05, 0.13, 4},  {16, 64, 32, 2, 4, 0.05, 0.12, 4},
        {64, 16, 32, 2, 2, 0.04, 0.1, 4},   {16, 16, 32, 2, 2, 0.02, 0.06, 4}};
    /// The number of multiplications below which independent threads are as
    /// fast as tiles. They add all terms of an element one after the other.
    static constexpr int64_t kFewProducts = 1 << 14;
    /// The least number of rows, columns and terms of a product with tiles.
    static constexpr int64_t kLeastSize = 4;
    /// The least number of terms of a group.
    static constexpr int64_t kTermsOfGroup = 64;
    /// The most sums of a thread, and the most terms of a step, for sums of
    /// more than 32 bits, which take two registers.
    static constexpr int64_t kMostWideSums = 16;
    static constexpr int64_t kMostWideTerms = 16;
  };

  /// Parameters of all other sums. They decide in how many lanes the terms of a
  /// sum are added up, and how many neighbouring terms a lane takes at a time.
  struct Sums {
    /// The threads of a block whose threads share sums, and so the most lanes.
    static constexpr int64_t kBlockThreads = 256;
    /// The least number of lanes of a sum that is shared.
    static constexpr int64_t kFewestLanes = 4;
    /// The least number of terms of a lane.
    static constexpr int64_t kTermsOfLane = 8;
    /// The lanes that a sum of contiguous terms has at least, if it has enough
    /// terms: the threads of a warp.
    static constexpr int64_t kContiguousLanes = 32;
  };

  /// Parameters of long sums of products (`hfta-split-sums`). They decide into
  /// how many parts of the batch a weight's gradient is divided.
  struct Splits {
    /// The number of tiles, of all copies together, up to which sums are
    /// divided: two for each multiprocessor.
    static constexpr int64_t kTiles = 2 * kProcessors;
    /// The least number of terms of a part.
    static constexpr int64_t kTermsOfPart = 256;
    /// The length of a tile's side, and of a shorter one for fewer rows or
    /// columns than that.
    static constexpr int64_t kSide = 128;
    static constexpr int64_t kShortSide = 64;
  };

  /// Parameters of sums of columns (`hfta-sum-by-parts`). They decide which
  /// sums are added up in parts of neighbouring rows, and how many rows a part
  /// has.
  struct Parts {
    /// The least number of elements of a tensor whose columns are summed so.
    static constexpr int64_t kFewElements = 1 << 12;
    /// The least number of parts.
    static constexpr int64_t kFewParts = 4;
    /// The lengths that are tried first. They divide the tiles of products.
    static constexpr int64_t kLengths[] = {32, 16};
    /// The least and the most length that is tried otherwise.
    static constexpr int64_t kLeastOther = 17;
    static constexpr int64_t kMostOther = 63;
  };

  /// Costs of adding updates to slices (`hfta-sort-indices`), in microseconds.
  /// They decide whether the updates of an element are found by tables. That
  /// changes no bits, as they are added in the same order either way; but it
  /// changes which kernels all chips have in common.
  struct Scatters {
    /// The comparisons of indices per microsecond.
    static constexpr double kComparisons = 1 << 21;
    /// The time between two comparisons of a thread.
    static constexpr double kWait = 0.03;
    /// The least time of a kernel.
    static constexpr double kLaunch = 2;
    /// The most kernels that compute tables.
    static constexpr double kTableKernels = 4;
  };
};

} // namespace mlir::hfta

#endif // HFTA_TARGET_GPUREFERENCEMODEL_H
