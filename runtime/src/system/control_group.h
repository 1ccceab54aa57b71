//===- control_group.h - The limits of control groups -------------*- C -*-===//
//
// Control groups (of a container or a batch job) limit the processors and
// memory that a process may use. See Linux' cgroups(7); both versions are
// supported.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_CONTROL_GROUP_H
#define HFTA_SRC_SYSTEM_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/// The files in which the system describes control groups.
typedef struct hfta_group_files {
  const char *groups; ///< lists the groups of the process: /proc/self/cgroup
  const char *root;   ///< the mount point of their trees: /sys/fs/cgroup
} hfta_group_files;

extern const hfta_group_files hfta_system_groups;

/// Called with the folder of a group, and whether it is of version 1.
typedef void (*hfta_group_visitor)(void *argument, const char *folder,
                                   bool is_version_1);

/// Calls `visit` for the groups of the process that have a controller
/// ("memory", "cpu"), and for all groups above them. Folders that don't exist
/// are visited too: a container may see its own group as the root and yet be
/// given a path outside it.
void hfta_visit_groups(const hfta_group_files *files, const char *controller,
                       hfta_group_visitor visit, void *argument);

/// Reads up to `most` whole numbers at the beginning of folder/name. Returns
/// how many were read; 0 also if there is no such file.
int hfta_read_group_file(const char *folder, const char *name, int64_t *out,
                         int most);

#endif // HFTA_SRC_SYSTEM_CONTROL_GROUP_H
