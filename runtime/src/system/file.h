//===- file.h - Mapped files and files written whole ------------*- C -*-===//
//
// Private to the runtime. One thread at a time per object; a mapping's bytes
// may be read by any number of threads.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_FILE_H
#define HFTA_SRC_SYSTEM_FILE_H

#include "hfta/status.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/// A regular file, mapped read-only. `bytes` is NULL if and only if it is empty
/// or closed.
typedef struct hfta_mapping {
  const unsigned char *bytes;
  uint64_t size;
} hfta_mapping;

/// Refuses what isn't a regular file, without blocking on it. `*out` holds
/// nothing after a failure and is released by hfta_mapping_close.
hfta_status hfta_mapping_open(const char *path, hfta_mapping *out,
                              hfta_error *error);

/// Closing twice is allowed.
void hfta_mapping_close(hfta_mapping *mapping);

/// What a file looked like when it was opened, to find out whether others
/// change it while it is read.
typedef struct hfta_watch {
  int descriptor; ///< -1: watches nothing
  uint64_t size;
  struct timespec modified;
} hfta_watch;

/// What can't be opened isn't watched: who reads it says why.
void hfta_watch_open(const char *path, hfta_watch *out);

/// Watches the file again that was watched until it was closed, as it looked
/// then; another file in its place is one that was changed.
void hfta_watch_reopen(hfta_watch *watch, const char *path);

/// HFTA_INVALID_INPUT if the file was cut off or written to. One that was
/// removed, or replaced by another of its name, still has its bytes.
hfta_status hfta_watch_check(const hfta_watch *watch, const char *path,
                             hfta_error *error);

/// Calls `read(argument)`, which reads the mapped file. A file that was changed
/// before or meanwhile is HFTA_INVALID_INPUT, and so is one of which a mapped
/// page is gone (fault.h): then `read` didn't return, and what it held is lost.
hfta_status hfta_watch_read(const hfta_watch *watch, const char *path,
                            hfta_status (*read)(void *argument), void *argument,
                            hfta_error *error);

/// Closing twice is allowed.
void hfta_watch_close(hfta_watch *watch);

/// A file that appears whole or not at all: bytes go to a temporary file in the
/// same folder, which commit syncs and renames. Links are followed. An existing
/// device or pipe is written to directly.
typedef struct hfta_output hfta_output;

hfta_status hfta_output_open(const char *path, hfta_output **out,
                             hfta_error *error);

hfta_status hfta_output_write(hfta_output *output, const void *bytes,
                              size_t size, hfta_error *error);

/// Replaces bytes that were written, in a file that is still temporary.
hfta_status hfta_output_replace(hfta_output *output, uint64_t offset,
                                const void *bytes, size_t size,
                                hfta_error *error);

/// Frees the output, whether it succeeds or fails; after a failure nothing is
/// left on disk.
hfta_status hfta_output_commit(hfta_output *output, hfta_error *error);

/// Removes the temporary file and frees the output. NULL is allowed.
void hfta_output_discard(hfta_output *output);

#endif // HFTA_SRC_SYSTEM_FILE_H
