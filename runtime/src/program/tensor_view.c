//===- tensor_view.c - Element types and checked sizes --------------------===//

#include "hfta/tensor_view.h"

#include <inttypes.h>
#include <stdio.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the runtime's files are little-endian, as its machines are");

static const struct {
  const char *name;
  size_t bytes;
} element_types[] = {
    [HFTA_BOOL] = {"bool", 1}, [HFTA_U8] = {"u8", 1},
    [HFTA_I8] = {"i8", 1},     [HFTA_U16] = {"u16", 2},
    [HFTA_I16] = {"i16", 2},   [HFTA_I32] = {"i32", 4},
    [HFTA_I64] = {"i64", 8},   [HFTA_F16] = {"f16", 2},
    [HFTA_BF16] = {"bf16", 2}, [HFTA_F32] = {"f32", 4},
    [HFTA_F64] = {"f64", 8},
};

static bool is_element_type(hfta_element_type type) {
  return (unsigned)type < sizeof(element_types) / sizeof(element_types[0]);
}

size_t hfta_element_bytes(hfta_element_type type) {
  return is_element_type(type) ? element_types[type].bytes : 0;
}

const char *hfta_element_name(hfta_element_type type) {
  return is_element_type(type) ? element_types[type].name : "?";
}

bool hfta_shape_elements(const int64_t *shape, uint32_t rank, int64_t *out) {
  // An extent of 0 makes the number of elements 0. It must not hide a negative
  // extent, nor an overflow of the other extents, since sizes may be computed
  // from these.
  int64_t elements = 1, without_zeros = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (shape[i] < 0)
      return false;
    elements = shape[i] == 0 ? 0 : elements;
    if (shape[i] != 0 &&
        __builtin_mul_overflow(without_zeros, shape[i], &without_zeros))
      return false;
  }
  *out = elements == 0 ? 0 : without_zeros;
  return true;
}

bool hfta_shape_bytes(hfta_element_type type, const int64_t *shape,
                      uint32_t rank, uint64_t *out) {
  int64_t elements, bytes;
  int64_t size = (int64_t)hfta_element_bytes(type);
  if (size == 0 || !hfta_shape_elements(shape, rank, &elements) ||
      __builtin_mul_overflow(elements, size, &bytes))
    return false;
  *out = (uint64_t)bytes;
  return true;
}

const char *hfta_shape_text(const int64_t *shape, uint32_t rank,
                            char buffer[HFTA_SHAPE_TEXT_BYTES]) {
  snprintf(buffer, HFTA_SHAPE_TEXT_BYTES, "scalar");
  size_t used = 0;
  for (uint32_t i = 0; i < rank && used < HFTA_SHAPE_TEXT_BYTES; ++i)
    used += (size_t)snprintf(buffer + used, HFTA_SHAPE_TEXT_BYTES - used,
                             "%s%" PRId64, i == 0 ? "" : "x", shape[i]);
  return buffer;
}
