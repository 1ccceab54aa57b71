//===- program_check.h - Are a program's schedules sound --------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_PROGRAM_CHECK_H
#define HFTA_SRC_SCHEDULE_PROGRAM_CHECK_H

#include "hfta/instance.h"

/// Stages, orders, and the commands of all schedules: HFTA_INTERNAL names the
/// first that isn't sound. All other tables are.
hfta_status hfta_program_check_schedules(const hfta_program *program,
                                         hfta_error *error);

#endif // HFTA_SRC_SCHEDULE_PROGRAM_CHECK_H
