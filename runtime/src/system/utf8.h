//===- utf8.h - Characters of UTF-8 -----------------------------*- C -*-===//
//
// Private to the runtime. All functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_UTF8_H
#define HFTA_SRC_SYSTEM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Returns the length in bytes of the valid UTF-8 sequence at the beginning of
/// the `size` bytes at `text`; 0 if there is none.
size_t hfta_utf8_sequence(const char *text, size_t size);

/// Returns whether a text of `size` bytes is valid UTF-8.
bool hfta_utf8_valid(const char *text, size_t size);

/// Writes a code point below 0x110000 as UTF-8. Returns the number of bytes, 1
/// to 4.
size_t hfta_utf8_encode(uint32_t code_point, char out[4]);

#endif // HFTA_SRC_SYSTEM_UTF8_H
