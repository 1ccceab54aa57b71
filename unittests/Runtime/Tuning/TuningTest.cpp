//===- TuningTest.cpp - Searches over the fake program --------------------===//

#include "TuningTest.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <sys/wait.h>
#include <unistd.h>

SearchOptions::SearchOptions() {
  program.copies = 8;
  program.alike = 1;
  rule.kind = HFTA_RULE_HALVING;
  rule.eta = 3;
  rule.grace = 1;
  rule.workers = 3;
  rule.every = 1;
  rule.percentile = 50;
  rule.quantile = 0.25;
  rule.resample = 0.25;
  rule.factors[0] = 0.8;
  rule.factors[1] = 1.2;
  sampler.kind = HFTA_SAMPLER_RANDOM;
  sampler.seed = 3;
  sampler.startup = 4;
  sampler.batch = 2;
  validation.share = 0.25;
  validation.every = 1;
}

namespace {

/// The questions whether to stop so far.
struct Questions {
  const SearchRun &run;
  int64_t count = 0;
};

} // namespace

static bool asks(void *argument) {
  auto *self = static_cast<Questions *>(argument);
  int64_t number = self->count++;
  if (self->run.then)
    self->run.then(number);
  if (number < self->run.stopAfter)
    return false;
  if (self->run.isKilled)
    kill(getpid(), SIGKILL);
  return true;
}

namespace {

/// The programs of a search's arrays, of which one has an instance.
class Arrays {
public:
  Arrays(const SearchOptions &options, int64_t slots, int threads)
      : threads(threads), instance(nullptr, hfta_instance_destroy) {
    fake_options made = options.program;
    made.copies = slots;
    int count = options.isPacked ? 4 : 1;
    for (int array = 0; array < count; ++array) {
      if (options.isPacked) {
        made.micro_batches = array < 2 ? 1 : 2;
        made.cosine = array % 2;
      }
      programs.push_back(makeProgram(made));
      addSearch(options, count, array);
      pointers.push_back(programs.back().get());
    }
    instance = makeInstance(pointers.front(), threads);
  }

  /// Lets a tuner use the arrays.
  void give(hfta_tuner_options &tuner) {
    tuner.arrays = pointers.data();
    tuner.open_array = [](void *argument, int64_t array, hfta_instance **out,
                          hfta_error *) {
      auto *self = static_cast<Arrays *>(argument);
      self->instance.reset();
      self->instance = makeInstance(self->pointers[array], self->threads);
      *out = self->instance.get();
      return HFTA_OK;
    };
    tuner.open_argument = this;
  }

  hfta_instance *get() { return instance.get(); }

private:
  static std::vector<hfta_search_setting>
  makeSettings(const SearchOptions &options, int array) {
    static const double batches[] = {1, 2}, schedules[] = {0, 1};
    static const char *const labels[] = {"constant", "cosine"};
    hfta_search_setting rate = {};
    rate.name = "lr";
    rate.distribution = HFTA_LOG_UNIFORM;
    rate.low = 0.01;
    rate.high = options.diverges ? 1e30 : 1;
    rate.zip = HFTA_NO_ZIP;
    hfta_search_setting seed = rate;
    seed.name = "seed";
    seed.distribution = HFTA_INTEGERS;
    seed.low = 1;
    seed.high = 50;
    std::vector<hfta_search_setting> settings = {rate, seed};
    if (options.program.curvature) {
      hfta_search_setting damping = rate, period = seed;
      damping.name = "damping";
      damping.high = 1;
      period.name = "factor_every";
      settings.insert(settings.end(), {damping, period});
    }
    if (options.isPacked) {
      hfta_search_setting parts = {};
      parts.name = "micro_batches";
      parts.distribution = HFTA_CHOICE;
      parts.is_packed = 1;
      parts.choices = batches;
      parts.choice_count = 2;
      parts.zip = HFTA_NO_ZIP;
      parts.own = batches[array / 2];
      hfta_search_setting schedule = parts;
      schedule.name = "schedule";
      schedule.choices = schedules;
      schedule.labels = labels;
      schedule.own = schedules[array % 2];
      settings.insert(settings.end(), {parts, schedule});
    }
    return settings;
  }

  /// Lets the last program search.
  void addSearch(const SearchOptions &options, int count, int array) {
    hfta_program &program = *programs.back();
    settings.push_back(makeSettings(options, array));
    searches.push_back(
        {settings.back().data(), static_cast<int64_t>(settings.back().size()),
         options.trials, options.sampler, options.rule, count, array, nullptr});
    program.validation = options.validation;
    program.search = &searches.back();
    program.epochs = options.epochs;
  }

  int threads;
  std::deque<std::vector<hfta_search_setting>> settings;
  std::deque<hfta_search> searches;
  std::vector<ProgramPointer> programs;
  std::vector<const hfta_program *> pointers;
  InstancePointer instance;
};

} // namespace

SearchOutcome Tuning::search(const SearchOptions &options,
                             const SearchRun &run) {
  Arrays arrays(options, run.slots, run.threads);
  Questions questions{run};
  hfta_train_options train = {};
  train.data_root = data.root.c_str();
  train.checkpoint = run.folder.empty() ? nullptr : run.folder.c_str();
  train.resume = run.resume;
  train.log_path = run.log.empty() ? nullptr : run.log.c_str();
  train.should_stop = asks;
  train.should_stop_argument = &questions;
  hfta_tuner_options tuner = {};
  tuner.train = &train;
  arrays.give(tuner);
  tuner.trials = run.trials;
  tuner.control = run.control.empty() ? nullptr : run.control.c_str();
  hfta_tuner_result result;
  SearchOutcome outcome;
  outcome.status = hfta_tune(arrays.get(), &tuner, &result);
  if (outcome.status != HFTA_OK)
    outcome.message = result.error.message;
  outcome.interrupted = result.interrupted;
  outcome.trainedSteps = result.trained_steps;
  outcome.testLoss = result.test_loss;
  outcome.testMetric = result.test_metric;
  if (result.study) {
    outcome.best = hfta_study_best(result.study);
    for (int64_t i = 0; i < result.study->trial_count; ++i)
      outcome.scores.push_back(hfta_study_score(result.study, i));
  }
  hfta_tuner_result_free(&result);
  if (!run.folder.empty())
    outcome.lines = decisions(run.folder);
  return outcome;
}

bool Tuning::searchAndKill(const SearchOptions &options, SearchRun run,
                           int64_t questions) {
  run.stopAfter = questions;
  run.isKilled = true;
  pid_t child = fork();
  if (child == 0)
    _exit(search(options, run).status);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

std::map<std::string, std::string> Tuning::files(const std::string &path) {
  std::map<std::string, std::string> found;
  for (const std::string &name : listFolder(path))
    if (name.rfind("trial-", 0) == 0)
      found[name] = readFile(path + "/" + name);
  return found;
}

void Tuning::expectEqualFiles(const std::string &one,
                              const std::string &other) {
  auto first = files(one), second = files(other);
  std::vector<std::string> names, otherNames, different;
  for (const auto &[name, bytes] : first) {
    names.push_back(name);
    if (second.count(name) && second[name] != bytes)
      different.push_back(name);
  }
  for (const auto &entry : second)
    otherNames.push_back(entry.first);
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(names, otherNames);
  EXPECT_EQ(different, std::vector<std::string>());
}

std::vector<std::string> Tuning::decisions(const std::string &path) {
  std::vector<std::string> found;
  for (const std::string &line : linesOf(readFile(path + "/search.jsonl")))
    if (line.rfind("{\"event\":\"evaluated\"", 0) != 0)
      found.push_back(line);
  std::sort(found.begin(), found.end());
  return found;
}

hfta_replay_result Tuning::replay(const SearchOptions &options,
                                  const std::string &path, int64_t trial,
                                  int64_t fold) {
  Arrays arrays(options, 2, 1);
  hfta_train_options train = {};
  train.data_root = data.root.c_str();
  train.checkpoint = path.c_str();
  hfta_tuner_options tuner = {};
  tuner.train = &train;
  arrays.give(tuner);
  hfta_replay_result result;
  EXPECT_EQ(hfta_replay(arrays.get(), &tuner, trial, fold, &result), HFTA_OK)
      << result.error.message;
  return result;
}
