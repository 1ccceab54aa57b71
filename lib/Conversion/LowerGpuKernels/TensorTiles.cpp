//===- TensorTiles.cpp - Products on tensor cores -------------------------===//
//
// Which thread of a warp has which elements of an instruction's operands and
// result: "Parallel Thread Execution ISA", "Matrix Fragments for
// mma.m16n8k16" and "for mma.m16n8k8". In words, both are alike: an operand's
// step is 8 words of 16 rows, or of 8 columns.
//
// Of an operand whose neighbours in memory are neighbouring rows, or columns,
// threads share it as it lies there, term by term. Two terms that are a word
// are then put together where they are read, by `ldmatrix`, which transposes
// small matrices of 16-bit elements: its thread of number 8 * i + j says where
// the row j of the ith matrix begins.
//===----------------------------------------------------------------------===//

#include "TensorTiles.h"

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

/// Threads of a warp, and of those that share a row.
static constexpr int64_t kWarp = 32, kQuad = 4;
/// Words of a step, and those that a thread stores at once.
static constexpr int64_t kStepWords = 8, kUnitWords = 4;
/// Behind each place's words, so that neighbours begin in other banks.
static constexpr int64_t kPadding = 4;
/// The same behind each term's elements, words or half of them.
static constexpr int64_t kTermPadding = 8;
static constexpr uint64_t kUnitBytes = 16;
/// Rows of what `ldmatrix` reads, and elements of these.
static constexpr int64_t kMatrix = 8;

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
  llvm::for_each(sides, [&](Side &side) { chooseUnits(side); });
}

/// Whether a loop's number is itself one index, and part of no other one.
static bool isIndex(AffineMap map, unsigned loop) {
  AffineExpr number = getAffineDimExpr(loop, map.getContext());
  return llvm::is_contained(map.getResults(), number) &&
         llvm::count_if(map.getResults(), [&](AffineExpr index) {
           return index.isFunctionOfDim(loop);
         }) == 1;
}

/// A unit never goes from one row of the side's last loop into the next one.
void TensorTiles::chooseUnits(Side &side) {
  std::optional<unsigned> loop = side.of->inside;
  if (loop && op.getStaticLoopRanges()[*loop] % unit == 0 &&
      isIndex(op.getMatchingIndexingMap(&op->getOpOperand(side.of->operand)),
              *loop))
    side.along = loop;
}

/// [tile, words], or [terms, tile].
Value TensorTiles::allocate(const Side &side) {
  if (side.along)
    return memory.allocate(
        loc, {tile.groups, 2, tile.terms, side.tile + kTermPadding},
        builder.getIntegerType(32 / factors.ofWord()));
  return memory.allocate(loc,
                         {tile.groups, 2, side.tile, countWords() + kPadding},
                         builder.getI32Type());
}

/// Of the part of the warp of a thread of this number, d0, in its group.
AffineExpr TensorTiles::getFirst(const Side &side) const {
  int64_t warpRows = tile.threadRows * (kWarp / kQuad);
  int64_t warpColumns = tile.threadColumns * kQuad;
  int64_t above = tile.rows / warpRows;
  AffineExpr warp = d0.floorDiv(kWarp);
  return side.of->operand == 0 ? warp % above * warpRows
                               : warp.floorDiv(above) * warpColumns;
}

void TensorTiles::placeInTile() {
  quad = apply((d0 % kWarp).floorDiv(kQuad), inGroup);
  inQuad = apply(d0 % kQuad, inGroup);
  for (const Side &side : sides)
    readPlaces[side.of->operand] = apply(getFirst(side) + d1, {inGroup, quad});
  column = apply(getFirst(sides[1]) + d1 * 2, {inGroup, inQuad});
}

void TensorTiles::prepare(Side &side) {
  ProductTiles::prepare(side);
  if (side.along)
    return;
  for (Value term : side.terms)
    words[side.of->operand].push_back(
        apply(d0.floorDiv(factors.ofWord()), term));
}

/// Of a result a thread has two rows and two neighbouring columns.
Value TensorTiles::getPlace(const Side &side, int64_t number) {
  int64_t ofTile = number / 2, inTile = number % 2;
  if (side.of->operand == 0)
    return apply(d0 + ofTile * kRows + inTile * (kRows / 2), readPlaces[0]);
  return apply(d0 + ofTile * kColumns + inTile, column);
}

/// An element of 16 bits that was widened, if it is one.
static Value getNarrow(Value element) {
  auto wider = element.getDefiningOp<arith::ExtFOp>();
  return wider && isNarrowFloat(wider.getIn().getType()) ? wider.getIn()
                                                         : Value();
}

/// The 16 bits of an element, at the lower end of a word or the upper one. It
/// has been rounded by now: a bf16's are an f32's first ones.
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

/// The first one in the lower half.
Value TensorTiles::packWord(OpBuilder &b, ArrayRef<Value> elements) const {
  if (elements.size() == 1)
    return arith::BitcastOp::create(b, loc, b.getI32Type(), elements.front());
  Value low = placeHalf(b, elements.front(), /*isUpper=*/false);
  Value high = placeHalf(b, elements.back(), /*isUpper=*/true);
  return arith::OrIOp::create(b, loc, low, high);
}

/// A unit's words. What was read of memory together already is such words.
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
  Value vector = packUnit(b, elements);
  SmallVector<Value> indices = {group, buffer};
  if (side.along) {
    indices.append({side.terms[number], side.places[number]});
    Type element = cast<MemRefType>(side.memory.getType()).getElementType();
    vector = vector::BitCastOp::create(b, loc, VectorType::get({unit}, element),
                                       vector);
  } else {
    indices.append({side.places[number], words[side.of->operand][number]});
  }
  vector::StoreOp::create(b, loc, vector, side.memory, indices,
                          /*nontemporal=*/false, llvm::MaybeAlign(kUnitBytes));
}

/// Of a part's small matrix of this number: the words of this step.
SmallVector<Value> TensorTiles::readFragment(const Side &side, Value buffer,
                                             int64_t tile, int64_t step) {
  bool isLeft = side.of->operand == 0;
  if (side.along && factors.ofWord() > 1)
    return readTransposed(side, buffer, tile, step);
  int64_t first = tile * (isLeft ? kRows : kColumns);
  SmallVector<Value> fragment;
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t lower = 0; lower < (isLeft ? 2 : 1); ++lower) {
      Value place =
          apply(d0 + first + lower * (kRows / 2), readPlaces[side.of->operand]);
      Value word =
          apply(d0 + step * kStepWords + half * (kStepWords / 2), inQuad);
      SmallVector<Value> indices = {group, buffer, place, word};
      if (side.along)
        std::swap(indices[2], indices[3]);
      toEnd();
      fragment.push_back(
          memref::LoadOp::create(builder, loc, side.memory, indices));
    }
  return fragment;
}

/// Of a left operand the matrices below each other come first, then those of
/// the step's other terms. Where there are half as many, threads of the warp's
/// other half say the same again, which nobody hears.
SmallVector<Value> TensorTiles::readTransposed(const Side &side, Value buffer,
                                               int64_t tile, int64_t step) {
  bool isLeft = side.of->operand == 0;
  int64_t below = isLeft ? 2 : 1, count = 2 * below;
  AffineExpr lane = d0 % (count * kMatrix);
  AffineExpr matrix = lane.floorDiv(kMatrix);
  AffineExpr firstTerm = matrix.floorDiv(below) * kMatrix + lane % kMatrix;
  AffineExpr firstPlace = getFirst(side) + matrix % below * kMatrix;
  Value term = apply(firstTerm + step * factors.ofStep(), inGroup);
  Value place = apply(firstPlace + tile * (isLeft ? kRows : kColumns), inGroup);
  toEnd();
  int64_t ofWord = factors.ofWord();
  auto type =
      VectorType::get({count, ofWord},
                      cast<MemRefType>(side.memory.getType()).getElementType());
  Value matrices = nvgpu::LdMatrixOp::create(
      builder, loc, type, side.memory, {group, buffer, term, place},
      /*transpose=*/true, static_cast<int32_t>(count));
  auto wordType = VectorType::get({1}, builder.getI32Type());
  SmallVector<Value> fragment;
  for (int64_t i = 0; i < count; ++i) {
    Value pair = vector::ExtractOp::create(builder, loc, matrices, i);
    Value word = vector::BitCastOp::create(builder, loc, wordType, pair);
    fragment.push_back(vector::ExtractOp::create(builder, loc, word, 0));
  }
  return fragment;
}

/// Words as the instruction's op has them: pairs of f16 are vectors.
SmallVector<Value> TensorTiles::toFactors(ArrayRef<Value> words) {
  if (!factors.type.isF16())
    return SmallVector<Value>(words);
  auto pair = VectorType::get({factors.ofWord()}, factors.type);
  return llvm::map_to_vector(words, [&](Value word) -> Value {
    return LLVM::BitcastOp::create(builder, loc, pair, word);
  });
}

/// Adds products to the four sums that a thread has of an instruction's result.
void TensorTiles::multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                           MutableArrayRef<Value *> sums) {
  SmallVector<Value> before;
  for (Value *sum : sums)
    before.push_back(*sum);
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(sums.size(), sumType));
  NVVM::MMATypes factor = factors.type.isTF32()  ? NVVM::MMATypes::tf32
                          : factors.type.isF16() ? NVVM::MMATypes::f16
                                                 : NVVM::MMATypes::bf16;
  std::array<int64_t, 3> shape = {kRows, kColumns, factors.ofStep()};
  toEnd();
  Value result = NVVM::MmaOp::create(
      builder, loc, type, toFactors(lhs), toFactors(rhs), before, shape,
      std::nullopt, std::nullopt, std::array<NVVM::MMATypes, 2>{factor, factor},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    *sum = LLVM::ExtractValueOp::create(builder, loc, result,
                                        static_cast<int64_t>(i));
}

SmallVector<Value> TensorTiles::addTerms(Value buffer, ArrayRef<Value> before) {
  SmallVector<Value> sums(before);
  int64_t rows = tile.threadRows / 2, columns = tile.threadColumns / 2;
  for (int64_t step = 0; step < countWords() / kStepWords; ++step) {
    SmallVector<SmallVector<Value>> lhs, rhs;
    for (int64_t i = 0; i < rows; ++i)
      lhs.push_back(readFragment(sides[0], buffer, i, step));
    for (int64_t j = 0; j < columns; ++j)
      rhs.push_back(readFragment(sides[1], buffer, j, step));
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
