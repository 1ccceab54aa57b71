//===- costs.h - Measured times of tasks, from a file -----------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_COSTS_H
#define HFTA_SRC_DEVICE_COSTS_H

#include "hfta/program.h"
#include "hfta/status.h"

/// Reads what `bench --phases --json` has printed. `seconds` has one entry a
/// task of the program and becomes those of one run; 0 for a task that the file
/// doesn't have. HFTA_INVALID_INPUT, naming file and task, if the file has none
/// for a task of a step (or of an inference), or isn't such a file.
hfta_status hfta_costs_read(const char *path, const hfta_program *program,
                            double *seconds, hfta_error *error);

#endif // HFTA_SRC_DEVICE_COSTS_H
