//===- checksum.h - XXH64 ---------------------------------------*- C -*-===//
//
// The 64-bit hash of github.com/Cyan4973/xxHash, doc/xxhash_spec.md, with seed
// 0. It processes several bytes per cycle without special instructions. It
// detects accidental changes (one in 2^64 escapes), but doesn't protect against
// an attacker.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_CHECKSUM_H
#define HFTA_SRC_FORMATS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// The size of a checksum's text: 16 hexadecimal digits and a terminating 0.
enum { HFTA_CHECKSUM_TEXT_BYTES = 17 };

/// The state of a checksum's computation, allocated by the caller. Its members
/// are private.
typedef struct hfta_checksum {
  uint64_t lanes[4];      ///< the accumulators of the four lanes
  uint64_t size;          ///< the number of bytes added so far
  unsigned char rest[32]; ///< bytes that don't fill a stripe of 32 yet
} hfta_checksum;

/// Starts the checksum of an empty sequence of bytes.
void hfta_checksum_begin(hfta_checksum *sum);

/// Appends bytes to the checksummed sequence. How the sequence is divided into
/// calls doesn't matter.
void hfta_checksum_add(hfta_checksum *sum, const void *bytes, size_t size);

/// Returns the checksum of all bytes added so far; more may be added later.
uint64_t hfta_checksum_value(const hfta_checksum *sum);

/// Writes the checksum's value to `buffer` in lower-case hexadecimal digits;
/// returns `buffer`.
const char *hfta_checksum_text(const hfta_checksum *sum,
                               char buffer[HFTA_CHECKSUM_TEXT_BYTES]);

#endif // HFTA_SRC_FORMATS_CHECKSUM_H
