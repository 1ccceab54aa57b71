//===- WarpGroupTiles.h - Products of warp groups ---------------*- C++ -*-===//
//
// A warp group, four neighbouring warps, multiplies 64 rows and up to 256
// columns of matrices in shared memory without loading them into registers
// (`wgmma`, only on sm_90a). Sums have the same bits as with `mma.sync` on that
// chip: both instructions add up the same number of terms at once, in the same
// order.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_WARPGROUPTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_WARPGROUPTILES_H

#include "Tiles/TensorTiles.h"

namespace mlir::hfta {

/// Builds tiles of which each warp group computes 64 rows and all columns or a
/// part of them. A thread has sums of two of these rows.
class WarpGroupTiles : public TensorTiles {
public:
  WarpGroupTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
                 SharedMemory &memory, const KernelProduct &product,
                 const ProductTile &tile, ValueRange results, Value thread);

  /// Returns a tile of the same size and number of threads, whose elements are
  /// distributed among threads as warp groups do it. Returns nothing if warp
  /// groups can't compute the tile.
  static std::optional<ProductTile> arrange(const ProductTile &tile,
                                            const KernelProduct &product);

protected:
  /// The number of bytes after which the swizzle of rows repeats.
  static constexpr int64_t kPatternBytes = 1024;

  /// Returns the length of a row of shared memory in places, for sides whose
  /// rows hold the places of one term.
  static int64_t countRowPlaces(const ProductTile &tile, unsigned operand,
                                const TensorFactors &factors);
  void allocate() override;
  void beginTerms(Value step, ArrayRef<Value> sums) override;
  SmallVector<Value> addTerms(Value step, ArrayRef<Value> sums) override;
  void waitForCopies() override;

  /// Begins a step's products and adds them to the sums `before`. Returns the
  /// new sums as one value, which mustn't be read before `waitForSums`.
  Value begin(Value step, Value before);
  /// Waits for all products that the thread's warp group has begun. Returns the
  /// sums.
  SmallVector<Value> waitForSums(Value sums);
  // Convert a thread's sums to the struct that the instructions use, and back.
  Value pack(ArrayRef<Value> sums);
  SmallVector<Value> unpack(Value sums);

private:
  int64_t countRowBytes(const Side &side) const {
    return getRowPart(side) * 4 / factors.ofWord();
  }
  int64_t countPlaces(const Side &side) const;
  Value findBegin(const Side &side, Value buffer);
  Value describe(const Side &side, Value begin, int64_t part);

  /// The sums of the products in flight; NULL if no products have been begun.
  Value begun;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_WARPGROUPTILES_H
