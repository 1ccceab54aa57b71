//===- ContractToLinalg.cpp - Lowering of contractions --------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"
#include "ProductLowering.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the axes of `position`, with `axis` moved to the end if it is one of
/// them.
static Axes moveLast(ArrayRef<Axis> position, Axis axis) {
  Axes moved(position);
  if (llvm::is_contained(moved, axis)) {
    llvm::erase(moved, axis);
    moved.push_back(axis);
  }
  return moved;
}

namespace {

/// The iteration space of a contraction. The outermost loops run over the
/// result's axes except its last one; then come the summed axes, in the op's
/// order, and innermost the result's last axis.
class ContractionSpace {
public:
  ContractionSpace(ContractOp op, Value lhs, Value rhs) {
    for (Attribute attribute : op.getIndexingMaps())
      maps.push_back(cast<AffineMapAttr>(attribute).getValue());
    sizes.assign(maps.front().getNumDims(), 1);
    for (auto [map, operand] : llvm::zip(maps, ValueRange{lhs, rhs}))
      for (auto [axis, size] : llvm::zip(map.getResults(), getShape(operand)))
        sizes[cast<AffineDimExpr>(axis).getPosition()] = size;
  }

  void addTo(LoopNest &nest) {
    axes.resize(sizes.size());
    SmallVector<unsigned> kept;
    for (AffineExpr axis : maps.back().getResults())
      kept.push_back(cast<AffineDimExpr>(axis).getPosition());
    ArrayRef<unsigned> leading = kept;
    for (unsigned axis : kept.empty() ? leading : leading.drop_back())
      axes[axis] = nest.addParallel(sizes[axis]);
    for (unsigned axis = 0; axis < sizes.size(); ++axis)
      if (!llvm::is_contained(kept, axis))
        axes[axis] = nest.addReduction(sizes[axis]);
    if (!kept.empty())
      axes[kept.back()] = nest.addParallel(sizes[kept.back()]);
  }

  /// Returns the axes of an operand or of the result; `tensor` is 0 for lhs, 1
  /// for rhs and 2 for the result.
  Axes getPosition(unsigned tensor) const {
    return llvm::map_to_vector(maps[tensor].getResults(), [&](AffineExpr axis) {
      return axes[cast<AffineDimExpr>(axis).getPosition()];
    });
  }

private:
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> sizes;
  Axes axes;
};

/// Lowers a contraction to one generic op. In the form `vectors` the innermost
/// loop runs over the result's last axis, and an operand in which this axis
/// isn't contiguous is packed first.
struct ContractLowering : public ProductLowering<ContractOp> {
  using ProductLowering::ProductLowering;

  LogicalResult lower(ContractOp op, OpAdaptor adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type elementType = op.getResult().getType().getElementType();
    Type accumulate = op.getAccumulate().value_or(elementType);

    LoopNest nest(rewriter, loc);
    ContractionSpace space(op, adaptor.getLhs(), adaptor.getRhs());
    space.addTo(nest);
    Axes result = space.getPosition(2);
    for (auto [index, operand] : llvm::enumerate(adaptor.getOperands())) {
      Axes position = space.getPosition(index);
      Axes wanted = result.empty() || form == ProductForm::whole
                        ? position
                        : moveLast(position, result.back());
      nest.read(pack(rewriter, loc, operand, position, wanted), wanted);
    }
    nest.accumulate(createZero(rewriter, loc, accumulate), result);
    Value sum = nest.build(multiplyAdd).front();
    rewriter.replaceOp(op, resizeElements(rewriter, loc, sum, elementType));
    return success();
  }
};

} // namespace

void hfta::populateContractToLinalgPatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            ProductForm form) {
  patterns.add<ContractLowering>(converter, patterns.getContext(), form);
}
