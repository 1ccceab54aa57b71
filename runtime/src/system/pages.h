//===- pages.h - Mapped memory, in large pages where it pays ------*- C -*-===//
//
// Within a large page, neighbours in virtual memory are neighbours in physical
// memory too. With small pages it is a matter of chance which of a kernel's
// blocks evict each other from the cache.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_PAGES_H
#define HFTA_SRC_SYSTEM_PAGES_H

#include <stdint.h>

/// Maps zeroed memory, aligned to `alignment` and to at least a page. Only
/// pages that are touched use memory. Returns NULL if there is not enough
/// memory.
void *hfta_pages_map(uint64_t bytes, uint64_t alignment);

/// `bytes` is the number given to hfta_pages_map; `memory` may be NULL.
void hfta_pages_unmap(void *memory, uint64_t bytes);

#endif // HFTA_SRC_SYSTEM_PAGES_H
