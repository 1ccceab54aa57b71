//===- costs.h - Measured times of tasks, from a file -----------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CPU_COSTS_H
#define HFTA_SRC_DEVICE_CPU_COSTS_H

#include "hfta/program.h"
#include "hfta/status.h"

/// Reads measured times from a file with the output of `bench --phases --json`.
/// `seconds` has an entry for each task of the program; it becomes the time of
/// one run, or 0 for a task that the file doesn't have. Fails with
/// HFTA_INVALID_INPUT, naming file and task, if the file lacks a task of a step
/// (or, in a program that doesn't train, of an inference) or is malformed.
hfta_status hfta_costs_read(const char *path, const hfta_program *program,
                            double *seconds, hfta_error *error);

#endif // HFTA_SRC_DEVICE_CPU_COSTS_H
