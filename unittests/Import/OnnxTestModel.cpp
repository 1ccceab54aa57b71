//===- OnnxTestModel.cpp - ONNX models written as text --------------------===//

#include "OnnxTestModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace mlir::hfta::test {

::onnx::ModelProto parseModel(const std::string &text) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model))
      << text;
  return model;
}

::onnx::ModelProto makeModel(const std::string &graph, int64_t opset) {
  return parseModel("ir_version: 8 opset_import { version: " +
                    std::to_string(opset) + " } graph { " + graph + " }");
}

std::string port(const std::string &kind, const std::string &name,
                 std::vector<int64_t> shape, int elementType) {
  std::string axes;
  for (int64_t size : shape)
    axes += size == -1 ? "dim { dim_param: 'batch' } "
                       : "dim { dim_value: " + std::to_string(size) + " } ";
  return kind + " { name: '" + name +
         "' type { tensor_type { elem_type: " + std::to_string(elementType) +
         " shape { " + axes + "} } } }\n";
}

std::string weight(const std::string &name, std::vector<int64_t> shape) {
  std::string text = "initializer { name: '" + name + "' data_type: 1 ";
  int64_t count = 1;
  for (int64_t size : shape) {
    text += "dims: " + std::to_string(size) + " ";
    count *= size;
  }
  for (int64_t index = 0; index < count; ++index)
    text += "float_data: " + std::to_string(0.25 * (index + 1)) + " ";
  return text + "}\n";
}

std::string integers(const std::string &name, std::vector<int64_t> values) {
  std::string text = "initializer { name: '" + name +
                     "' data_type: 7 dims: " + std::to_string(values.size());
  for (int64_t value : values)
    text += " int64_data: " + std::to_string(value);
  return text + " }\n";
}

std::string node(const std::string &type, const std::string &name,
                 std::vector<std::string> inputs,
                 std::vector<std::string> outputs,
                 const std::string &attributes) {
  std::string text = "node { op_type: '" + type + "' name: '" + name + "' ";
  for (const std::string &input : inputs)
    text += "input: '" + input + "' ";
  for (const std::string &output : outputs)
    text += "output: '" + output + "' ";
  return text + attributes + "}\n";
}

std::string attribute(const std::string &name, int64_t value) {
  return "attribute { name: '" + name +
         "' type: INT i: " + std::to_string(value) + " } ";
}

std::string attribute(const std::string &name, double value) {
  return "attribute { name: '" + name +
         "' type: FLOAT f: " + std::to_string(value) + " } ";
}

std::string graphAttribute(const std::string &name, const std::string &graph) {
  return "attribute { name: '" + name + "' type: GRAPH g { " + graph + " } } ";
}

std::string listAttribute(const std::string &name,
                          std::vector<int64_t> values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (int64_t value : values)
    text += "ints: " + std::to_string(value) + " ";
  return text + "} ";
}

Importer::Importer() {
  static MLIRContext processContext;
  processContext.loadDialect<HftaDialect, func::FuncDialect>();
  context = &processContext;
}

Imported Importer::importBytes(const std::string &bytes,
                               const OnnxImportOptions &options,
                               const std::string &path) {
  Imported result;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    result.messages.push_back(diagnostic.str());
    return success();
  });
  result.module = ModuleOp::create(UnknownLoc::get(context));
  std::unique_ptr<OnnxFile> file =
      OnnxFile::parse(bytes, path, context, result.failure);
  EXPECT_EQ(file == nullptr, result.failure != OnnxFailure::none);
  if (!file)
    return result;
  FailureOr<ModelOp> model =
      file->import(*result.module, options, result.failure);
  EXPECT_EQ(failed(model), result.failure != OnnxFailure::none);
  EXPECT_EQ(failed(model), !result.messages.empty());
  if (failed(model)) {
    EXPECT_TRUE(result.module->getBody()->empty());
    return result;
  }
  result.model = *model;
  llvm::raw_string_ostream(result.text) << *result.module;
  return result;
}

Imported Importer::import(const ::onnx::ModelProto &model,
                          const OnnxImportOptions &options,
                          const std::string &path) {
  return importBytes(model.SerializePartialAsString(), options, path);
}

} // namespace mlir::hfta::test
