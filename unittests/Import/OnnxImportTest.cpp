//===- OnnxImportTest.cpp - Modules that ONNX graphs are imported as ------===//

#include "OnnxTestModel.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::test;

namespace {

/// Returns options for a job with micro-batches of `size` samples.
OnnxImportOptions batchOf(int64_t size) {
  OnnxImportOptions options;
  options.microBatch = size;
  return options;
}

/// Returns options for executing a graph as it is, without training.
OnnxImportOptions asWritten() {
  OnnxImportOptions options;
  options.training = false;
  return options;
}

/// Imports a graph of one node Einsum, with result y. `ports` is the text of
/// its inputs and outputs.
Imported importEinsum(const std::string &equation, const std::string &ports,
                      std::vector<std::string> operands) {
  return Importer().import(
      makeModel(ports + node("Einsum", "e", operands, {"y"},
                             "attribute { name: \"equation\" s: \"" + equation +
                                 "\" type: STRING }")),
      asWritten());
}

TEST(OnnxImport, EinsumIsAContraction) {
  Imported imported =
      importEinsum("bij,jk->bki",
                   port("input", "x", {2, 3, 4}) + port("input", "z", {4, 5}) +
                       port("output", "y", {2, 5, 3}),
                   {"x", "z"});
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.contract %arg0, %arg1"));
  EXPECT_TRUE(imported.contains("[0, 2, 1]"));
}

TEST(OnnxImport, EinsumOfOneOperand) {
  Imported imported = importEinsum(
      "...ii->...i",
      port("input", "x", {2, 3, 3}) + port("output", "y", {2, 3}), {"x"});
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("tensor<2x9xf32>"));
  EXPECT_TRUE(imported.contains("hfta.slice"));
  EXPECT_FALSE(imported.contains("hfta.reduce"));
}

TEST(OnnxImport, EinsumBroadcastsEllipses) {
  Imported imported =
      importEinsum("...i,...i",
                   port("input", "x", {2, 1, 3}) + port("input", "z", {4, 3}) +
                       port("output", "y", {2, 4}),
                   {"x", "z"});
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.contract"));
  EXPECT_TRUE(imported.contains("-> (tensor<2x4xf32>"));
}

/// Returns the text of nodes that compute the output y from the input x: by
/// `thenBranch` if axis 1 of x has size 3, otherwise as exp(x). `width` is the
/// size of that axis. `thenBranch` may read the parameter `w`.
std::string conditional(const std::string &thenBranch, int64_t width) {
  return node("Shape", "shape", {"x"}, {"s"}) + integers("one", {1}) +
         integers("three", {3}) + node("Gather", "size", {"s", "one"}, {"n"}) +
         node("Equal", "equal", {"n", "three"}, {"c"}) + weight("w", {3}) +
         node("If", "if", {"c"}, {"y"},
              graphAttribute("then_branch", thenBranch) +
                  graphAttribute("else_branch",
                                 node("Exp", "e", {"x"}, {"else"}) +
                                     port("output", "else", {2, width}))) +
         port("output", "y", {2, width});
}

TEST(OnnxImport, BranchesAreChosenAtCompileTime) {
  std::string sum = node("Add", "a", {"x", "w"}, {"t"}) +
                    node("Relu", "r", {"t"}, {"then"}) +
                    port("output", "then", {2, 3});
  Imported wide = Importer().import(
      makeModel(port("input", "x", {2, 3}) + conditional(sum, 3)));
  ASSERT_TRUE(wide.model);
  EXPECT_TRUE(wide.contains("hfta.relu"));
  EXPECT_TRUE(wide.contains("hfta.variable @w"));
  EXPECT_FALSE(wide.contains("hfta.exp"));
  Imported narrow = Importer().import(
      makeModel(port("input", "x", {2, 4}) + conditional(sum, 4)));
  ASSERT_TRUE(narrow.model);
  EXPECT_TRUE(narrow.contains("hfta.exp"));
  EXPECT_FALSE(narrow.contains("hfta.variable @w"));
}

TEST(OnnxImport, SymbolicBatchAndNames) {
  Imported imported =
      Importer().import(makeModel(port("input", "x", {-1, 3}) +
                                  weight("w", {2, 3}) + weight("b", {2}) +
                                  node("Gemm", "fc", {"x", "w", "b"}, {"y"},
                                       attribute("transB", int64_t(1))) +
                                  port("output", "y", {-1, 2})),
                        batchOf(5));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("tensor<5x3xf32> {hfta.name = \"x\"}"));
  EXPECT_TRUE(imported.contains("tensor<5x2xf32> {hfta.name = \"y\"}"));
  EXPECT_TRUE(imported.contains("hfta.contract %arg0, %0"));
  EXPECT_TRUE(imported.contains(
      "role = #hfta.role<parameter>, trained} : tensor<2x3xf32>"));
}

TEST(OnnxImport, UnsortedNodes) {
  Imported imported = Importer().import(
      makeModel(
          port("input", "x", {-1, 3}) + node("Exp", "second", {"h"}, {"y"}) +
          node("Relu", "first", {"x"}, {"h"}) + port("output", "y", {-1, 3})),
      batchOf(2));
  ASSERT_TRUE(imported.model);
  EXPECT_LT(imported.text.find("hfta.relu"), imported.text.find("hfta.exp"));
}

TEST(OnnxImport, NodeNamesAreLocations) {
  Importer importer;
  Imported imported =
      importer.import(makeModel(port("input", "x", {-1, 3}) +
                                node("Relu", "act/1", {"x"}, {"y"}) +
                                port("output", "y", {-1, 3})),
                      batchOf(2));
  ASSERT_TRUE(imported.model);
  bool found = false;
  imported.model.walk([&](ReluOp op) {
    auto location = dyn_cast<NameLoc>(op.getLoc());
    ASSERT_TRUE(location);
    EXPECT_EQ(location.getName().getValue(), "act/1");
    EXPECT_TRUE(isa<FileLineColLoc>(location.getChildLoc()));
    found = true;
  });
  EXPECT_TRUE(found);
}

TEST(OnnxImport, FixedBatchIsReplacedInReshape) {
  std::string graph = port("input", "x", {1, 2, 3}) + integers("s", {1, 6}) +
                      node("Reshape", "flat", {"x", "s"}, {"y"}) +
                      port("output", "y", {1, 6});
  Imported imported = Importer().import(makeModel(graph), batchOf(4));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.reshape %arg0 to [4, 6]"));
  graph = port("input", "x", {1, 2, 3}) + integers("s", {1, -1}) +
          node("Reshape", "flat", {"x", "s"}, {"y"}) +
          port("output", "y", {1, 6});
  imported = Importer().import(makeModel(graph), batchOf(4));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.reshape %arg0 to [4, 6]"));
}

TEST(OnnxImport, FixedBatchThatANodeForbids) {
  Imported imported = Importer().import(
      makeModel(port("input", "x", {2, 3, 4}) + integers("s", {6, 4}) +
                node("Reshape", "merge", {"x", "s"}, {"y"}) +
                port("output", "y", {6, 4})),
      batchOf(5));
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "node 'merge' (Reshape): cannot reshape [5, 3, 4] to [6, 4]; the "
            "file was exported for batch size 2");
  EXPECT_EQ(imported.failure, OnnxFailure::input);
}

TEST(OnnxImport, OutputThatLosesTheBatch) {
  Imported imported = Importer().import(
      makeModel(port("input", "x", {1, 3}) + integers("i", {0}) +
                node("Gather", "first", {"x", "i"}, {"y"}) +
                port("output", "y", {1, 3})),
      batchOf(5));
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "output 'y' of shape [1, 3] does not follow batch size 5; the file "
            "was exported for 1");
}

TEST(OnnxImport, ShapeArithmeticIsFolded) {
  std::string graph =
      port("input", "x", {-1, 3, 4}) + node("Shape", "s", {"x"}, {"shape"}) +
      integers("zero", {0}) + integers("axes", {0}) + integers("two", {2}) +
      node("Gather", "g", {"shape", "zero"}, {"n"}) + integers("one", {1}) +
      integers("three", {3}) +
      node("Slice", "sl", {"shape", "one", "three"}, {"rest"}) +
      node("ReduceProd", "p", {"rest"}, {"count"},
           attribute("keepdims", int64_t(1))) +
      node("Div", "d", {"count", "two"}, {"half"}) +
      node("Concat", "c", {"n", "half", "two"}, {"target"},
           attribute("axis", int64_t(0))) +
      node("Reshape", "r", {"x", "target"}, {"y"}) +
      port("output", "y", {-1, 6, 2});
  Imported imported = Importer().import(makeModel(graph), batchOf(7));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.reshape %arg0 to [7, 6, 2]"));
  EXPECT_FALSE(imported.contains("hfta.constant"));
}

/// Returns a graph that multiplies x by a number computed from its shape: by n,
/// the size of `axis`, or by m, which the nodes `more` compute from n.
std::string multiplied(int64_t axis, const std::string &more = "") {
  return port("input", "x", {-1, 3}) + node("Shape", "s", {"x"}, {"shape"}) +
         integers("axis", {axis}) +
         node("Gather", "g", {"shape", "axis"}, {"n"}) + more +
         node("Cast", "c", {more.empty() ? "n" : "m"}, {"f"},
              attribute("to", int64_t(1))) +
         node("Mul", "m", {"x", "f"}, {"y"}) + port("output", "y", {-1, 3});
}

TEST(OnnxImport, NumbersThatDependOnTheBatchSizeAreMarked) {
  constexpr StringRef kMark = "hfta.of_batch_size";
  std::string twice = node("Add", "a", {"n", "n"}, {"m"});
  std::string itself = node("Div", "d", {"n", "n"}, {"m"});
  for (const std::string &graph : {multiplied(0), multiplied(0, twice)}) {
    Imported imported = Importer().import(makeModel(graph), batchOf(3));
    ASSERT_TRUE(imported.model);
    EXPECT_TRUE(imported.contains(kMark.str())) << imported.text;
  }
  // Axis 1 only happens to have the batch size, and n / n doesn't depend on n.
  for (const std::string &graph : {multiplied(1), multiplied(0, itself)}) {
    Imported imported = Importer().import(makeModel(graph), batchOf(3));
    ASSERT_TRUE(imported.model);
    EXPECT_FALSE(imported.contains(kMark.str())) << imported.text;
  }
  OnnxImportOptions dims = asWritten();
  dims.dims["batch"] = 3;
  EXPECT_TRUE(
      Importer().import(makeModel(multiplied(0)), dims).contains(kMark.str()));
}

TEST(OnnxImport, AFunctionForTwoSamplesStandsBesideThatForOne) {
  std::string graph =
      port("input", "x", {-1, 3}) +
      node("ReduceMean", "mean", {"x"}, {"m"}, listAttribute("axes", {0})) +
      node("Sub", "s", {"x", "m"}, {"y"}) + port("output", "y", {-1, 3});
  for (int64_t size : {1, 2}) {
    OnnxImportOptions options = batchOf(size);
    options.addsForwardOfTwo = true;
    Imported imported = Importer().import(makeModel(graph), options);
    ASSERT_TRUE(imported.model);
    EXPECT_EQ(imported.contains("@forward_of_two"), size == 1);
  }
}

TEST(OnnxImport, DiagonalBeyondTheMatrix) {
  for (int64_t diagonal : {std::numeric_limits<int64_t>::max(),
                           std::numeric_limits<int64_t>::min()}) {
    Imported imported = Importer().import(makeModel(
        port("input", "x", {2, 3}) + integers("k", {diagonal}) +
        node("Trilu", "t", {"x", "k"}, {"y"}) + port("output", "y", {2, 3})));
    ASSERT_TRUE(imported.model);
    EXPECT_TRUE(
        imported.contains(diagonal > 0 ? "dense<false>" : "dense<true>"));
  }
}

/// The importer evaluates constant nodes only up to a limit, because a small
/// file can ask for any amount of arithmetic. The remaining nodes are left to
/// the compiled program.
TEST(OnnxImport, LongArithmeticIsLeftToTheProgram) {
  std::string graph = integers("zero", {0}) + integers("one", {1}) +
                      integers("size", {10000}) +
                      node("Squeeze", "s0", {"zero"}, {"start"}) +
                      node("Squeeze", "s1", {"size"}, {"end"}) +
                      node("Squeeze", "s2", {"one"}, {"step"}) +
                      node("Range", "r", {"start", "end", "step"}, {"sum0"});
  constexpr int kAdditions = 200;
  for (int index = 0; index < kAdditions; ++index)
    graph += node("Add", "a" + std::to_string(index),
                  {"sum" + std::to_string(index), "one"},
                  {"sum" + std::to_string(index + 1)});
  // A shape is evaluated even beyond the limit.
  graph +=
      node("Add", "two", {"one", "one"}, {"two"}) +
      node("Tile", "tile", {"sum" + std::to_string(kAdditions), "two"}, {"y"}) +
      port("output", "y", {20000}, 7);
  Imported imported = Importer().import(makeModel(graph));
  ASSERT_TRUE(imported.model);
  int left = 0;
  imported.model.walk([&](AddOp) { ++left; });
  EXPECT_GT(left, 0);
  EXPECT_LT(left, kAdditions);
}

TEST(OnnxImport, InitializerSharedThroughIdentity) {
  Imported imported = Importer().import(
      makeModel(port("input", "x", {-1, 2}) + weight("w", {2, 2}) +
                node("Identity", "id", {"w"}, {"w2"}) +
                node("MatMul", "a", {"x", "w"}, {"h"}) +
                node("MatMul", "b", {"h", "w2"}, {"y"}) +
                port("output", "y", {-1, 2})),
      batchOf(3));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.variable @w "));
  EXPECT_FALSE(imported.contains("@w2"));
  EXPECT_EQ(imported.text.find("hfta.read"), imported.text.rfind("hfta.read"));
}

std::string normGraph(const std::string &extra) {
  return port("input", "x", {-1, 2}) + weight("scale", {2}) +
         weight("bias", {2}) + weight("mean", {2}) + weight("variance", {2}) +
         node("BatchNormalization", "norm",
              {"x", "scale", "bias", "mean", "variance"}, {"y"}, extra) +
         port("output", "y", {-1, 2});
}

TEST(OnnxImport, BatchNormalizationInAJob) {
  Imported imported = Importer().import(
      makeModel(normGraph(attribute("momentum", 0.75))), batchOf(3));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("momentum = 7.500000e-01 : f64, unbiased}"));
  EXPECT_TRUE(imported.contains("hfta.write %new_mean, @mean"));
  EXPECT_TRUE(imported.contains("hfta.write %new_variance, @variance"));
  EXPECT_TRUE(imported.contains("role = #hfta.role<statistics>}"));
}

TEST(OnnxImport, BatchNormalizationAsWritten) {
  OnnxImportOptions options = asWritten();
  options.dims["batch"] = 3;
  Imported imported = Importer().import(makeModel(normGraph("")), options);
  ASSERT_TRUE(imported.model);
  EXPECT_FALSE(imported.contains("training"));
  EXPECT_FALSE(imported.contains("unbiased"));
  EXPECT_FALSE(imported.contains("hfta.write"));
  EXPECT_FALSE(imported.contains("trained"));
  imported = Importer().import(
      makeModel(normGraph(attribute("training_mode", int64_t(1)))), options);
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("training}"));
  EXPECT_FALSE(imported.contains("unbiased"));
}

TEST(OnnxImport, StatisticsMergedByTheExporterStayApart) {
  Imported imported = Importer().import(
      makeModel(port("input", "x", {-1, 2}) + weight("one", {2}) +
                weight("zero", {2}) +
                node("Identity", "i1", {"zero"}, {"mean2"}) +
                node("Identity", "i2", {"one"}, {"variance2"}) +
                node("Identity", "i3", {"zero"}, {"bias2"}) +
                node("BatchNormalization", "n1",
                     {"x", "one", "zero", "mean2", "variance2"}, {"h"}) +
                node("Add", "a", {"h", "bias2"}, {"y"}) +
                port("output", "y", {-1, 2})),
      batchOf(3));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.write %new_mean, @mean2"));
  EXPECT_TRUE(imported.contains("hfta.write %new_variance, @variance2"));
  EXPECT_TRUE(imported.contains("hfta.variable @zero "));
  EXPECT_FALSE(imported.contains("@bias2"));
}

TEST(OnnxImport, DropoutInAJob) {
  std::string graph = port("input", "x", {-1, 4}) +
                      "initializer { name: 'ratio' data_type: 1 "
                      "float_data: 0.25 }\n" +
                      node("Dropout", "drop", {"x", "ratio"}, {"y"}) +
                      port("output", "y", {-1, 4});
  Imported imported = Importer().import(makeModel(graph), batchOf(3));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.constant dense<2.500000e-01>"));
  // The stream's number is the FNV-1a hash of "y".
  EXPECT_TRUE(imported.contains("[3, 4] stream 3414841551979943252 "
                                "{per_sample}"))
      << imported.text;
  for (const char *scalar : {"@hfta.seed", "@hfta.step", "@hfta.first_sample"})
    EXPECT_TRUE(imported.contains(std::string("hfta.variable ") + scalar));
  EXPECT_TRUE(imported.contains("hfta.dropout"));
  OnnxImportOptions options = asWritten();
  options.dims["batch"] = 3;
  imported = Importer().import(makeModel(graph), options);
  ASSERT_TRUE(imported.model);
  EXPECT_FALSE(imported.contains("dropout"));
}

TEST(OnnxImport, SoftmaxOfOldOperatorSetsFlattens) {
  std::string graph = port("input", "x", {-1, 3, 4}) +
                      node("Softmax", "s", {"x"}, {"y"}) +
                      port("output", "y", {-1, 3, 4});
  Imported old = Importer().import(makeModel(graph, 11), batchOf(2));
  ASSERT_TRUE(old.model);
  EXPECT_TRUE(old.contains("hfta.softmax %0 along 1 : tensor<2x12xf32>"));
  Imported current = Importer().import(makeModel(graph, 13), batchOf(2));
  ASSERT_TRUE(current.model);
  EXPECT_TRUE(current.contains("along 2 : tensor<2x3x4xf32>"));
}

TEST(OnnxImport, Freeze) {
  std::string graph = port("input", "x", {-1, 2}) + weight("body.w", {2, 2}) +
                      weight("head.w", {2, 2}) +
                      node("MatMul", "a", {"x", "body.w"}, {"h"}) +
                      node("MatMul", "b", {"h", "head.w"}, {"y"}) +
                      port("output", "y", {-1, 2});
  OnnxImportOptions options = batchOf(2);
  options.freeze = {"body.*"};
  Imported imported = Importer().import(makeModel(graph), options);
  ASSERT_TRUE(imported.model);
  for (VariableOp variable : imported.model.getBody().getOps<VariableOp>())
    EXPECT_EQ(variable.getTrained(), variable.getSymName() == "head.w");
  options.freeze = {"tail.*"};
  imported = Importer().import(makeModel(graph), options);
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "freeze pattern 'tail.*' matches no parameter of the model");
}

TEST(OnnxImport, WhatIsTrained) {
  // A scalar (`scalar`) and an operand of shape arithmetic (`sizes`) are
  // constants, not parameters.
  Imported imported = Importer().import(
      makeModel(
          port("input", "x", {-1, 2}) + weight("w", {2}) +
          "initializer { name: 'scalar' data_type: 1 float_data: 3 }\n" +
          weight("sizes", {1}) +
          node("Cast", "c", {"sizes"}, {"cut"}, attribute("to", int64_t(7))) +
          node("Add", "plus", {"cut", "two"}, {"axis"}) + integers("two", {1}) +
          node("Unsqueeze", "u", {"x", "axis"}, {"h"}) +
          node("Mul", "m", {"h", "w"}, {"h2"}) +
          node("Mul", "m2", {"h2", "scalar"}, {"y"}) +
          port("output", "y", {-1, 1, 2})),
      batchOf(2));
  ASSERT_TRUE(imported.model) << imported.messages[0];
  int variables = 0;
  for (VariableOp variable : imported.model.getBody().getOps<VariableOp>()) {
    EXPECT_EQ(variable.getSymName(), "w");
    EXPECT_TRUE(variable.getTrained());
    ++variables;
  }
  EXPECT_EQ(variables, 1);
  EXPECT_TRUE(imported.contains("to [2, 1, 2]"));
}

/// A constant that f32 can't represent exactly, such as 0.1, also keeps its
/// value in f64.
TEST(OnnxImport, ConstantsInNaturalTypes) {
  Imported imported = Importer().import(
      makeModel(port("input", "x", {-1, 2}) + weight("w", {2, 2}) +
                node("LeakyRelu", "a", {"x"}, {"h"}, attribute("alpha", 0.1f)) +
                node("MatMul", "b", {"h", "w"}, {"y"}) +
                port("output", "y", {-1, 2})),
      batchOf(2));
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("hfta.read @w : tensor<2x2xf32>"));
  EXPECT_TRUE(imported.contains("{hfta.exact = dense<1.000000e-01> : "
                                "tensor<2x2xf64>} dense<1.000000e-01> : "
                                "tensor<2x2xf32>"));
}

TEST(OnnxImport, FreshInitialization) {
  OnnxImportOptions options = batchOf(2);
  options.freshInitialization = true;
  Imported imported = Importer().import(
      makeModel(port("input", "x", {-1, 4}) + weight("w", {2, 4}) +
                weight("b", {2}) + weight("scale", {2}) +
                node("Gemm", "fc", {"x", "w", "b"}, {"h"},
                     attribute("transB", int64_t(1))) +
                node("Mul", "m", {"h", "scale"}, {"y"}) +
                port("output", "y", {-1, 2})),
      options);
  ASSERT_TRUE(imported.model);
  for (VariableOp variable : imported.model.getBody().getOps<VariableOp>()) {
    if (variable.getSymName() == "scale") {
      EXPECT_TRUE(isa<NormalAttr>(*variable.getInitial()));
      continue;
    }
    auto uniform = dyn_cast<UniformAttr>(*variable.getInitial());
    ASSERT_TRUE(uniform);
    EXPECT_EQ(uniform.getHigh().getValueAsDouble(), 0.5);
    EXPECT_EQ(uniform.getLow().getValueAsDouble(), -0.5);
  }
}

TEST(OnnxImport, ConstantsBindInputs) {
  Importer importer;
  OnnxImportOptions options = batchOf(2);
  auto type =
      RankedTensorType::get({2}, IntegerType::get(importer.getContext(), 64));
  options.constants.insert(
      {"shape", DenseElementsAttr::get(type, ArrayRef<int64_t>{2, 6})});
  ::onnx::ModelProto model = makeModel(
      port("input", "x", {-1, 2, 3}) + port("input", "shape", {2}, 7) +
      node("Reshape", "r", {"x", "shape"}, {"y"}) +
      port("output", "y", {-1, 6}));
  Imported imported = importer.import(model, options);
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("@forward(%arg0: tensor<2x2x3xf32> "
                                "{hfta.name = \"x\"}) ->"));
  imported = importer.import(model, batchOf(2));
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "node 'r' (Reshape): its shape ('shape') must be known at compile "
            "time: bind the inputs that it depends on with --constant");
  EXPECT_EQ(imported.failure, OnnxFailure::unsupported);
}

TEST(OnnxImport, SampleShapesBindSymbols) {
  OnnxImportOptions options = batchOf(2);
  std::string graph =
      "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { "
      "dim_param: 'n' } dim { dim_param: 'size' } } } } }\n"
      "input { name: 'z' type { tensor_type { elem_type: 1 shape { dim { "
      "dim_param: 'n' } dim { dim_param: 'size' } } } } }\n" +
      node("Add", "a", {"x", "z"}, {"y"}) + port("output", "y", {-1, 3});
  Imported imported = Importer().import(makeModel(graph), options);
  ASSERT_EQ(imported.messages.size(), 2u);
  EXPECT_EQ(imported.messages[0],
            "axis 1 ('size') of input 'x' has no size: give its size, for "
            "example with --dim size=N");
  options.sampleShapes["x"] = {3};
  options.argumentNames["x"] = "image";
  imported = Importer().import(makeModel(graph), options);
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains(
      "%arg0: tensor<2x3xf32> {hfta.file_name = \"x\", hfta.name = \"image\"}, "
      "%arg1: tensor<2x3xf32> {hfta.name = \"z\"}"))
      << imported.text;
  options.sampleShapes["z"] = {4};
  imported = Importer().import(makeModel(graph), options);
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "axis 'size' is 3 elsewhere but 4 in input 'z'");
}

/// In `dims`, an axis without a name is called INPUT.NUMBER.
TEST(OnnxImport, DimsBindAxesWithoutNames) {
  std::string graph =
      "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { } "
      "dim { } dim { dim_value: 2 } } } } }\n" +
      node("Relu", "r", {"x"}, {"y"}) + "output { name: 'y' }";
  OnnxImportOptions options = asWritten();
  Imported imported = Importer().import(makeModel(graph), options);
  ASSERT_EQ(imported.messages.size(), 2u);
  EXPECT_EQ(imported.messages[0],
            "axis 0 of input 'x' has no size: give a batch size, for example "
            "with --dim x.0=N");
  EXPECT_EQ(imported.messages[1],
            "axis 1 of input 'x' has no size: give its size, for example with "
            "--dim x.1=N");
  options.dims["x.0"] = 3;
  options.dims["x.1"] = 5;
  imported = Importer().import(makeModel(graph), options);
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("%arg0: tensor<3x5x2xf32>")) << imported.text;
  options.dims["x.2"] = 2;
  imported = Importer().import(makeModel(graph), options);
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "no axis of the model's inputs is called 'x.2'");
}

/// Arithmetic on f16 (10) and bf16 (16) is evaluated at compile time.
TEST(OnnxImport, HalvesAreEvaluated) {
  for (int type : {10, 16}) {
    std::string number = std::to_string(type);
    Imported imported = Importer().import(
        makeModel(
            port("input", "x", {2}, type) +
            "initializer { name: 'c' data_type: 1 float_data: 0.1 } " +
            integers("pads", {0, 1}) +
            node("Cast", "cast", {"c"}, {"h"}, attribute("to", int64_t(type))) +
            node("Pad", "pad", {"x", "pads", "h"}, {"y"}) +
            port("output", "y", {3}, type)),
        asWritten());
    ASSERT_TRUE(imported.model) << number;
    EXPECT_TRUE(imported.contains(type == 10 ? "with 9.997550e-02 : f16"
                                             : "with 1.000980e-01 : bf16"))
        << imported.text;
  }
}

TEST(OnnxImport, TableOfOps) {
  std::vector<OnnxSupportedOp> ops = getSupportedOnnxOps();
  EXPECT_GT(ops.size(), 100u);
  EXPECT_TRUE(llvm::is_sorted(
      ops, [](const OnnxSupportedOp &first, const OnnxSupportedOp &second) {
        return std::make_pair(first.name, first.sinceVersion) <
               std::make_pair(second.name, second.sinceVersion);
      }));
}

} // namespace
