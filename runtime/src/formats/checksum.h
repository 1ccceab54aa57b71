//===- checksum.h - XXH64 ---------------------------------------*- C -*-===//
//
// The 64-bit hash of github.com/Cyan4973/xxHash, doc/xxhash_spec.md, with seed
// 0: several bytes a cycle without special instructions, and no change within
// eight bytes of a file leaves it as it was. It guards against accidents, not
// against an attacker.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_CHECKSUM_H
#define HFTA_SRC_FORMATS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// 16 digits of base 16 and the final 0.
enum { HFTA_CHECKSUM_TEXT_BYTES = 17 };

/// On the caller's stack; fields are private.
typedef struct hfta_checksum {
  uint64_t lanes[4];
  uint64_t size;
  unsigned char rest[32]; ///< the last size % 32 bytes
} hfta_checksum;

void hfta_checksum_begin(hfta_checksum *sum);

/// Pieces may be cut anywhere.
void hfta_checksum_add(hfta_checksum *sum, const void *bytes, size_t size);

uint64_t hfta_checksum_value(const hfta_checksum *sum);

/// Writes the value in lower case and returns `buffer`.
const char *hfta_checksum_text(const hfta_checksum *sum,
                               char buffer[HFTA_CHECKSUM_TEXT_BYTES]);

#endif // HFTA_SRC_FORMATS_CHECKSUM_H
