//===- bench_phases.h - A step's phases beside their limits -----*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_BENCH_PHASES_H
#define HFTA_SRC_COMMANDS_BENCH_PHASES_H

#include "commands/machine_limits.h"
#include "schedule/instance_impl.h"

/// Prints a table of the phases of a step: time, what the plan counts as flops
/// and bytes of kernels' operands, and the least time that these need by the
/// limits of the processor. `seconds` holds the time of each task in `steps`
/// steps.
hfta_status hfta_print_phases(const hfta_program *program,
                              const hfta_machine_limits *limits,
                              const double *seconds, int64_t steps, int threads,
                              hfta_error *error);

#endif // HFTA_SRC_COMMANDS_BENCH_PHASES_H
