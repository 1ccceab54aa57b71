//===- WarpSpecializedTiles.h - Products with a producer warp ---*- C++ -*-===//
//
// A warp of its own, the producer, has hardware copy boxes of both operands
// into a ring of buffers (TensorMaps.h), while warp groups, the consumers,
// multiply what is there. Both tell each other by barriers in shared memory:
// of each buffer one is for its being full, one for its being empty. Which
// terms are added, and in which order, is as without.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPSPECIALIZEDTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPSPECIALIZEDTILES_H

#include "TensorMaps.h"
#include "WarpGroupTiles.h"

namespace mlir::hfta {

/// How a block computes its tile so.
struct WarpSpecialization {
  ProductTile tile; ///< of other terms at a time than for other chips, perhaps
  std::array<TensorMap, 2> maps;
  int64_t buffers;

  /// The producer behind all others.
  int64_t countThreads() const { return tile.countThreads() + kProducers; }
  static constexpr int64_t kProducers = 32;
};

class WarpSpecializedTiles : public WarpGroupTiles {
public:
  /// `maps`: where the kernel's tensor maps are.
  WarpSpecializedTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
                       SharedMemory &memory, const KernelProduct &product,
                       const WarpSpecialization &specialization,
                       ValueRange results, Value thread, Value maps);

  /// Of a tile that warp groups can compute (`arrange`); nothing where an
  /// operand isn't to be copied so.
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
  /// Whether the thread's number in its block compares so to another one.
  Value isThread(arith::CmpIPredicate predicate, int64_t number);
  /// So many bytes behind the beginning of a part of shared memory.
  Value findAddress(Value memory, Value bytes);
  Value findBarrier(Value barriers, Value step);
  LogicalResult buildFor(Value condition,
                         llvm::function_ref<LogicalResult()> own);
  void initialize();
  /// For the phase of a step's buffer, or the one before it.
  void waitFor(Value barriers, Value step, bool isBefore);
  void produce();
  void fill(Value step);
  void copy(const Side &side, int64_t ofGroup, Value step);
  SmallVector<unsigned> findLong(ArrayRef<unsigned> loops);
  void copyBox(const Side &side, Value to, ArrayRef<Value> loops, Value step);
  void releaseBefore(Value step);

  const WarpSpecialization &specialization;
  Value maps;
  Value full, empty; ///< barriers of all buffers
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_WARPSPECIALIZEDTILES_H
