//===- print_schedules.h - A program's schedules as text --------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_PRINT_SCHEDULES_H
#define HFTA_SRC_COMMANDS_PRINT_SCHEDULES_H

#include "hfta/program.h"

/// Prints all schedules to standard output, as `hftac --emit=scheduled` has
/// them.
void hfta_print_schedules(const hfta_program *program);

#endif // HFTA_SRC_COMMANDS_PRINT_SCHEDULES_H
