//===- Functions.h - Functions that a file defines --------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_FUNCTIONS_H
#define HFTA_LIB_IMPORT_ONNX_READING_FUNCTIONS_H

#include "Reading/Reporter.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::hfta::onnx_import {

/// The versions of the operator set for nodes that come from functions.
using NodeOpsets = llvm::DenseMap<const ::onnx::NodeProto *, int64_t>;

/// Replaces each node that calls a function of the file, in the graph and in
/// branches, by the function's nodes. These get names CALL/NODE, and so do
/// values inside of the function. A function takes precedence over an operator
/// of its name. Nodes that no output needs aren't replaced. Returns false after
/// errors.
bool inlineFunctions(::onnx::ModelProto &model, NodeOpsets &opsets,
                     Reporter &reporter);

/// Returns the description of a function for messages: "DOMAIN::NAME", with
/// ":OVERLOAD" if there is one.
std::string describeFunction(const ::onnx::NodeProto &call);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_FUNCTIONS_H
