//===- text.h - Numbers and characters in files -----------------*- C -*-===//
//
// Private to the runtime. Pure functions, independent of the locale.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TEXT_TEXT_H
#define HFTA_SRC_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Numbers of more characters than this are refused.
#define HFTA_MAX_NUMBER_LENGTH 400

/// What a text is as a number.
typedef enum hfta_number_kind {
  HFTA_NOT_A_NUMBER = 0,
  HFTA_DECIMAL_INTEGER, ///< digits with an optional sign
  HFTA_DECIMAL,         ///< with a point or an exponent
  HFTA_NON_FINITE ///< nan, inf, infinity, in any case, with an optional sign
} hfta_number_kind;

/// Looks at the whole text; never reads beyond `length`.
hfta_number_kind hfta_classify_number(const char *text, size_t length);

/// A classified number, correctly rounded. False if a finite text exceeds the
/// type's range.
bool hfta_parse_f64(const char *text, size_t length, double *out);
bool hfta_parse_f32(const char *text, size_t length, float *out);

/// A HFTA_DECIMAL_INTEGER; false if it exceeds the type's range.
bool hfta_parse_i64(const char *text, size_t length, int64_t *out);

/// The bits of the nearest f16 or bf16, ties to even; overflow gives infinity.
uint16_t hfta_f16_from_f64(double value);
uint16_t hfta_bf16_from_f64(double value);

/// Length of the valid UTF-8 sequence at `text` (0 if there is none) within
/// `size` bytes.
size_t hfta_utf8_sequence(const char *text, size_t size);

/// True if all of a text is valid UTF-8.
bool hfta_utf8_valid(const char *text, size_t size);

/// Writes a code point below 0x110000 as UTF-8; returns the bytes, 1 to 4.
size_t hfta_utf8_encode(uint32_t code_point, char out[4]);

#endif // HFTA_SRC_TEXT_TEXT_H
