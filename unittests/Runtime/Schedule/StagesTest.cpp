//===- StagesTest.cpp - Workers of several stages in one process ----------===//

#include "FakeStages.h"
#include "RuntimeTest.h"

#include <cmath>
#include <cstring>
#include <set>

extern "C" {
#include "instance/instance_impl.h"
#include "schedule/create.h"
#include "trace/trace.h"
#include "workload/memory_plan.h"
}

namespace {

/// The losses and the final weights of a training.
struct Outcomes {
  std::vector<double> losses, weights;
  bool operator==(const Outcomes &other) const {
    return losses == other.losses && weights == other.weights;
  }
};

InstancePointer create(const FakeStages &program, int threads = 2) {
  hfta_error error = {};
  hfta_options options = {};
  options.threads = threads;
  options.error = &error;
  hfta_instance *instance = nullptr;
  EXPECT_EQ(hfta_instance_create(program.get(), &options, &instance), HFTA_OK)
      << error.message;
  return InstancePointer(instance, hfta_instance_destroy);
}

std::vector<double> readWeights(hfta_instance *instance, int stages) {
  std::vector<double> all;
  for (int stage = 0; stage < stages; ++stage)
    for (int64_t copy = 0; copy < FakeStages::copies; ++copy) {
      std::string name = "weight." + std::to_string(stage);
      hfta_tensor_info info;
      EXPECT_EQ(hfta_instance_tensor(instance, copy, name.c_str(), &info),
                HFTA_OK)
          << hfta_instance_message(instance);
      const double *values = static_cast<const double *>(info.data);
      all.insert(all.end(), values, values + FakeStages::width);
    }
  return all;
}

/// Trains for four steps; then evaluates a full batch and two partly filled
/// ones.
Outcomes train(const FakeStages &program, int stages, int threads = 2) {
  Outcomes run;
  InstancePointer instance = create(program, threads);
  if (!instance)
    return run;
  double losses[FakeStages::copies];
  for (int step = 0; step < 4; ++step) {
    std::vector<double> batch = program.makeBatch(step);
    const void *inputs[] = {batch.data()};
    EXPECT_EQ(hfta_instance_step(instance.get(), inputs, losses), HFTA_OK)
        << hfta_instance_message(instance.get());
    run.losses.insert(run.losses.end(), losses, losses + FakeStages::copies);
  }
  std::vector<double> batch = program.makeBatch(9);
  const void *inputs[] = {batch.data()};
  for (int64_t valid : {program.get()->batch, program.get()->batch - 1,
                        static_cast<int64_t>(1)}) {
    EXPECT_EQ(
        hfta_instance_evaluate(instance.get(), inputs, valid, losses, nullptr),
        HFTA_OK)
        << hfta_instance_message(instance.get());
    run.losses.insert(run.losses.end(), losses, losses + FakeStages::copies);
  }
  run.weights = readWeights(instance.get(), stages);
  return run;
}

/// Trains the chain as a single stage on one worker.
Outcomes trainUncut(StagesOptions options) {
  options.isUncut = true;
  FakeStages program(options);
  return train(program, static_cast<int>(options.replicas.size()));
}

void expectAsUncut(const StagesOptions &options) {
  FakeStages program(options);
  Outcomes run = train(program, static_cast<int>(options.replicas.size()));
  EXPECT_EQ(run, trainUncut(options));
  for (double value : run.losses)
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Stages, TwoComputeWhatOneDoes) {
  StagesOptions options;
  options.replicas = {1, 1};
  expectAsUncut(options);
}

TEST(Stages, ThreeComputeWhatOneDoesThoughAValueSkipsOne) {
  StagesOptions options;
  options.replicas = {1, 1, 1};
  options.microBatches = 7;
  options.inFlight = 3;
  expectAsUncut(options);
}

TEST(Stages, ReplicasShareUnevenMicroBatches) {
  for (std::vector<int64_t> replicas :
       {std::vector<int64_t>{2, 1}, {1, 2}, {2, 1, 3}, {3, 2, 2}})
    for (int64_t microBatches : {6, 7, 8}) {
      StagesOptions options;
      options.replicas = replicas;
      options.microBatches = microBatches;
      options.groups = 6;
      expectAsUncut(options);
    }
}

TEST(Stages, EachHasAsManyGroupsAsReplicas) {
  StagesOptions options;
  options.replicas = {2, 1};
  options.microBatches = 5;
  FakeStages program(options);
  InstancePointer instance = create(program);
  ASSERT_NE(instance, nullptr);
  ASSERT_EQ(instance->worker_count, 3u);
  EXPECT_EQ(instance->workers[0].share.micro_batch_count, 3);
  EXPECT_EQ(instance->workers[1].share.micro_batch_count, 2);
  EXPECT_EQ(instance->workers[2].share.micro_batch_count, 5);
  Outcomes run = train(program, 2), other = train(program, 2, 1);
  EXPECT_EQ(run, other);
  EXPECT_FALSE(run == trainUncut(options)); // because it adds up other groups
}

TEST(Stages, AnyOrderGivesTheSame) {
  StagesOptions options;
  options.replicas = {1, 1};
  options.microBatches = 3;
  options.inFlight = 3;
  Outcomes uncut = trainUncut(options);
  std::vector<hfta_action> forwardsFirst = {{FORWARD, 0},  {FORWARD, 1},
                                            {FORWARD, 2},  {BACKWARD, 0},
                                            {BACKWARD, 1}, {BACKWARD, 2}};
  std::vector<hfta_action> inTurn = {{FORWARD, 0}, {BACKWARD, 0},
                                     {FORWARD, 1}, {BACKWARD, 1},
                                     {FORWARD, 2}, {BACKWARD, 2}};
  for (const std::vector<hfta_action> &first : {forwardsFirst, inTurn})
    for (const std::vector<hfta_action> &second : {forwardsFirst, inTurn}) {
      // The order of messages between two workers is fixed. So the first stage
      // may not wait for a backward that the second stage does only after more
      // forwards.
      options.orders = {first, second};
      if (first.data()[1].which == BACKWARD &&
          second.data()[1].which == FORWARD)
        continue;
      FakeStages program(options);
      EXPECT_EQ(train(program, 2), uncut);
    }
}

TEST(Stages, MessagesMayComeAhead) {
  for (std::vector<int64_t> replicas :
       {std::vector<int64_t>{1, 1, 1}, {2, 1, 1}, {1, 2, 1}}) {
    StagesOptions options;
    options.replicas = replicas;
    options.microBatches = 7;
    options.groups = 2;
    options.inFlight = 4;
    options.receivesAhead = true;
    expectAsUncut(options);
  }
}

TEST(Stages, WorkersHaveMemoryForWhatTheyTouch) {
  StagesOptions options;
  options.replicas = {2, 1};
  options.microBatches = 4;
  FakeStages program(options);
  InstancePointer instance = create(program);
  ASSERT_NE(instance, nullptr);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < instance->worker_count; ++i) {
    const hfta_worker &worker = instance->workers[i];
    int stage = i < 2 ? 0 : 1;
    EXPECT_EQ(worker.workload.stage, stage);
    for (uint32_t s = 0; s < program.get()->segment_count; ++s) {
      const hfta_segment &segment = program.segments[s];
      const hfta_segment_memory &memory = worker.memory[s];
      bytes += memory.bytes * memory.count;
      std::string name = segment.name;
      if (name == "parameters.0" || name == "cut.1")
        EXPECT_GT(memory.count, 0u) << name;
      else if (name == "received.1" || name == "received.results")
        EXPECT_EQ(memory.count, 0u) << name; // the stage has one replica
      else if (segment.stage >= 0 && name.find("difference") != 0)
        EXPECT_EQ(memory.count > 0, segment.stage == stage)
            << name << " of worker " << i;
    }
  }
  hfta_memory_plan plan = hfta_instance_memory(instance.get());
  // The memory for batches that are read ahead is counted separately.
  EXPECT_EQ(plan.peak - plan.prefetch - plan.scratch, bytes);
  // Only the first stage reads the data.
  EXPECT_EQ(plan.prefetch, 3 * 4 * sizeof(double) * FakeStages::width);
}

TEST(Stages, AResetInstanceBeginsAnew) {
  StagesOptions options;
  options.replicas = {1, 2};
  FakeStages program(options);
  InstancePointer instance = create(program);
  ASSERT_NE(instance, nullptr);
  std::vector<double> batch = program.makeBatch(0);
  const void *inputs[] = {batch.data()};
  std::vector<double> losses;
  for (int i = 0; i < 2; ++i) {
    double own[FakeStages::copies];
    for (int step = 0; step < 2; ++step) {
      ASSERT_EQ(hfta_instance_step(instance.get(), inputs, own), HFTA_OK);
      losses.insert(losses.end(), own, own + FakeStages::copies);
    }
    ASSERT_EQ(hfta_instance_reset(instance.get()), HFTA_OK);
  }
  EXPECT_EQ(std::vector<double>(losses.begin(), losses.begin() + 4),
            std::vector<double>(losses.begin() + 4, losses.end()));
}

TEST(Stages, WeightsThatAreWrittenAreAllReplicas) {
  StagesOptions options;
  options.replicas = {2, 1};
  FakeStages program(options);
  InstancePointer instance = create(program);
  ASSERT_NE(instance, nullptr);
  std::vector<double> values(FakeStages::width, 0.5);
  ASSERT_EQ(hfta_instance_write(instance.get(), 0, 1, 0, values.data(),
                                values.size() * sizeof(double)),
            HFTA_OK);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(std::memcmp(hfta_worker_address(&instance->workers[i], 0, 1),
                          values.data(), values.size() * sizeof(double)),
              0);
}

TEST(Stages, AnInstanceThatInfersHasOneWorker) {
  StagesOptions options;
  options.replicas = {2, 1};
  FakeStages program(options);
  hfta_workload none = hfta_workload_of(nullptr, 0, 1);
  hfta_error error;
  hfta_options threads = {};
  threads.error = &error;
  hfta_instance *instance = nullptr;
  ASSERT_EQ(hfta_instance_create_for(program.get(), &none, &threads, &instance),
            HFTA_OK)
      << error.message;
  EXPECT_EQ(instance->worker_count, 1u);
  EXPECT_EQ(readWeights(instance, 2)[0], 0.7);
  hfta_instance_destroy(instance);
}

TEST(Stages, AFailureOfOneWorkerEndsAll) {
  for (int stage = 0; stage < 3; ++stage) {
    StagesOptions options;
    options.replicas = {1, 1, 1};
    FakeStages program(options);
    InstancePointer instance = create(program);
    ASSERT_NE(instance, nullptr);
    // A worker without the schedule `step` fails before it sends anything, so
    // the others would wait for its messages forever.
    program.schedules[static_cast<size_t>(3 * stage + 1)].name = "lost";
    std::vector<double> batch = program.makeBatch(0);
    const void *inputs[] = {batch.data()};
    EXPECT_EQ(hfta_instance_step(instance.get(), inputs, nullptr), HFTA_USAGE);
    EXPECT_STREQ(hfta_instance_message(instance.get()),
                 "'stages' was compiled without the schedule 'step'");
    // The instance can't be used after this failure.
    EXPECT_EQ(hfta_instance_step(instance.get(), inputs, nullptr), HFTA_USAGE);
  }
}

/// Returns the texts between each occurrence of `before` and the next quotation
/// mark.
std::multiset<std::string> findAll(const std::string &text,
                                   const std::string &before) {
  std::multiset<std::string> found;
  for (size_t at = text.find(before); at != std::string::npos;
       at = text.find(before, at + 1)) {
    size_t begin = at + before.size();
    found.insert(text.substr(begin, text.find('"', begin) - begin));
  }
  return found;
}

TEST(Stages, ATraceHasRowsAndArrowsOfEachWorker) {
  StagesOptions options;
  options.replicas = {2, 1};
  FakeStages program(options);
  InstancePointer instance = create(program);
  ASSERT_NE(instance, nullptr);
  TemporaryFolder folder;
  std::string path = folder.path("trace.json");
  hfta_trace_options traced = {};
  traced.path = path.c_str();
  traced.steps = 1;
  hfta_trace *trace = nullptr;
  hfta_error error;
  ASSERT_EQ(hfta_trace_open(instance.get(), &traced, &trace, &error), HFTA_OK);
  hfta_instance_observe(instance.get(), hfta_trace_observer(trace));
  std::vector<double> batch = program.makeBatch(0);
  const void *inputs[] = {batch.data()};
  hfta_trace_begin_step(trace);
  EXPECT_EQ(hfta_instance_step(instance.get(), inputs, nullptr), HFTA_OK);
  hfta_trace_end_step(trace);
  hfta_instance_observe(instance.get(), nullptr);
  int64_t dropped = 0;
  EXPECT_EQ(hfta_trace_finish(trace, &dropped, &error), HFTA_OK);
  hfta_trace_close(trace);
  std::string text = readFile(path);
  for (const char *row :
       {"worker 0: compute", "worker 1: messages (sends)",
        "worker 1: messages (sums)", "worker 2: messages (receives)"})
    EXPECT_NE(text.find("\"" + std::string(row) + "\""), std::string::npos)
        << row;
  // Every arrow has a begin and an end.
  std::multiset<std::string> ends = findAll(text, "\"id\":\"");
  EXPECT_GT(ends.size(), 0u);
  for (const std::string &id : ends)
    EXPECT_EQ(ends.count(id), 2u) << id;
  // Each of the first stage's two replicas sends its own micro-batches.
  size_t cut = 0;
  while (std::string(program.segments[cut].name) != "cut.1")
    ++cut;
  for (const char *pair : {"0-2-", "1-2-"})
    for (const char *number : {"-0", "-1"})
      EXPECT_EQ(ends.count(pair + std::to_string(cut) + number), 2u);
  EXPECT_NE(text.find("\"name\":\"cut.1\""), std::string::npos);
}

std::string checkOf(const FakeStages &program) {
  hfta_error error = {};
  EXPECT_EQ(hfta_program_check(program.get(), &error), HFTA_INTERNAL);
  return error.message;
}

/// Returns the first command of a kind in the schedule `step` of stage 1.
hfta_command &find(FakeStages &program, uint32_t kind) {
  for (hfta_command &command : program.commands[4])
    if (command.kind == kind)
      return command;
  ADD_FAILURE() << "no such command";
  return program.commands[4].front();
}

TEST(Stages, TablesThatAreUnsoundAreRefused) {
  StagesOptions options;
  options.replicas = {2, 1, 1};
  const std::string step =
      "program 'stages': schedule 'step' of stage 1 is invalid";
  auto refuses = [&](auto damage) {
    FakeStages program(options);
    hfta_error error = {};
    EXPECT_EQ(hfta_program_check(program.get(), &error), HFTA_OK)
        << error.message;
    damage(program);
    return checkOf(program);
  };
  EXPECT_EQ(refuses([](FakeStages &p) { p.stages[1].replicas = 0; }),
            "program 'stages': stage 1 has 4 micro-batches in 1 groups for 0 "
            "replicas");
  EXPECT_EQ(refuses([](FakeStages &p) { p.stages[0].groups = 5; }),
            "program 'stages': stage 0 has 4 micro-batches in 5 groups for 2 "
            "replicas");
  EXPECT_EQ(refuses([](FakeStages &p) { p.program.workers = 5; }),
            "program 'stages': 5 workers in 3 stages, which have 4 replicas");
  EXPECT_EQ(refuses([](FakeStages &p) { p.segments[1].stage = 3; }),
            "program 'stages': segment 'parameters.0' belongs to stage 3, but "
            "there are 3 stages");
  EXPECT_EQ(refuses([](FakeStages &p) { p.schedules[4].stage = 3; }),
            "program 'stages': schedule 'step' of stage 3 is invalid");
  EXPECT_EQ(refuses([](FakeStages &p) { p.schedules[4].name = "stop"; }),
            "program 'stages': not every stage has the schedule 'step'");
  EXPECT_EQ(refuses([](FakeStages &p) { p.program.order_count = 1; }), step);
  EXPECT_EQ(refuses([](FakeStages &p) {
              const_cast<hfta_action *>(p.orders[1].actions)->which = 3;
            }),
            step);
  for (uint32_t kind : {HFTA_COMMAND_SEND, HFTA_COMMAND_RECEIVE}) {
    EXPECT_EQ(refuses([&](FakeStages &p) { find(p, kind).subject = 3; }), step);
    EXPECT_EQ(refuses([&](FakeStages &p) { find(p, kind).subject = 1; }), step);
    EXPECT_EQ(refuses([&](FakeStages &p) { find(p, kind).queue = 0; }), step);
    EXPECT_EQ(refuses([&](FakeStages &p) { find(p, kind).bytes += 1; }), step);
    EXPECT_EQ(refuses([&](FakeStages &p) { find(p, kind).to.index = 0; }),
              step);
    EXPECT_EQ(refuses([&](FakeStages &p) { find(p, kind).ahead = -1; }), step);
  }
  EXPECT_EQ(
      refuses([](FakeStages &p) { find(p, HFTA_COMMAND_CASE).length += 1; }),
      step);
  EXPECT_EQ(
      refuses([](FakeStages &p) { find(p, HFTA_COMMAND_ACTIONS).length -= 1; }),
      step);
  EXPECT_EQ(refuses([](FakeStages &p) {
              find(p, HFTA_COMMAND_AWAIT).kind = HFTA_COMMAND_CASE;
            }),
            step);
  EXPECT_EQ(
      refuses([](FakeStages &p) { find(p, HFTA_COMMAND_RECORD).bytes = 1000; }),
      step);
  EXPECT_EQ(refuses([](FakeStages &p) {
              hfta_command &turns = find(p, HFTA_COMMAND_AWAIT);
              turns.kind = HFTA_COMMAND_REPEAT;
              turns.subject = HFTA_REPEAT_TURNS;
              turns.length = 1; // the body is a message
            }),
            step);
}

} // namespace
