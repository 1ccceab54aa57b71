//===- HftaToLinalg.h - hfta to linalg, tensor, arith, math -----*- C++ -*-===//
//
// Lowers kernels, which are functions on one copy's plain tensors, to
// structured ops on tensors.
//
// Element types. Inside a kernel all integers are signless: `ui8` and `si8`
// become `i8`, and the lowering of `hfta.cast` chooses signed or unsigned
// conversions by the original type. Booleans are `i1` inside a kernel, and `i8`
// as its arguments and results. A boolean result is 0 or 1; a boolean argument
// is true if it isn't 0.
//
// Order of summation. Each generated op with reduction loops states the order
// of its terms in the attribute `hfta.sum_order`. It is the order of the op's
// loops, and depends only on one copy's shapes. `hfta-verify-sum-order` checks
// that later passes keep this order. Products are accumulated by `math.fma`; no
// op has fast-math flags.
//
// Iteration order. The innermost loop is a parallel axis that is contiguous in
// memory, if there is one; reduction loops are outside of it; and the leading
// axes of the result (batch, output channels) are outermost, so that they can
// be divided into tiles.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_HFTATOLINALG_H
#define HFTA_CONVERSION_HFTATOLINALG_H

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTHFTATOLINALGPASS
#include "Hfta/Conversion/Passes.h.inc"

/// Adds conversions for the types of values inside a kernel: signed and
/// unsigned integers become signless. Arrayed tensors can't be converted, so
/// that a pattern fails on them.
void populateHftaToLinalgTypeConversions(TypeConverter &converter);

/// The form in which products (contractions, convolutions and the gradients of
/// convolutions) are lowered.
enum class ProductForm {
  vectors, ///< for vectorized loops: operands are packed so that the innermost
           ///< loop reads contiguous elements, and convolutions are divided
           ///< into pieces with less padding
  whole    ///< for code that computes single elements, such as a GPU thread's:
           ///< each product is one op on its unpacked operands
};

/// Adds patterns for every op with an ElementwiseOpInterface.
void populateElementwiseToLinalgPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns);
/// Adds patterns for ops that move elements: reshape, transpose, broadcast,
/// slice, pad, concat, iota, constant.
void populateShapeToLinalgPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns);
/// Adds patterns for reduce and part_sums.
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
/// Adds patterns for second_moment, patch_moment and unpack_symmetric.
void populateMomentToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);
/// Adds patterns for pooling and its gradients.
void populatePoolingToLinalgPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns);
/// Adds patterns for pairs of bf16.
void populatePairsToLinalgPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns);
/// Adds patterns for random numbers.
void populateRandomToLinalgPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns);

/// Adds all of the patterns above.
void populateHftaToLinalgPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  ProductForm form = ProductForm::vectors);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_HFTATOLINALG_H
