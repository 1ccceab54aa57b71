//===- KernelsToThreads.cpp - Kernels as functions of one thread ----------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "Pull/ElementPuller.h"
#include "Pull/KernelRows.h"
#include "Tiles/PartTiles.h"
#include "Tiles/ProductTiles.h"
#include "Tiles/TensorTiles.h"
#include "Tiles/WarpSpecializedTiles.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAKERNELSTOTHREADS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

class KernelThreader {
public:
  KernelThreader(func::FuncOp kernel, SymbolTable &symbols)
      : kernel(kernel), symbols(symbols), builder(kernel.getContext()),
        from(&kernel.getBody().front()), shared(kernel) {}

  LogicalResult build();

private:
  LogicalResult findTies();
  void noteWideIndices();
  void makeBlock();
  ElementPuller makePuller();
  LogicalResult computeTiles(const KernelProduct &product,
                             const ProductTile &tile);
  LogicalResult refuseWarpGroups();
  LogicalResult computeSpecialized(const KernelProduct &product,
                                   const WarpSpecialization &specialization,
                                   ElementPuller &puller,
                                   PartSums::Store store);
  SumLanes placeLanes(ElementPuller &puller, int64_t lanes);
  LogicalResult computePartTiles(const KernelParts &parts);
  LogicalResult computeElements();
  LogicalResult computeRuns(int64_t count);
  LogicalResult computeRows(const KernelRows &rows);
  void storeOfRow(unsigned result, Value element, ArrayRef<Value> indices);
  LogicalResult computeRowElements(ElementPuller &puller,
                                   const KernelRows &rows, ArrayRef<Value> row,
                                   Value lane, int64_t lanes);
  void store(unsigned result, Value element);
  void put(OpBuilder &b, Location loc, unsigned result, Value element);
  Value getGlobal(arith::ConstantOp constant);
  /// Sets the number of threads of a block. The grid then consists of whole
  /// blocks, all of whose threads run.
  void setBlockThreads(int64_t count) {
    kernel->setAttr(kBlockThreadsAttrName, builder.getI64IntegerAttr(count));
  }
  int64_t countElements(unsigned result) const {
    return cast<RankedTensorType>(
               from->getTerminator()->getOperand(result).getType())
        .getNumElements();
  }

  func::FuncOp kernel;
  SymbolTable &symbols;
  OpBuilder builder;
  Block *from, *to = nullptr;
  SmallVector<int64_t> ties;
  /// The memory of each result.
  SmallVector<Value> targets;
  Value item; ///< the row-major index of the element that the thread computes
  Value isElement; ///< false if the thread only repeats the last element; NULL:
                   ///< always true
  Value isStoring; ///< whether the thread stores its element; NULL: always true
  int64_t items = 0; ///< the number of elements
  int64_t threads = 0;
  SharedMemory shared;
};

} // namespace

LogicalResult KernelThreader::findTies() {
  unsigned count = kernel.getNumResults();
  ties.assign(count, -1);
  if (auto stored = kernel->getAttrOfType<DenseI64ArrayAttr>(kTiesAttrName))
    ties.assign(stored.asArrayRef().begin(), stored.asArrayRef().end());
  int64_t arguments = kernel.getNumArguments();
  if (ties.size() == count &&
      llvm::all_of(ties, [&](int64_t tie) { return tie < arguments; }))
    return success();
  return kernel.emitError("expected one entry of ")
         << kTiesAttrName << " a result, -1 or an argument";
}

/// Notes whether indices need 64 bits. Every tensor counts, even one of which a
/// thread computes a single element, as the index of that element may be
/// needed.
void KernelThreader::noteWideIndices() {
  auto isLarge = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getNumElements() > kMostNarrowElements;
  };
  bool isWide = llvm::any_of(kernel.getArgumentTypes(), isLarge);
  kernel.walk([&](Operation *op) {
    isWide |= llvm::any_of(op->getResultTypes(), isLarge);
    // Indices of a sum's terms count as well.
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      isWide |= countTerms(generic) > kMostNarrowElements;
  });
  if (isWide)
    kernel->setAttr(kWideIndicesAttrName, builder.getUnitAttr());
}

/// Creates the block of the thread's function. Its arguments are the memory of
/// the kernel's arguments, the memory of the results that overwrite no
/// argument, the thread's index in the launch, and scratch memory.
void KernelThreader::makeBlock() {
  to = &kernel.getBody().emplaceBlock();
  auto add = [&](Type type, Location loc) -> Value {
    auto tensor = cast<RankedTensorType>(type);
    // A tensor without elements needs no strides, which may not even be
    // computable.
    SmallVector<int64_t> shape = {0};
    if (tensor.getNumElements() > 0)
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    return to->addArgument(MemRefType::get(shape, tensor.getElementType()),
                           loc);
  };
  for (BlockArgument argument : from->getArguments())
    add(argument.getType(), argument.getLoc());
  for (auto [tie, result] :
       llvm::zip(ties, from->getTerminator()->getOperands()))
    targets.push_back(tie >= 0 ? Value(to->getArgument(tie))
                               : add(result.getType(), result.getLoc()));
  item = to->addArgument(builder.getIndexType(), kernel.getLoc());
  to->addArgument(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()),
                  kernel.getLoc());
}

Value KernelThreader::getGlobal(arith::ConstantOp constant) {
  auto tensor = cast<RankedTensorType>(constant.getType());
  auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  OpBuilder outside(kernel);
  auto global = memref::GlobalOp::create(
      outside, constant.getLoc(), "constant", outside.getStringAttr("private"),
      type, constant.getValue(), /*constant=*/true, IntegerAttr());
  symbols.insert(global);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(to);
  return memref::GetGlobalOp::create(builder, constant.getLoc(), type,
                                     global.getSymName());
}

ElementPuller KernelThreader::makePuller() {
  ElementPuller puller(builder, to, [this](arith::ConstantOp constant) {
    return getGlobal(constant);
  });
  for (auto [argument, memory] :
       llvm::zip(from->getArguments(), to->getArguments()))
    puller.place(argument, memory);
  return puller;
}

/// Assigns threads to sums: `lanes` threads of a block compute the same
/// element, and the first of them stores it.
SumLanes KernelThreader::placeLanes(ElementPuller &puller, int64_t lanes) {
  AffineExpr number = builder.getAffineDimExpr(0);
  bool areInside = kernel->hasAttr(kLanesInsideAttrName);
  int64_t elements = kSumThreads / lanes;
  threads = llvm::divideCeil(items, elements) * kSumThreads;
  setBlockThreads(kSumThreads);
  kernel->setAttr(kSharesSumsAttrName, builder.getUnitAttr());
  Value thread = puller.apply(number % kSumThreads, item);
  Value lane = puller.apply(
      areInside ? number % lanes : number.floorDiv(elements), thread);
  AffineExpr own = areInside ? (number % kSumThreads).floorDiv(lanes)
                             : number % kSumThreads % elements;
  Value element =
      puller.apply(number.floorDiv(kSumThreads) * elements + own, item);
  Value slot = areInside ? puller.apply(number - number % lanes, thread)
                         : puller.apply(number % elements, thread);
  Value zero = puller.index(0), last = puller.index(items - 1);
  builder.setInsertionPointToEnd(to);
  Location loc = kernel.getLoc();
  isStoring =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, zero);
  isElement = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                    element, last);
  isStoring = arith::AndIOp::create(builder, loc, isStoring, isElement);
  item = arith::MinUIOp::create(builder, loc, element, last);
  return {&shared, lane, slot, areInside ? 1 : elements, kSumThreads};
}

/// Computes one element of each result. All elements are computed before one is
/// stored, as a result may overwrite an argument.
LogicalResult KernelThreader::computeElements() {
  ElementPuller puller = makePuller();
  threads = items;
  if (auto lanes = kernel->getAttrOfType<IntegerAttr>(kSumLanesAttrName))
    puller.shareSums(placeLanes(puller, lanes.getInt()));
  SmallVector<Value> elements;
  for (auto [result, tensor] :
       llvm::enumerate(from->getTerminator()->getOperands())) {
    int64_t count = countElements(result);
    if (count == 0) {
      elements.push_back(Value());
      continue;
    }
    // Threads beyond the end of a shorter result compute its last element
    // again, without storing it.
    Value number = item;
    if (count < items) {
      builder.setInsertionPointToEnd(to);
      number = arith::MinUIOp::create(builder, tensor.getLoc(), item,
                                      puller.index(count - 1));
    }
    auto type = cast<RankedTensorType>(tensor.getType());
    FailureOr<Value> element =
        puller.pull(tensor, puller.delinearize(builder.getAffineDimExpr(0),
                                               number, type.getShape()));
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  for (auto [result, element] : llvm::enumerate(elements))
    if (element)
      store(result, element);
  return success();
}

/// Computes `count` neighbours along the last axis of each result.
LogicalResult KernelThreader::computeRuns(int64_t count) {
  ElementPuller puller = makePuller();
  threads = items = items / count;
  if (auto lanes = kernel->getAttrOfType<IntegerAttr>(kSumLanesAttrName))
    puller.shareSums(placeLanes(puller, lanes.getInt()));
  ValueRange results = from->getTerminator()->getOperands();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(results.front().getType()).getShape();
  SmallVector<Value> indices =
      puller.delinearize(builder.getAffineDimExpr(0) * count, item, shape);
  Run run = {indices, static_cast<unsigned>(shape.size() - 1), count};
  SmallVector<SmallVector<Value>> elements;
  for (Value tensor : results) {
    FailureOr<SmallVector<Value>> own = puller.pullRun(tensor, run);
    if (failed(own))
      return failure();
    elements.push_back(*own);
  }
  if (isStoring) {
    builder.setInsertionPointToEnd(to);
    auto branch = scf::IfOp::create(builder, kernel.getLoc(), isStoring,
                                    /*withElseRegion=*/false);
    puller.enter(branch.thenBlock(), branch, /*isConditional=*/true,
                 /*diverges=*/true);
  }
  for (auto [target, own] : llvm::zip(targets, elements))
    puller.writeRun(target, own, run);
  if (isStoring)
    puller.leave();
  return success();
}

/// Returns the indices of element `number` of a row in a tensor of this shape.
/// `axes` are the axes along which `row` has the indices.
static SmallVector<Value> placeInRow(ElementPuller &puller, OpBuilder &builder,
                                     ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> axes,
                                     ArrayRef<Value> row, Value number) {
  SmallVector<Value> indices(shape.size());
  for (auto [axis, index] : llvm::zip(axes, row))
    indices[axis] = index;
  SmallVector<int64_t> sizes;
  for (auto [size, index] : llvm::zip(shape, indices))
    if (!index)
      sizes.push_back(size);
  SmallVector<Value> inner =
      puller.delinearize(builder.getAffineDimExpr(0), number, sizes);
  auto *next = inner.begin();
  for (Value &index : indices)
    if (!index)
      index = *next++;
  return indices;
}

/// Computes the elements of a row. The row's threads run through the elements
/// in a loop, `count` neighbours at a time. In each iteration, all results are
/// computed before one is stored.
LogicalResult KernelThreader::computeRowElements(ElementPuller &puller,
                                                 const KernelRows &rows,
                                                 ArrayRef<Value> row,
                                                 Value lane, int64_t lanes) {
  Location loc = kernel.getLoc();
  auto run = kernel->getAttrOfType<IntegerAttr>(kRunAttrName);
  int64_t count = run ? run.getInt() : 1;
  Value first = puller.apply(builder.getAffineDimExpr(0) * count, lane);
  Value end = puller.index(rows.length);
  Value step = puller.index(lanes * count), none = puller.index(0);
  builder.setInsertionPointToEnd(to);
  if (isElement)
    end = arith::SelectOp::create(builder, loc, isElement, end, none);
  auto loop = scf::ForOp::create(builder, loc, first, end, step);
  puller.enter(loop.getBody(), loop, /*isConditional=*/false,
               /*diverges=*/true);
  SmallVector<std::tuple<Value, SmallVector<Value>, Run>> runs;
  for (auto [number, tensor] :
       llvm::enumerate(from->getTerminator()->getOperands())) {
    if (rows.isOfRow(number))
      continue;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(tensor.getType()).getShape();
    SmallVector<Value> indices = placeInRow(
        puller, builder, shape, rows.axes[number], row, loop.getInductionVar());
    Run own = {indices, static_cast<unsigned>(shape.size() - 1), count};
    FailureOr<SmallVector<Value>> elements = puller.pullRun(tensor, own);
    if (failed(elements))
      return failure();
    runs.emplace_back(targets[number], *elements, own);
  }
  for (auto &[target, elements, own] : runs)
    puller.writeRun(target, elements, own);
  puller.leave();
  return success();
}

/// Computes one row. The row's sums are built before the loop over its
/// elements, as they don't depend on the position in the row.
LogicalResult KernelThreader::computeRows(const KernelRows &rows) {
  ElementPuller puller = makePuller();
  threads = items = llvm::product_of(rows.shape);
  Value lane = puller.index(0);
  int64_t lanes = 1;
  if (auto shared = kernel->getAttrOfType<IntegerAttr>(kSumLanesAttrName)) {
    lanes = shared.getInt();
    SumLanes placed = placeLanes(puller, lanes);
    lane = placed.lane;
    puller.shareSums(placed);
  }
  SmallVector<Value> row =
      puller.delinearize(builder.getAffineDimExpr(0), item, rows.shape);
  SmallVector<std::pair<Value, SmallVector<Value>>> sums;
  for (auto [number, tensor] :
       llvm::enumerate(from->getTerminator()->getOperands())) {
    sums.emplace_back();
    if (!rows.isOfRow(number))
      continue;
    SmallVector<Value> indices = placeInRow(
        puller, builder, cast<RankedTensorType>(tensor.getType()).getShape(),
        rows.axes[number], row, Value());
    FailureOr<Value> element = puller.pull(tensor, indices);
    if (failed(element))
      return failure();
    sums.back() = {*element, indices};
  }
  if (failed(computeRowElements(puller, rows, row, lane, lanes)))
    return failure();
  for (auto [number, sum] : llvm::enumerate(sums))
    if (sum.first)
      storeOfRow(number, sum.first, sum.second);
  return success();
}

/// Stores the element of a result that has one element for each row. Only one
/// of the row's threads stores it.
void KernelThreader::storeOfRow(unsigned result, Value element,
                                ArrayRef<Value> indices) {
  Location loc = element.getLoc();
  auto put = [&](OpBuilder &b) {
    memref::StoreOp::create(b, loc, element, targets[result], indices);
  };
  builder.setInsertionPointToEnd(to);
  if (!isStoring)
    return put(builder);
  scf::IfOp::create(builder, loc, isStoring, [&](OpBuilder &b, Location loc) {
    put(b);
    scf::YieldOp::create(b, loc);
  });
}

LogicalResult KernelThreader::refuseWarpGroups() {
  return kernel.emitError("expected a product that warp groups can compute "
                          "because of ")
         << kWarpGroupsOfAttrName;
}

LogicalResult KernelThreader::computeTiles(const KernelProduct &product,
                                           const ProductTile &tile) {
  ElementPuller puller = makePuller();
  setBlockThreads(tile.countThreads());
  threads = tile.countBlocks(product) * tile.countThreads();
  auto store = [&](unsigned result, Value element, ArrayRef<Value> indices) {
    memref::StoreOp::create(builder, element.getLoc(), element, targets[result],
                            indices);
  };
  ValueRange results = from->getTerminator()->getOperands();
  if (kernel->hasAttr(kWarpGroupsOfAttrName)) {
    std::optional<ProductTile> arranged =
        WarpGroupTiles::arrange(tile, product);
    if (!arranged)
      return refuseWarpGroups();
    if (std::optional<WarpSpecialization> specialization =
            WarpSpecializedTiles::choose(*arranged, product))
      return computeSpecialized(product, *specialization, puller, store);
    return WarpGroupTiles(builder, to, puller, shared, product, *arranged,
                          results, item)
        .build(store);
  }
  if (TensorFactors::get(product.op))
    return TensorTiles(builder, to, puller, shared, product, tile, results,
                       item)
        .build(store);
  return ProductTiles(builder, to, puller, shared, product, tile, results, item)
      .build(store);
}

/// Computes a product with a producer warp. The kernel's last argument, scratch
/// memory for other kernels, becomes the address of its tensor maps.
LogicalResult KernelThreader::computeSpecialized(
    const KernelProduct &product, const WarpSpecialization &specialization,
    ElementPuller &puller, PartSums::Store store) {
  int64_t count = specialization.countThreads();
  setBlockThreads(count);
  threads = specialization.tile.countBlocks(product) * count;
  BlockArgument maps = to->getArguments().back();
  maps.setType(LLVM::LLVMPointerType::get(builder.getContext()));
  kernel->setAttr(
      kTensorMapsAttrName,
      builder.getArrayAttr(llvm::map_to_vector(
          specialization.maps, [&](const TensorMap &map) -> Attribute {
            return map.toAttribute(builder.getContext());
          })));
  WarpSpecializedTiles tiles(builder, to, puller, shared, product,
                             specialization,
                             from->getTerminator()->getOperands(), item, maps);
  if (failed(tiles.build(store)))
    return failure();
  kernel->setAttr(kSharedBytesAttrName,
                  builder.getI64IntegerAttr(shared.countBytes()));
  return success();
}

LogicalResult KernelThreader::computePartTiles(const KernelParts &parts) {
  ElementPuller puller = makePuller();
  setBlockThreads(PartTiles::kThreads);
  threads = PartTiles::countBlocks(parts) * PartTiles::kThreads;
  return PartTiles(builder, to, puller, shared, parts,
                   from->getTerminator()->getOperands(), targets, item)
      .build();
}

void KernelThreader::put(OpBuilder &b, Location loc, unsigned result,
                         Value element) {
  auto type = cast<MemRefType>(targets[result].getType());
  SmallVector<Value> indices;
  AffineExpr number = b.getAffineDimExpr(0);
  for (int64_t axis = type.getRank(); axis-- > 0;) {
    int64_t size = type.getDimSize(axis);
    AffineExpr own = axis == 0 ? number : number % size;
    indices.push_back(
        affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, own), item));
    number = number.floorDiv(size);
  }
  std::reverse(indices.begin(), indices.end());
  memref::StoreOp::create(b, loc, element, targets[result], indices);
}

void KernelThreader::store(unsigned result, Value element) {
  Location loc = element.getLoc();
  builder.setInsertionPointToEnd(to);
  int64_t count = cast<MemRefType>(targets[result].getType()).getNumElements();
  Value isOwn = isStoring;
  if (count < items) {
    Value end = arith::ConstantIndexOp::create(builder, loc, count);
    isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, item,
                                  end);
    if (isStoring)
      isOwn = arith::AndIOp::create(builder, loc, isStoring, isOwn);
  }
  if (!isOwn)
    return put(builder, loc, result, element);
  scf::IfOp::create(builder, loc, isOwn, [&](OpBuilder &b, Location loc) {
    put(b, loc, result, element);
    scf::YieldOp::create(b, loc);
  });
}

LogicalResult KernelThreader::build() {
  if (failed(findTies()))
    return failure();
  for (unsigned result = 0; result < kernel.getNumResults(); ++result)
    items = std::max(items, countElements(result));
  std::optional<KernelProduct> product = findProduct(kernel);
  std::optional<KernelParts> parts = findParts(kernel);
  std::optional<ProductTile> tile;
  if (product)
    tile = ProductTile::get(product->op);
  if (kernel->hasAttr(kWarpGroupsOfAttrName) && !tile)
    return refuseWarpGroups();
  // Drops attributes that describe the launch of the kernel which this one
  // replaces, if it is a clone.
  for (StringRef name :
       {kTensorMapsAttrName, kSharedBytesAttrName, kWarpGroupLaunchAttrName})
    kernel->removeAttr(name);
  noteWideIndices();
  makeBlock();
  std::optional<KernelRows> rows = KernelRows::get(kernel);
  auto run = kernel->getAttrOfType<IntegerAttr>(kRunAttrName);
  LogicalResult built = tile    ? computeTiles(*product, *tile)
                        : parts ? computePartTiles(*parts)
                        : rows  ? computeRows(*rows)
                        : run   ? computeRuns(run.getInt())
                                : computeElements();
  if (failed(built))
    return failure();
  builder.setInsertionPointToEnd(to);
  func::ReturnOp::create(builder, kernel.getLoc());
  from->dropAllReferences();
  from->erase();
  shared.declare(symbols);
  kernel.setType(builder.getFunctionType(to->getArgumentTypes(), {}));
  for (StringRef name :
       {StringRef(kTiesAttrName), StringRef(kSumLanesAttrName),
        StringRef(kLanesInsideAttrName), StringRef(kRowAxesAttrName)})
    kernel->removeAttr(name);
  kernel->setAttr(kItemsAttrName, builder.getI64IntegerAttr(threads));
  return success();
}

namespace {
struct KernelsToThreadsPass
    : hfta::impl::HftaKernelsToThreadsBase<KernelsToThreadsPass> {
  using HftaKernelsToThreadsBase::HftaKernelsToThreadsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!isKernelOnTensors(kernel))
        continue;
      if (failed(KernelThreader(kernel, symbols).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
