//===- Export.h - hfta.model to ONNX ----------------------------*- C++ -*-===//
//
// The inference graph of one copy as a template that the runtime fills with
// that copy's tensors (hfta_export_template in hfta/program.h).
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
  /// Variables that the graph reads: its initializers, under these names.
  std::vector<std::string> parameters;
  /// Axis 0 of inputs and outputs is the symbol "batch"; false: the graph
  /// needs the model's batch size and fixes it.
  bool symbolicBatch = false;
};

/// The model's @forward in inference mode (one copy, before fusion): IR 8,
/// operator set 17. Names of inputs, outputs and parameters are kept. Fails,
/// with one diagnostic an op, where an op can't be written.
FailureOr<OnnxExportTemplate> exportOnnx(ModelOp model);

} // namespace mlir::hfta

#endif // HFTA_EXPORT_ONNX_EXPORT_H
