//===- costs.h - Measured times of tasks, from a file -----------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_COSTS_H
#define HFTA_SRC_DEVICE_COSTS_H

#include "hfta/program.h"
#include "hfta/status.h"

/// Reads the output of `bench --phases --json`. `seconds` has an entry for each
/// task of the program and is filled with the time of one run; 0 for a task
/// that the file doesn't have. HFTA_INVALID_INPUT, naming file and task, if the
/// file lacks a task of a step (or of an inference) or isn't such a file.
hfta_status hfta_costs_read(const char *path, const hfta_program *program,
                            double *seconds, hfta_error *error);

#endif // HFTA_SRC_DEVICE_COSTS_H
