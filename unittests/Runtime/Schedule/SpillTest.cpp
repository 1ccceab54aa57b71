//===- SpillTest.cpp - Tests of programs that spill -----------------------===//

#include "FakeKernels.h"
#include "RuntimeTest.h"

extern "C" {
#include "instance/instance_impl.h"
#include "workload/memory_plan.h"
}

namespace {

struct Trained {
  std::vector<std::string> states;
  std::vector<double> losses;
  bool operator==(const Trained &other) const {
    return states == other.states && losses == other.losses;
  }
};

InstancePointer make(const hfta_program *program, int threads,
                     const char *store, std::string *message = nullptr) {
  hfta_error error = {};
  hfta_options options = {};
  options.threads = threads;
  options.spill_directory = HFTA_DISK_FOLDER;
  options.store = store;
  options.error = &error;
  hfta_instance *instance = nullptr;
  hfta_status status = hfta_instance_create(program, &options, &instance);
  if (message)
    *message = std::to_string(status) + ": " + error.message;
  else
    EXPECT_EQ(status, HFTA_OK) << error.message;
  return {instance, hfta_instance_destroy};
}

void step(hfta_instance *instance, unsigned number,
          std::vector<double> &losses) {
  Batch batch(number);
  std::vector<double> own(size_t(hfta_instance_copies(instance)));
  ASSERT_EQ(hfta_instance_step(instance, batch.inputs, own.data()), HFTA_OK)
      << hfta_instance_message(instance);
  losses.insert(losses.end(), own.begin(), own.end());
}

/// Trains for five steps with this store, and returns all states and losses.
Trained run(const fake_options &options, int threads, const char *store) {
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = make(program.get(), threads, store);
  Trained result;
  for (unsigned i = 0; i < 5; ++i)
    step(instance.get(), i, result.losses);
  for (int64_t copy = 0; copy < options.copies; ++copy)
    result.states.push_back(stateOf(instance.get(), copy));
  return result;
}

TEST(Spill, GivesTheBytesOfMemory) {
  for (int64_t microBatches : {1, 4})
    for (bool forwardsFirst : {false, true})
      for (bool takesTurns : {false, true}) {
        fake_options options = defaultOptions();
        options.copies = 5;
        options.micro_batches = microBatches;
        options.all_forwards_first = forwardsFirst;
        options.clipping = 1;
        options.takes_turns = takesTurns;
        Trained resident = run(options, 1, nullptr);
        for (int64_t copies : {1, 2, 3, 5, 8}) {
          options.spilled_copies = copies;
          for (int threads : {1, 3}) {
            EXPECT_TRUE(run(options, threads, nullptr) == resident)
                << microBatches << forwardsFirst << takesTurns << copies;
            EXPECT_TRUE(run(options, threads, "memory") == resident);
          }
        }
      }
}

fake_options spillingOptions(int64_t turn = 2) {
  fake_options options = defaultOptions();
  options.copies = 3;
  options.takes_turns = 1;
  options.spilled_copies = turn;
  return options;
}

TEST(Spill, SegmentsCountOnlyInTheArena) {
  fake_options options = spillingOptions();
  ProgramPointer program = makeProgram(options);
  hfta_memory_plan plan = hfta_program_memory(program.get(), 1);
  EXPECT_EQ(plan.parameters + plan.gradients + plan.optimizer_state +
                plan.activations,
            0u);
  EXPECT_GT(plan.arena, 0u);
  EXPECT_LE(plan.arena, program->arena_bytes);
  EXPECT_GT(plan.store, 0u);
  EXPECT_EQ(plan.peak, plan.workspace + plan.input_output + plan.prefetch +
                           plan.scratch + plan.arena + plan.store);
  options.spilled_copies = 0;
  program = makeProgram(options);
  plan = hfta_program_memory(program.get(), 1);
  EXPECT_EQ(plan.arena + plan.store, 0u);
}

hfta_store_traffic traffic(const InstancePointer &instance) {
  return hfta_store_count(instance->workers->spill.store);
}

TEST(Spill, WhatLiesThereIsNotReadAgain) {
  // If all copies are in one turn, parameters and state stay in memory.
  ProgramPointer program = makeProgram(spillingOptions(3));
  InstancePointer instance = make(program.get(), 1, nullptr);
  std::vector<double> losses;
  step(instance.get(), 0, losses);
  hfta_store_traffic first = traffic(instance);
  // State that was never written is zero, and isn't read from the store.
  EXPECT_EQ(first.read, 0u);
  step(instance.get(), 1, losses);
  hfta_store_traffic second = traffic(instance);
  EXPECT_EQ(second.read, 0u);
  uint64_t bytes = program->segments[FAKE_SEGMENT_PARAMETERS].bytes +
                   program->segments[FAKE_SEGMENT_STATE].bytes;
  EXPECT_EQ(second.written - first.written, bytes);
  // If other copies run, their bytes have to be read.
  const int32_t two[] = {0, 2};
  ASSERT_EQ(hfta_instance_set_live(instance.get(), two, 2), HFTA_OK);
  step(instance.get(), 2, losses);
  EXPECT_EQ(traffic(instance).read, bytes / 3 * 2);
}

TEST(Spill, TurnsReadTheirOwnCopies) {
  ProgramPointer program = makeProgram(spillingOptions(2));
  InstancePointer instance = make(program.get(), 1, nullptr);
  std::vector<double> losses;
  step(instance.get(), 0, losses);
  uint64_t before = traffic(instance).read;
  step(instance.get(), 1, losses);
  EXPECT_EQ(traffic(instance).read - before,
            program->segments[FAKE_SEGMENT_PARAMETERS].bytes +
                program->segments[FAKE_SEGMENT_STATE].bytes);
}

TEST(Spill, FewerCopiesTrainAsAlone) {
  fake_options options = spillingOptions(2);
  options.copies = 5;
  const int32_t live[] = {0, 2, 3};
  std::vector<std::string> states[2];
  for (int64_t turn : {0, 2}) {
    options.spilled_copies = turn;
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = make(program.get(), 2, nullptr);
    std::vector<double> losses;
    step(instance.get(), 0, losses);
    ASSERT_EQ(hfta_instance_set_live(instance.get(), live, 3), HFTA_OK);
    step(instance.get(), 1, losses);
    step(instance.get(), 2, losses);
    for (int64_t copy = 0; copy < options.copies; ++copy)
      states[turn != 0].push_back(stateOf(instance.get(), copy));
  }
  EXPECT_EQ(states[0], states[1]);
}

TEST(Spill, TensorsAreWrittenAndReadInTheStore) {
  ProgramPointer program = makeProgram(spillingOptions(3));
  InstancePointer instance = make(program.get(), 1, nullptr);
  std::vector<double> losses;
  step(instance.get(), 0, losses);
  uint32_t weight = hfta_program_find_tensor(program.get(), 1, "second.weight");
  std::vector<float> values(FAKE_HIDDEN * FAKE_CLASSES, 0.25f), back(values);
  const uint64_t bytes = values.size() * sizeof(float);
  ASSERT_EQ(
      hfta_instance_write(instance.get(), weight, 1, 0, values.data(), bytes),
      HFTA_OK);
  back.assign(back.size(), 0);
  ASSERT_EQ(
      hfta_instance_read(instance.get(), weight, 1, 0, back.data(), bytes),
      HFTA_OK);
  EXPECT_EQ(values, back);
  // The next step reads the written values from the store instead of using
  // those that are still in memory.
  std::string before = stateOf(instance.get(), 1);
  step(instance.get(), 1, losses);
  EXPECT_NE(stateOf(instance.get(), 1), before);
  EXPECT_GT(traffic(instance).read, 0u);
  hfta_tensor_info info;
  ASSERT_EQ(hfta_instance_tensor(instance.get(), 1, "second.weight", &info),
            HFTA_OK);
  EXPECT_EQ(info.data, nullptr);
  EXPECT_EQ(info.bytes, bytes);
  EXPECT_EQ(hfta_instance_tensor(instance.get(), 1, "hidden", &info),
            HFTA_USAGE);
  EXPECT_STREQ(
      hfta_instance_message(instance.get()),
      "tensor 'hidden' isn't kept: other tensors use its memory in turn");
}

TEST(Spill, StepsWithinABudgetAreNotAccumulated) {
  ProgramPointer program = makeProgram(spillingOptions());
  program->device_bytes = 1 << 30;
  InstancePointer instance = make(program.get(), 1, "memory");
  Batch batch(0);
  EXPECT_EQ(hfta_instance_accumulate(instance.get(), batch.inputs, nullptr),
            HFTA_UNSUPPORTED);
  std::string message = hfta_instance_message(instance.get());
  EXPECT_NE(message.find("steps can't be accumulated"), std::string::npos)
      << message;
  std::vector<double> losses;
  step(instance.get(), 0, losses);
}

TEST(Spill, AResetBeginsAnew) {
  ProgramPointer program = makeProgram(spillingOptions(2));
  InstancePointer instance = make(program.get(), 1, nullptr);
  std::string begin = stateOf(instance.get(), 2);
  std::vector<double> losses;
  step(instance.get(), 0, losses);
  EXPECT_NE(stateOf(instance.get(), 2), begin);
  ASSERT_EQ(hfta_instance_reset(instance.get()), HFTA_OK);
  EXPECT_EQ(stateOf(instance.get(), 2), begin);
}

TEST(Spill, FailuresOfTheStoreAreReported) {
  std::string message;
  ProgramPointer program = makeProgram(spillingOptions(2));
  make(program.get(), 1, "faulty=no_space:1", &message);
  EXPECT_NE(message.find("4: cannot write"), std::string::npos) << message;
  EXPECT_NE(message.find("No space left on device"), std::string::npos);
  InstancePointer instance = make(program.get(), 1, "faulty=flip:4");
  Batch batch(0);
  double losses[3];
  hfta_status status = HFTA_OK;
  for (int i = 0; i < 3 && status == HFTA_OK; ++i)
    status = hfta_instance_step(instance.get(), batch.inputs, losses);
  EXPECT_EQ(status, HFTA_CANNOT_WRITE);
  EXPECT_NE(std::string(hfta_instance_message(instance.get()))
                .find("spilled data have changed"),
            std::string::npos);
}

} // namespace
