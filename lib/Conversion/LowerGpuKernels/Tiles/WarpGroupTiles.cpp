//===- WarpGroupTiles.cpp - Products of warp groups -----------------------===//
//
// Descriptors tell a warp group's instructions where operands lie: "Parallel
// Thread Execution ISA", "Asynchronous Warpgroup Level Matrix Instructions",
// "Shared Memory Matrix Layout" and "Matrix Descriptor". The shared memory of
// TensorTiles already has such a layout: rows of 32, 64 or 128 bytes, whose
// units of 16 bytes are swizzled by the index of their line of 128 bytes. A row
// holds the terms of a place or, for 16-bit elements, the places of a term.
// Longer rows of places are cut into parts of at most 128 bytes; each part has
// all terms (`getRowPart`).
//
// Sums are distributed among threads as if each warp computed 16 rows and all
// of its group's columns by TensorTiles' small matrices.
//===----------------------------------------------------------------------===//

#include "Tiles/WarpGroupTiles.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

/// The threads of a warp group, and the rows of a result of its instructions.
static constexpr int64_t kGroupThreads = 128, kGroupRows = 64;
/// The threads of a warp group along the rows of a result, and along the
/// columns.
static constexpr int64_t kRowThreads = 32, kColumnThreads = 4;
/// The columns of a result are a multiple of kColumnUnit, and at most
/// kMostColumns.
static constexpr int64_t kColumnUnit = 8, kMostColumns = 256;
/// The least and the most bytes of a shared row, and the number of rows after
/// which the swizzle repeats.
static constexpr int64_t kLeastRowBytes = 32, kMostRowBytes = 128,
                         kPatternRows = 8;
/// The unit, in bytes, of a descriptor's fields.
static constexpr int64_t kUnitBytes = 16;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

std::optional<ProductTile>
WarpGroupTiles::arrange(const ProductTile &tile, const KernelProduct &product) {
  std::optional<TensorFactors> factors = TensorFactors::get(product.op);
  int64_t threads = tile.countGroupThreads();
  if (!factors || tile.rows % kGroupRows != 0 || threads % kGroupThreads != 0 ||
      tile.terms % factors->ofStep() != 0)
    return std::nullopt;
  int64_t above = tile.rows / kGroupRows, warpGroups = threads / kGroupThreads;
  if (warpGroups % above != 0 || tile.columns % (warpGroups / above) != 0)
    return std::nullopt;
  int64_t columns = tile.columns / (warpGroups / above);
  if (columns % kColumnUnit != 0 || columns > kMostColumns)
    return std::nullopt;
  for (const ProductSide *side : {&product.rows, &product.columns}) {
    bool isAlong = findAlong(product.op, *side, *factors).has_value();
    int64_t places = side == &product.rows ? kGroupRows : columns;
    int64_t bytes = (isAlong ? places : tile.terms) * 4 / factors->ofWord();
    // Rows that hold the places of a term need 16-bit elements.
    bool isWide = isAlong && factors->ofWord() == 1;
    if (isWide || bytes < kLeastRowBytes || !llvm::isPowerOf2_64(bytes) ||
        (!isAlong && bytes > kMostRowBytes))
      return std::nullopt;
  }
  ProductTile arranged = tile;
  arranged.threadRows = kGroupRows / kRowThreads;
  arranged.threadColumns = columns / kColumnThreads;
  // A thread has only two rows. If parts have the product's rows as their
  // columns, at least half of the tile must therefore be kept at a time.
  if (product.parts &&
      countKeptBytes(product, arranged, /*count=*/1) > SharedMemory::kMostBytes)
    return std::nullopt;
  return arranged;
}

WarpGroupTiles::WarpGroupTiles(OpBuilder &builder, Block *block,
                               ElementPuller &puller, SharedMemory &memory,
                               const KernelProduct &product,
                               const ProductTile &tile, ValueRange results,
                               Value thread)
    : TensorTiles(builder, block, puller, memory, product, tile, results,
                  thread) {
  for (const Side &side : sides)
    if (side.along)
      cutRows(side, countRowPlaces(tile, side.of->operand, factors));
}

/// Returns the number of places that a warp group has on a side.
static int64_t countPlacesOf(const ProductTile &tile, unsigned operand) {
  return operand == 0 ? kGroupRows : tile.threadColumns * kColumnThreads;
}

int64_t WarpGroupTiles::countRowPlaces(const ProductTile &tile,
                                       unsigned operand,
                                       const TensorFactors &factors) {
  return std::min(countPlacesOf(tile, operand),
                  kMostRowBytes * factors.ofWord() / 4);
}

int64_t WarpGroupTiles::countPlaces(const Side &side) const {
  return countPlacesOf(tile, side.of->operand);
}

/// Aligns buffers so that lines begin where the hardware's swizzle pattern
/// begins.
void WarpGroupTiles::allocate() {
  memory.align(kPatternBytes);
  TensorTiles::allocate();
}

/// Waits for copies, and makes the threads' copies and stores visible to
/// products.
void WarpGroupTiles::waitForCopies() {
  TensorTiles::waitForCopies();
  hfta_gpu::PublishStoresOp::create(builder, loc);
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {
/// The descriptor's code of the swizzle, by the bytes of a row.
enum class Turn : uint64_t { of128 = 1, of64 = 2, of32 = 3 };
} // namespace

static Turn getTurn(int64_t rowBytes) {
  return rowBytes == kMostRowBytes       ? Turn::of128
         : rowBytes == kMostRowBytes / 2 ? Turn::of64
                                         : Turn::of32;
}

/// Returns the address at which a warp group's part of a buffer begins, in
/// units.
Value WarpGroupTiles::findBegin(const Side &side, Value buffer) {
  int64_t elementBytes = 4 / factors.ofWord();
  int64_t bufferUnits = countBufferElements(side) * elementBytes / kUnitBytes;
  int64_t rowUnits = countRowBytes(side) / kUnitBytes;
  int64_t above = tile.rows / kGroupRows, places = countPlaces(side);
  AffineExpr warpGroup = d0.floorDiv(kGroupThreads);
  AffineExpr part =
      side.of->operand == 0 ? warpGroup % above : warpGroup.floorDiv(above);
  // If rows hold the places of a term, one part of the rows of all terms is
  // followed by the next part.
  int64_t partUnits = side.along
                          ? places / getRowPart(side) * tile.terms * rowUnits
                          : places * rowUnits;
  AffineExpr ofGroup = builder.getAffineDimExpr(2);
  Value begin =
      apply(part * partUnits + (d1 * tile.groups + ofGroup) * bufferUnits,
            {inGroup, buffer, group});
  toEnd();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, side.memory);
  Value unit = arith::ConstantIndexOp::create(builder, loc, kUnitBytes);
  address = arith::DivUIOp::create(builder, loc, address, unit);
  return arith::AddIOp::create(builder, loc, address, begin);
}

/// Returns the descriptor of an operand of a step's instruction number `part`.
/// `begin` is the address of the step's terms, in units.
Value WarpGroupTiles::describe(const Side &side, Value begin, int64_t part) {
  constexpr int64_t kAddressBits = 14;
  int64_t rowUnits = countRowBytes(side) / kUnitBytes;
  int64_t terms = factors.ofStep();
  int64_t stepUnits =
      side.along ? part * terms * rowUnits : part * terms / unit;
  // The distance to the next part of the rows, and the distance to the next 8
  // rows.
  uint64_t leading = side.along ? tile.terms * rowUnits : 1;
  uint64_t stride = kPatternRows * rowUnits;
  uint64_t fixed = leading << 16 | stride << 32 |
                   static_cast<uint64_t>(getTurn(countRowBytes(side))) << 62;
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(static_cast<int64_t>(value)));
  };
  Value offset = arith::ConstantIndexOp::create(builder, loc, stepUnits);
  Value at = arith::AddIOp::create(builder, loc, begin, offset);
  at = arith::IndexCastUIOp::create(builder, loc, builder.getI64Type(), at);
  at = arith::AndIOp::create(builder, loc, at,
                             constant((1 << kAddressBits) - 1));
  return arith::OrIOp::create(builder, loc, at, constant(fixed));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns the index of a thread's sum in an instruction's result: for every 8
/// columns there is a pair of neighbours in the upper row and another pair in
/// the lower row.
static int64_t getNumberOf(int64_t row, int64_t column) {
  return column / 2 * 4 + row * 2 + column % 2;
}

Value WarpGroupTiles::pack(ArrayRef<Value> own) {
  toEnd();
  Value sums = LLVM::PoisonOp::create(
      builder, loc,
      LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                       SmallVector<Type>(own.size(), sumType)));
  for (int64_t i = 0; i < tile.threadRows; ++i)
    for (int64_t j = 0; j < tile.threadColumns; ++j)
      sums = LLVM::InsertValueOp::create(builder, loc, sums,
                                         own[i * tile.threadColumns + j],
                                         getNumberOf(i, j));
  return sums;
}

SmallVector<Value> WarpGroupTiles::unpack(Value sums) {
  toEnd();
  SmallVector<Value> own;
  for (int64_t i = 0; i < tile.threadRows; ++i)
    for (int64_t j = 0; j < tile.threadColumns; ++j)
      own.push_back(
          LLVM::ExtractValueOp::create(builder, loc, sums, getNumberOf(i, j)));
  return own;
}

Value WarpGroupTiles::begin(Value step, Value sums) {
  std::array<Value, 2> begins;
  for (auto [side, buffer, begin] : llvm::zip(sides, findBuffers(step), begins))
    begin = findBegin(side, buffer);
  toEnd();
  hfta_gpu::BeginProductsOp::create(builder, loc);
  for (int64_t part = 0; part < tile.terms / factors.ofStep(); ++part) {
    Value lhs = describe(sides[0], begins[0], part);
    Value rhs = describe(sides[1], begins[1], part);
    sums = hfta_gpu::MultiplySharedOp::create(
        builder, loc, factors.getKind(), lhs, rhs, sums,
        sides[0].along.has_value(), sides[1].along.has_value());
  }
  hfta_gpu::CommitProductsOp::create(builder, loc);
  return sums;
}

SmallVector<Value> WarpGroupTiles::waitForSums(Value sums) {
  toEnd();
  return unpack(hfta_gpu::WaitForProductsOp::create(builder, loc, sums));
}

/// Begins the products here only if both sides are copied. Computing an element
/// may call functions, and ptxas lets no product be in flight during a call.
void WarpGroupTiles::beginTerms(Value step, ArrayRef<Value> before) {
  if (llvm::all_of(sides, [](const Side &side) { return side.isCopied; }))
    begun = begin(step, pack(before));
}

SmallVector<Value> WarpGroupTiles::addTerms(Value step,
                                            ArrayRef<Value> before) {
  return waitForSums(begun ? begun : begin(step, pack(before)));
}
