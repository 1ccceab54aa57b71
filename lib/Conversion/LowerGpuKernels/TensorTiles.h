//===- TensorTiles.h - Products on tensor cores -----------------*- C++ -*-===//
//
// The threads of a warp multiply small matrices together, whose elements have
// few bits, and add the products up in f32 (`mma.sync`, from sm_80 on). Bits of
// a sum follow from the chip, and from the order of its terms, of which so many
// are added at once: from nothing else.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORTILES_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORTILES_H

#include "ProductTiles.h"

namespace mlir::hfta {

/// What such cores multiply, in words of 32 bits that hold one factor or two.
struct TensorFactors {
  Type type; ///< bf16, f16 or tf32

  int64_t ofWord() const { return type.isTF32() ? 1 : 2; }
  /// Terms of one instruction.
  int64_t ofStep() const { return 8 * ofWord(); }

  /// Of an op that says what it multiplies (`hfta.multiply`).
  static std::optional<TensorFactors> get(linalg::GenericOp op);
};

/// Tiles whose warps have parts of theirs: threadRows * 8 rows and
/// threadColumns * 4 columns.
class TensorTiles : public ProductTiles {
public:
  TensorTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
              SharedMemory &memory, const KernelProduct &product,
              const ProductTile &tile, ValueRange results, Value thread);

  /// Rows and columns of one instruction's result.
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

  /// The loop along which neighbours on a side are neighbours in memory, whole
  /// units of them; nothing where there is none.
  static std::optional<unsigned> findAlong(linalg::GenericOp op,
                                           const ProductSide &side,
                                           const TensorFactors &factors);

  // Of what is shared of a side.
  int64_t countRows(const Side &side) const {
    return side.along ? tile.terms : side.tile;
  }
  int64_t countRowElements(const Side &side) const {
    return side.along ? side.tile : tile.terms;
  }
  int64_t countBufferElements(const Side &side) const {
    return countRows(side) * countRowElements(side);
  }
  /// So many neighbours in a row are followed by the next row's; behind those
  /// of all rows come others. Whole rows unless they are cut.
  int64_t getRowPart(const Side &side) const {
    return rowParts[side.of->operand];
  }
  void cutRows(const Side &side, int64_t part) {
    rowParts[side.of->operand] = part;
  }

  TensorFactors factors;

private:
  /// So many elements behind the beginning of a side's buffer: those that a
  /// thread has to compute, and others that are the same for all threads.
  struct Place {
    Value own;
    int64_t further;
  };

  Type getSharedType() { return builder.getIntegerType(32 / factors.ofWord()); }
  /// Whether a thread reads it word by word: those that `ldmatrix` would have
  /// to transpose it can't.
  bool isReadByWord(const Side &side) const {
    return side.along && factors.ofWord() == 1;
  }
  Place placeAt(const Side &side, AffineExpr row, AffineExpr column,
                ArrayRef<Value> of, int64_t furtherRows = 0,
                int64_t furtherColumns = 0);
  Value locate(OpBuilder &b, const Side &side, const Place &place,
               Value buffer) const;

  // Of sides that are copied (TensorCopies.cpp).
  FailureOr<std::optional<RunSource>> findUnit(const Side &side, size_t number,
                                               Value step);
  FailureOr<SmallVector<RunSource>> findUnits(const Side &side, Value step);
  void copyUnits(OpBuilder &b, const Side &side, ArrayRef<RunSource> from,
                 Value buffer);
  bool hasCopies() const {
    return llvm::any_of(sides, [](const Side &side) { return side.isCopied; });
  }
  void chooseBuffers();

  int64_t countWarpPlaces(const Side &side) const;
  AffineExpr getWarp(const Side &side) const;
  AffineExpr getFirst(const Side &side) const;
  Value packWord(OpBuilder &b, ArrayRef<Value> elements) const;
  Value packUnit(OpBuilder &b, ArrayRef<Value> elements) const;
  SmallVector<Value> toFactors(ArrayRef<Value> words);
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
  /// In the thread's warp: its quad, and its number in that.
  Value quad, inQuad;
  /// Of both sides: the first place of the warp's part that the thread reads.
  std::array<Value, 2> readPlaces;
  /// The first column that a thread has of it.
  Value column;
  /// Of both sides: where the units lie that a thread computes.
  std::array<SmallVector<Place>, 2> units;
  /// How many of a side that is copied there are.
  int64_t copyBuffers = 2;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_TENSORTILES_H
