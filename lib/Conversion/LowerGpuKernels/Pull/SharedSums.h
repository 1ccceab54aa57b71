//===- SharedSums.h - Sums of several threads -------------------*- C++ -*-===//
//
// Several threads of a block share a sum of many terms: each adds up some of
// the terms, and their partial sums are combined in pairs in shared memory
// (tree reduction). Which terms a thread adds and which pairs are combined
// follows from the number of lanes, an attribute that `hfta-map-kernels-to-gpu`
// sets on the op.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_SHAREDSUMS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_SHAREDSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <algorithm>
#include <optional>

namespace mlir::hfta {

/// The shared memory of a block, which grows to the size that the kernel needs.
/// Its initial contents are undefined.
class SharedMemory {
public:
  /// The alignment in bytes, which lets a thread read four f32 at once.
  static constexpr int64_t kAlignment = 16;
  /// The most bytes that a block can have without dynamic shared memory.
  static constexpr int64_t kMostBytes = 48 * 1024;

  explicit SharedMemory(func::FuncOp kernel) : kernel(kernel) {}

  /// Allocates memory after all parts so far. Builds its view at the beginning
  /// of the kernel.
  Value allocate(Location loc, ArrayRef<int64_t> shape, Type elementType);
  /// Returns memory `offset` bytes after the part that is kept. It may overlap
  /// all parts that aren't kept.
  Value share(Location loc, ArrayRef<int64_t> shape, Type elementType,
              int64_t offset = 0);
  /// Keeps all parts allocated so far from being shared. The next part begins
  /// at a multiple of `alignment` bytes.
  void keep(int64_t alignment);
  /// Returns a view of a part as an array of another element type.
  Value viewAs(Value part, Type elementType);
  /// Returns the address of an element of a part that is an array.
  static Value findAddress(OpBuilder &builder, Location loc, Value part,
                           Value index);
  /// Aligns the whole memory to a multiple of `bytes`, a power of two.
  void align(int64_t bytes) { alignment = std::max(alignment, bytes); }
  /// Declares the symbol of the memory, after all parts were allocated.
  void declare(SymbolTable &symbols);

  int64_t countBytes() const { return bytes; }
  /// Returns the bytes of an array, rounded up to the alignment.
  static int64_t countBytes(ArrayRef<int64_t> shape, Type elementType);

  /// Builds a barrier of all threads of the block, or of those to which
  /// `limitTo` has limited it.
  void synchronize(OpBuilder &builder, Location loc) const;
  /// Limits barriers that are built from here on to the first `count` threads
  /// of the block, which must be whole warps.
  void limitTo(int64_t count) { threads = count; }

private:
  Value view(Location loc, MemRefType type, int64_t offset);

  func::FuncOp kernel;
  SmallVector<Operation *> views;
  int64_t bytes = 0, kept = 0, alignment = kAlignment;
  int64_t threads = 0; ///< the number of threads at a barrier; 0: all
};

/// Returns the number of terms of each element of an op's results; 1 if the op
/// isn't a sum.
int64_t countTerms(linalg::GenericOp op);

/// The way in which partial results of a reduction are combined.
struct SumCombiner {
  Operation *op; ///< a commutative op of two values, or a `math.fma`
  TypedAttr
      neutral; ///< the initial value of all threads but the first; NULL: all
               ///< threads can start from the reduction's initial value

  /// Builds a thread's initial value: `start` for the first thread, else the
  /// neutral one.
  Value begin(OpBuilder &builder, Location loc, Value lane, Value start) const;
  Value combine(OpBuilder &builder, Location loc, Value one, Value other) const;
};

/// Returns how partial results of a reduction are combined. Returns nothing if
/// they can't be, or if the running value has other uses in the op's body.
std::optional<SumCombiner> findCombiner(linalg::GenericOp op, unsigned result);

/// The threads that add up one sum together.
struct SumLanes {
  SharedMemory *memory;
  Value lane; ///< the thread's index among those that share the sum
  Value slot; ///< the index of the first thread's slot, in memory with one slot
              ///< for each thread of the block
  int64_t pitch;   ///< the slots from one thread to the next
  int64_t threads; ///< the number of threads of a block

  /// Combines the values of the first `count` threads, a power of two, for each
  /// of some sums of one type. All threads get the results.
  SmallVector<Value> combine(OpBuilder &builder, Location loc,
                             ArrayRef<Value> sums, int64_t count,
                             const SumCombiner &combiner) const;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_SHAREDSUMS_H
