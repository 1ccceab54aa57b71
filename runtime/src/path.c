//===- path.c - Names and folders -----------------------------------------===//

#include "path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool hfta_path_exists(const char *path) { return access(path, F_OK) == 0; }

hfta_status hfta_folder_make(const char *path, hfta_error *error) {
  hfta_path prefix;
  hfta_status status = hfta_path_format(&prefix, error, "%s", path);
  if (status != HFTA_OK)
    return status;
  for (char *at = prefix.text;; ++at) {
    if ((*at != '/' && *at != '\0') || at == prefix.text)
      continue;
    char end = *at;
    *at = '\0';
    int made = mkdir(prefix.text, 0777);
    int code = errno;
    if (made != 0 && !hfta_path_is_folder(prefix.text))
      return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot make folder '%s': %s",
                       prefix.text, strerror(code));
    if (end == '\0')
      return HFTA_OK;
    *at = end;
  }
}

hfta_status hfta_folder_sync(const char *path, hfta_error *error) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot open folder '%s': %s",
                     path, strerror(errno));
  // Some file systems can't sync folders, and then need not.
  int synced = fsync(folder);
  int code = errno;
  close(folder);
  if (synced != 0 && code != EINVAL && code != EROFS && code != ENOTSUP)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot sync folder '%s': %s",
                     path, strerror(code));
  return HFTA_OK;
}

hfta_status hfta_folder_remove(const char *path, hfta_error *error) {
  DIR *folder = opendir(path);
  if (!folder && errno == ENOENT)
    return HFTA_OK;
  if (!folder)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot remove '%s': %s", path,
                     strerror(errno));
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      unlinkat(dirfd(folder), entry->d_name, 0);
  closedir(folder);
  if (rmdir(path) != 0)
    return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot remove '%s': %s", path,
                     strerror(errno));
  return HFTA_OK;
}
