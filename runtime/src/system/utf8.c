//===- utf8.c - Characters of UTF-8 ---------------------------------------===//

#include "system/utf8.h"

size_t hfta_utf8_sequence(const char *text, size_t size) {
  const unsigned char *c = (const unsigned char *)text;
  if (size == 0)
    return 0;
  if (c[0] < 0x80)
    return 1;
  size_t length = c[0] < 0xC2   ? 0
                  : c[0] < 0xE0 ? 2
                  : c[0] < 0xF0 ? 3
                  : c[0] < 0xF5 ? 4
                                : 0;
  if (length == 0 || length > size)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((c[i] & 0xC0) != 0x80)
      return 0;
  // Rejects overlong forms, surrogates, and code points beyond U+10FFFF.
  if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) ||
      (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F))
    return 0;
  return length;
}

bool hfta_utf8_valid(const char *text, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t length = hfta_utf8_sequence(text + at, size - at);
    if (length == 0)
      return false;
    at += length;
  }
  return true;
}

size_t hfta_utf8_encode(uint32_t code_point, char out[4]) {
  if (code_point < 0x80) {
    out[0] = (char)code_point;
    return 1;
  }
  size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; --i) {
    out[i] = (char)(0x80 | (code_point & 0x3F));
    code_point >>= 6;
  }
  static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
  out[0] = (char)(leads[length] | code_point);
  return length;
}
