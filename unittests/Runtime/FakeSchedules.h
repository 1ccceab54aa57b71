//===- FakeSchedules.h - The fake program's schedules -----------*- C -*-===//

#ifndef HFTA_UNITTESTS_FAKE_SCHEDULES_H
#define HFTA_UNITTESTS_FAKE_SCHEDULES_H

#include "FakeProgram.h"

enum { FAKE_SCHEDULE_COUNT = 6, FAKE_MAX_COMMANDS = 64 };

/// The schedules. `initialize` and `infer`, which are all that inference needs,
/// come first. Gradients that aren't resident can't wait for an update in
/// another schedule, so programs that spill lack the last two.
typedef struct fake_schedules {
  hfta_schedule rows[FAKE_SCHEDULE_COUNT];
  hfta_command commands[FAKE_SCHEDULE_COUNT][FAKE_MAX_COMMANDS];
} fake_schedules;

/// Makes the schedules of a program that already has its segments and tensors.
void fake_schedules_make(fake_schedules *self, const hfta_program *program,
                         const fake_options *options);

#endif // HFTA_UNITTESTS_FAKE_SCHEDULES_H
