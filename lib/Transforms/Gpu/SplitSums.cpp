//===- SplitSums.cpp - Splits long sums of products into parts ------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Target/GpuReferenceModel.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/Kernels.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASPLITSUMS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// The sizes of a sum of products, for one copy.
struct Product {
  int64_t batches, rows, columns, terms;
};
} // namespace

/// Returns the number of parts, a power of two that divides `most`. For a few
/// copies, it gives a GPU's processors two tiles of results each. Each part
/// must still have many terms, and there must not be more results to write than
/// operands to read.
static int64_t countParts(const Product &product, int64_t most) {
  using Costs = GpuReferenceModel::Splits;
  auto countTiles = [](int64_t size) {
    return llvm::divideCeil(size, size < Costs::kSide ? Costs::kShortSide
                                                      : Costs::kSide);
  };
  int64_t tiles =
      product.batches * countTiles(product.rows) * countTiles(product.columns);
  int64_t parts = 1;
  while (most % (2 * parts) == 0 &&
         GpuReferenceModel::kCopies * tiles * parts < Costs::kTiles &&
         product.terms >= 2 * parts * Costs::kTermsOfPart &&
         2 * parts * product.rows * product.columns <=
             product.terms * (product.rows + product.columns))
    parts *= 2;
  return parts;
}

static Value addParts(OpBuilder &builder, Location loc, Value parts) {
  return ReduceOp::create(builder, loc, ReduceKind::sum, parts,
                          builder.getDenseI64ArrayAttr({0}), TypeAttr());
}

static void split(ConvWeightGradientOp op) {
  ArrayRef<int64_t> gradient = getShape(op.getGradient());
  ArrayRef<int64_t> weight = op.getWeightShape();
  int64_t positions = llvm::product_of(gradient.drop_front(2));
  auto groups = static_cast<int64_t>(op.getGroups());
  int64_t batch = gradient.front();
  int64_t parts =
      countParts({groups, weight[0] / groups,
                  llvm::product_of(weight.drop_front()), batch * positions},
                 batch);
  if (op.getAccumulate() || op.getBatchParts() || parts == 1)
    return;
  OpBuilder builder(op);
  auto made = cast<ConvWeightGradientOp>(builder.clone(*op));
  made.setBatchParts(static_cast<uint64_t>(parts));
  SmallVector<int64_t> shape(weight);
  shape.insert(shape.begin(), parts);
  made.getResult().setType(
      cast<RankedTensorType>(op.getResult().getType()).clone(shape));
  op.replaceAllUsesWith(addParts(builder, op.getLoc(), made));
  op.erase();
}

namespace {
class ContractSplitter {
public:
  explicit ContractSplitter(ContractOp op) : op(op) {
    for (Attribute attribute : op.getIndexingMaps())
      maps.push_back(cast<AffineMapAttr>(attribute).getValue());
    sizes.assign(maps.front().getNumDims(), 1);
    for (auto [map, operand] : llvm::zip(maps, op.getOperands()))
      for (auto [axis, size] : llvm::zip(map.getResults(), getShape(operand)))
        sizes[cast<AffineDimExpr>(axis).getPosition()] = size;
  }
  void split();

private:
  Product measure();
  Value splitAxis(OpBuilder &builder, Value operand, AffineMap map,
                  int64_t parts);
  AffineMap addPart(AffineMap map, bool isResult);

  ContractOp op;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> sizes;    ///< sizes of the iteration axes
  std::optional<unsigned> first; ///< the first summed axis
};
} // namespace

Product ContractSplitter::measure() {
  Product product = {1, 1, 1, 1};
  for (unsigned axis = 0; axis < sizes.size(); ++axis) {
    bool isInLhs = maps[0].isFunctionOfDim(axis);
    bool isInRhs = maps[1].isFunctionOfDim(axis);
    if (!maps[2].isFunctionOfDim(axis)) {
      product.terms *= sizes[axis];
      if (!first && isInLhs && isInRhs)
        first = axis;
    } else if (isInLhs && isInRhs) {
      product.batches *= sizes[axis];
    } else {
      (isInLhs ? product.rows : product.columns) *= sizes[axis];
    }
  }
  return product;
}

/// Splits the first summed axis of an operand into [part, rest].
Value ContractSplitter::splitAxis(OpBuilder &builder, Value operand,
                                  AffineMap map, int64_t parts) {
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::zip(map.getResults(), getShape(operand))) {
    if (cast<AffineDimExpr>(axis).getPosition() == *first)
      shape.append({parts, size / parts});
    else
      shape.push_back(size);
  }
  return reshapeInKernels(builder, op.getLoc(), operand, shape);
}

/// Adds the part to a map: as the last iteration axis, and as the first axis of
/// the result.
AffineMap ContractSplitter::addPart(AffineMap map, bool isResult) {
  unsigned axes = map.getNumDims();
  AffineExpr part = getAffineDimExpr(axes, map.getContext());
  SmallVector<AffineExpr> results;
  if (isResult)
    results.push_back(part);
  for (AffineExpr axis : map.getResults()) {
    if (cast<AffineDimExpr>(axis).getPosition() == *first)
      results.push_back(part);
    results.push_back(axis);
  }
  return AffineMap::get(axes + 1, 0, results, map.getContext());
}

void ContractSplitter::split() {
  Product product = measure();
  if (op.getAccumulate() || !first)
    return;
  int64_t parts = countParts(product, sizes[*first]);
  if (parts == 1)
    return;
  OpBuilder builder(op);
  Value lhs = splitAxis(builder, op.getLhs(), maps[0], parts);
  Value rhs = splitAxis(builder, op.getRhs(), maps[1], parts);
  Value made = ContractOp::create(
      builder, op.getLoc(), lhs, rhs,
      builder.getAffineMapArrayAttr({addPart(maps[0], /*isResult=*/false),
                                     addPart(maps[1], /*isResult=*/false),
                                     addPart(maps[2], /*isResult=*/true)}),
      TypeAttr());
  made.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.replaceAllUsesWith(addParts(builder, op.getLoc(), made));
  op.erase();
}

namespace {
struct SplitSumsPass : hfta::impl::HftaSplitSumsBase<SplitSumsPass> {
  using HftaSplitSumsBase::HftaSplitSumsBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<ConvWeightGradientOp, ContractOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto gradient = dyn_cast<ConvWeightGradientOp>(op))
        split(gradient);
      else
        ContractSplitter(cast<ContractOp>(op)).split();
    }
  }
};
} // namespace
