//===- ProductLowering.h - Base of the lowerings of products ----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_PRODUCTLOWERING_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_PRODUCTLOWERING_H

#include "Hfta/Conversion/HftaToLinalg.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// The base of patterns that lower a contraction, a convolution or a gradient
/// of a convolution, in the form `form`.
template <typename Op>
class ProductLowering : public OpConversionPattern<Op> {
public:
  using OpAdaptor = typename OpConversionPattern<Op>::OpAdaptor;

  ProductLowering(const TypeConverter &converter, MLIRContext *context,
                  ProductForm form)
      : OpConversionPattern<Op>(converter, context), form(form) {}

  /// Lowers the op. If the op is marked with the way in which products are
  /// multiplied (`kMultiplyAttrName`), marks the sums that were created for it
  /// as well.
  LogicalResult
  matchAndRewrite(Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const final {
    Attribute multiply = op->getAttr(HftaDialect::kMultiplyAttrName);
    Block *block = op->getBlock();
    Operation *before = op->getPrevNode(), *behind = op->getNextNode();
    if (failed(lower(op, adaptor, rewriter)))
      return failure();
    Operation *made = before ? before->getNextNode() : &block->front();
    for (; multiply && made != behind; made = made->getNextNode())
      if (auto sum = dyn_cast<linalg::GenericOp>(made);
          sum && sum.getNumReductionLoops() > 0)
        sum->setAttr(HftaDialect::kMultiplyAttrName, multiply);
    return success();
  }

protected:
  virtual LogicalResult lower(Op op, OpAdaptor adaptor,
                              ConversionPatternRewriter &rewriter) const = 0;

  ProductForm form;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_PRODUCTLOWERING_H
