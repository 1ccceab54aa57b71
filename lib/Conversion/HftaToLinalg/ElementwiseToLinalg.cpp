//===- ElementwiseToLinalg.cpp - Lowering of elementwise ops --------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// Lowers each elementwise op to a generic op. Its body is the scalar
/// computation that the op's interface builds.
struct ElementwiseLowering
    : public OpInterfaceConversionPattern<ElementwiseOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult
  matchAndRewrite(ElementwiseOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(
        getTypeConverter()->convertType(op->getResult(0).getType()));
    LoopNest nest(rewriter, op.getLoc());
    Axes axes = nest.addParallel(type.getShape());
    for (Value operand : operands)
      nest.read(operand, axes);
    nest.write(type.getElementType(), axes);
    rewriter.replaceOp(
        op, nest.build([&](OpBuilder &b, Location loc, ValueRange arguments) {
          ValueRange scalars = arguments.drop_back();
          return SmallVector<Value>{op.buildScalar(b, loc, scalars)};
        }));
    return success();
  }
};
} // namespace

void hfta::populateElementwiseToLinalgPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns) {
  patterns.add<ElementwiseLowering>(converter, patterns.getContext());
}
