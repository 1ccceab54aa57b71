//===- memory_limit.c - How much memory the process may have --------------===//
//
// What the machine has, or less where a control group (a container's, a batch
// job's) limits it: Linux' cgroups(7), both versions.
//===----------------------------------------------------------------------===//

#include "memory_limit.h"
#include "path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

/// The files of one version of control groups.
typedef struct group_files {
  const char *folder; ///< under the root: where its tree may be mounted
  const char *memory;
  const char *swap;
  bool swap_is_sum; ///< with the memory
} group_files;

static const group_files version_1 = {"/memory", "memory.limit_in_bytes",
                                      "memory.memsw.limit_in_bytes", true};
static const group_files version_2 = {"", "memory.max", "memory.swap.max",
                                      false};
static const group_files version_2_beside_1 = {"/unified", "memory.max",
                                               "memory.swap.max", false};

static uint64_t smaller(uint64_t one, uint64_t other) {
  return one < other ? one : other;
}

static uint64_t sum(uint64_t one, uint64_t other) {
  return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

/// UINT64_MAX if the file isn't there or sets no limit.
static uint64_t read_limit(const char *group, const char *name) {
  hfta_path path;
  if (hfta_path_format(&path, NULL, "%s/%s", group, name) != HFTA_OK)
    return UINT64_MAX;
  FILE *file = fopen(path.text, "re");
  if (!file)
    return UINT64_MAX;
  uint64_t limit = 0;
  bool is_number = fscanf(file, "%" SCNu64, &limit) == 1;
  fclose(file);
  return is_number ? limit : UINT64_MAX;
}

/// Of one group.
static uint64_t limit_of(const char *group, const group_files *files,
                         uint64_t swap) {
  uint64_t memory = read_limit(group, files->memory);
  uint64_t other = read_limit(group, files->swap);
  return files->swap_is_sum ? smaller(sum(memory, swap), other)
                            : sum(memory, smaller(other, swap));
}

/// Of a group and those above it. A container may see its own group as the root
/// and be told a path that it doesn't see.
static uint64_t limit_up_from(const char *root, const group_files *files,
                              const char *name, uint64_t swap) {
  hfta_path group;
  if (hfta_path_format(&group, NULL, "%s%s%s", root, files->folder, name) !=
      HFTA_OK)
    return UINT64_MAX;
  size_t top = strlen(root) + strlen(files->folder);
  uint64_t limit = UINT64_MAX;
  for (;;) {
    limit = smaller(limit, limit_of(group.text, files, swap));
    char *last = strrchr(group.text + top, '/');
    if (!last)
      return limit;
    *last = '\0';
  }
}

/// Whether a comma-separated list has the controller of memory.
static bool has_memory(const char *controllers) {
  static const char name[] = "memory";
  for (const char *at = controllers; at; at = strchr(at, ',')) {
    at += *at == ',';
    size_t length = strcspn(at, ",");
    if (length == strlen(name) && memcmp(at, name, length) == 0)
      return true;
  }
  return false;
}

uint64_t hfta_group_memory_limit(const char *groups, const char *root,
                                 uint64_t swap) {
  FILE *file = fopen(groups, "re");
  if (!file)
    return UINT64_MAX;
  uint64_t limit = UINT64_MAX;
  char line[4096];
  while (fgets(line, sizeof(line), file)) {
    // number:controllers:path
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *name = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!name)
      continue;
    *controllers++ = '\0';
    *name++ = '\0';
    if (has_memory(controllers)) {
      limit = smaller(limit, limit_up_from(root, &version_1, name, swap));
    } else if (strcmp(line, "0") == 0) {
      limit = smaller(limit, limit_up_from(root, &version_2, name, swap));
      limit =
          smaller(limit, limit_up_from(root, &version_2_beside_1, name, swap));
    }
  }
  fclose(file);
  return limit;
}

uint64_t hfta_memory_limit(void) {
  struct sysinfo info;
  if (sysinfo(&info) != 0)
    return UINT64_MAX;
  uint64_t swap = (uint64_t)info.totalswap * info.mem_unit;
  return smaller(
      (uint64_t)info.totalram * info.mem_unit + swap,
      hfta_group_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup", swap));
}
