//===- store_rates.h - How fast a store is ----------------------*- C -*-===//

#ifndef HFTA_SRC_STORE_STORE_RATES_H
#define HFTA_SRC_STORE_STORE_RATES_H

#include "hfta/store.h"

typedef struct hfta_store_rates {
  double read, write; ///< bytes a second, of one transfer after the other
  double seconds;     ///< of a transfer, beside those of its bytes
  bool is_shared;     ///< what is read and written at once takes turns
} hfta_store_rates;

/// Reads and writes some extents, which hold what they held, through a buffer
/// of so many bytes at a multiple of HFTA_PAGE_BYTES, while nobody else does.
/// `out` is zeros where not even one extent fits into the buffer. Fails as
/// hfta_store_read.
hfta_status hfta_store_measure(hfta_store *store, void *buffer, uint64_t bytes,
                               hfta_store_rates *out, hfta_error *error);

#endif // HFTA_SRC_STORE_STORE_RATES_H
