//===- gzip.h - Unpacks gzip from memory ------------------------*- C -*-===//
//
// Private to the runtime. Decompresses a gzip stream of one or several members
// (RFC 1952), or what other formats pack in the same way, in pieces, so that
// memory use doesn't depend on the stream's size.
// An hfta_gzip may be used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_GZIP_H
#define HFTA_SRC_FORMATS_GZIP_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The greatest compression ratio of Deflate: a match of 258 bytes takes at
/// least two bits (RFC 1951).
#define HFTA_GZIP_MAX_RATIO 1032u

/// The frame of compressed bytes.
typedef enum hfta_packing {
  HFTA_PACKED_AS_GZIP, ///< gzip's header and trailer, once or several times
  HFTA_PACKED_AS_ZLIB, ///< zlib's, as in PNG images (RFC 1950)
  HFTA_PACKED_BARE,    ///< nothing, as in zip archives (RFC 1951)
} hfta_packing;

/// A gzip stream in memory that is being decompressed.
typedef struct hfta_gzip hfta_gzip;

/// Returns whether the bytes begin with gzip's magic number.
bool hfta_gzip_detect(const void *bytes, uint64_t size);

/// Returns the name of the compression or archive format whose magic number the
/// bytes begin with (gzip, zip, bzip2, xz or Zstandard), or NULL if there is
/// none.
const char *hfta_packed_by(const void *bytes, uint64_t size);

/// Opens a compressed stream of `size` bytes. `bytes` and `path` (for messages)
/// are borrowed until hfta_gzip_close. If memory runs out, returns
/// HFTA_UNSUPPORTED and sets `*out` to NULL.
hfta_status hfta_gzip_open(const void *bytes, uint64_t size,
                           hfta_packing packing, const char *path,
                           hfta_gzip **out, hfta_error *error);

/// Decompresses up to `size` bytes to `destination` and sets `*got` to their
/// number, which is less than `size` only at the end of the stream. Returns
/// HFTA_INVALID_INPUT if the stream is corrupt or truncated, or if other bytes
/// follow it. Zeros may follow, because tapes and some tools pad files with
/// them.
hfta_status hfta_gzip_read(hfta_gzip *gzip, void *destination, uint64_t size,
                           uint64_t *got, hfta_error *error);

/// Returns the checksum CRC-32 of bytes, as gzip, zip and PNG have it.
/// `before` is that of the bytes before these, or 0.
uint32_t hfta_crc32(uint32_t before, const void *bytes, uint64_t size);

/// Frees the stream's state; NULL is allowed.
void hfta_gzip_close(hfta_gzip *gzip);

#endif // HFTA_SRC_FORMATS_GZIP_H
