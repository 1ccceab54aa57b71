//===- gzip.c - Unpacks gzip from memory ----------------------------------===//

#include "formats/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct hfta_gzip {
  z_stream stream;
  const char *path;
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

hfta_status hfta_gzip_open(const void *bytes, uint64_t size, const char *path,
                           hfta_gzip **out, hfta_error *error) {
  *out = NULL;
  hfta_gzip *gzip = calloc(1, sizeof(*gzip));
  // Adding 16 to the window's bits makes zlib expect a gzip header.
  if (!gzip || inflateInit2(&gzip->stream, 16 + MAX_WBITS) != Z_OK) {
    free(gzip);
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", path);
  }
  gzip->stream.next_in = (Bytef *)(uintptr_t)bytes;
  gzip->path = path;
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

static hfta_status bad_stream(const hfta_gzip *gzip, int code,
                              hfta_error *error) {
  if (code == Z_MEM_ERROR)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", gzip->path);
  if (code == Z_BUF_ERROR)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is truncated: its gzip data ends too early",
                     gzip->path);
  return hfta_fail(error, HFTA_INVALID_INPUT, "'%s': faulty gzip data: %s",
                   gzip->path,
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

void hfta_gzip_close(hfta_gzip *gzip) {
  if (!gzip)
    return;
  inflateEnd(&gzip->stream);
  free(gzip);
}
