//===- RuntimeTest.h - Folders, data and processes for tests ----*- C++ -*-===//

#ifndef HFTA_UNITTESTS_RUNTIME_TEST_H
#define HFTA_UNITTESTS_RUNTIME_TEST_H

#include "FakeProgram.h"
#include "hfta/instance.h"

#include "gtest/gtest.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A temporary folder, which is removed with all its contents in the end.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string path(const std::string &name) const { return root + "/" + name; }
  const std::string root;
};

/// Writes the four idx files that the fake program trains on, with `train`
/// training samples and `test` test samples.
void writeData(const std::string &folder, int train = 53, int test = 21);

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &bytes);
bool exists(const std::string &path);

/// Removes a file, or a folder with all its contents.
void removeAll(const std::string &path);

/// Returns the sorted names of all files in a folder, except "." and "..".
std::vector<std::string> listFolder(const std::string &path);

/// The result of running a process.
struct Outcome {
  int code; ///< exit code, or 1000 + signal
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string fake;          ///< value of FAKE_OPTIONS
  std::string change;        ///< value of FAKE_CHANGE
  std::string folder;        ///< working folder
  long fileLimit = -1;       ///< RLIMIT_FSIZE in bytes
  bool closedOutput = false; ///< standard output is /dev/full
  bool brokenOutput = false; ///< standard output is a pipe that nobody reads
  std::vector<int> ignored;  ///< signals that the process ignores

  /// If this isn't empty, a pipe of this name is created in `folder`, and its
  /// lines are counted. It holds one page, so that its writer can't run far
  /// ahead of the reader.
  std::string pipe;
  bool errorsToPipe = false; ///< whether standard error goes to the pipe
  int lines = 0;             ///< number of lines after which `then` is called
  std::function<void(pid_t)> then;
  bool closesPipe = false; ///< whether the pipe is closed after `then`
};

/// Returns a function for RunOptions::then that sends this signal to the child.
std::function<void(pid_t)> sends(int signal);

std::vector<std::string> linesOf(const std::string &text);

/// Runs the fake training binary and waits for its end.
Outcome runBinary(const std::vector<std::string> &arguments,
                  const RunOptions &options = {});

/// The fake program and its owner. Default options are three copies and one
/// micro-batch.
using ProgramPointer = std::unique_ptr<hfta_program, void (*)(hfta_program *)>;
fake_options defaultOptions();
ProgramPointer makeProgram(const fake_options &options);

using InstancePointer =
    std::unique_ptr<hfta_instance, void (*)(hfta_instance *)>;
InstancePointer makeInstance(const hfta_program *program, int threads = 1,
                             const char *device = "cpu");

/// A batch for hfta_instance_step. Equal numbers give equal batches.
struct Batch {
  explicit Batch(unsigned number);
  std::vector<unsigned char> images, labels;
  const void *inputs[2];
};

/// Tests that run the fake program's command `train` in `folder`, with data in
/// another folder.
class Train : public testing::Test {
protected:
  Train() { writeData(data.root); }

  Outcome run(std::vector<std::string> arguments, RunOptions options = {});

  std::string copyFile(const std::string &checkpoint, int copy) {
    return readFile(folder.path(checkpoint + "/copy-000" +
                                std::to_string(copy) + ".safetensors"));
  }

  void expectEqual(const std::string &one, const std::string &two,
                   int copies = 3);

  /// Returns the lines of a log, without the seconds, which differ in each run.
  std::vector<std::string> events(const std::string &log);

  TemporaryFolder data, folder;
};

/// Returns the bytes of all checkpointed tensors of a copy, in the order of the
/// program's table.
std::string stateOf(hfta_instance *instance, int64_t copy);

/// Trains the fake program for `steps` batches. Returns every copy's state, and
/// the losses in `losses`. Calls `setClock`, unless it is null, before the
/// first step.
std::vector<std::string> train(const fake_options &options, int threads,
                               int steps, std::vector<double> *losses = nullptr,
                               void (*setClock)(hfta_instance *) = nullptr);

#endif // HFTA_UNITTESTS_RUNTIME_TEST_H
