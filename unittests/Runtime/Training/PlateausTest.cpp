//===- PlateausTest.cpp - Schedules that follow validation scores ---------===//

#include "RuntimeTest.h"
#include "hfta/search.h"

extern "C" {
#include "training/plateaus.h"
}

#include <cmath>

namespace {

/// The factors that PyTorch's ReduceLROnPlateau reaches after each score, for a
/// learning rate of 0.1.
std::vector<double> follow(const std::vector<double> &scores,
                           const hfta_number_schedule &schedule,
                           uint32_t direction = HFTA_MINIMIZE) {
  hfta_plateau state = hfta_plateau_begin(direction);
  std::vector<double> factors;
  for (double score : scores) {
    hfta_plateau_note(&state, &schedule, 0, direction, 0.1, score);
    factors.push_back(state.factor);
  }
  return factors;
}

class Plateaus : public Train {
protected:
  Plateaus() {
    schedule.kind = HFTA_NUMBER_SCHEDULE_PLATEAU;
    schedule.factor = factor;
    schedule.patience = patience;
    schedule.threshold = threshold;
    schedule.cooldown = cooldown;
    schedule.minimum = minimum;
  }

  double factor[3] = {0.5, 0.5, 0.5}, patience[3] = {1, 1, 1},
         threshold[3] = {1e-4, 1e-4, 1e-4}, cooldown[3] = {0, 0, 0},
         minimum[3] = {0, 0, 0};
  hfta_number_schedule schedule = {};
};

} // namespace

using Factors = std::vector<double>;

TEST_F(Plateaus, ReduceAfterMoreBadScoresThanPatience) {
  EXPECT_EQ(follow({3, 2, 2, 2, 1, 1, 1, 1}, schedule),
            (Factors{1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25}));
}

TEST_F(Plateaus, NoScoreCountsInCooldown) {
  cooldown[0] = 2;
  EXPECT_EQ(follow({1, 1, 1, 1, 1, 1, 1, 1}, schedule),
            (Factors{1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25}));
}

TEST_F(Plateaus, ThresholdsAreSharesUnlessAbsolute) {
  patience[0] = 0;
  threshold[0] = 0.1;
  EXPECT_EQ(follow({2, 1.85, 1.7}, schedule), (Factors{1, 0.5, 0.5}));
  EXPECT_EQ(follow({2, 2.15, 2.3}, schedule, HFTA_MAXIMIZE),
            (Factors{1, 0.5, 0.5}));
  schedule.options = HFTA_SCHEDULE_ABSOLUTE;
  EXPECT_EQ(follow({2, 1.85, 1.8}, schedule), (Factors{1, 1, 0.5}));
  EXPECT_EQ(follow({2, 2.15, 2.2}, schedule, HFTA_MAXIMIZE),
            (Factors{1, 1, 0.5}));
}

TEST_F(Plateaus, NoNumberIsNoBetterScore) {
  EXPECT_EQ(follow({NAN, 1, NAN, NAN, NAN}, schedule),
            (Factors{1, 1, 1, 0.5, 0.5}));
}

TEST_F(Plateaus, FactorsStayAtTheirMinimum) {
  patience[0] = 0;
  minimum[0] = 0.3;
  EXPECT_EQ(follow({1, 1, 1, 1}, schedule), (Factors{1, 0.5, 0.3, 0.3}));
}

TEST_F(Plateaus, SmallChangesAreNotMade) {
  patience[0] = 0;
  factor[0] = 1e-7;
  EXPECT_EQ(follow({1, 1, 1}, schedule), (Factors{1, 1e-7, 1e-7}));
}

TEST_F(Plateaus, StatesAreSavedAndLoaded) {
  ProgramPointer program = makeProgram(defaultOptions());
  program->learning_rate = schedule;
  InstancePointer instance = makeInstance(program.get());
  hfta_error error;
  hfta_plateaus one, other;
  ASSERT_EQ(hfta_plateaus_open(&one, program.get(), &error), HFTA_OK);
  ASSERT_EQ(hfta_plateaus_open(&other, program.get(), &error), HFTA_OK);
  ASSERT_EQ(one.count, 3u);
  const bool runs[] = {true, false, true};
  const double losses[] = {1, 1, NAN};
  for (int i = 0; i < 3; ++i)
    hfta_plateaus_note(&one, instance.get(), runs, losses, nullptr);
  EXPECT_EQ(one.states[0].factor, 0.5);
  EXPECT_EQ(one.states[1].factor, 1);
  EXPECT_EQ(one.states[2].factor, 0.5);
  hfta_plateaus_apply(&one, instance.get());
  double rate, first;
  for (int64_t copy = 0; copy < 3; ++copy) {
    ASSERT_EQ(hfta_instance_learning_rate(instance.get(), copy, &rate),
              HFTA_OK);
    first = hfta_instance_hyper_parameter(instance.get(), copy, "lr");
    EXPECT_EQ(rate, first * one.states[copy].factor);
  }
  ASSERT_EQ(hfta_plateaus_save(&one, folder.root.c_str(), &error), HFTA_OK)
      << error.message;
  ASSERT_EQ(hfta_plateaus_load(&other, folder.root.c_str(), &error), HFTA_OK)
      << error.message;
  for (uint64_t i = 0; i < one.count; ++i)
    EXPECT_EQ(memcmp(&one.states[i], &other.states[i], sizeof(hfta_plateau)),
              0);
  // Other copies have other states.
  fake_options fewer = defaultOptions();
  fewer.copies = 2;
  ProgramPointer less = makeProgram(fewer);
  less->learning_rate = schedule;
  hfta_plateaus third;
  ASSERT_EQ(hfta_plateaus_open(&third, less.get(), &error), HFTA_OK);
  EXPECT_EQ(hfta_plateaus_load(&third, folder.root.c_str(), &error),
            HFTA_INVALID_INPUT);
  EXPECT_NE(std::string(error.message).find("of 2 copies"), std::string::npos)
      << error.message;
  hfta_plateaus_close(&one);
  hfta_plateaus_close(&other);
  hfta_plateaus_close(&third);
}

TEST_F(Plateaus, OtherSchedulesHaveNoState) {
  ProgramPointer program = makeProgram(defaultOptions());
  hfta_plateaus none;
  hfta_error error;
  ASSERT_EQ(hfta_plateaus_open(&none, program.get(), &error), HFTA_OK);
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(hfta_plateaus_save(&none, "/nowhere", &error), HFTA_OK);
  EXPECT_EQ(hfta_plateaus_load(&none, "/nowhere", &error), HFTA_OK);
  hfta_plateaus_close(&none);
}
