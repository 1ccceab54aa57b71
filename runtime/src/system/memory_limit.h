//===- memory_limit.h - How much memory the process may have ----*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_MEMORY_LIMIT_H
#define HFTA_SRC_SYSTEM_MEMORY_LIMIT_H

#include "system/control_group.h"

/// Returns the bytes of memory, swap included, that the process may still
/// allocate: those of the machine, or fewer if control groups or the process'
/// own limits say so.
uint64_t hfta_memory_limit(void);

/// Returns the bytes that control groups allow; `swap` is the machine's swap
/// space. UINT64_MAX without a limit.
uint64_t hfta_group_memory_limit(const hfta_group_files *files, uint64_t swap);

/// Returns the bytes that RLIMIT_AS and RLIMIT_DATA leave, given the use that
/// the file `statm` (/proc/self/statm) reports. UINT64_MAX without a limit.
uint64_t hfta_process_memory_limit(const char *statm);

#endif // HFTA_SRC_SYSTEM_MEMORY_LIMIT_H
