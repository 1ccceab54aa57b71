//===- ThreadCalls.h - Functions that an image's threads call ---*- C++ -*-===//
//
// An image (EmulatedImage.h) contains function pointers, through which its
// kernels wait, copy and multiply. The program that loads an image sets them:
// the emulated driver, or a test that runs kernels in its own process.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_THREADCALLS_H
#define HFTA_EMULATION_THREADCALLS_H

#include "AsyncCopies.h"
#include "BulkCopies.h"
#include "Fibers.h"
#include "Hfta/Conversion/EmulatedImage.h"
#include "TensorCores.h"
#include "WarpGroups.h"

#include <array>

namespace emulation {

/// A function pointer of an image, and the function to store in it.
struct ThreadCall {
  const char *symbol; ///< the function pointer's name in the image
  void (*function)();
};

template <typename Function>
ThreadCall makeThreadCall(const char *symbol, Function *function) {
  return {symbol, reinterpret_cast<void (*)()>(function)};
}

/// The functions by which threads wait. The emulated driver replaces them by
/// functions that can skip a wait, to plant faults (Faults.h).
struct Waits {
  void (*atBarrier)() = fibers::wait;
  void (*atNumbered)(uint32_t, uint32_t) = fibers::waitAt;
  void (*forCopies)(uint32_t) = async_copies::wait;
  void (*forPhase)(void *, uint32_t) = bulk_copies::wait;
  void (*forGroups)(uint32_t) = warp_groups::waitForGroups;
  const float *(*forProducts)() = warp_groups::wait;
};

/// Returns all function pointers of an image with their functions.
inline auto getThreadCalls(const Waits &waits = Waits()) {
  using namespace mlir::hfta::emulated;
  return std::array{
      makeThreadCall(kBarrier, waits.atBarrier),
      makeThreadCall(kNumberedBarrier, waits.atNumbered),
      makeThreadCall(kMultiply, tensor_cores::multiply),
      makeThreadCall(kReadMatrices, tensor_cores::readMatrices),
      makeThreadCall(kBeginCopy, async_copies::begin),
      makeThreadCall(kCommitCopies, async_copies::commit),
      makeThreadCall(kWaitForCopies, waits.forCopies),
      makeThreadCall(kInitialiseBarrier, bulk_copies::initialise),
      makeThreadCall(kArrive, bulk_copies::arrive),
      makeThreadCall(kArriveExpecting, bulk_copies::arriveExpecting),
      makeThreadCall(kWaitForPhase, waits.forPhase),
      makeThreadCall(kBeginBulkCopy, bulk_copies::begin),
      makeThreadCall(kFence, warp_groups::fence),
      makeThreadCall(kMultiplyShared, warp_groups::multiply),
      makeThreadCall(kCommitProducts, warp_groups::commit),
      makeThreadCall(kWaitForGroups, waits.forGroups),
      makeThreadCall(kWaitForProducts, waits.forProducts),
  };
}

} // namespace emulation

#endif // HFTA_EMULATION_THREADCALLS_H
