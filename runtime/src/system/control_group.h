//===- control_group.h - What a control group allows ------------*- C -*-===//
//
// Control groups (a container's, a batch job's) limit what a process may use:
// Linux' cgroups(7), both versions.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_CONTROL_GROUP_H
#define HFTA_SRC_SYSTEM_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/// Where the system tells of groups.
typedef struct hfta_group_files {
  const char *groups; ///< which groups the process is in: /proc/self/cgroup
  const char *root;   ///< where their trees are mounted: /sys/fs/cgroup
} hfta_group_files;

extern const hfta_group_files hfta_system_groups;

/// Gets the folder of a group, and whether it is of the first version.
typedef void (*hfta_group_visitor)(void *argument, const char *folder,
                                   bool is_version_1);

/// Calls `visit` for the process' groups with a controller ("memory", "cpu")
/// and for all groups above them. Folders that aren't there are visited too: a
/// container may see its own group as the root and be told a path that it
/// doesn't see.
void hfta_visit_groups(const hfta_group_files *files, const char *controller,
                       hfta_group_visitor visit, void *argument);

/// Reads up to `most` whole numbers at the beginning of folder/name; how many
/// there are, 0 also where the file is not.
int hfta_read_group_file(const char *folder, const char *name, int64_t *out,
                         int most);

#endif // HFTA_SRC_SYSTEM_CONTROL_GROUP_H
