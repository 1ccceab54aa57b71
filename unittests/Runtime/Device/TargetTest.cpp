//===- TargetTest.cpp - Tests of the table of targets ---------------------===//
//
// The table has a third target here, `scratch` of TestTargets.c, whose code is
// the CPU's.
//===----------------------------------------------------------------------===//

extern "C" {
#include "device/target.h"
#include "fleet/fleet.h"
#include "workload/defaults.h"
#include "workload/memory_plan.h"
}
#include "RuntimeTest.h"
#include "hfta/data.h"
#include "hfta/prefetch.h"

#include "gtest/gtest.h"

namespace {

ProgramPointer makeProgramFor(const char *target) {
  ProgramPointer program = makeProgram(defaultOptions());
  program->target = target;
  return program;
}

/// Trains a program for this target on its default device. Returns the copies'
/// states.
std::vector<std::string> trainFor(const char *target) {
  ProgramPointer program = makeProgramFor(target);
  InstancePointer instance = makeInstance(program.get(), 1, nullptr);
  std::vector<std::string> states;
  for (unsigned i = 0; i < 5; ++i) {
    Batch batch(i);
    EXPECT_EQ(hfta_instance_step(instance.get(), batch.inputs, nullptr),
              HFTA_OK);
  }
  for (int64_t copy = 0; copy < program->copies; ++copy)
    states.push_back(stateOf(instance.get(), copy));
  return states;
}

TEST(Target, AnUnknownOneIsRefused) {
  for (const char *name : {"nosuch", "", "cp", static_cast<const char *>(0)}) {
    ProgramPointer program = makeProgramFor(name);
    hfta_error error = {};
    EXPECT_EQ(hfta_program_check(program.get(), &error), HFTA_INTERNAL);
    EXPECT_EQ(std::string(error.message),
              "program 'fake' was compiled for the target '" +
                  std::string(name ? name : "") +
                  "', which this runtime doesn't know");
    hfta_options options = {};
    options.error = &error;
    hfta_instance *instance = nullptr;
    EXPECT_EQ(hfta_instance_create(program.get(), &options, &instance),
              HFTA_INTERNAL);
    EXPECT_EQ(instance, nullptr);
  }
}

TEST(Target, OfAnOtherVersionIsNotRead) {
  ProgramPointer program =
      makeProgramFor(reinterpret_cast<const char *>(uintptr_t(8)));
  program->abi_version = 99;
  EXPECT_EQ(hfta_program_check(program.get(), nullptr), HFTA_INTERNAL);
}

TEST(Target, KernelsAreWhereItSays) {
  ProgramPointer program = makeProgramFor("cpu");
  EXPECT_EQ(hfta_program_check(program.get(), nullptr), HFTA_OK);
  // The program's kernels are functions, but a GPU's are symbols.
  program->target = "cuda";
  EXPECT_EQ(hfta_program_check(program.get(), nullptr), HFTA_INTERNAL);
}

TEST(Target, EachHasADevice) {
  ProgramPointer program = makeProgramFor("cpu");
  EXPECT_STREQ(hfta_program_device(program.get(), nullptr), "cpu");
  program->target = "cuda";
  EXPECT_STREQ(hfta_program_device(program.get(), nullptr), "cuda:0");
  EXPECT_STREQ(hfta_program_device(program.get(), "cuda:1"), "cuda:1");
  program->target = "scratch";
  EXPECT_STREQ(hfta_program_device(program.get(), nullptr), "cpu:0");
}

TEST(Target, ADeviceRunsOnlyItsOwn) {
  hfta_error error = {};
  hfta_device *device = nullptr;
  ProgramPointer program = makeProgramFor("cuda");
  hfta_device_options options = {};
  options.queues = 1;
  options.program = program.get();
  EXPECT_EQ(hfta_device_open("cpu", &options, &device, &error),
            HFTA_UNSUPPORTED);
  EXPECT_STREQ(error.message, "device 'cpu' is not available: this program was "
                              "compiled for cuda");
  program->target = "scratch";
  EXPECT_EQ(hfta_device_open("cuda:0", &options, &device, &error),
            HFTA_UNSUPPORTED);
  EXPECT_STREQ(error.message, "device 'cuda:0' is not available: this program "
                              "was compiled for scratch");
  EXPECT_EQ(device, nullptr);
  // Without a program the host is asked for.
  options.program = nullptr;
  EXPECT_EQ(hfta_device_open("cuda:0", &options, &device, &error),
            HFTA_UNSUPPORTED);
}

/// A row is all that a target with the CPU's code needs.
TEST(Target, AThirdOneIsOneMoreRow) {
  EXPECT_EQ(trainFor("scratch"), trainFor("cpu"));
  ProgramPointer program = makeProgramFor("scratch");
  EXPECT_EQ(hfta_program_threads(program.get(), 8), program->copies);
  uint64_t ahead = hfta_program_memory(program.get(), 1).prefetch;
  program->target = "cpu";
  EXPECT_EQ(hfta_program_threads(program.get(), 8), 8);
  // Each step that is posted ahead has a batch.
  uint64_t batches = hfta_program_memory(program.get(), 1).prefetch;
  EXPECT_EQ(ahead * HFTA_BATCHES_OF_DATA, batches * (HFTA_BATCHES_OF_DATA + 1));
}

TEST(Target, SeatsAreRefusedByName) {
  ProgramPointer program = makeProgramFor("scratch");
  hfta_fleet_training training = hfta_fleet_take_part(program.get(), 1, 0);
  hfta_fleet_options options = {};
  options.trainings = &training;
  options.models = options.seats = options.threads = 1;
  options.memory = UINT64_MAX;
  hfta_fleet *fleet = nullptr;
  hfta_error error = {};
  EXPECT_EQ(hfta_fleet_open(&options, &fleet, &error), HFTA_UNSUPPORTED);
  EXPECT_STREQ(error.message,
               "seats aren't supported on a scratch device in this version");
}

} // namespace
