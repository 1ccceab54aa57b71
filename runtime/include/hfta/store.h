//===- store.h - What lies outside of memory meanwhile ----------*- C -*-===//
//
// A store holds extents: runs of bytes of sizes that are given when it is
// opened. They are cut into pieces of at most 256 KiB, each of which has a
// CRC-32C that is checked when it is read. Below that is a medium, reached
// through a table of functions only, which reads and writes ranges of bytes: a
// file, and for tests and measurements others. A store is scratch: nothing of
// it outlives the process.
//
// Threads: what reads and writes may be called by several threads at once, but
// for the same extents only if none of them writes. A store has threads of its
// own, which do that in pieces.
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
  const char *directory; ///< of a file; NULL or "": the working folder
  uint64_t bytes;        ///< how many it holds
  /// What lies between the store and the medium, one behind the other with
  /// commas; NULL or "": nothing.
  /// "throttled=READ:WRITE": so many bytes a second at most, each way;
  /// "throttled=BOTH": of both together. "faulty=KIND:N": the N-th of all reads
  /// and writes, from 1, fails: no_space, io, short, or of a read flip: one bit
  /// is another one. "memory": in memory instead of a file.
  const char *layers;
} hfta_medium_options;

typedef struct hfta_medium_functions {
  const char *kind;

  void (*close)(hfta_medium *medium);

  /// All of the bytes from `offset` on, or an error: HFTA_CANNOT_WRITE, with a
  /// message that tells of both. Offsets, bytes and addresses are multiples of
  /// HFTA_PAGE_BYTES. Bytes that were never written may be anything.
  hfta_status (*read)(hfta_medium *medium, uint64_t offset, void *to,
                      uint64_t bytes, hfta_error *error);
  hfta_status (*write)(hfta_medium *medium, uint64_t offset, const void *from,
                       uint64_t bytes, hfta_error *error);

  /// What the user should know of it, or NULL; static. After the first use.
  const char *(*note)(const hfta_medium *medium);
} hfta_medium_functions;

/// The common head of every medium's own struct.
struct hfta_medium {
  const hfta_medium_functions *functions;
};

/// A file without a name in the folder, of its full length at once, which is
/// read and written past the system's cache where that is possible.
/// HFTA_UNSUPPORTED if the folder is memory itself; HFTA_CANNOT_WRITE if it
/// isn't there, can't be written, or has no room; HFTA_USAGE for layers that
/// aren't known.
hfta_status hfta_medium_open(const hfta_medium_options *options,
                             hfta_medium **out, hfta_error *error);

/// NULL is allowed.
void hfta_medium_close(hfta_medium *medium);

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

typedef struct hfta_store hfta_store;

typedef struct hfta_store_options {
  hfta_medium_options medium; ///< `bytes` is set by the store
  const uint64_t *extents;    ///< bytes of each, multiples of HFTA_PAGE_BYTES
  uint64_t extent_count;
  int threads; ///< that read and write, at most HFTA_STORE_THREADS; 0: two
} hfta_store_options;

#define HFTA_STORE_THREADS 16

/// Most bytes that have one checksum, and that are read to give a part of them.
#define HFTA_STORE_PIECE_BYTES (256u << 10)

/// What is touched of the stack of one of its threads, about.
#define HFTA_STORE_STACK_BYTES (16u << 10)

/// The most memory that a store of so many extents and bytes needs beside what
/// is read and written: threads, a piece, and for each piece and extent what is
/// known of it. Plans count with it.
static inline uint64_t hfta_store_overhead(uint64_t extents, uint64_t bytes) {
  uint64_t pieces = bytes / HFTA_STORE_PIECE_BYTES + extents;
  return HFTA_STORE_PIECE_BYTES + HFTA_STORE_THREADS * HFTA_STORE_STACK_BYTES +
         8 * pieces + 16 * (extents + 1);
}

/// All extents read as zeros. Fails as hfta_medium_open; without memory or
/// threads HFTA_UNSUPPORTED.
hfta_status hfta_store_open(const hfta_store_options *options, hfta_store **out,
                            hfta_error *error);

/// When nothing is read or written any more. NULL is allowed.
void hfta_store_close(hfta_store *store);

uint64_t hfta_store_extent_count(const hfta_store *store);
/// Of one of them.
uint64_t hfta_store_extent_bytes(const hfta_store *store, uint64_t extent);

/// `count` extents from number `first` on, which lie one after the other in
/// memory, at a multiple of HFTA_PAGE_BYTES. Returns when they are read.
/// HFTA_CANNOT_WRITE if the medium fails, or gives other bytes than were
/// written.
hfta_status hfta_store_read(hfta_store *store, uint64_t first, uint64_t count,
                            void *to, hfta_error *error);
hfta_status hfta_store_write(hfta_store *store, uint64_t first, uint64_t count,
                             const void *from, hfta_error *error);

/// Bytes of one extent, from any `offset` on to any address.
hfta_status hfta_store_read_bytes(hfta_store *store, uint64_t extent,
                                  uint64_t offset, void *to, uint64_t bytes,
                                  hfta_error *error);
hfta_status hfta_store_write_bytes(hfta_store *store, uint64_t extent,
                                   uint64_t offset, const void *from,
                                   uint64_t bytes, hfta_error *error);

/// All extents read as zeros again.
void hfta_store_forget(hfta_store *store);

/// Bytes that the medium has read and written so far.
typedef struct hfta_store_traffic {
  uint64_t read, written;
} hfta_store_traffic;
hfta_store_traffic hfta_store_count(hfta_store *store);

/// What the user should know of the medium, or NULL; static.
const char *hfta_store_note(const hfta_store *store);

#ifdef __cplusplus
}
#endif

#endif // HFTA_STORE_H
