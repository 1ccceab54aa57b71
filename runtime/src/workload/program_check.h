//===- program_check.h - Checks of a program's schedules ----------*- C -*-===//

#ifndef HFTA_SRC_WORKLOAD_PROGRAM_CHECK_H
#define HFTA_SRC_WORKLOAD_PROGRAM_CHECK_H

#include "hfta/program_queries.h"

/// Checks stages, orders of actions, and the commands of all schedules; the
/// other tables must have been checked. HFTA_INTERNAL names the first that
/// isn't valid.
hfta_status hfta_program_check_schedules(const hfta_program *program,
                                         hfta_error *error);

#endif // HFTA_SRC_WORKLOAD_PROGRAM_CHECK_H
