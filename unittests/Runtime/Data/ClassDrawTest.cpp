//===- ClassDrawTest.cpp - Samples that are drawn by their classes --------===//

#include "RuntimeTest.h"

extern "C" {
#include "data/class_draw.h"
}

#include <map>

namespace {

/// A program with a field of class numbers 3, 4, 5 and 6, or 9, which doesn't
/// count.
class ClassDraw : public testing::Test {
protected:
  ClassDraw() {
    tensor.shape = shape;
    tensor.rank = 1;
    tensor.type = HFTA_U8;
    field.name = "label";
    field.train.format = HFTA_DATA_RAW;
    field.train.path = "label.raw";
    field.classes = 4;
    field.first_class = 3;
    field.ignored_class = 9;
    field.balances = 1;
    program.tensors = &tensor;
    program.tensor_count = 1;
    program.data_fields = &field;
    program.data_field_count = 1;
    program.micro_batches = 1;
    program.batch = 1;
  }
  ~ClassDraw() override {
    hfta_class_draw_free(&draw);
    hfta_dataset_close(&data);
  }

  hfta_status make(const std::string &labels) {
    writeFile(folder.path("label.raw"), labels);
    hfta_status status = hfta_dataset_open(&program, HFTA_SPLIT_TRAIN,
                                           folder.root.c_str(), &data, &error);
    EXPECT_EQ(status, HFTA_OK) << error.message;
    return hfta_class_draw_make(&data, &draw, &error);
  }

  TemporaryFolder folder;
  int64_t shape[1] = {1};
  hfta_tensor tensor = {};
  hfta_data_field field = {};
  hfta_program program = {};
  hfta_dataset data = {};
  hfta_class_draw draw = {};
  hfta_error error = {};
};

} // namespace

TEST_F(ClassDraw, DrawsClassesAlike) {
  // Class 5 has no sample, and sample 2 has no class.
  std::string labels = "\3\6\11";
  labels += std::string(97, '\4');
  ASSERT_EQ(make(labels), HFTA_OK) << error.message;
  EXPECT_EQ(draw.classes, 3);
  std::map<int64_t, int> counts;
  const int draws = 30000;
  for (uint64_t i = 0; i < draws; ++i)
    ++counts[hfta_class_draw_sample(&draw, 5, i / 100, i % 100)];
  EXPECT_EQ(counts.count(2), 0u);
  EXPECT_EQ(counts.size(), 99u);
  // The standard deviation of each class is 82, that of a sample 10.
  EXPECT_NEAR(counts[0], draws / 3, 400);
  EXPECT_NEAR(counts[1], draws / 3, 400);
  for (int64_t sample = 3; sample < 100; ++sample)
    EXPECT_NEAR(counts[sample], draws / 3 / 97, 60) << sample;
}

TEST_F(ClassDraw, DependsOnSeedEpochAndPosition) {
  ASSERT_EQ(make(std::string(50, '\3') + std::string(50, '\4')), HFTA_OK);
  auto list = [&](uint64_t seed, uint64_t epoch, uint64_t first) {
    std::vector<int64_t> samples;
    for (uint64_t i = 0; i < 100; ++i)
      samples.push_back(hfta_class_draw_sample(&draw, seed, epoch, first + i));
    return samples;
  };
  EXPECT_EQ(list(1, 2, 3), list(1, 2, 3));
  EXPECT_NE(list(1, 2, 3), list(2, 2, 3));
  EXPECT_NE(list(1, 2, 3), list(1 + (1ull << 40), 2, 3));
  EXPECT_NE(list(1, 2, 3), list(1, 3, 3));
  EXPECT_NE(list(1, 2, 3), list(1, 2, 103));
  EXPECT_NE(list(1, 2, 3), list(1, 2, 3 + (1ull << 32)));
}

TEST_F(ClassDraw, NoClasses) {
  EXPECT_EQ(make(std::string(5, '\11')), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message, "no sample of the training data has a class, so "
                              "none can be drawn");
  hfta_class_draw_free(&draw);
  hfta_dataset_close(&data);
  field.balances = 0;
  EXPECT_EQ(make("\3\4"), HFTA_OK);
  EXPECT_EQ(draw.classes, 0);
}
