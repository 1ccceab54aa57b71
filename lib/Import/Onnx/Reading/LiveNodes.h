//===- LiveNodes.h - The nodes that a graph's outputs need ------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_LIVENODES_H
#define HFTA_LIB_IMPORT_ONNX_READING_LIVENODES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_import {

using NodeList = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The nodes on which a graph's outputs depend, including nodes inside of
/// branches.
struct LiveNodes {
  llvm::DenseSet<const ::onnx::NodeProto *> nodes;
  /// The graph's outputs and all values that these nodes read.
  llvm::StringSet<> values;

  bool contains(const ::onnx::NodeProto &node) const {
    return nodes.contains(&node);
  }
};

/// Finds the nodes on which the values called `outputs` depend. The graph
/// needn't be valid.
LiveNodes findLiveNodes(const NodeList &nodes, ArrayRef<StringRef> outputs);
LiveNodes findLiveNodes(const ::onnx::GraphProto &graph);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_LIVENODES_H
