//===- NodeGradients.h - Node gradients against differences -----*- C++ -*-===//

#ifndef HFTA_UNITTESTS_ONNXNODES_NODEGRADIENTS_H
#define HFTA_UNITTESTS_ONNXNODES_NODEGRADIENTS_H

#include "Reading/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Compares the gradients of `forward` in f64 with central finite differences
/// near `inputs`, of which there is one for each argument. Uses three copies;
/// arguments with odd numbers are shared by all copies. Modifies and consumes
/// `module`, which contains `forward`. Returns a description of the first wrong
/// gradient, or an empty string.
std::string
findWrongGradient(ModuleOp module, func::FuncOp forward,
                  const std::vector<onnx_import::FileTensor> &inputs);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_ONNXNODES_NODEGRADIENTS_H
