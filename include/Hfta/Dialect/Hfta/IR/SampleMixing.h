//===- SampleMixing.h - Attributes about mixed samples ----------*- C++ -*-===//
//
// The samples of a batch are independent in an ordinary model: what it computes
// for one depends on no other. A model that mixes them can be used with whole
// batches alone.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_SAMPLEMIXING_H
#define HFTA_DIALECT_HFTA_IR_SAMPLEMIXING_H

#include "llvm/ADT/StringRef.h"

namespace mlir::hfta {

/// Marks a constant of an imported model whose elements would be others for
/// another batch size. hfta-find-mixed-samples removes it.
inline constexpr llvm::StringLiteral kOfBatchSizeAttrName =
    "hfta.of_batch_size";

/// The forward function of an imported model for a micro-batch of two samples,
/// where those of the job hold one, in which nothing can be mixed.
/// hfta-find-mixed-samples removes it.
inline constexpr llvm::StringLiteral kForwardOfTwoName = "forward_of_two";

/// Attributes of the module: the name of the node that mixes the samples of a
/// batch on the way to the losses, and to the outputs. They are absent where
/// samples are independent.
inline constexpr llvm::StringLiteral kLossMixedByAttrName =
    "hfta.loss_mixed_by";
inline constexpr llvm::StringLiteral kOutputMixedByAttrName =
    "hfta.output_mixed_by";

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_SAMPLEMIXING_H
