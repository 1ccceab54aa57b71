//===- InstanceTurnsTest.cpp - Tests of copies that take turns ------------===//

#include "RuntimeTest.h"

extern "C" {
#include "instance/instance_impl.h"
#include "workload/memory_plan.h"
}

static double hurryingTime, hurryingSeconds;

static double hurryingClock() {
  hurryingSeconds *= 0.9;
  return hurryingTime += hurryingSeconds;
}

/// Replaces the instance's clock by one with which each call takes less time
/// than the one before. So the search finds smaller turns faster, down to one
/// copy.
static void hurry(hfta_instance *instance) {
  hurryingTime = 0.0;
  hurryingSeconds = 1.0;
  instance->now = hurryingClock;
}

/// Replaces the instance's clock by one that stands still. So the search finds
/// no smaller turns faster, and turns have as many copies as there are threads.
static void stand(hfta_instance *instance) {
  instance->now = [] { return 0.0; };
}

TEST(InstanceTurns, CopiesMayGoThroughAStepOneAfterTheOther) {
  fake_options options = defaultOptions();
  options.copies = 5;
  options.clipping = 1;
  std::vector<double> expected, losses;
  std::vector<std::string> together = train(options, 2, 20, &expected);
  // With 1, 2 and 8 threads, turns have one copy, two copies with one left
  // over, or all copies.
  options.takes_turns = 1;
  for (int threads : {1, 2, 8}) {
    EXPECT_EQ(train(options, threads, 20, &losses), together) << threads;
    EXPECT_EQ(losses, expected) << threads;
  }
  options.micro_batches = 2;
  std::vector<std::string> parts = train(options, 2, 20);
  options.takes_turns = 0;
  EXPECT_EQ(train(options, 2, 20), parts);
}

/// Runs a step and returns how often it runs the task `forward.0`, which is
/// once per turn.
static int countTurns(hfta_instance *instance) {
  const hfta_program *program = hfta_instance_program(instance);
  std::vector<int> runs(program->task_count);
  hfta_observer observer = {[](void *argument, const hfta_activity *activity) {
                              if (activity->kind == HFTA_ACTIVITY_RUN)
                                ++static_cast<int *>(
                                    argument)[activity->number];
                            },
                            runs.data(), nullptr};
  Batch batch(0);
  instance->workers->device->functions->observe(instance->workers->device,
                                                &observer);
  EXPECT_EQ(hfta_instance_step(instance, batch.inputs, nullptr), HFTA_OK);
  instance->workers->device->functions->observe(instance->workers->device,
                                                nullptr);
  uint32_t forward = 0;
  while (std::string("forward.0") != program->tasks[forward].name)
    ++forward;
  return runs[forward];
}

/// Returns the number of turns in each of the next steps.
static std::vector<int> countTurns(hfta_instance *instance, int steps) {
  std::vector<int> turns;
  for (int i = 0; i < steps; ++i)
    turns.push_back(countTurns(instance));
  return turns;
}

TEST(InstanceTurns, TurnsOfAnyWidthGiveTheSameBytes) {
  fake_options options = defaultOptions();
  options.copies = 8;
  options.clipping = 1;
  for (int microBatches : {1, 2}) {
    options.micro_batches = microBatches;
    options.takes_turns = 0;
    std::vector<double> expected, losses;
    std::vector<std::string> together = train(options, 2, 20, &expected);
    options.takes_turns = 1;
    for (int threads : {2, 3, 8})
      for (void (*setClock)(hfta_instance *) : {hurry, stand}) {
        EXPECT_EQ(train(options, threads, 20, &losses, setClock), together)
            << threads;
        EXPECT_EQ(losses, expected) << threads;
      }
  }
}

TEST(InstanceTurns, TurnsGetNarrowerWhereThatIsFaster) {
  fake_options options = defaultOptions();
  options.copies = 7;
  options.takes_turns = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get(), 4);
  hurry(instance.get());
  EXPECT_EQ(countTurns(instance.get(), 14),
            std::vector<int>({2, 2, 2, 2, 4, 4, 4, 4, 7, 7, 7, 7, 7, 7}));
  const hfta_schedule *step = hfta_program_find_schedule(program.get(), "step");
  bool isSettled = false;
  EXPECT_EQ(hfta_instance_copies_at_once(instance.get(), step, &isSettled), 1);
  EXPECT_TRUE(isSettled);

  // Only if other copies run, which take other times, are the sizes of turns
  // searched again.
  const int32_t live[] = {0, 2, 3};
  stand(instance.get());
  for (std::vector<int> expected :
       {std::vector<int>({1, 1, 1, 1, 3, 3}), std::vector<int>({3, 3, 1, 1})}) {
    ASSERT_EQ(hfta_instance_set_live(instance.get(), live, 3), HFTA_OK);
    EXPECT_EQ(countTurns(instance.get(), expected.size()), expected);
  }
  EXPECT_EQ(hfta_instance_copies_at_once(instance.get(), step, &isSettled), 3);
  EXPECT_TRUE(isSettled);
}

TEST(InstanceTurns, BatchesThatAreNotFullDoNotTellHowFastTurnsAre) {
  fake_options options = defaultOptions();
  options.copies = 4;
  options.micro_batches = 2;
  options.takes_turns = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get(), 2);
  const hfta_schedule *evaluate =
      hfta_program_find_schedule(program.get(), "evaluate");
  Batch batch(0);
  bool isSettled = false;
  for (int samples : {FAKE_BATCH / 2, int(FAKE_BATCH)}) {
    for (int i = 0; i < 8; ++i)
      ASSERT_EQ(hfta_instance_evaluate(instance.get(), batch.inputs, samples,
                                       nullptr, nullptr),
                HFTA_OK);
    hfta_instance_copies_at_once(instance.get(), evaluate, &isSettled);
    EXPECT_EQ(isSettled, samples == FAKE_BATCH);
  }
}

TEST(InstanceTurns, CopiesInTurnShareMemory) {
  fake_options options = defaultOptions();
  options.copies = 4;
  ProgramPointer program = makeProgram(options);
  uint64_t all = hfta_program_memory(program.get(), 1).activations;
  options.takes_turns = 1;
  program = makeProgram(options);
  for (int threads : {1, 2, 4, 7})
    EXPECT_EQ(hfta_program_memory(program.get(), threads).activations,
              all * std::min(threads, 4) / 4)
        << threads;
  // Values in memory that copies use in turn can't be read afterwards.
  hfta_tensor_info info;
  for (int threads : {2, 4}) {
    InstancePointer instance = makeInstance(program.get(), threads);
    EXPECT_EQ(hfta_instance_tensor(instance.get(), 0, "hidden", &info),
              HFTA_USAGE);
    EXPECT_STREQ(
        hfta_instance_message(instance.get()),
        "tensor 'hidden' isn't kept: other copies use its memory in turn");
  }
  options.takes_turns = 0;
  program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get(), 2);
  EXPECT_EQ(hfta_instance_tensor(instance.get(), 0, "hidden", &info), HFTA_OK);
}
