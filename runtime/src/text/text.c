//===- text.c - Numbers and characters in files ---------------------------===//

#include "text/text.h"

#include "hfta/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

//===----------------------------------------------------------------------===//
// Reading numbers
//===----------------------------------------------------------------------===//

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t skip_digits(const char *text, size_t at, size_t length) {
  while (at < length && is_digit(text[at]))
    ++at;
  return at;
}

static bool is_word(const char *text, size_t length, const char *word) {
  return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

hfta_number_kind hfta_classify_number(const char *text, size_t length) {
  if (length == 0 || length > HFTA_MAX_NUMBER_LENGTH)
    return HFTA_NOT_A_NUMBER;
  size_t start = text[0] == '-' || text[0] == '+';
  size_t at = skip_digits(text, start, length);
  size_t digits = at - start;
  if (digits == 0 && (is_word(text + start, length - start, "nan") ||
                      is_word(text + start, length - start, "inf") ||
                      is_word(text + start, length - start, "infinity")))
    return HFTA_NON_FINITE;
  if (at == length)
    return digits > 0 ? HFTA_DECIMAL_INTEGER : HFTA_NOT_A_NUMBER;
  if (text[at] == '.') {
    size_t point = at++;
    at = skip_digits(text, at, length);
    digits += at - point - 1;
  }
  if (digits == 0)
    return HFTA_NOT_A_NUMBER;
  if (at < length && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    at += at < length && (text[at] == '-' || text[at] == '+');
    size_t end = skip_digits(text, at, length);
    if (end == at)
      return HFTA_NOT_A_NUMBER;
    at = end;
  }
  return at == length ? HFTA_DECIMAL : HFTA_NOT_A_NUMBER;
}

/// A decimal number: the integer `digits` times 10^`exponent`, with a sign.
typedef struct decimal {
  bool negative;
  uint64_t digits;
  int exponent;
} decimal;

/// Splits a text into sign, digits and exponent. Returns false if the digits
/// exceed 64 bits or the exponent is huge, in which case parse_slowly handles
/// the text.
static bool split_decimal(const char *text, size_t length, decimal *out) {
  size_t at = text[0] == '-' || text[0] == '+';
  *out = (decimal){.negative = text[0] == '-'};
  bool after_point = false;
  for (; at < length && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      after_point = true;
      continue;
    }
    if (!is_digit(text[at]) || out->digits >= UINT64_C(1) << 53)
      return false;
    out->digits = out->digits * 10 + (uint64_t)(text[at] - '0');
    out->exponent -= after_point;
  }
  if (at == length)
    return true;
  bool negative = text[++at] == '-';
  at += text[at] == '-' || text[at] == '+';
  int exponent = 0;
  for (; at < length; ++at) {
    if (exponent > 1000)
      return false;
    exponent = exponent * 10 + (text[at] - '0');
  }
  out->exponent += negative ? -exponent : exponent;
  return true;
}

/// Parses a number of any length with strtod or strtof in the C locale, into
/// `f64` if it isn't NULL, else into `f32`.
static bool parse_slowly(const char *text, size_t length, double *f64,
                         float *f32) {
  char copy[HFTA_MAX_NUMBER_LENGTH + 1];
  if (length > HFTA_MAX_NUMBER_LENGTH)
    return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale)
    return false;
  char *end = copy;
  bool in_range;
  if (f64) {
    *f64 = strtod_l(copy, &end, c_locale);
    in_range = isfinite(*f64);
  } else {
    *f32 = strtof_l(copy, &end, c_locale);
    in_range = isfinite(*f32);
  }
  freelocale(c_locale);
  if (end != copy + length)
    return false;
  return in_range || hfta_classify_number(text, length) == HFTA_NON_FINITE;
}

// If the digits and the power of ten are both exact in the type, then a single
// multiplication or division gives the correctly rounded number (Clinger, "How
// to read floating point numbers accurately", 1990).

bool hfta_parse_f64(const char *text, size_t length, double *out) {
  static const double powers[] = {
      1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  decimal d;
  if (!split_decimal(text, length, &d) || d.digits > UINT64_C(1) << 53 ||
      abs(d.exponent) > 22)
    return parse_slowly(text, length, out, NULL);
  double value = (double)d.digits;
  value =
      d.exponent < 0 ? value / powers[-d.exponent] : value * powers[d.exponent];
  *out = d.negative ? -value : value;
  return true;
}

bool hfta_parse_f32(const char *text, size_t length, float *out) {
  static const float powers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f,
                                 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
  decimal d;
  if (!split_decimal(text, length, &d) || d.digits > UINT64_C(1) << 24 ||
      abs(d.exponent) > 10)
    return parse_slowly(text, length, NULL, out);
  float value = (float)d.digits;
  value =
      d.exponent < 0 ? value / powers[-d.exponent] : value * powers[d.exponent];
  *out = d.negative ? -value : value;
  return true;
}

bool hfta_parse_i64(const char *text, size_t length, int64_t *out) {
  bool negative = text[0] == '-';
  int64_t value = 0;
  for (size_t at = text[0] == '-' || text[0] == '+'; at < length; ++at) {
    int digit = text[at] - '0';
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, negative ? -digit : digit, &value))
      return false;
  }
  *out = value;
  return true;
}

//===----------------------------------------------------------------------===//
// Small floating-point types
//===----------------------------------------------------------------------===//

/// Rounds a value to a floating-point type of 16 bits with `exponent_bits` and
/// `fraction_bits`. A detour by f32 would round twice.
static uint16_t round_to_small(double value, int exponent_bits,
                               int fraction_bits) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
  if (isnan(value))
    return (uint16_t)(sign | infinity | 1 << (fraction_bits - 1));
  int bias = (1 << (exponent_bits - 1)) - 1;
  double magnitude = fabs(value);
  if (magnitude >= ldexp(2.0, bias))
    return sign | infinity;
  int exponent = magnitude == 0 ? 1 - bias : ilogb(magnitude);
  if (exponent < 1 - bias)
    exponent = 1 - bias;
  // The magnitude in units in the last place. ldexp and the operations that
  // follow are exact.
  double units = ldexp(magnitude, fraction_bits - exponent);
  double whole = floor(units);
  double rest = units - whole;
  uint32_t bits = (uint32_t)whole;
  bits += rest > 0.5 || (rest == 0.5 && (bits & 1));
  // A subnormal number has the exponent field 0. If rounding carries out of the
  // fraction, the addition increments the exponent field, as it should.
  bits += (uint32_t)(exponent + bias - 1) << fraction_bits;
  return (uint16_t)(sign | bits);
}

uint16_t hfta_f16_from_f64(double value) {
  return round_to_small(value, 5, 10);
}

uint16_t hfta_bf16_from_f64(double value) {
  return round_to_small(value, 8, 7);
}

double hfta_f64_from_f16(uint16_t bits) {
  // A normal number is 1024 to 2047 units of 2^(exponent - 25).
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                 : exponent > 0 ? ldexp(1024 + fraction, exponent - 25)
                                : ldexp(fraction, -24);
  return bits >> 15 ? -value : value;
}

double hfta_f64_from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return (double)value;
}

//===----------------------------------------------------------------------===//
// Writing numbers
//===----------------------------------------------------------------------===//

/// Returns whether the text parses to the value again. Printing and parsing
/// both follow the locale, so the result doesn't depend on it.
static bool reads_back(const char *text, double value, bool single) {
  return single ? strtof(text, NULL) == (float)value
                : strtod(text, NULL) == value;
}

/// Replaces the locale's decimal point, which may have several bytes, by ".".
static void normalize_point(char *text) {
  char *out = text;
  bool replaced = false;
  for (const char *c = text; *c; ++c) {
    if (is_digit(*c) || *c == '-' || *c == '+' || *c == 'e') {
      *out++ = *c;
    } else if (!replaced) {
      *out++ = '.';
      replaced = true;
    }
  }
  *out = 0;
}

const char *hfta_number_text(double value, hfta_element_type precision,
                             char buffer[HFTA_NUMBER_TEXT_BYTES]) {
  bool single = precision != HFTA_F64;
  if (single)
    value = (double)(float)value;
  if (!isfinite(value)) {
    const char *text = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return strcpy(buffer, text);
  }
  // Binary search for the least number of digits that parse to the value again:
  // if some number of digits do, then more digits do too.
  int low = 1, high = single ? 9 : 17;
  while (low < high) {
    int middle = (low + high) / 2;
    snprintf(buffer, HFTA_NUMBER_TEXT_BYTES, "%.*g", middle, value);
    if (reads_back(buffer, value, single))
      high = middle;
    else
      low = middle + 1;
  }
  snprintf(buffer, HFTA_NUMBER_TEXT_BYTES, "%.*g", low, value);
  normalize_point(buffer);
  return buffer;
}
