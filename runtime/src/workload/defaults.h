//===- defaults.h - Device and threads, unless others are named ---*- C -*-===//

#ifndef HFTA_SRC_WORKLOAD_DEFAULTS_H
#define HFTA_SRC_WORKLOAD_DEFAULTS_H

#include "hfta/program.h"

/// Returns the name of the device that a program's tasks run on: `text` unless
/// it is NULL, else the one that is usual for the program's target, such as
/// "cpu".
const char *hfta_program_device(const hfta_program *program, const char *text);

/// Returns the number of threads to use: `threads` if that isn't 0, else one
/// per processor, but at most the number for which memory is planned. For a
/// target that runs all copies at once, such as a GPU, it is the number of
/// copies.
int hfta_program_threads(const hfta_program *program, int64_t threads);

#endif // HFTA_SRC_WORKLOAD_DEFAULTS_H
