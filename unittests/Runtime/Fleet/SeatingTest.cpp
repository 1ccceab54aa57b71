//===- SeatingTest.cpp - Tests of which model gets which seat -------------===//

#include "gtest/gtest.h"

#include "hfta/forecast.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "fleet/seating.h"
}

namespace {

struct Model {
  int64_t steps;
  double seconds;
  bool spills = false;
};

/// Models that want a seat as long as they have steps left, and a simulated
/// clock.
class Seating {
public:
  Seating(hfta_scheduler scheduler, const std::vector<Model> &models,
          int64_t seats, int places = 1, bool areTimed = true)
      : models(models) {
    hfta_error error;
    EXPECT_EQ(hfta_seating_create(scheduler, int64_t(models.size()), seats,
                                  places, &state, &error),
              HFTA_OK);
    state.argument = this;
    state.promoted = [](void *self, int64_t model) {
      static_cast<Seating *>(self)->promoted.push_back(model);
    };
    for (size_t i = 0; i < models.size(); ++i) {
      state.models[i].steps_left = models[i].steps;
      state.models[i].spills = models[i].spills;
      if (areTimed) {
        state.models[i].step_seconds = models[i].seconds;
        state.models[i].timed_steps = 1;
        state.models[i].timed_seconds = models[i].seconds;
      }
    }
  }
  ~Seating() { hfta_seating_destroy(&state); }

  void waitAll() {
    for (size_t i = 0; i < models.size(); ++i)
      hfta_seating_wait(&state, int64_t(i), now);
  }

  /// Makes all models wait at the same time, so that the scheduler chooses
  /// among all of them.
  void waitTogether() {
    for (size_t i = 1; i < models.size(); ++i)
      state.models[i].state = HFTA_MODEL_WAITS;
    hfta_seating_wait(&state, 0, now);
  }

  /// Returns the model in the first place of each seat.
  std::vector<int64_t> sitting() const { return sittingAt(false); }
  std::vector<int64_t> beside() const { return sittingAt(true); }

  /// Runs a step of a model. Returns whether the model keeps its seat.
  bool step(int64_t model) {
    now += models[model].seconds;
    return hfta_seating_pass(&state, model, 1, NAN, now);
  }

  /// Runs all models to their ends, as if the first model of each seat computed
  /// all the time and others beside it didn't. Returns the end in seconds.
  double run() {
    waitTogether();
    for (;;) {
      int64_t best = HFTA_NOBODY;
      double end = 0;
      for (int64_t model : sitting())
        if (model != HFTA_NOBODY) {
          double own = state.models[model].since + models[model].seconds;
          if (best == HFTA_NOBODY || own < end) {
            best = model;
            end = own;
          }
        }
      if (best == HFTA_NOBODY)
        return now;
      now = end;
      bool stays = hfta_seating_pass(&state, best, 1, NAN, now);
      if (state.models[best].steps_left == 0)
        hfta_seating_leave(&state, best, true, now);
      else if (!stays)
        hfta_seating_wait(&state, best, now);
    }
  }

  hfta_seating state;
  double now = 0;
  std::vector<int64_t> promoted;

private:
  std::vector<int64_t> sittingAt(bool isBeside) const {
    std::vector<int64_t> result;
    for (int64_t i = 0; i < state.seat_count; ++i) {
      const hfta_seat_state &seat = state.seats[i];
      result.push_back(seat.models[isBeside ? !seat.first : seat.first]);
    }
    return result;
  }
  std::vector<Model> models;
};

using Models = std::vector<int64_t>;
constexpr int64_t none = HFTA_NOBODY;

} // namespace

TEST(Seating, TheLongestOnesSit) {
  Seating seating(HFTA_SCHEDULER_LRTF, {{10, 1}, {30, 1}, {20, 1}}, 2);
  // A model gets a seat as long as there are free ones.
  hfta_seating_wait(&seating.state, 0, 0);
  EXPECT_EQ(seating.sitting(), Models({0, none}));
  hfta_seating_wait(&seating.state, 1, 0);
  hfta_seating_wait(&seating.state, 2, 0);
  EXPECT_EQ(seating.sitting(), Models({0, 1}));
  // After the step, another model has more time left and takes the seat.
  EXPECT_FALSE(seating.step(0));
  EXPECT_EQ(seating.sitting(), Models({2, 1}));
  hfta_seating_wait(&seating.state, 0, seating.now);
  // If two models have equally much time left, the seated one stays.
  while (seating.state.models[2].steps_left > 9)
    EXPECT_TRUE(seating.step(2)) << seating.state.models[2].steps_left;
  EXPECT_FALSE(seating.step(2));
  EXPECT_EQ(seating.sitting(), Models({0, 1}));
}

TEST(Seating, ShortStepsAreOneUnit) {
  Seating seating(HFTA_SCHEDULER_LRTF, {{100, 0.001}, {100, 0.001}}, 1);
  seating.waitAll();
  int steps = 1;
  while (seating.step(0))
    ++steps;
  EXPECT_NEAR(steps, HFTA_UNIT_SECONDS / 0.001, 1.5);
  EXPECT_EQ(seating.sitting(), Models({1}));
}

TEST(Seating, ModelsThatWereNeverTimedGoFirst) {
  Seating seating(HFTA_SCHEDULER_LRTF, {{5, 1}, {500, 1}, {1, 1}}, 1, 1, false);
  seating.waitAll();
  Models order;
  for (int i = 0; i < 6; ++i) {
    int64_t model = seating.sitting()[0];
    order.push_back(model);
    bool stays = seating.step(model);
    if (seating.state.models[model].steps_left == 0)
      hfta_seating_leave(&seating.state, model, true, seating.now);
    else if (!stays)
      hfta_seating_wait(&seating.state, model, seating.now);
  }
  // Each model is timed twice, because its very first step doesn't count.
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, Models({0, 1, 1, 1, 1, 2}));
  EXPECT_NEAR(hfta_model_remaining(&seating.state.models[1]), 496, 1e-9);
}

TEST(Seating, EachSchedulerHasItsOrder) {
  std::vector<Model> models{{10, 1}, {5, 1}, {20, 1}};
  auto getNext = [&](hfta_scheduler scheduler) {
    Seating seating(scheduler, models, 1);
    seating.state.models[0].state = HFTA_MODEL_WAITS;
    seating.state.models[1].state = HFTA_MODEL_WAITS;
    hfta_seating_wait(&seating.state, 2, 0);
    return seating.sitting()[0];
  };
  EXPECT_EQ(getNext(HFTA_SCHEDULER_LRTF), 2);
  EXPECT_EQ(getNext(HFTA_SCHEDULER_FIFO), 0);
  EXPECT_EQ(getNext(HFTA_SCHEDULER_SRTF), 1);
  // Two runs with the same scheduler are equal, even with the random one, and
  // run all models to their ends.
  for (hfta_scheduler scheduler :
       {HFTA_SCHEDULER_RANDOM, HFTA_SCHEDULER_FIFO, HFTA_SCHEDULER_SRTF,
        HFTA_SCHEDULER_LRTF, HFTA_SCHEDULER_MODEL_PARALLEL}) {
    Seating one(scheduler, models, 2), other(scheduler, models, 2);
    double seconds = one.run();
    EXPECT_EQ(seconds, other.run()) << hfta_scheduler_name(scheduler);
    EXPECT_GE(seconds, 20.0);
  }
}

TEST(Seating, ModelParallelismUsesOneSeatAtATime) {
  Seating seating(HFTA_SCHEDULER_MODEL_PARALLEL,
                  {{3, 1, true}, {4, 1, true}, {2, 1}}, 4, 2);
  seating.waitAll();
  EXPECT_EQ(seating.sitting(), Models({0, none, none, none}));
  EXPECT_EQ(seating.beside(), Models({none, none, none, none}));
  Seating other(HFTA_SCHEDULER_MODEL_PARALLEL, {{3, 1}, {4, 1}, {2, 1}}, 4);
  EXPECT_EQ(other.run(), 9.0);
}

TEST(Seating, WhoSpillsSitsBesideAnotherMeanwhile) {
  Seating seating(HFTA_SCHEDULER_LRTF,
                  {{50, 1, true}, {40, 1, true}, {45, 1}, {30, 1, true}}, 1, 2);
  seating.waitAll();
  EXPECT_EQ(seating.sitting(), Models({0}));
  // A model that reads nothing from the store isn't seated in the second place.
  EXPECT_EQ(seating.beside(), Models({1}));
  hfta_seating_leave(&seating.state, 1, false, 0);
  EXPECT_EQ(seating.beside(), Models({3}));
  // When the model in the first place leaves, the one beside it takes the first
  // place.
  hfta_seating_leave(&seating.state, 0, true, 0);
  EXPECT_EQ(seating.promoted, Models({3}));
  EXPECT_EQ(seating.sitting(), Models({3}));
  EXPECT_EQ(seating.beside(), Models({none}));
  hfta_seating_wait(&seating.state, 1, 0);
  EXPECT_EQ(seating.beside(), Models({1}));
  // The model that can't use the second place has had more time left than model
  // 3, but waits for the first place until model 3 has run a step.
  EXPECT_FALSE(seating.step(3));
  EXPECT_EQ(seating.promoted, Models({3, 1}));
}

TEST(Seating, TwoPartWhereThereIsAnEmptySeat) {
  Seating seating(HFTA_SCHEDULER_LRTF,
                  {{50, 0.001, true}, {40, 0.001, true}, {1, 0.001, true}}, 2,
                  2);
  seating.waitAll();
  EXPECT_EQ(seating.beside(), Models({2, none}));
  hfta_seating_leave(&seating.state, 1, true, 0);
  // A seat is empty, so the unit ends early, to let the two models separate.
  EXPECT_FALSE(seating.step(0));
  EXPECT_EQ(seating.sitting(), Models({2, none}));
  hfta_seating_wait(&seating.state, 0, seating.now);
  EXPECT_EQ(seating.sitting(), Models({2, 0}));
}

TEST(Seating, ReadingIsWorthAStepsPatience) {
  for (bool spills : {false, true}) {
    Seating seating(HFTA_SCHEDULER_LRTF, {{10, 1, spills}, {10, 1, spills}}, 1);
    seating.waitAll();
    EXPECT_EQ(seating.step(0), spills);
    if (spills)
      EXPECT_FALSE(seating.step(0));
  }
}

TEST(Seating, WhoIsALittleBehindStays) {
  // A seated model stays until it is behind by more than 1/32 of the time that
  // all models have left, here 2.5 s of 80 s.
  Seating seating(HFTA_SCHEDULER_LRTF, {{40, 1}, {40, 1}}, 1);
  seating.waitAll();
  EXPECT_TRUE(seating.step(0));
  EXPECT_TRUE(seating.step(0));
  EXPECT_FALSE(seating.step(0));
  EXPECT_EQ(seating.sitting(), Models({1}));
}

TEST(Seating, AModelComesBackToWhereItsBytesAre) {
  Seating seating(HFTA_SCHEDULER_FIFO, {{9, 1, true}, {9, 1, true}}, 2, 2);
  hfta_seating_wait(&seating.state, 1, 0);
  hfta_seating_wait(&seating.state, 0, 0);
  EXPECT_EQ(seating.sitting(), Models({1, 0}));
  hfta_seating_leave(&seating.state, 0, false, 0);
  hfta_seating_leave(&seating.state, 1, false, 0);
  hfta_seating_wait(&seating.state, 0, 0);
  EXPECT_EQ(seating.sitting(), Models({none, 0}));
  EXPECT_EQ(seating.state.seats[1].last[0], 0);
}

TEST(Seating, WhoSharesASeatTakesWhatItComputes) {
  Seating seating(HFTA_SCHEDULER_FIFO, {{50, 1, true}, {40, 1, true}}, 1, 2,
                  false);
  hfta_seating_wait(&seating.state, 0, 0);
  const hfta_model_seating *models = seating.state.models;
  EXPECT_TRUE(hfta_seating_pass(&seating.state, 0, 1, 0.25, 4));
  EXPECT_EQ(models[0].step_seconds, 4);
  hfta_seating_wait(&seating.state, 1, 5);
  EXPECT_TRUE(hfta_seating_pass(&seating.state, 0, 1, 2, 8));
  EXPECT_TRUE(hfta_seating_pass(&seating.state, 1, 1, 3, 9));
  EXPECT_EQ(models[0].step_seconds, 2);
  EXPECT_EQ(models[1].step_seconds, 3);
  EXPECT_EQ(models[0].all_steps, 2);
  EXPECT_EQ(models[0].all_seconds, 6);
  EXPECT_EQ(models[1].all_seconds, 3);
}

TEST(Seating, OfModelsThatWereNeverTimedTheLongestExpectedIsFirst) {
  for (auto [scheduler, first] :
       {std::pair(HFTA_SCHEDULER_LRTF, 1), std::pair(HFTA_SCHEDULER_EXACT, 1),
        std::pair(HFTA_SCHEDULER_SRTF, 2), std::pair(HFTA_SCHEDULER_FIFO, 0)}) {
    Seating seating(scheduler, {{10, 1}, {20, 1}, {5, 1}}, 1, 1, false);
    for (int i = 0; i < 3; ++i)
      seating.state.models[i].expected_seconds = 0.5;
    seating.waitTogether();
    EXPECT_EQ(seating.sitting()[0], first) << hfta_scheduler_name(scheduler);
  }
}

TEST(Seating, ExactTakesNoSeatBeforeItMust) {
  // Any schedule takes at least 15 s. Two models keep their seats until the
  // third one must be seated to end in time.
  Seating seating(HFTA_SCHEDULER_EXACT, {{10, 1}, {10, 1}, {10, 1}}, 2);
  seating.waitTogether();
  for (int step = 0; step < 4; ++step) {
    EXPECT_TRUE(seating.step(0));
    seating.now -= 1; // as both models run at the same time
    EXPECT_EQ(seating.step(1), step < 3);
  }
  EXPECT_EQ(seating.sitting(), Models({0, 2}));
}

TEST(Seating, ExactIsTheLeastButForAStep) {
  std::mt19937_64 random(11);
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<Model> models;
    for (int64_t count = 2 + int64_t(random() % 6); count > 0; --count)
      models.push_back(
          {int64_t(50 + random() % 100), double(4 + random() % 28) / 64});
    Seating seating(HFTA_SCHEDULER_EXACT, models, 1 + int64_t(random() % 3));
    double bound = hfta_seating_bound(&seating.state);
    double longest = 0;
    for (const Model &model : models)
      longest = std::max(longest, model.seconds);
    double seconds = seating.run();
    EXPECT_LE(seconds, bound + 3 * longest);
    worst = std::max(worst, seconds / bound);
  }
  EXPECT_LE(worst, 1.02);
}

TEST(Forecast, IsOfAllJobsOrNone) {
  hfta_expected_job jobs[] = {
      {10, 1, false, 1}, {10, 1, true, 0}, {10, 1, false, 1}};
  hfta_forecast forecast = {-1, -1, -1};
  ASSERT_TRUE(hfta_forecast_jobs(jobs, 3, 2, &forecast));
  EXPECT_EQ(forecast.one_seat, 30);
  EXPECT_EQ(forecast.bound, 15);
  EXPECT_NEAR(forecast.makespan, 15.5, 0.6);
  ASSERT_TRUE(hfta_forecast_jobs(jobs, 3, 8, &forecast));
  EXPECT_EQ(forecast.makespan, 10);
  // A job's groups may run at several seats at the same time: with two seats,
  // half of the work at each; with three or more, one group at each.
  jobs[1].groups = 2;
  ASSERT_TRUE(hfta_forecast_jobs(jobs, 3, 8, &forecast));
  EXPECT_EQ(forecast.makespan, 10);
  hfta_expected_job grouped = {30, 1, true, 3};
  for (auto [seats, seconds] :
       {std::pair(1, 30.0), std::pair(2, 15.0), std::pair(8, 10.0)}) {
    ASSERT_TRUE(hfta_forecast_jobs(&grouped, 1, seats, &forecast));
    EXPECT_NEAR(forecast.makespan, seconds, 1e-9);
    EXPECT_EQ(forecast.one_seat, 30);
  }
  jobs[1].groups = 1;
  // The first job has nothing to do.
  jobs[0].steps = 0;
  ASSERT_TRUE(hfta_forecast_jobs(jobs, 3, 1, &forecast));
  EXPECT_EQ(forecast.makespan, 20);
  for (hfta_expected_job unknown :
       {hfta_expected_job{-1, 1, false, 1}, hfta_expected_job{10, 0, false, 1},
        hfta_expected_job{10, NAN, false, 1}}) {
    jobs[1] = unknown;
    EXPECT_FALSE(hfta_forecast_jobs(jobs, 3, 2, &forecast));
  }
  EXPECT_EQ(forecast.makespan, 20);
}

TEST(Seating, ForecastsAreWhatHappens) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50; ++i) {
    std::vector<Model> models;
    for (int64_t count = 2 + int64_t(random() % 6); count > 0; --count)
      models.push_back({int64_t(1 + random() % 60),
                        double(13 + random() % 64) / 64, // exact in binary

                        random() % 2 == 0});
    int64_t seats = 1 + int64_t(random() % 3);
    for (hfta_scheduler scheduler :
         {HFTA_SCHEDULER_LRTF, HFTA_SCHEDULER_FIFO, HFTA_SCHEDULER_SRTF,
          HFTA_SCHEDULER_EXACT, HFTA_SCHEDULER_MODEL_PARALLEL}) {
      Seating seating(scheduler, models, seats, 2);
      double forecast = hfta_seating_forecast(&seating.state);
      double bound = hfta_seating_bound(&seating.state);
      EXPECT_NEAR(forecast, seating.run(), 1e-9);
      EXPECT_GE(forecast, bound - 1e-9);
      if (scheduler == HFTA_SCHEDULER_LRTF) {
        double longest = 0;
        for (const Model &model : models)
          longest = std::max(longest, model.seconds);
        EXPECT_LE(forecast, bound + 7 * longest);
      }
    }
  }
  Seating unknown(HFTA_SCHEDULER_LRTF, {{1, 1}, {1, 1}}, 1, 1, false);
  EXPECT_TRUE(std::isnan(hfta_seating_forecast(&unknown.state)));
  // One model is still being created, so its length isn't known yet.
  Seating begun(HFTA_SCHEDULER_LRTF, {{5, 1}, {5, 1}}, 2);
  begun.state.models[1].steps_left = -1;
  begun.state.models[1].step_seconds = NAN;
  hfta_seating_wait(&begun.state, 1, 0);
  EXPECT_TRUE(std::isnan(hfta_seating_forecast(&begun.state)));
  begun.state.models[1].steps_left = 0;
  EXPECT_EQ(hfta_seating_forecast(&begun.state), 5.0);
}
