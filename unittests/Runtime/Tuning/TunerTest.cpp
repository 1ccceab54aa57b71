//===- TunerTest.cpp - Trials in the slots of an array --------------------===//

#include "TuningTest.h"

#include <cmath>
#include <deque>

/// Returns a search with each rule, and others with what else matters.
static std::deque<SearchOptions> listSearches() {
  // References to its elements stay valid.
  std::deque<SearchOptions> all;
  for (uint32_t kind :
       {HFTA_RULE_NONE, HFTA_RULE_HALVING, HFTA_RULE_HYPERBAND, HFTA_RULE_ASHA,
        HFTA_RULE_PERCENTILE, HFTA_RULE_POPULATION}) {
    SearchOptions &options = all.emplace_back();
    options.rule.kind = kind;
    if (kind == HFTA_RULE_HYPERBAND)
      options.trials = 17;
    if (kind == HFTA_RULE_NONE || kind == HFTA_RULE_POPULATION)
      options.epochs = 4;
  }
  all.emplace_back().sampler.kind = HFTA_SAMPLER_TPE;
  all.emplace_back().diverges = true;
  all.emplace_back().program.cosine = 1;
  all.emplace_back().program.curvature = 1;
  all.emplace_back().validation.keeps_best = 1;
  all.emplace_back().validation.patience = 2;
  all.back().rule.kind = HFTA_RULE_NONE;
  all.emplace_back().validation.by_metric = 1;
  all.back().validation.direction = HFTA_MAXIMIZE;
  all.back().rule.direction = HFTA_MAXIMIZE;
  SearchOptions &folds = all.emplace_back();
  folds.validation.share = 0;
  folds.validation.folds = 3;
  folds.epochs = 3;
  SearchOptions &patient = all.emplace_back(folds);
  patient.diverges = true;
  patient.validation.patience = 1;
  all.emplace_back().isPacked = true;
  all.back().validation.keeps_best = 1;
  all.emplace_back().isPacked = true;
  all.back().rule.kind = HFTA_RULE_ASHA;
  SearchOptions &packed = all.emplace_back(folds);
  packed.isPacked = true;
  packed.trials = 5;
  SearchOptions &population = all.emplace_back();
  population.rule.kind = HFTA_RULE_POPULATION;
  population.rule.every = 2;
  population.epochs = 6;
  population.diverges = true;
  return all;
}

TEST_F(Tuning, SlotsAndThreadsDontMatter) {
  int number = 0;
  for (const SearchOptions &options : listSearches()) {
    SCOPED_TRACE("search " + std::to_string(number++));
    SearchRun run;
    run.folder = folder.path("one-" + std::to_string(number));
    run.slots = 1;
    SearchOutcome one = search(options, run);
    ASSERT_EQ(one.status, HFTA_OK) << one.message;
    EXPECT_FALSE(one.interrupted);
    for (int64_t slots : {3, 8}) {
      SearchRun other;
      other.folder =
          folder.path(std::to_string(slots) + "-" + std::to_string(number));
      other.slots = slots;
      other.threads = slots == 3 ? 2 : 3;
      SearchOutcome outcome = search(options, other);
      ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
      EXPECT_EQ(outcome.best, one.best);
      EXPECT_EQ(outcome.lines, one.lines);
      expectEqualFiles(other.folder, run.folder);
      EXPECT_EQ(outcome.trainedSteps, one.trainedSteps);
    }
  }
}

TEST_F(Tuning, AFolderDoesntMatter) {
  int number = 0;
  for (const SearchOptions &options : listSearches()) {
    SCOPED_TRACE("search " + std::to_string(number++));
    SearchRun saved, unsaved;
    saved.folder = folder.path("saved");
    SearchOutcome one = search(options, saved),
                  other = search(options, unsaved);
    ASSERT_EQ(other.status, HFTA_OK) << other.message;
    EXPECT_EQ(one.best, other.best);
    ASSERT_EQ(one.scores.size(), other.scores.size());
    for (size_t i = 0; i < one.scores.size(); ++i)
      EXPECT_TRUE(one.scores[i] == other.scores[i] ||
                  (std::isnan(one.scores[i]) && std::isnan(other.scores[i])));
    removeAll(saved.folder);
  }
}

TEST_F(Tuning, EachTrialEqualsItsLineageAlone) {
  int number = 0;
  for (const SearchOptions &options : listSearches()) {
    SCOPED_TRACE("search " + std::to_string(number++));
    SearchRun run;
    run.folder = folder.path("search");
    SearchOutcome outcome = search(options, run);
    ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
    int64_t folds = std::max<int64_t>(options.validation.folds, 1);
    for (int64_t trial = 0; trial < options.trials; ++trial)
      for (int64_t fold = 0; fold < folds; ++fold) {
        hfta_replay_result result = replay(options, run.folder, trial, fold);
        EXPECT_EQ(result.different_epoch, 0) << "trial " << trial;
        EXPECT_TRUE(result.has_file);
        EXPECT_TRUE(result.is_equal) << ", trial " << trial;
      }
    removeAll(run.folder);
  }
}

TEST_F(Tuning, GoesOnAfterKills) {
  int number = 0;
  for (const SearchOptions &options : listSearches()) {
    SCOPED_TRACE("search " + std::to_string(number++));
    SearchRun whole, parts;
    whole.folder = folder.path("whole");
    parts.folder = folder.path("parts");
    SearchOutcome expected = search(options, whole);
    ASSERT_EQ(expected.status, HFTA_OK) << expected.message;
    int kills = 0;
    for (int64_t questions = 11; searchAndKill(options, parts, questions);
         questions = questions * 5 % 41 + 13) {
      parts.resume = true;
      ASSERT_LT(++kills, 1000);
    }
    EXPECT_GT(kills, 2);
    expectEqualFiles(parts.folder, whole.folder);
    EXPECT_EQ(readFile(parts.folder + "/search.jsonl"),
              readFile(whole.folder + "/search.jsonl"));
    removeAll(whole.folder);
    removeAll(parts.folder);
  }
}

TEST_F(Tuning, GoesOnAfterStopsWithOtherSlots) {
  int number = 0;
  for (const SearchOptions &options : listSearches()) {
    SCOPED_TRACE("search " + std::to_string(number++));
    SearchRun whole, parts;
    whole.folder = folder.path("whole");
    parts.folder = folder.path("parts");
    SearchOutcome expected = search(options, whole), outcome;
    int64_t trained = 0;
    do {
      parts.stopAfter = 23;
      outcome = search(options, parts);
      ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
      trained += outcome.trainedSteps;
      parts.resume = true;
      parts.slots = parts.slots % 8 + 1;
    } while (outcome.interrupted);
    EXPECT_EQ(outcome.lines, expected.lines);
    expectEqualFiles(parts.folder, whole.folder);
    // A stop loses no step.
    EXPECT_EQ(trained, expected.trainedSteps);
    removeAll(whole.folder);
    removeAll(parts.folder);
  }
}

TEST_F(Tuning, AFinishedSearchStaysAsItIs) {
  SearchOptions options;
  SearchRun run;
  run.folder = folder.path("search");
  SearchOutcome first = search(options, run);
  std::string journal = readFile(run.folder + "/search.jsonl");
  run.resume = true;
  SearchOutcome second = search(options, run);
  ASSERT_EQ(second.status, HFTA_OK) << second.message;
  EXPECT_EQ(second.trainedSteps, 0);
  EXPECT_EQ(second.best, first.best);
  EXPECT_EQ(second.testLoss, first.testLoss);
  EXPECT_EQ(readFile(run.folder + "/search.jsonl"), journal);
}

TEST_F(Tuning, LeftoversOfAnotherSearchDontMatter) {
  SearchOptions options, other;
  other.sampler.seed = 8;
  SearchRun run, fresh;
  run.folder = folder.path("search");
  fresh.folder = folder.path("fresh");
  search(other, run);
  removeAll(run.folder + "/search.jsonl");
  writeFile(run.folder + "/trial-0000.step-00000006.safetensors.tmp-1-2-3", "");
  SearchOutcome outcome = search(options, run);
  ASSERT_EQ(outcome.status, HFTA_OK) << outcome.message;
  EXPECT_EQ(outcome.lines, search(options, fresh).lines);
  EXPECT_EQ(listFolder(run.folder), listFolder(fresh.folder));
  expectEqualFiles(run.folder, fresh.folder);
}

TEST_F(Tuning, AJournalMayEndAnywhere) {
  SearchOptions options;
  options.trials = 5;
  options.epochs = 3;
  SearchRun run;
  run.folder = folder.path("search");
  search(options, run);
  auto expected = files(run.folder);
  std::string journal = readFile(run.folder + "/search.jsonl");
  std::vector<std::string> lines = decisions(run.folder);
  run.resume = true;
  for (size_t size = 0; size < journal.size(); size += 197) {
    writeFile(run.folder + "/search.jsonl", journal.substr(0, size));
    SearchOutcome outcome = search(options, run);
    ASSERT_EQ(outcome.status, HFTA_OK) << size << ": " << outcome.message;
    // Trials may be trained in other groups, as some states were saved later.
    EXPECT_EQ(outcome.lines, lines);
    EXPECT_EQ(files(run.folder), expected);
  }
}

TEST_F(Tuning, RefusesWhatContradictsPopulations) {
  SearchOptions options;
  options.rule.kind = HFTA_RULE_POPULATION;
  options.validation.patience = 1;
  EXPECT_EQ(search(options, {}).status, HFTA_UNSUPPORTED);
  options.validation.patience = 0;
  options.validation.keeps_best = 1;
  EXPECT_EQ(search(options, {}).status, HFTA_UNSUPPORTED);
}

TEST_F(Tuning, RefusesAnotherSearchsFolder) {
  SearchOptions options;
  SearchRun run;
  run.folder = folder.path("search");
  search(options, run);
  SearchOutcome again = search(options, run);
  EXPECT_EQ(again.status, HFTA_INVALID_INPUT);
  EXPECT_NE(again.message.find("--resume"), std::string::npos);
  run.resume = true;
  options.sampler.seed = 4;
  SearchOutcome other = search(options, run);
  EXPECT_EQ(other.status, HFTA_INVALID_INPUT);
  EXPECT_NE(other.message.find("sampler is 'random(seed = 3)'"),
            std::string::npos)
      << other.message;
}

TEST_F(Tuning, WritesALogThatIsNoOtherFile) {
  SearchOptions options;
  options.trials = 3;
  options.epochs = 3;
  SearchRun run;
  run.folder = folder.path("search");
  run.log = folder.path("log");
  writeFile(run.log, "old\n");
  ASSERT_EQ(search(options, run).status, HFTA_OK);
  EXPECT_EQ(readFile(run.log), readFile(run.folder + "/search.jsonl"));
  run.resume = true;
  for (const std::string &name : listFolder(run.folder)) {
    if (name == "seconds")
      continue;
    run.log = run.folder + "/" + name;
    std::string bytes = readFile(run.log);
    SearchOutcome outcome = search(options, run);
    EXPECT_EQ(outcome.status, HFTA_USAGE) << outcome.message;
    EXPECT_EQ(readFile(run.log), bytes);
  }
  // The journal needn't be there yet.
  run.resume = false;
  run.folder = folder.path("new");
  run.log = run.folder + "/search.jsonl";
  EXPECT_NE(search(options, run).status, HFTA_OK);
  EXPECT_FALSE(exists(run.folder));
}
