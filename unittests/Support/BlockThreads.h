//===- BlockThreads.h - Execution of a GPU's thread blocks ------*- C++ -*-===//
//
// Runs kernels that were compiled for the threads of a GPU in this process. The
// threads of a block are run one at a time: when a thread has to wait for
// others, another one continues.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H
#define HFTA_UNITTESTS_SUPPORT_BLOCKTHREADS_H

#include "hfta/launch.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"

namespace mlir::hfta {

/// The arguments for running all blocks of a kernel once.
struct BlockRun {
  hfta_kernel kernel;
  void *const *buffers;
  int64_t items;
  unsigned threads; ///< number of threads per block
  /// The last argument of the kernel, which takes the place of scratch memory:
  /// the tensor maps, or null.
  void *last = nullptr;
  uint32_t copy = 0; ///< the number of the copy that threads read
  /// The seed for the order in which threads run; 0: the last thread first.
  uint32_t seed = 0;
};

class BlockThreads {
public:
  /// Finds the symbols that `hfta-emulate-gpu` has added to the module. Returns
  /// false if they don't exist.
  bool load(ExecutionEngine &engine);

  /// Runs a launch for all copies of a call. Returns false if the threads of a
  /// block don't all wait equally often.
  bool run(const hfta_task_call &call, const hfta_launch &launch) const;
  /// Runs all blocks of a kernel. Returns false if the threads of a block don't
  /// all wait equally often, or misuse a function of the GPU.
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
