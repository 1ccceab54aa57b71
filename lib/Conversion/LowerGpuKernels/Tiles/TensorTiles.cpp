//===- TensorTiles.cpp - Products on tensor cores -------------------------===//
//
// The distribution of an instruction's operands and result among the threads of
// a warp is described in "Parallel Thread Execution ISA", "Matrix Fragments for
// mma.m16n8k16" and "for mma.m16n8k8". In terms of 32-bit words both are alike:
// an operand of one instruction has 16 rows, or 8 columns, of 8 words each.
//
// An operand's shared memory consists of rows of units of 16 bytes. A row holds
// the terms of one place (row or column of the product). If places are
// contiguous in memory instead, a row holds the places of one term. `ldmatrix`
// reads small matrices whose rows are units: its thread 8 * i + j passes the
// address of row j of matrix i. For rows that hold the 16-bit places of a term,
// it also transposes the matrices, so that a word holds two terms.
//
// Shared memory has 32 banks, each of which delivers one word at a time. Eight
// units that are accessed at once should therefore be in different banks:
// threads write the units of a row together, and read the units of 8 rows with
// the same index as a matrix. So the units of each line of 128 bytes are
// swizzled: a unit's position in its line is the exclusive or of its index and
// the line's index.
//===----------------------------------------------------------------------===//

#include "Tiles/TensorTiles.h"

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

/// The threads of a warp, and of a quad, whose threads share a row.
static constexpr int64_t kWarp = 32, kQuad = 4;
/// The words per row of one instruction's operand, and the words of a unit,
/// which a thread stores at once.
static constexpr int64_t kStepWords = 8, kUnitWords = 4;
/// The bytes of a unit, and the number of units that occupy all banks together.
static constexpr uint64_t kUnitBytes = 16;
static constexpr int64_t kLineUnits = 8;
/// The rows of a matrix that `ldmatrix` reads, and the most matrices that it
/// reads at once.
static constexpr int64_t kMatrix = 8, kMostMatrices = 4;

std::optional<TensorFactors> TensorFactors::get(linalg::GenericOp op) {
  auto type = op->getAttrOfType<TypeAttr>(HftaDialect::kMultiplyAttrName);
  bool isSum = getElementTypeOrSelf(op->getResult(0).getType()).isF32();
  return type && isSum ? std::optional(TensorFactors{type.getValue()})
                       : std::nullopt;
}

TensorTiles::TensorTiles(OpBuilder &builder, Block *block,
                         ElementPuller &puller, SharedMemory &memory,
                         const KernelProduct &product, const ProductTile &tile,
                         ValueRange results, Value thread)
    : ProductTiles(builder, block, puller, memory, product, tile, results,
                   thread),
      factors(*TensorFactors::get(product.op)) {
  unit = kUnitWords * factors.ofWord();
  for (Side &side : sides) {
    side.along = findAlong(op, *side.of, factors);
    cutRows(side, countRowElements(side));
  }
}

/// Returns whether the index of a loop is itself one of the map's results, and
/// occurs in no other result.
static bool isIndex(AffineMap map, unsigned loop) {
  AffineExpr number = getAffineDimExpr(loop, map.getContext());
  return llvm::is_contained(map.getResults(), number) &&
         llvm::count_if(map.getResults(), [&](AffineExpr index) {
           return index.isFunctionOfDim(loop);
         }) == 1;
}

/// The size of the loop must be a multiple of a unit, so that no unit extends
/// from one row of memory into the next.
std::optional<unsigned> TensorTiles::findAlong(linalg::GenericOp op,
                                               const ProductSide &side,
                                               const TensorFactors &factors) {
  int64_t unit = kUnitWords * factors.ofWord();
  std::optional<unsigned> loop = side.inside;
  return loop && op.getStaticLoopRanges()[*loop] % unit == 0 &&
                 isIndex(
                     op.getMatchingIndexingMap(&op->getOpOperand(side.operand)),
                     *loop)
             ? loop
             : std::nullopt;
}

/// Allocates, for each side, the rows of all buffers and groups as one array.
void TensorTiles::allocate() {
  chooseBuffers();
  for (Side &side : sides)
    side.memory = memory.allocate(
        loc, {side.buffers * tile.groups * countBufferElements(side)},
        getSharedType());
}

/// Returns the place of a row and column of a side's memory. `row` and `column`
/// are expressions of the values `of`; constant further rows and columns are
/// added. Further columns must be whole units. Further rows must be multiples
/// of a matrix's rows, or of half of them if words are read: then words of two
/// neighbouring units of 4 rows are read at once, and units are swizzled in
/// pairs.
TensorTiles::Place TensorTiles::placeAt(const Side &side, AffineExpr row,
                                        AffineExpr column, ArrayRef<Value> of,
                                        int64_t furtherRows,
                                        int64_t furtherColumns) {
  int64_t ofRow = getRowPart(side), furtherUnits = furtherColumns / unit;
  int64_t inLine = std::min(ofRow / unit, kLineUnits);
  AffineExpr own = column.floorDiv(unit) + furtherUnits % inLine;
  AffineExpr line = row.floorDiv(kLineUnits / inLine);
  AffineExpr turn = line * (isReadByWord(side) ? 2 : 1) % inLine;
  Value other = puller.exclusiveOr(apply(own % inLine, of), apply(turn, of));
  AffineExpr moved = builder.getAffineDimExpr(of.size());
  AffineExpr ofGroup = builder.getAffineDimExpr(of.size() + 1);
  SmallVector<Value> operands(of);
  operands.append({other, group});
  AffineExpr before = builder.getAffineConstantExpr(0);
  if (ofRow < countRowElements(side)) {
    before = column.floorDiv(ofRow) * (ofRow * countRows(side));
    own = own % (ofRow / unit);
  }
  return {apply(ofGroup * countBufferElements(side) + before + row * ofRow +
                    (own - own % inLine + moved) * unit + column % unit,
                operands),
          furtherRows * ofRow + (furtherUnits - furtherUnits % inLine) * unit};
}

/// Returns the index of an element in a side's memory, given its place in a
/// buffer.
Value TensorTiles::locate(OpBuilder &b, const Side &side, const Place &place,
                          Value buffer) const {
  constexpr auto kNeverWraps =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;
  Value size = puller.index(tile.groups * countBufferElements(side));
  Value begin = arith::MulIOp::create(b, loc, buffer, size, kNeverWraps);
  Value own = arith::AddIOp::create(b, loc, place.own, begin, kNeverWraps);
  if (place.further == 0)
    return own;
  return arith::AddIOp::create(b, loc, own, puller.index(place.further),
                               kNeverWraps);
}

/// Returns the number of places of a warp's part of a side.
int64_t TensorTiles::countWarpPlaces(const Side &side) const {
  return side.ofThread * (side.of->operand == 0 ? kWarp / kQuad : kQuad);
}

/// Returns the index, along a side, of the warp that contains thread d0 of a
/// group.
AffineExpr TensorTiles::getWarp(const Side &side) const {
  int64_t above = tile.rows / countWarpPlaces(sides[0]);
  AffineExpr warp = d0.floorDiv(kWarp);
  return side.of->operand == 0 ? warp % above : warp.floorDiv(above);
}

/// Returns the first place, on a side, of the part of that warp.
AffineExpr TensorTiles::getFirst(const Side &side) const {
  return getWarp(side) * countWarpPlaces(side);
}

void TensorTiles::placeInTile() {
  quad = apply((d0 % kWarp).floorDiv(kQuad), inGroup);
  inQuad = apply(d0 % kQuad, inGroup);
  for (const Side &side : sides)
    readPlaces[side.of->operand] = apply(getFirst(side) + d1, {inGroup, quad});
  column = apply(getFirst(sides[1]) + d1 * 2, {inGroup, inQuad});
}

/// Copies the operand asynchronously if its units lie in memory just as shared
/// memory needs them.
LogicalResult TensorTiles::prepare(Side &side) {
  if (failed(ProductTiles::prepare(side)))
    return failure();
  for (auto [term, place] : llvm::zip(side.terms, side.places))
    units[side.of->operand].push_back(
        side.along ? placeAt(side, d0, d1, {term, place})
                   : placeAt(side, d0, d1, {place, term}));
  FailureOr<std::optional<RunSource>> first =
      findUnit(side, 0, findStep(puller.index(0)));
  if (failed(first))
    return failure();
  side.isCopied = first->has_value();
  return success();
}

/// A thread has two rows and two neighbouring columns of each instruction's
/// result.
Value TensorTiles::getPlace(const Side &side, int64_t number) {
  int64_t ofTile = number / 2, inTile = number % 2;
  if (side.of->operand == 0)
    return apply(d0 + ofTile * kRows + inTile * (kRows / 2), readPlaces[0]);
  return apply(d0 + ofTile * kColumns + inTile, column);
}

AffineExpr TensorTiles::getPlaceOf(const Side &side, AffineExpr thread,
                                   AffineExpr number) const {
  bool isRow = side.of->operand == 0;
  int64_t ofWarp = isRow ? kWarp / kQuad : kQuad;
  int64_t next = isRow ? kRows / 2 : 1;
  return thread.floorDiv(ofWarp) * countWarpPlaces(side) +
         thread % ofWarp * (isRow ? 1 : 2) +
         number.floorDiv(2) * (isRow ? kRows : kColumns) + number % 2 * next;
}

Value TensorTiles::getNumber(const Side &side) {
  bool isRow = side.of->operand == 0;
  int64_t ofWarp = isRow ? kWarp / kQuad : kQuad;
  return apply(getWarp(side) * ofWarp + d1, {inGroup, isRow ? quad : inQuad});
}

/// Returns the 16-bit float that was widened to this element; null if there is
/// none.
static Value getNarrow(Value element) {
  auto wider = element.getDefiningOp<arith::ExtFOp>();
  return wider && isNarrowFloat(wider.getIn().getType()) ? wider.getIn()
                                                         : Value();
}

/// Returns a word that has the 16 bits of an element in its lower or upper
/// half. The element has been rounded before, so a bf16 is the upper half of
/// its f32.
Value TensorTiles::placeHalf(OpBuilder &b, Value element, bool isUpper) const {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Type word = b.getI32Type();
  Value narrow = getNarrow(element);
  if (!narrow && factors.type.isF16())
    narrow = arith::TruncFOp::create(b, loc, factors.type, element);
  if (narrow) {
    Value bits = arith::ExtUIOp::create(
        b, loc, word, arith::BitcastOp::create(b, loc, b.getI16Type(), narrow));
    return isUpper ? arith::ShLIOp::create(b, loc, bits, number(16)).getResult()
                   : bits;
  }
  Value bits = arith::BitcastOp::create(b, loc, word, element);
  return isUpper ? bits
                 : arith::ShRUIOp::create(b, loc, bits, number(16)).getResult();
}

/// Packs the elements of a word, the first one in the lower half.
Value TensorTiles::packWord(OpBuilder &b, ArrayRef<Value> elements) const {
  if (elements.size() == 1)
    return arith::BitcastOp::create(b, loc, b.getI32Type(), elements.front());
  Value low = placeHalf(b, elements.front(), /*isUpper=*/false);
  Value high = placeHalf(b, elements.back(), /*isUpper=*/true);
  return arith::OrIOp::create(b, loc, low, high);
}

/// Packs the elements of a unit into words. Elements that were read as one
/// vector already have this form.
Value TensorTiles::packUnit(OpBuilder &b, ArrayRef<Value> elements) const {
  auto type = VectorType::get({kUnitWords}, b.getI32Type());
  int64_t ofWord = factors.ofWord();
  SmallVector<Value> stored(elements);
  if (ofWord == 2)
    for (Value &element : stored)
      if (Value narrow = getNarrow(element))
        element = narrow;
  Value whole = findWhole(stored);
  if (whole &&
      getElementTypeOrSelf(whole.getType()).getIntOrFloatBitWidth() * ofWord ==
          32)
    return vector::BitCastOp::create(b, loc, type, whole);
  SmallVector<Value> packed;
  for (int64_t word = 0; word < kUnitWords; ++word)
    packed.push_back(packWord(b, elements.slice(word * ofWord, ofWord)));
  return vector::FromElementsOp::create(b, loc, type, packed);
}

void TensorTiles::storeUnit(OpBuilder &b, const Side &side, size_t number,
                            ArrayRef<Value> elements, Value buffer) {
  Value vector = vector::BitCastOp::create(
      b, loc, VectorType::get({unit}, getSharedType()), packUnit(b, elements));
  Value place = locate(b, side, units[side.of->operand][number], buffer);
  vector::StoreOp::create(b, loc, vector, side.memory, place,
                          /*nontemporal=*/false, llvm::MaybeAlign(kUnitBytes));
}

/// Reads, word by word, a thread's part of the small matrix at place `first`,
/// for the terms of one instruction.
SmallVector<Value> TensorTiles::readWords(const Side &side, Value buffer,
                                          int64_t first, int64_t step) {
  bool isLeft = side.of->operand == 0;
  SmallVector<Value> words;
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t lower = 0; lower < (isLeft ? 2 : 1); ++lower) {
      Place place =
          placeAt(side, d0, d1, {inQuad, readPlaces[side.of->operand]},
                  step * kStepWords + half * (kStepWords / 2),
                  first + lower * (kRows / 2));
      toEnd();
      words.push_back(memref::LoadOp::create(
          builder, loc, side.memory, locate(builder, side, place, buffer)));
    }
  return words;
}

/// Reads a thread's words of `count` matrices from place `first` on, for the
/// terms of one instruction. For a left operand the matrices below each other
/// come first, then those of the other half of the terms; for a right operand
/// all terms of some columns come before the next columns. With two matrices,
/// the other half of the warp passes the same addresses, which the hardware
/// ignores.
SmallVector<Value> TensorTiles::readMatrices(const Side &side, Value buffer,
                                             int64_t first, int64_t count,
                                             int64_t step) {
  AffineExpr lane = d0 % (count * kMatrix);
  AffineExpr matrix = lane.floorDiv(kMatrix);
  bool isLeft = side.of->operand == 0;
  AffineExpr below = isLeft ? matrix % 2 : matrix.floorDiv(2);
  AffineExpr half = isLeft ? matrix.floorDiv(2) : matrix % 2;
  AffineExpr begin = getFirst(side) + below * kMatrix;
  Place place = side.along
                    ? placeAt(side, half * kMatrix + lane % kMatrix, begin,
                              inGroup, step * factors.ofStep(), first)
                    : placeAt(side, begin + lane % kMatrix, half * unit,
                              inGroup, first, step * factors.ofStep());
  toEnd();
  Value row = SharedMemory::findAddress(builder, loc, side.memory,
                                        locate(builder, side, place, buffer));
  SmallVector<Type> words(count, builder.getI32Type());
  return SmallVector<Value>(
      hfta_gpu::LoadMatricesOp::create(builder, loc, words, row,
                                       side.along.has_value())
          .getWords());
}

/// Reads a thread's words of all small matrices of the warp's part, for the
/// terms of one instruction.
SmallVector<SmallVector<Value>>
TensorTiles::readFragments(const Side &side, Value buffer, int64_t step) {
  bool isLeft = side.of->operand == 0;
  int64_t places = isLeft ? kRows : kColumns, ofFragment = isLeft ? 4 : 2;
  int64_t count = side.ofThread / 2 * ofFragment;
  SmallVector<Value> words;
  while (static_cast<int64_t>(words.size()) < count) {
    auto read = static_cast<int64_t>(words.size());
    int64_t first = read / ofFragment * places;
    llvm::append_range(
        words, isReadByWord(side)
                   ? readWords(side, buffer, first, step)
                   : readMatrices(side, buffer, first,
                                  std::min(count - read, kMostMatrices), step));
  }
  SmallVector<SmallVector<Value>> fragments;
  for (int64_t begin = 0; begin < count; begin += ofFragment)
    fragments.emplace_back(ArrayRef(words).slice(begin, ofFragment));
  return fragments;
}

/// Adds an instruction's products to the four sums that a thread has of its
/// result.
void TensorTiles::multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                           MutableArrayRef<Value *> sums) {
  SmallVector<Value> before;
  for (Value *sum : sums)
    before.push_back(*sum);
  toEnd();
  auto product = hfta_gpu::MultiplyOp::create(builder, loc, factors.getKind(),
                                              lhs, rhs, before);
  for (auto [sum, result] : llvm::zip_equal(sums, product->getResults()))
    *sum = result;
}

SmallVector<Value> TensorTiles::addTerms(Value step, ArrayRef<Value> before) {
  std::array<Value, 2> buffers = findBuffers(step);
  SmallVector<Value> sums(before);
  int64_t rows = tile.threadRows / 2, columns = tile.threadColumns / 2;
  for (int64_t part = 0; part < tile.terms / factors.ofStep(); ++part) {
    SmallVector<SmallVector<Value>> lhs =
        readFragments(sides[0], buffers[0], part);
    SmallVector<SmallVector<Value>> rhs =
        readFragments(sides[1], buffers[1], part);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        SmallVector<Value *> own;
        for (int64_t row = 2 * i; row < 2 * i + 2; ++row)
          for (int64_t column = 2 * j; column < 2 * j + 2; ++column)
            own.push_back(&sums[row * tile.threadColumns + column]);
        multiply(lhs[i], rhs[j], own);
      }
  }
  return sums;
}
