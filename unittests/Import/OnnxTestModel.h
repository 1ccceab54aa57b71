//===- OnnxTestModel.h - ONNX models written as text ------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_IMPORT_ONNXTESTMODEL_H
#define HFTA_UNITTESTS_IMPORT_ONNXTESTMODEL_H

#include "Hfta/Import/Onnx/Import.h"
#include "mlir/IR/OwningOpRef.h"

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace mlir::hfta::test {

/// Parses a model in protobuf's text format. Fails the test if the text is
/// invalid.
::onnx::ModelProto parseModel(const std::string &text);

/// Returns a model of operator set `opset` with this graph, which is text.
::onnx::ModelProto makeModel(const std::string &graph, int64_t opset = 17);

/// Returns the text of an input or output of a graph. `kind` is "input" or
/// "output". A size of -1 stands for the symbolic size "batch". `elementType`
/// is a number of TensorProto.DataType, by default float.
std::string port(const std::string &kind, const std::string &name,
                 std::vector<int64_t> shape, int elementType = 1);
/// Returns the text of a float initializer with elements 0.25, 0.5, 0.75, …
std::string weight(const std::string &name, std::vector<int64_t> shape);
/// Returns the text of an int64 initializer with one axis.
std::string integers(const std::string &name, std::vector<int64_t> values);
/// Returns the text of a node. `type` is its operator, `attributes` the text of
/// its attributes.
std::string node(const std::string &type, const std::string &name,
                 std::vector<std::string> inputs,
                 std::vector<std::string> outputs,
                 const std::string &attributes = "");
/// Returns the text of an integer attribute.
std::string attribute(const std::string &name, int64_t value);
/// Returns the text of an attribute that holds a graph, such as a branch of If.
std::string graphAttribute(const std::string &name, const std::string &graph);
/// Returns the text of a float attribute.
std::string attribute(const std::string &name, double value);
/// Returns the text of an attribute that holds a list of integers.
std::string listAttribute(const std::string &name, std::vector<int64_t> values);

/// The result of an import, and its diagnostics.
struct Imported {
  OwningOpRef<ModuleOp> module;
  ModelOp model; ///< in `module`; null after errors
  OnnxFailure failure = OnnxFailure::none;
  std::vector<std::string> messages; ///< diagnostics, in order
  std::string text;                  ///< `module`, printed; empty after errors

  bool contains(const std::string &part) const {
    return text.find(part) != std::string::npos;
  }
};

/// Imports models. All importers share one MLIRContext, which lives until the
/// process ends.
class Importer {
public:
  Importer();
  MLIRContext *getContext() { return context; }
  /// Imports a model, and checks that errors, messages and results agree.
  /// External data is searched in the folder of `path`.
  Imported import(const ::onnx::ModelProto &model,
                  const OnnxImportOptions &options = {},
                  const std::string &path = "model.onnx");
  /// Imports a file's bytes, which may be invalid.
  Imported importBytes(const std::string &bytes,
                       const OnnxImportOptions &options = {},
                       const std::string &path = "model.onnx");

private:
  MLIRContext *context;
};

} // namespace mlir::hfta::test

#endif // HFTA_UNITTESTS_IMPORT_ONNXTESTMODEL_H
