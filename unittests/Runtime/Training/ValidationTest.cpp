//===- ValidationTest.cpp - Trainings with validation data ----------------===//

#include "RuntimeTest.h"
#include "hfta/trainer.h"

extern "C" {
#include "data/shuffle.h"
}

#include <algorithm>
#include <regex>
#include <sstream>

namespace {

/// Trainings of the fake program that take 20 % of 53 samples, that is 11, out
/// of the training data. 42 are left: 5 steps an epoch.
class Validation : public Train {
protected:
  static constexpr int kSamples = 53, kTaken = 11;

  Validation() { options.fake = "validation_percent=20 validation_seed=3"; }

  Outcome runWith(const std::string &more, std::vector<std::string> arguments) {
    RunOptions own = options;
    own.fake += " " + more;
    return run(std::move(arguments), own);
  }

  /// Returns whether each of the training samples is for validation.
  static std::vector<bool> findTaken() {
    hfta_order order = hfta_order_of_division(kSamples, 3);
    std::vector<bool> taken(kSamples, false);
    for (int i = 0; i < kTaken; ++i)
      taken[hfta_order_sample(&order, i)] = true;
    return taken;
  }

  /// Writes idx files `to` with the samples of the files `from` for which
  /// `chosen` has the value `which`.
  void choose(const std::string &from, const std::string &to,
              const std::vector<bool> &chosen, bool which) {
    const struct {
      const char *suffix;
      size_t header, bytes;
    } files[] = {{"-images.idx", 12, FAKE_FEATURES}, {"-labels.idx", 8, 1}};
    for (const auto &file : files) {
      std::string all = readFile(data.path(from + file.suffix));
      std::string out = all.substr(0, file.header);
      int count = 0;
      for (int i = 0; i < kSamples; ++i)
        if (chosen[i] == which) {
          out += all.substr(file.header + i * file.bytes, file.bytes);
          ++count;
        }
      out[7] = static_cast<char>(count);
      writeFile(data.path(to + file.suffix), out);
    }
  }

  /// Returns a list of the log's last epoch event, such as "eval_loss".
  std::string lastList(const std::string &log, const std::string &key) {
    std::string found;
    for (const std::string &line : events(log)) {
      std::smatch match;
      if (std::regex_search(line, match,
                            std::regex("\"" + key + "\":(\\[[^\\]]*\\])")))
        found = match[1];
    }
    return found;
  }

  RunOptions options;
};

} // namespace

TEST_F(Validation, TrainsAndValidatesAsFilesOfTheSamplesWould) {
  ASSERT_EQ(
      run({"--epochs", "3", "--log", "log", "--checkpoint", "c"}, options).code,
      0);
  // The test data of the second training are the first one's validation data.
  std::vector<bool> taken = findTaken();
  choose("train", "test", taken, true);
  choose("train", "train", taken, false);
  ASSERT_EQ(run({"--epochs", "3", "--log", "other", "--checkpoint", "d"}).code,
            0);
  expectEqual("c/step-00000015", "d/step-00000015");
  EXPECT_NE(lastList("log", "validation_loss"), "");
  EXPECT_EQ(lastList("log", "validation_loss"), lastList("other", "eval_loss"));
  EXPECT_EQ(lastList("log", "validation_accuracy"),
            lastList("other", "eval_accuracy"));
  EXPECT_EQ(lastList("log", "train_loss"), lastList("other", "train_loss"));
}

TEST_F(Validation, TestDataAreEvaluatedOnceAtTheEnd) {
  ASSERT_EQ(run({"--epochs", "3", "--log", "log"}, options).code, 0);
  std::string text = readFile(folder.path("log"));
  const std::string list = "\\[[^\\]]*\\]";
  const std::string validated =
      R"(,"validation_loss":)" + list + R"(,"validation_accuracy":)" + list;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    std::string line = R"("epoch","epoch":)" + std::to_string(epoch) +
                       R"(,"train_loss":)" + list + validated;
    if (epoch == 3)
      line += R"(,"eval_loss":)" + list + R"(,"eval_accuracy":)" + list;
    EXPECT_TRUE(std::regex_search(text, std::regex(line + ",\"seconds\"")))
        << text;
  }
}

TEST_F(Validation, SomeEpochsAndTheLastStepAreEvaluated) {
  ASSERT_EQ(
      runWith("validation_every=2", {"--steps", "23", "--log", "log"}).code, 0);
  std::string evaluated;
  for (const std::string &line : events("log"))
    if (line.find("\"event\":\"epoch\"") != std::string::npos)
      evaluated +=
          std::string(line.find("validation_") != std::string::npos ? "v"
                                                                    : "-") +
          (line.find("eval_") != std::string::npos ? "t" : "");
  EXPECT_EQ(evaluated, "-v-vvt");
}

TEST_F(Validation, TablesShowBothData) {
  Outcome outcome = run({"--epochs", "3"}, options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(std::regex_search(
      outcome.out,
      std::regex("^copy  lr  .*train loss  validation loss  validation "
                 "accuracy  test loss  test accuracy\n")))
      << outcome.out;
  RunOptions shown = options;
  shown.folder = folder.root;
  outcome = runBinary({"train", "--epochs", "2", "--data", data.root}, shown);
  EXPECT_NE(outcome.err.find("data: 42 samples to train, 11 to validate, 21 to "
                             "test"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(std::regex_search(
      outcome.err,
      std::regex("epoch 1  train loss [^ ]* to [^ ]*  validation loss [^ ]* to "
                 "[^ ]*  validation accuracy [^ ]* % to [^ ]* %\n")))
      << outcome.err;
  EXPECT_TRUE(std::regex_search(
      outcome.err,
      std::regex("epoch 2 .* validation accuracy .*  test loss [^ ]* to [^ ]*  "
                 "test accuracy [^ ]* % to [^ ]* %\n")))
      << outcome.err;
}

TEST_F(Validation, FilesForValidation) {
  std::vector<bool> taken = findTaken();
  choose("train", "validation", taken, true);
  RunOptions files;
  files.fake = "validation_files";
  ASSERT_EQ(
      run({"--epochs", "2", "--log", "log", "--checkpoint", "c"}, files).code,
      0);
  // All training samples are trained on.
  ASSERT_EQ(run({"--epochs", "2", "--checkpoint", "d"}).code, 0);
  expectEqual("c/step-00000012", "d/step-00000012");
  std::string validated = lastList("log", "validation_loss");
  choose("train", "test", taken, true);
  ASSERT_EQ(run({"--epochs", "2", "--log", "other"}).code, 0);
  EXPECT_EQ(validated, lastList("other", "eval_loss"));
}

TEST_F(Validation, OutputsDontReplaceItsFiles) {
  choose("train", "validation", findTaken(), true);
  RunOptions files;
  files.fake = "validation_files";
  Outcome outcome = run(
      {"--epochs", "2", "--log", data.path("validation-labels.idx")}, files);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("would replace the input"), std::string::npos)
      << outcome.err;
}

TEST_F(Validation, EvalTakesTheSameSamples) {
  ASSERT_EQ(run({"--epochs", "3", "--checkpoint", "c"}, options).code, 0);
  RunOptions own = options;
  own.folder = folder.root;
  auto eval = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"eval", "--data", data.root,
                                          "--checkpoint", "c"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runBinary(arguments, own);
  };
  Outcome validated = eval({"--validation"}), tested = eval({});
  EXPECT_EQ(validated.code, 0) << validated.err;
  EXPECT_EQ(tested.code, 0) << tested.err;
  EXPECT_NE(validated.out.find("validation loss  validation accuracy\n"),
            std::string::npos)
      << validated.out;
  Outcome whole = run({"--epochs", "3"}, options);
  auto cells = [](const Outcome &outcome, int line) {
    std::smatch match;
    std::string text = linesOf(outcome.out)[line];
    std::regex_search(text, match, std::regex("([^ ]*  +[^ ]* %)$"));
    return std::string(match[1]);
  };
  for (int copy = 1; copy <= 3; ++copy) {
    std::string row = linesOf(whole.out)[copy];
    std::istringstream words(row), expected(cells(validated, copy));
    std::string loss, share;
    expected >> loss >> share;
    EXPECT_NE(row.find(" " + loss + " "), std::string::npos) << row << loss;
    EXPECT_NE(row.find(" " + share + " %"), std::string::npos) << row << share;
  }
  RunOptions without;
  without.folder = folder.root;
  Outcome refused =
      runBinary({"eval", "--data", data.root, "--validation"}, without);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "fake: error: 'fake' was compiled without validation data\n");
}

TEST_F(Validation, RefusesFoldsWithoutASearch) {
  RunOptions folds;
  folds.fake = "folds=3";
  Outcome outcome = run({"--epochs", "2"}, folds);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "fake: error: 'fake' divides its training data into 3 folds, for "
            "which only a search trains and evaluates models\n");
}

TEST_F(Validation, AnInterruptedEvaluationIsMadeUp) {
  ASSERT_EQ(
      run({"--steps", "20", "--log", "whole", "--log-every", "1"}, options)
          .code,
      0);
  // The trainer calls `should_stop` after each step, except the last one of an
  // epoch, and after each batch of an evaluation: twice in each epoch's, three
  // times in that of the test data.
  for (int stop : {5, 6, 7, 12, 13, 24, 26, 27, 28}) {
    std::string name = "stop" + std::to_string(stop);
    fake_options fake = defaultOptions();
    fake.validation.share = 0.2;
    fake.validation.seed = 3;
    ProgramPointer program = makeProgram(fake);
    InstancePointer instance = makeInstance(program.get());
    hfta_train_options train = {};
    hfta_train_result result;
    std::string checkpoint = folder.path(name), log = folder.path("log");
    int left = stop;
    train.data_root = data.root.c_str();
    train.steps = 20;
    train.log_every = 1;
    train.checkpoint = checkpoint.c_str();
    train.log_path = log.c_str();
    train.should_stop_argument = &left;
    train.should_stop = [](void *argument) {
      return --*static_cast<int *>(argument) <= 0;
    };
    ASSERT_EQ(hfta_train(instance.get(), &train, &result), HFTA_OK)
        << hfta_instance_message(instance.get());
    EXPECT_TRUE(result.interrupted && result.saved) << stop;
    hfta_train_result_free(&result);
    ASSERT_EQ(run({"--steps", "20", "--log", "log", "--log-every", "1",
                   "--checkpoint", name, "--resume"},
                  options)
                  .code,
              0);
    std::vector<std::string> expected = events("whole"), got = events("log");
    auto isStart = [](const std::string &line) {
      return line.find("\"start\"") != std::string::npos;
    };
    for (std::vector<std::string> *list : {&expected, &got})
      list->erase(std::remove_if(list->begin(), list->end(), isStart),
                  list->end());
    EXPECT_EQ(got, expected) << stop;
  }
}

TEST_F(Validation, AModelThatMixesSamplesNeedsWholeBatches) {
  fake_options fake = defaultOptions();
  fake.validation.share = 0.2;
  ProgramPointer program = makeProgram(fake);
  program->loss_mixed_by = "mix";
  InstancePointer instance = makeInstance(program.get());
  hfta_train_options train = {};
  hfta_train_result result;
  train.data_root = data.root.c_str();
  train.steps = 5;
  EXPECT_EQ(hfta_train(instance.get(), &train, &result), HFTA_INVALID_INPUT);
  EXPECT_NE(std::string(hfta_instance_message(instance.get()))
                .find("the validation data hold 11 samples, which isn't a "
                      "multiple of the batch of 8"),
            std::string::npos)
      << hfta_instance_message(instance.get());
  hfta_train_result_free(&result);
}

TEST_F(Validation, InfoDescribesIt) {
  RunOptions own = options;
  Outcome json = runBinary({"info", "--json"}, own);
  EXPECT_NE(
      json.out.find("\"validation\":{\"share\":0.2,\"seed\":3,\"every\":1,"
                    "\"by\":\"loss\",\"keeps_best\":false,"
                    "\"patience\":0,\"least\":0}"),
      std::string::npos)
      << json.out;
  Outcome text = runBinary({"info"}, own);
  EXPECT_NE(
      text.out.find("\nvalidation 0.2 of the training data, seed 3\nidentity"),
      std::string::npos)
      << text.out;
  own.fake = "validation_files";
  json = runBinary({"info", "--json"}, own);
  EXPECT_NE(json.out.find("\"validation\":{\"format\":\"idx\",\"path\":"
                          "\"validation-images.idx\"}"),
            std::string::npos)
      << json.out;
  EXPECT_NE(
      runBinary({"info"}, own).out.find("\nvalidation files of their own"),
      std::string::npos);
  own.fake = "";
  EXPECT_EQ(runBinary({"info", "--json"}, own).out.find("\"validation\""),
            std::string::npos);
}
