//===- ThreadCalls.h - Functions that an image's threads call ---*- C++ -*-===//
//
// An image's threads call functions by pointers in it. Whoever runs its kernels
// sets these: the emulated driver, and tests that run kernels in their own
// process.
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

/// The image's symbol of a function pointer, and the function to store there.
struct ThreadCall {
  const char *symbol;
  void (*function)();
};

template <typename Function>
ThreadCall makeThreadCall(const char *symbol, Function *function) {
  return {symbol, reinterpret_cast<void (*)()>(function)};
}

/// The functions by which threads wait; the emulated driver plants faults
/// there.
struct Waits {
  void (*atBarrier)() = fibers::wait;
  void (*atNumbered)(uint32_t, uint32_t) = fibers::waitAt;
  void (*forCopies)(uint32_t) = async_copies::wait;
  void (*forPhase)(void *, uint32_t) = bulk_copies::wait;
  void (*forGroups)(uint32_t) = warp_groups::waitForGroups;
  const float *(*forProducts)() = warp_groups::wait;
};

/// Returns all functions that threads call.
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
