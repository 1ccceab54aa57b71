//===- PartTiles.h - Elements and their sums, tile by tile ------*- C++ -*-===//
//
// A block of threads computes a tile of a tensor, rows of whole parts and some
// columns. It stores the tile where the kernel does, and keeps it in shared
// memory. From there each column of a part is added up by one thread, so that
// the rows are added one after the other, whichever threads made them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PARTTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PARTTILES_H

#include "ElementPuller.h"
#include "KernelParts.h"

namespace mlir::hfta {

// The functions below build at the end of a block; a NULL condition always
// holds.

/// Builds the condition that `number`, which may be beyond the last one in the
/// last tile, is below `end`; NULL if tiles divide the range.
Value isBelow(OpBuilder &builder, ElementPuller &puller, Block *block,
              Value number, int64_t tile, int64_t end);
/// Builds the conjunction of two conditions.
Value both(OpBuilder &builder, Block *block, Value one, Value other);
/// Builds in the block, or in a branch of it if there is a condition.
LogicalResult buildWhere(OpBuilder &builder, ElementPuller &puller,
                         Block *block, Value condition,
                         llvm::function_ref<LogicalResult(Block *)> build);

/// The place of a tile's sums.
struct PartPlace {
  Value part, column; ///< the indices in the kernel's results
  Value isInside;     ///< whether there is such a place; NULL: always true
};

/// Adds up the parts of some columns of a tile, which is in shared memory: for
/// each tensor as [part, row, column], with at least `tileParts` and
/// `tileColumns` of these. Each of the block's threads has one column of a part
/// at a time. `place` builds, at the end of a block, where a tile's part and
/// column belong; `store` stores a result's element.
class PartSums {
public:
  using Place =
      llvm::function_ref<PartPlace(Block *block, Value part, Value column)>;
  using Store = llvm::function_ref<void(unsigned result, Value element,
                                        ArrayRef<Value> indices)>;

  PartSums(OpBuilder &builder, ElementPuller &puller, const KernelParts &parts,
           ValueRange results)
      : builder(builder), puller(puller), parts(parts), results(results) {}

  /// Builds at the end of a block that all threads run, after they have waited
  /// for each other.
  LogicalResult build(Block *block, ValueRange memories, int64_t tileParts,
                      int64_t tileColumns, Value thread, int64_t threads,
                      Place place, Store store);

private:
  LogicalResult add(Block *block, Value part, Value column,
                    const PartPlace &place, Store store);

  OpBuilder &builder;
  ElementPuller &puller;
  const KernelParts &parts;
  ValueRange results;
};

/// Builds the code of a thread for tiles whose elements threads compute one by
/// one.
class PartTiles {
public:
  PartTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
            SharedMemory &memory, const KernelParts &parts, ValueRange results,
            ValueRange targets, Value thread);

  LogicalResult build();

  static int64_t countBlocks(const KernelParts &parts);
  static constexpr int64_t kThreads = 256;

private:
  LogicalResult computeElements(Value number);
  LogicalResult computeInside(Value row, Value column);

  OpBuilder &builder;
  Block *block;
  ElementPuller &puller;
  SharedMemory &memory;
  const KernelParts &parts;
  ValueRange results, targets;
  Location loc;
  int64_t tileParts, tileColumns; ///< the parts and columns of a block
  int64_t run;  ///< neighbouring columns that are computed at a time
  Value thread; ///< the thread's index in the block
  Value firstPart, firstColumn;
  SmallVector<Value> memories;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PARTTILES_H
