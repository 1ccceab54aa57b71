//===- TargetModel.h - The costs of code on the target ----------*- C++ -*-===//
//
// The costs of generated code on the module's `hfta.target`. They decide on
// vectors, register tiles, blocks that stay in a cache, packing, prefetches and
// stores that bypass the caches: on what is computed together, never on the
// order in which the terms of a sum are added (`ReferenceModel`).
//
// Costs in cycles were measured with bench/kernels.py on processors with
// vectors of 32 and of 64 bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TARGET_TARGETMODEL_H
#define HFTA_TARGET_TARGETMODEL_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Target/ReferenceModel.h"

namespace mlir::hfta {

class TargetModel {
public:
  explicit TargetModel(TargetAttr target) : target(target) {}

  /// Returns the model of the module around `op`. A module without a target is
  /// for any x86-64 processor.
  static TargetModel get(Operation *op);

  int64_t getVectorBytes() const { return target.getVectorBytes(); }
  int64_t getRegisters() const { return target.getVectorRegisters(); }
  /// Returns the bytes of a cache line.
  int64_t getLineBytes() const {
    return target.getCaches().front().getLineBytes();
  }
  /// Returns the core's second-level cache, or the first-level one if it has no
  /// other.
  CacheAttr getCoreCache() const {
    return target.getCaches()[target.getCaches().size() > 1 ? 1 : 0];
  }
  /// Returns whether an instruction multiplies by a power of two without
  /// overflow.
  bool canScale() const { return target.hasFeature("avx512f"); }
  /// Returns the size in bytes from which on results have left the caches when
  /// they are read next: three quarters of the last level, but no more than one
  /// program gets of a cache that many cores share.
  int64_t getStreamBytes() const;

  /// Parameters of loop nests (`LoopPlan`).
  struct Loops {
    /// Cycles of an access to the first-level cache, of reading a vector from
    /// memory that this cache can't hold, of a math function, of collecting one
    /// lane of a vector, and until a sum can be added to again.
    static constexpr double kAccessCost = 0.5;
    static constexpr double kFarAccessCost = 2;
    static constexpr double kFunctionCost = 12;
    static constexpr double kLaneCost = 2;
    static constexpr double kSumLatency = 4;
    /// The fixed cost of a step of the loop over terms, in cycles.
    static constexpr double kStepCost = 1.5;
    /// The share of reading that isn't hidden by products.
    static constexpr double kVisibleReads = 0.25;
    /// The factor by which reading takes longer from matrices that aren't
    /// neighbours: their rows compete for a few cache sets.
    static constexpr double kSeparateReads = 1.5;
    /// The bytes of a matrix that no longer fit in the first-level cache, and
    /// the distance between rows, in bytes, from which on each of them is on a
    /// page of its own.
    static constexpr int64_t kNearBytes = 1 << 16;
    static constexpr int64_t kFarRowBytes = 1024;
    /// The most ops of an elementwise body that is repeated, and the number of
    /// vectors for which it is.
    static constexpr int64_t kSmallBody = 12;
    static constexpr int64_t kElementwiseVectors = 4;
    /// The most rows of a tile of sums, the most axes that these rows lie
    /// along, and the most vectors side by side.
    static constexpr int64_t kMaxRows = 24;
    static constexpr size_t kMaxRowAxes = 4;
    static constexpr int64_t kMaxVectors = 6;
    /// The most terms of a loop (such as a pooling's window) that costs more
    /// than it computes and so is unrolled, and the number of terms in a tile
    /// of it.
    static constexpr int64_t kFewTerms = 16;
    static constexpr int64_t kUnrolledTerms = 48;
    /// The most iterations of a loop that LLVM unrolls.
    static constexpr int64_t kUnrolledTaps = 8;
    /// The terms of a sum from which on transposing the values to read pays,
    /// and the vectors of sums that then hide each other's latency: transposing
    /// takes much more code than the sums do.
    static constexpr int64_t kMinTransposed = 16;
    static constexpr int64_t kTransposedVectors = 4;
    /// The blocks of an axis from which on it pays to find where aligned
    /// addresses begin.
    static constexpr int64_t kMinStreamBlocks = 4;
    /// The least bytes of a vector for which streaming stores pay: shorter
    /// vectors add more stores than they save traffic.
    static constexpr int64_t kMinStreamBytes = 32;
    /// The uses of each element, and the terms of each sum, from which on
    /// packing pays.
    static constexpr int64_t kMinPackedUses = 8;
    static constexpr int64_t kMinPackedTerms = 64;
    /// The registers that are left for products, where there are 32 of them,
    /// where there are fewer, and beside bodies of more than two ops: LLVM
    /// spills sums if products have too few registers.
    static constexpr int64_t kManyRegisters = 32;
    static constexpr int64_t kProductRegistersOfMany = 4;
    static constexpr int64_t kProductRegisters = 1;
    static constexpr int64_t kBodyRegisters = 5;
  };
  /// Returns the cycles of a vector instruction.
  double getOperationCost() const {
    return 1.0 / static_cast<double>(target.getFmaUnits());
  }

  /// Parameters of blocks of terms (`TermBlocks`).
  struct Blocks {
    /// The share of the core's cache that a nest may use.
    static constexpr double kCacheShare = 0.5;
    /// Cycles for getting a cache line from the next level, and for writing and
    /// reading a vector of sums between two blocks.
    static constexpr double kLineCost = 8;
    static constexpr double kWaitCost = 1.5;
    /// The share of the cost that may remain for blocks to pay, since they are
    /// more code.
    static constexpr double kMinGain = 0.9;
  };

  /// Parameters of reductions of contiguous rows (`RowReduction`), several at a
  /// time.
  struct Rows {
    /// The most ops of a body that leaves registers free; and the number of
    /// sums at a time of a larger body, which keeps the core busy alone.
    static constexpr int64_t kSmallBody = 3;
    static constexpr int64_t kLargeBodySums = 4;
  };

  /// Parameters of transpositions in registers (`TransposeEmitter`).
  struct Transposes {
    /// The most elements of a square's side, which has to stay in registers.
    static constexpr int64_t kMaxLanes = 16;
  };

  /// Parameters of prefetches (`Prefetch`).
  struct Prefetches {
    /// The divisor of the core's cache: an item's part of an argument stays in
    /// the cache, with all else that the item touches, if it is at most this
    /// fraction of it.
    static constexpr int64_t kCacheParts = 8;
  };

  /// Parameters of the fusion of elementwise ops (`FuseElementwise`).
  struct Fusion {
    /// The most ops of a body that each user recomputes rather than reads.
    static constexpr int64_t kCheapBody = 2;
  };

private:
  TargetAttr target;
};

} // namespace mlir::hfta

#endif // HFTA_TARGET_TARGETMODEL_H
