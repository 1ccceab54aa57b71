//===- ProductTiles.h - Matrix products tile by tile ------------*- C++ -*-===//
//
// A block of threads computes a tile of a product, and each thread computes
// some rows and columns of the tile. In each step, all threads together load
// the next terms of both operands into shared memory, while they add up the
// terms of the previous step (double buffering). An element's terms are added
// one after the other, in the order of the op's loops. If there are few tiles
// and many terms, the terms are divided among several groups of threads, and
// the groups' sums are added in order. The number of groups, and so the
// division of the terms, is the only property of a tile that affects the bits.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_PRODUCTTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_PRODUCTTILES_H

#include "Pull/ElementPuller.h"
#include "Pull/SharedSums.h"
#include "Read/ProductTile.h"
#include "Tiles/PartTiles.h"

#include <array>

namespace mlir::hfta {

/// Builds the code of a thread for products without tensor cores: each thread
/// adds up sums of its own in registers.
class ProductTiles {
public:
  /// Stores an element of a result at the given indices.
  using Store = PartSums::Store;

  /// `results` are the values that the kernel returns. `thread` is the thread's
  /// index in the whole launch.
  ProductTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
               SharedMemory &memory, const KernelProduct &product,
               const ProductTile &tile, ValueRange results, Value thread);

  virtual ~ProductTiles() = default;

  LogicalResult build(Store store);

protected:
  /// One side of the tile, its rows or its columns, with the operand that
  /// belongs to it.
  struct Side {
    const ProductSide *of;
    int64_t tile, ofThread;
    Value first;  ///< the tile's first row, or first column
    Value number; ///< the thread's index along this side
    Value memory; ///< the side's terms in shared memory, for each group and
                  ///< each of `buffers` buffers
    int64_t buffers = 2;
    /// Whether the elements are copied asynchronously: copies into all buffers
    /// are in flight, except into the one whose terms are being added.
    bool isCopied = false;
    /// The units that the thread loads: each unit's first term and first place
    /// on the side, within the tile, and the loop indices that don't depend on
    /// the term.
    SmallVector<Value> terms, places;
    SmallVector<SmallVector<Value>> loops;
    /// The loop along which a unit's elements are neighbouring places of one
    /// term. Nothing if they are neighbouring terms of one place.
    std::optional<unsigned> along;
  };

  /// Allocates the shared memory of both sides.
  virtual void allocate();
  /// Determines which rows and columns of the tile the thread has.
  virtual void placeInTile();
  /// Returns the place on a side of the tile of the thread's element `number`.
  virtual Value getPlace(const Side &side, int64_t number);
  /// Returns the place on a side of the tile of element `number` of any thread,
  /// given by its index along the side. `getNumber` returns this thread's
  /// index.
  virtual AffineExpr getPlaceOf(const Side &side, AffineExpr thread,
                                AffineExpr number) const;
  virtual Value getNumber(const Side &side) { return side.number; }
  /// Stores a unit's elements to a buffer, by code at the builder's insertion
  /// point.
  virtual void storeUnit(OpBuilder &b, const Side &side, size_t number,
                         ArrayRef<Value> elements, Value buffer);
  /// Begins to add a step's terms to the sums, as far as this needs no waiting.
  virtual void beginTerms(Value /*step*/, ArrayRef<Value> /*sums*/) {}
  /// Adds a step's terms, which are in one buffer of each side, to the sums.
  /// Returns the new sums.
  virtual SmallVector<Value> addTerms(Value step, ArrayRef<Value> sums);
  /// Returns the index of each side's buffer that holds the terms of a step.
  std::array<Value, 2> findBuffers(Value step);
  /// Computes the places of a side's units.
  virtual LogicalResult prepare(Side &side);
  /// Returns the number of threads of a block: the threads of the tile, and
  /// others if a derived class needs them.
  virtual int64_t countBlockThreads() const { return tile.countThreads(); }
  /// Builds the sums and stores the results.
  virtual LogicalResult compute(Store store);
  /// Adds the terms of all steps to the sums.
  virtual LogicalResult addAll(SmallVector<Value> &sums);
  // The functions below build asynchronous copies of sides. beginCopies
  // begins those of the first steps, continueCopies begins more while a step is
  // computed, and waitForCopies waits for those that the next step reads.
  virtual LogicalResult beginCopies() { return success(); }
  virtual LogicalResult continueCopies(Value /*step*/) { return success(); }
  virtual void waitForCopies() {}

  /// Returns the bytes of shared memory that part sums need if `count` columns
  /// of each thread are kept at a time.
  static int64_t countKeptBytes(const KernelProduct &product,
                                const ProductTile &tile, int64_t count);

  Value apply(AffineExpr expression, ArrayRef<Value> operands) {
    return puller.apply(expression, operands);
  }
  /// Sets the indices of several loops from the row-major number of an
  /// iteration; the last loop moves fastest.
  void setLoops(SmallVector<Value> &loops, ArrayRef<unsigned> which,
                Value number);
  /// Moves the builder to the end of the innermost block.
  void toEnd() { builder.setInsertionPointToEnd(block); }

  /// Returns whether the elements of a unit are neighbours along one loop, and
  /// either all or none of them are beyond the last term.
  bool hasRuns(const Side &side);
  /// Returns the loop along which the elements of such a unit are neighbours.
  unsigned getRunLoop(const Side &side) const {
    return side.along.value_or(product.terms.back());
  }
  /// Returns a unit's first term in a step.
  Value findTerm(const Side &side, size_t number, Value step);
  /// Returns the loop indices of a unit's element at a term.
  SmallVector<Value> findLoops(const Side &side, size_t number, Value term);
  /// Builds the condition that `term` is below the number of terms; NULL:
  /// always true.
  Value isTerm(Value term);
  /// Builds code that runs only in threads that have a unit of this number.
  void buildUnit(OpBuilder &b, const Side &side, size_t number,
                 llvm::function_ref<void(OpBuilder &)> build);
  /// Returns the number of steps of each group.
  int64_t countSteps() const;
  /// Returns the number, among the steps of all groups, of a step of the
  /// thread's group.
  Value findStep(Value step) {
    return apply(d0 * countSteps() + d1, {group, step});
  }

private:
  void placeThread(Value thread);
  /// Returns the minimum of `number` and `last`.
  Value clamp(Value number, int64_t last);
  /// Returns the first term and the first place of a unit, as expressions of
  /// its number d0.
  std::pair<AffineExpr, AffineExpr> placeUnit(const Side &side) const;
  FailureOr<SmallVector<Value>> computeRun(const Side &side, size_t number,
                                           Value term, int64_t count);
  LogicalResult computeUnit(const Side &side, size_t number, Value step,
                            SmallVector<Value> &elements);
  FailureOr<SmallVector<Value>> computeElements(Side &side, Value step);
  void storeElements(Side &side, ArrayRef<Value> elements, Value buffer);
  Value add(Value lhs, Value rhs, Value sum);
  Value isGroup(int64_t number);
  void addGroup(int64_t other, ArrayRef<Value> own, Value shared,
                MutableArrayRef<Value> sums);
  void addGroups(SmallVector<Value> &sums);
  /// A range of a thread's elements on one side.
  using Range = std::pair<int64_t, int64_t>;
  LogicalResult storeResults(ArrayRef<Value> sums, std::array<Range, 2> ranges,
                             Store store);
  LogicalResult storeResult(std::array<int64_t, 2> at, Value row, Value column,
                            Value sum, Store store);

  // The functions below build part sums (ProductParts.cpp): some columns of
  // each thread at a time are kept in the operands' memory and added up there.
  void shareParts();
  void keepSummed(std::array<int64_t, 2> at, ArrayRef<Value> elements);
  LogicalResult addParts(Store store);
  LogicalResult storeWithParts(ArrayRef<Value> sums, Store store);

protected:
  OpBuilder &builder;
  Block *block;
  ElementPuller &puller;
  SharedMemory &memory;
  const KernelProduct &product;
  linalg::GenericOp op;
  const ProductTile &tile;
  ValueRange results;
  Location loc;
  AffineExpr d0, d1;
  /// The number of elements of a unit, neighbours that a thread loads together.
  int64_t unit = 1;
  Value thread;
  SmallVector<Value> start; ///< loop indices: those of the thread's batch, and
                            ///< 0 for all other loops
  Value inBlock, group, inGroup; ///< the thread's index in the block, its
                                 ///< group, and its index in the group
  Value isFirstGroup; ///< whether the group is the first one; NULL: there is
                      ///< only one
  std::array<Side, 2> sides;
  Type sumType;

private:
  struct KeptColumns {
    unsigned rows, columns; ///< the sides that are the parts' rows and columns
    int64_t begin, count;   ///< the range of a thread's columns that is kept
    int64_t threads;        ///< the number of threads along the columns
    SmallVector<Value> memories;
  };
  KeptColumns kept;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_PRODUCTTILES_H
