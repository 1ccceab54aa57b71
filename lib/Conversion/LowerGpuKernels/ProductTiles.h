//===- ProductTiles.h - Matrix products tile by tile ------------*- C++ -*-===//
//
// A block of threads computes a tile of a product, and each thread some of its
// rows and columns. All threads together compute a number of terms of both
// operands at a time and store them in shared memory, while the sums of the
// previous terms are added up. An element's terms are added one after the
// other, in the order of the op's loops. If there are few tiles and many terms,
// several groups of threads have a part of the terms each, and the parts' sums
// are added in order. The number of groups, and so the parts of the terms, is
// the only property of a tile that affects the bits.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PRODUCTTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PRODUCTTILES_H

#include "ElementPuller.h"
#include "KernelProduct.h"
#include "PartTiles.h"
#include "SharedSums.h"

#include <array>

namespace mlir::hfta {

/// The part of a product that a block computes, and that each thread has of it.
struct ProductTile {
  int64_t rows, columns, terms;      ///< a block's; terms at a time
  int64_t threadRows, threadColumns; ///< a thread's
  int64_t groups = 1;                ///< the groups of threads

  int64_t countGroupThreads() const {
    return rows / threadRows * (columns / threadColumns);
  }
  int64_t countThreads() const { return groups * countGroupThreads(); }
  int64_t countBlocks(const KernelProduct &product) const;
  /// Returns the steps of each group, for its part of `termCount` terms.
  int64_t countSteps(int64_t termCount) const;

  /// The op's attribute that holds the tile.
  static constexpr llvm::StringLiteral kAttrName = "hfta.tile";
  static std::optional<ProductTile> get(linalg::GenericOp op);
  void set(linalg::GenericOp op) const;
  /// Chooses the best tile for a product; nothing if independent threads are as
  /// good, unless `always`. The choice depends on the op alone, except for a
  /// kernel's sums of parts: then tiles contain whole parts, and add up terms
  /// just as the op's tile without parts would.
  static std::optional<ProductTile> choose(const KernelProduct &product,
                                           bool always);
};

/// Builds the code of a thread for products of which each thread adds up its
/// own sums.
class ProductTiles {
public:
  /// Stores a result's element at these indices.
  using Store = PartSums::Store;

  /// `results` are the values that the kernel returns, `thread` is the thread's
  /// index in the whole launch.
  ProductTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
               SharedMemory &memory, const KernelProduct &product,
               const ProductTile &tile, ValueRange results, Value thread);

  virtual ~ProductTiles() = default;

  LogicalResult build(Store store);

protected:
  /// An operand's part in the tile.
  struct Side {
    const ProductSide *of;
    int64_t tile, ofThread;
    Value first;  ///< the tile's first row, or column
    Value number; ///< the thread's index along this side
    Value memory; ///< elements of `buffers` steps for each group
    int64_t buffers = 2;
    /// Whether the elements are copied asynchronously: threads begin the copies
    /// into all buffers except the one whose terms they add.
    bool isCopied = false;
    /// For each unit that the thread computes: its first term and its first
    /// place on the side, within the tile; and the indices of the loops, as far
    /// as they don't depend on the term.
    SmallVector<Value> terms, places;
    SmallVector<SmallVector<Value>> loops;
    /// The loop along which a unit's elements are neighbouring places of one
    /// term; nothing: they are neighbouring terms of one place.
    std::optional<unsigned> along;
  };

  /// Allocates the shared memory of both sides.
  virtual void allocate();
  /// Finds out which rows and columns of the tile the thread has.
  virtual void placeInTile();
  /// Returns the place of the thread's element `number` on a side of the tile.
  virtual Value getPlace(const Side &side, int64_t number);
  /// As getPlace, for any thread, given by its index along the side; getNumber
  /// returns that index for this thread.
  virtual AffineExpr getPlaceOf(const Side &side, AffineExpr thread,
                                AffineExpr number) const;
  virtual Value getNumber(const Side &side) { return side.number; }
  /// Builds the store of a unit's elements with this builder.
  virtual void storeUnit(OpBuilder &b, const Side &side, size_t number,
                         ArrayRef<Value> elements, Value buffer);
  /// Begins to add a step's terms to the sums, as far as that needs no waiting.
  virtual void beginTerms(Value /*step*/, ArrayRef<Value> /*sums*/) {}
  /// Adds a step's terms, which are in one buffer of each side, to the sums.
  virtual SmallVector<Value> addTerms(Value step, ArrayRef<Value> sums);
  /// Returns the buffer of each side that has a step's terms.
  std::array<Value, 2> findBuffers(Value step);
  /// Computes where a side's units are.
  virtual LogicalResult prepare(Side &side);
  /// Returns the threads of a block: `countThreads` of the tile, or more.
  virtual int64_t countBlockThreads() const { return tile.countThreads(); }
  /// Computes the sums, then the results that are stored.
  virtual LogicalResult compute(Store store);
  /// Adds the terms of all steps.
  virtual LogicalResult addAll(SmallVector<Value> &sums);
  // Asynchronous copies of sides: the first steps' ones are begun, more are
  // begun while a step is computed, and threads wait for those that the next
  // step needs.
  virtual LogicalResult beginCopies() { return success(); }
  virtual LogicalResult continueCopies(Value /*step*/) { return success(); }
  virtual void waitForCopies() {}

  /// Returns the bytes of shared memory that sums of parts need, if `count` of
  /// each thread's columns are kept at a time.
  static int64_t countKeptBytes(const KernelProduct &product,
                                const ProductTile &tile, int64_t count);

  Value apply(AffineExpr expression, ArrayRef<Value> operands) {
    return puller.apply(expression, operands);
  }
  /// Sets the indices of several loops from their joint number; the last loop
  /// moves fastest.
  void setLoops(SmallVector<Value> &loops, ArrayRef<unsigned> which,
                Value number);
  /// Moves the builder to the end of the innermost block.
  void toEnd() { builder.setInsertionPointToEnd(block); }

  /// Returns whether a unit's elements are neighbours along one loop, and
  /// either all or none of them are beyond the last term.
  bool hasRuns(const Side &side);
  /// Returns the loop along which such a unit runs.
  unsigned getRunLoop(const Side &side) const {
    return side.along.value_or(product.terms.back());
  }
  /// Returns a unit's first term in a step of the product.
  Value findTerm(const Side &side, size_t number, Value step);
  /// Returns the indices of the loops for a unit's element of this term.
  SmallVector<Value> findLoops(const Side &side, size_t number, Value term);
  /// Builds the condition that there is such a term; NULL: always true.
  Value isTerm(Value term);
  /// Builds code for those threads that have a unit of this number.
  void buildUnit(OpBuilder &b, const Side &side, size_t number,
                 llvm::function_ref<void(OpBuilder &)> build);
  /// Returns the steps of a group.
  int64_t countSteps() const;
  /// Returns the product's step for a step of the thread's group.
  Value findStep(Value step) {
    return apply(d0 * countSteps() + d1, {group, step});
  }

private:
  void placeThread(Value thread);
  /// Returns `number`, but `last` if it is larger.
  Value clamp(Value number, int64_t last);
  /// Returns the term and the place where the unit of index d0 begins.
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
  /// A range of a thread's elements on a side.
  using Range = std::pair<int64_t, int64_t>;
  LogicalResult storeResults(ArrayRef<Value> sums, std::array<Range, 2> ranges,
                             Store store);
  LogicalResult storeResult(std::array<int64_t, 2> at, Value row, Value column,
                            Value sum, Store store);

  // Sums of parts (ProductParts.cpp): the elements of some columns of each
  // thread at a time are kept in the operands' memory, then added up.
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
  /// Neighbours that a thread computes together.
  int64_t unit = 1;
  Value thread;
  SmallVector<Value> start; ///< indices of the loops: those of batches, else 0
  Value inBlock, group, inGroup; ///< index in block, group, index in that
  Value isFirstGroup;            ///< NULL: there is only one group
  std::array<Side, 2> sides;
  Type sumType;

private:
  struct KeptColumns {
    unsigned rows, columns; ///< the sides that they are
    int64_t begin, count;   ///< the range of a thread's columns
    int64_t threads;        ///< threads that have columns of their own
    SmallVector<Value> memories;
  };
  KeptColumns kept;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PRODUCTTILES_H
