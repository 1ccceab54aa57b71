//===- WarpGroupTiles.h - Products of warp groups ---------------*- C++ -*-===//
//
// Four neighbouring warps multiply what lies in shared memory, 64 rows of it
// and up to 256 columns, without reading it into registers (`wgmma`, of sm_90a
// alone). Sums have the bits that `mma.sync` gives them there: both add up as
// many terms at once, in the same order.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPGROUPTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPGROUPTILES_H

#include "TensorTiles.h"

namespace mlir::hfta {

/// Tiles whose warp groups have 64 rows each, and all columns or a part of
/// them. A thread has two rows of these.
class WarpGroupTiles : public TensorTiles {
public:
  WarpGroupTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
                 SharedMemory &memory, const KernelProduct &product,
                 const ProductTile &tile, ValueRange results, Value thread);

  /// The same tile, of as many threads, with the elements of each where warp
  /// groups have them; nothing where these can't compute it.
  static std::optional<ProductTile> arrange(const ProductTile &tile,
                                            const KernelProduct &product);

protected:
  /// After which rows' units are turned the same again.
  static constexpr int64_t kPatternBytes = 1024;

  /// Neighbours in memory that are a row of what is shared, where rows are a
  /// term's places.
  static int64_t countRowPlaces(const ProductTile &tile, unsigned operand,
                                const TensorFactors &factors);
  void allocate() override;
  void beginTerms(Value step, ArrayRef<Value> sums) override;
  SmallVector<Value> addTerms(Value step, ArrayRef<Value> sums) override;
  void waitForCopies() override;

  /// A step's products, which add to these sums, as one value. Nobody knows yet
  /// what the sums are that they give.
  Value begin(Value step, Value before);
  /// Waits for all products that the thread's group has begun: their sums.
  SmallVector<Value> waitForSums(Value sums);
  // A thread's sums as instructions have them, and the other way.
  Value pack(ArrayRef<Value> sums);
  SmallVector<Value> unpack(Value sums);

private:
  int64_t countRowBytes(const Side &side) const {
    return getRowPart(side) * 4 / factors.ofWord();
  }
  int64_t countPlaces(const Side &side) const;
  Value findBegin(const Side &side, Value buffer);
  Value describe(const Side &side, Value begin, int64_t part);

  /// Sums of products under way; NULL: the products are still to be begun.
  Value begun;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPGROUPTILES_H
