//===- store.h - Storage for segments outside of memory -----------*- C -*-===//
//
// A store holds spilled segments as extents: byte ranges whose sizes are given
// when the store is opened. An extent is divided into pieces of at most 256
// KiB, each with a checksum (CRC-32C) that is verified when the piece is read.
// A store reads and writes its bytes through a medium, a table of functions
// with several implementations: a file, or others for tests and measurements. A
// store is temporary: its contents don't outlive the process.
//
// Threads: the functions that read and write may be called by several threads
// at once, but for the same extents only if none of them writes. The store's
// own threads read and write the pieces.
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

/// The storage below a store: a range of bytes.
typedef struct hfta_medium hfta_medium;

typedef struct hfta_medium_options {
  const char *directory; ///< folder of the file; NULL or "": the working folder
  uint64_t bytes;        ///< number of bytes that it holds
  /// Layers between the store and the file, separated by commas; NULL or "":
  /// none. "throttled=READ:WRITE" limits reads and writes to these bytes per
  /// second each; "throttled=BOTH" limits them together. "faulty=KIND:N" makes
  /// the N-th of all reads and writes, from 1, fail; KIND is no_space, io,
  /// short, or flip, which inverts a bit and reports no error. "memory" uses
  /// memory instead of a file.
  const char *layers;
} hfta_medium_options;

/// The functions of a kind of medium.
typedef struct hfta_medium_functions {
  const char *kind;

  void (*close)(hfta_medium *medium);

  /// Read or write `bytes` bytes from `offset` on. If not all of them can be
  /// transferred, the call fails with HFTA_CANNOT_WRITE. Offsets, sizes and
  /// addresses are multiples of HFTA_PAGE_BYTES. Bytes that were never written
  /// are undefined.
  hfta_status (*read)(hfta_medium *medium, uint64_t offset, void *to,
                      uint64_t bytes, hfta_error *error);
  hfta_status (*write)(hfta_medium *medium, uint64_t offset, const void *from,
                       uint64_t bytes, hfta_error *error);

  /// Returns a note about the medium for the user, as static text, or NULL.
  /// Valid after the first read or write.
  const char *(*note)(const hfta_medium *medium);
} hfta_medium_functions;

/// The base of all media: the first member of each kind's own struct.
struct hfta_medium {
  const hfta_medium_functions *functions;
};

/// Opens a medium: a nameless file in the folder, allocated in its full length
/// at once, which is read and written past the system's page cache where that
/// is possible. HFTA_UNSUPPORTED if the folder itself is in memory (tmpfs);
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

/// Options of hfta_store_open.
typedef struct hfta_store_options {
  /// Options of the medium, except `bytes`, which the store sets.
  hfta_medium_options medium;
  const uint64_t *extents; ///< size of each extent in bytes, a multiple of
                           ///< HFTA_PAGE_BYTES; may be 0
  uint64_t extent_count;
  int threads; ///< number of the store's own threads, at most
               ///< HFTA_STORE_THREADS; 0: two
} hfta_store_options;

/// The most threads of a store.
#define HFTA_STORE_THREADS 16

/// The size of a piece in bytes. A piece is the unit of checksums, and so the
/// least that is read to get a part of it.
#define HFTA_STORE_PIECE_BYTES (256u << 10)

/// The approximate bytes of stack that one of the store's threads uses.
#define HFTA_STORE_STACK_BYTES (16u << 10)

/// Returns the most bytes of memory that a store of `extents` extents, `bytes`
/// bytes in all, needs besides its callers' buffers: for its threads, one
/// piece, and a record of each piece and extent. Memory plans include it.
static inline uint64_t hfta_store_overhead(uint64_t extents, uint64_t bytes) {
  uint64_t pieces = bytes / HFTA_STORE_PIECE_BYTES + extents;
  return HFTA_STORE_PIECE_BYTES + HFTA_STORE_THREADS * HFTA_STORE_STACK_BYTES +
         8 * pieces + 16 * (extents + 1);
}

/// Opens a store, in which all extents read as zeros. Fails as hfta_medium_open
/// does, and with HFTA_UNSUPPORTED if memory or threads are lacking.
hfta_status hfta_store_open(const hfta_store_options *options, hfta_store **out,
                            hfta_error *error);

/// Closes a store, which must have no read or write in flight. NULL is allowed.
void hfta_store_close(hfta_store *store);

/// Returns the number of extents.
uint64_t hfta_store_extent_count(const hfta_store *store);
/// Returns the bytes of one extent.
uint64_t hfta_store_extent_bytes(const hfta_store *store, uint64_t extent);

/// Read and write `count` extents from number `first` on. In memory the extents
/// follow each other, at an address that is a multiple of HFTA_PAGE_BYTES. The
/// functions return when all is done. HFTA_CANNOT_WRITE if the medium fails, or
/// if it reads other bytes than were written. Reading an extent whose last
/// write has failed gives the error of the store's first failed write, until
/// the extent is written again.
hfta_status hfta_store_read(hfta_store *store, uint64_t first, uint64_t count,
                            void *to, hfta_error *error);
hfta_status hfta_store_write(hfta_store *store, uint64_t first, uint64_t count,
                             const void *from, hfta_error *error);

/// Read and write bytes of one extent, from any `offset` on, to or from any
/// address. Errors are as in hfta_store_read and hfta_store_write.
hfta_status hfta_store_read_bytes(hfta_store *store, uint64_t extent,
                                  uint64_t offset, void *to, uint64_t bytes,
                                  hfta_error *error);
hfta_status hfta_store_write_bytes(hfta_store *store, uint64_t extent,
                                   uint64_t offset, const void *from,
                                   uint64_t bytes, hfta_error *error);

/// Makes all extents read as zeros again.
void hfta_store_forget(hfta_store *store);

/// The numbers of bytes that the medium has read and written so far.
typedef struct hfta_store_traffic {
  uint64_t read, written;
} hfta_store_traffic;
/// Returns the store's traffic since it was opened.
hfta_store_traffic hfta_store_count(hfta_store *store);

/// Returns the note of hfta_medium_functions.note: static text for the user, or
/// NULL.
const char *hfta_store_note(const hfta_store *store);

#ifdef __cplusplus
}
#endif

#endif // HFTA_STORE_H
