//===- AheadTest.cpp - Tests of steps given to a device ahead -------------===//

#include "RuntimeTest.h"

#include "hfta/trainer.h"

#include <algorithm>
#include <deque>

extern "C" {
#include "instance/instance_impl.h"
#include "schedule/ahead.h"
#include "training/trainer_impl.h"
}

#include <csignal>
#include <sys/resource.h>

namespace {

/// The requests that the device has got, in order.
std::vector<std::string> notes;
/// The functions of the device that carry the requests out, and the number of
/// waits for a mark that succeed before one fails.
const hfta_device_functions *inner;
int goodWaits;

/// Replaces the instance's device functions by versions that append each
/// request to `notes`, a series of equal runs or copies once, and then carry it
/// out.
void record(hfta_instance *instance) {
  static hfta_device_functions recording;
  hfta_device *device = instance->workers->device;
  inner = device->functions;
  recording = *inner;
  notes.clear();
  goodWaits = 1000;
  recording.run = [](hfta_device *device, uint32_t queue,
                     const hfta_task_call *call, uint32_t number) {
    if (notes.empty() || notes.back() != "run")
      notes.emplace_back("run");
    inner->run(device, queue, call, number);
  };
  recording.copy = [](hfta_device *device, uint32_t queue, void *to,
                      const void *from, uint64_t bytes) {
    if (notes.empty() || notes.back() != "copy")
      notes.emplace_back("copy");
    inner->copy(device, queue, to, from, bytes);
  };
  recording.mark = [](hfta_device *device, uint32_t number) {
    notes.push_back("mark " + std::to_string(number));
    inner->mark(device, number);
  };
  recording.wait_until = [](hfta_device *device, uint32_t number,
                            hfta_error *error) {
    notes.push_back("wait until " + std::to_string(number));
    if (goodWaits-- == 0)
      return hfta_fail(error, HFTA_INTERNAL, "planted");
    return inner->wait_until(device, number, error);
  };
  recording.wait = [](hfta_device *device, hfta_error *error) {
    notes.emplace_back("wait");
    return inner->wait(device, error);
  };
  recording.wait_for = [](hfta_device *device, uint64_t queues,
                          hfta_error *error) {
    notes.emplace_back("wait");
    return inner->wait_for(device, queues, error);
  };
  device->functions = &recording;
}

std::vector<std::string> statesOf(hfta_instance *instance) {
  std::vector<std::string> states;
  for (int64_t copy = 0; copy < hfta_instance_copies(instance); ++copy)
    states.push_back(stateOf(instance, copy));
  return states;
}

fake_options options(int microBatches = 1) {
  fake_options options = defaultOptions();
  options.micro_batches = microBatches;
  options.cosine = 1;
  options.clipping = 1;
  return options;
}

constexpr int kSteps = 9;

/// The results of a training whose host waits for each step before the next
/// one.
struct Plain {
  explicit Plain(const fake_options &options) : losses(kSteps) {
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = makeInstance(program.get());
    hfta_instance_set_total_steps(instance.get(), kSteps);
    for (int i = 0; i < kSteps; ++i) {
      losses[i].resize(options.copies);
      EXPECT_EQ(
          hfta_instance_step(instance.get(), Batch(i).inputs, losses[i].data()),
          HFTA_OK);
    }
    states = statesOf(instance.get());
  }
  std::vector<std::vector<double>> losses;
  std::vector<std::string> states;
};

class Ahead : public testing::TestWithParam<std::tuple<int, int, bool>> {
protected:
  Ahead() : program(makeProgram(options(std::get<1>(GetParam())))) {
    device = "shuffled:" + std::to_string(std::get<0>(GetParam()));
    instance = makeInstance(program.get(), 1, device.c_str());
    hfta_instance_set_total_steps(instance.get(), kSteps);
    for (int i = 0; i < kSteps; ++i)
      batches.emplace_back(i);
  }
  void post(int step) {
    ASSERT_TRUE(hfta_instance_runs_ahead(instance.get()));
    if (std::get<2>(GetParam()) && step + 1 < kSteps)
      hfta_instance_offer(instance.get(), batches[step + 1].inputs);
    ASSERT_EQ(hfta_instance_post_step(instance.get(), batches[step].inputs),
              HFTA_OK);
  }
  /// Settles a step and overwrites its batch, which the device must not read
  /// any more.
  void settle(int step, const Plain &plain) {
    std::vector<double> losses(plain.losses[step].size());
    ASSERT_EQ(hfta_instance_settle_step(instance.get(), losses.data()),
              HFTA_OK);
    EXPECT_EQ(losses, plain.losses[step]) << "step " << step;
    std::fill(batches[step].images.begin(), batches[step].images.end(), 99);
    std::fill(batches[step].labels.begin(), batches[step].labels.end(), 0);
  }

  ProgramPointer program;
  std::string device;
  InstancePointer instance = {nullptr, nullptr};
  std::deque<Batch> batches;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Devices, Ahead,
                         testing::Combine(testing::Values(0, 1, 2, 3, 4, 5),
                                          testing::Values(1, 2, 4),
                                          testing::Bool()));

TEST_P(Ahead, StepsHaveTheBytesOfStepsThatAreWaitedFor) {
  Plain plain(options(std::get<1>(GetParam())));
  post(0);
  for (int i = 1; i < kSteps; ++i) {
    post(i);
    EXPECT_EQ(hfta_instance_steps(instance.get()), i + 1);
    settle(i - 1, plain);
  }
  settle(kSteps - 1, plain);
  EXPECT_EQ(statesOf(instance.get()), plain.states);
}

/// Between steps that are given ahead, the host may run a step that it waits
/// for, and an evaluation.
TEST_P(Ahead, StepsThatAreWaitedForGoOnBehindThem) {
  Plain plain(options(std::get<1>(GetParam())));
  post(0);
  post(1);
  settle(0, plain);
  settle(1, plain);
  std::vector<double> losses(plain.losses[2].size());
  ASSERT_EQ(
      hfta_instance_step(instance.get(), batches[2].inputs, losses.data()),
      HFTA_OK);
  EXPECT_EQ(losses, plain.losses[2]);
  ASSERT_EQ(hfta_instance_evaluate(instance.get(), batches[5].inputs, 5,
                                   losses.data(), nullptr),
            HFTA_OK);
  for (int i = 3; i < kSteps; ++i) {
    post(i);
    settle(i, plain);
  }
  EXPECT_EQ(statesOf(instance.get()), plain.states);
}

//===----------------------------------------------------------------------===//
// Order, and failures
//===----------------------------------------------------------------------===//

TEST(AheadOrder, TheHostWaitsForTheStepBeforeTheLastOne) {
  ProgramPointer program = makeProgram(options());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:2");
  hfta_instance_set_total_steps(instance.get(), kSteps);
  Batch first(0), second(1), third(2);
  record(instance.get());
  std::vector<double> losses(3, -1.0);
  for (const Batch *batch : {&first, &second, &third}) {
    if (batch == &third) {
      EXPECT_EQ(hfta_instance_settle_step(instance.get(), losses.data()),
                HFTA_OK);
      EXPECT_GT(losses[0], 0.0);
    }
    EXPECT_EQ(hfta_instance_post_step(instance.get(), batch->inputs), HFTA_OK);
  }
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(hfta_instance_settle_step(instance.get(), losses.data()),
              HFTA_OK);
  // Each step consists of copies of scalars and batch, tasks, and copies of
  // results.
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "copy", "run", "copy", "mark 0", // the first
                       "copy", "run", "copy", "mark 1", // the second
                       "wait until 0", // end of the first, before the third
                       "copy", "run", "copy", "mark 0", // the third
                       "wait until 1", "wait until 0"}));
}

TEST(AheadOrder, WhatIsBehindAFailedStepDoesntCount) {
  ProgramPointer program = makeProgram(options());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:0");
  hfta_instance_set_total_steps(instance.get(), kSteps);
  Batch batch(0);
  record(instance.get());
  goodWaits = 1;
  ASSERT_EQ(hfta_instance_post_step(instance.get(), batch.inputs), HFTA_OK);
  ASSERT_EQ(hfta_instance_post_step(instance.get(), batch.inputs), HFTA_OK);
  ASSERT_EQ(hfta_instance_settle_step(instance.get(), nullptr), HFTA_OK);
  ASSERT_EQ(hfta_instance_post_step(instance.get(), batch.inputs), HFTA_OK);
  EXPECT_EQ(hfta_instance_settle_step(instance.get(), nullptr), HFTA_INTERNAL);
  EXPECT_STREQ(hfta_instance_message(instance.get()), "planted");
  // Nothing is in flight any more, and only the first step counts as done.
  EXPECT_EQ(notes.back(), "wait");
  EXPECT_EQ(hfta_instance_steps(instance.get()), 1);
}

TEST(AheadOrder, AStepThatCantBeGivenLeavesTheOneBefore) {
  ProgramPointer program = makeProgram(options());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:1");
  hfta_instance_set_total_steps(instance.get(), kSteps);
  Plain plain(options());
  Batch first(0), second(1);
  ASSERT_EQ(hfta_instance_post_step(instance.get(), first.inputs), HFTA_OK);
  hfta_instance_set_total_steps(instance.get(), 0);
  EXPECT_EQ(hfta_instance_post_step(instance.get(), second.inputs), HFTA_USAGE);
  EXPECT_EQ(hfta_instance_steps(instance.get()), 1);
  std::vector<double> losses(3);
  EXPECT_EQ(hfta_instance_settle_step(instance.get(), losses.data()), HFTA_OK);
  EXPECT_EQ(losses, plain.losses[0]);
}

//===----------------------------------------------------------------------===//
// When steps are given ahead
//===----------------------------------------------------------------------===//

namespace {
bool runsAhead(const fake_options &options, int threads = 1,
               const char *device = "shuffled:0") {
  ProgramPointer program = makeProgram(options);
  return hfta_instance_runs_ahead(
      makeInstance(program.get(), threads, device).get());
}
} // namespace

TEST(AheadWhere, OnDevicesThatHaveMarks) {
  EXPECT_TRUE(runsAhead(options()));
  EXPECT_FALSE(runsAhead(options(), 1, "cpu"));
}

TEST(AheadWhere, NotWithAPreconditioner) {
  fake_options curvature = defaultOptions();
  curvature.curvature = 1;
  EXPECT_FALSE(runsAhead(curvature));
}

TEST(AheadWhere, NotForInferenceAlone) {
  fake_options inference = defaultOptions();
  inference.inference_only = 1;
  EXPECT_FALSE(runsAhead(inference));
}

TEST(AheadWhere, NotWhileTurnsAreMeasured) {
  fake_options turns = defaultOptions();
  turns.takes_turns = 1;
  ProgramPointer program = makeProgram(turns);
  InstancePointer instance = makeInstance(program.get(), 3, "shuffled:0");
  instance->now = [] { return 0.0; };
  Batch batch(0);
  int waited = 0;
  while (!hfta_instance_runs_ahead(instance.get()) && waited < 100) {
    EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
              HFTA_OK);
    ++waited;
  }
  EXPECT_GT(waited, 0);
  EXPECT_LT(waited, 100);
  // After many steps, the search for the fastest size of turns begins again,
  // and steps aren't given ahead while it lasts.
  int posted = 0;
  while (hfta_instance_runs_ahead(instance.get()) && posted < 5000) {
    ASSERT_EQ(hfta_instance_post_step(instance.get(), batch.inputs), HFTA_OK);
    ASSERT_EQ(hfta_instance_settle_step(instance.get(), nullptr), HFTA_OK);
    ++posted;
  }
  EXPECT_GT(posted, 100);
  EXPECT_LT(posted, 5000);
}

TEST(AheadWhere, NotWithAnObserverNorBehindAnAccumulation) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:0");
  Batch batch(0);
  const hfta_observer observer = {[](void *, const hfta_activity *) {}, nullptr,
                                  nullptr};
  hfta_instance_observe(instance.get(), &observer);
  EXPECT_FALSE(hfta_instance_runs_ahead(instance.get()));
  hfta_instance_observe(instance.get(), nullptr);
  EXPECT_TRUE(hfta_instance_runs_ahead(instance.get()));
  ASSERT_EQ(hfta_instance_accumulate(instance.get(), batch.inputs, nullptr),
            HFTA_OK);
  EXPECT_FALSE(hfta_instance_runs_ahead(instance.get()));
  ASSERT_EQ(hfta_instance_update(instance.get()), HFTA_OK);
  EXPECT_TRUE(hfta_instance_runs_ahead(instance.get()));
}

//===----------------------------------------------------------------------===//
// Trainings
//===----------------------------------------------------------------------===//

namespace {
class AheadTraining : public Train {
protected:
  /// Trains up to step 40 with the checkpoint folder `name` and the log
  /// `name`.jsonl. `should_stop` answers false `answers` times and then true.
  hfta_status train(const char *device, const std::string &name,
                    int64_t logEvery, int answers = 1000, int64_t every = 15) {
    fake_options fake = options();
    ProgramPointer program = makeProgram(fake);
    InstancePointer instance = makeInstance(program.get(), 1, device);
    if (std::string(device) != "cpu")
      record(instance.get());
    std::string log = folder.path(name + ".jsonl");
    std::string checkpoints = folder.path(name);
    hfta_train_options train = {};
    train.data_root = data.root.c_str();
    train.steps = 40;
    train.log_path = log.c_str();
    train.log_every = logEvery;
    train.checkpoint = checkpoints.c_str();
    train.every = every;
    train.should_stop = [](void *argument) {
      return --*static_cast<int *>(argument) < 0;
    };
    train.should_stop_argument = &answers;
    hfta_train_result result;
    hfta_status status = hfta_train(instance.get(), &train, &result);
    isInterrupted = result.interrupted;
    isSaved = result.saved;
    steps = result.steps;
    error = hfta_instance_message(instance.get());
    hfta_train_result_free(&result);
    return status;
  }
  void expectSame(const std::string &mine, const std::string &theirs) {
    for (const char *step : {"step-00000015", "step-00000030", "step-00000040"})
      for (int copy = 0; copy < 3; ++copy)
        EXPECT_EQ(copyFile(mine + "/" + step, copy),
                  copyFile(theirs + "/" + step, copy))
            << step << ", copy " << copy;
    EXPECT_EQ(events(mine + ".jsonl"), events(theirs + ".jsonl"));
  }

  bool isInterrupted, isSaved;
  int64_t steps;
  std::string error;
};
} // namespace

TEST_F(AheadTraining, HasTheLogAndTheCheckpointsOfOneThatWaits) {
  for (int every : {1, 4, 50}) {
    std::string plain = "plain-" + std::to_string(every);
    ASSERT_EQ(train("cpu", plain, every), HFTA_OK);
    for (int seed = 0; seed < 4; ++seed) {
      std::string name =
          "ahead-" + std::to_string(every) + "-" + std::to_string(seed);
      ASSERT_EQ(
          train(("shuffled:" + std::to_string(seed)).c_str(), name, every),
          HFTA_OK)
          << error;
      expectSame(name, plain);
      EXPECT_EQ(std::count(notes.begin(), notes.end(), "wait until 0") > 0,
                every > 1);
    }
  }
}

/// A training that is stopped finishes, logs and saves the steps that the
/// device has already been given.
TEST_F(AheadTraining, StopsBehindWhatTheDeviceHas) {
  ASSERT_EQ(train("shuffled:2", "stopped", 50, 20), HFTA_OK);
  EXPECT_TRUE(isInterrupted);
  EXPECT_TRUE(isSaved);
  EXPECT_LT(steps, 30);
  std::vector<std::string> folders = listFolder(folder.path("stopped"));
  char name[32];
  snprintf(name, sizeof(name), "step-%08d", int(steps));
  EXPECT_NE(std::find(folders.begin(), folders.end(), name), folders.end());
}

TEST_F(AheadTraining, AFailedStepLeavesTheCheckpointsBefore) {
  ProgramPointer program = makeProgram(options());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:2");
  record(instance.get());
  goodWaits = 20;
  std::string checkpoints = folder.path("failed");
  hfta_train_options train = {};
  train.data_root = data.root.c_str();
  train.steps = 40;
  train.checkpoint = checkpoints.c_str();
  train.every = 15;
  hfta_train_result result;
  EXPECT_EQ(hfta_train(instance.get(), &train, &result), HFTA_INTERNAL);
  EXPECT_STREQ(hfta_instance_message(instance.get()), "planted");
  EXPECT_GE(result.steps, 20);
  EXPECT_LT(result.steps, 30);
  EXPECT_TRUE(exists(checkpoints + "/step-00000015"));
  for (const std::string &name : listFolder(checkpoints))
    EXPECT_TRUE(name == "step-00000015" || name[0] == '.') << name;
  hfta_train_result_free(&result);
}

/// If the data change, the training first finishes and saves the steps that the
/// device has already been given, and then reports the change.
TEST_F(AheadTraining, DataThatChangeEndItBehindWhatTheDeviceHas) {
  ASSERT_EQ(train("cpu", "plain", 50, 1000, /*every=*/1), HFTA_OK);
  ProgramPointer program = makeProgram(options());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:2");
  std::string checkpoints = folder.path("changed");
  struct Change {
    int answers;
    std::string folder;
  } change = {20, data.root};
  hfta_train_options train = {};
  train.data_root = data.root.c_str();
  train.steps = 40;
  train.checkpoint = checkpoints.c_str();
  train.should_stop = [](void *argument) {
    auto *change = static_cast<Change *>(argument);
    if (--change->answers == 0)
      for (const std::string &name : listFolder(change->folder))
        writeFile(change->folder + "/" + name, "");
    return false;
  };
  train.should_stop_argument = &change;
  hfta_train_result result;
  EXPECT_EQ(hfta_train(instance.get(), &train, &result), HFTA_INVALID_INPUT)
      << hfta_instance_message(instance.get());
  int64_t steps = result.steps;
  EXPECT_TRUE(result.saved);
  EXPECT_LT(steps, 40);
  hfta_train_result_free(&result);
  char name[32];
  snprintf(name, sizeof(name), "step-%08d", int(steps));
  ASSERT_TRUE(exists(checkpoints + "/" + name));
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_EQ(copyFile(std::string("changed/") + name, copy),
              copyFile(std::string("plain/") + name, copy));
}

namespace {
/// Limits the size of files to the present size of one file while the object
/// exists, so that appending to this file fails.
class FullDisk {
public:
  explicit FullDisk(const std::string &path) {
    handler = std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit limited = before;
    limited.rlim_cur = readFile(path).size();
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }

private:
  rlimit before;
  void (*handler)(int);
};
} // namespace

/// If a step can't be logged, the step given after it is settled too, and a
/// checkpoint of both may be saved.
TEST_F(AheadTraining, AStepThatCantBeLoggedLeavesNothingUnderWay) {
  Plain plain(options());
  ProgramPointer program = makeProgram(options());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:2");
  record(instance.get());
  std::string log = folder.path("log.jsonl");
  hfta_train_options train = {};
  train.data_root = data.root.c_str();
  train.steps = kSteps;
  train.log_path = log.c_str();
  train.log_every = 2;
  hfta_train_result result = {};
  hfta_trainer self = {};
  self.instance = instance.get();
  self.program = program.get();
  self.options = &train;
  self.result = &result;
  self.lock.descriptor = -1;
  self.team.communicator = hfta_instance_communicator(instance.get());
  self.feeding.instance = instance.get();
  self.saved_step = -1;
  self.error = hfta_instance_error(instance.get());
  ASSERT_EQ(hfta_trainer_prepare(&self), HFTA_OK);
  ASSERT_EQ(hfta_trainer_begin(&self), HFTA_OK);
  int64_t step = 2;
  hfta_instance_set_steps(instance.get(), step);
  {
    FullDisk full(log);
    EXPECT_EQ(hfta_trainer_run_ahead(&self, 6, &step), HFTA_CANNOT_WRITE);
  }
  EXPECT_NE(std::string(self.error->message).find("cannot write log"),
            std::string::npos)
      << self.error->message;
  // The fourth step should have had a line in the log. The fifth one was posted
  // before the fourth one was settled.
  EXPECT_EQ(step, 5);
  EXPECT_EQ(hfta_instance_steps(instance.get()), 5);
  EXPECT_TRUE(self.can_save);
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "mark 0") +
                std::count(notes.begin(), notes.end(), "mark 1"),
            std::count(notes.begin(), notes.end(), "wait until 0") +
                std::count(notes.begin(), notes.end(), "wait until 1"));
  double sum = self.epoch_losses[0].sum;
  hfta_trainer_add_losses(&self, 6, self.losses);
  EXPECT_EQ(self.epoch_losses[0].sum, sum + self.losses[0]);
  hfta_trainer_stop_feed(&self.feeding);
  hfta_log_close(self.log);
  hfta_training_data_close(&self.data);
  hfta_dataset_close(&self.test);
  for (void *memory : {(void *)self.losses, (void *)self.epoch_losses,
                       (void *)self.rates, (void *)self.reports})
    free(memory);
  hfta_train_result_free(&result);
}

TEST(AheadOrder, AnInstanceEndsBehindWhatItsDeviceHas) {
  ProgramPointer program = makeProgram(options());
  InstancePointer instance = makeInstance(program.get(), 1, "shuffled:2");
  hfta_instance_set_total_steps(instance.get(), kSteps);
  Batch batch(0);
  record(instance.get());
  ASSERT_EQ(hfta_instance_post_step(instance.get(), batch.inputs), HFTA_OK);
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "wait"), 0);
  instance.reset();
  EXPECT_EQ(notes.back(), "wait");
}
