//===- ThreadCalls.h - What the threads of an image call --------*- C++ -*-===//
//
// Whoever runs an image's kernels says what the functions are that its threads
// call: the emulated driver, and tests that run kernels in the process.
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

/// A symbol of the image, a pointer to a function, and the function.
struct ThreadCall {
  const char *symbol;
  void (*function)();
};

template <typename Function>
ThreadCall makeThreadCall(const char *symbol, Function *function) {
  return {symbol, reinterpret_cast<void (*)()>(function)};
}

/// How threads wait.
struct Waits {
  void (*atBarrier)() = fibers::wait;
  void (*atNumbered)(uint32_t, uint32_t) = fibers::waitAt;
  void (*forCopies)(uint32_t) = async_copies::wait;
  void (*forPhase)(void *, uint32_t) = bulk_copies::wait;
  void (*forGroups)(uint32_t) = warp_groups::waitForGroups;
  const float *(*forProducts)() = warp_groups::wait;
};

/// All of them.
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
