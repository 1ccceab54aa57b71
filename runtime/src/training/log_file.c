//===- log_file.c - A log that several trainings write to -----------------===//

#include "training/log_file.h"

#include "system/lock.h"
#include "system/stat_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

hfta_status hfta_log_file_cannot_write(const hfta_log_file *file, int code,
                                       hfta_error *error) {
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot write log '%s': %s",
                   file->path, strerror(code));
}

/// Returns the standard stream that a file is, such as with `--log
/// /dev/stdout`; -1 if none. Such a stream must be written to at its current
/// position: if its file were opened anew, the command's results would
/// overwrite the log.
static int stream_of(const struct stat *info) {
  struct stat stream;
  for (int descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO;
       ++descriptor)
    if (hfta_fstat(descriptor, &stream) == 0 && stream.st_dev == info->st_dev &&
        stream.st_ino == info->st_ino)
      return descriptor;
  return -1;
}

static hfta_status open_path(hfta_log_file *log, hfta_error *error) {
  struct stat info;
  // A pipe mustn't be opened for reading here, or writing to it would never
  // fail when its reader is gone.
  bool readable = log->resumed &&
                  (hfta_stat(log->path, &info) != 0 || S_ISREG(info.st_mode));
  int descriptor = open(
      log->path,
      (readable ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0 || hfta_fstat(descriptor, &info) != 0) {
    int code = errno;
    if (descriptor >= 0)
      close(descriptor);
    return hfta_log_file_cannot_write(log, code, error);
  }
  int stream = stream_of(&info);
  log->regular = stream < 0 && S_ISREG(info.st_mode);
  if (stream >= 0) {
    close(descriptor);
    descriptor = fcntl(stream, F_DUPFD_CLOEXEC, 0);
  }
  log->file = descriptor < 0 ? NULL : fdopen(descriptor, "a");
  return log->file ? HFTA_OK : hfta_log_file_cannot_write(log, errno, error);
}

static hfta_status lock(const hfta_log_file *log, hfta_error *error) {
  if (!log->regular ||
      hfta_lock_descriptor(fileno(log->file), false) != HFTA_LOCK_BUSY)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "log '%s' is in use by another training", log->path);
}

hfta_status hfta_log_file_open(const char *path, bool resumed,
                               hfta_log_file **out, hfta_error *error) {
  *out = NULL;
  hfta_log_file *log = calloc(1, sizeof(*log));
  if (!log || !(log->path = strdup(path))) {
    free(log);
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a log");
  }
  log->resumed = resumed;
  pthread_mutex_init(&log->mutex, NULL);
  hfta_status status = open_path(log, error);
  if (status == HFTA_OK)
    status = lock(log, error);
  if (status == HFTA_OK)
    *out = log;
  else
    hfta_log_file_close(log);
  return status;
}

void hfta_log_file_close(hfta_log_file *file) {
  if (!file)
    return;
  if (file->file)
    fclose(file->file);
  pthread_mutex_destroy(&file->mutex);
  free(file->path);
  free(file);
}

FILE *hfta_log_file_read(const hfta_log_file *file) {
  int descriptor = fcntl(fileno(file->file), F_DUPFD_CLOEXEC, 0);
  FILE *reader = descriptor < 0 ? NULL : fdopen(descriptor, "r");
  if (reader)
    rewind(reader);
  else if (descriptor >= 0)
    close(descriptor);
  return reader;
}

hfta_status hfta_log_file_reopen(hfta_log_file *file, hfta_error *error) {
  FILE *before = file->file;
  file->file = NULL;
  hfta_status status = open_path(file, error);
  if (!file->file) {
    file->file = before;
    file->is_lost = true;
    return status;
  }
  fclose(before);
  return lock(file, error);
}
