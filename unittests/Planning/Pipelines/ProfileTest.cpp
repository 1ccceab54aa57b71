//===- ProfileTest.cpp - The reader of layer profiles ---------------------===//

#include "Hfta/Planning/Pipelines/Profile.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

static std::string makeNode(const std::string &id,
                            const std::string &description,
                            const std::string &activation = "8",
                            const std::string &parameters = "4") {
  return id + " -- " + description +
         " -- forward_compute_time=2.0, backward_compute_time=4.000, "
         "activation_size=" +
         activation + ", parameter_size=" + parameters + "\n";
}

/// Returns each layer's name, and the number of bytes that cross the cut after
/// the layer.
static std::string describe(const LayerModel &model) {
  std::string text;
  for (const Layer &layer : model.layers)
    text += layer.name + " " +
            std::to_string(static_cast<int64_t>(layer.crossingBytes)) + "; ";
  return text;
}

TEST(ProfileTest, ordersLayersAndCountsWhatCrosses) {
  // The graph has a mask that is used only by a late layer, and a block with
  // two branches.
  std::string text = makeNode("n1", "Input0", "999") +
                     makeNode("n2", "mask", "100") + makeNode("n3", "a") +
                     makeNode("n4", "Conv2d(3, 64)", "[1.0; 2.0]") +
                     makeNode("n5", "Conv2d(3, 64)", "16", "32") +
                     makeNode("n6", "add") + makeNode("n7", "__getitem__(0)") +
                     "\tn1 -- n3\n\tn3 -- n4\n\tn3 -- n5\n\tn4 -- n6\n"
                     "\tn5 -- n6\n\tn2 -- n6\n\tn6 -- n7\n";
  ProfileError error;
  std::optional<LayerModel> model = readProfile(text, 1, error);
  ASSERT_TRUE(model) << error.message;
  // Two nodes have the same description, Conv2d(3, 64), so layers have their
  // identifiers as names.
  EXPECT_EQ(describe(*model), "a 8; n4 11; n5 19; mask 119; add 0; ");
  EXPECT_DOUBLE_EQ(model->layers[2].forward, 2e-3);
  EXPECT_DOUBLE_EQ(model->layers[2].backward, 4e-3);
  EXPECT_DOUBLE_EQ(model->layers[2].parameterBytes, 32);
}

TEST(ProfileTest, scalesToSamples) {
  ProfileError error;
  std::optional<LayerModel> model = readProfile(
      makeNode("a", "x") + makeNode("b", "y") + "\ta -- b\n", 4, error);
  ASSERT_TRUE(model);
  EXPECT_DOUBLE_EQ(model->layers[0].forward, 0.5e-3);
  EXPECT_DOUBLE_EQ(model->layers[0].crossingBytes, 2);
  EXPECT_DOUBLE_EQ(model->layers[0].parameterBytes, 4);
}

TEST(ProfileTest, takesStagesAndCarriageReturns) {
  std::string node = makeNode("a", "x");
  node.pop_back();
  ProfileError error;
  EXPECT_TRUE(readProfile(node + " -- stage_id=0\r\n\r\n", 1, error))
      << error.message;
}

TEST(ProfileTest, namesTheLineOfAnError) {
  std::string nodes = makeNode("a", "x") + makeNode("b", "y");
  struct {
    std::string text;
    unsigned line;
    const char *message;
  } rows[] = {
      {"", 0, "the profile has no node"},
      {nodes + "a -- b\n", 3, "expected 'id -- description -- "},
      {nodes + "\ta\n", 3,
       "expected an edge, 'from -- to' after a tab, got "
       "'a'"},
      {nodes + "\ta -- b -- c\n", 3, "expected an edge"},
      {nodes + "\ta -- c\n", 3, "no node 'c' stands before this edge"},
      {nodes + "\ta -- a\n", 3, "node 'a' takes its own value"},
      {nodes + "\ta -- b\n\ta -- b\n", 4, "second edge from 'a' to 'b'"},
      {nodes + "\ta -- b\n\tb -- a\n", 0, "the profile's edges go in a circle"},
      {nodes + makeNode("a", "z"), 3, "second node 'a'"},
      {makeNode("a", "x", "-1"), 1,
       "'activation_size' is a number of at least 0, got '-1'"},
      {makeNode("a", "x", "nan"), 1, "'activation_size' is a number"},
      {makeNode("a", "x", "8", "6e20"), 1,
       "'parameter_size' is a number of at most 1e15, got '6e20'"},
      {makeNode("a", "x", "[1e308; 1e308]"), 1, "a number of at most 1e15"},
      {makeNode("a", "x", "[1; 2"), 1, "lacks the ']'"},
      {makeNode("a", "x", "1, activation_size=2"), 1, "is given twice"},
      {makeNode("a", "x", "1, colour=2"), 1, "unknown attribute 'colour'"},
      {"a -- x -- forward_compute_time=1\n", 1,
       "node 'a' has no 'backward_compute_time'"},
      {"a -- x -- forward_compute_time=0, backward_compute_time=0, "
       "activation_size=1, parameter_size=1\n",
       0, "no node of the profile takes time"},
      {makeNode("a", "Input"), 0, "no node but inputs"},
  };
  for (const auto &row : rows) {
    ProfileError error;
    EXPECT_FALSE(readProfile(row.text, 1, error)) << row.text;
    EXPECT_EQ(error.line, row.line) << error.message;
    EXPECT_NE(error.message.find(row.message), std::string::npos)
        << error.message;
  }
}

TEST(ProfileTest, digestsWhatIsNotMeasured) {
  ProfileError error;
  auto digest = [&](const std::string &text) {
    return readProfile(text, 1, error)->digest;
  };
  std::string text = makeNode("a", "x");
  std::string slower = text;
  slower.replace(slower.find("2.0"), 3, "2.5");
  EXPECT_EQ(digest(text), digest(slower));
  EXPECT_NE(digest(text), digest(makeNode("a", "y")));
  EXPECT_NE(digest(text), digest(makeNode("a", "x", "8", "5")));
}
