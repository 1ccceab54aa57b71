//===- BlockThreads.cpp - Execution of a GPU's thread blocks --------------===//

#include "BlockThreads.h"
#include "Fibers.h"
#include "ThreadCalls.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

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
  registers = static_cast<uint32_t *>(find(emulated::kRegisters));
  if (!shared || !bytes || !registers)
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
/// A thread block that is running, and the order in which its threads run.
class RunningBlock {
public:
  RunningBlock(const BlockRun &blocks, int64_t first)
      : blocks(blocks), first(first), order(blocks.threads),
        next(blocks.threads),
        random(blocks.seed + static_cast<uint32_t>(first)) {
    std::iota(order.rbegin(), order.rend(), 0);
  }

  void runThread() const {
    blocks.kernel(blocks.buffers, first + current, blocks.last);
  }

  /// Chooses the thread that runs next. By default the last thread runs first,
  /// so that a thread that reads a value before another one has written it gets
  /// a wrong value. With a seed, each round has another random order.
  unsigned chooseThread() {
    if (next == blocks.threads) {
      next = 0;
      if (blocks.seed != 0)
        std::shuffle(order.begin(), order.end(), random);
    }
    return current = order[next++];
  }

private:
  const BlockRun &blocks;
  int64_t first; ///< the number of the block's first item
  std::vector<unsigned> order;
  unsigned next, current = 0;
  std::mt19937 random;
};
} // namespace

static void runThread(void *argument) {
  static_cast<RunningBlock *>(argument)->runThread();
}

static unsigned chooseThread(void *argument) {
  return static_cast<RunningBlock *>(argument)->chooseThread();
}

bool BlockThreads::run(const BlockRun &blocks) const {
  registers[emulated::kBlockZ] = blocks.copy;
  for (int64_t item = 0; item < blocks.items; item += blocks.threads) {
    std::memset(shared, 0xFF, sharedBytes);
    async_copies::forget();
    bulk_copies::forget();
    warp_groups::forget();
    RunningBlock block(blocks, item);
    if (!fibers::run(blocks.threads, runThread, chooseThread, &block) ||
        !bulk_copies::areMade()) {
      if (const char *failure = fibers::getFailure())
        llvm::errs() << "a thread " << failure << "\n";
      return false;
    }
  }
  return true;
}

bool BlockThreads::runFor(const hfta_task_call &call, const hfta_launch &launch,
                          int64_t position) const {
  void *buffers[HFTA_MAX_BINDINGS];
  for (uint32_t i = 0; i < launch.binding_count; ++i)
    buffers[i] = hfta_call_address(&call, &launch, i, position);
  return run({launch.kernel, buffers, launch.items, launch.block_threads});
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
