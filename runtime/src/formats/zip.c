//===- zip.c - Finds members of zip archives ------------------------------===//

#include "formats/zip.h"

#include <inttypes.h>
#include <string.h>

/// Sizes in bytes of the records of an archive, without names and comments, and
/// the numbers with which they begin.
enum {
  LOCAL_BYTES = 30,
  ENTRY_BYTES = 46,
  END_BYTES = 22,
  WIDE_END_BYTES = 56,
  LOCATOR_BYTES = 20,
  LOCAL_MAGIC = 0x04034B50,
  ENTRY_MAGIC = 0x02014B50,
  END_MAGIC = 0x06054B50,
  WIDE_END_MAGIC = 0x06064B50,
  LOCATOR_MAGIC = 0x07064B50
};

/// The methods of compression that are read.
enum { STORED = 0, DEFLATED = 8 };

/// Bits of an entry's flags that say that it is encrypted.
enum { ENCRYPTED_FLAGS = 1 | 1 << 6 | 1 << 13 };

/// The kind of an extra field that holds 64-bit sizes.
enum { WIDE_FIELD = 1 };

/// Numbers that say that the extra field has the true ones.
#define IN_EXTRA_32 0xFFFFFFFFu
#define IN_EXTRA_16 0xFFFFu

/// An archive in memory.
typedef struct archive {
  const unsigned char *bytes;
  uint64_t size;
  const char *path;
  hfta_error *error;
} archive;

/// An entry of the directory.
typedef struct entry {
  hfta_zip_member member;
  uint64_t offset; ///< the place of its local header
  uint32_t flags, method;
  uint64_t next; ///< the place of the next entry
} entry;

static uint64_t read_number(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | at[i];
  return value;
}

static uint32_t read_16(const unsigned char *at) {
  return (uint32_t)read_number(at, 2);
}

static uint32_t read_32(const unsigned char *at) {
  return (uint32_t)read_number(at, 4);
}

static uint64_t read_64(const unsigned char *at) { return read_number(at, 8); }

static hfta_status damaged(const archive *zip, const char *what) {
  return hfta_fail(zip->error, HFTA_INVALID_INPUT,
                   "'%s' is no whole zip archive: %s", zip->path, what);
}

/// Returns whether `count` bytes at `offset` are in the archive.
static bool has_bytes(const archive *zip, uint64_t offset, uint64_t count) {
  return offset <= zip->size && count <= zip->size - offset;
}

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

/// Finds the record at the archive's end, which a comment of up to 64 KiB may
/// follow. Returns false if there is none.
static bool find_end(const archive *zip, uint64_t *out) {
  if (zip->size < END_BYTES)
    return false;
  uint64_t last = zip->size - END_BYTES;
  for (uint64_t back = 0; back <= last && back <= IN_EXTRA_16; ++back) {
    const unsigned char *at = zip->bytes + last - back;
    if (read_32(at) == END_MAGIC && read_16(at + 20) == back) {
      *out = last - back;
      return true;
    }
  }
  return false;
}

/// Sets `*begin` and `*end` to the range of the directory's entries.
static hfta_status find_directory(const archive *zip, uint64_t *begin,
                                  uint64_t *end) {
  uint64_t at;
  if (!find_end(zip, &at))
    return damaged(zip, "it lacks the record with which archives end");
  const unsigned char *record = zip->bytes + at;
  uint64_t bytes = read_32(record + 12);
  *begin = read_32(record + 16);
  bool is_split =
      read_16(record + 4) != 0 && read_16(record + 4) != IN_EXTRA_16;
  if (at >= LOCATOR_BYTES && read_32(record - LOCATOR_BYTES) == LOCATOR_MAGIC) {
    uint64_t wide = read_64(record - LOCATOR_BYTES + 8);
    if (!has_bytes(zip, wide, WIDE_END_BYTES) ||
        read_32(zip->bytes + wide) != WIDE_END_MAGIC)
      return damaged(zip, "the record of its 64-bit sizes is missing");
    bytes = read_64(zip->bytes + wide + 40);
    *begin = read_64(zip->bytes + wide + 48);
  }
  if (is_split)
    return hfta_fail(zip->error, HFTA_UNSUPPORTED,
                     "'%s' is a part of a zip archive of several files, which "
                     "is not supported",
                     zip->path);
  if (!has_bytes(zip, *begin, bytes))
    return damaged(zip, "its directory is beyond its end");
  *end = *begin + bytes;
  return HFTA_OK;
}

/// Takes an entry's sizes and offset that don't fit into 32 bits from its extra
/// fields. Returns false if they aren't there.
static bool read_wide(entry *out, const unsigned char *extra, uint32_t bytes) {
  uint64_t *wide[3],
      *values[] = {&out->member.bytes, &out->member.packed_bytes, &out->offset};
  uint32_t count = 0;
  for (int i = 0; i < 3; ++i)
    if (*values[i] == IN_EXTRA_32)
      wide[count++] = values[i];
  if (count == 0)
    return true;
  while (bytes >= 4) {
    uint32_t kind = read_16(extra), length = read_16(extra + 2);
    extra += 4;
    bytes -= 4;
    if (length > bytes)
      return false;
    if (kind == WIDE_FIELD) {
      if (length < 8 * count)
        return false;
      for (uint32_t i = 0; i < count; ++i)
        *wide[i] = read_64(extra + (size_t)8 * i);
      return true;
    }
    extra += length;
    bytes -= length;
  }
  return false;
}

/// Reads the entry at `at` of a directory that ends at `end`.
static hfta_status read_entry(const archive *zip, uint64_t at, uint64_t end,
                              entry *out) {
  if (end - at < ENTRY_BYTES || read_32(zip->bytes + at) != ENTRY_MAGIC)
    return damaged(zip, "its directory is damaged");
  const unsigned char *record = zip->bytes + at;
  uint32_t name = read_16(record + 28), extra = read_16(record + 30);
  uint64_t rest = (uint64_t)name + extra + read_16(record + 32);
  if (end - at - ENTRY_BYTES < rest)
    return damaged(zip, "its directory is damaged");
  *out = (entry){.member = {.name = (const char *)record + ENTRY_BYTES,
                            .name_bytes = name,
                            .packed_bytes = read_32(record + 20),
                            .bytes = read_32(record + 24),
                            .crc = read_32(record + 16)},
                 .offset = read_32(record + 42),
                 .flags = read_16(record + 8),
                 .method = read_16(record + 10),
                 .next = at + ENTRY_BYTES + rest};
  if (!read_wide(out, record + ENTRY_BYTES + name, extra))
    return damaged(zip, "a member lacks its size");
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

static hfta_status locate(const archive *zip, entry *found) {
  hfta_zip_member *member = &found->member;
  int length = member->name_bytes < 100 ? (int)member->name_bytes : 100;
  if (found->flags & ENCRYPTED_FLAGS)
    return hfta_fail(zip->error, HFTA_UNSUPPORTED, "'%s:%.*s' is encrypted",
                     zip->path, length, member->name);
  if (found->method != STORED && found->method != DEFLATED)
    return hfta_fail(zip->error, HFTA_UNSUPPORTED,
                     "'%s:%.*s' is compressed by method %" PRIu32
                     ", which is not supported, only by Deflate",
                     zip->path, length, member->name, found->method);
  uint64_t offset = found->offset;
  if (!has_bytes(zip, offset, LOCAL_BYTES) ||
      read_32(zip->bytes + offset) != LOCAL_MAGIC)
    return damaged(zip, "a member isn't where its directory says");
  const unsigned char *record = zip->bytes + offset;
  offset += LOCAL_BYTES + (uint64_t)read_16(record + 26) + read_16(record + 28);
  if (!has_bytes(zip, offset, member->packed_bytes))
    return damaged(zip, "a member ends beyond its end");
  member->packed = zip->bytes + offset;
  member->is_deflated = found->method == DEFLATED;
  if (!member->is_deflated && member->packed_bytes != member->bytes)
    return damaged(zip, "a member has two sizes");
  return HFTA_OK;
}

hfta_status hfta_zip_find(const void *bytes, uint64_t size, const char *path,
                          hfta_zip_visitor visit, void *argument,
                          hfta_zip_member *out, hfta_error *error) {
  archive zip = {bytes, size, path, error};
  uint64_t at, end;
  *out = (hfta_zip_member){0};
  hfta_status status = find_directory(&zip, &at, &end);
  while (status == HFTA_OK && at < end) {
    entry found;
    status = read_entry(&zip, at, end, &found);
    if (status == HFTA_OK && !visit(&found.member, argument)) {
      status = locate(&zip, &found);
      if (status == HFTA_OK)
        *out = found.member;
      return status;
    }
    at = found.next;
  }
  return status;
}
