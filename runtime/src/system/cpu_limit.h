//===- cpu_limit.h - How many processors the process may use ----*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_CPU_LIMIT_H
#define HFTA_SRC_SYSTEM_CPU_LIMIT_H

#include "system/control_group.h"

/// Processors that the process may run on, fewer where a control group grants
/// it less time than theirs. At least 1.
int64_t hfta_cpu_limit(void);

/// The processors whose time control groups grant, a started one counted.
/// INT64_MAX: no limit.
int64_t hfta_group_cpu_limit(const hfta_group_files *files);

#endif // HFTA_SRC_SYSTEM_CPU_LIMIT_H
