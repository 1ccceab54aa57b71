//===- program_check.h - Are a program's schedules sound --------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_PROGRAM_CHECK_H
#define HFTA_SRC_SCHEDULE_PROGRAM_CHECK_H

#include "hfta/instance.h"

/// Checks stages, orders, and the commands of all schedules, after all other
/// tables were checked. HFTA_INTERNAL names the first that isn't sound.
hfta_status hfta_program_check_schedules(const hfta_program *program,
                                         hfta_error *error);

#endif // HFTA_SRC_SCHEDULE_PROGRAM_CHECK_H
