//===- memory_limit.h - How much memory the process may have ----*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_MEMORY_LIMIT_H
#define HFTA_SRC_SYSTEM_MEMORY_LIMIT_H

#include "system/control_group.h"

/// Bytes that the process may still come to have, swap included: what the
/// machine has, less where a control group or the process' own limits say so.
uint64_t hfta_memory_limit(void);

/// What control groups allow; `swap` is the machine's. UINT64_MAX: no limit.
uint64_t hfta_group_memory_limit(const hfta_group_files *files, uint64_t swap);

/// What is left of RLIMIT_AS and RLIMIT_DATA; `statm` tells what is used:
/// /proc/self/statm. UINT64_MAX: no limit.
uint64_t hfta_process_memory_limit(const char *statm);

#endif // HFTA_SRC_SYSTEM_MEMORY_LIMIT_H
