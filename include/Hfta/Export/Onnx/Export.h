//===- Export.h - hfta.model to ONNX ----------------------------*- C++ -*-===//
//
// Exports the inference graph of one copy as a template, which the runtime
// completes with that copy's weights (hfta_export_template in hfta/program.h).
//===----------------------------------------------------------------------===//

#ifndef HFTA_EXPORT_ONNX_EXPORT_H
#define HFTA_EXPORT_ONNX_EXPORT_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// An ONNX model without its weights.
struct OnnxExportTemplate {
  std::string header; ///< a serialized ModelProto without the graph
  std::string graph;  ///< a serialized GraphProto without the initializers
  /// Names of the variables that the graph reads. They become initializers of
  /// the same names.
  std::vector<std::string> parameters;
  /// Whether axis 0 of inputs and outputs is the symbol "batch". If false, the
  /// graph is only valid for the model's own batch size.
  bool symbolicBatch = false;
};

/// Exports @forward of an unfused model, in inference mode, as IR version 8 and
/// operator set 17. Names of inputs, outputs and parameters are kept. Fails if
/// some ops can't be exported, with one diagnostic for each.
FailureOr<OnnxExportTemplate> exportOnnx(ModelOp model);

} // namespace mlir::hfta

#endif // HFTA_EXPORT_ONNX_EXPORT_H
