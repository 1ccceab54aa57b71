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

/// Blocks of a kernel that all run.
struct BlockRun {
  hfta_kernel kernel;
  void *const *buffers;
  int64_t items;
  unsigned threads; ///< of a block
  /// What stands in place of scratch memory: tensor maps, or nothing.
  void *last = nullptr;
  uint32_t copy = 0; ///< as threads are told
  /// Of the orders in which threads run; 0: the last one runs first.
  uint32_t seed = 0;
};

class BlockThreads {
public:
  /// Of a module that `hfta-emulate-gpu` has gone over. False if it hasn't.
  bool load(ExecutionEngine &engine);

  /// Runs a launch for the copies of a call. False if its threads don't all
  /// wait equally often.
  bool run(const hfta_task_call &call, const hfta_launch &launch) const;
  /// Runs a kernel's blocks. False likewise, or if they misuse what they call.
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
