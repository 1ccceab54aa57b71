//===- batches.c - Batches on their way to the device ---------------------===//

#include "instance/batches.h"

#include <stdlib.h>
#include <string.h>

hfta_status hfta_batches_create(hfta_batches *self, uint32_t field_count,
                                hfta_error *error) {
  memset(self, 0, sizeof(*self));
  self->field_count = field_count;
  self->offered = calloc((size_t)field_count + 1, sizeof(void *));
  self->held = calloc((size_t)field_count + 1, sizeof(void *));
  if (!self->offered || !self->held)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for an instance");
  return HFTA_OK;
}

void hfta_batches_destroy(hfta_batches *self) {
  free(self->offered);
  free(self->held);
}

void hfta_batches_forget(hfta_batches *self) {
  self->has_offer = false;
  self->coming = 0;
  self->count = 0;
}

void hfta_batches_offer(hfta_batches *self, const void *const *fields) {
  self->has_offer = true;
  memcpy(self->offered, fields, sizeof(void *) * self->field_count);
}

void hfta_batches_begin(hfta_batches *self, const hfta_schedule *schedule,
                        const void *const *fields) {
  if (schedule != self->schedule ||
      memcmp(self->held, fields, sizeof(void *) * self->field_count) != 0)
    self->count = 0;
  self->schedule = schedule;
  self->coming = 0;
}

const void *hfta_batches_find(hfta_batches *self, const void *const *fields,
                              uint32_t field, int64_t place, int64_t count) {
  if (place < self->count)
    return NULL;
  int64_t next = place - count;
  if (next < 0)
    return fields[field];
  // Only the first micro-batch of the next batch is copied ahead, since the
  // next batch may be a partial one, without others.
  if (!self->has_offer || next > 0)
    return NULL;
  self->coming = 1;
  return self->offered[field];
}

void hfta_batches_end(hfta_batches *self, int64_t micro_batches, bool failed) {
  const void **fields = self->held;
  self->held = self->offered;
  self->offered = fields;
  self->count = failed ? 0 : self->coming;
  self->has_offer = false;
  self->first += micro_batches;
}
