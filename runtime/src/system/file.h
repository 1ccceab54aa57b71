//===- file.h - Mapped files, and files written as a whole --------*- C -*-===//
//
// Private to the runtime. One thread at a time may use an object, but any
// number of threads may read a mapping's bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_FILE_H
#define HFTA_SRC_SYSTEM_FILE_H

#include "hfta/status.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/// A regular file, mapped read-only. `bytes` is NULL if and only if the file is
/// empty or the mapping closed.
typedef struct hfta_mapping {
  const unsigned char *bytes;
  uint64_t size;
} hfta_mapping;

/// Maps a file. Anything other than a regular file is refused, without blocking
/// on it. After a failure `*out` holds nothing, but may be closed.
hfta_status hfta_mapping_open(const char *path, hfta_mapping *out,
                              hfta_error *error);

/// Closing twice is allowed.
void hfta_mapping_close(hfta_mapping *mapping);

/// The size and time of a file when it was opened, to find out whether somebody
/// changes it while it is read.
typedef struct hfta_watch {
  int descriptor; ///< -1 if nothing is watched
  uint64_t size;
  struct timespec modified;
} hfta_watch;

/// Starts to watch a file. A file that can't be opened isn't watched; its
/// reader reports why.
void hfta_watch_open(const char *path, hfta_watch *out);

/// Watches a file again after hfta_watch_close, still compared with its first
/// state; another file in its place counts as a changed one.
void hfta_watch_reopen(hfta_watch *watch, const char *path);

/// HFTA_INVALID_INPUT if the file was cut off or written to. A file that was
/// removed, or replaced by another one of that name, still has its bytes.
hfta_status hfta_watch_check(const hfta_watch *watch, const char *path,
                             hfta_error *error);

/// Calls `read(argument)`, which reads the mapped file. HFTA_INVALID_INPUT if
/// the file was changed before or meanwhile, or if a mapped page is gone (see
/// fault.h): in that case `read` was left by a jump, and any resources that it
/// held are lost.
hfta_status hfta_watch_read(const hfta_watch *watch, const char *path,
                            hfta_status (*read)(void *argument), void *argument,
                            hfta_error *error);

/// Closing twice is allowed.
void hfta_watch_close(hfta_watch *watch);

/// A file that appears as a whole or not at all: bytes go to a temporary file
/// in the target's folder, which commit syncs and renames. Links are followed.
/// An existing device or pipe is written to directly.
typedef struct hfta_output hfta_output;

hfta_status hfta_output_open(const char *path, hfta_output **out,
                             hfta_error *error);

hfta_status hfta_output_write(hfta_output *output, const void *bytes,
                              size_t size, hfta_error *error);

/// Replaces bytes that were written, as long as the file is a temporary one.
hfta_status hfta_output_replace(hfta_output *output, uint64_t offset,
                                const void *bytes, size_t size,
                                hfta_error *error);

/// Completes the file and frees the output, whether it succeeds or fails; after
/// a failure nothing is left on disk.
hfta_status hfta_output_commit(hfta_output *output, hfta_error *error);

/// Removes the temporary file and frees the output. NULL is allowed.
void hfta_output_discard(hfta_output *output);

#endif // HFTA_SRC_SYSTEM_FILE_H
