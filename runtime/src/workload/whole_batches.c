//===- whole_batches.c - Models that take whole batches alone -------------===//

#include "workload/whole_batches.h"

#include <stdio.h>

hfta_status hfta_check_whole_batches(const char *mixed_by, const char *what,
                                     int64_t samples, int64_t batch,
                                     hfta_error *error) {
  if (!mixed_by || !*mixed_by || samples % batch == 0)
    return HFTA_OK;
  char advice[64] = "";
  if (samples > batch)
    snprintf(advice, sizeof(advice), "leave %lld out, or ",
             (long long)(samples % batch));
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "%s hold %lld samples, which isn't a multiple of the batch "
                   "of %lld, and node '%s' mixes the samples of a batch: "
                   "%scompile with a batch that divides %lld",
                   what, (long long)samples, (long long)batch, mixed_by, advice,
                   (long long)samples);
}
