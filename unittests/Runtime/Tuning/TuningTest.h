//===- TuningTest.h - Searches over the fake program ------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_TUNING_TEST_H
#define HFTA_UNITTESTS_TUNING_TEST_H

#include "RuntimeTest.h"
extern "C" {
#include "tuning/tuner.h"
}

#include <functional>
#include <map>

/// A search, apart from the program.
struct SearchOptions {
  fake_options program = defaultOptions();
  hfta_rule rule = {};
  hfta_sampler sampler = {};
  int64_t trials = 9;
  int64_t epochs = 9;
  hfta_validation validation = {};
  /// Whether high learning rates, with which trials diverge, are drawn.
  bool diverges = false;
  /// Whether the search chooses among micro-batches and schedules, too, which
  /// need four arrays.
  bool isPacked = false;

  SearchOptions();
};

/// How a search is run.
struct SearchRun {
  int64_t slots = 3;
  int threads = 1;
  std::string folder; ///< empty: nothing is saved
  bool resume = false;
  /// Number of questions whether to stop after which the answer is yes.
  int64_t stopAfter = INT64_MAX;
  bool isKilled = false; ///< whether the process is killed instead
  std::string log;       ///< path of the log; empty: none
  std::string control;   ///< path of a socket for requests; empty: none
  int64_t trials = 0;    ///< number of trials that the user wants; 0: the job's
  /// Called with the number of each question whether to stop, from 0.
  std::function<void(int64_t)> then;
};

/// The outcome of a search.
struct SearchOutcome {
  hfta_status status = HFTA_OK;
  std::string message;
  bool interrupted = false;
  int64_t trainedSteps = 0;
  int64_t best = HFTA_NO_TRIAL;
  double testLoss = 0, testMetric = 0;
  std::vector<double> scores;     ///< score of each trial
  std::vector<std::string> lines; ///< the decisions, sorted
};

/// Tests that search over the fake program.
class Tuning : public testing::Test {
protected:
  Tuning() { writeData(data.root, 66, 21); }

  SearchOutcome search(const SearchOptions &options, const SearchRun &run);

  /// Searches in another process, which is killed when it asks for the
  /// `questions`-th time whether to stop. Returns whether it was killed.
  bool searchAndKill(const SearchOptions &options, SearchRun run,
                     int64_t questions);

  /// Returns the bytes of all files of trials in a folder, by their names.
  std::map<std::string, std::string> files(const std::string &folder);

  /// Expects that two folders have files of equal names and bytes.
  void expectEqualFiles(const std::string &one, const std::string &other);

  /// Returns the lines of a folder's journal that aren't evaluations, sorted.
  std::vector<std::string> decisions(const std::string &folder);

  hfta_replay_result replay(const SearchOptions &options,
                            const std::string &folder, int64_t trial,
                            int64_t fold = 0);

  TemporaryFolder data, folder;
};

#endif // HFTA_UNITTESTS_TUNING_TEST_H
