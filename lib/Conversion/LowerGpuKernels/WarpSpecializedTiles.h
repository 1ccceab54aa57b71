//===- WarpSpecializedTiles.h - Products with a producer warp ---*- C++ -*-===//
//
// A warp of its own, the producer, has hardware copy boxes of both operands
// into a ring buffer (TensorMaps.h), while warp groups, the consumers, multiply
// what is there. They synchronize by mbarriers in shared memory: each buffer
// has one for being full and one for being empty. The terms that are added, and
// their order, are the same as without a producer.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPSPECIALIZEDTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPSPECIALIZEDTILES_H

#include "TensorMaps.h"
#include "WarpGroupTiles.h"

namespace mlir::hfta {

/// How a block computes its tile with a producer.
struct WarpSpecialization {
  ProductTile tile; ///< its terms may differ from other chips'
  std::array<TensorMap, 2> maps;
  int64_t buffers;

  /// Returns the threads of a block; the producer comes last.
  int64_t countThreads() const { return tile.countThreads() + kProducers; }
  static constexpr int64_t kProducers = 32;
};

class WarpSpecializedTiles : public WarpGroupTiles {
public:
  /// `maps` is the address of the kernel's tensor maps.
  WarpSpecializedTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
                       SharedMemory &memory, const KernelProduct &product,
                       const WarpSpecialization &specialization,
                       ValueRange results, Value thread, Value maps);

  /// Chooses a specialization of a tile that warp groups can compute
  /// (`arrange`); nothing if an operand can't be copied in this way.
  static std::optional<WarpSpecialization> choose(const ProductTile &tile,
                                                  const KernelProduct &product);

protected:
  void allocate() override;
  LogicalResult prepare(Side & /*side*/) override { return success(); }
  int64_t countBlockThreads() const override {
    return specialization.countThreads();
  }
  LogicalResult compute(Store store) override;
  LogicalResult addAll(SmallVector<Value> &sums) override;

private:
  static bool hasSameParts(const ProductTile &tile, const ProductTile &other,
                           int64_t termCount);
  static std::optional<WarpSpecialization>
  specialize(const ProductTile &tile, const KernelProduct &product);
  static std::optional<TensorMap> findMap(const KernelProduct &product,
                                          const ProductSide &side,
                                          const ProductTile &tile);
  int64_t countBoxPlaces(const Side &side) const {
    return side.along ? getRowPart(side) : side.tile;
  }
  int64_t countBufferBytes(const Side &side) const {
    return countBufferElements(side) * 4 / factors.ofWord();
  }
  /// Builds a comparison of the thread's index in its block with `number`.
  Value isThread(arith::CmpIPredicate predicate, int64_t number);
  /// Returns the address `bytes` after the beginning of a part of shared
  /// memory.
  Value findAddress(Value memory, Value bytes);
  Value findBarrier(Value barriers, Value step);
  LogicalResult buildFor(Value condition,
                         llvm::function_ref<LogicalResult()> own);
  void initialize();
  /// Waits for the phase of a step's buffer, or for the phase before it.
  void waitFor(Value barriers, Value step, bool isBefore);
  void produce();
  void fill(Value step);
  void copy(const Side &side, int64_t ofGroup, Value step);
  SmallVector<unsigned> findLong(ArrayRef<unsigned> loops);
  void copyBox(const Side &side, Value to, ArrayRef<Value> loops, Value step);
  void releaseBefore(Value step);

  const WarpSpecialization &specialization;
  Value maps;
  Value full, empty; ///< the mbarriers of all buffers
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPSPECIALIZEDTILES_H
