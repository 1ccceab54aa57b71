//===- Reporter.h - Errors of one file --------------------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_REPORTER_H
#define HFTA_LIB_IMPORT_ONNX_READING_REPORTER_H

#include "Hfta/Import/Onnx/Import.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_import {

/// Reports errors at places of one file and remembers their kind.
/// Whether a text is UTF-8 without control characters.
bool isPrintable(StringRef text);

class Reporter {
public:
  Reporter(StringRef path, MLIRContext *context)
      : file(FileLineColLoc::get(context, path, 0, 0)) {}

  Location getFileLocation() const { return file; }
  /// A place called `name` in the file.
  Location getLocation(StringRef name) const;
  /// The node's name, or its first output's.
  static StringRef getNodeName(const ::onnx::NodeProto &node);

  /// The file, or what is bound to it, is wrong.
  void invalid(Location location, const Twine &message);
  void unsupported(Location location, const Twine &message);
  /// The same, the message beginning with the node's name and kind.
  void invalid(const ::onnx::NodeProto &node, const Twine &message);
  void unsupported(const ::onnx::NodeProto &node, const Twine &message);

  bool hasErrors() const { return failureKind != OnnxFailure::none; }
  /// Wrong input outweighs what is unsupported.
  OnnxFailure getFailure() const { return failureKind; }

private:
  Location file;
  OnnxFailure failureKind = OnnxFailure::none;
};

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_REPORTER_H
