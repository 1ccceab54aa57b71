//===- WorkloadTest.cpp - Tests of the memory that a workload needs -------===//

#include "gtest/gtest.h"

extern "C" {
#include "workload/memory_plan.h"
#include "workload/workload.h"
}

namespace {
/// A program of four copies with two workspaces: segment 0 has a slab for each
/// copy, segment 1 is shared by all copies. The task of `step` uses much of
/// both, the task of `infer` only a little of the slabs.
struct Workspaces {
  Workspaces() {
    program.target = "cpu";
    segments[0].role = segments[1].role = HFTA_SEGMENT_WORKSPACE;
    segments[0].copy_bytes = 4096;
    segments[0].bytes = 4 * segments[0].copy_bytes;
    segments[1].bytes = 512;
    for (hfta_segment &segment : segments)
      segment.instances = 1;
    tasks[0] = {"forward.0",         nullptr, both, both, far, 0, 2, 2,
                HFTA_TASK_BY_COPIES, 2,       0};
    tasks[1] = {
        "infer", nullptr, both, both, near, 0, 1, 1, HFTA_TASK_BY_COPIES, 1, 0};
    commands[0].kind = HFTA_COMMAND_REPEAT;
    commands[0].subject = HFTA_REPEAT_TURNS;
    commands[0].length = 1;
    commands[2] = commands[0];
    commands[3].subject = 1; // the kind of a command is `run` by default
    schedules[0] = {"initialize", nullptr, nullptr, 0, 0, -1, 0};
    schedules[1] = {"step", commands, nullptr, 2, 0, -1, 0};
    schedules[2] = {"infer", commands + 2, nullptr, 2, 0, -1, 0};
    program.copies = 4;
    program.micro_batches = program.workers = 1;
    program.stages = &stage;
    program.stage_count = 1;
    program.segments = segments;
    program.segment_count = 2;
    program.tasks = tasks;
    program.task_count = 2;
    program.schedules = schedules;
    program.schedule_count = 3;
  }

  uint64_t getBytes(const char *schedule, int64_t copies, int threads) const {
    hfta_workload workload = schedule ? hfta_workload_of(schedule, 0, copies)
                                      : hfta_workload_of_all(&program);
    return hfta_workload_memory(&program, &workload, threads).workspace;
  }

  const uint32_t both[2] = {0, 1};
  const hfta_extent far[2] = {{0, 0, 4096}, {1, 0, 512}};
  const hfta_extent near[1] = {{0, 0, 64}};
  hfta_segment segments[2] = {};
  hfta_task tasks[2] = {};
  hfta_command commands[4] = {};
  hfta_schedule schedules[3] = {};
  hfta_stage stage = {1, 1, 1};
  hfta_program program = {};
};
} // namespace

TEST(Workload, WorkspacesAreAsLargeAsItsTasksNeed) {
  Workspaces self;
  EXPECT_EQ(self.getBytes("infer", 1, 1), 64u);
  EXPECT_EQ(self.getBytes("step", 1, 1), 4096u + 512u);
  EXPECT_EQ(self.getBytes(nullptr, 4, 1), 4096u + 512u);
}

TEST(Workload, SlabsLieAsFarApartForAllTasks) {
  Workspaces self;
  EXPECT_EQ(self.getBytes("infer", 4, 3), 2 * 4096u + 64u);
  EXPECT_EQ(self.getBytes("step", 4, 3), 3 * 4096u + 512u);
  // If a schedule keeps the segment, each of the four copies has a slab, not
  // just those of a turn.
  const uint32_t kept = 0;
  self.schedules[2].keeps = &kept;
  self.schedules[2].keep_count = 1;
  EXPECT_EQ(self.getBytes("infer", 1, 1), 3 * 4096u + 64u);
}

TEST(Workload, ATaskThatDoesNotTellNeedsAll) {
  Workspaces self;
  self.tasks[1].workspace_count = 0;
  EXPECT_EQ(self.getBytes("infer", 1, 1), 4096u);
}

TEST(Workload, ADeviceHasSlabsOfSomeCopies) {
  Workspaces self;
  self.segments[1].role = HFTA_SEGMENT_PARAMETERS;
  self.segments[1].copy_bytes = 512;
  self.segments[1].bytes = 4 * 512;
  // A GPU runs all copies at once.
  self.program.target = "cuda";
  hfta_workload all = hfta_workload_of_all(&self.program);
  auto getBytes = [&](int64_t slabs, uint32_t segment) {
    all.slabs = slabs;
    return hfta_workload_segment_bytes(&self.program, &all, segment, 4);
  };
  // State has a slab for each copy, even if no schedule keeps it.
  EXPECT_EQ(getBytes(0, 0), 4 * 4096u);
  EXPECT_EQ(getBytes(0, 1), 4 * 512u);
  EXPECT_EQ(getBytes(3, 0), 3 * 4096u);
  EXPECT_EQ(getBytes(3, 1), 3 * 512u);
  EXPECT_EQ(hfta_workload_copies_at_once(&self.program, &all, 4), 3);
  EXPECT_EQ(getBytes(9, 1), 4 * 512u);
  // If the GPU can't hold all copies, the host keeps each copy's parameters,
  // but no workspace.
  EXPECT_EQ(hfta_workload_waiting_bytes(&self.program, &all, 0), 0u);
  EXPECT_EQ(hfta_workload_waiting_bytes(&self.program, &all, 1), 512u);
  hfta_device_needs needs = hfta_find_device_needs(&self.program);
  EXPECT_EQ(needs.first_copy, 4096u + 512u);
  EXPECT_EQ(needs.next_copy, 4096u + 512u);
  EXPECT_EQ(needs.waiting_copy, 512u);
}

/// One kernel runs once per copy, the other one once for all copies together.
TEST(Workload, AGpuHasScratchMemoryForTheCopiesThatGoAtOnce) {
  Workspaces self;
  self.program.target = "cuda";
  hfta_launch launches[2] = {};
  launches[0].per_copy = 1;
  launches[0].items = 33;
  launches[0].block_threads = 32;
  launches[0].scratch_bytes = 1000;
  launches[1] = launches[0];
  launches[1].per_copy = 0;
  launches[1].scratch_bytes = 1500;
  self.tasks[0].launches = launches;
  self.tasks[0].launch_count = 2;
  hfta_workload all = hfta_workload_of_all(&self.program);
  auto getScratch = [&](int64_t slabs) {
    all.slabs = slabs;
    launches[0].scratch_bytes = launches[1].scratch_bytes = 0;
    uint64_t others = hfta_workload_device_bytes(&self.program, &all);
    launches[0].scratch_bytes = 1000;
    launches[1].scratch_bytes = 1500;
    return hfta_workload_device_bytes(&self.program, &all) - others;
  };
  EXPECT_EQ(getScratch(0), 4 * 64 * 1000u);
  EXPECT_EQ(getScratch(3), 3 * 64 * 1000u);
  EXPECT_EQ(getScratch(1), 64 * 1500u);
  hfta_device_needs needs = hfta_find_device_needs(&self.program);
  EXPECT_EQ(needs.first_copy, 4096u + 512u + 64 * 1500u);
}

TEST(Workload, WhatAllCopiesNeedTogetherKeepsThemFromTurns) {
  Workspaces self;
  hfta_workload all = hfta_workload_of_all(&self.program);
  EXPECT_EQ(hfta_workload_find_common(&self.program, &all), nullptr);
  // State that copies share would be written in each turn, so copies can't take
  // turns.
  self.segments[1].role = HFTA_SEGMENT_STATISTICS;
  hfta_binding binding = {};
  binding.segment = 1;
  binding.access = HFTA_ACCESS_WRITE;
  hfta_launch launch = {};
  launch.bindings = &binding;
  launch.binding_count = 1;
  launch.copy = -1;
  self.tasks[0].launches = &launch;
  self.tasks[0].launch_count = 1;
  EXPECT_STREQ(hfta_workload_find_common(&self.program, &all), "forward.0");
  // A task for a single copy writes state only once, so copies can take turns.
  launch.copy = 2;
  EXPECT_EQ(hfta_workload_find_common(&self.program, &all), nullptr);
  self.tasks[0].flags = 0;
  EXPECT_STREQ(hfta_workload_find_common(&self.program, &all), "forward.0");
  hfta_workload infer = hfta_workload_of("infer", 0, 4);
  EXPECT_EQ(hfta_workload_find_common(&self.program, &infer), nullptr);
}
