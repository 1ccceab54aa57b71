//===- FleetTest.cpp - Several trainings on several seats -----------------===//

#include "RuntimeTest.h"

#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

extern "C" {
#include "fleet/fleet.h"
#include "instance/instance_impl.h"
#include "instance/parts.h"
#include "schedule/create.h"
#include "workload/workload.h"
}

namespace {

constexpr int kSteps = 12;

/// Makes different models: one whose copies stay in memory, and three that
/// spill, one of which takes turns.
std::vector<fake_options> makeModels() {
  std::vector<fake_options> models(4, defaultOptions());
  models[0].copies = 2;
  models[1].copies = 3;
  models[1].spilled_copies = 3;
  models[2].copies = 5;
  models[2].takes_turns = true;
  models[2].spilled_copies = 2;
  models[3].copies = 1;
  models[3].micro_batches = 4;
  models[3].spilled_copies = 1;
  return models;
}

struct Fleet {
  explicit Fleet(const std::vector<fake_options> &models, int64_t seats,
                 hfta_scheduler scheduler = HFTA_SCHEDULER_LRTF) {
    for (const fake_options &model : models) {
      programs.push_back(makeProgram(model));
      trainings.push_back(hfta_fleet_take_part(programs.back().get(), 1, 0));
    }
    options.trainings = trainings.data();
    options.models = int64_t(models.size());
    options.seats = seats;
    options.threads = 1;
    options.scheduler = scheduler;
    options.memory = UINT64_MAX;
    options.done_argument = this;
    options.done = [](void *self, const hfta_unit *unit) {
      static_cast<Fleet *>(self)->units.push_back(*unit);
    };
  }
  ~Fleet() { hfta_fleet_close(fleet); }

  void open() {
    hfta_error error;
    ASSERT_EQ(hfta_fleet_open(&options, &fleet, &error), HFTA_OK)
        << error.message;
  }

  std::vector<ProgramPointer> programs;
  std::vector<hfta_fleet_training> trainings;
  hfta_fleet_options options = {};
  hfta_fleet *fleet = nullptr;
  std::vector<hfta_unit> units;
};

InstancePointer createAt(const hfta_program *program, const hfta_seat *seat) {
  hfta_workload workload = hfta_workload_of_all(program);
  workload.seat = seat;
  hfta_options options = {};
  options.spill_directory = HFTA_DISK_FOLDER;
  hfta_instance *instance = nullptr;
  EXPECT_EQ(hfta_instance_create_for(program, &workload, &options, &instance),
            HFTA_OK);
  return {instance, hfta_instance_destroy};
}

/// Trains a model through a fleet in the way that the trainer does. Returns the
/// states of its copies; nothing if it was stopped.
std::vector<std::string> trainAt(hfta_fleet_model *model,
                                 const hfta_program *program, int steps) {
  const hfta_seat *seat = hfta_fleet_sit(model, HFTA_UNIT_START);
  if (!seat)
    return {};
  InstancePointer instance = createAt(program, seat);
  hfta_fleet_set_instance(model, instance.get());
  hfta_fleet_stand_up(model);
  hfta_fleet_expect(model, 0, steps);
  int done = 0;
  for (; done < steps && hfta_fleet_begin(model, HFTA_UNIT_STEPS); ++done) {
    Batch batch{unsigned(done)};
    EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
              HFTA_OK);
    hfta_fleet_pass(model, 1);
    if (done % 5 == 0)
      hfta_fleet_stand_up(model);
  }
  std::vector<std::string> states;
  for (int64_t copy = 0; copy < program->copies && done == steps; ++copy)
    states.push_back(stateOf(instance.get(), copy));
  hfta_fleet_set_instance(model, nullptr);
  return states;
}

std::vector<std::vector<std::string>> trainAll(Fleet &fleet, int steps) {
  std::vector<std::vector<std::string>> states(fleet.programs.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < fleet.programs.size(); ++i)
    threads.emplace_back([&, i] {
      hfta_fleet_model *model = hfta_fleet_get(fleet.fleet, int64_t(i));
      states[i] = trainAt(model, fleet.programs[i].get(), steps);
      hfta_fleet_quit(model);
    });
  for (std::thread &thread : threads)
    thread.join();
  return states;
}

} // namespace

TEST(Fleet, EachModelHasTheBytesThatItHasAlone) {
  std::vector<fake_options> models = makeModels();
  std::vector<std::vector<std::string>> alone;
  for (fake_options model : models) {
    model.spilled_copies = 0;
    alone.push_back(train(model, 1, kSteps));
  }
  for (int64_t seats : {1, 2, 3, 4})
    for (int scheduler = 0; scheduler < HFTA_SCHEDULER_COUNT; ++scheduler) {
      Fleet fleet(models, seats, hfta_scheduler(scheduler));
      fleet.open();
      EXPECT_EQ(trainAll(fleet, kSteps), alone)
          << seats << hfta_scheduler_name(hfta_scheduler(scheduler));
    }
}

namespace {
/// Returns the options of the model of makeModels() whose copies take turns.
fake_options makeGroups() { return makeModels()[2]; }

/// Creates the instance of a part, with the part's copies only.
InstancePointer createPart(const hfta_fleet_training &training,
                           const hfta_seat *seat) {
  hfta_workload workload = hfta_fleet_workload(&training);
  workload.seat = seat;
  hfta_options options = {};
  options.spill_directory = HFTA_DISK_FOLDER;
  hfta_instance *instance = nullptr;
  EXPECT_EQ(hfta_instance_create_for(training.program, &workload, &options,
                                     &instance),
            HFTA_OK);
  return {instance, hfta_instance_destroy};
}
} // namespace

TEST(FleetTraining, GroupsAreDealtOut) {
  ProgramPointer program = makeProgram(makeGroups());
  EXPECT_EQ(hfta_program_group_count(program.get()), 3);
  EXPECT_EQ(hfta_fleet_count_parts(program.get(), 2), 2);
  EXPECT_EQ(hfta_fleet_count_parts(program.get(), 9), 3);
  // The program's five copies take turns of two, so they form three groups.
  for (int64_t count = 1; count <= 3; ++count) {
    int64_t next = 0;
    for (int64_t i = 0; i < count; ++i) {
      hfta_fleet_training part = hfta_fleet_take_part(program.get(), count, i);
      EXPECT_EQ(part.first_copy, next);
      EXPECT_GT(part.copies, 0);
      EXPECT_EQ(part.first_copy % 2, 0);
      next += part.copies;
    }
    EXPECT_EQ(next, 5);
  }
  // Each part spills only the bytes of its own copies.
  hfta_workload whole = hfta_workload_of_all(program.get());
  hfta_spilled_extents all =
      hfta_workload_spills(program.get(), &whole, nullptr);
  uint64_t bytes = 0;
  for (int64_t i = 0; i < 3; ++i) {
    hfta_fleet_training part = hfta_fleet_take_part(program.get(), 3, i);
    hfta_workload own = hfta_fleet_workload(&part);
    std::vector<uint64_t> extents(all.count);
    hfta_spilled_extents spilled =
        hfta_workload_spills(program.get(), &own, extents.data());
    EXPECT_EQ(spilled.count, all.count);
    EXPECT_EQ(std::accumulate(extents.begin(), extents.end(), uint64_t(0)),
              spilled.bytes);
    bytes += spilled.bytes;
  }
  EXPECT_EQ(bytes, all.bytes);
  EXPECT_STREQ(hfta_fleet_take_part(program.get(), 1, 0).name, "fake");
  EXPECT_STREQ(hfta_fleet_take_part(program.get(), 3, 2).name,
               "fake, copies 4 to 4");
  for (int number : {0, 1, 3}) {
    ProgramPointer one = makeProgram(makeModels()[number]);
    EXPECT_EQ(hfta_program_group_count(one.get()), 1) << number;
  }
}

TEST(FleetTraining, PartsAreOneBetweenSteps) {
  fake_options alone = makeGroups();
  alone.spilled_copies = 0;
  std::vector<std::string> expected = train(alone, 1, kSteps);
  for (int64_t count : {2, 3}) {
    ProgramPointer program = makeProgram(makeGroups());
    std::vector<fake_options> models(size_t(count), makeGroups());
    Fleet fleet(models, count);
    for (int64_t i = 0; i < count; ++i)
      fleet.trainings[i] = hfta_fleet_take_part(program.get(), count, i);
    fleet.open();
    std::vector<InstancePointer> parts;
    std::vector<hfta_instance *> pointers;
    for (int64_t i = 0; i < count; ++i) {
      const hfta_seat *seat =
          hfta_fleet_sit(hfta_fleet_get(fleet.fleet, i), HFTA_UNIT_START);
      parts.push_back(createPart(fleet.trainings[i], seat));
      pointers.push_back(parts.back().get());
    }
    // Each part has a seat of its own.
    for (int step = 0; step < kSteps; ++step)
      for (hfta_instance *part : pointers) {
        Batch batch{unsigned(step)};
        EXPECT_EQ(hfta_instance_step(part, batch.inputs, nullptr), HFTA_OK);
      }
    hfta_instance *first = pointers[0];
    ASSERT_EQ(hfta_instance_join_parts(pointers.data(), uint32_t(count)),
              HFTA_OK);
    for (int64_t copy = 0; copy < program->copies; ++copy) {
      EXPECT_EQ(stateOf(first, copy), expected[copy]) << count << ' ' << copy;
      EXPECT_TRUE(hfta_instance_live(first)[copy]);
      EXPECT_EQ(hfta_instance_part_of(first, copy)->workload.first_copy <= copy,
                true);
    }
    hfta_instance_set_steps(first, 3);
    hfta_instance_set_total_steps(first, 70);
    for (hfta_instance *part : pointers) {
      EXPECT_EQ(hfta_instance_steps(part), 3);
      EXPECT_EQ(part->total_steps, 70);
    }
    for (int64_t i = 0; i < count; ++i)
      hfta_fleet_quit(hfta_fleet_get(fleet.fleet, i));
    while (!parts.empty())
      parts.pop_back();
  }
}

TEST(Fleet, TellsEachUnit) {
  std::vector<fake_options> models = makeModels();
  Fleet fleet(models, 2);
  fleet.open();
  trainAll(fleet, kSteps);
  std::vector<int64_t> next(models.size(), 0);
  double begin = INFINITY, end = 0;
  for (const hfta_unit &unit : fleet.units) {
    EXPECT_LE(unit.begin, unit.end);
    EXPECT_LT(unit.seat, 2);
    begin = std::min(begin, unit.begin);
    end = std::max(end, unit.end);
    if (unit.kind != HFTA_UNIT_STEPS) {
      EXPECT_EQ(unit.steps, 0);
      continue;
    }
    EXPECT_EQ(unit.first_step, next[unit.model]);
    next[unit.model] += unit.steps;
  }
  EXPECT_EQ(next, std::vector<int64_t>(models.size(), kSteps));
  hfta_fleet_summary summary = hfta_fleet_summarize(fleet.fleet);
  EXPECT_NEAR(summary.seconds, end - begin, 0.01);
  EXPECT_GT(summary.busy, 0);
  EXPECT_LE(summary.busy, 1.0);
  EXPECT_GE(summary.forecast, summary.bound);
}

/// The units that a place of a seat runs never overlap.
TEST(Fleet, OnePlaceIsOneModels) {
  Fleet fleet(makeModels(), 2);
  fleet.open();
  trainAll(fleet, kSteps);
  for (const hfta_unit &one : fleet.units)
    for (const hfta_unit &other : fleet.units)
      if (&one != &other && one.seat == other.seat && one.place == other.place)
        EXPECT_TRUE(one.end <= other.begin || other.end <= one.begin);
}

TEST(Fleet, ModelParallelismIsOneAfterTheOther) {
  Fleet fleet(makeModels(), 3, HFTA_SCHEDULER_MODEL_PARALLEL);
  fleet.open();
  trainAll(fleet, kSteps);
  for (const hfta_unit &one : fleet.units)
    for (const hfta_unit &other : fleet.units)
      if (&one != &other)
        EXPECT_TRUE(one.end <= other.begin || other.end <= one.begin);
}

TEST(Fleet, StopsWhoeverWaits) {
  Fleet fleet(makeModels(), 1);
  std::atomic<bool> stops{false};
  fleet.options.should_stop = [](void *argument) {
    return static_cast<std::atomic<bool> *>(argument)->load();
  };
  fleet.options.should_stop_argument = &stops;
  fleet.open();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stops = true;
  });
  for (const std::vector<std::string> &states : trainAll(fleet, 1 << 30))
    EXPECT_EQ(states.size(), 0u);
  stopper.join();
}

TEST(Fleet, CountsItsMemory) {
  Fleet fleet(makeModels(), 3);
  hfta_fleet_options options = fleet.options;
  hfta_fleet_memory both = hfta_fleet_plan_memory(&options);
  EXPECT_EQ(both.places, 2);
  EXPECT_GT(both.arena, 0u);
  EXPECT_EQ(both.all, both.models + 3 * (both.seat + both.arena));
  // Without memory for two places per seat, each seat has one.
  options.memory = both.all - 1;
  hfta_fleet_memory one = hfta_fleet_plan_memory(&options);
  EXPECT_EQ(one.places, 1);
  EXPECT_EQ(one.all, one.models + 3 * one.seat);
  fleet.options.memory = one.all;
  fleet.open();
  trainAll(fleet, 3);
  for (const hfta_unit &unit : fleet.units)
    EXPECT_EQ(unit.place, 0);
  options.memory = one.all - 1;
  hfta_fleet *none;
  hfta_error error;
  EXPECT_EQ(hfta_fleet_open(&options, &none, &error), HFTA_UNSUPPORTED);
  EXPECT_EQ(none, nullptr);
  EXPECT_NE(
      std::string(error.message).find("together " + std::to_string(one.all)),
      std::string::npos)
      << error.message;
  // If nothing spills, a second place would be of no use.
  Fleet resident({defaultOptions()}, 1);
  EXPECT_EQ(hfta_fleet_plan_memory(&resident.options).places, 1);
}

TEST(Fleet, NothingIsNeededOfATrainingByItself) {
  EXPECT_TRUE(hfta_fleet_begin(nullptr, HFTA_UNIT_STEPS));
  hfta_fleet_expect(nullptr, 0, 1);
  hfta_fleet_pass(nullptr, 1);
  hfta_fleet_set_instance(nullptr, nullptr);
  hfta_fleet_stand_up(nullptr);
  hfta_fleet_quit(nullptr);
  hfta_fleet_close(nullptr);
}
