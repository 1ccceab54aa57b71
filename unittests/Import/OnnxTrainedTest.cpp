//===- OnnxTrainedTest.cpp - Which initializers are trained ---------------===//

#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "OnnxTestModel.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::test;

namespace {

/// The rule that decided whether an initializer is trained, by its name.
using Rules = std::map<std::string, TrainingRule>;

/// Returns the rules noted on the variables of an imported model.
Rules getRules(const Imported &imported) {
  Rules rules;
  if (!imported.model)
    ADD_FAILURE() << (imported.messages.empty() ? "no model"
                                                : imported.messages[0]);
  else
    for (auto variable : ModelOp(imported.model).getOps<VariableOp>()) {
      TrainingRule rule = getTrainingRule(variable);
      EXPECT_EQ(variable.getTrained(), isTrained(rule));
      rules[variable.getOwnName()] = rule;
    }
  return rules;
}

OnnxImportOptions batchOf2() {
  OnnxImportOptions options;
  options.microBatch = 2;
  return options;
}

/// Imports a graph, given without its ports: input x and output y, both [batch,
/// 4]. `list` is the metadata entry `hfta.parameters`. Returns the rules.
Rules import(const std::string &graph,
             std::optional<std::string> list = std::nullopt,
             const OnnxImportOptions &options = batchOf2(),
             int64_t opset = 17) {
  ::onnx::ModelProto model = makeModel(port("input", "x", {-1, 4}) + graph +
                                           port("output", "y", {-1, 4}),
                                       opset);
  if (list) {
    auto *entry = model.add_metadata_props();
    entry->set_key("hfta.parameters");
    entry->set_value(*list);
  }
  return getRules(Importer().import(model, options));
}

/// Imports a model whose metadata entry `hfta.parameters` is `list`, and checks
/// that this fails. Returns the messages.
std::vector<std::string> importBad(const std::string &list) {
  ::onnx::ModelProto model = makeModel(
      port("input", "x", {-1, 4}) + weight("w", {4}) + integers("axes", {1}) +
      node("Mul", "m", {"x", "w"}, {"y"}) + port("output", "y", {-1, 4}));
  auto *entry = model.add_metadata_props();
  entry->set_key("hfta.parameters");
  entry->set_value(list);
  Imported imported = Importer().import(model, batchOf2());
  EXPECT_FALSE(imported.model);
  EXPECT_EQ(imported.failure, OnnxFailure::input);
  return imported.messages;
}

const char *const kScalar =
    "initializer { name: 'temperature' data_type: 1 float_data: 3 }\n";

TEST(OnnxTrained, NamesOfAnExportersMaking) {
  Rules rules =
      import(weight("onnx::MatMul_7", {4, 4}) + weight("onnx::Add_8", {4}) +
             weight("val_3", {1}) + weight("block._tensor_constant0", {4}) +
             weight("/block/Constant_output_0", {4}) + weight("17", {4}) +
             weight("lifted_tensor_0", {4}) + weight("val_4", {4, 4}) +
             weight("table.0", {4}) + weight("val_scale", {4}) +
             node("MatMul", "a", {"x", "onnx::MatMul_7"}, {"a"}) +
             node("Add", "b", {"onnx::Add_8", "a"}, {"b"}) +
             node("Mul", "c", {"b", "val_3"}, {"c"}) +
             node("Add", "d", {"c", "block._tensor_constant0"}, {"d"}) +
             node("Add", "e", {"d", "/block/Constant_output_0"}, {"e"}) +
             node("Sub", "f", {"e", "17"}, {"f"}) +
             node("Mul", "g", {"f", "lifted_tensor_0"}, {"g"}) +
             node("Transpose", "t", {"val_4"}, {"t"}) +
             node("MatMul", "h", {"g", "t"}, {"h"}) +
             node("Mul", "i", {"h", "table.0"}, {"i"}) +
             node("Mul", "j", {"i", "val_scale"}, {"y"}));
  EXPECT_EQ(rules, (Rules{{"onnx::MatMul_7", TrainingRule::layer},
                          {"onnx::Add_8", TrainingRule::layer},
                          {"val_3", TrainingRule::exporter},
                          {"block._tensor_constant0", TrainingRule::exporter},
                          {"/block/Constant_output_0", TrainingRule::exporter},
                          {"17", TrainingRule::exporter},
                          {"lifted_tensor_0", TrainingRule::exporter},
                          {"val_4", TrainingRule::layer},
                          {"table.0", TrainingRule::parameter},
                          {"val_scale", TrainingRule::parameter}}));
}

/// Returns the rule for an initializer of this name, which a node subtracts
/// from the model's input.
TrainingRule ruleOfOperand(const std::string &name) {
  return import(weight(name, {4}) + node("Sub", "s", {"x", name}, {"y"}))[name];
}

TEST(OnnxTrained, NamesOfComputedConstants) {
  for (const char *name :
       {"arange", "view_1", "repeat_interleave", "_to_copy_2", "cos", "mul_17",
        "ConstantFolding/model/truediv_recip:0", "model/obs/Sqrt",
        "obs/sub/y:0", "model/Const:0", "model/Const_3:0", "a/truediv_recip:0"})
    EXPECT_EQ(ruleOfOperand(name), TrainingRule::exporter) << name;
  for (const char *name :
       {"arrange", "viewed", "mul_w", "mul_1_scale", "block.mul", "z", "x:0",
        "Const", "Const_3:0", "model/sub/ReadVariableOp:0", "input_AvgImg",
        "model/xy:0", "view_", "_1"})
    EXPECT_EQ(ruleOfOperand(name), TrainingRule::parameter) << name;
  // The weight of a layer is trained even if its name says that an exporter
  // computed it.
  EXPECT_EQ(import(weight("mul_3", {4, 4}) +
                   node("MatMul", "m", {"x", "mul_3"}, {"y"})),
            (Rules{{"mul_3", TrainingRule::layer}}));
}

/// Returns the importer's notes on what is trained in a graph.
std::vector<std::string>
getNotes(const std::string &graph,
         const OnnxImportOptions &options = batchOf2()) {
  Imported imported =
      Importer().import(makeModel(port("input", "x", {-1, 4}) + graph +
                                  port("output", "y", {-1, 4})),
                        options);
  std::vector<std::string> notes;
  if (!imported.model) {
    ADD_FAILURE() << imported.messages[0];
    return notes;
  }
  if (auto texts =
          imported.model->getAttrOfType<ArrayAttr>(kTrainingNotesAttrName))
    for (auto text : texts.getAsRange<StringAttr>())
      notes.push_back(text.str());
  return notes;
}

TEST(OnnxTrained, TensorsThatLookLikeConstants) {
  using Notes = std::vector<std::string>;
  auto operand = [](const char *op, const char *name) {
    return weight(name, {4}) + node(op, "n", {"x", name}, {"y"});
  };
  EXPECT_EQ(getNotes(operand("Sub", "input_AvgImg")),
            (Notes{"1 trained tensor looks like a constant ('input_AvgImg'): "
                   "freeze \"...\" keeps it"}));
  for (const char *op : {"Add", "Div", "Mul", "Sub"})
    EXPECT_EQ(getNotes(operand(op, "obs/ReadVariableOp:0")).size(), 1u) << op;
  for (const char *name : {"w", "W_1", "b0", "block.0", "my_scale", "LayerBias",
                           "pos_embedding", "gamma", "arange"})
    EXPECT_EQ(getNotes(operand("Mul", name)), Notes()) << name;
  // A layer's weight and bias don't look like constants, whatever their names.
  EXPECT_EQ(getNotes(weight("first", {4, 4}) + weight("second", {4}) +
                     node("MatMul", "m", {"x", "first"}, {"m"}) +
                     node("Add", "a", {"m", "second"}, {"y"})),
            Notes());
  OnnxImportOptions options = batchOf2();
  options.freeze = {"input*"};
  EXPECT_EQ(getNotes(operand("Sub", "input_AvgImg"), options), Notes());
}

/// Returns the text of a Constant node that holds floats 0.25, 0.5, …
std::string constant(const std::string &name, std::vector<int64_t> shape) {
  std::string tensor = weight("t", std::move(shape));
  tensor = tensor.substr(tensor.find('{'));
  return node("Constant", name, {}, {name},
              "attribute { name: 'value' type: TENSOR t " + tensor + " }");
}

TEST(OnnxTrained, ConstantsOfLayers) {
  using Notes = std::vector<std::string>;
  std::string graph =
      constant("w", {4, 4}) + constant("b", {4}) + constant("offset", {4}) +
      node("MatMul", "m", {"x", "w"}, {"m"}) +
      node("Add", "a", {"m", "b"}, {"a"}) + node("Relu", "r", {"a"}, {"r"}) +
      node("Mul", "c", {"r", "offset"}, {"y"});
  EXPECT_EQ(import(graph), Rules());
  EXPECT_EQ(
      getNotes(graph),
      (Notes{"2 constants of layers are not trained ('b', 'w'): trainable "
             "\"...\" names them"}));
  OnnxImportOptions options = batchOf2();
  options.trainable = {"*"};
  EXPECT_EQ(
      import(graph, std::nullopt, options),
      (Rules{{"b", TrainingRule::trainable}, {"w", TrainingRule::trainable}}));
  EXPECT_EQ(getNotes(graph, options), Notes());
  // The list in the file may name any constant, also one of no layer.
  EXPECT_EQ(
      import(graph, "w\noffset"),
      (Rules{{"w", TrainingRule::listed}, {"offset", TrainingRule::listed}}));
  options.trainable = {"w"};
  options.freeze = {"b"};
  Imported imported =
      Importer().import(makeModel(port("input", "x", {-1, 4}) + graph +
                                  port("output", "y", {-1, 4})),
                        options);
  EXPECT_EQ(imported.messages,
            (std::vector<std::string>{
                "freeze pattern 'b' matches no parameter of the model"}));
  // If nothing is trained, they stay constants even though the file lists them.
  options = batchOf2();
  options.training = false;
  EXPECT_EQ(import(graph, "w", options), Rules());
}

TEST(OnnxTrained, ConstantsOfEachLayer) {
  OnnxImportOptions options = batchOf2();
  options.trainable = {"*"};
  auto expect = [&](const std::string &graph, const Rules &rules) {
    EXPECT_EQ(import(graph, std::nullopt, options), rules) << graph;
  };
  constexpr TrainingRule kTrained = TrainingRule::trainable;
  expect(constant("w", {4, 4}) + constant("b", {4}) +
             node("Gemm", "g", {"x", "w", "b"}, {"y"}),
         {{"b", kTrained}, {"w", kTrained}});
  expect(constant("w", {4, 4}) + node("Transpose", "t", {"w"}, {"t"}) +
             node("MatMul", "m", {"x", "t"}, {"y"}),
         {{"w", kTrained}});
  expect(constant("w", {4, 4, 1}) + integers("axes", {2}) +
             node("Unsqueeze", "u", {"x", "axes"}, {"u"}) +
             node("Conv", "c", {"u", "w"}, {"c"}) +
             node("Squeeze", "s", {"c", "axes"}, {"y"}),
         {{"w", kTrained}});
  expect(constant("table", {4, 4}) + integers("rows", {0, 1}) +
             node("Gather", "g", {"table", "rows"}, {"g"}) +
             node("Add", "a", {"x", "g"}, {"y"}),
         {{"table", kTrained}});
  std::string norm =
      constant("s", {4}) + constant("b", {4}) + constant("m", {4}) +
      constant("v", {4}) +
      node("BatchNormalization", "n", {"x", "s", "b", "m", "v"}, {"y"});
  Rules rules{{"b", kTrained}, {"s", kTrained}};
  // The mean m and the variance v are running statistics: they are updated, not
  // trained.
  rules["m"] = rules["v"] = TrainingRule::none;
  expect(norm, rules);
}

TEST(OnnxTrained, ScoresAreNoLayer) {
  // A mask that is added to a product of two activations isn't a bias.
  Rules rules = import(weight("val_1", {2, 2}) + weight("val_2", {2, 4}) +
                       node("Transpose", "t", {"x"}, {"t"}) +
                       node("MatMul", "s", {"x", "t"}, {"s"}) +
                       node("Add", "m", {"s", "val_1"}, {"m"}) +
                       node("MatMul", "v", {"m", "x"}, {"v"}) +
                       node("Add", "a", {"v", "val_2"}, {"y"}));
  EXPECT_EQ(rules, (Rules{{"val_1", TrainingRule::exporter},
                          {"val_2", TrainingRule::exporter}}));
}

TEST(OnnxTrained, GroupNormalization) {
  // Exporters write a group normalization as an InstanceNormalization with
  // scale 1 and shift 0, followed by the layer's own scale and shift.
  auto splat = [](const std::string &name, int value) {
    return "initializer { name: '" + name + "' dims: 2 data_type: 1 " +
           "float_data: " + std::to_string(value) +
           " float_data: " + std::to_string(value) + " }\n";
  };
  Rules rules = import(
      splat("val_1", 1) + splat("val_2", 0) + weight("val_3", {4, 1}) +
      weight("val_4", {4, 1}) + integers("groups", {0, 2, -1}) +
      integers("channels", {0, 4, 1}) + integers("flat", {0, 4}) +
      node("Reshape", "r", {"x", "groups"}, {"r"}) +
      node("InstanceNormalization", "n", {"r", "val_1", "val_2"}, {"n"}) +
      node("Reshape", "c", {"n", "channels"}, {"c"}) +
      node("Mul", "m", {"c", "val_3"}, {"m"}) +
      node("Add", "a", {"m", "val_4"}, {"a"}) +
      node("Reshape", "f", {"a", "flat"}, {"y"}));
  EXPECT_EQ(rules, (Rules{{"val_1", TrainingRule::exporter},
                          {"val_2", TrainingRule::exporter},
                          {"val_3", TrainingRule::layer},
                          {"val_4", TrainingRule::layer}}));
}

TEST(OnnxTrained, NormalizationsOfNewerSets) {
  Rules rules = import(
      weight("val_1", {4}) + weight("val_2", {4}) + weight("val_3", {4}) +
          node("GroupNormalization", "g", {"x", "val_1", "val_2"}, {"g"},
               attribute("num_groups", int64_t(2))) +
          node("RMSNormalization", "r", {"g", "val_3"}, {"y"}),
      std::nullopt, batchOf2(), 23);
  EXPECT_EQ(rules, (Rules{{"val_1", TrainingRule::layer},
                          {"val_2", TrainingRule::layer},
                          {"val_3", TrainingRule::layer}}));
}

TEST(OnnxTrained, TheFilesList) {
  std::string graph = weight("w", {4, 4}) + weight("rotary.cos", {4}) +
                      weight("val_3", {4}) + kScalar +
                      node("MatMul", "a", {"x", "w"}, {"a"}) +
                      node("Mul", "b", {"a", "rotary.cos"}, {"b"}) +
                      node("Mul", "c", {"b", "val_3"}, {"c"}) +
                      node("Mul", "d", {"c", "temperature"}, {"y"});
  EXPECT_EQ(import(graph), (Rules{{"w", TrainingRule::parameter},
                                  {"rotary.cos", TrainingRule::parameter},
                                  {"val_3", TrainingRule::exporter}}));
  EXPECT_EQ(import(graph, "val_3\nw\ntemperature"),
            (Rules{{"w", TrainingRule::listed},
                   {"rotary.cos", TrainingRule::unlisted},
                   {"val_3", TrainingRule::listed},
                   {"temperature", TrainingRule::listed}}));
  EXPECT_EQ(import(graph, "[\"val_3\", \"w\",\n\"temperature\"]"),
            import(graph, "val_3\nw\ntemperature"));
  EXPECT_EQ(import(graph, "[]"), import(graph, ""));
  OnnxImportOptions options = batchOf2();
  options.freeze = {"*"};
  options.trainable = {"rotary*", "temp*"};
  EXPECT_EQ(import(graph, "w", options),
            (Rules{{"w", TrainingRule::freeze},
                   {"rotary.cos", TrainingRule::trainable},
                   {"val_3", TrainingRule::freeze},
                   {"temperature", TrainingRule::trainable}}));
  options.training = false;
  options.freeze = options.trainable = {};
  EXPECT_EQ(import(graph, "w", options),
            (Rules{{"w", TrainingRule::none},
                   {"rotary.cos", TrainingRule::none},
                   {"val_3", TrainingRule::none}}));
}

TEST(OnnxTrained, AListOfNothing) {
  EXPECT_EQ(import(weight("w", {4}) + node("Mul", "m", {"x", "w"}, {"y"}), ""),
            (Rules{{"w", TrainingRule::unlisted}}));
}

TEST(OnnxTrained, FreshInitializationKeepsWhatIsNoParameter) {
  OnnxImportOptions options = batchOf2();
  options.freshInitialization = true;
  ::onnx::ModelProto model = makeModel(
      port("input", "x", {-1, 4}) + weight("w", {4, 4}) + weight("val_3", {4}) +
      node("MatMul", "a", {"x", "w"}, {"a"}) +
      node("Mul", "c", {"a", "val_3"}, {"y"}) + port("output", "y", {-1, 4}));
  Imported imported = Importer().import(model, options);
  ASSERT_TRUE(imported.model);
  EXPECT_TRUE(imported.contains("@w {initial = #hfta.uniform"));
  EXPECT_TRUE(imported.contains("@val_3 {hfta.training_rule = \"exporter\", "
                                "initial = dense<[2.500000e-01"));
}

TEST(OnnxTrained, ListsOfAnyLineEnds) {
  std::string graph = weight("w", {4}) + weight("v", {4}) +
                      node("Mul", "m", {"x", "w"}, {"z"}) +
                      node("Mul", "n", {"z", "v"}, {"y"});
  Rules both = import(graph, "w\nv");
  EXPECT_TRUE(isTrained(both["v"]));
  for (const char *list :
       {"w\nv\n", "w\r\nv", "w\r\nv\r\n", "w\nv\n\n", "[\"w\", \"v\"]\n"})
    EXPECT_EQ(import(graph, list), both) << list;
  EXPECT_EQ(import(graph, "\n"), import(graph, ""));
}

TEST(OnnxTrained, BadLists) {
  using Messages = std::vector<std::string>;
  EXPECT_EQ(importBad("w\nv\naxes"),
            (Messages{"metadata entry 'hfta.parameters' lists 'v', which is no "
                      "initializer of the file",
                      "metadata entry 'hfta.parameters' lists 'axes', which "
                      "holds no floats"}));
  for (const char *list : {"w\n\nw", "w\r\n\r\nw", "w\n \n"})
    EXPECT_EQ(importBad(list).front(),
              list == std::string("w\n \n")
                  ? "metadata entry 'hfta.parameters' lists ' ', which is no "
                    "initializer of the file"
                  : "metadata entry 'hfta.parameters' holds no name in line "
                    "2");
  EXPECT_EQ(importBad("\x1b[0m\nw"),
            (Messages{"metadata entry 'hfta.parameters' holds no name in line "
                      "1"}));
}

/// Imports a batch normalization, or other `nodes` that compute y, where
/// initializers `mean` and `variance` are the running statistics. `frozen` is
/// the metadata entry `hfta.frozen_statistics`.
Imported
importNorm(const std::string &frozen,
           const std::string &nodes = node("BatchNormalization", "n",
                                           {"x", "s", "b", "mean", "variance"},
                                           {"y"})) {
  ::onnx::ModelProto model =
      makeModel(port("input", "x", {-1, 4}) + weight("s", {4}) +
                weight("b", {4}) + weight("mean", {4}) +
                weight("variance", {4}) + nodes + port("output", "y", {-1, 4}));
  auto *entry = model.add_metadata_props();
  entry->set_key("hfta.frozen_statistics");
  entry->set_value(frozen);
  return Importer().import(model, batchOf2());
}

TEST(OnnxTrained, FrozenStatistics) {
  using Messages = std::vector<std::string>;
  Imported frozen = importNorm("mean\nvariance");
  ASSERT_TRUE(frozen.model);
  EXPECT_TRUE(frozen.contains("hfta.frozen"));
  EXPECT_FALSE(frozen.contains("hfta.write"));
  EXPECT_EQ(importNorm("[\"variance\", \"mean\"]").text, frozen.text);
  EXPECT_TRUE(importNorm("").contains("hfta.write"));
  EXPECT_EQ(importNorm("mean").messages,
            (Messages{"node 'n' (BatchNormalization): metadata entry "
                      "'hfta.frozen_statistics' lists one of its running mean "
                      "and variance, expected both or neither"}));
  EXPECT_EQ(
      importNorm("mean\nvariance\ns\nother").messages,
      (Messages{"metadata entry 'hfta.frozen_statistics' lists 's', which "
                "is no batch normalization's running mean or variance",
                "metadata entry 'hfta.frozen_statistics' lists 'other', "
                "which is no batch normalization's running mean or "
                "variance"}));
  EXPECT_EQ(importNorm("[mean").messages,
            (Messages{"metadata entry 'hfta.frozen_statistics' begins like a "
                      "JSON array of names, but isn't one"}));
}

/// Nodes may read one initializer by several names, through Identity. Each name
/// then has its own running statistics, which only begin with the same values,
/// and is frozen on its own.
TEST(OnnxTrained, FrozenStatisticsOfSeveralNames) {
  auto import = [](const std::string &frozen) {
    return importNorm(
        frozen,
        node("Identity", "i", {"mean"}, {"m"}) +
            node("Identity", "j", {"variance"}, {"v"}) +
            node("BatchNormalization", "n", {"x", "s", "b", "mean", "variance"},
                 {"h"}) +
            node("BatchNormalization", "o", {"h", "s", "b", "m", "v"}, {"y"}));
  };
  auto findUpdated = [&](const std::string &frozen) {
    Imported imported = import(frozen);
    std::vector<std::string> names;
    if (imported.model)
      ModelOp(imported.model).walk([&](WriteOp write) {
        names.push_back(write.getVariable().str());
      });
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(findUpdated(""), (Names{"mean", "variance", "m", "v"}));
  EXPECT_EQ(findUpdated("m\nv"), (Names{"mean", "variance"}));
  EXPECT_EQ(findUpdated("mean\nvariance"), (Names{"m", "v"}));
  EXPECT_EQ(findUpdated("m\nv\nmean\nvariance"), Names());
  EXPECT_EQ(import("mean\nvariance\nm").messages,
            (Names{"node 'o' (BatchNormalization): metadata entry "
                   "'hfta.frozen_statistics' lists one of its running mean and "
                   "variance, expected both or neither"}));
}

/// Imports two batch normalizations, `n` and `o`, and a dropout `d`, and
/// returns the nodes that stay in evaluation mode. In operator sets before 14,
/// a node is in training mode if it has outputs for the batch's statistics.
std::vector<std::string> findKept(const std::string &more, int64_t opset,
                                  const std::vector<std::string> &outputs,
                                  const OnnxImportOptions &options) {
  std::string graph = port("input", "x", {-1, 4});
  for (const char *name : {"s", "b", "mean", "variance", "m", "v"})
    graph += weight(name, {4});
  ::onnx::ModelProto model = makeModel(
      graph +
          node("BatchNormalization", "n", {"x", "s", "b", "mean", "variance"},
               outputs, more) +
          node("BatchNormalization", "o", {"h", "s", "b", "m", "v"}, {"i"}) +
          node("Dropout", "d", {"i"}, {"y"}) + port("output", "y", {-1, 4}),
      opset);
  Imported imported = Importer().import(model, options);
  std::vector<std::string> names;
  if (imported.model)
    for (const ModalNode &node : getModalNodes(imported.model))
      if (isEvaluation(node.rule))
        names.push_back(node.name);
  return names;
}

TEST(OnnxTrained, Modes) {
  using Names = std::vector<std::string>;
  std::string training = attribute("training_mode", int64_t(1));
  Names all = {"h", "p", "q", "r", "t"};
  OnnxImportOptions options = batchOf2();
  EXPECT_EQ(findKept("", 17, {"h"}, options), Names());
  EXPECT_EQ(findKept(training, 17, {"h"}, options), (Names{"o", "d"}));
  EXPECT_EQ(findKept("", 9, {"h"}, options), Names());
  // This dropout has no mode.
  EXPECT_EQ(findKept("", 9, all, options), (Names{"o"}));
  options.evaluationMode = {"v", "[nd]"};
  options.trainingMode = {"d"};
  EXPECT_EQ(findKept("", 17, {"h"}, options), (Names{"n", "o"}));
  options.trainingMode = {"*"};
  EXPECT_EQ(findKept(training, 17, {"h"}, options), Names());
}

TEST(OnnxTrained, PatternsWithoutEffect) {
  OnnxImportOptions options = batchOf2();
  options.freeze = {"w", "v", "[a"};
  options.trainable = {"*", "u"};
  Imported imported = Importer().import(
      makeModel(port("input", "x", {-1, 4}) + weight("w", {4}) +
                node("Mul", "m", {"x", "w"}, {"y"}) +
                port("output", "y", {-1, 4})),
      options);
  ASSERT_EQ(imported.messages.size(), 4u);
  EXPECT_EQ(imported.messages[0], "freeze pattern 'w' freezes nothing: "
                                  "'trainable' matches all that it does");
  EXPECT_EQ(imported.messages[1],
            "freeze pattern 'v' matches no parameter of the model");
  EXPECT_EQ(imported.messages[2].find("freeze pattern '[a': "), 0u);
  EXPECT_EQ(imported.messages[3],
            "trainable pattern 'u' matches no parameter of the model");
}

} // namespace
