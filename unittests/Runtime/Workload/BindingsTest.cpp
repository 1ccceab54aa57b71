//===- BindingsTest.cpp - Tests that operands lie in their segments -------===//

#include "FakeProgram.h"
#include "RuntimeTest.h"
#include "workload/program_check.h"

#include <gtest/gtest.h>

namespace {

class Bindings : public testing::Test {
protected:
  Bindings() {
    fake_options options = defaultOptions();
    options.copies = 2;
    program = fake_program_make(&options);
    task = const_cast<hfta_task *>(&program->tasks[0]);
    launch = const_cast<hfta_launch *>(&task->launches[0]);
    binding = const_cast<hfta_binding *>(&launch->bindings[0]);
    segment = &program->segments[binding->segment];
  }
  ~Bindings() override { fake_program_free(program); }

  std::string check() const {
    hfta_error error = {};
    return hfta_program_check(program, &error) == HFTA_OK ? "" : error.message;
  }
  std::string refusal() const {
    return std::string("program '") + program->name + "': task '" + task->name +
           "' has invalid launches";
  }

  hfta_program *program;
  hfta_task *task;
  hfta_launch *launch;
  hfta_binding *binding;
  const hfta_segment *segment;
};

} // namespace

TEST_F(Bindings, EndWithTheirSegment) {
  binding->offset = 0;
  binding->copy_stride = segment->bytes / 2;
  binding->bytes = segment->bytes - binding->copy_stride;
  EXPECT_EQ(check(), "");
  ++binding->bytes;
  EXPECT_EQ(check(), refusal());
  // The second copy's place would wrap around to the segment's beginning.
  binding->offset = 64;
  binding->copy_stride = UINT64_C(0) - 64;
  binding->bytes = 0;
  EXPECT_EQ(check(), refusal());
  binding->offset = 0;
  binding->bytes = segment->bytes - segment->bytes / 2 + 1;
  // With a stride of 0, all copies use the same bytes, so only these must lie
  // in the segment.
  binding->copy_stride = 0;
  EXPECT_EQ(check(), "");
  binding->offset = segment->bytes + 1;
  binding->bytes = 0;
  EXPECT_EQ(check(), refusal());
}

TEST_F(Bindings, CountTheCopiesOfTheirLaunch) {
  binding->offset = 0;
  binding->copy_stride = segment->bytes;
  binding->bytes = segment->bytes;
  EXPECT_EQ(check(), refusal());
  launch->per_copy = 0;
  launch->joins = 0;
  EXPECT_EQ(check(), "");
  launch->copy = 1;
  EXPECT_EQ(check(), refusal());
  launch->copy = 0;
  EXPECT_EQ(check(), "");
}

TEST_F(Bindings, AccessWhatTheirTaskLists) {
  uint32_t other = (binding->segment + 1) % program->segment_count;
  task->reads = task->writes = &other;
  task->read_count = task->write_count = 1;
  for (uint32_t access : {HFTA_ACCESS_READ, HFTA_ACCESS_WRITE}) {
    binding->access = access;
    EXPECT_EQ(check(), refusal());
    (access == HFTA_ACCESS_READ ? task->reads : task->writes) =
        &binding->segment;
    EXPECT_EQ(check(), "");
  }
}

// In a command all_reduce, a task runs for blocks of sums instead of copies. As
// there may be fewer blocks than copies, its bindings aren't checked for all
// copies.
TEST_F(Bindings, CountNoBlocks) {
  binding->offset = 0;
  binding->copy_stride = binding->bytes = segment->bytes;
  hfta_command command = {};
  command.subject = static_cast<uint32_t>(task - program->tasks);
  hfta_schedule schedule = program->schedules[0];
  schedule.commands = &command;
  schedule.command_count = 1;
  program->schedules = &schedule;
  program->schedule_count = 1;
  command.kind = HFTA_COMMAND_RUN;
  EXPECT_EQ(check(), refusal());
  command.kind = HFTA_COMMAND_ALL_REDUCE;
  EXPECT_NE(check(), refusal());
}
