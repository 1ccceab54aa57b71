//===- cpu_limit.h - How many processors the process may use ----*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_CPU_LIMIT_H
#define HFTA_SRC_SYSTEM_CPU_LIMIT_H

#include "system/control_group.h"

/// Returns the number of processors that the process may run on, or the number
/// whose time its control groups grant if that is less. At least 1.
int64_t hfta_cpu_limit(void);

/// Returns the number of processors whose time the control groups of the
/// process grant, rounded up; INT64_MAX without a limit.
int64_t hfta_group_cpu_limit(const hfta_group_files *files);

#endif // HFTA_SRC_SYSTEM_CPU_LIMIT_H
