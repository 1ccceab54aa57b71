//===- PartTiles.h - Elements and their sums, tile by tile ------*- C++ -*-===//
//
// A block of threads computes a tile of a tensor, rows of whole parts and some
// columns, stores it where the kernel does, and keeps it in memory that the
// threads share. From there each column of a part is added up by one thread, so
// that its sum is that of its rows, one after the other, whoever made them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PARTTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PARTTILES_H

#include "ElementPuller.h"
#include "KernelParts.h"

namespace mlir::hfta {

// What threads do of a tile, at the end of a block; a NULL condition holds
// always.

/// Whether a number, of which a tile may have some beyond the last one, is
/// below an end; NULL where it has none.
Value isBelow(OpBuilder &builder, ElementPuller &puller, Block *block,
              Value number, int64_t tile, int64_t end);
/// Of two conditions.
Value both(OpBuilder &builder, Block *block, Value one, Value other);
/// Builds in the block, or in a branch of it where there is a condition.
LogicalResult buildWhere(OpBuilder &builder, ElementPuller &puller,
                         Block *block, Value condition,
                         llvm::function_ref<LogicalResult(Block *)> build);

/// Where the sums of a tile belong.
struct PartPlace {
  Value part, column; ///< in the kernel's results
  Value isInside;     ///< whether there are such; NULL: always
};

/// Adds up the parts of some columns of a tile, which are in shared memory. Of
/// each tensor this is [part, row, column], at least so many of them; the
/// threads of a block, of which `thread` is one, have a column of a part each.
/// `place` says where a tile's part and column belong, and builds that at the
/// end of a block; `store` gets a result's element.
class PartSums {
public:
  using Place =
      llvm::function_ref<PartPlace(Block *block, Value part, Value column)>;
  using Store = llvm::function_ref<void(unsigned result, Value element,
                                        ArrayRef<Value> indices)>;

  PartSums(OpBuilder &builder, ElementPuller &puller, const KernelParts &parts,
           ValueRange results)
      : builder(builder), puller(puller), parts(parts), results(results) {}

  /// At the end of a block that all threads go through, before which they have
  /// waited for each other.
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

/// Builds what a thread does of tiles that each thread computes elements of,
/// one by one.
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
  int64_t tileParts, tileColumns; ///< of a block
  int64_t run;                    ///< neighbouring columns at a time
  Value thread;                   ///< of the block
  Value firstPart, firstColumn;
  SmallVector<Value> memories;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PARTTILES_H
