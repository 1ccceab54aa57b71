//===- SampleMixing.h - Attributes about mixed samples ----------*- C++ -*-===//
//
// In most models the samples of a batch are independent: the results for one
// sample don't depend on another one. A model that mixes samples can only be
// used with whole batches.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_SAMPLEMIXING_H
#define HFTA_DIALECT_HFTA_IR_SAMPLEMIXING_H

#include "llvm/ADT/StringRef.h"

namespace mlir::hfta {

/// Unit attribute of a constant of an imported model: its elements depend on
/// the batch size. hfta-find-mixed-samples removes it.
inline constexpr llvm::StringLiteral kOfBatchSizeAttrName =
    "hfta.of_batch_size";

/// A second forward function of an imported model, for a micro-batch of two
/// samples. Models whose job has a micro-batch of one sample have it, because
/// mixing can't be seen in a batch of one. hfta-find-mixed-samples removes it.
inline constexpr llvm::StringLiteral kForwardOfTwoName = "forward_of_two";

/// Attributes of the module: the names of the first nodes that mix the samples
/// of a batch on the way to the losses, and on the way to the outputs. An
/// attribute is absent if samples are independent there.
inline constexpr llvm::StringLiteral kLossMixedByAttrName =
    "hfta.loss_mixed_by";
inline constexpr llvm::StringLiteral kOutputMixedByAttrName =
    "hfta.output_mixed_by";

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_SAMPLEMIXING_H
