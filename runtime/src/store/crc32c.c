//===- crc32c.c - CRC-32C -------------------------------------------------===//

#include "store/crc32c.h"
#include "system/cpu_features.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static const uint32_t polynomial = 0x82F63B78; // bit-reflected

/// Entry [i][byte] is the CRC of `byte` followed by i zero bytes.
static uint32_t tables[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/// Fills the tables. Called once, as hfta_crc32c_by_table may run on several
/// threads.
static void make_tables(void) {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ ((value & 1) ? polynomial : 0);
    tables[0][byte] = value;
  }
  for (int i = 1; i < 8; ++i)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t before = tables[i - 1][byte];
      tables[i][byte] = (before >> 8) ^ tables[0][before & 255];
    }
}

/// Processes eight bytes per step by eight table look-ups ("slicing by 8").
/// Source: Kounavis and Berry, "A systematic approach to building high
/// performance software-based CRC generators", 2005.
uint32_t hfta_crc32c_by_table(const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  uint32_t value = ~0u;
  pthread_once(&once, make_tables);
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    word ^= value;
    value = 0;
    for (int i = 0; i < 8; ++i)
      value ^= tables[7 - i][(word >> (8 * i)) & 255];
  }
  for (; size > 0; --size, ++at)
    value = (value >> 8) ^ tables[0][(value ^ *at) & 255];
  return ~value;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t
crc_by_instruction(const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  uint64_t value = ~0u;
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    value = __builtin_ia32_crc32di(value, word);
  }
  for (; size > 0; --size, ++at)
    value = __builtin_ia32_crc32qi((uint32_t)value, *at);
  return ~(uint32_t)value;
}

uint32_t hfta_crc32c(const void *bytes, size_t size) {
  return hfta_cpu_has("sse4_2") ? crc_by_instruction(bytes, size)
                                : hfta_crc32c_by_table(bytes, size);
}

#else

uint32_t hfta_crc32c(const void *bytes, size_t size) {
  return hfta_crc32c_by_table(bytes, size);
}

#endif
