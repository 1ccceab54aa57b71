//===- Reporter.cpp - Errors of one file ----------------------------------===//

#include "Reading/Reporter.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::hfta::onnx_import {

bool isPrintable(StringRef text) {
  return llvm::json::isUTF8(text) && llvm::none_of(text, [](char c) {
           return (c >= 0 && c < ' ') || c == '\x7f';
         });
}

/// Escapes a text from the file, so that it can't imitate Hfta's messages.
static std::string makePrintable(StringRef text) {
  if (isPrintable(text))
    return text.str();
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printEscapedString(text, os);
  return escaped;
}

Location Reporter::getLocation(StringRef name) const {
  if (name.empty())
    return file;
  return NameLoc::get(StringAttr::get(file.getContext(), makePrintable(name)),
                      file);
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
  emitError(location) << makePrintable(message.str());
  failureKind = OnnxFailure::input;
}

void Reporter::unsupported(Location location, const Twine &message) {
  emitError(location) << makePrintable(message.str());
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
