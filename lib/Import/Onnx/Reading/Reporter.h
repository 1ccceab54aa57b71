//===- Reporter.h - Errors of one file --------------------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_REPORTER_H
#define HFTA_LIB_IMPORT_ONNX_READING_REPORTER_H

#include "Hfta/Import/Onnx/Import.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_import {

/// Returns whether a text is UTF-8 without control characters.
bool isPrintable(StringRef text);

/// Reports errors at locations of one file, and remembers their kind.
class Reporter {
public:
  Reporter(StringRef path, MLIRContext *context)
      : file(FileLineColLoc::get(context, path, 0, 0)) {}

  Location getFileLocation() const { return file; }
  /// Returns the location of the node or value called `name` in the file.
  Location getLocation(StringRef name) const;
  /// Returns the node's name or, if it has none, the name of its first output
  /// or its operator.
  static StringRef getNodeName(const ::onnx::NodeProto &node);

  /// Reports that the file, or a value bound to one of its inputs, is invalid.
  void invalid(Location location, const Twine &message);
  /// Reports that Hfta doesn't support a feature that the file uses.
  void unsupported(Location location, const Twine &message);
  /// Reports an error of a node. The message begins with the node's name and
  /// operator.
  void invalid(const ::onnx::NodeProto &node, const Twine &message);
  void unsupported(const ::onnx::NodeProto &node, const Twine &message);

  bool hasErrors() const { return failureKind != OnnxFailure::none; }
  /// Returns the kind of failure: invalid input takes precedence over
  /// unsupported features.
  OnnxFailure getFailure() const { return failureKind; }

private:
  Location file;
  OnnxFailure failureKind = OnnxFailure::none;
};

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_REPORTER_H
