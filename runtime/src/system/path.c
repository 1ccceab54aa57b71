//===- path.c - Paths and folders -----------------------------------------===//

#include "system/path.h"
#include "system/stat_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

hfta_status hfta_path_format(hfta_path *path, hfta_error *error,
                             const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(path->text, sizeof(path->text), format, arguments);
  va_end(arguments);
  if (length >= 0 && (size_t)length < sizeof(path->text))
    return HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT, "path '%.80s...' is too long",
                   path->text);
}

hfta_status hfta_path_under(hfta_path *out, const char *root, const char *path,
                            hfta_error *error) {
  if (path[0] == '/' || !root || !*root)
    return hfta_path_format(out, error, "%s", path);
  return hfta_path_format(out, error, "%s/%s", root, path);
}

const char *hfta_path_name(const char *path) {
  const char *end = path + strlen(path);
  while (end > path && end[-1] == '/')
    --end;
  while (end > path && end[-1] != '/')
    --end;
  return end;
}

bool hfta_path_is_folder(const char *path) {
  struct stat info;
  return hfta_stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool hfta_path_exists(const char *path) { return access(path, F_OK) == 0; }

hfta_status hfta_path_unique(hfta_path *out, const char *prefix,
                             hfta_error *error) {
  uint64_t number;
  if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
    // The kernel has no such call, so use the clock. Since that may give the
    // same number twice, hfta_folder_make_unique tries again.
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    number = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec ^
             (uint64_t)getpid() << 48;
  }
  return hfta_path_format(out, error, "%s%016" PRIx64, prefix, number);
}

/// Syncs the parent folder of `path`, so that its entry for `path` survives a
/// crash.
static hfta_status sync_parent(const char *path, hfta_error *error) {
  hfta_path parent;
  size_t length = (size_t)(hfta_path_name(path) - path);
  if (length == 0)
    return hfta_folder_sync(".", error);
  hfta_status status =
      hfta_path_format(&parent, error, "%.*s", (int)length, path);
  return status == HFTA_OK ? hfta_folder_sync(parent.text, error) : status;
}

static hfta_status make_one(const char *path, hfta_error *error) {
  if (mkdir(path, 0777) == 0)
    return sync_parent(path, error);
  int code = errno;
  if (hfta_path_is_folder(path))
    return HFTA_OK;
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot make folder '%s': %s",
                   path, strerror(code));
}

hfta_status hfta_folder_make(const char *path, hfta_error *error) {
  hfta_path prefix;
  hfta_status status = hfta_path_format(&prefix, error, "%s", path);
  // Skip the first character, which may be the root's slash.
  for (char *at = prefix.text; status == HFTA_OK && *at != '\0'; ++at) {
    if (at == prefix.text || *at != '/')
      continue;
    *at = '\0';
    status = make_one(prefix.text, error);
    *at = '/';
  }
  return status == HFTA_OK ? make_one(path, error) : status;
}

hfta_status hfta_folder_make_unique(hfta_path *out, const char *prefix,
                                    hfta_error *error) {
  enum { MAX_TRIES = 100 };
  hfta_status status = HFTA_OK;
  for (int i = 0; i < MAX_TRIES && status == HFTA_OK; ++i) {
    status = hfta_path_unique(out, prefix, error);
    if (status != HFTA_OK || mkdir(out->text, 0777) == 0)
      return status;
    if (errno != EEXIST)
      break;
  }
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot make folder '%s': %s",
                   out->text, strerror(errno));
}

hfta_status hfta_folder_sync(const char *path, hfta_error *error) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A user with permission to write to a folder, but not to read it, can't sync
  // it.
  if (folder < 0 && errno == EACCES)
    return HFTA_OK;
  if (folder < 0)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot open folder '%s': %s",
                     path, strerror(errno));
  // Some file systems can't sync folders, but don't need it either.
  int synced = fsync(folder);
  int code = errno;
  close(folder);
  if (synced != 0 && code != EINVAL && code != EROFS && code != ENOTSUP)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot sync folder '%s': %s",
                     path, strerror(code));
  return HFTA_OK;
}

static hfta_status cannot_remove(const char *path, hfta_error *error) {
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot remove '%s': %s", path,
                   strerror(errno));
}

hfta_status hfta_folder_remove(const char *path, hfta_error *error) {
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
  if (!folder && descriptor >= 0)
    close(descriptor);
  if (!folder && errno == ENOENT)
    return HFTA_OK;
  if (!folder && (errno == ENOTDIR || errno == ELOOP))
    return unlink(path) == 0 ? HFTA_OK : cannot_remove(path, error);
  if (!folder)
    return cannot_remove(path, error);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      unlinkat(descriptor, entry->d_name, 0);
  closedir(folder);
  return rmdir(path) == 0 ? HFTA_OK : cannot_remove(path, error);
}
