//===- memory_limit.c - How much memory the process may have --------------===//

#include "system/memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static uint64_t smaller(uint64_t one, uint64_t other) {
  return one < other ? one : other;
}

static uint64_t sum(uint64_t one, uint64_t other) {
  return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

//===----------------------------------------------------------------------===//
// Control groups
//===----------------------------------------------------------------------===//

typedef struct group_limit {
  uint64_t swap;  ///< size of the machine's swap space in bytes
  uint64_t bytes; ///< the smallest limit of the groups visited so far
} group_limit;

static uint64_t read_limit(const char *group, const char *name) {
  int64_t limit;
  return hfta_read_group_file(group, name, &limit, 1) ? (uint64_t)limit
                                                      : UINT64_MAX;
}

static void visit(void *argument, const char *folder, bool is_version_1) {
  group_limit *self = argument;
  uint64_t bytes;
  if (is_version_1) {
    // memory.memsw.limit_in_bytes limits memory and swap together.
    uint64_t memory = read_limit(folder, "memory.limit_in_bytes");
    bytes = smaller(sum(memory, self->swap),
                    read_limit(folder, "memory.memsw.limit_in_bytes"));
  } else {
    uint64_t memory = read_limit(folder, "memory.max");
    bytes =
        sum(memory, smaller(self->swap, read_limit(folder, "memory.swap.max")));
  }
  self->bytes = smaller(self->bytes, bytes);
}

uint64_t hfta_group_memory_limit(const hfta_group_files *files, uint64_t swap) {
  group_limit self = {swap, UINT64_MAX};
  hfta_visit_groups(files, "memory", visit, &self);
  return self.bytes;
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// Returns how much of a resource's limit is left if `used` bytes are in use.
static uint64_t what_is_left(int resource, uint64_t used) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

uint64_t hfta_process_memory_limit(const char *statm) {
  // The fields of statm, in pages: size, resident, shared, code, libraries
  // (always 0), data and stack.
  uint64_t all = 0, data = 0;
  FILE *file = fopen(statm, "re");
  if (file) {
    if (fscanf(file, "%" SCNu64 " %*s %*s %*s %*s %" SCNu64, &all, &data) != 2)
      all = data = 0;
    fclose(file);
  }
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  return smaller(what_is_left(RLIMIT_AS, all * page),
                 what_is_left(RLIMIT_DATA, data * page));
}

uint64_t hfta_memory_limit(void) {
  uint64_t bytes = hfta_process_memory_limit("/proc/self/statm");
  struct sysinfo info;
  if (sysinfo(&info) != 0)
    return bytes;
  uint64_t swap = (uint64_t)info.totalswap * info.mem_unit;
  bytes = smaller(bytes, (uint64_t)info.totalram * info.mem_unit + swap);
  return smaller(bytes, hfta_group_memory_limit(&hfta_system_groups, swap));
}
