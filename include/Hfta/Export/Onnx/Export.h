//===- Export.h - hfta.model to ONNX ----------------------------*- C++ -*-===//
//
// The inference graph of one copy is exported as a template, which the runtime
// fills with that copy's tensors (hfta_export_template in hfta/program.h).
//===----------------------------------------------------------------------===//

#ifndef HFTA_EXPORT_ONNX_EXPORT_H
#define HFTA_EXPORT_ONNX_EXPORT_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

struct OnnxExportTemplate {
  std::string header; ///< serialized ModelProto without its graph
  std::string graph;  ///< serialized GraphProto without the parameters
  /// The variables that the graph reads: its initializers, under these names.
  std::vector<std::string> parameters;
  /// Whether axis 0 of inputs and outputs is the symbol "batch"; if false, the
  /// graph needs the model's batch size and fixes it.
  bool symbolicBatch = false;
};

/// Exports the model's @forward in inference mode (one copy, before fusion): IR
/// 8, operator set 17. Names of inputs, outputs and parameters are kept. Fails,
/// with one diagnostic per op, if some ops can't be written.
FailureOr<OnnxExportTemplate> exportOnnx(ModelOp model);

} // namespace mlir::hfta

#endif // HFTA_EXPORT_ONNX_EXPORT_H
