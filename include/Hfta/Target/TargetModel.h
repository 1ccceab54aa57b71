//===- TargetModel.h - The costs of code on the target ----------*- C++ -*-===//
//
// The costs of generated code on the module's `hfta.target`. They determine
// vectors, register tiles, blocks of terms that stay in a cache, packing,
// prefetches and stores that bypass the caches. All these decide what is
// computed together, but never in which order the terms of a sum are added
// (`ReferenceModel`).
//
// Costs in cycles were measured with bench/kernels.py on processors with
// vectors of 32 and of 64 bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TARGET_TARGETMODEL_H
#define HFTA_TARGET_TARGETMODEL_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Target/ReferenceModel.h"

namespace mlir::hfta {

/// The costs of a target, and the parameters of decisions, grouped by the class
/// that makes them.
class TargetModel {
public:
  explicit TargetModel(ProcessorAttr processor) : processor(processor) {}

  /// Returns the model for the module that contains `op`. A module whose target
  /// names no processor is for any x86-64 processor.
  static TargetModel get(Operation *op);

  /// Returns the processor that code for the host is for.
  ProcessorAttr getProcessor() const { return processor; }
  int64_t getVectorBytes() const { return processor.getVectorBytes(); }
  int64_t getRegisters() const { return processor.getVectorRegisters(); }
  /// Returns the size of a cache line in bytes.
  int64_t getLineBytes() const {
    return processor.getCaches().front().getLineBytes();
  }
  /// Returns the second-level cache, or the first-level cache if that is the
  /// only one.
  CacheAttr getCoreCache() const {
    return processor.getCaches()[processor.getCaches().size() > 1 ? 1 : 0];
  }
  /// Returns whether one instruction multiplies by a power of two without
  /// intermediate overflow.
  bool canScale() const { return processor.hasFeature("avx512f"); }
  /// Returns whether one instruction multiplies pairs of bf16, twice as fast as
  /// f32.
  bool multipliesPairs() const { return processor.hasFeature("avx512_bf16"); }
  /// Returns the size of results, in bytes, from which on they are no longer in
  /// the caches when they are read next. This is three quarters of the
  /// last-level cache, but at most what one program gets of a cache that many
  /// cores share.
  int64_t getStreamBytes() const;

  /// Parameters of loop nests (`LoopPlan`).
  struct Loops {
    /// Cycles of a vector access to the first-level cache.
    static constexpr double kAccessCost = 0.5;
    /// Cycles for reading a vector that isn't in the first-level cache.
    static constexpr double kFarAccessCost = 2;
    /// Cycles of a math function, such as exp.
    static constexpr double kFunctionCost = 12;
    /// Cycles for inserting one lane into a vector.
    static constexpr double kLaneCost = 2;
    /// Cycles of latency of an addition to a sum.
    static constexpr double kSumLatency = 4;
    /// Fixed cycles of an iteration of the loop over terms.
    static constexpr double kStepCost = 1.5;
    /// The fraction of read cycles that products don't hide.
    static constexpr double kVisibleReads = 0.25;
    /// The factor by which reads take longer if a tile computes products of
    /// several independent matrices, whose rows compete for a few cache sets.
    static constexpr double kSeparateReads = 1.5;
    /// The largest matrix, in bytes, that stays in the first-level cache.
    static constexpr int64_t kNearBytes = 1 << 16;
    /// The least distance between rows, in bytes, that counts as far: each row
    /// is then assumed to be on a different page.
    static constexpr int64_t kFarRowBytes = 1024;
    /// The bytes of a page, and the entries of a first-level TLB.
    static constexpr int64_t kPageBytes = 4096;
    static constexpr int64_t kPages = 64;
    /// The largest number of ops in the body of an elementwise op that computes
    /// several vectors per iteration.
    static constexpr int64_t kSmallBody = 12;
    /// The largest number of vectors per iteration of such an op.
    static constexpr int64_t kElementwiseVectors = 4;
    /// The largest number of rows of a tile of sums.
    static constexpr int64_t kMaxRows = 24;
    /// The largest number of axes along which a tile's rows lie.
    static constexpr size_t kMaxRowAxes = 4;
    /// The largest number of vectors in a row of a tile.
    static constexpr int64_t kMaxVectors = 6;
    /// The largest number of terms for which a loop over terms is unrolled,
    /// such as the loop over a pooling's window: a loop would take longer than
    /// its body.
    static constexpr int64_t kFewTerms = 16;
    /// The number of terms that an unrolled tile adds, over all of its sums.
    static constexpr int64_t kUnrolledTerms = 48;
    /// The largest number of iterations with which LLVM unrolls a loop.
    static constexpr int64_t kUnrolledTaps = 8;
    /// The least number of terms of a sum for which it pays to transpose the
    /// values that are read.
    static constexpr int64_t kMinTransposed = 16;
    /// The largest number of vectors of sums beside transpositions. It suffices
    /// to hide latencies; more would be too much code.
    static constexpr int64_t kTransposedVectors = 4;
    /// The least number of blocks of an axis for which it pays to find the
    /// first aligned address, for streaming stores.
    static constexpr int64_t kMinStreamBlocks = 4;
    /// The least vector width in bytes for which streaming stores pay: narrower
    /// vectors need more additional stores than they save traffic.
    static constexpr int64_t kMinStreamBytes = 32;
    /// The least number of uses of each element for which packing pays.
    static constexpr int64_t kMinPackedUses = 8;
    /// The least number of uses for which it pays to pack rows whose elements
    /// would miss the cache at each use.
    static constexpr int64_t kMinPackedRowUses = 2;
    /// The least number of terms of each sum for which packing pays.
    static constexpr int64_t kMinPackedTerms = 64;
    /// The number of cache lines of which all distances between a window's
    /// terms are multiples if they are crowded in few sets of the first-level
    /// cache.
    static constexpr int64_t kCrowdedLines = 4;
    /// Registers that a tile of sums leaves to products:
    /// kProductRegistersOfMany if there are at least kManyRegisters, else
    /// kProductRegisters, and kBodyRegisters if the body has more than two ops.
    /// With fewer, LLVM would spill sums.
    static constexpr int64_t kManyRegisters = 32;
    static constexpr int64_t kProductRegistersOfMany = 4;
    static constexpr int64_t kProductRegisters = 1;
    static constexpr int64_t kBodyRegisters = 5;
  };
  /// Returns the cycles per vector instruction.
  double getOperationCost() const {
    return 1.0 / static_cast<double>(processor.getFmaUnits());
  }

  /// Parameters of blocks of terms (`TermBlocks`).
  struct Blocks {
    /// The fraction of the core's cache that a loop nest may use.
    static constexpr double kCacheShare = 0.5;
    /// Cycles for fetching a cache line from the next level.
    static constexpr double kLineCost = 8;
    /// Cycles for writing and rereading a vector of sums between two blocks.
    static constexpr double kWaitCost = 1.5;
    /// The largest ratio of costs with and without blocks for which blocks pay,
    /// as they need more code.
    static constexpr double kMinGain = 0.9;
  };

  /// Parameters of blocks of rows (`BlockRows`).
  struct RowBlocks {
    /// A block's rows take at most 1/kCacheParts of the core's cache, if that
    /// is at least one row: beside them are the sums, and what is prefetched.
    static constexpr int64_t kCacheParts = 4;
    /// The most rows of a block: enough that loading and storing the sums
    /// between blocks takes little time. Sums of 2500 x 1024 numbers took 1.4
    /// times as long with 32, and 1.3 times as long with 1 (AMD EPYC).
    static constexpr int64_t kMost = 8;
    /// The least number of rows of a block that pays for a sum alone.
    static constexpr int64_t kFewestAlone = 4;
  };

  /// Parameters of reductions of contiguous rows (`RowReduction`).
  struct Rows {
    /// The largest number of ops in a small body. With a small body, as many
    /// rows are summed at a time as registers allow.
    static constexpr int64_t kSmallBody = 3;
    /// The number of sums at a time with a larger body, which by itself keeps
    /// the core busy.
    static constexpr int64_t kLargeBodySums = 4;
  };

  /// Parameters of transpositions in registers (`TransposeEmitter`).
  struct Transposes {
    /// The largest side of a transposed square, in elements. The square must
    /// fit in registers.
    static constexpr int64_t kMaxLanes = 16;
  };

  /// Parameters of prefetches (`Prefetch`).
  struct Prefetches {
    /// An item's part of an argument is prefetched if it is at most
    /// 1/kCacheParts of the core's cache, so that it stays there beside the
    /// item's other data.
    static constexpr int64_t kCacheParts = 8;
    /// The bytes that are packed between the prefetch of an element and its
    /// own turn: packing them takes about as long as memory's latency.
    static constexpr int64_t kPackedBytes = 8192;
    /// The locality hint of a line that goes to all levels of caches, and of
    /// one that goes past the first level, where lines whose distance is a
    /// power of two would replace each other before they are read.
    static constexpr unsigned kAllCaches = 3;
    static constexpr unsigned kFarCaches = 2;
  };

  /// Parameters of the fusion of elementwise ops (`FuseElementwise`).
  struct Fusion {
    /// The largest number of ops of a body that each user recomputes instead of
    /// reading its result.
    static constexpr int64_t kCheapBody = 2;
  };

private:
  ProcessorAttr processor;
};

} // namespace mlir::hfta

#endif // HFTA_TARGET_TARGETMODEL_H
