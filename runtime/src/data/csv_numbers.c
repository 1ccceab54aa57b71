//===- csv_numbers.c - Numbers of csv files -------------------------------===//

#include "data/csv_text.h"

#include "hfta/tensor_view.h"
#include "text/text.h"

#include <math.h>
#include <string.h>

/// Parses an integer, which may be written as 3.0 or 1e3. Returns false if the
/// field is no integer or exceeds the range in which it is parsed exactly.
static bool parse_whole(hfta_csv_span field, hfta_number_kind kind,
                        int64_t *out) {
  if (kind == HFTA_DECIMAL_INTEGER)
    return hfta_parse_i64(field.text, field.length, out);
  double value;
  if (kind != HFTA_DECIMAL ||
      !hfta_parse_f64(field.text, field.length, &value) ||
      value != floor(value) || fabs(value) > 0x1p53)
    return false;
  *out = (int64_t)value;
  return true;
}

/// Stores a field as an integer type. Returns false if it isn't an integer of
/// the type's range.
static bool store_whole(hfta_csv_span field, hfta_number_kind kind,
                        hfta_element_type type, unsigned char *out) {
  static const struct {
    int64_t least, most;
  } ranges[] = {
      [HFTA_BOOL] = {0, 1},
      [HFTA_U8] = {0, UINT8_MAX},
      [HFTA_I8] = {INT8_MIN, INT8_MAX},
      [HFTA_U16] = {0, UINT16_MAX},
      [HFTA_I16] = {INT16_MIN, INT16_MAX},
      [HFTA_I32] = {INT32_MIN, INT32_MAX},
      [HFTA_I64] = {INT64_MIN, INT64_MAX},
  };
  int64_t value;
  if (!parse_whole(field, kind, &value) || value < ranges[type].least ||
      value > ranges[type].most)
    return false;
  // The low bytes come first, as the machine is little-endian.
  memcpy(out, &value, hfta_element_bytes(type));
  return true;
}

static bool store_f32(hfta_csv_span field, unsigned char *out) {
  float value;
  if (!hfta_parse_f32(field.text, field.length, &value))
    return false;
  memcpy(out, &value, sizeof(value));
  return true;
}

/// Stores a field as f64, f16 or bf16. Returns false if it exceeds the type's
/// range.
static bool store_f64(hfta_csv_span field, hfta_element_type type,
                      unsigned char *out) {
  double value;
  if (!hfta_parse_f64(field.text, field.length, &value))
    return false;
  if (type == HFTA_F64) {
    memcpy(out, &value, sizeof(value));
    return true;
  }
  uint16_t bits =
      type == HFTA_F16 ? hfta_f16_from_f64(value) : hfta_bf16_from_f64(value);
  uint16_t infinity = type == HFTA_F16 ? 0x7C00 : 0x7F80;
  if ((bits & 0x7FFF) == infinity && isfinite(value))
    return false;
  memcpy(out, &bits, sizeof(bits));
  return true;
}

bool hfta_csv_store(hfta_csv_span field, hfta_element_type type,
                    unsigned char *out) {
  hfta_number_kind kind = hfta_classify_number(field.text, field.length);
  if (kind == HFTA_NOT_A_NUMBER)
    return false;
  switch (type) {
  case HFTA_F32:
    return store_f32(field, out);
  case HFTA_F64:
  case HFTA_F16:
  case HFTA_BF16:
    return store_f64(field, type, out);
  default:
    return store_whole(field, kind, type, out);
  }
}
