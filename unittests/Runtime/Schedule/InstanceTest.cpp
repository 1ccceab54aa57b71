//===- InstanceTest.cpp - Steps of an instance ----------------------------===//

#include "RuntimeTest.h"
#include "hfta/abi.h"

extern "C" {
#include "instance/instance_impl.h"
#include "schedule/create.h"
#include "workload/memory_plan.h"
}

#include <algorithm>
#include <cmath>
#include <cstring>

TEST(Instance, LossFalls) {
  std::vector<double> first, last;
  train(defaultOptions(), 2, 1, &first);
  train(defaultOptions(), 2, 60, &last);
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_LT(last[copy], first[copy]);
}

TEST(Instance, ThreadsDontChangeResults) {
  fake_options options = defaultOptions();
  options.clipping = 1;
  std::vector<std::string> one = train(options, 1, 20);
  EXPECT_EQ(train(options, 2, 20), one);
  EXPECT_EQ(train(options, 3, 20), one);
  EXPECT_NE(one[0], one[1]);
}

TEST(Instance, ACopyTrainsAsIfAlone) {
  fake_options options = defaultOptions();
  options.copies = 4;
  options.clipping = 1;
  options.cosine = 1;
  std::vector<std::string> together = train(options, 2, 20);
  options.copies = 1;
  for (int64_t copy = 0; copy < 4; ++copy) {
    options.first_copy = copy;
    EXPECT_EQ(train(options, 1, 20)[0], together[copy]) << copy;
  }
}

/// Returns one copy's outputs for all samples.
static std::vector<float> readLogits(hfta_instance *instance, int64_t copy) {
  const hfta_program *program = hfta_instance_program(instance);
  uint32_t index = program->outputs[0].tensor;
  std::vector<float> logits(program->tensors[index].bytes / sizeof(float));
  EXPECT_EQ(hfta_instance_read(instance, index, copy, 0, logits.data(),
                               program->tensors[index].bytes),
            HFTA_OK);
  return logits;
}

TEST(Instance, InfersOneCopyAlone) {
  fake_options options = defaultOptions();
  options.copies = 4;
  options.takes_turns = 1;
  ProgramPointer program = makeProgram(options);
  Batch batch(3);
  InstancePointer all = makeInstance(program.get());
  ASSERT_EQ(hfta_instance_infer(all.get(), batch.inputs), HFTA_OK);

  hfta_workload workload = hfta_workload_of("infer", 2, 1);
  hfta_instance *created = nullptr;
  ASSERT_EQ(
      hfta_instance_create_for(program.get(), &workload, nullptr, &created),
      HFTA_OK);
  InstancePointer one(created, hfta_instance_destroy);
  ASSERT_EQ(hfta_instance_infer(one.get(), batch.inputs), HFTA_OK);
  EXPECT_EQ(readLogits(one.get(), 2), readLogits(all.get(), 2));
  for (int64_t copy : {0, 1, 3})
    for (float value : readLogits(one.get(), copy))
      EXPECT_EQ(value, 0.0f) << copy;

  // An instance that only infers has no memory for segments of training, nor
  // for other copies.
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    uint32_t role = program->segments[i].role;
    bool trains =
        role == HFTA_SEGMENT_GRADIENTS || role == HFTA_SEGMENT_SAVED ||
        role == HFTA_SEGMENT_OPTIMIZER_STATE || role == HFTA_SEGMENT_CUT;
    if (trains)
      EXPECT_EQ(one->workers->memory[i].count, 0u) << program->segments[i].name;
  }
  hfta_memory_plan plan = hfta_workload_memory(program.get(), &workload, 1);
  hfta_memory_plan whole = hfta_program_memory(program.get(), 1);
  EXPECT_EQ(plan.gradients + plan.optimizer_state + plan.activations, 0u);
  EXPECT_GT(whole.gradients, 0u);
  EXPECT_LE(plan.parameters, whole.parameters / 4);
}

TEST(Instance, CopiesThatTrainAloneHaveTheirOwnState) {
  fake_options options = defaultOptions();
  options.copies = 4;
  ProgramPointer program = makeProgram(options);
  hfta_memory_plan whole = hfta_program_memory(program.get(), 1);
  hfta_workload workload = hfta_workload_of_all(program.get());
  workload.first_copy = 1;
  workload.copies = 1;
  hfta_memory_plan plan = hfta_workload_memory(program.get(), &workload, 1);
  EXPECT_GT(plan.optimizer_state, 0u);
  EXPECT_LE(plan.optimizer_state, whole.optimizer_state / 4);
}

TEST(Instance, MicroBatchesInFlightShareNoMemory) {
  fake_options options = defaultOptions();
  options.micro_batches = 4;
  options.all_forwards_first = 1;
  ProgramPointer program = makeProgram(options);
  uint64_t all = hfta_program_memory(program.get(), 1).activations;
  options.takes_turns = 1;
  program = makeProgram(options);
  EXPECT_EQ(hfta_program_memory(program.get(), 1).activations, all);
}

TEST(Instance, AllForwardsFirstGivesTheSameBytes) {
  fake_options options = defaultOptions();
  options.micro_batches = 4;
  std::vector<std::string> interleaved = train(options, 2, 20);
  options.all_forwards_first = 1;
  EXPECT_EQ(train(options, 2, 20), interleaved);
}

TEST(Instance, MicroBatchesAddUp) {
  fake_options options = defaultOptions();
  std::vector<double> whole, parts;
  train(options, 1, 5, &whole);
  options.micro_batches = 2;
  train(options, 1, 5, &parts);
  for (int copy = 0; copy < 3; ++copy)
    EXPECT_NEAR(parts[copy], whole[copy], 1e-4);
}

TEST(Instance, AccumulateAndUpdateAreAStep) {
  std::string expected = train(defaultOptions(), 1, 1)[1];
  for (int takesTurns : {0, 1})
    for (int forwardsFirst : {0, 1}) {
      fake_options options = defaultOptions();
      options.takes_turns = takesTurns;
      options.all_forwards_first = forwardsFirst;
      ProgramPointer program = makeProgram(options);
      InstancePointer instance = makeInstance(program.get());
      Batch batch(0);
      ASSERT_EQ(hfta_instance_accumulate(instance.get(), batch.inputs, nullptr),
                HFTA_OK);
      ASSERT_EQ(hfta_instance_update(instance.get()), HFTA_OK);
      EXPECT_EQ(stateOf(instance.get(), 1), expected);
    }
}

TEST(Instance, AStepTakesWhatWasAccumulated) {
  auto states = [](int takesTurns) {
    fake_options options = defaultOptions();
    options.takes_turns = takesTurns;
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = makeInstance(program.get());
    Batch first(0), second(1);
    EXPECT_EQ(hfta_instance_accumulate(instance.get(), first.inputs, nullptr),
              HFTA_OK);
    EXPECT_EQ(hfta_instance_step(instance.get(), second.inputs, nullptr),
              HFTA_OK);
    EXPECT_EQ(hfta_instance_step(instance.get(), first.inputs, nullptr),
              HFTA_OK);
    return std::make_pair(stateOf(instance.get(), 0),
                          stateOf(instance.get(), 2));
  };
  EXPECT_EQ(states(1), states(0));
}

/// Trains 8 copies for 14 steps. If `leave`, some copies stop before step 5 and
/// others before step 9. Checks that exactly the copies that run have losses.
/// Returns every copy's state after steps 4, 8 and 14.
static std::vector<std::vector<std::string>>
trainAndLeave(const fake_options &options, int threads, bool leave) {
  const std::vector<int32_t> five = {0, 2, 4, 6, 7}, three = {2, 6, 7};
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get(), threads);
  std::vector<std::vector<std::string>> states;
  std::vector<double> losses(8);
  for (int step = 1; step <= 14; ++step) {
    const std::vector<int32_t> &live = step < 9 ? five : three;
    if (leave && (step == 5 || step == 9))
      EXPECT_EQ(
          hfta_instance_set_live(instance.get(), live.data(), live.size()),
          HFTA_OK);
    Batch batch(step);
    EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, losses.data()),
              HFTA_OK);
    for (int32_t copy = 0; leave && step >= 5 && copy < 8; ++copy) {
      bool runs = std::find(live.begin(), live.end(), copy) != live.end();
      EXPECT_EQ(std::isnan(losses[copy]), !runs) << copy;
      EXPECT_EQ(hfta_instance_live(instance.get())[copy], runs) << copy;
    }
    if (step == 4 || step == 8 || step == 14) {
      states.emplace_back();
      for (int64_t copy = 0; copy < 8; ++copy)
        states.back().push_back(stateOf(instance.get(), copy));
    }
  }
  return states;
}

TEST(Instance, CopiesThatLeaveTouchNoOther) {
  fake_options options = defaultOptions();
  options.copies = 8;
  options.clipping = 1;
  for (int microBatches : {1, 2})
    for (int forwardsFirst : {0, 1})
      for (int takesTurns : {0, 1})
        for (int threads : {1, 3}) {
          options.micro_batches = microBatches;
          options.all_forwards_first = forwardsFirst;
          options.takes_turns = takesTurns;
          auto all = trainAndLeave(options, threads, false);
          auto some = trainAndLeave(options, threads, true);
          // Each copy has the state after the last step in which it ran.
          const int last[] = {1, 0, 2, 0, 1, 0, 2, 2};
          for (int copy = 0; copy < 8; ++copy)
            EXPECT_EQ(some[2][copy], all[last[copy]][copy]) << copy;
        }
}

TEST(Instance, LiveCopiesAreAscendingNumbers) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  auto refuse = [&](std::vector<int32_t> copies, const char *message) {
    EXPECT_EQ(
        hfta_instance_set_live(instance.get(), copies.data(), copies.size()),
        HFTA_USAGE);
    EXPECT_STREQ(hfta_instance_message(instance.get()), message);
  };
  refuse({}, "no copy is to run: expected at least one");
  refuse({0, 3}, "copy 3: there are copies 0 to 2");
  refuse({-1}, "copy -1: there are copies 0 to 2");
  refuse({1, 1}, "copy 1 after copy 1: expected ascending numbers");
  refuse({2, 0}, "copy 0 after copy 2: expected ascending numbers");
  EXPECT_EQ(hfta_instance_live_count(instance.get()), 3);
}

TEST(Instance, CopiesComeBack) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  const int32_t one[] = {1}, all[] = {0, 1, 2};
  double losses[3], metrics[3];
  Batch batch(0);
  ASSERT_EQ(hfta_instance_set_live(instance.get(), one, 1), HFTA_OK);
  ASSERT_EQ(
      hfta_instance_evaluate(instance.get(), batch.inputs, 8, losses, metrics),
      HFTA_OK);
  EXPECT_TRUE(std::isnan(losses[0]) && std::isnan(metrics[2]));
  EXPECT_FALSE(std::isnan(losses[1]) || std::isnan(metrics[1]));
  double alone = losses[1];
  ASSERT_EQ(hfta_instance_set_live(instance.get(), all, 3), HFTA_OK);
  ASSERT_EQ(
      hfta_instance_evaluate(instance.get(), batch.inputs, 8, losses, nullptr),
      HFTA_OK);
  EXPECT_EQ(losses[1], alone);
  EXPECT_FALSE(std::isnan(losses[0]));
}

TEST(Instance, ADivergingCopyTouchesNoOther) {
  std::vector<std::string> expected = train(defaultOptions(), 2, 20);
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get(), 2);
  hfta_instance_set_learning_rate(instance.get(), 1, 1e30);
  double losses[3];
  for (int i = 0; i < 20; ++i) {
    Batch batch(i);
    ASSERT_EQ(hfta_instance_step(instance.get(), batch.inputs, losses),
              HFTA_OK);
  }
  EXPECT_TRUE(std::isnan(losses[1]));
  EXPECT_EQ(stateOf(instance.get(), 0), expected[0]);
  EXPECT_EQ(stateOf(instance.get(), 2), expected[2]);
}

TEST(Instance, ClipsToTheNormOfAllGradients) {
  fake_options options = defaultOptions();
  options.clipping = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  Batch batch(0);
  ASSERT_EQ(hfta_instance_accumulate(instance.get(), batch.inputs, nullptr),
            HFTA_OK);
  double squares = 0;
  for (const char *name : {"first.weight.gradient", "second.weight.gradient"}) {
    hfta_tensor_info info;
    ASSERT_EQ(hfta_instance_tensor(instance.get(), 0, name, &info), HFTA_OK);
    const float *values = static_cast<const float *>(info.data);
    for (uint64_t i = 0; i < info.bytes / 4; ++i)
      squares += double(values[i]) * double(values[i]);
  }
  ASSERT_EQ(hfta_instance_update(instance.get()), HFTA_OK);
  hfta_tensor_info scale;
  ASSERT_EQ(hfta_instance_tensor(instance.get(), 0, "clip_scale", &scale),
            HFTA_OK);
  EXPECT_NEAR(*static_cast<float *>(scale.data),
              0.05 / (std::sqrt(squares) + 1e-6), 1e-6);
  // Copy 1 has no limit of the norm, so its gradients aren't scaled.
  ASSERT_EQ(hfta_instance_tensor(instance.get(), 1, "clip_scale", &scale),
            HFTA_OK);
  EXPECT_EQ(*static_cast<float *>(scale.data), 1.0f);
}

TEST(Instance, EvaluationIgnoresPadding) {
  for (int64_t microBatches : {1, 2}) {
    fake_options options = defaultOptions();
    options.micro_batches = microBatches;
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = makeInstance(program.get(), 2);
    Batch batch(0), padded(0);
    for (int i = 5; i < FAKE_BATCH; ++i)
      padded.labels[i] = 2 - padded.labels[i];
    double losses[3], metrics[3], other[3];
    ASSERT_EQ(hfta_instance_evaluate(instance.get(), batch.inputs, 5, losses,
                                     metrics),
              HFTA_OK);
    ASSERT_EQ(hfta_instance_evaluate(instance.get(), padded.inputs, 5, other,
                                     nullptr),
              HFTA_OK);
    EXPECT_EQ(memcmp(losses, other, sizeof(losses)), 0);
    EXPECT_EQ(std::fmod(metrics[0] * 5, 1), 0);
    EXPECT_EQ(hfta_instance_evaluate(instance.get(), batch.inputs, 9, losses,
                                     metrics),
              HFTA_USAGE);
    EXPECT_STREQ(hfta_instance_message(instance.get()),
                 "9 valid samples in a batch of 8");
  }
}

TEST(Instance, EvaluationLeavesTheStateAlone) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  std::string before = stateOf(instance.get(), 0);
  Batch batch(0);
  double losses[3];
  ASSERT_EQ(
      hfta_instance_evaluate(instance.get(), batch.inputs, 8, losses, nullptr),
      HFTA_OK);
  EXPECT_EQ(stateOf(instance.get(), 0), before);
}

TEST(Instance, TensorsByName) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  hfta_tensor_info info;
  ASSERT_EQ(hfta_instance_tensor(instance.get(), 2, "first.weight", &info),
            HFTA_OK);
  EXPECT_EQ(info.type, uint32_t(HFTA_F32));
  EXPECT_EQ(info.rank, 2u);
  EXPECT_EQ(info.shape[0], FAKE_FEATURES);
  EXPECT_EQ(info.bytes, 4u * FAKE_FEATURES * FAKE_HIDDEN);
  EXPECT_EQ(hfta_instance_tensor(instance.get(), 0, "third", &info),
            HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(instance.get()),
               "no tensor of copy 0 is named 'third'");
  EXPECT_EQ(hfta_instance_tensor(instance.get(), 3, "first.weight", &info),
            HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(instance.get()),
               "copy 3: there are copies 0 to 2");
}

TEST(Instance, SegmentsAreAligned) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  hfta_tensor_info info;
  ASSERT_EQ(hfta_instance_tensor(instance.get(), 0, "loss_sum", &info),
            HFTA_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(info.data) % 64, 0u);
}

TEST(Instance, CosineNeedsALength) {
  fake_options options = defaultOptions();
  options.cosine = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  Batch batch(0);
  EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
            HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(instance.get()),
               "a cosine schedule needs the number of steps: set "
               "hfta_options.total_steps, or a horizon of each copy");
  // The refused step left no gradients to which the next step would add.
  InstancePointer other = makeInstance(program.get());
  for (hfta_instance *each : {instance.get(), other.get()}) {
    hfta_instance_set_total_steps(each, 10);
    ASSERT_EQ(hfta_instance_step(each, batch.inputs, nullptr), HFTA_OK);
  }
  EXPECT_EQ(stateOf(instance.get(), 0), stateOf(other.get(), 0));
}

TEST(Instance, InferenceProgramsDontTrain) {
  fake_options options = defaultOptions();
  options.inference_only = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  Batch batch(0);
  EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
            HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(instance.get()),
               "'fake' was compiled for inference only: the job had no loss");
  EXPECT_EQ(hfta_instance_infer(instance.get(), batch.inputs), HFTA_OK);
}

TEST(Instance, TwoAtOnce) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer one = makeInstance(program.get(), 2);
  InstancePointer two = makeInstance(program.get(), 2);
  for (int i = 0; i < 5; ++i) {
    Batch batch(i);
    ASSERT_EQ(hfta_instance_step(one.get(), batch.inputs, nullptr), HFTA_OK);
    ASSERT_EQ(hfta_instance_step(two.get(), batch.inputs, nullptr), HFTA_OK);
  }
  EXPECT_EQ(stateOf(one.get(), 0), stateOf(two.get(), 0));
}

TEST(Instance, ResetStartsAnew) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  std::string before = stateOf(instance.get(), 1);
  Batch batch(0);
  ASSERT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr), HFTA_OK);
  EXPECT_NE(stateOf(instance.get(), 1), before);
  ASSERT_EQ(hfta_instance_reset(instance.get()), HFTA_OK);
  EXPECT_EQ(stateOf(instance.get(), 1), before);
  EXPECT_EQ(hfta_instance_steps(instance.get()), 0);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

static void expectRefusal(const hfta_program *program,
                          const hfta_options &given, hfta_status status,
                          const std::string &message) {
  hfta_error error = {};
  hfta_options options = given;
  options.error = &error;
  hfta_instance *instance = nullptr;
  EXPECT_EQ(hfta_instance_create(program, &options, &instance), status);
  EXPECT_EQ(instance, nullptr);
  EXPECT_EQ(error.message, message);
}

TEST(Instance, RefusesOtherVersionsOfTheTable) {
  ProgramPointer program = makeProgram(defaultOptions());
  program->abi_version = 99;
  expectRefusal(program.get(), {}, HFTA_INTERNAL,
                "the program has ABI version 99, this runtime has " +
                    std::to_string(hfta_abi_version()) + ": compile it again");
}

TEST(Instance, RefusesTensorsOutsideTheirSegments) {
  ProgramPointer program = makeProgram(defaultOptions());
  const_cast<hfta_tensor *>(program->tensors)[1].offset += 64;
  expectRefusal(program.get(), {}, HFTA_INTERNAL,
                "program 'fake': tensor 'second.weight' doesn't lie in its "
                "segment");
}

TEST(Instance, RefusesMissingTasks) {
  ProgramPointer program = makeProgram(defaultOptions());
  program->task_count -= 1;
  expectRefusal(program.get(), {}, HFTA_INTERNAL,
                "program 'fake': schedule 'step' is invalid");
}

TEST(Instance, RefusesUnknownDevices) {
  ProgramPointer program = makeProgram(defaultOptions());
  hfta_options options = {};
  options.device = "cuda:0";
  expectRefusal(program.get(), options, HFTA_UNSUPPORTED,
                "device 'cuda:0' is not available: this program was compiled "
                "for cpu");
  options.device = "cpu:x";
  expectRefusal(program.get(), options, HFTA_USAGE,
                "device 'cpu:x': expected cpu, or a kind and a number as in "
                "cuda:0");
  options.device = "cpu:1";
  expectRefusal(program.get(), options, HFTA_USAGE,
                "device 'cpu:1': there is one cpu");
}

TEST(Instance, RefusesForeignCpus) {
  fake_options options = defaultOptions();
  options.cpu_features = "quantum,warp";
  ProgramPointer program = makeProgram(options);
  expectRefusal(program.get(), {}, HFTA_UNSUPPORTED,
                "this CPU lacks quantum, warp, which 'fake' was compiled for; "
                "compile it with a --cpu that this machine has");
}

TEST(Instance, RefusesTooManyThreads) {
  ProgramPointer program = makeProgram(defaultOptions());
  hfta_options options = {};
  options.threads = 1000;
  expectRefusal(program.get(), options, HFTA_USAGE,
                "1000 threads asked for, 1 to 256 possible");
}
