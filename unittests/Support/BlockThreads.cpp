//===- BlockThreads.cpp - Kernels whose threads work together -------------===//

#include "BlockThreads.h"
#include "Fibers.h"
#include "ThreadCalls.h"

#include <cstring>

using namespace mlir;
using namespace mlir::hfta;

bool BlockThreads::load(ExecutionEngine &engine) {
  auto find = [&](const char *symbol) -> void * {
    llvm::Expected<void *> found = engine.lookup(symbol);
    if (found)
      return *found;
    llvm::consumeError(found.takeError());
    return nullptr;
  };
  shared = static_cast<char *>(find(emulated::kShared));
  auto *bytes = static_cast<uint64_t *>(find(emulated::kSharedBytes));
  if (!shared || !bytes)
    return false;
  sharedBytes = *bytes;
  for (const emulation::ThreadCall &call : emulation::getThreadCalls()) {
    auto *place = static_cast<void (**)()>(find(call.symbol));
    if (!place)
      return false;
    *place = call.function;
  }
  return true;
}

namespace {
/// A block that runs.
struct RunningBlock {
  hfta_kernel kernel;
  void *const *buffers;
  void *scratch;
  int64_t first; ///< item
  unsigned threads, next, current;
};
} // namespace

static void runThread(void *argument) {
  auto *block = static_cast<RunningBlock *>(argument);
  block->kernel(block->buffers, block->first + block->current, block->scratch);
}

/// The last one first: what a thread wrote too late isn't there.
static unsigned chooseThread(void *argument) {
  auto *block = static_cast<RunningBlock *>(argument);
  block->current = block->threads - 1 - block->next;
  block->next = (block->next + 1) % block->threads;
  return block->current;
}

bool BlockThreads::run(hfta_kernel kernel, void *const *buffers, int64_t items,
                       unsigned threads, void *scratch) const {
  for (int64_t item = 0; item < items; item += threads) {
    std::memset(shared, 0xFF, sharedBytes);
    async_copies::forget();
    bulk_copies::forget();
    warp_groups::forget();
    RunningBlock block = {kernel, buffers, scratch, item, threads, 0, 0};
    if (!fibers::run(threads, runThread, chooseThread, &block) ||
        !bulk_copies::areMade())
      return false;
  }
  return true;
}

bool BlockThreads::runFor(const hfta_task_call &call, const hfta_launch &launch,
                          int64_t position) const {
  void *buffers[HFTA_MAX_BINDINGS];
  for (uint32_t i = 0; i < launch.binding_count; ++i)
    buffers[i] = hfta_call_address(&call, &launch, i, position);
  return run(launch.kernel, buffers, launch.items, launch.block_threads);
}

bool BlockThreads::run(const hfta_task_call &call,
                       const hfta_launch &launch) const {
  bool works = true;
  for (int64_t i = 0; launch.per_copy && i < call.copy_count; ++i)
    works &= runFor(call, launch, i);
  if (launch.per_copy)
    return works;
  int64_t position = 0;
  while (launch.copy >= 0 && position < call.copy_count &&
         hfta_call_copy(&call, position) != launch.copy)
    ++position;
  return (launch.copy >= 0 && position == call.copy_count) ||
         runFor(call, launch, position);
}
