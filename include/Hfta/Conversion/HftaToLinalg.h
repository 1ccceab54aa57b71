//===- HftaToLinalg.h - hfta to linalg, tensor, arith, math -----*- C++ -*-===//
//
// Lowers kernels, functions on one copy's plain tensors, to structured ops on
// tensors.
//
// Element types. Inside a kernel tensors are signless: `ui8` and `si8` become
// `i8`, and `hfta.cast` remembers which of them it reads or makes. Booleans
// are `i1` inside and `i8` (0 or 1) where a kernel takes or returns them; what
// it takes counts as true unless it is 0.
//
// Order of summation. Each generated op that reduces states it as
// `hfta.sum_order`, to which `hfta-verify-sum-order` holds whatever becomes of
// the op. It is that of the op's loops and follows from one copy's shapes
// alone. Products are accumulated by `math.fma`; no op carries fast-math flags.
//
// Iteration order. The innermost loop is a parallel axis that is contiguous in
// memory where there is one, summed axes lie outside of it, and the leading
// axes of results (batch, output channels) are outermost, for tiling.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_HFTATOLINALG_H
#define HFTA_CONVERSION_HFTATOLINALG_H

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTHFTATOLINALGPASS
#include "Hfta/Conversion/Passes.h.inc"

/// The type of a value inside a kernel: signed and unsigned integers become
/// signless; there is none for arrayed tensors.
void populateHftaToLinalgTypeConversions(TypeConverter &converter);

/// How matrix products are laid out: contractions, convolutions and gradients.
enum class ProductForm {
  vectors, ///< operands packed, and convolutions cut into pieces that meet less
           ///< padding, so that innermost loops have contiguous vectors
  whole    ///< one op for each on operands as they are: who computes element by
           ///< element packs nothing
};

/// Every op with an ElementwiseOpInterface.
void populateElementwiseToLinalgPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns);
/// Ops that move elements: reshape, transpose, broadcast, slice, pad, concat,
/// iota, constant.
void populateShapeToLinalgPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns);
void populateReduceToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);
/// Gather, scatter_add and segment_sum.
void populateIndexingToLinalgPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns);
void populateContractToLinalgPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      ProductForm form);
/// Convolution and its two gradients.
void populateConvolutionToLinalgPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         ProductForm form);
/// Pooling and its gradients.
void populateMomentToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);
void populatePoolingToLinalgPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns);
void populateRandomToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);

/// All of the above.
void populateHftaToLinalgPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  ProductForm form = ProductForm::vectors);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_HFTATOLINALG_H
