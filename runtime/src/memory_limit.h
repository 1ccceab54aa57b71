//===- memory_limit.h - How much memory the process may have ----*- C -*-===//

#ifndef HFTA_SRC_MEMORY_LIMIT_H
#define HFTA_SRC_MEMORY_LIMIT_H

#include <stdint.h>

/// Bytes, swap included: what the machine has, or its control groups allow.
uint64_t hfta_memory_limit(void);

/// What the control groups allow that the file `groups` lists, as
/// /proc/self/cgroup does, in the tree at `root`, on a machine with `swap`
/// bytes of swap. UINT64_MAX: they set no limit.
uint64_t hfta_group_memory_limit(const char *groups, const char *root,
                                 uint64_t swap);

#endif // HFTA_SRC_MEMORY_LIMIT_H
