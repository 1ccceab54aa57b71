//===- WarpSpecializedTiles.cpp - Products with a producer warp -----------===//
//
// See "Parallel Thread Execution ISA", "Asynchronous Data Movement" and
// "mbarrier". The phases of an mbarrier are distinguished by their parity. A
// thread that waits for the phase before the first one continues at once; so
// the producer fills each buffer for the first time without waiting.
//===----------------------------------------------------------------------===//

#include "Tiles/WarpSpecializedTiles.h"

#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "hfta/program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kWarp = 32;
/// The most threads of a block that hardware allows.
static constexpr int64_t kMostThreads = 1024;
/// The most bytes of a ring buffer: a multiprocessor of the Hopper architecture
/// has room for the buffers of two blocks.
static constexpr int64_t kMostBytes = 96 * 1024;
static constexpr int64_t kMostBuffers = 4, kEnoughBuffers = 3;
/// The least number of instructions by which a warp group adds up the terms of
/// a step, unless a step without a producer has fewer.
static constexpr int64_t kLeastInstructions = 2;
/// The most terms of a step, as a multiple of the terms of a step without a
/// producer.
static constexpr int64_t kMostTerms = 4;

//===----------------------------------------------------------------------===//
// Choice of tiles
//===----------------------------------------------------------------------===//

/// Returns the box of a side that one instruction copies. Returns nothing if
/// there is none, or if terms beyond the last one might not be zeros.
std::optional<TensorMap>
WarpSpecializedTiles::findMap(const KernelProduct &product,
                              const ProductSide &side,
                              const ProductTile &tile) {
  TensorFactors factors = *TensorFactors::get(product.op);
  bool isAlong = findAlong(product.op, side, factors).has_value();
  LoopPart terms = {product.terms, tile.terms};
  LoopPart places = {side.loops, side.operand == 0 ? tile.rows : tile.columns};
  if (isAlong)
    places.count = countRowPlaces(tile, side.operand, factors);
  OpOperand &operand = product.op->getOpOperand(side.operand);
  std::optional<TensorMap> map = isAlong
                                     ? TensorMap::find(operand, places, terms)
                                     : TensorMap::find(operand, terms, places);
  if (!map || map->elementBytes * factors.ofWord() != 4)
    return std::nullopt;
  bool areWhole =
      tile.countSteps(product.termCount) * tile.groups * tile.terms ==
      product.termCount;
  bool endsWithTerms = isAlong ? map->endsWithRows : map->endsWithInner;
  return areWhole || endsWithTerms ? map : std::nullopt;
}

std::optional<WarpSpecialization>
WarpSpecializedTiles::choose(const ProductTile &tile,
                             const KernelProduct &product) {
  if (tile.countThreads() + WarpSpecialization::kProducers > kMostThreads)
    return std::nullopt;
  int64_t ofStep = TensorFactors::get(product.op)->ofStep();
  // With shorter steps, threads would wait for each other longer than they
  // multiply.
  int64_t least = std::min(tile.terms, kLeastInstructions * ofStep);
  for (int64_t terms = kMostTerms * tile.terms; terms >= least;
       terms -= ofStep) {
    ProductTile other = tile;
    other.terms = terms;
    if (!hasSameParts(other, tile, product.termCount))
      continue;
    if (std::optional<WarpSpecialization> found = specialize(other, product))
      return found;
  }
  return std::nullopt;
}

/// Returns whether groups of threads have the same terms with both tiles, and
/// no more zeros after them, so that the length of steps changes no bits.
bool WarpSpecializedTiles::hasSameParts(const ProductTile &tile,
                                        const ProductTile &other,
                                        int64_t termCount) {
  int64_t own = tile.countSteps(termCount) * tile.terms;
  int64_t others = other.countSteps(termCount) * other.terms;
  return own == others || (tile.groups == 1 && own == termCount);
}

std::optional<WarpSpecialization>
WarpSpecializedTiles::specialize(const ProductTile &tile,
                                 const KernelProduct &product) {
  TensorFactors factors = *TensorFactors::get(product.op);
  int64_t bytes = tile.groups * (tile.rows + tile.columns) * tile.terms * 4 /
                  factors.ofWord();
  int64_t most = std::min(kMostBuffers, tile.countSteps(product.termCount));
  int64_t buffers = std::min(most, kMostBytes / bytes);
  if (buffers < std::min(most, kEnoughBuffers) || !arrange(tile, product))
    return std::nullopt;
  std::optional<TensorMap> rows = findMap(product, product.rows, tile);
  std::optional<TensorMap> columns = findMap(product, product.columns, tile);
  if (!rows || !columns)
    return std::nullopt;
  return WarpSpecialization{tile, {*rows, *columns}, buffers};
}

WarpSpecializedTiles::WarpSpecializedTiles(
    OpBuilder &builder, Block *block, ElementPuller &puller,
    SharedMemory &memory, const KernelProduct &product,
    const WarpSpecialization &specialization, ValueRange results, Value thread,
    Value maps)
    : WarpGroupTiles(builder, block, puller, memory, product,
                     specialization.tile, results, thread),
      specialization(specialization), maps(maps) {
  for (Side &side : sides)
    side.buffers = specialization.buffers;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static Value toWord(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}

/// The memory of mbarriers is kept: nothing else may be stored in it, even once
/// they aren't needed any more.
void WarpSpecializedTiles::allocate() {
  for (Value *barriers : {&full, &empty})
    *barriers =
        memory.allocate(loc, {specialization.buffers}, builder.getI64Type());
  memory.keep(kPatternBytes);
  WarpGroupTiles::allocate();
}

Value WarpSpecializedTiles::isThread(arith::CmpIPredicate predicate,
                                     int64_t number) {
  Value other = puller.index(number);
  toEnd();
  return arith::CmpIOp::create(builder, loc, predicate, inBlock, other);
}

Value WarpSpecializedTiles::findAddress(Value memory, Value bytes) {
  toEnd();
  Type pointer = LLVM::LLVMPointerType::get(
      builder.getContext(), hfta_gpu::HftaGpuDialect::kSharedSpace);
  Value begin =
      hfta_gpu::AddressOp::create(builder, loc, pointer, memory, ValueRange());
  return LLVM::GEPOp::create(
      builder, loc, pointer, builder.getI8Type(), begin,
      ArrayRef<LLVM::GEPArg>{toWord(builder, loc, bytes)});
}

Value WarpSpecializedTiles::findBarrier(Value barriers, Value step) {
  constexpr int64_t kBytes = 8;
  return findAddress(barriers,
                     apply(d0 % specialization.buffers * kBytes, step));
}

/// Builds code that only threads run for which the condition holds.
LogicalResult
WarpSpecializedTiles::buildFor(Value condition,
                               llvm::function_ref<LogicalResult()> own) {
  Block *outer = block;
  LogicalResult built =
      buildWhere(builder, puller, block, condition, [&](Block *inner) {
        block = inner;
        return own();
      });
  block = outer;
  return built;
}

/// Lets one thread initialise the mbarriers. A buffer is full when the bytes
/// that the producer expects have arrived; it is empty when every consumer warp
/// has read it.
void WarpSpecializedTiles::initialize() {
  (void)buildFor(isThread(arith::CmpIPredicate::eq, 0), [&] {
    for (auto [barriers, arrivals] :
         {std::pair(full, int64_t(1)),
          std::pair(empty, tile.countThreads() / kWarp)})
      for (int64_t buffer = 0; buffer < specialization.buffers; ++buffer) {
        Value barrier = findBarrier(barriers, puller.index(buffer));
        hfta_gpu::InitMbarrierOp::create(builder, loc, barrier,
                                         static_cast<uint32_t>(arrivals));
      }
    hfta_gpu::PublishMbarriersOp::create(builder, loc);
    return success();
  });
  toEnd();
  memory.synchronize(builder, loc);
}

void WarpSpecializedTiles::waitFor(Value barriers, Value step, bool isBefore) {
  Value barrier = findBarrier(barriers, step);
  Value parity = apply(
      (d0.floorDiv(specialization.buffers) + (isBefore ? 1 : 0)) % 2, step);
  toEnd();
  parity = toWord(builder, loc, parity);
  hfta_gpu::WaitForPhaseOp::create(builder, loc, barrier, parity);
}

/// Reports, by one thread of each warp, that the warp has finished reading the
/// buffer of the step before this one, if there is one.
void WarpSpecializedTiles::releaseBefore(Value step) {
  Value lane = apply(d0 % kWarp, inBlock), none = puller.index(0);
  Value before = apply(d0 - 1, step);
  toEnd();
  Value isOne = arith::AndIOp::create(
      builder, loc,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, none),
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, step,
                            none));
  (void)buildFor(isOne, [&] {
    Value barrier = findBarrier(empty, before);
    hfta_gpu::ArriveOp::create(builder, loc, barrier);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Copies a box that begins at the loop indices `loops`. The last coordinate is
/// the copy of the model: the copies' tensors follow each other in memory, or
/// all copies share one tensor.
void WarpSpecializedTiles::copyBox(const Side &side, Value to,
                                   ArrayRef<Value> loops, Value step) {
  unsigned number = side.of->operand;
  SmallVector<Value> coordinates;
  for (AffineExpr begin : specialization.maps[number].begin)
    coordinates.push_back(apply(begin, loops));
  Value barrier = findBarrier(full, step);
  toEnd();
  for (Value &coordinate : coordinates)
    coordinate = toWord(builder, loc, coordinate);
  auto count = static_cast<int64_t>(specialization.maps.size());
  Value place = LLVM::GEPOp::create(builder, loc, maps.getType(),
                                    builder.getI8Type(), maps,
                                    ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(
                                        count * HFTA_MAP_BYTES + number * 4)});
  Value isApart =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), place);
  Value copy =
      hfta_gpu::PositionOp::create(builder, loc, hfta_gpu::Place::copy);
  coordinates.push_back(LLVM::MulOp::create(builder, loc, copy, isApart));
  hfta_gpu::BeginBoxCopyOp::create(builder, loc, to, maps, number, coordinates,
                                   barrier);
}

/// Returns the loops of more than one iteration. The index of the first of them
/// may go beyond the loop's end.
SmallVector<unsigned> WarpSpecializedTiles::findLong(ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  return llvm::filter_to_vector(loops,
                                [&](unsigned loop) { return sizes[loop] > 1; });
}

/// Copies a side's elements of one step for one group of threads.
void WarpSpecializedTiles::copy(const Side &side, int64_t ofGroup, Value step) {
  AffineExpr buffer = d0 % specialization.buffers;
  AffineExpr begin = (buffer * tile.groups + ofGroup) * countBufferBytes(side);
  Value term = apply((d0 + ofGroup * countSteps()) * tile.terms, step);
  int64_t places = countBoxPlaces(side);
  int64_t parts = side.tile / places;
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<Value> loops(start);
    setLoops(loops, findLong(product.terms), term);
    setLoops(loops, findLong(side.of->loops),
             apply(d0 + part * places, side.first));
    Value to = findAddress(
        side.memory,
        apply(begin + part * (countBufferBytes(side) / parts), step));
    copyBox(side, to, loops, step);
  }
}

void WarpSpecializedTiles::fill(Value step) {
  waitFor(empty, step, /*isBefore=*/true);
  int64_t bytes = 0;
  for (const Side &side : sides)
    bytes += tile.groups * countBufferBytes(side);
  Value barrier = findBarrier(full, step);
  hfta_gpu::ArriveExpectingOp::create(builder, loc, barrier,
                                      static_cast<uint32_t>(bytes));
  for (int64_t ofGroup = 0; ofGroup < tile.groups; ++ofGroup)
    for (const Side &side : sides)
      copy(side, ofGroup, step);
}

void WarpSpecializedTiles::produce() {
  Value zero = puller.index(0), one = puller.index(1);
  Value end = puller.index(countSteps());
  toEnd();
  auto loop = scf::ForOp::create(builder, loc, zero, end, one);
  loop.getBody()->getTerminator()->erase();
  Block *outer = std::exchange(block, loop.getBody());
  puller.enter(block, loop, /*isConditional=*/true, /*diverges=*/true);
  fill(loop.getInductionVar());
  toEnd();
  scf::YieldOp::create(builder, loc);
  puller.leave();
  block = outer;
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// Adds up the terms of all steps. The products of a step are in flight while
/// threads wait for the operands of the next one.
LogicalResult WarpSpecializedTiles::addAll(SmallVector<Value> &sums) {
  Value zero = puller.index(0), one = puller.index(1);
  Value end = puller.index(countSteps());
  toEnd();
  auto loop = scf::ForOp::create(builder, loc, zero, end, one, sums);
  Block *outer = std::exchange(block, loop.getBody());
  puller.enter(block, loop, /*isConditional=*/false, /*diverges=*/false);
  Value step = loop.getInductionVar();
  waitFor(full, step, /*isBefore=*/false);
  Value begun = begin(step, pack(SmallVector<Value>(loop.getRegionIterArgs())));
  toEnd();
  hfta_gpu::WaitForProductGroupsOp::create(builder, loc, /*but=*/1);
  releaseBefore(step);
  SmallVector<Value> own = unpack(begun);
  scf::YieldOp::create(builder, loc, own);
  puller.leave();
  block = outer;
  sums = waitForSums(pack(SmallVector<Value>(loop.getResults())));
  toEnd();
  // Waits for all consumers, as shared memory is reused from here on.
  memory.synchronize(builder, loc);
  return success();
}

LogicalResult WarpSpecializedTiles::compute(Store store) {
  initialize();
  int64_t consumers = tile.countThreads();
  memory.limitTo(consumers);
  Value isProducer = isThread(arith::CmpIPredicate::eq, consumers);
  Value isConsumer = isThread(arith::CmpIPredicate::ult, consumers);
  return success(succeeded(buildFor(isProducer,
                                    [&] {
                                      produce();
                                      return success();
                                    })) &&
                 succeeded(buildFor(isConsumer, [&] {
                   return WarpGroupTiles::compute(store);
                 })));
}
