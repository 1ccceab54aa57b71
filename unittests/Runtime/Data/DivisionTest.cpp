//===- DivisionTest.cpp - Training data without those for validation ------===//

#include "RuntimeTest.h"

extern "C" {
#include "data/division.h"
#include "data/feed.h"
#include "data/shuffle.h"
}

#include <algorithm>
#include <numeric>

namespace {

/// A program with one data field, whose samples are single numbers: those of
/// the file for training are 0, 1, 2, ...
class Division : public testing::Test {
protected:
  Division() {
    tensor.shape = shape;
    tensor.rank = 1;
    tensor.type = HFTA_I32;
    field.name = "x";
    field.train.format = HFTA_DATA_RAW;
    field.train.path = "train.raw";
    program.tensors = &tensor;
    program.tensor_count = 1;
    program.data_fields = &field;
    program.data_field_count = 1;
    program.micro_batches = 1;
    setBatch(4);
  }
  ~Division() override { hfta_training_data_close(&data); }

  void setBatch(int64_t batch) {
    program.batch = shape[0] = batch;
    tensor.bytes = 4 * (uint64_t)batch;
  }

  void writeSamples(const std::string &name, int32_t first, int32_t count) {
    std::vector<int32_t> samples(count);
    std::iota(samples.begin(), samples.end(), first);
    writeFile(folder.path(name),
              std::string((const char *)samples.data(), 4 * samples.size()));
  }

  /// Opens the data of a training on `samples` samples.
  hfta_status open(int32_t samples, int64_t fold = 0) {
    writeSamples("train.raw", 0, samples);
    hfta_training_data_close(&data);
    return hfta_training_data_open(&program, folder.root.c_str(), fold, &data,
                                   &error);
  }

  static std::vector<int64_t> listOf(const hfta_dataset &dataset) {
    std::vector<int64_t> list;
    for (int64_t i = 0; i < dataset.samples; ++i)
      list.push_back(hfta_dataset_sample(&dataset, i));
    return list;
  }

  /// Returns the samples of all of a feed's batches, without padding. Stops the
  /// feed.
  std::vector<int64_t> readAll(hfta_feed *feed) {
    std::vector<int64_t> all;
    const void *const *inputs;
    int64_t valid;
    while (hfta_feed_next(feed, &inputs, &valid, &error) == HFTA_OK && inputs)
      for (int64_t i = 0; i < valid; ++i)
        all.push_back(((const int32_t *)inputs[0])[i]);
    hfta_feed_stop(feed);
    return all;
  }

  std::vector<int64_t> readTraining(int64_t steps) {
    hfta_feed_span span = {0, steps, 1, nullptr};
    hfta_feed *feed = nullptr;
    EXPECT_EQ(
        hfta_feed_start_training(&data.train, reads, &span, &feed, &error),
        HFTA_OK);
    return readAll(feed);
  }

  TemporaryFolder folder;
  int64_t shape[1];
  hfta_tensor tensor = {};
  hfta_data_field field = {};
  hfta_program program = {};
  hfta_training_data data = {};
  hfta_error error = {};
  bool reads[1] = {true};
};

} // namespace

using Samples = std::vector<int64_t>;

// The golden values of this file were computed by a model of the permutation in
// another language. Results of trainings depend on them, so they must never
// change.
TEST_F(Division, OrderStaysAsItIs) {
  hfta_order order = hfta_order_of_division(20, 3);
  Samples all;
  for (uint64_t i = 0; i < 20; ++i)
    all.push_back((int64_t)hfta_order_sample(&order, i));
  EXPECT_EQ(all, (Samples{12, 19, 11, 14, 16, 17, 2, 15, 4, 13,
                          9,  7,  1,  0,  3,  10, 5, 18, 8, 6}));
}

TEST_F(Division, OrderIsNoEpochsOrder) {
  hfta_order division = hfta_order_of_division(1000, 7);
  for (uint64_t epoch = 0; epoch < 100; ++epoch) {
    hfta_order order = hfta_order_of_epoch(1000, epoch, 7, 1);
    int equal = 0;
    for (uint64_t i = 0; i < 1000; ++i)
      equal += hfta_order_sample(&division, i) == hfta_order_sample(&order, i);
    EXPECT_LT(equal, 10) << epoch;
  }
}

TEST_F(Division, AShareIsTakenOut) {
  program.validation.share = 0.25;
  program.validation.seed = 3;
  ASSERT_EQ(open(20), HFTA_OK) << error.message;
  EXPECT_EQ(listOf(data.validation), (Samples{11, 12, 14, 16, 19}));
  EXPECT_EQ(listOf(data.train),
            (Samples{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 15, 17, 18}));
  EXPECT_EQ(data.train.split, HFTA_SPLIT_TRAIN);
  EXPECT_EQ(data.validation.split, HFTA_SPLIT_VALIDATION);
  // Both views borrow the open files and count four bytes for each sample.
  EXPECT_EQ(data.train.sources, data.whole.sources);
  EXPECT_EQ(data.validation.sources, data.whole.sources);
  EXPECT_EQ(hfta_training_data_bytes(&data), 80u);
}

TEST_F(Division, SharesAreRounded) {
  program.validation.share = 0.15;
  ASSERT_EQ(open(1003), HFTA_OK) << error.message;
  Samples chosen = listOf(data.validation);
  EXPECT_EQ(chosen.size(), 150u);
  EXPECT_EQ(std::accumulate(chosen.begin(), chosen.end(), int64_t(0)), 75508);
  program.validation.share = 1e-6;
  ASSERT_EQ(open(1003), HFTA_OK) << error.message;
  EXPECT_EQ(data.validation.samples, 1);
}

TEST_F(Division, TakesTheExpectedPartOfSixtyThousand) {
  setBatch(64);
  program.validation.share = 0.1;
  program.validation.seed = 7 + (5ll << 33);
  ASSERT_EQ(open(60000), HFTA_OK) << error.message;
  Samples chosen = listOf(data.validation);
  ASSERT_EQ(chosen.size(), 6000u);
  EXPECT_EQ(Samples(chosen.begin(), chosen.begin() + 5),
            (Samples{2, 16, 20, 25, 41}));
  EXPECT_EQ(Samples(chosen.end() - 3, chosen.end()),
            (Samples{59974, 59986, 59996}));
  int64_t sum = 0, weighted = 0;
  for (int64_t i = 0; i < 6000; ++i) {
    sum += chosen[i];
    weighted += i * chosen[i];
  }
  EXPECT_EQ(sum, 180228263);
  EXPECT_EQ(weighted, 721381833498);
  EXPECT_EQ(hfta_steps_per_epoch(&data.train), 843);
}

TEST_F(Division, DependsOnNothingElse) {
  program.validation.share = 0.25;
  program.validation.seed = 3;
  program.order_seed = 9;
  program.shuffle = 1;
  program.copies = 5;
  setBatch(7);
  ASSERT_EQ(open(20), HFTA_OK) << error.message;
  EXPECT_EQ(listOf(data.validation), (Samples{11, 12, 14, 16, 19}));
}

TEST_F(Division, FoldsShareTheSamples) {
  program.validation.folds = 3;
  program.validation.seed = 3;
  const Samples folds[3] = {{11, 12, 14, 16, 17, 19},
                            {1, 2, 4, 7, 9, 13, 15},
                            {0, 3, 5, 6, 8, 10, 18}};
  for (int64_t fold = 0; fold < 3; ++fold) {
    ASSERT_EQ(open(20, fold), HFTA_OK) << error.message;
    EXPECT_EQ(listOf(data.validation), folds[fold]);
    Samples all = listOf(data.train);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    all.insert(all.end(), folds[fold].begin(), folds[fold].end());
    std::sort(all.begin(), all.end());
    Samples expected(20);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
  }
}

TEST_F(Division, OneOpenFileServesAllFolds) {
  program.validation.folds = 4;
  writeSamples("train.raw", 0, 20);
  hfta_dataset whole;
  ASSERT_EQ(hfta_dataset_open(&program, HFTA_SPLIT_TRAIN, folder.root.c_str(),
                              &whole, &error),
            HFTA_OK);
  Samples all;
  for (int64_t fold = 0; fold < 4; ++fold) {
    hfta_dataset train, validation;
    ASSERT_EQ(hfta_dataset_divide(&whole, fold, &train, &validation, &error),
              HFTA_OK)
        << error.message;
    EXPECT_EQ(train.samples, 15);
    for (int64_t sample : listOf(validation))
      all.push_back(sample);
    hfta_dataset_close(&train);
    hfta_dataset_close(&train);
    hfta_dataset_close(&validation);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  hfta_dataset_close(&whole);
}

TEST_F(Division, FeedsReadTheirView) {
  program.validation.share = 0.25;
  program.validation.seed = 3;
  ASSERT_EQ(open(20), HFTA_OK) << error.message;
  // Three steps an epoch, in the order of the file.
  EXPECT_EQ(readTraining(4),
            (Samples{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 0, 1, 2, 3}));
  hfta_feed *feed = nullptr;
  ASSERT_EQ(hfta_feed_start_evaluation(&data.validation, reads, &feed, &error),
            HFTA_OK);
  EXPECT_EQ(readAll(feed), (Samples{11, 12, 14, 16, 19}));
}

TEST_F(Division, ShuffledEpochsStayInTheView) {
  program.validation.share = 0.25;
  program.validation.seed = 3;
  program.shuffle = 1;
  program.order_seed = 3;
  setBatch(5);
  ASSERT_EQ(open(20), HFTA_OK) << error.message;
  Samples read = readTraining(3), all = listOf(data.train);
  EXPECT_NE(read, all);
  std::sort(read.begin(), read.end());
  EXPECT_EQ(read, all);
}

TEST_F(Division, FilesForValidationLeaveTrainingWhole) {
  field.validation.format = HFTA_DATA_RAW;
  field.validation.path = "validation.raw";
  writeSamples("validation.raw", 100, 3);
  ASSERT_EQ(open(20), HFTA_OK) << error.message;
  EXPECT_TRUE(hfta_program_validates(&program));
  EXPECT_FALSE(hfta_program_divides(&program));
  EXPECT_EQ(data.train.samples, 20);
  EXPECT_EQ(data.train.listed, nullptr);
  hfta_feed *feed = nullptr;
  ASSERT_EQ(hfta_feed_start_evaluation(&data.validation, reads, &feed, &error),
            HFTA_OK);
  EXPECT_EQ(readAll(feed), (Samples{100, 101, 102}));
}

TEST_F(Division, WithoutValidationNothingIsListed) {
  ASSERT_EQ(open(20), HFTA_OK) << error.message;
  EXPECT_FALSE(hfta_program_validates(&program));
  EXPECT_EQ(data.train.samples, 20);
  EXPECT_EQ(data.validation.samples, 0);
  EXPECT_EQ(data.validation.sources, nullptr);
  EXPECT_EQ(hfta_training_data_bytes(&data), 0u);
}

TEST_F(Division, NeedsABatchToTrainOn) {
  program.validation.share = 0.5;
  ASSERT_EQ(open(8), HFTA_OK) << error.message;
  EXPECT_EQ(open(7), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message,
               "validation takes 4 of the 7 samples of the training data, "
               "which leaves 3, fewer than one batch of 4");
  program.validation.share = 1e-9;
  EXPECT_EQ(open(4), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message,
               "validation takes 1 of the 4 samples of the training data, "
               "which leaves 3, fewer than one batch of 4");
  EXPECT_EQ(open(3), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message, "the training data hold 3 samples, fewer than "
                              "one batch of 4");
}

TEST_F(Division, FoldsNeedSamples) {
  program.validation.folds = 30;
  EXPECT_EQ(open(20), HFTA_INVALID_INPUT);
  EXPECT_STREQ(error.message,
               "the training data hold 20 samples, too few for 30 folds");
  program.validation.folds = 3;
  EXPECT_EQ(open(20, 3), HFTA_USAGE);
  EXPECT_STREQ(error.message, "fold 3 doesn't exist: the job has 3 folds, "
                              "counted from 0");
}

TEST_F(Division, WideListsHoldLargeNumbers) {
  uint64_t list[2] = {5, 1ull << 40};
  hfta_dataset dataset = {};
  dataset.widely_listed = list;
  EXPECT_EQ(hfta_dataset_sample(&dataset, 1), 1ll << 40);
}
