//===- OnnxTestModel.h - Models written as text -----------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_IMPORT_ONNXTESTMODEL_H
#define HFTA_UNITTESTS_IMPORT_ONNXTESTMODEL_H

#include "Hfta/Import/Onnx/Import.h"
#include "mlir/IR/OwningOpRef.h"

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace mlir::hfta::test {

/// Parses protobuf's text format; a failure fails the test.
::onnx::ModelProto parseModel(const std::string &text);

/// Returns the model of a graph in text form, in operator set `opset`.
::onnx::ModelProto makeModel(const std::string &graph, int64_t opset = 17);

/// Returns the text of a float input or output; a size of -1 is the axis
/// "batch".
std::string port(const std::string &kind, const std::string &name,
                 std::vector<int64_t> shape, int elementType = 1);
/// Returns the text of a float initializer that holds 0.25, 0.5, 0.75, …
std::string weight(const std::string &name, std::vector<int64_t> shape);
/// Returns the text of an int64 initializer.
std::string integers(const std::string &name, std::vector<int64_t> values);
/// Returns the text of a node.
std::string node(const std::string &type, const std::string &name,
                 std::vector<std::string> inputs,
                 std::vector<std::string> outputs,
                 const std::string &attributes = "");
/// Returns the text of attributes.
std::string attribute(const std::string &name, int64_t value);
/// Returns the text of a graph attribute, with the text of its contents.
std::string graphAttribute(const std::string &name, const std::string &graph);
std::string attribute(const std::string &name, double value);
std::string listAttribute(const std::string &name, std::vector<int64_t> values);

/// The result of an import.
struct Imported {
  OwningOpRef<ModuleOp> module;
  ModelOp model; ///< null after errors
  OnnxFailure failure = OnnxFailure::none;
  std::vector<std::string> messages; ///< in the order in which they were
                                     ///< reported
  std::string text;                  ///< the imported module

  bool contains(const std::string &part) const {
    return text.find(part) != std::string::npos;
  }
};

/// Imports models into one context, which the whole process shares.
class Importer {
public:
  Importer();
  MLIRContext *getContext() { return context; }
  Imported import(const ::onnx::ModelProto &model,
                  const OnnxImportOptions &options = {},
                  const std::string &path = "model.onnx");
  Imported importBytes(const std::string &bytes,
                       const OnnxImportOptions &options = {},
                       const std::string &path = "model.onnx");

private:
  MLIRContext *context;
};

} // namespace mlir::hfta::test

#endif // HFTA_UNITTESTS_IMPORT_ONNXTESTMODEL_H
