//===- text.h - Numbers and characters in files -----------------*- C -*-===//
//
// Private to the runtime. All functions are pure and independent of the locale.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TEXT_TEXT_H
#define HFTA_SRC_TEXT_TEXT_H

#include "system/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The greatest length in characters of a text that is accepted as a number.
#define HFTA_MAX_NUMBER_LENGTH 400

/// The kind of number that a text represents.
typedef enum hfta_number_kind {
  HFTA_NOT_A_NUMBER = 0,
  HFTA_DECIMAL_INTEGER, ///< digits with an optional sign
  HFTA_DECIMAL,         ///< digits with a point or an exponent
  HFTA_NON_FINITE ///< nan, inf, infinity, in any case, with an optional sign
} hfta_number_kind;

/// Returns the kind of number that the whole of `text` represents. Doesn't need
/// a terminating 0, as it never reads beyond `length`.
hfta_number_kind hfta_classify_number(const char *text, size_t length);

/// Parses a text that hfta_classify_number accepts, to the nearest f64 or f32.
/// Returns false if a finite number exceeds the type's range, or if memory runs
/// out.
bool hfta_parse_f64(const char *text, size_t length, double *out);
bool hfta_parse_f32(const char *text, size_t length, float *out);

/// Parses a text of kind HFTA_DECIMAL_INTEGER. Returns false if the number
/// exceeds the type's range.
bool hfta_parse_i64(const char *text, size_t length, int64_t *out);

/// Returns the bits of the f16 or bf16 nearest to `value`, rounding ties to
/// even. A value beyond the type's range becomes infinity.
uint16_t hfta_f16_from_f64(double value);
uint16_t hfta_bf16_from_f64(double value);

/// Returns the number that the bits of an f16 or bf16 stand for.
double hfta_f64_from_f16(uint16_t bits);
double hfta_f64_from_bf16(uint16_t bits);

#endif // HFTA_SRC_TEXT_TEXT_H
