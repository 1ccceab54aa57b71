//===- cpu_limit.c - How many processors the process may use --------------===//

#include "system/cpu_limit.h"

#include <sched.h>

/// Visits a group, which may use processors for a quota of time in each period.
/// Its limit is quota / period, rounded up; `argument` points to the smallest
/// limit so far.
static void visit(void *argument, const char *folder, bool is_version_1) {
  int64_t *least = argument, values[2];
  bool is_limited =
      is_version_1
          ? hfta_read_group_file(folder, "cpu.cfs_quota_us", &values[0], 1) &&
                hfta_read_group_file(folder, "cpu.cfs_period_us", &values[1], 1)
          : hfta_read_group_file(folder, "cpu.max", values, 2) == 2;
  // Without a limit, the quota is -1 in version 1, and the word "max" in
  // version 2.
  if (!is_limited || values[0] <= 0 || values[1] <= 0)
    return;
  int64_t count = (values[0] - 1) / values[1] + 1;
  if (count < *least)
    *least = count;
}

int64_t hfta_group_cpu_limit(const hfta_group_files *files) {
  int64_t least = INT64_MAX;
  hfta_visit_groups(files, "cpu", visit, &least);
  return least;
}

int64_t hfta_cpu_limit(void) {
  // The buffer has room for 16 384 processors; the call fails if the machine
  // has more.
  cpu_set_t sets[16];
  int64_t count = 1;
  if (sched_getaffinity(0, sizeof(sets), sets) == 0)
    count = CPU_COUNT_S(sizeof(sets), sets);
  int64_t granted = hfta_group_cpu_limit(&hfta_system_groups);
  count = granted < count ? granted : count;
  return count < 1 ? 1 : count;
}
