//===- HftaToLinalg.h - hfta to linalg, tensor, arith, math -----*- C++ -*-===//
//
// Lowers kernels, functions on one copy's plain tensors, to structured ops on
// tensors.
//
// Element types. Inside a kernel tensors are signless: `ui8` and `si8` become
// `i8`, and `hfta.cast` remembers which of them it reads or makes. Booleans are
// `i1` inside and `i8` (0 or 1) where a kernel takes or returns them; an
// argument counts as true unless it is 0.
//
// Order of summation. Each generated op that reduces states its order as
// `hfta.sum_order`, and `hfta-verify-sum-order` checks against it whatever
// becomes of the op. It is the order of the op's loops and follows from one
// copy's shapes alone. Products are accumulated by `math.fma`; no op carries
// fast-math flags.
//
// Iteration order. The innermost loop is a parallel axis that is contiguous in
// memory if there is one, summed axes lie outside of it, and the leading axes
// of results (batch, output channels) are outermost, for tiling.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_HFTATOLINALG_H
#define HFTA_CONVERSION_HFTATOLINALG_H

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTHFTATOLINALGPASS
#include "Hfta/Conversion/Passes.h.inc"

/// Adds the types of values inside a kernel: signed and unsigned integers
/// become signless; arrayed tensors have no type.
void populateHftaToLinalgTypeConversions(TypeConverter &converter);

/// The form of matrix products: contractions, convolutions and gradients.
enum class ProductForm {
  vectors, ///< operands are packed, and convolutions cut into pieces that meet
           ///< less padding, so that innermost loops have contiguous vectors
  whole    ///< each is one op on operands as they are, as code that computes
           ///< element by element needs no packing
};

/// Adds patterns for every op with an ElementwiseOpInterface.
void populateElementwiseToLinalgPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns);
/// Adds patterns for ops that move elements: reshape, transpose, broadcast,
/// slice, pad, concat, iota, constant.
void populateShapeToLinalgPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns);
void populateReduceToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);
/// Adds patterns for gather, scatter_add, scatter_reduce and segment_sum.
void populateIndexingToLinalgPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns);
void populateContractToLinalgPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      ProductForm form);
/// Adds patterns for convolution and its two gradients.
void populateConvolutionToLinalgPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         ProductForm form);
/// These add patterns for moments, for pooling and its gradients, and for
/// random numbers.
void populateMomentToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);
void populatePoolingToLinalgPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns);
void populateRandomToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);

/// Adds all of the patterns above.
void populateHftaToLinalgPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  ProductForm form = ProductForm::vectors);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_HFTATOLINALG_H
