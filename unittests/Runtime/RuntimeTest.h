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

/// A folder that is removed with all its contents.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string path(const std::string &name) const { return root + "/" + name; }
  const std::string root;
};

/// Writes the fake program's four idx files: `train` and `test` samples.
void writeData(const std::string &folder, int train = 53, int test = 21);

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &bytes);
bool exists(const std::string &path);

/// Removes a file, or a folder with all its contents.
void removeAll(const std::string &path);

/// Returns the names in a folder, sorted, without "." and "..".
std::vector<std::string> listFolder(const std::string &path);

/// The result of a process.
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

  /// A pipe of this name is made in `folder` and read line by line. It holds
  /// one page, so that its writer can't run far ahead of the reader.
  std::string pipe;
  bool errorsToPipe = false; ///< whether standard error goes to the pipe
  int lines = 0;             ///< the number of lines after which `then` is
                             ///< called once
  std::function<void(pid_t)> then;
  bool closesPipe = false; ///< after `then` was called
};

/// Returns a function for RunOptions::then that sends a signal.
std::function<void(pid_t)> sends(int signal);

std::vector<std::string> linesOf(const std::string &text);

/// Runs the fake training binary.
Outcome runBinary(const std::vector<std::string> &arguments,
                  const RunOptions &options = {});

/// The fake program with default options, which is freed at the end.
using ProgramPointer = std::unique_ptr<hfta_program, void (*)(hfta_program *)>;
fake_options defaultOptions();
ProgramPointer makeProgram(const fake_options &options);

using InstancePointer =
    std::unique_ptr<hfta_instance, void (*)(hfta_instance *)>;
InstancePointer makeInstance(const hfta_program *program, int threads = 1,
                             const char *device = "cpu");

/// Deterministic batches for hfta_instance_step.
struct Batch {
  explicit Batch(unsigned number);
  std::vector<unsigned char> images, labels;
  const void *inputs[2];
};

/// Runs the fake program's `train` in a folder, with data in another one.
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

  /// Returns the events of a log without the seconds that they took.
  std::vector<std::string> events(const std::string &log);

  TemporaryFolder data, folder;
};

/// Returns all bytes of a copy's checkpointed tensors, by name.
std::string stateOf(hfta_instance *instance, int64_t copy);

/// Trains on `steps` batches; returns every copy's state, and the losses. The
/// clock, if there is one, is set before the first step.
std::vector<std::string> train(const fake_options &options, int threads,
                               int steps, std::vector<double> *losses = nullptr,
                               void (*setClock)(hfta_instance *) = nullptr);

#endif // HFTA_UNITTESTS_RUNTIME_TEST_H
