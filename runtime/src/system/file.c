//===- file.c - Mapped files and files written whole ----------------------===//

#include "system/file.h"

#include "system/fault.h"
#include "system/stat_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, MAX_TEMPORARY_TRIES = 100 };

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

static hfta_status map_descriptor(int descriptor, const char *path,
                                  hfta_mapping *out, hfta_error *error) {
  struct stat status;
  if (hfta_fstat(descriptor, &status) != 0)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                     strerror(errno));
  if (!S_ISREG(status.st_mode))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "cannot read '%s': expected a regular file, got %s", path,
                     S_ISDIR(status.st_mode) ? "a folder"
                                             : "a device, pipe or socket");
  if (status.st_size == 0)
    return HFTA_OK;
  void *bytes =
      mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (bytes == MAP_FAILED)
    return hfta_fail(error,
                     errno == ENOMEM ? HFTA_UNSUPPORTED : HFTA_INVALID_INPUT,
                     "cannot map '%s': %s", path, strerror(errno));
  out->bytes = bytes;
  out->size = (uint64_t)status.st_size;
  return HFTA_OK;
}

hfta_status hfta_mapping_open(const char *path, hfta_mapping *out,
                              hfta_error *error) {
  *out = (hfta_mapping){0};
  // Without O_NONBLOCK, opening a pipe would block until it has a writer.
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot open '%s': %s", path,
                     strerror(errno));
  hfta_status status = map_descriptor(descriptor, path, out, error);
  close(descriptor);
  return status;
}

void hfta_mapping_close(hfta_mapping *mapping) {
  if (mapping->bytes)
    munmap((void *)(uintptr_t)mapping->bytes, (size_t)mapping->size);
  *mapping = (hfta_mapping){0};
}

//===----------------------------------------------------------------------===//
// Watching for changes
//===----------------------------------------------------------------------===//

void hfta_watch_reopen(hfta_watch *watch, const char *path) {
  watch->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

void hfta_watch_open(const char *path, hfta_watch *out) {
  struct stat status;
  *out = (hfta_watch){0};
  hfta_watch_reopen(out, path);
  if (out->descriptor >= 0 && hfta_fstat(out->descriptor, &status) == 0) {
    out->size = (uint64_t)status.st_size;
    out->modified = status.st_mtim;
  }
}

hfta_status hfta_watch_check(const hfta_watch *watch, const char *path,
                             hfta_error *error) {
  struct stat now;
  if (watch->descriptor < 0)
    return HFTA_OK;
  if (hfta_fstat(watch->descriptor, &now) != 0)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                     strerror(errno));
  if ((uint64_t)now.st_size != watch->size)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' was changed while it was read: it had %" PRIu64
                     " bytes, and has %lld now",
                     path, watch->size, (long long)now.st_size);
  if (now.st_mtim.tv_sec != watch->modified.tv_sec ||
      now.st_mtim.tv_nsec != watch->modified.tv_nsec)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' was changed while it was read: it was written to",
                     path);
  return HFTA_OK;
}

/// A call of a read function, and its result.
typedef struct guarded_read {
  hfta_status (*read)(void *argument);
  void *argument;
  hfta_status status;
} guarded_read;

static void run_guarded(void *argument) {
  guarded_read *self = argument;
  self->status = self->read(self->argument);
}

hfta_status hfta_watch_read(const hfta_watch *watch, const char *path,
                            hfta_status (*read)(void *argument), void *argument,
                            hfta_error *error) {
  // The check before the read is needed because, without the handler of SIGBUS,
  // nothing else would report a file that is already too short. The check after
  // the read ensures that the data, or the error, are those of the file that
  // was opened.
  hfta_status status = hfta_watch_check(watch, path, error);
  if (status != HFTA_OK)
    return status;
  guarded_read self = {read, argument, HFTA_OK};
  bool whole = hfta_fault_guard(run_guarded, &self);
  status = hfta_watch_check(watch, path, error);
  if (status != HFTA_OK)
    return status;
  if (!whole)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                     strerror(EIO));
  return self.status;
}

void hfta_watch_close(hfta_watch *watch) {
  if (watch->descriptor >= 0)
    close(watch->descriptor);
  watch->descriptor = -1;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

struct hfta_output {
  int descriptor;
  char *path;      ///< the path as given
  char *target;    ///< the path with links resolved
  char *temporary; ///< NULL if the target is written to directly
  size_t used;
  unsigned char buffer[BUFFER_BYTES];
};

static hfta_status cannot_write(const char *path, hfta_error *error) {
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot write '%s': %s", path,
                   strerror(errno));
}

static hfta_status out_of_memory(const char *path, hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED, "out of memory while writing '%s'",
                   path);
}

/// Creates a temporary file in the target's folder, with a name that no other
/// file has.
static hfta_status open_temporary(hfta_output *output, hfta_error *error) {
  size_t size = strlen(output->target) + 64;
  output->temporary = malloc(size);
  if (!output->temporary)
    return out_of_memory(output->path, error);
  for (int i = 0; i < MAX_TEMPORARY_TRIES; ++i) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(output->temporary, size, "%s.tmp-%ld-%ld-%d", output->target,
             (long)getpid(), now.tv_nsec, i);
    output->descriptor =
        open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->descriptor >= 0)
      return HFTA_OK;
    if (errno != EEXIST)
      break;
  }
  hfta_status status = cannot_write(output->path, error);
  free(output->temporary);
  output->temporary = NULL;
  return status;
}

static hfta_status open_target(hfta_output *output, const char *path,
                               hfta_error *error) {
  output->path = strdup(path);
  output->target = realpath(path, NULL);
  if (!output->target)
    output->target = strdup(path);
  if (!output->path || !output->target)
    return out_of_memory(path, error);
  struct stat status;
  bool exists = hfta_stat(output->target, &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return cannot_write(output->path, error);
  }
  if (!exists || S_ISREG(status.st_mode))
    return open_temporary(output, error);
  output->descriptor = open(output->target, O_WRONLY | O_CLOEXEC);
  return output->descriptor < 0 ? cannot_write(output->path, error) : HFTA_OK;
}

hfta_status hfta_output_open(const char *path, hfta_output **out,
                             hfta_error *error) {
  *out = NULL;
  hfta_output *output = calloc(1, sizeof(*output));
  if (!output)
    return out_of_memory(path, error);
  output->descriptor = -1;
  hfta_status status = open_target(output, path, error);
  if (status != HFTA_OK)
    hfta_output_discard(output);
  else
    *out = output;
  return status;
}

static hfta_status write_all(hfta_output *output, const unsigned char *bytes,
                             size_t size, hfta_error *error) {
  while (size > 0) {
    ssize_t written = write(output->descriptor, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return cannot_write(output->path, error);
    bytes += written;
    size -= (size_t)written;
  }
  return HFTA_OK;
}

static hfta_status flush(hfta_output *output, hfta_error *error) {
  size_t used = output->used;
  output->used = 0;
  return write_all(output, output->buffer, used, error);
}

hfta_status hfta_output_write(hfta_output *output, const void *bytes,
                              size_t size, hfta_error *error) {
  if (size == 0)
    return HFTA_OK;
  if (size > BUFFER_BYTES - output->used) {
    hfta_status status = flush(output, error);
    if (status != HFTA_OK)
      return status;
  }
  if (size >= BUFFER_BYTES)
    return write_all(output, bytes, size, error);
  memcpy(output->buffer + output->used, bytes, size);
  output->used += size;
  return HFTA_OK;
}

hfta_status hfta_output_replace(hfta_output *output, uint64_t offset,
                                const void *bytes, size_t size,
                                hfta_error *error) {
  hfta_status status = flush(output, error);
  if (status != HFTA_OK)
    return status;
  ssize_t written = pwrite(output->descriptor, bytes, size, (off_t)offset);
  if (written >= 0 && (size_t)written < size)
    errno = ENOSPC;
  return written == (ssize_t)size ? HFTA_OK : cannot_write(output->path, error);
}

static hfta_status sync_and_rename(hfta_output *output, hfta_error *error) {
  hfta_status status = flush(output, error);
  if (status != HFTA_OK)
    return status;
  // EINVAL means that the file system doesn't support syncing.
  if (output->temporary && fsync(output->descriptor) != 0 && errno != EINVAL)
    return cannot_write(output->path, error);
  int descriptor = output->descriptor;
  output->descriptor = -1;
  if (close(descriptor) != 0)
    return cannot_write(output->path, error);
  if (!output->temporary)
    return HFTA_OK;
  if (rename(output->temporary, output->target) != 0)
    return cannot_write(output->path, error);
  free(output->temporary);
  output->temporary = NULL;
  return HFTA_OK;
}

hfta_status hfta_output_commit(hfta_output *output, hfta_error *error) {
  hfta_status status = sync_and_rename(output, error);
  hfta_output_discard(output);
  return status;
}

void hfta_output_discard(hfta_output *output) {
  if (!output)
    return;
  if (output->descriptor >= 0)
    close(output->descriptor);
  if (output->temporary)
    unlink(output->temporary);
  free(output->temporary);
  free(output->target);
  free(output->path);
  free(output);
}

hfta_status hfta_write_whole(const char *path, const void *bytes, size_t size,
                             hfta_error *error) {
  hfta_output *output;
  hfta_status status = hfta_output_open(path, &output, error);
  if (status != HFTA_OK)
    return status;
  status = hfta_output_write(output, bytes, size, error);
  if (status == HFTA_OK)
    return hfta_output_commit(output, error);
  hfta_output_discard(output);
  return status;
}
