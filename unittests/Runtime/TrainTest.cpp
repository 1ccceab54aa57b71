//===- TrainTest.cpp - The command train ----------------------------------===//

#include "RuntimeTest.h"
#include "hfta/trainer.h"

#include <csignal>
#include <cstring>
#include <random>
#include <regex>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace {
class Train : public testing::Test {
protected:
  Train() { writeData(data.root); }

  Outcome run(std::vector<std::string> arguments, RunOptions options = {}) {
    options.folder = folder.root;
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(), {"--data", data.root, "--no-progress"});
    return runBinary(arguments, options);
  }

  std::string copyFile(const std::string &checkpoint, int copy) {
    return readFile(folder.path(checkpoint + "/copy-000" +
                                std::to_string(copy) + ".safetensors"));
  }

  void expectEqual(const std::string &one, const std::string &two,
                   int copies = 3) {
    for (int copy = 0; copy < copies; ++copy) {
      EXPECT_FALSE(copyFile(one, copy).empty()) << one;
      EXPECT_EQ(copyFile(one, copy), copyFile(two, copy)) << one << " " << two;
    }
  }

  TemporaryFolder data, folder;
};
} // namespace

static std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

TEST_F(Train, EndsWithATableOfCopies) {
  Outcome outcome = run({"--epochs", "5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::vector<std::string> lines = linesOf(outcome.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].substr(0, 6), "copy  ");
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_TRUE(std::regex_search(
        lines[copy + 1],
        std::regex("^" + std::to_string(copy) + "  .* \\d+\\.\\d\\d %$")))
        << lines[copy + 1];
}

TEST_F(Train, ThreadsDontChangeCheckpoints) {
  for (const char *threads : {"1", "2", "3"}) {
    RunOptions options;
    options.fake = "clipping cosine micro_batches=2 all_forwards_first";
    Outcome outcome =
        run({"--steps", "30", "--threads", threads, "--checkpoint", threads},
            options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  expectEqual("1/step-00000030", "2/step-00000030");
  expectEqual("1/step-00000030", "3/step-00000030");
}

TEST_F(Train, ACopysCheckpointIsThatOfItTrainedAlone) {
  ASSERT_EQ(run({"--steps", "20", "--checkpoint", "all"}).code, 0);
  for (int copy = 0; copy < 3; ++copy) {
    RunOptions options;
    options.fake = "copies=1 first_copy=" + std::to_string(copy);
    std::string name = "alone" + std::to_string(copy);
    ASSERT_EQ(run({"--steps", "20", "--checkpoint", name}, options).code, 0);
    EXPECT_EQ(copyFile(name + "/step-00000020", 0),
              copyFile("all/step-00000020", copy));
  }
}

//===----------------------------------------------------------------------===//
// Log
//===----------------------------------------------------------------------===//

TEST_F(Train, LogsFirstLastAndEveryNthStep) {
  ASSERT_EQ(run({"--steps", "14", "--log", "log", "--log-every", "5"}).code, 0);
  std::vector<std::string> lines = linesOf(readFile(folder.path("log")));
  const char *begins[] = {R"({"event":"step","step":1,"epoch":1,"loss":[)",
                          R"({"event":"step","step":5,"epoch":1,"loss":[)",
                          R"({"event":"epoch","epoch":1,"train_loss":[)",
                          R"({"event":"step","step":10,"epoch":2,"loss":[)",
                          R"({"event":"epoch","epoch":2,"train_loss":[)",
                          R"({"event":"step","step":14,"epoch":3,"loss":[)",
                          R"({"event":"epoch","epoch":3,"train_loss":[)"};
  ASSERT_EQ(lines.size(), 7u);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(lines[i].substr(0, strlen(begins[i])), begins[i]);
  EXPECT_NE(lines[0].find(R"("lr":[0.1,0.3,1]})"), std::string::npos);
  EXPECT_TRUE(std::regex_search(
      lines[2],
      std::regex(R"(\],"eval_loss":\[[^\]]*,[^\]]*,[^\]]*\],)"
                 R"("eval_accuracy":\[[^\]]*\],"seconds":[0-9.e-]+\}$)")))
      << lines[2];
}

TEST_F(Train, ADivergingCopyGoesOnAsNan) {
  RunOptions options;
  options.fake = "diverging";
  Outcome outcome =
      run({"--steps", "20", "--log", "log", "--checkpoint", "nan"}, options);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(run({"--steps", "20", "--checkpoint", "c"}).code, 0);
  EXPECT_EQ(copyFile("nan/step-00000020", 0), copyFile("c/step-00000020", 0));
  EXPECT_EQ(copyFile("nan/step-00000020", 2), copyFile("c/step-00000020", 2));
  EXPECT_TRUE(std::regex_search(
      readFile(folder.path("log")),
      std::regex(R"("step":20,"epoch":4,"loss":\[[0-9.e-]+,"nan",[0-9.e-]+\],)"
                 R"("lr":\[0.1,1e\+?30,1\]\})")))
      << readFile(folder.path("log"));
  EXPECT_TRUE(std::regex_search(outcome.out, std::regex("\n1 .*  nan  .*%\n")))
      << outcome.out;
}

TEST_F(Train, AResumedLogIsTheSameLog) {
  RunOptions options;
  options.fake = "cosine";
  ASSERT_EQ(run({"--steps", "20", "--log", "whole", "--log-every", "1",
                 "--checkpoint", "a"},
                options)
                .code,
            0);
  // A cosine schedule ends at the total, so a run is cut short by a copy of
  // its checkpoint at step 9, in the middle of an epoch.
  ASSERT_EQ(
      run({"--steps", "20", "--checkpoint", "b", "--every", "9"}, options).code,
      0);
  ASSERT_EQ(mkdir(folder.path("c").c_str(), 0777), 0);
  ASSERT_EQ(rename(folder.path("b/step-00000009").c_str(),
                   folder.path("c/step-00000009").c_str()),
            0);
  writeFile(folder.path("log"), "{\"event\":\"first\"}\n{\"event\":\"to");
  Outcome outcome = run({"--steps", "20", "--log", "log", "--log-every", "1",
                         "--checkpoint", "c", "--resume"},
                        options);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::vector<std::string> whole = linesOf(readFile(folder.path("whole")));
  std::vector<std::string> log = linesOf(readFile(folder.path("log")));
  ASSERT_GT(log.size(), 5u);
  EXPECT_EQ(log[0], "{\"event\":\"first\"}");
  EXPECT_EQ(log[1].substr(0, 26), R"({"event":"step","step":10,)");
  std::regex seconds("\"seconds\":[^}]*");
  size_t begin = whole.size() - (log.size() - 1);
  for (size_t i = 1; i < log.size(); ++i)
    EXPECT_EQ(std::regex_replace(log[i], seconds, ""),
              std::regex_replace(whole[begin + i - 1], seconds, ""));
  expectEqual("a/step-00000020", "c/step-00000020");
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

TEST_F(Train, KeepsTheNewestCheckpoints) {
  ASSERT_EQ(
      run({"--steps", "20", "--checkpoint", "c", "--every", "6", "--keep", "2"})
          .code,
      0);
  EXPECT_EQ(listFolder(folder.path("c")),
            (std::vector<std::string>{"step-00000018", "step-00000020"}));
}

TEST_F(Train, ResumesToTheSameBytes) {
  ASSERT_EQ(run({"--epochs", "4", "--checkpoint", "whole"}).code, 0);
  ASSERT_EQ(run({"--steps", "9", "--checkpoint", "parts"}).code, 0);
  ASSERT_EQ(run({"--epochs", "3", "--checkpoint", "parts", "--resume"}).code,
            0);
  ASSERT_EQ(run({"--epochs", "4", "--checkpoint", "parts", "--resume"}).code,
            0);
  EXPECT_EQ(listFolder(folder.path("parts")),
            (std::vector<std::string>{"step-00000009", "step-00000018",
                                      "step-00000024"}));
  expectEqual("whole/step-00000024", "parts/step-00000024");
}

TEST_F(Train, ResumingACompleteTrainingPrintsItsTable) {
  Outcome whole = run({"--epochs", "2", "--checkpoint", "c"});
  Outcome again = run({"--epochs", "2", "--checkpoint", "c", "--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, whole.out);
}

TEST_F(Train, ResumingWithoutCheckpointStartsAnew) {
  RunOptions options;
  options.folder = folder.root;
  Outcome outcome = runBinary({"train", "--data", data.root, "--steps", "2",
                               "--checkpoint", "c", "--resume"},
                              options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("no checkpoint in 'c': starting anew\n"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Train, RefusesToEndBeforeAnEarlierTraining) {
  ASSERT_EQ(run({"--steps", "9", "--checkpoint", "c"}).code, 0);
  Outcome outcome = run({"--steps", "5", "--checkpoint", "c"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "fake: error: 'c' holds step-00000009 of an earlier training, "
            "beyond step 5 where this one ends: give --resume or another "
            "folder\n");
  EXPECT_EQ(run({"--steps", "9", "--checkpoint", "c"}).code, 0);
}

TEST_F(Train, SurvivesKills) {
  writeData(data.root, 4000, 50);
  std::vector<std::string> arguments = {"--steps", "3000", "--every",     "50",
                                        "--keep",  "2",    "--checkpoint"};
  arguments.push_back("whole");
  ASSERT_EQ(run(arguments).code, 0);
  arguments.back() = "killed";
  arguments.push_back("--resume");
  std::mt19937 random(5);
  int killed = 0;
  Outcome outcome = {};
  for (int i = 0; i < 20; ++i) {
    RunOptions options;
    options.signal = SIGKILL;
    options.delay = 5 + static_cast<int>(random() % 40);
    outcome = run(arguments, options);
    killed += outcome.code == 1000 + SIGKILL;
    if (outcome.code == 0)
      break;
    ASSERT_EQ(outcome.code, 1000 + SIGKILL) << outcome.err;
  }
  EXPECT_GT(killed, 0);
  outcome = run(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expectEqual("whole/step-00003000", "killed/step-00003000");
  EXPECT_EQ(listFolder(folder.path("killed")),
            (std::vector<std::string>{"step-00002950", "step-00003000"}));
}

TEST_F(Train, CtrlCSavesAndEndsWith130) {
  writeData(data.root, 4000, 50);
  RunOptions options;
  options.signal = SIGINT;
  options.delay = 300;
  Outcome outcome = run({"--steps", "100000000", "--checkpoint", "c"}, options);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  std::vector<std::string> saved = listFolder(folder.path("c"));
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("; saved c/" + saved[0] + "\n"), std::string::npos)
      << outcome.err;
  std::string steps = std::to_string(std::stoll(saved[0].substr(5)));
  ASSERT_EQ(run({"--steps", steps, "--checkpoint", "other"}).code, 0);
  expectEqual("c/" + saved[0], "other/" + saved[0]);
}

TEST_F(Train, CtrlCWithoutCheckpointSaysSo) {
  writeData(data.root, 4000, 50);
  RunOptions options;
  options.signal = SIGINT;
  options.delay = 300;
  Outcome outcome = run({"--steps", "100000000"}, options);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("; nothing saved: no --checkpoint was given\n"),
            std::string::npos)
      << outcome.err;
}

//===----------------------------------------------------------------------===//
// Folders that can't be written
//===----------------------------------------------------------------------===//

TEST_F(Train, AFullDiskLeavesTheOlderCheckpoint) {
  ASSERT_EQ(run({"--steps", "5", "--checkpoint", "c"}).code, 0);
  std::string before = copyFile("c/step-00000005", 2);
  RunOptions options;
  options.fileLimit = 300;
  Outcome outcome =
      run({"--steps", "9", "--checkpoint", "c", "--resume"}, options);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err.find("fake: error: cannot save checkpoint "
                             "'c/step-00000009': "),
            0u)
      << outcome.err;
  EXPECT_EQ(listFolder(folder.path("c")),
            std::vector<std::string>{"step-00000005"});
  EXPECT_EQ(copyFile("c/step-00000005", 2), before);
  EXPECT_EQ(run({"--steps", "9", "--checkpoint", "c", "--resume"}).code, 0);
}

TEST_F(Train, UnwritableFoldersAreRefusedAtOnce) {
  writeFile(folder.path("file"), "x");
  Outcome outcome = run({"--steps", "5", "--checkpoint", "file/c"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err,
            "fake: error: cannot make folder 'file': File exists\n");
  outcome = run({"--steps", "5", "--checkpoint", "/proc/hfta"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err, "fake: error: cannot make folder '/proc/hfta': No "
                         "such file or directory\n");
}

TEST_F(Train, UnwritableLogsAreRefusedAtOnce) {
  Outcome outcome = run({"--steps", "5", "--log", "no/log"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err, "fake: error: cannot write log 'no/log': No such "
                         "file or directory\n");
  outcome = run({"--steps", "5", "--log", "/dev/full"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err, "fake: error: cannot write log '/dev/full': No space "
                         "left on device\n");
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

TEST_F(Train, RefusesDataThatDontMatch) {
  writeData(folder.root, 60, 21);
  rename(folder.path("train-labels.idx").c_str(),
         data.path("train-labels.idx").c_str());
  Outcome outcome = run({"--steps", "5"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "fake: error: '" + data.root +
                             "/train-labels.idx' holds 60 samples, but "
                             "'train-images.idx' holds 53\n");
}

TEST_F(Train, RefusesTooFewSamples) {
  writeData(data.root, 7, 21);
  Outcome outcome = run({"--steps", "5"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "fake: error: the training data hold 7 samples, "
                         "fewer than one batch of 8\n");
}

TEST_F(Train, RefusesMissingData) {
  remove(data.path("train-images.idx").c_str());
  Outcome outcome = run({"--steps", "5"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find(data.path("train-images.idx")), std::string::npos)
      << outcome.err;
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

TEST_F(Train, TheLibraryTrainsToo) {
  fake_options options = defaultOptions();
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get(), 2);
  hfta_train_options train = {};
  hfta_train_result result;
  train.data_root = data.root.c_str();
  train.epochs = 2;
  ASSERT_EQ(hfta_train(instance.get(), &train, &result), HFTA_OK)
      << hfta_instance_message(instance.get());
  EXPECT_EQ(result.steps, 12);
  EXPECT_FALSE(result.interrupted);
  EXPECT_FALSE(result.saved);
  double losses[3], metrics[3];
  ASSERT_EQ(
      hfta_evaluate_all(instance.get(), data.root.c_str(), losses, metrics),
      HFTA_OK);
  for (int copy = 0; copy < 3; ++copy) {
    EXPECT_EQ(losses[copy], result.eval_losses[copy]);
    EXPECT_EQ(metrics[copy], result.eval_metrics[copy]);
  }
  hfta_train_result_free(&result);
}
