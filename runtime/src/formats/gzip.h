//===- gzip.h - Unpacks gzip from memory ------------------------*- C -*-===//
//
// Private to the runtime. Unpacks a stream of one or several members (RFC 1952)
// piece by piece; the memory in use doesn't depend on its size. One thread at a
// time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_GZIP_H
#define HFTA_SRC_FORMATS_GZIP_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The most bytes that Deflate packs into one byte (RFC 1951: a match of 258
/// bytes takes at least two bits).
#define HFTA_GZIP_MAX_RATIO 1032u

typedef struct hfta_gzip hfta_gzip;

/// True if a file begins as gzip does.
bool hfta_gzip_detect(const void *bytes, uint64_t size);

/// Returns the name of the format by which a file is packed: gzip, zip, bzip2,
/// xz or Zstandard; NULL if it isn't packed.
const char *hfta_packed_by(const void *bytes, uint64_t size);

/// `bytes` and `path` (for messages) are borrowed until closed.
hfta_status hfta_gzip_open(const void *bytes, uint64_t size, const char *path,
                           hfta_gzip **out, hfta_error *error);

/// Unpacks the next bytes, `*got` of them; fewer than `size` only at the end of
/// the stream. Faulty, truncated or trailing input is HFTA_INVALID_INPUT,
/// except for zeros at the end, with which tapes and some tools fill up a file.
hfta_status hfta_gzip_read(hfta_gzip *gzip, void *destination, uint64_t size,
                           uint64_t *got, hfta_error *error);

/// NULL is allowed.
void hfta_gzip_close(hfta_gzip *gzip);

#endif // HFTA_SRC_FORMATS_GZIP_H
