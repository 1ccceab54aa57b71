//===- gzip.c - Unpacks gzip from memory ----------------------------------===//

#include "formats/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct hfta_gzip {
  z_stream stream;
  const char *path;
  hfta_packing packing;
  uint64_t input; ///< bytes of input that zlib hasn't been given yet
  bool ended;     ///< whether all members have been decompressed
};

/// The most bytes that zlib is given at once: it counts them in an unsigned
/// int.
enum { PIECE_BYTES = 1 << 30 };

bool hfta_gzip_detect(const void *bytes, uint64_t size) {
  const unsigned char *c = bytes;
  return size >= 2 && c[0] == 0x1F && c[1] == 0x8B;
}

const char *hfta_packed_by(const void *bytes, uint64_t size) {
  static const struct {
    const char *begin;
    const char *name;
  } formats[] = {{"\x1F\x8B", "gzip"},
                 {"PK\x03\x04", "zip"},
                 {"BZh91AY&SY", "bzip2"},
                 {"\xFD"
                  "7zXZ",
                  "xz"},
                 {"\x28\xB5\x2F\xFD", "Zstandard"}};
  for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); ++i) {
    size_t length = strlen(formats[i].begin);
    if (size >= length && memcmp(bytes, formats[i].begin, length) == 0)
      return formats[i].name;
  }
  return NULL;
}

/// Returns the number by which zlib is told the size of its window and, by
/// additions to it, the packing.
static int window_bits(hfta_packing packing) {
  switch (packing) {
  case HFTA_PACKED_AS_GZIP:
    return 16 + MAX_WBITS;
  case HFTA_PACKED_AS_ZLIB:
    return MAX_WBITS;
  case HFTA_PACKED_BARE:
    return -MAX_WBITS;
  }
  return MAX_WBITS;
}

hfta_status hfta_gzip_open(const void *bytes, uint64_t size,
                           hfta_packing packing, const char *path,
                           hfta_gzip **out, hfta_error *error) {
  *out = NULL;
  hfta_gzip *gzip = calloc(1, sizeof(*gzip));
  if (!gzip || inflateInit2(&gzip->stream, window_bits(packing)) != Z_OK) {
    free(gzip);
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", path);
  }
  gzip->stream.next_in = (Bytef *)(uintptr_t)bytes;
  gzip->path = path;
  gzip->packing = packing;
  gzip->input = size;
  *out = gzip;
  return HFTA_OK;
}

/// Gives zlib the next piece of input if it has consumed the previous one.
static void feed(hfta_gzip *gzip) {
  if (gzip->stream.avail_in > 0)
    return;
  uInt piece = gzip->input < PIECE_BYTES ? (uInt)gzip->input : PIECE_BYTES;
  gzip->stream.avail_in = piece;
  gzip->input -= piece;
}

/// Returns whether all bytes are 0.
static bool is_padding(const unsigned char *bytes, uint64_t size) {
  for (uint64_t i = 0; i < size; ++i)
    if (bytes[i] != 0)
      return false;
  return true;
}

/// Handles the end of a member: prepares for the next member, or sets `ended`
/// if only padding follows.
static hfta_status next_member(hfta_gzip *gzip, hfta_error *error) {
  gzip->ended = gzip->packing != HFTA_PACKED_AS_GZIP;
  if (gzip->ended)
    return HFTA_OK;
  feed(gzip);
  uint64_t left = gzip->stream.avail_in + gzip->input;
  gzip->ended = is_padding(gzip->stream.next_in, left);
  if (gzip->ended)
    return HFTA_OK;
  if (!hfta_gzip_detect(gzip->stream.next_in, left))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' has bytes after the end of its gzip data",
                     gzip->path);
  inflateReset(&gzip->stream);
  return HFTA_OK;
}

static const char *name_of(hfta_packing packing) {
  return packing == HFTA_PACKED_AS_GZIP ? "gzip" : "compressed";
}

static hfta_status bad_stream(const hfta_gzip *gzip, int code,
                              hfta_error *error) {
  if (code == Z_MEM_ERROR)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", gzip->path);
  if (code == Z_BUF_ERROR)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is truncated: its %s data ends too early",
                     gzip->path, name_of(gzip->packing));
  return hfta_fail(error, HFTA_INVALID_INPUT, "'%s': faulty %s data: %s",
                   gzip->path, name_of(gzip->packing),
                   gzip->stream.msg ? gzip->stream.msg : "unknown reason");
}

hfta_status hfta_gzip_read(hfta_gzip *gzip, void *destination, uint64_t size,
                           uint64_t *got, hfta_error *error) {
  z_stream *stream = &gzip->stream;
  *got = 0;
  while (*got < size && !gzip->ended) {
    uint64_t room = size - *got;
    uInt piece = room < PIECE_BYTES ? (uInt)room : PIECE_BYTES;
    feed(gzip);
    stream->next_out = (Bytef *)destination + *got;
    stream->avail_out = piece;
    int code = inflate(stream, Z_NO_FLUSH);
    *got += piece - stream->avail_out;
    if (code != Z_OK && code != Z_STREAM_END)
      return bad_stream(gzip, code, error);
    if (code == Z_STREAM_END) {
      hfta_status status = next_member(gzip, error);
      if (status != HFTA_OK)
        return status;
    }
  }
  return HFTA_OK;
}

uint32_t hfta_crc32(uint32_t before, const void *bytes, uint64_t size) {
  const Bytef *at = bytes;
  uLong sum = before;
  while (size > 0) {
    uInt piece = size < PIECE_BYTES ? (uInt)size : PIECE_BYTES;
    sum = crc32(sum, at, piece);
    at += piece;
    size -= piece;
  }
  return (uint32_t)sum;
}

void hfta_gzip_close(hfta_gzip *gzip) {
  if (!gzip)
    return;
  inflateEnd(&gzip->stream);
  free(gzip);
}
