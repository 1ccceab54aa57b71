//===- Functions.h - Functions that a file defines --------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_FUNCTIONS_H
#define HFTA_LIB_IMPORT_ONNX_READING_FUNCTIONS_H

#include "Reading/Reporter.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::hfta::onnx_import {

/// The operator sets of nodes that come from functions.
using NodeOpsets = llvm::DenseMap<const ::onnx::NodeProto *, int64_t>;

/// Replaces each node that calls a function of the file, in the graph and in
/// branches, by the function's nodes. These are called CALL/NODE, and so are
/// values inside of the function. A function takes precedence over an operator
/// of its name. Nodes that no output needs stay as they are. Returns false
/// after errors.
bool inlineFunctions(::onnx::ModelProto &model, NodeOpsets &opsets,
                     Reporter &reporter);

/// Returns a function's name and its domain in messages: "DOMAIN::NAME".
std::string describeFunction(const ::onnx::NodeProto &call);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_FUNCTIONS_H
