//===- extend.h - Arrays that grow --------------------------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_EXTEND_H
#define HFTA_SRC_SYSTEM_EXTEND_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// Makes an array from malloc, or NULL, longer: from `old_count` to `count`
/// elements of `bytes` bytes each, and sets what is new to zero. Returns NULL
/// if there isn't enough memory; then the array stays as it is.
static inline void *hfta_extend(void *array, int64_t old_count, int64_t count,
                                size_t bytes) {
  char *more = realloc(array, (size_t)count * bytes);
  if (more)
    memset(more + (size_t)old_count * bytes, 0,
           (size_t)(count - old_count) * bytes);
  return more;
}

#endif // HFTA_SRC_SYSTEM_EXTEND_H
