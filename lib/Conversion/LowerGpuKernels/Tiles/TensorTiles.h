//===- TensorTiles.h - Products on tensor cores -----------------*- C++ -*-===//
//
// The threads of a warp together multiply small matrices of low-precision
// elements and add up the products in f32 (`mma.sync`, from sm_80 on). The bits
// of a sum depend only on the chip, which adds a fixed number of terms at once,
// and on the order of the terms.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_TENSORTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_TENSORTILES_H

#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "Tiles/ProductTiles.h"

namespace mlir::hfta {

/// The type of the factors that tensor cores multiply. They are held in 32-bit
/// words of one or two factors.
struct TensorFactors {
  Type type; ///< bf16, f16 or tf32

  hfta_gpu::Factors getKind() const {
    return type.isTF32()  ? hfta_gpu::Factors::tf32
           : type.isF16() ? hfta_gpu::Factors::f16
                          : hfta_gpu::Factors::bf16;
  }
  /// Returns the number of factors in a word.
  int64_t ofWord() const { return type.isTF32() ? 1 : 2; }
  /// Returns the number of terms that one instruction adds up.
  int64_t ofStep() const { return 8 * ofWord(); }

  /// Returns the factors of an op with the attribute `hfta.multiply`; nothing
  /// if the op has none or its sums aren't f32.
  static std::optional<TensorFactors> get(linalg::GenericOp op);
};

/// Builds tiles on tensor cores. Each warp computes a part of the tile, with
/// threadRows * 8 rows and threadColumns * 4 columns.
class TensorTiles : public ProductTiles {
public:
  TensorTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
              SharedMemory &memory, const KernelProduct &product,
              const ProductTile &tile, ValueRange results, Value thread);

  /// The numbers of rows and columns of one instruction's result.
  static constexpr int64_t kRows = 16, kColumns = 8;

protected:
  void allocate() override;
  void placeInTile() override;
  LogicalResult prepare(Side &side) override;
  Value getPlace(const Side &side, int64_t number) override;
  AffineExpr getPlaceOf(const Side &side, AffineExpr thread,
                        AffineExpr number) const override;
  Value getNumber(const Side &side) override;
  void storeUnit(OpBuilder &b, const Side &side, size_t number,
                 ArrayRef<Value> elements, Value buffer) override;
  SmallVector<Value> addTerms(Value step, ArrayRef<Value> sums) override;
  LogicalResult beginCopies() override;
  LogicalResult continueCopies(Value step) override;
  void waitForCopies() override;

  /// Returns the loop along which neighbours on a side are contiguous in
  /// memory, in whole units; nothing if there is none.
  static std::optional<unsigned> findAlong(linalg::GenericOp op,
                                           const ProductSide &side,
                                           const TensorFactors &factors);

  // The functions below describe a side's shared memory.
  int64_t countRows(const Side &side) const {
    return side.along ? tile.terms : side.tile;
  }
  int64_t countRowElements(const Side &side) const {
    return side.along ? side.tile : tile.terms;
  }
  int64_t countBufferElements(const Side &side) const {
    return countRows(side) * countRowElements(side);
  }
  /// Returns the length of a part of the rows, in elements. A row is cut into
  /// parts; the same part of all rows is contiguous in shared memory, and the
  /// next part of all rows follows. By default a row is one part.
  int64_t getRowPart(const Side &side) const {
    return rowParts[side.of->operand];
  }
  void cutRows(const Side &side, int64_t part) {
    rowParts[side.of->operand] = part;
  }

  TensorFactors factors;

private:
  /// A distance from the beginning of a side's buffer, in elements: the sum of
  /// `own`, which each thread computes, and `further`, which is constant.
  struct Place {
    Value own;
    int64_t further;
  };

  Type getSharedType() { return builder.getIntegerType(32 / factors.ofWord()); }
  /// Returns whether threads read the side word by word, as `ldmatrix` can
  /// transpose only 16-bit elements.
  bool isReadByWord(const Side &side) const {
    return side.along && factors.ofWord() == 1;
  }
  Place placeAt(const Side &side, AffineExpr row, AffineExpr column,
                ArrayRef<Value> of, int64_t furtherRows = 0,
                int64_t furtherColumns = 0);
  Value locate(OpBuilder &b, const Side &side, const Place &place,
               Value buffer) const;

  // The functions below are for sides that are copied (TensorCopies.cpp).
  FailureOr<std::optional<RunSource>> findUnit(const Side &side, size_t number,
                                               Value step);
  FailureOr<SmallVector<RunSource>> findUnits(const Side &side, Value step);
  void copyUnits(OpBuilder &b, const Side &side, ArrayRef<RunSource> from,
                 Value buffer);
  void copyUnit(OpBuilder &b, const RunSource &source, Value to);
  bool hasCopies() const {
    return llvm::any_of(sides, [](const Side &side) { return side.isCopied; });
  }
  void chooseBuffers();

  int64_t countWarpPlaces(const Side &side) const;
  AffineExpr getWarp(const Side &side) const;
  AffineExpr getFirst(const Side &side) const;
  Value packWord(OpBuilder &b, ArrayRef<Value> elements) const;
  Value packUnit(OpBuilder &b, ArrayRef<Value> elements) const;
  Value placeHalf(OpBuilder &b, Value element, bool isUpper) const;
  SmallVector<Value> readWords(const Side &side, Value buffer, int64_t first,
                               int64_t step);
  SmallVector<Value> readMatrices(const Side &side, Value buffer, int64_t first,
                                  int64_t count, int64_t step);
  SmallVector<SmallVector<Value>> readFragments(const Side &side, Value buffer,
                                                int64_t step);
  void multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                MutableArrayRef<Value *> sums);

  std::array<int64_t, 2> rowParts;
  /// The number of the thread's quad in its warp, and its index in the quad.
  Value quad, inQuad;
  /// For each side, the first place of the warp's part that the thread reads.
  std::array<Value, 2> readPlaces;
  /// The first column of the warp's part that belongs to the thread.
  Value column;
  /// For each side, the places in shared memory of the units that the thread
  /// loads.
  std::array<SmallVector<Place>, 2> units;
  /// The number of buffers of a side that is copied asynchronously.
  int64_t copyBuffers = 2;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TILES_TENSORTILES_H
