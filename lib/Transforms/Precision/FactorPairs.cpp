//===- FactorPairs.cpp - Products whose operands become pairs -------------===//

#include "Precision/FactorPairs.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Target/ReferenceModel.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

/// Chooses an axis over which a contraction adds. One of an even size needs no
/// padding; the longest one has the fewest remainders.
static std::optional<PairAxes> chooseOfContraction(ContractOp op) {
  SmallVector<AffineMap> maps =
      llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  ArrayRef<int64_t> sizes = getTensorType(op.getLhs()).getShape();
  std::optional<PairAxes> best;
  auto isBetter = [&](int64_t axis) {
    int64_t known = best ? sizes[best->first] : 1, size = sizes[axis];
    return size > 1 && (size % 2 != known % 2 ? size % 2 == 0 : size > known);
  };
  for (auto [axis, dimension] : llvm::enumerate(maps[0].getResults()))
    if (!llvm::is_contained(maps[2].getResults(), dimension) && isBetter(axis))
      best = {static_cast<int64_t>(axis),
              static_cast<int64_t>(*maps[1].getResultPosition(dimension))};
  return best;
}

/// Whether each element of both operands is in enough products.
static bool isWorthPacking(Operation *product) {
  int64_t products = cast<CostOpInterface>(product).getFlops() / 2;
  return llvm::all_of(product->getOperands(), [&](Value operand) {
    return products >= ReferenceModel::Pairs::kFewestProducts *
                           getTensorType(operand).getNumElements();
  });
}

std::optional<PairAxes> hfta::choosePairAxes(Operation *product) {
  if (!isWorthPacking(product))
    return std::nullopt;
  constexpr PairAxes batches = {0, 0}, inputs = {1, 1}, outputs = {1, 0};
  auto ifLong = [&](PairAxes axes) -> std::optional<PairAxes> {
    RankedTensorType type = getTensorType(product->getOperand(0));
    if (type.getDimSize(axes.first) < 2)
      return std::nullopt;
    return axes;
  };
  return llvm::TypeSwitch<Operation *, std::optional<PairAxes>>(product)
      .Case([](ContractOp op) { return chooseOfContraction(op); })
      .Case([&](ConvOp op) {
        return op.getGroups() == 1 ? ifLong(inputs) : std::nullopt;
      })
      .Case([&](ConvInputGradientOp op) {
        return op.getGroups() == 1 ? ifLong(outputs) : std::nullopt;
      })
      .Case([&](ConvWeightGradientOp) { return ifLong(batches); })
      .Default([](Operation *) { return std::nullopt; });
}
