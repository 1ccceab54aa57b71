//===- crc32c.h - CRC-32C ---------------------------------------*- C -*-===//
//
// CRC-32C as in RFC 3720, section 12.1: the CRC with the polynomial 0x1EDC6F41,
// bit-reflected.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_STORE_CRC32C_H
#define HFTA_SRC_STORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/// Returns the checksum of `size` bytes. Uses the processor's CRC-32C
/// instruction if it has one, else a table.
uint32_t hfta_crc32c(const void *bytes, size_t size);

/// Returns the checksum of `size` bytes, by a table on every processor.
uint32_t hfta_crc32c_by_table(const void *bytes, size_t size);

#endif // HFTA_SRC_STORE_CRC32C_H
