//===- BlockThreads.h - Kernels whose threads work together -----*- C++ -*-===//
//
// Runs kernels that were compiled for the threads of a GPU in this process: of
// a block whose threads wait for each other one as far as it waits, then
// another one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H
#define HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H

#include "hfta/launch.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"

namespace mlir::hfta {

class BlockThreads {
public:
  /// Of a module that `hfta-emulate-gpu` has gone over. False if it hasn't.
  bool load(ExecutionEngine &engine);

  /// Runs a launch for the copies of a call. False if its threads don't all
  /// wait equally often.
  bool run(const hfta_task_call &call, const hfta_launch &launch) const;
  /// Runs a kernel's blocks of so many threads, for so many items. False
  /// likewise. What stands where scratch memory does may be a block of maps.
  bool run(hfta_kernel kernel, void *const *buffers, int64_t items,
           unsigned threads, void *scratch = nullptr) const;

private:
  bool runFor(const hfta_task_call &call, const hfta_launch &launch,
              int64_t position) const;

  char *shared = nullptr;
  uint64_t sharedBytes = 0;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H
