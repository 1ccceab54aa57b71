//===- store_rates.h - Measures how fast a store is ---------------*- C -*-===//

#ifndef HFTA_SRC_STORE_STORE_RATES_H
#define HFTA_SRC_STORE_STORE_RATES_H

#include "hfta/store.h"

/// The speed of a store. A transfer of b bytes takes about `seconds` plus b
/// divided by the rate.
typedef struct hfta_store_rates {
  double read, write; ///< bytes per second of long transfers
  double seconds;     ///< the fixed time of a transfer (its latency)
  bool is_shared; ///< whether simultaneous reads and writes share the bandwidth
} hfta_store_rates;

/// Measures a store by reading some extents and writing them back unchanged.
/// `buffer` has `bytes` bytes and is aligned to HFTA_PAGE_BYTES. No other
/// thread may use the store meanwhile. If no extent fits into the buffer,
/// `*out` is all zeros. Returns the errors of hfta_store_read and
/// hfta_store_write.
hfta_status hfta_store_measure(hfta_store *store, void *buffer, uint64_t bytes,
                               hfta_store_rates *out, hfta_error *error);

#endif // HFTA_SRC_STORE_STORE_RATES_H
