//===- classes.c - Class numbers among samples ----------------------------===//

#include "hfta/data.h"

#include <string.h>

int64_t hfta_data_read_integer(const void *element, hfta_element_type type) {
  int8_t i8;
  uint8_t u8;
  int16_t i16;
  uint16_t u16;
  int32_t i32;
  int64_t i64 = 0;
#define READ(NAME) (memcpy(&(NAME), element, sizeof(NAME)), (int64_t)(NAME))
  switch (type) {
  case HFTA_I8:
    return READ(i8);
  case HFTA_BOOL:
  case HFTA_U8:
    return READ(u8);
  case HFTA_I16:
    return READ(i16);
  case HFTA_U16:
    return READ(u16);
  case HFTA_I32:
    return READ(i32);
  default:
    return READ(i64);
  }
#undef READ
}

hfta_status hfta_data_check_classes(const hfta_program *program, uint32_t index,
                                    const void *samples, int64_t first,
                                    int64_t count, const char *path,
                                    hfta_error *error) {
  const hfta_data_field *field = &program->data_fields[index];
  const hfta_tensor *tensor = &program->tensors[field->tensor];
  int64_t elements = 0;
  if (field->classes == 0 || count == 0 ||
      !hfta_shape_elements(tensor->shape + 1, tensor->rank - 1, &elements))
    return HFTA_OK;
  hfta_element_type type = (hfta_element_type)tensor->type;
  size_t size = hfta_element_bytes(type);
  const char *element = samples;
  for (int64_t at = 0; at < elements * count; ++at, element += size) {
    int64_t number = hfta_data_read_integer(element, type);
    uint64_t place = (uint64_t)number - (uint64_t)field->first_class;
    if (place < (uint64_t)field->classes || number == field->ignored_class)
      continue;
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "'%s': sample %lld holds %lld, expected %lld to %lld for '%s'", path,
        (long long)(first + at / elements), (long long)number,
        (long long)field->first_class,
        (long long)(field->first_class + field->classes - 1), field->name);
  }
  return HFTA_OK;
}
