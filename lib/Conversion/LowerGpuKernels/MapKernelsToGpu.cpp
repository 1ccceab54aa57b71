//===- MapKernelsToGpu.cpp - What threads and blocks compute --------------===//
//
// The choices follow from one copy's shapes. Which threads add up a sum decides
// on its bits; which compute a product doesn't.
//===----------------------------------------------------------------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "ProductTiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAMAPKERNELSTOGPU
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// A GPU as the choices see it, and for how many copies they are made: an A100
/// or H100 runs about so many threads at once.
static constexpr double kThreadsAtOnce = 128 * 1024;
static constexpr double kCopies = 4;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

std::optional<ProductTile> ProductTile::get(linalg::GenericOp op) {
  auto stored = op->getAttrOfType<DenseI64ArrayAttr>(kAttrName);
  if (!stored || stored.size() != 6)
    return std::nullopt;
  return ProductTile{stored[0], stored[1], stored[2],
                     stored[3], stored[4], stored[5]};
}

void ProductTile::set(linalg::GenericOp op) const {
  op->setAttr(kAttrName, DenseI64ArrayAttr::get(
                             op.getContext(), {rows, columns, terms, threadRows,
                                               threadColumns, groups}));
}

int64_t ProductTile::countBlocks(const KernelProduct &product) const {
  return product.batchCount * llvm::divideCeil(product.rows.size, rows) *
         llvm::divideCeil(product.columns.size, columns);
}

namespace {
/// A tile, and how many of its products are done while others wait for nothing
/// but arithmetic: the fewer a thread has for each element that it reads, the
/// fewer.
struct TileChoice {
  ProductTile tile;
  double efficiency;
};
} // namespace

static constexpr TileChoice kTiles[] = {
    {{128, 128, 8, 8, 8}, 1.0}, {{64, 64, 16, 4, 4}, 0.7},
    {{128, 32, 16, 8, 2}, 0.6}, {{32, 128, 16, 2, 8}, 0.6},
    {{32, 32, 32, 2, 2}, 0.45}, {{64, 16, 32, 4, 1}, 0.35},
    {{16, 64, 32, 1, 4}, 0.35}, {{16, 16, 32, 1, 1}, 0.25}};

/// Where tiles are tested: several of them for what is small, and little code.
static constexpr TileChoice kTestTiles[] = {{{8, 8, 4, 2, 2}, 1.0}};

/// Products below which threads of their own are as good.
static constexpr int64_t kFewProducts = 1 << 14;

/// Of a GPU's threads that hide what they wait for, how many compute: half of
/// them are enough.
static double getBusyPart(const ProductTile &tile,
                          const KernelProduct &product) {
  double threads = kCopies * static_cast<double>(tile.countBlocks(product)) *
                   static_cast<double>(tile.countThreads());
  return std::min(1.0, threads / (kThreadsAtOnce / 2));
}

/// Sums of parts are added in the end, so that how many there are decides on
/// bits. Groups have less terms at a time, so that all fit into shared memory.
static void chooseGroups(ProductTile &tile, const KernelProduct &product,
                         bool always) {
  constexpr int64_t kMostGroups = 4, kTermsOfGroup = 64;
  int64_t least = always ? 2 : kTermsOfGroup;
  while (tile.groups < kMostGroups && tile.terms > 1 &&
         product.termCount >= 2 * tile.groups * least &&
         (always || getBusyPart(tile, product) < 1)) {
    tile.groups *= 2;
    tile.terms /= 2;
  }
}

std::optional<ProductTile> ProductTile::choose(const KernelProduct &product,
                                               bool always) {
  linalg::GenericOp op = product.op;
  int64_t rows = product.rows.size, columns = product.columns.size;
  bool isSmall =
      std::min({rows, columns, product.termCount}) < 4 ||
      rows * columns * product.termCount * product.batchCount < kFewProducts;
  if (isSmall && !always)
    return std::nullopt;
  bool isWide =
      getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth() >
      32;
  std::optional<ProductTile> best;
  double least = 0;
  for (TileChoice choice :
       always ? ArrayRef<TileChoice>(kTestTiles) : ArrayRef(kTiles)) {
    ProductTile &tile = choice.tile;
    // Sums of a thread stay in registers.
    if (isWide && tile.threadRows * tile.threadColumns > 16)
      continue;
    tile.terms = std::min<int64_t>(tile.terms,
                                   llvm::bit_ceil<uint64_t>(product.termCount));
    chooseGroups(tile, product, always);
    double computed = static_cast<double>(tile.countBlocks(product)) *
                      static_cast<double>(tile.rows * tile.columns);
    double cost = computed / (choice.efficiency * getBusyPart(tile, product));
    if (best && cost >= least)
      continue;
    least = cost;
    best = tile;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Terms that a thread adds at least.
static constexpr int64_t kTermsOfThread = 8;

static int64_t countTerms(linalg::GenericOp op) {
  int64_t terms = 1;
  for (auto [size, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      terms *= size;
  return terms;
}

/// Whether threads get to a sum together: its elements are asked for one by
/// one, without conditions.
static bool isAskedByAll(linalg::GenericOp op) {
  llvm::SmallDenseSet<Operation *> readers = {op};
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    bool reads = llvm::any_of(next->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() &&
             readers.contains(operand.getDefiningOp());
    });
    if (!reads)
      continue;
    if (!isa<linalg::GenericOp, linalg::TransposeOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, func::ReturnOp>(next))
      return false;
    readers.insert(next);
  }
  return true;
}

/// The longest sum of a kernel; null where no threads can share one.
static linalg::GenericOp findLongestSum(func::FuncOp kernel) {
  linalg::GenericOp longest;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<LoopLikeOpInterface>(op))
      return linalg::GenericOp();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0)
      continue;
    if (!isAskedByAll(generic))
      return linalg::GenericOp();
    bool isShared = generic->getNumResults() == 1 && findCombiner(generic, 0);
    if (isShared && (!longest || countTerms(generic) > countTerms(longest)))
      longest = generic;
  }
  return longest;
}

static void shareSums(func::FuncOp kernel, bool always) {
  linalg::GenericOp sum = findLongestSum(kernel);
  int64_t ofThread = always ? 1 : kTermsOfThread;
  if (!sum || countTerms(sum) < 4 * ofThread)
    return;
  int64_t items = 1;
  for (Value result : kernel.getBody().front().getTerminator()->getOperands())
    items = std::max(items,
                     cast<RankedTensorType>(result.getType()).getNumElements());
  bool areTermsInside = hasTermsInside(sum);
  int64_t wanted = static_cast<int64_t>(kThreadsAtOnce / kCopies) / items;
  // A warp reads neighbours.
  if (areTermsInside)
    wanted = std::max<int64_t>(wanted, 32);
  int64_t lanes = std::min({wanted, countTerms(sum) / ofThread, kSumThreads});
  lanes = lanes < 2 ? 1 : llvm::bit_floor<uint64_t>(lanes);
  if (lanes < 4)
    return;
  Builder builder(kernel.getContext());
  kernel->setAttr(kSumLanesAttrName, builder.getI64IntegerAttr(lanes));
  if (areTermsInside)
    kernel->setAttr(kLanesInsideAttrName, builder.getUnitAttr());
}

namespace {
struct MapKernelsToGpuPass
    : hfta::impl::HftaMapKernelsToGpuBase<MapKernelsToGpuPass> {
  using HftaMapKernelsToGpuBase::HftaMapKernelsToGpuBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kKernelAttrName) || kernel.isDeclaration() ||
        kernel->hasAttr(kItemsAttrName))
      return;
    if (std::optional<KernelProduct> product = findProduct(kernel))
      if (std::optional<ProductTile> tile =
              ProductTile::choose(*product, always))
        return tile->set(product->op);
    shareSums(kernel, always);
  }
};
} // namespace
