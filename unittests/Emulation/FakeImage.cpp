//===- FakeImage.cpp - An image for tests of the emulated driver ----------===//
//
// Has the symbols of an image that the compiler would make for kernels of warp
// groups with tensor maps. The kernels are written by hand.
//===----------------------------------------------------------------------===//

#include "Hfta/Conversion/EmulatedImage.h"
#include "hfta/program.h"

#include <cstdint>

using namespace mlir::hfta::emulated;

/// Exports a symbol of EmulatedImage.h. Symbols with a `$` are named by
/// __asm__, because standard C++ has no such names.
#define EXPORTED extern "C" __attribute__((visibility("default"), used))
#define POINTER(symbol, type, ...)                                             \
  EXPORTED type (*hfta_emulated_##symbol)(__VA_ARGS__) = nullptr;

EXPORTED uint32_t hfta_emulated_registers[kRegisterCount] = {};
EXPORTED alignas(1024) char hfta_emulated_shared[4096] = {};
EXPORTED const uint64_t hfta_emulated_shared_bytes = 4096;

POINTER(barrier, void)
POINTER(numbered_barrier, void, uint32_t, uint32_t)
POINTER(multiply, void)
POINTER(read_matrices, void)
POINTER(begin_copy, void)
POINTER(commit_copies, void)
POINTER(wait_for_copies, void)
POINTER(initialise_barrier, void, void *, uint32_t)
POINTER(arrive, void, void *, uint32_t)
POINTER(arrive_expecting, void, void *, uint32_t)
POINTER(wait_for_phase, void, void *, uint32_t)
POINTER(begin_bulk_copy, void, void *, const void *, void *, uint32_t, int32_t,
        int32_t, int32_t, int32_t, int32_t)
POINTER(fence, void)
POINTER(multiply_shared, void)
POINTER(commit_products, void)
POINTER(wait_for_groups, void)
POINTER(wait_for_products, void)

static constexpr uint32_t kRowBytes = 64;

static uint32_t getThread() { return hfta_emulated_registers[kThreadX]; }

/// Begins a bulk copy of a row of the first tensor map into shared memory. The
/// row's number is the block's z index in the grid, which numbers the copies,
/// or 0 if all copies share one row. Returns the mbarrier of the copy.
static char *beginRow(void **parameters) {
  const char *maps = static_cast<const char *>(parameters[5]);
  uint32_t isApart = *reinterpret_cast<const uint32_t *>(maps + HFTA_MAP_BYTES);
  char *barrier = hfta_emulated_shared + 1024;
  if (getThread() == 0) {
    hfta_emulated_initialise_barrier(barrier, 1);
    hfta_emulated_arrive_expecting(barrier, kRowBytes);
    uint32_t copy = hfta_emulated_registers[kBlockZ] * isApart;
    hfta_emulated_begin_bulk_copy(hfta_emulated_shared, maps, barrier, 2, 0,
                                  static_cast<int32_t>(copy), 0, 0, 0);
  }
  hfta_emulated_numbered_barrier(1, hfta_emulated_registers[kBlockDimX]);
  return barrier;
}

/// Copies the block's row to the output, by way of shared memory. Each thread
/// writes one number.
static void copyRow(void **parameters) {
  hfta_emulated_wait_for_phase(beginRow(parameters), 0);
  uint64_t out = *static_cast<uint64_t *>(parameters[0]);
  out += *static_cast<uint64_t *>(parameters[1]) *
         hfta_emulated_registers[kBlockZ];
  uint32_t thread = getThread();
  if (thread < kRowBytes / sizeof(uint16_t))
    reinterpret_cast<uint16_t *>(out)[thread] =
        reinterpret_cast<uint16_t *>(hfta_emulated_shared)[thread];
}

EXPORTED void callCopies(void **parameters) __asm__("copies$block");
EXPORTED void callCopies(void **parameters) { copyRow(parameters); }
EXPORTED const uint32_t copiesMaps __asm__("copies$maps") = 1;

/// A faulty kernel: it ends without waiting for its copy.
EXPORTED void callUnfinished(void **parameters) __asm__("unfinished$block");
EXPORTED void callUnfinished(void **parameters) { beginRow(parameters); }
EXPORTED const uint32_t unfinishedMaps __asm__("unfinished$maps") = 1;
