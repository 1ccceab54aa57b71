//===- ranges.c - Lists of numbers in messages and tables -----------------===//

#include "text/ranges.h"

#include <stdio.h>
#include <string.h>

/// Bytes reserved in the text for one run with its separator, and for the final
/// ", ...".
enum { RUN_BYTES = 48, MORE_BYTES = 6 };

void hfta_ranges_add(hfta_ranges *self, int64_t number) {
  bool is_first = self->count == 0;
  if (!is_first && number == self->last)
    return;
  ++self->count;
  if (is_first || number != self->last + 1) {
    self->first = number;
    self->length = (uint32_t)strlen(self->text);
  }
  self->last = number;
  if (self->is_full)
    return;
  char *to = self->text + self->length;
  self->is_full = self->length + RUN_BYTES + MORE_BYTES > sizeof(self->text);
  const char *separator = self->length > 0 ? ", " : "";
  if (self->is_full)
    snprintf(to, MORE_BYTES, "%s...", separator);
  else if (self->first == number)
    snprintf(to, RUN_BYTES, "%s%lld", separator, (long long)number);
  else
    snprintf(to, RUN_BYTES, "%s%lld to %lld", separator, (long long)self->first,
             (long long)number);
}
