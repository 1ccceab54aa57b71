//===- store.h - Storage for segments outside of memory -----------*- C -*-===//
//
// A store holds extents: byte ranges whose sizes are given when it is opened.
// They are cut into pieces of at most 256 KiB, each of which has a CRC-32C that
// is checked when it is read. Below the store is a medium, reached only through
// a table of functions, which reads and writes ranges of bytes: a file, or
// another kind for tests and measurements. A store is temporary: its contents
// don't outlive the process.
//
// Threads: functions that read and write may be called by several threads at
// once, but for the same extents only if none of them writes. A store has
// threads of its own, which read and write the pieces.
//===----------------------------------------------------------------------===//

#ifndef HFTA_STORE_H
#define HFTA_STORE_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Media
//===----------------------------------------------------------------------===//

typedef struct hfta_medium hfta_medium;

typedef struct hfta_medium_options {
  const char *directory; ///< folder of the file; NULL or "": the working folder
  uint64_t bytes;        ///< capacity
  /// Layers between the store and the medium, separated by commas; NULL or "":
  /// none. "throttled=READ:WRITE": limits reads and writes to these bytes per
  /// second each; "throttled=BOTH": limits them together. "faulty=KIND:N": the
  /// N-th of all reads and writes, from 1, fails with the kind no_space, io or
  /// short, or, for a read, flip, which inverts one bit. "memory": uses memory
  /// instead of a file.
  const char *layers;
} hfta_medium_options;

typedef struct hfta_medium_functions {
  const char *kind;

  void (*close)(hfta_medium *medium);

  /// Reads or writes all of the bytes from `offset` on, or fails with
  /// HFTA_CANNOT_WRITE and a message that covers both. Offsets, bytes and
  /// addresses are multiples of HFTA_PAGE_BYTES. Bytes that were never written
  /// are undefined.
  hfta_status (*read)(hfta_medium *medium, uint64_t offset, void *to,
                      uint64_t bytes, hfta_error *error);
  hfta_status (*write)(hfta_medium *medium, uint64_t offset, const void *from,
                       uint64_t bytes, hfta_error *error);

  /// Returns a note for the user about the medium, or NULL; static. Valid after
  /// the first use.
  const char *(*note)(const hfta_medium *medium);
} hfta_medium_functions;

/// The first member of every medium's own struct.
struct hfta_medium {
  const hfta_medium_functions *functions;
};

/// Opens a nameless file in the folder, allocated in its full length at once,
/// which is read and written past the system's page cache where that is
/// possible. HFTA_UNSUPPORTED if the folder is in memory itself (tmpfs);
/// HFTA_CANNOT_WRITE if it doesn't exist, can't be written, or has no room;
/// HFTA_USAGE for unknown layers.
hfta_status hfta_medium_open(const hfta_medium_options *options,
                             hfta_medium **out, hfta_error *error);

/// Closes a medium; NULL is allowed.
void hfta_medium_close(hfta_medium *medium);

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

typedef struct hfta_store hfta_store;

typedef struct hfta_store_options {
  hfta_medium_options medium; ///< `bytes` is set by the store
  const uint64_t *extents;    ///< bytes of each, multiples of HFTA_PAGE_BYTES
  uint64_t extent_count;
  int threads; ///< number of threads that read and write, at most
               ///< HFTA_STORE_THREADS; 0: two
} hfta_store_options;

#define HFTA_STORE_THREADS 16

/// The size of a piece: the most bytes that share a checksum, and that are read
/// to get a part of them.
#define HFTA_STORE_PIECE_BYTES (256u << 10)

/// The approximate stack that one of the store's threads uses.
#define HFTA_STORE_STACK_BYTES (16u << 10)

/// Returns the most memory that a store of `extents` extents and `bytes` bytes
/// needs beyond the caller's buffers: its threads, one piece, and a record of
/// each piece and extent. Memory plans count with it.
static inline uint64_t hfta_store_overhead(uint64_t extents, uint64_t bytes) {
  uint64_t pieces = bytes / HFTA_STORE_PIECE_BYTES + extents;
  return HFTA_STORE_PIECE_BYTES + HFTA_STORE_THREADS * HFTA_STORE_STACK_BYTES +
         8 * pieces + 16 * (extents + 1);
}

/// Opens a store; all extents read as zeros. Fails as hfta_medium_open does;
/// without memory or threads HFTA_UNSUPPORTED.
hfta_status hfta_store_open(const hfta_store_options *options, hfta_store **out,
                            hfta_error *error);

/// Closes a store, which must have no read or write in flight. NULL is allowed.
void hfta_store_close(hfta_store *store);

uint64_t hfta_store_extent_count(const hfta_store *store);
/// Returns the bytes of one extent.
uint64_t hfta_store_extent_bytes(const hfta_store *store, uint64_t extent);

/// Read and write `count` extents from number `first` on, which are consecutive
/// in memory, at a multiple of HFTA_PAGE_BYTES. They return when all is done.
/// HFTA_CANNOT_WRITE if the medium fails, or reads other bytes than were
/// written. Reading an extent whose last write has failed gives the error of
/// the store's first failed write, until the extent is written again.
hfta_status hfta_store_read(hfta_store *store, uint64_t first, uint64_t count,
                            void *to, hfta_error *error);
hfta_status hfta_store_write(hfta_store *store, uint64_t first, uint64_t count,
                             const void *from, hfta_error *error);

/// Reads bytes of one extent, from any `offset` on, to any address.
hfta_status hfta_store_read_bytes(hfta_store *store, uint64_t extent,
                                  uint64_t offset, void *to, uint64_t bytes,
                                  hfta_error *error);
hfta_status hfta_store_write_bytes(hfta_store *store, uint64_t extent,
                                   uint64_t offset, const void *from,
                                   uint64_t bytes, hfta_error *error);

/// Makes all extents read as zeros again.
void hfta_store_forget(hfta_store *store);

/// The bytes that the medium has read and written so far.
typedef struct hfta_store_traffic {
  uint64_t read, written;
} hfta_store_traffic;
hfta_store_traffic hfta_store_count(hfta_store *store);

/// Returns a note for the user about the medium, or NULL; static.
const char *hfta_store_note(const hfta_store *store);

#ifdef __cplusplus
}
#endif

#endif // HFTA_STORE_H
