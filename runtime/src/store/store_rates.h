//===- store_rates.h - Measures how fast a store is ---------------*- C -*-===//

#ifndef HFTA_SRC_STORE_STORE_RATES_H
#define HFTA_SRC_STORE_STORE_RATES_H

#include "hfta/store.h"

typedef struct hfta_store_rates {
  double read, write; ///< bytes per second, of successive transfers
  double seconds; ///< the fixed time of a transfer, beyond that of its bytes
  bool is_shared; ///< reads and writes at the same time share the bandwidth
} hfta_store_rates;

/// Measures a store by reading some extents and writing them back unchanged.
/// `buffer` has `bytes` bytes, is aligned to HFTA_PAGE_BYTES, and nobody else
/// may use the store meanwhile. `out` is all zeros if not even one extent fits
/// into the buffer. Fails as hfta_store_read does.
hfta_status hfta_store_measure(hfta_store *store, void *buffer, uint64_t bytes,
                               hfta_store_rates *out, hfta_error *error);

#endif // HFTA_SRC_STORE_STORE_RATES_H
