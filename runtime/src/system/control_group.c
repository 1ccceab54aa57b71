//===- control_group.c - The limits of control groups ---------------------===//

#include "system/control_group.h"
#include "system/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const hfta_group_files hfta_system_groups = {"/proc/self/cgroup",
                                             "/sys/fs/cgroup"};

int hfta_read_group_file(const char *folder, const char *name, int64_t *out,
                         int most) {
  hfta_path path;
  if (hfta_path_format(&path, NULL, "%s/%s", folder, name) != HFTA_OK)
    return 0;
  FILE *file = fopen(path.text, "re");
  if (!file)
    return 0;
  int count = 0;
  while (count < most && fscanf(file, "%" SCNd64, &out[count]) == 1)
    ++count;
  fclose(file);
  return count;
}

/// Returns whether a comma-separated list contains a controller.
static bool has_controller(const char *list, const char *controller) {
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    size_t length = strcspn(at, ",");
    if (length == strlen(controller) && memcmp(at, controller, length) == 0)
      return true;
  }
  return false;
}

/// A visit of all groups that have a certain controller.
typedef struct search {
  hfta_group_visitor visit;
  void *argument;
  const char *root;
} search;

/// Visits a group and all its ancestors, in the tree mounted at root/folder.
static void visit_up_from(const search *self, const char *folder,
                          const char *name, bool is_version_1) {
  hfta_path group;
  if (hfta_path_format(&group, NULL, "%s%s%s", self->root, folder, name) !=
      HFTA_OK)
    return;
  size_t top = strlen(self->root) + strlen(folder);
  for (;;) {
    self->visit(self->argument, group.text, is_version_1);
    char *last = strrchr(group.text + top, '/');
    if (!last)
      return;
    *last = '\0';
  }
}

void hfta_visit_groups(const hfta_group_files *files, const char *controller,
                       hfta_group_visitor visit, void *argument) {
  FILE *file = fopen(files->groups, "re");
  if (!file)
    return;
  search self = {visit, argument, files->root};
  hfta_path version_1;
  hfta_status status = hfta_path_format(&version_1, NULL, "/%s", controller);
  char line[4096];
  while (status == HFTA_OK && fgets(line, sizeof(line), file)) {
    // A line has the form number:controllers:path.
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *name = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!name)
      continue;
    *controllers++ = '\0';
    *name++ = '\0';
    if (has_controller(controllers, controller)) {
      visit_up_from(&self, version_1.text, name, true);
    } else if (strcmp(line, "0") == 0) {
      visit_up_from(&self, "", name, false);
      // The tree of version 2 is mounted here if version 1 is in use too.
      visit_up_from(&self, "/unified", name, false);
    }
  }
  fclose(file);
}
