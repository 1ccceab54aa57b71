//===- crc32c.h - CRC-32C ---------------------------------------*- C -*-===//
//
// The checksum of RFC 3720, section 12.1: the polynomial 0x1EDC6F41,
// bit-reflected.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_STORE_CRC32C_H
#define HFTA_SRC_STORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/// Returns the checksum; uses the processor's instruction if it has one.
uint32_t hfta_crc32c(const void *bytes, size_t size);

/// Returns the checksum without using the processor's instruction.
uint32_t hfta_crc32c_by_table(const void *bytes, size_t size);

#endif // HFTA_SRC_STORE_CRC32C_H
