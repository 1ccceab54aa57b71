//===- CurvatureTest.cpp - Tests of steps with a preconditioner -----------===//

#include "FakeKernels.h"
#include "RuntimeTest.h"

#include <algorithm>
#include <cmath>

static const int64_t periods[] = {3, 1, 10, 4, 2, 16, 5, 3};
static const int numCopies = 8;

static bool isDue(int64_t steps, int64_t period) {
  bool isPower = steps == 1 || steps == 2 || steps == 4 || steps == 8;
  return steps % period == 0 || (steps < period && isPower);
}

static fake_options curvatureOptions() {
  fake_options options = defaultOptions();
  options.copies = numCopies;
  options.curvature = 1;
  return options;
}

static double getNumber(hfta_instance *instance, int64_t copy,
                        const char *name) {
  hfta_tensor_info info;
  EXPECT_EQ(hfta_instance_tensor(instance, copy, name, &info), HFTA_OK);
  return *static_cast<const double *>(info.data);
}

namespace {
/// The expected numbers of runs, by copy, of commands in `hfta.every`: those
/// for copies that are due, for the others, for steps in which any copy is due,
/// and for steps in which none is.
struct Counts {
  explicit Counts(const std::vector<int32_t> &live) : live(live) {}

  void add(int64_t step) {
    bool isAny = std::any_of(live.begin(), live.end(), [&](int32_t copy) {
      return isDue(step, periods[copy]);
    });
    for (int32_t copy : live) {
      ++(isDue(step, periods[copy]) ? due : others)[copy];
      ++(isAny ? any : none)[copy];
    }
  }

  void expectIn(hfta_instance *instance) const {
    for (int copy = 0; copy < numCopies; ++copy) {
      EXPECT_EQ(getNumber(instance, copy, "due"), due[copy]) << copy;
      EXPECT_EQ(getNumber(instance, copy, "others"), others[copy]) << copy;
      EXPECT_EQ(getNumber(instance, copy, "any"), any[copy]) << copy;
      EXPECT_EQ(getNumber(instance, copy, "none"), none[copy]) << copy;
    }
  }

  std::vector<int32_t> live;
  double due[numCopies] = {}, others[numCopies] = {}, any[numCopies] = {},
         none[numCopies] = {};
};
} // namespace

static void expectCounts(const fake_options &options, int threads,
                         const std::vector<int32_t> &live) {
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get(), threads);
  ASSERT_EQ(hfta_instance_set_live(instance.get(), live.data(), live.size()),
            HFTA_OK);
  Counts counts(live);
  for (int64_t step = 0; step < 23; ++step) {
    Batch batch(step);
    ASSERT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
              HFTA_OK);
    counts.add(step);
  }
  counts.expectIn(instance.get());
}

// A copy with period p is due in steps 0, p, 2p, ..., and before step p in
// steps 1, 2, 4, ... Copies that don't run are never due.
TEST(Curvature, CommandsOfAPeriodRunForItsCopies) {
  for (int takesTurns : {0, 1})
    for (int microBatches : {1, 2})
      for (int threads : {1, 3}) {
        fake_options options = curvatureOptions();
        options.takes_turns = takesTurns;
        options.micro_batches = microBatches;
        expectCounts(options, threads, {0, 1, 2, 3, 4, 5, 6, 7});
        expectCounts(options, threads, {2, 3, 5, 6});
        expectCounts(options, threads, {5});
      }
}

// If copies take turns, a task that runs for some copies of a turn finds the
// slabs that tasks for all copies of the turn have filled.
TEST(Curvature, ChosenCopiesOfATurnKeepTheirSlabs) {
  for (int microBatches : {1, 2})
    for (int forwardsFirst : {0, 1})
      for (int takesTurns : {0, 1})
        for (int threads : {1, 2, 3, 8}) {
          fake_options options = curvatureOptions();
          options.micro_batches = microBatches;
          options.all_forwards_first = forwardsFirst;
          options.takes_turns = takesTurns;
          std::vector<double> losses, expectedLosses;
          auto states = train(options, threads, 20, &losses);
          options.curvature = 0;
          EXPECT_EQ(states, train(options, threads, 20, &expectedLosses));
          EXPECT_EQ(losses, expectedLosses);
        }
}

TEST(Curvature, DampingsFollowTheirSchedule) {
  fake_options options = curvatureOptions();
  options.copies = 3;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  const double first[] = {0.5, 0.25, 0.125};
  for (int step = 0; step < 9; ++step) {
    const double expected[] = {first[0] * std::pow(0.5, step / 4), first[1],
                               first[2] * std::pow(0.5, step / 2)};
    for (int copy = 0; copy < 3; ++copy)
      EXPECT_EQ(hfta_instance_scheduled_number(instance.get(), 0, copy),
                expected[copy]);
    Batch batch(step);
    ASSERT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
              HFTA_OK);
    for (int copy = 0; copy < 3; ++copy) {
      hfta_update_report curvature = hfta_instance_report(instance.get(), copy);
      EXPECT_EQ(curvature.kl_scale, 2 * expected[copy]);
      EXPECT_EQ(curvature.skipped, step == 3 && copy == 2 ? 1 : 0);
      EXPECT_EQ(curvature.retried, step == 5 && copy != 2 ? 2 : 0);
      EXPECT_EQ(curvature.kept, 0);
    }
  }
}

TEST(Curvature, CopiesStayFromAnAccumulationToItsUpdate) {
  for (int curvature : {0, 1}) {
    fake_options options = curvatureOptions();
    options.curvature = curvature;
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = makeInstance(program.get());
    const int32_t first[] = {0, 1}, others[] = {0, 2};
    auto setLive = [&](const int32_t *copies) {
      return hfta_instance_set_live(instance.get(), copies, 2);
    };
    Batch batch(0);
    EXPECT_EQ(setLive(first), HFTA_OK);
    ASSERT_EQ(hfta_instance_accumulate(instance.get(), batch.inputs, nullptr),
              HFTA_OK);
    EXPECT_EQ(setLive(first), HFTA_OK);
    EXPECT_EQ(setLive(others), curvature ? HFTA_USAGE : HFTA_OK);
    EXPECT_EQ(hfta_instance_live(instance.get())[2], !curvature);
    ASSERT_EQ(hfta_instance_update(instance.get()), HFTA_OK);
    EXPECT_EQ(setLive(others), HFTA_OK);
  }
}

TEST(Curvature, OthersHaveNoDamping) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  EXPECT_TRUE(std::isnan(hfta_instance_scheduled_number(instance.get(), 0, 0)));
  EXPECT_TRUE(std::isnan(hfta_instance_report(instance.get(), 0).kl_scale));
}

TEST(Curvature, ACosineScheduleOfTheDampingNeedsALength) {
  ProgramPointer program = makeProgram(curvatureOptions());
  static const double minima[numCopies] = {};
  hfta_scheduled_number damping = program->scheduled_numbers[0];
  damping.schedule = {};
  damping.schedule.kind = HFTA_NUMBER_SCHEDULE_COSINE;
  damping.schedule.minimum = minima;
  program->scheduled_numbers = &damping;
  InstancePointer instance = makeInstance(program.get());
  Batch batch(0);
  EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
            HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(instance.get()),
               "a cosine schedule of the damping needs the number of steps: "
               "set hfta_options.total_steps, or a horizon of each copy");
  hfta_instance_set_total_steps(instance.get(), 10);
  EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr), HFTA_OK);
}

//===----------------------------------------------------------------------===//
// Logs and tables
//===----------------------------------------------------------------------===//

static RunOptions ofCurvature() {
  RunOptions options;
  options.fake = "curvature";
  return options;
}

// Skipped statistics and retried inverses are logged when they happen, whatever
// --log-every says.
TEST_F(Train, TheLogTellsOfTheCurvature) {
  ASSERT_EQ(
      run({"--steps", "8", "--log", "log", "--log-every", "8", "--only", "0,2"},
          ofCurvature())
          .code,
      0);
  std::vector<std::string> log = events("log");
  auto has = [&](const std::string &event) {
    return std::any_of(log.begin(), log.end(), [&](const std::string &line) {
      return line.find(event) != std::string::npos;
    });
  };
  EXPECT_TRUE(has(R"({"event":"curvature","step":4,)"
                  R"("skipped_statistics":[0,null,1],)"
                  R"("retried_inverses":[0,null,0],)"
                  R"("kept_inverses":[0,null,0]})"));
  EXPECT_TRUE(has(R"({"event":"curvature","step":6,)"
                  R"("skipped_statistics":[0,null,0],)"
                  R"("retried_inverses":[2,null,0],)"
                  R"("kept_inverses":[0,null,0]})"));
  EXPECT_TRUE(has(R"("damping":[0.5,null,0.125],"kl_scale":[1,null,0.25]})"));
  EXPECT_TRUE(
      has(R"("damping":[0.25,null,0.015625],"kl_scale":[0.5,null,0.03125]})"));
  EXPECT_EQ(std::count_if(log.begin(), log.end(),
                          [](const std::string &line) {
                            return line.find(R"("event":"curvature")") !=
                                   std::string::npos;
                          }),
            2);
}

// The table has no column for an event that has happened to no copy.
TEST_F(Train, TheTableCountsWhatWentWrongWithTheCurvature) {
  auto getHead = [&](const char *steps) {
    Outcome outcome = run({"--steps", steps}, ofCurvature());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return linesOf(outcome.out).front();
  };
  EXPECT_EQ(getHead("3").find("inverses"), std::string::npos);
  EXPECT_NE(getHead("4").find("  skipped statistics"), std::string::npos);
  EXPECT_EQ(getHead("5").find("inverses"), std::string::npos);
  std::string head = getHead("6");
  EXPECT_NE(head.find("  skipped statistics  retried inverses"),
            std::string::npos);
  EXPECT_EQ(head.find("kept inverses"), std::string::npos);
}
