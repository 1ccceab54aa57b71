//===- Memory.cpp - Device memory of the emulated GPU ---------------------===//

#include "Emulation.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace emulation;

/// The alignment of allocations in bytes, which is NVIDIA's driver's, too.
static constexpr size_t kAlignment = 256;
/// The byte that fills new memory. It gives NaNs in every floating-point type,
/// and integers that no program expects.
static constexpr int kPoison = 0xFF;

static size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

hfta_cu_result Memory::allocate(size_t bytes, hfta_cu_address &address) {
  if (bytes == 0)
    return kInvalidValue;
  if (bytes > countFree())
    return kOutOfMemory;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t pageBytes = roundUp(roundUp(bytes, kAlignment), page);
  void *all = mmap(nullptr, pageBytes + 2 * page, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    return kOutOfMemory;
  char *pages = static_cast<char *>(all) + page;
  mprotect(pages, pageBytes, PROT_READ | PROT_WRITE);
  std::memset(pages, kPoison, pageBytes);
  mprotect(pages, pageBytes, PROT_NONE);
  // The allocation, rounded up to the alignment, ends where the second guard
  // page begins, because accesses beyond its end are likelier errors than
  // accesses before its beginning.
  char *begin = pages + pageBytes - roundUp(bytes, kAlignment);
  address = reinterpret_cast<hfta_cu_address>(begin);
  blocks[address] = {bytes, pages, pageBytes};
  used += bytes;
  return kSuccess;
}

hfta_cu_result Memory::free(hfta_cu_address address) {
  auto found = blocks.find(address);
  if (found == blocks.end())
    return kInvalidValue;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const Block &block = found->second;
  munmap(block.pages - page, block.pageBytes + 2 * page);
  used -= block.bytes;
  blocks.erase(found);
  return kSuccess;
}

bool Memory::isDevice(hfta_cu_address address, size_t bytes) const {
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin())
    return false;
  const auto &[begin, block] = *std::prev(next);
  return address - begin <= block.bytes &&
         bytes <= block.bytes - (address - begin);
}

bool Memory::isHost(hfta_cu_address address, size_t bytes) const {
  for (const auto &[begin, block] : blocks)
    if (address < begin + block.bytes && begin < address + bytes)
      return false;
  return true;
}

size_t Memory::countFree() const {
  return getSettings().bytes > used ? getSettings().bytes - used : 0;
}

void Memory::open(bool isOpen) {
  for (const auto &[begin, block] : blocks)
    mprotect(block.pages, block.pageBytes,
             isOpen ? PROT_READ | PROT_WRITE : PROT_NONE);
}
