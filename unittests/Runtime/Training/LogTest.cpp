//===- LogTest.cpp - The log of a training --------------------------------===//

#include "RuntimeTest.h"
#include "hfta/trainer.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <regex>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

extern "C" {
#include "training/log_file.h"
}

TEST_F(Train, LogsFirstLastAndEveryNthStep) {
  ASSERT_EQ(run({"--steps", "14", "--log", "log", "--log-every", "5"}).code, 0);
  std::vector<std::string> lines = linesOf(readFile(folder.path("log")));
  const char *begins[] = {R"({"event":"start","name":"fake","copies":3,)",
                          R"({"event":"step","step":1,"epoch":1,"loss":[)",
                          R"({"event":"step","step":5,"epoch":1,"loss":[)",
                          R"({"event":"epoch","epoch":1,"train_loss":[)",
                          R"({"event":"step","step":10,"epoch":2,"loss":[)",
                          R"({"event":"epoch","epoch":2,"train_loss":[)",
                          R"({"event":"step","step":14,"epoch":3,"loss":[)",
                          R"({"event":"epoch","epoch":3,"train_loss":[)"};
  ASSERT_EQ(lines.size(), 8u);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(lines[i].substr(0, strlen(begins[i])), begins[i]);
  EXPECT_NE(lines[1].find(R"("lr":[0.1,0.3,1]})"), std::string::npos);
  EXPECT_TRUE(std::regex_search(
      lines[3],
      std::regex(R"(\],"eval_loss":\[[^\]]*,[^\]]*,[^\]]*\],)"
                 R"("eval_accuracy":\[[^\]]*\],"seconds":[0-9.e-]+\}$)")))
      << lines[3];
}

TEST_F(Train, TheStartEventDescribesTheTraining) {
  ASSERT_EQ(run({"--steps", "14", "--log", "log", "--checkpoint", "c"}).code,
            0);
  const std::string begin =
      R"({"event":"start","name":"fake","copies":3,"identity":"identity-mlp",)"
      R"("batch":8,"steps_per_epoch":6,)";
  const std::string end =
      R"("hyper_parameters":{"lr":[0.1,0.3,1],"momentum":[0,0.9,0.5],)"
      R"("weight_decay":[0,0,0],"seed":[1,1,20000001]}})";
  EXPECT_EQ(events("log").front(),
            begin + R"("total_steps":14,"steps_done":0,)" + end);
  ASSERT_EQ(run({"--steps", "20", "--log", "log", "--checkpoint", "c",
                 "--resume", "--log-every", "1"})
                .code,
            0);
  std::vector<std::string> log = events("log");
  // The epoch that was interrupted goes on, so its event comes only when it is
  // complete.
  size_t again = log.size() - 9;
  EXPECT_EQ(log[again], begin + R"("total_steps":20,"steps_done":14,)" + end);
  EXPECT_EQ(log[again - 1].find(R"({"event":"step","step":14,)"), 0u);
  EXPECT_EQ(log[again + 1].find(R"({"event":"step","step":15,)"), 0u);
}

//===----------------------------------------------------------------------===//
// Resuming
//===----------------------------------------------------------------------===//

namespace {
/// Resumes a training of 20 steps. The cosine schedule depends on the total
/// number of steps, so the training first runs in full, and its later
/// checkpoints are removed before it is resumed.
class ResumedLog : public Train {
protected:
  explicit ResumedLog(const char *fake = "cosine") {
    options.fake = fake;
    EXPECT_EQ(run({"--steps", "20", "--log", "whole", "--log-every", "1",
                   "--checkpoint", "c", "--every", "1"},
                  options)
                  .code,
              0);
  }

  void keepStepsUpTo(int last) {
    for (int step = last + 1; step <= 20; ++step) {
      char name[32];
      snprintf(name, sizeof(name), "c/step-%08d", step);
      removeAll(folder.path(name));
    }
  }

  Outcome resume() {
    return run({"--steps", "20", "--log", "log", "--log-every", "1",
                "--checkpoint", "c", "--resume"},
               options);
  }

  static std::vector<std::string> withoutStarts(std::vector<std::string> log) {
    std::vector<std::string> rest;
    for (const std::string &line : log)
      if (line.find("{\"event\":\"start\"") != 0)
        rest.push_back(line);
    return rest;
  }

  /// Expects that the log has the events of a training that was never stopped,
  /// and one more start event.
  void expectWhole() {
    std::vector<std::string> log = events("log");
    EXPECT_EQ(withoutStarts(log), withoutStarts(events("whole")));
    EXPECT_EQ(log.size(), events("whole").size() + 1);
  }

  RunOptions options;
};
} // namespace

TEST_F(ResumedLog, IsCutBackToTheCheckpoint) {
  const std::string whole = readFile(folder.path("whole"));
  for (int last : {19, 18, 17, 12, 7, 1}) {
    keepStepsUpTo(last);
    writeFile(folder.path("log"), whole);
    Outcome outcome = resume();
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    expectWhole();
    removeAll(folder.path("c/step-00000020"));
  }
}

namespace {
class ResumedLogOfCurvature : public ResumedLog {
protected:
  ResumedLogOfCurvature() : ResumedLog("cosine curvature") {}
};
} // namespace

// Events of the preconditioner that came after the checkpoint happen again and
// are logged again.
TEST_F(ResumedLogOfCurvature, IsCutBackToTheCheckpoint) {
  const std::string whole = readFile(folder.path("whole"));
  for (int last : {7, 5, 4, 3, 1}) {
    keepStepsUpTo(last);
    writeFile(folder.path("log"), whole);
    Outcome outcome = resume();
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    expectWhole();
    removeAll(folder.path("c/step-00000020"));
  }
}

TEST_F(ResumedLog, EndsAnywhere) {
  const std::string whole = readFile(folder.path("whole"));
  keepStepsUpTo(9);
  size_t kept = whole.find("{\"event\":\"step\",\"step\":10,");
  for (size_t size : {kept, kept + 1, kept + 40, whole.size() - 1}) {
    writeFile(folder.path("log"), whole.substr(0, size));
    ASSERT_EQ(resume().code, 0);
    expectWhole();
    removeAll(folder.path("c/step-00000020"));
  }
}

TEST_F(ResumedLog, KeepsLinesOfOthers) {
  keepStepsUpTo(9);
  writeFile(folder.path("log"), "{\"event\":\"first\"}\n# a note\n[1]\n"
                                "{\"event\":\"step\",\"step\":9}\n"
                                "{\"event\":\"step\",\"step\":10}\n"
                                "after\n{\"event\":\"to");
  ASSERT_EQ(resume().code, 0);
  std::vector<std::string> log = events("log");
  ASSERT_GT(log.size(), 5u);
  EXPECT_EQ(log[0], "{\"event\":\"first\"}");
  EXPECT_EQ(log[1], "# a note");
  EXPECT_EQ(log[3], "{\"event\":\"step\",\"step\":9}");
  EXPECT_EQ(log[4].find("{\"event\":\"start\""), 0u);
  EXPECT_EQ(log[5].find(R"({"event":"step","step":10,)"), 0u);
}

TEST_F(ResumedLog, OfAnotherModelIsRefused) {
  keepStepsUpTo(9);
  const std::string other = "{\"event\":\"start\",\"identity\":\"other\"}\n"
                            "{\"event\":\"step\",\"step\":10}\n";
  writeFile(folder.path("log"), other);
  Outcome outcome = resume();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "fake: error: log 'log' is of another training "
                         "(identity other): give another file\n");
  EXPECT_EQ(readFile(folder.path("log")), other);
}

TEST_F(ResumedLog, OfACompleteTrainingStays) {
  writeFile(folder.path("log"), readFile(folder.path("whole")));
  ASSERT_EQ(resume().code, 0);
  expectWhole();
}

TEST_F(ResumedLog, LosesNoInterruptedEvaluation) {
  // The trainer calls `should_stop` after each step, except the last one of an
  // epoch, and after each batch of an evaluation. Epochs end with steps 6, 12,
  // 18 and 20.
  for (int stop : {6, 7, 15, 24, 28}) {
    std::string name = "stop" + std::to_string(stop);
    fake_options fake = defaultOptions();
    fake.cosine = 1;
    ProgramPointer program = makeProgram(fake);
    InstancePointer instance = makeInstance(program.get());
    hfta_train_options train = {};
    hfta_train_result result;
    std::string checkpoint = folder.path(name), log = folder.path("log");
    int asked = 0;
    struct Count {
      int *asked, stop;
    } count = {&asked, stop};
    train.data_root = data.root.c_str();
    train.steps = 20;
    train.log_every = 1;
    train.checkpoint = checkpoint.c_str();
    train.log_path = log.c_str();
    train.should_stop_argument = &count;
    train.should_stop = [](void *argument) {
      Count *count = static_cast<Count *>(argument);
      return ++*count->asked >= count->stop;
    };
    ASSERT_EQ(hfta_train(instance.get(), &train, &result), HFTA_OK)
        << hfta_instance_message(instance.get());
    EXPECT_TRUE(result.interrupted && result.saved);
    hfta_train_result_free(&result);
    Outcome outcome = run({"--steps", "20", "--log", "log", "--log-every", "1",
                           "--checkpoint", name, "--resume"},
                          options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    expectWhole();
  }
}

//===----------------------------------------------------------------------===//
// Resuming with epochs of another length
//===----------------------------------------------------------------------===//

namespace {
/// Trainings whose runs have different numbers of samples, so that epochs have
/// different numbers of steps.
class OtherEpochs : public Train {
protected:
  /// Trains up to `step` on as many samples as `stepsPerEpoch` batches have.
  Outcome trainTo(int step, int stepsPerEpoch,
                  std::vector<std::string> more = {}) {
    writeData(data.root, stepsPerEpoch * FAKE_BATCH);
    std::vector<std::string> arguments = {
        "--steps", std::to_string(step), "--log", "log",     "--log-every",
        "1",       "--checkpoint",       "c",     "--every", "1",
        "--resume"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// Removes the checkpoints of the steps after `last` up to `end`, as if the
  /// training had been killed after `last`.
  void keepStepsUpTo(int last, int end) {
    for (int step = last + 1; step <= end; ++step) {
      char name[32];
      snprintf(name, sizeof(name), "c/step-%08d", step);
      removeAll(folder.path(name));
    }
  }

  /// Returns one copy's number in the array with this key of an event.
  static double read(const std::string &line, const std::string &key,
                     int copy) {
    size_t at = line.find("\"" + key + "\":[") + key.size() + 4;
    for (int i = 0; i < copy; ++i)
      at = line.find(',', at) + 1;
    return std::stod(line.substr(at));
  }

  /// Returns the log in short: "3" for step 3, "e2" for the end of epoch 2, and
  /// "(4" for the start of a run after step 4.
  std::string shortLog() {
    std::string text;
    for (const std::string &line : events("log")) {
      std::smatch match;
      if (std::regex_search(line, match,
                            std::regex(R"("event":"step","step":(\d+))")))
        text += " " + match.str(1);
      else if (std::regex_search(
                   line, match, std::regex(R"("event":"epoch","epoch":(\d+))")))
        text += " e" + match.str(1);
      else if (std::regex_search(line, match,
                                 std::regex(R"("steps_done":(\d+))")))
        text += " (" + match.str(1);
    }
    return text;
  }

  /// Expects that each epoch's event has the mean of the losses of the steps
  /// since the previous epoch's event.
  void expectMeans(const std::string &what, int copies = 3) {
    std::vector<std::vector<double>> losses(copies);
    for (const std::string &line : events("log"))
      for (int copy = 0; copy < copies; ++copy) {
        std::vector<double> &own = losses[copy];
        if (line.find(R"({"event":"step")") == 0)
          own.push_back(read(line, "loss", copy));
        if (line.find(R"({"event":"epoch")") != 0)
          continue;
        double sum = 0;
        for (double loss : own)
          sum += loss;
        ASSERT_FALSE(own.empty()) << what;
        EXPECT_NEAR(read(line, "train_loss", copy), sum / own.size(), 1e-6)
            << what << ": " << line;
        own.clear();
      }
  }
};
} // namespace

TEST_F(OtherEpochs, KeepTheLogAndGiveTheMeanOfWhatWasDone) {
  const std::string before = " (0 1 2 3 e1 4";
  struct Case {
    int stepsPerEpoch;
    std::string after;
  } cases[] = {
      {6, " (4 5 6 e1 7 8 9 10 11 12 e2"}, // as if batches had half the size
      {5, " (4 5 e1 6 7 8 9 10 e2 11 12 e3"},
      {4, " (4 e1 5 6 7 8 e2 9 10 11 12 e3"},
      {3, " (4 5 6 e2 7 8 9 e3 10 11 12 e4"},
      {2, " (4 e2 5 6 e3 7 8 e4 9 10 e5 11 12 e6"},
      {1, " (4 e4 5 e5 6 e6 7 e7 8 e8 9 e9 10 e10 11 e11 12 e12"},
      {20, " (4 5 6 7 8 9 10 11 12 e1"}};
  for (const Case &each : cases) {
    ASSERT_EQ(trainTo(12, 3).code, 0);
    keepStepsUpTo(4, 12);
    Outcome outcome = trainTo(12, each.stepsPerEpoch);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(shortLog(), before + each.after);
    expectMeans(std::to_string(each.stepsPerEpoch) + " steps an epoch");
    removeAll(folder.path("c"));
    removeAll(folder.path("log"));
  }
}

TEST_F(OtherEpochs, MayChangeTwice) {
  ASSERT_EQ(trainTo(12, 3).code, 0);
  keepStepsUpTo(4, 12);
  ASSERT_EQ(trainTo(12, 6).code, 0);
  keepStepsUpTo(8, 12);
  ASSERT_EQ(trainTo(12, 5).code, 0);
  EXPECT_EQ(shortLog(), " (0 1 2 3 e1 4 (4 5 6 e1 7 8 (8 9 10 e2 11 12 e3");
  expectMeans("twice");
}

// The run of nine steps ends early in its second epoch.
TEST_F(OtherEpochs, MayFollowAnEpochThatEndedEarly) {
  ASSERT_EQ(trainTo(9, 8).code, 0);
  ASSERT_EQ(trainTo(12, 4).code, 0);
  ASSERT_EQ(trainTo(16, 8).code, 0);
  EXPECT_EQ(shortLog(), " (0 1 2 3 4 5 6 7 8 e1 9 e2 (9 10 11 12 e3 (12 13 14 "
                        "15 16 e2");
}

TEST_F(OtherEpochs, AreInTheTableAtTheEnd) {
  ASSERT_EQ(trainTo(4, 3).code, 0);
  Outcome outcome = trainTo(5, 20);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::string epoch = events("log").back();
  char loss[32];
  snprintf(loss, sizeof(loss), " %.5g ", read(epoch, "train_loss", 1));
  EXPECT_NE(outcome.out.find(loss), std::string::npos) << outcome.out << epoch;
  // A run that has nothing left to do prints the same table.
  EXPECT_EQ(trainTo(5, 20).out, outcome.out);
  EXPECT_EQ(trainTo(5, 3).out, outcome.out);
}

// A copy's mean counts only the steps in which the copy ran.
TEST_F(OtherEpochs, CountWhatEachCopyHasDone) {
  ASSERT_EQ(trainTo(2, 6, {"--only", "0"}).code, 0);
  ASSERT_EQ(trainTo(6, 6).code, 0);
  std::vector<std::string> log = events("log");
  double sum = 0;
  for (const std::string &line : log)
    for (int step = 3; step <= 6; ++step)
      if (line.find("\"step\":" + std::to_string(step) + ",") !=
          std::string::npos)
        sum += read(line, "loss", 1);
  EXPECT_NEAR(read(log.back(), "train_loss", 1), sum / 4, 1e-6);
}

// Older programs didn't save the number of losses that an epoch's sum has.
TEST_F(OtherEpochs, OfAnOlderCheckpointAreTheProgramsOwn) {
  ASSERT_EQ(trainTo(4, 3).code, 0);
  for (int copy = 0; copy < 3; ++copy) {
    std::string path = folder.path("c/step-00000004/copy-000" +
                                   std::to_string(copy) + ".safetensors");
    std::string bytes = readFile(path);
    // Changes the file to version 1, which has no checksum, and renames the key
    // of the number of losses.
    for (auto [from, to] : {std::pair<std::string, std::string>{
                                "\"version\":\"2\"", "\"version\":\"1\""},
                            {"\"checksum\"", "\"checkxxx\""},
                            {"\"epoch_steps\"", "\"epoch_xxxxx\""}}) {
      size_t at = bytes.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      bytes.replace(at, from.size(), to);
    }
    writeFile(path, bytes);
  }
  ASSERT_EQ(trainTo(6, 3).code, 0);
  expectMeans("an older checkpoint");
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

namespace {
/// Trainings of several jobs that share a log.
class JobsLog : public Train {
protected:
  /// Trains a job up to step 6, from the start or from its last checkpoint.
  void trainJob(const char *job, bool resume, hfta_log_file *file) {
    ProgramPointer program = makeProgram(defaultOptions());
    InstancePointer instance = makeInstance(program.get());
    std::string checkpoint = folder.path(job), log = folder.path("log");
    hfta_train_options options = {};
    options.data_root = data.root.c_str();
    options.steps = 6;
    options.log_every = 1;
    options.every = 1;
    options.checkpoint = checkpoint.c_str();
    options.log_path = log.c_str();
    options.resume = resume;
    options.job = job;
    options.log_file = file;
    hfta_train_result result;
    ASSERT_EQ(hfta_train(instance.get(), &options, &result), HFTA_OK)
        << hfta_instance_message(instance.get());
    hfta_train_result_free(&result);
  }

  /// Trains jobs with one log file, either one after another or all at the same
  /// time.
  void trainJobs(const std::vector<const char *> &jobs, bool resume = false,
                 bool together = false) {
    hfta_log_file *file;
    hfta_error error;
    ASSERT_EQ(
        hfta_log_file_open(folder.path("log").c_str(), resume, &file, &error),
        HFTA_OK)
        << error.message;
    std::vector<std::thread> threads;
    for (const char *job : jobs) {
      threads.emplace_back(
          [this, job, resume, file] { trainJob(job, resume, file); });
      if (!together)
        threads.back().join();
    }
    for (std::thread &thread : threads)
      if (together)
        thread.join();
    hfta_log_file_close(file);
  }

  /// Removes the checkpoints from step 3 on, as if the job had been killed in
  /// its third step.
  void forget(const char *job) {
    for (int step = 3; step <= 6; ++step)
      removeAll(folder.path(std::string(job) + "/step-0000000" +
                            std::to_string(step)));
  }

  /// Returns the events of one job, or of all jobs, without the start events.
  std::vector<std::string> steps(const std::string &job = "") {
    std::vector<std::string> found;
    for (const std::string &line : events("log"))
      if (line.find(job.empty() ? "\"job\":" : "\"job\":\"" + job + "\"") !=
              std::string::npos &&
          line.find("{\"event\":\"start\"") != 0)
        found.push_back(line);
    return found;
  }
};
} // namespace

TEST_F(JobsLog, HasOneAfterTheOther) {
  writeFile(folder.path("log"), "an older log\n");
  trainJobs({"a", "b"});
  std::vector<std::string> first = steps("a");
  EXPECT_EQ(first.size(), 7u);
  EXPECT_EQ(first[0].find(R"({"event":"step","job":"a","step":1,)"), 0u);
  EXPECT_EQ(steps().size(), 14u);
  EXPECT_EQ(events("log").size(), 16u);
}

TEST_F(JobsLog, KeepsAJobWhoseEpochsHaveAnotherLength) {
  writeData(data.root, 2 * FAKE_BATCH);
  trainJobs({"a", "b"});
  std::vector<std::string> a = steps("a"), b = steps("b");
  ASSERT_EQ(a.size(), 9u);
  forget("a");
  writeData(data.root, 5 * FAKE_BATCH);
  trainJobs({"a"}, true);
  EXPECT_EQ(steps("b"), b);
  std::vector<std::string> again = steps("a");
  ASSERT_EQ(again.size(), 9u);
  // The first two steps and their epoch's event stay. The next epochs end with
  // steps 5 and 6.
  EXPECT_EQ(std::vector<std::string>(again.begin(), again.begin() + 3),
            std::vector<std::string>(a.begin(), a.begin() + 3));
  EXPECT_NE(again[6].find(R"("epoch":1,)"), std::string::npos) << again[6];
  EXPECT_NE(again[8].find(R"("epoch":2,)"), std::string::npos) << again[8];
}

TEST_F(JobsLog, KeepsOthersWhereOneGoesOn) {
  trainJobs({"a", "b", "c"});
  std::vector<std::string> a = steps("a"), b = steps("b"), c = steps("c");
  for (const char *job : {"a", "b", "c", "b"}) {
    forget(job);
    trainJobs({job}, true);
    EXPECT_EQ(steps("a"), a);
    EXPECT_EQ(steps("b"), b);
    EXPECT_EQ(steps("c"), c);
    EXPECT_EQ(steps().size(), 21u);
  }
  // The events of a resumed job move behind those of the others, with a new
  // start event.
  EXPECT_EQ(events("log").size(), 28u);
  EXPECT_EQ(steps().back(), b.back());
  EXPECT_EQ(steps().front(), a.front());
}

TEST_F(JobsLog, HasWholeLinesOfAllAtTheSameTime) {
  writeFile(folder.path("log"), "an older log\n");
  const std::vector<const char *> jobs = {"a", "b", "c", "d"};
  trainJobs(jobs, false, true);
  std::vector<std::string> a = steps("a");
  EXPECT_EQ(a.size(), 7u);
  EXPECT_EQ(steps().size(), 28u);
  EXPECT_EQ(events("log").size(), 32u);
  // Each job removes its own later lines while others write theirs.
  for (int round = 0; round < 5; ++round) {
    for (const char *job : jobs)
      forget(job);
    trainJobs(jobs, true, true);
    EXPECT_EQ(steps("a"), a);
    for (const char *job : jobs)
      EXPECT_EQ(steps(job).size(), 7u);
    EXPECT_EQ(steps().size(), 28u);
  }
}

TEST_F(JobsLog, IsReplacedAtOnce) {
  trainJobs({"a", "b"});
  std::string log = folder.path("log"), target = folder.path("target");
  std::string before = readFile(log);
  ASSERT_EQ(rename(log.c_str(), target.c_str()), 0);
  ASSERT_EQ(symlink("target", log.c_str()), 0);
  std::vector<std::string> a = steps("a");
  // The file isn't overwritten in place, so a reader that has it open still
  // reads the old text.
  int reader = open(log.c_str(), O_RDONLY | O_CLOEXEC);
  forget("a");
  trainJobs({"a"}, true);
  std::string seen(before.size() + 1, ' ');
  EXPECT_EQ(read(reader, seen.data(), seen.size()), ssize_t(before.size()));
  EXPECT_EQ(seen.substr(0, before.size()), before);
  close(reader);
  // The symbolic link remains, and no temporary file is left.
  struct stat info;
  ASSERT_EQ(lstat(log.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(steps("a"), a);
  EXPECT_EQ(listFolder(folder.root),
            std::vector<std::string>({"a", "b", "log", "target"}));
}

TEST_F(JobsLog, LosesAnotherOnesTornLine) {
  trainJobs({"a"});
  std::vector<std::string> whole = steps("a");
  std::string log = folder.path("log");
  writeFile(log, readFile(log) + R"({"event":"step","job":"b","st)");
  forget("a");
  trainJobs({"a"}, true);
  EXPECT_EQ(steps(), whole);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST_F(Train, TwoTrainingsCantShareALog) {
  std::string log = folder.path("log");
  writeFile(log, "an older log\n");
  int other = open(log.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  for (bool resume : {false, true}) {
    std::vector<std::string> arguments = {"--steps",      "5", "--log", "log",
                                          "--checkpoint", "c"};
    if (resume)
      arguments.push_back("--resume");
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err,
              "fake: error: log 'log' is in use by another training\n");
    EXPECT_EQ(readFile(log), "an older log\n");
  }
  close(other);
  EXPECT_EQ(run({"--steps", "5", "--log", "log", "--checkpoint", "c"}).code, 0);
}

TEST_F(Train, ATrainingHoldsItsLog) {
  RunOptions options;
  options.pipe = "pipe";
  options.errorsToPipe = true;
  options.lines = 5;
  int code = -1;
  options.then = [&](pid_t child) {
    code = run({"--steps", "5", "--log", "log"}).code;
    kill(child, SIGKILL);
  };
  writeData(data.root, 4000, 50);
  ASSERT_EQ(run({"--steps", "100000000", "--log", "log"}, options).code,
            1000 + SIGKILL);
  EXPECT_EQ(code, 1);
  // The killed process's lock ended with the process.
  EXPECT_EQ(run({"--steps", "5", "--log", "log"}).code, 0);
}

TEST_F(Train, ALogThatCantBeWrittenEndsItAfterASave) {
  RunOptions options;
  options.fileLimit = 4000;
  Outcome outcome = run({"--steps", "1000", "--checkpoint", "c", "--log", "log",
                         "--log-every", "1"},
                        options);
  EXPECT_EQ(outcome.code, 4);
  std::vector<std::string> saved = listFolder(folder.path("c"));
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(outcome.err, "fake: error: cannot write log 'log': File too large\n"
                         "fake: note: saved c/" +
                             saved[0] + "\n");
  ASSERT_EQ(run({"--steps", "1000", "--checkpoint", "c", "--log", "log",
                 "--log-every", "1", "--resume"})
                .code,
            0);
  ASSERT_EQ(run({"--steps", "1000", "--log", "whole", "--log-every", "1"}).code,
            0);
  // The log is complete, except that a start event replaces the line that
  // couldn't be written.
  std::vector<std::string> log = events("log"), whole = events("whole");
  ASSERT_EQ(log.size(), whole.size());
  size_t torn = 0;
  while (log[torn] == whole[torn])
    ++torn;
  EXPECT_EQ(log[torn].find("{\"event\":\"start\""), 0u);
  EXPECT_EQ(whole[torn].find("{\"event\":\"step\",\"step\":" +
                             std::to_string(std::stoul(saved[0].substr(5)))),
            0u);
  log[torn] = whole[torn];
  EXPECT_EQ(log, whole);
}

TEST_F(Train, TheLogMayGoWhereTheResultsGo) {
  // Standard output is a regular file here, as in `train --log /dev/stdout >
  // file`.
  Outcome outcome = run({"--steps", "5", "--log", "/dev/stdout"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::vector<std::string> lines = linesOf(outcome.out);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0].find("{\"event\":\"start\""), 0u);
  EXPECT_EQ(lines[3].find("{\"event\":\"epoch\""), 0u);
  EXPECT_EQ(lines[4].find("copy  "), 0u);
}
