//===- TargetModel.h - What the target costs --------------------*- C++ -*-===//
//
// What generated code takes on the module's `hfta.target`. It chooses vectors,
// tiles of registers, blocks that stay in a cache, packing, prefetches and
// stores past the caches: what is computed together, never the order in which
// the terms of a sum are added (`ReferenceModel`).
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

  /// That of the module around `op`. One that has no target is for every
  /// x86-64 processor.
  static TargetModel get(Operation *op);

  int64_t getVectorBytes() const { return target.getVectorBytes(); }
  int64_t getRegisters() const { return target.getVectorRegisters(); }
  /// Bytes of a cache line.
  int64_t getLineBytes() const {
    return target.getCaches().front().getLineBytes();
  }
  /// Of a core's second level, or of the last one before that.
  CacheAttr getCoreCache() const {
    return target.getCaches()[target.getCaches().size() > 1 ? 1 : 0];
  }
  /// Whether an instruction multiplies by a power of two without overflow.
  bool canScale() const { return target.hasFeature("avx512f"); }
  /// Bytes of results that have left the caches when they are read next: three
  /// quarters of the last level, but no more than a program gets of one that
  /// many cores share.
  int64_t getStreamBytes() const;

  /// Loop nests (`LoopPlan`).
  struct Loops {
    /// Cycles: of an access to the first-level cache, of a vector from memory
    /// that it can't hold, of a math function, of collecting one lane of a
    /// vector, and until a sum can be added to again.
    static constexpr double kAccessCost = 0.5;
    static constexpr double kFarAccessCost = 2;
    static constexpr double kFunctionCost = 12;
    static constexpr double kLaneCost = 2;
    static constexpr double kSumLatency = 4;
    /// Cycles that a step of the loop over terms takes in any case.
    static constexpr double kStepCost = 1.5;
    /// Share of the reading that doesn't hide behind products.
    static constexpr double kVisibleReads = 0.25;
    /// How many times longer reading takes from matrices that aren't
    /// neighbours: their rows crowd a few places of the cache.
    static constexpr double kSeparateReads = 1.5;
    /// Bytes of a matrix that the first-level cache can't hold, and from row to
    /// row of one whose rows are far apart: each is on a page of its own.
    static constexpr int64_t kNearBytes = 1 << 16;
    static constexpr int64_t kFarRowBytes = 1024;
    /// Ops: elementwise bodies of at most so many are repeated, for so many
    /// vectors.
    static constexpr int64_t kSmallBody = 12;
    static constexpr int64_t kElementwiseVectors = 4;
    /// Rows of a tile of sums at most, axes that they lie along, and vectors
    /// side by side.
    static constexpr int64_t kMaxRows = 24;
    static constexpr size_t kMaxRowAxes = 4;
    static constexpr int64_t kMaxVectors = 6;
    /// Terms: loops over fewer (a pooling's window) cost more than they
    /// compute, so that all are computed at once, in tiles of so many terms.
    static constexpr int64_t kFewTerms = 16;
    static constexpr int64_t kUnrolledTerms = 48;
    /// Iterations of a loop that LLVM unrolls.
    static constexpr int64_t kUnrolledTaps = 8;
    /// Terms of a sum from which on transposing what is read pays, and vectors
    /// of sums that then hide each other's latency: transposing is much more
    /// code than they are.
    static constexpr int64_t kMinTransposed = 16;
    static constexpr int64_t kTransposedVectors = 4;
    /// Blocks of an axis from which on it pays to find where aligned addresses
    /// begin.
    static constexpr int64_t kMinStreamBlocks = 4;
    /// Bytes: shorter vectors make more stores than they save traffic.
    static constexpr int64_t kMinStreamBytes = 32;
    /// Uses of each element, and terms of each sum, from which on packing pays.
    static constexpr int64_t kMinPackedUses = 8;
    static constexpr int64_t kMinPackedTerms = 64;
    /// Registers that are left to products, where there are 32 of them, where
    /// there are fewer, and beside bodies of more than two ops: LLVM spills
    /// sums where products have too few.
    static constexpr int64_t kManyRegisters = 32;
    static constexpr int64_t kProductRegistersOfMany = 4;
    static constexpr int64_t kProductRegisters = 1;
    static constexpr int64_t kBodyRegisters = 5;
  };
  /// Cycles of a vector instruction.
  double getOperationCost() const {
    return 1.0 / static_cast<double>(target.getFmaUnits());
  }

  /// Blocks of terms (`TermBlocks`).
  struct Blocks {
    /// Share of the core's cache that a nest may count on.
    static constexpr double kCacheShare = 0.5;
    /// Cycles for a cache line from the next level, and to write and read a
    /// vector of sums between two blocks.
    static constexpr double kLineCost = 8;
    static constexpr double kWaitCost = 1.5;
    /// Share of the cost that blocks may leave at most: they are more code.
    static constexpr double kMinGain = 0.9;
  };

  /// Reductions of contiguous rows (`RowReduction`), several at a time.
  struct Rows {
    /// Ops of a body that has registers to spare, and sums at a time of one
    /// that hasn't: it keeps busy by itself.
    static constexpr int64_t kSmallBody = 3;
    static constexpr int64_t kLargeBodySums = 4;
  };

  /// Transpositions in registers (`TransposeEmitter`).
  struct Transposes {
    /// Elements of a square's side at most: it has to stay in registers.
    static constexpr int64_t kMaxLanes = 16;
  };

  /// Prefetches (`Prefetch`).
  struct Prefetches {
    /// An item's part of an argument stays in the core's cache, with all else
    /// that the item touches, if it is at most one of so many parts of it.
    static constexpr int64_t kCacheParts = 8;
  };

  /// Fusion of elementwise ops (`FuseElementwise`).
  struct Fusion {
    /// Ops that are computed again by each user rather than read.
    static constexpr int64_t kCheapBody = 2;
  };

private:
  TargetAttr target;
};

} // namespace mlir::hfta

#endif // HFTA_TARGET_TARGETMODEL_H
