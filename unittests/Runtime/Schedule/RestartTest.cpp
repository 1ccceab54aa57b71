//===- RestartTest.cpp - Copies that begin again --------------------------===//

#include "RuntimeTest.h"

#include <cmath>

/// Runs steps `first` to `last` - 1, whose batches have their numbers.
static void runSteps(hfta_instance *instance, unsigned first, unsigned last) {
  for (unsigned step = first; step < last; ++step) {
    Batch batch(step);
    ASSERT_EQ(hfta_instance_step(instance, batch.inputs, nullptr), HFTA_OK)
        << hfta_instance_message(instance);
  }
}

static std::vector<fake_options> listOptions() {
  std::vector<fake_options> all(4, defaultOptions());
  all[1].clipping = all[1].takes_turns = 1;
  all[2].cosine = 1;
  all[3].curvature = 1;
  return all;
}

TEST(Restart, CopiesHaveTheirInitialState) {
  for (const fake_options &options : listOptions()) {
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = makeInstance(program.get(), 2);
    InstancePointer fresh = makeInstance(program.get());
    hfta_instance_set_total_steps(instance.get(), 20);
    runSteps(instance.get(), 0, 5);
    std::string other = stateOf(instance.get(), 1);
    const int32_t copies[] = {0, 2};
    ASSERT_EQ(hfta_instance_restart(instance.get(), copies, 2), HFTA_OK)
        << hfta_instance_message(instance.get());
    EXPECT_EQ(stateOf(instance.get(), 0), stateOf(fresh.get(), 0));
    EXPECT_EQ(stateOf(instance.get(), 1), other);
    EXPECT_EQ(stateOf(instance.get(), 2), stateOf(fresh.get(), 2));
    EXPECT_EQ(hfta_instance_steps(instance.get()), 5);
    EXPECT_EQ(hfta_instance_live_count(instance.get()), 3);
  }
}

TEST(Restart, CopiesGoOnAsIfAlone) {
  for (const fake_options &options : listOptions()) {
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = makeInstance(program.get(), 3);
    InstancePointer fresh = makeInstance(program.get());
    hfta_instance_set_total_steps(instance.get(), 20);
    hfta_instance_set_total_steps(fresh.get(), 20);
    const int32_t restarted[] = {1}, others[] = {0, 2};
    runSteps(instance.get(), 0, 4);
    ASSERT_EQ(hfta_instance_restart(instance.get(), restarted, 1), HFTA_OK);
    for (unsigned step = 0; step < 6; ++step) {
      ASSERT_EQ(hfta_instance_set_live(instance.get(), others, 2), HFTA_OK);
      hfta_instance_set_steps(instance.get(), 4 + step);
      runSteps(instance.get(), 4 + step, 5 + step);
      ASSERT_EQ(hfta_instance_set_live(instance.get(), restarted, 1), HFTA_OK);
      hfta_instance_set_steps(instance.get(), step);
      runSteps(instance.get(), step, step + 1);
    }
    runSteps(fresh.get(), 0, 6);
    EXPECT_EQ(stateOf(instance.get(), 1), stateOf(fresh.get(), 1));
    runSteps(fresh.get(), 6, 10);
    for (int64_t copy : others)
      EXPECT_EQ(stateOf(instance.get(), copy), stateOf(fresh.get(), copy));
  }
}

TEST(Restart, HyperParametersAreOfEachCopy) {
  fake_options options = defaultOptions();
  options.cosine = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  hfta_instance_set_total_steps(instance.get(), 20);
  hfta_instance *self = instance.get();
  double before, rate, job = hfta_instance_hyper_parameter(self, 1, "lr");
  ASSERT_EQ(hfta_instance_learning_rate(self, 1, &before), HFTA_OK);
  EXPECT_TRUE(std::isnan(hfta_instance_hyper_parameter(self, 0, "rate")));
  ASSERT_EQ(hfta_instance_set_hyper_parameter(self, 1, "lr", 4 * job), HFTA_OK);
  EXPECT_NE(hfta_instance_hyper_parameter(self, 0, "lr"), 4 * job);
  EXPECT_EQ(hfta_instance_hyper_parameter(self, 1, "lr"), 4 * job);
  ASSERT_EQ(hfta_instance_learning_rate(self, 1, &rate), HFTA_OK);
  EXPECT_EQ(rate, 4 * before);
  // They outlive a reset.
  ASSERT_EQ(hfta_instance_reset(self), HFTA_OK);
  EXPECT_EQ(hfta_instance_hyper_parameter(self, 1, "lr"), 4 * job);
}

TEST(Restart, SchedulesEndAtEachCopysHorizon) {
  fake_options options = defaultOptions();
  options.cosine = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  InstancePointer shorter = makeInstance(program.get());
  hfta_instance_set_total_steps(instance.get(), 20);
  hfta_instance_set_total_steps(shorter.get(), 10);
  ASSERT_EQ(hfta_instance_set_horizon(instance.get(), 2, 10), HFTA_OK);
  for (int64_t step : {0, 3, 9}) {
    double of[3], expected[3];
    hfta_instance_set_steps(instance.get(), step);
    hfta_instance_set_steps(shorter.get(), step);
    for (int64_t copy : {1, 2}) {
      hfta_instance_learning_rate(instance.get(), copy, &of[copy]);
      hfta_instance_learning_rate(shorter.get(), copy, &expected[copy]);
    }
    EXPECT_EQ(of[2], expected[2]) << step;
    EXPECT_EQ(of[1] == expected[1], step == 0) << step;
  }
}

TEST(Restart, OnlyCopiesThatRunNeedAHorizon) {
  fake_options options = defaultOptions();
  options.cosine = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  const int32_t copies[] = {1};
  Batch batch(0);
  EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
            HFTA_USAGE);
  ASSERT_EQ(hfta_instance_set_horizon(instance.get(), 1, 8), HFTA_OK);
  ASSERT_EQ(hfta_instance_set_live(instance.get(), copies, 1), HFTA_OK);
  EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr), HFTA_OK);
}

TEST(Restart, WrongNumbersAreRefused) {
  fake_options options = defaultOptions();
  options.curvature = 1;
  ProgramPointer program = makeProgram(options);
  InstancePointer instance = makeInstance(program.get());
  hfta_instance *self = instance.get();
  auto refuse = [&](int64_t copy, const char *name, double value,
                    const char *message) {
    EXPECT_EQ(hfta_instance_set_hyper_parameter(self, copy, name, value),
              HFTA_USAGE);
    EXPECT_STREQ(hfta_instance_message(self), message);
  };
  refuse(3, "lr", 1, "copy 3: there are copies 0 to 2");
  refuse(0, "rate", 1,
         "'fake' has no hyper-parameter 'rate', expected one of: lr, momentum, "
         "weight_decay, seed, damping, factor_every");
  refuse(0, "lr", INFINITY, "'lr' must be finite, got inf");
  refuse(0, "seed", 1e16, "'seed' must be a whole number, got 1e+16");
  refuse(0, "factor_every", 0,
         "'factor_every' is a number of steps, expected a whole number of at "
         "least 1, got 0");
  EXPECT_EQ(hfta_instance_set_hyper_parameter(self, 0, "momentum", 0.5),
            HFTA_UNSUPPORTED);
  EXPECT_STREQ(hfta_instance_message(self),
               "'momentum' can't be changed: with the job's numbers it has no "
               "effect in any copy, so the program has no code for it");
  for (int64_t copy : {-1, 3})
    EXPECT_TRUE(std::isnan(hfta_instance_hyper_parameter(self, copy, "lr")));
  EXPECT_EQ(hfta_instance_set_steps(self, -5), HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(self), "-5 steps can't be done");
  EXPECT_EQ(hfta_instance_set_horizon(self, 0, -1), HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(self),
               "a schedule can't end after -1 steps");
}

TEST(Restart, StateThatCopiesShareIsRefused) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  const int32_t copies[] = {1};
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    auto &tensor = const_cast<hfta_tensor &>(program->tensors[i]);
    bool isParameter =
        program->segments[tensor.segment].role == HFTA_SEGMENT_PARAMETERS;
    if (!(tensor.flags & HFTA_TENSOR_CHECKPOINT) || isParameter)
      continue;
    tensor.flags |= HFTA_TENSOR_SHARED;
    EXPECT_EQ(hfta_instance_restart(instance.get(), copies, 1),
              HFTA_UNSUPPORTED);
    EXPECT_EQ(std::string(hfta_instance_message(instance.get())),
              "copies can't begin again on their own, as all of them share '" +
                  std::string(tensor.name) + "', which training changes");
    return;
  }
  FAIL() << "the program has no state but parameters";
}

TEST(Restart, GradientsMustNotWait) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeInstance(program.get());
  const int32_t copies[] = {1};
  Batch batch(0);
  ASSERT_EQ(hfta_instance_accumulate(instance.get(), batch.inputs, nullptr),
            HFTA_OK);
  EXPECT_EQ(hfta_instance_restart(instance.get(), copies, 1), HFTA_USAGE);
  EXPECT_STREQ(hfta_instance_message(instance.get()),
               "copies can't begin again between an accumulation and its "
               "update");
}
