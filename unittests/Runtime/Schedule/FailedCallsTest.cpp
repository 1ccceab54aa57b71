//===- FailedCallsTest.cpp - Gradients after failed calls -----------------===//

#include "FakeKernels.h"
#include "RuntimeTest.h"

extern "C" {
#include "instance/instance_impl.h"
}

#include <sys/mman.h>
#include <unistd.h>

namespace {

/// The device's own functions, and the faults that are planted: while `fails`
/// is set, tasks with numbers from `skipped` on don't run, and waiting fails.
const hfta_device_functions *inner;
bool fails;
uint32_t skipped;

hfta_status fail(hfta_status status, hfta_error *error) {
  return fails ? hfta_fail(error, HFTA_CANNOT_WRITE, "planted") : status;
}

/// Makes an instance whose calls fail while `fails` is set. Such a call still
/// runs the tasks before the updates.
InstancePointer makeFailing(const hfta_program *program) {
  InstancePointer instance = makeInstance(program);
  static hfta_device_functions functions;
  hfta_device *device = instance->workers->device;
  inner = device->functions;
  functions = *inner;
  fails = false;
  skipped = FAKE_UPDATE_0;
  functions.run = [](hfta_device *device, uint32_t queue,
                     const hfta_task_call *call, uint32_t number) {
    if (!fails || number < skipped)
      inner->run(device, queue, call, number);
  };
  functions.wait_for = [](hfta_device *device, uint64_t queues,
                          hfta_error *error) {
    return fail(inner->wait_for(device, queues, error), error);
  };
  functions.wait = [](hfta_device *device, hfta_error *error) {
    return fail(inner->wait(device, error), error);
  };
  device->functions = &functions;
  return instance;
}

using Call = std::function<hfta_status(hfta_instance *)>;

hfta_status accumulate(hfta_instance *instance, unsigned number) {
  Batch batch(number);
  return hfta_instance_accumulate(instance, batch.inputs, nullptr);
}

hfta_status step(hfta_instance *instance, unsigned number) {
  Batch batch(number);
  return hfta_instance_step(instance, batch.inputs, nullptr);
}

/// Calls `last`, which makes one step, and returns the first copy's state. If
/// `failing` isn't empty, an accumulation that succeeds and then the failing
/// calls come before.
std::string trainBehind(const std::vector<Call> &failing, const Call &last) {
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeFailing(program.get());
  if (!failing.empty())
    EXPECT_EQ(accumulate(instance.get(), 7), HFTA_OK);
  fails = true;
  for (const Call &call : failing)
    EXPECT_EQ(call(instance.get()), HFTA_CANNOT_WRITE);
  fails = false;
  EXPECT_EQ(last(instance.get()), HFTA_OK)
      << hfta_instance_message(instance.get());
  EXPECT_EQ(hfta_instance_steps(instance.get()), 1);
  return stateOf(instance.get(), 0);
}

const Call accumulates = [](hfta_instance *instance) {
  return accumulate(instance, 3);
};
const Call updates = hfta_instance_update;
const Call steps = [](hfta_instance *instance) { return step(instance, 4); };
const Call accumulatesAndUpdates = [](hfta_instance *instance) {
  hfta_status status = accumulate(instance, 0);
  return status == HFTA_OK ? hfta_instance_update(instance) : status;
};
const Call stepsWell = [](hfta_instance *instance) {
  return step(instance, 0);
};

} // namespace

/// After a failed call, no gradients are left, neither of this call's batch nor
/// of earlier ones, so that the caller may accumulate all of them again.
TEST(FailedCalls, LeaveNoGradients) {
  for (const Call &last : {accumulatesAndUpdates, stepsWell}) {
    std::string expected = trainBehind({}, last);
    EXPECT_EQ(trainBehind({accumulates}, last), expected);
    EXPECT_EQ(trainBehind({updates}, last), expected);
    EXPECT_EQ(trainBehind({steps}, last), expected);
    // Clearing the gradients that the first call has left fails too.
    EXPECT_EQ(trainBehind({accumulates, accumulates, steps}, last), expected);
  }
}

TEST(FailedCalls, OfAWholeStepLeaveNoGradients) {
  std::string expected = trainBehind({}, stepsWell);
  ProgramPointer program = makeProgram(defaultOptions());
  InstancePointer instance = makeFailing(program.get());
  fails = true;
  EXPECT_EQ(step(instance.get(), 4), HFTA_CANNOT_WRITE);
  fails = false;
  EXPECT_EQ(step(instance.get(), 0), HFTA_OK);
  EXPECT_EQ(stateOf(instance.get(), 0), expected);
}

/// A missing learning rate is reported before the call does anything.
TEST(FailedCalls, ThatDoNotBeginLeaveWhatWasAccumulated) {
  fake_options options = defaultOptions();
  options.cosine = 1;
  options.no_length = 1;
  ProgramPointer program = makeProgram(options);
  std::string states[2];
  for (bool fails : {false, true}) {
    InstancePointer instance = makeInstance(program.get());
    EXPECT_EQ(accumulate(instance.get(), 0), HFTA_OK);
    if (fails)
      EXPECT_EQ(hfta_instance_update(instance.get()), HFTA_USAGE);
    hfta_instance_set_total_steps(instance.get(), 10);
    EXPECT_EQ(hfta_instance_update(instance.get()), HFTA_OK);
    states[fails] = stateOf(instance.get(), 0);
  }
  EXPECT_EQ(states[1], states[0]);
}

/// The memory of a destroyed instance stays mapped if other ranks may still be
/// sending to it.
TEST(FailedCalls, OfOtherRanksLeaveTheirMemory) {
  for (bool spills : {false, true}) {
    fake_options options = defaultOptions();
    options.spilled_copies = spills;
    ProgramPointer program = makeProgram(options);
    InstancePointer instance = makeInstance(program.get());
    const hfta_worker &worker = *instance->workers;
    void *place = spills ? worker.spill.arena
                         : worker.memory[FAKE_SEGMENT_GRADIENTS].bases[0];
    static hfta_communicator_functions functions;
    functions = *instance->communicator->functions;
    functions.keeps_memory = [](hfta_communicator *) { return true; };
    instance->communicator->functions = &functions;
    instance.reset();
    auto page = reinterpret_cast<uintptr_t>(place);
    page -= page % static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char is_there;
    EXPECT_EQ(mincore(reinterpret_cast<void *>(page), 1, &is_there), 0);
  }
}
