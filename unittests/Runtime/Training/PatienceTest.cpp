//===- PatienceTest.cpp - Patience, and limits of time --------------------===//

#include "ValidatedTrain.h"

extern "C" {
#include "training/standings.h"
}

namespace {

class Patience : public ValidatedTrain {
protected:
  /// Returns the epoch after which each copy stops, 0 if it doesn't, by the
  /// accuracies of a training without patience.
  std::vector<int> findStops(int patience) {
    EXPECT_EQ(runWith("", {"--epochs", std::to_string(kEpochs), "--log",
                           "free.log", "--checkpoint", "free", "--every", "5"})
                  .code,
              0);
    std::vector<std::vector<double>> scores =
        listsOf("free.log", "validation_accuracy");
    EXPECT_EQ(scores.size(), size_t(kEpochs));
    std::vector<int> stops(3, 0);
    for (int copy = 0; copy < 3; ++copy) {
      double best = -1;
      int waited = 0;
      for (int epoch = 1; epoch <= kEpochs && stops[copy] == 0; ++epoch) {
        double score = scores[epoch - 1][copy];
        waited = score > best ? 0 : waited + 1;
        best = std::max(best, score);
        if (waited == patience)
          stops[copy] = epoch;
      }
    }
    return stops;
  }
};

} // namespace

TEST_F(Patience, CopiesStopAndKeepTheirWeights) {
  std::vector<int> stops = findStops(2);
  int last = 0, different = 0;
  for (int copy = 0; copy < 3; ++copy) {
    int stop = stops[copy] ? stops[copy] : kEpochs;
    last = std::max(last, stop);
    different += stop != stops[0];
  }
  ASSERT_GT(different, 0) << "the copies stop after the same epoch";
  Outcome outcome = runWith(
      "patience=2", {"--epochs", "12", "--log", "log", "--checkpoint", "c"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // The training ends when the last copy has stopped.
  EXPECT_EQ(listFolder(folder.path("c")),
            std::vector<std::string>{nameOf("", last * kPerEpoch).substr(1)});
  std::vector<std::vector<double>> scores =
                                       listsOf("log", "validation_accuracy"),
                                   train = listsOf("log", "train_loss"),
                                   tested = listsOf("log", "eval_loss");
  ASSERT_EQ(scores.size(), size_t(last));
  ASSERT_EQ(tested.size(), 1u);
  for (int copy = 0; copy < 3; ++copy) {
    int stop = stops[copy] ? stops[copy] : kEpochs;
    EXPECT_EQ(tensorsOf(nameOf("c", last * kPerEpoch), copy),
              tensorsOf(nameOf("free", stop * kPerEpoch), copy))
        << copy;
    for (int epoch = 1; epoch <= last; ++epoch) {
      EXPECT_EQ(std::isnan(scores[epoch - 1][copy]), epoch > stop);
      EXPECT_EQ(std::isnan(train[epoch - 1][copy]), epoch > stop);
    }
    EXPECT_FALSE(std::isnan(tested[0][copy]));
  }
  EXPECT_EQ(outcome.out.find(" nan"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find(" - "), std::string::npos) << outcome.out;
}

TEST_F(Patience, ResumedTrainingsStopAlike) {
  ASSERT_EQ(runWith("patience=2", {"--epochs", "12", "--log", "whole",
                                   "--log-every", "1", "--checkpoint", "c"})
                .code,
            0);
  std::string final = listFolder(folder.path("c"))[0];
  for (const char *first : {"3", "12", "23", "31"}) {
    std::string name = std::string("after") + first;
    std::vector<std::string> arguments = {
        "--log", "log", "--log-every", "1", "--checkpoint", name};
    std::vector<std::string> begin = {"--steps", first};
    std::vector<std::string> end = {"--epochs", "12", "--resume"};
    begin.insert(begin.end(), arguments.begin(), arguments.end());
    end.insert(end.end(), arguments.begin(), arguments.end());
    ASSERT_EQ(runWith("patience=2", begin).code, 0);
    Outcome outcome = runWith("patience=2", end);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (int copy = 0; copy < 3; ++copy)
      EXPECT_EQ(tensorsOf(name + "/" + final, copy),
                tensorsOf("c/" + final, copy));
    // A shorter run logs its own last step.
    std::vector<std::string> lines = withoutStarts("log");
    std::vector<std::string> whole = withoutStarts("whole");
    EXPECT_EQ(lines, whole) << first;
    removeAll(folder.path("log"));
    // All copies have stopped or the training is complete: there's nothing to
    // do, and the results are the same.
    Outcome again = runWith("patience=2", end);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.out, outcome.out);
    removeAll(folder.path("log"));
  }
}

TEST_F(Patience, InterruptedEvaluationsCountOnceWithoutALog) {
  ASSERT_EQ(runWith("patience=2", {"--epochs", "12", "--checkpoint", "c"}).code,
            0);
  std::string final = listFolder(folder.path("c"))[0];
  for (int stop : {5, 6, 12, 13, 19, 20, 26, 27, 40, 41}) {
    std::string name = "stop" + std::to_string(stop);
    fake_options fake = validatedOptions();
    fake.validation.patience = 2;
    trainUntil(fake, name, stop);
    ASSERT_EQ(runWith("patience=2",
                      {"--epochs", "12", "--checkpoint", name, "--resume"})
                  .code,
              0);
    std::vector<std::string> saved = listFolder(folder.path(name));
    EXPECT_EQ(saved.back(), final) << stop;
    for (int copy = 0; copy < 3; ++copy)
      EXPECT_EQ(tensorsOf(name + "/" + saved.back(), copy),
                tensorsOf("c/" + final, copy))
          << stop;
  }
}

TEST_F(Patience, OnlyImprovementsByMoreThanLeastCount) {
  // No score improves by more than 1, so the first one stays the best.
  Outcome outcome = runWith("patience=3 least_percent=100",
                            {"--epochs", "12", "--checkpoint", "c"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(listFolder(folder.path("c")),
            std::vector<std::string>{"step-00000020"});
}

TEST_F(Patience, ACopyOfNanStops) {
  RunOptions options;
  options.fake = "validation_percent=20 diverging patience=2";
  ASSERT_EQ(run({"--epochs", "4", "--log", "log"}, options).code, 0);
  std::string log = readFile(folder.path("log"));
  EXPECT_TRUE(std::regex_search(
      log, std::regex(R"("epoch":2,"train_loss":\[[0-9.e-]+,"nan",)")))
      << log;
  EXPECT_TRUE(std::regex_search(
      log, std::regex(R"("epoch":3,"train_loss":\[[0-9.e-]+,null,)")))
      << log;
}

TEST_F(Patience, CopiesThatTakeTurnsStopAlike) {
  std::vector<std::string> expected;
  for (int64_t spilled : {0, 1, 2}) {
    fake_options fake = validatedOptions();
    fake.takes_turns = 1;
    fake.spilled_copies = spilled;
    fake.validation.patience = 2;
    ProgramPointer program = makeProgram(fake);
    InstancePointer instance = makeInstance(program.get());
    hfta_train_options train = {};
    hfta_train_result result;
    train.data_root = data.root.c_str();
    train.epochs = 12;
    ASSERT_EQ(hfta_train(instance.get(), &train, &result), HFTA_OK)
        << hfta_instance_message(instance.get());
    std::vector<std::string> states = {std::to_string(result.steps)};
    for (int copy = 0; copy < 3; ++copy) {
      states.push_back(stateOf(instance.get(), copy));
      states.push_back(std::to_string(result.eval_losses[copy]));
      states.push_back(std::to_string(result.validation_losses[copy]));
      states.push_back(std::to_string(result.train_losses[copy]));
    }
    hfta_train_result_free(&result);
    if (expected.empty())
      expected = states;
    EXPECT_EQ(states, expected) << spilled;
  }
}

TEST_F(Patience, ShowsWhatStops) {
  RunOptions options;
  options.fake = validation + "patience=1 least_percent=100";
  Outcome outcome =
      runBinary({"train", "--epochs", "5", "--data", data.root}, options);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("copy 2 stops after step 10: no better validation "
                             "accuracy for 1 evaluations\n"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Patience, RefusesWhatItCannotDo) {
  RunOptions options;
  options.fake = "patience=2";
  Outcome outcome = run({"--epochs", "2"}, options);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "fake: error: patience needs validation data, which "
                         "'fake' doesn't have\n");
}

//===----------------------------------------------------------------------===//
// Limits of time
//===----------------------------------------------------------------------===//

TEST_F(Patience, ALimitOfTimeEndsATraining) {
  ASSERT_EQ(runWith("", {"--steps", "2000", "--checkpoint", "c"}).code, 0);
  // Even a step may take longer than the limit.
  Outcome outcome =
      runWith("milliseconds=1", {"--steps", "2000", "--checkpoint", "d"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  std::string saved = listFolder(folder.path("d"))[0];
  EXPECT_NE(saved, "step-00002000");
  EXPECT_EQ(outcome.err,
            "fake: the limit of 1.66667e-05 minutes ended after step " +
                std::to_string(std::stoi(saved.substr(5))) + "; saved d/" +
                saved +
                ": train --resume --minutes M goes on until M minutes "
                "in total\n");
  // No time is left.
  outcome = runWith("milliseconds=1",
                    {"--steps", "2000", "--checkpoint", "d", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("; saved d/" + saved), std::string::npos)
      << outcome.err;
  EXPECT_EQ(listFolder(folder.path("d")), std::vector<std::string>{saved});
  outcome = runWith("milliseconds=1", {"--steps", "2000", "--checkpoint", "d",
                                       "--resume", "--minutes", "100"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expectEqual("c/step-00002000", "d/step-00002000");
}

TEST_F(Patience, ALimitOfTimeNeedsNoValidation) {
  RunOptions options;
  options.fake = "milliseconds=1";
  Outcome outcome = run({"--steps", "100000000"}, options);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("; nothing saved: no --checkpoint was given\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(runBinary({"info", "--json"}, options).out.find("\"minutes\":1.6"),
            std::string::npos);
  EXPECT_NE(runBinary({"info"}, options)
                .out.find("\nends after 1.66667e-05 "
                          "minutes\n"),
            std::string::npos);
}

TEST(Standings, KeepExactNumbers) {
  TemporaryFolder folder;
  hfta_error error;
  hfta_standings one, other;
  ASSERT_EQ(hfta_standings_open(&one, 3, &error), HFTA_OK);
  ASSERT_EQ(hfta_standings_open(&other, 3, &error), HFTA_OK);
  const hfta_validation by = {0, 0, 0, 1, 0, HFTA_MINIMIZE, 0, 0, 2, 0, 0};
  const bool runs[] = {true, false, true};
  const double first[] = {0.1, 1, NAN}, second[] = {1.0 / 3, 1, INFINITY};
  hfta_standings_note(&one, &by, 5, runs, first, nullptr);
  hfta_standings_note(&one, &by, 5, runs, second, nullptr);
  EXPECT_EQ(one.waited[2], 1);
  hfta_standings_note(&one, &by, 10, runs, second, nullptr);
  one.seconds = 0.1;
  ASSERT_EQ(hfta_standings_save(&one, folder.root.c_str(), &error), HFTA_OK)
      << error.message;
  ASSERT_EQ(hfta_standings_load(&other, folder.root.c_str(), &error), HFTA_OK)
      << error.message;
  EXPECT_EQ(other.evaluated_step, 10);
  EXPECT_EQ(other.seconds, 0.1);
  const int64_t steps[] = {5, 0, 0}, waited[] = {1, 0, 2}, stops[] = {0, 0, 10};
  for (int copy = 0; copy < 3; ++copy) {
    EXPECT_EQ(other.best_scores[copy], one.best_scores[copy]);
    EXPECT_EQ(other.best_steps[copy], steps[copy]);
    EXPECT_EQ(other.waited[copy], waited[copy]);
    EXPECT_EQ(other.stopped_after[copy], stops[copy]);
  }
  EXPECT_EQ(other.best_scores[0], 0.1);
  hfta_standings_close(&other);
  ASSERT_EQ(hfta_standings_open(&other, 4, &error), HFTA_OK);
  EXPECT_EQ(hfta_standings_load(&other, folder.root.c_str(), &error),
            HFTA_INVALID_INPUT);
  hfta_standings_close(&other);
  hfta_standings_close(&one);
}
