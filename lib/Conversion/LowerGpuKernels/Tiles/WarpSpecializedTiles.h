//===- WarpSpecializedTiles.h - Products with a producer warp ---*- C++ -*-===//
//
// The producer, an additional warp, lets the hardware copy boxes of both
// operands into a ring buffer (TensorMaps.h), while the consumers, warp groups,
// multiply what has arrived. They synchronize by mbarriers in shared memory:
// each buffer has one that reports that it is full and one that reports that it
// is empty. The terms that are added, and their order, are the same as without
// a producer.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_WARPSPECIALIZEDTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_WARPSPECIALIZEDTILES_H

#include "Tiles/TensorMaps.h"
#include "Tiles/WarpGroupTiles.h"

namespace mlir::hfta {

/// The way in which a block with a producer computes its tile.
struct WarpSpecialization {
  ProductTile tile; ///< the tile, whose steps may be longer or shorter than on
                    ///< other chips
  std::array<TensorMap, 2> maps;
  int64_t buffers;

  /// Returns the number of threads of a block; the producer is the last warp.
  int64_t countThreads() const { return tile.countThreads() + kProducers; }
  static constexpr int64_t kProducers = 32;
};

/// Builds the code of a thread of a block with a producer warp.
class WarpSpecializedTiles : public WarpGroupTiles {
public:
  /// `maps` is the address of the kernel's tensor maps.
  WarpSpecializedTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
                       SharedMemory &memory, const KernelProduct &product,
                       const WarpSpecialization &specialization,
                       ValueRange results, Value thread, Value maps);

  /// Chooses the specialization of a tile that warp groups can compute
  /// (`arrange`). Returns nothing if an operand can't be copied as boxes.
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
  /// Returns the address `bytes` bytes after the beginning of a part of shared
  /// memory.
  Value findAddress(Value memory, Value bytes);
  Value findBarrier(Value barriers, Value step);
  LogicalResult buildFor(Value condition,
                         llvm::function_ref<LogicalResult()> own);
  void initialize();
  /// Waits for the phase in which a step uses its buffer, or for the phase
  /// before.
  void waitFor(Value barriers, Value step, bool isBefore);
  void produce();
  void fill(Value step);
  void copy(const Side &side, int64_t ofGroup, Value step);
  SmallVector<unsigned> findLong(ArrayRef<unsigned> loops);
  void copyBox(const Side &side, Value to, ArrayRef<Value> loops, Value step);
  void releaseBefore(Value step);

  const WarpSpecialization &specialization;
  Value maps;
  Value full, empty; ///< mbarriers, one for each buffer
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_WARPSPECIALIZEDTILES_H
