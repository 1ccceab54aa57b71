//===- BlockThreads.h - Kernels whose threads work together -----*- C++ -*-===//
//
// Runs kernels that were compiled for the threads of a GPU in this process. Of
// a block whose threads wait for each other, one thread runs until it waits,
// then another one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H
#define HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H

#include "hfta/launch.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"

namespace mlir::hfta {

/// A run of all blocks of a kernel.
struct BlockRun {
  hfta_kernel kernel;
  void *const *buffers;
  int64_t items;
  unsigned threads; ///< the number of a block's threads
  /// The kernel's last argument, in place of scratch memory: tensor maps or
  /// null.
  void *last = nullptr;
  uint32_t copy = 0; ///< the copy's number, as threads get it
  /// Chooses one of the orders in which threads run; 0: the last thread runs
  /// first.
  uint32_t seed = 0;
};

class BlockThreads {
public:
  /// Finds the symbols of a module that `hfta-emulate-gpu` has rewritten. False
  /// if it hasn't been.
  bool load(ExecutionEngine &engine);

  /// Runs a launch for the copies of a call. False if a block's threads don't
  /// all wait equally often.
  bool run(const hfta_task_call &call, const hfta_launch &launch) const;
  /// Runs a kernel's blocks. False in the same case, or if they misuse a
  /// function that they call.
  bool run(const BlockRun &blocks) const;

private:
  bool runFor(const hfta_task_call &call, const hfta_launch &launch,
              int64_t position) const;

  char *shared = nullptr;
  uint64_t sharedBytes = 0;
  uint32_t *registers = nullptr;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H
