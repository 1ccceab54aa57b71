//===- utf8.h - Characters of UTF-8 -----------------------------*- C -*-===//
//
// Private to the runtime. All functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_UTF8_H
#define HFTA_SRC_SYSTEM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Returns the length of the valid UTF-8 sequence at `text` within `size`
/// bytes; 0 if there is none.
size_t hfta_utf8_sequence(const char *text, size_t size);

/// True if all of a text is valid UTF-8.
bool hfta_utf8_valid(const char *text, size_t size);

/// Writes a code point below 0x110000 as UTF-8; returns the number of bytes, 1
/// to 4.
size_t hfta_utf8_encode(uint32_t code_point, char out[4]);

#endif // HFTA_SRC_SYSTEM_UTF8_H
