//===- PartTiles.h - Elements and their sums, tile by tile ------*- C++ -*-===//
//
// A block of threads computes a tile of a tensor, which consists of whole parts
// and some of the columns. It stores the tile if the kernel returns the tensor,
// and keeps it in shared memory. There, each column of a part is added up by
// one thread, row by row, so that the bits don't depend on which threads
// computed the rows.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_PARTTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_PARTTILES_H

#include "Pull/ElementPuller.h"
#include "Read/KernelParts.h"

namespace mlir::hfta {

/// Builds, at the end of `block`, the condition that `number` is below `end`,
/// which it may exceed in the last tile. Returns NULL, a condition that always
/// holds, if tiles divide the range.
Value isBelow(OpBuilder &builder, ElementPuller &puller, Block *block,
              Value number, int64_t tile, int64_t end);
/// Builds the conjunction of two conditions at the end of `block`. A NULL
/// condition always holds.
Value both(OpBuilder &builder, Block *block, Value one, Value other);
/// Calls `build` for `block` itself if the condition is NULL, else for a branch
/// that runs if the condition holds.
LogicalResult buildWhere(OpBuilder &builder, ElementPuller &puller,
                         Block *block, Value condition,
                         llvm::function_ref<LogicalResult(Block *)> build);

/// The element of the results to which a sum in a tile belongs.
struct PartPlace {
  Value part, column; ///< indices in the kernel's results
  Value
      isInside; ///< whether the results have such an element; NULL: always true
};

/// Builds the sums of some columns of a tile's parts. The tile is in shared
/// memory, for each summed tensor as [part, row, column] with at least
/// `tileParts` parts and `tileColumns` columns. Each thread of the block adds
/// up one column of one part at a time. `place` builds the indices, in the
/// results, of a part and column of the tile; `store` stores an element of a
/// result.
class PartSums {
public:
  using Place =
      llvm::function_ref<PartPlace(Block *block, Value part, Value column)>;
  using Store = llvm::function_ref<void(unsigned result, Value element,
                                        ArrayRef<Value> indices)>;

  PartSums(OpBuilder &builder, ElementPuller &puller, const KernelParts &parts,
           ValueRange results)
      : builder(builder), puller(puller), parts(parts), results(results) {}

  /// Builds the sums at the end of a block which all threads run after a
  /// barrier.
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

/// Builds the code of a thread for kernels with part sums that contain no
/// product in tiles: the threads compute the elements of a tile one by one, or
/// in runs.
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
  int64_t tileParts,
      tileColumns; ///< the numbers of parts and columns of a tile
  int64_t
      run; ///< the number of neighbouring columns that are computed at a time
  Value thread; ///< the thread's index in the block
  Value firstPart, firstColumn;
  SmallVector<Value> memories;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_PARTTILES_H
