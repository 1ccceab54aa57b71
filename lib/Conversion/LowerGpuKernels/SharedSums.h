//===- SharedSums.h - Sums of several threads -------------------*- C++ -*-===//
//
// A sum of many terms is that of several threads of a block: each adds up some
// of the terms, and what they have is combined in pairs in memory that the
// block shares. Which terms, and which pairs, follows from how many threads
// there are, which the op says (`hfta-map-kernels-to-gpu`).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_SHAREDSUMS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_SHAREDSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <algorithm>
#include <optional>

namespace mlir::hfta {

/// Memory that the threads of a block share, as much as a kernel asks for. It
/// begins with nothing that is known.
class SharedMemory {
public:
  /// So that four elements can be read at once.
  static constexpr int64_t kAlignment = 16;
  /// Of a block, where nothing is asked for at the launch.
  static constexpr int64_t kMostBytes = 48 * 1024;

  explicit SharedMemory(func::FuncOp kernel) : kernel(kernel) {}

  /// A part that nothing else gets. Built at the kernel's beginning.
  Value allocate(Location loc, ArrayRef<int64_t> shape, Type elementType);
  /// The first bytes, or those behind so many, whoever has got them, but for
  /// what is kept.
  Value share(Location loc, ArrayRef<int64_t> shape, Type elementType,
              int64_t offset = 0);
  /// Keeps what has been allocated by now from being shared. What follows
  /// begins at a multiple of so many bytes.
  void keep(int64_t alignment);
  /// What has been allocated, as neighbours of another type.
  Value viewAs(Value part, Type elementType);
  /// Lets all of it begin at a multiple of so many bytes, a power of two.
  void align(int64_t bytes) { alignment = std::max(alignment, bytes); }
  /// The symbol of all of it, once all is allocated.
  void declare(SymbolTable &symbols);

  int64_t countBytes() const { return bytes; }
  /// Those of an array of such a shape.
  static int64_t countBytes(ArrayRef<int64_t> shape, Type elementType);

  /// Waits until all threads of the block get there, or those that it is for.
  void synchronize(OpBuilder &builder, Location loc) const;
  /// From here on what is built is for the block's first threads, so many:
  /// whole warps.
  void limitTo(int64_t count) { threads = count; }

private:
  Value view(Location loc, MemRefType type, int64_t offset);

  func::FuncOp kernel;
  SmallVector<Operation *> views;
  int64_t bytes = 0, kept = 0, alignment = kAlignment;
  int64_t threads = 0; ///< 0: all
};

/// Of each result of an op; 1 where it adds up nothing.
int64_t countTerms(linalg::GenericOp op);

/// How running values become one.
struct SumCombiner {
  Operation *op;     ///< a commutative op of two values, or a `math.fma`
  TypedAttr neutral; ///< NULL: what the sum starts from changes nothing if it
                     ///< is combined again

  /// What a thread starts from: the first one from where the sum does.
  Value begin(OpBuilder &builder, Location loc, Value lane, Value start) const;
  Value combine(OpBuilder &builder, Location loc, Value one, Value other) const;
};

/// How a result of a reduction, whose running value nothing else reads, can be
/// put together from parts of its terms.
std::optional<SumCombiner> findCombiner(linalg::GenericOp op, unsigned result);

/// The threads that add up one sum.
struct SumLanes {
  SharedMemory *memory;
  Value lane;      ///< which of them this thread is
  Value slot;      ///< in memory for a value a thread: that of the sum's first
  int64_t pitch;   ///< from one's slot to the next one's
  int64_t threads; ///< of a block

  /// Of each of some sums, of one type, the sum of the values of the first
  /// `count` threads, a power of two; all get it.
  SmallVector<Value> combine(OpBuilder &builder, Location loc,
                             ArrayRef<Value> sums, int64_t count,
                             const SumCombiner &combiner) const;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_SHAREDSUMS_H
