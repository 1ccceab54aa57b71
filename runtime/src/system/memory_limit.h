//===- memory_limit.h - How much memory the process may have ----*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_MEMORY_LIMIT_H
#define HFTA_SRC_SYSTEM_MEMORY_LIMIT_H

#include "system/control_group.h"

/// Returns an upper bound of the bytes that the process can allocate: the
/// machine's memory and swap space, the limits of control groups, and how much
/// its own limits (setrlimit) leave; the smallest of these.
uint64_t hfta_memory_limit(void);

/// Returns the bytes of memory and swap space that the control groups of the
/// process allow; UINT64_MAX without a limit. `swap` is the size of the
/// machine's swap space.
uint64_t hfta_group_memory_limit(const hfta_group_files *files, uint64_t swap);

/// Returns how many bytes the limits RLIMIT_AS and RLIMIT_DATA leave, given the
/// process' use of memory in the file `statm` (/proc/self/statm). UINT64_MAX
/// without a limit.
uint64_t hfta_process_memory_limit(const char *statm);

#endif // HFTA_SRC_SYSTEM_MEMORY_LIMIT_H
