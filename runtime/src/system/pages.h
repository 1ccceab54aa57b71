//===- pages.h - Memory of its own, in large pages where it pays -*- C -*-===//
//
// Large pages keep neighbours in virtual memory neighbours in physical memory:
// with small ones, what a kernel's blocks evict from the cache is chance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_PAGES_H
#define HFTA_SRC_SYSTEM_PAGES_H

#include <stdint.h>

/// Zeroed memory that begins at a multiple of `alignment`, at least of a page.
/// Only what is touched is taken from the system. NULL: there is not enough.
void *hfta_pages_map(uint64_t bytes, uint64_t alignment);

/// `bytes` as given to hfta_pages_map; memory may be NULL.
void hfta_pages_unmap(void *memory, uint64_t bytes);

#endif // HFTA_SRC_SYSTEM_PAGES_H
