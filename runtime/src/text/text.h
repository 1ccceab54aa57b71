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

/// The greatest length of a number in characters; longer ones are refused.
#define HFTA_MAX_NUMBER_LENGTH 400

/// The kind of number that a text represents.
typedef enum hfta_number_kind {
  HFTA_NOT_A_NUMBER = 0,
  HFTA_DECIMAL_INTEGER, ///< digits with an optional sign
  HFTA_DECIMAL,         ///< digits with a point or an exponent
  HFTA_NON_FINITE ///< nan, inf, infinity, in any case, with an optional sign
} hfta_number_kind;

/// Classifies the whole text; never reads beyond `length`.
hfta_number_kind hfta_classify_number(const char *text, size_t length);

/// Parses a classified number, correctly rounded. Returns false if a finite
/// number exceeds the type's range.
bool hfta_parse_f64(const char *text, size_t length, double *out);
bool hfta_parse_f32(const char *text, size_t length, float *out);

/// Parses a HFTA_DECIMAL_INTEGER; returns false if it exceeds the type's range.
bool hfta_parse_i64(const char *text, size_t length, int64_t *out);

/// Returns the bits of the nearest f16 or bf16, ties to even; overflow gives
/// infinity.
uint16_t hfta_f16_from_f64(double value);
uint16_t hfta_bf16_from_f64(double value);

#endif // HFTA_SRC_TEXT_TEXT_H
