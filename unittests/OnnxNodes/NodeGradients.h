//===- NodeGradients.h - A node's derivative by its inputs ------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_ONNXNODES_NODEGRADIENTS_H
#define HFTA_UNITTESTS_ONNXNODES_NODEGRADIENTS_H

#include "Reading/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Compares the gradients of `forward`, in `module`, which is used up, with
/// finite differences near `inputs`, one for each argument, in f64 with three
/// copies; every other argument is shared. Returns an error, or nothing.
std::string
findWrongGradient(ModuleOp module, func::FuncOp forward,
                  const std::vector<onnx_import::FileTensor> &inputs);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_ONNXNODES_NODEGRADIENTS_H
