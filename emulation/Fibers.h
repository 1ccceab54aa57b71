//===- Fibers.h - Threads of a block that wait for each other ---*- C++ -*-===//
//
// Each has a stack of its own, and all run on the calling thread: one until it
// waits, then another one. One block at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMULATION_FIBERS_H
#define HFTA_EMULATION_FIBERS_H

#include <cstdint>

namespace fibers {

/// As many threads as a block has at most.
inline constexpr unsigned kMost = 1024;

/// Threads of a warp: those of neighbouring numbers.
inline constexpr unsigned kWarp = 32;

/// Barriers of a block that have a number.
inline constexpr unsigned kBarriers = 16;

/// Runs `count` threads, each of which calls `body`. Between two waits they run
/// in the order that `next` says, which gives each number below `count` once in
/// so many calls. False if some wait for others that have ended, or that wait
/// for something else; those never go on. A body may be left by a jump to where
/// this function was called.
bool run(unsigned count, void (*body)(void *), unsigned (*next)(void *),
         void *argument);

/// Called by a body: returns once all threads have called it.
void wait();
/// The same for the threads of a warp, as many as there are.
void waitForWarp();
/// The same for so many threads of the block, whichever they are, at a barrier
/// that has a number below kBarriers.
void waitAt(uint32_t barrier, uint32_t threads);
/// Returns once `holds` does. That is asked when nobody else can go on, maybe
/// from where no thread runs.
void waitUntil(bool (*holds)(void *), void *argument);
/// Returns once nobody else can go on, not even those that `waitUntil`.
void yield();
/// The block has failed, for that reason: nobody goes on.
[[noreturn]] void fail(const char *reason);
/// The same for those who are no thread, such as what `waitUntil` asks.
void setFailure(const char *reason);
/// Why the last block has failed; nullptr: nobody has called `fail`.
const char *getFailure();
/// The number of the thread that runs.
unsigned getThread();

} // namespace fibers

#endif // HFTA_EMULATION_FIBERS_H
