//===- OnnxExportTest.cpp - Export of imported models to ONNX -------------===//

#include "Hfta/Export/Onnx/Export.h"
#include "OnnxTestModel.h"
#include "mlir/IR/Diagnostics.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::test;

namespace {

/// A model that was imported for micro-batches of `batch` samples, then
/// exported again.
struct Exported {
  OnnxExportTemplate parts;
  ::onnx::ModelProto header;
  ::onnx::GraphProto graph;

  explicit Exported(const std::string &text, int64_t batch = 4) {
    Importer importer;
    OnnxImportOptions options;
    options.microBatch = batch;
    Imported imported = importer.import(makeModel(text), options);
    EXPECT_TRUE(imported.model);
    if (!imported.model)
      return;
    FailureOr<OnnxExportTemplate> result = exportOnnx(imported.model);
    EXPECT_TRUE(succeeded(result));
    if (failed(result))
      return;
    parts = *result;
    EXPECT_TRUE(header.ParseFromString(parts.header));
    EXPECT_TRUE(graph.ParseFromString(parts.graph));
  }

  /// Returns the operators of all nodes except constants, in the graph's order.
  std::vector<std::string> getOps() const {
    std::vector<std::string> ops;
    for (const ::onnx::NodeProto &node : graph.node())
      if (node.op_type() != "Constant")
        ops.push_back(node.op_type());
    return ops;
  }
};

using Ops = std::vector<std::string>;

TEST(OnnxExport, HeaderPortsAndParameters) {
  Exported exported(port("input", "x", {-1, 1, 4, 4}) +
                    weight("conv.w", {2, 1, 3, 3}) + weight("conv.b", {2}) +
                    node("Conv", "conv", {"x", "conv.w", "conv.b"}, {"h"}) +
                    node("Relu", "act", {"h"}, {"y"}) +
                    port("output", "y", {-1, 2, 2, 2}));
  EXPECT_EQ(exported.header.ir_version(), 8);
  EXPECT_EQ(exported.header.opset_import(0).version(), 17);
  EXPECT_FALSE(exported.header.has_graph());
  EXPECT_TRUE(exported.parts.symbolicBatch);
  EXPECT_EQ(exported.getOps(), (Ops{"Conv", "Relu"}));
  EXPECT_EQ(exported.parts.parameters, (Ops{"conv.w", "conv.b"}));
  EXPECT_EQ(exported.graph.initializer_size(), 0);
  ASSERT_EQ(exported.graph.input_size(), 1);
  const auto &input = exported.graph.input(0);
  EXPECT_EQ(input.name(), "x");
  EXPECT_EQ(input.type().tensor_type().shape().dim(0).dim_param(), "batch");
  EXPECT_EQ(input.type().tensor_type().shape().dim(3).dim_value(), 4);
  ASSERT_EQ(exported.graph.output_size(), 1);
  EXPECT_EQ(exported.graph.output(0).name(), "y");
  EXPECT_EQ(exported.graph.node(0).name(), "conv");
}

TEST(OnnxExport, InferenceMode) {
  Exported exported(
      port("input", "x", {-1, 2}) + weight("scale", {2}) + weight("bias", {2}) +
      weight("mean", {2}) + weight("variance", {2}) +
      node("BatchNormalization", "norm",
           {"x", "scale", "bias", "mean", "variance"}, {"h", "m", "v"},
           attribute("training_mode", int64_t(1))) +
      node("Dropout", "drop", {"h"}, {"y"}) + port("output", "y", {-1, 2}));
  EXPECT_EQ(exported.getOps(), (Ops{"BatchNormalization", "Identity"}));
  EXPECT_EQ(exported.parts.parameters,
            (Ops{"scale", "bias", "mean", "variance"}));
}

TEST(OnnxExport, WhatTrainingNeeds) {
  // Hfta's own operator is exported as it is, with a function that defines it
  // for other runtimes.
  std::string graph =
      port("input", "x", {-1, 2}) + weight("scale", {2}) + weight("bias", {2}) +
      weight("mean", {2}) + weight("variance", {2}) +
      node("BatchNormalization", "norm",
           {"x", "scale", "bias", "mean", "variance"}, {"h"}) +
      node("StopGradient", "stop", {"h"}, {"s"}, "domain: 'hfta' ") +
      node("Mul", "mul", {"h", "s"}, {"y"}) + port("output", "y", {-1, 2});
  Exported exported(graph);
  EXPECT_EQ(exported.getOps(),
            (Ops{"BatchNormalization", "StopGradient", "Mul"}));
  EXPECT_EQ(exported.graph.node(1).domain(), "hfta");
  ASSERT_EQ(exported.header.opset_import_size(), 2);
  EXPECT_EQ(exported.header.opset_import(1).domain(), "hfta");
  ASSERT_EQ(exported.header.functions_size(), 1);
  EXPECT_EQ(exported.header.functions(0).name(), "StopGradient");
  EXPECT_EQ(exported.header.functions(0).node(0).op_type(), "Identity");
  EXPECT_EQ(exported.header.metadata_props_size(), 0);

  ::onnx::ModelProto model = makeModel(graph);
  auto *entry = model.add_metadata_props();
  entry->set_key("hfta.frozen_statistics");
  entry->set_value("variance\nmean");
  OnnxImportOptions options;
  options.microBatch = 4;
  Imported imported = Importer().import(model, options);
  ASSERT_TRUE(imported.model);
  FailureOr<OnnxExportTemplate> result = exportOnnx(imported.model);
  ASSERT_TRUE(succeeded(result));
  ::onnx::ModelProto header;
  ASSERT_TRUE(header.ParseFromString(result->header));
  ASSERT_EQ(header.metadata_props_size(), 1);
  EXPECT_EQ(header.metadata_props(0).key(), "hfta.frozen_statistics");
  EXPECT_EQ(header.metadata_props(0).value(), "mean\nvariance");
}

/// A Sum of 10000 operands is imported as 9999 additions with the name of the
/// node. The exporter makes their names unique.
TEST(OnnxExport, ManyValuesOfOneName) {
  std::vector<std::string> operands(10000, "x");
  Exported exported(port("input", "x", {-1, 2}) +
                    node("Sum", "sum", operands, {"y"}) +
                    port("output", "y", {-1, 2}));
  ASSERT_EQ(exported.graph.node_size(), 9999);
  EXPECT_EQ(exported.graph.node(0).name(), "sum");
  EXPECT_EQ(exported.graph.node(9998).name(), "sum_9998");
}

TEST(OnnxExport, MatrixProducts) {
  Exported gemm(port("input", "x", {-1, 3}) + weight("w", {2, 3}) +
                weight("b", {2}) +
                node("Gemm", "fc", {"x", "w", "b"}, {"y"},
                     attribute("transB", int64_t(1))) +
                port("output", "y", {-1, 2}));
  EXPECT_EQ(gemm.getOps(), (Ops{"Gemm"}));
  EXPECT_EQ(gemm.graph.node(0).input_size(), 3);
  Exported batched(port("input", "x", {-1, 5, 3}) + weight("w", {3, 2}) +
                   node("MatMul", "m", {"x", "w"}, {"y"}) +
                   port("output", "y", {-1, 5, 2}));
  EXPECT_EQ(batched.getOps(), (Ops{"MatMul"}));
}

TEST(OnnxExport, ReshapesFollowTheBatch) {
  Exported exported(port("input", "x", {-1, 2, 3}) + integers("s", {0, 6}) +
                    node("Reshape", "flat", {"x", "s"}, {"y"}) +
                    port("output", "y", {-1, 6}));
  EXPECT_TRUE(exported.parts.symbolicBatch);
  const ::onnx::TensorProto &shape = exported.graph.node(0).attribute(0).t();
  EXPECT_EQ(shape.dims(0), 2);
  int64_t target[2];
  ASSERT_EQ(shape.raw_data().size(), sizeof(target));
  std::memcpy(target, shape.raw_data().data(), sizeof(target));
  EXPECT_EQ(target[0], -1);
  EXPECT_EQ(target[1], 6);
}

TEST(OnnxExport, TheBatchMayShareAnAxis) {
  // The batch axis moves, and is joined with another one: [batch, 5, 6] -> [5,
  // batch, 6] -> [5 * batch, 6] -> [5, batch * 2, 3].
  std::string permute = listAttribute("perm", {1, 0, 2});
  Exported exported(
      port("input", "x", {-1, 5, 6}) + weight("w", {6, 6}) +
      integers("merged", {-1, 6}) + node("Shape", "s", {"x"}, {"shape"}) +
      integers("zero", {0}) + node("Gather", "g", {"shape", "zero"}, {"n"}) +
      integers("two", {2}) + node("Mul", "double", {"n", "two"}, {"n2"}) +
      integers("five", {5}) + integers("three", {3}) +
      node("Concat", "c", {"five", "n2", "three"}, {"heads"},
           attribute("axis", int64_t(0))) +
      node("Transpose", "turn", {"x"}, {"t"}, permute) +
      node("Reshape", "merge", {"t", "merged"}, {"m"}) +
      node("MatMul", "mul", {"m", "w"}, {"v"}) +
      node("Reshape", "split", {"v", "heads"}, {"h"}) +
      node("Transpose", "back", {"h"}, {"y"}, permute) +
      port("output", "y", {8, 5, 3}));
  EXPECT_TRUE(exported.parts.symbolicBatch);
}

TEST(OnnxExport, WhatNeedsTheBatchFixesIt) {
  Exported exported(
      port("input", "x", {-1, 3}) +
      node("ReduceMean", "mean", {"x"}, {"m"},
           listAttribute("axes", {0}) + attribute("keepdims", int64_t(1))) +
      node("Sub", "sub", {"x", "m"}, {"y"}) + port("output", "y", {-1, 3}));
  EXPECT_FALSE(exported.parts.symbolicBatch);
  const auto &axis =
      exported.graph.input(0).type().tensor_type().shape().dim(0);
  EXPECT_EQ(axis.dim_value(), 4);
}

TEST(OnnxExport, BroadcastOutputsFollowTheBatch) {
  Exported exported(
      port("input", "x", {-1, 3}) + weight("w", {1, 3}) +
      node("Shape", "s", {"x"}, {"shape"}) +
      node("Expand", "e", {"w", "shape"}, {"z"}) +
      node("Concat", "c", {"x", "z"}, {"y"}, attribute("axis", int64_t(1))) +
      port("output", "y", {-1, 6}));
  EXPECT_TRUE(exported.parts.symbolicBatch);
  EXPECT_EQ(exported.getOps(), (Ops{"Shape", "Concat", "Expand", "Concat"}));
}

/// Returns a graph that scatters the 4 rows of each sample of x into the 6 rows
/// of that sample of z, combined by `reduction`.
std::string makeScatterGraph(const std::string &reduction) {
  std::string swap = listAttribute("perm", {1, 0, 2});
  return port("input", "x", {-1, 4, 2}) + port("input", "z", {-1, 6, 2}) +
         "initializer { name: 'i' dims: 4 dims: 1 data_type: 7 int64_data: 5 "
         "int64_data: 0 int64_data: 5 int64_data: 3 } " +
         node("Transpose", "rows", {"x"}, {"r"}, swap) +
         node("Transpose", "data", {"z"}, {"d"}, swap) +
         node("ScatterND", "scatter", {"d", "i", "r"}, {"s"},
              "attribute { name: 'reduction' type: STRING s: '" + reduction +
                  "' } ") +
         node("Transpose", "back", {"s"}, {"y"}, swap) +
         port("output", "y", {-1, 6, 2});
}

TEST(OnnxExport, ScatteringRoundTrip) {
  for (const char *reduction : {"add", "mul", "none"}) {
    Exported exported(makeScatterGraph(reduction), /*batch=*/3);
    EXPECT_TRUE(exported.parts.symbolicBatch);
    EXPECT_TRUE(llvm::is_contained(exported.getOps(), "ScatterND"));
    EXPECT_GE(exported.header.opset_import(0).version(), 16);
    ::onnx::ModelProto model = exported.header;
    *model.mutable_graph() = exported.graph;
    OnnxImportOptions options;
    options.microBatch = 7;
    Imported again = Importer().import(model, options);
    ASSERT_TRUE(again.model);
    bool isProduct = StringRef(reduction) == "mul";
    EXPECT_TRUE(again.contains(isProduct
                                   ? "hfta.scatter_reduce  product %0 at"
                                   : "along 0 size 6 : tensor<4x7x2xf32>"))
        << again.text;
  }
}

/// Exports a scatter_add along axis 1 with indices of rank 2. ONNX's ScatterND
/// wants the scattered axes in front, so the exporter adds transposes that move
/// them before the batch axis, and back.
TEST(OnnxExport, ScatteringAlongInnerAxes) {
  Importer importer;
  OnnxImportOptions options;
  options.microBatch = 4;
  Imported imported = importer.import(
      makeModel(port("input", "x", {-1, 2, 3, 5}) +
                "initializer { name: 'i' dims: 2 dims: 3 data_type: 7 "
                "int64_data: [0, 6, 1, 1, 2, 6] } " +
                weight("w", {7, 5}) + node("Gather", "g", {"w", "i"}, {"h"}) +
                node("Add", "a", {"x", "h"}, {"b"}) +
                node("ReduceSum", "sum", {"b"}, {"y"}) +
                "output { name: 'y' }"),
      options);
  ASSERT_TRUE(imported.model);
  imported.model.walk([&](ReduceOp op) {
    OpBuilder builder(op);
    Value indices;
    imported.model.walk(
        [&](GatherOp gather) { indices = gather.getIndices(); });
    Value scattered = ScatterAddOp::create(builder, op.getLoc(), op.getInput(),
                                           indices, /*axis=*/1, /*size=*/7);
    Operation *terminator = op->getBlock()->getTerminator();
    terminator->setOperand(0, scattered);
  });
  FailureOr<OnnxExportTemplate> result = exportOnnx(imported.model);
  ASSERT_TRUE(succeeded(result));
  EXPECT_TRUE(result->symbolicBatch);
  ::onnx::GraphProto graph;
  ASSERT_TRUE(graph.ParseFromString(result->graph));
  std::vector<std::vector<int64_t>> orders;
  for (const ::onnx::NodeProto &node : graph.node())
    if (node.op_type() == "Transpose")
      orders.emplace_back(node.attribute(0).ints().begin(),
                          node.attribute(0).ints().end());
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0], (std::vector<int64_t>{1, 2, 0, 3}));
  EXPECT_EQ(orders[1], (std::vector<int64_t>{1, 0, 2}));
}

TEST(OnnxExport, NormsStayNorms) {
  Exported norm(
      port("input", "x", {-1, 3}) +
      node("ReduceL2", "norm", {"x"}, {"y"}, listAttribute("axes", {1})) +
      port("output", "y", {-1, 1}));
  EXPECT_EQ(norm.getOps(), (Ops{"ReduceL2", "Reshape"}));
  Exported root(
      port("input", "x", {-1, 3}) + node("Mul", "square", {"x", "x"}, {"s"}) +
      node("Sqrt", "root", {"s"}, {"y"}) + port("output", "y", {-1, 3}));
  EXPECT_EQ(root.getOps(), (Ops{"Mul", "Sqrt"}));
  Exported deviation(port("input", "x", {-1, 3}) +
                     node("MeanVarianceNormalization", "z", {"x"}, {"y"},
                          listAttribute("axes", {1})) +
                     port("output", "y", {-1, 3}));
  Ops ops = deviation.getOps();
  EXPECT_EQ(llvm::count(ops, "Where"), 2);
  EXPECT_EQ(llvm::count(ops, "Sqrt"), 1);
}

TEST(OnnxExport, RemaindersStayRemainders) {
  Exported exported(
      port("input", "x", {-1, 3}) + weight("w", {3}) +
      node("Mod", "m", {"x", "w"}, {"r"}, attribute("fmod", int64_t(1))) +
      node("Atan", "a", {"r"}, {"s"}) + node("Asin", "b", {"s"}, {"t"}) +
      node("Acos", "c", {"t"}, {"y"}) + port("output", "y", {-1, 3}));
  EXPECT_EQ(exported.getOps(), (Ops{"Mod", "Atan", "Asin", "Acos"}));
  const ::onnx::NodeProto &remainder = exported.graph.node(0);
  ASSERT_EQ(remainder.attribute_size(), 1);
  EXPECT_EQ(remainder.attribute(0).name(), "fmod");
  EXPECT_EQ(remainder.attribute(0).i(), 1);
}

TEST(OnnxExport, RefusesWhatHasNoCounterpart) {
  Importer importer;
  OnnxImportOptions options;
  options.microBatch = 4;
  Imported imported =
      importer.import(makeModel(port("input", "x", {-1, 3}) +
                                node("Relu", "act", {"x"}, {"y"}) +
                                port("output", "y", {-1, 3})),
                      options);
  ASSERT_TRUE(imported.model);
  // ONNX's Pad can't add elements between others, as this hfta.pad does.
  imported.model.walk([&](ReluOp op) {
    OpBuilder builder(op);
    int64_t none[] = {0, 0}, gaps[] = {0, 1}, cut[] = {1, 1};
    int64_t sizes[] = {4, 3};
    Value padded = PadOp::create(builder, op.getLoc(), op.getInput(), none,
                                 none, gaps, builder.getF32FloatAttr(0));
    Value sliced =
        SliceOp::create(builder, op.getLoc(), padded, none, sizes, cut);
    op.getInputMutable().assign(sliced);
  });
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler(importer.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    messages.push_back(diagnostic.str());
                                    return success();
                                  });
  EXPECT_TRUE(failed(exportOnnx(imported.model)));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0], "'hfta.pad' cannot be exported to ONNX: ONNX does not "
                         "pad between elements");
}

} // namespace
