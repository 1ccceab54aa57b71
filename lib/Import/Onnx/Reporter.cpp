//===- Reporter.cpp - Errors of one file ----------------------------------===//

#include "Reporter.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::hfta::onnx_import {

Location Reporter::getLocation(StringRef name) const {
  if (name.empty())
    return file;
  return NameLoc::get(StringAttr::get(file.getContext(), name), file);
}

StringRef Reporter::getNodeName(const ::onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return output;
  return node.op_type();
}

void Reporter::invalid(Location location, const Twine &message) {
  emitError(location) << message;
  failureKind = OnnxFailure::input;
}

void Reporter::unsupported(Location location, const Twine &message) {
  emitError(location) << message;
  if (failureKind == OnnxFailure::none)
    failureKind = OnnxFailure::unsupported;
}

static std::string describe(const ::onnx::NodeProto &node,
                            const Twine &message) {
  return ("node '" + Reporter::getNodeName(node) + "' (" + node.op_type() +
          "): " + message)
      .str();
}

void Reporter::invalid(const ::onnx::NodeProto &node, const Twine &message) {
  invalid(getLocation(getNodeName(node)), describe(node, message));
}

void Reporter::unsupported(const ::onnx::NodeProto &node,
                           const Twine &message) {
  unsupported(getLocation(getNodeName(node)), describe(node, message));
}

} // namespace mlir::hfta::onnx_import
