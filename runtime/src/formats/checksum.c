//===- checksum.c - XXH64 -------------------------------------------------===//

#include "formats/checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/// The number of bytes that one round of all four lanes consumes.
enum { STRIPE = 32 };

// The primes are those of the specification.
static const uint64_t prime1 = UINT64_C(0x9E3779B185EBCA87);
static const uint64_t prime2 = UINT64_C(0xC2B2AE3D27D4EB4F);
static const uint64_t prime3 = UINT64_C(0x165667B19E3779F9);
static const uint64_t prime4 = UINT64_C(0x85EBCA77C2B2AE63);
static const uint64_t prime5 = UINT64_C(0x27D4EB2F165667C5);

static uint64_t rotate(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

/// Reads a little-endian number; all supported machines are little-endian.
static uint64_t read64(const unsigned char *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

/// Adds eight bytes of input to a lane.
static uint64_t mix(uint64_t lane, uint64_t input) {
  return rotate(lane + input * prime2, 31) * prime1;
}

void hfta_checksum_begin(hfta_checksum *sum) {
  *sum = (hfta_checksum){
      .lanes = {prime1 + prime2, prime2, 0, UINT64_C(0) - prime1}};
}

static void add_stripes(hfta_checksum *sum, const unsigned char *bytes,
                        size_t count) {
  uint64_t a = sum->lanes[0], b = sum->lanes[1];
  uint64_t c = sum->lanes[2], d = sum->lanes[3];
  for (size_t i = 0; i < count; ++i, bytes += STRIPE) {
    a = mix(a, read64(bytes));
    b = mix(b, read64(bytes + 8));
    c = mix(c, read64(bytes + 16));
    d = mix(d, read64(bytes + 24));
  }
  sum->lanes[0] = a;
  sum->lanes[1] = b;
  sum->lanes[2] = c;
  sum->lanes[3] = d;
}

void hfta_checksum_add(hfta_checksum *sum, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  size_t held = sum->size % STRIPE;
  sum->size += size;
  if (held > 0) {
    size_t taken = size < STRIPE - held ? size : STRIPE - held;
    memcpy(sum->rest + held, at, taken);
    if (held + taken < STRIPE)
      return;
    add_stripes(sum, sum->rest, 1);
    at += taken;
    size -= taken;
  }
  add_stripes(sum, at, size / STRIPE);
  if (size % STRIPE > 0)
    memcpy(sum->rest, at + size / STRIPE * STRIPE, size % STRIPE);
}

static uint64_t merge_lanes(const hfta_checksum *sum) {
  uint64_t value = rotate(sum->lanes[0], 1) + rotate(sum->lanes[1], 7) +
                   rotate(sum->lanes[2], 12) + rotate(sum->lanes[3], 18);
  for (int i = 0; i < 4; ++i)
    value = (value ^ mix(0, sum->lanes[i])) * prime1 + prime4;
  return value;
}

uint64_t hfta_checksum_value(const hfta_checksum *sum) {
  uint64_t value = sum->size < STRIPE ? prime5 : merge_lanes(sum);
  value += sum->size;
  const unsigned char *at = sum->rest, *end = at + sum->size % STRIPE;
  for (; end - at >= 8; at += 8)
    value = rotate(value ^ mix(0, read64(at)), 27) * prime1 + prime4;
  if (end - at >= 4) {
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    value = rotate(value ^ word * prime1, 23) * prime2 + prime3;
    at += 4;
  }
  for (; at < end; ++at)
    value = rotate(value ^ *at * prime5, 11) * prime1;
  value = (value ^ value >> 33) * prime2;
  value = (value ^ value >> 29) * prime3;
  return value ^ value >> 32;
}

const char *hfta_checksum_text(const hfta_checksum *sum,
                               char buffer[HFTA_CHECKSUM_TEXT_BYTES]) {
  snprintf(buffer, HFTA_CHECKSUM_TEXT_BYTES, "%016" PRIx64,
           hfta_checksum_value(sum));
  return buffer;
}
