//===- medium_memory.c - Memory as medium, for tests ----------------------===//

#include "store/media.h"
#include "system/pages.h"

#include <stdlib.h>
#include <string.h>

typedef struct memory_medium {
  hfta_medium base;
  char *bytes;
  uint64_t size;
} memory_medium;

static void memory_close(hfta_medium *medium) {
  memory_medium *self = (memory_medium *)medium;
  hfta_pages_unmap(self->bytes, self->size);
  free(self);
}

static hfta_status memory_read(hfta_medium *medium, uint64_t offset, void *to,
                               uint64_t bytes, hfta_error *error) {
  (void)error;
  memcpy(to, ((memory_medium *)medium)->bytes + offset, bytes);
  return HFTA_OK;
}

static hfta_status memory_write(hfta_medium *medium, uint64_t offset,
                                const void *from, uint64_t bytes,
                                hfta_error *error) {
  (void)error;
  memcpy(((memory_medium *)medium)->bytes + offset, from, bytes);
  return HFTA_OK;
}

static const char *memory_note(const hfta_medium *medium) {
  (void)medium;
  return "spilled data lie in memory that no plan counts";
}

static const hfta_medium_functions functions = {.kind = "memory",
                                                .close = memory_close,
                                                .read = memory_read,
                                                .write = memory_write,
                                                .note = memory_note};

hfta_status hfta_memory_medium_open(const hfta_medium_options *options,
                                    hfta_medium **out, hfta_error *error) {
  memory_medium *self = calloc(1, sizeof(*self));
  char *bytes = self ? hfta_pages_map(options->bytes, 1) : NULL;
  if (!bytes && options->bytes > 0) {
    free(self);
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for a store of %llu bytes",
                     (unsigned long long)options->bytes);
  }
  *self = (memory_medium){{&functions}, bytes, options->bytes};
  *out = &self->base;
  return HFTA_OK;
}
