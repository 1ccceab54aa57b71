//===- ThreadCalls.h - What the threads of an image call --------*- C++ -*-===//
//
// Whoever runs an image's kernels says what the functions are that its threads
// call: the emulated driver, and tests that run kernels in the process.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_THREADCALLS_H
#define HFTA_EMULATION_THREADCALLS_H

#include "AsyncCopies.h"
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

/// All of them, of which `wait` is the barrier of a block, `waitForCopies` what
/// async_copies::wait does, and `waitForProducts` what warp_groups::wait does.
inline auto getThreadCalls(void (*wait)(), void (*waitForCopies)(uint32_t),
                           const float *(*waitForProducts)()) {
  using namespace mlir::hfta::emulated;
  return std::array{
      makeThreadCall(kBarrier, wait),
      makeThreadCall(kMultiply, tensor_cores::multiply),
      makeThreadCall(kReadMatrices, tensor_cores::readMatrices),
      makeThreadCall(kBeginCopy, async_copies::begin),
      makeThreadCall(kCommitCopies, async_copies::commit),
      makeThreadCall(kWaitForCopies, waitForCopies),
      makeThreadCall(kFence, warp_groups::fence),
      makeThreadCall(kMultiplyShared, warp_groups::multiply),
      makeThreadCall(kWaitForProducts, waitForProducts),
  };
}

} // namespace emulation

#endif // HFTA_EMULATION_THREADCALLS_H
