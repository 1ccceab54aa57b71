//===- pages.h - Mapped memory, in large pages where it pays ------*- C -*-===//
//
// Memory that is mapped directly, in large (huge) pages if there is enough of
// it. Within a large page, neighbours in virtual memory are also neighbours in
// physical memory. With small pages it would be a matter of chance which of a
// kernel's blocks of data evict each other from the cache.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_PAGES_H
#define HFTA_SRC_SYSTEM_PAGES_H

#include <stdint.h>

/// Maps zeroed memory, aligned to `alignment` bytes and to at least a page.
/// Only pages that are touched use physical memory. Returns NULL if `bytes` is
/// 0 or there isn't enough memory.
void *hfta_pages_map(uint64_t bytes, uint64_t alignment);

/// Unmaps memory. `bytes` is the number given to hfta_pages_map; `memory` may
/// be NULL.
void hfta_pages_unmap(void *memory, uint64_t bytes);

#endif // HFTA_SRC_SYSTEM_PAGES_H
