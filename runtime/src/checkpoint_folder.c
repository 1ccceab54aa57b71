//===- checkpoint_folder.c - Which checkpoints there are ------------------===//

#include "checkpoint_impl.h"
#include "path.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *hfta_checkpoint_name(int64_t step,
                                 char buffer[HFTA_CHECKPOINT_NAME_BYTES]) {
  snprintf(buffer, HFTA_CHECKPOINT_NAME_BYTES, "step-%08" PRId64, step);
  return buffer;
}

/// The step in a checkpoint's name, -1 if it is none.
static int64_t parse_name(const char *name) {
  if (strncmp(name, "step-", 5) != 0)
    return -1;
  int64_t step = 0;
  size_t digits = strspn(name + 5, "0123456789");
  if (digits < 8 || digits > 18)
    return -1;
  for (size_t i = 0; i < digits; ++i)
    step = step * 10 + (name[5 + i] - '0');
  const char *rest = name + 5 + digits;
  return rest[strspn(rest, "/")] == '\0' ? step : -1;
}

int64_t hfta_checkpoint_step_of(const char *path) {
  return parse_name(hfta_path_name(path));
}

/// The newest checkpoint below `limit`; -1 if there is none.
static int64_t newest_below(const char *folder, int64_t limit) {
  DIR *directory = opendir(folder);
  if (!directory)
    return -1;
  int64_t newest = -1;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    int64_t step = parse_name(entry->d_name);
    if (step < limit && step > newest)
      newest = step;
  }
  closedir(directory);
  return newest;
}

int64_t hfta_checkpoint_newest(const char *folder) {
  return newest_below(folder, INT64_MAX);
}

static hfta_status remove_leftovers(const char *folder, hfta_error *error) {
  DIR *directory = opendir(folder);
  if (!directory)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot open folder '%s': %s",
                     folder, strerror(errno));
  hfta_status status = HFTA_OK;
  for (struct dirent *entry;
       status == HFTA_OK && (entry = readdir(directory)) != NULL;) {
    hfta_path path;
    if (strncmp(entry->d_name, ".hfta-", 6) != 0)
      continue;
    status = hfta_path_format(&path, error, "%s/%s", folder, entry->d_name);
    if (status == HFTA_OK)
      status = hfta_folder_remove(path.text, error);
  }
  closedir(directory);
  return status;
}

hfta_status hfta_checkpoint_prepare(const char *folder, hfta_error *error) {
  hfta_status status = hfta_folder_make(folder, error);
  if (status == HFTA_OK)
    status = remove_leftovers(folder, error);
  hfta_path probe;
  if (status == HFTA_OK)
    status = hfta_path_format(&probe, error, "%s/.hfta-probe-%ld", folder,
                              (long)getpid());
  if (status != HFTA_OK)
    return status;
  if (mkdir(probe.text, 0777) != 0)
    return hfta_fail(error, HFTA_CANNOT_WRITE,
                     "cannot write to checkpoint folder '%s': %s", folder,
                     strerror(errno));
  rmdir(probe.text);
  return HFTA_OK;
}

/// Renames it first, so that no half-removed folder has a checkpoint's name.
static hfta_status remove_checkpoint(const char *folder, int64_t step,
                                     hfta_error *error) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_path path, doomed;
  hfta_checkpoint_name(step, name);
  hfta_status status = hfta_path_format(&path, error, "%s/%s", folder, name);
  if (status == HFTA_OK)
    status = hfta_path_format(&doomed, error, "%s/.hfta-remove-%s-%ld", folder,
                              name, (long)getpid());
  if (status != HFTA_OK)
    return status;
  if (rename(path.text, doomed.text) != 0)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot remove '%s': %s",
                     path.text, strerror(errno));
  return hfta_folder_remove(doomed.text, error);
}

hfta_status hfta_checkpoint_prune(const char *folder, int64_t step,
                                  int64_t keep, hfta_error *error) {
  int64_t limit = step + 1;
  for (int64_t kept = 0; kept < keep; ++kept) {
    limit = newest_below(folder, limit);
    if (limit < 0)
      return HFTA_OK;
  }
  hfta_status status = HFTA_OK;
  while (status == HFTA_OK && (limit = newest_below(folder, limit)) >= 0)
    status = remove_checkpoint(folder, limit, error);
  return status;
}
