//===- RuntimeTest.h - Folders, data and processes for tests ----*- C++ -*-===//

#ifndef HFTA_UNITTESTS_RUNTIME_TEST_H
#define HFTA_UNITTESTS_RUNTIME_TEST_H

#include "FakeProgram.h"
#include "hfta/instance.h"

#include "gtest/gtest.h"

#include <memory>
#include <string>
#include <vector>

/// A folder that is removed with all that is in it.
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

/// Names in a folder, sorted, "." and ".." left out.
std::vector<std::string> listFolder(const std::string &path);

/// What a process left behind.
struct Outcome {
  int code; ///< exit code, or 1000 + signal
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string fake;    ///< FAKE_OPTIONS
  std::string folder;  ///< working folder
  long fileLimit = -1; ///< RLIMIT_FSIZE in bytes
  int signal = 0;      ///< sent after `delay` milliseconds
  int delay = 0;
  bool closedOutput = false; ///< standard output is /dev/full
};

/// Runs the fake training binary.
Outcome runBinary(const std::vector<std::string> &arguments,
                  const RunOptions &options = {});

/// The fake program with defaults, freed at the end.
using ProgramPointer = std::unique_ptr<hfta_program, void (*)(hfta_program *)>;
fake_options defaultOptions();
ProgramPointer makeProgram(const fake_options &options);

using InstancePointer =
    std::unique_ptr<hfta_instance, void (*)(hfta_instance *)>;
InstancePointer makeInstance(const hfta_program *program, int threads = 1);

/// Deterministic batches for hfta_instance_step.
struct Batch {
  explicit Batch(unsigned number);
  std::vector<unsigned char> images, labels;
  const void *inputs[2];
};

/// All bytes of a copy's checkpointed tensors, by name.
std::string stateOf(hfta_instance *instance, int64_t copy);

#endif // HFTA_UNITTESTS_RUNTIME_TEST_H
