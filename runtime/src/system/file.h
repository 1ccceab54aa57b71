//===- file.h - Mapped files, and files written as a whole --------*- C -*-===//
//
// Files that are mapped, watched for changes, or written as a whole. Threads:
// one thread at a time may use an object, but any number of threads may read a
// mapping's bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_FILE_H
#define HFTA_SRC_SYSTEM_FILE_H

#include "hfta/status.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/// A regular file, mapped read-only. `bytes` is NULL if and only if the file is
/// empty or the mapping is closed.
typedef struct hfta_mapping {
  const unsigned char *bytes;
  uint64_t size;
} hfta_mapping;

/// Maps a file. Fails with HFTA_INVALID_INPUT if the file can't be read or
/// isn't a regular file; never blocks on a pipe. After a failure `*out` is
/// empty and may be closed.
hfta_status hfta_mapping_open(const char *path, hfta_mapping *out,
                              hfta_error *error);

/// Unmaps the file. Closing twice is allowed.
void hfta_mapping_close(hfta_mapping *mapping);

/// The size and time of modification that a file had when it was opened. They
/// show whether another process changes the file while it is read.
typedef struct hfta_watch {
  int descriptor; ///< -1 if nothing is watched
  uint64_t size;
  struct timespec modified;
} hfta_watch;

/// Starts to watch a file. A file that can't be opened isn't watched, since its
/// reader reports the error.
void hfta_watch_open(const char *path, hfta_watch *out);

/// Opens a watched file again after hfta_watch_close. It is still compared with
/// its first state, so another file in its place counts as changed.
void hfta_watch_reopen(hfta_watch *watch, const char *path);

/// Fails with HFTA_INVALID_INPUT if the watched file has another size or was
/// written to. It isn't a failure if the path was removed or names another file
/// now, since the open file still has its bytes.
hfta_status hfta_watch_check(const hfta_watch *watch, const char *path,
                             hfta_error *error);

/// Calls `read(argument)`, which reads the mapped file, and returns its status.
/// Fails with HFTA_INVALID_INPUT if the file was changed before or during the
/// call, or if a mapped page couldn't be read (see fault.h). In the latter case
/// `read` was left by a jump, and resources that it held are lost.
hfta_status hfta_watch_read(const hfta_watch *watch, const char *path,
                            hfta_status (*read)(void *argument), void *argument,
                            hfta_error *error);

/// Stops watching. Closing twice is allowed.
void hfta_watch_close(hfta_watch *watch);

/// A file that appears as a whole or not at all: bytes are written to a
/// temporary file in the target's folder, which is synced and renamed by
/// hfta_output_commit. Symbolic links to existing files are followed. If the
/// target is an existing device or pipe, bytes are written to it directly.
typedef struct hfta_output hfta_output;

/// Opens an output. Fails with HFTA_CANNOT_WRITE if the file can't be created.
hfta_status hfta_output_open(const char *path, hfta_output **out,
                             hfta_error *error);

/// Appends bytes to the file.
hfta_status hfta_output_write(hfta_output *output, const void *bytes,
                              size_t size, hfta_error *error);

/// Replaces bytes at an offset that were written before. The target must not be
/// a device or pipe.
hfta_status hfta_output_replace(hfta_output *output, uint64_t offset,
                                const void *bytes, size_t size,
                                hfta_error *error);

/// Completes the file and frees the output, even after a failure; then no
/// temporary file is left.
hfta_status hfta_output_commit(hfta_output *output, hfta_error *error);

/// Removes the temporary file and frees the output. NULL is allowed.
void hfta_output_discard(hfta_output *output);

/// Writes a whole file by such an output.
hfta_status hfta_write_whole(const char *path, const void *bytes, size_t size,
                             hfta_error *error);

#endif // HFTA_SRC_SYSTEM_FILE_H
