//===- FakeSchedules.h - The fake program's schedules -----------*- C -*-===//

#ifndef HFTA_UNITTESTS_FAKE_SCHEDULES_H
#define HFTA_UNITTESTS_FAKE_SCHEDULES_H

#include "FakeProgram.h"

enum { FAKE_SCHEDULE_COUNT = 6, FAKE_MAX_COMMANDS = 64 };

/// The schedules of a program, and their commands. `initialize` and `infer`
/// come first, because a program for inference has only these. A program that
/// spills lacks the last two, `accumulate` and `update`, because its gradients
/// don't stay in memory from one schedule to the next.
typedef struct fake_schedules {
  hfta_schedule rows[FAKE_SCHEDULE_COUNT];
  hfta_command commands[FAKE_SCHEDULE_COUNT][FAKE_MAX_COMMANDS];
} fake_schedules;

/// Makes the schedules of a program whose segments and tensors are complete.
void fake_schedules_make(fake_schedules *self, const hfta_program *program,
                         const fake_options *options);

#endif // HFTA_UNITTESTS_FAKE_SCHEDULES_H
