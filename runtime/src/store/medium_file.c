//===- medium_file.c - A nameless temporary file as medium ----------------===//
//
// Reads and writes bypass the system's page cache (O_DIRECT), because under a
// memory limit the cache would take memory from the training. Space for the
// whole file is reserved when it is opened, so that a full disk is reported
// before the training starts.
//===----------------------------------------------------------------------===//

#include "store/media.h"
#include "system/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

typedef struct file_medium {
  hfta_medium base;
  int descriptor;
  atomic_bool is_buffered; // whether transfers go through the page cache
} file_medium;

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

static void file_close(hfta_medium *medium) {
  file_medium *self = (file_medium *)medium;
  if (self->descriptor >= 0)
    close(self->descriptor);
  free(self);
}

/// Switches all later transfers to the page cache, for a file system that
/// doesn't support direct access.
static void buffer(file_medium *self) {
  int flags = fcntl(self->descriptor, F_GETFL);
  if (flags >= 0)
    fcntl(self->descriptor, F_SETFL, flags & ~O_DIRECT);
  atomic_store(&self->is_buffered, true);
}

/// Makes one system call, again if a signal interrupts it. Returns the number
/// of bytes transferred, or -1 with `errno`.
static ssize_t move_once(const file_medium *self, bool is_write,
                         uint64_t offset, void *memory, uint64_t bytes) {
  ssize_t done;
  do
    done = is_write ? pwrite(self->descriptor, memory, bytes, (off_t)offset)
                    : pread(self->descriptor, memory, bytes, (off_t)offset);
  while (done < 0 && errno == EINTR);
  return done;
}

/// Writes dirty pages back to the disk and drops the range from the page cache,
/// so that a buffered file doesn't fill memory. Returns 0, or -1 with `errno`.
static int clean(const file_medium *self, bool is_write, uint64_t offset,
                 uint64_t bytes) {
  int code = 0;
  if (is_write)
    code = sync_file_range(self->descriptor, (off_t)offset, (off_t)bytes,
                           SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                               SYNC_FILE_RANGE_WAIT_AFTER);
  posix_fadvise(self->descriptor, (off_t)offset, (off_t)bytes,
                POSIX_FADV_DONTNEED);
  // Ignore errors of file systems that don't support these calls: they write
  // dirty pages back on their own.
  return code != 0 && errno != EINVAL && errno != ENOSYS ? code : 0;
}

/// Transfers `bytes` bytes between the file and `memory`. After a short
/// transfer it requests the rest, so that the system reports why the transfer
/// was short. Returns 0, or -1 with `errno`, which is 0 if the system gave no
/// reason. `*out_done` is the number of bytes transferred.
static int move_all(file_medium *self, bool is_write, uint64_t offset,
                    char *memory, uint64_t bytes, uint64_t *out_done) {
  bool has_retried = false;
  for (*out_done = 0; *out_done < bytes;) {
    ssize_t done = move_once(self, is_write, offset + *out_done,
                             memory + *out_done, bytes - *out_done);
    // EINVAL: direct access isn't possible, perhaps because the rest of a short
    // transfer begins within a block. Retry through the page cache, even if
    // is_buffered is set: another thread may have set it since this call began.
    if (done < 0 && errno == EINVAL && !has_retried) {
      has_retried = true;
      buffer(self);
      continue;
    }
    if (done == 0)
      errno = 0;
    if (done <= 0)
      return -1;
    *out_done += (uint64_t)done;
  }
  return 0;
}

/// Transfers `bytes` bytes and keeps a buffered file out of the page cache.
/// Turns a failure into an error message.
static hfta_status move(file_medium *self, bool is_write, uint64_t offset,
                        void *memory, uint64_t bytes, hfta_error *error) {
  uint64_t done;
  int code = move_all(self, is_write, offset, memory, bytes, &done);
  if (code != 0 && errno == 0) {
    char reason[64];
    snprintf(reason, sizeof(reason), "only %llu were %s",
             (unsigned long long)done, is_write ? "written" : "read");
    return hfta_medium_fail(error, is_write, offset, bytes, reason);
  }
  if (code == 0 && atomic_load(&self->is_buffered))
    code = clean(self, is_write, offset, bytes);
  return code == 0 ? HFTA_OK
                   : hfta_medium_fail(error, is_write, offset, bytes,
                                      strerror(errno));
}

static hfta_status file_read(hfta_medium *medium, uint64_t offset, void *to,
                             uint64_t bytes, hfta_error *error) {
  return move((file_medium *)medium, false, offset, to, bytes, error);
}

static hfta_status file_write(hfta_medium *medium, uint64_t offset,
                              const void *from, uint64_t bytes,
                              hfta_error *error) {
  return move((file_medium *)medium, true, offset, (void *)(uintptr_t)from,
              bytes, error);
}

static const char *file_note(const hfta_medium *medium) {
  return atomic_load(&((const file_medium *)medium)->is_buffered)
             ? "spilled data go through the system's cache, as the folder's "
               "file system doesn't support direct access"
             : NULL;
}

static const hfta_medium_functions functions = {.kind = "file",
                                                .close = file_close,
                                                .read = file_read,
                                                .write = file_write,
                                                .note = file_note};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// The magic numbers, from statfs(2), of file systems that are in memory.
enum { TMPFS = 0x01021994, RAMFS = (int)0x858458f6 };

static hfta_status fail_folder(const char *folder, const char *what,
                               hfta_error *error) {
  // The folder's name is cut off, so that the reason still fits into the
  // message.
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot %s in '%.384s': %s", what,
                   folder, strerror(errno));
}

/// Refuses a folder that doesn't exist or whose file system is in memory, where
/// spilling would free no memory.
static hfta_status check_folder(const char *folder, hfta_error *error) {
  struct statfs system;
  if (statfs(folder, &system) != 0)
    return fail_folder(folder, "spill", error);
  if ((uint32_t)system.f_type == (uint32_t)TMPFS ||
      (uint32_t)system.f_type == (uint32_t)RAMFS)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot spill in '%s': its file system is memory itself; "
                     "name a folder on a disk with --spill-dir",
                     folder);
  return HFTA_OK;
}

/// Creates a temporary file and unlinks it at once, for a file system without
/// O_TMPFILE.
static int make_named(const char *folder) {
  char path[4096];
  int length = snprintf(path, sizeof(path), "%s/.hfta-spill-XXXXXX", folder);
  if (length < 0 || (size_t)length >= sizeof(path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int descriptor = mkostemp(path, O_CLOEXEC);
  if (descriptor >= 0)
    unlink(path);
  return descriptor;
}

/// Creates a nameless file in the folder. Returns its descriptor, or -1 with
/// `errno`.
static int make(const char *folder) {
  int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  bool is_unknown = descriptor < 0 &&
                    (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
  return is_unknown ? make_named(folder) : descriptor;
}

/// Writes zeros to the whole file, to reserve its space on a file system
/// without fallocate. Returns 0, or -1 with `errno`.
static int fill(file_medium *self, uint64_t bytes) {
  enum { PIECE = 1 << 20 };
  char *zeros = hfta_pages_map(PIECE, 1);
  int code = zeros ? 0 : -1;
  for (uint64_t at = 0; at < bytes && code == 0; at += PIECE) {
    uint64_t left = bytes - at < PIECE ? bytes - at : PIECE, done;
    code = move_all(self, true, at, zeros, left, &done);
    if (code != 0 && errno == 0)
      errno = ENOSPC;
    if (code == 0)
      code = clean(self, true, at, left);
  }
  int reason = errno;
  hfta_pages_unmap(zeros, PIECE);
  errno = reason;
  return code;
}

/// Returns whether a file of this size is within the process's limit
/// RLIMIT_FSIZE. The limit must be checked, since writing past it raises
/// SIGXFSZ, which a library may not ignore on behalf of its host program.
static bool is_within_limit(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
         limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/// Returns whether the file system reports enough free space. This is checked
/// before space is reserved, because reserving would fill a disk that is too
/// small, and leave other programs without space.
static bool has_room(const file_medium *self, uint64_t bytes) {
  struct statfs system;
  return fstatfs(self->descriptor, &system) != 0 || system.f_bsize <= 0 ||
         bytes / (uint64_t)system.f_bsize <= (uint64_t)system.f_bavail;
}

/// Reserves space for the whole file. Returns 0, or -1 with `errno`.
static int reserve(file_medium *self, uint64_t bytes) {
  int code;
  if (!is_within_limit(bytes) || !has_room(self, bytes)) {
    errno = is_within_limit(bytes) ? ENOSPC : EFBIG;
    return -1;
  }
  do
    code = fallocate(self->descriptor, 0, 0, (off_t)bytes);
  while (code != 0 && errno == EINTR);
  bool cannot = code != 0 && (errno == EOPNOTSUPP || errno == ENOSYS);
  return cannot ? fill(self, bytes) : code;
}

/// Creates the file, reserves its space, and then turns on direct access if the
/// file system supports it.
static hfta_status prepare(file_medium *self, const char *folder,
                           uint64_t bytes, hfta_error *error) {
  hfta_status status = check_folder(folder, error);
  if (status != HFTA_OK)
    return status;
  self->descriptor = make(folder);
  if (self->descriptor < 0)
    return fail_folder(folder, "spill", error);
  if (bytes > 0 && reserve(self, bytes) != 0) {
    char what[64];
    snprintf(what, sizeof(what), "spill %llu bytes", (unsigned long long)bytes);
    return fail_folder(folder, what, error);
  }
  int flags = fcntl(self->descriptor, F_GETFL);
  if (flags < 0 || fcntl(self->descriptor, F_SETFL, flags | O_DIRECT) != 0)
    atomic_store(&self->is_buffered, true);
  return HFTA_OK;
}

hfta_status hfta_file_medium_open(const hfta_medium_options *options,
                                  hfta_medium **out, hfta_error *error) {
  bool has_folder = options->directory && *options->directory;
  file_medium *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a store");
  self->base.functions = &functions;
  self->descriptor = -1;
  hfta_status status = prepare(self, has_folder ? options->directory : ".",
                               options->bytes, error);
  if (status == HFTA_OK)
    *out = &self->base;
  else
    file_close(&self->base);
  return status;
}
