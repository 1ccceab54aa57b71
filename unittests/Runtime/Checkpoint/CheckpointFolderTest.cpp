//===- CheckpointFolderTest.cpp - Folders of checkpoints ------------------===//

extern "C" {
#include "checkpoint/checkpoint_impl.h"
}

#include "RuntimeTest.h"
#include "hfta/trainer.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Renaming, with crashes, and with file systems that can't exchange two folders
//===----------------------------------------------------------------------===//

static bool cantExchange;
static int renamesBeforeCrash = -1;
static int renamesBeforeFailure = -1;

/// Replaces the C library's function, also for the runtime, so that a chosen
/// call fails or ends the process.
extern "C" int rename(const char *from, const char *to) noexcept {
  if (renamesBeforeCrash >= 0 && renamesBeforeCrash-- == 0)
    _exit(9);
  if (renamesBeforeFailure >= 0 && renamesBeforeFailure-- == 0) {
    errno = EIO;
    return -1;
  }
  return int(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

extern "C" int renameat2(int fromFolder, const char *from, int toFolder,
                         const char *to, unsigned flags) noexcept {
  if (cantExchange && flags != 0) {
    errno = EINVAL;
    return -1;
  }
  return int(syscall(SYS_renameat2, fromFolder, from, toFolder, to, flags));
}

static std::mutex syncing;
static std::vector<std::string> synced;

extern "C" int fsync(int descriptor) {
  char path[4096];
  std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  ssize_t size = readlink(link.c_str(), path, sizeof(path));
  {
    // Several trainings may sync at the same time.
    std::lock_guard<std::mutex> guard(syncing);
    synced.emplace_back(path, size > 0 ? size_t(size) : 0);
  }
  return int(syscall(SYS_fsync, descriptor));
}

namespace {
class CheckpointFolder : public testing::Test {
protected:
  CheckpointFolder() : program(makeProgram(defaultOptions())) {}

  ~CheckpointFolder() override {
    cantExchange = false;
    renamesBeforeCrash = renamesBeforeFailure = -1;
  }

  const char *root() const { return folder.root.c_str(); }

  std::vector<std::string> list() const { return listFolder(folder.root); }

  /// Does what a training does to the folder: locks it and removes leftovers at
  /// its begin, and unlocks it at its end.
  hfta_status prepare() {
    hfta_folder_lock lock = {};
    lock.descriptor = -1;
    hfta_status status = hfta_checkpoint_acquire(&lock, root(), &error);
    hfta_folder_unlock(&lock);
    return status;
  }

  /// Saves a checkpoint of step 0 with `mark` as its loss, by which `mark()`
  /// recognizes it.
  hfta_status save(double mark) {
    InstancePointer instance = makeInstance(program.get());
    hfta_epoch_losses losses[3] = {{mark, 0}, {mark, 0}, {mark, 0}};
    return hfta_checkpoint_save(instance.get(), root(), losses);
  }

  /// Returns the mark of the newest checkpoint; -1 if it can't be loaded.
  double mark() {
    InstancePointer instance = makeInstance(program.get());
    hfta_epoch_losses losses[3];
    return hfta_checkpoint_load(instance.get(), root(), losses) == HFTA_OK
               ? losses[2].sum
               : -1;
  }

  TemporaryFolder folder;
  ProgramPointer program;
  hfta_error error = {};
};
} // namespace

TEST_F(CheckpointFolder, ReplacesWithoutAnExchange) {
  cantExchange = true;
  for (double value : {1.0, 2.0, 3.0}) {
    ASSERT_EQ(save(value), HFTA_OK);
    EXPECT_EQ(mark(), value);
    EXPECT_EQ(list(), std::vector<std::string>{"step-00000000"});
  }
}

TEST_F(CheckpointFolder, RollsBackWhenReplacingFails) {
  cantExchange = true;
  ASSERT_EQ(save(1), HFTA_OK);
  // Without an exchange, a save renames the files of three copies, tries to
  // rename the new folder, moves the old folder aside, and renames the new
  // folder.
  for (int renames : {3, 4, 5}) {
    renamesBeforeFailure = renames;
    EXPECT_EQ(save(2), HFTA_CANNOT_WRITE);
    EXPECT_EQ(mark(), 1);
    EXPECT_EQ(list(), std::vector<std::string>{"step-00000000"});
  }
}

TEST_F(CheckpointFolder, ACrashWhileReplacingLosesNothing) {
  for (bool exchange : {true, false})
    for (int renames = 0; renames < 7; ++renames) {
      cantExchange = !exchange;
      ASSERT_EQ(save(1), HFTA_OK);
      pid_t child = fork();
      if (child == 0) {
        renamesBeforeCrash = renames;
        _exit(save(2) == HFTA_OK ? 0 : 1);
      }
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(WEXITSTATUS(status), renames < (exchange ? 4 : 7) ? 9 : 0);
      ASSERT_EQ(prepare(), HFTA_OK) << error.message;
      EXPECT_EQ(mark(), renames < (exchange ? 4 : 6) ? 1 : 2) << renames;
      EXPECT_EQ(list(), std::vector<std::string>{"step-00000000"});
    }
}

TEST_F(CheckpointFolder, WhatAnOlderProgramMovedAsideComesBack) {
  ASSERT_EQ(save(1), HFTA_OK);
  rename(folder.path("step-00000000").c_str(),
         folder.path(".hfta-step-00000000-4711-old").c_str());
  ASSERT_EQ(prepare(), HFTA_OK);
  EXPECT_EQ(mark(), 1);
  EXPECT_EQ(list(), std::vector<std::string>{"step-00000000"});
}

//===----------------------------------------------------------------------===//
// Cleaning
//===----------------------------------------------------------------------===//

TEST_F(CheckpointFolder, LeftoversAreRemoved) {
  mkdir(folder.path(".hfta-step-00000003-17").c_str(), 0777);
  writeFile(folder.path(".hfta-step-00000003-17/copy-0000.safetensors"), "x");
  ASSERT_EQ(prepare(), HFTA_OK);
  EXPECT_TRUE(list().empty());
}

TEST_F(CheckpointFolder, LinksAreNotFollowed) {
  TemporaryFolder other;
  writeFile(other.path("precious"), "x");
  ASSERT_EQ(symlink(other.root.c_str(), folder.path(".hfta-link").c_str()), 0);
  ASSERT_EQ(symlink(other.root.c_str(), folder.path("step-00000001").c_str()),
            0);
  mkdir(folder.path(".hfta-step-00000003-17").c_str(), 0777);
  ASSERT_EQ(symlink(other.root.c_str(),
                    folder.path(".hfta-step-00000003-17/link").c_str()),
            0);
  ASSERT_EQ(prepare(), HFTA_OK);
  EXPECT_TRUE(exists(other.path("precious")));
  EXPECT_FALSE(exists(folder.path(".hfta-step-00000003-17")));
  mkdir(folder.path("step-00000002").c_str(), 0777);
  ASSERT_EQ(hfta_checkpoint_prune(root(), 2, 1, &error), HFTA_OK);
  EXPECT_FALSE(exists(folder.path("step-00000001")));
  EXPECT_TRUE(exists(other.path("precious")));
}

TEST_F(CheckpointFolder, AFolderWithinACheckpointEndsNothing) {
  for (const char *name : {"step-00000001", "step-00000002", "step-00000003"})
    mkdir(folder.path(name).c_str(), 0777);
  mkdir(folder.path("step-00000002/mine").c_str(), 0777);
  writeFile(folder.path("step-00000002/mine/note"), "x");
  EXPECT_EQ(hfta_checkpoint_prune(root(), 3, 1, &error), HFTA_CANNOT_WRITE);
  EXPECT_EQ(hfta_checkpoint_newest(root()), 3);
  EXPECT_FALSE(exists(folder.path("step-00000001")));
  EXPECT_FALSE(exists(folder.path("step-00000002")));
  ASSERT_EQ(prepare(), HFTA_OK) << error.message;
  ASSERT_EQ(list().size(), 2u);
  EXPECT_EQ(readFile(folder.path(list()[0] + "/mine/note")), "x");
}

TEST_F(Train, AFolderWithinACheckpointEndsNothing) {
  ASSERT_EQ(run({"--steps", "5", "--checkpoint", "c"}).code, 0);
  mkdir(folder.path("c/step-00000005/mine").c_str(), 0777);
  Outcome outcome =
      run({"--steps", "9", "--checkpoint", "c", "--keep", "1", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(exists(folder.path("c/step-00000009")));
  EXPECT_FALSE(exists(folder.path("c/step-00000005")));
  EXPECT_EQ(run({"--steps", "9", "--checkpoint", "c", "--overwrite"}).code, 0);
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

TEST_F(CheckpointFolder, TrainingsKeepOthersOutUntilTheyEnd) {
  hfta_folder_lock lock = {};
  lock.descriptor = -1;
  ASSERT_EQ(hfta_checkpoint_acquire(&lock, root(), &error), HFTA_OK);
  EXPECT_EQ(prepare(), HFTA_INVALID_INPUT);
  EXPECT_EQ(error.message, "checkpoint folder '" + folder.root +
                               "' is in use by another training");
  EXPECT_EQ(save(1), HFTA_INVALID_INPUT);
  hfta_folder_unlock(&lock);
  EXPECT_EQ(save(1), HFTA_OK);
  EXPECT_EQ(prepare(), HFTA_OK);
  EXPECT_EQ(list(), std::vector<std::string>{"step-00000000"});
}

TEST_F(CheckpointFolder, SavesShareTheFolder) {
  hfta_folder_lock lock = {};
  ASSERT_EQ(hfta_folder_lock_take(&lock, root(), true, &error), HFTA_OK);
  EXPECT_EQ(save(1), HFTA_OK);
  // A save that shares the lock doesn't remove the lock's file, which the
  // others still use.
  EXPECT_TRUE(exists(folder.path(".hfta-lock")));
  EXPECT_EQ(prepare(), HFTA_INVALID_INPUT);
  hfta_folder_unlock(&lock);
  EXPECT_EQ(list(), std::vector<std::string>{"step-00000000"});
}

TEST_F(CheckpointFolder, SavesNeverKeepEachOtherOut) {
  std::vector<std::thread> threads;
  std::atomic<int> failures(0);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 2000; ++j) {
        hfta_folder_lock lock = {};
        failures +=
            hfta_folder_lock_take(&lock, root(), true, nullptr) != HFTA_OK;
        hfta_folder_unlock(&lock);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(list().empty());
}

TEST_F(CheckpointFolder, ALockFileThatWasLeftLocksNothing) {
  writeFile(folder.path(".hfta-lock"), "");
  EXPECT_EQ(prepare(), HFTA_OK);
  EXPECT_TRUE(list().empty());
  ASSERT_EQ(symlink("elsewhere", folder.path(".hfta-lock").c_str()), 0);
  EXPECT_EQ(prepare(), HFTA_CANNOT_WRITE);
  EXPECT_FALSE(exists(folder.path("elsewhere")));
}

TEST_F(Train, OneTrainingAFolder) {
  writeData(data.root, 4000, 50);
  ASSERT_EQ(run({"--steps", "2", "--checkpoint", "c"}).code, 0);
  Outcome second = {}, evaluation = {};
  RunOptions options;
  options.pipe = "pipe";
  options.lines = 5;
  options.then = [&](pid_t child) {
    // A second training doesn't touch the leftovers of an interrupted save
    // while the folder is locked.
    mkdir(folder.path("c/.hfta-step-00000007-1").c_str(), 0777);
    second = run({"--steps", "5", "--checkpoint", "c", "--overwrite"});
    RunOptions read;
    read.folder = folder.root;
    evaluation =
        runBinary({"eval", "--checkpoint", "c", "--data", data.root}, read);
    kill(child, SIGKILL);
  };
  ASSERT_EQ(run({"--steps", "100000000", "--checkpoint", "c", "--log", "pipe",
                 "--log-every", "1", "--resume"},
                options)
                .code,
            1000 + SIGKILL);
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(second.err, "fake: error: checkpoint folder 'c' is in use by "
                        "another training\n");
  EXPECT_EQ(evaluation.code, 0) << evaluation.err;
  EXPECT_EQ(listFolder(folder.path("c")),
            (std::vector<std::string>{".hfta-lock", ".hfta-step-00000007-1",
                                      "step-00000002"}));
  // The killed process's lock ended with the process.
  EXPECT_EQ(run({"--steps", "5", "--checkpoint", "c", "--resume"}).code, 0);
  EXPECT_EQ(listFolder(folder.path("c")),
            (std::vector<std::string>{"step-00000002", "step-00000005"}));
}

TEST_F(Train, TwoInstancesOfAProcessCantTrainInOneFolder) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  std::string checkpoint = folder.path("c");
  struct Inner {
    hfta_train_options options;
    InstancePointer instance;
    hfta_status train, save;
  } inner = {{}, makeInstance(program.get()), HFTA_OK, HFTA_OK};
  hfta_train_options &options = inner.options;
  options.data_root = data.root.c_str();
  options.steps = 3;
  options.checkpoint = checkpoint.c_str();
  hfta_train_options outer = options;
  outer.should_stop_argument = &inner;
  outer.should_stop = [](void *argument) {
    Inner *inner = static_cast<Inner *>(argument);
    hfta_train_result result;
    inner->train = hfta_train(inner->instance.get(), &inner->options, &result);
    hfta_train_result_free(&result);
    inner->save =
        hfta_instance_save(inner->instance.get(), inner->options.checkpoint);
    return false;
  };
  hfta_train_result result;
  EXPECT_EQ(hfta_train(instance.get(), &outer, &result), HFTA_OK);
  hfta_train_result_free(&result);
  EXPECT_EQ(inner.train, HFTA_INVALID_INPUT);
  EXPECT_EQ(inner.save, HFTA_INVALID_INPUT);
  EXPECT_EQ(std::string(hfta_instance_message(inner.instance.get())),
            "cannot save checkpoint '" + checkpoint +
                "/step-00000000': checkpoint folder '" + checkpoint +
                "' is in use by another training");
}

//===----------------------------------------------------------------------===//
// Making folders
//===----------------------------------------------------------------------===//

TEST_F(CheckpointFolder, NewFoldersAreMadeDurable) {
  synced.clear();
  ASSERT_EQ(hfta_folder_make(folder.path("a/b/c").c_str(), &error), HFTA_OK);
  EXPECT_EQ(synced, (std::vector<std::string>{folder.root, folder.path("a"),
                                              folder.path("a/b")}));
  synced.clear();
  ASSERT_EQ(hfta_folder_make(folder.path("a/b/c").c_str(), &error), HFTA_OK);
  EXPECT_TRUE(synced.empty());
}

TEST_F(CheckpointFolder, FoldersAreMadeWithTheirParents) {
  for (const char *name : {"a/b/c", "d/", "e//f/", "a/b", "."}) {
    EXPECT_EQ(hfta_folder_make(folder.path(name).c_str(), &error), HFTA_OK)
        << error.message;
    EXPECT_TRUE(exists(folder.path(name))) << name;
  }
  EXPECT_EQ(hfta_folder_make("/", &error), HFTA_OK);
  EXPECT_EQ(hfta_folder_make("", &error), HFTA_CANNOT_WRITE);
  EXPECT_STREQ(error.message,
               "cannot make folder '': No such file or directory");
}
