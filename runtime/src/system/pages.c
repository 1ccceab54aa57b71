//===- pages.c - Mapped memory, in large pages where it pays --------------===//

#include "system/pages.h"

#include <stddef.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 << 20 };

static uint64_t round_up(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Maps more memory than needed, then unmaps what is before and after the
/// aligned block.
void *hfta_pages_map(uint64_t bytes, uint64_t alignment) {
  if (bytes == 0 || bytes > UINT64_MAX / 4 || alignment > UINT64_MAX / 4)
    return NULL;
  uint64_t size = round_up(bytes, PAGE_BYTES);
  uint64_t unit = size >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : PAGE_BYTES;
  if (alignment > unit)
    unit = round_up(alignment, PAGE_BYTES);
  char *mapping = mmap(NULL, size + unit, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return NULL;
  uint64_t head = (unit - (uintptr_t)mapping % unit) % unit;
  if (head != 0)
    munmap(mapping, head);
  munmap(mapping + head + size, unit - head);
  if (size >= HUGE_PAGE_BYTES)
    madvise(mapping + head, size, MADV_HUGEPAGE);
  return mapping + head;
}

void hfta_pages_unmap(void *memory, uint64_t bytes) {
  if (memory)
    munmap(memory, round_up(bytes, PAGE_BYTES));
}
