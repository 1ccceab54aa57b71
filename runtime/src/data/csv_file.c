//===- csv_file.c - Opens csv files ---------------------------------------===//

#include "data/csv_file.h"

#include "formats/gzip.h"

#include <string.h>

/// Returns whether a text begins like UTF-16: with a byte order mark, or with a
/// character whose high or low byte is 0, as of ASCII characters.
static bool is_utf16(const unsigned char *bytes, uint64_t size) {
  if (size < 2)
    return false;
  return (bytes[0] == 0xFF && bytes[1] == 0xFE) ||
         (bytes[0] == 0xFE && bytes[1] == 0xFF) ||
         (bytes[0] == 0) != (bytes[1] == 0);
}

/// Refuses compressed files and UTF-16, whose first line would otherwise be
/// taken for a header.
static hfta_status check_encoding(const hfta_mapping *mapping, const char *path,
                                  hfta_error *error) {
  const char *packed = hfta_packed_by(mapping->bytes, mapping->size);
  if (packed)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s' is packed by %s, which is not supported for csv "
                     "files: unpack it",
                     path, packed);
  if (is_utf16(mapping->bytes, mapping->size))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s' is a text in UTF-16, which is not supported: save "
                     "it as UTF-8",
                     path);
  return HFTA_OK;
}

hfta_status hfta_csv_open(const char *path, char separator,
                          hfta_mapping *mapping, hfta_csv_reader *out,
                          hfta_error *error) {
  memset(out, 0, sizeof(*out));
  hfta_status status = hfta_mapping_open(path, mapping, error);
  if (status == HFTA_OK && mapping->size > 0)
    status = check_encoding(mapping, path, error);
  if (status != HFTA_OK || mapping->size == 0)
    return status;
  const char *text = (const char *)mapping->bytes;
  *out = (hfta_csv_reader){
      .at = text, .end = text + mapping->size, .separator = separator};
  // Skip the byte order mark U+FEFF, with which some programs begin a UTF-8
  // file.
  if (mapping->size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
    out->at += 3;
  return HFTA_OK;
}
