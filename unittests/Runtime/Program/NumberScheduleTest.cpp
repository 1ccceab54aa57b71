//===- NumberScheduleTest.cpp - Tests of schedules of numbers -------------===//

#include "hfta/number_schedule.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

static const double warmup[] = {0, 4};
static const double stepSize[] = {3, 2};
static const double gammas[] = {0.5, 0.1};
static const double minimum[] = {0, 0.25};

/// Makes a schedule without parameters.
static hfta_number_schedule make(hfta_number_schedule_kind kind) {
  hfta_number_schedule schedule = {};
  schedule.kind = kind;
  return schedule;
}

static double at(const hfta_number_schedule &schedule, int64_t copy,
                 double number, int64_t step, int64_t total) {
  return hfta_number_schedule_at(&schedule, copy, number, step, total, 1.0);
}

TEST(NumberSchedule, ConstantWithWarmUp) {
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_CONSTANT);
  schedule.warmup = warmup;
  EXPECT_FALSE(hfta_number_schedule_needs_total(&schedule));
  EXPECT_EQ(at(schedule, 0, 0.1, 0, 10), 0.1);
  EXPECT_EQ(at(schedule, 1, 0.1, 0, 10), 0.1 * 1 / 4);
  EXPECT_EQ(at(schedule, 1, 0.1, 3, 10), 0.1 * 4 / 4);
  EXPECT_EQ(at(schedule, 1, 0.1, 4, 10), 0.1);
}

TEST(NumberSchedule, StepsCountFromTheEndOfTheWarmUp) {
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_STEP);
  schedule.warmup = warmup;
  schedule.step_size = stepSize;
  schedule.gamma = gammas;
  EXPECT_EQ(at(schedule, 0, 1, 2, 0), 1);
  EXPECT_EQ(at(schedule, 0, 1, 3, 0), 0.5);
  EXPECT_EQ(at(schedule, 0, 1, 6, 0), 0.25);
  EXPECT_EQ(at(schedule, 1, 1, 3, 0), 1);
  EXPECT_EQ(at(schedule, 1, 1, 5, 0), 1);
  EXPECT_EQ(at(schedule, 1, 1, 6, 0), 0.1);
}

TEST(NumberSchedule, CosineEndsAtTheLastStep) {
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_COSINE);
  schedule.warmup = warmup;
  schedule.minimum = minimum;
  EXPECT_TRUE(hfta_number_schedule_needs_total(&schedule));
  EXPECT_EQ(at(schedule, 0, 2, 0, 11), 2);
  EXPECT_NEAR(at(schedule, 0, 2, 5, 11), 1, 1e-15);
  EXPECT_EQ(at(schedule, 0, 2, 10, 11), 0);
  EXPECT_EQ(at(schedule, 0, 2, 15, 11), 0);
  EXPECT_EQ(at(schedule, 1, 2, 4, 11), 2);
  EXPECT_EQ(at(schedule, 1, 2, 10, 11), 0.5);
  EXPECT_NEAR(at(schedule, 1, 2, 7, 11), 2 * (0.25 + 0.75 * 0.5), 1e-15);
}

TEST(NumberSchedule, ATrainingOfOneStepTakesTheFullRate) {
  for (hfta_number_schedule_kind kind :
       {HFTA_NUMBER_SCHEDULE_COSINE, HFTA_NUMBER_SCHEDULE_POLYNOMIAL,
        HFTA_NUMBER_SCHEDULE_LINEAR, HFTA_NUMBER_SCHEDULE_ONE_CYCLE,
        HFTA_NUMBER_SCHEDULE_WSD}) {
    hfta_number_schedule schedule = make(kind);
    EXPECT_TRUE(hfta_number_schedule_needs_total(&schedule));
    EXPECT_EQ(at(schedule, 0, 3, 0, 1), 3) << kind;
  }
}

TEST(NumberSchedule, ALengthMakesTheTotalIrrelevant) {
  static const double length[] = {4, 8}, end[] = {0, 0.5};
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_LINEAR);
  schedule.length = length;
  schedule.end = end;
  EXPECT_FALSE(hfta_number_schedule_needs_total(&schedule));
  EXPECT_EQ(at(schedule, 0, 2, 3, 0), 0.5);
  EXPECT_EQ(at(schedule, 0, 2, 4, 0), 0);
  EXPECT_EQ(at(schedule, 0, 2, 1000000, 0), 0);
  EXPECT_EQ(at(schedule, 1, 2, 4, 0), 1.5);
  EXPECT_EQ(at(schedule, 1, 2, 8, 0), 1);
}

TEST(NumberSchedule, MilestonesAreReachedOnce) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double milestones[] = {2, 5, 5, 9, infinity, infinity};
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_MULTI_STEP);
  schedule.gamma = gammas;
  schedule.milestones = milestones;
  schedule.milestone_count = 3;
  EXPECT_EQ(at(schedule, 0, 8, 1, 0), 8);
  EXPECT_EQ(at(schedule, 0, 8, 2, 0), 4);
  EXPECT_EQ(at(schedule, 0, 8, 5, 0), 1);
  EXPECT_EQ(at(schedule, 1, 8, 8, 0), 8);
  EXPECT_EQ(at(schedule, 1, 8, INT64_C(1) << 40, 0), 8 * 0.1);
}

TEST(NumberSchedule, RestartsOfGrowingPeriodsBeginAnew) {
  static const double period[] = {4}, growth[] = {2};
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_COSINE_RESTARTS);
  schedule.period = period;
  schedule.growth = growth;
  for (int64_t begin : {0, 4, 12, 28, 60})
    EXPECT_EQ(at(schedule, 0, 2, begin, 0), 2) << begin;
  EXPECT_EQ(at(schedule, 0, 2, 8, 0), 1);
  EXPECT_LT(at(schedule, 0, 2, 27, 0), 0.1);
}

TEST(NumberSchedule, PartsOfASequenceEndAtMilestones) {
  static const double milestones[] = {4}, start[] = {0}, end[] = {1};
  hfta_number_schedule parts[] = {make(HFTA_NUMBER_SCHEDULE_LINEAR),
                                  make(HFTA_NUMBER_SCHEDULE_COSINE)};
  parts[0].start = start;
  parts[0].end = end;
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_SEQUENCE);
  schedule.parts = parts;
  schedule.part_count = 2;
  schedule.milestones = milestones;
  schedule.milestone_count = 1;
  EXPECT_TRUE(hfta_number_schedule_needs_total(&schedule));
  EXPECT_EQ(at(schedule, 0, 2, 0, 9), 0);
  EXPECT_EQ(at(schedule, 0, 2, 3, 9), 1.5);
  EXPECT_EQ(at(schedule, 0, 2, 4, 9), 2);
  EXPECT_NEAR(at(schedule, 0, 2, 6, 9), 1, 1e-15);
  EXPECT_EQ(at(schedule, 0, 2, 8, 9), 0);
  parts[1].length = milestones;
  EXPECT_FALSE(hfta_number_schedule_needs_total(&schedule));
}

TEST(NumberSchedule, PartsOfAProductMultiply) {
  static const double warmup[] = {4}, gamma[] = {0.5};
  hfta_number_schedule parts[] = {make(HFTA_NUMBER_SCHEDULE_COSINE),
                                  make(HFTA_NUMBER_SCHEDULE_EXPONENTIAL)};
  parts[0].warmup = warmup;
  parts[1].gamma = gamma;
  hfta_number_schedule schedule = make(HFTA_NUMBER_SCHEDULE_PRODUCT);
  schedule.parts = parts;
  schedule.part_count = 2;
  EXPECT_TRUE(hfta_number_schedule_needs_total(&schedule));
  EXPECT_EQ(at(schedule, 0, 2, 0, 9), 0.5);
  EXPECT_EQ(at(schedule, 0, 2, 3, 9), 0.25);
  EXPECT_EQ(at(schedule, 0, 2, 4, 9), 0.125);
  EXPECT_NEAR(at(schedule, 0, 2, 6, 9), 1.0 / 64, 1e-16);
  parts[0].length = warmup;
  EXPECT_FALSE(hfta_number_schedule_needs_total(&schedule));
}

TEST(NumberSchedule, NamesAreThoseOfTheLanguage) {
  EXPECT_STREQ(hfta_number_schedule_name(HFTA_NUMBER_SCHEDULE_ONE_CYCLE),
               "one_cycle");
  EXPECT_STREQ(hfta_number_schedule_name(1000), "?");
}
