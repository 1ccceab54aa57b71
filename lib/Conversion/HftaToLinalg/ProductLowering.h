//===- ProductLowering.h - Products in one of their forms -------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_PRODUCTLOWERING_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_PRODUCTLOWERING_H

#include "Hfta/Conversion/HftaToLinalg.h"

namespace mlir::hfta {

/// Lowers a contraction, a convolution or one of its gradients.
template <typename Op>
class ProductLowering : public OpConversionPattern<Op> {
public:
  ProductLowering(const TypeConverter &converter, MLIRContext *context,
                  ProductForm form)
      : OpConversionPattern<Op>(converter, context), form(form) {}

protected:
  ProductForm form;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_PRODUCTLOWERING_H
