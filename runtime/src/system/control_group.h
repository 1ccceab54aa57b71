//===- control_group.h - The limits of control groups -------------*- C -*-===//
//
// Control groups, as set up by a container or a batch system, limit the
// processors and memory that a process may use. See Linux' cgroups(7); both
// versions are supported.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_CONTROL_GROUP_H
#define HFTA_SRC_SYSTEM_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/// The files in which Linux describes control groups. Tests replace them.
typedef struct hfta_group_files {
  const char *groups; ///< file that lists the groups of the process:
                      ///< /proc/self/cgroup
  const char *root;   ///< mount point of the groups' trees: /sys/fs/cgroup
} hfta_group_files;

/// The files of the running system.
extern const hfta_group_files hfta_system_groups;

/// A function that is called with the folder of a group and whether the group
/// is of version 1.
typedef void (*hfta_group_visitor)(void *argument, const char *folder,
                                   bool is_version_1);

/// Calls `visit` for each group of the process that has a controller ("memory",
/// "cpu"), and for all its ancestors. Folders that don't exist are visited too:
/// in a container, the process' own group may be the root of the tree, although
/// its listed path is outside the container.
void hfta_visit_groups(const hfta_group_files *files, const char *controller,
                       hfta_group_visitor visit, void *argument);

/// Reads up to `most` integers at the beginning of the file folder/name.
/// Returns how many were read; 0 if there is no such file.
int hfta_read_group_file(const char *folder, const char *name, int64_t *out,
                         int most);

#endif // HFTA_SRC_SYSTEM_CONTROL_GROUP_H
