//===- medium_calls.c - Functions that kinds of media share ---------------===//

#include "store/media.h"

hfta_status hfta_medium_fail(hfta_error *error, bool is_write, uint64_t offset,
                             uint64_t bytes, const char *reason) {
  return hfta_fail(error, HFTA_CANNOT_WRITE,
                   "cannot %s %llu bytes of spilled data at byte %llu: %s",
                   is_write ? "write" : "read", (unsigned long long)bytes,
                   (unsigned long long)offset, reason);
}

void hfta_medium_close(hfta_medium *medium) {
  if (medium)
    medium->functions->close(medium);
}
