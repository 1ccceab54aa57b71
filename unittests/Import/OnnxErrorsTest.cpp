//===- OnnxErrorsTest.cpp - Files that can't be imported ------------------===//

#include "OnnxTestModel.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::test;

namespace {

const std::string kPorts =
    port("input", "x", {2, 3}) + port("output", "y", {2, 3});

/// Imports a graph, and checks that this fails as `failure` with one message.
/// Returns the message.
std::string getError(const std::string &graph,
                     OnnxFailure failure = OnnxFailure::input,
                     int64_t opset = 17) {
  Imported imported = Importer().import(makeModel(graph, opset));
  EXPECT_EQ(imported.failure, failure);
  EXPECT_EQ(imported.messages.size(), 1u);
  return imported.messages.empty() ? "" : imported.messages[0];
}

TEST(OnnxErrors, NotAModel) {
  for (const std::string &bytes :
       {std::string(), std::string("garbage"), std::string(1000, '\xff')}) {
    Imported imported = Importer().importBytes(bytes);
    ASSERT_EQ(imported.messages.size(), 1u);
    EXPECT_EQ(imported.messages[0].find("not an ONNX model: "), 0u);
    EXPECT_EQ(imported.failure, OnnxFailure::input);
  }
}

/// Opens a path that isn't a regular file, and checks that this fails. Returns
/// the message.
std::string getOpenError(const std::string &path) {
  Importer importer;
  OnnxFailure failure = OnnxFailure::none;
  std::string message;
  ScopedDiagnosticHandler handler(importer.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    message = diagnostic.str();
                                    return success();
                                  });
  EXPECT_FALSE(OnnxFile::open(path, importer.getContext(), failure));
  EXPECT_EQ(failure, OnnxFailure::input);
  return message;
}

TEST(OnnxErrors, MissingFile) {
  EXPECT_EQ(getOpenError("no/such.onnx"),
            "cannot read the file: No such file or directory");
}

TEST(OnnxErrors, NotARegularFile) {
  for (const char *path : {"/", "/dev/zero"})
    EXPECT_EQ(getOpenError(path),
              "cannot read the file: expected a regular file");
}

TEST(OnnxErrors, Versions) {
  EXPECT_EQ(getError(kPorts + node("Relu", "r", {"x"}, {"y"}),
                     OnnxFailure::unsupported, 29),
            "operator set 29 is not supported (at most 28)");
  ::onnx::ModelProto model =
      makeModel(kPorts + node("Relu", "r", {"x"}, {"y"}));
  model.set_ir_version(15);
  Imported imported = Importer().import(model);
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "ONNX IR version 15 is not supported (at most 14)");
  EXPECT_EQ(
      getError(kPorts + node("LayerNormalization", "n", {"x", "x"}, {"y"}),
               OnnxFailure::unsupported, 16),
      "node 'n' (LayerNormalization): operator is supported from "
      "operator set 17 on, the model uses 16");
}

TEST(OnnxErrors, EverythingUnsupportedAtOnce) {
  Imported imported = Importer().import(makeModel(
      kPorts + node("NonZero", "first", {"x"}, {"a"}) +
      node("Relu", "fine", {"a"}, {"b"}) +
      node("Fancy", "second", {"b"}, {"c"}, "domain: 'com.example' ") +
      node("Cast", "third", {"x"}, {"d"}, attribute("to", int64_t(8))) +
      node("Sum", "all", {"c", "d"}, {"y"})));
  ASSERT_EQ(imported.messages.size(), 3u);
  EXPECT_EQ(imported.messages[0],
            "node 'first' (NonZero): operator is not supported (operator set "
            "17)");
  EXPECT_EQ(imported.messages[1],
            "node 'second' (Fancy): operator domain 'com.example' is not "
            "supported");
  EXPECT_EQ(imported.messages[2],
            "node 'third' (Cast): element type string is not supported");
  EXPECT_EQ(imported.failure, OnnxFailure::unsupported);
}

/// An unsupported node (Loop, Scan) is reported, but not what its body
/// contains, such as a tensor of strings.
TEST(OnnxErrors, GraphsInsideOfUnsupportedNodes) {
  std::string body = port("input", "iteration", {}, 7) +
                     port("input", "cond_in", {}, 9) + port("input", "x", {2}) +
                     node("Identity", "keep", {"cond_in"}, {"cond_out"}) +
                     "initializer { name: 's' data_type: 8 } " +
                     port("output", "cond_out", {}, 9);
  for (const char *kind : {"Loop", "Scan", "SequenceMap"})
    EXPECT_EQ(getError(kPorts + node(kind, "l", {"x"}, {"y"},
                                     graphAttribute("body", body)),
                       OnnxFailure::unsupported),
              std::string("node 'l' (") + kind +
                  "): operator is not supported (operator set 17)");
  std::string branch =
      node("Loop", "l", {"x"}, {"b"}, graphAttribute("body", body)) +
      node("NonZero", "n", {"b"}, {"c"}) + port("output", "c", {2, 3});
  Imported imported = Importer().import(makeModel(
      kPorts + "initializer { name: 'yes' data_type: 9 int32_data: 1 } " +
      node("If", "i", {"yes"}, {"y"},
           graphAttribute("then_branch", branch) +
               graphAttribute("else_branch", port("output", "x", {2, 3})))));
  ASSERT_EQ(imported.messages.size(), 2u);
  EXPECT_EQ(imported.messages[0],
            "node 'l' (Loop): operator is not supported (operator set 17)");
  EXPECT_EQ(imported.messages[1],
            "node 'n' (NonZero): operator is not supported (operator set 17)");
  EXPECT_EQ(imported.failure, OnnxFailure::unsupported);
}

TEST(OnnxErrors, UnsupportedTensorsBesideUnsupportedNodes) {
  Imported imported = Importer().import(
      makeModel(kPorts + "initializer { name: 'w' data_type: 22 } " +
                    node("DequantizeLinear", "d", {"w", "x"}, {"y"}),
                25));
  ASSERT_EQ(imported.messages.size(), 2u);
  EXPECT_EQ(imported.messages[0],
            "initializer 'w': element type int4 is not supported");
  EXPECT_EQ(imported.messages[1],
            "node 'd' (DequantizeLinear): operator is not "
            "supported (operator set 25)");
  EXPECT_EQ(imported.failure, OnnxFailure::unsupported);
}

/// A model that uses no operators of ONNX's default domain needn't name an
/// operator set of that domain.
TEST(OnnxErrors, OtherDomainsAlone) {
  ::onnx::ModelProto model =
      makeModel(kPorts + node("Adam", "a", {"x"}, {"y"},
                              "domain: 'ai.onnx.preview.training' "));
  model.mutable_opset_import(0)->set_domain("ai.onnx.preview.training");
  Imported imported = Importer().import(model);
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0],
            "node 'a' (Adam): operator domain 'ai.onnx.preview.training' is "
            "not supported");
  EXPECT_EQ(imported.failure, OnnxFailure::unsupported);
}

TEST(OnnxErrors, OperatorsOfOurDomain) {
  Imported imported = Importer().import(
      makeModel(kPorts + node("Detach", "a", {"x"}, {"y"}, "domain: 'hfta' ")));
  EXPECT_EQ(imported.messages,
            (std::vector<std::string>{
                "node 'a' (Detach): operator of domain 'hfta' is not "
                "supported: this version knows 'StopGradient'"}));
  EXPECT_EQ(imported.failure, OnnxFailure::unsupported);
  // ONNX's default domain has no operator StopGradient.
  imported = Importer().import(
      makeModel(kPorts + node("StopGradient", "a", {"x"}, {"y"})));
  EXPECT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.failure, OnnxFailure::unsupported);
  for (const char *operands : {"", "xx"}) {
    std::vector<std::string> inputs(StringRef(operands).size(), "x");
    imported = Importer().import(makeModel(
        kPorts + node("StopGradient", "a", inputs, {"y"}, "domain: 'hfta' ")));
    EXPECT_EQ(imported.messages.size(), 1u);
    EXPECT_EQ(imported.failure, OnnxFailure::input);
  }
}

TEST(OnnxErrors, GraphStructure) {
  EXPECT_EQ(getError(kPorts + node("Add", "a", {"x", "y"}, {"z"}) +
                     node("Relu", "r", {"z"}, {"y"})),
            "node 'a' (Add): reads its own result: r → a");
  EXPECT_EQ(getError(kPorts + node("Relu", "r", {"nowhere"}, {"y"})),
            "node 'r' (Relu): reads 'nowhere', which nothing defines");
  EXPECT_EQ(getError(kPorts + node("Relu", "r", {"x"}, {"y"}) +
                     node("Exp", "e", {"x"}, {"y"})),
            "node 'e' (Exp): its output 'y' is already defined elsewhere");
  EXPECT_EQ(getError(kPorts + node("Relu", "r", {"x"}, {"z"})),
            "nothing defines output 'y'");
  EXPECT_EQ(getError(port("input", "x", {2}) + node("Relu", "r", {"x"}, {"y"})),
            "the graph has no output");
  EXPECT_EQ(getError(kPorts + port("input", "x", {2, 3}) +
                     node("Relu", "r", {"x"}, {"y"})),
            "two inputs are called 'x'");
  EXPECT_EQ(getError(kPorts + weight("w", {1}) + weight("w", {1}) +
                     node("Add", "a", {"x", "w"}, {"y"})),
            "two initializers are called 'w'");
  EXPECT_EQ(getError(kPorts + node("Relu", "r", {}, {"y"})),
            "node 'r' (Relu): operand 0 is missing");
}

TEST(OnnxErrors, Initializers) {
  std::string use = kPorts + node("Add", "a", {"x", "w"}, {"y"});
  EXPECT_EQ(getError(use + "initializer { name: 'w' data_type: 1 dims: 3 "
                           "float_data: 1 }"),
            "initializer 'w': data of 4 bytes, expected 12");
  EXPECT_EQ(getError(use + "initializer { name: 'w' data_type: 1 dims: 3 "
                           "raw_data: 'abc' }"),
            "initializer 'w': data of 3 bytes, expected 12");
  EXPECT_EQ(getError(use + "initializer { name: 'w' data_type: 1 dims: -3 }"),
            "initializer 'w': shape [-3] has a negative size, too many "
            "elements or more than 32 axes");
  EXPECT_EQ(getError(use + "initializer { name: 'w' data_type: 1 "
                           "dims: 4294967296 dims: 4294967296 }"),
            "initializer 'w': shape [4294967296, 4294967296] has a negative "
            "size, too many elements or more than 32 axes");
  EXPECT_EQ(getError(use + "initializer { name: 'w' data_type: 8 }",
                     OnnxFailure::unsupported),
            "initializer 'w': element type string is not supported");
}

TEST(OnnxErrors, ExternalData) {
  auto use = [](const std::string &entries) {
    return kPorts + node("Add", "a", {"x", "w"}, {"y"}) +
           "initializer { name: 'w' data_type: 1 dims: 3 data_location: "
           "EXTERNAL " +
           entries + " }";
  };
  auto entry = [](const std::string &key, const std::string &value) {
    return "external_data { key: '" + key + "' value: '" + value + "' } ";
  };
  for (const char *path : {"/etc/passwd", "../secret", "a/../../b", ""})
    EXPECT_EQ(getError(use(entry("location", path))),
              "initializer 'w': external data at '" + std::string(path) +
                  "', expected a path inside the model's folder");
  EXPECT_EQ(getError(use(entry("location", "w.bin") + entry("offset", "-4"))),
            "initializer 'w': external data has offset '-4', expected a "
            "number");
  EXPECT_EQ(getError(use(entry("location", "w.bin") + entry("length", "8"))),
            "initializer 'w': external data of 8 bytes, expected 12");
  EXPECT_EQ(getError(use(entry("location", "no-such-file"))),
            "initializer 'w': cannot find external data 'no-such-file'");
}

TEST(OnnxErrors, ExternalDataIsRead) {
  std::string folder = testing::TempDir();
  std::string data = "hfta-external.bin";
  float values[] = {9, 1, 2, 3};
  std::ofstream(folder + data, std::ios::binary)
      .write(reinterpret_cast<const char *>(values), sizeof(values));
  std::string graph =
      kPorts + node("Add", "a", {"x", "w"}, {"y"}) +
      "initializer { name: 'w' data_type: 1 dims: 3 data_location: EXTERNAL "
      "external_data { key: 'location' value: '" +
      data +
      "' } "
      "external_data { key: 'offset' value: '4' } }";
  Importer importer;
  Imported imported =
      importer.import(makeModel(graph), {}, folder + "model.onnx");
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(
      imported.contains("dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>"));
  std::ofstream(folder + data, std::ios::binary).write("short", 5);
  imported = importer.import(makeModel(graph), {}, folder + "model.onnx");
  ASSERT_EQ(imported.messages.size(), 1u);
  EXPECT_EQ(imported.messages[0], "initializer 'w': external data '" + data +
                                      "' has 5 bytes, expected 12 from 4");
  std::remove((folder + data).c_str());
}

TEST(OnnxErrors, Operands) {
  EXPECT_EQ(
      getError(kPorts + weight("w", {4}) + node("Add", "a", {"x", "w"}, {"y"})),
      "node 'a' (Add): cannot broadcast shapes [2, 3] and [4] together");
  EXPECT_EQ(getError(kPorts + weight("w", {4, 3}) +
                     node("MatMul", "m", {"x", "w"}, {"y"})),
            "node 'm' (MatMul): axis 2 of the contraction has size 3 in lhs "
            "but 4 in rhs");
  EXPECT_EQ(getError(kPorts + integers("i", {1}) +
                     node("Add", "a", {"x", "i"}, {"y"})),
            "node 'a' (Add): operands have different element types: 'f32' and "
            "'i64'");
  EXPECT_EQ(getError(kPorts + node("Transpose", "t", {"x"}, {"y"},
                                   listAttribute("perm", {0, 5}))),
            "node 't' (Transpose): attribute 'perm' = [0, 5] is no permutation "
            "of 2 axes");
  EXPECT_EQ(getError(kPorts + node("Softmax", "s", {"x"}, {"y"},
                                   attribute("axis", int64_t(2)))),
            "node 's' (Softmax): axis 2 is outside of a tensor of rank 2");
  EXPECT_EQ(getError(kPorts + node("Softmax", "s", {"x"}, {"y"},
                                   attribute("axis", 1.5))),
            "node 's' (Softmax): attribute 'axis' must be an integer");
  EXPECT_EQ(getError(kPorts + integers("s", {4, -1}) +
                     node("Reshape", "r", {"x", "s"}, {"y"})),
            "node 'r' (Reshape): cannot reshape [2, 3] to [4, -1]");
  EXPECT_EQ(getError(kPorts + integers("s", {int64_t(1) << 40, 1 << 20}) +
                     node("Expand", "e", {"scalar", "s"}, {"y"}) +
                     weight("scalar", {1})),
            "node 'e' (Expand): shape [1099511627776, 1048576] is too large");
}

TEST(OnnxErrors, Windows) {
  auto conv = [](const std::string &attributes) {
    return port("input", "x", {1, 1, 4, 4}) + weight("w", {1, 1, 3, 3}) +
           node("Conv", "c", {"x", "w"}, {"y"}, attributes) +
           port("output", "y", {1, 1, 2, 2});
  };
  EXPECT_EQ(getError(conv(listAttribute("strides", {1}))),
            "node 'c' (Conv): attribute 'strides' = [1] does not fit 2 entries "
            "from 1 to 1073741824");
  EXPECT_EQ(getError(conv(listAttribute("strides", {0, 1}))),
            "node 'c' (Conv): attribute 'strides' = [0, 1] does not fit 2 "
            "entries from 1 to 1073741824");
  EXPECT_EQ(getError(conv(listAttribute("pads", {0, 0, 0, -1}))),
            "node 'c' (Conv): attribute 'pads' = [0, 0, 0, -1] does not fit 4 "
            "entries from 0 to 1073741824");
  EXPECT_EQ(getError(conv(listAttribute("kernel_shape", {2, 2}))),
            "node 'c' (Conv): kernel_shape [2, 2] is not the weight's [3, 3]");
  EXPECT_EQ(getError(conv(listAttribute("dilations", {2, 2}))),
            "node 'c' (Conv): window of 5 elements does not fit spatial axis 0 "
            "of 4");
  EXPECT_EQ(getError(conv(attribute("group", int64_t(2)))),
            "node 'c' (Conv): cannot convolve 1 channels with weight [1, 1, 3, "
            "3] in 2 groups");
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (int64_t size : {kLeast, kLeast / 2, -(kLeast + 1)})
    EXPECT_EQ(getError(port("input", "x", {1, 1, 4, 4}) +
                       port("input", "w", {1, 1, 3, 3}) +
                       node("ConvTranspose", "c", {"x", "w"}, {"y"},
                            listAttribute("output_shape", {size, size})) +
                       port("output", "y", {1, 1, 4, 4})),
              "node 'c' (ConvTranspose): output_padding or output_shape does "
              "not fit 2 spatial axes");
}

TEST(OnnxErrors, Col2Im) {
  auto fold = [](std::vector<int64_t> image, std::vector<int64_t> block,
                 std::vector<int64_t> shape) {
    return getError(port("input", "x", shape) + integers("i", image) +
                        integers("b", block) +
                        node("Col2Im", "c", {"x", "i", "b"}, {"y"}) +
                        port("output", "y", {1, 2, 5, 5}),
                    OnnxFailure::input, 18);
  };
  const std::string name = "node 'c' (Col2Im): ";
  EXPECT_EQ(fold({5, 5}, {3}, {1, 18, 9}),
            name + "blocks [3] do not fit an image of [5, 5]");
  EXPECT_EQ(fold({5, 0}, {3, 3}, {1, 18, 9}),
            name + "blocks [3, 3] do not fit an image of [5, 0]");
  EXPECT_EQ(fold({5, 2}, {3, 3}, {1, 18, 9}),
            name + "blocks [3, 3] do not fit an image of [5, 2]");
  EXPECT_EQ(fold({5, 5}, {3, 3}, {1, 18, 10}),
            name + "input of shape [1, 18, 10] does not hold blocks [3, 3] at "
                   "[3, 3] positions");
  EXPECT_EQ(fold({5, 5}, {3, 3}, {1, 19, 9}),
            name + "input of shape [1, 19, 9] does not hold blocks [3, 3] at "
                   "[3, 3] positions");
  EXPECT_EQ(fold({5, 5}, {3, 3}, {18, 9}),
            name + "input of shape [18, 9] does not hold blocks [3, 3] at [3, "
                   "3] positions");
}

TEST(OnnxErrors, MaxUnpool) {
  auto unpool = [](std::vector<int64_t> indices, std::vector<int64_t> shape,
                   std::vector<int64_t> pads) {
    return getError(port("input", "x", {1, 1, 2, 2}) +
                    port("input", "i", indices, 7) + integers("s", shape) +
                    node("MaxUnpool", "m", {"x", "i", "s"}, {"y"},
                         listAttribute("kernel_shape", {2, 2}) +
                             listAttribute("strides", {2, 2}) +
                             listAttribute("pads", pads)) +
                    port("output", "y", {1, 1, 4, 4}));
  };
  const std::string name = "node 'm' (MaxUnpool): ";
  EXPECT_EQ(unpool({1, 1, 4}, {1, 1, 4, 4}, {0, 0, 0, 0}),
            name + "input of shape [1, 1, 2, 2] and indices of shape [1, 1, 4] "
                   "are no pooled images");
  EXPECT_EQ(unpool({1, 1, 2, 2}, {1, 1, 3, 4}, {0, 0, 0, 0}),
            name + "result of shape [1, 1, 4, 4] does not fit into [1, 1, 3, "
                   "4]");
  EXPECT_EQ(unpool({1, 1, 2, 2}, {4, 4}, {0, 0, 0, 0}),
            name + "result of shape [1, 1, 4, 4] does not fit into [4, 4]");
  EXPECT_EQ(unpool({1, 1, 2, 2}, {1, 1, 4, 4}, {2, 0, 2, 0}),
            name + "pads [2, 0, 2, 0] leave no element");
}

TEST(OnnxErrors, SettingsOfNodes) {
  EXPECT_EQ(getError(kPorts + node("Mod", "m", {"x", "x"}, {"y"})),
            "node 'm' (Mod): remainders of floats need fmod = 1 before "
            "operator set 28");
  EXPECT_EQ(getError(kPorts + integers("i", {0, 1, 0}) +
                     node("ScatterND", "s", {"x", "i", "x"}, {"y"},
                          "attribute { name: 'reduction' type: STRING s: "
                          "'mean' } ")),
            "node 's' (ScatterND): attribute 'reduction' is 'mean'");
  EXPECT_EQ(
      getError(port("input", "x", {1, 1, 4}) +
               node("LpPool", "l", {"x"}, {"y"},
                    listAttribute("kernel_shape", {2}) +
                        attribute("p", int64_t(0))) +
               port("output", "y", {1, 1, 3})),
      "node 'l' (LpPool): attribute 'p' must be a number of at least 1, got 0");
}

TEST(OnnxErrors, ManyAxes) {
  std::vector<int64_t> shape(129, 1);
  std::string message =
      getError(port("input", "x", shape) + node("Relu", "r", {"x"}, {"y"}) +
               port("output", "y", shape));
  EXPECT_EQ(message.find("input 'x' cannot have shape [1, 1, "), 0u);
}

TEST(OnnxErrors, Indices) {
  std::string indices = port("input", "i", {2, 2}, /*elementType=*/7);
  auto gather = [&](const std::string &type, const std::string &attributes) {
    return kPorts + indices + node(type, "g", {"x", "i"}, {"y"}, attributes);
  };
  EXPECT_EQ(getError(kPorts + node("GatherElements", "g", {"x", "x"}, {"y"})),
            "node 'g' (GatherElements): indices must be int32 or int64");
  EXPECT_EQ(getError(kPorts + port("input", "i", {2}, 7) +
                     node("GatherElements", "g", {"x", "i"}, {"y"})),
            "node 'g' (GatherElements): indices of shape [2] need as many axes "
            "as data of shape [2, 3]");
  EXPECT_EQ(getError(kPorts + port("input", "i", {2, 3}, 7) +
                     node("GatherND", "g", {"x", "i"}, {"y"})),
            "node 'g' (GatherND): indices of shape [2, 3] don't fit data of "
            "shape [2, 3]");
  EXPECT_EQ(
      getError(gather("GatherND", attribute("batch_dims", int64_t(2)))),
      "node 'g' (GatherND): indices of shape [2, 2] don't fit data of shape "
      "[2, 3]");
  EXPECT_EQ(getError(kPorts + indices +
                     node("ScatterElements", "s", {"x", "i", "x"}, {"y"})),
            "node 's' (ScatterElements): updates of shape [2, 3] and indices "
            "of shape [2, 2] don't fit data of shape [2, 3]");
  EXPECT_EQ(getError(kPorts + indices +
                     node("ScatterND", "s", {"x", "i", "x"}, {"y"})),
            "node 's' (ScatterND): updates have shape [2, 3], expected [2]");
  EXPECT_EQ(getError(kPorts + indices + integers("d", {0}) + weight("v", {2}) +
                     node("OneHot", "o", {"i", "d", "v"}, {"y"})),
            "node 'o' (OneHot): depth must lie in [1, 2147483647], and values "
            "be [off, on]");
}

TEST(OnnxErrors, Einsum) {
  auto einsum = [&](const std::string &equation) {
    return getError(kPorts + node("Einsum", "e", {"x", "x"}, {"y"},
                                  "attribute { name: \"equation\" s: \"" +
                                      equation + "\" type: STRING }"));
  };
  EXPECT_EQ(einsum("ij"), "node 'e' (Einsum): equation 'ij' has 1 operands, "
                          "the node 2");
  EXPECT_EQ(einsum("ijk,ij"), "node 'e' (Einsum): 'ijk' in the equation "
                              "doesn't fit an operand of rank 2");
  EXPECT_EQ(einsum("i-,ij"), "node 'e' (Einsum): 'i-' in the equation doesn't "
                             "fit an operand of rank 2");
  EXPECT_EQ(einsum("ij,jk->ik"),
            "node 'e' (Einsum): label 'j' has sizes 3 and 2");
  EXPECT_EQ(einsum("ij,ij->ik"),
            "node 'e' (Einsum): label 'k' of the result is in no operand");
  EXPECT_EQ(einsum("ij,ij->ii"),
            "node 'e' (Einsum): label 'i' of the result stands twice");
}

TEST(OnnxErrors, Branches) {
  auto branches = [](const std::string &condition, const std::string &nodes) {
    std::string branch = nodes + port("output", "b", {2, 3});
    return kPorts + port("input", "p", {}, /*elementType=*/9) +
           "initializer { name: 'yes' data_type: 9 int32_data: 1 } " +
           node("If", "i", {condition}, {"y"},
                graphAttribute("then_branch", branch) +
                    graphAttribute("else_branch",
                                   node("Exp", "e", {"x"}, {"other"}) +
                                       port("output", "other", {2, 3})));
  };
  EXPECT_EQ(getError(branches("p", node("Relu", "r", {"x"}, {"b"})),
                     OnnxFailure::unsupported),
            "node 'i' (If): its condition ('p') must be known at compile time: "
            "bind the inputs that it depends on with --constant");
  EXPECT_EQ(getError(branches("yes", node("Relu", "r", {"none"}, {"b"}))),
            "node 'i' (If): reads 'none', which nothing defines");
  EXPECT_EQ(getError(branches("yes", node("Relu", "r", {"x"}, {"x"}) +
                                         node("Relu", "s", {"x"}, {"b"}))),
            "node 'r' (Relu): its output 'x' is already defined elsewhere");
  EXPECT_EQ(getError(branches("yes", node("Relu", "r", {"later"}, {"b"}) +
                                         node("Relu", "s", {"x"}, {"later"}))),
            "node 'r' (Relu): reads 'later', which no node before it defines");
  EXPECT_EQ(getError(branches("yes", node("Nope", "n", {"x"}, {"b"})),
                     OnnxFailure::unsupported),
            "node 'n' (Nope): operator is not supported (operator set 17)");
  EXPECT_EQ(getError(kPorts +
                     "initializer { name: 'yes' data_type: 9 int32_data: 1 } " +
                     node("If", "i", {"yes"}, {"y"})),
            "node 'i' (If): attribute 'then_branch' is missing");
}

TEST(OnnxErrors, Losses) {
  std::string ports = port("input", "x", {2, 3}) + port("output", "y", {});
  auto loss = [&](std::vector<int64_t> targets) {
    return ports + port("input", "t", targets, /*elementType=*/7);
  };
  std::string type = "SoftmaxCrossEntropyLoss";
  EXPECT_EQ(getError(loss({3}) + node(type, "l", {"x", "t"}, {"y"})),
            "node 'l' (SoftmaxCrossEntropyLoss): targets of shape [3] don't "
            "fit scores of shape [2, 3]");
  EXPECT_EQ(getError(loss({2}) + weight("w", {2}) +
                     node(type, "l", {"x", "t", "w"}, {"y"})),
            "node 'l' (SoftmaxCrossEntropyLoss): weights have shape [2], "
            "expected [3]");
  EXPECT_EQ(getError(ports + node(type, "l", {"x", "x"}, {"y"})),
            "node 'l' (SoftmaxCrossEntropyLoss): indices must be int32 or "
            "int64");
}

/// Imports randomly damaged files. Each is imported or reported, and none
/// crashes the importer.
TEST(OnnxErrors, DamagedFiles) {
  std::string bytes =
      makeModel(
          port("input", "x", {-1, 1, 6, 6}) + weight("w", {2, 1, 3, 3}) +
          weight("b", {2}) +
          node("Conv", "c", {"x", "w", "b"}, {"h"},
               listAttribute("pads", {1, 1, 1, 1})) +
          node("MaxPool", "p", {"h"}, {"q"},
               listAttribute("kernel_shape", {2, 2}) +
                   listAttribute("strides", {2, 2})) +
          integers("s", {0, -1}) + node("Reshape", "r", {"q", "s"}, {"f"}) +
          weight("v", {18, 3}) + node("MatMul", "m", {"f", "v"}, {"g"}) +
          node("Softmax", "e", {"g"}, {"y"}) + port("output", "y", {-1, 3}))
          .SerializeAsString();
  std::mt19937 random(1);
  OnnxImportOptions options;
  options.microBatch = 2;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    int changes = 1 + random() % 3;
    for (int change = 0; change < changes; ++change)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      damaged.resize(random() % damaged.size());
    Importer().importBytes(damaged, options);
  }
}

} // namespace
