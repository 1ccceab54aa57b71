//===- zip.h - Finds members of zip archives ----------------------*- C -*-===//
//
// Private to the runtime. Reads the directory of an archive that is in memory
// (PKWARE's APPNOTE.TXT), with 64-bit sizes as NumPy writes them. Members must
// be stored or compressed by Deflate, in one file, without encryption. Nothing
// is allocated.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_ZIP_H
#define HFTA_SRC_FORMATS_ZIP_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A file in an archive.
typedef struct hfta_zip_member {
  const char *name; ///< without a terminating 0
  size_t name_bytes;
  const unsigned char *packed; ///< its bytes as they are stored
  uint64_t packed_bytes;
  uint64_t bytes; ///< their number after decompression
  uint32_t crc;   ///< their CRC-32
  bool is_deflated;
} hfta_zip_member;

/// Receives the members of an archive one by one, without their bytes. Returns
/// false to end the search at this one.
typedef bool (*hfta_zip_visitor)(const hfta_zip_member *member, void *argument);

/// Reads the directory of an archive of `size` bytes, and calls `visit` for
/// each member in turn until it returns false. Sets `*out` to that member, with
/// its bytes, or its `packed` to NULL if there is none. Bytes are borrowed;
/// `path` is for messages. HFTA_INVALID_INPUT if the archive is damaged,
/// HFTA_UNSUPPORTED if the member is packed in another way.
hfta_status hfta_zip_find(const void *bytes, uint64_t size, const char *path,
                          hfta_zip_visitor visit, void *argument,
                          hfta_zip_member *out, hfta_error *error);

#endif // HFTA_SRC_FORMATS_ZIP_H
