//===- TrainTest.cpp - The command train ----------------------------------===//

#include "RuntimeTest.h"
#include "hfta/trainer.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <regex>
#include <sys/stat.h>
#include <unistd.h>

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

/// Returns the bytes of a safetensors file after its header.
static std::string tensorsOf(const std::string &file) {
  uint64_t header = 0;
  EXPECT_GT(file.size(), sizeof(header));
  memcpy(&header, file.data(), sizeof(header));
  return file.substr(sizeof(header) + header);
}

TEST_F(Train, SomeCopiesAlone) {
  ASSERT_EQ(run({"--steps", "20", "--checkpoint", "all"}).code, 0);
  ASSERT_EQ(run({"--steps", "10", "--checkpoint", "some"}).code, 0);
  Outcome outcome = run({"--steps", "20", "--checkpoint", "some", "--resume",
                         "--only", "2,0", "--log", "log"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (int copy : {0, 2})
    EXPECT_EQ(copyFile("some/step-00000020", copy),
              copyFile("all/step-00000020", copy));
  // A copy that isn't trained keeps its tensors from the old checkpoint.
  EXPECT_EQ(tensorsOf(copyFile("some/step-00000020", 1)),
            tensorsOf(copyFile("some/step-00000010", 1)));
  std::string log = readFile(folder.path("log"));
  EXPECT_NE(log.find("\"loss\":["), std::string::npos);
  EXPECT_TRUE(std::regex_search(
      log, std::regex("\"loss\":\\[[0-9.e-]+,null,[0-9.e-]+\\]")))
      << log;
  EXPECT_TRUE(std::regex_search(
      log, std::regex("\"eval_loss\":\\[[0-9.e-]+,null,[0-9.e-]+\\]")))
      << log;
  EXPECT_TRUE(std::regex_search(outcome.out, std::regex("\n1 .* - .*- *\n")))
      << outcome.out;
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

TEST_F(Train, RefusesAFolderOfAnotherTraining) {
  ASSERT_EQ(run({"--steps", "9", "--checkpoint", "c"}).code, 0);
  std::string before = copyFile("c/step-00000009", 0);
  for (const char *steps : {"5", "9", "20"}) {
    writeFile(folder.path("log"), "an older log\n");
    Outcome outcome =
        run({"--steps", steps, "--checkpoint", "c", "--log", "log"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err,
              "fake: error: 'c' holds checkpoints of an earlier training, the "
              "newest step-00000009: give --resume to go on from it, or "
              "--overwrite to remove them\n");
    EXPECT_EQ(readFile(folder.path("log")), "an older log\n");
  }
  EXPECT_EQ(listFolder(folder.path("c")),
            std::vector<std::string>{"step-00000009"});
  EXPECT_EQ(copyFile("c/step-00000009", 0), before);
}

TEST_F(Train, OverwritingRemovesTheOldCheckpoints) {
  ASSERT_EQ(run({"--steps", "20", "--checkpoint", "c", "--every", "6"}).code,
            0);
  writeFile(folder.path("c/note"), "mine");
  ASSERT_EQ(run({"--steps", "9", "--checkpoint", "c", "--overwrite"}).code, 0);
  EXPECT_EQ(listFolder(folder.path("c")),
            (std::vector<std::string>{"note", "step-00000009"}));
  // If the folder is empty, --overwrite has nothing to do.
  EXPECT_EQ(run({"--steps", "9", "--checkpoint", "d", "--overwrite"}).code, 0);
}

TEST_F(Train, OverwritingNeedsAllElseToBeRight) {
  ASSERT_EQ(run({"--steps", "9", "--checkpoint", "c"}).code, 0);
  std::string before = copyFile("c/step-00000009", 0);
  std::vector<std::string> arguments = {"--checkpoint", "c", "--overwrite"};
  auto refused = [&](std::vector<std::string> more, int code) {
    more.insert(more.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(run(more).code, code);
    EXPECT_EQ(copyFile("c/step-00000009", 0), before);
  };
  refused({"--resume"}, 2);
  refused({"--steps", "5", "--epochs", "1"}, 2);
  refused({"--steps", "5", "--threads", "0"}, 2);
  refused({"--steps", "5", "--device", "abacus"}, 3);
  refused({"--steps", "5", "--log", "no/log"}, 4);
  refused({"--steps", "5", "--log", "/dev/full"}, 4);
  std::string labels = readFile(data.path("train-labels.idx"));
  writeFile(data.path("train-labels.idx"), labels.substr(0, labels.size() - 1));
  refused({"--steps", "5"}, 1);
}

TEST_F(Train, ACrashNeverLeadsBackToAnotherTraining) {
  RunOptions other;
  other.fake = "first_copy=3";
  ASSERT_EQ(
      run({"--steps", "1000", "--checkpoint", "c", "--every", "300"}, other)
          .code,
      0);
  RunOptions options;
  options.pipe = "pipe";
  options.lines = 420; // this is step 360, as epochs have lines too
  options.then = sends(SIGKILL);
  std::vector<std::string> arguments = {
      "--steps", "1000",         "--every", "300",         "--keep",
      "9",       "--checkpoint", "c",       "--log-every", "1"};
  std::vector<std::string> killed = arguments;
  killed.insert(killed.end(), {"--log", "pipe", "--overwrite"});
  ASSERT_EQ(run(killed, options).code, 1000 + SIGKILL);
  std::vector<std::string> left = listFolder(folder.path("c"));
  EXPECT_EQ(left, (std::vector<std::string>{".hfta-lock", "step-00000300"}));
  arguments.push_back("--resume");
  ASSERT_EQ(run(arguments).code, 0);
  ASSERT_EQ(run({"--steps", "1000", "--checkpoint", "whole"}).code, 0);
  expectEqual("c/step-00001000", "whole/step-00001000");
}

TEST_F(Train, SurvivesKills) {
  writeData(data.root, 4000, 50);
  std::vector<std::string> arguments = {"--steps", "3000", "--every",     "50",
                                        "--keep",  "2",    "--checkpoint"};
  arguments.push_back("whole");
  ASSERT_EQ(run(arguments).code, 0);
  arguments.back() = "killed";
  arguments.insert(arguments.end(),
                   {"--resume", "--log", "pipe", "--log-every", "1"});
  // A pipe holds far fewer lines than there are steps left, so the training is
  // always killed before its end.
  std::mt19937 random(5);
  RunOptions options;
  options.pipe = "pipe";
  options.then = sends(SIGKILL);
  for (int i = 0; i < 20; ++i) {
    options.lines = 20 + static_cast<int>(random() % 60);
    ASSERT_EQ(run(arguments, options).code, 1000 + SIGKILL);
  }
  options.then = nullptr;
  Outcome outcome = run(arguments, options);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expectEqual("whole/step-00003000", "killed/step-00003000");
  EXPECT_EQ(listFolder(folder.path("killed")),
            (std::vector<std::string>{"step-00002950", "step-00003000"}));
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

TEST_F(Train, SignalsSaveAndEndWith128AndTheirNumber) {
  writeData(data.root, 4000, 50);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    std::string name = "c" + std::to_string(signal);
    RunOptions options;
    options.pipe = "pipe";
    options.lines = 5;
    options.then = sends(signal);
    Outcome outcome =
        run({"--steps", "100000000", "--checkpoint", name, "--log", "pipe"},
            options);
    EXPECT_EQ(outcome.code, 128 + signal) << outcome.err;
    std::vector<std::string> saved = listFolder(folder.path(name));
    ASSERT_EQ(saved.size(), 1u);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("; saved " + name + "/" + saved[0] + "\n"),
              std::string::npos)
        << outcome.err;
    std::string steps = std::to_string(std::stoll(saved[0].substr(5)));
    ASSERT_EQ(
        run({"--steps", steps, "--checkpoint", "other", "--overwrite"}).code,
        0);
    expectEqual(name + "/" + saved[0], "other/" + saved[0]);
  }
}

TEST_F(Train, AnAbandonedPipeSavesAndEndsWith141) {
  writeData(data.root, 4000, 50);
  RunOptions options;
  options.pipe = "pipe";
  options.errorsToPipe = true;
  options.lines = 5;
  options.closesPipe = true;
  Outcome outcome = run({"--steps", "100000000", "--checkpoint", "c"}, options);
  EXPECT_EQ(outcome.code, 128 + SIGPIPE);
  EXPECT_EQ(listFolder(folder.path("c")).size(), 1u);
}

TEST_F(Train, ALogThatNobodyReadsSavesAndEndsWith141) {
  writeData(data.root, 4000, 50);
  RunOptions options;
  options.pipe = "pipe";
  options.lines = 5;
  options.closesPipe = true;
  std::vector<std::string> arguments = {"--steps", "100000000",    "--log",
                                        "pipe",    "--checkpoint", "c"};
  Outcome outcome = run(arguments, options);
  EXPECT_EQ(outcome.code, 128 + SIGPIPE);
  std::vector<std::string> saved = listFolder(folder.path("c"));
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_NE(outcome.err.find("; saved c/" + saved[0] + "\n"), std::string::npos)
      << outcome.err;
  // A process that ignores SIGPIPE gets an error from the write instead.
  options.ignored = {SIGPIPE};
  arguments.back() = "d";
  outcome = run(arguments, options);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err.find("fake: error: cannot write log 'pipe': Broken "
                             "pipe\nfake: note: saved d/step-"),
            0u)
      << outcome.err;
}

TEST_F(Train, ResultsThatNobodyReadsAreNoFailureOfTheTraining) {
  RunOptions options;
  options.brokenOutput = true;
  Outcome outcome = run({"--steps", "5", "--checkpoint", "c"}, options);
  EXPECT_EQ(outcome.code, 128 + SIGPIPE);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(exists(folder.path("c/step-00000005")));
  options.ignored = {SIGPIPE};
  outcome = run({"--steps", "5", "--checkpoint", "d"}, options);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.err, "fake: error: cannot write to standard output: "
                         "Broken pipe\n");
}

TEST_F(Train, IgnoredSignalsStayIgnored) {
  writeData(data.root, 4000, 50);
  RunOptions options;
  options.pipe = "pipe";
  options.lines = 5;
  options.ignored = {SIGHUP, SIGPIPE};
  options.then = [](pid_t child) {
    kill(child, SIGHUP);
    kill(child, SIGPIPE);
  };
  Outcome outcome = run({"--steps", "3000", "--checkpoint", "c", "--log",
                         "pipe", "--log-every", "1"},
                        options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(exists(folder.path("c/step-00003000")));
}

TEST_F(Train, CtrlCWithoutCheckpointSaysSo) {
  writeData(data.root, 4000, 50);
  RunOptions options;
  options.pipe = "pipe";
  options.lines = 5;
  options.then = sends(SIGINT);
  Outcome outcome = run({"--steps", "100000000", "--log", "pipe"}, options);
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

TEST_F(Train, DataThatChangeEndItAfterASave) {
  writeData(data.root, 4000, 50);
  std::string path = data.path("train-images.idx"), whole = readFile(path);
  // The file is changed in place, because a mapping keeps the bytes of a file
  // that is replaced.
  auto rewrite = [&](const std::string &bytes) {
    return [&, bytes](pid_t) {
      ASSERT_EQ(truncate(path.c_str(), off_t(bytes.size())), 0);
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
          << bytes;
    };
  };
  const struct {
    const char *name;
    std::string bytes, message;
  } rows[] = {
      {"cut", whole.substr(0, 100), "it had 24012 bytes, and has 100 now"},
      {"longer", whole + "x", "it had 24012 bytes, and has 24013 now"},
      {"other", std::string(whole.size(), 'x'), "it was written to"}};
  for (const auto &row : rows) {
    writeFile(path, whole);
    // The file's time is set far back, because the clocks of file systems are
    // too coarse to tell two writes within a test apart.
    timespec times[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    RunOptions options;
    options.pipe = "pipe";
    options.lines = 5;
    options.then = rewrite(row.bytes);
    Outcome outcome = run({"--steps", "100000000", "--checkpoint", row.name,
                           "--log", "pipe", "--log-every", "1"},
                          options);
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    std::vector<std::string> saved = listFolder(folder.path(row.name));
    ASSERT_EQ(saved.size(), 1u);
    EXPECT_EQ(outcome.err,
              "fake: error: '" + path +
                  "' was changed while it was read: " + row.message +
                  "\nfake: note: saved " + row.name + "/" + saved[0] + "\n");
  }
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
// Training through the C interface
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
