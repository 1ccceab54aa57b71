//===- checksum.h - XXH64 ---------------------------------------*- C -*-===//
//
// The 64-bit hash of github.com/Cyan4973/xxHash, doc/xxhash_spec.md, with seed
// 0. It covers several bytes per cycle without special instructions, and any
// change within eight bytes of a file changes it. It protects against
// accidents, not against an attacker.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_CHECKSUM_H
#define HFTA_SRC_FORMATS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// 16 hexadecimal digits and the final 0.
enum { HFTA_CHECKSUM_TEXT_BYTES = 17 };

/// A checksum in progress, on the caller's stack; its members are private.
typedef struct hfta_checksum {
  uint64_t lanes[4];
  uint64_t size;
  unsigned char rest[32]; ///< the last size % 32 bytes
} hfta_checksum;

void hfta_checksum_begin(hfta_checksum *sum);

/// Adds bytes; the data may be cut into pieces anywhere.
void hfta_checksum_add(hfta_checksum *sum, const void *bytes, size_t size);

uint64_t hfta_checksum_value(const hfta_checksum *sum);

/// Writes the value in lower case and returns `buffer`.
const char *hfta_checksum_text(const hfta_checksum *sum,
                               char buffer[HFTA_CHECKSUM_TEXT_BYTES]);

#endif // HFTA_SRC_FORMATS_CHECKSUM_H
