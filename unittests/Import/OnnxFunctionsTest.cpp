//===- OnnxFunctionsTest.cpp - Functions in ONNX files, and dead nodes ----===//

#include "OnnxTestModel.h"

#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::test;

namespace {

const std::string kPorts =
    port("input", "x", {2, 3}) + port("output", "y", {2, 3});

std::string quoteAll(const std::string &key,
                     const std::vector<std::string> &values) {
  std::string text;
  for (const std::string &value : values)
    text += key + ": '" + value + "' ";
  return text;
}

/// Returns the text of a function of domain `my`. `nodes` is the text of its
/// nodes, `more` that of its other fields.
std::string function(const std::string &name, std::vector<std::string> inputs,
                     std::vector<std::string> outputs, const std::string &nodes,
                     const std::string &more = "opset_import { version: 17 }") {
  return "functions { domain: 'my' name: '" + name + "' " +
         quoteAll("input", inputs) + quoteAll("output", outputs) + nodes +
         more + " }\n";
}

/// Returns the text of a node that calls a function of domain `my`.
std::string call(const std::string &name, const std::string &nodeName,
                 std::vector<std::string> inputs,
                 std::vector<std::string> outputs,
                 const std::string &attributes = "") {
  return node(name, nodeName, inputs, outputs, "domain: 'my' " + attributes);
}

/// Returns the text of a float attribute for a node in a function. Its value is
/// that of the attribute `meant` of the function's call.
std::string reference(const std::string &name, const std::string &meant) {
  return "attribute { name: '" + name + "' ref_attr_name: '" + meant +
         "' type: FLOAT } ";
}

/// Returns a model with functions, given as texts, which imports domain `my`.
::onnx::ModelProto makeModel(const std::string &functions,
                             const std::string &graph, int64_t opset = 17) {
  return parseModel(
      "ir_version: 8 opset_import { version: " + std::to_string(opset) +
      " } opset_import { domain: 'my' version: 1 } " + functions + " graph { " +
      graph + " }");
}

/// Returns the module that the model is imported as, in text form.
std::string getText(const ::onnx::ModelProto &model) {
  Imported imported = Importer().import(model);
  EXPECT_TRUE(imported.model)
      << (imported.messages.empty() ? "" : imported.messages[0]);
  return imported.text;
}

/// Checks that a graph that calls functions is imported as the same module as
/// an equivalent graph without them, of operator set `opset`.
void expectEqual(const std::string &functions, const std::string &graph,
                 const std::string &equivalent, int64_t opset = 17) {
  EXPECT_EQ(getText(makeModel(functions, graph)),
            getText(makeModel("", equivalent, opset)));
}

/// Imports a model, and checks that this fails as `failure` with one message.
/// Returns the message.
std::string getError(const ::onnx::ModelProto &model, OnnxFailure failure) {
  Imported imported = Importer().import(model);
  EXPECT_EQ(imported.failure, failure);
  EXPECT_EQ(imported.messages.size(), 1u);
  return imported.messages.empty() ? "" : imported.messages[0];
}

std::string getError(const std::string &functions, const std::string &graph,
                     OnnxFailure failure = OnnxFailure::input) {
  return getError(makeModel(functions, graph), failure);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

TEST(OnnxFunctions, Nested) {
  std::string layer = function("layer", {"a", "w", "b"}, {"r"},
                               node("MatMul", "m", {"a", "w"}, {"h"}) +
                                   node("Add", "s", {"h", "b"}, {"r"}));
  std::string block = function("block", {"a", "w", "b"}, {"r"},
                               call("layer", "l", {"a", "w", "b"}, {"h"}) +
                                   node("Relu", "act", {"h"}, {"r"}));
  std::string weights =
      weight("w1", {3, 3}) + weight("w2", {3, 3}) + weight("b", {3});
  expectEqual(layer + block,
              kPorts + weights + call("block", "one", {"x", "w1", "b"}, {"h"}) +
                  call("block", "two", {"h", "w2", "b"}, {"y"}),
              kPorts + weights + node("MatMul", "1", {"x", "w1"}, {"a"}) +
                  node("Add", "2", {"a", "b"}, {"b1"}) +
                  node("Relu", "3", {"b1"}, {"h"}) +
                  node("MatMul", "4", {"h", "w2"}, {"c"}) +
                  node("Add", "5", {"c", "b"}, {"b2"}) +
                  node("Relu", "6", {"b2"}, {"y"}));
}

/// Gives the first function a default for one of its attributes. This is field
/// 11, `attribute_proto`, of newer versions of ONNX, which the schema of this
/// build lacks.
void addDefault(::onnx::ModelProto &model, const std::string &name,
                float value) {
  ::onnx::AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
  ::onnx::FunctionProto &function = *model.mutable_functions(0);
  function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
      11, attribute.SerializeAsString());
}

TEST(OnnxFunctions, Attributes) {
  std::string leaky = function(
      "leaky", {"a"}, {"r"},
      node("LeakyRelu", "l", {"a"}, {"r"}, reference("alpha", "slope")));
  std::string inner = leaky + function("outer", {"a"}, {"r"},
                                       call("leaky", "c", {"a"}, {"r"},
                                            reference("slope", "steep")));
  auto plain = [](double alpha) {
    return getText(makeModel("", kPorts + node("LeakyRelu", "l", {"x"}, {"y"},
                                               attribute("alpha", alpha))));
  };
  // The call gives the attribute, also through another function.
  EXPECT_EQ(getText(makeModel(leaky, kPorts + call("leaky", "c", {"x"}, {"y"},
                                                   attribute("slope", 0.25)))),
            plain(0.25));
  EXPECT_EQ(getText(makeModel(inner, kPorts + call("outer", "c", {"x"}, {"y"},
                                                   attribute("steep", 0.125)))),
            plain(0.125));
  // Without a value from the call, the operator's default holds.
  ::onnx::ModelProto model =
      makeModel(leaky, kPorts + call("leaky", "c", {"x"}, {"y"}));
  EXPECT_EQ(getText(model), plain(0.01));
  // The function's default takes precedence over the operator's, and the call's
  // value over both.
  addDefault(model, "slope", 0.5);
  EXPECT_EQ(getText(model), plain(0.5));
  model = makeModel(leaky, kPorts + call("leaky", "c", {"x"}, {"y"},
                                         attribute("slope", 0.75)));
  addDefault(model, "slope", 0.5);
  EXPECT_EQ(getText(model), plain(0.75));
}

TEST(OnnxFunctions, AbsentOperandsAndResults) {
  std::string clip = function("clip", {"a", "low", "high"}, {"r", "twice"},
                              node("Clip", "c", {"a", "low", "high"}, {"r"}) +
                                  node("Add", "d", {"r", "r"}, {"twice"}));
  std::string bound = "initializer { name: 'k' data_type: 1 float_data: 0.5 }";
  for (std::vector<std::string> operands :
       std::vector<std::vector<std::string>>{
           {"x"}, {"x", "k"}, {"x", "", "k"}, {"x", "k", "k"}}) {
    expectEqual(clip, kPorts + bound + call("clip", "f", operands, {"y"}),
                kPorts + bound + node("Clip", "c", operands, {"y"}));
    expectEqual(clip, kPorts + bound + call("clip", "f", operands, {"", "y"}),
                kPorts + bound + node("Clip", "c", operands, {"r"}) +
                    node("Add", "d", {"r", "r"}, {"y"}));
  }
}

/// An output of a function may be one of its inputs, or the same value as
/// another output.
TEST(OnnxFunctions, CopiedOutputs) {
  std::string copies = function("copies", {"a"}, {"a", "r", "r"},
                                node("Exp", "e", {"a"}, {"r"}));
  expectEqual(copies,
              kPorts + call("copies", "f", {"x"}, {"p", "q", "s"}) +
                  node("Sum", "t", {"p", "q", "s"}, {"y"}),
              kPorts + node("Exp", "e", {"x"}, {"q"}) +
                  node("Sum", "t", {"x", "q", "q"}, {"y"}));
}

TEST(OnnxFunctions, Branches) {
  std::string square =
      function("square", {"a"}, {"r"}, node("Mul", "m", {"a", "a"}, {"r"}));
  std::string chosen = function(
      "chosen", {"c", "a"}, {"r"},
      node("Exp", "e", {"a"}, {"h"}) +
          node("If", "if", {"c"}, {"r"},
               graphAttribute("then_branch", call("square", "s", {"h"}, {"t"}) +
                                                 port("output", "t", {2, 3})) +
                   graphAttribute("else_branch",
                                  "initializer { name: 'k' data_type: 1 "
                                  "float_data: 0.5 }" +
                                      node("Add", "a", {"h", "k"}, {"t"}) +
                                      port("output", "t", {2, 3}))));
  auto condition = [](int value) {
    return "initializer { name: 'c' data_type: 9 int32_data: " +
           std::to_string(value) + " } ";
  };
  std::string twice = call("chosen", "one", {"c", "x"}, {"h"}) +
                      call("chosen", "two", {"c", "h"}, {"y"});
  expectEqual(square + chosen, kPorts + condition(1) + twice,
              kPorts + node("Exp", "1", {"x"}, {"a"}) +
                  node("Mul", "2", {"a", "a"}, {"h"}) +
                  node("Exp", "3", {"h"}, {"b"}) +
                  node("Mul", "4", {"b", "b"}, {"y"}));
  std::string half = "initializer { name: 'k' data_type: 1 float_data: 0.5 }";
  // Initializers inside of branches are constants rather than variables.
  std::string text =
      getText(makeModel(square + chosen, kPorts + condition(0) + twice));
  EXPECT_EQ(text.find("hfta.variable"), std::string::npos) << text;
  EXPECT_EQ(text.find("hfta.mul"), std::string::npos) << text;
  // Branches outside of functions may call functions, too.
  expectEqual(
      square,
      kPorts + condition(1) +
          node("If", "if", {"c"}, {"y"},
               graphAttribute("then_branch", call("square", "s", {"x"}, {"t"}) +
                                                 port("output", "t", {2, 3})) +
                   graphAttribute("else_branch", port("output", "x", {2, 3}))),
      kPorts + node("Mul", "m", {"x", "x"}, {"y"}));
}

/// Expanded calls have values with unique names, even if calls have equal names
/// or none. Messages name the calls that lead to a node.
TEST(OnnxFunctions, Names) {
  std::string inner = function(
      "inner", {"a"}, {"r"},
      node("Exp", "e", {"a"}, {"h"}) +
          node("Transpose", "", {"h"}, {"r"}, listAttribute("perm", {0, 5})));
  std::string outer =
      function("outer", {"a"}, {"r"}, call("inner", "in", {"a"}, {"r"}));
  std::string reason = " (Transpose): attribute 'perm' = [0, 5] is no "
                       "permutation of 2 axes";
  EXPECT_EQ(
      getError(inner + outer, kPorts + call("outer", "out", {"x"}, {"y"})),
      "node 'out/in/r'" + reason);
  EXPECT_EQ(getError(inner, kPorts + call("inner", "", {"x"}, {"y"})),
            "node 'y/r'" + reason);
  std::string twice =
      function("twice", {"a"}, {"r"},
               node("Exp", "e", {"a"}, {"h"}) + node("Neg", "n", {"h"}, {"r"}));
  expectEqual(
      twice,
      kPorts + call("twice", "c", {"x"}, {"c/h"}) +
          call("twice", "c", {"c/h"}, {"y"}),
      kPorts + node("Exp", "1", {"x"}, {"a"}) + node("Neg", "2", {"a"}, {"b"}) +
          node("Exp", "3", {"b"}, {"c"}) + node("Neg", "4", {"c"}, {"y"}));
}

/// A function's nodes are read by the function's operator set, here 12, in
/// which Softmax flattens its operand.
TEST(OnnxFunctions, OperatorSets) {
  std::string ports =
      port("input", "x", {2, 3, 4}) + port("output", "y", {2, 3, 4});
  std::string old =
      function("old", {"a"}, {"r"}, node("Softmax", "s", {"a"}, {"r"}),
               "opset_import { version: 12 }");
  expectEqual(old, ports + call("old", "c", {"x"}, {"y"}),
              ports + node("Softmax", "s", {"x"}, {"y"}), 12);
  // The operator set of a function also holds for branches in it.
  std::string yes = "initializer { name: 'c' data_type: 9 int32_data: 1 } ";
  std::string branches = function(
      "old", {"c", "a"}, {"r"},
      node("If", "if", {"c"}, {"r"},
           graphAttribute("then_branch", node("Softmax", "s", {"a"}, {"t"}) +
                                             port("output", "t", {2, 3, 4})) +
               graphAttribute("else_branch", port("output", "a", {2, 3, 4}))),
      "opset_import { domain: 'ai.onnx' version: 12 }");
  expectEqual(branches, ports + yes + call("old", "c", {"c", "x"}, {"y"}),
              ports + node("Softmax", "s", {"x"}, {"y"}), 12);
  // A graph that only calls functions needs no operator set of ONNX.
  ::onnx::ModelProto model =
      makeModel(old, ports + call("old", "c", {"x"}, {"y"}));
  model.mutable_opset_import()->DeleteSubrange(0, 1);
  EXPECT_NE(getText(model), "");
}

/// A function takes precedence over the operator of ONNX with its name. The
/// field `overload` of newer versions of ONNX distinguishes functions with the
/// same name.
TEST(OnnxFunctions, Lookup) {
  ::onnx::ModelProto model =
      makeModel(function("Relu", {"a"}, {"r"}, node("Exp", "e", {"a"}, {"r"})),
                kPorts + node("Relu", "c", {"x"}, {"y"}));
  model.mutable_functions(0)->set_domain("ai.onnx");
  EXPECT_NE(getText(model).find("hfta.exp"), std::string::npos);
  model =
      makeModel(function("f", {"a"}, {"r"}, node("Exp", "e", {"a"}, {"r"})) +
                    function("f", {"a"}, {"r"}, node("Neg", "n", {"a"}, {"r"})),
                kPorts + call("f", "c", {"x"}, {"y"}));
  EXPECT_EQ(getError(model, OnnxFailure::input),
            "two functions are called 'my::f'");
  ::onnx::FunctionProto &second = *model.mutable_functions(1);
  second.GetReflection()->MutableUnknownFields(&second)->AddLengthDelimited(
      13, "b");
  EXPECT_NE(getText(model).find("hfta.exp"), std::string::npos);
  ::onnx::NodeProto &node = *model.mutable_graph()->mutable_node(0);
  node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(8, "b");
  EXPECT_NE(getText(model).find("hfta.neg"), std::string::npos);
}

/// A file may define Hfta's own operators as functions, so that other runtimes
/// can run it. The importer ignores these functions, because they can't express
/// an operator's effect on gradients. It expands other functions of domain
/// `hfta`.
TEST(OnnxFunctions, OwnOperators) {
  std::string own = "domain: 'hfta' ";
  std::string stop = node("StopGradient", "s", {"x"}, {"h"}, own);
  std::string defined = function("StopGradient", {"a"}, {"r"},
                                 node("Identity", "i", {"a"}, {"r"}));
  std::string other =
      function("other", {"a"}, {"r"}, node("Exp", "e", {"a"}, {"r"}));
  std::string caller = function("caller", {"a"}, {"r"},
                                node("StopGradient", "s", {"a"}, {"h"}, own) +
                                    node("other", "o", {"h"}, {"r"}, own));
  std::string expected =
      getText(makeModel("", kPorts + stop + node("Exp", "e", {"h"}, {"y"})));
  EXPECT_NE(expected.find("hfta.stop_gradient"), std::string::npos);
  for (const std::string &nodes : {stop + node("other", "o", {"h"}, {"y"}, own),
                                   call("caller", "c", {"x"}, {"y"})}) {
    ::onnx::ModelProto model =
        makeModel(defined + other + caller, kPorts + nodes);
    model.mutable_functions(0)->set_domain("hfta");
    model.mutable_functions(1)->set_domain("hfta");
    EXPECT_EQ(getText(model), expected);
  }
}

/// An initializer has the same role (parameter, constant, running statistics)
/// whether a node reads it directly or within a function.
TEST(OnnxFunctions, Roles) {
  std::string block = function(
      "block", {"a", "shape", "scale", "shift", "mean", "variance"}, {"r"},
      node("Reshape", "s", {"a", "shape"}, {"h"}) +
          node("Identity", "i", {"scale"}, {"same"}) +
          node("BatchNormalization", "n",
               {"h", "same", "shift", "mean", "variance"}, {"r"}));
  std::string graph =
      port("input", "x", {2, 3}) + port("output", "y", {2, 3, 1}) +
      integers("shape", {2, 3, 1}) + weight("scale", {3}) +
      weight("shift", {3}) + weight("mean", {3}) + weight("variance", {3});
  std::vector<std::string> operands = {"x",     "shape", "scale",
                                       "shift", "mean",  "variance"};
  expectEqual(block, graph + call("block", "b", operands, {"y"}),
              graph + node("Reshape", "s", {"x", "shape"}, {"h"}) +
                  node("BatchNormalization", "b/n",
                       {"h", "scale", "shift", "mean", "variance"}, {"y"}));
}

//===----------------------------------------------------------------------===//
// Wrong functions
//===----------------------------------------------------------------------===//

TEST(OnnxFunctions, Recursion) {
  std::string one = function("f", {"a"}, {"r"}, call("g", "c", {"a"}, {"r"}));
  std::string other = function("g", {"a"}, {"r"}, call("f", "d", {"a"}, {"r"}));
  EXPECT_EQ(getError(one + other, kPorts + call("f", "n", {"x"}, {"y"})),
            "node 'n/c/d' (f): function 'my::f' calls itself: my::f → my::g → "
            "my::f");
  // A recursive function that isn't called is no error.
  EXPECT_NE(
      getText(makeModel(one + other, kPorts + node("Relu", "r", {"x"}, {"y"}))),
      "");
}

TEST(OnnxFunctions, Unknown) {
  std::string f = function("f", {"a"}, {"r"}, call("h", "c", {"a"}, {"r"}));
  EXPECT_EQ(getError(f, kPorts + call("g", "n", {"x"}, {"y"}),
                     OnnxFailure::unsupported),
            "node 'n' (g): the file has no function 'my::g'");
  EXPECT_EQ(getError(f, kPorts + call("f", "n", {"x"}, {"y"}),
                     OnnxFailure::unsupported),
            "node 'n/c' (h): the file has no function 'my::h'");
}

TEST(OnnxFunctions, WrongCalls) {
  std::string f = function("f", {"a"}, {"r"}, node("Exp", "e", {"a"}, {"r"}));
  EXPECT_EQ(getError(f, kPorts + call("f", "n", {"x", "x"}, {"y"})),
            "node 'n' (f): has 2 operands, function 'my::f' has 1");
  EXPECT_EQ(getError(f, kPorts + call("f", "n", {"x"}, {"y", "z"})),
            "node 'n' (f): has 2 outputs, function 'my::f' has 1");
  EXPECT_EQ(getError(f, kPorts + call("f", "n", {}, {"y"})),
            "node 'n/e' (Exp): operand 0 is missing");
  EXPECT_EQ(getError("", kPorts + node("LeakyRelu", "l", {"x"}, {"y"},
                                       reference("alpha", "slope"))),
            "node 'l' (LeakyRelu): attribute 'alpha' stands for 'slope' of a "
            "function, but the node is in none");
}

TEST(OnnxFunctions, WrongFunctions) {
  std::string graph = kPorts + call("f", "n", {"x"}, {"y"});
  std::string exp = node("Exp", "e", {"a"}, {"r"});
  EXPECT_EQ(getError(function("f", {"a"}, {"r"}, exp, ""), graph),
            "node 'n' (f): function 'my::f' names no operator set of ONNX");
  EXPECT_EQ(
      getError(function("f", {"a"}, {"r"}, exp, "opset_import { version: 29 }"),
               graph, OnnxFailure::unsupported),
      "node 'n' (f): function 'my::f' uses operator set 29, which is not "
      "supported (at most 28)");
  EXPECT_EQ(getError(function("f", {"a"}, {"q"}, exp), graph),
            "node 'n' (f): function 'my::f' defines no value for its output "
            "'q'");
  EXPECT_EQ(
      getError(function("f", {"a"}, {"r"}, node("Add", "s", {"a", "x"}, {"r"})),
               graph),
      "node 'n/s' (Add): reads 'n/x', which nothing defines");
  EXPECT_EQ(getError(function("f", {"a"}, {"r"},
                              node("Exp", "e", {"a"}, {"a"}) + exp),
                     graph),
            "node 'n' (f): function 'my::f' defines its value 'a' twice");
}

/// The number of expanded nodes and the depth of nested calls are limited. A
/// small file can reach 2^40 nodes by functions that each call another one
/// twice.
TEST(OnnxFunctions, Growth) {
  auto chain = [](int count, bool twice) {
    std::string text =
        function("f0", {"a"}, {"r"}, node("Exp", "e", {"a"}, {"r"}));
    for (int i = 1; i <= count; ++i) {
      std::string before = "f" + std::to_string(i - 1);
      text += function("f" + std::to_string(i), {"a"}, {"r"},
                       call(before, "c", {"a"}, {twice ? "h" : "r"}) +
                           (twice ? call(before, "d", {"h"}, {"r"}) : ""));
    }
    return text;
  };
  EXPECT_NE(getError(chain(40, true), kPorts + call("f40", "n", {"x"}, {"y"}),
                     OnnxFailure::unsupported)
                .find("the file's functions hold more than 65536 nodes"),
            std::string::npos);
  EXPECT_NE(getError(chain(200, false),
                     kPorts + call("f200", "n", {"x"}, {"y"}),
                     OnnxFailure::unsupported)
                .find("functions and branches are nested more than 100 deep"),
            std::string::npos);
  EXPECT_NE(getText(makeModel(chain(90, false),
                              kPorts + call("f90", "n", {"x"}, {"y"}))),
            "");
}

/// The limit on expanded nodes also counts those that copy a function's input
/// to its outputs.
TEST(OnnxFunctions, GrowthByCopies) {
  std::vector<std::string> copies(100, "a"), results = {"r"};
  for (int i = 1; i < 100; ++i)
    results.push_back("h" + std::to_string(i));
  std::string text =
      function("f0", {"a"}, copies, "") +
      function("f1", {"a"}, {"r"}, call("f0", "c", {"a"}, results));
  for (int i = 2; i < 12; ++i) {
    std::string before = "f" + std::to_string(i - 1);
    text += function("f" + std::to_string(i), {"a"}, {"r"},
                     call(before, "c", {"a"}, {"h"}) +
                         call(before, "d", {"h"}, {"r"}));
  }
  EXPECT_NE(getError(text, kPorts + call("f11", "n", {"x"}, {"y"}),
                     OnnxFailure::unsupported)
                .find("the file's functions hold more than 65536 nodes"),
            std::string::npos);
}

/// Each node that refers to an attribute of its call gets a copy of the
/// attribute. The memory of these copies is limited, too.
TEST(OnnxFunctions, GrowthByAttributes) {
  std::string nodes;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back("k" + std::to_string(i));
    nodes += node("Constant", names.back(), {}, {names.back()},
                  "attribute { name: 'value' ref_attr_name: 'value' type: "
                  "TENSOR } ");
  }
  ::onnx::ModelProto model = makeModel(
      function("f", {}, {"r"}, nodes + node("Sum", "s", names, {"r"})),
      port("output", "y", {1 << 23}) + call("f", "n", {}, {"y"}));
  ::onnx::AttributeProto &attribute =
      *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("value");
  attribute.set_type(::onnx::AttributeProto::TENSOR);
  attribute.mutable_t()->set_data_type(1);
  attribute.mutable_t()->add_dims(1 << 23);
  attribute.mutable_t()->mutable_raw_data()->resize(1 << 25);
  std::string error = getError(model, OnnxFailure::unsupported);
  EXPECT_NE(error.find("or 512 MiB, where they are called"), std::string::npos)
      << error;
}

//===----------------------------------------------------------------------===//
// Dead nodes
//===----------------------------------------------------------------------===//

TEST(OnnxDeadNodes, AreDropped) {
  std::string live =
      kPorts + weight("w", {3}) + node("Add", "a", {"x", "w"}, {"y"});
  std::string f = function("f", {"a"}, {"r"}, node("Exp", "e", {"a"}, {"r"}));
  for (const std::string &dead :
       {node("NonZero", "n", {"x"}, {"d"}),
        node("NonZero", "n", {"y"}, {"d"}) + node("Fancy", "m", {"d"}, {"e"}),
        node("Fancy", "n", {"w"}, {"d"}, "domain: 'com.example' "),
        call("g", "n", {"x"}, {"d"}),
        node("Cast", "n", {"x"}, {"d"}, attribute("to", int64_t(8))),
        node("Print", "n", {"x"}, {}),
        "initializer { name: 's' data_type: 8 string_data: 't' } " +
            node("Equal", "n", {"s", "s"}, {"d"}),
        std::string("initializer { name: 's' data_type: 8 } "),
        // If this node were imported, `w` would be a constant shape rather than
        // a trained parameter.
        node("Reshape", "n", {"x", "w"}, {"d"})})
    EXPECT_EQ(getText(makeModel(f, live + dead)), getText(makeModel("", live)))
        << dead;
}

/// If only dead nodes read an output, it counts as unused. Dropout's mask is
/// supported only if it is unused.
TEST(OnnxDeadNodes, UnusedOutputs) {
  auto dropout = [](const std::string &more) {
    return kPorts + node("Dropout", "d", {"x"}, {"y", "mask"}) + more;
  };
  EXPECT_EQ(getText(makeModel("", dropout(node("Not", "n", {"mask"}, {"m"})))),
            getText(makeModel("", dropout(""))));
  EXPECT_EQ(getError("", dropout("output { name: 'mask' }"),
                     OnnxFailure::unsupported),
            "node 'd' (Dropout): its mask is read, which a job does not "
            "support");
}

TEST(OnnxDeadNodes, InsideOfBranchesAndFunctions) {
  std::string yes = "initializer { name: 'c' data_type: 9 int32_data: 1 } ";
  std::string branch =
      node("Exp", "e", {"x"}, {"t"}) + node("NonZero", "n", {"outer"}, {"d"}) +
      node("Fancy", "m", {"d"}, {"f"}) + port("output", "t", {2, 3});
  expectEqual(
      "",
      kPorts + yes + node("NonZero", "o", {"x"}, {"outer"}) +
          node("If", "if", {"c"}, {"y"},
               graphAttribute("then_branch", branch) +
                   graphAttribute("else_branch", port("output", "x", {2, 3}))),
      kPorts + node("Exp", "e", {"x"}, {"y"}));
  std::string f = function("f", {"a"}, {"r", "s"},
                           node("Exp", "e", {"a"}, {"r"}) +
                               node("NonZero", "n", {"a"}, {"s"}) +
                               node("NonZero", "m", {"a"}, {"d"}));
  expectEqual(f, kPorts + call("f", "c", {"x"}, {"y"}),
              kPorts + node("Exp", "e", {"x"}, {"y"}));
}

/// A node isn't dead if an output of the graph depends on it. An invalid file
/// is refused even if only dead nodes or unused initializers are wrong.
TEST(OnnxDeadNodes, AreChecked) {
  EXPECT_EQ(getError("",
                     kPorts + node("Relu", "r", {"x"}, {"y"}) +
                         node("NonZero", "n", {"x"}, {"z"}) +
                         "output { name: 'z' }",
                     OnnxFailure::unsupported),
            "node 'n' (NonZero): operator is not supported (operator set 17)");
  std::string live = kPorts + node("Relu", "r", {"x"}, {"y"});
  EXPECT_EQ(getError("", live + node("Exp", "e", {"nowhere"}, {"z"})),
            "node 'e' (Exp): reads 'nowhere', which nothing defines");
  EXPECT_EQ(getError("", live + node("Exp", "e", {"z"}, {"z"})),
            "node 'e' (Exp): reads its own result: e");
  EXPECT_EQ(getError("", live + "initializer { name: 'w' data_type: 1 dims: 3 "
                                "float_data: 1 }"),
            "initializer 'w': data of 4 bytes, expected 12");
}

} // namespace
