//===- OnnxNames.h - Names of Hfta's own in ONNX files ----------*- C++ -*-===//
//
// ONNX describes inference. Additional facts that a training needs are stored
// in ONNX files under these names, which the importer reads and the exporter
// writes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_ONNXNAMES_H
#define HFTA_DIALECT_HFTA_IR_ONNXNAMES_H

#include "mlir/Support/LLVM.h"

namespace mlir::hfta {

/// Key of the metadata entry that lists running means and variances that a
/// training must not change, one name per line like `kOnnxParametersKey`
/// (Training.h). Batch normalizations use these statistics even in training.
inline constexpr StringLiteral kOnnxFrozenStatisticsKey =
    "hfta.frozen_statistics";

/// Domain of operators that ONNX lacks. A file that uses such an operator also
/// defines it, as a model-local function, so that every runtime can run the
/// file.
inline constexpr StringLiteral kOnnxDomain = "hfta";
inline constexpr int64_t kOnnxDomainVersion = 1;

/// Operator of the domain `kOnnxDomain` that returns its input and has gradient
/// zero.
inline constexpr StringLiteral kOnnxStopGradient = "StopGradient";

/// Attribute of an imported model, later moved to the module: a list of notes
/// about tensors that are perhaps trained, or frozen, unintentionally. The
/// driver appends them to the line that says what is trained.
inline constexpr StringLiteral kTrainingNotesAttrName = "hfta.training_notes";

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_ONNXNAMES_H
