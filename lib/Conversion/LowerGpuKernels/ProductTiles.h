//===- ProductTiles.h - Matrix products tile by tile ------------*- C++ -*-===//
//
// A block of threads computes a tile of a product, each thread some rows and
// columns of it. Of both operands so many terms at a time are computed by all
// threads together, into memory that they share, while the sums of those before
// are added up. An element's terms are added one after the other, in the order
// of the op's loops. Where there are few tiles and many terms, so many groups
// of threads have as many parts of the terms, whose sums are added in order: of
// a tile these alone decide on bits.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PRODUCTTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PRODUCTTILES_H

#include "ElementPuller.h"
#include "KernelProduct.h"
#include "PartTiles.h"
#include "SharedSums.h"

#include <array>

namespace mlir::hfta {

/// What a block, and each of its threads, computes of a product.
struct ProductTile {
  int64_t rows, columns, terms;      ///< of a block, and at a time
  int64_t threadRows, threadColumns; ///< of a thread
  int64_t groups = 1;                ///< of threads

  int64_t countGroupThreads() const {
    return rows / threadRows * (columns / threadColumns);
  }
  int64_t countThreads() const { return groups * countGroupThreads(); }
  int64_t countBlocks(const KernelProduct &product) const;
  /// That each group takes for its part of so many terms.
  int64_t countSteps(int64_t termCount) const;

  /// An attribute of the op.
  static constexpr llvm::StringLiteral kAttrName = "hfta.tile";
  static std::optional<ProductTile> get(linalg::GenericOp op);
  void set(linalg::GenericOp op) const;
  /// The best one for a product; nothing where threads of their own are as
  /// good, unless there is always to be one. Follows from the op alone, but for
  /// a kernel's parts, of which a tile has whole ones: that adds terms up just
  /// like any other tile for the op.
  static std::optional<ProductTile> choose(const KernelProduct &product,
                                           bool always);
};

/// Builds what a thread does, of products that each thread adds up by itself.
class ProductTiles {
public:
  /// Stores a result's element at these indices.
  using Store = PartSums::Store;

  /// `results` are what the kernel returns, `thread` the thread's number among
  /// all of the launch.
  ProductTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
               SharedMemory &memory, const KernelProduct &product,
               const ProductTile &tile, ValueRange results, Value thread);

  virtual ~ProductTiles() = default;

  LogicalResult build(Store store);

protected:
  /// One operand's part in it.
  struct Side {
    const ProductSide *of;
    int64_t tile, ofThread;
    Value first;  ///< row, or column, of the tile
    Value number; ///< of the thread along this side
    Value memory; ///< of each group the elements of so many steps
    int64_t buffers = 2;
    /// Whether the elements come by copies, which the threads begin for all
    /// buffers but the one whose terms they add.
    bool isCopied = false;
    /// Of each unit that a thread computes at a time: its first term and its
    /// first place on the side, in the tile; and the loops' numbers that don't
    /// depend on the term.
    SmallVector<Value> terms, places;
    SmallVector<SmallVector<Value>> loops;
    /// The loop along which a unit's elements are neighbouring places of one
    /// term; nothing: they are neighbouring terms of one place.
    std::optional<unsigned> along;
  };

  /// Memory of both sides.
  virtual void allocate();
  /// Which rows and columns of the tile a thread has.
  virtual void placeInTile();
  /// Where a thread's element of this number lies on a side of the tile.
  virtual Value getPlace(const Side &side, int64_t number);
  /// The same of any thread, by its number among those along the side, which is
  /// the next one for this thread.
  virtual AffineExpr getPlaceOf(const Side &side, AffineExpr thread,
                                AffineExpr number) const;
  virtual Value getNumber(const Side &side) { return side.number; }
  /// Stores a unit of elements, with this builder.
  virtual void storeUnit(OpBuilder &b, const Side &side, size_t number,
                         ArrayRef<Value> elements, Value buffer);
  /// Begins to add a step's terms to the sums, as far as threads needn't wait
  /// for it.
  virtual void beginTerms(Value /*step*/, ArrayRef<Value> /*sums*/) {}
  /// Adds a step's terms, which are in one buffer of each side, to the sums.
  virtual SmallVector<Value> addTerms(Value step, ArrayRef<Value> sums);
  /// Of each side the buffer that has a step's terms.
  std::array<Value, 2> findBuffers(Value step);
  /// Finds out where a side's units are.
  virtual LogicalResult prepare(Side &side);
  /// Of the threads that `countThreads` says, or more.
  virtual int64_t countBlockThreads() const { return tile.countThreads(); }
  /// The sums, then what is stored of them.
  virtual LogicalResult compute(Store store);
  /// All steps' terms.
  virtual LogicalResult addAll(SmallVector<Value> &sums);
  // Of sides that are copied: begins with the first steps, goes on while a step
  // is computed, and waits for what the next one needs.
  virtual LogicalResult beginCopies() { return success(); }
  virtual LogicalResult continueCopies(Value /*step*/) { return success(); }
  virtual void waitForCopies() {}

  /// Of shared memory, for a product with sums of parts: while each thread's
  /// columns are kept so many at a time.
  static int64_t countKeptBytes(const KernelProduct &product,
                                const ProductTile &tile, int64_t count);

  Value apply(AffineExpr expression, ArrayRef<Value> operands) {
    return puller.apply(expression, operands);
  }
  /// The numbers of several loops, of which the last one moves fastest.
  void setLoops(SmallVector<Value> &loops, ArrayRef<unsigned> which,
                Value number);
  /// Behind what has been built in the innermost block.
  void toEnd() { builder.setInsertionPointToEnd(block); }

  /// Whether a unit's elements are neighbours along one loop, all of them of
  /// terms or none.
  bool hasRuns(const Side &side);
  /// The loop along which such a unit goes.
  unsigned getRunLoop(const Side &side) const {
    return side.along.value_or(product.terms.back());
  }
  /// A unit's first term in a step of the product.
  Value findTerm(const Side &side, size_t number, Value step);
  /// The numbers of the loops for a unit's element of this term.
  SmallVector<Value> findLoops(const Side &side, size_t number, Value term);
  /// Whether there is such a term; NULL: always.
  Value isTerm(Value term);
  /// Builds what is done with a unit by those threads that have one of this
  /// number.
  void buildUnit(OpBuilder &b, const Side &side, size_t number,
                 llvm::function_ref<void(OpBuilder &)> build);
  /// Of a group.
  int64_t countSteps() const;
  /// The step of the product that is one of the thread's group.
  Value findStep(Value step) {
    return apply(d0 * countSteps() + d1, {group, step});
  }

private:
  void placeThread(Value thread);
  /// Past the last one it is the last one again.
  Value clamp(Value number, int64_t last);
  /// Where a unit of this number, d0, begins: a term and a place.
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
  /// Which of a thread's elements on each side.
  using Range = std::pair<int64_t, int64_t>;
  LogicalResult storeResults(ArrayRef<Value> sums, std::array<Range, 2> ranges,
                             Store store);
  LogicalResult storeResult(std::array<int64_t, 2> at, Value row, Value column,
                            Value sum, Store store);

  // Sums of parts (ProductParts.cpp): the elements of so many columns of each
  // thread are kept in memory for operands, then added up.
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
  SmallVector<Value> start;      ///< numbers of loops: of batches, else 0
  Value inBlock, group, inGroup; ///< its number, its group and that one's
  Value isFirstGroup;            ///< NULL: it is the only one
  std::array<Side, 2> sides;
  Type sumType;

private:
  struct KeptColumns {
    unsigned rows, columns; ///< sides
    int64_t begin, count;   ///< of a thread's columns
    int64_t threads;        ///< that have columns of their own
    SmallVector<Value> memories;
  };
  KeptColumns kept;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PRODUCTTILES_H
