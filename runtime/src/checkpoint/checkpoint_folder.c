//===- checkpoint_folder.c - The folder of checkpoints --------------------===//

#include "checkpoint/checkpoint_impl.h"
#include "system/path.h"
#include "system/stat_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/// Parses the step at the beginning of a checkpoint's name. `*rest` becomes the
/// text after it. Returns -1 if the name doesn't begin like a checkpoint's.
static int64_t parse_prefix(const char *name, const char **rest) {
  if (strncmp(name, "step-", 5) != 0)
    return -1;
  int64_t step = 0;
  size_t digits = strspn(name + 5, "0123456789");
  if (digits < 8 || digits > 18)
    return -1;
  for (size_t i = 0; i < digits; ++i)
    step = step * 10 + (name[5 + i] - '0');
  *rest = name + 5 + digits;
  return step;
}

/// Returns the step in a checkpoint's name, after which slashes may follow; -1
/// if it is another name.
static int64_t parse_name(const char *name) {
  const char *rest;
  int64_t step = parse_prefix(name, &rest);
  return step >= 0 && rest[strspn(rest, "/")] == '\0' ? step : -1;
}

int64_t hfta_checkpoint_step_of(const char *path) {
  return parse_name(hfta_path_name(path));
}

hfta_status hfta_checkpoint_file(hfta_path *out, const char *checkpoint,
                                 int64_t copy, bool is_best,
                                 hfta_error *error) {
  return hfta_path_format(out, error, "%s/%s-%04" PRId64 ".safetensors",
                          checkpoint, is_best ? "best" : "copy", copy);
}

/// Returns the step of the newest checkpoint before step `limit`; -1 if there
/// is none or the folder can't be opened.
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

//===----------------------------------------------------------------------===//
// Removing
//===----------------------------------------------------------------------===//

hfta_status hfta_checkpoint_discard(const char *folder, const char *path,
                                    hfta_error *error) {
  hfta_path prefix, doomed;
  hfta_status status =
      hfta_path_format(&prefix, error, "%s/.hfta-remove-", folder);
  if (status == HFTA_OK)
    status = hfta_path_unique(&doomed, prefix.text, error);
  if (status != HFTA_OK)
    return status;
  if (rename(path, doomed.text) != 0)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot remove '%s': %s", path,
                     strerror(errno));
  return hfta_folder_remove(doomed.text, error);
}

static hfta_status remove_step(const char *folder, int64_t step,
                               hfta_error *error) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_path path;
  hfta_status status = hfta_path_format(&path, error, "%s/%s", folder,
                                        hfta_checkpoint_name(step, name));
  return status == HFTA_OK ? hfta_checkpoint_discard(folder, path.text, error)
                           : status;
}

/// Removes all checkpoints before step `limit`. A checkpoint that can't be
/// removed doesn't stop the removal of the others. Returns the first failure.
static hfta_status remove_below(const char *folder, int64_t limit,
                                hfta_error *error) {
  hfta_status first = HFTA_OK;
  while ((limit = newest_below(folder, limit)) >= 0) {
    hfta_status status =
        remove_step(folder, limit, first == HFTA_OK ? error : NULL);
    if (first == HFTA_OK)
      first = status;
  }
  return first;
}

hfta_status hfta_checkpoint_clear(const char *folder, hfta_error *error) {
  hfta_status status = remove_below(folder, INT64_MAX, error);
  return status == HFTA_OK ? hfta_folder_sync(folder, error) : status;
}

hfta_status hfta_checkpoint_prune(const char *folder, int64_t step,
                                  int64_t keep, hfta_error *error) {
  int64_t limit = step + 1;
  for (int64_t kept = 0; kept < keep; ++kept) {
    limit = newest_below(folder, limit);
    if (limit < 0)
      return HFTA_OK;
  }
  return remove_below(folder, limit, error);
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

/// Completes a save that was interrupted while it replaced a checkpoint: the
/// save had renamed the old checkpoint to `name`. If the new one isn't in its
/// place, the old one gets its name back. `name` lacks its hidden prefix.
static hfta_status restore(const char *folder, const char *path,
                           const char *name, hfta_error *error) {
  const char *rest;
  char final_name[HFTA_CHECKPOINT_NAME_BYTES];
  hfta_path final;
  int64_t step = parse_prefix(name, &rest);
  hfta_status status = hfta_path_format(&final, error, "%s/%s", folder,
                                        hfta_checkpoint_name(step, final_name));
  if (status != HFTA_OK || hfta_path_exists(final.text))
    return status;
  if (rename(path, final.text) != 0)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot rename '%s': %s", path,
                     strerror(errno));
  return hfta_folder_sync(folder, error);
}

/// Returns whether a hidden name is that of a replaced checkpoint,
/// ".hfta-step-00000100-...-old".
static bool is_replaced(const char *name) {
  const char *rest, *end = name + strlen(name);
  size_t begin = strlen(HFTA_CHECKPOINT_HIDDEN);
  return parse_prefix(name + begin, &rest) >= 0 && rest[0] == '-' &&
         end - rest > 4 && strcmp(end - 4, HFTA_CHECKPOINT_REPLACED) == 0;
}

/// Restores or removes a leftover of an interrupted save or removal: a folder
/// with our hidden prefix. Other kinds of entries with such names stay, since
/// they aren't ours.
static hfta_status mend_leftover(const char *folder, int descriptor,
                                 const char *name, hfta_error *error) {
  struct stat info;
  hfta_path path;
  if (strncmp(name, HFTA_CHECKPOINT_HIDDEN, strlen(HFTA_CHECKPOINT_HIDDEN)) !=
          0 ||
      hfta_fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISDIR(info.st_mode))
    return HFTA_OK;
  hfta_status status = hfta_path_format(&path, error, "%s/%s", folder, name);
  if (status == HFTA_OK && is_replaced(name))
    status = restore(folder, path.text, name + strlen(HFTA_CHECKPOINT_HIDDEN),
                     error);
  if (status == HFTA_OK)
    hfta_folder_remove(path.text, NULL);
  return status;
}

static hfta_status mend_leftovers(const char *folder, hfta_error *error) {
  DIR *directory = opendir(folder);
  if (!directory)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot open folder '%s': %s",
                     folder, strerror(errno));
  hfta_status status = HFTA_OK;
  for (struct dirent *entry;
       status == HFTA_OK && (entry = readdir(directory)) != NULL;)
    status = mend_leftover(folder, dirfd(directory), entry->d_name, error);
  closedir(directory);
  return status;
}

/// Checks that the folder can be written by making a folder in it.
static hfta_status check_writable(const char *folder, hfta_error *error) {
  hfta_path prefix, probe;
  hfta_error reason;
  hfta_status status =
      hfta_path_format(&prefix, error, "%s/.hfta-probe-", folder);
  if (status == HFTA_OK &&
      hfta_folder_make_unique(&probe, prefix.text, &reason) != HFTA_OK)
    return hfta_fail(error, HFTA_CANNOT_WRITE,
                     "cannot write to checkpoint folder '%s': %s", folder,
                     strerror(errno));
  if (status == HFTA_OK)
    rmdir(probe.text);
  return status;
}

hfta_status hfta_checkpoint_acquire(hfta_folder_lock *lock, const char *folder,
                                    hfta_error *error) {
  hfta_status status = hfta_folder_make(folder, error);
  if (status == HFTA_OK)
    status = hfta_folder_lock_take(lock, folder, false, error);
  if (status == HFTA_OK)
    status = check_writable(folder, error);
  if (status == HFTA_OK)
    status = mend_leftovers(folder, error);
  return status;
}
