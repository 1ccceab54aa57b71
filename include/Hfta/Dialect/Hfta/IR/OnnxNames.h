//===- OnnxNames.h - Names of Hfta's own in ONNX files ----------*- C++ -*-===//
//
// ONNX describes inference. What a training needs beyond that stands in a file
// under these names, which the importer reads and export writes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_ONNXNAMES_H
#define HFTA_DIALECT_HFTA_IR_ONNXNAMES_H

#include "mlir/Support/LLVM.h"

namespace mlir::hfta {

/// Key of a metadata entry that lists running means and variances that a
/// training leaves as they are, in the form of `kOnnxParametersKey`
/// (Training.h). Batch normalizations normalize with them in training, too.
inline constexpr StringLiteral kOnnxFrozenStatisticsKey =
    "hfta.frozen_statistics";

/// Domain of operators that ONNX lacks. A file that uses one defines it as a
/// function of the file, so that every runtime can run it.
inline constexpr StringLiteral kOnnxDomain = "hfta";
inline constexpr int64_t kOnnxDomainVersion = 1;

/// The operator of that domain whose value is its input's, but through which no
/// gradient flows back.
inline constexpr StringLiteral kOnnxStopGradient = "StopGradient";

/// Attribute of an imported model, and from there of its module: a list of
/// texts for the line that says what is trained, about tensors that may be
/// trained, or not, against the intention.
inline constexpr StringLiteral kTrainingNotesAttrName = "hfta.training_notes";

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_ONNXNAMES_H
