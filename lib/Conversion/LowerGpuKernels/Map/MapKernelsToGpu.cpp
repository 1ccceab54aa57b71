//===- MapKernelsToGpu.cpp - How threads and blocks share the work --------===//
//
// In how many parts an op's terms are added up affects the bits of its sums. It
// is chosen from the op alone, as it is for one copy, and not from the kernel
// around it. Which threads add up the parts depends on the kernel and affects
// no bits.
//===----------------------------------------------------------------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Target/GpuReferenceModel.h"
#include "Pull/KernelRows.h"
#include "Pull/KernelRuns.h"
#include "Tiles/ProductTiles.h"
#include "Tiles/TensorTiles.h"

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

using Model = GpuReferenceModel;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// A tile that can be chosen. `alone`, `together` and `groups` are those of
/// `Model::Tile`.
struct TileChoice {
  explicit TileChoice(const Model::Tile &of)
      : tile{of.rows, of.columns, of.terms, of.threadRows, of.threadColumns},
        alone(of.alone), together(of.together), groups(of.groups) {}

  ProductTile tile;
  double alone, together;
  int64_t groups;
};
} // namespace

/// The tiles for tests, which are so small that small products have several of
/// them and their code is short.
static constexpr Model::Tile kTestTiles[] = {{8, 8, 4, 2, 2, 1, 1, 4}};
static constexpr Model::Tile kTestPartTiles[] = {{32, 8, 4, 2, 2, 1, 1, 4},
                                                 {8, 32, 4, 2, 2, 1, 1, 4}};
static constexpr Model::Tile kTensorTestTiles[] = {{16, 16, 32, 2, 2, 1, 1, 4}};
static constexpr Model::Tile kTensorTestPartTiles[] = {
    {32, 16, 32, 2, 2, 1, 1, 4}, {16, 32, 32, 2, 2, 1, 1, 4}};

/// Estimates the time of a product. The unit is the time in which a
/// multiprocessor does one multiply-add.
static double estimateTime(const TileChoice &choice,
                           const KernelProduct &product) {
  const ProductTile &tile = choice.tile;
  int64_t blocks = llvm::divideCeil(Model::kCopies * tile.countBlocks(product),
                                    Model::kProcessors);
  double ofBlock = static_cast<double>(tile.rows * tile.columns) *
                   static_cast<double>(product.termCount);
  double alone = choice.alone * static_cast<double>(tile.groups);
  return ofBlock * std::max(static_cast<double>(blocks) / choice.together,
                            1 / std::min(alone, choice.together));
}

/// Chooses the number of groups of threads. The groups' sums are added at the
/// end, so this number affects bits. With more groups each has fewer terms at a
/// time, so that the terms of all groups fit into shared memory.
static void chooseGroups(TileChoice &choice, const KernelProduct &product,
                         int64_t leastTerms, bool always) {
  int64_t least = always ? 2 : Model::Products::kTermsOfGroup;
  while (choice.tile.groups < choice.groups && choice.tile.terms > leastTerms &&
         product.termCount >= 2 * choice.tile.groups * least) {
    TileChoice more = choice;
    more.tile.groups *= 2;
    more.tile.terms /= 2;
    if (!always && estimateTime(more, product) >= estimateTime(choice, product))
      return;
    choice = more;
  }
}

static ArrayRef<Model::Tile> getChoices(bool onTensorCores, bool always) {
  using Products = Model::Products;
  if (onTensorCores)
    return always ? ArrayRef(kTensorTestTiles)
                  : ArrayRef<Model::Tile>(Products::kTensorTiles);
  return always ? ArrayRef(kTestTiles)
                : ArrayRef<Model::Tile>(Products::kTiles);
}

static ArrayRef<Model::Tile> getPartChoices(bool onTensorCores, bool always) {
  if (!always)
    return getChoices(onTensorCores, always);
  return onTensorCores ? ArrayRef(kTensorTestPartTiles)
                       : ArrayRef(kTestPartTiles);
}

static bool hasWholeParts(const ProductTile &tile,
                          const KernelProduct &product) {
  return !product.parts || (product.hasPartsOfRows ? tile.rows : tile.columns) %
                                   product.parts->length ==
                               0;
}

/// Returns the fastest tile that consists of whole parts and adds up terms in
/// the same order as `tile`, so that the product's bits are the same. Returns
/// `tile` itself if it consists of whole parts, and nothing if there is no such
/// tile.
static std::optional<ProductTile> findForParts(const ProductTile &tile,
                                               const KernelProduct &product,
                                               bool onTensorCores, bool isWide,
                                               bool always) {
  if (hasWholeParts(tile, product))
    return tile;
  std::optional<ProductTile> best;
  double least = 0;
  for (const Model::Tile &possible : getPartChoices(onTensorCores, always)) {
    TileChoice choice(possible);
    ProductTile &own = choice.tile;
    own.terms = tile.terms;
    own.groups = tile.groups;
    bool isTooWide = isWide && own.threadRows * own.threadColumns >
                                   Model::Products::kMostWideSums;
    if (isTooWide || tile.groups > choice.groups ||
        !hasWholeParts(own, product))
      continue;
    double time = estimateTime(choice, product);
    if (!best || time < least) {
      least = time;
      best = own;
    }
  }
  return best;
}

std::optional<ProductTile> ProductTile::choose(const KernelProduct &product,
                                               bool always) {
  using Costs = Model::Products;
  linalg::GenericOp op = product.op;
  int64_t rows = product.rows.size, columns = product.columns.size;
  bool isSmall =
      std::min({rows, columns, product.termCount}) < Costs::kLeastSize ||
      rows * columns * product.termCount * product.batchCount <
          Costs::kFewProducts;
  if (isSmall && !always)
    return std::nullopt;
  bool isWide =
      getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth() >
      32;
  std::optional<TensorFactors> factors = TensorFactors::get(op);
  int64_t leastTerms = factors ? factors->ofStep() : 1;
  std::optional<ProductTile> best;
  double least = 0;
  for (const Model::Tile &possible : getChoices(factors.has_value(), always)) {
    TileChoice choice(possible);
    ProductTile &tile = choice.tile;
    // A thread keeps its sums, and its operands of one term, in registers; a
    // value of f64 takes two registers.
    if (isWide && tile.threadRows * tile.threadColumns > Costs::kMostWideSums)
      continue;
    if (isWide)
      tile.terms = std::min(tile.terms, Costs::kMostWideTerms);
    if (factors)
      tile.terms *= factors->ofWord();
    int64_t terms = llvm::bit_ceil<uint64_t>(product.termCount);
    tile.terms = std::min(tile.terms, std::max(terms, leastTerms));
    chooseGroups(choice, product, leastTerms, always);
    double time = estimateTime(choice, product);
    if (best && time >= least)
      continue;
    least = time;
    best = tile;
  }
  return best
             ? findForParts(*best, product, factors.has_value(), isWide, always)
             : best;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns whether all threads of a block reach a sum together: its elements
/// are used one by one, without conditions.
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

/// Returns whether the terms of an op are contiguous in the first operand: the
/// innermost reduction loop moves along its last axis.
static bool hasTermsLast(linalg::GenericOp op) {
  AffineMap map = op.getIndexingMapsArray().front();
  std::optional<unsigned> term;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      term = loop;
  return term && map.getNumResults() > 0 &&
         map.getResults().back().isFunctionOfDim(*term);
}

/// Returns how many elements of a sum's type a thread can read at once; 1 if
/// they are computed one by one. It is the sum's type rather than the terms'
/// type, because that one depends on the kernel around the op.
static int64_t countAtOnce(linalg::GenericOp op) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits < 32 || !computesRuns(op) ? 1 : kAccessBytes * 8 / bits;
}

/// Returns how many neighbouring sums a thread can add up at a time, reading
/// one term of each of them at once.
static int64_t countNeighbours(linalg::GenericOp op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() == 0 || hasTermsLast(op))
    return 1;
  int64_t count = countAtOnce(op);
  return type.getShape().back() % count == 0 ? count : 1;
}

/// Returns the number of lanes, threads that share one of an op's sums; 1: each
/// thread has its own sum.
static int64_t chooseLanes(linalg::GenericOp op, bool always) {
  using Costs = Model::Sums;
  int64_t ofLane = always ? 1 : Costs::kTermsOfLane, terms = countTerms(op);
  if (op->getNumResults() != 1 || !findCombiner(op, 0) ||
      terms < Costs::kFewestLanes * ofLane)
    return 1;
  int64_t sums = std::max<int64_t>(
      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements(), 1);
  int64_t neighbours = countNeighbours(op);
  int64_t wanted = Model::kThreadsAtOnce * neighbours / Model::kCopies / sums;
  // Gives a sum to a whole warp, which reads contiguous terms.
  if (hasTermsLast(op))
    wanted = std::max(wanted, Costs::kContiguousLanes);
  // Limits the threads of a sum such that a block reads at least 32 bytes of
  // each row, the unit of memory transfers.
  int64_t most = neighbours > 1 ? kSumThreads / 2 : kSumThreads;
  int64_t lanes = std::min({wanted, terms / ofLane, most});
  return lanes < Costs::kFewestLanes ? 1 : llvm::bit_floor<uint64_t>(lanes);
}

/// Returns how many neighbouring terms a lane takes at a time: as many as it
/// can read at once, if that divides the innermost reduction loop.
static int64_t chooseUnit(linalg::GenericOp op, int64_t lanes) {
  SmallVector<unsigned> terms;
  op.getReductionDims(terms);
  if (!hasTermsLast(op))
    return 1;
  int64_t unit = countAtOnce(op);
  bool isWhole = op.getStaticLoopRanges()[terms.back()] % unit == 0;
  return isWhole && lanes * unit <= countTerms(op) ? unit : 1;
}

/// Marks each sum of a kernel with the parts in which its terms are added up: a
/// product's tile, or lanes.
static void markSums(func::FuncOp kernel, bool always) {
  Builder builder(kernel.getContext());
  std::optional<KernelProduct> ofParts;
  if (hasPartSums(kernel))
    ofParts = findProduct(kernel);
  for (auto op : kernel.getBody().front().getOps<linalg::GenericOp>()) {
    if (op.getNumReductionLoops() == 0 ||
        op->hasAttr(HftaDialect::kPartSumAttrName))
      continue;
    if (std::optional<KernelProduct> product = getProduct(op)) {
      if (ofParts && ofParts->op == op)
        product = ofParts;
      if (std::optional<ProductTile> tile =
              ProductTile::choose(*product, always))
        tile->set(op);
      continue;
    }
    int64_t lanes = chooseLanes(op, always);
    if (lanes == 1)
      continue;
    op->setAttr(kSumLanesAttrName, builder.getI64IntegerAttr(lanes));
    if (int64_t unit = chooseUnit(op, lanes); unit > 1)
      op->setAttr(kSumUnitAttrName, builder.getI64IntegerAttr(unit));
  }
}

/// Lets the threads of a block share the kernel's sums, if all threads reach
/// the sums.
static void shareSums(func::FuncOp kernel) {
  linalg::GenericOp widest;
  int64_t most = 1;
  Block &body = kernel.getBody().front();
  for (auto op : body.getOps<linalg::GenericOp>()) {
    auto lanes = op->getAttrOfType<IntegerAttr>(kSumLanesAttrName);
    if (!lanes)
      continue;
    if (!isAskedByAll(op))
      return;
    if (lanes.getInt() > most) {
      most = lanes.getInt();
      widest = op;
    }
  }
  bool hasLoops = llvm::any_of(body, llvm::IsaPred<LoopLikeOpInterface>);
  if (!widest || hasLoops)
    return;
  Builder builder(kernel.getContext());
  kernel->setAttr(kSumLanesAttrName, builder.getI64IntegerAttr(most));
  if (hasTermsInside(widest))
    kernel->setAttr(kLanesInsideAttrName, builder.getUnitAttr());
}

namespace {
struct MapKernelsToGpuPass
    : hfta::impl::HftaMapKernelsToGpuBase<MapKernelsToGpuPass> {
  using HftaMapKernelsToGpuBase::HftaMapKernelsToGpuBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernelOnTensors(kernel))
      return;
    joinAllAxes(kernel);
    markSums(kernel, always);
    if (hasPartSums(kernel))
      return;
    shareSums(kernel);
    if (std::optional<KernelRows> rows = findRows(kernel))
      return rows->mark(kernel);
    if (int64_t run = chooseRunLength(kernel, always); run > 1)
      kernel->setAttr(kRunAttrName,
                      Builder(&getContext()).getI64IntegerAttr(run));
  }
};
} // namespace
