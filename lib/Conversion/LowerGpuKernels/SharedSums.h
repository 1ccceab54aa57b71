//===- SharedSums.h - Sums of several threads -------------------*- C++ -*-===//
//
// Several threads of a block share a sum of many terms: each adds up some of
// the terms, and their results are combined in pairs in shared memory. The
// terms and the pairs follow from the number of threads, which is an attribute
// of the op (`hfta-map-kernels-to-gpu`).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_SHAREDSUMS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_SHAREDSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <algorithm>
#include <optional>

namespace mlir::hfta {

/// The shared memory of a block, as large as a kernel needs. Its initial
/// contents are undefined.
class SharedMemory {
public:
  /// The alignment in bytes, with which four elements can be read at once.
  static constexpr int64_t kAlignment = 16;
  /// The most bytes of a block without dynamic shared memory.
  static constexpr int64_t kMostBytes = 48 * 1024;

  explicit SharedMemory(func::FuncOp kernel) : kernel(kernel) {}

  /// Allocates a part of its own. Built at the kernel's beginning.
  Value allocate(Location loc, ArrayRef<int64_t> shape, Type elementType);
  /// Returns memory `offset` bytes after what is kept. It may overlap other
  /// parts that aren't kept.
  Value share(Location loc, ArrayRef<int64_t> shape, Type elementType,
              int64_t offset = 0);
  /// Keeps what has been allocated so far from being shared. What follows
  /// begins at a multiple of `alignment` bytes.
  void keep(int64_t alignment);
  /// Views an allocated part as an array of another element type.
  Value viewAs(Value part, Type elementType);
  /// Aligns all of it to a multiple of `bytes`, a power of two.
  void align(int64_t bytes) { alignment = std::max(alignment, bytes); }
  /// Declares the symbol of the memory, once all is allocated.
  void declare(SymbolTable &symbols);

  int64_t countBytes() const { return bytes; }
  /// Returns the bytes of an array of this shape.
  static int64_t countBytes(ArrayRef<int64_t> shape, Type elementType);

  /// Waits until all threads of the block get there, or all those of `limitTo`.
  void synchronize(OpBuilder &builder, Location loc) const;
  /// From here on code is built for the first `count` threads of the block
  /// only, which are whole warps.
  void limitTo(int64_t count) { threads = count; }

private:
  Value view(Location loc, MemRefType type, int64_t offset);

  func::FuncOp kernel;
  SmallVector<Operation *> views;
  int64_t bytes = 0, kept = 0, alignment = kAlignment;
  int64_t threads = 0; ///< threads that synchronize; 0: all
};

/// Returns the terms of each of an op's results; 1 if it isn't a sum.
int64_t countTerms(linalg::GenericOp op);

/// How running values are combined.
struct SumCombiner {
  Operation *op;     ///< a commutative op of two values, or a `math.fma`
  TypedAttr neutral; ///< NULL: initial values may be combined again

  /// Returns a thread's initial value: the sum's own one for the first thread.
  Value begin(OpBuilder &builder, Location loc, Value lane, Value start) const;
  Value combine(OpBuilder &builder, Location loc, Value one, Value other) const;
};

/// Returns how a result of a reduction can be combined from parts of its terms;
/// nothing if it can't, or if the running value has other uses.
std::optional<SumCombiner> findCombiner(linalg::GenericOp op, unsigned result);

/// The threads that add up one sum.
struct SumLanes {
  SharedMemory *memory;
  Value lane; ///< the index of this thread among them
  Value slot; ///< the slot of the sum's first thread, in memory with a slot for
              ///< each thread
  int64_t pitch;   ///< the distance from one thread's slot to the next one's
  int64_t threads; ///< the threads of a block

  /// Combines the values of the first `count` threads, a power of two, for each
  /// of some sums of one type; all threads get the results.
  SmallVector<Value> combine(OpBuilder &builder, Location loc,
                             ArrayRef<Value> sums, int64_t count,
                             const SumCombiner &combiner) const;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_SHAREDSUMS_H
